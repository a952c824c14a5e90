//! Describes what one version does for the inputs of a partition, as formulas over the inputs.

use patchwright_ir::Type;
use patchwright_solve::{Node, Term, Terms};
use patchwright_symbolic::{Encoding, Piece, SEEN};

use rustc_hash::FxHashMap;

use crate::{
    pair::{Seen, plain},
    shown::Printer,
    specialise::Specialised,
};

/// Formulas of what can be seen, and the condition under which they are right.
#[derive(Clone, Debug)]
pub(crate) struct Formulas {
    pub(crate) result: Option<(Type, Term)>,
    pub(crate) objects: Vec<(String, Vec<Term>)>,
    pub(crate) output: Vec<Piece>,
    pub(crate) errors: Vec<Piece>,
    /// They are what the program does.
    pub(crate) claim: Term,
}

fn asks_for_result(seen: &[Seen]) -> bool {
    seen.contains(&Seen::Result) || seen.contains(&Seen::ResultType)
}

/// The terms that [`formulas`] asks for.
pub(crate) fn roots(encoding: &Encoding, seen: &[Seen]) -> Vec<Term> {
    let outcome = &encoding.outcome;
    let mut all = Vec::new();
    if asks_for_result(seen) {
        all.extend(outcome.result.map(|(_, value)| value));
    }
    for (name, parts) in &outcome.objects {
        if seen.contains(&Seen::Object(name.clone())) {
            all.extend(parts.iter().copied());
        }
    }
    for printed in &outcome.output {
        if seen.contains(&stream(printed.error)) {
            all.push(printed.condition);
            match printed.piece {
                Piece::Value(_, _, value) | Piece::Byte(value) => all.push(value),
                Piece::Text(_) => {}
            }
        }
    }
    all
}

fn stream(error: bool) -> Seen {
    match error {
        true => Seen::ErrorOutput,
        false => Seen::Output,
    }
}

/// Returns the parts of the program's behaviour that `seen` asks for, as formulas specialised to the model.
pub(crate) fn formulas(
    encoding: &Encoding,
    seen: &[Seen],
    under: &mut Specialised<'_>,
) -> Formulas {
    let outcome = &encoding.outcome;
    let mut same: Vec<(Term, Term)> = Vec::new();
    let mut holds: Vec<(Term, bool)> = Vec::new();
    let mut formulas = Formulas {
        result: None,
        objects: Vec::new(),
        output: Vec::new(),
        errors: Vec::new(),
        claim: under.truth(true),
    };
    if asks_for_result(seen)
        && let Some((ty, value)) = outcome.result
    {
        let formula = under.of(value);
        same.push((value, formula));
        formulas.result = Some((ty, formula));
    }
    for (name, parts) in &outcome.objects {
        if seen.contains(&Seen::Object(name.clone())) {
            let made: Vec<Term> = parts.iter().map(|&part| under.of(part)).collect();
            same.extend(parts.iter().copied().zip(made.iter().copied()));
            formulas.objects.push((name.clone(), made));
        }
    }
    for printed in &outcome.output {
        if !seen.contains(&stream(printed.error)) {
            continue;
        }
        under.of(printed.condition);
        let is_printed = under.holds(printed.condition);
        holds.push((printed.condition, is_printed));
        if !is_printed {
            continue;
        }
        let mut made = |value: Term| {
            let formula = under.of(value);
            same.push((value, formula));
            formula
        };
        let mut piece = match &printed.piece {
            Piece::Text(bytes) => Piece::Text(bytes.clone()),
            Piece::Value(spelled, ty, value) => Piece::Value(spelled.clone(), *ty, made(*value)),
            Piece::Byte(value) => Piece::Byte(made(*value)),
        };
        // A number that is the same in the whole partition is what is printed.
        plain(under.terms(), &mut piece);
        match printed.error {
            true => formulas.errors.push(piece),
            false => formulas.output.push(piece),
        }
    }
    let terms = under.terms();
    let mut claim = terms.truth(true);
    for (value, formula) in same {
        let equal = terms.eq(value, formula);
        claim = terms.and(claim, equal);
    }
    for (condition, is_printed) in holds {
        let as_said = if is_printed {
            condition
        } else {
            terms.not(condition)
        };
        claim = terms.and(claim, as_said);
    }
    formulas.claim = claim;
    formulas
}

