//! Woven source compiles wherever the original does, and stays the original until a hole is selected.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common;

use crate::common::{Bench, Program, int_operation, integer, rows};
use patchwright_probe_image::Slot;
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;

/// Old C: everything that must survive being woven, under the strictest flags.
const STRICT: &str = r#"#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
static jmp_buf back;
static int kandr(a, p)
  int a;
  const char *p;
{
  int i, sum = 0;
  for (i = 0; p[i]; i++)
    if (a < p[i])
      sum += p[i] - 'a';
  return sum;
}
static int total(int count, ...)
{
  va_list list;
  int i, sum = 0;
  va_start(list, count);
  for (i = 0; i < count; i++)
    sum += va_arg(list, int);
  va_end(list);
  return sum;
}
static int labels(int n)
{
  int steps = 0;
again:
  if (n == 1)
    goto out;
  n = n % 2 ? 3 * n + 1 : n / 2;
  steps++;
  goto again;
out:
  return steps;
}
static unsigned long factorial(unsigned n) { return n < 2 ? 1ul : n * factorial(n - 1); }
static int counter(void) { static int count; if (++count > 1) return 20; return 10; }
static void jump(int value)
{
  if (value > 0)
    longjmp(back, value);
}
static int jumped(void)
{
  volatile int tries = 0;
  int value = setjmp(back);
  tries++;
  if (value < 3) jump(value + 1);
  return tries;
}
static int choose(int x)
{
  switch (x) {
  case 0: return 10;
  case 1: x = 5;
  /* fallthrough */
  default: return x;
  }
}
static double mean(float a, double b) { return (a + b) / 2.0; }
static const char *where(void) { static char text[40]; sprintf(text, "%s:%d", __FILE__, __LINE__); return text; }
int main(void)
{
  printf("%d %d %d %lu ", kandr('b', "abcd"), total(3, 1, 2, 3), labels(27), factorial(10));
  printf("%d %d ", counter(), counter());
  printf("%d %d %d %g ", jumped(), choose(1), choose(7), mean(1.0f, 4.0));
  printf("%s %d\n", where(), __LINE__);
  return 0;
}
"#;

fn strict() -> Program {
    let n = "(__pw_u64)(n)";
    Program::new(STRICT)
        .function(7, "static int kandr(", &[])
        .hole(
            1,
            "a < p[i]",
            HookKind::Condition,
            &["(__pw_u64)(a)", "(__pw_u64)(p[i])"],
        )
        .hole(2, "p[i] - 'a'", integer("int"), &["(__pw_u64)(p[i])"])
        .hole(3, "sum += p[i] - 'a';", HookKind::Guard, &["(__pw_u64)(i)"])
        .function(8, "static int total(", &[])
        .hole(4, "va_arg(list, int)", integer("int"), &[])
        .hole(
            5,
            "i < count",
            HookKind::Condition,
            &["(__pw_u64)(i)", "(__pw_u64)(count)"],
        )
        .function(9, "static int labels(", &["again", "out"])
        .hole(6, "n == 1", HookKind::Condition, &[n])
        .hole(7, "goto again;", HookKind::Guard, &[n])
        .hole(8, "n % 2 ? 3 * n + 1 : n / 2", integer("int"), &[n])
        .function(10, "static unsigned long factorial(", &[])
        .hole(
            9,
            "n < 2 ? 1ul : n * factorial(n - 1)",
            integer("unsigned long"),
            &[n],
        )
        .function(11, "static int counter(", &[])
        .hole(
            10,
            "++count > 1",
            HookKind::AfterImpure,
            &["(__pw_u64)__pw_c"],
        )
        .function(12, "static void jump(", &[])
        .hole(11, "value > 0", HookKind::Condition, &["(__pw_u64)(value)"])
        .function(13, "static int jumped(", &[])
        .hole(12, "value < 3", HookKind::Condition, &["(__pw_u64)(value)"])
        .function(14, "static int choose(", &[])
        .hole(13, "return 10;", HookKind::Guard, &["(__pw_u64)(x)"])
        .hole(14, "x = [[5]];", integer("int"), &["(__pw_u64)(x)"])
        .function(15, "static double mean(", &[])
        .hole(
            15,
            "(a + b) / 2.0",
            HookKind::Double,
            &["__pw_f32(a)", "__pw_f64(b)"],
        )
        .function(16, "static const char *where(", &[])
        .hole(
            16,
            "return [[text]];",
            HookKind::Pointer { ctype: None },
            &[],
        )
        .function(17, "int main(", &[])
        .hole(17, "labels([[27]])", integer("int"), &[])
}

