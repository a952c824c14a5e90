//! Terms for truth values: conjunction, difference, choice. Other connectives are written with negation.

use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

/// The number of parts of a conjunction that are compared with those of another.
const FLAT: usize = 8;

/// The parts of a small conjunction, or the first few of a large one.
struct Parts {
    terms: [Term; FLAT],
    len: usize,
    /// These are all.
    whole: bool,
}

impl Parts {
    fn of(terms: &Terms, term: Term) -> Self {
        let mut parts = Parts {
            terms: [term; FLAT],
            len: 0,
            whole: true,
        };
        parts.gather(terms, term, 2 * FLAT);
        parts
    }

    fn gather(&mut self, terms: &Terms, term: Term, depth: usize) {
        if self.len == FLAT {
            self.whole = false;
            return;
        }
        match terms.node(term) {
            Node::And(a, b) if depth > 0 => {
                // The newest parts of a chain are at its short ends.
                let (short, long) = match terms.node(a) {
                    Node::And(..) => (b, a),
                    _ => (a, b),
                };
                self.gather(terms, short, depth - 1);
                self.gather(terms, long, depth - 1);
            }
            Node::And(..) => self.whole = false,
            _ => {
                self.terms[self.len] = term;
                self.len += 1;
            }
        }
    }

    fn list(&self) -> &[Term] {
        &self.terms[..self.len]
    }
}

impl Terms {
    /// Whether one term is the negation of the other, as written.
    pub(crate) fn is_negation(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Not(b) || self.node(b) == Node::Not(a)
    }

    /// Both cannot be true, as far as a glance tells.
    fn exclude(&self, a: Term, b: Term) -> bool {
        if self.is_negation(a, b) {
            return true;
        }
        // Equal to two numbers at once. Constants stand to the right.
        match (self.node(a), self.node(b)) {
            (Node::Eq(x, k), Node::Eq(y, l)) => {
                x == y && k != l && self.as_constant(k).is_some() && self.as_constant(l).is_some()
            }
            _ => false,
        }
    }

