//! Measures how soon `patchwright compare` finds the behaviour of a mutant, by the order in which inputs
//! are explored: the table of figure 3.8 of the thesis, for programs of our own.

mod mutants;

use std::{
    error::Error,
    ffi::OsString,
    fmt::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use patchwright_exec::{
    CancelToken, Limits, Request, Runner, RunnerProgram, Scratch, duration, files,
};
use serde_json::Value;

use crate::{markdown, statistics::median};
use mutants::{Mutant, mutants};

/// Flags of `patchwright-bench strategies`.
#[derive(Args)]
pub struct Arguments {
    /// C files with a `main`
    #[arg(required = true)]
    programs: Vec<PathBuf>,
    /// Mutants of each program
    #[arg(long, value_name = "N", default_value_t = 20)]
    mutants: usize,
    /// Time for each mutant and strategy
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::time::time)]
    budget: Duration,
    /// Only these strategies
    #[arg(long, value_name = "ORDER", num_args = 1.., default_values = ["prv", "changed-paths", "all-paths"])]
    strategies: Vec<String>,
    /// Rounds of each loop, and calls of a function within itself
    #[arg(long, value_name = "N", default_value_t = 16)]
    bound: u32,
    /// Bytes of standard input at most
    #[arg(long, value_name = "N", default_value_t = 64)]
    input: u32,
    /// Also with executions, as the command does by default
    #[arg(long)]
    executions: bool,
    /// The binary `patchwright` [default: the one beside this]
    #[arg(long, value_name = "FILE")]
    patchwright: Option<PathBuf>,
    /// Write the table into this file, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print a line for each mutant to standard error
    #[arg(long)]
    list: bool,
}

/// What came of one mutant.
#[derive(Default)]
struct Found {
    verdict: String,
    /// Seconds from when both versions were read to the first difference.
    first: Option<f64>,
    seconds: f64,
    partitions: u64,
    calls: u64,
}

impl Found {
    fn differs(&self) -> bool {
        matches!(self.verdict.as_str(), "different" | "seen-different")
    }

    fn is_same(&self) -> bool {
        matches!(self.verdict.as_str(), "equal" | "same-code")
    }
}

/// Measures and prints the table.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let binary = match &arguments.patchwright {
        Some(file) => std::path::absolute(file)?,
        None => std::env::current_exe()?.with_file_name("patchwright"),
    };
    let scratch = Scratch::in_default_place()?;
    let mut runner = Runner::start(
        &RunnerProgram::current_exe(["__runner"])?,
        None,
        CancelToken::new()?,
    )?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut table = format!(
        "# How soon differences are found, by strategy\n\n    patchwright-bench {}\n\n",
        words.join(" ")
    );
    table.push_str(
        "| program | strategy | mutants | the same | shown different | of those that may differ | first difference, median | partitions | questions |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut all_done = true;
    for program in &arguments.programs {
        let source = String::from_utf8(files::read(program)?)
            .map_err(|_| format!("{}: this is no text", program.display()))?;
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let folder = scratch.path().join(&*name);
        files::create_folder(&folder)?;
        let all = mutants(&source, arguments.mutants);
        let mut found: Vec<Vec<Option<Found>>> = Vec::new();
        for (number, mutant) in all.iter().enumerate() {
            let file = folder.join(format!("mutant-{number}.c"));
            files::write_atomic(&file, mutant.text.as_bytes())?;
            let mut own = Vec::new();
            for strategy in &arguments.strategies {
                let one = compare(&mut runner, &binary, program, &file, strategy, arguments)?;
                tell(arguments, &name, mutant, strategy, one.as_ref());
                own.push(one);
            }
            found.push(own);
        }
        for (at, strategy) in arguments.strategies.iter().enumerate() {
            // What no strategy could read is no mutant.
            let own: Vec<&Found> = found.iter().filter_map(|one| one[at].as_ref()).collect();
            all_done &= !own.is_empty();
            // Proved by one strategy, it is the same for all.
            let same = found.iter().filter(|one| {
                let mut all = one.iter().flatten();
                all.any(Found::is_same)
            });
            let _ = writeln!(table, "{}", row(&name, strategy, &own, same.count()));
        }
    }
    let text = format!(
        "{table}\nEach mutant had {} with each strategy{}; loops have at most {} rounds, standard input {} bytes. \"First difference\" is counted from when both \
         versions are read.\n",
        duration::written(arguments.budget),
        match arguments.executions {
            true => ", executions included",
            false => ", without executions",
        },
        arguments.bound,
        arguments.input
    );
    markdown::print(&text, arguments.markdown.as_deref())?;
    Ok(all_done)
}