const STRICT_FLAGS: &[&str] = &[
    "gcc -std=c89 -pedantic-errors -Wall -Wextra -Werror -Wno-implicit-fallthrough",
    "gcc -std=c99 -pedantic-errors -Wall -Wextra -Werror -Wconversion -Wshadow -Wundef -Wvla -Wcast-qual -Wunused-macros",
    "gcc -std=gnu17 -g -fsanitize=undefined -fno-sanitize-recover",
    "gcc -g -fsanitize=address",
    "gcc -flto -fstack-protector-all -ffunction-sections -Wl,--gc-sections",
    "gcc -D_FORTIFY_SOURCE=2 -fPIC -pie -fvisibility=hidden -Wl,-z,now",
    "clang-19 -std=c89 -pedantic-errors -Wall -Wextra -Werror -Wno-deprecated-non-prototype -Wno-implicit-fallthrough",
    "clang-19 -std=c17 -Weverything -Werror",
    "clang-19 -g -fsanitize=undefined -fno-sanitize-recover=all",
    "clang-19 -g -fsanitize=address -fno-omit-frame-pointer",
];

#[test]
fn old_c_compiles_under_all_flags_and_stays_as_it_was() {
    let mut bench = Bench::new();
    let program = strict();
    for (number, flags) in STRICT_FLAGS.iter().enumerate() {
        // One level for each by default, all three in turn.
        let levels = ["-O0", "-O1", "-O2"];
        let some = patchwright_testkit::cases(1, 3) as usize;
        for level in levels.iter().cycle().skip(number).take(some) {
            let flags = format!("{flags} {level}");
            bench.write("strict.c", program.source());
            assert!(
                bench
                    .try_compile(&format!("{flags} -w -o strict strict.c"))
                    .status
                    .success()
            );
            let original = bench.plain("strict", &[]);
            bench.write("strict.c", program.woven());
            bench.compile(&format!("{flags} -o strict strict.c"));
            assert_eq!(bench.plain("strict", &[]), original, "{flags}");
            bench.channel.set_coverage();
            assert_eq!(bench.run("strict", &[]), original, "{flags}");
            assert_eq!(bench.channel.attached(), 1, "{flags}");
            let visited = bench.channel.visited_holes();
            let missed: Vec<u32> = (1..=17)
                .filter(|id| !visited.iter().any(|visited| visited.0 == *id))
                .collect();
            assert_eq!(missed, [13], "{flags}");

            bench.candidate(9, 7, &[Slot::Value(Ty::I32)], &[Instruction::constant(0)]);
            assert!(
                bench.run("strict", &[]).starts_with("5 6 1 3628800"),
                "{flags}"
            );
            bench.candidate(
                7,
                1,
                &[Slot::Value(Ty::I32); 2],
                &int_operation(BinaryOp::Ge),
            );
            assert!(bench.run("strict", &[]).starts_with("1 6 "), "{flags}");
            let expected: Vec<Vec<u64>> = (97..=100).map(|c| vec![98, c]).collect();
            assert_eq!(rows(&bench.observation()), expected);
        }
    }
}

#[test]
fn computed_gotos_variable_arrays_and_alloca_work_in_both_copies() {
    let source = r#"#include <stdio.h>
#include <string.h>
static int interpret(const char *code)
{
  static void *const table[] = { &&add, &&twice, &&stop };
  int value = 1;
  goto *table[*code - '0'];
add:
  value = value + 1;
  goto *table[*++code - '0'];
twice:
  value = value * 2;
  goto *table[*++code - '0'];
stop:
  return value;
}
static int arrays(int n)
{
  int array[n], sum = 0;
  char *room = __builtin_alloca(n);
  memset(room, 1, n);
  for (int i = 0; i < n; i++) { array[i] = i; sum += array[i] * room[i]; }
  return sum;
}
int main(void) { printf("%d %d\n", interpret("0112"), arrays(10)); }
"#;
    let program = Program::new(source)
        .function(0, "static int interpret(", &["add", "twice", "stop"])
        .hole(0, "value + 1", integer("int"), &["(__pw_u64)(value)"])
        .function(1, "static int arrays(", &[])
        .hole(
            1,
            "array[i] * room[i]",
            integer("int"),
            &["(__pw_u64)(array[i])", "(__pw_u64)(i)"],
        );
    let mut bench = Bench::new();
    bench.write("gnu.c", program.woven());
    for compiler in ["gcc", "clang-19"] {
        for level in ["-O0", "-O2"] {
            bench.compile(&format!(
                "{compiler} {level} -Wall -Wextra -Werror -Wno-sign-conversion -o gnu gnu.c"
            ));
            assert_eq!(bench.plain("gnu", &[]), "8 45\n");
            bench.candidate(0, 0, &[Slot::Value(Ty::I32)], &[Instruction::constant(5)]);
            assert_eq!(bench.run("gnu", &[]), "20 45\n");
            bench.candidate(
                1,
                1,
                &[Slot::Value(Ty::I32); 2],
                &int_operation(BinaryOp::Mul),
            );
            assert_eq!(bench.run("gnu", &[]), "8 285\n");
        }
    }
}

