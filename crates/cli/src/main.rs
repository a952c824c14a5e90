//! The `patchwright` command line: flags and glue.

#[macro_use]
mod out;

mod applied;
mod args;
mod assume;
mod behaviour;
mod cached;
mod changed;
mod ci;
mod commands;
mod compare;
mod complexity;
mod doctor;
mod drawing;
mod early;
mod encoded;
mod exit;
mod help;
mod init;
mod inputs;
mod interactive;
mod ir;
mod kinds;
mod learn;
mod limits;
mod localize;
mod manual;
mod merge;
mod mutants;
mod places;
mod progress;
mod project;
mod proofs;
mod proposing;
mod protection;
mod prove;
mod regression;
mod repair;
mod resources;
mod run;
mod serve;
mod shards;
mod shown;
mod signals;
mod slice;
mod sources;
mod state;
mod times;
mod validate;
mod words;

use std::any::Any;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use commands::{Cli, Command};
pub use exit::Exit;

fn main() -> ExitCode {
    // Before anything else: a supervisor is a small process.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "__runner")
    {
        patchwright_exec::supervisor_main();
    }
    let given: Vec<OsString> = std::env::args_os().collect();
    let command = help::command(help::is_full(&given));
    let given = words::with_separate_tests(given, &command);
    let cli = match command
        .try_get_matches_from(&given)
        .and_then(|matches| Cli::from_arg_matches(&matches))
    {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(told) = words::told(&error, &given) {
                out::tell(&told);
                return Exit::BadInput.into();
            }
            let printed = out::closed().map_or_else(|| error.print(), Err);
            if let (false, Err(error)) = (error.use_stderr(), printed) {
                return not_printed(&error).into();
            }
            return if error.use_stderr() {
                Exit::BadInput.into()
            } else {
                Exit::Found.into()
            };
        }
    };
    // What `run` executes decides itself what it does then, as a process would.
    if let (Some(error), false) = (out::closed(), matches!(cli.command, Command::Run(_))) {
        return not_printed(&error).into();
    }
    shown::set(cli.shown.clone());
    let targets = std::env::var("PATCHWRIGHT_LOG")
        .ok()
        .and_then(|filter| filter.parse().ok())
        .unwrap_or_else(|| Targets::new().with_default(shown::diagnostics(&cli.shown)));
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(|| out::Errors)
        .finish()
        .with(targets)
        .init();
    resources::prepare();
    stay_quiet_without_bugs();
    if let Command::Run(args) = &cli.command {
        // Its status is the one of the program that is executed.
        return match std::panic::catch_unwind(|| run::run(args)) {
            Ok(status) => status.into(),
            Err(panic) => after(&*panic),
        };
    }
    let exit = std::panic::catch_unwind(|| match cli.command {
        Command::Init(args) => init::run(&args),
        Command::Doctor => doctor::run(),
        Command::Repair(args) => repair::run(&args),
        Command::Run(_) => unreachable!("it has returned above"),
        Command::Ir(args) => ir::run(&args),
        Command::Slice(args) => slice::run(&args),
        Command::Prove(args) => prove::run(&args),
        Command::Localize(args) => localize::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Mutants(args) => mutants::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Kinds(args) => kinds::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Complexity(args) => complexity::run(&args),
        Command::Regression(args) => regression::run(&args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut help::command(true), "patchwright", &mut text);
            print(&text)
        }
        Command::Man { folder: None } => match manual::page(help::command(true)) {
            Some(text) => print(&text),
            None => Exit::Bug,
        },
        Command::Man {
            folder: Some(folder),
        } => match manual::write(help::command(true), &folder) {
            Ok(Some(())) => Exit::Found,
            Ok(None) => Exit::Bug,
            Err(error) => {
                eprintln!("patchwright: error: {error}");
                Exit::BadInput
            }
        },
        Command::Runner => patchwright_exec::supervisor_main(),
    });
    if let Err(error) = shown::write_trace() {
        eprintln!("patchwright: error: {error}");
        return Exit::BadInput.into();
    }
    match exit {
        Ok(exit) => exit.into(),
        Err(panic) => after(&*panic),
    }
}

/// Prints a page, and says with which status to end.
fn print(text: &[u8]) -> Exit {
    match out::write(&String::from_utf8_lossy(text)) {
        Ok(()) => Exit::Found,
        Err(error) => not_printed(&error),
    }
}

/// Says why standard output was not written; the status to end with.
fn not_printed(error: &std::io::Error) -> Exit {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Exit::OutputClosed;
    }
    out::tell(&format!("{}\n", resources::unwritable(error)));
    Exit::BadInput
}

/// Takes the message from panics that are no bugs. They unwind as all do, so that copies are removed.
fn stay_quiet_without_bugs() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().map(str::to_owned);
        if text.is_none_or(|text| resources::refused(&text).is_none()) {
            match std::env::var_os("RUST_BACKTRACE") {
                // It may hold anything, but who asks for it is one of us.
                Some(_) => usual(info),
                None => out::tell(&format!("{info}\n")),
            }
        }
    }));
}

/// The status after a panic.
fn after(payload: &(dyn Any + Send)) -> ExitCode {
    let message = match resources::refused(payload) {
        Some(refused) => match resources::told(&refused) {
            None => return Exit::OutputClosed.into(),
            Some(message) => {
                out::tell(&format!("{message}\n"));
                return Exit::BadInput.into();
            }
        },
        None => "patchwright: this is a bug of Patchwright; please report it with the lines above",
    };
    // Perhaps nobody reads.
    out::tell(&format!("{message}\n"));
    Exit::Bug.into()
}