    /// Returns the negation of a truth value.
    #[track_caller]
    pub fn not(&mut self, a: Term) -> Term {
        self.expect_bool(a);
        match self.node(a) {
            Node::Truth(value) => self.truth(!value),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a), Sort::Bool),
        }
    }

    /// Returns the conjunction of two truth values.
    #[track_caller]
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.expect_bool(a);
        self.expect_bool(b);
        self.and_within(a, b, 8)
    }

    fn and_within(&mut self, a: Term, b: Term, fuel: u32) -> Term {
        match (self.as_truth(a), self.as_truth(b)) {
            (Some(false), _) | (_, Some(true)) => return a,
            (_, Some(false)) | (Some(true), _) => return b,
            _ => {}
        }
        if a == b {
            return a;
        }
        if fuel > 0
            && let Some(simpler) = self.simpler_and(a, b, fuel - 1)
        {
            return simpler;
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.intern(Node::And(a, b), Sort::Bool)
    }

    fn simpler_and(&mut self, a: Term, b: Term, fuel: u32) -> Option<Term> {
        let (left, right) = (Parts::of(self, a), Parts::of(self, b));
        for &x in left.list() {
            for &y in right.list() {
                if self.exclude(x, y) {
                    return Some(self.truth(false));
                }
            }
        }
        // One says what the other does, and more.
        let has = |parts: &Parts, term: Term| parts.list().contains(&term);
        if right.whole && right.list().iter().all(|&term| has(&left, term)) {
            return Some(a);
        }
        if left.whole && left.list().iter().all(|&term| has(&right, term)) {
            return Some(b);
        }
        for (parts, whole, other) in [(&left, a, b), (&right, b, a)] {
            if let Some(simpler) = self.under(parts, whole, other, fuel) {
                return Some(simpler);
            }
        }
        // (p ∧ q) ∨ (p ∧ ¬q) is p, seen from the other side.
        if let (Node::Not(x), Node::Not(y)) = (self.node(a), self.node(b))
            && let (Node::And(p, q), Node::And(r, s)) = (self.node(x), self.node(y))
        {
            for (shared, same, rest, others) in
                [(p, r, q, s), (p, s, q, r), (q, r, p, s), (q, s, p, r)]
            {
                if shared == same && self.is_negation(rest, others) {
                    return Some(self.not(shared));
                }
            }
        }
        None
    }

    /// What is left of `whole ∧ other` where `other` is ¬(x ∧ y) and `parts` of `whole` decide x or y.
    fn under(&mut self, parts: &Parts, whole: Term, other: Term, fuel: u32) -> Option<Term> {
        let Node::Not(inner) = self.node(other) else {
            return None;
        };
        let Node::And(x, y) = self.node(inner) else {
            return None;
        };
        let alternatives = Parts::of(self, inner);
        for &alternative in alternatives.list() {
            if parts
                .list()
                .iter()
                .any(|&part| self.exclude(part, alternative))
            {
                return Some(whole);
            }
        }
        let negated = if parts.list().contains(&x) {
            y
        } else if parts.list().contains(&y) {
            x
        } else {
            return None;
        };
        let rest = self.not(negated);
        Some(self.and_within(whole, rest, fuel))
    }

    /// Returns the disjunction of two truth values.
    #[track_caller]
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// Returns whether two truth values differ.
    #[track_caller]
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        self.expect_bool(a);
        self.expect_bool(b);
        let mut negated = false;
        let [a, b] = [a, b].map(|term| match self.node(term) {
            Node::Not(inner) => {
                negated = !negated;
                inner
            }
            _ => term,
        });
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let result = match (self.node(a), self.node(b)) {
            _ if a == b => self.truth(false),
            (Node::Truth(value), _) => self.not_if(value, b),
            (_, Node::Truth(value)) => self.not_if(value, a),
            (Node::Xor(x, y), _) if x == b => y,
            (Node::Xor(x, y), _) if y == b => x,
            (_, Node::Xor(x, y)) if x == a => y,
            (_, Node::Xor(x, y)) if y == a => x,
            _ => self.intern(Node::Xor(a, b), Sort::Bool),
        };
        self.not_if(negated, result)
    }

    /// Returns `!a` if `negate` is set, else `a`.
    pub(crate) fn not_if(&mut self, negate: bool, a: Term) -> Term {
        if negate { self.not(a) } else { a }
    }

    /// Returns whether `a` implies `b`.
    #[track_caller]
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let b = self.not(b);
        let broken = self.and(a, b);
        self.not(broken)
    }

    /// Returns whether two truth values are equal.
    #[track_caller]
    pub fn iff(&mut self, a: Term, b: Term) -> Term {
        let differ = self.xor(a, b);
        self.not(differ)
    }

    /// Returns whether all `terms` are true. Without terms the result is true.
    #[track_caller]
    pub fn and_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let mut result = self.truth(true);
        for term in terms {
            result = self.and(result, term);
        }
        result
    }

    /// Returns whether one of `terms` is true. Without terms the result is false.
    #[track_caller]
    pub fn or_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let mut result = self.truth(false);
        for term in terms {
            result = self.or(result, term);
        }
        result
    }

    /// Returns `then` if `condition` is true, else `otherwise`. Both must have one sort.
    #[track_caller]
    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        self.expect_bool(condition);
        assert_eq!(
            self.sort(then),
            self.sort(otherwise),
            "both sides have one sort"
        );
        self.ite_within(condition, then, otherwise, 8)
    }

    fn ite_within(&mut self, condition: Term, then: Term, otherwise: Term, fuel: u32) -> Term {
        if then == otherwise {
            return then;
        }
        match self.node(condition) {
            Node::Truth(true) => return then,
            Node::Truth(false) => return otherwise,
            Node::Not(inner) => return self.ite_within(inner, otherwise, then, fuel),
            Node::Eq(x, y) if (then, otherwise) == (x, y) || (then, otherwise) == (y, x) => {
                return otherwise;
            }
            _ => {}
        }
        let sort = self.sort(then);
        if sort == Sort::Bool
            && let Some(simpler) = self.ite_of_truth(condition, then, otherwise)
        {
            return simpler;
        }
        if fuel > 0 {
            if let Some((then, otherwise)) = self.under_condition(condition, then, otherwise) {
                return self.ite_within(condition, then, otherwise, fuel - 1);
            }
            // A side that is a choice between the other side and something else.
            if let Node::Ite(inner, x, y) = self.node(then) {
                if y == otherwise {
                    let both = self.and(condition, inner);
                    return self.ite_within(both, x, otherwise, fuel - 1);
                }
                if x == otherwise {
                    let inner = self.not(inner);
                    let both = self.and(condition, inner);
                    return self.ite_within(both, y, otherwise, fuel - 1);
                }
            }
            if let Node::Ite(inner, x, y) = self.node(otherwise) {
                if x == then {
                    let either = self.or(condition, inner);
                    return self.ite_within(either, then, y, fuel - 1);
                }
                if y == then {
                    let inner = self.not(inner);
                    let either = self.or(condition, inner);
                    return self.ite_within(either, then, x, fuel - 1);
                }
            }
        }
        self.intern(Node::Ite(condition, then, otherwise), sort)
    }

    /// The sides where one of them asks for the condition again.
    fn under_condition(
        &self,
        condition: Term,
        then: Term,
        otherwise: Term,
    ) -> Option<(Term, Term)> {
        if let Node::Ite(inner, x, y) = self.node(then) {
            if inner == condition {
                return Some((x, otherwise));
            }
            if self.exclude(inner, condition) {
                return Some((y, otherwise));
            }
        }
        if let Node::Ite(inner, _, y) = self.node(otherwise)
            && inner == condition
        {
            return Some((then, y));
        }
        None
    }

    fn ite_of_truth(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        let result = match (self.node(then), self.node(otherwise)) {
            (Node::Truth(true), _) => self.or(condition, otherwise),
            (Node::Truth(false), _) => {
                let condition = self.not(condition);
                self.and(condition, otherwise)
            }
            (_, Node::Truth(false)) => self.and(condition, then),
            (_, Node::Truth(true)) => self.implies(condition, then),
            _ if then == condition => self.or(condition, otherwise),
            _ if otherwise == condition => self.and(condition, then),
            _ if self.is_negation(then, condition) => {
                let condition = self.not(condition);
                self.and(condition, otherwise)
            }
            _ if self.is_negation(otherwise, condition) => self.implies(condition, then),
            _ if self.is_negation(then, otherwise) => self.iff(condition, then),
            (Node::Not(x), _) => {
                let otherwise = self.not(otherwise);
                let result = self.ite_within(condition, x, otherwise, 4);
                self.not(result)
            }
            _ => return None,
        };
        Some(result)
    }

    /// Returns one or zero in `width` bits for a truth value.
    #[track_caller]
    pub fn from_truth(&mut self, truth: Term, width: u32) -> Term {
        let (one, zero) = (self.constant(width, 1), self.constant(width, 0));
        self.ite(truth, one, zero)
    }

    /// The truth value that bits stand for which are one or zero because of it.
    pub(crate) fn as_flag(&mut self, term: Term) -> Option<Term> {
        match self.node(term) {
            Node::Constant(value @ (0 | 1)) => Some(self.truth(value == 1)),
            Node::Ite(condition, x, y) => match (self.as_constant(x)?, self.as_constant(y)?) {
                (1, 0) => Some(condition),
                (0, 1) => Some(self.not(condition)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The choice whose sides are two constants: condition and both.
    pub(crate) fn as_constant_choice(&self, term: Term) -> Option<(Term, u128, u128)> {
        match self.node(term) {
            Node::Ite(condition, x, y) => {
                Some((condition, self.as_constant(x)?, self.as_constant(y)?))
            }
            _ => None,
        }
    }
}
