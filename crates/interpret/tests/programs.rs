//! Whole programs: what they print, and what is undefined about them.
#![allow(clippy::disallowed_methods, reason = "tests write their own sources")]

use patchwright_interpret::{Closed, Ending, Limits, Machine, Undefined};

/// How a program ended, what it printed, and the line where it stopped.
pub fn run_with(source: &str, input: &str, words: &[&str]) -> (Ending, String, u32) {
    let module = patchwright_testkit::module(source);
    let mut world = Closed::with_input(input);
    let limits = Limits {
        instructions: 10_000_000,
        ..Limits::default()
    };
    let mut machine = Machine::link(vec![module], limits, &mut world).expect("links");
    let mut arguments = vec![b"prog".to_vec()];
    arguments.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let outcome = machine.run(&arguments, &[b"HOME=/".to_vec()]);
    let line = outcome.trace.first().map_or(0, |place| place.line);
    (
        outcome.ending,
        String::from_utf8_lossy(&world.output).into_owned(),
        line,
    )
}

pub fn prints(source: &str, input: &str) -> String {
    let (ending, output, _) = run_with(source, input, &[]);
    assert_eq!(ending, Ending::Exit(0), "{output}");
    output
}

#[test]
#[ignore = "nightly: 5 s; what_verifiers_understand_is_understood goes this way"]
fn undefined_behaviour_ends_a_program_with_its_kind_and_line() {
    use Undefined::*;
    let header = "#include <stdlib.h>\n#include <string.h>\n#include <stdarg.h>\n";
    for (kind, code) in [
        (
            NullPointer,
            "int main(int c, char **v) { int *p = c > 9 ? &c : 0; return *p; }",
        ),
        (
            OutOfBounds,
            "int main(int c, char **v) { int a[3] = {1}; return a[c + 2]; }",
        ),
        (
            OutOfBounds,
            "int main(void) { char *p = malloc(3); strcpy(p, \"abc\"); return 0; }",
        ),
        (
            UseAfterFree,
            "int main(void) { int *p = calloc(1, 4); free(p); return *p; }",
        ),
        (
            DoubleFree,
            "int main(void) { int *p = malloc(4); free(p); free(p); return 0; }",
        ),
        (
            InvalidFree,
            "int main(int c, char **v) { free(&c); return 0; }",
        ),
        (
            UseAfterScope,
            "int *f(void) { int x = 1; return &x; } int main(void) { return *f(); }",
        ),
        (
            UninitializedRead,
            "int main(int c, char **v) { int x; if (c > 5) x = 1; return x; }",
        ),
        (
            UninitializedRead,
            "int main(void) { int *p = malloc(8); return p[1]; }",
        ),
        (
            SignedOverflow,
            "int main(int c, char **v) { int x = 0x7fffffff; return x + c; }",
        ),
        (
            DivisionByZero,
            "int main(int c, char **v) { return 3 / (c - 1); }",
        ),
        (
            BadShift,
            "int main(int c, char **v) { return 1 << (c + 31); }",
        ),
        (
            BadConversion,
            "int main(int c, char **v) { double d = 1e10 * c; return (int)d; }",
        ),
        (
            WriteToConstant,
            "int main(void) { char *p = \"a\"; p[0] = 'b'; return 0; }",
        ),
        (
            MissingReturn,
            "int f(int x) { if (x > 5) return 1; } int main(int c, char **v) { return f(c); }",
        ),
        (
            BadCall,
            "int f(int x) { return x; } int main(void) { double (*g)(double) = (void *)f; return (int)g(1.0); }",
        ),
        (
            BadVariadic,
            "int f(int n, ...) { va_list l; va_start(l, n); return va_arg(l, double) > 0; } int main(void) { return f(1, 2); }",
        ),
        (Unreachable, "int main(void) { __builtin_unreachable(); }"),
        (
            BadDifference,
            "int main(void) { int a[2], b[2]; return (int)(a - b); }",
        ),
    ] {
        let (ending, _, line) = run_with(&format!("{header}{code}\n"), "", &[]);
        match ending {
            Ending::Undefined { kind: found, .. } => assert_eq!(found, kind, "{code}"),
            other => panic!("{code}: {other:?}"),
        }
        assert_eq!(line, 4, "{code}");
    }
}

