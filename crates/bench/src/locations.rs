//! How much of real programs can be changed, and the test of exactness of all places.

use std::{collections::BTreeMap, error::Error, ffi::OsString, path::Path};

use patchwright_csource::{Clang, ParseError, TranslationUnit, locations, scopes};
use patchwright_exec::{
    CancelToken, CompileCommand, Limits, Request, RunnerProgram, Scratch, Worker, WorkerOptions,
    files, intercept, read_compile_database,
};
use patchwright_space::{AtomBuilder, HoleKind, TermTypes, holes};
use patchwright_text::apply_edits;
use patchwright_weave::can_duplicate;

#[derive(Default)]
struct Row {
    files: usize,
    rejected: usize,
    functions: usize,
    functions_usable: usize,
    functions_refused: BTreeMap<String, usize>,
    expressions: usize,
    editable: usize,
    refused: BTreeMap<String, usize>,
    holes: BTreeMap<&'static str, usize>,
    same_code: usize,
    other_code: Vec<String>,
}

/// Prints the table; false if a check failed.
pub fn run(projects: &[std::path::PathBuf], check: bool) -> Result<bool, Box<dyn Error>> {
    let mut rows = Vec::new();
    for project in projects {
        let row = measure(project, check)?;
        let name = project
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for problem in &row.other_code {
            eprintln!("{name}: {problem}");
        }
        rows.push((name, row));
    }
    print(&rows, check);
    Ok(rows.iter().all(|(_, row)| row.other_code.is_empty()))
}

fn measure(project: &Path, check: bool) -> Result<Row, Box<dyn Error>> {
    let mut row = Row::default();
    let files = each_unit(project, &mut |worker, command, host, name, unit| {
        let mut unit = match unit {
            Ok(unit) => unit,
            Err(error) => {
                eprintln!("{error}");
                row.rejected += 1;
                return Ok(());
            }
        };
        if check {
            match same_code(worker, command, host, &unit)? {
                None => row.same_code += 1,
                Some(problem) => row.other_code.push(format!("{name}: {problem}")),
            }
        }
        count(&mut unit, &mut row);
        Ok(())
    })?;
    row.files = files;
    Ok(row)
}

/// What is done with each source file: the worker, the compile command, where the file is for us,
/// its name in the project, and its tree, or why it is not accepted.
pub type Visit<'a> = dyn FnMut(
        &mut Worker,
        &CompileCommand,
        &Path,
        &str,
        Result<TranslationUnit, ParseError>,
    ) -> Result<(), Box<dyn Error>>
    + 'a;

/// Reads every C file of a built project, in a copy of it; the number of files.
pub fn each_unit(project: &Path, visit: &mut Visit<'_>) -> Result<usize, Box<dyn Error>> {
    let project = std::fs::canonicalize(project)?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let mut worker = Worker::start(
        0,
        "copy",
        &WorkerOptions {
            program: &program,
            scratch: &scratch,
            project: &project,
            source: &project,
            view: true,
            exclude: Vec::new(),
            cancel: CancelToken::new()?,
        },
    )?;
    let database = intercept::find_database(worker.sandbox.folder(), 2)?
        .ok_or_else(|| format!("{} has no compile_commands.json", project.display()))?;
    let clang = Clang::find(&mut worker.runner)?;
    let root = worker.sandbox.run_root().to_path_buf();
    let mut files = 0;
    let mut seen = std::collections::BTreeSet::new();
    for command in read_compile_database(&database)? {
        let command = if worker.runner.view_active() {
            command.rebase(worker.sandbox.folder(), &project)
        } else {
            command.rebase(&project, worker.sandbox.folder())
        };
        let Ok(relative) = command.file.strip_prefix(&root) else {
            continue;
        };
        let host = worker.sandbox.folder().join(relative);
        if relative.extension().is_none_or(|e| e != "c")
            || !host.exists()
            || !seen.insert(host.clone())
        {
            continue;
        }
        let name = relative.display().to_string();
        files += 1;
        let source = files::read(&host)?;
        let unit = match patchwright_csource::parse(&clang, &mut worker.runner, &command, source) {
            Err(error) if !matches!(error, ParseError::Rejected { .. }) => return Err(error.into()),
            unit => unit,
        };
        visit(&mut worker, &command, &host, &name, unit)?;
    }
    Ok(files)
}

