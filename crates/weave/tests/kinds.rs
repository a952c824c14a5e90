//! Every kind of hole: what it does when it is not selected, covered, and filled by a candidate.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common;

use crate::common::{Bench, Program, int_operation, integer, rows};
use patchwright_probe_image::{HoleId, Slot};
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;
use std::os::unix::process::ExitStatusExt;

const KINDS: &str = r#"#include <stdio.h>
enum colour { RED, GREEN, BLUE };
struct { int x; } anonymous = { 41 }, other = { 43 };
static int calls;
static int next(void) { return ++calls % 2; }
int kinds(int a, int b, float f, double d, const char *s)
{
  unsigned char small = a + b;
  enum colour colour = a ? GREEN : RED;
  float half = f / 2;
  double twice = d * 2;
  int member = (a > 0 ? &anonymous
                /* the other */ : &other)->x;
  if (a > b)
    printf("greater ");
  else
    printf("not greater ");
  if (next())
    printf("odd ");
  if (b) printf("guarded "); else printf("zero ");
  printf("%d %d %g %g %d %s %d %s\n", small, colour, half, twice, member, s, __LINE__, __func__);
  return 0;
}
int main(void) { return kinds(3, 4, 1.5f, 2.5, "text") + kinds(5, 0, 3.f, -1., "more"); }
"#;

const ORIGINAL: &str = "not greater odd guarded 7 1 0.75 5 41 text 21 kinds\n\
                        greater zero 5 1 1.5 -2 41 more 21 kinds\n";

fn kinds() -> Program {
    let pointer = HookKind::Pointer { ctype: None };
    let address = "(__pw_u64)(__pw_uptr)(&other)";
    let (a, b) = ("(__pw_u64)(a)", "(__pw_u64)(b)");
    Program::new(KINDS)
        .function(5, "int kinds(", &[])
        .hole(1, "a + b", integer("int"), &[a, b])
        .hole(2, "a ? GREEN : RED", integer("enum colour"), &[a])
        .hole(3, "f / 2", HookKind::Float, &["__pw_f32(f)"])
        .hole(4, "d * 2", HookKind::Double, &["__pw_f64(d)"])
        .hole(
            5,
            "a > 0 ? &anonymous\n                /* the other */ : &other",
            pointer,
            &[address],
        )
        .hole(6, "a > b", HookKind::Condition, &[a, b])
        .hole(7, "next()", HookKind::AfterImpure, &["(__pw_u64)__pw_c", a])
        .hole(8, "printf(\"guarded \");", HookKind::Guard, &[a, b])
        .hole(
            9,
            "if (b) printf(\"guarded \"); else printf(\"zero \");",
            HookKind::Guard,
            &[],
        )
        .hole(10, "small = [[a]] +", integer("int"), &[a])
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("kinds.c", kinds().woven());
    bench.compile("gcc -O1 -Wall -Wextra -Werror -o kinds kinds.c");
    bench
}

#[test]
fn without_a_channel_or_a_mode_the_program_is_the_original() {
    let mut bench = bench();
    assert_eq!(bench.plain("kinds", &[]), ORIGINAL);
    assert_eq!(bench.run("kinds", &[]), ORIGINAL);
    assert_eq!(bench.channel.attached(), 1);
    bench.channel.set_off();
    assert_eq!(bench.channel.attached(), 0);
    let no_probe = common::stdout(
        bench
            .command("kinds")
            .env("PATCHWRIGHT_PROBE", "/nonexistent"),
    );
    let no_channel = common::stdout(
        bench
            .command("kinds")
            .env("PATCHWRIGHT_CHANNEL", "/nonexistent"),
    );
    assert_eq!(
        (no_probe, no_channel),
        (ORIGINAL.to_owned(), ORIGINAL.to_owned())
    );
    assert_eq!(bench.channel.attached(), 0);
}

#[test]
fn coverage_reports_the_visited_holes_and_changes_nothing() {
    let mut bench = bench();
    bench.channel.set_coverage();
    assert_eq!(bench.run("kinds", &[]), ORIGINAL);
    let holes: Vec<HoleId> = (1..=10).map(HoleId).collect();
    assert_eq!(bench.channel.visited_holes(), holes);
    bench.channel.reset();
    assert!(bench.channel.visited_holes().is_empty());
}

