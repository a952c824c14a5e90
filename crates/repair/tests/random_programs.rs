//! Of random small programs, any two candidates that are put in one class behave the same: the verdict of each is
//! that of plainly compiling and running it. `PATCHWRIGHT_PROPERTY_CASES` says how many programs are tried.

use crate::common;

use std::fmt::Write as _;

use crate::common::{ALL, Subject, compare};
use patchwright_testkit::Random;
use proptest::{prelude::*, test_runner::Config};

const VARIABLES: &[&str] = &["a", "b", "c", "total", "box.left", "box.right"];

/// A program. Where `%` stands, the repaired one has another relation than the one with the bug.
struct Program {
    choices: Random,
    text: String,
    loops: usize,
}

impl Program {
    fn value(&mut self) -> String {
        let left = self.choices.one_of(VARIABLES);
        match self.choices.below(4) {
            0 => left.to_owned(),
            1 => self.choices.below(12).to_string(),
            _ => {
                let operator = self.choices.one_of(&["+", "-", "*", "&", "|"]);
                let right = self.choices.one_of(&["a", "b", "c", "2", "3", "total"]);
                format!("{left} {operator} {right}")
            }
        }
    }

    fn condition(&mut self) -> String {
        let left = self.choices.one_of(VARIABLES);
        let right = self
            .choices
            .one_of(&["a", "b", "c", "4", "9", "total", "box.left"]);
        let relation = self.choices.one_of(&["<", "<=", ">", "!="]);
        format!("{left} {relation} {right}")
    }

    fn block(&mut self, depth: usize, statements: u64, indent: usize) {
        for _ in 0..statements {
            let margin = "  ".repeat(indent);
            let choice = self.choices.below(if depth == 0 { 3 } else { 6 });
            match choice {
                0..=2 => {
                    let target = self.choices.one_of(VARIABLES);
                    let value = self.value();
                    let _ = writeln!(self.text, "{margin}{target} = ({value}) & 31;");
                }
                3 | 4 => {
                    let condition = self.condition();
                    let _ = writeln!(self.text, "{margin}if ({condition}) {{");
                    self.block(depth - 1, 2, indent + 1);
                    if choice == 3 {
                        let _ = writeln!(self.text, "{margin}}} else {{");
                        self.block(depth - 1, 1, indent + 1);
                    }
                    let _ = writeln!(self.text, "{margin}}}");
                }
                _ => {
                    self.loops += 1;
                    let counter = format!("n{}", self.loops);
                    let condition = self.condition();
                    let _ = writeln!(
                        self.text,
                        "{margin}for (int {counter} = 0; {counter} < 4 && {condition}; {counter}++) {{"
                    );
                    self.block(depth - 1, 2, indent + 1);
                    let _ = writeln!(self.text, "{margin}}}");
                }
            }
        }
    }
}

/// A program with a bug, and without it.
fn program(seed: u64) -> (String, String) {
    let mut program = Program {
        choices: Random::new(seed),
        text: String::from(
            "#include <stdio.h>\n#include <stdlib.h>\nstruct pair { int left, right; };\n\
             static int total = 3;\n\nstatic int work(int a, int b) {\n  int c = 5;\n  \
             struct pair box = {1, 2};\n",
        ),
        loops: 0,
    };
    program.block(2, 3, 1);
    program.text.push_str("  if (c % b)\n    total = a;\n");
    program.block(1, 2, 1);
    program.text.push_str(
        "  return (a + b + c + box.left + box.right) & 63;\n}\n\nint main(int argc, char **argv) {\n  \
         int result = work(atoi(argv[1]), atoi(argv[2]));\n  printf(\"%d %d\\n\", result, total);\n  return 0;\n}\n",
    );
    let relations = [("<", "<="), (">", ">="), ("==", "<"), ("!=", ">")];
    let (bug, fix) = relations[program.choices.below(4) as usize];
    (
        program.text.replacen('%', bug, 1),
        program.text.replacen('%', fix, 1),
    )
}

const ARGUMENTS: &[&str] = &["0 0", "1 2", "5 5", "7 3", "2 9", "12 12"];

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

proptest! {
    #![proptest_config(Config {
        cases: std::env::var("PATCHWRIGHT_PROPERTY_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(1),
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn candidates_of_one_class_behave_the_same_in_random_programs(seed: u64) {
        let (buggy, fixed) = program(seed);
        let (before, after) = (common::outputs(&buggy, ARGUMENTS), common::outputs(&fixed, ARGUMENTS));
        let failing = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        // Some case must show the bug, and some must pass.
        prop_assume!(failing > 0 && failing < ARGUMENTS.len());
        let cases: Vec<(&'static str, &'static str)> = ARGUMENTS
            .iter()
            .zip(after)
            .map(|(&arguments, output)| (arguments, leaked(output)))
            .collect();
        compare(&Subject {
            source: leaked(buggy),
            names: &["pair", "total", "work"],
            cases: Vec::leak(cases),
            schemas: ALL,
            max_cost: 3,
        });
    }
}
