//! States equal products to the solver, which it would not find by itself.
//!
//! Two versions calculate `x * y` and `x * z`, and `y` is `z` wherever nothing changed. As circuits these are two nests of
//! thousands of gates, and that they agree takes minutes to find out. Said beforehand it takes nothing. All that is said
//! here is true of any numbers, so that no answer depends on it.

use std::mem::{Discriminant, discriminant};

use patchwright_solve::{Budget, Node, Solver, Term, Terms};
use rustc_hash::FxHashSet;

/// Operations of one kind that are compared with each other at most.
const MOST: usize = 64;

/// An operation whose circuit is large.
#[derive(Clone, Copy)]
struct Operation {
    term: Term,
    kind: Discriminant<Node>,
    of: (Term, Term),
    commutes: bool,
}

/// The large operations that a solver was told of.
#[derive(Default)]
pub(crate) struct Congruence {
    seen: FxHashSet<Term>,
    all: Vec<Operation>,
}

impl Congruence {
    /// Adds the properties of operations within `roots` that the solver does not have yet. An interruption leaves some out.
    pub(crate) fn tell(
        &mut self,
        terms: &mut Terms,
        solver: &mut Solver,
        roots: &[Term],
        interrupt: &dyn Fn() -> bool,
    ) {
        for term in terms.within(roots) {
            let node = terms.node(term);
            let (of, commutes) = match node {
                Node::Mul(a, b)
                | Node::MulOverflowsSigned(a, b)
                | Node::MulOverflowsUnsigned(a, b) => ((a, b), true),
                Node::Udiv(a, b) | Node::Urem(a, b) | Node::Sdiv(a, b) | Node::Srem(a, b) => {
                    ((a, b), false)
                }
                // A difference in the kind of number or the operation is one in the operands' names.
                Node::FloatBinary(_, _, a, b) => ((a, b), false),
                _ => continue,
            };
            if !self.seen.insert(term) {
                continue;
            }
            let new = Operation {
                term,
                kind: discriminant(&node),
                of,
                commutes,
            };
            let alike: Vec<Operation> = self
                .all
                .iter()
                .copied()
                .filter(|other| is_alike(terms, other, &new))
                .take(MOST)
                .collect();
            for other in alike {
                // Circuits of floats take their time.
                if interrupt() {
                    return;
                }
                let law = law(terms, &other, &new);
                if terms.as_truth(law) != Some(true) {
                    let budget = Budget {
                        conflicts: None,
                        interrupt: Some(interrupt),
                    };
                    solver.assert_within(terms, law, &budget);
                }
            }
            self.all.push(new);
        }
    }
}

fn is_alike(terms: &Terms, a: &Operation, b: &Operation) -> bool {
    let same_float = match (terms.node(a.term), terms.node(b.term)) {
        (Node::FloatBinary(kind, op, ..), Node::FloatBinary(other, with, ..)) => {
            kind == other && op == with
        }
        _ => true,
    };
    a.kind == b.kind && same_float && terms.sort(a.of.0) == terms.sort(b.of.0)
}

/// Of equal operands the results are equal.
fn law(terms: &mut Terms, a: &Operation, b: &Operation) -> Term {
    let mut same = both(terms, a.of, b.of);
    if a.commutes {
        let crossed = both(terms, a.of, (b.of.1, b.of.0));
        same = terms.or(same, crossed);
    }
    let result = terms.eq(a.term, b.term);
    terms.implies(same, result)
}

fn both(terms: &mut Terms, a: (Term, Term), b: (Term, Term)) -> Term {
    let first = terms.eq(a.0, b.0);
    let second = terms.eq(a.1, b.1);
    terms.and(first, second)
}
