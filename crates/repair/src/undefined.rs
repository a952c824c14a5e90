//! Undefined behaviour of patches that pass every test: shown by the compiler's sanitizers, in a build of its own.
//!
//! What reads a byte in front of an array passes where that byte happens to be the right one, and fails on another day. Where
//! it is known how to build the program with sanitizers, each patch is built so as well, and those that the sanitizers speak
//! against are set aside: the search goes on without them, and they are reported if there is nothing else.

use std::ffi::{OsStr, OsString};

use patchwright_exec::{FailReason, Project, Verdict, runner::Environment};

use crate::{
    Event, RepairError, Surroundings,
    prepare::Prepared,
    verify::{Candidate, CleanCopy},
};

/// After so many patches with undefined behaviour, no further ones are tried.
pub(crate) const MOST_UNDEFINED: usize = 20;

/// How a program is built with sanitizers, and what its tests are then.
pub(crate) struct Sanitized {
    build: OsString,
    environment: Environment,
    /// By index: the tests that fail, which a patch mends.
    failing: Vec<usize>,
    /// Those that the untouched program passes when it is built so, too.
    passing: Vec<usize>,
    /// Those that it passes otherwise, and the sanitizers report something of.
    reported: Vec<usize>,
}

impl Sanitized {
    /// Builds the untouched program so and runs its tests; `None` where it is not known how, or where that does not build, or
    /// does not work at all.
    ///
    /// # Errors
    /// When the build or a test cannot be run.
    pub(crate) fn measure(
        prepared: &Prepared,
        project: &Project,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<Sanitized>, RepairError> {
        let Some(build) = project.sanitized_build.clone() else {
            return Ok(None);
        };
        let environment = without_leaks(&prepared.suite.environment);
        let mut copy = CleanCopy::start("sanitized", prepared, project, surroundings)?;
        let (mut passing, mut reported) = (Vec::new(), Vec::new());
        let is_built = copy.build(&build)?.is_none();
        for &test in prepared.passing.iter().filter(|_| is_built) {
            match copy.run(test, &environment)? {
                Verdict::Pass => passing.push(test),
                Verdict::Fail(FailReason::SanitizerReport(_)) => reported.push(test),
                Verdict::Fail(_) => {}
            }
        }
        copy.remove()?;
        let works = !passing.is_empty() || !reported.is_empty() || prepared.passing.is_empty();
        if !is_built || !works {
            let why = match is_built {
                true => "passes no test",
                false => "does not build",
            };
            (surroundings.events)(Event::Warning(format!(
                "the program {why} with -fsanitize=address,undefined, so patches are not looked at for undefined behaviour"
            )));
            return Ok(None);
        }
        Ok(Some(Sanitized {
            build,
            environment,
            failing: prepared.failing.clone(),
            passing,
            reported,
        }))
    }

    /// What the sanitizers say of a candidate: the first test with a report, or that passed with them and does no more. Of a candidate
    /// that mends what they say of the untouched program in one test, the first test in which it does not.
    /// `None` if all is well.
    ///
    /// # Errors
    /// When the build or a test cannot be run.
    pub(crate) fn objection(
        &self,
        copy: &mut CleanCopy<'_>,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>, RepairError> {
        copy.put(candidate)?;
        if copy.build(&self.build)?.is_some() {
            return Ok(None);
        }
        let failing = self.failing.iter().map(|&test| (test, false));
        for (test, has_passed) in failing.chain(self.passing.iter().map(|&test| (test, true))) {
            if let Verdict::Fail(why) = copy.run(test, &self.environment)?
                && (has_passed || matches!(why, FailReason::SanitizerReport(_)))
            {
                let name = copy.name(test);
                return Ok(Some(format!("test {name}: {}", told(&why))));
            }
        }
        let (mut mends, mut left) = (false, None);
        for &test in &self.reported {
            match copy.run(test, &self.environment)? {
                Verdict::Fail(why @ FailReason::SanitizerReport(_)) => {
                    left.get_or_insert_with(|| format!("test {}: {}", copy.name(test), told(&why)));
                }
                Verdict::Fail(_) => {}
                Verdict::Pass => mends = true,
            }
            if mends && left.is_some() {
                return Ok(left);
            }
        }
        Ok(None)
    }
}

/// Memory that is not freed is not undefined.
fn without_leaks(environment: &Environment) -> Environment {
    const OPTIONS: &str = "ASAN_OPTIONS";
    let mut environment = environment.clone();
    let own = environment.set.get(OsStr::new(OPTIONS)).cloned();
    let mut options = own
        .or_else(|| std::env::var_os(OPTIONS))
        .unwrap_or_default();
    if !options.is_empty() {
        options.push(":");
    }
    options.push("detect_leaks=0");
    environment.set.insert(OPTIONS.into(), options);
    environment
}

/// A failure without what differs from run to run: process and addresses.
fn told(why: &FailReason) -> String {
    let FailReason::SanitizerReport(line) = why else {
        return why.to_string();
    };
    let text = line
        .split_once("ERROR: ")
        .map_or(line.as_str(), |(_, text)| text);
    let end = text.find(" on ").unwrap_or(text.len());
    match text.starts_with("AddressSanitizer") {
        true => text[..end].to_owned(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_report_is_the_same_in_each_run() {
        let report = |line: &str| told(&FailReason::SanitizerReport(line.to_owned()));
        assert_eq!(
            report(
                "==20595==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x7f"
            ),
            "AddressSanitizer: heap-buffer-overflow"
        );
        assert_eq!(
            report("a.c:7:3: runtime error: division by zero"),
            "a.c:7:3: runtime error: division by zero"
        );
    }

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
