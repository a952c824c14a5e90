//! Woven programs that are started once and forked for each run.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program, integer, rows};
use patchwright_exec::{CancelToken, Ending, Request, Runner, RunnerProgram};
use patchwright_probe_image::Slot;
use patchwright_semantics::{BinaryOp, Instruction, Ty};

const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
int twice(int x)
{
  return x * 2;
}
int main(int argc, char **argv)
{
  int result = argc > 1 ? twice(atoi(argv[1])) : 0;
  printf("%d\n", result);
  fflush(stdout);
  if (result == 1004)
    abort();
  return 0;
}
"#;

/// How many processes the runner's supervisor has as children; `None` where the kernel does not list them.
fn waiting(runner: &Runner) -> Option<usize> {
    let children = |process: &str| {
        let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let children = children.ok()?;
        let children = children.split_ascii_whitespace().map(str::to_owned);
        Some(children.collect::<Vec<String>>())
    };
    let outside = children(&runner.supervisor_id().unwrap().to_string())?;
    // The first process of a namespace.
    let is_first = |process: &&String| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let numbers = status.unwrap_or_default();
        let numbers = numbers.lines().find(|line| line.starts_with("NSpid:"));
        numbers.is_some_and(|numbers| numbers.ends_with("\t1"))
    };
    match outside.iter().find(is_first) {
        Some(first) => Some(children(first)?.len()),
        None => Some(outside.len()),
    }
}

#[test]
fn each_fork_of_a_woven_program_reports_its_own_candidate_and_ends_as_the_program_does() {
    let program = Program::new(SOURCE).function(40, "int twice(", &[]).hole(
        20,
        "x * 2",
        integer("int"),
        &["(__pw_u64)(x)"],
    );
    for flags in ["-O1", "-O1 -fsanitize=address", "-O1 -static"] {
        let mut bench = Bench::new();
        bench.write("twice.c", program.woven());
        bench.compile(&format!("gcc {flags} -o twice twice.c"));
        let cancel = CancelToken::new().unwrap();
        let mut runner = Runner::start(&RunnerProgram::this_binary(), None, cancel).unwrap();
        for added in [1000, 1001, 1002, 1003] {
            let code = [
                Instruction::slot(0),
                Instruction::constant(added),
                Instruction::binary(BinaryOp::Add, Ty::I32),
            ];
            bench.candidate(40, 20, &[Slot::Value(Ty::I32)], &code);
            let mut request = Request::new("./twice", bench.folder()).arg("3");
            let command = bench.command("twice");
            for (name, value) in command.get_envs() {
                if let Some(value) = value {
                    request = request.env(name, value);
                }
            }
            request.repeated = true;
            let outcome = runner.run(&request).unwrap();
            let printed = format!("{}\n", added + 3);
            assert_eq!(outcome.stdout, printed.as_bytes(), "{flags}");
            let ending = match added {
                // The C library must know which thread is to have the signal.
                1001 => Ending::Signaled(6),
                _ => Ending::Exited(0),
            };
            assert_eq!((outcome.ending, outcome.leftovers), (ending, 0), "{flags}");
            assert_eq!(rows(&bench.observation()), [[3]]);
            assert_eq!(bench.observation().attached, 1);
            let servers = usize::from(added > 1000);
            assert!(
                waiting(&runner).is_none_or(|found| found == servers),
                "{flags}"
            );
        }
    }
}