#[test]
fn lines_names_byte_order_marks_and_carriage_returns_are_kept() {
    let body = "int f(int x)\n{\n  return x +\n    __LINE__;\n} int g(void) { return __LINE__; }\n";
    let main = "int printf(const char *, ...);\n#line 100 \"other.y\"\n\
                int h(void) { const char *s = __FILE__;\n#line 7 \"third.y\"\n  return printf(\"%s %s %d \", s, __FILE__, __LINE__);\n}\n\
                int main(void) { h(); printf(\"%d %d %s %d\\n\", f(0), g(), __FILE__, __LINE__); return 0; }\n";
    let source = format!("{body}{main}");
    let program = |source: &str| {
        Program::new(source)
            .function(0, "int f(", &[])
            .hole(0, "x", integer("int"), &[])
            .function(1, "int g(", &[])
            .hole(1, "__LINE__", integer("int"), &[])
            .function(2, "int h(", &[])
            .hole(
                2,
                "s, [[__FILE__]]",
                HookKind::Pointer {
                    ctype: Some("const char *".into()),
                },
                &[],
            )
            .function(3, "int main(", &[])
            .hole(3, "g()", integer("int"), &[])
    };
    let mut bench = Bench::new();
    let crlf = source.replace('\n', "\r\n");
    let marked = format!("\u{feff}{source}");
    for source in [&source, &crlf, &marked] {
        let woven = program(source).woven();
        assert_eq!(woven.starts_with(b"\xef\xbb\xbf"), source == &marked);
        let count = |pattern: &[u8]| {
            woven
                .windows(pattern.len())
                .filter(|w| *w == pattern)
                .count()
        };
        let expected = if source == &crlf { count(b"\n") } else { 0 };
        assert_eq!(count(b"\r\n"), expected);
        bench.write("lines.c", &woven);
        bench.compile("gcc -o lines lines.c");
        bench.channel.set_coverage();
        let expected = "other.y third.y 7 4 5 third.y 9\n";
        assert_eq!(bench.plain("lines", &[]), expected);
        assert_eq!(bench.run("lines", &[]), expected);
    }
}

#[test]
fn deep_recursion_needs_little_more_stack_than_before() {
    let holes = 40;
    let terms: Vec<String> = (0..holes)
        .map(|i| format!("(n * {} + 7)", 100 + i))
        .collect();
    let source = format!(
        "#include <stdio.h>\nstatic int deep(int n) {{ if (n == 0) return 0; int sum = {};\n\
         return sum % 3 + deep(n - 1) % 5; }}\nint main(void) {{ printf(\"%d\\n\", deep(20000)); }}\n",
        terms.join(" + ")
    );
    let slots = vec!["(__pw_u64)(n)"; 50];
    let mut program = Program::new(&source).function(0, "static int deep(", &[]);
    for (id, term) in terms.iter().enumerate() {
        program = program.hole(id as u32, term, integer("int"), &slots);
    }
    let bench = Bench::new();
    bench.write("plain.c", program.source());
    bench.write("deep.c", program.woven());
    // Unoptimised clang keeps every entry in a place of its own.
    for flags in ["gcc -O0", "gcc -O2", "clang-19 -O2"] {
        let flags = format!("{flags} -fno-optimize-sibling-calls");
        bench.compile(&format!("{flags} -w -o plain plain.c"));
        bench.compile(&format!("{flags} -o deep deep.c"));
        let expected = bench.plain("plain", &[]);
        let output = common::stdout(
            bench
                .plain_command("sh")
                .args(["-c", "ulimit -s 8192; exec ./deep"]),
        );
        assert_eq!(output, expected, "{flags}");
    }
}

#[test]
fn a_static_program_reports() {
    let mut bench = Bench::new();
    bench.write("strict.c", strict().woven());
    for flags in [
        "gcc -static",
        "gcc -static-pie -fPIE -O2",
        "gcc -static -flto -O2",
        "clang-19 -static -O1",
        "gcc -static -fno-pie -no-pie -ffunction-sections -fdata-sections -Wl,--gc-sections",
    ] {
        bench.compile(&format!("{flags} -o strict strict.c"));
        let original = bench.plain("strict", &[]);
        bench.candidate(9, 6, &[Slot::Value(Ty::I32)], &[Instruction::constant(1)]);
        assert_ne!(bench.run("strict", &[]), original, "{flags}");
        assert_eq!(bench.channel.attached(), 1, "{flags}");
        assert!(bench.observation().visits > 0, "{flags}");
    }
}

#[test]
fn a_program_without_libc_runs_as_the_original_and_does_not_attach() {
    let source = "int f(int x) { return x + 1; }\n\
                  void _start(void) { __asm__(\"syscall\" : : \"a\"(60), \"D\"(f(1) - 2)); }\n";
    let program = Program::new(source).function(9, "int f(", &[]).hole(
        6,
        "x + 1",
        integer("int"),
        &["(__pw_u64)(x)"],
    );
    let mut bench = Bench::new();
    bench.write("small.c", program.woven());
    bench.compile("gcc -static -nostdlib -nostartfiles -ffreestanding -o small small.c");
    bench.candidate(9, 6, &[Slot::Value(Ty::I32)], &[Instruction::constant(9)]);
    bench.run("small", &[]);
    assert_eq!(bench.channel.attached(), 0);
}
