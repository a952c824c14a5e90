//! Measures what unwinding loops costs `patchwright prove`: time, terms and clauses by the bound.

use std::{
    error::Error,
    ffi::OsString,
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use patchwright_exec::{CancelToken, Limits, Request, Runner, RunnerProgram};
use serde_json::Value;

use crate::markdown;

/// Flags of `patchwright-bench loops`.
#[derive(Args)]
pub struct Arguments {
    /// C files with a `main`
    #[arg(required = true)]
    programs: Vec<PathBuf>,
    /// Rounds of each loop
    #[arg(long, value_name = "N", num_args = 1.., default_values = ["5", "10", "20"])]
    bounds: Vec<u32>,
    /// Time for each proof
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = crate::time::time)]
    budget: Duration,
    /// The binary `patchwright` [default: the one beside this]
    #[arg(long, value_name = "FILE")]
    patchwright: Option<PathBuf>,
    /// Write the table into this file, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// Measures and prints the table.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let binary = match &arguments.patchwright {
        Some(file) => std::path::absolute(file)?,
        None => std::env::current_exe()?.with_file_name("patchwright"),
    };
    let mut runner = Runner::start(
        &RunnerProgram::current_exe(["__runner"])?,
        None,
        CancelToken::new()?,
    )?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut text = format!(
        "# Loops in proofs, by the bound\n\n    patchwright-bench {}\n\n\
         | program | bound | verdict | encode | decide | terms | variables | clauses | questions | conflicts | MiB |\n\
         | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        words.join(" ")
    );
    let mut all_done = true;
    for program in &arguments.programs {
        for &bound in &arguments.bounds {
            let row = row(&mut runner, &binary, program, bound, arguments.budget)?;
            all_done &= row.is_some();
            let name = program.file_stem().unwrap_or_default().to_string_lossy();
            let row = row.unwrap_or_else(|| "no answer | | | | | | | |".to_owned());
            let _ = writeln!(text, "| {name} | {bound} | {row} |");
        }
    }
    markdown::print(&text, arguments.markdown.as_deref())?;
    Ok(all_done)
}

/// One proof; nothing where it does not end.
fn row(
    runner: &mut Runner,
    binary: &Path,
    program: &Path,
    bound: u32,
    budget: Duration,
) -> Result<Option<String>, Box<dyn Error>> {
    let program = std::path::absolute(program)?;
    let given: [OsString; 6] = [
        "prove".into(),
        program.clone().into(),
        "--bound".into(),
        bound.to_string().into(),
        "--stats".into(),
        "--json".into(),
    ];
    let folder = program.parent().unwrap_or(Path::new("."));
    let request = Request::new(binary, folder).args(given).limits(Limits {
        wall: budget,
        ..Limits::for_build()
    });
    let outcome = runner.run(&request)?;
    let Ok(report) = serde_json::from_slice::<Value>(&outcome.stdout) else {
        return Ok(None);
    };
    let stats = &report["stats"];
    let number = |name: &str| stats[name].as_u64().unwrap_or_default();
    let phase = |name: &str| {
        let all = stats["seconds"].as_array().into_iter().flatten();
        let own = all.filter(|one| one[0] == name);
        own.filter_map(|one| one[1].as_f64()).sum::<f64>()
    };
    let verdict = report["verdict"].as_str().unwrap_or_default();
    Ok(Some(format!(
        "{verdict} | {:.2} s | {:.2} s | {} | {} | {} | {} | {} | {}",
        phase("encode"),
        phase("decide"),
        number("terms"),
        number("variables"),
        number("clauses"),
        number("calls"),
        number("conflicts"),
        number("memory")
    )))
}
