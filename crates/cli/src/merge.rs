//! `patchwright merge`: puts together what `--shard` has found out on several machines.

use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_exec::{
    FileError, Shard, files,
    shard::{GatherError, Gathered, Part, command_of_part, gather},
};
use patchwright_mutants::{MutantsOutcome, shard as mutants};
use patchwright_repair::shard::{self as repairs, DifferentTests};
use patchwright_report::{findings::Findings, json, page, proof, text, text::Style, validation};
use patchwright_validate::{
    Validation,
    shard::{MergeError, Merged, PartResult, merge},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{Exit, ci::CiArgs, compare::parts as comparisons};

/// Flags of `patchwright merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The files that --shard has written
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub parts: Vec<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also write the HTML page of the command whose parts these are
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Where editors and pipelines read.
    #[command(flatten)]
    pub ci: CiArgs,

    /// Also print the numbers of all parts together
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
}

/// Why parts cannot be merged.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {message}", file.display())]
    Part { file: PathBuf, message: String },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Gather(#[from] GatherError),
    #[error(transparent)]
    Tests(#[from] DifferentTests),
    #[error(transparent)]
    Mutants(#[from] mutants::DifferentTests),
    #[error("{first} is of `{one}`, and {second} of `{other}`: merge the parts of one command", first = first.display(), second = second.display())]
    Commands {
        first: PathBuf,
        one: &'static str,
        second: PathBuf,
        other: &'static str,
    },
    #[error("parts of `{command}` have no {output}; leave the flag out")]
    NoOutput {
        command: &'static str,
        output: &'static str,
    },
}

/// The commands that do their work in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Validate,
    Mutants,
    Repair,
    Prove,
    Compare,
}

impl Command {
    const ALL: [Command; 5] = [
        Command::Validate,
        Command::Mutants,
        Command::Repair,
        Command::Prove,
        Command::Compare,
    ];

    fn name(self) -> &'static str {
        match self {
            Command::Validate => "validate",
            Command::Mutants => "mutants",
            Command::Repair => "repair",
            Command::Prove => "prove",
            Command::Compare => "compare",
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Command::Validate => patchwright_validate::shard::SCHEMA,
            Command::Mutants => mutants::SCHEMA,
            Command::Repair => repairs::SCHEMA,
            Command::Prove => proof::PART_SCHEMA,
            Command::Compare => comparisons::SCHEMA,
        }
    }
}

/// What all files begin with.
#[derive(Clone, Deserialize)]
struct Head {
    schema: String,
    shard: Option<Shard>,
    #[serde(default)]
    command: Vec<String>,
}

/// A part that is there, and the words of the command that made it.
type Made = (Shard, Vec<String>);

/// A file with its text.
type Text = (PathBuf, Vec<u8>);

/// Runs `patchwright merge`.
pub fn run(args: &MergeArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(error) => {
            eprintln!("patchwright: error: {error}");
            Exit::BadInput
        }
    }
}

fn try_run(args: &MergeArgs) -> Result<Exit, Problem> {
    let mut texts: Vec<Text> = Vec::new();
    let mut command: Option<(&Path, Command)> = None;
    let mut made: Option<Made> = None;
    for file in &args.parts {
        let text = files::read(file)?;
        if text.is_empty() {
            // As the run made it that has not got to its end.
            eprintln!(
                "patchwright: warning: {} is empty: its part was not finished",
                file.display()
            );
            continue;
        }
        let (own, head) = command_of(&text).map_err(|message| Problem::Part {
            file: file.clone(),
            message,
        })?;
        made = made.or(head.shard.map(|shard| (shard, head.command)));
        match command {
            Some((first, one)) if one != own => {
                return Err(Problem::Commands {
                    first: first.to_path_buf(),
                    one: one.name(),
                    second: file.clone(),
                    other: own.name(),
                });
            }
            _ => command = Some((file, own)),
        }
        texts.push((file.clone(), text));
    }
    let (_, command) = command.ok_or(GatherError::Nothing)?;
    let without = |is_wanted: bool, output| match is_wanted {
        true => Err(Problem::NoOutput {
            command: command.name(),
            output,
        }),
        false => Ok(()),
    };
    let (sarif, github) = (args.ci.sarif.is_some(), args.ci.github);
    match command {
        Command::Validate => {
            without(sarif, "SARIF")?;
            without(github, "annotations")?;
            validations(args, texts, made.as_ref())
        }
        Command::Mutants => {
            without(sarif, "SARIF")?;
            without(github, "annotations")?;
            of_mutation(args, texts, made.as_ref())
        }
        Command::Repair => repair(args, texts, made.as_ref()),
        Command::Prove => prove(args, texts, made.as_ref()),
        Command::Compare => {
            without(sarif, "SARIF")?;
            without(github, "annotations")?;
            without(args.ci.junit.is_some(), "JUnit XML")?;
            without(args.html.is_some(), "page")?;
            compare(args, texts, made.as_ref())
        }
    }
}

