//! Path conditions as chains of conjuncts, which remember their common part.
//!
//! Where two paths meet, the condition of both is usually the one of the branch that parted them. A
//! conjunction that was built into one term has forgotten where that was, so the conjuncts are kept.

use std::rc::Rc;

use patchwright_solve::{Node as Shape, Term, Terms};

use crate::facts::Facts;

#[derive(Debug)]
struct Node {
    parent: Option<Path>,
    condition: Term,
    whole: Term,
    depth: u32,
    facts: Rc<Facts>,
}

/// The condition under which control gets somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Path(Rc<Node>);

/// Two paths that met.
pub(crate) struct Meeting {
    /// The condition of either.
    pub(crate) path: Path,
    /// Of an execution on one of the two, whether it came by the first.
    pub(crate) first: Term,
}

impl Path {
    /// The condition that always holds.
    pub(crate) fn start(terms: &mut Terms) -> Path {
        let condition = terms.truth(true);
        Path(Rc::new(Node {
            parent: None,
            condition,
            whole: condition,
            depth: 0,
            facts: Rc::default(),
        }))
    }

    /// This path, and `condition` in addition; `None` if that never holds.
    pub(crate) fn and(&self, terms: &mut Terms, condition: Term) -> Option<Path> {
        match terms.as_truth(condition) {
            Some(true) => return Some(self.clone()),
            Some(false) => return None,
            None => {}
        }
        let whole = terms.and(self.0.whole, condition);
        match terms.as_truth(whole) {
            Some(false) => return None,
            _ if whole == self.0.whole => return Some(self.clone()),
            _ => {}
        }
        let facts = match self.0.facts.with(terms, condition) {
            Some(facts) => Rc::new(facts),
            None => self.0.facts.clone(),
        };
        Some(Path(Rc::new(Node {
            parent: Some(self.clone()),
            condition,
            whole,
            depth: self.0.depth + 1,
            facts,
        })))
    }

    /// Returns what is known of values on this path.
    pub(crate) fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The condition as one term.
    pub(crate) fn term(&self) -> Term {
        self.0.whole
    }

    /// Its conjuncts, the last first; of a long path only so many that looking at them costs little.
    pub(crate) fn last_conditions(&self) -> impl Iterator<Item = Term> {
        const MOST: usize = 100;
        let all = std::iter::successors(Some(self), |path| path.0.parent.as_ref());
        all.take(MOST).map(|path| path.0.condition)
    }

    /// Whether both are the same node, not only equal conditions.
    pub(crate) fn is(&self, other: &Path) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    fn up(&self) -> Path {
        self.0.parent.clone().unwrap_or_else(|| self.clone())
    }

    /// The path of executions that come by one of two paths, which exclude each other.
    pub(crate) fn meet(&self, other: &Path, terms: &mut Terms) -> Meeting {
        let (mut a, mut b) = (self.clone(), other.clone());
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        while !a.is(&b) {
            if a.0.depth >= b.0.depth {
                of_a.push(a.0.condition);
                a = a.up();
            } else {
                of_b.push(b.0.condition);
                b = b.up();
            }
        }
        of_a.reverse();
        of_b.reverse();
        let common = a;
        let first = match of_a.len() <= of_b.len() || of_b.is_empty() {
            true => terms.and_all(of_a.iter().copied()),
            false => {
                let second = terms.and_all(of_b.iter().copied());
                terms.not(second)
            }
        };
        if of_a.is_empty() || of_b.is_empty() {
            return Meeting {
                path: common,
                first,
            };
        }
        let either = either(terms, &of_a, &of_b);
        let path = common.and(terms, either).unwrap_or(common);
        Meeting { path, first }
    }
}

/// The disjunction of two conjunctions: what the one excludes by itself need not be said in the other.
fn either(terms: &mut Terms, a: &[Term], b: &[Term]) -> Term {
    if terms.not(a[0]) == b[0] {
        let rest_a = terms.and_all(a[1..].iter().copied());
        let rest_b = terms.and_all(b[1..].iter().copied());
        if terms.as_truth(rest_a) == Some(true) && terms.as_truth(rest_b) == Some(true) {
            return rest_a;
        }
        if terms.as_truth(rest_a) == Some(true) {
            return terms.or(a[0], rest_b);
        }
        if terms.as_truth(rest_b) == Some(true) {
            return terms.or(b[0], rest_a);
        }
        return terms.ite(a[0], rest_a, rest_b);
    }
    let (short, long) = match a.len() <= b.len() {
        true => (a, b),
        false => (b, a),
    };
    let short = terms.and_all(short.iter().copied());
    let excluded = negated_disjuncts(terms, short);
    let rest: Vec<Term> = long
        .iter()
        .copied()
        .filter(|term| !excluded.contains(term))
        .collect();
    let long = terms.and_all(rest);
    terms.or(short, long)
}

/// The negations of the parts of a disjunction, as far as they stand at its top.
fn negated_disjuncts(terms: &mut Terms, term: Term) -> Vec<Term> {
    const MOST: usize = 64;
    let mut found = Vec::new();
    let negation = terms.not(term);
    let mut todo = vec![negation];
    while let Some(term) = todo.pop() {
        match terms.node(term) {
            Shape::And(a, b) if found.len() + todo.len() < MOST => todo.extend([a, b]),
            _ => found.push(term),
        }
    }
    found
}
