//! A survey: many holes log what they see in one run of the original program.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program, integer};
use patchwright_probe_image::{HoleId, Seen, Slot, SurveyedHole};
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;

const COUNTED: &str = r#"#include <stdio.h>
#include <stdlib.h>
static int weight(int n) { return 2 * n; }
static int sum(int end)
{
  int total = 0;
  for (int i = 0; i < end; i = i + 1)
    if (i % 2)
      total = total + weight(i);
  return total;
}
int main(int argc, char **argv) { printf("%d\n", sum(atoi(argv[argc - 1]))); return 0; }
"#;

const SLOTS: [Slot; 2] = [Slot::Value(Ty::I32); 2];

fn bench() -> Bench {
    let (i, end, n) = ("(__pw_u64)(i)", "(__pw_u64)(end)", "(__pw_u64)(n)");
    let program = Program::new(COUNTED)
        .function(0, "static int sum(", &[])
        .hole(0, "i < end", HookKind::Condition, &[i, end])
        .hole(1, "i % 2", HookKind::Condition, &[i])
        .hole(2, "total = total + weight(i);", HookKind::Guard, &[i])
        .function(1, "static int weight(", &[])
        .hole(3, "2 * n", integer("int"), &[n]);
    let bench = Bench::new();
    bench.write("counted.c", program.woven());
    bench.compile("gcc -O1 -Wall -Wextra -Werror -o counted counted.c");
    bench
}

/// What is seen at the holes when the sum ends there; what the program prints.
fn surveyed(bench: &mut Bench, end: &str) -> (String, Vec<Seen>) {
    let less = [
        Instruction::slot(0),
        Instruction::slot(1),
        Instruction::binary(BinaryOp::Lt, Ty::I32),
    ];
    let rest = [
        Instruction::slot(0),
        Instruction::constant(2),
        Instruction::binary(BinaryOp::Rem, Ty::I32),
        Instruction::constant(0),
        Instruction::binary(BinaryOp::Ne, Ty::I32),
    ];
    let product = [
        Instruction::constant(2),
        Instruction::slot(0),
        Instruction::binary(BinaryOp::Mul, Ty::I32),
    ];
    let one = [Instruction::constant(1)];
    let hole = |hole, slots, original| SurveyedHole {
        hole: HoleId(hole),
        slots,
        original,
    };
    let holes = [
        hole(0, &SLOTS[..], &less[..]),
        hole(1, &SLOTS[..1], &rest[..]),
        hole(2, &SLOTS[..1], &one[..]),
        hole(3, &SLOTS[..1], &product[..]),
    ];
    bench.channel.set_survey(&holes).unwrap();
    let printed = bench.run("counted", &[end]);
    (printed, bench.channel.surveyed(&holes))
}

#[test]
fn all_holes_log_their_states_and_the_program_does_what_it_always_does() {
    let mut bench = bench();
    let (printed, seen) = surveyed(&mut bench, "5");
    assert_eq!(printed, "8\n");
    let states = |hole: usize| -> Vec<(Vec<u64>, u64)> {
        let states = seen[hole].states.iter();
        states
            .map(|(values, undefined, value)| {
                assert!(undefined.iter().all(|one| *one == 0));
                (values.clone(), *value)
            })
            .collect()
    };
    let conditions: Vec<(Vec<u64>, u64)> =
        (0..=5).map(|i| (vec![i, 5], u64::from(i < 5))).collect();
    assert_eq!(states(0), conditions);
    let odd: Vec<(Vec<u64>, u64)> = (0..5).map(|i| (vec![i], i % 2)).collect();
    assert_eq!(states(1), odd);
    assert_eq!(states(2), [(vec![1], 1), (vec![3], 1)]);
    assert_eq!(states(3), [(vec![1], 2), (vec![3], 6)]);
    assert!(seen.iter().all(|seen| seen.is_visited && !seen.is_cut));

    let (printed, seen) = surveyed(&mut bench, "0");
    assert_eq!(printed, "0\n");
    assert_eq!(seen[0].states.len(), 1);
    assert!(seen[1..].iter().all(|seen| !seen.is_visited));
}

#[test]
fn a_hole_with_more_states_than_are_looked_at_says_so() {
    let mut bench = bench();
    let (printed, seen) = surveyed(&mut bench, "1000");
    assert_eq!(printed, "500000\n");
    assert!(seen.iter().all(|seen| seen.is_visited && seen.is_cut));
    assert!(
        seen.iter()
            .all(|seen| !seen.states.is_empty() && seen.states.len() < 100)
    );
}
