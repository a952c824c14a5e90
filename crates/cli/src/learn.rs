//! `patchwright learn`: how likely changes are in a project, by its history.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use patchwright_changes::git::History;
use patchwright_exec::files;
use patchwright_history::small_fixes::SmallFixes;
use patchwright_repair::likelihood::{
    Traits, Weights,
    learned::{Learned, learn},
    untyped,
};

use crate::Exit;

/// Where a project has its likelihoods.
const FILE: &str = ".patchwright/likelihood.toml";

/// The largest number of shifts that are shown.
const MOST_SHOWN: usize = 12;

/// Shifts of fewer bits are not shown.
const LEAST_SHOWN: f64 = 0.05;

/// So often it is said how far the reading is.
const PACE: Duration = Duration::from_secs(10);

/// Flags of `patchwright learn`.
#[derive(Args, Debug)]
pub struct LearnArgs {
    /// The git repository, or a folder in it
    #[arg(value_name = "REPOSITORY", default_value = ".")]
    pub repository: PathBuf,

    /// Read at most the N newest small fixes
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2000,
        help_heading = "Search"
    )]
    pub most: usize,

    /// Write nothing: only show what the history says
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub print: bool,

    /// Write the likelihoods to this file [default: .patchwright/likelihood.toml in REPOSITORY]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// Runs `patchwright learn`: reads the history, shows what it says, and writes the likelihoods. Returns the exit status.
pub fn run(args: &LearnArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
    }
}

fn try_run(args: &LearnArgs) -> Result<Exit, String> {
    let history = History::open(&args.repository).map_err(|error| error.to_string())?;
    let mut fixes = SmallFixes::of(&history).map_err(|error| error.to_string())?;
    let mut learned: Vec<Traits> = Vec::new();
    let mut told = Instant::now();
    while learned.len() < args.most
        && let Some(fix) = fixes.next()
    {
        let fix = fix.map_err(|error| error.to_string())?;
        learned.extend(untyped(&fix.old, &fix.new));
        if told.elapsed() >= PACE {
            told = Instant::now();
            let (commits, found) = (fixes.counts.commits, learned.len());
            eprintln!("patchwright: {commits} commits read, {found} small fixes found");
        }
    }
    let counts = fixes.counts;
    println!(
        "{} commits were read. {} mend something, {} of these are small, and {} change one place of one function.",
        counts.commits,
        counts.fixes,
        counts.small,
        learned.len()
    );
    if learned.is_empty() {
        println!("Nothing is learned from that, so nothing is written.");
        return Ok(Exit::Nothing);
    }
    let learned = learn(&learned);
    print!("{}", table(&learned));
    if args.print {
        return Ok(Exit::Found);
    }
    let path = match &args.output {
        Some(path) => path.clone(),
        None => {
            let path = args.repository.join(FILE);
            if let Some(folder) = path.parent() {
                files::create_output_folder(folder).map_err(|error| error.to_string())?;
            }
            path
        }
    };
    files::write_atomic(&path, learned.toml().as_bytes()).map_err(|error| error.to_string())?;
    println!("Written to {}.", path.display());
    Ok(Exit::Found)
}

/// The largest shifts as a table.
fn table(learned: &Learned) -> String {
    let mut out = String::new();
    let shown = learned.shifts.iter();
    let shown = shown.filter(|shift| shift.bits.abs() >= LEAST_SHOWN);
    let shown: Vec<_> = shown.take(MOST_SHOWN).collect();
    if shown.is_empty() {
        return "People mend things here as they do elsewhere.\n".to_owned();
    }
    let name = |name: &str| name.replace('=', " ");
    let width = shown.iter().map(|shift| shift.name.len()).max();
    let width = width.unwrap_or_default();
    let _ = writeln!(out, "\n{:width$}  elsewhere    here  likelier by", "change");
    for shift in shown {
        let _ = writeln!(
            out,
            "{:width$}  {:7.1} % {:7}  {:+.2} bits",
            name(&shift.name),
            100.0 * shift.elsewhere,
            shift.here,
            shift.bits
        );
    }
    out.push('\n');
    out
}

/// The likelihoods of a project: what was learned from its history, or what this version was made with. Likelihoods of the project's own are
/// named on standard error.
///
/// # Errors
/// If the project's file cannot be read, or holds no likelihoods.
pub(crate) fn weights(project: &Path) -> Result<Arc<Weights>, String> {
    let path = project.join(FILE);
    if !path.is_file() {
        return Ok(Arc::new(Weights::fitted().clone()));
    }
    if !crate::shown::is_quiet() {
        eprintln!("patchwright: the likelihoods of changes are those of {FILE}");
    }
    let bytes = files::read(&path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let weights = Weights::read(&text).map_err(|error| {
        format!(
            "{}: {error}; `patchwright learn` writes it anew",
            path.display()
        )
    })?;
    Ok(Arc::new(weights))
}
