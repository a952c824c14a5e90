//! Flags that commands share, and those of the commands that have no file of their own for them.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use patchwright_exec::duration::NoDuration;
use patchwright_interpret::{CAN_BE_ALLOWED, Undefined};
use patchwright_localize::Formula;

use crate::cached::CacheArgs;
use crate::changed::ChangedArgs;
use crate::ci::CiArgs;
use crate::interactive::InteractiveArgs;
use crate::proposing::ProposeArgs;
use crate::shards::ShardArgs;
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

    /// Give these flags to the compiler
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Program"
    )]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,

    /// Only warn of this kind of undefined behaviour, and go on
    ///
    /// The kinds are signed-overflow, bad-shift, bad-conversion, uninitialized-read, bad-pointer-arithmetic and
    /// bad-variadic-argument. Commas separate several. The warnings come at the end.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = allowed_kind, help_heading = "Execution")]
    pub allow: Vec<Undefined>,

    /// Stop the program's clock at this time, in seconds since 1970
    #[arg(long, value_name = "SECONDS", help_heading = "Execution")]
    pub time: Option<i64>,

    /// Call the program by this name [default: the first file, without its extension]
    #[arg(long, value_name = "NAME", help_heading = "Program")]
    pub name: Option<OsString>,

    /// Stop after this many IR instructions
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub max_instructions: Option<u64>,

    /// Stop when the program's objects take more memory than this, in MiB
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 4096,
        help_heading = "Execution"
    )]
    pub max_memory: u64,

    /// Also print how much was executed
    #[arg(long, help_heading = "Output")]
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

    /// The folder of cases of a single C file [default: `cases` beside it]
    #[arg(value_name = "CASES")]
    pub case_folder: Option<PathBuf>,

    /// What it is like.
    #[command(flatten)]
    pub description: DescriptionArgs,

    /// Look only at these files, folders or lines
    #[arg(long, value_name = "FILE[:LINE[-LINE]]", num_args = 1.., help_heading = "Project")]
    pub files: Vec<OsString>,

    /// Or at what has changed.
    #[command(flatten)]
    pub changed: ChangedArgs,
}

/// Flags that describe a project.
#[derive(Args, Clone, Debug, Default)]
pub struct DescriptionArgs {
    /// Build the project by this shell command, from its root
    #[arg(long, value_name = "CMD", help_heading = "Project")]
    pub build: Option<OsString>,

    /// Run this shell command once in each copy, before its first build
    #[arg(long, value_name = "CMD", help_heading = "Project")]
    pub prepare: Option<OsString>,

    /// Run one test by the command `PATH ID`; status 0 is a pass
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub driver: Option<PathBuf>,

    /// Instead of a driver, run this program, which the build makes, on cases
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub program: Option<PathBuf>,

    /// The folder of the program's cases
    ///
    /// A case is a file NAME.out with the expected output. NAME.in is its standard input, NAME.args its arguments, and
    /// NAME.code its exit status.
    #[arg(long, value_name = "DIR", help_heading = "Project")]
    pub cases: Option<PathBuf>,

    /// The names of the tests, or of the cases to use
    #[arg(long, value_name = "ID", num_args = 1.., help_heading = "Project")]
    pub tests: Vec<String>,

    /// The compile database [default: found in the project, or recorded from the build]
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub compile_commands: Option<PathBuf>,

