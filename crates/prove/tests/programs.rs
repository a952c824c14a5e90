//! Programs with known answers, each in a file that says how it is asked and what the answer is.
#![allow(clippy::disallowed_methods, reason = "tests read their own sources")]

use std::path::Path;

use crate::common::{Asked, Reader, deep, repairs, replayed, verdict};
use patchwright_prove::{For, Level, Replay, Verdict, harness};

fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the programs")
        .map(|entry| {
            let entry = entry.expect("a file");
            let text = std::fs::read_to_string(entry.path()).expect("text");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    all.sort();
    all
}

fn named(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proved => "proved".to_owned(),
        Verdict::Bounded(_) => "bounded".to_owned(),
        Verdict::Failed(found) => {
            let line = found.place.as_ref().map_or(0, |place| place.line);
            format!("fails {line}")
        }
        Verdict::Unknown(reasons) => format!("unknown {reasons:?}"),
        Verdict::Budget => "budget".to_owned(),
        Verdict::Void => "void".to_owned(),
    }
}

/// The program whose question takes a minute: what a sum of floating-point numbers is rounded to.
const LONG: &str = "rounding.c";

#[test]
fn programs_have_the_verdicts_that_they_are_known_to_have() {
    let mut all = programs();
    assert!(all.len() >= 25);
    all.retain(|(name, _)| name != LONG);
    check(&all);
}

#[test]
#[ignore = "nightly: 20 s; programs_have_the_verdicts_that_they_are_known_to_have has two programs of floating point"]
fn what_sums_are_rounded_to_is_known() {
    let mut all = programs();
    all.retain(|(name, _)| name == LONG);
    assert_eq!(all.len(), 1);
    check(&all);
}

/// Asks each program what its file says, executes each counterexample, and compares the verdicts.
fn check(programs: &[(String, String)]) {
    let mut reader = Reader::new();
    let library = reader.library();
    let mut wrong = Vec::new();
    for (name, text) in programs {
        let asked = Asked::read(text);
        let sources = [reader.source(name, text)];
        let started = std::time::Instant::now();
        let verdict = deep(|| verdict(&sources, &library, &asked));
        if let Verdict::Failed(example) = &verdict {
            let replay = replayed(&mut reader, &sources, &asked, example);
            if replay != Replay::Agrees {
                let inputs = &example.inputs;
                wrong.push(format!("{name}: {replay:?} for {inputs:?}"));
            }
        }
        let found = named(&verdict);
        println!("{name}: {found} ({:?})", started.elapsed());
        if found != asked.answer {
            wrong.push(format!("{name}: {found}, not {}", asked.answer));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn programs_have_the_repairs_that_they_are_known_to_have() {
    let mut reader = Reader::new();
    let library = reader.library();
    let mut wrong = Vec::new();
    for (name, text) in &programs() {
        let asked = Asked::read(text);
        for (level, edits, wanted) in &asked.repairs {
            let sources = [reader.source(name, text)];
            let level = Level::from_number(*level).expect("a level");
            let (found, texts) = deep(|| repairs(&sources, &library, &asked, level, *edits));
            println!("{name}: {} repairs, {:?}", texts.len(), found.counts);
            if !found.complete || !texts.iter().any(|(_, text)| text.contains(wanted)) {
                wrong.push(format!("{name}: no repair has `{wanted}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_file_of_a_counterexample_compiles_and_fails() {
    let mut reader = Reader::new();
    let library = reader.library();
    let folder = tempfile::tempdir().expect("a folder");
    let mut failed = 0;
    for (name, text) in &programs() {
        let asked = Asked::read(text);
        let (Some(function), true) = (&asked.function, asked.answer.starts_with("fails")) else {
            continue;
        };
        let sources = [reader.source(name, text)];
        let Verdict::Failed(found) = deep(|| verdict(&sources, &library, &asked)) else {
            panic!("{name} fails");
        };
        let shapes = asked.shapes(&sources, function);
        let path = &sources[0].path;
        let text = harness(
            &sources,
            function,
            &shapes,
            &found.inputs,
            path,
            For::Compiler,
            false,
        );
        let file = folder.path().join(format!("test-{name}"));
        let binary = folder.path().join("test");
        std::fs::write(&file, text.expect("it can be called")).expect("written");
        let compiled = std::process::Command::new("gcc")
            .args([
                "-w",
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-o",
            ])
            .args([&binary, &file])
            .output()
            .expect("gcc is installed");
        let complaints = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(compiled.status.success(), "{name}: {complaints}");
        let ran = std::process::Command::new(&binary)
            .output()
            .expect("it starts");
        assert!(!ran.status.success(), "{name} ends well");
        failed += 1;
    }
    assert!(failed >= 8);
}
