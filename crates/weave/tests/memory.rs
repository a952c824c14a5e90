//! Slots behind pointers: read safely, in every state of the program's memory.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program, integer, rows};
use patchwright_probe_image::{Bits, Index, Limits, Load, Patience, Slot};
use patchwright_semantics::{Instruction, Ty};
use patchwright_weave::HookKind;
use std::os::unix::process::ExitStatusExt;

const LIST: &str = r#"#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
struct node { signed char tag; int n; struct node *next; unsigned short values[3]; _Bool flag; double weight; };
static int length(struct node *p, int i)
{
  int count = 0;
  errno = 77;
  for (; p != NULL; p = p->next)
    count = count + 1;
  if (errno != 77)
    abort();
  return count + i;
}
int main(void)
{
  struct node last = { -2, -3, NULL, { 1, 2, 65535 }, 1, 2.5 };
  struct node first = { 1, 7, &last, { 4, 5, 6 }, 0, 0.5 };
  printf("%d\n", length(&first, 1));
  printf("%d\n", length((struct node *)0x10, -1) == 99);
  return 0;
}
"#;

const POINTER: &str = "(__pw_u64)(__pw_uptr)(p)";
const MEMBER: [&str; 5] = [
    "__builtin_offsetof(struct node, tag)",
    "__builtin_offsetof(struct node, n)",
    "__builtin_offsetof(struct node, next)",
    "(__pw_u64)((long)i * (long)sizeof(unsigned short))+__builtin_offsetof(struct node, values)",
    "__builtin_offsetof(struct node, flag)",
];

fn load(ty: Ty, base: usize) -> Slot {
    Slot::Load(Load {
        ty,
        base,
        index: None,
        offset: 0,
        length: None,
        bits: None,
    })
}

fn slots() -> Vec<Slot> {
    vec![
        Slot::Value(Ty::Ptr),
        load(Ty::I8, 0),
        load(Ty::I32, 0),
        load(Ty::Ptr, 0),
        load(Ty::U16, 0),
        load(Ty::Bool, 0),
        // p->next->n and p->next->weight
        load(Ty::I32, 3),
        load(Ty::F64, 3),
        // p->values[p->tag], which must stay inside of the array
        Slot::Load(Load {
            ty: Ty::U16,
            base: 0,
            index: Some(Index { slot: 1, scale: 2 }),
            offset: 16,
            length: Some(22),
            bits: None,
        }),
    ]
}

fn list() -> Program {
    let mut entries = vec![POINTER];
    entries.extend(MEMBER);
    entries.extend([
        "__builtin_offsetof(struct node, n)",
        "__builtin_offsetof(struct node, weight)",
        "0",
    ]);
    Program::new(LIST)
        .function(0, "static int length(", &[])
        .hole(0, "p != NULL", HookKind::Condition, &entries)
}