fn tell(arguments: &Arguments, name: &str, mutant: &Mutant, strategy: &str, found: Option<&Found>) {
    if !arguments.list {
        return;
    }
    let line = match found {
        None => "does not build".to_owned(),
        Some(found) => format!(
            "{} after {:.3} s ({:.1} s in all, {} partitions)",
            found.verdict,
            found.first.unwrap_or_default(),
            found.seconds,
            found.partitions
        ),
    };
    eprintln!(
        "{name}:{} {} {strategy}: {line}",
        mutant.line, mutant.change
    );
}

fn row(name: &str, strategy: &str, found: &[&Found], same: usize) -> String {
    let differ = found.iter().filter(|one| one.differs()).count();
    let may = found.len().saturating_sub(same);
    let mut first: Vec<f64> = found.iter().filter_map(|one| one.first).collect();
    first.sort_by(f64::total_cmp);
    let first = match first.is_empty() {
        true => "–".to_owned(),
        false => format!("{:.2} s", median(&first)),
    };
    let sum = |of: fn(&Found) -> u64| found.iter().map(|one| of(one)).sum::<u64>();
    format!(
        "| {name} | {strategy} | {} | {same} | {differ} | {:.0} % | {first} | {} | {} |",
        found.len(),
        100.0 * differ as f64 / may.max(1) as f64,
        sum(|one| one.partitions),
        sum(|one| one.calls)
    )
}

/// One comparison; nothing if a version cannot be read.
fn compare(
    runner: &mut Runner,
    binary: &Path,
    old: &Path,
    new: &Path,
    strategy: &str,
    arguments: &Arguments,
) -> Result<Option<Found>, Box<dyn Error>> {
    let mut given: Vec<OsString> = vec![
        "compare".into(),
        std::path::absolute(old)?.into(),
        new.into(),
        "--strategy".into(),
        strategy.into(),
        "--budget".into(),
        duration::written(arguments.budget).into(),
        "--bound".into(),
        arguments.bound.to_string().into(),
        "--input".into(),
        arguments.input.to_string().into(),
        "--json".into(),
        "--different".into(),
        "1".into(),
        "--equal".into(),
        "0".into(),
    ];
    if !arguments.executions {
        given.push("--no-native".into());
    }
    let folder = new.parent().unwrap_or(Path::new("."));
    // What is not about exploring takes its time, too.
    let wall = 2 * arguments.budget + Duration::from_secs(60);
    let request = Request::new(binary, folder).args(given).limits(Limits {
        wall,
        ..Limits::for_build()
    });
    let started = Instant::now();
    let outcome = runner.run(&request)?;
    let seconds = started.elapsed().as_secs_f64();
    let Ok(report) = serde_json::from_slice::<Value>(&outcome.stdout) else {
        return Ok(None);
    };
    let number = |name: &str| report[name].as_u64().unwrap_or_default();
    let first = report["seconds"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one[0] == "first difference")
        .and_then(|one| one[1].as_f64());
    Ok(Some(Found {
        verdict: report["verdict"].as_str().unwrap_or_default().to_owned(),
        first,
        seconds,
        partitions: number("partitions_made"),
        calls: number("solver_calls"),
    }))
}