impl Formulas {
    /// All formulas.
    fn all(&mut self) -> Vec<&mut Term> {
        let mut all: Vec<&mut Term> = Vec::new();
        all.extend(self.result.as_mut().map(|(_, value)| value));
        all.extend(self.objects.iter_mut().flat_map(|(_, parts)| parts));
        for piece in self.output.iter_mut().chain(&mut self.errors) {
            match piece {
                Piece::Value(_, _, value) | Piece::Byte(value) => all.push(value),
                Piece::Text(_) => {}
            }
        }
        all
    }

    /// What [`cut`] finds in the formulas.
    pub(crate) fn cut(&mut self, terms: &mut Terms) -> Vec<Cut> {
        let roots: Vec<Term> = self.all().into_iter().map(|term| *term).collect();
        cut(terms, &roots)
    }

    /// The formulas with terms replaced by equal ones.
    pub(crate) fn replace(&mut self, terms: &mut Terms, equal: &FxHashMap<Term, Term>) {
        for term in self.all() {
            *term = terms.substitute(*term, equal);
        }
    }

    /// Returns the behaviour as lines of text: `returns x + 1`, `prints "%d\n", x`.
    pub(crate) fn text(&self, printer: &Printer<'_>, is_program: bool) -> Vec<String> {
        let mut all = Vec::new();
        if let Some((ty, value)) = self.result {
            let verb = if is_program { "exits with" } else { "returns" };
            all.push(format!("{verb} {}", printer.value(value, ty)));
        }
        for (name, parts) in &self.objects {
            let mut at = 0;
            let mut values: Vec<String> = Vec::new();
            for &part in parts {
                let ty = match printer.names.pointees.is_pointer(name, at) {
                    true => Type::Ptr,
                    false => type_of(printer, part),
                };
                values.push(printer.value(part, ty));
                at += u64::from(printer.terms.width(part) / 8);
            }
            all.push(match values.as_slice() {
                [only] => format!("{name} = {only}"),
                _ => format!("{name} = {{{}}}", in_short(&values).join(", ")),
            });
        }
        for (verb, pieces) in [
            ("prints", &self.output),
            ("prints to standard error", &self.errors),
        ] {
            if !pieces.is_empty() {
                all.push(format!("{verb} {}", printed(printer, pieces)));
            }
        }
        all
    }
}

/// From this number of neighbouring elements on, only the first and the last are written.
const MANY: usize = 8;

/// Values, of which elements of one array that follow each other (`s[0]`, `s[1]`, …) are not written one by one.
fn in_short(values: &[String]) -> Vec<String> {
    let element = |value: &str| {
        let (array, index) = value.strip_suffix(']')?.rsplit_once('[')?;
        Some((array.to_owned(), index.parse::<u64>().ok()?))
    };
    let follows = |one: &String, next: &String| match (element(one), element(next)) {
        (Some(one), Some(next)) => one.0 == next.0 && one.1 + 1 == next.1,
        _ => false,
    };
    let runs = values.chunk_by(follows);
    let short = runs.flat_map(|run| match run {
        [first, .., last] if run.len() >= MANY => vec![first.clone(), "…".to_owned(), last.clone()],
        _ => run.to_vec(),
    });
    short.collect()
}

/// A term whose upper bits are cut off because they are known, such as `x & 0x7fffffff`.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) term: Term,
    /// What it is without that: `x`.
    pub(crate) whole: Term,
    /// It is that where these hold.
    pub(crate) sides: Vec<Term>,
    /// Only the sign is cut off.
    pub(crate) is_sign: bool,
}

/// Finds the terms within `roots` whose known upper bits are cut off, such as `x & 0x7fffffff`.
pub(crate) fn cut(terms: &mut Terms, roots: &[Term]) -> Vec<Cut> {
    let mut found = Vec::new();
    for term in terms.within(roots) {
        match terms.node(term) {
            Node::Concat(high, low) if terms.as_constant(high) == Some(0) => {
                let mut sides = Vec::new();
                let width = terms.width(term);
                if let Some(whole) = widened(terms, low, width, &mut sides)
                    && !sides.is_empty()
                {
                    let is_sign = terms.width(high) == 1;
                    found.push(Cut {
                        term,
                        whole,
                        sides,
                        is_sign,
                    });
                }
            }
            Node::Concat(high, low) if terms.as_constant(high).is_some() => {
                found.extend(same(terms, term, low));
            }
            Node::SignExtend(low) => found.extend(same(terms, term, low)),
            _ => {}
        }
    }
    found
}

