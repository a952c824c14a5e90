//! Finds inputs that execute changed lines in a given order, and whether a difference needs that order
//! (chapter 4 of the thesis, algorithm 6).
//!
//! The bounded encoding lists what NEW executes, in order and each with its condition. That an input exercises a sequence of
//! changed lines is so one term, and where algorithm 6 searches paths the solver is asked.

use patchwright_prove::{Given, given, simple};
use patchwright_solve::{Answer, Assignment, Backend, Budget, Solver, Term, Terms};

use crate::pair::{Pair, Side};

/// What is known of a sequence of changed lines: an input, and whether the versions differ.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The lines of NEW, in the order of their execution.
    pub lines: Vec<u32>,
    /// Whether an input exercises them in this order; nothing if it is not known.
    pub feasible: Option<bool>,
    /// Whether for one of these inputs the versions differ.
    pub differs: Option<bool>,
    /// The versions differ only for inputs that exercise the sequence, and for none that skips any of its statements
    /// (definition 10, with OLD as the right version). No longer sequence has this property.
    pub critical: bool,
    /// An input that exercises it; one for which the versions differ, if there is one.
    pub sample: Option<[Vec<Given>; 2]>,
    /// The sample's condition, for replays.
    pub model: Option<Assignment>,
}

/// Returns the condition that a version executes one of its changed lines. Each side has the name of a
/// file and its changed lines; OLD comes first.
pub fn executes_change(terms: &mut Terms, pair: &Pair, changed: [(&str, &[u32]); 2]) -> Term {
    let mut all = Vec::new();
    for (side, (file, lines)) in Side::BOTH.into_iter().zip(changed) {
        let steps = pair.encoding(side).steps.iter();
        let here = steps.filter(|step| step.place.file == file && lines.contains(&step.place.line));
        all.extend(here.map(|step| step.condition));
    }
    terms.or_all(all)
}

/// Explores sequences of lines of `file`, which is the name in NEW.
pub fn sequences(
    terms: &mut Terms,
    pair: &Pair,
    file: &str,
    lines: &[Vec<u32>],
    budget: &Budget<'_>,
) -> Vec<Sequence> {
    let mut solver = Solver::new(Backend::default());
    solver.assert_within(terms, pair.domain, budget);
    let within = terms.not(pair.limited);
    solver.assert_within(terms, within, budget);
    let open = terms.and(pair.domain, within);
    let mut all = Vec::new();
    for lines in lines {
        let exercised = exercised(terms, pair, file, lines);
        let mut sequence = Sequence {
            lines: lines.clone(),
            feasible: None,
            differs: None,
            critical: false,
            sample: None,
            model: None,
        };
        let mut ask = |terms: &mut Terms, conditions: &[Term]| match solver
            .check(terms, conditions, budget)
        {
            Answer::Satisfiable => {
                let condition = terms.and_all(conditions.iter().copied());
                let model = solver.model().clone();
                let open = (condition, Some(open));
                let model = simple(terms, &pair.inputs(), &mut solver, open, model, budget);
                (Some(true), Some(model))
            }
            Answer::Unsatisfiable => (Some(false), None),
            Answer::Unknown => (None, None),
        };
        let (differs, mut model) = ask(terms, &[exercised, pair.different]);
        sequence.differs = differs;
        if differs == Some(true) {
            sequence.feasible = Some(true);
            let skipped = terms.not(exercised);
            sequence.critical = ask(terms, &[skipped, pair.different]).0 == Some(false);
        } else {
            let (feasible, other) = ask(terms, &[exercised]);
            sequence.feasible = feasible;
            model = other;
        }
        if let Some(model) = &model {
            sequence.sample =
                Some(Side::BOTH.map(|side| given(terms, &pair.encoding(side).inputs, model)));
        }
        sequence.model = model;
        all.push(sequence);
    }
    longest(&mut all);
    all
}

