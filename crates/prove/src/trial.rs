//! Trying patches on one input: the condition of failing with the input in place, evaluated again and again with a few
//! changes at a time.
//!
//! Only what a change reaches is computed again. Constants that a patch leaves open have no value, and what depends on
//! them has none either, unless it is the same for all.

use std::{cmp::Reverse, collections::BinaryHeap};

use patchwright_solve::{Node, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// A value, or nothing where it depends on an open constant.
type Value = Option<u128>;

/// The condition of failing for one input.
pub(crate) struct Trial {
    /// The terms of the condition, parts before what they are part of.
    order: Vec<Term>,
    at: FxHashMap<Term, u32>,
    /// Where the users of each term begin in `used_by`.
    first: Vec<u32>,
    used_by: Vec<u32>,
    values: Vec<Value>,
    /// What was changed, with the value before.
    log: Vec<(u32, Value)>,
    /// Where the log was before each change that is in place.
    levels: Vec<usize>,
    queue: BinaryHeap<Reverse<u32>>,
    queued: Vec<bool>,
}

impl Trial {
    /// A condition over choices, which are all false, and open constants. Nothing if something else is free in it.
    pub(crate) fn new(
        terms: &Terms,
        condition: Term,
        is_choice: impl Fn(Term) -> bool,
        is_constant: impl Fn(Term) -> bool,
    ) -> Option<Trial> {
        let order = terms.within(&[condition]);
        let mut at = FxHashMap::default();
        for (index, &term) in order.iter().enumerate() {
            at.insert(term, index as u32);
        }
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for (index, &term) in order.iter().enumerate() {
            terms.for_each_part(term, |part| users[at[&part] as usize].push(index as u32));
        }
        let mut first = vec![0];
        let mut used_by = Vec::new();
        for mut one in users {
            one.dedup();
            used_by.extend(one);
            first.push(used_by.len() as u32);
        }
        let mut trial = Trial {
            values: vec![None; order.len()],
            queued: vec![false; order.len()],
            order,
            at,
            first,
            used_by,
            log: Vec::new(),
            levels: Vec::new(),
            queue: BinaryHeap::new(),
        };
        for index in 0..trial.order.len() {
            let term = trial.order[index];
            trial.values[index] = match terms.node(term) {
                Node::Variable(_) if is_choice(term) => Some(0),
                Node::Variable(_) if is_constant(term) => None,
                Node::Variable(_) | Node::Apply(..) => return None,
                _ => trial.value(terms, term),
            };
        }
        Some(trial)
    }

    /// How many terms it has.
    pub(crate) fn size(&self) -> usize {
        self.order.len()
    }

    fn of(&self, term: Term) -> Value {
        self.values[self.at[&term] as usize]
    }

    fn value(&self, terms: &Terms, term: Term) -> Value {
        match terms.node(term) {
            Node::And(a, b) => match (self.of(a), self.of(b)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (Some(a), Some(b)) => Some(a & b),
                _ => None,
            },
            Node::Ite(condition, then, otherwise) if !is_array(terms, term) => {
                match self.of(condition) {
                    Some(0) => self.of(otherwise),
                    Some(_) => self.of(then),
                    None => {
                        let (then, otherwise) = (self.of(then), self.of(otherwise));
                        then.filter(|_| then == otherwise)
                    }
                }
            }
            Node::Select(array, index) => self.element(terms, array, self.of(index)?),
            // An array has no value of its own; its users look at its parts.
            _ if is_array(terms, term) => None,
            _ => {
                let mut all = true;
                terms.for_each_part(term, |part| all &= self.of(part).is_some());
                match all {
                    true => terms.value_of_parts(term, |part| self.of(part).unwrap_or(0)),
                    false => None,
                }
            }
        }
    }

    fn element(&self, terms: &Terms, array: Term, index: u128) -> Value {
        let mut at = array;
        loop {
            at = match terms.node(at) {
                Node::Store(below, there, element) => match self.of(there)? == index {
                    true => return self.of(element),
                    false => below,
                },
                Node::Ite(condition, then, otherwise) => match self.of(condition)? {
                    0 => otherwise,
                    _ => then,
                },
                Node::ArrayOf(element) => return self.of(element),
                _ => return None,
            };
        }
    }

    /// Makes a choice true, until [`Trial::take_back`].
    pub(crate) fn put(&mut self, terms: &Terms, choice: Term) {
        self.levels.push(self.log.len());
        self.choose(terms, choice);
    }

    /// Takes back the last choice that was put in place.
    pub(crate) fn take_back(&mut self) {
        let before = self.levels.pop().unwrap_or(0);
        while self.log.len() > before {
            if let Some((index, value)) = self.log.pop() {
                self.values[index as usize] = value;
            }
        }
    }

    fn choose(&mut self, terms: &Terms, choice: Term) {
        let Some(&index) = self.at.get(&choice) else {
            return;
        };
        self.change(index, Some(1));
        while let Some(Reverse(index)) = self.queue.pop() {
            self.queued[index as usize] = false;
            let term = self.order[index as usize];
            let new = self.value(terms, term);
            if new != self.values[index as usize] || is_array(terms, term) {
                self.change(index, new);
            }
        }
    }

    fn change(&mut self, index: u32, new: Value) {
        self.log.push((index, self.values[index as usize]));
        self.values[index as usize] = new;
        let users = self.first[index as usize] as usize..self.first[index as usize + 1] as usize;
        for &user in &self.used_by[users] {
            if !std::mem::replace(&mut self.queued[user as usize], true) {
                self.queue.push(Reverse(user));
            }
        }
    }

    /// Whether it fails; nothing where that depends on open constants.
    pub(crate) fn fails(&self) -> Option<bool> {
        self.values
            .last()
            .copied()
            .flatten()
            .map(|value| value != 0)
    }

    /// What decides that it fails: as long as no other choice of these changes, it does.
    pub(crate) fn deciding(&self, terms: &Terms) -> FxHashSet<Term> {
        let mut seen = FxHashSet::default();
        let mut open: Vec<Term> = self.order.last().copied().into_iter().collect();
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
                    self.passed_of_array(terms, array, index, &mut open);
                }
                _ => terms.for_each_part(term, |part| open.push(part)),
            }
        }
        seen
    }

    fn passed_of_array(&self, terms: &Terms, array: Term, index: Term, open: &mut Vec<Term>) {
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

fn is_array(terms: &Terms, term: Term) -> bool {
    matches!(terms.sort(term), Sort::Array { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn trial(example: &Example) -> Trial {
        let Example {
            terms,
            choices,
            constant,
            fails,
        } = example;
        Trial::new(
            terms,
            *fails,
            |term| choices.contains(&term),
            |term| term == *constant,
        )
        .expect("nothing else is free")
    }

    #[test]
    fn changes_are_computed_and_taken_back() {
        let example = example();
        let mut trial = trial(&example);
        assert_eq!(trial.fails(), Some(true));
        trial.put(&example.terms, example.choices[0]);
        assert_eq!(trial.fails(), Some(true));
        trial.put(&example.terms, example.choices[2]);
        assert_eq!(trial.fails(), Some(false));
        trial.take_back();
        assert_eq!(trial.fails(), Some(true));
        trial.put(&example.terms, example.choices[1]);
        assert_eq!(trial.fails(), None, "it depends on the constant");
        trial.take_back();
        trial.take_back();
        assert_eq!(trial.fails(), Some(true));
    }

    #[test]
    fn a_condition_with_another_variable_cannot_be_tried() {
        let example = example();
        let none = Trial::new(&example.terms, example.fails, |_| false, |_| false);
        assert!(none.is_none());
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
        let mut trial =
            Trial::new(&terms, fails, |term| term == choice, |_| false).expect("closed");
        assert_eq!(trial.fails(), Some(true));
        assert!(trial.deciding(&terms).contains(&choice));
        trial.put(&terms, choice);
        assert_eq!(trial.fails(), Some(false));
    }
}
