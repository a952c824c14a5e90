//! `patchwright compare`.

mod read;
mod replay;
mod tests_of;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use patchwright_compare::{
    Explored, Explorer, Extent, Pair, Partition, Seen, Share, Side, Verdict, covered, reasons,
    verdict,
};
use patchwright_exec::{CancelToken, Scratch};
use patchwright_ir::Program;
use patchwright_prove::{Given, arguments, standard_input};
use patchwright_report::{
    comparison::{self, Comparison},
    text::Style,
};
use patchwright_solve::{Budget, Terms};
use patchwright_symbolic::{Check, EncodeError, Encoding, InputKind, Options, Place, encode};

use crate::{
    Exit,
    encoded::{Problem, checks, deep},
    signals,
};
use read::Versions;
use replay::{Replay, Watch};

/// Flags of `patchwright compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The version before the change, a C file
    #[arg(value_name = "OLD")]
    pub old: OsString,

    /// The version after it, a C file
    #[arg(value_name = "NEW")]
    pub new: OsString,

    /// Compare this function, for all arguments, instead of the program
    #[arg(long, value_name = "NAME", help_heading = "What is compared")]
    pub function: Option<String>,

    /// A pointer argument points to so many objects [default: 1]
    #[arg(
        long,
        value_name = "PARAMETER=COUNT",
        help_heading = "What is compared"
    )]
    pub length: Vec<String>,

    /// Undefined behaviour that counts as failing: bounds, null, div, overflow, shift, uninitialized, conversion, leak;
    /// all; none [default: all but leak]
    #[arg(long, value_name = "LIST", help_heading = "What is compared")]
    pub check: Option<String>,

    /// Globals without an initial value in the source hold any value at the start
    #[arg(long, help_heading = "What is compared")]
    pub havoc: bool,

    /// So many arguments of the program, of any content
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help_heading = "What is compared"
    )]
    pub arguments: u32,

    /// Bytes of each argument of the program at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        help_heading = "What is compared"
    )]
    pub longest: u32,

    /// Bytes of standard input at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        help_heading = "What is compared"
    )]
    pub input: u32,

    /// Rounds of each loop, and calls of a function within itself
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub bound: u32,

    /// Seconds; what is known by then is reported
    #[arg(long, value_name = "SECONDS", help_heading = "How far")]
    pub budget: Option<u64>,

    /// Conflicts of one question to the solver at most
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub conflicts: Option<u64>,

    /// Partitions without a difference that are listed at most
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub equal: usize,

    /// Write a test for each partition into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Only tests of partitions that differ
    #[arg(long, requires = "output", help_heading = "Output")]
    pub minimal: bool,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Flags for the compiler
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
}

/// Runs the command.
pub fn run(args: &CompareArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(Problem::Input(message)) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
        Err(Problem::Interrupted) => {
            eprintln!("patchwright: interrupted before anything was known");
            Exit::Interrupted
        }
    }
}

fn try_run(args: &CompareArgs) -> Result<Exit, Problem> {
    let scratch = Scratch::in_default_place().map_err(Problem::of)?;
    let cancel = CancelToken::new().map_err(Problem::of)?;
    signals::cancel_on_signals(cancel.clone(), false);
    let started = Instant::now();
    let versions = read::versions(args, &scratch, cancel.clone())?;
    deep(|| {
        Job {
            args,
            versions,
            cancel: &cancel,
            started,
        }
        .run()
    })
}

struct Job<'a> {
    args: &'a CompareArgs,
    versions: Versions,
    cancel: &'a CancelToken,
    started: Instant,
}