fn same(terms: &mut Terms, term: Term, low: Term) -> Option<Cut> {
    let Node::Extract { of, low: 0, .. } = terms.node(low) else {
        return None;
    };
    if terms.sort(of) != terms.sort(term) {
        return None;
    }
    let sides = vec![terms.eq(term, of)];
    Some(Cut {
        term,
        whole: of,
        sides,
        is_sign: false,
    })
}

/// A term in more bits, whose values are those of `low` where the `sides` hold.
fn widened(terms: &mut Terms, low: Term, width: u32, sides: &mut Vec<Term>) -> Option<Term> {
    match terms.node(low) {
        Node::Constant(bits) => Some(terms.constant(width, bits)),
        Node::Extract { of, low: 0, high } if terms.width(of) == width => {
            let side = if high + 2 == width {
                let zero = terms.constant(width, 0);
                let negative = terms.slt(of, zero);
                terms.not(negative)
            } else {
                let end = terms.constant(width, 1 << (high + 1));
                terms.ult(of, end)
            };
            sides.push(side);
            Some(of)
        }
        // None of them is negative, so that the sign does not matter.
        Node::Udiv(a, b) if is_not_zero(terms, b) => {
            let (a, b) = (
                widened(terms, a, width, sides)?,
                widened(terms, b, width, sides)?,
            );
            Some(terms.sdiv(a, b))
        }
        Node::Urem(a, b) if is_not_zero(terms, b) => {
            let (a, b) = (
                widened(terms, a, width, sides)?,
                widened(terms, b, width, sides)?,
            );
            Some(terms.srem(a, b))
        }
        _ => None,
    }
}

fn is_not_zero(terms: &Terms, term: Term) -> bool {
    terms.as_constant(term).is_some_and(|bits| bits != 0)
}

/// Parts of objects are numbers with a sign, single bytes ones without; inputs have their own type.
fn type_of(printer: &Printer<'_>, part: Term) -> Type {
    if let Some((_, Some(ty))) = printer.names.of.get(&part) {
        return *ty;
    }
    match printer.terms.width(part) {
        8 => Type::U8,
        16 => Type::I16,
        64 => Type::I64,
        _ => Type::I32,
    }
}

/// The text that a word of memory is, if it is one.
fn text_of(printer: &Printer<'_>, word: Term) -> Option<String> {
    let bytes = printer.terms.as_constant(word)?.to_le_bytes();
    let text = bytes.split(|&byte| byte == 0).next()?;
    let rest = bytes[text.len()..].iter().all(|&byte| byte == 0);
    let is_text = !text.is_empty() && text.iter().all(|byte| matches!(byte, b' '..=b'~'));
    (rest && is_text).then(|| String::from_utf8_lossy(text).into_owned())
}

fn printed(printer: &Printer<'_>, pieces: &[Piece]) -> String {
    let mut format = String::new();
    let mut values = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                format.extend(text.escape_debug().filter(|&c| c != '\0'));
            }
            Piece::Value(spelled, _, value)
                if spelled == SEEN && text_of(printer, *value).is_some() =>
            {
                let text = text_of(printer, *value).unwrap_or_default();
                format.push_str(&format!(" '{text}'"));
            }
            Piece::Value(spelled, ty, value) => {
                format.push_str(spelled);
                values.push_str(", ");
                values.push_str(&printer.value(*value, *ty));
            }
            Piece::Byte(value) => match printer.terms.as_constant(*value) {
                Some(byte) => format.extend(char::from(byte as u8).escape_debug()),
                None => {
                    format.push_str("%c");
                    values.push_str(", ");
                    values.push_str(&printer.value(*value, Type::U8));
                }
            },
        }
    }
    format!("\"{format}\"{values}")
}
