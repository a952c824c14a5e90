//! Holes round what has effects: it is evaluated once, or not at all where a candidate says so.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program, int_operation, integer, rows};
use patchwright_probe_image::Slot;
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;

const SOURCE: &str = r#"#include <stdio.h>
static int calls;
static int next(void) { return ++calls; }
int impure(int limit)
{
  int sum;
  if (next() > limit) printf("more "); else printf("less ");
  sum = limit + next();
  return printf("%d %d\n", sum, calls);
}
int main(void) { impure(0); impure(5); return 0; }
"#;

const ORIGINAL: &str = "more 2 2\nless 9 4\n";

fn bench() -> Bench {
    let limit = "(__pw_u64)(limit)";
    let value = "(__pw_u64)__pw_c";
    let program = Program::new(SOURCE)
        .function(1, "int impure(", &[])
        .hole(1, "next() > limit", HookKind::AndBefore, &[limit])
        .hole(2, "next() > limit", HookKind::OrBefore, &[limit])
        .hole(3, "next() > limit", HookKind::Condition, &[value, limit])
        .capturing("next()", "int")
        .hole(4, "limit + next()", integer("int"), &[value, limit])
        .capturing("next()", "int")
        .hole(5, "limit + [[next()]]", integer("int"), &[value])
        .capturing("next()", "int");
    let bench = Bench::new();
    bench.write("impure.c", program.woven());
    bench.compile("gcc -O1 -Wall -Wextra -Werror -o impure impure.c");
    bench
}

#[test]
fn nothing_changes_without_a_candidate() {
    assert_eq!(bench().run("impure", &[]), ORIGINAL);
}

#[test]
fn a_condition_in_front_decides_whether_what_has_effects_is_evaluated() {
    let mut bench = bench();
    let slot = [Slot::Value(Ty::I32)];
    bench.candidate(1, 1, &slot, &[Instruction::slot(0)]);
    assert_eq!(bench.run("impure", &[]), "less 1 1\nless 8 3\n");
    assert_eq!(rows(&bench.observation()), [[0], [5]]);
    bench.candidate(1, 2, &slot, &[Instruction::slot(0)]);
    assert_eq!(bench.run("impure", &[]), "more 2 2\nmore 8 3\n");
}

#[test]
fn a_value_with_effects_is_handed_over_and_taken_only_once() {
    let mut bench = bench();
    let slots = [Slot::Value(Ty::I32); 2];
    bench.candidate(1, 3, &slots, &int_operation(BinaryOp::Lt));
    assert_eq!(bench.run("impure", &[]), "less 2 2\nmore 9 4\n");
    assert_eq!(rows(&bench.observation()), [[1, 0], [3, 5]]);
    bench.candidate(1, 4, &slots, &int_operation(BinaryOp::Mul));
    assert_eq!(bench.run("impure", &[]), "more 0 2\nless 20 4\n");
    bench.candidate(1, 5, &slots[..1], &[Instruction::constant(100)]);
    assert_eq!(bench.run("impure", &[]), "more 100 2\nless 105 4\n");
}
