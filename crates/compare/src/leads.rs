//! Maps pointers that are visible at the end to numbers that mean the same in both versions.

use patchwright_ir::Type;
use patchwright_solve::{Answer, Backend, Budget, Solver, Term, Terms};
use patchwright_symbolic::{Encoding, Leads, Pointee, is_near_null};

use crate::holders::Holder;

/// The upper 16 bits of the number of a pointer that leads to memory without a name.
const ELSEWHERE: u128 = 0xffff;
/// Bits of the offset, which are the lower ones.
const OFFSET: u32 = 48;

/// What pointers of both versions lead to. The number of a pointer is 0 for null; else its upper 16 bits are the place here,
/// counted from 1, and the lower ones the offset in bytes. Null that was moved is memory without a name, at that offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pointees {
    all: Vec<Pointee>,
    /// Objects that hold pointers.
    holders: Vec<Holder>,
}

/// The meaning of a pointer's number.
pub(crate) enum Led<'p> {
    /// Nothing.
    Null,
    /// To memory without a name.
    Elsewhere,
    /// To this, so many bytes behind its first.
    To(&'p Pointee, i64),
}

impl Pointees {
    /// Those of both.
    fn of(encodings: [&Encoding; 2], holders: &[Holder]) -> Pointees {
        let mut all: Vec<Pointee> = Vec::new();
        for encoding in encodings {
            let outcome = &encoding.outcome;
            let held = outcome.pointers.iter().map(|(_, _, leads)| leads);
            let leads = held.chain([&outcome.leads]).flat_map(|leads| &leads.to);
            for (_, pointee, _) in leads {
                if !all.contains(pointee) && all.len() + 1 < ELSEWHERE as usize {
                    all.push(pointee.clone());
                }
            }
        }
        Pointees {
            all,
            holders: holders.to_vec(),
        }
    }

    /// Whether an object holds a pointer at an offset.
    pub(crate) fn is_pointer(&self, object: &str, at: u64) -> bool {
        let mut own = self.holders.iter().filter(|one| one.name == object);
        own.any(|one| one.offsets.as_ref().is_some_and(|all| all.contains(&at)))
    }

    /// The number of a pointer.
    fn number(&self, terms: &mut Terms, pointer: Term, leads: &Leads) -> Term {
        let start = terms.constant(OFFSET, 0);
        let above = terms.constant(64 - OFFSET, ELSEWHERE);
        let mut number = terms.concat(above, start);
        // Null that was moved is that number.
        let near = is_near_null(terms, pointer);
        let low = terms.extract(pointer, OFFSET - 1, 0);
        let moved = terms.concat(above, low);
        number = terms.ite(near, moved, number);
        for (condition, pointee, offset) in &leads.to {
            let Some(at) = self.all.iter().position(|other| other == pointee) else {
                continue;
            };
            let above = terms.constant(64 - OFFSET, at as u128 + 1);
            let offset = terms.extract(*offset, OFFSET - 1, 0);
            let here = terms.concat(above, offset);
            number = terms.ite(*condition, here, number);
        }
        let zero = terms.constant(64, 0);
        let null = terms.eq(pointer, zero);
        terms.ite(null, zero, number)
    }

    /// Returns the meaning of a pointer's number.
    pub(crate) fn read(&self, bits: u128) -> Led<'_> {
        let place = (bits >> OFFSET) as usize;
        let offset = ((bits as u64) << (64 - OFFSET)) as i64 >> (64 - OFFSET);
        match place.checked_sub(1).map(|at| self.all.get(at)) {
            None => Led::Null,
            Some(Some(pointee)) => Led::To(pointee, offset),
            Some(None) => Led::Elsewhere,
        }
    }

    /// The number of bits of the offset.
    pub(crate) const fn offset_bits() -> u32 {
        OFFSET
    }
}

/// Pointers that cannot be compared.
#[derive(Default)]
pub(crate) struct Incomparable {
    /// What is not, for no input.
    pub(crate) reasons: Vec<String>,
    /// Conditions under which nobody knows where one leads.
    pub(crate) unknown: Vec<Term>,
}

