//! What has a value and what may be written: copies, bit-fields, constants; and what may be called.

use patchwright_interpret::{Ending, Undefined};

use crate::programs::{prints, run_with};

/// The kind of undefined behaviour that ends a program, and its line.
fn ends_with(source: &str) -> (Undefined, u32) {
    match run_with(source, "", &[]) {
        (Ending::Undefined { kind, .. }, _, line) => (kind, line),
        (other, output, _) => panic!("{other:?} {output}"),
    }
}

#[test]
fn memory_without_a_value_may_be_copied_and_is_told_where_it_is_used() {
    let copies = "#include <stdio.h>\n#include <stdlib.h>\n\
         struct s { unsigned a, b; unsigned char c, d; };\n\
         int main(void) { struct s *p = malloc(2 * sizeof *p);\n\
         p->a = p->b; p[1].a = p->a; p->c = p->d;\n";
    let output = prints(
        &format!("{copies}p->b = 7; p->a = p->b; printf(\"%u\\n\", p->a); return 0; }}\n"),
        "",
    );
    assert_eq!(output, "7\n");
    for used in [
        "return p[1].a > 3; }\n",
        "return p->a + 1 == 0; }\n",
        "p->a |= 4; return 0; }\n",
        "printf(\"%d\\n\", p->c); return 0; }\n",
    ] {
        let found = ends_with(&format!("{copies}{used}"));
        assert_eq!(found, (Undefined::UninitializedRead, 6), "{used}");
    }
}

#[test]
fn bit_fields_have_values_of_their_own() {
    let of = |use_: &str| {
        format!(
            "#include <stdio.h>\nstruct s {{ unsigned a : 4, b : 4; int c : 20; }};\n\
             int main(void) {{ struct s x; x.a = 1; x.c = -3;\n\
             {use_} return 0; }}\n"
        )
    };
    assert_eq!(prints(&of("printf(\"%u %d\\n\", x.a, x.c);"), ""), "1 -3\n");
    assert_eq!(
        prints(&of("struct s y = x; printf(\"%d\\n\", y.c);"), ""),
        "-3\n"
    );
    for use_ in ["return x.b;", "struct s y = x; return y.b;", "x.b++;"] {
        assert_eq!(
            ends_with(&of(use_)),
            (Undefined::UninitializedRead, 4),
            "{use_}"
        );
    }
}

#[test]
fn a_constant_local_is_written_once_each_time_that_it_comes_to_life() {
    let source = "#include <stdio.h>\nint main(void) {\n\
         for (int i = 0; i < 3; i++) {\n\
         const int n = i; const int *p = &n; const int all[2] = { i, *p };\n\
         printf(\"%d\\n\", *p + all[1]); }\n";
    let output = prints(&format!("{source}return 0; }}\n"), "");
    assert_eq!(output, "0\n2\n4\n");
    for (write, line) in [
        ("const int c = 3;\n*(int *)&c = 4;\n return 0; }\n", 7),
        (
            "const struct { int a[2]; } c = { { 1, 2 } };\n((int *)&c)[1]++;\n return 0; }\n",
            7,
        ),
    ] {
        let found = ends_with(&format!("{source}{write}"));
        assert_eq!(found, (Undefined::WriteToConstant, line), "{write}");
    }
}

#[test]
fn functions_of_the_library_are_called_as_they_are_declared() {
    let of = |cast: &str, call: &str| {
        format!(
            "#include <stdlib.h>\n#include <string.h>\n\
             int main(void) {{ {cast};\n\
             return {call}; }}\n"
        )
    };
    let fits = of("unsigned long (*f)(const char *) = strlen", "(int)f(\"\")");
    assert_eq!(prints(&fits, ""), "");
    for (cast, call) in [
        ("int (*f)(double) = (int (*)(double))abs", "f(3.0)"),
        ("int (*f)(int, int) = (int (*)(int, int))abs", "f(3, 4)"),
        ("double (*f)(int) = (double (*)(int))abs", "f(3) > 1"),
    ] {
        assert_eq!(
            ends_with(&of(cast, call)),
            (Undefined::BadCall, 4),
            "{cast}"
        );
    }
}

#[test]
fn streams_over_memory_semaphores_and_temporary_files_are_modelled() {
    let output = prints(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <semaphore.h>\n#include <unistd.h>\n\
         #include <pwd.h>\n#include <fcntl.h>\n#include <sys/stat.h>\n#include <errno.h>\n\
         int main(void) {\n\
         char text[] = \"12 34\", out[8]; int x, y, value; sem_t s;\n\
         FILE *f = fmemopen(text, strlen(text), \"r\");\n\
         x = fscanf(f, \"%d%d\", &x, &y) == 2 ? x : -1; printf(\"%d %d %d\\n\", x, y, fgetc(f) == EOF);\n\
         rewind(f); x = fgetc(f); printf(\"%c %ld\\n\", x, ftell(f)); fclose(f);\n\
         f = fmemopen(out, sizeof out, \"w\"); fprintf(f, \"a%db\", 42); fclose(f); puts(out);\n\
         sem_init(&s, 0, 2); sem_wait(&s); sem_wait(&s); x = sem_trywait(&s); printf(\"%d %d\\n\", x, errno == EAGAIN);\n\
         sem_post(&s); sem_getvalue(&s, &value); printf(\"%d %d\\n\", value, sem_destroy(&s));\n\
         char name[] = \"/tmp/testXXXXXX\"; x = mkstemp(name); write(x, \"abc\", 3); close(x);\n\
         f = fopen(name, \"r\"); printf(\"%d %d\\n\", fgetc(f) == 'a', strcmp(name, \"/tmp/testXXXXXX\") != 0); fclose(f);\n\
         printf(\"%d\\n\", utimensat(AT_FDCWD, name, 0, 0)); remove(name);\n\
         printf(\"%d\\n\", utimensat(AT_FDCWD, name, 0, 0));\n\
         struct passwd *p = getpwuid(getuid()); printf(\"%s %d\\n\", p->pw_dir, p->pw_uid == getuid());\n\
         return 0; }\n",
        "",
    );
    let expected = "12 34 1\n1 1\na42b\n-1 1\n1 0\n1 1\n0\n-1\n/ 1\n";
    assert_eq!(output, expected);
    let waits = "#include <semaphore.h>\nint main(void) { sem_t s; sem_init(&s, 0, 0);\n\
         return sem_wait(&s); }\n";
    match run_with(waits, "", &[]) {
        (Ending::Unsupported(reason), _, 3) => assert!(reason.contains("sem_wait"), "{reason}"),
        other => panic!("{other:?}"),
    }
}