#[test]
fn formats_are_those_of_the_c_library() {
    let output = prints(
        "#include <stdio.h>\nint main(void) {\n\
         printf(\"%5d|%-5d|%05d|%+d|% d|%x|%#X|%#o|%u\\n\", 42, 42, 42, 42, 42, 255, 255, 8, 7u);\n\
         printf(\"%.2f|%8.3f|%-8.1f|%e|%g|%g|%G|%.0f|%a\\n\", 3.14159, 2.5, 2.5, 12345.678, 1e-5, 100000.0, 1e20, 0.5, 1.0);\n\
         printf(\"%s|%10s|%-6s|%.2s|%c|%%|%5c\\n\", \"abc\", \"abc\", \"abc\", \"abc\", 'x', 'y');\n\
         printf(\"%ld|%lld|%hhd|%hu|%zu|%.5d|%.0d|%*d\\n\", -1L, 1LL << 40, 300, 70000, sizeof(int), 42, 0, 4, 7);\n\
         printf(\"%p|%Lf|%i\\n\", (void *)0, 1.5L, -3);\n\
         return 0; }\n",
        "",
    );
    assert_eq!(
        output,
        "   42|42   |00042|+42| 42|ff|0XFF|010|7\n\
         3.14|   2.500|2.5     |1.234568e+04|1e-05|100000|1E+20|0|0x1p+0\n\
         abc|       abc|abc   |ab|x|%|    y\n\
         -1|1099511627776|44|4464|4|00042||   7\n\
         (nil)|1.500000|-3\n"
    );
}

#[test]
fn input_is_read_by_lines_by_characters_and_by_formats() {
    let output = prints(
        "#include <stdio.h>\nint main(void) {\n\
         char line[32], word[8]; int a; double d; unsigned x;\n\
         fgets(line, sizeof line, stdin); printf(\"[%s]\", line);\n\
         int n = scanf(\"%d %lf %7s %x\", &a, &d, word, &x);\n\
         printf(\"%d %d %.1f %s %u\\n\", n, a, d, word, x);\n\
         int c; while ((c = getchar()) != EOF) if (c != '\\n') putchar(c);\n\
         n = sscanf(\"k=v;\", \"%[^=]=%[a-z]\", line, word); printf(\" %d %s %s\\n\", n, line, word);\n\
         return 0; }\n",
        "first line\n12 2.5 word ff\nrest\n",
    );
    assert_eq!(output, "[first line\n]4 12 2.5 word 255\nrest 2 k v\n");
}

#[test]
fn options_are_parsed_and_operands_moved_behind_them() {
    let source = "#include <stdio.h>\n#include <getopt.h>\n\
        static struct option longs[] = { {\"all\", 0, 0, 'a'}, {\"size\", 1, 0, 's'}, {0} };\n\
        int main(int argc, char **argv) { int c;\n\
        while ((c = getopt_long(argc, argv, \"as:q\", longs, 0)) != -1)\n\
          printf(\"%c %s\\n\", c, optarg ? optarg : \"-\");\n\
        while (optind < argc) puts(argv[optind++]);\n\
        return 0; }\n";
    let words = ["x", "-qa", "--size=3", "y", "-s", "4", "--", "-z"];
    let (ending, output, _) = run_with(source, "", &words);
    assert_eq!(ending, Ending::Exit(0));
    assert_eq!(output, "q -\na -\ns 3\ns 4\nx\ny\n-z\n");
}

#[test]
fn control_leaves_by_longjmp_exit_handlers_and_abort() {
    let output = prints(
        "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         static jmp_buf b; static void bye(void) { puts(\"bye\"); }\n\
         static void f(int n) { if (n == 0) longjmp(b, 7); f(n - 1); }\n\
         int main(void) { atexit(bye); int r = setjmp(b); printf(\"%d\\n\", r);\n\
         if (r == 0) f(3); exit(0); }\n",
        "",
    );
    assert_eq!(output, "0\n7\nbye\n");
    let (ending, _, _) = run_with(
        "#include <assert.h>\nint main(int c, char **v) { assert(c == 2); return 0; }\n",
        "",
        &[],
    );
    assert_eq!(ending, Ending::Abort);
}

