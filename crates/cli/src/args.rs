//! Flags that commands share, and those of the commands that have no file of their own for them.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use patchwright_exec::duration::NoDuration;
use patchwright_interpret::{CAN_BE_ALLOWED, Undefined};
use patchwright_localize::Formula;

use crate::cached::CacheArgs;
pub use crate::state::Resuming;
pub use crate::times::duration;

/// Flags of `patchwright run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The C files of the program
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub sources: Vec<OsString>,

    /// The program's arguments
    #[arg(value_name = "ARG", last = true)]
    pub arguments: Vec<OsString>,

    /// Flags for the compiler
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,

    /// Go on after undefined behaviour of this kind, and warn of it at the end: signed-overflow, bad-shift, bad-conversion,
    /// uninitialized-read, bad-pointer-arithmetic, bad-variadic-argument
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = allowed_kind)]
    pub allow: Vec<Undefined>,

    /// Let it always be this time, in seconds since 1970
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<i64>,

    /// The name that the program is called by [default: the first file, without its extension]
    #[arg(long, value_name = "NAME")]
    pub name: Option<OsString>,

    /// Stop after this many IR instructions
    #[arg(long, value_name = "N")]
    pub max_instructions: Option<u64>,

    /// Most memory of the program's objects, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub max_memory: u64,

    /// Also print what was done, in numbers
    #[arg(long)]
    pub stats: bool,
}

/// A kind of undefined behaviour after which an execution can go on.
fn allowed_kind(text: &str) -> Result<Undefined, String> {
    let found = CAN_BE_ALLOWED.iter().find(|kind| kind.code() == text);
    found.copied().ok_or_else(|| {
        let codes: Vec<&str> = CAN_BE_ALLOWED.iter().map(|kind| kind.code()).collect();
        format!("an execution can go on after: {}", codes.join(", "))
    })
}

/// A project and the flags that describe it.
#[derive(Args, Debug)]
pub struct ProjectArgs {
    /// The project's folder, or a single C file
    #[arg(default_value = ".")]
    pub project: PathBuf,

    /// The folder of cases, for a single C file [default: `cases` beside it]
    #[arg(value_name = "CASES")]
    pub case_folder: Option<PathBuf>,

    /// What it is like.
    #[command(flatten)]
    pub description: DescriptionArgs,

    /// Look only at these files, or these lines of them
    #[arg(long, value_name = "FILE[:LINE[-LINE]]", num_args = 1.., help_heading = "Project")]
    pub files: Vec<OsString>,
}

/// Flags that describe a project.
#[derive(Args, Clone, Debug, Default)]
pub struct DescriptionArgs {
    /// The shell command that builds the project, run from its root
    #[arg(long, value_name = "CMD", help_heading = "Project")]
    pub build: Option<OsString>,

    /// A shell command that is run once in a copy before the build
    #[arg(long, value_name = "CMD", help_heading = "Project")]
    pub prepare: Option<OsString>,

    /// The test driver: run from the root with a test's name, exit status 0 means pass
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub driver: Option<PathBuf>,

    /// Instead of a driver: the program that the build makes, to be run on cases
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub program: Option<PathBuf>,

    /// The folder of the program's cases: NAME.out, and NAME.in, NAME.args, NAME.code if needed
    #[arg(long, value_name = "DIR", help_heading = "Project")]
    pub cases: Option<PathBuf>,

    /// The names of the tests
    #[arg(long, value_name = "ID", num_args = 1.., help_heading = "Project")]
    pub tests: Vec<String>,

    /// The compile database [default: found in the project, or recorded from the build]
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub compile_commands: Option<PathBuf>,

