//! Sources that are compiled in several ways.
#![allow(clippy::disallowed_methods, reason = "tests write their own sources")]

use crate::common::{function, read_ways};
use patchwright_csource::{Refusal, TranslationUnit, locations};

fn editable(unit: &TranslationUnit, name: &str) -> Vec<String> {
    locations::locations(&unit.types, function(unit, name))
        .editable
        .iter()
        .map(|(_, span)| unit.text(*span).into_owned())
        .collect()
}

#[test]
fn ways_that_differ_in_unused_macros_are_one() {
    let source = "int f(int a) { return a + 1; }\n";
    assert_eq!(read_ways(source, &["-DX", "-fPIC -DPIC", "-O2"]).len(), 1);
    assert_eq!(read_ways(source, &["", "-funsigned-char"]).len(), 2);
}

#[test]
fn an_expression_with_another_type_or_value_elsewhere_is_refused() {
    let units = read_ways(
        "#ifdef WIDE\ntypedef long num;\n#define LIMIT 20\n#else\ntypedef int num;\n\
         #define LIMIT 10\n#endif\n\
         int f(int a, num b) { if (a > 0) return a - 1; return (int)b + LIMIT; }\n",
        &["", "-DWIDE"],
    );
    assert_eq!(units.len(), 2);
    for unit in &units {
        let texts = editable(unit, "f");
        for text in ["a", "a > 0", "a - 1"] {
            assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
        }
        for text in ["b", "(int)b", "LIMIT", "(int)b + LIMIT"] {
            assert!(!texts.contains(&text.to_owned()), "{text}: {texts:?}");
        }
        let refused = locations::locations(&unit.types, function(unit, "f")).refused;
        assert!(refused.contains_key(&Refusal::Ambiguous), "{refused:?}");
    }
}

#[test]
fn text_that_another_way_leaves_out_stays_editable() {
    let units = read_ways(
        "int f(int a) {\n#ifdef WIDE\n  a += 2;\n#endif\n  return a - 1;\n}\n\
         #ifdef WIDE\nint g(int a) { return a * 3; }\n#endif\n",
        &["", "-DWIDE"],
    );
    assert!(editable(&units[0], "f").contains(&"a - 1".to_owned()));
    let wide = &units[1];
    assert!(editable(wide, "f").contains(&"2".to_owned()));
    assert!(editable(wide, "g").contains(&"a * 3".to_owned()));
}

#[test]
fn a_statement_that_another_way_makes_the_body_of_an_else_is_refused() {
    let units = read_ways(
        "void g(int);\nvoid f(int a) {\n#ifdef WIDE\n  if (a)\n    g(1);\n  else\n#endif\n    g(a + 2);\n  g(3);\n}\n",
        &["", "-DWIDE"],
    );
    let statements = |unit: &TranslationUnit| -> Vec<String> {
        let stmts = function(unit, "f").stmts.iter();
        stmts
            .filter_map(|stmt| stmt.place.editable())
            .map(|span| unit.text(span).into_owned())
            .filter(|text| text.starts_with("g("))
            .collect()
    };
    assert_eq!(statements(&units[0]), ["g(3);"]);
    assert_eq!(statements(&units[1]), ["g(1);", "g(3);"]);
    assert!(editable(&units[0], "f").contains(&"a + 2".to_owned()));
}

#[test]
fn text_that_another_way_makes_a_string_of_is_refused() {
    let units = read_ways(
        "int puts(const char *);\n#ifdef LOUD\n#define SHOW(x) puts(#x)\n#else\n\
         #define SHOW(x) (x)\n#endif\nvoid f(int a) { SHOW(a + 1); }\n",
        &["", "-DLOUD"],
    );
    assert_eq!(editable(&units[0], "f"), Vec::<String>::new());
}

#[test]
fn a_function_with_another_body_elsewhere_is_refused() {
    let units = read_ways(
        "int f(int a) {\n#ifdef WIDE\n return a; }\nint g(int a) {\n#endif\n return a + 1; }\n",
        &["", "-DWIDE"],
    );
    let refusals: Vec<Option<Refusal>> = units
        .iter()
        .flat_map(|unit| unit.functions.iter().map(|function| function.refusal))
        .collect();
    assert_eq!(refusals, [Some(Refusal::Ambiguous); 3]);
}
