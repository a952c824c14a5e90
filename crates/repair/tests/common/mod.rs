//! Exploring small programs, and comparing the verdicts with those of plain execution.
#![allow(
    clippy::disallowed_methods,
    reason = "the reference is the compiler, run by the test itself"
)]
#![allow(dead_code, reason = "each test uses a part of it")]

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
};

use patchwright_exec::{CancelToken, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{
    Event, RepairOptions, RepairOutcome, Surroundings, classes::ClassVerdict, found::Found,
    instrument::instrument, levels::search, phases::Phases, prepare::prepare,
};
use patchwright_space::{LeafLimits, Schemas, SpaceLimits, term::Context};
use patchwright_text::{Edit, apply_edits};

/// Candidates compared for each program; all, if it has fewer.
const SAMPLE: usize = 250;

/// Repairs a program of one file; cases are arguments and what is to be printed. With it what was said.
pub fn repaired(
    source: &str,
    cases: &[(&str, &str)],
    options: &RepairOptions,
) -> (RepairOutcome, Vec<String>) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let place = folder.join("cases");
    fs::create_dir(&place).unwrap();
    for (arguments, expected) in cases {
        fs::write(place.join(format!("{arguments}.args")), arguments).unwrap();
        fs::write(place.join(format!("{arguments}.out")), expected).unwrap();
    }
    let file = folder.join("program.c");
    fs::write(&file, source).unwrap();
    let temporary = folder.join("scratch");
    fs::create_dir(&temporary).unwrap();
    let scratch = Scratch::new(&temporary).unwrap();
    let flags = ProjectFlags::default();
    let project = Project::single_file(&file, &place, &[], &scratch, &flags).unwrap();
    let notes = Mutex::new(Vec::new());
    let surroundings = Surroundings {
        program: &RunnerProgram::this_binary(),
        scratch: &scratch,
        cancel: CancelToken::new().unwrap(),
        events: &|event| {
            if let Event::Note(text) = event {
                notes.lock().unwrap().push(text);
            }
        },
    };
    let outcome = patchwright_repair::repair(&project, options, &surroundings).unwrap();
    (outcome, notes.into_inner().unwrap())
}

/// A program with a bug, and cases of which some fail.
pub struct Subject {
    pub source: &'static str,
    /// Its names of file scope, so that many variants fit in one translation unit.
    pub names: &'static [&'static str],
    /// Arguments and expected output.
    pub cases: &'static [(&'static str, &'static str)],
    /// The kinds of change.
    pub schemas: Schemas,
    /// The largest cost.
    pub max_cost: u32,
}

/// The kinds whose candidates are terms.
pub const ALL: Schemas = Schemas {
    expression: true,
    refinement: true,
    guard: true,
    assignment: true,
    ..Schemas::NONE
};

/// A candidate and what the search says about it.
struct Verdict {
    line: u32,
    edit: Edit,
    verdict: ClassVerdict,
}

/// Where a hole is.
#[derive(Clone, Copy)]
pub struct Location {
    pub line: u32,
    /// Its value selects an element, of an array whose length is not declared: which of them there are, nobody checks
    /// but the sanitizers.
    pub selects: bool,
}

/// Explores the space of the subject. The result has what was found, and where each hole is.
pub fn explore(
    folder: &Path,
    subject: &Subject,
    change: fn(&mut RepairOptions),
) -> (Found, Vec<Location>) {
    let (mut found, locations) = explore_times(folder, subject, change, 1);
    (found.remove(0), locations)
}