    /// Flags for the compiler, for a single C file
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Project"
    )]
    pub cflags: Option<String>,

    /// Leave this file or folder out of all copies, for its size; may be given several times
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub exclude: Vec<PathBuf>,

    /// Time after which a build has failed, such as 30s, 10m, 1h [default: 1h; validate, regression: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Project")]
    pub build_timeout: Option<std::time::Duration>,

    /// Memory of a build, all of its processes together, in MiB [default: 4096, or three quarters of the machine's if that is less]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Project")]
    pub build_memory: Option<u64>,

    /// Time after which a test has failed, such as 500ms, 10s [default: derived from what it takes now]
    #[arg(long, value_name = "TIME", value_parser = test_time, help_heading = "Project")]
    pub test_timeout: Option<std::time::Duration>,

    /// Let a case pass if its output is right but for whitespace at the ends of lines, and empty lines at the end
    #[arg(long, help_heading = "Project")]
    pub ignore_trailing_whitespace: bool,

    /// Let builds and tests write to this folder, too; may be given several times [default: only the copy, and a home
    /// and temporary files that are thrown away]
    #[arg(long, value_name = "DIR", help_heading = "Protection")]
    pub allow_writes: Vec<PathBuf>,

    /// Let builds and tests reach the network
    #[arg(long, help_heading = "Protection")]
    pub network: bool,

    /// Run builds and tests with all your rights: they can change whatever you can
    #[arg(long, help_heading = "Protection")]
    pub unprotected: bool,
}

/// Flags of `patchwright repair`.
#[derive(Args, Debug)]
pub struct RepairArgs {
    /// The project.
    #[command(flatten)]
    pub project: ProjectArgs,

    /// Where what is found out about the untouched program is kept.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The kinds of change to try, separated by commas [default: all, but exit, which overfits, only against crashes]
    #[arg(
        long,
        value_enum,
        value_name = "SCHEMA",
        value_delimiter = ',',
        num_args = 1..,
        help_heading = "Search"
    )]
    pub schemas: Vec<SchemaName>,

    /// Explore the whole space and report a patch of every plausible class
    #[arg(long, help_heading = "Search")]
    pub all: bool,

    /// Stop at the first plausible patch
    #[arg(long, conflicts_with = "all", help_heading = "Search")]
    pub first: bool,

    /// Look only at this many locations, the most suspicious; 0 looks at all [default: 200, then the
    /// next ones if there is no patch; with --all 0]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub locations: Option<usize>,

    /// The formula that says what is suspicious: ochiai, tarantula, dstar or op2
    #[arg(long, value_name = "NAME", default_value_t, help_heading = "Search")]
    pub formula: Formula,

    /// Most patches to report
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub max_patches: u32,

    /// Do not try patches that add, change and remove more nodes of the program than this
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Search")]
    pub max_cost: u32,

    /// If no change of one place passes all tests, try pairs of changes that each pass some (1: do not)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(1..=2),
        help_heading = "Search"
    )]
    pub places: u8,

    /// Let terms grow until a location has this many candidates (with --all, a condition 20 times as many); more than ten million only where this asks for them
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50_000,
        help_heading = "Search"
    )]
    pub candidates: usize,

    /// Most nodes of a term
    #[arg(long, value_name = "N", default_value_t = 7, help_heading = "Search")]
    pub term_size: u32,

    /// Take no longer than this, such as 30s, 10m, 1h: from the first copy to the last patch that is verified
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    pub budget: Option<std::time::Duration>,

    /// Go on although no test passes
    #[arg(long, help_heading = "Search")]
    pub allow_all_failing: bool,

    /// For measurements: what tells candidates to be test-equivalent (both, value, dependency, none)
    #[arg(long, value_name = "NAME", default_value = "both", hide = true)]
    pub relations: patchwright_repair::Relations,
    /// Execute a program anew for each test that runs it, instead of forking it
    #[arg(long, hide = true)]
    pub no_virtualize: bool,

    /// Number of workers [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Search")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub behaviour: BehaviourArgs,

    #[command(flatten)]
    pub proofs: ProofArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    /// Also write the patches into this folder, as 1.diff, 2.diff, …
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also print what was done, in numbers
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
}

/// What is asked about the behaviour of patches.
#[derive(Args, Clone, Debug, Default)]
pub struct BehaviourArgs {
    /// Execute the program with each patch on inputs like those of the tests: what the patches change, which of them do the
    /// same, and inputs that tell the others apart; the order of the patches follows
    #[arg(long, help_heading = "Behaviour")]
    pub compare: bool,

