//! Dependence across calls, through memory and through pointers to functions.

use std::collections::BTreeSet;

use crate::common::{at, backward, forward, lines, output, program};
use patchwright_dependence::{
    CallGraph, Graph, Location, PointsTo, Slot, Vertex, VertexId, reduce,
};
use patchwright_ir::verify;

#[test]
fn a_slice_enters_and_leaves_a_function_by_the_same_call() {
    let program = program(
        "int printf(const char *, ...);\n\
         int id(int x) {\n\
         return x; }\n\
         int main(int argc, char **argv) {\n\
         int a = argc + 1;\n\
         int b = argc + 2;\n\
         int c = id(a);\n\
         int d = id(b);\n\
         printf(\"%d\", c);\n\
         printf(\"%d\", d);\n\
         return 0; }\n",
    );
    let graph = Graph::of(&program);
    assert_eq!(backward(&graph, 9), [3, 5, 7, 9].into());
    assert_eq!(backward(&graph, 10), [3, 6, 8, 10].into());
    assert_eq!(forward(&graph, 5), [3, 5, 7, 9].into());
}

#[test]
fn memory_is_followed_through_pointers_and_what_is_overwritten_is_not() {
    let program = program(
        "int printf(const char *, ...);\n\
         struct S { int n; struct S *next; };\n\
         static void set(int *p, int v) {\n\
         *p = v; }\n\
         int main(int argc, char **argv) {\n\
         int x = 1;\n\
         int y = 2;\n\
         x = argc;\n\
         set(&x, 7);\n\
         set(&y, argc);\n\
         printf(\"%d\", x);\n\
         printf(\"%d\", y);\n\
         return 0; }\n",
    );
    let graph = Graph::of(&program);
    // `set` may write either variable by the one pointer it has, so it overwrites neither for sure.
    let slice = backward(&graph, 11);
    assert!(slice.is_superset(&[4, 8, 9, 11].into()), "{slice:?}");
    assert!(!slice.contains(&6), "line 8 overwrites line 6: {slice:?}");
}

#[test]
fn calls_through_pointers_go_where_the_pointer_can_point() {
    let program = program(
        "int printf(const char *, ...);\n\
         static int add(int a, int b) { return a + b; }\n\
         static int sub(int a, int b) { return a - b; }\n\
         static int other(int a, int b) { return a ^ b; }\n\
         typedef int (*op)(int, int);\n\
         static op table[2] = { add, sub };\n\
         int apply(int n) { return table[n & 1](n, 1); }\n\
         op unused = other;\n\
         int main(int argc, char **argv) {\n\
         printf(\"%d\", apply(argc));\n\
         return 0; }\n",
    );
    let points_to = PointsTo::of(&program);
    let names = |graph: &CallGraph| -> BTreeSet<String> {
        let apply = program.routine_named("apply").expect("it is there");
        let sites = graph.sites(apply).iter();
        let callees = sites.flat_map(|site| site.bodies.iter());
        callees
            .map(|&id| program.routine(id).name.clone())
            .collect()
    };
    let exact = names(&CallGraph::of(&program, &points_to));
    assert_eq!(exact, ["add", "sub"].map(str::to_owned).into());
    let by_type = names(&CallGraph::by_type(&program));
    assert_eq!(by_type, ["add", "other", "sub"].map(str::to_owned).into());
    let graph = Graph::of(&program);
    assert!(backward(&graph, 10).is_superset(&[2, 3, 7].into()));
    assert!(!backward(&graph, 10).contains(&4));
}