#[test]
fn loads_follow_pointers_and_are_undefined_where_there_is_no_memory() {
    for compiler in [
        "gcc -O0",
        "gcc -O2",
        "clang-19 -O2",
        "gcc -fsanitize=address",
        "clang-19 -fsanitize=address",
    ] {
        let mut bench = Bench::new();
        bench.write("list.c", list().woven());
        bench.compile(&format!("{compiler} -Wall -Wextra -Werror -o list list.c"));
        // The loop ends before the first node: p is never followed by the program itself.
        bench.candidate(0, 0, &slots(), &[Instruction::constant(0)]);
        bench.run("list", &[]);
        let observation = bench.observation();
        let states = &observation.states;
        assert_eq!(states.len(), 2, "{compiler}");
        let (values, undefined) = (states.values(0), states.undefined(0));
        assert_eq!(undefined, [0; 9], "{compiler}");
        let last = values[3];
        assert!(last != 0 && values[0] != 0);
        let expected = [1, 7, last, 5, 0, -3i64 as u64, 2.5f64.to_bits(), 5];
        assert_eq!(values[1..], expected, "{compiler}");
        assert_eq!(
            states.values(1),
            [0x10, 0, 0, 0, 0, 0, 0, 0, 0],
            "{compiler}"
        );
        assert_eq!(
            states.undefined(1),
            [0, 1, 1, 1, 1, 1, 1, 1, 1],
            "{compiler}"
        );

        // With the original condition the end of the list is reached, and its last node is seen.
        let code = [
            Instruction::slot(0),
            Instruction::constant(0x10),
            Instruction::binary(patchwright_semantics::BinaryOp::Ne, Ty::Ptr),
            Instruction::jump_if_zero(3),
            Instruction::slot(0),
            Instruction::convert(Ty::Ptr, Ty::Bool),
            Instruction::jump(1),
            Instruction::constant(0),
        ];
        bench.candidate(0, 0, &slots(), &code);
        assert_eq!(bench.run("list", &[]), "3\n0\n", "{compiler}");
        let observation = bench.observation();
        let states = &observation.states;
        let (values, undefined) = (states.values(1), states.undefined(1));
        // The tag -2 leads in front of the array, into the padding behind the pointer, which is inside the bounds.
        assert_eq!(undefined[..7], [0, 0, 0, 0, 0, 0, 1], "{compiler}");
        assert_eq!(
            values[1..6],
            [-2i64 as u64, -3i64 as u64, 0, 2, 1],
            "{compiler}"
        );
        assert_eq!(states.values(2)[0], 0, "{compiler}");
        assert_eq!(states.undefined(2)[1..], [1; 8], "{compiler}");
    }
}

#[test]
fn a_bounded_load_outside_its_object_is_undefined() {
    let source = "#include <stdio.h>\nstatic int a[4] = {1, 2, 3, 4};\n\
                  static int f(int i) { return i + 1; }\n\
                  int main(void) { for (int i = -2; i < 6; i++) printf(\"%d\", f(i)); return a[0] - 1; }\n";
    let mut bench = Bench::new();
    let program = Program::new(source).function(0, "static int f(", &[]).hole(
        0,
        "i + 1",
        integer("int"),
        &["(__pw_u64)(__pw_uptr)(a)", "(__pw_u64)((long)i*4)"],
    );
    bench.write("a.c", program.woven());
    bench.compile("gcc -o a a.c");
    let load = Slot::Load(Load {
        ty: Ty::I32,
        base: 0,
        index: None,
        offset: 0,
        length: Some(16),
        bits: None,
    });
    bench.candidate(
        0,
        0,
        &[Slot::Value(Ty::Ptr), load],
        &[Instruction::constant(0)],
    );
    bench.run("a", &[]);
    let observation = bench.observation();
    let states = &observation.states;
    let (values, undefined) = states.column(1);
    // The four indices outside all have the same state.
    assert_eq!(
        (values, undefined),
        (vec![0, 1, 2, 3, 4], vec![1, 0, 0, 0, 0])
    );
    assert_eq!(observation.visits, 8);
}

#[test]
fn memory_that_address_sanitizer_poisoned_is_undefined() {
    let source = "#include <stdlib.h>\n#include <stdio.h>\n\
                  static int f(int *p, int i) { return i; }\n\
                  int main(void) { int *p = malloc(16); p[3] = 9; int x = f(p, 3) + f(p, 4); free(p); x += f(p, 0);\n\
                  int stack[2] = {1, 2}; printf(\"%d\\n\", x + f(stack, 1) + f(stack, 2)); }\n";
    let program = Program::new(source).function(0, "static int f(", &[]).hole(
        0,
        "return [[i]]",
        integer("int"),
        &["(__pw_u64)(__pw_uptr)(p)", "(__pw_u64)((long)i*4)"],
    );
    for compiler in [
        "gcc -fsanitize=address",
        "clang-19 -fsanitize=address",
        "gcc -O1 -fsanitize=address",
    ] {
        let mut bench = Bench::new();
        bench.write("a.c", program.woven());
        bench.compile(&format!("{compiler} -o a a.c"));
        bench.candidate(
            0,
            0,
            &[Slot::Value(Ty::Ptr), load(Ty::I32, 0)],
            &[Instruction::constant(1)],
        );
        assert_eq!(bench.run("a", &[]), "5\n", "{compiler}");
        let (values, undefined) = bench.observation().states.column(1);
        // Behind the block and in the freed block the state is the same.
        assert_eq!(
            (values, undefined),
            (vec![9, 0, 2, 0], vec![0, 1, 0, 1]),
            "{compiler}"
        );
    }
}