/// Whose part a file is.
fn command_of(text: &[u8]) -> Result<(Command, Head), String> {
    let head: Head = serde_json::from_slice(text)
        .map_err(|error| format!("it is no result of --shard: {error}"))?;
    let mut known = Command::ALL.into_iter();
    let command = known.find(|command| command.schema() == head.schema);
    command
        .map(|command| (command, head.clone()))
        .ok_or_else(|| format!("it is no result of --shard: its schema is {}", head.schema))
}

fn read<T>(texts: Vec<Text>, read: impl Fn(&[u8]) -> Result<T, String>) -> Result<Vec<T>, Problem> {
    let read = |(file, text): Text| read(&text).map_err(|message| Problem::Part { file, message });
    texts.into_iter().map(read).collect()
}

/// Each part once.
fn gathered<T: DeserializeOwned>(
    texts: Vec<Text>,
    command: Command,
    version: u32,
) -> Result<Gathered<T>, Problem> {
    let parts = read(texts, |text| {
        Part::from_json(text, command.schema(), version)
    })?;
    Ok(gather(parts)?)
}

/// Tells what is not as it should be; how to end if something is missing.
fn told(missing: &[Shard], repeated: usize, made: Option<&Made>) -> Option<Exit> {
    if repeated > 0 {
        let (parts, count) = match repeated {
            1 => ("part that was", "counts"),
            _ => ("parts that were", "count"),
        };
        eprintln!("patchwright: {repeated} {parts} run more than once {count} once");
    }
    let first = *missing.first()?;
    let names: Vec<String> = missing.iter().map(Shard::to_string).collect();
    let (parts, are) = match missing.len() {
        1 => ("part", "is"),
        _ => ("parts", "are"),
    };
    let command = match made {
        Some((made, command)) if !command.is_empty() => {
            format!("`{}`", command_of_part(command, *made, first))
        }
        _ => format!("the command of the other parts with `--shard {first}`"),
    };
    let each = if missing.len() > 1 {
        " and its like"
    } else {
        ""
    };
    eprintln!(
        "patchwright: {parts} {} {are} missing or unfinished; run {command}{each}, and merge again",
        names.join(", ")
    );
    Some(Exit::Interrupted)
}

fn style() -> Style {
    Style {
        colour: crate::shown::colour(),
    }
}

fn validations(args: &MergeArgs, texts: Vec<Text>, made: Option<&Made>) -> Result<Exit, Problem> {
    let Merged {
        validation,
        missing,
        repeated,
    } = merge(read(texts, PartResult::from_json)?)?;
    if let Some(file) = &args.ci.junit {
        files::write_atomic(file, validation::junit(&validation, false).as_bytes())?;
    }
    if let Some(file) = &args.html {
        files::write_atomic(file, page::validate(&validation).as_bytes())?;
    }
    if args.json {
        print!("{}", validation::json(&validation, None));
    } else {
        // What is missing is told below; nothing was interrupted here.
        let finished = Validation {
            interrupted: false,
            ..validation.clone()
        };
        print!("{}", validation::table(&finished, style()));
        if args.stats {
            print!("{}", validation::stats(&validation.stats));
        }
    }
    Ok(
        match (told(&missing, repeated, made), validation.plausible()) {
            (Some(exit), _) => exit,
            (None, 0) => Exit::Nothing,
            (None, _) => Exit::Found,
        },
    )
}

