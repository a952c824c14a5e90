//! Pointers: terms of 64 bits, of which it is known what objects they point to.
//!
//! An address has the number of its object in the upper half and the offset from [`BASE`] in the lower one, as in the
//! interpreter. Number 0 is no object: such a pointer is null or an integer. Each term also knows its targets: the condition under
//! which it points to an object, and the signed offset in 64 bits. So arithmetic that leaves the object is detected.

use std::rc::Rc;

use patchwright_solve::{Node, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// The lower half of the address of an object's first byte.
pub(crate) const BASE: u32 = 0x1_0000;

/// The number of an object; 0 is none.
pub(crate) type Number = u32;

/// Where a pointer may lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// Under this condition; those of one pointer exclude each other.
    pub(crate) condition: Term,
    /// The object; 0 for null and for integers.
    pub(crate) object: Number,
    /// Bytes after its start, with a sign, in 64 bits; the address itself for object 0.
    pub(crate) offset: Term,
}

/// All that a pointer may lead to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    pub(crate) leaves: Vec<Leaf>,
    /// The condition under which it is not known.
    pub(crate) opaque: Option<Term>,
}

/// What is known of the pointers of a program.
#[derive(Default)]
pub(crate) struct Pointers {
    known: FxHashMap<Term, Rc<Targets>>,
}

impl Pointers {
    /// The address of a byte of an object.
    pub(crate) fn address(&mut self, terms: &mut Terms, object: Number, offset: i64) -> Term {
        let low = BASE.wrapping_add(offset as u32);
        let bits = u64::from(object) << 32 | u64::from(low);
        let term = terms.constant(64, u128::from(bits));
        if !self.known.contains_key(&term) {
            let leaf = Leaf {
                condition: terms.truth(true),
                object,
                offset: terms.constant(64, u128::from(offset as u64)),
            };
            self.note(term, vec![leaf], None);
        }
        term
    }

    fn note(&mut self, term: Term, leaves: Vec<Leaf>, opaque: Option<Term>) {
        self.known.insert(term, Rc::new(Targets { leaves, opaque }));
    }

    /// Returns all objects to which a pointer may lead.
    pub(crate) fn targets(&mut self, terms: &mut Terms, pointer: Term) -> Rc<Targets> {
        if let Some(known) = self.known.get(&pointer) {
            return known.clone();
        }
        // Deep chains of choices are walked without recursion.
        let mut todo = vec![pointer];
        while let Some(&term) = todo.last() {
            if self.known.contains_key(&term) {
                todo.pop();
                continue;
            }
            let Node::Ite(condition, a, b) = terms.node(term) else {
                let targets = self.by_shape(terms, term);
                self.known.insert(term, Rc::new(targets));
                todo.pop();
                continue;
            };
            match (self.known.get(&a).cloned(), self.known.get(&b).cloned()) {
                (Some(x), Some(y)) => {
                    let merged = choice(terms, condition, &x, &y);
                    self.known.insert(term, Rc::new(merged));
                    todo.pop();
                }
                (x, y) => {
                    if x.is_none() {
                        todo.push(a);
                    }
                    if y.is_none() {
                        todo.push(b);
                    }
                }
            }
        }
        self.known.get(&pointer).cloned().unwrap_or_default()
    }

    fn by_shape(&mut self, terms: &mut Terms, term: Term) -> Targets {
        let always = terms.truth(true);
        let (object, offset) = match (terms.as_constant(term), terms.node(term)) {
            (Some(bits), _) => {
                let object = (bits >> 32) as u32;
                let offset = match object {
                    0 => bits as u64,
                    _ => i64::from((bits as u32).wrapping_sub(BASE) as i32) as u64,
                };
                (object, terms.constant(64, u128::from(offset)))
            }
            (None, Node::Concat(high, low)) if terms.width(low) == 32 => {
                match terms.as_constant(high) {
                    Some(0) => (0, term),
                    Some(object) => {
                        let base = terms.constant(32, u128::from(BASE));
                        let from_base = terms.sub(low, base);
                        (object as u32, terms.sign_extend(from_base, 64))
                    }
                    None => return unknown(always),
                }
            }
            // An integer of fewer bits than an object's number would need.
            (None, Node::Concat(high, _))
                if terms.as_constant(high) == Some(0) && terms.width(high) >= 32 =>
            {
                (0, term)
            }
            _ => return unknown(always),
        };
        Targets {
            leaves: vec![Leaf {
                condition: always,
                object,
                offset,
            }],
            opaque: None,
        }
    }

