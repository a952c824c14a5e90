//! Evaluates what is known of a question for all inputs, again and again with few changes in place. Only
//! what a change reaches is computed again.
//!
//! Most of what is asked about all patches at once is about patches that are not in place, and false whatever the inputs are.

use std::{cmp::Reverse, collections::BinaryHeap, rc::Rc};

use patchwright_solve::{Node, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// A value, or nothing where it depends on what is open.
pub(crate) type Value = Option<u128>;

/// Terms, parts before what they are part of, and who uses each.
pub(crate) struct Circuit {
    order: Vec<Term>,
    at: FxHashMap<Term, u32>,
    /// Where the users of each term begin in `used_by`.
    first: Vec<u32>,
    used_by: Vec<u32>,
}

impl Circuit {
    /// These terms and their parts.
    pub(crate) fn new(terms: &Terms, roots: &[Term]) -> Circuit {
        let order = terms.within(roots);
        let mut at = FxHashMap::default();
        for (index, &term) in order.iter().enumerate() {
            at.insert(term, index as u32);
        }
        let mut first = vec![0u32; order.len() + 1];
        for &term in &order {
            terms.for_each_part(term, |part| first[at[&part] as usize + 1] += 1);
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut used_by = vec![0; first[order.len()] as usize];
        let mut next = first.clone();
        for (index, &term) in order.iter().enumerate() {
            terms.for_each_part(term, |part| {
                let place = &mut next[at[&part] as usize];
                used_by[*place as usize] = index as u32;
                *place += 1;
            });
        }
        Circuit {
            order,
            at,
            first,
            used_by,
        }
    }

    /// Returns the number of terms.
    pub(crate) fn size(&self) -> usize {
        self.order.len()
    }
}

/// A circuit with the values of its terms for one input. Terms may also have a value for all inputs.
pub(crate) struct Base {
    circuit: Rc<Circuit>,
    values: Vec<Value>,
    /// For each term the first term of a chain with the same value. A choice whose alternatives are not in place leads to the program's own
    /// value.
    same: Vec<u32>,
    /// What was changed, with what was known before.
    log: Vec<(u32, Value, u32)>,
    /// Where the log was before each change that is in place.
    levels: Vec<usize>,
    queue: BinaryHeap<Reverse<u32>>,
    queued: Vec<bool>,
}

impl Base {
    /// Starts a circuit with these values of its variables.
    pub(crate) fn new(
        terms: &Terms,
        circuit: &Rc<Circuit>,
        variable: impl Fn(Term) -> Value,
    ) -> Base {
        let size = circuit.size();
        let mut base = Base {
            circuit: Rc::clone(circuit),
            values: vec![None; size],
            same: (0..size as u32).collect(),
            queued: vec![false; size],
            log: Vec::new(),
            levels: Vec::new(),
            queue: BinaryHeap::new(),
        };
        for index in 0..size {
            let term = circuit.order[index];
            match terms.node(term) {
                Node::Variable(_) => base.values[index] = variable(term),
                _ => (base.values[index], base.same[index]) = base.computed(terms, term),
            }
        }
        base
    }

    /// Returns the value of a term, as far as it is known.
    pub(crate) fn value(&self, term: Term) -> Value {
        let index = *self.circuit.at.get(&term)?;
        self.values[index as usize]
    }

    /// A term that has the same value, if another one is known to.
    pub(crate) fn same(&self, term: Term) -> Term {
        match self.circuit.at.get(&term) {
            Some(&index) => self.circuit.order[self.same[index as usize] as usize],
            None => term,
        }
    }

    /// What is known of a term, given that of its parts.
    fn computed(&self, terms: &Terms, term: Term) -> (Value, u32) {
        let known = |part| Ok(self.value(part));
        let value = evaluate(terms, term, |_| None, known).ok().flatten();
        let same = match terms.node(term) {
            Node::Ite(condition, then, otherwise) => match self.value(condition) {
                Some(0) => otherwise,
                Some(_) => then,
                None => term,
            },
            Node::And(a, b) if self.value(a) == Some(1) => b,
            Node::And(a, b) if self.value(b) == Some(1) => a,
            _ => term,
        };
        let at = self.circuit.at[&same];
        match same == term {
            true => (value, at),
            false => (value, self.same[at as usize]),
        }
    }

    /// Makes a choice true, until [`Base::take_back`].
    pub(crate) fn put(&mut self, terms: &Terms, choice: Term) {
        self.levels.push(self.log.len());
        let Some(&index) = self.circuit.at.get(&choice) else {
            return;
        };
        self.change(index, (Some(1), index));
        while let Some(Reverse(index)) = self.queue.pop() {
            self.queued[index as usize] = false;
            let term = self.circuit.order[index as usize];
            let new = self.computed(terms, term);
            let old = (self.values[index as usize], self.same[index as usize]);
            if new != old || is_array(terms, term) {
                self.change(index, new);
            }
        }
    }

    /// Takes back the last choice that was put in place.
    pub(crate) fn take_back(&mut self) {
        let before = self.levels.pop().unwrap_or(0);
        while self.log.len() > before {
            if let Some((index, value, same)) = self.log.pop() {
                self.values[index as usize] = value;
                self.same[index as usize] = same;
            }
        }
    }

    fn change(&mut self, index: u32, (value, same): (Value, u32)) {
        let at = index as usize;
        self.log.push((index, self.values[at], self.same[at]));
        (self.values[at], self.same[at]) = (value, same);
        let users = self.circuit.first[index as usize] as usize
            ..self.circuit.first[index as usize + 1] as usize;
        for &user in &self.circuit.used_by[users] {
            if !std::mem::replace(&mut self.queued[user as usize], true) {
                self.queue.push(Reverse(user));
            }
        }
    }
}

/// The value of a term, of the values of variables and of its parts; or a part whose value has to be `known` first.
pub(crate) fn evaluate(
    terms: &Terms,
    term: Term,
    variable: impl Fn(Term) -> Value,
    known: impl Fn(Term) -> Result<Value, Term>,
) -> Result<Value, Term> {
    match terms.node(term) {
        Node::Variable(_) => Ok(variable(term)),
        // Of what a function gives that nobody knows nothing is known.
        Node::Apply(..) => Ok(None),
        // An array has no value of its own; its users look at its parts.
        _ if is_array(terms, term) => Ok(None),
        Node::And(a, b) => {
            let (first, second) = (a.min(b), a.max(b));
            let one = known(first)?;
            if one == Some(0) {
                return Ok(one);
            }
            let other = known(second)?;
            Ok(match (one, other) {
                (_, Some(0)) => other,
                (Some(a), Some(b)) => Some(a & b),
                _ => None,
            })
        }
        Node::Ite(condition, then, otherwise) => match known(condition)? {
            Some(0) => known(otherwise),
            Some(_) => known(then),
            None => {
                let (then, otherwise) = (known(then)?, known(otherwise)?);
                Ok(then.filter(|_| then == otherwise))
            }
        },
        Node::Select(array, index) => match known(index)? {
            Some(index) => element(terms, array, index, known),
            None => Ok(None),
        },
        _ => {
            let mut needed = None;
            let mut all = true;
            terms.for_each_part(term, |part| match known(part) {
                Ok(value) => all &= value.is_some(),
                Err(part) => needed = Some(part),
            });
            if let Some(part) = needed {
                return Err(part);
            }
            let part = |part: Term| known(part).ok().flatten().unwrap_or(0);
            Ok(match all {
                true => terms.value_of_parts(term, part),
                false => None,
            })
        }
    }
}

fn element(
    terms: &Terms,
    array: Term,
    index: u128,
    known: impl Fn(Term) -> Result<Value, Term>,
) -> Result<Value, Term> {
    let mut at = array;
    loop {
        at = match terms.node(at) {
            Node::Store(below, there, element) => match known(there)? {
                Some(there) if there == index => return known(element),
                Some(_) => below,
                None => return Ok(None),
            },
            Node::Ite(condition, then, otherwise) => match known(condition)? {
                Some(0) => otherwise,
                Some(_) => then,
                None => return Ok(None),
            },
            Node::ArrayOf(element) => return known(element),
            _ => return Ok(None),
        };
    }
}

/// Whether a term is an array.
pub(crate) fn is_array(terms: &Terms, term: Term) -> bool {
    matches!(terms.sort(term), Sort::Array { .. })
}