/// Runs with a constant at a hole and gives what is printed.
fn with_constant(bench: &mut Bench, hole: u32, slots: &[Slot], value: u64) -> String {
    bench.candidate(5, hole, slots, &[Instruction::constant(value)]);
    let text = bench.run("kinds", &[]);
    let observation = bench.observation();
    assert!(
        observation.is_complete() && observation.attached == 1,
        "{observation:?}"
    );
    text
}

#[test]
fn a_candidate_gives_its_value_at_its_hole_and_nowhere_else() {
    let mut bench = bench();
    let (int, two) = (Slot::Value(Ty::I32), [Slot::Value(Ty::I32); 2]);
    let two_ints = &two[..];
    for (hole, slots, value, old, new) in [
        (
            1,
            two_ints,
            9u64,
            [" 7 1 0", " 5 1 1"],
            [" 9 1 0", " 9 1 1"],
        ),
        (2, &[int], 2, ["7 1", "5 1"], ["7 2", "5 2"]),
        (
            3,
            &[Slot::Value(Ty::F32)],
            u64::from(8f32.to_bits()),
            ["0.75", "1.5 "],
            ["8", "8 "],
        ),
        (
            4,
            &[Slot::Value(Ty::F64)],
            (-0.5f64).to_bits(),
            ["5 41", "-2 41"],
            ["-0.5 41", "-0.5 41"],
        ),
        (6, two_ints, 1, ["not greater", ""], ["greater", ""]),
        (6, two_ints, 0, ["\ngreater", ""], ["\nnot greater", ""]),
        (7, two_ints, 0, ["odd ", ""], ["", ""]),
        (8, two_ints, 0, ["guarded ", ""], ["", ""]),
        (9, &[], 0, ["guarded ", "zero "], ["", ""]),
    ] {
        let expected = ORIGINAL
            .replacen(old[0], new[0], 1)
            .replacen(old[1], new[1], 1);
        assert_eq!(
            with_constant(&mut bench, hole, slots, value),
            expected,
            "hole {hole}"
        );
    }
}

#[test]
fn a_pointer_of_a_type_without_a_name_can_be_replaced() {
    let mut bench = bench();
    bench.candidate(5, 5, &[Slot::Value(Ty::Ptr)], &[Instruction::slot(0)]);
    assert_eq!(bench.run("kinds", &[]), ORIGINAL.replace(" 41 ", " 43 "));
}

#[test]
fn states_are_the_distinct_entries_in_the_order_of_their_first_visit() {
    let mut bench = bench();
    let slots = [Slot::Value(Ty::I32); 2];
    bench.candidate(5, 6, &slots, &int_operation(BinaryOp::Lt));
    let text = bench.run("kinds", &[]);
    assert!(text.starts_with("greater odd") && text.contains("\nnot greater"));
    let observation = bench.observation();
    assert_eq!(rows(&observation), [[3, 4], [5, 0]]);
    assert_eq!(observation.states.results(), [Some(1), Some(0)]);
    assert_eq!(observation.visits, 2);

    // The truth of an impure condition comes first; it is evaluated exactly once.
    let code = [Instruction::slot(0)];
    bench.candidate(5, 7, &slots, &code);
    assert_eq!(bench.run("kinds", &[]), ORIGINAL);
    assert_eq!(rows(&bench.observation()), [[1, 3], [0, 5]]);
}

#[test]
fn a_hole_in_a_hole_is_reached_when_the_outer_one_is_not_selected() {
    let mut bench = bench();
    bench.candidate(
        5,
        10,
        &[Slot::Value(Ty::I32)],
        &[Instruction::constant(100)],
    );
    assert_eq!(
        bench.run("kinds", &[]),
        ORIGINAL
            .replace(" 7 ", " 104 ")
            .replace(" 5 1 1.5", " 100 1 1.5")
    );
}

#[test]
fn an_undefined_value_kills_the_process_and_is_reported() {
    let mut bench = bench();
    let slots = [Slot::Value(Ty::I32); 2];
    bench.candidate(5, 1, &slots, &int_operation(BinaryOp::Div));
    let output = bench.command("kinds").output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    let observation = bench.observation();
    assert!(observation.undefined && observation.is_complete());
    assert_eq!(rows(&observation), [[3, 4], [5, 0]]);
    assert_eq!(observation.states.results(), [Some(0), None]);
}

#[test]
fn other_slots_than_woven_are_a_mismatch() {
    let mut bench = bench();
    bench.candidate(5, 1, &[], &[Instruction::constant(1)]);
    let output = bench.command("kinds").output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    assert!(bench.observation().mismatch && !bench.observation().is_complete());
}
