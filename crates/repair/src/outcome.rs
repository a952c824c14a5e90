//! The result of a repair.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_text::Edit;
use serde::{Deserialize, Serialize};

use crate::{
    instrumented::{Instrumented, LeftOut},
    patch::Patch,
    phases::Phases,
    unchangeable::Unchangeable,
};

/// Numbers about the search for changes of two places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwoPlaces {
    /// Searches for changes of one place, each with one of the failing tests.
    pub searches: usize,
    /// Executions of tests by these searches.
    pub executions: u64,
    /// Pairs of changes that were built and tested.
    pub pairs: usize,
}

impl TwoPlaces {
    /// Adds the counts of another search.
    pub(crate) fn add(&mut self, other: TwoPlaces) {
        self.searches += other.searches;
        self.executions += other.executions;
        self.pairs += other.pairs;
    }
}

/// Numbers about the work of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Functions that have locations.
    pub functions: usize,
    /// Functions without, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Changes of calls, declarations and statements that were left alone, by reason.
    pub refused_changes: BTreeMap<String, usize>,
    /// Expressions and statements that differ between the ways a source is compiled.
    pub disagreements: usize,
    /// What no schema changes in the functions that were searched.
    pub unchangeable: Vec<Unchangeable>,
    /// Locations in the selected part of the program.
    pub locations: usize,
    /// Locations that all failing tests visit, less those that are left out.
    pub reached: usize,
    /// What is less suspicious than what was looked at.
    pub left_out: LeftOut,
    /// Candidates whose cost was reached.
    pub candidates: u64,
    /// Candidates whose verdict is known.
    pub explored: u64,
    /// Candidates that have undefined behaviour in some test.
    pub undefined: u64,
    /// Executions of tests by the search, also those that a resumed run did not have to do again.
    pub executions: u64,
    /// Of these, known from an earlier run.
    pub resumed: u64,
    /// Of these, what was forked from a program that had been started before ([`crate::RepairOptions::virtualize`]).
    pub forked: u64,
    /// Test-equivalence classes that executions have told apart.
    pub classes: u64,
    /// Candidates without a verdict, because a location had too many states and they were not executed by themselves.
    pub too_many_states: u64,
    /// Executions that were ended because they took many times the processor time of the test.
    pub ran_out: u64,
    /// Executions of those that were done again, with more time.
    pub given_longer: u64,
    /// Changes of declarations that were built and tested.
    pub declarations: u64,
    /// Those beyond the most that are built in one search.
    pub declarations_left_out: u64,
    /// Terms evaluated in states.
    pub evaluations: u64,
    /// Plausible classes.
    pub plausible_classes: usize,
    /// Plausible candidates.
    pub plausible: u64,
    /// The costs up to this one were explored in whole.
    pub complete_cost: Option<u32>,
    /// What had been put off was executed one by one in the end.
    pub in_deferred: bool,
    /// What the search for changes of two places took, if there was one. The other numbers do not count it.
    pub two_places: Option<TwoPlaces>,
    /// The search ended because its time was up.
    pub out_of_time: bool,
    /// The search ended because it had done as much as it was to do ([`crate::Bounds`]).
    pub out_of_bounds: bool,
    /// The search ended because patches had been found and more would have taken much longer.
    pub stopped_early: bool,
    /// The run was interrupted: plausible candidates may not have been verified.
    pub interrupted: bool,
    /// Plausible candidates that were not reported because the compiler makes the same code of them as of the untouched
    /// program, or of a patch that is reported.
    pub duplicates: usize,
    /// As many patches are reported as were to be at most.
    pub is_full: bool,
    /// Plausible classes of which nothing was verified because the time was up, or the run was interrupted.
    pub unverified: usize,
    /// Patches that are reported, but were not looked at for undefined behaviour because the time was up, or the run was interrupted.
    pub unscrutinized: usize,
    /// The phase in which the time ran out, if the search had not begun.
    #[serde(skip)]
    pub ended_in: Option<&'static str>,
    /// Patches that pass every test and that the compiler's sanitizers speak against. They are reported if there are no others.
    pub undefined_by_sanitizers: usize,
    /// Plausible by their class, but rejected by the final verification.
    pub rejected: Vec<String>,
    /// Most memory that Patchwright itself has had resident, in bytes; 0 where the system does not tell.
    pub peak_memory: u64,
    /// What another program has proposed: how many proposals were built, and how many of these pass all tests.
    pub proposals: Option<(usize, usize)>,
    /// Tests: failing, passing, flaky.
    pub tests: (usize, usize, usize),
    /// Time by phase.
    pub phases: Phases,
}

/// The result of a repair.
#[derive(Clone, Debug, Default)]
pub struct RepairOutcome {
    /// Verified patches, best first.
    pub patches: Vec<Patch>,
    /// What was done.
    pub stats: Stats,
}

/// The result of the verification.
#[derive(Debug, Default)]
pub struct Verified {
    /// Patches that passed.
    pub patches: Vec<Patch>,
    /// Patches that passed, but have undefined behaviour.
    pub undefined: Vec<Patch>,
    /// Candidates that did not, and how.
    pub rejected: Vec<String>,
    /// What is not reported, as edits with the index of their hole.
    pub distrusted: Vec<(usize, Edit)>,
    /// Candidates that are the same as the untouched program or another patch.
    pub duplicates: usize,
    /// See [`Stats::is_full`].
    pub is_full: bool,
    /// It was ended before all were verified.
    pub interrupted: bool,
    /// See [`Stats::unverified`].
    pub unverified: usize,
    /// See [`Stats::unscrutinized`].
    pub unscrutinized: usize,
}

