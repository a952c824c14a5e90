//! Estimates the time of a set, built one by one and woven, from the time of the untouched program.
//!
//! Weaving has a price that does not depend on the number of patches: sources are read, what compiles is found out, the woven text is
//! compiled, and every test is run once more. So a few patches are built by themselves in less time. The estimate is rough, and decides
//! about time only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use patchwright_exec::CompileCommand;
use patchwright_patches::FileChange;
use patchwright_schemata::Watch;

use crate::rebuild::may_be_included;
use crate::set::PatchSet;

/// Starting a process, putting a copy back, applying a patch.
const EACH: Duration = Duration::from_millis(15);

/// Clang starts and prints what a small source says, with its headers; this, once for the source and once for what is woven into it.
const READING: Duration = Duration::from_millis(300);

/// The tests of the untouched program are run twice if a run of all takes no more than one part in so many of what the patches take plainly.
const AGAIN_SHARE: u32 = 20;

/// Tests that take less are not worth a thought.
const LONG: Duration = Duration::from_millis(200);

/// Longer than any tests take.
const LONGEST: Duration = Duration::from_secs(1 << 20);

/// What is known before patches are validated, in time of processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Building the untouched program.
    pub build: Duration,
    /// Running all its tests once.
    pub tests: Duration,
    /// How many tests these are.
    pub count: usize,
    /// How often a source is compiled for the program: each in each way.
    pub sources: usize,
    /// Those compilations to which some patch matters.
    pub changed: usize,
    /// How many of those one patch takes, on average.
    pub compiled: f64,
    /// The patches.
    pub patches: usize,
    /// So often each patch is compiled by itself besides, to see what warnings keep it from compiling.
    pub strict: usize,
}

/// As a divisor or factor of times.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Cost {
    /// Estimates the builds of these patches. `build` is the time of the untouched program's build,
    /// and `commands` are the compilations of its sources.
    pub fn of_builds(
        set: &PatchSet,
        entries: &[usize],
        commands: Option<&[CompileCommand]>,
        build: Duration,
    ) -> Self {
        let commands_of = commands.unwrap_or_default();
        let (changed, compiled) = compilations(set, entries, commands_of);
        Self {
            build,
            tests: Duration::ZERO,
            count: 0,
            sources: commands.map_or(1, <[_]>::len),
            changed,
            compiled,
            patches: entries.len(),
            strict: strict_ways(commands_of, set, entries.iter().copied()),
        }
    }

    /// Adds `count` tests, which take the time `tests` together.
    pub fn with_tests(self, tests: Duration, count: usize) -> Self {
        Self {
            tests,
            count,
            ..self
        }
    }

    /// What it takes to compile a source in one way, and what is compiled and linked for a patch by itself.
    fn rebuild(&self) -> (Duration, Duration) {
        let compile = self.build / count(self.sources.max(1));
        // What depends on a source is linked again.
        let all = compile.mul_f64(self.compiled).max(self.build / 10);
        (compile, all)
    }

    /// A patch by itself.
    fn plain(&self) -> Duration {
        // Half of the tests, until one fails.
        EACH + self.rebuild().1 + self.tests / 2
    }

    /// Whether the tests take much longer than the builds of a patch, and weaving saves none of that.
    pub fn is_mostly_tests(&self) -> bool {
        let is_long = self.tests > LONG.max(self.rebuild().1 * 2);
        is_long && !self.is_less_woven()
    }

    /// Returns the longest time of the tests for which a second run on the untouched program is worth
    /// while. It is `None` if any time is, because patches are woven.
    pub fn most_again(&self, may_weave: bool) -> Option<Duration> {
        let is_worth = |tests: Duration| {
            let cost = self.with_tests(tests, self.count);
            may_weave && cost.is_less_woven()
                || tests * AGAIN_SHARE <= cost.plain().saturating_mul(count(self.patches))
        };
        let mut tests = Duration::from_millis(1);
        let mut most = Duration::ZERO;
        while tests < LONGEST {
            if !is_worth(tests) {
                return Some(most);
            }
            (most, tests) = (tests, tests * 5 / 4);
        }
        None
    }

    /// Returns when it pays to build the program so that uses of unwritten values are reported.
    pub fn watch(&self) -> Watch {
        let alone = self.plain();
        let build = READING + self.build;
        let least = build.as_micros() / alone.as_micros().max(1);
        Watch {
            least: usize::try_from(least)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
            alone,
        }
    }

    /// Whether weaving the patches takes less time than building each by itself.
    pub fn is_less_woven(&self) -> bool {
        let (compile, rebuild) = self.rebuild();
        let plain = self.plain();
        // The originals and what is tried, some of it twice.
        let fixed = (READING + compile * 5).saturating_mul(count(self.changed))
            + rebuild
            + self.tests
            + EACH * 6;
        // Of many tests most patches are reached by few, and share an execution with others; a single test that does everything is
        // executed for nearly each.
        let tests = self.tests / 4 + self.tests * 3 / 4 / count(self.count.max(1));
        // What is plausible is confirmed, some of it together.
        let woven = EACH + tests + plain / 4 + compile * count(self.strict);
        let patches = count(self.patches);
        fixed.saturating_add(woven.saturating_mul(patches)) < plain.saturating_mul(patches)
    }
}

