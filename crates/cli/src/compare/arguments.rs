//! Flags of `patchwright compare`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    args::{DescriptionArgs, Resuming, duration},
    cached::CacheArgs,
    inputs::InputArgs,
};

/// Rounds of loops where nobody says how many; and those that are tried where nothing differs in these: loops over the bits of a
/// number, or over short arrays, end by then. They get so much time.
const USUAL_BOUND: u32 = 16;

/// Flags of `patchwright compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// The versions, the oldest first: C files, folders of projects, and, after the first, patches of it; or two revisions
    /// of a git repository: A..B
    #[arg(value_name = "VERSION", num_args = 1.., required = true)]
    pub versions: Vec<OsString>,

    /// Of two revisions A..B, compare only this C file: its program, or each of its functions that differ
    #[arg(long, value_name = "FILE", help_heading = "What is compared")]
    pub file: Option<PathBuf>,

    /// Compare this function, for all arguments, instead of the program
    #[arg(long, value_name = "NAME", help_heading = "What is compared")]
    pub function: Option<String>,

    #[command(flatten)]
    pub inputs: InputArgs,

    /// Only for arguments that satisfy this C expression over the function's parameters and globals, by the names in OLD
    #[arg(long, value_name = "EXPRESSION", help_heading = "Inputs of a function")]
    pub assume: Vec<String>,

    /// Undefined behaviour that counts as failing: bounds, null, div, overflow, shift, uninitialized, conversion, leak;
    /// all; none [default: all but leak]
    #[arg(long, value_name = "LIST", help_heading = "What is compared")]
    pub check: Option<String>,

    /// Globals without an initial value in the source hold any value at the start
    #[arg(long, help_heading = "What is compared")]
    pub havoc: bool,

    /// So many arguments of the program, of any content [default: as many as `main` reads by constant indices, at least one where it reads others]
    #[arg(long, value_name = "N", help_heading = "What is compared")]
    pub arguments: Option<u32>,

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

    /// Rounds of each loop, and calls of a function within itself [default: 16; 72 where nothing differs in these, if that takes
    /// 15 seconds at most]
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub bound: Option<u32>,

    /// Take no longer than this, such as 30s, 10m, 1h; what is known by then is reported [default: 60s for what is proved]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "How far")]
    pub budget: Option<Duration>,

    /// Conflicts of one question to the solver at most
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub conflicts: Option<u64>,

    /// In which order inputs are looked at: those that differ first (prv), or all paths of NEW, or those that execute a
    /// changed line
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Order::Prv, help_heading = "How far")]
    pub strategy: Order,

    /// Partitions that differ in one way (NEW fails, OLD fails, other results) that are looked for at most
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub different: usize,

    /// Partitions without a difference that are listed at most
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "How far")]
    pub equal: usize,

    /// Execute both versions on these inputs, and on inputs like them: a folder of NAME.in and NAME.args, or of files that
    /// are standard input [default: the cases of the project, or of the C file]
    #[arg(long, value_name = "CASES", help_heading = "Executions")]
    pub seeds: Option<PathBuf>,

    /// Only execute both versions; nothing is proved
    #[arg(long, help_heading = "Executions")]
    pub native: bool,

    /// Never execute the versions themselves
    #[arg(long, conflicts_with_all = ["native", "seeds"], help_heading = "Executions")]
    pub no_native: bool,

    /// Inputs that they are executed with at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        help_heading = "Executions"
    )]
    pub executions: usize,

    /// Also look at the sequences in which changes can be executed: which inputs exercise them, for which of them the
    /// versions differ, and which of them a difference needs
    #[arg(long, help_heading = "Output")]
    pub interactions: bool,

    /// A version that is right: each difference is progress, a regression, or neither
    #[arg(long, value_name = "VERSION", help_heading = "Output")]
    pub golden: Option<OsString>,

    /// Write a page with both sources, the partitions and what was executed
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Write a C program that calls the function with each sample, and checks that it does what OLD does
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

    /// Only tests of partitions that differ
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
    pub description: DescriptionArgs,
}

/// In which order inputs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Inputs that differ first, by differential partitions.
    Prv,
    /// All paths of NEW.
    AllPaths,
    /// Paths of NEW on which a changed line is executed.
    ChangedPaths,
}

impl Order {
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
