//! The JSON report of `patchwright repair`.

use std::collections::BTreeMap;

use patchwright_repair::{RepairOutcome, UnchangeableKind};
use serde::Serialize;

use crate::{behaviour::Behaviour, proofs::Proofs};

/// The version of `repair --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The verified patches, the best first.
    patches: Vec<Patch<'a>>,
    /// What they change, with `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<&'a Behaviour>,
    /// What is proved of them, with `--prove`.
    proofs: Option<&'a Proofs>,
    /// What the run did, in numbers.
    stats: Stats<'a>,
}

#[derive(Serialize)]
struct Patch<'a> {
    /// Its place, from 1.
    rank: usize,
    /// The file that it changes, relative to the project's root.
    file: String,
    /// The line on which the changed location begins.
    line: u32,
    /// The function; empty if the change lies outside of functions.
    function: &'a str,
    /// The kind of change, as `--schemas` names it.
    transformation: &'static str,
    /// The name of the kind of change, if `patchwright kinds` lists it.
    kind: Option<&'a str>,
    /// Its cost.
    cost: u32,
    /// The number of its test-equivalence class, from 1.
    class: usize,
    /// How many candidates of its cost its class has.
    class_size: usize,
    /// Whether it is the first of its class.
    representative: bool,
    /// Whether its machine code differs from that of each earlier patch.
    code_differs: bool,
    /// What the compiler's sanitizers say against it.
    undefined_behaviour: Option<&'a str>,
    /// With `--all`: how many of the first candidates of its class compile to different code; else 0.
    distinct_in_class: usize,
    /// Its id as a proposal, if `--propose` proposed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<&'a str>,
    /// A unified diff that `patch -p1` takes.
    diff: String,
}

#[derive(Serialize)]
struct ProposalsOf {
    /// Proposals that were built.
    tried: usize,
    /// Of these, those that pass all tests.
    passed: usize,
}

#[derive(Serialize)]
struct TwoPlaces {
    /// Searches for changes of one place, each with one of the failing tests.
    searches: usize,
    /// Executions of tests by these searches.
    executions: u64,
    /// Pairs of changes that were built and tested.
    pairs: usize,
}

#[derive(Serialize)]
struct Stats<'a> {
    /// Tests that fail on the untouched program.
    failing_tests: usize,
    /// Tests that pass on it.
    passing_tests: usize,
    /// Tests that passed once and failed once; they are set aside.
    flaky_tests: usize,
    /// Functions with locations.
    functions: usize,
    /// Locations in the selected part of the program, as far as it was read.
    locations: usize,
    /// Those of them that all failing tests visit, and that were looked at.
    locations_reached_by_failing_tests: usize,
    /// What was not looked at because it is less suspicious.
    less_suspicious: LessSuspicious,
    /// Functions without locations, by reason.
    refused_functions: &'a BTreeMap<String, usize>,
    /// Changes of calls, declarations and statements that are not tried, by reason.
    refused_changes: &'a BTreeMap<String, usize>,
    /// Expressions and statements that differ between the ways a source is compiled.
    compiled_in_ways_that_disagree: usize,
    /// What no kind of change covers in the functions that were searched.
    unchangeable: Vec<Unchangeable<'a>>,
    /// Candidates whose cost was reached.
    candidates: u64,
    /// Candidates whose verdict is known.
    explored: u64,
    /// Candidates with undefined behaviour in some test.
    undefined: u64,
    /// Candidates without a verdict, because their location had too many states.
    left_out: u64,
    /// Candidates that were ended because they took too much processor time.
    ran_out: u64,
    /// Executions that were repeated with more processor time.
    given_longer: u64,
    /// Executions of tests by the search.
    executions: u64,
    /// Of these, known from an earlier run.
    resumed: u64,
    /// Of these, forked from a running program.
    forked: u64,
    /// Test-equivalence classes that executions have told apart.
    classes: u64,
    /// Candidates that pass all tests.
    plausible: u64,
    /// Their classes.
    plausible_classes: usize,
    /// Terms evaluated in states of executions.
    evaluations: u64,
    /// The cost up to which everything was explored.
    complete_cost: Option<u32>,
    /// Missing if no program proposed patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposals: Option<ProposalsOf>,
    /// Missing if changes of two places were not sought.
    #[serde(skip_serializing_if = "Option::is_none")]
    two_places: Option<TwoPlaces>,
    /// Whether the time ran out.
    out_of_time: bool,
    /// The phase in which the time ran out, if the search had not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_in: Option<&'static str>,
    /// Plausible classes that were not verified, because time ran out.
    unverified_classes: usize,
    /// Patches that were not checked for undefined behaviour, because time ran out.
    unscrutinized_patches: usize,
    /// Whether the search ended because patches had been found.
    stopped_early: bool,
    /// Whether the run was interrupted.
    interrupted: bool,
    /// Plausible candidates with the machine code of another patch or of the untouched program.
    duplicates_by_compiler: usize,
    /// Candidates that a class promised and the final verification rejected, in words.
    rejected_by_verification: &'a [String],
    /// Patches that pass every test and have undefined behaviour; reported if there are no others.
    undefined_by_sanitizers: usize,
    /// Most memory that Patchwright itself had resident.
    peak_memory_bytes: u64,
    /// The time, phase by phase.
    milliseconds: Milliseconds,
}

/// What no schema changes.
#[derive(Serialize)]
struct Unchangeable<'a> {
    /// What it is.
    kind: &'static str,
    /// Why a function can hold no location.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// How many there are.
    count: usize,
    /// Where the first of them are: file and line.
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
    /// Locations that all failing tests visit and that were not looked at.
    locations_left_out: usize,
    /// Of how many.
    of_locations: usize,
    /// Statements that all failing tests execute in which no location was looked for.
    statements_left_out: usize,
    /// Of how many.
    of_statements: usize,
}

#[derive(Serialize)]
struct Milliseconds {
    /// Copying the project.
    copy: f64,
    /// Building the untouched program.
    build: f64,
    /// Running its tests.
    baseline: f64,
    /// Finding what tests execute.
    localize: f64,
    /// Reading the sources.
    read: f64,
    /// Weaving, building and finding which tests visit what.
    weave: f64,
    /// The search.
    search: f64,
    /// The final verification.
    verify: f64,
}

/// Returns the outcome of a repair as JSON with a newline at the end.
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
                kind: patch.kind.as_deref(),
                cost: patch.cost,
                class: patch.class,
                class_size: patch.class_size,
                representative: patch.representative,
                code_differs: patch.code_differs,
                undefined_behaviour: patch.undefined.as_deref(),
                distinct_in_class: patch.distinct,
                proposal: patch.proposal.as_deref(),
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
            ran_out: stats.ran_out,
            given_longer: stats.given_longer,
            executions: stats.executions,
            resumed: stats.resumed,
            forked: stats.forked,
            classes: stats.classes,
            plausible: stats.plausible,
            plausible_classes: stats.plausible_classes,
            evaluations: stats.evaluations,
            complete_cost: stats.complete_cost,
            proposals: stats
                .proposals
                .map(|(tried, passed)| ProposalsOf { tried, passed }),
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