#[test]
fn sets_of_pointers_go_through_structures_lists_copies_and_the_library() {
    let program = program(
        "#include <stdlib.h>\n#include <string.h>\n\
         struct S { int *p; struct S *next; };\n\
         int x, y; int *result;\n\
         int main(int argc, char **argv) {\n\
         struct S a = { &x, 0 }, b; struct S *list = malloc(sizeof *list);\n\
         b = a; memcpy(list, &b, sizeof b); list->next = &a;\n\
         result = list->next->p; unsigned long bits = (unsigned long)&y; result = (int *)(bits + 0);\n\
         return 0; }\n",
    );
    let points_to = PointsTo::of(&program);
    let names = |name: &str| -> BTreeSet<String> {
        let object = program
            .objects
            .iter()
            .position(|object| object.name == name)
            .expect("it is there");
        let result = Location::Object(patchwright_ir::ObjectId(object as u32));
        let targets = points_to.targets(result).into_iter();
        targets
            .filter_map(|location| match location {
                Location::Object(object) => Some(program.global(object).name.clone()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(names("result"), ["x", "y"].map(str::to_owned).into());
}

#[test]
fn what_follows_a_call_that_may_exit_depends_on_what_decides_that() {
    let program = program(
        "#include <stdlib.h>\n\
         int printf(const char *, ...);\n\
         static void check(int n) {\n\
         if (n > 5)\n\
         exit(1); }\n\
         int main(int argc, char **argv) {\n\
         check(argc);\n\
         printf(\"done\");\n\
         return 0; }\n",
    );
    let graph = Graph::of(&program);
    let slice = backward(&graph, 8);
    assert!(slice.is_superset(&[4, 7, 8].into()), "{slice:?}");
}

#[test]
fn a_variable_that_a_line_does_not_mention_is_asked_for_by_its_value_there() {
    let program = program(
        "int printf(const char *, ...);\n\
         int main(int argc, char **argv) {\n\
         int n = 0;\n\
         int m = 1;\n\
         if (argc > 1)\n\
         n = argc;\n\
         m = 2;\n\
         printf(\"%d\", m);\n\
         return 0; }\n",
    );
    let graph = Graph::of(&program);
    let slice = graph.backward(&at(&graph, 8, Some("n")));
    assert_eq!(lines(&graph, &slice), [3, 5, 6].into());
    let slice = graph.backward(&at(&graph, 8, Some("m")));
    assert_eq!(lines(&graph, &slice), [7, 8].into());
}

#[test]
fn a_program_reduced_to_a_slice_prints_what_it_printed_there() {
    let program = program(
        "int printf(const char *, ...);\n\
         static int total, other;\n\
         static void count(int n) { total += n; other -= n; }\n\
         static int fact(int n) { if (n < 2) return 1; return n * fact(n - 1); }\n\
         int main(void) {\n\
         int i;\n\
         for (i = 0; i < 5; i++) {\n\
         count(fact(i));\n\
         if (i % 2) other += i;\n\
         }\n\
         printf(\"%d\\n\", total);\n\
         printf(\"%d\\n\", other);\n\
         return 0; }\n",
    );
    let graph = Graph::of(&program);
    let whole = output(program.modules.clone());
    let mut expected = whole.lines();
    for line in [11, 12] {
        let reduced = reduce(&graph, &at(&graph, line, None));
        for module in &reduced.modules {
            assert_eq!(verify(module), Ok(()));
        }
        let printed = output(reduced.modules.clone());
        assert_eq!(printed.trim_end(), expected.next().expect("two lines"));
    }
    let reduced = reduce(&graph, &at(&graph, 11, None));
    assert!(!lines(&graph, &reduced.slice).contains(&9));
}

#[test]
fn what_a_call_returns_in_a_member_depends_on_what_is_called() {
    let program = program(
        "struct r { int ok; int n; };\n\
         int in(void);\n\
         static struct r make(int n) {\n\
         struct r r = { n > 0,\n\
         n };\n\
         return r; }\n\
         int main(void) {\n\
         int n = in();\n\
         int ok = make(n).ok;\n\
         return ok; }\n",
    );
    let graph = Graph::of(&program);
    let found = backward(&graph, 10);
    for line in [4, 6, 8, 9] {
        assert!(found.contains(&line), "{line}: {found:?}");
    }
}

#[test]
fn what_is_called_before_main_is_not_followed_and_named() {
    let program = program(
        "static int x;\n\
         __attribute__((constructor)) static void set(void) { x = 4; }\n\
         int main(void) { return x; }\n",
    );
    let gaps = patchwright_dependence::gaps(&program);
    let [gap] = &gaps[..] else {
        panic!("{gaps:?}");
    };
    assert_eq!(gap.name, "set");
    assert!(gap.reason.contains("before `main`"), "{}", gap.reason);
}

/// Objects that every instruction treats alike are handed through calls as one; slices are what they would be of the many.
#[test]
fn what_no_instruction_tells_apart_is_one_for_calls() {
    let cases: String = (0..24)
        .map(|number| format!("case {number}: return malloc(4);"))
        .collect();
    let program = program(&format!(
        "void *malloc(unsigned long); int printf(const char *, ...);\n\
         static int *get(int k) {{ switch (k) {{ {cases} }} return 0; }}\n\
         static void use(int *p) {{\n\
         *p = *p + 1; }}\n\
         static int other = 3;\n\
         int main(int argc, char **argv) {{\n\
         int *p = get(argc);\n\
         *p = argc;\n\
         other = 4;\n\
         use(p);\n\
         printf(\"%d\", *p);\n\
         return 0; }}\n"
    ));
    let graph = Graph::of(&program);
    let handed = (0..graph.vertex_count() as u32).filter(|&number| {
        let Vertex::FormalIn(routine, Slot::Memory(_)) = graph.vertex(VertexId(number)) else {
            return false;
        };
        program.routine(routine).name == "use"
    });
    assert_eq!(handed.count(), 1);
    assert_eq!(backward(&graph, 11), [2, 4, 7, 8, 10, 11].into());
}