    /// Returns a pointer to these targets. They exclude each other and are complete.
    pub(crate) fn of_leaves(&mut self, terms: &mut Terms, leaves: Vec<Leaf>) -> Term {
        let mut term: Option<Term> = None;
        for leaf in leaves.iter().rev() {
            let bits = match leaf.object {
                0 => leaf.offset,
                object => {
                    let low = terms.extract(leaf.offset, 31, 0);
                    let base = terms.constant(32, u128::from(BASE));
                    let low = terms.add(low, base);
                    let high = terms.constant(32, u128::from(object));
                    terms.concat(high, low)
                }
            };
            term = Some(match term {
                None => bits,
                Some(other) => terms.ite(leaf.condition, bits, other),
            });
        }
        let term = term.unwrap_or_else(|| terms.constant(64, 0));
        if !self.known.contains_key(&term) {
            self.note(term, leaves, None);
        }
        term
    }

    /// Returns `condition ? a : b`; of two pointers the known targets are merged.
    pub(crate) fn ite(&mut self, terms: &mut Terms, condition: Term, a: Term, b: Term) -> Term {
        let term = terms.ite(condition, a, b);
        if term == a || term == b || terms.sort(term) != Sort::Bits(64) {
            return term;
        }
        if let (Some(x), Some(y)) = (self.known.get(&a).cloned(), self.known.get(&b).cloned())
            && !self.known.contains_key(&term)
        {
            let merged = choice(terms, condition, &x, &y);
            self.known.insert(term, Rc::new(merged));
        }
        term
    }

    /// Returns the targets of a pointer if they were computed before.
    pub(crate) fn known(&self, pointer: Term) -> Option<&Targets> {
        self.known.get(&pointer).map(|targets| &**targets)
    }

    /// Says what a pointer leads to that could not be told from its shape.
    pub(crate) fn learn(&mut self, term: Term, targets: Targets) {
        self.known.insert(term, Rc::new(targets));
    }
}

fn unknown(always: Term) -> Targets {
    Targets {
        leaves: Vec::new(),
        opaque: Some(always),
    }
}

/// The targets of `condition ? x : y`.
fn choice(terms: &mut Terms, condition: Term, x: &Targets, y: &Targets) -> Targets {
    let no = terms.truth(false);
    let mut leaves: Vec<Leaf> = Vec::new();
    let find = |targets: &Targets, object| {
        targets
            .leaves
            .iter()
            .find(|leaf| leaf.object == object)
            .copied()
    };
    let numbers: Vec<Number> = x.leaves.iter().map(|leaf| leaf.object).collect();
    let more = y
        .leaves
        .iter()
        .map(|leaf| leaf.object)
        .filter(|object| !numbers.contains(object));
    for object in numbers.iter().copied().chain(more) {
        let (a, b) = (find(x, object), find(y, object));
        let holds = terms.ite(
            condition,
            a.map_or(no, |leaf| leaf.condition),
            b.map_or(no, |leaf| leaf.condition),
        );
        let offset = match (a, b) {
            (Some(a), Some(b)) => terms.ite(condition, a.offset, b.offset),
            (Some(a), None) | (None, Some(a)) => a.offset,
            (None, None) => continue,
        };
        if terms.as_truth(holds) != Some(false) {
            leaves.push(Leaf {
                condition: holds,
                object,
                offset,
            });
        }
    }
    let opaque = match (x.opaque, y.opaque) {
        (None, None) => None,
        (a, b) => {
            let holds = terms.ite(condition, a.unwrap_or(no), b.unwrap_or(no));
            (terms.as_truth(holds) != Some(false)).then_some(holds)
        }
    };
    Targets { leaves, opaque }
}
