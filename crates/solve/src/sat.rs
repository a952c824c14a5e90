//! The SAT solvers, behind one trait.

use std::cell::Cell;
use std::rc::Rc;

use batsat::SolverInterface;
use batsat::callbacks::Callbacks;
use rustsat::solvers::{
    ControlSignal, GetInternalStats, LimitConflicts, Solve, SolveIncremental, SolverResult,
    Terminate,
};
use rustsat::types::{Lit as RustsatLit, TernaryVal, Var as RustsatVar};

use crate::solver::{Answer, Budget};

/// The SAT solver that answers questions.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Backend {
    /// CaDiCaL.
    #[default]
    Cadical,
    /// BatSat, which is written in Rust.
    Batsat,
}

impl Backend {
    /// All SAT solvers that are built in.
    pub const ALL: [Backend; 2] = [Backend::Cadical, Backend::Batsat];

    /// Starts the solver of this name.
    pub(crate) fn start(self) -> Box<dyn Sat> {
        match self {
            Backend::Cadical => Box::new(Cadical::new()),
            Backend::Batsat => Box::new(Batsat::new()),
        }
    }
}

/// A variable counted from zero, or its negation: twice the variable, plus one.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct SatLit(pub u32);

impl SatLit {
    /// Returns the number of the variable.
    pub(crate) fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the literal is negated.
    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for SatLit {
    type Output = SatLit;

    fn not(self) -> SatLit {
        SatLit(self.0 ^ 1)
    }
}

/// A solver for clauses that is asked again and again.
pub(crate) trait Sat {
    /// Variables below `count` are going to be used.
    fn reserve(&mut self, count: u32);

    fn add(&mut self, clause: &[SatLit]);

    fn solve(&mut self, assumptions: &[SatLit], budget: &Budget<'_>) -> Answer;

    /// The value of a variable, after a satisfiable answer.
    fn value(&self, variable: u32) -> bool;

    /// Those of the assumptions that cannot be true together, after an unsatisfiable answer.
    fn core(&self) -> &[SatLit];

    fn conflicts(&self) -> u64;

    fn propagations(&self) -> u64;
}

/// A question whether to stop, for the time of one call.
///
/// Solvers want callbacks that live as long as they do. What is asked here lives for one call only, so it is put in
/// before the call and taken out after it.
#[derive(Clone, Default)]
struct Question(Rc<Cell<Option<&'static dyn Fn() -> bool>>>);

impl Question {
    fn stop(&self) -> bool {
        self.0.get().is_some_and(|interrupt| interrupt())
    }

    fn during<R>(&self, interrupt: Option<&dyn Fn() -> bool>, run: impl FnOnce() -> R) -> R {
        struct Clear<'q>(&'q Question);
        impl Drop for Clear<'_> {
            fn drop(&mut self) {
                self.0.0.set(None);
            }
        }
        let _clear = Clear(self);
        // SAFETY: the reference is taken out again before this function returns or unwinds, so it is never used after
        // its end; copies of it are made in `stop` only, for the time of the call there.
        let interrupt = interrupt.map(|interrupt| unsafe {
            std::mem::transmute::<&dyn Fn() -> bool, &'static dyn Fn() -> bool>(interrupt)
        });
        self.0.set(interrupt);
        run()
    }
}

struct Cadical {
    solver: rustsat_cadical::CaDiCaL<'static, 'static>,
    question: Question,
    core: Vec<SatLit>,
    clause: Vec<RustsatLit>,
}

impl Cadical {
    fn new() -> Self {
        let mut solver = rustsat_cadical::CaDiCaL::default();
        let question = Question::default();
        let asked = question.clone();
        solver.attach_terminator(move || {
            if asked.stop() {
                ControlSignal::Terminate
            } else {
                ControlSignal::Continue
            }
        });
        Cadical {
            solver,
            question,
            core: Vec::new(),
            clause: Vec::new(),
        }
    }

    fn lit(lit: SatLit) -> RustsatLit {
        RustsatLit::new(lit.variable(), lit.is_negated())
    }
}

impl Sat for Cadical {
    fn reserve(&mut self, count: u32) {
        if count > 0 {
            self.solver
                .reserve(RustsatVar::new(count - 1))
                .expect("CaDiCaL has memory for its variables");
        }
    }

    fn add(&mut self, clause: &[SatLit]) {
        self.clause.clear();
        self.clause.extend(clause.iter().map(|&lit| Self::lit(lit)));
        self.solver
            .add_clause_ref(&self.clause)
            .expect("CaDiCaL has memory for its clauses");
    }

