//! The circumstances in which patches are tested beside the usual ones.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
};

use patchwright_exec::runner::Environment;

/// What `MALLOC_PERTURB_` is set to: fresh memory holds its complement. As numbers, one of the patterns is negative and the other is not.
const PERTURBED: [&str; 2] = ["90", "165"];

/// The variable by which the GNU library fills fresh memory.
pub(crate) const PERTURB: &str = "MALLOC_PERTURB_";

/// After so many patches with undefined behaviour, no further ones are tried.
pub(crate) const MOST_UNDEFINED: usize = 20;

/// The checks that a candidate has passed already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleared {
    /// What the compiler says of values that are read and were never written.
    pub(crate) by_compiler: bool,
    /// The analysis of definite values.
    pub(crate) by_analysis: bool,
    /// Tests in these circumstances.
    pub(crate) in_trials: BTreeSet<Kind>,
}

/// The circumstances that differ from those of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Fresh memory holds other bytes.
    Perturbed,
    /// So do variables.
    Filled,
    /// It is built with sanitizers.
    Sanitized,
}

impl Kind {
    /// All, in the order in which candidates are tested.
    pub(crate) const ALL: [Kind; 3] = [Kind::Perturbed, Kind::Filled, Kind::Sanitized];

    /// Flags for the compiler.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Kind::Perturbed => &[],
            Kind::Filled => &["-ftrivial-auto-var-init=pattern"],
            // Who only hears of the exit status should hear of undefined behaviour, too.
            Kind::Sanitized => &[
                "-g",
                "-fno-sanitize-recover=undefined",
                "-fsanitize=address,undefined",
            ],
        }
    }

    /// Returns a text that programs built in these circumstances contain; `None` if there is none.
    pub(crate) fn mark(self) -> Option<&'static str> {
        match self {
            Kind::Perturbed | Kind::Filled => None,
            Kind::Sanitized => Some("__asan_init"),
        }
    }

    /// The name of a folder.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Perturbed => "perturbed",
            Kind::Filled => "filled",
            Kind::Sanitized => "sanitized",
        }
    }

    /// Returns the environment of tests with the variables that make these circumstances.
    pub(crate) fn environment(self, tests: &Environment) -> Environment {
        let mut environment = tests.clone();
        let own = environment.set.contains_key(OsStr::new(PERTURB));
        let mut perturb = |value: &str| {
            if !own {
                environment.set.insert(PERTURB.into(), value.into());
            }
        };
        match self {
            Kind::Perturbed => perturb(PERTURBED[0]),
            Kind::Filled => perturb(PERTURBED[1]),
            Kind::Sanitized => return without_leaks(tests),
        }
        environment
    }
}

/// Memory that is not freed is not undefined.
pub(crate) fn without_leaks(environment: &Environment) -> Environment {
    const OPTIONS: &str = "ASAN_OPTIONS";
    let mut environment = environment.clone();
    let own = environment.set.get(OsStr::new(OPTIONS)).cloned();
    let mut options: OsString = own
        .or_else(|| std::env::var_os(OPTIONS))
        .unwrap_or_default();
    if !options.is_empty() {
        options.push(":");
    }
    options.push("detect_leaks=0");
    environment.set.insert(OPTIONS.into(), options);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaks_are_not_looked_for_and_other_options_stay() {
        let mut own = Environment::default();
        own.set
            .insert("ASAN_OPTIONS".into(), "strict_string_checks=1".into());
        let set = without_leaks(&own).set;
        assert_eq!(
            set[OsStr::new("ASAN_OPTIONS")],
            OsString::from("strict_string_checks=1:detect_leaks=0")
        );
    }
}
