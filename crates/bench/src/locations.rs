//! Measures how much of real programs can be changed, and checks that all places are exact.

use std::{
    collections::BTreeMap,
    error::Error,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use patchwright_csource::{Clang, ParseError, TranslationUnit, locations};
use patchwright_exec::{
    CancelToken, CompileCommand, Project, ProjectFlags, RunnerProgram, Scratch, Worker,
    WorkerOptions, files, included, record_build,
};
use patchwright_repair::locate::locate;
use patchwright_space::{HoleKind, LeafLimits, Schemas, Shown};
use patchwright_text::apply_edits;

use crate::compiled::{Object, object};

#[derive(Default)]
struct Row {
    files: usize,
    ways: usize,
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

/// Prints the table. The result is false if a check failed.
pub fn run(
    projects: &[PathBuf],
    build: Option<&OsStr>,
    check: bool,
) -> Result<bool, Box<dyn Error>> {
    let mut rows = Vec::new();
    for project in projects {
        let row = measure(project, build, check)?;
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

fn measure(project: &Path, build: Option<&OsStr>, check: bool) -> Result<Row, Box<dyn Error>> {
    let mut row = Row::default();
    row.files = each_source(project, build, &mut |source| {
        let runner = &mut source.worker.runner;
        let units = match patchwright_csource::parse_variants(
            source.clang,
            runner,
            source.commands,
            &source.text,
        ) {
            Ok(units) => units,
            Err(error @ ParseError::Rejected { .. }) => {
                eprintln!("{error}");
                row.rejected += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        row.ways += units.len();
        if check {
            match same_code(
                source.worker,
                source.commands,
                &source.host,
                &source.text,
                &units,
            )? {
                None => row.same_code += 1,
                Some(problem) => row.other_code.push(format!("{}: {problem}", source.name)),
            }
        }
        row.count(units);
        Ok(())
    })?;
    Ok(row)
}

/// A source file of a project that was built in a copy.
pub struct SourceFile<'a> {
    /// Where the copy is.
    pub worker: &'a mut Worker,
    /// Reads C.
    pub clang: &'a Clang,
    /// How it is compiled.
    pub commands: &'a [CompileCommand],
    /// Where it is for us.
    pub host: PathBuf,
    /// Its path in the project.
    pub name: String,
    /// Its contents.
    pub text: Vec<u8>,
}

/// What is done with each source file.
pub type Visit<'a> = dyn FnMut(SourceFile<'_>) -> Result<(), Box<dyn Error>> + 'a;

/// Calls `visit` with every C file of a project, in a copy of it, and returns their number.
pub fn each_source(
    project: &Path,
    build: Option<&OsStr>,
    visit: &mut Visit<'_>,
) -> Result<usize, Box<dyn Error>> {
    let flags = ProjectFlags {
        build: build.map(OsStr::to_owned),
        ..ProjectFlags::default()
    };
    let mut project = Project::load(project, &flags)?;
    // The whole program is measured, not what is suspicious.
    project.files.clear();
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let mut worker = Worker::start(
        0,
        "copy",
        &WorkerOptions {
            program: &program,
            scratch: &scratch,
            project: &project.root,
            source: &project.root,
            prepare: None,
            view: true,
            exclude: Vec::new(),
            build_timeout: None,
            cancel: CancelToken::new()?,
        },
    )?;
    let commands = record_build(&mut worker, &project)?;
    let clang = Clang::find(&mut worker.runner)?;
    let mut files_visited = 0;
    for (relative, commands) in included::sources(&commands, &worker.sandbox) {
        let host = worker.sandbox.folder().join(&relative);
        let text = files::read(&host)?;
        files_visited += 1;
        visit(SourceFile {
            worker: &mut worker,
            clang: &clang,
            commands: &commands,
            host,
            name: relative.display().to_string(),
            text,
        })?;
    }
    Ok(files_visited)
}

impl Row {
    fn count(&mut self, units: Vec<TranslationUnit>) {
        let located = locate(
            units,
            LeafLimits::default(),
            Schemas::default(),
            &Shown::default(),
            &[],
            (&|_| true, &|_| true),
            (&|_| true, patchwright_kinds::built_in()),
        );
        for (reason, n) in located.refused() {
            *self.functions_refused.entry(reason.to_owned()).or_default() += n;
        }
        for way in &located.ways {
            for (index, refusal) in &way.all {
                self.functions += 1;
                self.functions_usable += usize::from(refusal.is_none());
                let function = &way.unit.functions[*index];
                let found = locations::locations(&way.unit.types, function);
                self.expressions += found.editable.len() + found.refused_in_total();
                self.editable += found.editable.len();
                for (refusal, n) in found.refused {
                    *self.refused.entry(refusal.reason().to_owned()).or_default() += n;
                }
            }
            let holes = way.functions.iter().flat_map(|function| &function.holes);
            for (hole, _) in holes {
                let kind = match hole.kind {
                    HoleKind::Expression {
                        condition: true, ..
                    } => "conditions",
                    HoleKind::Expression { .. } => "values",
                    HoleKind::Refinement(_) => "impure conditions",
                    HoleKind::Assignment(_) => "places for assignments",
                    HoleKind::Guard { .. } => "statements",
                    HoleKind::Choice(_) | HoleKind::Exit(_) => "other alternatives",
                };
                *self.holes.entry(kind).or_default() += 1;
            }
        }
    }
}

/// Compiles the file as it is and with parentheses, with each of its commands; what differs, if
/// anything.
fn same_code(
    worker: &mut Worker,
    commands: &[CompileCommand],
    host: &Path,
    source: &[u8],
    units: &[TranslationUnit],
) -> Result<Option<String>, Box<dyn Error>> {
    let before = objects(worker, commands)?;
    let text = apply_edits(source, &locations::parentheses(units))?;
    files::replace(host, &text)?;
    let after = objects(worker, commands);
    files::replace(host, source)?;
    let problem = before.into_iter().zip(after?).find_map(|pair| match pair {
        (Ok(a), Ok(b)) if a == b => None,
        (Ok(_), Ok(_)) => Some("the object code differs".to_owned()),
        (Err(error), _) => Some(format!("does not compile as it is: {error}")),
        (_, Err(error)) => Some(format!("does not compile with parentheses: {error}")),
    });
    Ok(problem)
}

/// The object code that each command gives at `-O0`, or the compiler's first error.
fn objects(
    worker: &mut Worker,
    commands: &[CompileCommand],
) -> Result<Vec<Object>, Box<dyn Error>> {
    let mut found = Vec::new();
    for command in commands {
        found.push(object(worker, command, "-O0")?);
    }
    Ok(found)
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
        "| program | files | ways to compile them | not accepted | functions | usable | expressions | editable in place | conditions | impure conditions | values | statements | places for assignments | other alternatives |{}",
        if check { " same object code |" } else { "" }
    );
    println!("| --- |{}", " ---: |".repeat(13 + usize::from(check)));
    for (name, row) in rows {
        let holes = |kind: &str| row.holes.get(kind).copied().unwrap_or(0);
        let checked = if check {
            format!(" {} of {} files |", row.same_code, row.files - row.rejected)
        } else {
            String::new()
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} | {} | {} |{checked}",
            row.files,
            row.ways,
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
            holes("places for assignments"),
            holes("other alternatives"),
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
