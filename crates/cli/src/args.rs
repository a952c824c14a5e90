//! The command line, the one definition behind help, completions and the man page.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};

/// Repairs C programs: from a failing test suite to the cheapest patches that pass it.
#[derive(Parser, Debug)]
#[command(name = "patchwright", version, about, arg_required_else_help = true)]
#[command(after_help = "\
Exit status: 0 done, something was found; 1 done, nothing was found; 2 the input is wrong; \
3 the project does not build or its tests are no basis; 4 interrupted; 70 a bug of Patchwright.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Find the cheapest patches with which every test passes
    #[command(long_about = "\
Finds the cheapest patches with which every test passes.

The tests that fail now show the bug; the tests that pass now must still pass. The project is \
copied, so nothing is ever written to its own tree. Every patch that is printed has been applied \
to a clean copy, rebuilt, and has passed all tests.

PROJECT is a folder, described by flags or by a file patchwright.toml in it; or a single C file, \
with a folder of cases: NAME.out is the expected output of each, NAME.in its input, NAME.args its \
arguments.")]
    Repair(Box<RepairArgs>),
    /// Execute a program in the interpreter, which reports undefined behaviour
    #[command(long_about = "\
Executes a program in the interpreter: C files that are linked together, with the arguments after \
`--`, the standard streams, files and environment that it would have as a process.

Memory is checked for bounds, lifetimes and values; undefined behaviour ends the execution with its \
kind and its place. The C library is modelled, in the locale C and the time zone UTC; what has no \
model is named when it is called.

Exit status: that of the program; 134 after abort; 121 undefined behaviour; 122 something that the \
interpreter does not support; 123 a limit is reached; 2 the input is wrong.")]
    Run(Box<RunArgs>),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(name = "man", hide = true)]
    Man,
    /// Run programs for another Patchwright
    #[command(name = "__runner", hide = true)]
    Runner,
}

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

/// Flags of `patchwright repair`.
#[derive(Args, Debug)]
pub struct RepairArgs {
    /// The project's folder, or a single C file
    pub project: PathBuf,

    /// The folder of cases, for a single C file [default: `cases` beside it]
    #[arg(value_name = "CASES")]
    pub case_folder: Option<PathBuf>,

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

    /// Time after which a test has failed, in milliseconds [default: five times what it takes now]
    #[arg(long, value_name = "MS", help_heading = "Project")]
    pub test_timeout: Option<u64>,

    /// Change only these files, or these lines of them
    #[arg(long, value_name = "FILE[:LINE[-LINE]]", num_args = 1.., help_heading = "Search")]
    pub files: Vec<OsString>,

    /// Explore the whole space and report a patch of every plausible class
    #[arg(long, help_heading = "Search")]
    pub all: bool,

    /// Stop at the first plausible patch
    #[arg(long, conflicts_with = "all", help_heading = "Search")]
    pub first: bool,

    /// Most patches to report
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Search")]
    pub max_patches: usize,

    /// Do not try patches that add, change and remove more nodes of the program than this
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Search")]
    pub max_cost: u32,

    /// Let terms grow until a location has this many candidates
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

    /// Stop searching after this time, such as 30s, 10m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    pub budget: Option<std::time::Duration>,

    /// Go on although no test passes
    #[arg(long, help_heading = "Search")]
    pub allow_all_failing: bool,

    /// Number of workers [default: the number of processors]
    #[arg(short, value_name = "N", help_heading = "Search")]
    pub jobs: Option<usize>,

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

fn duration(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let number: u64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no time; write 30s, 10m or 1h"))?;
    let seconds = match unit {
        "" | "s" => number,
        "m" => number * 60,
        "h" => number * 3600,
        _ => return Err(format!("`{text}` is no time; write 30s, 10m or 1h")),
    };
    Ok(std::time::Duration::from_secs(seconds))
}
