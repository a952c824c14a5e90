//! The result of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use patchwright_exec::{Baseline, TestSuite, Verdict};
use patchwright_patches::{Origin, PatchId};
use serde::{Deserialize, Serialize};

use crate::ValidateOptions;
use crate::plain::Way;
use crate::verdict::{PatchVerdict, TestResult};

/// The tests of the project with their results on the untouched program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// Their names, in the order of the suite.
    pub names: Vec<String>,
    /// What each does on the untouched program.
    pub untouched: Vec<Untouched>,
    /// Those that are not run on patches, besides flaky ones: they fail on the untouched program, and no patch is asked to mend them.
    pub set_aside: BTreeSet<usize>,
}

/// The result of a test on the untouched program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Untouched {
    /// It passes.
    Passes,
    /// It fails.
    Fails,
    /// It does both, and is set aside.
    Flaky,
    /// It was not asked: the few patches of the set were decided without.
    NotAsked,
}

impl Tests {
    /// Takes the tests and their results from a baseline. With `options` some failing tests are set
    /// aside.
    pub fn of(baseline: &Baseline, options: &ValidateOptions) -> Self {
        let sets_aside = options.ignore_failing || !options.must_fix.is_empty();
        let failing = baseline.failing().filter(|_| sets_aside);
        let aside = failing.filter(|test| !options.must_fix.contains(&test.name));
        Tests {
            set_aside: aside.map(|test| test.index).collect(),
            names: baseline
                .tests
                .iter()
                .map(|test| test.name.clone())
                .collect(),
            untouched: baseline
                .tests
                .iter()
                .map(|test| match &test.verdict {
                    _ if test.flaky => Untouched::Flaky,
                    Verdict::Pass => Untouched::Passes,
                    Verdict::Fail(_) => Untouched::Fails,
                })
                .collect(),
        }
    }

    /// Makes the list of tests whose results on the untouched program are not asked for.
    pub fn not_asked(suite: &TestSuite) -> Self {
        Tests {
            names: suite.tests.iter().map(|test| test.name.clone()).collect(),
            untouched: vec![Untouched::NotAsked; suite.tests.len()],
            set_aside: BTreeSet::new(),
        }
    }

    /// Returns the number of tests that are run on patches.
    pub fn runs(&self) -> usize {
        self.names.len() - self.set_aside.len() - self.count(Untouched::Flaky)
    }

    /// Returns the number of tests with this result on the untouched program.
    pub fn count(&self, untouched: Untouched) -> usize {
        self.untouched
            .iter()
            .filter(|test| **test == untouched)
            .count()
    }
}

/// A patch with its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validated {
    /// Its name.
    pub id: PatchId,
    /// Where it was read.
    pub origin: Origin,
    /// What the user should know about how it was applied and tested.
    pub notes: Vec<String>,
    /// The earlier patch of the set that makes the same tree, and whose verdict this is.
    pub same_as: Option<usize>,
    /// The verdict; `None` if the run ended before it was known.
    pub verdict: Option<PatchVerdict>,
    /// The tests that were run, in that order.
    pub tests: Vec<TestResult>,
    /// How it was built; `None` if it was not.
    pub way: Option<Way>,
    /// Why it could not be woven with others, if it was to be.
    pub apart: Option<String>,
    /// The patch of the set that confirms this one, which was woven and is plausible. That patch changes the same functions and
    /// had the same outcome of every test. It was built by itself and passed.
    pub confirmed_by: Option<usize>,
    /// It is plausible, woven with others, and passed in one build with these patches of the set, which change other functions.
    pub confirmed_with: Vec<usize>,
    /// It was built in the end, by itself or with a few others, to see whether the woven program was right; whether it was.
    pub audited: Option<bool>,
    /// Whether the verdict comes from the journal.
    pub resumed: bool,
    /// How long its build took.
    pub build: Duration,
    /// How long everything took: applying, building, testing, restoring.
    pub total: Duration,
}

/// How a verdict was reached: by a build of the patch, by a woven program, or from another patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// In a build of the patch.
    Built,
    /// In a build of several patches that change different functions; all of them passed woven.
    BuiltTogether,
    /// In a woven program.
    Woven,
    /// By the compiler, without a build.
    Compiled,
    /// It is that of this patch of the set, which makes the same tree.
    SameCode(usize),
    /// In a woven program, in which it did the same as this patch of the set, which was built.
    Class(usize),
}

impl Validated {
    /// Returns how the verdict was reached. It is `None` if the patch has no verdict or does not
    /// apply.
    pub fn reached(&self) -> Option<Reached> {
        match (self.verdict.as_ref()?, self.way?) {
            (PatchVerdict::DoesNotApply(_), _) => None,
            _ if self.same_as.is_some() => self.same_as.map(Reached::SameCode),
            (_, Way::Plain(_)) => Some(Reached::Built),
            (PatchVerdict::DoesNotCompile(_), Way::Woven) => Some(Reached::Compiled),
            (_, Way::Woven) => Some(match self.confirmed_by {
                _ if !self.confirmed_with.is_empty() => Reached::BuiltTogether,
                Some(representative) => Reached::Class(representative),
                None => Reached::Woven,
            }),
        }
    }
}

