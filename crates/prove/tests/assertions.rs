//! Assertions whose condition is several branches.
#![allow(clippy::disallowed_methods, reason = "tests write their own programs")]

use crate::common::{Asked, Reader, repairs};
use patchwright_prove::Level;

/// The bodies of all minimal repairs with one change.
fn repaired(function: &str) -> Vec<String> {
    let mut reader = Reader::new();
    let library = reader.library();
    let head = "#include <assert.h>\nextern void reach_error(void);\n";
    let sources = [reader.source("unit.c", &format!("{head}{function}"))];
    let asked = Asked {
        function: Some("f".to_owned()),
        ..Asked::default()
    };
    let (found, all) = repairs(&sources, &library, &asked, Level::Two, 1);
    assert!(found.complete);
    let own = |(_, text): &(_, String)| text[head.len()..].to_owned();
    all.iter().map(own).collect()
}

#[test]
fn an_assertion_is_reached_also_where_the_first_of_its_alternatives_always_holds() {
    for function in [
        "int f(int n) { int y = n > 2; assert(y == (n > 1) || n < -1000); return y; }\n",
        "int f(int n) { int y = n > 2; assert(n < -1000 || y == (n > 1)); return y; }\n",
        "int f(int n) { int y = n > 2; assert((y == (n > 1) && n != 77) || (n < -9 || n == 77)); return y; }\n",
        "int f(int n) { int y = n > 2; if (!(y == (n > 1)\n|| n < -1000))\nreach_error(); return y; }\n",
        "int f(int n) { int y = n > 2; if (y != (n > 1) && n >= -1000) { reach_error(); } return y; }\n",
        "int f(int n, int m) { int y = n > 2; if (m > 0) assert(y == (n > 1) || n < -1000); return y; }\n",
    ] {
        let all = repaired(function);
        let wanted = function.replace("n > 2", "n >= 2");
        assert!(all.contains(&wanted), "{function}{all:#?}");
    }
}

#[test]
fn an_assertion_that_nobody_gets_to_any_more_is_not_repaired() {
    let never = "int f(unsigned n) { if (n >= 0 && n < 5)\nif (n != 2 || n == 7)\nreach_error();\nreturn 0; }\n";
    let all = repaired(never);
    assert!(!all.iter().any(|text| text.contains("n < 0")), "{all:#?}");
}
