//! Answers questions about terms by a SAT solver, which keeps what it has learnt.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::blast::{Blaster, Unknown};
use crate::circuit::{Gate, Lit};
use crate::sat::{Backend, Sat, SatLit};
use crate::sort::Sort;
use crate::terms::{Term, Terms};
use crate::value::{ArrayValue, Assignment, Value};

/// The answer to a question: satisfiable, unsatisfiable or not decided.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// There is an assignment, which [`Solver::model`] has.
    Satisfiable,
    /// There is none; [`Solver::core`] says which assumptions exclude it.
    Unsatisfiable,
    /// The budget was spent, or someone interrupted.
    Unknown,
}

/// How much the solver may spend on one question.
#[derive(Copy, Clone, Default)]
pub struct Budget<'b> {
    /// The search ends after so many conflicts. It is a count and no clock, so that the answer is always the same.
    pub conflicts: Option<u64>,
    /// Asked now and then; the search ends when it says yes.
    pub interrupt: Option<&'b dyn Fn() -> bool>,
}

impl Budget<'_> {
    /// Returns a budget without a limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a budget of so many conflicts.
    pub fn conflicts(conflicts: u64) -> Self {
        Budget {
            conflicts: Some(conflicts),
            interrupt: None,
        }
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Budget")
            .field("conflicts", &self.conflicts)
            .field("interrupt", &self.interrupt.is_some())
            .finish()
    }
}

/// The work of a solver so far.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Terms that became circuits.
    pub terms: u64,
    /// Gates of these circuits.
    pub gates: u64,
    /// Variables of the clauses.
    pub variables: u64,
    /// Clauses, those that were learnt not counted.
    pub clauses: u64,
    /// Questions that the clauses were needed for.
    pub calls: u64,
    /// Conflicts in the search.
    pub conflicts: u64,
    /// Propagations in the search.
    pub propagations: u64,
}

impl std::ops::Add for Statistics {
    type Output = Statistics;

    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            terms: self.terms + other.terms,
            gates: self.gates + other.gates,
            variables: self.variables + other.variables,
            clauses: self.clauses + other.clauses,
            calls: self.calls + other.calls,
            conflicts: self.conflicts + other.conflicts,
            propagations: self.propagations + other.propagations,
        }
    }
}

/// A solver for the terms of one pool. Assertions stay; assumptions hold for one question.
pub struct Solver {
    sat: Box<dyn Sat>,
    blaster: Blaster,
    /// The variable of each gate that is in a clause, or [`NONE`].
    variables: Vec<u32>,
    variable_count: u32,
    clause_count: u64,
    calls: u64,
    /// Something false was asserted.
    broken: bool,
    /// Something was not asserted, since somebody interrupted.
    is_cut: bool,
    pool: Option<u64>,
    model: Option<Assignment>,
    core: Vec<Term>,
}

const NONE: u32 = u32::MAX;

/// So many literals of a disjunction go into one clause.
const WIDE: usize = 64;

impl Solver {
    /// Makes a solver without assertions.
    pub fn new(backend: Backend) -> Self {
        Solver {
            sat: backend.start(),
            blaster: Blaster::new(),
            variables: Vec::new(),
            variable_count: 0,
            clause_count: 0,
            calls: 0,
            broken: false,
            is_cut: false,
            pool: None,
            model: None,
            core: Vec::new(),
        }
    }

    #[track_caller]
    fn of_pool(&mut self, terms: &Terms) {
        let pool = *self.pool.get_or_insert(terms.pool());
        assert_eq!(pool, terms.pool(), "a solver has terms of one pool only");
    }

    /// Adds an assertion, a term that has to be true from now on.
    #[track_caller]
    pub fn assert(&mut self, terms: &Terms, term: Term) {
        self.assert_within(terms, term, &Budget::none());
    }

