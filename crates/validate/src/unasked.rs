//! Validates few patches without testing the untouched program first.
//!
//! Somebody who validates a patch by hand applies it, builds, and runs the tests. Building and testing
//! the untouched program as well takes longer than that. Its results matter only in four cases: a failing
//! test may be unsteady, time runs out, files of the tests have changed, or the build may fail for a
//! reason that is not the patch's. So few patches are built and tested first. The untouched program is
//! tested only for those that are then in doubt.

use std::collections::BTreeSet;
use std::path::Path;

use patchwright_exec::{FailReason, FileError, Project, TimeKind, files};
use patchwright_patches::{FileChange, Patch};

use crate::plain::{Checked, Time};
use crate::rebuild::{Rebuild, is_compiled};
use crate::verdict::{CompileFailure, Failure, PatchVerdict};
use crate::{Confirm, ValidateOptions};

/// So few patches are built by themselves whatever they cost, and the tests of the untouched program are run once for them.
pub(crate) const FEW: usize = 2;

/// Of more patches the untouched program is asked first.
const MOST: usize = 12;

/// If there are at most so many tests, the first patches show whether they take long, and the untouched program is not run. Weaving would
/// save hardly an execution then, and running the untouched program would take a large part of the whole time.
const FEW_TESTS: usize = 3;

/// Beside more patches, what the tests of the untouched program take counts little.
const MOST_TOLD: usize = 100;

/// The number of patches after which the time of the tests is known.
pub(crate) const TELLING: usize = 3;

/// Sources of more bytes than so many are not compiled for each of more than [`MOST_OF_LARGE`] patches.
const LARGE: u64 = 512 << 10;

/// See [`LARGE`].
const MOST_OF_LARGE: usize = 4;

/// The least part of a build that is done for a patch: linking.
const LEAST_BUILT: f64 = 0.1;

/// Whether so many patches may be validated before the untouched program is asked.
pub(crate) fn may_wait(patches: usize, options: &ValidateOptions) -> bool {
    patches <= MOST && is_nothing_asked(options)
}

/// Whether that may hold for more patches, if there are few tests and these take long.
pub(crate) fn may_wait_for_long(patches: usize, tests: usize, options: &ValidateOptions) -> bool {
    (MOST + 1..=MOST_TOLD).contains(&patches) && tests <= FEW_TESTS && is_nothing_asked(options)
}

/// Returns whether the user asks for nothing that needs the test results of the untouched program, such as facts about failing
/// tests or about all tests.
pub(crate) fn is_nothing_asked(options: &ValidateOptions) -> bool {
    options.by_cost
        && !options.ask_first
        && options.must_fix.is_empty()
        && !options.ignore_failing
        && !options.keep_going
        && options.confirm != Confirm::Each
}

/// Returns whether to build the untouched program for these patches first. Then the build of each patch compiles only the
/// changed files, which is less than a full build for each.
///
/// # Errors
/// A tree that cannot be read.
pub(crate) fn pays_to_build<'p>(
    project: &Project,
    patches: impl Iterator<Item = &'p Patch>,
) -> Result<bool, FileError> {
    let patches: Vec<&Patch> = patches.collect();
    if patches.len() < 2 {
        return Ok(false);
    }
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
    let sources = files::regular_files_below(&project.root)?;
    let all: u64 = sources
        .iter()
        .filter(|path| is_compiled(path))
        .map(|path| size(path))
        .sum();
    let built = |patch: &Patch| match Rebuild::needed_for(patch, &BTreeSet::new(), &BTreeSet::new())
    {
        Rebuild::Incremental => {
            let paths = patch.changes.iter().flat_map(FileChange::paths);
            let changed: u64 = paths
                .map(|path| size(&project.root.join(path.as_path())))
                .sum();
            (changed as f64 / all.max(1) as f64).clamp(LEAST_BUILT, 1.0)
        }
        Rebuild::Full | Rebuild::Clean => 1.0,
    };
    let parts: f64 = patches.iter().map(|patch| built(patch)).sum();
    let is_long = all > LARGE && patches.len() > MOST_OF_LARGE;
    Ok(is_long || 1.0 + parts < patches.len() as f64)
}

