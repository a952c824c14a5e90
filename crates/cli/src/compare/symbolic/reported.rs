//! Says what was found in the words of the report.

use std::collections::BTreeSet;

use patchwright_compare::{Explored, Partition, Seen, Share, Side, Verdict};
use patchwright_prove::{Given, arguments, shown_inputs, standard_input};
use patchwright_report::comparison::{self, Comparison};
use patchwright_symbolic::{Check, InputKind, Place};

use super::super::{
    arguments::CompareArgs,
    replay::{self, Harnesses, Replay},
};
use super::{Answer, Job, Whole, watch};
use crate::encoded::Problem;

/// Makes a report that says nothing yet.
pub fn empty(args: &CompareArgs, old: &str, new: &str) -> Comparison {
    Comparison {
        schema: comparison::SCHEMA,
        schema_version: comparison::SCHEMA_VERSION,
        old: old.to_owned(),
        new: new.to_owned(),
        function: args.function.clone(),
        none_ends: false,
        verdict: "same-code".to_owned(),
        bound: args.rounds(),
        arguments: None,
        differences_complete: true,
        more_differ: false,
        covers_everything: true,
        covered: None,
        strategy: args.strategy.name().to_owned(),
        partitions_made: 0,
        solver_calls: 0,
        ended_early: false,
        partitions: Vec::new(),
        seen: Vec::new(),
        executions: None,
        interactions: None,
        golden: None,
        inputs: Vec::new(),
        assumed: Vec::new(),
        reasons: Vec::new(),
        notes: Vec::new(),
        seconds: Vec::new(),
    }
}

impl Job<'_> {
    /// Converts reasons for the report, with places as the user names the files.
    pub(super) fn told(&self, reasons: &[patchwright_compare::Reason]) -> Vec<comparison::Reason> {
        let told = reasons.iter().map(|reason| comparison::Reason {
            text: reason.text.clone(),
            place: reason.place.as_ref().map(|place| self.place(place)),
        });
        told.collect()
    }

    /// Describes what was explored, and executes the samples. Returns what is wrong about the samples: a bug of Patchwright.
    pub(super) fn described(
        &mut self,
        whole: &mut Whole,
        checks: BTreeSet<Check>,
    ) -> Result<Option<String>, Problem> {
        let Whole {
            report,
            answer,
            explored,
            ..
        } = whole;
        let Answer::Symbolic(verdict) = answer else {
            return Ok(None);
        };
        verdict.code().clone_into(&mut report.verdict);
        report.none_ends = *verdict == Verdict::NoneEnds;
        report.differences_complete = explored.differences_complete;
        report.more_differ = explored.more_differ;
        report.partitions_made = explored.made;
        report.solver_calls = explored.calls;
        report.covers_everything = explored.covered;
        let bug = self.partitions(report, explored, checks)?;
        let is_confirmed = |one: &comparison::Partition| one.kind != "equal" && !one.undetermined;
        if *verdict == Verdict::Different && !report.partitions.iter().any(is_confirmed) {
            *verdict = Verdict::Unknown;
            verdict.code().clone_into(&mut report.verdict);
            report.reasons.push(comparison::Reason {
                text: "values are printed in different ways, and the text may be the same"
                    .to_owned(),
                place: None,
            });
        }
        Ok(bug)
    }

    /// Returns `FILE:LINE`, with the file as the user has named it.
    pub(super) fn place(&self, place: &Place) -> String {
        let own = self
            .versions
            .both
            .iter()
            .find(|version| version.source().path == place.file);
        let file = own.map_or(place.file.as_str(), |version| version.shown.as_str());
        format!("{file}:{}", place.line)
    }

    /// Describes the partitions, and executes their samples. What is wrong about these, if anything is.
    pub(super) fn partitions(
        &mut self,
        report: &mut Comparison,
        explored: &Explored,
        checks: BTreeSet<Check>,
    ) -> Result<Option<String>, Problem> {
        let watch = watch(&self.versions, self.args.function.clone(), checks);
        let mut bug = None;
        let harnesses = Harnesses::of(&mut self.versions, &watch, &explored.partitions)?;
        for (at, partition) in explored.partitions.iter().enumerate() {
            let number = at + 1;
            let ([old, new], answer) =
                replay::replay(&mut self.versions, &watch, &harnesses, at, partition)?;
            let mut shown = self.partition(number, partition);
            shown.old.observed = old;
            shown.new.observed = new;
            shown.replay = match answer {
                Replay::Agrees => "agrees".to_owned(),
                Replay::Untold(reason) => reason,
                Replay::SameText => {
                    shown.undetermined = true;
                    "the text that is printed is the same for the sample".to_owned()
                }
                Replay::Differs(message) => {
                    let told = format!("it differs: {message}");
                    bug = bug.or(Some(message));
                    told
                }
            };
            report.partitions.push(shown);
        }
        Ok(bug)
    }

    /// Converts a partition for the report. `number` counts from 1.
    pub(super) fn partition(&self, number: usize, partition: &Partition) -> comparison::Partition {
        let side = |side: Side| {
            let index = usize::from(side == Side::New);
            let behaviour = &partition.behaviours[index];
            let version = &self.versions.both[index];
            let executed = |line: &&u32| {
                let path = &version.source().path;
                behaviour
                    .lines
                    .iter()
                    .any(|(file, own)| file == path && own == *line)
            };
            comparison::Side {
                failure: behaviour
                    .failure
                    .as_ref()
                    .map(|(message, place)| format!("{message} ({})", self.place(place))),
                formulas: behaviour.formulas.clone(),
                observed: None,
                changed_lines: version.changed.iter().filter(executed).copied().collect(),
            }
        };
        let differs = partition.seen.iter().map(|seen| match seen {
            Seen::Result if self.args.function.is_none() => "the exit status".to_owned(),
            Seen::Result => "the result".to_owned(),
            Seen::ResultType => "the type of the result".to_owned(),
            Seen::Object(name) => format!("what `{name}` holds"),
            Seen::Output => "the output".to_owned(),
            Seen::ErrorOutput => "the output to standard error".to_owned(),
            Seen::Exit => "whether it exits".to_owned(),
            Seen::Ending => "whether it ends".to_owned(),
            Seen::Failure => "the failure".to_owned(),
        });
        comparison::Partition {
            number,
            kind: partition.kind.code().to_owned(),
            differs: differs.collect(),
            condition: partition.condition.clone(),
            sample: sample(&partition.samples),
            old: side(Side::Old),
            new: side(Side::New),
            replay: String::new(),
            undetermined: partition.is_undetermined,
        }
    }
}

