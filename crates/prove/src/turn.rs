//! Turns decisions around, to find inputs of paths that were not seen.

use patchwright_solve::{
    Answer, Assignment, Backend, Budget, Solver, Sort, Statistics, Term, Terms,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tree::{NodeId, Tree};

/// Gates of a solver, after which another one begins.
const MOST_GATES: u64 = 3_000_000;

/// The result of turning a decision around.
#[derive(Clone, Debug)]
pub enum Turned {
    /// An input that gets to the decision, and takes a way from there that nobody has seen.
    Input(Assignment),
    /// There is none.
    Nothing,
    /// The solver did not find out.
    Unknown,
}

/// Asks a solver for inputs that reach a decision of the tree and leave it by a branch that no execution took.
pub struct Turner {
    variables: Variables,
    solver: Solver,
    /// What earlier solvers did.
    before: Statistics,
}

impl Default for Turner {
    fn default() -> Turner {
        Turner {
            variables: Variables::default(),
            solver: Solver::new(Backend::default()),
            before: Statistics::default(),
        }
    }
}

impl Turner {
    /// Asks for an input that satisfies `domain`, reaches `node` and takes none of its known
    /// branches.
    pub fn turn(
        &mut self,
        terms: &mut Terms,
        tree: &Tree,
        node: NodeId,
        domain: &[Term],
        budget: &Budget<'_>,
    ) -> Turned {
        let Some(rest) = tree.rest(terms, node) else {
            return Turned::Nothing;
        };
        let mut conditions = tree.conditions(node);
        conditions.extend(domain);
        // What has nothing to do with it stays as it is in the input that got here.
        let (connected, variables) = self.variables.connected(terms, &rest, &conditions);
        let mut asked = rest;
        asked.extend(connected);
        if self.solver.statistics().gates > MOST_GATES {
            self.before = self.statistics();
            self.solver = Solver::new(Backend::default());
        }
        match self.solver.check(terms, &asked, budget) {
            Answer::Satisfiable => {
                let model = self.solver.model();
                let mut input = tree.input(node).clone();
                for variable in variables {
                    if !matches!(terms.sort(variable), Sort::Array { .. }) {
                        let bits = terms.evaluate(variable, model).bits();
                        input.set_bits(terms, variable, bits);
                    }
                }
                Turned::Input(input)
            }
            Answer::Unsatisfiable => Turned::Nothing,
            Answer::Unknown => Turned::Unknown,
        }
    }

    /// Returns the work of all solvers.
    pub fn statistics(&self) -> Statistics {
        self.before + self.solver.statistics()
    }
}

/// The variables of terms, each looked up once.
#[derive(Default)]
struct Variables {
    of: FxHashMap<Term, Vec<Term>>,
}

impl Variables {
    fn of(&mut self, terms: &Terms, term: Term) -> &[Term] {
        self.of
            .entry(term)
            .or_insert_with(|| terms.variables_of(term))
    }

    /// Those of `conditions` that have to do with `asked`, by variables or by others of them; and all variables of these.
    fn connected(
        &mut self,
        terms: &Terms,
        asked: &[Term],
        conditions: &[Term],
    ) -> (Vec<Term>, Vec<Term>) {
        let mut reached = FxHashSet::default();
        for &term in asked {
            reached.extend(self.of(terms, term).iter().copied());
        }
        let mut open: Vec<Term> = conditions.to_vec();
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            open.retain(|&condition| {
                let own = self.of(terms, condition);
                let touches = own.iter().any(|one| reached.contains(one));
                if touches {
                    reached.extend(own.iter().copied());
                    taken.push(condition);
                }
                !touches
            });
            if taken.len() == before {
                break;
            }
        }
        let mut all: Vec<Term> = reached.into_iter().collect();
        all.sort_unstable();
        (taken, all)
    }
}
