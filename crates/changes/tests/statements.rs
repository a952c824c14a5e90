//! Which statements count as changed.

use crate::common::{change, change_files, edges};
use patchwright_changes::{Note, Status};

/// A function with this body, before and after.
fn body(old: &str, new: &str) -> patchwright_changes::Measurement {
    let function = |body: &str| format!("int f(int a, int b)\n{{\n{body}\n}}\n");
    change(&function(old), &function(new))
}

#[test]
fn comments_layout_and_braces_change_nothing() {
    let measured = body(
        "if (a) x(); /* one */\nelse y();\nz(1,2);",
        "if (a) {\n  x();\n} else {\n  y(); // two\n}\n\nz(1,\n  2);",
    );
    assert_eq!((measured.complexity(), measured.changed_lines), (0, 0));
    assert!(measured.functions.is_empty());
}

#[test]
fn a_condition_put_round_statements_is_the_only_change() {
    let measured = body("x();\ny();", "if (a) {\n  x();\n  y();\n}");
    assert_eq!(edges(&measured.graph), ["3->exit", "entry->3"]);
    assert_eq!(measured.functions[0].altered, [1, 0, 0]);
}

#[test]
fn of_a_condition_only_the_operand_that_differs_counts() {
    let measured = body("if (a && b) x();", "if (a && b > 1\n && c) x();");
    assert_eq!(measured.functions[0].altered, [1, 1, 0]);
    assert_eq!(measured.changed_lines, 2);
    let regrouped = body("if (a && b || c) x();", "if (a && (b || c)) x();");
    assert_eq!(regrouped.functions[0].altered, [0, 1, 0]);
    let negated = body("if (a) x();", "if (!a) x();");
    assert_eq!(negated.functions[0].altered.iter().sum::<usize>(), 1);
    let shorter = body("if (a && b) x();", "if (a) x();");
    assert_eq!(shorter.functions[0].altered, [0, 1, 0]);
}

#[test]
fn a_statement_that_leaves_a_construct_moved() {
    let measured = body("if (a) { x(); y(); }", "if (a) { x(); }\ny();");
    assert_eq!(measured.functions[0].altered, [0, 0, 1]);
    assert_eq!(edges(&measured.graph), ["4->exit", "entry->4"]);
}

#[test]
fn a_statement_in_another_place_is_added_there_and_deleted_here() {
    let measured = body("x();\ny();\nz();", "y();\nz();\nx();");
    let function = &measured.functions[0];
    assert_eq!((function.altered, function.deleted), ([1, 0, 0], 1));
}

#[test]
fn what_is_deleted_is_represented_by_its_place() {
    let measured = body("x();\nif (a) { y(); z(); }\nw();", "x();\nw();");
    assert_eq!(edges(&measured.graph), ["4->exit", "entry->4"]);
    assert_eq!(measured.changed_lines, 1);
    // Of an `if` the head, with what it held left in place.
    let measured = body("x();\nif (a) y();\nw();", "x();\ny();\nw();");
    assert_eq!(edges(&measured.graph), ["4->exit", "entry->4"]);
    // An `else` with all that it held.
    let measured = body("if (a) x(); else y();", "if (a) x();");
    assert_eq!(measured.complexity(), 1);
    // All of a function.
    let measured = body("x();\ny();", "");
    assert_eq!(measured.complexity(), 1);
    // A case, which control reaches from its switch only.
    let measured = body(
        "switch (a) { case 1: x(); break; case 2: y(); break; }",
        "switch (a) { case 1: x(); break; }",
    );
    assert_eq!(edges(&measured.graph), ["3->exit", "entry->3"]);
}

#[test]
fn another_loop_with_the_same_condition_is_a_change() {
    let measured = body("if (a) x();", "while (a) x();");
    assert_eq!(measured.complexity(), 2);
}

#[test]
fn declarations_and_macros_are_counted_apart() {
    let measured = change(
        "#include <a.h>\n#define N 1\nstruct s { int a; };\nint g = 1;\nint f(int a)\n{\n  int x;\n  return a;\n}\n",
        "#include <b.h>\n#define N 2\nstruct s { int a; int b; };\nint g = 2;\nint f(long a)\n{\n  long x;\n  return a;\n}\n",
    );
    assert_eq!(measured.complexity(), 0);
    assert_eq!(measured.outside.declarations, 2);
    assert_eq!(measured.outside.directives, 1);
    assert_eq!(measured.local_declarations, 1);
    assert!(measured.functions[0].signature);
}

#[test]
fn functions_are_added_removed_renamed_and_moved_to_other_files() {
    let long = "{\n  a();\n  b();\n  c();\n}\n";
    let files = [
        (
            "a.c",
            format!(
                "void same(void)\n{long}void old_name(void)\n{long}void gone(void) {{ x(); }}\n"
            ),
            format!("void new_name(void)\n{long}void fresh(void) {{ y(); }}\n"),
        ),
        (
            "b.c",
            "int x;\n".to_owned(),
            format!("int x;\nvoid same(void)\n{long}"),
        ),
    ];
    let files: Vec<(&str, &str, &str)> = files
        .iter()
        .map(|(path, old, new)| (*path, old.as_str(), new.as_str()))
        .collect();
    let measured = change_files(&files);
    let found: Vec<(&str, &Status)> = measured
        .functions
        .iter()
        .map(|function| (function.name.as_str(), &function.status))
        .collect();
    assert_eq!(
        found,
        [
            ("new_name", &Status::Renamed("old_name".into())),
            ("fresh", &Status::Added),
            ("gone", &Status::Removed),
            ("same", &Status::MovedFrom("a.c".into())),
        ]
    );
    assert_eq!(measured.complexity(), 1);
}

