//! Verdicts on random functions of 16 bits, against all their executions, compiled with gcc and its sanitizers.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write, compile and start their own programs"
)]

#[path = "../../symbolic/tests/common/generate.rs"]
mod generate;

use std::{path::Path, process::Command};

use crate::common::{Asked, Reader, deep, verdict, verdict_by_paths};
use patchwright_prove::{Counterexample, Verdict, WrongKind};
use patchwright_symbolic::FailureKind;

/// Assertions of a program that are taken out at most.
const MOST_ASSERTIONS: usize = 8;

/// Paths of a program that are followed at most.
const MOST_PATHS: u64 = 60;

/// Calls `f` with all inputs, each as if the program had just begun, or with those that it is given.
const MAIN: &str = "
#include <stdlib.h>
#include <string.h>
extern char __data_start, _end;
int main(int argc, char **argv)
{
    if (argc > 2)
        return f((signed char)atoi(argv[1]), (unsigned char)atoi(argv[2])) & 0;
    size_t size = &_end - &__data_start;
    char *copy = malloc(size);
    memcpy(copy, &__data_start, size);
    for (int input = 0; input < 65536; input++) {
        memcpy(&__data_start, copy, size);
        f((signed char)(input >> 8), (unsigned char)input);
    }
    return 0;
}
";

/// Compiled so that what is asked about ends it.
fn compiled(folder: &Path, source: &str) -> std::path::PathBuf {
    let (file, binary) = (folder.join("native.c"), folder.join("native"));
    std::fs::write(&file, format!("{source}{MAIN}")).expect("written");
    let output = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv"])
        .arg("-fsanitize=bounds,null,integer-divide-by-zero,shift")
        .arg("-fsanitize-undefined-trap-on-error")
        .args(["-o".as_ref(), binary.as_path(), file.as_path()])
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaints}");
    binary
}

/// The two bytes of a counterexample.
fn input(found: &Counterexample) -> [String; 2] {
    ["a", "b"].map(|name| {
        let given = found.inputs.iter().find(|given| given.name == name);
        given.map_or("0".to_owned(), |given| given.text())
    })
}

#[test]
fn what_is_proved_never_fails_and_what_fails_does() {
    // `PATCHWRIGHT_RANDOM=N` tries N programs, `PATCHWRIGHT_SEED=S` begins with seed S.
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let count = patchwright_testkit::cases(6, 14);
    let first = number("PATCHWRIGHT_SEED", 31);
    let mut reader = Reader::new();
    let library = reader.library();
    let mut asked = Asked {
        function: Some("f".to_owned()),
        bound: Some(12),
        ..Asked::default()
    };
    asked.checks = ["shift", "uninitialized"].map(str::to_owned).to_vec();
    let folder = tempfile::tempdir().expect("a folder");
    let (mut proved, mut failed, mut other) = (0, 0, 0);
    let (mut proved_by_paths, mut failed_by_paths) = (0, 0);
    for seed in first..first + count {
        let mut source = generate::program(seed);
        // An assertion that fails is taken out, so that others are asked about.
        for _ in 0..MOST_ASSERTIONS {
            let sources = [reader.source("unit.c", &source)];
            let verdict = deep(|| verdict(&sources, &library, &asked));
            let paths = deep(|| verdict_by_paths(&sources, &library, &asked, MOST_PATHS));
            match (&verdict, &paths.verdict) {
                (Verdict::Proved, Verdict::Failed(found)) => {
                    panic!("seed {seed} fails on a path, {}:\n{source}", found.message)
                }
                (Verdict::Failed(found), Verdict::Proved) => {
                    panic!("no path of seed {seed} fails, {}:\n{source}", found.message)
                }
                (_, Verdict::Proved) => proved_by_paths += 1,
                (Verdict::Failed(_), Verdict::Failed(_)) => failed_by_paths += 1,
                _ => {}
            }
            match verdict {
                Verdict::Proved => {
                    proved += 1;
                    let native = compiled(folder.path(), &source);
                    let output = Command::new(native).output().expect("it starts");
                    assert!(output.status.success(), "seed {seed}:\n{source}");
                }
                // What is undefined in ways of which gcc says nothing is the interpreter's concern.
                Verdict::Failed(found)
                    if found.kind == WrongKind::Failure(FailureKind::Assertion) =>
                {
                    failed += 1;
                    let native = compiled(folder.path(), &source);
                    let output = Command::new(native).args(input(&found)).output();
                    let status = output.expect("it starts").status;
                    let input = input(&found);
                    assert!(!status.success(), "seed {seed}, {input:?}:\n{source}");
                    let line = found.place.as_ref().map_or(0, |place| place.line) as usize;
                    let lines = source.lines().enumerate();
                    let kept = lines.map(|(at, text)| match at + 1 == line {
                        true => ";\n".to_owned(),
                        false => format!("{text}\n"),
                    });
                    source = kept.collect();
                    continue;
                }
                _ => other += 1,
            }
            break;
        }
    }
    println!("{proved} proved, {failed} with an assertion that fails, {other} undecided");
    println!("path by path {proved_by_paths} proved, {failed_by_paths} fail");
    assert!(proved > 0 && failed > 0, "{proved} {failed}");
    assert!(
        proved_by_paths > 0 && failed_by_paths > 0,
        "{proved_by_paths} {failed_by_paths}"
    );
}
