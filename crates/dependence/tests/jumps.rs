//! Jumps in slices, and what goes through streams, bit-fields and the library's own memory.

use std::collections::BTreeSet;

use crate::common::{at, backward, lines, program};
use patchwright_dependence::{Graph, Occurrence, Recorder};
use patchwright_interpret::{Closed, Limits, Machine};

const HEAD: &str =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <setjmp.h>\n";

/// The lines of the static, the dynamic and the relevant slice of a line, counted behind [`HEAD`].
fn slices(source: &str, line: u32, words: &[&str]) -> [BTreeSet<u32>; 3] {
    let program = program(&format!("{HEAD}{source}"));
    let graph = Graph::of(&program);
    let mut recorder = Recorder::new(&graph, 1_000_000);
    let mut world = Closed::default();
    let modules = program.modules.clone();
    let mut machine = Machine::link(modules, Limits::default(), &mut world).expect("links");
    machine.observe(&mut recorder);
    let words = ["prog"].iter().chain(words);
    let words: Vec<Vec<u8>> = words.map(|word| word.as_bytes().to_vec()).collect();
    machine.run(&words, &[]);
    drop(machine);
    let criterion = at(&graph, line + 4, None);
    let own = |all: BTreeSet<u32>| all.into_iter().map(|line| line - 4).collect();
    let dynamic = recorder.slice(&criterion, Occurrence::Last, false);
    let relevant = recorder.slice(&criterion, Occurrence::Last, true);
    [
        own(backward(&graph, line + 4)),
        own(lines(&graph, &dynamic.vertices)),
        own(lines(&graph, &relevant.vertices)),
    ]
}

#[test]
fn break_and_continue_are_lines_where_they_keep_a_line_from_being_executed() {
    let source = "int main(int argc, char **argv) {\n\
         int n = atoi(argv[1]), i, s = 0, t = 0;\n\
         for (i = 0; i < 10; i++) {\n\
         if (i > n)\n\
         break;\n\
         t += 2;\n\
         if (i == 2)\n\
         continue;\n\
         s += i;\n\
         }\n\
         printf(\"%d\\n\", s);\n\
         printf(\"%d\\n\", t);\n\
         return 0; }\n";
    for found in slices(source, 11, &["3"]) {
        assert_eq!(found, [2, 3, 4, 5, 7, 8, 9, 11].into());
    }
    for found in slices(source, 12, &["3"]) {
        assert_eq!(
            found,
            [2, 3, 4, 5, 6, 12].into(),
            "the other jump leads past nothing"
        );
    }
}

#[test]
fn goto_return_and_the_end_of_a_case_are_lines() {
    let source = "static int g;\n\
         static void set(int v) {\n\
         if (v < 0)\n\
         return;\n\
         g = v; }\n\
         int main(int argc, char **argv) {\n\
         int n = atoi(argv[1]), s = 1;\n\
         if (n > 3)\n\
         goto end;\n\
         switch (n) {\n\
         case 1:\n\
         s = 10;\n\
         break;\n\
         case 2:\n\
         s = 20;\n\
         }\n\
         end:\n\
         set(n);\n\
         printf(\"%d\\n\", s);\n\
         printf(\"%d\\n\", g);\n\
         return 0; }\n";
    let [fixed, ..] = slices(source, 19, &["1"]);
    assert_eq!(fixed, [7, 8, 9, 10, 12, 13, 15, 19].into());
    let [fixed, dynamic, relevant] = slices(source, 20, &["-4"]);
    assert_eq!(fixed, [3, 4, 5, 7, 18, 20].into());
    assert_eq!(
        dynamic,
        [20].into(),
        "nothing that was executed gave `g` its value"
    );
    assert_eq!(
        relevant,
        [3, 4, 7, 18, 20].into(),
        "without the return it would have another one"
    );
}

