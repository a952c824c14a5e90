//! Reports the numbers of a validation, as JSON and as text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use patchwright_validate::{Stats, WovenStats};
use serde::Serialize;

use crate::text::{count, grouped};

/// The numbers of a validation as JSON.
#[derive(Serialize)]
pub struct StatsOf {
    /// Builds of the untouched program.
    untouched_builds: usize,
    /// Builds of patches.
    builds: usize,
    /// Those of them that built everything.
    full_builds: usize,
    /// Executions of tests on patches.
    executions: usize,
    /// Patches whose verdict is of an earlier run.
    resumed: usize,
    /// Patches that make the same tree as an earlier one.
    duplicates: usize,
    /// Counts of woven patches; null if none were woven.
    woven: Option<WovenOf>,
    /// Plausible patches of woven programs that an audit built.
    audited: usize,
    /// Audited patches that failed in their build.
    audits_failed: usize,
    /// Copies that were replaced because they could not be restored.
    renewed_copies: usize,
    /// Copying, building and testing the untouched program.
    prepare_milliseconds: f64,
    /// The rest.
    validate_milliseconds: f64,
    /// The parts of both, in the order in which they began.
    phases: Vec<PhaseOf>,
}

#[derive(Serialize)]
struct PhaseOf {
    /// What was done.
    name: &'static str,
    /// How long it took.
    milliseconds: f64,
    /// How long processors worked on it.
    processor_milliseconds: f64,
}

#[derive(Serialize)]
struct WovenOf {
    /// Patches whose verdict comes from woven programs.
    patches: usize,
    /// Patches that were validated by themselves, by reason.
    apart: BTreeMap<String, usize>,
    /// Calls of the compiler to see what compiles.
    compilations: usize,
    /// Builds of woven programs.
    builds: usize,
    /// Executions of tests.
    executions: usize,
    /// Of these, forked from a running program.
    forked: usize,
    /// Of these, ended by the time-out.
    time_outs: usize,
    /// Of these, ended because they provably never end.
    endless: usize,
    /// Classes of patches that a test does not tell apart, over all tests.
    classes: usize,
    /// Groups of patches that parted from others in an execution, by reason.
    splits: BTreeMap<&'static str, usize>,
    /// Texts of patches that can be tried and undone, so that their effects are compared.
    captured: usize,
    /// Texts that cannot be tried and undone, by reason.
    uncaptured: BTreeMap<&'static str, usize>,
    /// Unsteady tests, in which nothing was shared.
    unsteady: usize,
    /// Patches that may use unwritten memory; a memory sanitizer saw no such use.
    cleared: usize,
    /// Patches that a woven program called plausible and their build did not.
    overruled: usize,
    /// Plausible patches confirmed by a patch of the same functions with the same outcomes.
    confirmed_by_others: usize,
    /// Plausible patches that were confirmed in one build with others.
    confirmed_together: usize,
    /// The time that all this took.
    milliseconds: f64,
}

/// Returns a duration in milliseconds, as JSON has it.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

impl StatsOf {
    /// Converts the numbers to JSON.
    pub fn new(stats: &Stats) -> Self {
        let phases = stats.phases.iter().map(|phase| PhaseOf {
            name: phase.name,
            milliseconds: milliseconds(phase.time),
            processor_milliseconds: milliseconds(phase.processor),
        });
        StatsOf {
            builds: stats.builds,
            untouched_builds: stats.untouched_builds,
            full_builds: stats.full_builds,
            executions: stats.executions,
            resumed: stats.resumed,
            duplicates: stats.duplicates,
            woven: stats.woven.as_ref().map(WovenOf::new),
            audited: stats.audited,
            audits_failed: stats.audits_failed,
            renewed_copies: stats.renewed_copies,
            prepare_milliseconds: milliseconds(stats.prepare),
            validate_milliseconds: milliseconds(stats.validate),
            phases: phases.collect(),
        }
    }
}

impl WovenOf {
    fn new(woven: &WovenStats) -> Self {
        WovenOf {
            patches: woven.patches,
            apart: woven.apart.clone(),
            compilations: woven.compilations,
            builds: woven.builds,
            executions: woven.executions,
            forked: woven.forked,
            time_outs: woven.time_outs,
            endless: woven.endless,
            classes: woven.classes,
            splits: woven.splits.clone(),
            captured: woven.captured,
            uncaptured: woven.uncaptured.clone(),
            unsteady: woven.unsteady,
            cleared: woven.cleared,
            overruled: woven.overruled,
            confirmed_by_others: woven.confirmed_by_others,
            confirmed_together: woven.confirmed_together,
            milliseconds: milliseconds(woven.time),
        }
    }
}

/// Returns the numbers as text: where the time went, what was shared, and why other patches could not
/// share.
pub fn stats(stats: &Stats) -> String {
    let mut text = String::from("\nTime, s; of processors, s:\n");
    for phase in &stats.phases {
        let seconds = phase.time.as_secs_f64();
        let processor = phase.processor.as_secs_f64();
        let _ = writeln!(text, "{seconds:>9.2} {processor:>9.2}  {}", phase.name);
    }
    let Some(woven) = &stats.woven else {
        return text;
    };
    let _ = writeln!(
        text,
        "\nWoven: {} in {}; {}, {} in {} ({} forked, {}, {} of them proved to be endless); {} confirmed by one that did the same, {} together.",
        count(woven.patches as u64, "patch", "patches"),
        count(woven.builds as u64, "program", "programs"),
        count(
            woven.compilations as u64,
            "call of the compiler",
            "calls of the compiler"
        ),
        count(woven.classes as u64, "class", "classes"),
        count(woven.executions as u64, "execution", "executions"),
        grouped(woven.forked as u64),
        count(woven.time_outs as u64, "time-out", "time-outs"),
        grouped(woven.endless as u64),
        grouped(woven.confirmed_by_others as u64),
        grouped(woven.confirmed_together as u64),
    );
    if woven.cleared > 0 {
        let cleared = count(woven.cleared as u64, "patch", "patches");
        let _ = writeln!(
            text,
            "A memory sanitizer watched {cleared} that may use unwritten memory: none did.",
        );
    }
    let mut list = |title: &str, lines: Vec<(&str, usize)>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}:");
        }
        for (reason, number) in lines {
            let _ = writeln!(text, "{:>9}  {reason}", grouped(number as u64));
        }
    };
    let apart = woven.apart.iter();
    list(
        "Validated by themselves",
        apart
            .map(|(reason, number)| (&reason[..], *number))
            .collect(),
    );
    let pairs = |map: &BTreeMap<&'static str, usize>| -> Vec<(&str, usize)> {
        map.iter()
            .map(|(reason, number)| (*reason, *number))
            .collect()
    };
    list(
        "Texts that cannot be tried and undone",
        pairs(&woven.uncaptured),
    );
    list("Partings from a class", pairs(&woven.splits));
    text
}
