//! The view of C, on sources that clang really reads.
#![allow(clippy::disallowed_methods, reason = "tests write their own sources")]

use crate::common::{function, read, read_with_header, try_read};
use patchwright_csource::{ExprKind, Place, Refusal, StmtKind, TranslationUnit, locations, scopes};
use patchwright_text::apply_edits;

/// The texts that can be edited in a function.
fn editable(unit: &TranslationUnit, name: &str) -> Vec<String> {
    locations::locations(&unit.types, function(unit, name))
        .editable
        .iter()
        .map(|(_, span)| unit.text(*span).into_owned())
        .collect()
}

#[test]
fn plain_expressions_are_editable_where_they_are_written() {
    let unit = read("int f(int a, int b) { return a * (b + 1); }\n");
    let texts = editable(&unit, "f");
    for text in ["a", "b", "1", "b + 1", "(b + 1)", "a * (b + 1)"] {
        assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
    }
}

#[test]
fn an_argument_of_a_macro_is_editable_and_its_body_is_not() {
    let unit = read("#define TWICE(x) ((x) + (x))\nint f(int a) { return TWICE(a - 1) * 3; }\n");
    let texts = editable(&unit, "f");
    for text in ["a - 1", "TWICE(a - 1)", "TWICE(a - 1) * 3"] {
        assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
    }
    assert!(!texts.iter().any(|text| text.contains("(x)")), "{texts:?}");
}

#[test]
fn what_a_macro_makes_a_string_of_is_refused() {
    let unit = read(
        "void fail(const char *);\n#define CHECK(e) ((e) ? (void)0 : fail(#e))\n\
         void f(int a) { CHECK(a > 0); }\n",
    );
    let function = function(&unit, "f");
    assert!(!editable(&unit, "f").iter().any(|text| text == "a > 0"));
    let refused = locations::locations(&unit.types, function).refused;
    assert!(refused.contains_key(&Refusal::Stringified), "{refused:?}");
}

#[test]
fn what_a_macro_makes_a_name_of_is_refused() {
    let unit = read(
        "struct s { int a; };\n#define SET(x) p->x = x;\n#define GET(x) (x)\n\
         void f(struct s *p, int a) { SET(a) }\nint g(struct s *p) { return GET(p->a); }\n",
    );
    let refused = locations::locations(&unit.types, function(&unit, "f")).refused;
    assert!(
        refused.contains_key(&Refusal::SeveralMeanings),
        "{refused:?}"
    );
    assert!(editable(&unit, "f").is_empty());
    assert!(editable(&unit, "g").contains(&"p->a".to_owned()));
}

#[test]
fn what_a_macro_both_reads_and_writes_is_refused() {
    let unit = read(
        "#define ADD(x, y) (x = (x) + (y))\n#define MAX(x, y) ((x) > (y) ? (x) : (y))\n\
         int f(int a, int b) { return ADD(a, b); }\nint g(int a, int b) { return MAX(a, b); }\n",
    );
    assert_eq!(editable(&unit, "f"), ["b", "ADD(a, b)"]);
    assert_eq!(editable(&unit, "g"), ["a", "b", "MAX(a, b)"]);
}

#[test]
fn an_invocation_that_goes_on_behind_its_name_is_refused() {
    let unit = read(
        "#define LENGTH(n) (((n) + 2) / 3)\n#define length LENGTH\n\
         int f(int a) { return 2 * length (a); }\n",
    );
    assert_eq!(editable(&unit, "f"), ["2"]);
}

#[test]
fn a_part_of_a_macros_tokens_is_no_place() {
    let unit = read(
        "#define SUM 1 + 2\n#define RET return 4\nint f(void) { return SUM * 3; }\nint g(void) { RET + 5; }\n",
    );
    let texts = editable(&unit, "f");
    // The product is of 2 and 3: its text is no expression of its own.
    assert_eq!(texts, ["3", "SUM * 3"]);
    assert_eq!(editable(&unit, "g"), ["5"]);
}

#[test]
fn a_statement_includes_its_semicolon() {
    let unit = read("void g(int);\nvoid f(int a) { if (a) g(1) ; else { g(2); } }\n");
    let function = function(&unit, "f");
    let texts: Vec<String> = function
        .stmts
        .iter()
        .filter(|stmt| matches!(stmt.kind, StmtKind::Expression(_)))
        .filter_map(|stmt| stmt.place.editable())
        .map(|span| unit.text(span).into_owned())
        .collect();
    assert_eq!(texts, ["g(1) ;", "g(2);"]);
}

