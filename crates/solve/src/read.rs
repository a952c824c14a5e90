//! Circuits for reads of arrays: a choice among what was written.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::blast::{Blaster, Unknown};
use crate::circuit::{Lit, Word};
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

/// So many stores at constant indices, one on the other, are decoded together.
const RUN: usize = 4;

/// What decides which element it is.
enum Step {
    /// The store is meant.
    Hit(Lit),
    /// What was stored last at each constant index, and the array below.
    Run(BTreeMap<u128, Term>, Term),
    /// The first of two arrays.
    Choice(Lit),
    /// There is only one element, or nothing is known of it.
    Base,
}

impl Blaster {
    /// The element of an array at an index.
    pub(crate) fn read(&mut self, terms: &Terms, array: Term, index: &[Lit]) -> Word {
        let next = self.indices.len() as u32;
        let number = *self.indices.entry(index.to_vec()).or_insert(next);
        let key = |at: Term| (at, number);
        let mut steps: FxHashMap<Term, Step> = FxHashMap::default();
        let mut order = Vec::new();
        let mut open = vec![array];
        while let Some(at) = open.pop() {
            if steps.contains_key(&at) || self.reads.contains_key(&key(at)) {
                continue;
            }
            let step = match terms.node(at) {
                Node::Store(below, there, _) => {
                    let (run, under) = self.run(terms, at, number);
                    if run.len() >= RUN {
                        open.push(under);
                        Step::Run(run, under)
                    } else {
                        let there = self.word(terms, there).to_vec();
                        let hit = self.gates.equal(&there, index);
                        if hit != Lit::TRUE {
                            open.push(below);
                        }
                        Step::Hit(hit)
                    }
                }
                Node::Ite(condition, then, otherwise) => {
                    let condition = self.word(terms, condition)[0];
                    if condition != Lit::FALSE {
                        open.push(then);
                    }
                    if condition != Lit::TRUE {
                        open.push(otherwise);
                    }
                    Step::Choice(condition)
                }
                _ => Step::Base,
            };
            steps.insert(at, step);
            order.push(at);
        }
        // What an array is made of was made before it.
        order.sort_unstable();
        for at in order {
            let word = match (&steps[&at], terms.node(at)) {
                (Step::Hit(Lit::TRUE), Node::Store(_, _, value)) => {
                    self.word(terms, value).to_vec()
                }
                (&Step::Hit(hit), Node::Store(below, _, value)) => {
                    let value = self.word(terms, value).to_vec();
                    let below = self.reads[&key(below)].clone();
                    self.gates.mux_word(hit, &value, &below)
                }
                (Step::Run(run, under), _) => {
                    let elements: Vec<(u128, Word)> = run
                        .iter()
                        .map(|(&place, &value)| (place, self.word(terms, value).to_vec()))
                        .collect();
                    let under = self.reads[&key(*under)].clone();
                    self.decoded(&elements, index, &under)
                }
                (Step::Choice(Lit::TRUE), Node::Ite(_, then, _)) => self.reads[&key(then)].clone(),
                (Step::Choice(Lit::FALSE), Node::Ite(_, _, otherwise)) => {
                    self.reads[&key(otherwise)].clone()
                }
                (&Step::Choice(condition), Node::Ite(_, then, otherwise)) => {
                    let then = self.reads[&key(then)].clone();
                    let otherwise = self.reads[&key(otherwise)].clone();
                    self.gates.mux_word(condition, &then, &otherwise)
                }
                (_, Node::ArrayOf(value)) => self.word(terms, value).to_vec(),
                _ => {
                    let Sort::Array { element, .. } = terms.sort(at) else {
                        unreachable!("arrays are read");
                    };
                    if !self.applications.contains_key(&Unknown::Array(at)) {
                        self.variables.push(at);
                    }
                    self.applied(Unknown::Array(at), index.to_vec(), element)
                }
            };
            self.reads.insert(key(at), word);
        }
        self.reads[&key(array)].clone()
    }

    /// What the stores at constant indices wrote that stand one on the other from here, and the array below them. An
    /// array that was read at this index already ends them.
    fn run(&self, terms: &Terms, top: Term, number: u32) -> (BTreeMap<u128, Term>, Term) {
        let mut run = BTreeMap::new();
        let mut at = top;
        while let Node::Store(below, there, value) = terms.node(at)
            && let Some(place) = terms.as_constant(there)
            && !self.reads.contains_key(&(at, number))
        {
            run.entry(place).or_insert(value);
            at = below;
        }
        (run, at)
    }

    /// Returns the element at an index, given the elements at constant indices in their order, or else `other`. The term
    /// decides bit by bit: its depth is the width of the index, however many elements there are.
    fn decoded(&mut self, elements: &[(u128, Word)], index: &[Lit], other: &[Lit]) -> Word {
        let [.., top] = index else {
            return match elements {
                [(_, element)] => element.clone(),
                _ => other.to_vec(),
            };
        };
        let rest = &index[..index.len() - 1];
        match elements {
            [] => other.to_vec(),
            [(place, element)] => {
                let place: Word = (0..index.len())
                    .map(|bit| Lit::constant(place >> bit & 1 == 1))
                    .collect();
                let hit = self.gates.equal(&place, index);
                self.gates.mux_word(hit, element, other)
            }
            _ => {
                let boundary = elements.partition_point(|(place, _)| place >> rest.len() & 1 == 0);
                let (low, high) = elements.split_at(boundary);
                let low = self.decoded(low, rest, other);
                let high = self.decoded(high, rest, other);
                self.gates.mux_word(*top, &high, &low)
            }
        }
    }
}
