//! Finds what decides the values of terms for one input: literals over inputs without choices.
//!
//! The encoding of a program merges its paths into choices. Under a model, the walk takes one side of a choice, one false part
//! of a false conjunction, and the store that wrote an element of an array. It passes the branches of one path, and only those on which
//! the values depend: the path condition over the relevant slice (definitions 3 to 7).
//!
//! A truth value that depends on one byte only, such as the result of `isspace`, is not split further. The bytes for which
//! it holds are a set that people can read.

use patchwright_solve::{Assignment, Node, Rings, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::SMALL;

/// What a term depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depends {
    Nothing,
    /// A variable.
    One(Term),
    Several,
}

impl Depends {
    fn and(self, other: Depends) -> Depends {
        match (self, other) {
            (Depends::Nothing, one) | (one, Depends::Nothing) => one,
            (a, b) if a == b => a,
            _ => Depends::Several,
        }
    }
}

/// Terms without choices, and the conditions under which they are what the original terms are.
pub(crate) struct Specialised<'t> {
    terms: &'t mut Terms,
    model: Assignment,
    /// Values of all terms but arrays under the model.
    values: FxHashMap<Term, u128>,
    made: FxHashMap<Term, Term>,
    seen: FxHashSet<Term>,
    /// What terms depend on.
    depends: FxHashMap<Term, Depends>,
    rings: Rings,
    /// Truth values that hold under the model; as long as they do, each specialised term equals the original one.
    pub(crate) literals: Vec<Term>,
}