#[test]
fn a_variable_counts_as_assigned_only_when_it_is_on_every_way() {
    let unit = read(
        "int f(int a) { int x, y; if (a) { x = 1; y = 2; } else { x = 3; }\n\
         while (a) { int z = a; a -= z; }\n return x; }\n",
    );
    let function = function(&unit, "f");
    let scopes = scopes(&unit, function);
    let value = function
        .stmts
        .iter()
        .find_map(|stmt| match stmt.kind {
            StmtKind::Return(Some(value)) => Some(value),
            _ => None,
        })
        .expect("a return");
    let scope = scopes.at_expr(value).expect("reached");
    let names: Vec<&str> = scope
        .assigned
        .iter()
        .map(|&id| unit.variable(id).name.as_str())
        .collect();
    assert_eq!(names, ["a", "x"]);
    assert_eq!(scope.visible.len(), 3);
}

#[test]
fn an_array_that_a_loop_fills_has_a_value_behind_it() {
    let unit = read(
        "int f(int n) { int a[9], b[9], i, last; for (i = 0; i < n; i++) a[i] = i;\n\
         while (i > 0) { if (n) b[i] = i; last = i--; }\n return i; }\n",
    );
    let function = function(&unit, "f");
    let scopes = scopes(&unit, function);
    let value = (function.stmts.iter())
        .find_map(|stmt| match stmt.kind {
            StmtKind::Return(Some(value)) => Some(value),
            _ => None,
        })
        .expect("a return");
    let scope = scopes.at_expr(value).expect("reached");
    let names = scope.assigned.iter().map(|&id| &unit.variable(id).name[..]);
    assert_eq!(names.collect::<Vec<_>>(), ["n", "a", "i"]);
}

#[test]
fn a_jump_over_an_assignment_takes_the_value_away() {
    let unit = read("int f(int a) { int x; if (a) goto out; x = 1; a += x;\nout: return a; }\n");
    let function = function(&unit, "f");
    let scopes = scopes(&unit, function);
    let last = function
        .stmts
        .iter()
        .find_map(|stmt| match stmt.kind {
            StmtKind::Return(Some(value)) => Some(value),
            _ => None,
        })
        .expect("a return");
    let scope = scopes.at_expr(last).expect("reached");
    assert_eq!(scope.assigned.len(), 1);
}

#[test]
fn types_records_and_constants_are_known() {
    let unit = read(
        "#define LIMIT (4 * 4)\nenum e { A, B = 5, C };\nstruct s { char c; long l; };\n\
         typedef struct { int n; } anonymous;\n\
         int f(struct s *p, anonymous *q, unsigned char u) { return p->l + q->n + u + LIMIT + C; }\n",
    );
    let limit = unit.macros.iter().find(|constant| constant.name == "LIMIT");
    assert_eq!(limit.map(|constant| constant.value), Some(16));
    let function = function(&unit, "f");
    let pointer = unit.variable(function.parameters[0]).ty;
    let record = unit.types.element(pointer).expect("a pointer");
    assert_eq!(unit.types.size(record), Some(16));
    let anonymous = unit.variable(function.parameters[1]).ty;
    let anonymous = unit.types.element(anonymous).expect("a pointer");
    assert_eq!(unit.types.size(anonymous), Some(4));
    assert_eq!(unit.types.spelling(anonymous).as_deref(), Some("anonymous"));
    assert!(function.exprs.iter().any(|expr| matches!(
        &expr.kind,
        ExprKind::Integer { value: 6, enumerator: Some(name), .. } if name == "C"
    )));
}

#[test]
fn a_function_with_assembly_or_a_computed_goto_is_refused() {
    let unit = read(
        "void f(void) { __asm__(\"nop\"); }\n\
         int g(int a) { void *to = &&out; if (a) goto *to; return 1; out: return 2; }\n",
    );
    assert_eq!(function(&unit, "f").refusal, Some(Refusal::InlineAssembly));
    assert_eq!(function(&unit, "g").refusal, Some(Refusal::ComputedGoto));
}

#[test]
fn assembly_without_instructions_is_understood_where_headers_have_it() {
    let unit = read_with_header(
        "#include \"unit.h\"\nint f(int *p) { PUBLISH(p); return *hidden(p); }\n",
        "#define barrier() __asm__ __volatile__(\"\" ::: \"memory\")\n\
         #define PUBLISH(p) do { *(p) = 1; \\\n  barrier(); } while (0)\n\
         static inline int *hidden(int *p) {\n  int *q;\n\
           __asm__(\"# the same\" : /* out */ \"=r\"(q) : \"0\"(p));\n  return q; }\n",
    );
    assert_eq!(function(&unit, "f").details.assembly.len(), 1);
    let hidden = unit.functions_in_headers.iter();
    let understood: usize = hidden.map(|one| one.details.assembly.len()).sum();
    assert_eq!(understood, 1);
}

