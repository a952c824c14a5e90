//! The flags of `patchwright prove`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;
use patchwright_exec::duration::NoDuration;

use crate::{cached::CacheArgs, ci::CiArgs, inputs::InputArgs, shards::ShardArgs, times::duration};

/// Flags of `patchwright prove`.
#[derive(Args, Clone, Debug)]
pub struct ProveArgs {
    /// The C files of the program
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub sources: Vec<OsString>,

    /// Prove this function for all arguments
    #[arg(long, value_name = "NAME", help_heading = "What is proved")]
    pub function: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// Assume this C expression over the function's parameters and globals
    #[arg(long, value_name = "EXPRESSION", help_heading = "What is proved")]
    pub assume: Vec<String>,

    /// Prove that it does the same as this reference
    ///
    /// The proof compares the result and the output, and for a function also globals and the memory behind its arguments.
    #[arg(long, value_name = "FILE[:FUNCTION]", help_heading = "What is proved")]
    pub like: Option<String>,

    /// Also look for these errors [default: bounds,null,div]
    ///
    /// The list has bounds, null, div, overflow, shift, uninitialized, conversion, leak and termination; or it is all,
    /// or none. Assertions are checked in any case.
    #[arg(long, value_name = "LIST", help_heading = "What is proved")]
    pub check: Option<String>,

    /// Let globals that begin with 0, or without a value, begin with any value
    #[arg(long, help_heading = "What is proved")]
    pub havoc: bool,

    /// Count a call of `abort` as a normal end [default: as a failure, unless the program has `reach_error`]
    #[arg(long, help_heading = "What is proved")]
    pub abort_ends: bool,

    /// Give the program N arguments of any content [default: as many as `main` reads]
    #[arg(long, value_name = "N", help_heading = "What is proved")]
    pub arguments: Option<u32>,

    /// Let each argument of the program have at most N bytes [default: 8, and more while that is little work]
    #[arg(long, value_name = "N", help_heading = "What is proved")]
    pub longest: Option<u32>,

    /// Let standard input have at most N bytes
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        help_heading = "What is proved"
    )]
    pub input: u32,

    /// Follow loops and recursion for N rounds [default: 16, then up to 256 while that is little work]
    ///
    /// Without it, the bound is doubled as long as that is little work.
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub bound: Option<u32>,

    /// Stop after this time, such as 30s, 10m, 1h, and report what is known by then
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "How far")]
    pub budget: Option<Duration>,

    /// Give up a question to the solver after N conflicts
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub conflicts: Option<u64>,

    /// Follow up to N single paths, each to its end [default of N: 10000]
    ///
    /// Without it, all paths are followed at once, up to the bound. Single paths find failures that are deep in a loop.
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

    /// Encode at most N instructions, loops unwound and calls inlined [default: 5000000; of each path 400000]
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub max_instructions: Option<u64>,

    /// Stop at this much memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(64..), help_heading = "How far")]
    pub memory: u64,

    /// Show the statements of which every repair changes at least one
    #[arg(long, conflicts_with = "shard", help_heading = "Faults")]
    pub locate: bool,

    /// Show these statements in the source
    #[arg(long, requires = "locate", help_heading = "Faults")]
    pub annotate: bool,

    /// List all minimal repairs
    #[arg(long, conflicts_with = "shard", help_heading = "Repairs")]
    pub repair: bool,

    /// What a repair may change, from 1 to 3
    ///
    /// Level 1 changes operators. Level 2 changes more operators, and constants by 1. Level 3 also changes any constant,
    /// variable, conjunct, index and comparison.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3), help_heading = "Repairs")]
    pub level: u8,

    /// Let a repair change at most N expressions
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Repairs")]
    pub max_edits: u32,

    /// Do not change this function, this file or these lines; may be repeated
    #[arg(
        long,
        value_name = "FUNCTION|FILE[:LINE[-LINE]]",
        help_heading = "Repairs"
    )]
    pub trusted: Vec<String>,

    /// Also list repairs that only make an assertion unreachable or an assumption false
    #[arg(long, help_heading = "Repairs")]
    pub vacuous: bool,

    /// Write the diff of each repair into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write the counterexample into this folder
    ///
    /// It is a C file; for a program also its arguments and input and, with `--like`, the expected output: a case for `patchwright repair`.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub test: Option<PathBuf>,

    /// Also write a page with the counterexample and the repairs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Where editors and pipelines read.
    #[command(flatten)]
    pub ci: CiArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also print how much was encoded and asked
    #[arg(long, help_heading = "Output")]
    pub stats: bool,

    /// Give these flags to the compiler
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "What is proved"
    )]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,

    #[command(flatten)]
    pub sharding: ShardArgs,
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

/// Returns the flags of `prove` at their defaults, with `--function`, `--like` and `--bound` set.
pub fn usual(function: Option<String>, like: Option<String>, bound: u32) -> ProveArgs {
    let Defaults { args } = clap::Parser::parse_from(["prove", "program"]);
    ProveArgs {
        function,
        like,
        bound: Some(bound),
        ..args
    }
}