impl<'t> Specialised<'t> {
    /// Starts without any literal. `model` decides each choice.
    pub(crate) fn new(terms: &'t mut Terms, model: Assignment) -> Specialised<'t> {
        Specialised {
            terms,
            model,
            values: FxHashMap::default(),
            made: FxHashMap::default(),
            seen: FxHashSet::default(),
            depends: FxHashMap::default(),
            rings: Rings::default(),
            literals: Vec::new(),
        }
    }

    /// Returns the pool of terms.
    pub(crate) fn terms(&mut self) -> &mut Terms {
        self.terms
    }

    /// Returns the term of a truth value.
    pub(crate) fn truth(&mut self, value: bool) -> Term {
        self.terms.truth(value)
    }

    /// Computes the values of these terms and of all parts of them under the model.
    pub(crate) fn prepare(&mut self, roots: &[Term]) {
        let scalars: Vec<Term> = self.terms.within(roots);
        for &term in &scalars {
            let depends = self.depends_on(term);
            self.depends.insert(term, depends);
        }
        let scalars: Vec<Term> = scalars
            .into_iter()
            .filter(|term| !self.values.contains_key(term))
            .filter(|&term| !matches!(self.terms.sort(term), Sort::Array { .. }))
            .collect();
        let values = self.terms.evaluate_all(&scalars, &self.model);
        let values = values.iter().map(|value| value.bits());
        self.values.extend(scalars.into_iter().zip(values));
    }

    fn depends_on(&self, term: Term) -> Depends {
        match self.terms.node(term) {
            Node::Variable(_) => Depends::One(term),
            // Of these nothing is known.
            Node::Apply(..) => Depends::Several,
            _ => {
                let mut all = Depends::Nothing;
                self.terms.for_each_part(term, |part| {
                    let own = self.depends.get(&part).copied();
                    all = all.and(own.unwrap_or(Depends::Several));
                });
                all
            }
        }
    }

    /// Whether a term is a truth value of one byte.
    fn is_of_a_byte(&self, term: Term) -> bool {
        match self.depends.get(&term) {
            Some(Depends::One(variable)) if self.is_truth(term) && *variable != term => {
                matches!(self.terms.sort(*variable), Sort::Bits(width) if width <= SMALL)
            }
            _ => false,
        }
    }

    /// Returns a prepared term without choices, as it is under the model, and adds the literals on which that rests.
    pub(crate) fn of(&mut self, root: Term) -> Term {
        let mut open = vec![root];
        while let Some(&term) = open.last() {
            if self.made.contains_key(&term) {
                open.pop();
                continue;
            }
            let before = open.len();
            for part in self.needed(term) {
                if !self.made.contains_key(&part) {
                    open.push(part);
                }
            }
            if open.len() == before {
                let made = self.make(term);
                self.made.insert(term, made);
                open.pop();
            }
        }
        self.made[&root]
    }

    /// Specialises a term as [`Specialised::of`], and adds the condition that the term has its value under the model.
    pub(crate) fn value(&mut self, root: Term) {
        let made = self.of(root);
        if self.is_truth(root) {
            return;
        }
        let value = self
            .terms
            .constant(self.terms.width(root), self.values[&root]);
        let same = self.terms.eq(made, value);
        self.literal(same, true);
    }

    /// Whether a truth value that was prepared holds.
    pub(crate) fn holds(&self, term: Term) -> bool {
        self.values[&term] != 0
    }

    fn is_truth(&self, term: Term) -> bool {
        self.terms.sort(term) == Sort::Bool
    }

    /// The terms that decide a term's value.
    fn needed(&self, term: Term) -> Vec<Term> {
        if self.is_of_a_byte(term) {
            return Vec::new();
        }
        match self.terms.node(term) {
            Node::And(a, b) if !self.holds(term) => {
                // One that was passed already costs nothing.
                let (first, second) = (!self.holds(a), !self.holds(b));
                let known = |part: Term| self.made.contains_key(&part);
                match (first, second) {
                    (true, true) if known(b) && !known(a) => vec![b],
                    (true, _) => vec![a],
                    _ => vec![b],
                }
            }
            Node::Ite(condition, then, otherwise) => {
                let side = if self.holds(condition) {
                    then
                } else {
                    otherwise
                };
                vec![condition, side]
            }
            Node::Select(array, index) => {
                let (mut needed, end) = self.element(array, index);
                needed.push(index);
                if let End::Value(value) = end {
                    needed.push(value);
                }
                needed
            }
            _ => {
                let mut parts = Vec::new();
                self.terms.for_each_part(term, |part| parts.push(part));
                parts
            }
        }
    }

    /// The way down an array to an element: the conditions and indices that are passed, and where it ends.
    fn element(&self, array: Term, index: Term) -> (Vec<Term>, End) {
        let mut passed = Vec::new();
        let mut at = array;
        loop {
            match self.terms.node(at) {
                Node::Store(rest, here, value) => {
                    passed.push(here);
                    if self.values[&here] == self.values[&index] {
                        return (passed, End::Value(value));
                    }
                    at = rest;
                }
                Node::Ite(condition, then, otherwise) => {
                    passed.push(condition);
                    at = if self.holds(condition) {
                        then
                    } else {
                        otherwise
                    };
                }
                Node::ArrayOf(element) => return (passed, End::Value(element)),
                _ => return (passed, End::Base(at)),
            }
        }
    }

    /// The term of parts that are there already.
    fn make(&mut self, term: Term) -> Term {
        if self.is_of_a_byte(term) {
            let holds = self.holds(term);
            self.literal(term, holds);
            return self.terms.truth(holds);
        }
        match self.terms.node(term) {
            Node::Not(_) | Node::And(..) | Node::Xor(..) => {
                let holds = self.holds(term);
                self.terms.truth(holds)
            }
            Node::Ite(condition, then, otherwise) => {
                let side = if self.holds(condition) {
                    then
                } else {
                    otherwise
                };
                self.made[&side]
            }
            Node::Select(array, index) => {
                let (passed, end) = self.element(array, index);
                let wanted = self.made[&index];
                for here in passed {
                    if self.is_truth(here) {
                        continue;
                    }
                    let is_same = self.values[&here] == self.values[&index];
                    let other = self.made[&here];
                    let same = self.terms.eq(wanted, other);
                    self.literal(same, is_same);
                }
                match end {
                    End::Value(value) => self.made[&value],
                    End::Base(base) => self.terms.select(base, wanted),
                }
            }
            _ => {
                let made = &self.made;
                let new = self.terms.rebuild(term, |part| made[&part]);
                // On one path much is the same that is not where paths meet.
                let new = self.rings.first_like(self.terms, new);
                if !self.is_truth(term) {
                    return new;
                }
                let holds = self.holds(term);
                self.literal(new, holds);
                self.terms.truth(holds)
            }
        }
    }

    /// Adds what has to hold, one conjunct at a time.
    fn literal(&mut self, term: Term, holds: bool) {
        let literal = if holds { term } else { self.terms.not(term) };
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            if self.terms.as_truth(literal).is_some() || !self.seen.insert(literal) {
                continue;
            }
            match self.terms.node(literal) {
                Node::And(a, b) => open.extend([b, a]),
                _ => self.literals.push(literal),
            }
        }
    }
}

/// Where the way to an element ends.
enum End {
    /// At its value.
    Value(Term),
    /// At an array of which nothing is known.
    Base(Term),
}