#[test]
fn calls_that_end_the_program_are_lines() {
    let source = "static void check(int v) {\n\
         if (v > 90)\n\
         exit(3); }\n\
         int main(int argc, char **argv) {\n\
         int n = atoi(argv[1]);\n\
         check(n);\n\
         if (n == 80)\n\
         abort();\n\
         printf(\"%d\\n\", n);\n\
         return 0; }\n";
    let [fixed, ..] = slices(source, 9, &["1"]);
    assert_eq!(fixed, [2, 3, 5, 6, 7, 8, 9].into());
}

#[test]
fn a_loop_without_a_condition_is_a_line_with_the_break_that_ends_it() {
    let source = "int main(int argc, char **argv) {\n\
         int n = 0;\n\
         for (;;) {\n\
         if (n++ > argc)\n\
         break;\n\
         }\n\
         printf(\"%d\\n\", n);\n\
         for (;;) {\n\
         if (argc > 1) break;\n\
         n = 4;\n\
         break;\n\
         }\n\
         printf(\"%d\\n\", n);\n\
         return 0; }\n";
    for found in slices(source, 7, &[]) {
        assert_eq!(found, [2, 3, 4, 5, 7].into());
    }
    let [fixed, ..] = slices(source, 13, &[]);
    assert!(fixed.is_superset(&[8, 9, 10].into()), "{fixed:?}");
}

#[test]
fn a_jump_behind_which_nothing_is_executed_counts_where_the_rest_is_left_out() {
    let source = "int main(int argc, char **argv) {\n\
         int x = 1;\n\
         if (argc > 1) {\n\
         do {\n\
         goto end;\n\
         } while (x++ < 3);\n\
         }\n\
         x = 5;\n\
         end:\n\
         printf(\"%d\\n\", x);\n\
         return 0; }\n";
    let [fixed, ..] = slices(source, 10, &[]);
    assert_eq!(fixed, [2, 3, 5, 8, 10].into());
}

#[test]
fn what_longjmp_leaves_and_gives_is_followed() {
    let source = "static jmp_buf back;\n\
         static int code;\n\
         static void fail(int c) {\n\
         code = c;\n\
         longjmp(back, c + 1); }\n\
         static void middle(int c) { fail(c); }\n\
         int main(void) {\n\
         int k, how;\n\
         k = 9;\n\
         how = setjmp(back);\n\
         if (how == 0)\n\
         middle(k);\n\
         printf(\"%d\\n\", code);\n\
         printf(\"%d\\n\", how);\n\
         return 0; }\n";
    for found in slices(source, 13, &[]) {
        assert_eq!(found, [4, 5, 6, 9, 10, 11, 12, 13].into());
    }
    for found in slices(source, 14, &[]) {
        assert!(
            found.is_superset(&[5, 6, 9, 10, 12, 14].into()),
            "{found:?}"
        );
        assert!(!found.contains(&4), "{found:?}");
    }
}

#[test]
fn bit_fields_of_one_byte_are_told_apart_in_an_execution() {
    let source = "struct s { unsigned a : 4, b : 4; };\n\
         union u { unsigned char byte; struct s f; };\n\
         int main(void) {\n\
         union u x;\n\
         x.byte = 0x35;\n\
         x.f.b = 7;\n\
         printf(\"%u\\n\", x.f.a);\n\
         printf(\"%u\\n\", x.byte);\n\
         return 0; }\n";
    let [fixed, dynamic, relevant] = slices(source, 7, &[]);
    assert_eq!((&dynamic, &relevant), (&[5, 7].into(), &[5, 7].into()));
    assert!(fixed.is_superset(&dynamic));
    let [_, dynamic, _] = slices(source, 8, &[]);
    assert_eq!(dynamic, [5, 6, 8].into());
}