/// Explores the space of the subject several times in a row, with the same copies.
pub fn explore_times(
    folder: &Path,
    subject: &Subject,
    change: fn(&mut RepairOptions),
    times: usize,
) -> (Vec<Found>, Vec<Location>) {
    let file = folder.join("subject.c");
    fs::write(&file, subject.source).unwrap();
    let cases = folder.join("cases");
    fs::create_dir(&cases).unwrap();
    for (number, (arguments, output)) in subject.cases.iter().enumerate() {
        fs::write(cases.join(format!("{number}.args")), arguments).unwrap();
        fs::write(cases.join(format!("{number}.out")), output).unwrap();
    }
    let temporary = folder.join("scratch");
    fs::create_dir(&temporary).unwrap();
    let scratch = Scratch::new(&temporary).unwrap();
    let flags = ProjectFlags::default();
    let project = Project::single_file(&file, &cases, &[], &scratch, &flags).unwrap();
    let program = RunnerProgram::this_binary();
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new().unwrap(),
        events: &|_| {},
    };
    let mut options = RepairOptions {
        jobs: 2,
        all: true,
        max_cost: subject.max_cost,
        schemas: subject.schemas,
        space: SpaceLimits {
            wanted: 300,
            term_size: 3,
            ..Default::default()
        },
        leaves: LeafLimits {
            atoms: 6,
            constants: 4,
            distant: 6,
        },
        keep_verdicts: true,
        allow_all_failing: true,
        ..Default::default()
    };
    change(&mut options);
    let mut phases = Phases::default();
    let mut prepared = prepare(&project, &options, &surroundings, &mut phases).unwrap();
    let mut instrumented = instrument(
        &mut prepared,
        &project,
        &options,
        &surroundings,
        &mut phases,
    )
    .unwrap();
    let found: Vec<Found> = (0..times)
        .map(|_| {
            let options = &options;
            search(
                &mut instrumented,
                &prepared,
                &project,
                options,
                &surroundings,
            )
            .unwrap()
        })
        .collect();
    assert!(found.iter().all(|found| !found.interrupted));
    let locations = instrumented.holes.iter().map(|entry| {
        let (file, function) = (&instrumented.files[entry.file], entry.hole.function);
        let selects = |expr| file.parents[function].selects(&file.unit.functions[function], expr);
        let is_bounded = matches!(entry.hole.context, Context::Index(_));
        Location {
            line: entry.line,
            selects: !is_bounded && entry.expr.is_some_and(selects),
        }
    });
    let locations = locations.collect();
    (found, locations)
}

/// The verdicts on all candidates of the subject.
fn verdicts(folder: &Path, subject: &Subject) -> Vec<Verdict> {
    let (found, locations) = explore(folder, subject, |_| {});
    let explored: usize = found
        .verdicts
        .iter()
        .map(|group| group.candidates.len())
        .sum();
    // Candidates without C text have no edit.
    assert!(explored as u64 <= found.stats.explored);
    assert!(explored as u64 * 10 >= found.stats.explored * 9);
    found
        .verdicts
        .into_iter()
        .filter(|group| !locations[group.entry].selects)
        .flat_map(|group| {
            let line = locations[group.entry].line;
            let verdict = group.verdict;
            group.candidates.into_iter().map(move |candidate| Verdict {
                line,
                edit: candidate.edit,
                verdict: verdict.clone(),
            })
        })
        .collect()
}

/// A sample of the candidates whose behaviour is defined: as many that pass as that fail, if
/// there are so many, evenly spaced.
fn sample(verdicts: &[Verdict]) -> Vec<&Verdict> {
    let (pass, fail): (Vec<&Verdict>, Vec<&Verdict>) = verdicts
        .iter()
        .filter(|verdict| verdict.verdict != ClassVerdict::Undefined)
        .partition(|verdict| verdict.verdict.is_pass());
    let passing = pass.len().min(SAMPLE - (SAMPLE / 2).min(fail.len()));
    let failing = fail.len().min(SAMPLE - passing);
    (0..passing)
        .map(|i| pass[i * pass.len() / passing])
        .chain((0..failing).map(|i| fail[i * fail.len() / failing]))
        .collect()
}

