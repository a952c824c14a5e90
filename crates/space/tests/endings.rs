//! No candidate lets a function end that should have given a value.

use crate::common;

use patchwright_csource::scopes;
use patchwright_space::{
    AtomBuilder, Callees, Form, HoleKind, Schemas, Shown, TermTypes, choices, holes,
};

/// What can be done about the statements of a function, by their text.
#[derive(Debug, Default)]
struct Open {
    /// Statements that can get a guard.
    guarded: Vec<String>,
    /// Expressions that can change.
    expressions: Vec<String>,
    /// Ways out other than `return`, with the statement before which they are put.
    ways: Vec<(String, String)>,
}

fn text_of_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn open(source: &str) -> Open {
    let source = format!(
        "void abort(void); void fatal(const char *) __attribute__((noreturn)); void warn(void);\n\
         enum kind {{ A, B }};\n{source}\n"
    );
    let mut unit = common::read(&source);
    let functions = std::mem::take(&mut unit.functions);
    let mut types = TermTypes::of(&mut unit.types, &functions);
    let mut open = Open::default();
    let function = &functions[0];
    assert!(function.refusal.is_none(), "{:?}", function.refusal);
    let scope_map = scopes(&unit, function);
    let mut builder = AtomBuilder {
        unit: &mut unit,
        types: &mut types,
    };
    let callees = Callees {
        direct: &Default::default(),
        predicates: &Default::default(),
        defined: &Default::default(),
        linked: &|_| false,
        functions: &functions,
        kinds: patchwright_kinds::built_in(),
    };
    let mut found = holes(&mut builder, 0, function, &scope_map);
    let schemas = Schemas::ALL;
    let shown = Shown::default();
    found.extend(
        choices(
            &mut builder,
            0,
            function,
            &scope_map,
            schemas,
            &callees,
            &shown,
        )
        .holes,
    );
    for hole in found {
        let text = text_of_lines(&source[hole.span.range()]);
        match hole.kind {
            HoleKind::Guard { .. } => open.guarded.push(text),
            HoleKind::Expression { .. } => open.expressions.push(text),
            HoleKind::Exit(exits) => open.ways.extend(
                exits
                    .ways
                    .into_iter()
                    .filter(|way| !way.text.starts_with("return"))
                    .map(|way| (way.text, text.clone())),
            ),
            HoleKind::Choice(choice) if matches!(choice.form, Form::Before { .. }) => {
                let mut alternatives = choice.alternatives.into_iter();
                let is_break = alternatives.any(|alternative| alternative.woven == "break;");
                if is_break {
                    open.ways.push(("break;".to_owned(), text));
                }
            }
            _ => {}
        }
    }
    open
}

fn guarded(source: &str) -> Vec<String> {
    open(source).guarded
}

#[test]
fn the_only_return_gets_no_guard() {
    assert_eq!(guarded("int f(int a) { a++; return a; }"), ["a++;"]);
    assert_eq!(
        guarded("void f(int a) { a++; return; }"),
        ["a++;", "return;"]
    );
    assert_eq!(guarded("int main(void) { return 1; }"), ["return 1;"]);
}

#[test]
fn an_early_return_can_be_skipped() {
    assert_eq!(
        guarded("int f(int a) { if (a) return 1; return 2; }"),
        ["if (a) return 1;", "return 1;"]
    );
    assert_eq!(
        guarded("int f(int a) { if (a) return 1; else return 2; }"),
        [""; 0]
    );
    assert_eq!(
        guarded("int f(int a) { if (a) { warn(); return 1; } else warn(); return 2; }"),
        [
            "if (a) { warn(); return 1; } else warn();",
            "warn();",
            "return 1;",
            "warn();"
        ]
    );
}

#[test]
fn a_function_that_ends_without_a_value_anyway_is_no_worse_with_a_guard() {
    assert_eq!(
        guarded("int f(int a) { if (a) return 1; if (!a) return 2; }").len(),
        4
    );
}

#[test]
fn what_never_returns_is_as_good_as_a_return() {
    assert_eq!(
        guarded("int f(int a) { if (a) return 1; abort(); }"),
        ["if (a) return 1;", "return 1;"]
    );
    assert_eq!(
        guarded("int f(int a) { if (a) { return 1; } else fatal(\"no\"); }"),
        [""; 0]
    );
    assert_eq!(
        guarded("int f(int a) { a ? abort() : (warn(), fatal(\"no\")); }"),
        [""; 0]
    );
    let found =
        guarded("int f(int a) { a ? abort() : warn(); ({ if (a) ; else abort(); }); return 1; }");
    assert_eq!(found.len(), 4);
    assert!(!found.contains(&"return 1;".to_owned()), "{found:?}");
}

#[test]
fn an_endless_loop_is_left_by_return_only() {
    let source = "int f(int a) { while (1) { if (a > 9) return a; a++; } }";
    let found = open(source);
    assert_eq!(found.guarded, ["if (a > 9) return a;", "return a;", "a++;"]);
    assert_eq!(found.expressions, ["a > 9", "a"]);
    let ways: Vec<&str> = found.ways.iter().map(|(way, _)| way.as_str()).collect();
    assert!(
        ways.contains(&"continue;") && !ways.contains(&"break;"),
        "{ways:?}"
    );

    let source = "int f(int a) { for (;;) { if (a > 9) break; a++; } return a; }";
    let found = open(source);
    assert_eq!(found.guarded.len(), 4);
    assert!(found.ways.iter().any(|(way, _)| way == "break;"));

    let source = "int f(int a) { do { a++; return a; } while (0); }";
    let found = open(source);
    assert_eq!(found.guarded, ["a++;"]);
    assert_eq!(found.ways, []);
}

#[test]
fn every_section_of_a_last_switch_returns() {
    let source =
        "int f(int a) { switch (a) { case 1: a++; case 2: return 1; default: return 2; } }";
    let found = open(source);
    assert_eq!(found.guarded, ["a++;", "return 1;"]);
    assert_eq!(found.ways, []);

    let source = "int f(int a) { switch (a) { case 1: a++; case 2: return 1; } return 2; }";
    let found = open(source);
    assert_eq!(
        found.guarded,
        [
            "switch (a) { case 1: a++; case 2: return 1; }",
            "a++;",
            "return 1;"
        ]
    );
    assert!(
        found
            .ways
            .contains(&("break;".to_owned(), "case 2: return 1;".to_owned()))
    );
}

#[test]
fn a_switch_over_an_enumeration_counts_with_and_without_a_section_for_each_value() {
    assert_eq!(
        guarded("int f(enum kind a) { switch (a) { case A: return 1; case B: return 2; } }"),
        ["return 1;"]
    );
    assert_eq!(
        guarded("int f(enum kind a) { switch (a) { case A: return 1; } return 2; }"),
        ["switch (a) { case A: return 1; }", "return 1;"]
    );
}

#[test]
fn jumps_are_followed_to_their_labels() {
    assert_eq!(
        guarded("int f(int a) { again: if (a++ < 9) goto again; else return 1; }"),
        [""; 0]
    );
    assert_eq!(
        guarded("int f(int a) { if (a) goto out; return 1; out: warn(); return 2; }"),
        ["if (a) goto out;", "goto out;", "return 1;", "warn();"]
    );
    assert_eq!(
        guarded("int f(int a) { goto out; back: return 1; out: warn(); goto back; }"),
        ["goto out;", "return 1;", "warn();"]
    );
}