    /// Adds an assertion as [`Solver::assert`] does. If `budget` is interrupted while circuits are
    /// built, no later question is answered.
    #[track_caller]
    pub fn assert_within(&mut self, terms: &Terms, term: Term, budget: &Budget<'_>) {
        terms.expect_bool(term);
        self.of_pool(terms);
        self.model = None;
        let Some(word) = self.blaster.blast(terms, term, budget.interrupt) else {
            self.is_cut = true;
            return;
        };
        let lit = word[0];
        // Each part of a conjunction by itself, and a disjunction as one clause.
        let mut open = vec![lit];
        while let Some(lit) = open.pop() {
            if lit == Lit::TRUE {
                continue;
            }
            if lit == Lit::FALSE {
                self.broken = true;
                continue;
            }
            match self.blaster.gates.gate(lit.gate()) {
                Gate::And(a, b) if !lit.is_negated() => open.extend([b, a]),
                _ => {
                    let clause = self.disjunction(lit);
                    self.add(&clause);
                }
            }
        }
        self.add_laws();
    }

    /// Literals one of which is true exactly where this one is.
    fn disjunction(&self, lit: Lit) -> Vec<Lit> {
        let mut found = Vec::new();
        let mut open = vec![lit];
        while let Some(lit) = open.pop() {
            match self.blaster.gates.gate(lit.gate()) {
                Gate::And(a, b)
                    if lit.is_negated()
                        && found.len() + open.len() < WIDE
                        && !self.has_variable(lit) =>
                {
                    open.extend([!b, !a]);
                }
                _ => found.push(lit),
            }
        }
        found
    }

    fn has_variable(&self, lit: Lit) -> bool {
        self.variables
            .get(lit.gate())
            .is_some_and(|&variable| variable != NONE)
    }

    fn add_laws(&mut self) {
        for law in std::mem::take(&mut self.blaster.gates.laws) {
            self.add(&law);
        }
    }

    /// Adds a clause of gates.
    fn add(&mut self, clause: &[Lit]) {
        let mut lits = Vec::with_capacity(clause.len());
        for &lit in clause {
            if lit == Lit::TRUE {
                return;
            }
            if lit != Lit::FALSE {
                lits.push(self.sat_lit(lit));
            }
        }
        if lits.is_empty() {
            self.broken = true;
        } else {
            self.add_clause(&lits);
        }
    }

    fn add_clause(&mut self, clause: &[SatLit]) {
        self.clause_count += 1;
        self.sat.add(clause);
    }

    /// The literal of a gate that is no constant; its clauses, and those of all that it reads, are there afterwards.
    fn sat_lit(&mut self, lit: Lit) -> SatLit {
        let gates = self.blaster.gates.len();
        if self.variables.len() < gates {
            self.variables.resize(gates, NONE);
        }
        if self.variables[lit.gate()] == NONE {
            let mut new = Vec::new();
            let mut open = vec![lit.gate()];
            while let Some(at) = open.pop() {
                if at == 0 || self.variables[at] != NONE {
                    continue;
                }
                self.variables[at] = self.variable_count;
                self.variable_count += 1;
                new.push(at);
                match self.blaster.gates.gate(at) {
                    Gate::False | Gate::Input => {}
                    Gate::And(..) => {
                        let parts = self.conjunction(at);
                        open.extend(parts.into_iter().rev().map(Lit::gate));
                    }
                    Gate::Xor(a, b) => open.extend([b.gate(), a.gate()]),
                    Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => {
                        open.extend([c.gate(), b.gate(), a.gate()]);
                    }
                }
            }
            self.sat.reserve(self.variable_count);
            for at in new {
                self.define(at);
            }
        }
        self.existing(lit)
    }

    fn existing(&self, lit: Lit) -> SatLit {
        SatLit(self.variables[lit.gate()] << 1 | u32::from(lit.is_negated()))
    }

    /// What a conjunction consists of: parts that only it reads are no gates of their own.
    fn conjunction(&self, at: usize) -> Vec<Lit> {
        let Gate::And(a, b) = self.blaster.gates.gate(at) else {
            unreachable!("it was asked for a conjunction");
        };
        let mut found = Vec::new();
        let mut open = vec![b, a];
        while let Some(lit) = open.pop() {
            match self.blaster.gates.gate(lit.gate()) {
                Gate::And(a, b)
                    if !lit.is_negated()
                        && self.blaster.gates.is_private(lit.gate())
                        && found.len() + open.len() < WIDE =>
                {
                    open.extend([b, a]);
                }
                _ => found.push(lit),
            }
        }
        found
    }

