//! `validate --shard` and `patchwright merge`: a set of patches on several machines.

use std::path::PathBuf;

use clap::Args;
use patchwright_exec::{FileError, Project, files};
use patchwright_report::{page, text::Style, validation};
use patchwright_validate::{
    PatchSet, ValidateOptions, Validation,
    shard::{self, MergeError, Merged, PartResult, Shard, merge, options_of_part},
};

use crate::Exit;

/// Which part of a set is validated.
#[derive(Args, Clone, Debug)]
pub struct ShardArgs {
    /// Validate only part K of N of the patches, and write the result to a file for `patchwright merge`; tests run in their own order
    #[arg(
        long,
        value_name = "K/N",
        conflicts_with_all = ["serve", "stop_after", "compare", "ask", "answers"],
        help_heading = "Several machines"
    )]
    pub shard: Option<Shard>,

    /// Write the result of the part to this file [default: patchwright-K-of-N.json]
    #[arg(
        long,
        value_name = "FILE",
        requires = "shard",
        help_heading = "Several machines"
    )]
    pub shard_result: Option<PathBuf>,
}

/// A part that is validated.
pub struct Part {
    shard: Shard,
    key: String,
    total: usize,
    numbers: Vec<usize>,
    file: PathBuf,
}

/// Leaves those patches of a set that belong to the part, if one is asked for.
///
/// # Errors
/// A project that cannot be read, or a file that cannot be written.
pub fn part(
    args: &ShardArgs,
    project: &Project,
    set: &mut PatchSet,
    options: &mut ValidateOptions,
) -> Result<Option<Part>, FileError> {
    let Some(shard) = args.shard else {
        return Ok(None);
    };
    options_of_part(options);
    let file = args
        .shard_result
        .clone()
        .unwrap_or_else(|| format!("patchwright-{}-of-{}.json", shard.number, shard.of).into());
    // Now, not after the work.
    files::write_atomic(&file, b"")?;
    let (own, numbers) = shard::part(set, shard);
    let part = Part {
        shard,
        key: shard::key(project, set, options)?,
        total: set.entries.len(),
        numbers,
        file,
    };
    *set = own;
    Ok(Some(part))
}

impl Part {
    /// Writes the result of the part to its file, for `patchwright merge`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, outcome: &Validation) -> Result<(), FileError> {
        let result = PartResult::new(
            self.key.clone(),
            self.shard,
            self.total,
            &self.numbers,
            outcome,
        );
        files::write_atomic(&self.file, result.to_json().as_bytes())
    }
}

/// Flags of `patchwright merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The files that `validate --shard` has written
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub parts: Vec<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// Also write a page with the verdicts, and the patches and tests as a heat map
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Also print where the time went, and why patches could not be woven
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
}

/// Runs `patchwright merge`: puts the results of `validate --shard` together and prints them as one report. Returns the exit status.
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
    let mut parts = Vec::new();
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
        parts.push(
            PartResult::from_json(&text).map_err(|message| Problem::Part {
                file: file.clone(),
                message,
            })?,
        );
    }
    let Merged {
        validation,
        missing,
        repeated,
    } = merge(parts)?;
    if let Some(file) = &args.junit {
        files::write_atomic(file, validation::junit(&validation, false).as_bytes())?;
    }
    if let Some(file) = &args.html {
        files::write_atomic(file, page::validate(&validation).as_bytes())?;
    }
    if args.json {
        print!("{}", validation::json(&validation, None));
    } else {
        let colour = crate::shown::colour();
        print!("{}", validation::table(&validation, Style { colour }));
        if args.stats {
            print!("{}", validation::stats(&validation.stats));
        }
    }
    if repeated > 0 {
        eprintln!("patchwright: {repeated} parts were run more than once; each counts once");
    }
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(Shard::to_string).collect();
        eprintln!(
            "patchwright: parts are missing or were interrupted: {}; run them, and merge again",
            names.join(", ")
        );
        return Ok(Exit::Interrupted);
    }
    Ok(match validation.plausible() {
        0 => Exit::Nothing,
        _ => Exit::Found,
    })
}