/// How often a source that these entries of a set change is compiled with warnings as errors, that for which it is most often.
fn strict_ways(
    commands: &[CompileCommand],
    set: &PatchSet,
    entries: impl Iterator<Item = usize>,
) -> usize {
    let patches = entries.filter_map(|entry| set.entries[entry].patch());
    let changes = patches.flat_map(|patch| &patch.changes);
    let changed: BTreeSet<&Path> = changes.map(|change| change.path().as_path()).collect();
    let is_strict = |command: &&CompileCommand| {
        command
            .arguments
            .iter()
            .any(|argument| argument == "-Werror")
    };
    let ways = changed.into_iter().map(|path| {
        let own = commands
            .iter()
            .filter(|command| command.file.ends_with(path));
        own.filter(is_strict).count()
    });
    ways.max().unwrap_or(0)
}

/// To how many of these compilations some entry of a set matters, and how many of them are done for one on average. A header may matter to
/// all of them.
fn compilations(set: &PatchSet, entries: &[usize], commands: &[CompileCommand]) -> (usize, f64) {
    let mut of_file: BTreeMap<&Path, usize> = BTreeMap::new();
    let (mut all, mut has_header) = (0, false);
    let mut patches = 0;
    for patch in entries
        .iter()
        .filter_map(|entry| set.entries[*entry].patch())
    {
        patches += 1;
        for change in &patch.changes {
            let FileChange::Modify { path, .. } = change else {
                continue;
            };
            let path = path.as_path();
            if path.extension().is_some_and(|end| end == "c") {
                all += *of_file.entry(path).or_insert_with(|| {
                    let own = commands.iter();
                    let own = own.filter(|command| command.file.ends_with(path));
                    own.count().max(1)
                });
            } else if may_be_included(path) {
                has_header = true;
                all += commands.len().max(1);
            }
        }
    }
    let changed = match has_header {
        true => commands.len().max(1),
        false => of_file.values().sum(),
    };
    (changed, (all as f64 / f64::from(patches.max(1))).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(build: u64, tests: u64, sources: usize, patches: usize) -> Cost {
        Cost {
            build: Duration::from_millis(build),
            tests: Duration::from_millis(tests),
            count: 20,
            sources,
            changed: 1,
            compiled: 1.0,
            patches,
            strict: 0,
        }
    }

    #[test]
    fn a_patch_of_a_header_takes_the_compilations_of_all_that_may_include_it() {
        // A header that is compiled in four ways, in a build of nothing else.
        let of_header = |patches| Cost {
            changed: 4,
            compiled: 4.0,
            ..cost(2000, 20, 4, patches)
        };
        assert_eq!(of_header(1).rebuild().1, Duration::from_millis(2000));
        assert!(!of_header(6).is_less_woven());
        assert!(of_header(40).is_less_woven());
    }

    #[test]
    fn few_patches_are_built_and_many_are_woven() {
        for (build, tests, sources) in [(60, 20, 1), (900, 100, 3), (20_000, 2_000, 60)] {
            assert!(!cost(build, tests, sources, 1).is_less_woven(), "{build}");
            assert!(cost(build, tests, sources, 100).is_less_woven(), "{build}");
        }
        // The price of a large source is paid back by few patches, that of a small one by some more.
        assert!(!cost(60, 20, 1, 8).is_less_woven());
        assert!(cost(1500, 100, 1, 12).is_less_woven());
        // Of one test that takes longer than a build, hardly an execution is saved.
        let long = |count| Cost {
            count,
            ..cost(1500, 10_000, 1, 100)
        };
        assert!(!long(1).is_less_woven() && long(1).is_mostly_tests());
        assert!(!cost(60, 20, 1, 8).is_mostly_tests() && !long(20).is_mostly_tests());
        assert!(long(20).is_less_woven());
        // Then its second run would be a large part of all, but for large sets.
        assert!(long(1).most_again(true).is_none());
        let few = Cost {
            patches: 14,
            ..long(1)
        };
        let most = few.most_again(true).unwrap();
        assert!(most < few.tests && most > few.build, "{most:?}");
        assert!(few.most_again(false).unwrap() <= most);
        assert!(
            cost(1500, 100, 1, 40)
                .with_tests(Duration::ZERO, 20)
                .most_again(true)
                .is_none()
        );
        // Where each is compiled by itself anyhow, only the tests are saved.
        let strict = |tests| Cost {
            strict: 1,
            ..cost(1500, tests, 1, 40)
        };
        assert!(!strict(100).is_less_woven());
        assert!(strict(20_000).is_less_woven());
    }
}
