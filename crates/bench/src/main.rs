//! `patchwright-bench`: measures Patchwright. Every table of the documentation is printed by one of
//! its subcommands, so that anyone can make it again.

mod agreement;
mod compiled;
mod complexity;
mod corebench;
mod differential;
mod fixes;
mod forms;
mod graphs;
mod interpreter;
mod kinds;
mod likelihood;
mod locations;
mod loops;
mod lowering;
mod markdown;
mod overhead;
mod plot;
mod programs;
mod random;
mod repairs;
mod sample;
mod shards;
mod slices;
mod statistics;
mod strategies;
mod time;
mod validation;
mod validation_report;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Measures Patchwright
#[derive(Parser)]
#[command(name = "patchwright-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Counts the functions and expressions of built programs that can be locations, and why the
    /// others cannot; prints a Markdown table
    Locations {
        /// Folders of programs: with a compile_commands.json, or with a build command, which is
        /// watched
        #[arg(required = true)]
        projects: Vec<PathBuf>,
        /// The build command, run from each program's folder, instead of the one in its
        /// patchwright.toml
        #[arg(long, value_name = "CMD")]
        build: Option<OsString>,
        /// Also put parentheses round every editable expression of each file at once, compile it
        /// without optimisation, and compare the object code with that of the file as it is
        #[arg(long)]
        check: bool,
    },
    /// Executes generated programs in the interpreter and compiled by gcc and clang, with and
    /// without optimisation, and compares what they print and their exit status
    Interpreter {
        /// Number of programs of our own generator
        #[arg(long, value_name = "N", default_value_t = 100)]
        programs: u64,
        /// Number of programs about forms of expressions and types
        #[arg(long, default_value_t = 0)]
        forms: u64,
        /// Number of programs of csmith, which must be installed
        #[arg(long, value_name = "N", default_value_t = 0)]
        csmith: u64,
        /// The first seed
        #[arg(long, value_name = "SEED", default_value_t = 1)]
        seed: u64,
        /// Write the programs that differ into this folder
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// Counts the functions of built programs that are lowered to the IR as a whole, and why the
    /// others are not; verifies the IR and reads its text form back
    Lowering {
        /// Folders of programs
        projects: Vec<PathBuf>,
        /// The shell command that builds each of them, where there is no compile database
        #[arg(long, value_name = "CMD")]
        build: Option<OsString>,
        /// Name each function that is not lowered as a whole
        #[arg(long)]
        list: bool,
    },
    /// Takes slices of generated programs: what a program computes must be the same when it is
    /// reduced to the slice, and what contributes in an execution must be in it
    Slices {
        /// Number of programs
        #[arg(long, value_name = "N", default_value_t = 100)]
        programs: u64,
        /// The first seed
        #[arg(long, value_name = "SEED", default_value_t = 1)]
        seed: u64,
        /// Write the programs whose slices are wrong into this folder
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// Builds the dependence graphs of built programs' sources, each by itself, and slices them;
    /// prints sizes, times and memory
    Graphs {
        /// Folders of programs
        #[arg(required = true)]
        projects: Vec<PathBuf>,
        /// The shell command that builds each of them, where there is no compile database
        #[arg(long, value_name = "CMD")]
        build: Option<OsString>,
        /// Only sources whose paths end so
        #[arg(long, value_name = "NAME", num_args = 1..)]
        sources: Vec<String>,
    },
    /// Explores a part of a project's space, and compares a sample of the verdicts with those of
    /// plainly compiling and running the candidates; fails if any differs
    Differential(differential::Arguments),
    /// Explores small programs, and compares thousands of verdicts with those of plainly compiling and running each
    /// candidate, hundreds of them in one program; fails if any differs
    Agreement(agreement::Arguments),
    /// Prints a sample of the candidates of a project's own space, as JSON lines for `patchwright
    /// validate`
    SampleSpace(sample::Arguments),
    /// Times a program as it is and instrumented, alternately, and prints the ratios
    Overhead(overhead::Arguments),
    /// Repairs a list of projects with test-equivalence classes and without, with each relation, and explores
    /// whole spaces; prints Markdown tables
    Repair(repairs::Arguments),
    /// Validates a set of patches plainly, and again with each technique added to those before it;
    /// compares the verdicts, and prints a Markdown table
    Validate {
        /// The project's folder, with a patchwright.toml
        project: PathBuf,
        /// The patches, as for `patchwright validate`
        #[arg(required = true)]
        patches: Vec<PathBuf>,
        /// Measure each step, not only plain validation and all techniques together
        #[arg(long)]
        steps: bool,
        /// Workers
        #[arg(short, value_name = "N", default_value_t = 2)]
        jobs: usize,
        /// Take the results of plain validation from this file if it is there, else write them to it
        #[arg(long, value_name = "FILE")]
        plain: Option<PathBuf>,
        /// Validate only N patches plainly, chosen at random (always the same ones), and extrapolate what the
        /// others would take; the verdicts of these N are compared
        #[arg(long, value_name = "N")]
        plain_sample: Option<usize>,
        /// Add the results to this file of JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Plot the times of all sets in the file of JSON
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Prints all results in a file that `validate --json` has written as a Markdown table, with geometric means
    ValidateReport {
        /// The file
        results: PathBuf,
        /// Plot the times of all sets
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Measures the complexity of the commits of a range, and what measuring takes
    Complexity {
        /// A folder in a git repository
        repository: PathBuf,
        /// The range, A..B
        range: String,
        /// Only the newest commits
        #[arg(short = 'n')]
        limit: Option<usize>,
        /// Follow calls through all C files of each revision
        #[arg(long)]
        whole_program: bool,
    },
    /// Measures errors by the commits that introduced and fixed them: prints figures 5.7 to 5.12 of the thesis as
    /// Markdown tables
    Corebench(corebench::Arguments),
    /// Compares programs with mutants of them, with each order of looking at inputs: prints the table of figure 3.8 of
    /// the thesis
    Strategies(strategies::Arguments),
    /// Finds small fixes in the histories of C programs, and each of them among all candidates of its function: prints how many are in the space, of
    /// which kind, and at which rank
    Fixes(fixes::Arguments),
    /// Undoes right programs by likely mistakes, and repairs them again: prints how often that works for each form of the
    /// right change, at which rank, and what it costs
    Kinds(kinds::Arguments),
    /// Fits how likely candidates are to what `fixes --data` has found: prints what that gives for repositories that were not looked at
    Likelihood(likelihood::Arguments),
    /// Simulates a validation on many workers, by the times that some parts of it took: set-up, stragglers, and work that is no longer shared
    Shards(shards::Arguments),
    /// Proves programs with loops, with each bound: prints what that costs as a Markdown table
    Loops(loops::Arguments),
    #[command(name = "__runner", hide = true)]
    Runner,
}

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "__runner")
    {
        patchwright_exec::supervisor_main();
    }
    let result = match Cli::parse().command {
        Command::Locations {
            projects,
            build,
            check,
        } => locations::run(&projects, build.as_deref(), check),
        Command::Differential(arguments) => differential::run(&arguments),
        Command::Agreement(arguments) => agreement::run(&arguments),
        Command::SampleSpace(arguments) => sample::run(&arguments),
        Command::Repair(arguments) => repairs::run(&arguments),
        Command::Overhead(arguments) => overhead::run(&arguments),
        Command::Validate {
            project,
            patches,
            steps,
            jobs,
            plain,
            plain_sample,
            json,
            svg,
        } => validation::run(&validation::Request {
            project: &project,
            patches: &patches,
            steps,
            jobs,
            plain: plain.as_deref(),
            plain_sample,
            results: json.as_deref(),
            svg: svg.as_deref(),
        }),
        Command::ValidateReport { results, svg } => {
            validation_report::run(&results, svg.as_deref())
        }
        Command::Complexity {
            repository,
            range,
            limit,
            whole_program,
        } => complexity::run(&repository, &range, limit, whole_program).map_err(Into::into),
        Command::Corebench(arguments) => corebench::run(&arguments),
        Command::Strategies(arguments) => strategies::run(&arguments),
        Command::Fixes(arguments) => fixes::run(&arguments),
        Command::Likelihood(arguments) => likelihood::run(&arguments),
        Command::Kinds(arguments) => kinds::run(&arguments),
        Command::Loops(arguments) => loops::run(&arguments),
        Command::Shards(arguments) => shards::run(&arguments),
        Command::Interpreter {
            programs,
            forms,
            csmith,
            seed,
            keep,
        } => interpreter::run([programs, forms, csmith], seed, keep.as_deref()),
        Command::Slices {
            programs,
            seed,
            keep,
        } => slices::run(programs, seed, keep.as_deref()),
        Command::Graphs {
            projects,
            build,
            sources,
        } => graphs::run(&projects, build.as_deref(), &sources),
        Command::Lowering {
            projects,
            build,
            list,
        } => lowering::run(&projects, build.as_deref(), list),
        Command::Runner => patchwright_exec::supervisor_main(),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("patchwright-bench: error: {error}");
            ExitCode::from(2)
        }
    }
}
