//! Measures what weaving costs: the hot path of a program in which nothing is selected, and a visit of a hole.
//!
//! `cargo run --release -p patchwright-weave --example weaving_overhead`
#![allow(clippy::disallowed_methods)] // A measurement starts compilers and programs.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Bench, Program, integer};
use patchwright_probe_image::{Load, Slot};
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;
use std::time::Instant;

/// Three hot functions: a loop over an array, a recursion, and a function so small that it wants to be inlined.
const HOT: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned data[4096];
__attribute__((noinline)) static unsigned loop(unsigned seed)
{
  unsigned sum = seed;
  for (int i = 0; i < 4096; i++) {
    if (data[i] > sum)
      sum = sum * 3 + data[i];
    else
      sum ^= data[i] >> 1;
  }
  return sum;
}
__attribute__((noinline)) static unsigned fibonacci(unsigned n)
{
  if (n < 2)
    return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
static unsigned tiny(unsigned a, unsigned b)
{
  return a > b ? a - b : b - a;
}
__attribute__((noinline)) static unsigned caller(unsigned seed)
{
  unsigned sum = seed;
  for (int i = 0; i < 4096; i++)
    sum += tiny(data[i], sum);
  return sum;
}
int main(int argc, char **argv)
{
  unsigned sum = 0;
  long rounds = atol(argv[2]);
  for (int i = 0; i < 4096; i++)
    data[i] = (unsigned)i * 2654435761u;
  for (long round = 0; round < rounds; round++)
    sum += !strcmp(argv[1], "loop") ? loop(sum) : !strcmp(argv[1], "recursion") ? fibonacci(26 + sum % 2) : caller(sum);
  printf("%u %d\n", sum, argc);
  return 0;
}
"#;

fn hot() -> Program {
    let unsigned = || integer("unsigned");
    let (data, sum) = ("(__pw_u64)(data[i])", "(__pw_u64)(sum)");
    Program::new(HOT)
        .function(0, "static unsigned loop(", &[])
        .hole(0, "data[i] > sum", HookKind::Condition, &[data, sum])
        .hole(1, "sum * 3 + data[i]", unsigned(), &[data, sum])
        .hole(2, "data[i] >> 1", unsigned(), &[data, sum])
        .hole(3, "i < 4096", HookKind::Condition, &["(__pw_u64)(i)"])
        .function(1, "static unsigned fibonacci(", &[])
        .hole(4, "n < 2", HookKind::Condition, &["(__pw_u64)(n)"])
        .hole(5, "n - 1", unsigned(), &["(__pw_u64)(n)"])
        .hole(6, "n - 2", unsigned(), &["(__pw_u64)(n)"])
        .function(2, "static unsigned tiny(", &[])
        .hole(
            7,
            "a > b",
            HookKind::Condition,
            &["(__pw_u64)(a)", "(__pw_u64)(b)"],
        )
        .hole(8, "a - b", unsigned(), &["(__pw_u64)(a)", "(__pw_u64)(b)"])
}

/// The shortest of several runs, in seconds.
fn seconds(bench: &Bench, program: &str, arguments: &[&str], with_channel: bool) -> f64 {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            if with_channel {
                bench.run(program, arguments);
            } else {
                bench.plain(program, arguments);
            }
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

const VISITS: &str = r#"#include <stdio.h>
#include <stdlib.h>
struct node { int n; struct node *next; };
static int visit(int i, struct node *p)
{
  return i + 1;
}
int main(int argc, char **argv)
{
  long sum = 0, rounds = atol(argv[1]), states = atol(argv[2]);
  struct node *b = malloc(sizeof *b), *a = malloc(100000);
  a->n = 1; a->next = b; b->n = 2; b->next = 0;
  for (long round = 0; round < rounds; round++)
    sum += visit(round % states, a);
  return sum == argc;
}
"#;

fn visit_cost(bench: &mut Bench, what: &str, entries: &[&str], slots: &[Slot], states: &str) {
    let program = Program::new(VISITS)
        .function(0, "static int visit(", &[])
        .hole(0, "i + 1", integer("int"), entries);
    bench.write("visit.c", program.woven());
    bench.compile("gcc -O2 -o visit visit.c");
    let code = [
        Instruction::slot(0),
        Instruction::constant(1),
        Instruction::binary(BinaryOp::Add, Ty::I32),
    ];
    bench.candidate(0, 0, slots, &code);
    let many = 400_000.0;
    let base = seconds(bench, "visit", &["0", "1"], true);
    bench.channel.reset();
    let start = Instant::now();
    bench.run("visit", &["400000", states]);
    let time = start.elapsed().as_secs_f64() - base;
    println!(
        "visit, {what}, {states} states: {:.0} ns",
        time / many * 1e9
    );
    let start = Instant::now();
    let observation = bench.observation();
    let read = start.elapsed();
    println!(
        "  {} states read by the host in {read:?}",
        observation.states.len()
    );
}

fn main() {
    let mut bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        for level in ["-O0", "-O2", "-O3"] {
            bench.write("hot.c", hot().source());
            bench.compile(&format!("{compiler} {level} -o plain hot.c"));
            bench.write("hot.c", hot().woven());
            bench.compile(&format!("{compiler} {level} -o woven hot.c"));
            for (what, rounds) in [("loop", "20000"), ("recursion", "100"), ("tiny", "20000")] {
                let plain = seconds(&bench, "plain", &[what, rounds], false);
                let woven = seconds(&bench, "woven", &[what, rounds], false);
                println!(
                    "{compiler} {level} {what}: {plain:.3} s -> {woven:.3} s, x{:.2}",
                    woven / plain
                );
            }
        }
    }
    bench.channel.set_off();
    let plain = seconds(&bench, "woven", &["loop", "0"], false);
    let off = seconds(&bench, "woven", &["loop", "0"], true);
    println!(
        "start of a process: {:.0} us without, {:.0} us with the probe",
        plain * 1e6,
        off * 1e6
    );

    let (value, pointer) = ("(__pw_u64)(i)", "(__pw_u64)(__pw_uptr)(p)");
    let two = [Slot::Value(Ty::I32); 2];
    visit_cost(&mut bench, "2 values", &[value; 2], &two, "10");
    visit_cost(&mut bench, "2 values", &[value; 2], &two, "60000");
    visit_cost(
        &mut bench,
        "20 values",
        &[value; 20],
        &[Slot::Value(Ty::I32); 20],
        "10",
    );
    let load = |ty, base, offset| {
        Slot::Load(Load {
            ty,
            base,
            index: None,
            offset,
            length: None,
            bits: None,
        })
    };
    let entries = [value, pointer, "0", "0", "0", "0"];
    let slots = [
        two[0],
        Slot::Value(Ty::Ptr),
        load(Ty::I32, 1, 0),
        load(Ty::Ptr, 1, 8),
        load(Ty::I32, 3, 0),
        load(Ty::Ptr, 3, 8),
    ];
    visit_cost(
        &mut bench,
        "2 values, 4 loads on 2 pages",
        &entries,
        &slots,
        "10",
    );
}