/// Compiles variants of a program into one, which takes the number of the variant from
/// `VARIANT` and ends it after 0.3 s of processor time or 1 MiB of output.
fn compile_all(folder: &Path, subject: &Subject, variants: &[String]) -> PathBuf {
    let is_include = |line: &&str| line.starts_with("#include");
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/resource.h>\n\
         #include <sys/time.h>\n",
    );
    for line in subject.source.lines().filter(is_include) {
        text.push_str(line);
        text.push('\n');
    }
    for (number, variant) in variants.iter().enumerate() {
        for name in subject.names {
            writeln!(text, "#define {name} {name}_{number}").unwrap();
        }
        writeln!(
            text,
            "#define main main_{number}\n#line 1 \"variant {number}\""
        )
        .unwrap();
        for line in variant.lines() {
            if !is_include(&line) {
                text.push_str(line);
            }
            text.push('\n');
        }
        for name in subject.names {
            writeln!(text, "#undef {name}").unwrap();
        }
        text.push_str("#undef main\n");
    }
    text.push_str(
        "int main(int argc, char **argv) {\n\
         struct rlimit output = {1 << 20, 1 << 20};\n\
         struct itimerval time = {{0, 0}, {0, 300000}};\n\
         setrlimit(RLIMIT_FSIZE, &output);\n\
         setitimer(ITIMER_PROF, &time, 0);\n\
         switch (atoi(getenv(\"VARIANT\"))) {\n",
    );
    for number in 0..variants.len() {
        writeln!(text, "case {number}: return main_{number}(argc, argv);").unwrap();
    }
    text.push_str("}\nreturn 99;\n}\n");
    let (file, program) = (folder.join("variants.c"), folder.join("variants"));
    fs::write(&file, text).unwrap();
    let output = Command::new("gcc")
        .args(["-O0", "-w", "-o"])
        .args([&program, &file])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "a candidate does not compile: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// The first case that a variant fails.
fn first_failure(program: &Path, subject: &Subject, variant: usize) -> Option<usize> {
    let out = program.with_file_name("out");
    subject.cases.iter().position(|(arguments, expected)| {
        let status = Command::new(program)
            .env("VARIANT", variant.to_string())
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        !status.success() || fs::read(&out).unwrap() != expected.as_bytes()
    })
}

/// Compares, and returns how many candidates pass, fail and are undefined.
pub fn compare(subject: &Subject) -> (usize, usize, usize) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let verdicts = verdicts(&folder, subject);
    let sample = sample(&verdicts);
    let variants: Vec<String> = sample
        .iter()
        .map(|candidate| {
            let text = apply_edits(
                subject.source.as_bytes(),
                std::slice::from_ref(&candidate.edit),
            )
            .unwrap();
            String::from_utf8(text).unwrap()
        })
        .collect();
    let program = compile_all(&folder, subject, &variants);
    let mut disagreements = String::new();
    let (mut pass, mut fail) = (0, 0);
    for (number, candidate) in sample.iter().enumerate() {
        let failure = first_failure(&program, subject, number);
        match failure {
            None => pass += 1,
            Some(_) => fail += 1,
        }
        if candidate.verdict.is_pass() != failure.is_none() {
            let old = &subject.source[candidate.edit.span.range()];
            let new = String::from_utf8_lossy(&candidate.edit.text);
            writeln!(
                disagreements,
                "line {}: {old:?} -> {new:?}: class says {:?}, execution fails case {failure:?}",
                candidate.line, candidate.verdict
            )
            .unwrap();
        }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
    let lines: BTreeSet<u32> = verdicts.iter().map(|verdict| verdict.line).collect();
    assert!(
        lines.len() >= 3,
        "several locations are explored: {lines:?}"
    );
    let undefined = verdicts
        .iter()
        .filter(|verdict| verdict.verdict == ClassVerdict::Undefined)
        .count();
    println!(
        "{} explored, {undefined} undefined; compared: {pass} pass, {fail} fail",
        verdicts.len()
    );
    (pass, fail, undefined)
}

/// Most candidates have a verdict, of both kinds.
pub fn assert_telling((pass, fail, _): (usize, usize, usize)) {
    assert!(pass + fail >= 150, "too few candidates: {pass} + {fail}");
    assert!(pass > 0 && fail > 0, "{pass} pass, {fail} fail");
}

/// What a program prints for each of some arguments.
pub fn outputs(source: &str, arguments: &[&str]) -> Vec<String> {
    let temporary = tempfile::tempdir().unwrap();
    let (file, program) = (temporary.path().join("p.c"), temporary.path().join("p"));
    fs::write(&file, source).unwrap();
    let built = Command::new("gcc")
        .args(["-O0", "-w", "-o"])
        .args([&program, &file])
        .status();
    assert!(built.unwrap().success(), "{source}");
    arguments
        .iter()
        .map(|arguments| {
            let run = Command::new(&program)
                .args(arguments.split_whitespace())
                .output();
            String::from_utf8(run.unwrap().stdout).unwrap()
        })
        .collect()
}
