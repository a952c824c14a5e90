//! A run in parts on machines that know nothing of each other, and the parts put together.
//!
//! All parts build the same program and choose the same mutants. Part `K` of `N` tests each `N`-th of these, and asks about its
//! survivors. So a mutant has the same number in all parts, and the fate that it has where one machine does everything.

use patchwright_exec::{FileError, Project, hash_files};
use patchwright_text::Hasher;

use crate::outcome::MutantsOutcome;
use crate::run::MutantsOptions;

/// The name of the schema of a part's file.
pub const SCHEMA: &str = "patchwright-mutants-shard";

/// Its version.
pub const VERSION: u32 = 1;

/// What all parts of one run have in common before mutants are chosen, as a digest.
///
/// # Errors
/// A project that cannot be read.
pub fn key(project: &Project, options: &MutantsOptions) -> Result<String, FileError> {
    let mut hasher = Hasher::new();
    hasher.field(SCHEMA).field(env!("CARGO_PKG_VERSION"));
    hash_files(project, &mut hasher)?;
    let tests = project.tests.iter().flat_map(|suite| &suite.tests);
    for test in tests {
        hasher.field(&test.name);
    }
    // Their debug form shows every field.
    hasher.field(format!(
        "{:?}",
        (options.limit, options.budget, options.each, options.asks)
    ));
    Ok(hasher.finish().to_string())
}

/// Why what parts have found does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tests of the untouched program do not do the same in all parts: in one {first}, in another {second}; run the parts again on machines that are alike"
)]
pub struct DifferentTests {
    first: String,
    second: String,
}

/// Puts what parts have found together: the mutants by their numbers, and the sums of what was done.
///
/// # Errors
/// Tests that are flaky, or whose result depends on the machine.
pub fn merge(parts: Vec<MutantsOutcome>) -> Result<MutantsOutcome, DifferentTests> {
    let mut all = MutantsOutcome::default();
    for (at, part) in parts.into_iter().enumerate() {
        if part.tested && all.tested && part.set_aside != all.set_aside {
            return Err(DifferentTests {
                first: aside(&all),
                second: aside(&part),
            });
        }
        if at == 0 || part.tested {
            all.tests = part.tests;
            all.set_aside = part.set_aside;
        }
        all.tested |= part.tested;
        all.mutants.extend(part.mutants);
        all.found = part.found;
        all.chosen = part.chosen;
        all.choice = part.choice;
        all.same_code = part.same_code;
        all.repeated_code = part.repeated_code;
        all.builds += part.builds;
        all.executions += part.executions;
        for (sum, time) in all.times.iter_mut().zip(part.times) {
            *sum += time;
        }
        all.interrupted |= part.interrupted;
        all.out_of_time |= part.out_of_time;
    }
    all.mutants.sort_by_key(|one| one.number);
    Ok(all)
}

fn aside(outcome: &MutantsOutcome) -> String {
    match &outcome.set_aside[..] {
        [] => "all of them count".to_owned(),
        names => format!("{} do not count", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(set_aside: &[&str], tested: bool) -> MutantsOutcome {
        MutantsOutcome {
            tests: 3 - set_aside.len(),
            set_aside: set_aside.iter().map(|&name| name.to_owned()).collect(),
            tested,
            builds: 2,
            ..MutantsOutcome::default()
        }
    }

    #[test]
    fn a_part_that_tested_nothing_says_nothing_of_the_tests() {
        let parts = vec![part(&[], false), part(&["b"], true), part(&[], false)];
        let all = merge(parts).unwrap();
        assert_eq!((all.tests, all.builds), (2, 6));
        assert_eq!(all.set_aside, ["b"]);
    }

    #[test]
    fn parts_whose_tests_differ_are_not_merged() {
        let error = merge(vec![part(&["b"], true), part(&[], true)]).unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains("in one b do not count, in another all of them count"),
            "{told}"
        );
    }
}
