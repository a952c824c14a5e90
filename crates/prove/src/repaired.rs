//! The solver that decides whether repaired programs are right.

use patchwright_solve::{Answer, Backend, Budget, Solver, Statistics, Term, Terms};

/// A solver for programs with changes in place. The programs have much in common, so what the solver learnt about one serves the
/// next. Clauses of former programs slow it down, so it begins anew when there are many of them.
pub(crate) struct Repaired {
    pub(crate) solver: Solver,
    /// Variables that the first question needed.
    first: u64,
    before: Statistics,
}

impl Repaired {
    /// Makes a solver without any condition.
    pub(crate) fn new() -> Repaired {
        Repaired {
            solver: Solver::new(Backend::default()),
            first: 0,
            before: Statistics::default(),
        }
    }

    /// Asks whether `condition` can hold. The solver begins anew when it has grown too much.
    pub(crate) fn check(&mut self, terms: &Terms, condition: Term, budget: &Budget<'_>) -> Answer {
        const GROWTH: u64 = 3;
        let variables = self.solver.statistics().variables;
        if self.first > 0 && variables > GROWTH * self.first {
            self.before = self.statistics();
            *self = Repaired {
                before: self.before,
                ..Repaired::new()
            };
        }
        let answer = self.solver.check(terms, &[condition], budget);
        if self.first == 0 {
            self.first = self.solver.statistics().variables;
        }
        answer
    }

    /// Returns the counts of all solvers so far.
    pub(crate) fn statistics(&self) -> Statistics {
        let now = self.solver.statistics();
        Statistics {
            terms: self.before.terms + now.terms,
            gates: self.before.gates + now.gates,
            variables: self.before.variables + now.variables,
            clauses: self.before.clauses + now.clauses,
            calls: self.before.calls + now.calls,
            conflicts: self.before.conflicts + now.conflicts,
            propagations: self.before.propagations + now.propagations,
        }
    }
}
