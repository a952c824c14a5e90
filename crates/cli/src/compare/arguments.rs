//! Flags of `patchwright compare`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    args::{DescriptionArgs, Resuming, duration},
    cached::CacheArgs,
    inputs::InputArgs,
    shards::ShardArgs,
};

/// The bound of the rounds of loops without `--bound`.
const USUAL_BOUND: u32 = 16;

/// The flags and arguments of `patchwright compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// The versions, oldest first; or two revisions A..B
    ///
    /// A version is a C file or the folder of a project. After the first one it may also be a patch of the first, or a
    /// folder of patches. A..B names two revisions of a git repository.
    #[arg(value_name = "VERSION", num_args = 1.., required = true)]
    pub versions: Vec<OsString>,

    /// Compare only this C file of two revisions A..B
    ///
    /// A file with `main` is compared as a program, another one by each function that differs.
    #[arg(long, value_name = "FILE", help_heading = "What is compared")]
    pub file: Option<PathBuf>,

    /// Compare this function for all arguments
    #[arg(long, value_name = "NAME", help_heading = "What is compared")]
    pub function: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// Assume this C expression over the function's parameters and globals
    ///
    /// The names are those of OLD.
    #[arg(long, value_name = "EXPRESSION", help_heading = "Inputs of a function")]
    pub assume: Vec<String>,

    /// Which errors count as failing [default: all but leak]
    ///
    /// The list has bounds, null, div, overflow, shift, uninitialized, conversion and leak; or it is all, or none.
    #[arg(long, value_name = "LIST", help_heading = "What is compared")]
    pub check: Option<String>,

    /// Let globals that begin with 0, or without a value, begin with any value
    #[arg(long, help_heading = "What is compared")]
    pub havoc: bool,

    /// Give the program N arguments of any content [default: as many as `main` reads]
    #[arg(long, value_name = "N", help_heading = "What is compared")]
    pub arguments: Option<u32>,

    /// Let each argument of the program have at most N bytes
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        help_heading = "What is compared"
    )]
    pub longest: u32,

    /// Let standard input have at most N bytes
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        help_heading = "What is compared"
    )]
    pub input: u32,

    /// Follow loops and recursion for N rounds [default: 16; if nothing differs, up to 72 for 15 seconds]
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub bound: Option<u32>,

    /// Stop after this time, such as 30s, 10m, 1h [default: 60s for proofs]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "How far")]
    pub budget: Option<Duration>,

    /// Give up a question to the solver after N conflicts
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub conflicts: Option<u64>,

    /// In which order inputs are explored
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Order::Prv, help_heading = "How far")]
    pub strategy: Order,

    /// Look for at most N partitions of each kind: NEW fails, OLD fails, other results
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub different: usize,

    /// List at most N partitions without a difference
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub equal: usize,

    /// Execute both versions on these cases, and on inputs like them
    ///
    /// The folder has NAME.in and NAME.args, or files that are standard input. Without it, the cases of the project or of
    /// the C file are taken.
    #[arg(long, value_name = "CASES", help_heading = "Executions")]
    pub seeds: Option<PathBuf>,

    /// Only execute both versions, and prove nothing
    #[arg(long, help_heading = "Executions")]
    pub native: bool,

    /// Only prove, and execute neither version
    #[arg(long, conflicts_with_all = ["native", "seeds"], help_heading = "Executions")]
    pub no_native: bool,

    /// Execute both versions with at most N inputs
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        help_heading = "Executions"
    )]
    pub executions: usize,

    /// Also list the sequences in which changed lines can be executed
    ///
    /// Each sequence has an input that executes it. The report says for which sequences the versions differ, and which of
    /// them a difference needs.
    #[arg(long, help_heading = "Output")]
    pub interactions: bool,

    /// This version is right: call each difference progress, a regression, or neither
    #[arg(long, value_name = "VERSION", help_heading = "Output")]
    pub golden: Option<OsString>,

    /// Write a page with both sources, the partitions and the executions
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Write a C program that fails where NEW does not do what OLD does
    #[arg(
        long,
        value_name = "FILE",
        requires = "function",
        help_heading = "Output"
    )]
    pub c_test: Option<PathBuf>,

    /// Write a test for each partition into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write tests only for partitions that differ
    #[arg(long, requires = "output", help_heading = "Output")]
    pub minimal: bool,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub cache: CacheArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    #[command(flatten)]
    pub sharding: ShardArgs,

    #[command(flatten)]
    pub description: DescriptionArgs,
}

/// A value of `--strategy`: the order in which inputs are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Inputs that differ first, by differential partitions
    Prv,
    /// All paths of NEW
    AllPaths,
    /// Paths of NEW that execute a changed line
    ChangedPaths,
}

impl Order {
    /// Returns the name by which `--strategy` chooses the order.
    pub(super) fn name(self) -> &'static str {
        match self {
            Order::Prv => "prv",
            Order::AllPaths => "all-paths",
            Order::ChangedPaths => "changed-paths",
        }
    }
}

impl CompareArgs {
    /// Rounds of each loop that are followed.
    pub(super) fn rounds(&self) -> u32 {
        self.bound.unwrap_or(USUAL_BOUND)
    }
}