#[test]
fn what_went_through_one_stream_contributes_and_what_went_through_others_does_not() {
    let source = "int main(void) {\n\
         FILE *f, *g;\n\
         int n, m;\n\
         n = 77;\n\
         f = tmpfile();\n\
         g = tmpfile();\n\
         fputs(\"other\", g);\n\
         fprintf(f, \"%d\\n\", n);\n\
         printf(\"unrelated\\n\");\n\
         rewind(f);\n\
         fscanf(f, \"%d\", &m);\n\
         printf(\"%d\\n\", m);\n\
         return 0; }\n";
    let [fixed, dynamic, relevant] = slices(source, 12, &[]);
    for found in [&dynamic, &relevant] {
        assert!(
            found.is_superset(&[4, 5, 8, 10, 11, 12].into()),
            "{found:?}"
        );
        assert!(!found.contains(&7) && !found.contains(&9), "{found:?}");
        assert!(found.is_subset(&fixed), "{found:?} {fixed:?}");
    }
}

#[test]
fn what_the_library_keeps_between_calls_contributes() {
    let source = "int main(void) {\n\
         char text[] = \"a b\";\n\
         srand(4);\n\
         rand();\n\
         strtok(text, \" \");\n\
         setenv(\"NAME\", \"x\", 1);\n\
         printf(\"%d\\n\", rand());\n\
         printf(\"%s\\n\", strtok(0, \" \"));\n\
         printf(\"%s\\n\", getenv(\"NAME\"));\n\
         return 0; }\n";
    for (line, needed, others) in [
        (7, [3, 4], [5, 6]),
        (8, [2, 5], [3, 6]),
        (9, [6, 9], [3, 5]),
    ] {
        let [fixed, dynamic, relevant] = slices(source, line, &[]);
        assert!(dynamic.is_superset(&needed.into()), "{line}: {dynamic:?}");
        assert!(dynamic.is_disjoint(&others.into()), "{line}: {dynamic:?}");
        assert!(
            relevant.is_superset(&dynamic) && fixed.is_superset(&dynamic),
            "{line}"
        );
    }
}

#[test]
fn a_jump_that_ends_the_executions_of_the_criterion_is_relevant() {
    let source = "int main(int argc, char **argv) {\n\
         int i = 0, stop = 0;\n\
         while (1) {\n\
         printf(\"%d\\n\", i);\n\
         i++;\n\
         if (i > 3)\n\
         stop = 1;\n\
         if (stop)\n\
         break;\n\
         }\n\
         return 0; }\n";
    let [fixed, dynamic, relevant] = slices(source, 4, &[]);
    assert_eq!(fixed, [2, 3, 4, 5, 6, 7, 8, 9].into());
    assert_eq!(relevant, fixed);
    assert!(dynamic.contains(&9), "{dynamic:?}");
}

#[test]
fn the_end_of_the_program_in_a_function_that_was_called_keeps_loops_of_its_callers_from_going_on() {
    let source = "#include <stdlib.h>\n\
         int n;\n\
         void step(void) {\n\
         n++;\n\
         printf(\"%d\\n\", n);\n\
         if (n > 2)\n\
         exit(3);\n\
         }\n\
         void steps(void) {\n\
         step();\n\
         }\n\
         int main(void) {\n\
         while (1)\n\
         steps();\n\
         return 0; }\n";
    let [fixed, _, relevant] = slices(source, 5, &[]);
    assert!(
        fixed.is_superset(&[4, 5, 6, 7, 10, 13, 14].into()),
        "{fixed:?}"
    );
    assert_eq!(relevant, fixed);
}

#[test]
fn what_left_a_call_without_a_return_counts_where_it_kept_the_rest_from_being_executed() {
    let source = "#include <setjmp.h>\n\
         jmp_buf place;\n\
         int n;\n\
         void step(void) {\n\
         n++;\n\
         if (n > 2)\n\
         longjmp(place, 1);\n\
         }\n\
         int main(void) {\n\
         if (setjmp(place) == 0)\n\
         while (1) {\n\
         step();\n\
         printf(\"%d\\n\", n);\n\
         }\n\
         return 0; }\n";
    let [fixed, _, relevant] = slices(source, 13, &[]);
    assert!(
        fixed.is_superset(&[5, 6, 7, 10, 11, 12, 13].into()),
        "{fixed:?}"
    );
    assert_eq!(relevant, fixed);
}
