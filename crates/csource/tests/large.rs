//! Functions that are nested more deeply than clang's limits.

use patchwright_csource::{Place, Refusal};

use crate::common::{function, read};

fn nested(levels: usize) -> String {
    format!("{}x{}", "(".repeat(levels), ")".repeat(levels))
}

#[test]
fn more_brackets_than_clang_takes_by_itself_are_read() {
    let unit = read(&format!("int f(int x) {{ return {}; }}\n", nested(800)));
    assert_eq!(function(&unit, "f").refusal, None);
}

#[test]
fn only_the_function_that_is_too_large_is_left_out() {
    let sum = " + x".repeat(6000);
    let source = format!(
        "int before(int x) {{ return x + 1; }}\nint deep(int x) {{ return {}; }}\nint sum(int x)\n{{\n  return x{sum};\n}}\nint main(void) {{ return deep(before(1)); }}\n",
        nested(6000)
    );
    let unit = read(&source);
    for name in ["deep", "sum"] {
        assert_eq!(
            function(&unit, name).refusal,
            Some(Refusal::TooLarge),
            "{name}"
        );
    }
    for name in ["before", "main"] {
        let function = function(&unit, name);
        assert_eq!(function.refusal, None);
        // What stands behind the others is where it was.
        let body = function.body_span.slice(source.as_bytes()).unwrap();
        assert!(body.starts_with(b"{ return ") && body.ends_with(b"; }"));
        let places = function.exprs.iter().map(|expr| expr.place);
        assert!(
            places
                .into_iter()
                .any(|place| matches!(place, Place::Written(_)))
        );
    }
}