fn count(unit: &mut TranslationUnit, row: &mut Row) {
    let functions = std::mem::take(&mut unit.functions);
    let mut types = TermTypes::default();
    for (index, function) in functions.iter().enumerate() {
        row.functions += 1;
        let found = locations::locations(&unit.types, function);
        row.expressions += found.editable.len() + found.refused_in_total();
        row.editable += found.editable.len();
        for (refusal, n) in found.refused {
            *row.refused.entry(refusal.reason().to_owned()).or_default() += n;
        }
        let refusal = match function.refusal {
            Some(refusal) => Some(refusal.reason().to_owned()),
            None => can_duplicate(&unit.source[function.body_span.range()])
                .err()
                .map(|refusal| refusal.to_string()),
        };
        if let Some(reason) = refusal {
            *row.functions_refused.entry(reason).or_default() += 1;
            continue;
        }
        row.functions_usable += 1;
        let scopes = scopes(unit, function);
        let mut builder = AtomBuilder {
            unit,
            types: &mut types,
        };
        for hole in holes(&mut builder, index, function, &scopes) {
            let kind = match hole.kind {
                HoleKind::Expression {
                    condition: true, ..
                } => "conditions",
                HoleKind::Expression { .. } => "values",
                HoleKind::Refinement(_) => "impure conditions",
                HoleKind::Guard { .. } => "statements",
            };
            *row.holes.entry(kind).or_default() += 1;
        }
    }
    unit.functions = functions;
}

/// Compiles the file as it is and with parentheses; what differs, if anything.
fn same_code(
    worker: &mut Worker,
    command: &CompileCommand,
    host: &Path,
    unit: &TranslationUnit,
) -> Result<Option<String>, Box<dyn Error>> {
    let output = worker.folder.join("object.o");
    let compile = |worker: &mut Worker| -> Result<Result<Vec<u8>, String>, Box<dyn Error>> {
        let mut request =
            Request::new(&command.arguments[0], &command.directory).limits(Limits::for_build());
        let mut arguments = command.arguments.iter().skip(1).cloned();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if matches!(text.as_ref(), "-o" | "-MF" | "-MT" | "-MQ") {
                arguments.next();
            } else if !(text.starts_with("-O")
                || text.starts_with("-g")
                || text.starts_with("-MD")
                || text.starts_with("-MMD")
                || text.starts_with("-Werror")
                || matches!(text.as_ref(), "-c" | "-MP"))
            {
                request = request.arg(argument.clone());
            }
        }
        let last: [OsString; 6] = [
            "-w".into(),
            "-O0".into(),
            "-g0".into(),
            "-c".into(),
            "-o".into(),
            output.clone().into(),
        ];
        let outcome = worker.runner.run(&request.args(last))?;
        if outcome.ending.is_success() {
            Ok(Ok(files::read(&output)?))
        } else {
            let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let line = text
                .lines()
                .find(|line| line.contains("error"))
                .unwrap_or("fails");
            Ok(Err(line.to_owned()))
        }
    };
    let before = compile(worker)?;
    let text = apply_edits(&unit.source, &locations::parentheses(unit))?;
    files::replace(host, &text)?;
    let after = compile(worker);
    files::replace(host, &unit.source)?;
    Ok(match (before, after?) {
        (Ok(a), Ok(b)) if a == b => None,
        (Ok(_), Ok(_)) => Some("the object code differs".to_owned()),
        (Err(error), _) => Some(format!("does not compile as it is: {error}")),
        (_, Err(error)) => Some(format!("does not compile with parentheses: {error}")),
    })
}

fn print(rows: &[(String, Row)], check: bool) {
    let percent = |part: usize, whole: usize| {
        if whole == 0 {
            "–".to_owned()
        } else {
            format!("{:.0} %", 100.0 * part as f64 / whole as f64)
        }
    };
    println!(
        "| program | files | not accepted | functions | usable | expressions | editable in place | conditions | impure conditions | values | statements |{}",
        if check { " same object code |" } else { "" }
    );
    println!("| --- |{}", " ---: |".repeat(10 + usize::from(check)));
    for (name, row) in rows {
        let holes = |kind: &str| row.holes.get(kind).copied().unwrap_or(0);
        let checked = if check {
            format!(" {} of {} files |", row.same_code, row.files - row.rejected)
        } else {
            String::new()
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} |{checked}",
            row.files,
            row.rejected,
            row.functions,
            row.functions_usable,
            row.expressions,
            row.editable,
            percent(row.editable, row.expressions),
            holes("conditions"),
            holes("impure conditions"),
            holes("values"),
            holes("statements"),
        );
    }
    let mut functions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut expressions: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, row) in rows {
        for (reason, n) in &row.functions_refused {
            *functions.entry(reason).or_default() += n;
        }
        for (reason, n) in &row.refused {
            *expressions.entry(reason).or_default() += n;
        }
    }
    println!("\n| why a function is left alone | functions |\n| --- | ---: |");
    for (reason, n) in functions {
        println!("| {reason} | {n} |");
    }
    println!("\n| why an expression cannot be edited | expressions |\n| --- | ---: |");
    for (reason, n) in expressions {
        println!("| {reason} | {n} |");
    }
}