    /// Give these flags to the compiler of a single C file
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Project"
    )]
    pub cflags: Option<String>,

    /// Leave this large file or folder out of all copies; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub exclude: Vec<PathBuf>,

    /// A build that takes longer has failed, such as 30s, 10m, 1h [default: 1h; validate, regression: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Project")]
    pub build_timeout: Option<std::time::Duration>,

    /// Memory of a build, in MiB, all its processes together [default: 4096, at most three quarters of the machine's]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Project")]
    pub build_memory: Option<u64>,

    /// A test that takes longer has failed, such as 500ms, 10s [default: derived from its time on the untouched program]
    #[arg(long, value_name = "TIME", value_parser = test_time, help_heading = "Project")]
    pub test_timeout: Option<std::time::Duration>,

    /// Ignore blanks at the ends of lines and empty last lines in the output of cases
    #[arg(long, help_heading = "Project")]
    pub ignore_trailing_whitespace: bool,

    /// Let builds and tests write to this folder; may be repeated
    ///
    /// Without it they can write to their copy only. What they write to the home folder and to /tmp is thrown away.
    #[arg(long, value_name = "DIR", help_heading = "Protection")]
    pub allow_writes: Vec<PathBuf>,

    /// Let builds and tests reach the network
    #[arg(long, help_heading = "Protection")]
    pub network: bool,

    /// Run builds and tests with all your rights, so that they can change what you can change
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

    /// Try only these schemas, the groups of kinds of change, separated by commas [default: all; exit only against crashes, because it overfits]
    #[arg(
        long,
        value_enum,
        value_name = "SCHEMA",
        value_delimiter = ',',
        num_args = 1..,
        help_heading = "Search"
    )]
    pub schemas: Vec<SchemaName>,

    /// Try the kinds of change of this file, too [default: those in the project's folder .patchwright/kinds]
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub kinds: Vec<PathBuf>,

    /// Try all candidates, and report a patch of each plausible class
    #[arg(long, help_heading = "Search")]
    pub all: bool,

    /// Stop at the first plausible patch
    #[arg(long, conflicts_with_all = ["all", "shard"], help_heading = "Search")]
    pub first: bool,

    /// Look at the N most suspicious locations; 0 means all [default: 200, then the next ones if there is no patch; with
    /// --all: 0]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub locations: Option<usize>,

    /// How suspicion is computed: ochiai, tarantula, dstar or op2
    #[arg(long, value_name = "NAME", default_value_t, help_heading = "Search")]
    pub formula: Formula,

    /// Report at most this many patches
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub max_patches: u32,

    /// Try no candidate that costs more, in added, changed and removed nodes
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Search")]
    pub max_cost: u32,

    /// Change up to N places: 2 also tries pairs, if no single change passes all tests
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(1..=2),
        help_heading = "Search"
    )]
    pub places: u8,

    /// Try terms of growing size until a location has this many candidates
    ///
    /// With --all a condition has 20 times as many, but at most ten million unless N is greater.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50_000,
        help_heading = "Search"
    )]
    pub candidates: usize,

    /// Try terms of at most this many nodes
    #[arg(long, value_name = "N", default_value_t = 7, help_heading = "Search")]
    pub term_size: u32,

    /// Stop after this time, such as 30s, 10m, 1h
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

    /// Run this many workers at once [default: the number of processors, more if tests wait]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Search")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub behaviour: BehaviourArgs,

    #[command(flatten)]
    pub proofs: ProofArgs,

    #[command(flatten)]
    pub proposing: ProposeArgs,

    #[command(flatten)]
    pub conversation: InteractiveArgs,

    #[command(flatten)]
    pub sharding: ShardArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    /// Also write the patches into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write the patch with this number into your own file, when the run is over
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "shard", help_heading = "Output")]
    pub apply: Option<u32>,

    /// Also write a page with the patches beside each other
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Where editors and pipelines read.
    #[command(flatten)]
    pub ci: CiArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also print how much was tried, and what was left alone
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
}

/// Flags about the behaviour of patches, for `repair` and `validate`.
#[derive(Args, Clone, Debug, Default)]
pub struct BehaviourArgs {
    /// Compare the patches by executing them on inputs like those of the tests
    ///
    /// The report says what each patch changes, which patches do the same, and which inputs tell the others apart. The
    /// patches are ordered by it.
    #[arg(long, conflicts_with = "shard", help_heading = "Behaviour")]
    pub compare: bool,

    /// Ask you which result is right where patches differ
    ///
    /// Your answers become tests in the folder `tests` of --output.
    #[arg(long, conflicts_with = "shard", help_heading = "Behaviour")]
    pub ask: bool,

    /// Read from this file which result is right for which input
    ///
    /// Each line is JSON: {"arguments": ["-5"], "input": "", "output": "0\n", "status": 0}
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "shard",
        help_heading = "Behaviour"
    )]
    pub answers: Option<PathBuf>,

    /// Stop comparing patches after this time, their builds included
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
    /// Whether a flag asks for a comparison of patches.
    pub fn is_wanted(&self) -> bool {
        self.compare || self.ask || self.answers.is_some()
    }
}

/// Flags about proofs of patches.
#[derive(Args, Clone, Debug, Default)]
pub struct ProofArgs {
    /// Prove each reported patch for all inputs, or refute it by one input
    ///
    /// A proof says that the program's assertions hold and that its memory is used rightly.
    #[arg(long, conflicts_with = "shard", help_heading = "Proofs")]
    pub prove: bool,

    /// Prove that each patched program does the same as this reference
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

    /// Follow loops for this many rounds, and recursion for this many calls
    #[arg(
        long,
        value_name = "N",
        default_value_t = 16,
        requires = "prove",
        help_heading = "Proofs"
    )]
    pub prove_bound: u32,
}

/// A value of `--schemas`: a kind of change.
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
    /// A `for` that counts the other way round, or begins or ends at the next number
    Loop,
    /// A statement executed earlier or later in its block
    Move,
    /// A function, a loop or a switch left early, under a condition (overfits: by default only at crashes, at the beginning of a function and at the end of an `if`)
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

    /// How suspicion is computed: ochiai, tarantula, dstar (exponent 2) or op2
    #[arg(long, value_name = "NAME", default_value_t, help_heading = "Ranking")]
    pub formula: Formula,

    /// Read this many sources at once, four at most [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Ranking")]
    pub jobs: Option<usize>,

    /// Print N statements, N functions and N files, the most suspicious; 0 prints all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub top: usize,

    /// Print the sources, with the rank and the tests of each statement
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub annotate: bool,

    /// Also write a page with the coloured sources
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Where editors and pipelines read.
    #[command(flatten)]
    pub ci: CiArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Values of `--confirm`.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum ConfirmArg {
    /// One patch of each class; one build has up to eight patches of different functions
    Together,
    /// One patch of each class, each by a build of its own
    Classes,
    /// Each patch
    Each,
    /// No patch
    None,
}