#[test]
fn a_null_pointer_in_the_term_is_undefined_behaviour_and_not_a_crash_of_the_probe() {
    let mut bench = Bench::new();
    bench.write("list.c", list().woven());
    bench.compile("gcc -o list list.c");
    bench.candidate(
        0,
        0,
        &slots(),
        &[
            Instruction::slot(6),
            Instruction::convert(Ty::I32, Ty::Bool),
        ],
    );
    let output = bench.command("list").output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    let observation = bench.observation();
    assert!(observation.undefined);
    assert_eq!(observation.states.results(), [Some(1), None]);
}

#[test]
fn more_states_than_there_is_room_for_are_an_overflow_and_the_program_goes_on() {
    let source = "#include <stdio.h>\nstatic int f(int i) { return i + 1; }\n\
                  int main(void) { long s = 0; for (int i = 0; i < 1000; i++) s += f(i); printf(\"%ld\\n\", s); }\n";
    let program = Program::new(source).function(0, "static int f(", &[]).hole(
        0,
        "i + 1",
        integer("int"),
        &["(__pw_u64)(i)"],
    );
    for limits in [
        Limits {
            states: 100,
            log_bytes: 1 << 20,
        },
        // 100 records of 6 words.
        Limits {
            states: 4000,
            log_bytes: 4800,
        },
    ] {
        let mut bench = Bench::with_limits(limits);
        bench.write("a.c", program.woven());
        bench.compile("gcc -o a a.c");
        bench.candidate(0, 0, &[Slot::Value(Ty::I32)], &[Instruction::slot(0)]);
        assert_eq!(bench.run("a", &[]), "499500\n");
        let observation = bench.observation();
        assert!(observation.overflow && !observation.is_complete());
        assert_eq!((observation.visits, observation.incomplete), (1000, 0));
        assert_eq!(
            rows(&observation),
            (0..100).map(|i| vec![i]).collect::<Vec<_>>()
        );
        // Undefined behaviour in a state that is not logged ends the process all the same.
        let code = [
            Instruction::constant(1),
            Instruction::constant(999),
            Instruction::slot(0),
            Instruction::binary(patchwright_semantics::BinaryOp::Sub, Ty::I32),
            Instruction::binary(patchwright_semantics::BinaryOp::Div, Ty::I32),
        ];
        bench.candidate(0, 0, &[Slot::Value(Ty::I32)], &code);
        let output = bench.command("a").output().unwrap();
        assert_eq!(output.status.signal(), Some(9));
        assert!(bench.observation().undefined && bench.observation().overflow);
    }
}

#[test]
fn many_slots_are_all_seen() {
    for count in [33usize, 129, 511] {
        let source =
            "static int f(int i) { return i + 1; }\nint main(void) { return f(3) + f(4); }\n";
        let texts: Vec<String> = (0..count).map(|k| format!("(__pw_u64)(i*{k})")).collect();
        let entries: Vec<&str> = texts.iter().map(String::as_str).collect();
        let program = Program::new(source).function(0, "static int f(", &[]).hole(
            0,
            "i + 1",
            integer("int"),
            &entries,
        );
        let mut bench = Bench::new();
        bench.write("a.c", program.woven());
        bench.compile("gcc -O1 -o a a.c");
        let last = Instruction::slot(count as u32 - 1);
        bench.candidate(
            0,
            0,
            &vec![Slot::Value(Ty::I32); count],
            &[
                last,
                Instruction::constant(0),
                Instruction::binary(patchwright_semantics::BinaryOp::Mul, Ty::I32),
            ],
        );
        bench.run("a", &[]);
        let states = bench.observation().states;
        assert_eq!(states.len(), 2);
        assert_eq!(
            states.values(1),
            (0..count as u64).map(|k| 4 * k).collect::<Vec<_>>()
        );
        assert_eq!(states.undefined(1), vec![0; count]);
    }
}

