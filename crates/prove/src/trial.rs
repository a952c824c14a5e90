//! Tries patches: evaluates a question for one input, or for all, with a few changes in place.
//!
//! Only what the result needs is evaluated: the chosen side of a choice, and of a conjunction the parts up to a false one. Values
//! that are the same for all inputs are known before ([`Base`]). So a patch costs what its own program does.
//!
//! Open terms (inputs, or constants of a patch) have no value. A term that depends on them has none either, unless it is the same
//! for all values.

use std::collections::BTreeSet;

use patchwright_solve::{Node, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Base, Value, evaluate, is_array};

/// Values of variables.
pub(crate) type Input = FxHashMap<Term, u128>;

/// Evaluates, for one input and with some choices made.
pub(crate) struct Trial<'a> {
    terms: &'a Terms,
    /// What holds for all inputs.
    base: &'a Base,
    input: Option<&'a Input>,
    values: FxHashMap<Term, Value>,
}

impl<'a> Trial<'a> {
    /// A trial of the patch that is in place in `base`, with an input, or without one.
    pub(crate) fn new(terms: &'a Terms, base: &'a Base, input: Option<&'a Input>) -> Trial<'a> {
        Trial {
            terms,
            base,
            input,
            values: FxHashMap::default(),
        }
    }

    /// The value of a term.
    fn of(&mut self, term: Term) -> Value {
        let term = self.base.same(term);
        if let Some(value) = self.base.value(term) {
            return Some(value);
        }
        if let Some(&value) = self.values.get(&term) {
            return value;
        }
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            if self.values.contains_key(&next) {
                open.pop();
                continue;
            }
            match self.value(next) {
                Ok(value) => {
                    self.values.insert(next, value);
                    open.pop();
                }
                Err(needed) => open.push(needed),
            }
        }
        self.values[&term]
    }

    /// The value of a term, of the values of its parts; or a part whose value has to be known first.
    fn value(&self, term: Term) -> Result<Value, Term> {
        let variable = |variable| self.input.and_then(|input| input.get(&variable).copied());
        let known = |part| {
            let part = self.base.same(part);
            match self.base.value(part) {
                Some(value) => Ok(Some(value)),
                None => self.values.get(&part).copied().ok_or(part),
            }
        };
        evaluate(self.terms, term, variable, known)
    }

    /// Whether a condition holds; nothing where that depends on what is open.
    pub(crate) fn holds(&mut self, condition: Term) -> Option<bool> {
        self.of(condition).map(|value| value != 0)
    }

    /// Returns the parts of a term that depend on something open.
    pub(crate) fn open(&mut self, root: Term) -> Open {
        let terms = self.terms;
        let mut found = Open {
            root,
            order: BTreeSet::new(),
            values: Input::default(),
            same: FxHashMap::default(),
        };
        let mut open = vec![root];
        while let Some(term) = open.pop() {
            if found.same.contains_key(&term) {
                continue;
            }
            let same = self.resolved(term);
            found.same.insert(term, same);
            if let Some(value) = self.of(same) {
                found.values.insert(same, value);
            } else if !found.order.contains(&same) {
                found.order.insert(same);
                terms.for_each_part(same, |part| open.push(part));
            }
        }
        found
    }

    /// The term that has the value of this one: of a choice what is taken.
    fn resolved(&mut self, mut term: Term) -> Term {
        loop {
            let same = self.base.same(term);
            term = match self.terms.node(same) {
                Node::Ite(condition, then, otherwise) => match self.of(condition) {
                    Some(0) => otherwise,
                    Some(_) => then,
                    None => return same,
                },
                _ => return same,
            };
        }
    }

    /// Returns the choices that keep a condition true: it holds as long as no other choice of these changes is made.
    pub(crate) fn deciding(&mut self, condition: Term) -> FxHashSet<Term> {
        let terms = self.terms;
        let mut seen = FxHashSet::default();
        let mut open = vec![condition];
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            match terms.node(term) {
                Node::And(a, b) if self.of(term) == Some(0) => {
                    let (first, second) = (self.of(a) == Some(0), self.of(b) == Some(0));
                    // One that was passed already costs nothing.
                    open.push(if !first || second && seen.contains(&b) {
                        b
                    } else {
                        a
                    });
                }
                Node::Ite(condition, then, otherwise) if !is_array(terms, term) => {
                    match self.of(condition) {
                        Some(value) => {
                            open.push(condition);
                            open.push(if value != 0 { then } else { otherwise });
                        }
                        // It is the same on both sides.
                        None => open.extend([then, otherwise]),
                    }
                }
                Node::Select(array, index) => {
                    open.push(index);
                    self.passed_of_array(array, index, &mut open);
                }
                _ => terms.for_each_part(term, |part| open.push(part)),
            }
        }
        seen
    }

    fn passed_of_array(&mut self, array: Term, index: Term, open: &mut Vec<Term>) {
        let terms = self.terms;
        let mut at = array;
        loop {
            at = match terms.node(at) {
                Node::Store(below, there, element) => {
                    open.push(there);
                    if self.of(there) == self.of(index) {
                        open.push(element);
                        return;
                    }
                    below
                }
                Node::Ite(condition, then, otherwise) => {
                    open.push(condition);
                    match self.of(condition) {
                        Some(0) => otherwise,
                        _ => then,
                    }
                }
                Node::ArrayOf(element) => return open.push(element),
                _ => return,
            };
        }
    }
}

