//! The functions of `<ctype.h>` are called, whatever the C library makes of the calls.
#![allow(clippy::disallowed_methods, reason = "tests write their own sources")]

use crate::common::{function, read_ways};
use patchwright_csource::{ExprKind, TranslationUnit, locations};

/// The names of the functions that are called in `f` by calls that can be edited.
fn called(unit: &TranslationUnit) -> Vec<String> {
    let function = function(unit, "f");
    let calls = function.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Call { callee, .. } => {
            expr.place.editable()?;
            match &function.expr(function.stripped(callee)).kind {
                ExprKind::Function(name) => Some(name.clone()),
                _ => None,
            }
        }
        _ => None,
    });
    calls.collect()
}

fn editable(unit: &TranslationUnit) -> Vec<String> {
    locations::locations(&unit.types, function(unit, "f"))
        .editable
        .iter()
        .map(|(_, span)| unit.text(*span).into_owned())
        .collect()
}

const SOURCE: &str = "#include <ctype.h>\n\
     int f(int c) { return (isalpha(c + 1) ? tolower(c - 2) : 0) + (toupper)(c); }\n";

#[test]
fn macros_of_the_library_are_calls_with_and_without_optimisation() {
    for unit in read_ways(SOURCE, &["", "-O2"]) {
        assert_eq!(called(&unit), ["isalpha", "tolower", "toupper"]);
        let texts = editable(&unit);
        for text in ["c + 1", "c - 2", "isalpha(c + 1)"] {
            assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
        }
    }
}

#[test]
fn macros_stay_where_the_source_asks_whether_there_are_some() {
    for asked in [
        "#ifndef isalpha\n#error\n#endif\n",
        "#if !defined(isalpha) || \\\n    !defined(isblank)\nint isalpha(int c) { return c > 64; }\n#endif\n",
    ] {
        let source = SOURCE.replace("int f", &format!("{asked}int f"));
        let unit = read_ways(&source, &[""]).remove(0);
        assert_eq!(called(&unit), ["tolower", "toupper"], "{asked}");
    }
}

#[test]
fn a_macro_of_the_project_stays_one() {
    let source = SOURCE.replace(
        "int f",
        "#undef isalpha\n#define isalpha(c) ((c) > 64)\nint f",
    );
    let unit = read_ways(&source, &[""]).remove(0);
    assert_eq!(called(&unit), ["tolower", "toupper"]);
}