fn of_mutation(args: &MergeArgs, texts: Vec<Text>, made: Option<&Made>) -> Result<Exit, Problem> {
    let gathered: Gathered<MutantsOutcome> = gathered(texts, Command::Mutants, mutants::VERSION)?;
    let mut outcome = mutants::merge(gathered.parts)?;
    outcome.interrupted |= !gathered.missing.is_empty();
    let (html, junit) = (args.html.as_deref(), args.ci.junit.as_deref());
    crate::mutants::write(&outcome, html, junit, args.json)?;
    let late = told(&gathered.missing, gathered.repeated, made);
    Ok(late.unwrap_or_else(|| crate::mutants::exit(&outcome)))
}

fn repair(args: &MergeArgs, texts: Vec<Text>, made: Option<&Made>) -> Result<Exit, Problem> {
    let gathered: Gathered<repairs::Found> = gathered(texts, Command::Repair, repairs::VERSION)?;
    let mut outcome = repairs::merge(gathered.parts)?;
    outcome.stats.interrupted |= !gathered.missing.is_empty();
    if let Some(file) = &args.html {
        files::write_atomic(file, page::repair(&outcome, None).as_bytes())?;
    }
    args.ci
        .write(".".as_ref(), || Findings::of_repair(&outcome))?;
    if args.json {
        print!("{}", json::repair(&outcome, None, None));
    } else {
        for (at, patch) in outcome.patches.iter().enumerate() {
            print!("{}", text::patch(at + 1, patch, style()));
        }
        print!("{}", text::summary(&outcome));
        if args.stats {
            print!("\n{}", text::stats(&outcome.stats));
        }
    }
    let has_found = !outcome.patches.is_empty();
    Ok(
        match (told(&gathered.missing, gathered.repeated, made), has_found) {
            (Some(exit), _) => exit,
            (None, true) => Exit::Found,
            (None, false) => Exit::Nothing,
        },
    )
}

fn prove(args: &MergeArgs, texts: Vec<Text>, made: Option<&Made>) -> Result<Exit, Problem> {
    let Gathered {
        parts,
        missing,
        repeated,
    } = gathered::<proof::Report>(texts, Command::Prove, proof::PART_VERSION)?;
    let report = proof::Report::merged(parts, missing.is_empty());
    let mut report = report.ok_or(GatherError::Nothing)?;
    if !args.stats {
        report.stats = None;
    }
    if let Some(file) = &args.html {
        files::write_atomic(file, page::prove(&report).as_bytes())?;
    }
    args.ci
        .write(".".as_ref(), || Findings::of_proof(&report))?;
    if args.json {
        print!("{}", report.json());
    } else {
        print!("{}", report.verdict(style()));
        if args.stats {
            print!("{}", report.stats());
        }
    }
    let late = told(&missing, repeated, made);
    Ok(match (report.verdict, late) {
        // What fails, fails, whatever the others say.
        (proof::Verdict::Failed, _) => Exit::Nothing,
        (_, Some(exit)) => exit,
        (proof::Verdict::Proved, None) => Exit::Found,
        (proof::Verdict::Void, None) => Exit::BadInput,
        (proof::Verdict::Interrupted, None) => Exit::Interrupted,
        (_, None) => Exit::Undecided,
    })
}

fn compare(args: &MergeArgs, texts: Vec<Text>, made: Option<&Made>) -> Result<Exit, Problem> {
    let Gathered {
        parts,
        missing,
        repeated,
    } = gathered::<comparisons::Found>(texts, Command::Compare, comparisons::VERSION)?;
    let merged = comparisons::merge(parts);
    match args.json {
        true => print!("{}", merged.json),
        false => print!("{}", merged.text),
    }
    for warning in &merged.warnings {
        eprintln!("patchwright: warning: {warning}");
    }
    Ok(told(&missing, repeated, made).unwrap_or(merged.exit))
}
