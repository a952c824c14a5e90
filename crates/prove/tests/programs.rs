//! Programs with known answers, each in a file that says how it is asked and what the answer is.
#![allow(clippy::disallowed_methods, reason = "tests read their own sources")]

mod common;

use std::path::Path;

use common::{Asked, Reader, deep, repairs, verdict};
use patchwright_prove::{Level, Verdict};

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

#[test]
fn programs_have_the_verdicts_that_they_are_known_to_have() {
    let mut reader = Reader::new();
    let library = reader.library();
    let mut wrong = Vec::new();
    let all = programs();
    assert!(all.len() >= 25);
    for (name, text) in &all {
        let asked = Asked::read(text);
        let sources = [reader.source(name, text)];
        let started = std::time::Instant::now();
        let found = deep(|| named(&verdict(&sources, &library, &asked)));
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