/// Parts of a critical sequence are needed, too, and say less.
fn longest(all: &mut [Sequence]) {
    let critical: Vec<Vec<u32>> = all
        .iter()
        .filter(|one| one.critical)
        .map(|one| one.lines.clone())
        .collect();
    for one in all {
        let is_part = |other: &Vec<u32>| *other != one.lines && is_within(&one.lines, other);
        one.critical &= !critical.iter().any(is_part);
    }
}

/// Sequences of changed lines, looked for on the paths that both versions take, one pair after the other.
#[derive(Debug, Default)]
pub(crate) struct Exercised {
    sequences: Vec<Sequence>,
    /// Of each, whether the versions differ on a path that does not exercise it.
    differs_without: Vec<bool>,
}

impl Exercised {
    /// Makes a list of sequences, each given by its lines, none of which has been looked at.
    pub(crate) fn of(lines: &[Vec<u32>]) -> Exercised {
        let sequences = lines.iter().map(|lines| Sequence {
            lines: lines.clone(),
            feasible: None,
            differs: None,
            critical: false,
            sample: None,
            model: None,
        });
        Exercised {
            sequences: sequences.collect(),
            differs_without: vec![false; lines.len()],
        }
    }

    /// Looks at a pair of paths. All inputs of the pair make NEW execute the same lines of `file`. If the versions differ for
    /// some of these inputs, `model` is one of them.
    pub(crate) fn look(
        &mut self,
        terms: &Terms,
        pair: &Pair,
        file: &str,
        model: &Assignment,
        differs: bool,
    ) {
        if self.sequences.is_empty() {
            return;
        }
        let mut trace: Vec<u32> = Vec::new();
        for step in &pair.encoding(Side::New).steps {
            // A statement may take several steps, which come one after the other.
            if step.place.file == file && trace.last() != Some(&step.place.line) {
                trace.push(step.place.line);
            }
        }
        for (one, without) in self.sequences.iter_mut().zip(&mut self.differs_without) {
            if !is_within(&one.lines, &trace) {
                *without |= differs;
                continue;
            }
            let is_more = differs && one.differs != Some(true);
            if one.feasible.is_none() || is_more {
                one.sample =
                    Some(Side::BOTH.map(|side| given(terms, &pair.encoding(side).inputs, model)));
                one.model = Some(model.clone());
            }
            one.feasible = Some(true);
            if differs {
                one.differs = Some(true);
            }
        }
    }

    /// Returns the sequences with what is known of them. `is_all` says that all paths were looked at, so that a sequence without an input
    /// is infeasible.
    pub(crate) fn finish(self, is_all: bool) -> Vec<Sequence> {
        let mut all = self.sequences;
        for (one, without) in all.iter_mut().zip(self.differs_without) {
            if is_all {
                one.feasible.get_or_insert(false);
                one.differs.get_or_insert(false);
                one.critical = one.differs == Some(true) && !without;
            }
        }
        longest(&mut all);
        all
    }
}

/// Whether the lines stand in the other ones in this order.
fn is_within(lines: &[u32], other: &[u32]) -> bool {
    let mut other = other.iter();
    lines.iter().all(|line| other.any(|own| own == line))
}

/// That the lines are executed one after the other, others in between.
fn exercised(terms: &mut Terms, pair: &Pair, file: &str, lines: &[u32]) -> Term {
    // Up to where the sequence has been exercised.
    let mut reached = vec![terms.truth(false); lines.len() + 1];
    reached[0] = terms.truth(true);
    let mut last: Option<(u32, Term)> = None;
    for step in &pair.encoding(Side::New).steps {
        if step.place.file != file || !lines.contains(&step.place.line) {
            last = None;
            continue;
        }
        // A statement may take several steps, which come one after the other.
        if last == Some((step.place.line, step.condition)) {
            continue;
        }
        last = Some((step.place.line, step.condition));
        for at in (0..lines.len()).rev() {
            if lines[at] == step.place.line {
                let now = terms.and(reached[at], step.condition);
                reached[at + 1] = terms.or(reached[at + 1], now);
            }
        }
    }
    reached[lines.len()]
}
