//! The flags about output: how much is shown, and in colour or not.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use patchwright_exec::{FileError, timeline};
use tracing_subscriber::filter::LevelFilter;

/// Flags of all commands about output.
#[derive(Args, Clone, Debug, Default)]
pub struct ShownArgs {
    /// Show only results, warnings and errors
    #[arg(short, long, global = true, help_heading = "Display")]
    pub quiet: bool,

    /// Show each step; twice: with details
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet", help_heading = "Display")]
    pub verbose: u8,

    /// Also write what was done when to this file, for viewers of Chrome's trace format
    #[arg(long, global = true, value_name = "FILE", help_heading = "Display")]
    pub trace: Option<PathBuf>,

    /// Colour the results
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Display"
    )]
    pub color: Color,
}

/// When results are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

static SHOWN: OnceLock<ShownArgs> = OnceLock::new();

/// Sets what is shown from now on.
pub fn set(args: ShownArgs) {
    if args.trace.is_some() {
        timeline::keep();
    }
    let _ = SHOWN.set(args);
}

fn shown() -> ShownArgs {
    SHOWN.get().cloned().unwrap_or_default()
}

/// Writes the trace, if one is wanted.
///
/// # Errors
/// A file that cannot be written.
pub fn write_trace() -> Result<(), FileError> {
    let Some(file) = shown().trace else {
        return Ok(());
    };
    let left_out = timeline::write(&file)?;
    if left_out > 0 {
        eprintln!(
            "patchwright: warning: {left_out} commands are not in the trace: there are too many"
        );
    }
    Ok(())
}

/// Whether standard output is coloured.
pub fn colour() -> bool {
    match shown().color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Whether neither progress nor notes are shown.
pub fn is_quiet() -> bool {
    shown().quiet
}

/// Returns the level of the log, unless the environment sets it.
pub fn diagnostics(args: &ShownArgs) -> LevelFilter {
    match args.verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    }
}
