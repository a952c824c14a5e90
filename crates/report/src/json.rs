//! The JSON of `patchwright repair --json`.

use std::collections::BTreeMap;

use patchwright_repair::{RepairOutcome, UnchangeableKind};
use serde::Serialize;

use crate::{behaviour::Behaviour, proofs::Proofs};

/// The version of the schema.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    schema_version: u32,
    patches: Vec<Patch<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<&'a Behaviour>,
    proofs: Option<&'a Proofs>,
    stats: Stats<'a>,
}

#[derive(Serialize)]
struct Patch<'a> {
    rank: usize,
    file: String,
    line: u32,
    function: &'a str,
    transformation: &'static str,
    cost: u32,
    class: usize,
    class_size: usize,
    representative: bool,
    code_differs: bool,
    /// What the compiler's sanitizers say against it.
    undefined_behaviour: Option<&'a str>,
    distinct_in_class: usize,
    diff: String,
}

#[derive(Serialize)]
struct TwoPlaces {
    searches: usize,
    executions: u64,
    pairs: usize,
}

#[derive(Serialize)]
struct Stats<'a> {
    failing_tests: usize,
    passing_tests: usize,
    flaky_tests: usize,
    functions: usize,
    locations: usize,
    locations_reached_by_failing_tests: usize,
    less_suspicious: LessSuspicious,
    refused_functions: &'a BTreeMap<String, usize>,
    refused_changes: &'a BTreeMap<&'static str, usize>,
    compiled_in_ways_that_disagree: usize,
    unchangeable: Vec<Unchangeable<'a>>,
    candidates: u64,
    explored: u64,
    undefined: u64,
    left_out: u64,
    executions: u64,
    /// Of these, what was known from an earlier run.
    resumed: u64,
    /// Of these, what was forked from a program that had been started before.
    forked: u64,
    classes: u64,
    plausible: u64,
    plausible_classes: usize,
    evaluations: u64,
    complete_cost: Option<u32>,
    /// Missing if changes of two places were not sought.
    #[serde(skip_serializing_if = "Option::is_none")]
    two_places: Option<TwoPlaces>,
    out_of_time: bool,
    /// What was being done when the time was up before the search had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_in: Option<&'static str>,
    /// Plausible classes that were not verified for want of time.
    unverified_classes: usize,
    /// Patches that were not looked at for undefined behaviour for want of time.
    unscrutinized_patches: usize,
    stopped_early: bool,
    interrupted: bool,
    duplicates_by_compiler: usize,
    rejected_by_verification: &'a [String],
    /// Patches that pass every test and have undefined behaviour; reported if there are no others.
    undefined_by_sanitizers: usize,
    peak_memory_bytes: u64,
    milliseconds: Milliseconds,
}

/// What no schema changes.
#[derive(Serialize)]
struct Unchangeable<'a> {
    kind: &'static str,
    /// Why a function can hold no location.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    count: usize,
    first_places: &'a [String],
}

impl<'a> Unchangeable<'a> {
    fn of(one: &'a patchwright_repair::Unchangeable) -> Self {
        let (kind, reason) = match &one.kind {
            UnchangeableKind::CaseLabel => ("case_label", None),
            UnchangeableKind::StaticInitializer => ("static_initializer", None),
            UnchangeableKind::StringLiteral => ("string_literal", None),
            UnchangeableKind::MacroBody => ("macro_body", None),
            UnchangeableKind::BitField => ("bit_field", None),
            UnchangeableKind::HeaderFunction => ("header_function", None),
            UnchangeableKind::RefusedFunction(reason) => ("refused_function", Some(&**reason)),
        };
        Unchangeable {
            kind,
            reason,
            count: one.count,
            first_places: &one.places,
        }
    }
}

/// What was left out because other locations are more suspicious.
#[derive(Serialize)]
struct LessSuspicious {
    locations_left_out: usize,
    of_locations: usize,
    statements_left_out: usize,
    of_statements: usize,
}

#[derive(Serialize)]
struct Milliseconds {
    copy: f64,
    build: f64,
    baseline: f64,
    localize: f64,
    read: f64,
    weave: f64,
    search: f64,
    verify: f64,
}

/// The outcome as JSON text, with a newline at the end.
pub fn repair(
    outcome: &RepairOutcome,
    behaviour: Option<&Behaviour>,
    proofs: Option<&Proofs>,
) -> String {
    let stats = &outcome.stats;
    let milliseconds = |duration: std::time::Duration| duration.as_secs_f64() * 1000.0;
    let phases = &stats.phases;
    let report = Report {
        schema: "patchwright-repair",
        schema_version: SCHEMA_VERSION,
        patches: outcome
            .patches
            .iter()
            .enumerate()
            .map(|(i, patch)| Patch {
                rank: i + 1,
                file: patch.file.to_string_lossy().into_owned(),
                line: patch.line,
                function: &patch.function,
                transformation: patch.schema,
                cost: patch.cost,
                class: patch.class,
                class_size: patch.class_size,
                representative: patch.representative,
                code_differs: patch.code_differs,
                undefined_behaviour: patch.undefined.as_deref(),
                distinct_in_class: patch.distinct,
                diff: String::from_utf8_lossy(&patch.diff).into_owned(),
            })
            .collect(),
        behaviour,
        proofs,
        stats: Stats {
            failing_tests: stats.tests.0,
            passing_tests: stats.tests.1,
            flaky_tests: stats.tests.2,
            functions: stats.functions,
            locations: stats.locations,
            locations_reached_by_failing_tests: stats.reached,
            less_suspicious: LessSuspicious {
                locations_left_out: stats.left_out.locations,
                of_locations: stats.left_out.of_locations,
                statements_left_out: stats.left_out.statements,
                of_statements: stats.left_out.of_statements,
            },
            refused_functions: &stats.refused,
            refused_changes: &stats.refused_changes,
            compiled_in_ways_that_disagree: stats.disagreements,
            unchangeable: stats.unchangeable.iter().map(Unchangeable::of).collect(),
            candidates: stats.candidates,
            explored: stats.explored,
            undefined: stats.undefined,
            left_out: stats.too_many_states,
            executions: stats.executions,
            resumed: stats.resumed,
            forked: stats.forked,
            classes: stats.classes,
            plausible: stats.plausible,
            plausible_classes: stats.plausible_classes,
            evaluations: stats.evaluations,
            complete_cost: stats.complete_cost,
            two_places: stats.two_places.map(|two| TwoPlaces {
                searches: two.searches,
                executions: two.executions,
                pairs: two.pairs,
            }),
            out_of_time: stats.out_of_time,
            ended_in: stats.ended_in,
            unverified_classes: stats.unverified,
            unscrutinized_patches: stats.unscrutinized,
            stopped_early: stats.stopped_early,
            interrupted: stats.interrupted,
            duplicates_by_compiler: stats.duplicates,
            rejected_by_verification: &stats.rejected,
            undefined_by_sanitizers: stats.undefined_by_sanitizers,
            peak_memory_bytes: stats.peak_memory,
            milliseconds: Milliseconds {
                copy: milliseconds(phases.copy),
                build: milliseconds(phases.build),
                baseline: milliseconds(phases.baseline),
                localize: milliseconds(phases.localize),
                read: milliseconds(phases.read),
                weave: milliseconds(phases.weave),
                search: milliseconds(phases.search),
                verify: milliseconds(phases.verify),
            },
        },
    };
    // Strings and numbers only: this cannot fail.
    let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
    text.push('\n');
    text
}