/// Converts the covered share of inputs for the report.
pub(super) fn share(share: Share) -> comparison::Covered {
    match share {
        Share::Exact(share) => comparison::Covered {
            from: share,
            to: share,
            exact: true,
            by_paths: false,
        },
        Share::Between(from, to) => comparison::Covered {
            from,
            to,
            exact: false,
            by_paths: false,
        },
    }
}

/// Returns the inputs of a sample that a person can give: arguments, standard input, values.
pub fn sample(samples: &[Vec<Given>; 2]) -> Vec<(String, String)> {
    let mut all: Vec<&Given> = Vec::new();
    for given in samples.iter().flatten() {
        let is_argument = matches!(
            given.kind,
            InputKind::Argument(_)
                | InputKind::Null
                | InputKind::Same { .. }
                | InputKind::Distance { .. }
                | InputKind::Before { .. }
        );
        if !given.consumed && !is_argument || matches!(given.kind, InputKind::Unwritten(_)) {
            continue;
        }
        if !all.iter().any(|other| other.name == given.name) {
            all.push(given);
        }
    }
    let reads = all.iter().any(|given| {
        matches!(
            given.kind,
            InputKind::Scanned { .. } | InputKind::Byte(_) | InputKind::Present | InputKind::Unfit
        )
    });
    let is_value = |given: &&&Given| {
        !matches!(
            given.kind,
            InputKind::Scanned { .. }
                | InputKind::Byte(_)
                | InputKind::Present
                | InputKind::Unfit
                | InputKind::Length
                | InputKind::ArgumentByte(..)
                | InputKind::ArgumentNumber(..)
        )
    };
    let values: Vec<&Given> = all.iter().filter(is_value).copied().collect();
    let mut shown = shown_inputs(&values);
    // The version that reads more tells what there is to read.
    let longest = |of: &dyn Fn(&[Given]) -> Vec<u8>| {
        let texts = samples.iter().map(|inputs| of(inputs));
        texts.max_by_key(Vec::len).unwrap_or_default()
    };
    for (at, word) in arguments(&samples[0]).iter().enumerate() {
        shown.push((
            format!("argv[{}]", at + 1),
            patchwright_report::text::quoted_bytes(word),
        ));
    }
    if reads {
        let text = longest(&standard_input);
        shown.push((
            "standard input".to_owned(),
            patchwright_report::text::quoted_bytes(&text),
        ));
    }
    shown
}