    /// The clauses that make a gate's variable its output.
    fn define(&mut self, at: usize) {
        let out = SatLit(self.variables[at] << 1);
        match self.blaster.gates.gate(at) {
            Gate::False | Gate::Input => {}
            Gate::And(..) => {
                let parts: Vec<SatLit> = self
                    .conjunction(at)
                    .into_iter()
                    .map(|lit| self.existing(lit))
                    .collect();
                let mut all = vec![out];
                for &part in &parts {
                    self.add_clause(&[!out, part]);
                    all.push(!part);
                }
                self.add_clause(&all);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (self.existing(a), self.existing(b));
                for clause in [[!out, a, b], [!out, !a, !b], [out, !a, b], [out, a, !b]] {
                    self.add_clause(&clause);
                }
            }
            Gate::Mux(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|lit| self.existing(lit));
                for clause in [
                    [!c, !a, out],
                    [!c, a, !out],
                    [c, !b, out],
                    [c, b, !out],
                    // Both sides are equal: implied, and seen without knowing the condition.
                    [!a, !b, out],
                    [a, b, !out],
                ] {
                    self.add_clause(&clause);
                }
            }
            Gate::Majority(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|lit| self.existing(lit));
                for clause in [
                    [!a, !b, out],
                    [!a, !c, out],
                    [!b, !c, out],
                    [a, b, !out],
                    [a, c, !out],
                    [b, c, !out],
                ] {
                    self.add_clause(&clause);
                }
            }
        }
    }

    /// Asks whether all assertions and `assumptions` can be true at once.
    #[track_caller]
    pub fn check(&mut self, terms: &Terms, assumptions: &[Term], budget: &Budget<'_>) -> Answer {
        self.of_pool(terms);
        self.model = None;
        self.core.clear();
        if self.is_cut {
            return Answer::Unknown;
        }
        let mut lits = Vec::with_capacity(assumptions.len());
        let mut terms_of: FxHashMap<SatLit, Term> = FxHashMap::default();
        let mut excluded = None;
        for &term in assumptions {
            terms.expect_bool(term);
            let Some(word) = self.blaster.blast(terms, term, budget.interrupt) else {
                return Answer::Unknown;
            };
            match word[0] {
                Lit::TRUE => {}
                Lit::FALSE => excluded = excluded.or(Some(term)),
                lit => {
                    let lit = self.sat_lit(lit);
                    if let std::collections::hash_map::Entry::Vacant(place) = terms_of.entry(lit) {
                        place.insert(term);
                        lits.push(lit);
                    }
                }
            }
        }
        self.add_laws();
        if self.broken {
            return Answer::Unsatisfiable;
        }
        if let Some(term) = excluded {
            self.core.push(term);
            return Answer::Unsatisfiable;
        }
        self.calls += 1;
        let answer = self.sat.solve(&lits, budget);
        match answer {
            Answer::Satisfiable => self.model = Some(self.read_model(terms)),
            Answer::Unsatisfiable => {
                let core = self.sat.core().iter().map(|lit| terms_of[lit]);
                self.core.extend(core);
            }
            Answer::Unknown => {}
        }
        answer
    }

    fn read_model(&self, terms: &Terms) -> Assignment {
        let mut outputs = Outputs {
            solver: self,
            known: FxHashMap::default(),
        };
        let mut model = Assignment::new();
        for &variable in &self.blaster.variables {
            match terms.sort(variable) {
                Sort::Array { .. } => {
                    let mut value = ArrayValue::default();
                    for read in &self.blaster.applications[&Unknown::Array(variable)] {
                        let index = outputs.number(&read.arguments);
                        value.set(index, outputs.number(&read.result));
                    }
                    model.set(terms, variable, Value::Array(value.into()));
                }
                _ => {
                    let word = self.blaster.word(terms, variable);
                    model.set_bits(terms, variable, outputs.number(word));
                }
            }
        }
        for (&unknown, applications) in &self.blaster.applications {
            let Unknown::Function(function) = unknown else {
                continue;
            };
            let (sorts, _) = terms.signature(function);
            for application in applications {
                let mut rest = application.arguments.as_slice();
                let mut arguments = Vec::with_capacity(sorts.len());
                for sort in sorts {
                    let width = match sort {
                        Sort::Bits(width) => *width as usize,
                        _ => 1,
                    };
                    let (argument, others) = rest.split_at(width);
                    arguments.push(outputs.number(argument));
                    rest = others;
                }
                let result = outputs.number(&application.result);
                model.set_result(function, arguments, result);
            }
        }
        model
    }

    /// Returns the values of variables after a satisfiable answer. Variables that occurred in no
    /// question are false or zero.
    ///
    /// # Panics
    ///
    /// If the last answer was another one.
    #[track_caller]
    pub fn model(&self) -> &Assignment {
        self.model
            .as_ref()
            .expect("there is a model after a satisfiable answer")
    }

    /// Returns the value of any term after a satisfiable answer.
    ///
    /// # Panics
    ///
    /// If the last answer was another one.
    #[track_caller]
    pub fn value(&self, terms: &Terms, term: Term) -> Value {
        terms.evaluate(term, self.model())
    }

    /// Returns assumptions that cannot be true together, after an unsatisfiable answer. It is empty
    /// if the assertions alone are contradictory.
    pub fn core(&self) -> &[Term] {
        &self.core
    }

    /// Drops assumptions from the core as long as the rest is contradictory, with one question for
    /// each. An assumption whose question exceeds `budget` stays.
    pub fn minimise_core(&mut self, terms: &Terms, budget: &Budget<'_>) -> Vec<Term> {
        let mut kept: Vec<Term> = Vec::new();
        let mut open = self.core.clone();
        while let Some(candidate) = open.pop() {
            let rest: Vec<Term> = open.iter().chain(&kept).copied().collect();
            if self.check(terms, &rest, budget) == Answer::Unsatisfiable {
                // The smaller core may lack more than this one.
                let core = &self.core;
                open.retain(|term| core.contains(term));
                kept.retain(|term| core.contains(term));
            } else {
                kept.push(candidate);
            }
        }
        self.model = None;
        self.core = kept.clone();
        kept
    }

    /// Returns numbers about the work so far: questions, conflicts, variables and clauses.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            terms: self.blaster.blasted as u64,
            gates: self.blaster.gates.len() as u64,
            variables: u64::from(self.variable_count),
            clauses: self.clause_count,
            calls: self.calls,
            conflicts: self.sat.conflicts(),
            propagations: self.sat.propagations(),
        }
    }
}

