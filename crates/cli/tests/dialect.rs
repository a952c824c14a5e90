//! What the flags of the project's compiler mean for `patchwright run`, what it goes on after, and programs whose
//! functions stand in files that others include.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::{fs, process::Output};

use crate::common::{Place, stderr, stdout};

/// Runs a program of these files, named `a.c`, `b.c`, …; the command names them as `project/a.c`.
fn run(files: &[&str], arguments: &[&str]) -> Output {
    let place = Place::new();
    fs::create_dir_all(place.project()).unwrap();
    for (name, text) in ["a.c", "b.c", "c.c"].iter().zip(files) {
        fs::write(place.project().join(name), text).unwrap();
    }
    place.run(["run"].iter().chain(arguments))
}

const OVERFLOWS: &str = "#include <stdio.h>
#include <limits.h>
static int big = INT_MAX + 1;
int main(int argc, char **argv) {
  int n = INT_MAX - 1 + argc;
  long l = LONG_MAX;
  n++;
  l += argc;
  printf(\"%d %ld %d %d %d\\n\", n, l, -n, INT_MAX * (argc + 1), big);
  printf(\"%d\\n\", (INT_MIN + 1 - argc) << argc);
  return n - 1 < n;
}
";

#[test]
fn signed_arithmetic_wraps_around_where_the_flags_say_so() {
    for flags in ["-fwrapv", "-fno-strict-overflow", "-fno-wrapv -fwrapv"] {
        let output = run(&[OVERFLOWS], &["project/a.c", "--cflags", flags]);
        assert_eq!(
            stdout(&output),
            "-2147483648 -9223372036854775808 -2147483648 -2 -2147483648\n0\n",
            "{flags}: {}",
            stderr(&output)
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let once = "int main(int argc, char **argv) { int n = 0x7ffffffe + argc; n++; return n > 0; }";
    let output = run(
        &[once],
        &["project/a.c", "--cflags", "-fwrapv -fstrict-overflow"],
    );
    assert_eq!(output.status.code(), Some(121));
    assert!(stderr(&output).contains("signed-overflow"));
}

#[test]
fn characters_are_unsigned_where_the_flags_say_so() {
    let source = "#include <stdio.h>
#include <limits.h>
static char table[] = \"\\xff\";
struct s { char c; };
int main(void) {
  char c = (char)200;
  struct s s = { c };
  char *p = &s.c;
  printf(\"%d %d %d %d %d\\n\", c, *p >> 1, table[0], CHAR_MIN, (char)-1 > 0);
  return 0;
}
";
    let output = run(&[source], &["project/a.c", "--cflags", "-funsigned-char"]);
    assert_eq!(stdout(&output), "200 100 255 0 1\n", "{}", stderr(&output));
    let output = run(&[source], &["project/a.c"]);
    assert_eq!(
        stdout(&output),
        "-56 -28 -1 -128 0\n",
        "{}",
        stderr(&output)
    );
}

#[test]
fn definitions_without_a_value_are_one_object_only_where_the_flags_say_so() {
    let main = "int shared; int get(void); int main(void) { shared = 7; return get(); }";
    let other = "int shared; int get(void) { return shared; }";
    let files = ["project/a.c", "project/b.c"];
    let with = |flags| [&files[..], &["--cflags", flags]].concat();
    let output = run(&[main, other], &with("-fcommon"));
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    for flags in ["-fno-common", "-O1"] {
        let output = run(&[main, other], &with(flags));
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(
            message.contains("`shared` is defined twice") && message.contains("-fcommon"),
            "{message}"
        );
    }
}

#[test]
fn flags_that_change_types_in_ways_that_are_not_known_are_refused_by_name() {
    let output = run(
        &["int main(void) { return sizeof(long); }"],
        &["project/a.c", "--cflags", "-m32"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`-m32`"), "{}", stderr(&output));
    let enums = "enum small { A, B }; int main(void) { return sizeof(enum small); }";
    let output = run(&[enums], &["project/a.c", "--cflags", "-fshort-enums"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn what_is_allowed_goes_on_and_is_reported_at_the_end() {
    let source = "#include <stdio.h>
#include <string.h>
static long show(const char *text, long n) { printf(\"%s %ld\\n\", text, n); return n; }
int main(int argc, char **argv) {
  for (int i = 0; i < 3; i++)
    show(\"shift\", argc << 31);
  show(\"count\", 1 << (argc + 32));
  int n = 0x7fffffff;
  show(\"sum\", n + argc);
  double d = 3e9 * argc;
  show(\"float\", (int)d);
  printf(\"format %d\\n\", 5L * argc);
  char text[4];
  show(\"memory\", text[2] - text[2]);
  printf(\"%zu\\n\", strlen(text) * 0);
  return 3;
}
";
    let kinds = "bad-shift,signed-overflow,bad-conversion,bad-variadic-argument,uninitialized-read";
    let output = run(&[source], &["project/a.c", "--allow", kinds]);
    assert_eq!(
        stdout(&output),
        "shift -2147483648\nshift -2147483648\nshift -2147483648\ncount 2\nsum -2147483648\n\
         float -2147483648\nformat 5\nmemory 0\n0\n",
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(3));
    let messages = stderr(&output);
    let warnings: Vec<&str> = messages.lines().collect();
    for (kind, place) in [
        ("bad-shift: ", "a.c:6 in main, 3 times"),
        ("bad-shift: ", "a.c:7 in main"),
        ("signed-overflow: ", "a.c:9 in main"),
        ("bad-conversion: ", "a.c:11 in main"),
        ("bad-variadic-argument: ", "a.c:12 in main"),
        ("uninitialized-read: ", "a.c:14 in main"),
        ("uninitialized-read: ", "a.c:15 in main"),
    ] {
        let said = |line: &&str| {
            line.starts_with("patchwright: warning: undefined behaviour was allowed: ")
                && line.contains(kind)
                && (line.ends_with(place) || line.contains(&format!("{place}, ")))
        };
        assert!(warnings.iter().any(said), "{kind} {place}:\n{messages}");
    }
    // What is not allowed ends the program as before.
    let output = run(&[source], &["project/a.c", "--allow", "signed-overflow"]);
    assert_eq!(output.status.code(), Some(121));
    assert!(stderr(&output).contains("bad-shift"));
    let output = run(&[source], &["project/a.c", "--allow", "double-free"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("can go on after: signed-overflow, bad-shift"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn functions_of_included_sources_are_part_of_the_program() {
    let body = "#include <stdio.h>
int seven = 7;
static int unused(void) { return 1; }
static int twice(int n) { return 2 * n; }
int doubled(int n) { return twice(n); }
int main(void) { printf(\"%d\\n\", doubled(seven)); return 0; }
";
    let output = run(&["#include \"b.c\"\n", body], &["project/a.c"]);
    assert_eq!(stdout(&output), "14\n", "{}", stderr(&output));
    // Of a unit that only includes others, another unit calls what it defines.
    let all = "#include \"b.c\"\n";
    let library = "int next(int n) { return n + 1; }\nint last = 4;\n";
    let main = "int next(int); extern int last; int main(void) { return next(last); }";
    let output = run(&[all, library, main], &["project/a.c", "project/c.c"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    // The library's inline definitions are nobody's own, whatever is optimised.
    let main = "#include <stdlib.h>
#include <stdio.h>
int other(void);
int main(int argc, char **argv) { return atoi(\"3\") + other() + (getchar() > 0); }";
    let other = "#include <stdlib.h>\nint other(void) { return atoi(\"4\"); }\n";
    let files = ["project/a.c", "project/b.c", "--cflags", "-O2"];
    let output = run(&[main, other], &files);
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
}

#[test]
fn other_names_of_functions_and_objects_mean_the_same_ones() {
    let source = "#include <stdio.h>
static int calls;
int real(int n) { calls++; return n + 1; }
int other(int n) __attribute__((alias(\"real\")));
static int third(int n) __attribute__((weakref(\"real\")));
int value = 3;
extern int same __attribute__((alias(\"value\")));
int counted(void) { return calls; }
int elsewhere(int n);
int main(void) {
  same = 5;
  int sum = other(1) + third(2) + elsewhere(3);
  printf(\"%d %d %d %d\\n\", sum, value, counted(), other == real);
  return 0;
}
";
    let elsewhere = "int other(int n); int elsewhere(int n) { return other(10 * n); }\n";
    let output = run(&[source, elsewhere], &["project/a.c", "project/b.c"]);
    assert_eq!(stdout(&output), "36 5 3 1\n", "{}", stderr(&output));
}

#[test]
fn builtins_and_long_doubles_are_what_compiler_and_library_make_of_them() {
    let source = "#include <stdio.h>
#include <math.h>
#include <fenv.h>
#include <string.h>
#include <wchar.h>
static void *back[5];
static void jump(void) { __builtin_longjmp(back, 1); }
int main(void) {
  wchar_t text[16];
  int n = swprintf(text, 16, L\"%03d|%ls\", 5, L\"wide\");
  printf(\"%d %zu %ls\\n\", n, wcslen(text), text);
  printf(\"%.20Lf %.20Lf %Lg\\n\", sqrtl(2.0L), floorl(-2.5L), fmodl(7.25L, 2.0L));
  printf(\"%d %d %x\\n\", __builtin_clrsb(-2), __builtin_clrsbl(0x7f), __builtin_bitreverse32(6));
  printf(\"%d %d\\n\", fegetround(), fesetround(FE_TONEAREST));
  char name[L_tmpnam];
  printf(\"%d\\n\", strncmp(tmpnam(name), \"/tmp/\", 5));
  static int times;
  if (__builtin_setjmp(back) == 0) { times++; jump(); }
  printf(\"%d\\n\", times);
  return 0;
}
";
    let output = run(&[source], &["project/a.c"]);
    assert_eq!(
        stdout(&output),
        "8 8 005|wide\n1.41421356237309504876 -3.00000000000000000000 1.25\n\
         30 56 60000000\n0 0\n0\n1\n",
        "{}",
        stderr(&output)
    );
    let upward = "#include <fenv.h>\nint main(void) { return fesetround(FE_UPWARD); }\n";
    let output = run(&[upward], &["project/a.c"]);
    assert_eq!(output.status.code(), Some(122));
    assert!(stderr(&output).contains("rounding in another direction"));
}

#[test]
fn wide_characters_are_printed_to_a_stream_of_their_own() {
    let source = "#include <stdio.h>
#include <wchar.h>
int main(int argc, char **argv) {
  wprintf(L\"%d %ls %5.2f|%-4lc|%s\\n\", 7, L\"wide\", 2.5, L'x', \"narrow\");
  fputws(L\"text\", stdout);
  putwchar(L'\\n');
  if (argc > 1)
    puts(\"bytes\");
  return 0;
}
";
    let output = run(&[source], &["project/a.c"]);
    assert_eq!(
        stdout(&output),
        "7 wide  2.50|x   |narrow\ntext\n",
        "{}",
        stderr(&output)
    );
    let output = run(&[source], &["project/a.c", "--", "more"]);
    assert_eq!(output.status.code(), Some(121));
    assert!(stderr(&output).contains("stream of wide characters"));
}