/// Whether a verdict may be another one if the untouched program is asked. `is_built` says that it is known to build, `is_asked_twice` that
/// its tests would be run twice.
pub(crate) fn is_doubtful(
    checked: &Checked,
    patch: &Patch,
    (is_built, is_asked_twice): (bool, bool),
) -> bool {
    // The untouched program's build or tests may write to these files, too.
    !checked.changes_tests.is_empty()
        || is_doubtful_but_for_tests(checked, patch, (is_built, is_asked_twice))
}

/// Whether a verdict is in doubt without the untouched program, if its changes of test files are known.
pub(crate) fn is_doubtful_but_for_tests(
    checked: &Checked,
    patch: &Patch,
    (is_built, is_asked_twice): (bool, bool),
) -> bool {
    match &checked.verdict {
        PatchVerdict::Plausible => checked.time != Time::Right,
        PatchVerdict::DoesNotApply(_) => false,
        // The test may be as unsteady without the patch, and is set aside then.
        PatchVerdict::Unstable(_) => is_asked_twice,
        PatchVerdict::DoesNotCompile(failure) => !is_built && !is_about(failure, patch),
        PatchVerdict::Implausible(killer) => match &killer.failure {
            Failure::NotRun(_) => true,
            Failure::Ran(FailReason::TimedOut(TimeKind::Endless)) => false,
            // How long a test may take follows from what it takes on the untouched program, or with a patch that passes it.
            Failure::Ran(FailReason::TimedOut(_)) => checked.time != Time::Right,
            // What a shell says of a command that cannot be run: perhaps the driver does not work.
            Failure::Ran(FailReason::ExitCode { actual, .. }) => matches!(actual, 126 | 127),
            // There is something to be said of the cases.
            Failure::Ran(FailReason::Output(difference)) => difference.only_trailing_whitespace,
            Failure::Ran(_) => false,
        },
    }
}

/// Whether a build failed because of a file that the patch changes.
fn is_about(failure: &CompileFailure, patch: &Patch) -> bool {
    let Some(error) = &failure.first_error else {
        return false;
    };
    let paths = patch.changes.iter().flat_map(FileChange::paths);
    let mut names = paths.filter_map(|path| path.as_path().file_name());
    names.any(|name| names_file(error, &name.to_string_lossy()))
}

/// Whether an error is one of the file with this name: `src/x.c:3:1: error: …`.
fn names_file(error: &str, name: &str) -> bool {
    let place = error.split(':').next().unwrap_or_default();
    place == name || place.ends_with(&format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_of_a_file_if_it_begins_with_its_place() {
        assert!(names_file("x.c:3:1: error: expected ‘;’", "x.c"));
        assert!(names_file("../src/x.c:3:1: error: expected ‘;’", "x.c"));
        assert!(!names_file("max.c:3:1: error: expected ‘;’", "x.c"));
        assert!(!names_file("make: *** No rule to make target 'x.c'", "x.c"));
    }

    #[test]
    fn the_untouched_program_is_asked_first_for_many_patches_and_where_its_failing_tests_matter() {
        let by_cost = ValidateOptions {
            by_cost: true,
            ..ValidateOptions::default()
        };
        assert!(may_wait(1, &by_cost) && may_wait(MOST, &by_cost));
        assert!(!may_wait(MOST + 1, &by_cost));
        assert!(!may_wait(1, &ValidateOptions::default()));
        let may_wait_for_long = |patches, tests| may_wait_for_long(patches, tests, &by_cost);
        assert!(may_wait_for_long(MOST + 1, 1) && may_wait_for_long(MOST_TOLD, FEW_TESTS));
        assert!(!may_wait_for_long(MOST, 1) && !may_wait_for_long(MOST_TOLD + 1, 1));
        assert!(!may_wait_for_long(MOST + 1, FEW_TESTS + 1));
        for asks in [
            ValidateOptions {
                ignore_failing: true,
                ..by_cost.clone()
            },
            ValidateOptions {
                must_fix: vec!["t".to_owned()],
                ..by_cost.clone()
            },
            ValidateOptions {
                keep_going: true,
                ..by_cost.clone()
            },
            ValidateOptions {
                ask_first: true,
                ..by_cost.clone()
            },
        ] {
            assert!(!may_wait(1, &asks));
        }
    }
}
