//! Measures how many functions of real programs the IR can express.

use std::{collections::BTreeMap, error::Error, ffi::OsStr, path::PathBuf};

use patchwright_csource::ParseError;
use patchwright_ir::{Module, print_module, read_module, verify};

use crate::locations::each_source;

#[derive(Default)]
struct Row {
    files: usize,
    functions: usize,
    whole: usize,
    instructions: usize,
    globals_unsupported: usize,
    reasons: BTreeMap<String, usize>,
    problems: Vec<String>,
}

/// Prints the table. The result is false if the IR of a function violates an invariant, or if its text
/// does not read back. Functions of headers count once for each file that includes them.
pub fn run(
    projects: &[PathBuf],
    build: Option<&OsStr>,
    list: bool,
) -> Result<bool, Box<dyn Error>> {
    let mut rows = Vec::new();
    for project in projects {
        let mut row = Row::default();
        row.files = each_source(project, build, &mut |source| {
            // One of the ways in which it is compiled.
            let command = &source.commands[0];
            let runner = &mut source.worker.runner;
            let unit = match patchwright_csource::parse(source.clang, runner, command, source.text)
            {
                Ok(unit) => unit,
                Err(error @ ParseError::Rejected { .. }) => {
                    eprintln!("{error}");
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            let module = patchwright_lower::lower(&unit, &command.file.to_string_lossy());
            count(&module, &source.name, list, &mut row);
            Ok(())
        })?;
        let name = project
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for problem in &row.problems {
            eprintln!("{name}: {problem}");
        }
        rows.push((name, row));
    }
    println!(
        "| program | files | functions | lowered as a whole | | IR instructions | objects without initial value |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, row) in &rows {
        println!(
            "| {name} | {} | {} | {} | {:.2} % | {} | {} |",
            row.files,
            row.functions,
            row.whole,
            100.0 * row.whole as f64 / row.functions.max(1) as f64,
            row.instructions,
            row.globals_unsupported,
        );
        for (reason, count) in &row.reasons {
            *reasons.entry(reason).or_default() += count;
        }
    }
    println!("\n| why a function is not lowered as a whole | functions |\n| --- | ---: |");
    for (reason, count) in reasons {
        println!("| {reason} | {count} |");
    }
    Ok(rows.iter().all(|(_, row)| row.problems.is_empty()))
}

fn count(module: &Module, name: &str, list: bool, row: &mut Row) {
    if let Err(violations) = verify(module) {
        row.problems.extend(
            violations
                .iter()
                .take(3)
                .map(|violation| format!("{name}: {violation}")),
        );
    }
    let text = print_module(module);
    match read_module(&text) {
        Ok(again) if again == *module => {}
        Ok(_) => row
            .problems
            .push(format!("{name}: the text reads back to something else")),
        Err(error) => row.problems.push(format!("{name}: {error}")),
    }
    for global in &module.globals {
        if let Some(reason) = &global.unsupported {
            row.globals_unsupported += 1;
            if list {
                eprintln!("{name}: object {}: {reason}", global.name);
            }
        }
    }
    for function in module.functions.iter().filter(|f| f.is_defined()) {
        row.functions += 1;
        row.instructions += function
            .blocks
            .iter()
            .map(|block| block.instructions.len() + 1)
            .sum::<usize>();
        match function.unsupported().next() {
            None => row.whole += 1,
            Some(reason) => {
                *row.reasons.entry(reason.to_owned()).or_default() += 1;
                if list {
                    eprintln!("{name}: {}: {reason}", function.name);
                }
            }
        }
    }
}
