//! Programs of the kinds that verifiers are tried with: pointers, records, loops, recursion, numbers, calls of the library,
//! primitives of other verifiers. What is known of each stands in `kinds.txt`; a counterexample is confirmed.

use crate::common::{Asked, Reader, deep, replayed, verdict};
use patchwright_prove::{Replay, Verdict};

struct Kind {
    name: &'static str,
    answer: &'static str,
    checks: Vec<String>,
    text: &'static str,
}

fn kinds() -> Vec<Kind> {
    let parts = include_str!("kinds.txt").split("\n=== ").skip(1);
    parts
        .map(|part| {
            let (head, text) = part.split_once('\n').expect("a head and a program");
            let words: Vec<&str> = head.split('|').map(str::trim).collect();
            let [name, answer, checks] = words[..] else {
                panic!("{head}");
            };
            let checks = checks.split(',').filter(|name| !name.is_empty());
            Kind {
                name,
                answer,
                checks: checks.map(str::to_owned).collect(),
                text,
            }
        })
        .collect()
}

/// Every fourth program, beginning with this one.
fn are_answered_rightly(first: usize) {
    let mut reader = Reader::new();
    let library = reader.library();
    let mut wrong = Vec::new();
    let all = kinds();
    assert!(all.len() > 200);
    for kind in all.iter().skip(first).step_by(4) {
        let asked = Asked {
            checks: kind.checks.clone(),
            ..Asked::default()
        };
        let sources = [reader.source("program.c", kind.text)];
        let found = deep(|| verdict(&sources, &library, &asked));
        let is_right = match (kind.answer, &found) {
            ("proved", Verdict::Proved) => true,
            ("not proved", found) => !matches!(found, Verdict::Proved | Verdict::Void),
            ("fails", Verdict::Failed(_)) => true,
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{}: {found:?}, not {}", kind.name, kind.answer));
        }
        if let Verdict::Failed(example) = &found
            && let differs @ Replay::Differs(_) = replayed(&mut reader, &sources, &asked, example)
            && !example.doubtful
        {
            wrong.push(format!("{}: {differs:?}", kind.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "nightly: 21 s; `programs` and `exhaustive` ask the same engine"]
fn programs_of_many_kinds_are_answered_rightly() {
    are_answered_rightly(0);
}

#[test]
#[ignore = "nightly: 8 s; the first quarter has programs of every kind of question"]
fn programs_of_many_kinds_are_answered_rightly_second_quarter() {
    are_answered_rightly(1);
}

#[test]
#[ignore = "nightly: 11 s; the first quarter has programs of every kind of question"]
fn programs_of_many_kinds_are_answered_rightly_third_quarter() {
    are_answered_rightly(2);
}

#[test]
#[ignore = "nightly: 8 s; the first quarter has programs of every kind of question"]
fn programs_of_many_kinds_are_answered_rightly_last_quarter() {
    are_answered_rightly(3);
}
