//! The verdicts of a run as they become known.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use patchwright_patches::Applied;

use crate::journal::Record;
use crate::outcome::{Phase, Reached, Stats, Tests, Validated, Validation, WovenStats};
use crate::plain::{Checked, Time, Way};
use crate::rebuild::{Rebuild, remarks};
use crate::set::{Entry, PatchSet};
use crate::test_files::TestFiles;
use crate::verdict::PatchVerdict;
use crate::{Event, Surroundings, ValidateOptions};

/// The verdicts so far, and what of them has been told.
pub(crate) struct Board<'b> {
    pub options: &'b ValidateOptions,
    pub surroundings: &'b Surroundings<'b>,
    /// For each patch of the set, the later ones that make the same tree.
    followers: Vec<Vec<usize>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tests: Tests,
    patches: Vec<Validated>,
    stats: Stats,
    /// With `stop_after`: patches before this one have been told.
    told: usize,
    /// Plausible ones among these, without those that are the same as another.
    plausible: usize,
    /// The patch at which that number was reached.
    stopped: Option<usize>,
    /// What was found out about patches of which something is not known yet that their verdicts depend on.
    put_off: BTreeMap<usize, Checked>,
}

impl<'b> Board<'b> {
    /// Makes a board on which only patches that do not apply have a verdict.
    pub fn new(
        test_files: &TestFiles<'_>,
        set: &PatchSet,
        options: &'b ValidateOptions,
        surroundings: &'b Surroundings<'b>,
    ) -> Self {
        let mut followers = vec![Vec::new(); set.entries.len()];
        let mut state = State::default();
        for (number, entry) in set.entries.iter().enumerate() {
            if let Some(first) = entry.same_as {
                followers[first].push(number);
                state.stats.duplicates += 1;
            }
            let (verdict, notes) = match &entry.applied {
                Applied::DoesNotApply(not) => {
                    let reason = not.reason.to_string();
                    (Some(PatchVerdict::DoesNotApply(reason)), Vec::new())
                }
                Applied::Patch(patch) => {
                    let mut notes: Vec<String> =
                        patch.notes.iter().map(ToString::to_string).collect();
                    notes.extend(remarks(patch, |path| test_files.contain(path)));
                    notes.extend(left_out(entry));
                    (None, notes)
                }
            };
            state.patches.push(Validated {
                id: entry.id().clone(),
                origin: entry.origin().clone(),
                notes,
                same_as: entry.same_as,
                verdict,
                tests: Vec::new(),
                way: None,
                apart: None,
                confirmed_by: None,
                confirmed_with: Vec::new(),
                audited: None,
                resumed: false,
                build: Duration::ZERO,
                total: Duration::ZERO,
            });
        }
        Board {
            options,
            surroundings,
            followers,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether enough patches are plausible for the run to stop.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped.is_some()
    }

    /// Whether a test speaks against some patch.
    pub fn refutes_some(&self) -> bool {
        let state = self.state();
        let verdicts = state.patches.iter().map(|patch| &patch.verdict);
        verdicts
            .flatten()
            .any(|verdict| matches!(verdict, PatchVerdict::Implausible(_)))
    }

    /// Whether the patch has a verdict.
    pub fn is_settled(&self, entry: usize) -> bool {
        self.state().patches[entry].verdict.is_some()
    }

    /// Returns which part of the tests that were run on these patches a run of `count` tests is. It
    /// is `None` if no test was run.
    pub fn part_of_all_tests(&self, entries: &[usize], count: usize) -> Option<f64> {
        let state = self.state();
        let patches = || entries.iter().map(|entry| &state.patches[*entry]);
        let of_all = patches().filter_map(|patch| {
            let milliseconds = patch.tests.iter().filter_map(|test| test.milliseconds);
            let sum: u64 = milliseconds.sum();
            let ran = patch.tests.len();
            (ran > 0).then(|| sum as f64 * count as f64 / ran as f64)
        });
        let of_all: Vec<f64> = of_all.collect();
        let total: f64 = patches().map(|patch| patch.total.as_secs_f64()).sum();
        let mean = of_all.iter().sum::<f64>() / of_all.len() as f64 / 1000.0;
        (!of_all.is_empty() && total > 0.0).then(|| mean / total)
    }

    fn tell(&self, state: &State, index: usize) {
        let patch = &state.patches[index];
        (self.surroundings.events)(Event::Verdict { index, patch });
    }

    /// Takes a verdict from the journal.
    pub fn resume(&self, entry: usize, record: &Record) {
        let checked = Checked {
            verdict: record.verdict.clone(),
            tests: record.tests.clone(),
            executions: record.tests.len(),
            way: record.way,
            build: record.build,
            total: record.total,
            changes_tests: BTreeSet::new(),
            time: Time::Right,
        };
        let mut state = self.state();
        self.write(&mut state, entry, &checked);
        state.stats.resumed += 1;
        for number in self.and_followers(entry) {
            state.patches[number].resumed = true;
        }
    }

    /// Takes the verdict of an earlier patch that makes the same tree.
    pub fn recall(&self, entry: usize, checked: &Checked) {
        let mut state = self.state();
        self.write(&mut state, entry, checked);
        state.stats.duplicates += 1;
    }

    fn and_followers(&self, entry: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(entry).chain(self.followers[entry].iter().copied())
    }

    fn write(&self, state: &mut State, entry: usize, checked: &Checked) {
        for number in self.and_followers(entry) {
            let patch = &mut state.patches[number];
            patch.verdict = Some(checked.verdict.clone());
            patch.tests.clone_from(&checked.tests);
            patch.way = Some(checked.way);
            patch.build = checked.build;
            patch.total = checked.total;
        }
    }

    /// Announces the tests and the verdicts that are known already. It breaks if nothing is left to
    /// do. It may be called twice, and then announces the tests once: of few patches the untouched
    /// program may be tested later.
    pub fn begin(&self, tests: Tests) -> ControlFlow<()> {
        let mut state = self.state();
        let is_told = !std::mem::replace(&mut state.tests, tests).names.is_empty();
        if !is_told {
            (self.surroundings.events)(Event::Tests {
                tests: &state.tests,
                patches: &state.patches,
            });
        }
        if !is_told && self.options.stop_after.is_none() {
            for index in 0..state.patches.len() {
                if state.patches[index].verdict.is_some() {
                    self.tell(&state, index);
                }
            }
        }
        drop(state);
        self.deliver()
    }

    /// Sets the verdict of a patch. It is announced at once, unless the run stops after a number of plausible patches, because then the
    /// order counts. `overruled` says that the patch was plausible in a woven program and is not by itself.
    pub fn settle(&self, entry: usize, checked: &Checked, overruled: bool) {
        let mut state = self.state();
        if let Way::Plain(rebuild) = checked.way {
            state.stats.builds += 1;
            state.stats.full_builds += usize::from(rebuild != Rebuild::Incremental);
        }
        if overruled {
            let note = "woven into one program with other patches, it passed all tests";
            state.patches[entry].notes.push(note.to_owned());
            if let Some(woven) = &mut state.stats.woven {
                woven.overruled += 1;
            }
        }
        state.stats.executions += checked.executions;
        self.write(&mut state, entry, checked);
        if self.options.stop_after.is_none() {
            for number in self.and_followers(entry) {
                self.tell(&state, number);
            }
        }
    }

    /// Notes that a patch cannot be validated together with others, and why.
    pub fn set_apart(&self, entry: usize, reason: &str) {
        let mut state = self.state();
        for number in self.and_followers(entry) {
            state.patches[number].apart = Some(reason.to_owned());
        }
    }

    /// Sets the verdict of a plausible patch of a woven program. The confirmed patch `representative`
    /// did the same in every test.
    pub fn settle_with(&self, entry: usize, checked: &Checked, representative: usize) {
        {
            let mut state = self.state();
            for number in self.and_followers(entry) {
                state.patches[number].confirmed_by = Some(representative);
            }
            if let Some(woven) = &mut state.stats.woven {
                woven.confirmed_by_others += 1;
            }
        }
        self.settle(entry, checked, false);
    }

    /// Sets the verdict of a plausible patch of a woven program, which was confirmed by one build
    /// with the patches `together`.
    pub fn settle_together(&self, entry: usize, checked: &Checked, together: &[usize]) {
        {
            let mut state = self.state();
            for number in self.and_followers(entry) {
                let others = together.iter().copied().filter(|other| *other != entry);
                state.patches[number].confirmed_with = others.collect();
            }
            if let Some(woven) = &mut state.stats.woven {
                woven.confirmed_together += 1;
            }
        }
        self.settle(entry, checked, false);
    }

    /// Counts a build of the untouched program, if `is_built`.
    pub fn count_untouched(&self, is_built: bool) {
        self.state().stats.untouched_builds += usize::from(is_built);
    }

    /// Counts a build that sets no verdict: of several patches at once, or of a patch that is in
    /// doubt until the untouched program is tested.
    pub fn count_build(&self, checked: &Checked) {
        let mut state = self.state();
        state.stats.builds += 1;
        if let Way::Plain(rebuild) = checked.way {
            state.stats.full_builds += usize::from(rebuild != Rebuild::Incremental);
        }
        state.stats.executions += checked.executions;
    }

    /// Keeps a verdict that counts unless the untouched program contradicts it.
    pub fn put_off(&self, entry: usize, checked: Checked) {
        self.state().put_off.insert(entry, checked);
    }

    /// Removes and returns the verdicts that were put off. They do not count yet.
    pub fn take_put_off(&self) -> BTreeMap<usize, Checked> {
        std::mem::take(&mut self.state().put_off)
    }

    /// Returns the plausible patches that were not built by themselves, one of each tree.
    pub fn unbuilt(&self) -> Vec<usize> {
        let state = self.state();
        let patches = state.patches.iter().enumerate();
        let unbuilt = patches.filter(|(_, patch)| {
            patch.verdict == Some(PatchVerdict::Plausible)
                && patch.same_as.is_none()
                && patch.way == Some(Way::Woven)
        });
        unbuilt.map(|(entry, _)| entry).collect()
    }

    /// Returns how the verdict of a patch was reached.
    pub fn reached(&self, entry: usize) -> Option<Reached> {
        self.state().patches[entry].reached()
    }

    /// Returns the patches whose verdicts have the same grounds as that of `entry`. They are its class, the patches of the same
    /// build, or all patches that only woven programs judged.
    pub fn ground(&self, entry: usize) -> Vec<usize> {
        let state = self.state();
        let (own, reached) = (&state.patches[entry], state.patches[entry].reached());
        let patches = state.patches.iter().enumerate();
        let same = patches.filter(|(other, patch)| {
            let is_plausible = patch.verdict == Some(PatchVerdict::Plausible);
            *other != entry
                && is_plausible
                && patch.same_as.is_none()
                && (patch.confirmed_by == Some(entry)
                    || match reached {
                        Some(Reached::Class(of)) => *other == of || patch.confirmed_by == Some(of),
                        Some(Reached::BuiltTogether) => own.confirmed_with.contains(other),
                        _ => patch.reached() == Some(Reached::Woven),
                    })
        });
        same.map(|(other, _)| other).collect()
    }

    /// Whether the patch was audited.
    pub fn is_audited(&self, entry: usize) -> bool {
        self.state().patches[entry].audited.is_some()
    }

    /// Notes that a plausible patch passed all tests in an audit's build with others, which is
    /// counted already.
    pub fn audited_with_others(&self, entry: usize) {
        let mut state = self.state();
        state.stats.audited += 1;
        for number in self.and_followers(entry) {
            state.patches[number].audited = Some(true);
        }
    }

    /// Notes that a plausible patch was built by itself for an audit. If that build contradicts, its
    /// verdict counts.
    pub fn audited(&self, entry: usize, checked: &Checked) {
        let mut state = self.state();
        let is_right = checked.verdict == PatchVerdict::Plausible;
        state.stats.builds += 1;
        if let Way::Plain(rebuild) = checked.way {
            state.stats.full_builds += usize::from(rebuild != Rebuild::Incremental);
        }
        state.stats.executions += checked.executions;
        state.stats.audited += 1;
        state.stats.audits_failed += usize::from(!is_right);
        for number in self.and_followers(entry) {
            state.patches[number].audited = Some(is_right);
        }
        if is_right {
            return;
        }
        for number in self.and_followers(entry) {
            let patch = &mut state.patches[number];
            patch.confirmed_by = None;
            patch.confirmed_with.clear();
            let note = "it was called plausible by a woven program, and an audit found otherwise";
            patch.notes.push(note.to_owned());
        }
        self.write(&mut state, entry, checked);
        if self.options.stop_after.is_none() {
            for number in self.and_followers(entry) {
                self.tell(&state, number);
            }
        }
    }

    /// Announces verdicts in the order of the set, if the order counts. It breaks when enough patches
    /// are plausible.
    pub fn deliver(&self) -> ControlFlow<()> {
        let Some(wanted) = self.options.stop_after else {
            return ControlFlow::Continue(());
        };
        let mut state = self.state();
        while state.stopped.is_none()
            && let Some(patch) = state.patches.get(state.told)
            && let Some(verdict) = &patch.verdict
        {
            let new = *verdict == PatchVerdict::Plausible && patch.same_as.is_none();
            self.tell(&state, state.told);
            state.plausible += usize::from(new);
            if state.plausible >= wanted {
                state.stopped = Some(state.told);
            }
            state.told += 1;
        }
        match state.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    /// Adds the numbers of a woven program to the statistics.
    pub fn count_woven(&self, woven: WovenStats) {
        let mut state = self.state();
        state.stats.woven.get_or_insert_default().add(&woven);
    }

    /// Sets the number of copies that had to be made anew.
    pub fn count_renewed(&self, copies: usize) {
        self.state().stats.renewed_copies = copies;
    }

    /// Returns the result of the run.
    pub fn finish(self, prepare: Duration, validate: Duration, phases: Vec<Phase>) -> Validation {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut patches, mut stats) = (state.patches, state.stats);
        (stats.prepare, stats.validate) = (prepare, validate);
        stats.phases = phases;
        let end = state.stopped.map_or(patches.len(), |last| last + 1);
        // What workers found out beyond that depends on how fast they were.
        for patch in &mut patches[end..] {
            patch.verdict = None;
            patch.tests.clear();
            patch.way = None;
        }
        let complete = patches[..end].iter().all(|patch| patch.verdict.is_some());
        Validation {
            tests: state.tests,
            patches,
            stats,
            interrupted: !complete,
        }
    }
}

/// What is said of a patch of which something is left out.
fn left_out(entry: &Entry) -> Vec<String> {
    let names = |files: &[PathBuf]| {
        let names = files.iter().map(|file| file.display().to_string());
        names.collect::<Vec<String>>().join(", ")
    };
    let (tests, beside) = (&entry.left_out, &entry.beside);
    let mut notes = Vec::new();
    if !tests.is_empty() {
        notes.push(format!(
            "its changes of tests are left out: {} (--trust-test-changes takes them)",
            names(tests)
        ));
    }
    if !beside.is_empty() {
        notes.push(format!(
            "its changes of files outside of the program are left out: {}",
            names(beside)
        ));
    }
    let is_empty = entry.patch().is_some_and(|patch| patch.changes.is_empty());
    if is_empty && !notes.is_empty() {
        notes.push("no change is left: the verdict is that of the untouched program".to_owned());
    }
    notes
}
