//! Holes whose value is the number of an alternative: expressions, statements before and after, moved statements.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program};
use patchwright_semantics::Instruction;
use patchwright_weave::{HookKind, on_one_line};

const SOURCE: &str = r#"#include <stdio.h>
static int twice(int x) { return 2 * x; }
int elsewhere(int x);
static void say(int x) { printf("%d ", x); }
int steps(int a, int b)
{
  int sum;
  sum = a;
  for (int i = 0; i < 2; i++) {
    sum += twice(a + i);
    if (i == b)
      sum++;
    say(sum);
  }
  return sum;
}
int main(void) { printf("%d\n", steps(3, 1)); return 0; }
"#;

const ORIGINAL: &str = "9 18 18\n";

fn lines(texts: &[&str]) -> Vec<String> {
    let lines = texts
        .iter()
        .map(|text| on_one_line(text.as_bytes()).unwrap());
    lines.collect()
}

fn bench() -> Bench {
    let call = HookKind::Choice {
        ctype: Some("int".into()),
        alternatives: lines(&[
            "(a +\n i)",
            "(__extension__({__PW_LINKED(elsewhere);if(!&__pw_linked_elsewhere)__pw_absent();\
             __pw_linked_elsewhere(a);}))",
        ]),
    };
    let effect = HookKind::Choice {
        ctype: None,
        alternatives: lines(&["say(-sum)"]),
    };
    let before = |is_body, texts: &[&str]| HookKind::Before {
        is_body,
        alternatives: lines(texts),
    };
    let after = HookKind::After {
        alternatives: lines(&["sum = 100;"]),
        always: String::new(),
    };
    let program = Program::new(SOURCE)
        .function(5, "int steps(", &[])
        .hole(1, "twice(a + i)", call, &[])
        .hole(2, "[[say(sum)]];", effect, &[])
        .hole(3, "sum++;", before(true, &["sum = 0;"]), &[])
        .hole(
            4,
            "say(sum);",
            before(false, &["if (i) break;", "return -1;"]),
            &[],
        )
        .hole(5, "int sum;", after, &[])
        .hole(6, "sum += twice(a + i);", HookKind::Skip, &[])
        .moved(1, "say(sum);", true)
        .moved(2, "if (i == b)\n      sum++;", true);
    let bench = Bench::new();
    bench.write("steps.c", program.woven());
    bench.compile("gcc -O1 -Wall -Wextra -Werror -o steps steps.c");
    bench.write(
        "elsewhere.c",
        "int elsewhere(int x) { return x ? 1000 : 0; }\n",
    );
    bench.compile("gcc -O1 -o linked steps.c elsewhere.c");
    bench
}

fn selected(bench: &mut Bench, program: &str, hole: u32, value: u64) -> String {
    bench.candidate(5, hole, &[], &[Instruction::constant(value)]);
    let text = bench.run(program, &[]);
    let observation = bench.observation();
    assert_eq!(observation.states.len(), 1, "there is one empty state");
    text
}

#[test]
fn the_number_0_and_no_selection_are_the_original() {
    let mut bench = bench();
    assert_eq!(bench.plain("steps", &[]), ORIGINAL);
    bench.channel.set_coverage();
    assert_eq!(bench.run("steps", &[]), ORIGINAL);
    assert_eq!(bench.channel.visited_holes().len(), 6);
    for hole in 1..=6 {
        assert_eq!(
            selected(&mut bench, "steps", hole, 0),
            ORIGINAL,
            "hole {hole}"
        );
    }
}

#[test]
fn a_number_selects_its_alternative() {
    let mut bench = bench();
    for (hole, value, expected) in [
        (1, 1, "6 11 11\n"),
        (2, 1, "-9 -18 18\n"),
        (3, 1, "9 1 1\n"),
        (4, 1, "9 18\n"),
        (4, 2, "-1\n"),
        (5, 1, ORIGINAL),
        (6, 1, "3 10 18\n"),
        (6, 2, "9 18 18\n"),
    ] {
        let text = selected(&mut bench, "steps", hole, value);
        assert_eq!(text, expected, "hole {hole}, alternative {value}");
    }
}

#[test]
fn a_function_that_is_not_linked_cannot_be_called_and_does_not_keep_the_program_from_linking() {
    let mut bench = bench();
    assert_eq!(selected(&mut bench, "linked", 1, 2), "1003 2004 2004\n");
    bench.candidate(5, 1, &[], &[Instruction::constant(2)]);
    let output = bench.command("steps").output().unwrap();
    assert!(!output.status.success());
}

#[test]
fn a_guard_has_the_statement_before_which_something_else_may_be_executed() {
    let statement = "say(sum);";
    let before = HookKind::Before {
        is_body: false,
        alternatives: lines(&["sum = 7;"]),
    };
    let after = HookKind::After {
        alternatives: lines(&["sum = 70;"]),
        always: String::new(),
    };
    let guards = || [(1, HookKind::Guard), (2, HookKind::Skip)];
    let others = || [(3, before.clone()), (4, after.clone())];
    let orders: [Vec<(u32, HookKind)>; 2] = [
        guards().into_iter().chain(others()).collect(),
        others().into_iter().chain(guards()).collect(),
    ];
    for order in orders {
        let program = order.into_iter().fold(
            Program::new(SOURCE).function(5, "int steps(", &[]),
            |program, (id, kind)| program.hole(id, statement, kind, &[]),
        );
        let mut bench = Bench::new();
        bench.write("steps.c", program.woven());
        bench.compile("gcc -O1 -Wall -Wextra -Werror -o steps steps.c");
        let original = bench.plain("steps", &[]);
        assert_eq!(selected(&mut bench, "steps", 1, 1), original);
        let without = selected(&mut bench, "steps", 1, 0);
        assert_ne!(without, original);
        assert_eq!(selected(&mut bench, "steps", 2, 1), without);
        assert_eq!(selected(&mut bench, "steps", 2, 0), original);
        assert_ne!(selected(&mut bench, "steps", 3, 1), original);
        assert_ne!(selected(&mut bench, "steps", 4, 1), original);
    }
}

#[test]
fn a_copy_of_a_statement_needs_its_hole() {
    let program = Program::new(SOURCE)
        .function(5, "int steps(", &[])
        .hole(6, "sum = a;", HookKind::Skip, &[])
        .moved(1, "say(sum);", true);
    let error = program.try_woven(Some(7)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hole7 has a copy of its statement, but no statement"
    );
}