/// Outputs of gates under the solver's assignment; gates that are in no clause are computed from others.
struct Outputs<'s> {
    solver: &'s Solver,
    known: FxHashMap<usize, bool>,
}

impl Outputs<'_> {
    fn number(&mut self, word: &[Lit]) -> u128 {
        word.iter().enumerate().fold(0, |so_far, (at, &lit)| {
            so_far | u128::from(self.output(lit)) << at
        })
    }

    fn given(&self, gate: usize) -> Option<bool> {
        if gate == 0 {
            return Some(false);
        }
        match self.solver.variables.get(gate) {
            Some(&variable) if variable != NONE => Some(self.solver.sat.value(variable)),
            _ => self.known.get(&gate).copied(),
        }
    }

    fn output(&mut self, lit: Lit) -> bool {
        let mut open = vec![lit.gate()];
        while let Some(&at) = open.last() {
            if self.given(at).is_some() {
                open.pop();
                continue;
            }
            let gate = self.solver.blaster.gates.gate(at);
            let reads = match gate {
                Gate::False | Gate::Input => vec![],
                Gate::And(a, b) | Gate::Xor(a, b) => vec![a, b],
                Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => vec![a, b, c],
            };
            let values: Vec<Option<bool>> = reads
                .iter()
                .map(|lit| self.given(lit.gate()).map(|value| value ^ lit.is_negated()))
                .collect();
            if values.iter().any(Option::is_none) {
                let missing = reads.iter().zip(&values);
                open.extend(
                    missing
                        .filter(|(_, value)| value.is_none())
                        .map(|(lit, _)| lit.gate()),
                );
                continue;
            }
            let v = |at: usize| values[at] == Some(true);
            let value = match gate {
                Gate::False | Gate::Input => false,
                Gate::And(..) => v(0) && v(1),
                Gate::Xor(..) => v(0) ^ v(1),
                Gate::Mux(..) => {
                    if v(0) {
                        v(1)
                    } else {
                        v(2)
                    }
                }
                Gate::Majority(..) => u8::from(v(0)) + u8::from(v(1)) + u8::from(v(2)) >= 2,
            };
            self.known.insert(at, value);
            open.pop();
        }
        self.given(lit.gate()) == Some(true) && !lit.is_negated()
            || self.given(lit.gate()) == Some(false) && lit.is_negated()
    }
}