#[test]
fn what_has_no_model_is_named_when_it_is_called() {
    let source =
        "int mystery(int); int main(int c, char **v) { if (c > 1) return mystery(1); return 0; }\n";
    assert_eq!(run_with(source, "", &[]).0, Ending::Exit(0));
    let (ending, _, line) = run_with(source, "", &["x"]);
    match ending {
        Ending::Unsupported(reason) => assert!(reason.contains("`mystery`"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(line, 1);
}

#[test]
fn an_endless_loop_ends_at_the_limit() {
    let (ending, _, _) = run_with("int main(void) { for (;;) ; }\n", "", &[]);
    assert_eq!(ending, Ending::Limit("instructions"));
}

#[test]
fn wide_integers_and_long_doubles_are_exact() {
    let output = prints(
        "#include <stdio.h>\nint main(void) {\n\
         unsigned __int128 x = (unsigned __int128)1 << 100; long double y = 1; int r;\n\
         for (int i = 0; i < 60; i++) y /= 2;\n\
         printf(\"%lu %d %d\\n\", (unsigned long)(x >> 64), 1 + y > 1, (double)(1 + y) > 1);\n\
         int o = __builtin_mul_overflow(65536, 65536, &r); printf(\"%d %d\\n\", o, r);\n\
         return 0; }\n",
        "",
    );
    assert_eq!(output, "68719476736 1 0\n1 0\n");
}

#[test]
fn records_with_bytes_that_have_no_value_are_written_out() {
    let source = "#include <stdio.h>\n#include <string.h>\nstruct r { char name[6]; short n; };\n\
        int main(void) { struct r a[2]; FILE *f = tmpfile();\n\
        strcpy(a[0].name, \"a\"); a[0].n = 65; a[1] = a[0]; a[1].n++;\n\
        if (fwrite(a, sizeof *a, 2, f) != 2) return 1;\n\
        fpos_t at; rewind(f); memset(a, 1, sizeof a); fgetpos(f, &at);\n\
        printf(\"%zu %s\", fread(a, sizeof *a, 9, f), a[0].name);\n\
        fsetpos(f, &at); printf(\" %c %c %d\\n\", a[0].n, a[1].n, fgetc(f));\n\
        struct r b; fwrite(&b, sizeof b, 1, f); return 0; }\n";
    let (ending, output, line) = run_with(source, "", &[]);
    assert_eq!(output, "2 a A B 97\n");
    // Of the last one no byte has a value.
    match ending {
        Ending::Undefined { kind, .. } => assert_eq!(kind, Undefined::UninitializedRead),
        other => panic!("{other:?}"),
    }
    assert_eq!(line, 10);
}

#[test]
fn paths_are_split_as_posix_has_it() {
    let output = prints(
        "#include <libgen.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n\
         const char *paths[] = {\"/usr/lib\", \"/usr/\", \"usr\", \"/\", \"//\", \"\", \"a//b//\"};\n\
         for (int i = 0; i < 7; i++) { char a[20], b[20]; strcpy(a, paths[i]); strcpy(b, a);\n\
         printf(\"%s %s|\", dirname(a), basename(b)); } return 0; }\n",
        "",
    );
    assert_eq!(output, "/usr lib|/ usr|. usr|/ /|// /|. .|a b|");
}

#[test]
fn mathematical_functions_say_what_went_wrong() {
    let output = prints(
        "#include <errno.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n\
         double values[] = {sqrt(4), sqrt(-1), log(0), pow(10, 400), acosh(2)}; (void)values;\n\
         volatile double x = -1; errno = 0; sqrt(x); printf(\"%d \", errno == EDOM);\n\
         x = 1e300; errno = 0; pow(x, 2); printf(\"%d \", errno == ERANGE);\n\
         x = 2; errno = 0; printf(\"%.4f %.4f %d\\n\", acosh(x), atan2f(x, 1), errno);\n\
         srand48(42); printf(\"%f %ld %ld\\n\", drand48(), lrand48(), mrand48()); return 0; }\n",
        "",
    );
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "1 1 1.3170 1.1071 0");
    assert!(lines[1].split(' ').all(|word| !word.is_empty()), "{output}");
}

#[test]
fn what_verifiers_understand_is_understood() {
    let head =
        "void __VERIFIER_assume(int); void __VERIFIER_assert(int); void reach_error(void);\n";
    for (body, expected) in [
        ("__VERIFIER_assume(0);", Ending::Assumption),
        (
            "__VERIFIER_assume(7); __VERIFIER_assert(1);",
            Ending::Exit(0),
        ),
        ("__VERIFIER_assert(0);", Ending::Abort),
        ("reach_error();", Ending::Abort),
    ] {
        let source = format!("{head}int main(void) {{ {body} return 0; }}\n");
        assert_eq!(run_with(&source, "", &[]).0, expected, "{body}");
    }
    let source =
        "int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int(); }\n";
    match run_with(source, "", &[]).0 {
        Ending::Unsupported(reason) => assert!(reason.contains("no answer"), "{reason}"),
        other => panic!("{other:?}"),
    }
}