/// Puts numbers that mean the same in both in the place of all pointers that can be seen at the end.
pub(crate) fn numbered(
    terms: &mut Terms,
    encodings: [&mut Encoding; 2],
    holders: &[Holder],
) -> (Pointees, Incomparable) {
    let [old, new] = encodings;
    let pointees = Pointees::of([old, new], holders);
    let mut not = Incomparable::default();
    for encoding in [old, new] {
        // Where something fails nobody sees a pointer.
        let fails: Vec<Term> = encoding.failures.iter().map(|one| one.condition).collect();
        let fails = terms.or_all(fails);
        let fine = terms.not(fails);
        let outcome = &mut encoding.outcome;
        let ends = outcome
            .ends
            .map(|ends| terms.and_all([ends, encoding.assumption, fine]));
        if let Some((Type::Ptr, value)) = outcome.result {
            not.leads(terms, "the result", &outcome.leads, ends);
            let number = pointees.number(terms, value, &outcome.leads);
            outcome.result = Some((Type::Ptr, number));
        }
        for (name, parts) in std::mem::take(&mut outcome.objects) {
            let mut parts = parts;
            let mut places: Option<Vec<u64>> = Some(Vec::new());
            for holder in holders.iter().filter(|one| one.name == name) {
                match (&mut places, &holder.offsets) {
                    (Some(places), Some(offsets)) => places.extend(offsets),
                    _ => places = None,
                }
            }
            if name.starts_with("static ") {
                // Nobody says what it holds, but that it is a pointer to something with a name is seen.
                let own = outcome
                    .pointers
                    .iter()
                    .filter(|(object, ..)| *object == name);
                let is_named = |leads: &Leads| leads.elsewhere.is_none() && leads.unknown.is_none();
                let own = own.filter(|(_, _, leads)| is_named(leads));
                places = Some(own.map(|(_, at, _)| *at).collect());
            }
            let held = places.and_then(|mut places| {
                places.sort_unstable();
                places.dedup();
                let whole = |at: &u64| Some((*at, whole_part(terms, &parts, *at)?));
                places.iter().map(whole).collect::<Option<Vec<_>>>()
            });
            let Some(held) = held else {
                not.add(format!("`{name}` holds pointers, which are not compared"));
                continue;
            };
            for (at, index) in held {
                let mut own = outcome.pointers.iter();
                let leads = own.find(|(object, offset, _)| *object == name && *offset == at);
                let leads = match leads {
                    Some((_, _, leads)) => leads.clone(),
                    None if terms.as_constant(parts[index]) == Some(0) => continue,
                    None => Leads {
                        unknown: Some(terms.truth(true)),
                        ..Leads::default()
                    },
                };
                not.leads(terms, &format!("`{name}`"), &leads, ends);
                parts[index] = pointees.number(terms, parts[index], &leads);
            }
            outcome.objects.push((name, parts));
        }
    }
    (pointees, not)
}

/// The part that has the eight bytes at an offset, if there is one.
fn whole_part(terms: &Terms, parts: &[Term], at: u64) -> Option<usize> {
    let mut begin = 0;
    for (index, &part) in parts.iter().enumerate() {
        if begin == at {
            return (terms.width(part) == 64).then_some(index);
        }
        begin += u64::from(terms.width(part) / 8);
    }
    None
}

impl Incomparable {
    fn add(&mut self, reason: String) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn leads(&mut self, terms: &mut Terms, what: &str, leads: &Leads, ends: Option<Term>) {
        const LITTLE: u64 = 5_000;
        let elsewhere = match (leads.elsewhere, ends) {
            (Some(elsewhere), Some(ends)) => {
                let both = terms.and(elsewhere, ends);
                let budget = Budget {
                    conflicts: Some(LITTLE),
                    interrupt: None,
                };
                let mut solver = Solver::new(Backend::default());
                solver.check(terms, &[both], &budget) != Answer::Unsatisfiable
            }
            (elsewhere, _) => elsewhere.is_some(),
        };
        if elsewhere {
            self.add(format!(
                "{what} may be a pointer to memory that has no name, such as that of `malloc`: there only whether it is null is \
                 compared"
            ));
        }
        if let (Some(unknown), Some(ends)) = (leads.unknown, ends) {
            self.unknown.push(terms.and(unknown, ends));
        }
    }
}

/// Returns the C expression of a pointer that lies `offset` bytes behind the start of `pointee`.
pub fn spelled(pointee: &Pointee, offset: i64) -> String {
    match pointee {
        Pointee::Constant(bytes) => match text(bytes) {
            Some(text) => format!("{text:?}"),
            None => "a constant".to_owned(),
        },
        Pointee::Function(name) => name.clone(),
        Pointee::Object { name, element } => {
            let Some(element) = element else {
                return match offset {
                    0 => format!("&{name}"),
                    _ => format!("(char *)&{name} + {offset}"),
                };
            };
            let pointer = name.strip_prefix('*').unwrap_or(name);
            let element = i64::try_from(*element).unwrap_or(1).max(1);
            match (offset, offset % element) {
                (0, _) => pointer.to_owned(),
                (_, 0) => format!("&{pointer}[{}]", offset / element),
                _ => format!("(char *){pointer} + {offset}"),
            }
        }
    }
}

/// The text that bytes begin with, if it ends and can be printed.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_spelled_as_c_has_them() {
        let object = |name: &str, element| Pointee::Object {
            name: name.to_owned(),
            element,
        };
        assert_eq!(spelled(&object("s", Some(1)), 0), "s");
        assert_eq!(spelled(&object("a", Some(4)), 8), "&a[2]");
        assert_eq!(spelled(&object("*p", Some(4)), 4), "&p[1]");
        assert_eq!(spelled(&object("a", Some(4)), -2), "(char *)a + -2");
        assert_eq!(spelled(&object("table", None), 0), "&table");
        assert_eq!(
            spelled(&Pointee::Constant(b"no\n\0x".to_vec()), 0),
            r#""no\n""#
        );
        assert_eq!(spelled(&Pointee::Constant(b"no".to_vec()), 0), "a constant");
    }
}