#[test]
fn parentheses_round_everything_leave_valid_c() {
    let source = "#include <stdio.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
         struct s { int n; struct s *next; };\n\
         int f(struct s *s, const char *t, int n) {\n\
           int total = 0, a[3] = { n, 1, 2 };\n\
           for (int i = 0; i < MAX(n, 3) && t[i] != '\\0'; i++) { total += a[i % 3]; }\n\
           while (s != NULL) { total -= s->n; s = s->next; }\n\
           switch (total) { case 1: return 2; default: break; }\n\
           printf(\"%d\\n\", total ? -total : ~n);\n\
           return (int)sizeof total;\n}\n";
    let unit = read(source);
    let edits = locations::parentheses(std::slice::from_ref(&unit));
    assert!(edits.len() > 60, "{}", edits.len());
    let changed = apply_edits(&unit.source, &edits).expect("edits do not conflict");
    let again = read(&String::from_utf8(changed).expect("UTF-8"));
    assert_eq!(again.functions.len(), unit.functions.len());
}

#[test]
fn an_invalid_source_is_rejected_with_the_compilers_message() {
    let error = try_read("int f( { return 0; }\n", &[""])
        .expect_err("it is rejected")
        .to_string();
    assert!(error.contains("expected parameter declarator"), "{error}");
}

#[test]
fn a_source_that_is_compiled_as_another_language_is_rejected() {
    let error = try_read("int x;\n", &["", "-x c++"]).expect_err("it is rejected");
    assert!(error.to_string().contains("compiled as c++"), "{error}");
}

#[test]
fn a_place_in_a_nested_macro_is_found_or_refused_but_never_wrong() {
    let unit = read(
        "#define INNER(x) ((x) * 2)\n#define OUTER(y) INNER(y)\n\
         int f(int a) { return OUTER(a + 1) + INNER(OUTER(a)); }\n",
    );
    for expr in &function(&unit, "f").exprs {
        if let Place::MacroArgument { span, .. } = expr.place {
            let text = unit.text(span).into_owned();
            assert!(["a", "1", "a + 1"].contains(&text.as_str()), "{text}");
        }
    }
}

#[test]
fn a_part_of_an_argument_that_is_none_in_another_copy_has_no_place() {
    let unit = read(
        "#define SQUARE(x) x * x\n#define CUBE(x) (SQUARE(x) * (x))\n#define TWICE(x) ((x) + (x))\n\
         int f(int a) { return SQUARE(a - 1 + 2) + CUBE(a + 3 - 4) + TWICE(a + 5 - 6); }\n",
    );
    let mut texts: Vec<String> = Vec::new();
    for expr in &function(&unit, "f").exprs {
        if let Place::MacroArgument { span, .. } = expr.place {
            texts.push(unit.text(span).into_owned());
        }
    }
    texts.sort();
    texts.dedup();
    assert_eq!(
        texts,
        ["1", "2", "3", "4", "5", "6", "a", "a + 5", "a + 5 - 6"]
    );
}

#[test]
fn a_constant_that_is_all_of_an_argument_is_found() {
    let unit = read(
        "char *get(char *, int, int);\n#define SIZE 80\n#define MANY (4 * SIZE)\n#define OTHER 7\n\
         #define fetch(a, b, c) get (a, b, c)\n#define turned(a, b, c) get (a, c, b)\n#define fixed(a, b) get (a, b, 3)\n\
         char *f(char *x, int n) { return fetch(x, SIZE, n); }\n\
         char *g(char *x, int n) { return fetch(x, n, MANY); }\n\
         char *h(char *x, int n) { return turned(x, SIZE, n); }\n\
         char *i(char *x) { return fetch(x, SIZE, OTHER); }\n\
         char *j(char *x) { return fixed(x, SIZE); }\n",
    );
    assert!(editable(&unit, "f").contains(&"SIZE".to_owned()));
    assert!(!editable(&unit, "g").contains(&"SIZE".to_owned()));
    assert!(editable(&unit, "h").contains(&"SIZE".to_owned()));
    for name in ["i", "j"] {
        let texts = editable(&unit, name);
        let constants = ["SIZE", "OTHER"];
        let found = texts.iter().any(|text| constants.contains(&text.as_str()));
        assert!(!found, "{name}: {texts:?}");
    }
}

#[test]
fn a_copy_of_an_argument_that_the_macro_takes_apart_is_no_place() {
    let unit = read(
        "#define SQUARE(x) x * x\nint f(int a, int b) { return SQUARE(a + b); }\n\
         int g(int a) { return SQUARE(a); }\n",
    );
    // The text `a + b` stands twice in `a + b * a + b`, and is no operand in either place.
    let texts = editable(&unit, "f");
    assert!(!texts.contains(&"a + b".to_owned()), "{texts:?}");
    assert!(texts.contains(&"SQUARE(a + b)".to_owned()), "{texts:?}");
    assert_eq!(editable(&unit, "g"), ["a", "SQUARE(a)"]);
}

#[test]
fn what_gcc_merely_warns_of_is_read() {
    let unit = read(
        "main(argc, argv) int argc; char **argv; { int *p = 5; return undeclared(argc, p); }\n\
         void g(void) { return 1; }\nint h(void) { return; }\n\
         void take(int (*)(int *));\nint give(char *a) { return *a; }\nvoid z(void) { take(give); long *l = &give; }\n",
    );
    assert!(editable(&unit, "main").contains(&"argc".to_owned()));
}
