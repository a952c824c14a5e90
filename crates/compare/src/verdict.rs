//! Makes the answer of a comparison: same for all inputs, same within the bound, different, or not known.

use patchwright_solve::{Answer, Backend, Budget, Solver, Terms};
use patchwright_symbolic::Place;

use crate::{
    pair::{Pair, Side},
    partition::Explored,
};

/// A reason why nothing is known for some inputs, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// In words.
    pub text: String,
    /// The place in the source, if there is one.
    pub place: Option<Place>,
    /// It is the bound of loops and calls.
    pub is_bound: bool,
}

/// The answer of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They do the same for all inputs.
    Equal,
    /// They do the same for all inputs with which no loop has more rounds than the bound.
    EqualWithinBound,
    /// They differ.
    Different,
    /// No difference is known; for some inputs nothing is known.
    Unknown,
    /// No difference was found within the budget.
    Unfinished,
    /// They do the same for all inputs that were looked at, but none of these was seen to run to the end in both.
    NoneEnds,
    /// No input satisfies the assumptions of both.
    Void,
}

impl Verdict {
    /// Returns the stable name of the answer for scripts.
    pub const fn code(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::EqualWithinBound => "equal-within-bound",
            Verdict::Different => "different",
            // What was looked at says nothing of the inputs that count.
            Verdict::Unknown | Verdict::NoneEnds => "unknown",
            Verdict::Unfinished => "unfinished",
            Verdict::Void => "void",
        }
    }
}

/// Returns the reasons that apply to some input.
pub fn reasons(terms: &mut Terms, pair: &Pair, budget: &Budget<'_>) -> Vec<Reason> {
    let mut solver = Solver::new(Backend::default());
    solver.assert_within(terms, pair.domain, budget);
    let mut found: Vec<Reason> = Vec::new();
    for limit in &pair.limits {
        let reason = Reason {
            text: limit.reason.clone(),
            place: limit.place.clone(),
            is_bound: limit.is_bound,
        };
        if !found.contains(&reason)
            && solver.check(terms, &[limit.condition], budget) != Answer::Unsatisfiable
        {
            found.push(reason);
        }
    }
    for text in &pair.not_compared {
        found.push(Reason {
            text: text.clone(),
            place: None,
            is_bound: false,
        });
    }
    found
}

/// Returns how both programs fail, if they do so for every input: some of the ways with their places.
pub fn failing(pair: &Pair) -> Vec<Reason> {
    const MOST: usize = 3;
    let mut all: Vec<Reason> = Vec::new();
    for side in Side::BOTH {
        let before = all.len();
        for first in &pair.failures[side.index()] {
            let failure = &pair.encoding(side).failures[first.index];
            let reason = Reason {
                text: format!("{} fails: {}", side.name(), failure.message),
                place: Some(failure.place.clone()),
                is_bound: false,
            };
            if all.len() < before + MOST && !all.contains(&reason) {
                all.push(reason);
            }
        }
    }
    all
}

/// Returns the answer, given what was explored and the reasons why the rest is not known.
pub fn verdict(
    terms: &mut Terms,
    pair: &Pair,
    explored: &Explored,
    reasons: &[Reason],
    budget: &Budget<'_>,
) -> Verdict {
    if explored
        .partitions
        .iter()
        .any(|one| one.kind.differs() && !one.is_undetermined)
    {
        return Verdict::Different;
    }
    if !explored.open_functions.is_empty() {
        return Verdict::Unknown;
    }
    if !explored.differences_complete {
        return Verdict::Unfinished;
    }
    let undetermined = explored.partitions.iter().any(|one| one.is_undetermined);
    if undetermined || reasons.iter().any(|reason| !reason.is_bound) {
        return Verdict::Unknown;
    }
    let mut solver = Solver::new(Backend::default());
    if solver.check(terms, &[pair.domain], budget) == Answer::Unsatisfiable {
        return Verdict::Void;
    }
    // It has to be within the bound for somebody.
    let within = terms.not(pair.limited);
    if !reasons.is_empty()
        && solver.check(terms, &[pair.domain, within], budget) == Answer::Unsatisfiable
    {
        return Verdict::Unknown;
    }
    let asked = [pair.domain, within, pair.finishes];
    match (solver.check(terms, &asked, budget), reasons.is_empty()) {
        (Answer::Unsatisfiable, _) => Verdict::NoneEnds,
        (_, true) => Verdict::Equal,
        (_, false) => Verdict::EqualWithinBound,
    }
}