/// Flags of `patchwright validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// The project, then patches: diffs, folders or -; a single argument is the patches of the project `.`
    ///
    /// A single C file may be followed by its folder of cases, if that is not `cases` beside it.
    #[arg(value_names = ["PROJECT", "PATCHES"], num_args = 1.., required_unless_present = "serve")]
    pub inputs: Vec<PathBuf>,

    /// Read JSON lines of patches from standard input as they come, and print a line for each verdict as soon as it is known
    #[arg(
        long,
        conflicts_with_all = ["json", "jsonl", "junit", "html", "stop_after", "audit", "compare", "ask", "answers", "shard"],
        help_heading = "Output"
    )]
    pub serve: bool,

    /// What the project is like.
    #[command(flatten)]
    pub description: DescriptionArgs,

    /// Drop N leading parts of the paths in diffs, as `patch` does [default: as many as fit]
    #[arg(short = 'p', long, value_name = "N", help_heading = "Patches")]
    pub strip: Option<usize>,

    /// Count the lines of all hunks, whatever their headers say
    #[arg(long, help_heading = "Patches")]
    pub recount: bool,

    /// Let patches change tests and drivers
    ///
    /// Without it, tests, drivers and the files that they read are those of the untouched tree.
    #[arg(long, help_heading = "Patches")]
    pub trust_test_changes: bool,

    /// Patches must make this test pass; may be repeated
    ///
    /// Other tests that fail on the untouched program are set aside.
    #[arg(long, value_name = "TEST", help_heading = "Validation")]
    pub must_fix: Vec<String>,

    /// Set aside all tests that fail on the untouched program, except those of --must-fix
    #[arg(long, help_heading = "Validation")]
    pub ignore_failing: bool,

    /// Run all tests on each patch, also after one has failed
    #[arg(long, help_heading = "Validation")]
    pub keep_going: bool,

    /// Stop when this many patches are plausible
    ///
    /// Patches count in the order given, and equal patches once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "shard", help_heading = "Validation")]
    pub stop_after: Option<u32>,

    /// Run the tests in their own order, not those first that fail now
    #[arg(long, help_heading = "Validation")]
    pub no_prioritize: bool,

    /// Build each patch by itself, instead of weaving many into one program
    #[arg(long, help_heading = "Validation")]
    pub no_schemata: bool,

    /// Weave even a few patches, although building each would take less time
    #[arg(long, conflicts_with = "no_schemata", help_heading = "Validation")]
    pub weave_few: bool,

    /// Test the untouched program first, also if there are few patches
    #[arg(long, help_heading = "Validation")]
    pub ask_first: bool,

    /// Execute each woven patch, instead of one of those that a test cannot tell apart
    #[arg(long, help_heading = "Validation")]
    pub no_dedup: bool,

    /// Start a woven program for each execution, instead of forking it once for each test
    #[arg(long, help_heading = "Validation")]
    pub no_virtualize: bool,

    /// Wait until the time-out of a test even if it provably never ends
    #[arg(long, help_heading = "Validation")]
    pub no_prove_endless: bool,

    /// Which plausible patches are built without weaving, and tested again
    ///
    /// Patches form a class if they change the same functions and all their tests end in the same way with the same
    /// output.
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value = "together",
        help_heading = "Validation"
    )]
    pub confirm: ConfirmArg,

    /// Also confirm this part of the plausible patches that --confirm leaves out [default: 5%, if there are more than 100
    /// patches]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Validation")]
    pub audit: Option<f64>,

    /// Run this many workers at once [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = at_least_one, help_heading = "Validation")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub behaviour: BehaviourArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    #[command(flatten)]
    pub sharding: ShardArgs,

    /// Print JSON
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,

    /// Print a line of JSON for each verdict as soon as it is known
    #[arg(long, alias = "stream", help_heading = "Output")]
    pub jsonl: bool,

    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// Also write a page with the verdicts, and the patches and tests as a heat map
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Also print where the time went, and why patches were not woven
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
}

/// The time-out of a build in commands that build often.
pub const BUILD_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(600);

/// A part of all, in percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse();
    let within = number.ok().filter(|number| (0.0..=100.0).contains(number));
    within.ok_or_else(|| format!("`{text}` is no part of a hundred; write 5%, or 0 for none"))
}

/// Reads a number of workers.
///
/// # Errors
/// A message for the user.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is no number of workers; write 1 or more")),
        Ok(number) => Ok(number),
    }
}

/// A time of a test, which may be short.
fn test_time(text: &str) -> Result<std::time::Duration, NoDuration> {
    patchwright_exec::duration::parse(text, "ms")
}
