//! What uses a macro or a variable that changed is a changed statement.

use std::sync::Arc;

use crate::common::{change, change_files, edges, source};
use patchwright_changes::{Change, FileChange, Note, measure};

/// A macro with this body, and two functions of which one uses it, in two places.
fn with_macro(body: &str) -> String {
    format!(
        "#define INNER(a) \\\n  ({body})\n#define OUTER(a) INNER (a)\nint f(int a)\n{{\n  int b = 0;\n  if (OUTER (a) > 2)\n    \
         b = INNER (3);\n  return b;\n}}\nint g(int a)\n{{\n  return a;\n}}\n"
    )
}

#[test]
fn another_body_of_a_macro_counts_where_the_macro_is_used() {
    let measured = change(&with_macro("a + 1"), &with_macro("a + 2"));
    assert_eq!(
        edges(&measured.graph),
        ["7->8", "7->exit", "8->exit", "entry->7"]
    );
    assert_eq!(measured.complexity(), 2);
    let [function] = &measured.functions[..] else {
        panic!("only `f` uses it: {:?}", measured.functions);
    };
    assert_eq!(
        (function.name.as_str(), function.uses, function.altered),
        ("f", 2, [0; 3])
    );
    // Their lines did not change.
    assert_eq!(measured.changed_lines, 0);
    // Comments and layout of the body are no change.
    let same = change(&with_macro("a + 1"), &with_macro("a  +  1 /* one */"));
    assert_eq!((same.complexity(), same.functions.len()), (0, 0));
}

#[test]
fn a_macro_that_only_one_version_has_is_not_used_otherwise() {
    let with = "#define N 3\nint f(void)\n{\n  return N;\n}\n";
    let without = "int f(void)\n{\n  return N;\n}\n";
    assert_eq!(change(without, with).complexity(), 0);
    assert_eq!(change(with, without).complexity(), 0);
}

#[test]
fn another_type_or_initial_value_of_a_variable_counts_at_its_uses() {
    let program = |declaration: &str| {
        format!(
            "{declaration}\nstruct s {{ int limit; }};\nint f(struct s *s)\n{{\n  return s->limit;\n}}\nint g(int limit)\n{{\n  \
             return limit;\n}}\nint h(int a)\n{{\n  if (a > limit)\n    limit = a;\n  return a;\n}}\n"
        )
    };
    for (old, new) in [
        ("static int limit = 3;", "static int limit = 4;"),
        ("int limit;", "unsigned limit;"),
        ("int other, limit = 1;", "int other, limit = 2;"),
        ("int limit[2];", "int limit[3];"),
    ] {
        let measured = change(&program(old), &program(new));
        // Neither a member of that name nor a parameter is the variable.
        let [function] = &measured.functions[..] else {
            panic!("{old} {new}: {:?}", measured.functions);
        };
        assert_eq!(
            (function.name.as_str(), function.uses),
            ("h", 2),
            "{old} {new}"
        );
    }
    for (old, new) in [
        ("static int limit = 3;", "int limit = 3;"),
        ("int limit, other = 1;", "int limit, other = 2;"),
        ("extern int limit;\nint limit;", "int limit;"),
    ] {
        assert_eq!(
            change(&program(old), &program(new)).complexity(),
            0,
            "{old} {new}"
        );
    }
}

#[test]
fn a_variable_of_a_function_with_another_type_counts_at_its_uses_there() {
    let function = |declaration: &str| {
        format!(
            "int f(int a)\n{{\n  {declaration}\n  a++;\n  if (a)\n    b = a;\n  return b;\n}}\n"
        )
    };
    for (old, new, uses, modified) in [
        ("int b;", "long b;", 2, 0),
        ("static int b = 1;", "static int b = 2;", 2, 0),
        // The declaration is a statement that changed.
        ("int b = 1;", "int b = 2;", 0, 1),
        ("int b = 1;", "long b = 1;", 2, 1),
    ] {
        let measured = change(&function(old), &function(new));
        let found = &measured.functions[0];
        assert_eq!(
            (found.uses, found.altered[1]),
            (uses, modified),
            "{old} {new}"
        );
    }
}

#[test]
fn uses_in_files_that_did_not_change_count_in_the_whole_program_and_else_are_told() {
    let header = |value: u32| format!("#define LIMIT {value}\n");
    let files = [("limit.h", &*header(1), &*header(2))];
    let alone = change_files(&files);
    assert_eq!(alone.complexity(), 0);
    assert_eq!(
        alone.notes,
        [Note::UsesElsewhere {
            names: vec!["LIMIT".to_owned()]
        }]
    );
    let rest = [
        ("use.c", "int f(int a)\n{\n  return a < LIMIT;\n}\n"),
        ("none.c", "int g(int a)\n{\n  return a;\n}\n"),
    ];
    let whole = measure(&Change {
        files: vec![FileChange {
            old: Some(source("limit.h", &header(1))),
            new: Some(source("limit.h", &header(2))),
        }],
        rest: Some(
            rest.map(|(path, text)| Arc::new(source(path, text)))
                .to_vec(),
        ),
        ..Change::default()
    });
    assert_eq!((whole.complexity(), whole.notes), (1, vec![]));
    assert_eq!(
        (whole.functions[0].file.as_str(), whole.functions[0].uses),
        ("use.c", 1)
    );
    // A macro of a C file is another one elsewhere.
    let own = change_files(&[
        (
            "a.c",
            "#define N 1\nint f(void) { return N; }\n",
            "#define N 2\nint f(void) { return N; }\n",
        ),
        (
            "b.c",
            "#define N 1\nint g(void) { return N; }\n",
            "#define N 1\nint g(void) { return N; }\nint h;\n",
        ),
    ]);
    let names: Vec<&str> = own
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    assert_eq!(names, ["f"]);
}

#[test]
fn a_changed_statement_that_is_never_reached_is_in_no_sequence_and_is_told() {
    let function = |more: &str| format!("int f(int a)\n{{\n  return a;\n{more}}}\n");
    let measured = change(&function(""), &function("  a = 1;\n"));
    assert_eq!(
        (measured.complexity(), measured.graph.sequences().len()),
        (0, 0)
    );
    assert_eq!(
        measured.notes,
        [Note::Unreachable {
            path: "a.c".to_owned(),
            function: "f".to_owned(),
            line: 4
        }]
    );
    // Beside one that is reached it does not count either.
    let both = change(
        "int f(int a)\n{\n  return a;\n}\n",
        "int f(int a)\n{\n  a++;\n  return a;\n  a = 1;\n}\n",
    );
    assert_eq!((both.complexity(), both.graph.sequences().len()), (1, 1));
    assert_eq!(both.notes.len(), 1);
}