impl RepairOutcome {
    /// Makes the outcome of a run whose time was up before the search began.
    pub(crate) fn out_of_time(ended_in: &'static str, phases: Phases) -> Self {
        let stats = Stats {
            out_of_time: true,
            ended_in: Some(ended_in),
            phases,
            peak_memory: patchwright_exec::own_peak_memory().unwrap_or(0),
            ..Stats::default()
        };
        RepairOutcome {
            patches: Vec::new(),
            stats,
        }
    }
}

impl Stats {
    /// Adds the numbers of locations and of functions that were left alone.
    pub(crate) fn with_locations(self, instrumented: &Instrumented) -> Self {
        let whole = || instrumented.holes.iter().filter(|hole| !hole.is_partial);
        let functions: BTreeSet<u32> = whole().map(|entry| entry.function.0).collect();
        let left_alone = instrumented.left_alone.clone();
        Stats {
            functions: functions.len(),
            refused: left_alone.refused,
            refused_changes: left_alone
                .changes
                .into_iter()
                .map(|(reason, number)| (reason.to_owned(), number))
                .collect(),
            disagreements: left_alone.disagreements,
            unchangeable: left_alone.unchangeable.summed_up(),
            locations: instrumented.holes_in_all,
            reached: whole().count(),
            left_out: instrumented.left_out,
            ..self
        }
    }

    /// Adds what another part of the same run has done. All parts have looked at the same locations.
    pub(crate) fn add_part(&mut self, other: Stats) {
        let (functions, locations, reached) = (self.functions, self.locations, self.reached);
        let (refused, changes) = (self.refused.clone(), self.refused_changes.clone());
        self.duplicates += other.duplicates;
        self.unverified += other.unverified;
        self.unscrutinized += other.unscrutinized;
        self.undefined_by_sanitizers += other.undefined_by_sanitizers;
        self.rejected.extend(other.rejected.iter().cloned());
        self.peak_memory = self.peak_memory.max(other.peak_memory);
        self.out_of_time |= other.out_of_time;
        self.out_of_bounds |= other.out_of_bounds;
        self.stopped_early |= other.stopped_early;
        self.interrupted |= other.interrupted;
        self.phases.add(&other.phases);
        // One whose time was up before it had run them knows nothing.
        if self.tests == (0, 0, 0) {
            self.tests = other.tests;
        }
        let is_known = (functions, locations, reached) != (0, 0, 0);
        let theirs = (
            (other.functions, other.locations, other.reached),
            (other.left_out, other.unchangeable.clone()),
            (other.refused.clone(), other.refused_changes.clone()),
        );
        self.add_earlier(other);
        let ((functions, locations, reached), left, (refused, changes)) = match is_known {
            true => ((functions, locations, reached), None, (refused, changes)),
            false => (theirs.0, Some(theirs.1), theirs.2),
        };
        (self.functions, self.locations, self.reached) = (functions, locations, reached);
        (self.refused, self.refused_changes) = (refused, changes);
        if let Some((left_out, unchangeable)) = left {
            (self.left_out, self.unchangeable) = (left_out, unchangeable);
        }
    }

    /// Adds what was done before at more suspicious locations. (A function may have locations of both kinds, and counts twice then.)
    pub(crate) fn add_earlier(&mut self, earlier: Stats) {
        let sums = [
            (&mut self.candidates, earlier.candidates),
            (&mut self.explored, earlier.explored),
            (&mut self.undefined, earlier.undefined),
            (&mut self.executions, earlier.executions),
            (&mut self.resumed, earlier.resumed),
            (&mut self.forked, earlier.forked),
            (&mut self.classes, earlier.classes),
            (&mut self.too_many_states, earlier.too_many_states),
            (&mut self.ran_out, earlier.ran_out),
            (&mut self.given_longer, earlier.given_longer),
            (
                &mut self.declarations_left_out,
                earlier.declarations_left_out,
            ),
            (&mut self.evaluations, earlier.evaluations),
            (&mut self.plausible, earlier.plausible),
        ];
        for (sum, number) in sums {
            *sum += number;
        }
        self.declarations += earlier.declarations;
        self.functions += earlier.functions;
        self.locations += earlier.locations;
        self.reached += earlier.reached;
        self.plausible_classes += earlier.plausible_classes;
        if let Some(earlier) = earlier.two_places {
            self.two_places.get_or_insert_default().add(earlier);
        }
        self.in_deferred |= earlier.in_deferred;
        self.complete_cost = self.complete_cost.min(earlier.complete_cost);
        self.disagreements = self.disagreements.max(earlier.disagreements);
        for (reason, number) in earlier.refused {
            let known = self.refused.entry(reason).or_default();
            *known = number.max(*known);
        }
        for (reason, number) in earlier.refused_changes {
            *self.refused_changes.entry(reason).or_default() += number;
        }
    }
}
