//! `patchwright-bench`: measures Patchwright. Every table of the documentation is printed by one of
//! its subcommands, so that anyone can make it again.

mod interpreter;
mod locations;
mod lowering;
mod programs;

use std::{path::PathBuf, process::ExitCode};

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
        /// Folders of built programs that have a compile_commands.json
        projects: Vec<PathBuf>,
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
        /// Folders of built programs that have a compile_commands.json
        projects: Vec<PathBuf>,
        /// Name each function that is not lowered as a whole
        #[arg(long)]
        list: bool,
    },
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
        Command::Locations { projects, check } => locations::run(&projects, check),
        Command::Interpreter {
            programs,
            csmith,
            seed,
            keep,
        } => interpreter::run(programs, csmith, seed, keep.as_deref()),
        Command::Lowering { projects, list } => lowering::run(&projects, list),
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