    /// Ask which of the results is right for inputs that tell patches apart; answers become tests in the folder `tests` of
    /// --output
    #[arg(long, help_heading = "Behaviour")]
    pub ask: bool,

    /// What is right for some inputs, a line of JSON each: {"arguments": ["-5"], "input": "", "output": "0\n", "status": 0}
    #[arg(long, value_name = "FILE", help_heading = "Behaviour")]
    pub answers: Option<PathBuf>,

    /// Take no longer than this for all of it, building the patches included
    #[arg(
        long,
        value_name = "TIME",
        default_value = "40s",
        value_parser = duration,
        help_heading = "Behaviour"
    )]
    pub compare_budget: std::time::Duration,
}

impl BehaviourArgs {
    /// Whether anything is to be done.
    pub fn is_wanted(&self) -> bool {
        self.compare || self.ask || self.answers.is_some()
    }
}

/// What is proved of patches.
#[derive(Args, Clone, Debug, Default)]
pub struct ProofArgs {
    /// Prove of each reported patch, for all inputs, that the program's assertions hold and its memory is used rightly; or
    /// show an input for which it is not so
    #[arg(long, help_heading = "Proofs")]
    pub prove: bool,

    /// Prove that the patched program does the same as this reference
    #[arg(
        long,
        value_name = "FILE[:FUNCTION]",
        requires = "prove",
        help_heading = "Proofs"
    )]
    pub prove_like: Option<String>,

    /// Prove this function, for all arguments, instead of the program
    #[arg(long, value_name = "NAME", requires = "prove", help_heading = "Proofs")]
    pub prove_function: Option<String>,

    /// Rounds of each loop, and calls of a function within itself
    #[arg(
        long,
        value_name = "N",
        default_value_t = 16,
        requires = "prove",
        help_heading = "Proofs"
    )]
    pub prove_bound: u32,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaName {
    /// Another expression
    Expression,
    /// Something added to a condition by `&&` or `||`
    Refinement,
    /// A statement under a condition, or taken out
    Guard,
    /// An assignment inserted before a statement
    Assignment,
    /// A variable, an array, a structure or fresh memory that begins as zero
    Initialization,
    /// Another function called, with what the call has at hand
    Function,
    /// Two arguments of a call exchanged
    Swap,
    /// Another text with which something is printed or read: conversions that fit, separators, ends of lines, digits
    Format,
    /// Another operator of an assignment: `-=` for `+=`, `--` for `++`, `==` for `=` in a condition
    Operator,
    /// A `break;` between two sections of a switch
    Break,
    /// A `for` that counts the other way round, or from and to the next number
    Loop,
    /// A statement executed earlier or later in its block
    Move,
    /// A function, a loop or a switch left early, under a condition (overfits: only when asked for)
    Exit,
    /// Another type of number, a larger array, another number where the program begins (each is built by itself, if nothing
    /// cheap is found)
    Declaration,
    /// All of these
    All,
}

/// Flags of `patchwright localize`.
#[derive(Args, Debug)]
pub struct LocalizeArgs {
    /// The project.
    #[command(flatten)]
    pub project: ProjectArgs,

    /// The formula: ochiai, tarantula, dstar (exponent 2) or op2
    #[arg(long, value_name = "NAME", default_value_t, help_heading = "Ranking")]
    pub formula: Formula,

    /// Sources to read at once, four at most [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Ranking")]
    pub jobs: Option<usize>,

    /// Most statements, functions and files to print; 0 prints all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub top: usize,

    /// Print the sources with the statements' ranks and tests
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub annotate: bool,

    /// Also write a page with the coloured sources
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Values of `--confirm`.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum ConfirmArg {
    /// As `classes`, but up to eight of these that change different functions by one build
    Together,
    /// One of those that change the same functions, and whose tests all ended in the same way with the same output
    Classes,
    /// Every one
    Each,
    /// None
    None,
}

/// Flags of `patchwright validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// The project (behind a single C file its folder of cases, if that is not `cases` beside it), then the patches
    #[arg(value_names = ["PROJECT", "PATCHES"], num_args = 1.., required = true)]
    pub inputs: Vec<PathBuf>,

