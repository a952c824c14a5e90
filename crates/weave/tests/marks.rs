//! Marked programs: what they note, and what survives.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::Bench;
use patchwright_probe_abi::{PROBE_FILE, TRACE_FILE};
use patchwright_probe_image::Trace;
use patchwright_text::Span;
use patchwright_weave::{Mark, MarkKind, mark_file};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  int what = argc > 1 ? atoi(argv[1]) : 0;
  printf("start\n");
  fflush(stdout);
  if (what == 1) kill(getpid(), SIGKILL);
  if (what == 2 && fork() == 0) abort();
  if (what == 2) wait(0);
  if (what == 3) for (;;) what++;
  return 0;
}
"#;

/// The statements that are marked, by their text; ids from 100 on.
const STATEMENTS: [(&str, MarkKind); 7] = [
    ("printf(\"start\\n\");", MarkKind::InBlock),
    ("kill(getpid(), SIGKILL);", MarkKind::Alone),
    ("fork() == 0", MarkKind::Operand),
    ("abort();", MarkKind::Alone),
    ("wait(0);", MarkKind::Alone),
    ("what++;", MarkKind::Alone),
    ("return 0;", MarkKind::InBlock),
];

fn marked(run: Option<&Path>) -> Vec<u8> {
    let marks: Vec<Mark> = (0..)
        .zip(STATEMENTS)
        .map(|(number, (text, kind))| {
            let start = SOURCE.find(text).unwrap() as u32;
            Mark {
                number,
                span: Span::new(start, start + text.len() as u32),
                kind,
            }
        })
        .collect();
    mark_file(SOURCE.as_bytes(), 100, marks.len() as u32, &marks, run).unwrap()
}

/// A folder with the program compiled by `command`, and a trace.
fn bench(command: &str) -> (Bench, Trace) {
    let bench = Bench::new();
    bench.write("main.c", marked(None));
    bench.compile(command);
    let trace = Trace::create(bench.folder(), 107).unwrap();
    (bench, trace)
}

fn traced(bench: &Bench, trace: &Trace, argument: &str) -> Command {
    let mut command = bench.plain_command("main");
    command
        .arg(argument)
        .envs(trace.environment(&bench.path("probe")));
    command
}

#[test]
fn a_marked_program_is_the_original_with_every_compiler_and_sanitizer() {
    for command in [
        "gcc -std=gnu89 -Wall -Wextra -Werror -O2 -o main main.c",
        "gcc -O0 -fPIE -pie -fsanitize=address,undefined -o main main.c",
        "gcc -O1 -fsanitize=thread -o main main.c",
        "clang-19 -Weverything -Werror -O2 -o main main.c",
        "clang-19 -O1 -fsanitize=address -o main main.c",
    ] {
        let (bench, trace) = bench(command);
        assert_eq!(bench.plain("main", &[]), "start\n", "{command}");
        assert_eq!(trace.attached(), 0, "{command}");
        let output = traced(&bench, &trace, "0").output().unwrap();
        assert_eq!(output.stdout, b"start\n", "{command}");
        assert_eq!(output.stderr, b"", "{command}");
        assert_eq!(trace.executed(), [100, 106], "{command}");
        let ends = trace.ends();
        assert_eq!(ends.len(), 1, "{command}");
        assert!(ends[0].exited, "{command}");
        assert_eq!(ends[0].recent, [106, 100], "{command}");
    }
}

#[test]
fn what_a_killed_process_executed_is_not_lost() {
    let (bench, trace) = bench("gcc -o main main.c");
    let status = traced(&bench, &trace, "1").status().unwrap();
    assert!(!status.success());
    assert_eq!(trace.executed(), [100, 101]);
    let ends = trace.ends();
    assert!(!ends[0].exited);
    assert_eq!(ends[0].recent, [101, 100]);
    // The next run begins anew.
    trace.reset();
    assert_eq!(
        (trace.executed(), trace.ends(), trace.attached()),
        (vec![], vec![], 0)
    );
}

#[test]
fn a_forked_process_has_a_trail_of_its_own_that_begins_with_its_parents() {
    let (bench, trace) = bench("gcc -O1 -o main main.c");
    assert!(traced(&bench, &trace, "2").status().unwrap().success());
    assert_eq!(trace.executed(), [100, 102, 103, 104, 106]);
    let mut ends = trace.ends();
    ends.sort_by_key(|end| end.exited);
    assert_eq!(ends.len(), 2);
    assert_eq!(
        (ends[0].exited, &ends[0].recent[..]),
        (false, &[103, 102, 100][..])
    );
    assert_eq!(
        (ends[1].exited, &ends[1].recent[..]),
        (true, &[106, 104, 102, 100][..])
    );
    assert_ne!(ends[0].process, ends[1].process);
}

#[test]
fn only_the_last_statements_of_a_long_run_are_remembered() {
    let (bench, trace) = bench("gcc -o main main.c");
    let mut child = traced(&bench, &trace, "3").spawn().unwrap();
    while trace.executed() != [100, 105] || trace.ends()[0].recent.contains(&100) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ends = trace.ends();
    assert!(!ends[0].exited);
    assert!(ends[0].recent.len() >= 256 && ends[0].recent.iter().all(|&id| id == 105));
}

#[test]
fn a_process_without_its_environment_finds_the_trace_in_the_folder_of_the_run() {
    let bench = Bench::new();
    let run = bench.path("run");
    bench.write("main.c", marked(Some(&run)));
    bench.compile("gcc -o main main.c");
    let trace = Trace::create(bench.folder(), 107).unwrap();
    // As long as there is no run, nothing is looked for.
    assert_eq!(bench.plain("main", &["0"]), "start\n");
    assert_eq!(trace.attached(), 0);
    std::fs::create_dir(&run).unwrap();
    std::os::unix::fs::symlink(bench.path("probe"), run.join(PROBE_FILE)).unwrap();
    std::os::unix::fs::symlink(trace.path(), run.join(TRACE_FILE)).unwrap();
    let output = bench
        .plain_command("main")
        .arg("0")
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"start\n");
    assert_eq!(trace.executed(), [100, 106]);
}