#[test]
fn calls_and_returns_connect_the_changes_of_functions() {
    let source = |n: u32| {
        format!(
            "static void inner(void)\n{{\n  one({n});\n}}\nstatic void middle(void)\n{{\n  inner();\n}}\n\
             int main(void)\n{{\n  two({n});\n  middle();\n  three({n});\n}}\n"
        )
    };
    let measured = change(&source(1), &source(2));
    assert_eq!(
        edges(&measured.graph),
        ["11->3", "13->exit", "3->13", "entry->11"]
    );
    assert_eq!(measured.complexity(), 1);
}

#[test]
fn a_function_that_others_can_call_may_come_first() {
    let source = |n: u32| {
        format!(
            "void api(void)\n{{\n  one({n});\n}}\nvoid other(void)\n{{\n  two({n});\n  api();\n}}\n"
        )
    };
    let measured = change(&source(1), &source(2));
    assert_eq!(
        edges(&measured.graph),
        ["3->exit", "7->3", "entry->3", "entry->7"]
    );
}

#[test]
fn recursion_leads_back() {
    let source = |n: u32| {
        format!(
            "static int f(int n)\n{{\n  if (n)\n    f(n - 1);\n  g({n});\n}}\nint main(void) {{ f(3); }}\n"
        )
    };
    let measured = change(&source(1), &source(2));
    assert_eq!(edges(&measured.graph), ["5->5", "5->exit", "entry->5"]);
}

#[test]
fn a_program_that_never_ends_has_an_end_all_the_same() {
    let measured = body("for (;;) { x(); }", "for (;;) { x();\ny(); }");
    assert_eq!(edges(&measured.graph), ["4->4", "4->exit", "entry->4"]);
    assert_eq!(measured.complexity(), 2);
}

#[test]
fn a_call_of_exit_ends_the_program_from_inside() {
    let source = |n: u32| {
        format!(
            "static void die(void)\n{{\n  one({n});\n  exit(1);\n}}\nint main(void)\n{{\n  die();\n  two({n});\n}}\n"
        )
    };
    let measured = change(&source(1), &source(2));
    // What follows is never reached.
    assert_eq!(edges(&measured.graph), ["3->exit", "entry->3"]);
    assert_eq!(measured.notes.len(), 1);
}

#[test]
fn old_style_functions_are_read() {
    let source = |n: u32| {
        format!(
            "local int f(a, b)\n    int a;\n    char *b;\n{{\n    if (a == {n}) return 1;\n    return b[{n}];\n}}\n"
        )
    };
    let measured = change(&source(1), &source(2));
    assert_eq!(measured.complexity(), 2);
    assert_eq!(measured.functions[0].name, "f");
    assert!(measured.notes.is_empty(), "{:?}", measured.notes);
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_measured() {
    let measured = change(
        "int f(void) { return 1; }\n",
        "int f(void) { return 2; }\nint g(void) { x = ; @ y(); }\n) = 3;\n",
    );
    assert!(
        measured
            .functions
            .iter()
            .any(|function| function.name == "f")
    );
    let unclear = |note: &Note| matches!(note, Note::Unclear { function, .. } if function == "g");
    let unread = |note: &Note| matches!(note, Note::NotRead { line: 3, .. });
    assert!(measured.notes.iter().any(unclear), "{:?}", measured.notes);
    assert!(measured.notes.iter().any(unread), "{:?}", measured.notes);
}

#[test]
fn a_conditional_of_the_preprocessor_is_no_branch_of_the_program() {
    let measured = body(
        "#ifdef A\nx();\n#else\ny();\n#endif",
        "#ifdef A\nx();\n#else\ny();\nz();\n#endif",
    );
    assert_eq!(edges(&measured.graph), ["7->exit", "entry->7"]);
    assert!(measured.notes.is_empty());
}

#[test]
fn flags_say_which_branch_is_compiled() {
    let old = "void f(void)\n{\n#ifdef FAST\n  a();\n#else\n  b();\n#endif\n}\n";
    let new = old.replace("a();", "x();").replace("b();", "y();");
    let lines = |flags: &[&str]| -> Vec<u32> {
        let side = |text: &str| {
            Some(patchwright_changes::Source {
                path: "f.c".to_owned(),
                text: text.as_bytes().to_vec(),
            })
        };
        let change = patchwright_changes::Change {
            files: vec![patchwright_changes::FileChange {
                old: side(old),
                new: side(&new),
            }],
            definitions: patchwright_changes::Definitions {
                files: vec![(
                    "/home/me/src/f.c".into(),
                    patchwright_changes::Flags::new(
                        flags.iter().copied(),
                        std::path::Path::new("/home/me/src"),
                    ),
                )],
                ..Default::default()
            },
            ..Default::default()
        };
        let found = patchwright_changes::measure(&change);
        assert_eq!(found.notes.is_empty(), !flags.is_empty());
        let vertices = found.graph.vertices.iter();
        vertices
            .filter_map(|vertex| match vertex {
                patchwright_changes::Vertex::Place { line, .. } => Some(*line),
                _ => None,
            })
            .collect()
    };
    assert_eq!(lines(&[]), [4]);
    assert_eq!(lines(&["-DFAST"]), [4]);
    assert_eq!(lines(&["-UFAST"]), [6]);
}