impl Job<'_> {
    fn run(mut self) -> Result<Exit, Problem> {
        let args = self.args;
        // Leaks are no behaviour that callers see.
        let usual = Check::ALL.into_iter().filter(|&check| check != Check::Leak);
        let checks = checks(args.check.as_deref(), usual.collect())?;
        let mut report = Comparison {
            schema: comparison::SCHEMA,
            schema_version: comparison::SCHEMA_VERSION,
            old: self.versions.both[0].shown.clone(),
            new: self.versions.both[1].shown.clone(),
            function: args.function.clone(),
            verdict: "same-code".to_owned(),
            bound: args.bound,
            differences_complete: true,
            covers_everything: true,
            covered: None,
            ended_early: false,
            partitions: Vec::new(),
            reasons: Vec::new(),
            notes: Vec::new(),
            seconds: vec![("read".to_owned(), self.started.elapsed().as_secs_f64())],
        };
        if self.versions.same_code {
            self.print(&report);
            return Ok(Exit::Found);
        }
        let end = args
            .budget
            .map(|seconds| self.started + Duration::from_secs(seconds));
        let cancel = self.cancel;
        let interrupt =
            move || cancel.is_cancelled() || end.is_some_and(|end| Instant::now() >= end);
        let started = Instant::now();
        let mut terms = Terms::new();
        let encoded = self.encoded(&mut terms, Side::Old, &checks, &interrupt)?;
        let encoded = match encoded {
            Some(old) => self
                .encoded(&mut terms, Side::New, &checks, &interrupt)?
                .map(|new| (old, new)),
            None => None,
        };
        let Some((old, new)) = encoded else {
            return self.nothing(report);
        };
        let is_program = args.function.is_none();
        let pair = Pair::new(&mut terms, old, new, is_program, &self.versions.skipped);
        report
            .seconds
            .push(("encode".to_owned(), started.elapsed().as_secs_f64()));
        let started = Instant::now();
        let extent = Extent {
            equal: args.equal,
            conflicts: args.conflicts,
        };
        let explored =
            Explorer::new(&mut terms, &pair, is_program, extent, &interrupt).run(&mut |_| {});
        report.ended_early = interrupt();
        report
            .seconds
            .push(("explore".to_owned(), started.elapsed().as_secs_f64()));
        let budget = Budget {
            conflicts: args.conflicts,
            interrupt: Some(&interrupt),
        };
        let found = reasons(&mut terms, &pair, &budget);
        let answer = verdict(&mut terms, &pair, &explored, &found, &budget);
        report.reasons = found
            .iter()
            .map(|reason| comparison::Reason {
                text: reason.text.clone(),
                place: reason.place.as_ref().map(|place| self.place(place)),
            })
            .collect();
        report.notes = pair.notes();
        report.verdict = answer.code().to_owned();
        report.differences_complete = explored.differences_complete;
        report.covers_everything = explored.covered;
        report.covered = Some(share(covered(&mut terms, &pair, &explored.partitions)));
        let bug = self.partitions(&mut report, &explored, checks)?;
        let is_confirmed = |one: &comparison::Partition| one.kind != "equal" && !one.undetermined;
        let mut answer = answer;
        if answer == Verdict::Different && !report.partitions.iter().any(is_confirmed) {
            answer = Verdict::Unknown;
            answer.code().clone_into(&mut report.verdict);
            report.reasons.push(comparison::Reason {
                text: "values are printed in different ways, and the text may be the same"
                    .to_owned(),
                place: None,
            });
        }
        if let Some(folder) = &args.output {
            tests_of::write(
                &mut self.versions,
                args,
                folder,
                &explored.partitions,
                &report,
            )?;
        }
        self.print(&report);
        if let Some(message) = bug {
            eprintln!(
                "patchwright: this is a bug of Patchwright: executions are not what the report says: {message}; please \
                 report it with both versions"
            );
            return Ok(Exit::Bug);
        }
        Ok(match answer {
            _ if self.cancel.is_cancelled() => Exit::Interrupted,
            Verdict::Different => Exit::Nothing,
            Verdict::Void => Exit::BadInput,
            _ => Exit::Found,
        })
    }

    /// The budget was spent before there was anything to be explored.
    fn nothing(&self, mut report: Comparison) -> Result<Exit, Problem> {
        if self.cancel.is_cancelled() {
            return Err(Problem::Interrupted);
        }
        report.verdict = Verdict::Unfinished.code().to_owned();
        report.differences_complete = false;
        report.covers_everything = false;
        report.ended_early = true;
        self.print(&report);
        Ok(Exit::Found)
    }

    /// One version, encoded; nothing if somebody interrupted.
    fn encoded(
        &self,
        terms: &mut Terms,
        side: Side,
        checks: &BTreeSet<Check>,
        interrupt: &dyn Fn() -> bool,
    ) -> Result<Option<Encoding>, Problem> {
        let version = &self.versions.both[usize::from(side == Side::New)];
        let modules = vec![version.module(), self.versions.library.clone()];
        let program = Program::link(modules).map_err(Problem::of)?;
        let options = Options {
            bound: self.args.bound,
            recursion: self.args.bound,
            checks: checks.clone(),
            havoc: self.args.havoc,
            input: self.args.input,
            prefix: format!("{}.", side.name().to_lowercase()),
            ..Options::default()
        };
        match encode(&program, &version.entry, &options, terms, interrupt) {
            Ok(encoding) => Ok(Some(encoding)),
            Err(EncodeError::Interrupted) => Ok(None),
            Err(other) => Err(Problem::of(other)),
        }
    }

    fn place(&self, place: &Place) -> String {
        let own = self
            .versions
            .both
            .iter()
            .find(|version| version.source().path == place.file);
        let file = own.map_or(place.file.as_str(), |version| version.shown.as_str());
        format!("{file}:{}", place.line)
    }

    /// Describes the partitions, and executes their samples. What is wrong about these, if anything is.
    fn partitions(
        &mut self,
        report: &mut Comparison,
        explored: &Explored,
        checks: BTreeSet<Check>,
    ) -> Result<Option<String>, Problem> {
        let function = self.args.function.clone();
        let result = function
            .as_ref()
            .and_then(|name| replay::result_type(&self.versions, name));
        let watch = Watch {
            globals: replay::globals(&self.versions),
            result,
            function,
            checks,
        };
        let mut bug = None;
        for (number, partition) in (1..).zip(&explored.partitions) {
            let ([old, new], answer) = replay::replay(&mut self.versions, &watch, partition)?;
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

    fn partition(&self, number: usize, partition: &Partition) -> comparison::Partition {
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
            Seen::Object(name) => format!("what `{name}` holds"),
            Seen::Output => "the output".to_owned(),
            Seen::ErrorOutput => "the output to standard error".to_owned(),
            Seen::Exit => "whether it exits".to_owned(),
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

    fn print(&self, report: &Comparison) {
        let colour = crate::shown::colour();
        let text = match self.args.json {
            true => report.json(),
            false => report.text(Style { colour }),
        };
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .unwrap_or_else(|error| panic!("failed printing to stdout: {error}"));
    }
}

fn share(share: Share) -> comparison::Covered {
    match share {
        Share::Exact(share) => comparison::Covered {
            from: share,
            to: share,
            exact: true,
        },
        Share::Between(from, to) => comparison::Covered {
            from,
            to,
            exact: false,
        },
    }
}

/// The inputs of a sample that a person gives: arguments, standard input, values.
fn sample(samples: &[Vec<Given>; 2]) -> Vec<(String, String)> {
    let mut all: Vec<&Given> = Vec::new();
    for given in samples.iter().flatten() {
        let is_argument = matches!(given.kind, InputKind::Argument(_) | InputKind::Null);
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
            InputKind::Scanned { .. } | InputKind::Byte(_) | InputKind::Present
        )
    });
    let is_value = |given: &&&Given| {
        !matches!(
            given.kind,
            InputKind::Scanned { .. }
                | InputKind::Byte(_)
                | InputKind::Present
                | InputKind::Length
                | InputKind::ArgumentByte(..)
        )
    };
    let mut shown: Vec<(String, String)> = all
        .iter()
        .filter(is_value)
        .map(|given| (given.name.clone(), given.text()))
        .collect();
    // The version that reads more tells what there is to read.
    let longest = |of: &dyn Fn(&[Given]) -> Vec<u8>| {
        let texts = samples.iter().map(|inputs| of(inputs));
        texts.max_by_key(Vec::len).unwrap_or_default()
    };
    for (at, word) in arguments(&samples[0]).iter().enumerate() {
        let text = String::from_utf8_lossy(word).into_owned();
        shown.push((format!("argv[{}]", at + 1), format!("{text:?}")));
    }
    if reads {
        let text = longest(&standard_input);
        let text = String::from_utf8_lossy(&text).into_owned();
        shown.push(("standard input".to_owned(), format!("{text:?}")));
    }
    shown
}