    /// What the project is like.
    #[command(flatten)]
    pub description: DescriptionArgs,

    /// Leave out this many leading parts of the paths in diffs [default: as many as fit]
    #[arg(short = 'p', long, value_name = "N", help_heading = "Patches")]
    pub strip: Option<usize>,

    /// Count the lines of hunks, whatever their headers say: language models miscount them
    #[arg(long, help_heading = "Patches")]
    pub recount: bool,

    /// Let patches change tests, drivers and what these read, instead of taking them from the untouched tree
    #[arg(long, help_heading = "Patches")]
    pub trust_test_changes: bool,

    /// A test that patches are meant to mend; may be repeated. Others that fail on the untouched program are set aside
    #[arg(long, value_name = "TEST", help_heading = "Validation")]
    pub must_fix: Vec<String>,

    /// Set the tests aside that fail on the untouched program, but for those of --must-fix
    #[arg(long, help_heading = "Validation")]
    pub ignore_failing: bool,

    /// Run every test on every patch that compiles, not only until one fails
    #[arg(long, help_heading = "Validation")]
    pub keep_going: bool,

    /// Stop when this many patches (in the order given, equal ones once) are plausible
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Validation")]
    pub stop_after: Option<u32>,

    /// Run the tests in their own order, instead of those first that fail now or find most
    #[arg(long, help_heading = "Validation")]
    pub no_prioritize: bool,

    /// Build every patch by itself, instead of weaving many into one program
    #[arg(long, help_heading = "Validation")]
    pub no_schemata: bool,

    /// Weave patches into one program also where they are so few that building each by itself takes less time
    #[arg(long, conflicts_with = "no_schemata", help_heading = "Validation")]
    pub weave_few: bool,

    /// Run the tests of the untouched program first, also for few patches whose verdicts do not depend on it
    #[arg(long, help_heading = "Validation")]
    pub ask_first: bool,

    /// Execute every woven patch by itself, instead of one of those that a test cannot tell apart
    #[arg(long, help_heading = "Validation")]
    pub no_dedup: bool,

    /// Start a woven program anew for each execution, instead of once for each test that runs it directly
    #[arg(long, help_heading = "Validation")]
    pub no_virtualize: bool,

    /// Wait for a test until its time is up, even if it provably never ends
    #[arg(long, help_heading = "Validation")]
    pub no_prove_endless: bool,

    /// Which plausible patches are built as they are and tested again: of those that change the same functions, and
    /// whose tests all ended in the same way with the same output, one, with others of other functions (together) or
    /// by itself (classes); every one (each); or none
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value = "together",
        help_heading = "Validation"
    )]
    pub confirm: ConfirmArg,

    /// Of the plausible patches that were not built by themselves, build so many of a hundred in the end, to see
    /// whether that was right, such as 5% [default: 5%, of sets of more than 100 patches]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Validation")]
    pub audit: Option<f64>,

    /// Number of workers [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Validation")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub behaviour: BehaviourArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    /// Print JSON
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,

    /// Print a line of JSON for each verdict as soon as it is known
    #[arg(long, alias = "stream", help_heading = "Output")]
    pub jsonl: bool,

    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// Also print where the time went, and why patches could not be woven
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
}

/// Time after which a build has failed in commands that build often.
pub const BUILD_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(600);

/// A part of all, in percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse();
    let within = number.ok().filter(|number| (0.0..=100.0).contains(number));
    within.ok_or_else(|| format!("`{text}` is no part of a hundred; write 5%, or 0 for none"))
}

/// A number of workers.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is no number of workers; write 1 or more")),
        Ok(number) => Ok(number),
    }
}

/// A time of a test, which may be short.
fn test_time(text: &str) -> Result<std::time::Duration, NoDuration> {
    patchwright_exec::duration::parse(text, "ms")
}
