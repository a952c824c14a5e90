//! The input along which a program is encoded, and what it decides.

use patchwright_solve::{Assignment, Node, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{encoding::Turn, facts::Facts};

/// The input, and what has been decided by it.
pub(crate) struct Along {
    pub(crate) input: Assignment,
    /// Values of terms for the input; `None` for those that it does not determine.
    pub(crate) values: FxHashMap<Term, Option<u128>>,
    pub(crate) turns: Vec<Turn>,
    /// The conditions of the turns.
    pub(crate) taken: FxHashSet<Term>,
    pub(crate) facts: Facts,
    /// The execution has failed, or nothing is known of it from here on.
    pub(crate) ended: bool,
}

impl Along {
    /// Starts to follow one input.
    pub(crate) fn new(input: Assignment) -> Along {
        Along {
            input,
            values: FxHashMap::default(),
            turns: Vec::new(),
            taken: FxHashSet::default(),
            facts: Facts::default(),
            ended: false,
        }
    }

    /// The value of a term for the input; nothing where it rests on a function of which nothing is known.
    pub(crate) fn value(&mut self, terms: &Terms, term: Term) -> Option<u128> {
        let mut open = vec![term];
        while let Some(&at) = open.last() {
            if self.values.contains_key(&at) {
                open.pop();
                continue;
            }
            let before = open.len();
            let mut is_lost = false;
            if !matches!(terms.node(at), Node::Select(..)) {
                terms.for_each_part(at, |part| match self.values.get(&part) {
                    None => open.push(part),
                    Some(None) => is_lost = true,
                    Some(Some(_)) => {}
                });
            }
            if is_lost {
                open.truncate(before);
            } else if open.len() > before {
                continue;
            }
            let value = match terms.node(at) {
                _ if is_lost => None,
                Node::Variable(_) => match terms.sort(at) {
                    Sort::Array { .. } => None,
                    _ => Some(self.input.get(terms, at).bits()),
                },
                // An array is looked at as a whole, which is rare.
                Node::Select(..) => self.whole(terms, at),
                _ => {
                    let values = &self.values;
                    let part = |part: Term| values.get(&part).copied().flatten().unwrap_or(0);
                    terms.value_of_parts(at, part)
                }
            };
            self.values.insert(at, value);
            open.pop();
        }
        self.values.get(&term).copied().flatten()
    }

    /// Returns the value of a term under the input; `None` if it depends on an unknown function.
    pub(crate) fn whole(&self, terms: &Terms, term: Term) -> Option<u128> {
        let within = terms.within(&[term]);
        let known = within
            .iter()
            .all(|&part| !matches!(terms.node(part), Node::Apply(..)));
        known.then(|| terms.evaluate(term, &self.input).bits())
    }

    /// A value that is known from the turns that were taken.
    pub(crate) fn narrowed(&self, terms: &mut Terms, term: Term) -> Term {
        self.facts.constant(terms, term).unwrap_or(term)
    }
}