/// Numbers about the work of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Builds of the untouched program.
    pub untouched_builds: usize,
    /// Builds of patches.
    pub builds: usize,
    /// Of these, builds of everything.
    pub full_builds: usize,
    /// Executions of tests on patches.
    pub executions: usize,
    /// Patches whose verdict comes from the journal.
    pub resumed: usize,
    /// Patches that make the same tree as an earlier one.
    pub duplicates: usize,
    /// What the patches that were woven together took, if some were.
    pub woven: Option<WovenStats>,
    /// Plausible patches of woven programs that an audit built.
    pub audited: usize,
    /// Of these, patches that failed in their build.
    pub audits_failed: usize,
    /// Copies that were replaced because they could not be restored.
    pub renewed_copies: usize,
    /// The time of the phases: preparing (copy, build, baseline) and validating.
    pub prepare: Duration,
    /// The wall time of validating the patches.
    pub validate: Duration,
    /// The parts of both, in the order in which they began. Parts of one name are one.
    pub phases: Vec<Phase>,
}

impl Stats {
    /// Adds the counts of another part of the same patch set. Times are not added, because parts run at the same time.
    pub fn add(&mut self, other: &Stats) {
        let Stats {
            untouched_builds,
            builds,
            full_builds,
            executions,
            resumed,
            duplicates,
            woven,
            audited,
            audits_failed,
            renewed_copies,
            prepare: _,
            validate: _,
            phases: _,
        } = other;
        for (sum, number) in [
            (&mut self.untouched_builds, untouched_builds),
            (&mut self.builds, builds),
            (&mut self.full_builds, full_builds),
            (&mut self.executions, executions),
            (&mut self.resumed, resumed),
            (&mut self.duplicates, duplicates),
            (&mut self.audited, audited),
            (&mut self.audits_failed, audits_failed),
            (&mut self.renewed_copies, renewed_copies),
        ] {
            *sum += number;
        }
        if let Some(woven) = woven {
            self.woven.get_or_insert_default().add(woven);
        }
    }
}

/// A phase of a run, with its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What was done.
    pub name: &'static str,
    /// How long.
    pub time: Duration,
    /// The time that processors spent on it, on commands and on this process.
    pub processor: Duration,
}

/// Numbers about validating patches in woven programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WovenStats {
    /// Patches whose verdict came from woven programs; plausible ones among them are confirmed by a
    /// build of their own.
    pub patches: usize,
    /// Patches that had to be validated by themselves, by reason.
    pub apart: BTreeMap<String, usize>,
    /// Calls of the compiler to see what compiles.
    pub compilations: usize,
    /// Builds of woven programs.
    pub builds: usize,
    /// Executions of tests.
    pub executions: usize,
    /// Of these, those that were forked from a program that had been started before.
    pub forked: usize,
    /// Of these, those that ended with the time-out.
    pub time_outs: usize,
    /// Executions that were ended because they provably never would have, among those.
    pub endless: usize,
    /// Classes of patches that a test could not tell apart, over all tests.
    pub classes: usize,
    /// Groups of patches that parted from others in an execution, by reason.
    pub splits: BTreeMap<&'static str, usize>,
    /// Texts of patches that can be tried and undone, so that their effects are compared.
    pub captured: usize,
    /// Texts that cannot be tried and undone, by reason.
    pub uncaptured: BTreeMap<&'static str, usize>,
    /// Unsteady tests, in which nothing was shared.
    pub unsteady: usize,
    /// Patches that may use what nobody has written, and did not in any test.
    pub cleared: usize,
    /// Plausible by a woven program, and not by a build of their own: bugs of ours, or tests that
    /// are not stable.
    pub overruled: usize,
    /// Plausible patches with the same outcome of every test as one of the same functions that was confirmed.
    pub confirmed_by_others: usize,
    /// Plausible patches that were confirmed in one build with others.
    pub confirmed_together: usize,
    /// The time that it took.
    pub time: Duration,
}

impl WovenStats {
    /// Adds the counts and the time of another portion of the same patch set.
    pub fn add(&mut self, other: &WovenStats) {
        let WovenStats {
            patches,
            apart,
            compilations,
            builds,
            executions,
            forked,
            time_outs,
            endless,
            classes,
            splits,
            captured,
            uncaptured,
            unsteady,
            cleared,
            overruled,
            confirmed_by_others,
            confirmed_together,
            time,
        } = other;
        self.patches += patches;
        self.compilations += compilations;
        self.builds += builds;
        self.executions += executions;
        self.forked += forked;
        self.time_outs += time_outs;
        self.endless += endless;
        self.classes += classes;
        self.captured += captured;
        self.unsteady += unsteady;
        self.cleared += cleared;
        self.overruled += overruled;
        self.confirmed_by_others += confirmed_by_others;
        self.confirmed_together += confirmed_together;
        self.time += *time;
        for (reason, number) in apart {
            *self.apart.entry(reason.clone()).or_default() += number;
        }
        for (own, others) in [
            (&mut self.splits, splits),
            (&mut self.uncaptured, uncaptured),
        ] {
            for (reason, number) in others {
                *own.entry(reason).or_default() += number;
            }
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// The tests.
    pub tests: Tests,
    /// The patches, in the order of the set.
    pub patches: Vec<Validated>,
    /// What was done.
    pub stats: Stats,
    /// The run was ended before it was done.
    pub interrupted: bool,
}

impl Validation {
    /// Returns the number of patches for whose verdict `is` holds.
    pub fn count(&self, is: impl Fn(&PatchVerdict) -> bool) -> usize {
        let verdicts = self
            .patches
            .iter()
            .filter_map(|patch| patch.verdict.as_ref());
        verdicts.filter(|verdict| is(verdict)).count()
    }

    /// Returns the number of plausible patches.
    pub fn plausible(&self) -> usize {
        self.count(|verdict| *verdict == PatchVerdict::Plausible)
    }
}