/// What stands between a term and what is open.
pub(crate) struct Open {
    root: Term,
    /// The terms that depend on it, parts before what they are part of.
    order: BTreeSet<Term>,
    /// The values of the others.
    values: Input,
    /// For each term that is mentioned the one that has its value.
    same: FxHashMap<Term, Term>,
}

impl Open {
    /// Returns the term rebuilt over its open parts.
    pub(crate) fn term(&self, terms: &mut Terms) -> Term {
        let mut made: FxHashMap<Term, Term> = FxHashMap::default();
        for (&term, &value) in &self.values {
            let constant = match terms.sort(term) {
                Sort::Bool => terms.truth(value != 0),
                Sort::Bits(width) => terms.constant(width, value),
                Sort::Array { .. } => term,
            };
            made.insert(term, constant);
        }
        for &term in &self.order {
            let new = terms.rebuild(term, |part| made[&self.same[&part]]);
            made.insert(term, new);
        }
        made[&self.same[&self.root]]
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::base::Circuit;

    struct Example {
        terms: Terms,
        choices: [Term; 3],
        constant: Term,
        fails: Term,
    }

    /// Fails unless `(c0 ? 2 : 1) * (c1 ? constant : c2 ? 3 : 0)` is 6.
    fn example() -> Example {
        let mut terms = Terms::new();
        let choices = [0, 1, 2].map(|n| terms.variable(&format!("choice.{n}"), Sort::Bool));
        let constant = terms.variable("constant", Sort::Bits(32));
        let [zero, one, two, three, six] = [0, 1, 2, 3, 6].map(|n| terms.constant(32, n));
        let left = terms.ite(choices[0], two, one);
        let right = terms.ite(choices[2], three, zero);
        let right = terms.ite(choices[1], constant, right);
        let product = terms.mul(left, right);
        let right = terms.eq(product, six);
        let fails = terms.not(right);
        Example {
            terms,
            choices,
            constant,
            fails,
        }
    }

    fn base(example: &Example, chosen: &[usize]) -> Base {
        let circuit = Rc::new(Circuit::new(&example.terms, &[example.fails]));
        let mut base = Base::new(&example.terms, &circuit, |term| {
            example.choices.contains(&term).then_some(0)
        });
        for &number in chosen {
            base.put(&example.terms, example.choices[number]);
        }
        base
    }

    fn fails(example: &Example, chosen: &[usize]) -> Option<bool> {
        let base = base(example, chosen);
        Trial::new(&example.terms, &base, None).holds(example.fails)
    }

    #[test]
    fn what_fails_follows_the_changes() {
        let example = example();
        assert_eq!(fails(&example, &[]), Some(true));
        assert_eq!(fails(&example, &[0]), Some(true));
        assert_eq!(fails(&example, &[0, 2]), Some(false));
        assert_eq!(fails(&example, &[1]), None, "it depends on the constant");
    }

    #[test]
    fn what_is_left_to_a_constant_speaks_of_it_alone() {
        let mut example = example();
        let base = base(&example, &[0, 1]);
        let open = Trial::new(&example.terms, &base, None).open(example.fails);
        let fails = open.term(&mut example.terms);
        let three = example.terms.constant(32, 3);
        let values = FxHashMap::from_iter([(example.constant, three)]);
        let at_three = example.terms.substitute(fails, &values);
        assert_eq!(example.terms.as_truth(at_three), Some(false));
        assert_eq!(example.terms.variables_of(fails), [example.constant]);
    }

    #[test]
    fn elements_of_arrays_follow_their_stores() {
        let mut terms = Terms::new();
        let choice = terms.variable("choice", Sort::Bool);
        let [one, two, seven] = [1, 2, 7].map(|n| terms.constant(8, n));
        let zero = terms.constant(8, 0);
        let empty = terms.array_of(8, zero);
        let at = terms.ite(choice, two, one);
        let array = terms.store(empty, at, seven);
        let element = terms.select(array, two);
        let fails = terms.eq(element, zero);
        let circuit = Rc::new(Circuit::new(&terms, &[fails]));
        let mut base = Base::new(&terms, &circuit, |term| (term == choice).then_some(0));
        let mut trial = Trial::new(&terms, &base, None);
        assert_eq!(trial.holds(fails), Some(true));
        assert!(trial.deciding(fails).contains(&choice));
        base.put(&terms, choice);
        assert_eq!(Trial::new(&terms, &base, None).holds(fails), Some(false));
        base.take_back();
        assert_eq!(Trial::new(&terms, &base, None).holds(fails), Some(true));
    }
}
