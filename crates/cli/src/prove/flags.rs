//! The flags of `patchwright prove`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;
use patchwright_exec::duration::NoDuration;

use crate::{cached::CacheArgs, inputs::InputArgs, times::duration};

/// Flags of `patchwright prove`.
#[derive(Args, Debug)]
pub struct ProveArgs {
    /// The C files of the program
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub sources: Vec<OsString>,

    /// Prove this function, for all arguments, instead of the program
    #[arg(long, value_name = "NAME", help_heading = "What is proved")]
    pub function: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// Only for arguments that satisfy this C expression over the function's parameters and globals
    #[arg(long, value_name = "EXPRESSION", help_heading = "What is proved")]
    pub assume: Vec<String>,

    /// It does the same as this reference: result, output, and for a function globals and memory behind the arguments
    #[arg(long, value_name = "FILE[:FUNCTION]", help_heading = "What is proved")]
    pub like: Option<String>,

    /// Look for these beside failing assertions: bounds, null, div, overflow, shift, uninitialized,
    /// conversion, leak, termination; all; none [default: bounds,null,div]
    #[arg(long, value_name = "LIST", help_heading = "What is proved")]
    pub check: Option<String>,

    /// Globals without an initial value in the source hold any value at the start
    #[arg(long, help_heading = "What is proved")]
    pub havoc: bool,

    /// Calling `abort` is no failure [default: it is, unless the program has `reach_error`]
    #[arg(long, help_heading = "What is proved")]
    pub abort_ends: bool,

    /// So many arguments of the program, of any content [default: as many as `main` reads by constant indices, at least one where it reads others]
    #[arg(long, value_name = "N", help_heading = "What is proved")]
    pub arguments: Option<u32>,

    /// Bytes of each argument of the program at most [default: 8; of a program that holds so far, more, as long as that is
    /// little work]
    #[arg(long, value_name = "N", help_heading = "What is proved")]
    pub longest: Option<u32>,

    /// Bytes of standard input at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        help_heading = "What is proved"
    )]
    pub input: u32,

    /// Rounds of each loop, and calls of a function within itself [default: 16; where executions go on beyond that, twice as
    /// many, again and again, as long as that is little work]
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub bound: Option<u32>,

    /// Take no longer than this, such as 30s, 10m, 1h; what is known by then is told
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "How far")]
    pub budget: Option<Duration>,

    /// Conflicts of one question to the solver at most
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub conflicts: Option<u64>,

    /// Follow one path after the other, N at most [default of N: 10000], each as far as it goes, in place of all paths at once
    /// as far as a bound: for failures that are deep in a loop
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10000",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["bound", "repair", "locate"],
        help_heading = "How far"
    )]
    pub paths: Option<u64>,

    /// Instructions that are encoded at most, unwound and inlined [default: 5000000; of each path 400000]
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub max_instructions: Option<u64>,

    /// MiB of memory at most
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(64..), help_heading = "How far")]
    pub memory: u64,

    /// Show the statements of which every repair changes at least one
    #[arg(long, help_heading = "Faults")]
    pub locate: bool,

    /// Show them in the source
    #[arg(long, requires = "locate", help_heading = "Faults")]
    pub annotate: bool,

    /// List all minimal repairs
    #[arg(long, help_heading = "Repairs")]
    pub repair: bool,

    /// What a repair may change: 1 operators; 2 more operators, constants a little; 3 also any constant, variable,
    /// conjunct, index and comparison
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3), help_heading = "Repairs")]
    pub level: u8,

    /// Changes of a repair at most
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Repairs")]
    pub max_edits: u32,

    /// Leave this function, file or lines of a file alone
    #[arg(
        long,
        value_name = "FUNCTION|FILE[:LINE[-LINE]]",
        help_heading = "Repairs"
    )]
    pub trusted: Vec<String>,

    /// Also list repairs after which nothing is left that has to hold
    #[arg(long, help_heading = "Repairs")]
    pub vacuous: bool,

    /// Write each repair's diff into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write the counterexample into this folder, as a case for `patchwright repair` and as a C file
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub test: Option<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also print what was done, in numbers
    #[arg(long, help_heading = "Output")]
    pub stats: bool,

    /// Flags for the compiler
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,
}

/// A time; a number alone was one of conflicts.
fn time(text: &str) -> Result<Duration, String> {
    duration(text).map_err(|error| match error {
        NoDuration::NoUnit { number, .. } => format!(
            "`{number}` has no unit; a budget is a time such as 30s, 10m or 1h, and the solver's conflicts are `--conflicts {number}`"
        ),
        other => other.to_string(),
    })
}

/// The flags' defaults.
#[derive(clap::Parser)]
struct Defaults {
    #[command(flatten)]
    args: ProveArgs,
}

/// What the command does when it is given no other flags than these.
pub fn usual(function: Option<String>, like: Option<String>, bound: u32) -> ProveArgs {
    let Defaults { args } = clap::Parser::parse_from(["prove", "program"]);
    ProveArgs {
        function,
        like,
        bound: Some(bound),
        ..args
    }
}