#[test]
fn a_run_that_goes_on_for_longer_than_the_host_has_patience_for_is_ended() {
    let source = "static int f(int i) { return i + 1; }\n\
                  int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s = f(i); return s != 1000; }\n";
    let program = Program::new(source).function(0, "static int f(", &[]).hole(
        0,
        "i + 1",
        integer("int"),
        &["(__pw_u64)(i)"],
    );
    let mut bench = Bench::new();
    bench.write("a.c", program.woven());
    bench.compile("gcc -o a a.c");
    let code = [
        Instruction::slot(0),
        Instruction::constant(1),
        Instruction::binary(patchwright_semantics::BinaryOp::Add, Ty::I32),
    ];
    for (states, visits) in [(10, u64::MAX), (u32::MAX, 10)] {
        bench.candidate(0, 0, &[Slot::Value(Ty::I32)], &code);
        bench.patience(Patience { states, visits });
        let output = bench.command("a").output().unwrap();
        assert_eq!(output.status.signal(), Some(9));
        let observation = bench.observation();
        assert!(observation.ended && !observation.is_complete());
        assert_eq!(
            rows(&observation),
            (0..10).map(|i| vec![i]).collect::<Vec<_>>()
        );
    }
    // The next candidate is waited for again.
    bench.candidate(0, 0, &[Slot::Value(Ty::I32)], &code);
    bench.run("a", &[]);
    assert!(bench.observation().is_complete());
    assert_eq!(bench.observation().visits, 1000);
}

const FLAGS: &str = r#"#include <stdio.h>
struct flags { char name; unsigned first : 3; int second : 5; unsigned : 2; _Bool third : 1; unsigned fourth : 21; };
static int shown(const struct flags *p)
{
  if (p != NULL)
    printf("%c\n", p->name);
  return 0;
}
int main(void)
{
  struct flags all = { 'a', 5, -7, 1, 0x1abcde };
  return shown(&all) + shown(NULL);
}
"#;

#[test]
fn bit_fields_behind_pointers_are_read_bit_by_bit() {
    let place = |name: &str| {
        format!(
            "(__pw_u64)((0)*8+(long long)(__extension__({{static const __typeof__(*p) __pw_b={{.{name}=1}};\
             __pw_first_bit((const void *)&__pw_b,sizeof __pw_b);}})))"
        )
    };
    let entries = [
        place("first"),
        place("second"),
        place("third"),
        place("fourth"),
    ];
    let entries: Vec<&str> = std::iter::once(POINTER)
        .chain(entries.iter().map(String::as_str))
        .collect();
    let bits = |width, signed, ty| {
        Slot::Load(Load {
            ty,
            base: 0,
            index: None,
            offset: 0,
            length: None,
            bits: Some(Bits { width, signed }),
        })
    };
    let slots = [
        Slot::Value(Ty::Ptr),
        bits(3, false, Ty::I32),
        bits(5, true, Ty::I32),
        bits(1, false, Ty::I32),
        bits(21, false, Ty::I32),
    ];
    let program = Program::new(FLAGS)
        .function(0, "static int shown(", &[])
        .hole(0, "p != NULL", HookKind::Condition, &entries);
    for compiler in [
        "gcc -O0",
        "gcc -O2",
        "clang-19 -O2",
        "gcc -fsanitize=address",
    ] {
        let mut bench = Bench::new();
        bench.write("flags.c", program.woven());
        bench.compile(&format!(
            "{compiler} -Wall -Wextra -Werror -o flags flags.c"
        ));
        bench.candidate(0, 0, &slots, &[Instruction::constant(0)]);
        bench.run("flags", &[]);
        let observation = bench.observation();
        let states = &observation.states;
        assert_eq!(states.len(), 2, "{compiler}");
        let expected = [5, -7i64 as u64, 1, 0x1abcde];
        assert_eq!(states.values(0)[1..], expected, "{compiler}");
        assert_eq!(states.undefined(0), [0; 5], "{compiler}");
        assert_eq!(states.undefined(1), [0, 1, 1, 1, 1], "{compiler}");
    }
}