    fn solve(&mut self, assumptions: &[SatLit], budget: &Budget<'_>) -> Answer {
        let limit = budget
            .conflicts
            .map(|conflicts| conflicts.min(i32::MAX as u64) as u32);
        self.solver
            .limit_conflicts(limit)
            .expect("CaDiCaL takes a limit of conflicts");
        let assumed: Vec<RustsatLit> = assumptions.iter().map(|&lit| Self::lit(lit)).collect();
        let Cadical {
            solver, question, ..
        } = self;
        let result = question.during(budget.interrupt, || solver.solve_assumps(&assumed));
        self.core.clear();
        match result.expect("CaDiCaL has memory for its search") {
            SolverResult::Sat => Answer::Satisfiable,
            SolverResult::Interrupted => Answer::Unknown,
            SolverResult::Unsat => {
                let core = self.solver.core().expect("it was unsatisfiable");
                // A core is a clause: the negations.
                let core: Vec<SatLit> = core
                    .iter()
                    .map(|lit| SatLit(lit.vidx32() << 1 | u32::from(lit.is_pos())))
                    .collect();
                self.core = core;
                Answer::Unsatisfiable
            }
        }
    }

    fn value(&self, variable: u32) -> bool {
        let value = self.solver.lit_val(RustsatLit::new(variable, false));
        matches!(value, Ok(TernaryVal::True))
    }

    fn core(&self) -> &[SatLit] {
        &self.core
    }

    fn conflicts(&self) -> u64 {
        self.solver.conflicts() as u64
    }

    fn propagations(&self) -> u64 {
        self.solver.propagations() as u64
    }
}

/// Ends a search when a clause too many was learnt: one comes with each conflict.
struct Limits {
    question: Question,
    learnt: Rc<Cell<u64>>,
    most: Rc<Cell<u64>>,
}

impl Callbacks for Limits {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: batsat::ClauseKind) {
        if kind == batsat::ClauseKind::Learnt {
            self.learnt.set(self.learnt.get() + 1);
        }
    }

    fn stop(&self) -> bool {
        self.learnt.get() >= self.most.get() || self.question.stop()
    }
}

struct Batsat {
    solver: batsat::Solver<Limits>,
    question: Question,
    learnt: Rc<Cell<u64>>,
    most: Rc<Cell<u64>>,
    model: Vec<bool>,
    core: Vec<SatLit>,
}

impl Batsat {
    fn new() -> Self {
        let question = Question::default();
        let (learnt, most) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(u64::MAX)));
        let limits = Limits {
            question: question.clone(),
            learnt: learnt.clone(),
            most: most.clone(),
        };
        Batsat {
            solver: batsat::Solver::new(batsat::SolverOpts::default(), limits),
            question,
            learnt,
            most,
            model: Vec::new(),
            core: Vec::new(),
        }
    }
}

fn batsat_lit(lit: SatLit) -> batsat::Lit {
    batsat::Lit::new(
        batsat::Var::unsafe_from_idx(lit.variable()),
        !lit.is_negated(),
    )
}

impl Sat for Batsat {
    fn reserve(&mut self, count: u32) {
        if count > 0 {
            self.solver.var_of_int(count - 1);
        }
    }

    fn add(&mut self, clause: &[SatLit]) {
        let mut clause = clause.iter().map(|&lit| batsat_lit(lit)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    fn solve(&mut self, assumptions: &[SatLit], budget: &Budget<'_>) -> Answer {
        let most = budget.conflicts.map_or(u64::MAX, |conflicts| {
            self.learnt.get().saturating_add(conflicts)
        });
        self.most.set(most);
        let assumed: Vec<batsat::Lit> = assumptions.iter().map(|&lit| batsat_lit(lit)).collect();
        let Batsat {
            solver, question, ..
        } = self;
        let result = question.during(budget.interrupt, || {
            if solver.is_ok() {
                solver.solve_limited(&assumed)
            } else {
                batsat::lbool::FALSE
            }
        });
        self.core.clear();
        if result == batsat::lbool::TRUE {
            let model = self.solver.get_model();
            self.model.clear();
            self.model
                .extend(model.iter().map(|&value| value == batsat::lbool::TRUE));
            Answer::Satisfiable
        } else if result == batsat::lbool::FALSE {
            let solver = &self.solver;
            if solver.is_ok() {
                let failed = |lit: SatLit| {
                    let lit = batsat_lit(lit);
                    solver.unsat_core_contains_lit(lit) || solver.unsat_core_contains_lit(!lit)
                };
                self.core
                    .extend(assumptions.iter().copied().filter(|&lit| failed(lit)));
            }
            Answer::Unsatisfiable
        } else {
            Answer::Unknown
        }
    }

    fn value(&self, variable: u32) -> bool {
        self.model.get(variable as usize).copied().unwrap_or(false)
    }

    fn core(&self) -> &[SatLit] {
        &self.core
    }

    fn conflicts(&self) -> u64 {
        self.solver.num_conflicts()
    }

    fn propagations(&self) -> u64 {
        self.solver.num_propagations()
    }
}
