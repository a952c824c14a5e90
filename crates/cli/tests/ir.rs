//! `patchwright ir` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they read what it wrote"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};

const SIGN: &str = "int sign(int n) {
  if (n < 0)
    return -1;
  return n > 0;
}
int stop(void) {
  __asm__(\"hlt\");
  return 0;
}
";

fn place() -> Place {
    let place = Place::new();
    place.write("sign.c", SIGN);
    place
}

#[test]
fn a_function_is_printed_and_drawn() {
    let place = place();
    let output = place.run(["ir", "project/sign.c", "--function", "sign"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("function \"sign\" external i32 takes i32\n"));
    for (name, part) in [
        ("sign.svg", "branch i32"),
        ("sign.dot", "[label=\"true\"];"),
    ] {
        let output = place.run([
            "ir",
            "project/sign.c",
            "--function=sign",
            "--graph",
            &format!("project/{name}"),
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        let drawing = fs::read_to_string(place.project().join(name)).unwrap();
        assert!(drawing.contains(part), "{drawing}");
    }
}

#[test]
fn a_whole_file_is_printed_and_what_is_missing_named() {
    let place = place();
    let output = place.run(["ir", "project/sign.c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("file \""));
    assert_eq!(stdout(&output).matches("\nfunction ").count(), 2);
    assert_eq!(
        stderr(&output),
        "patchwright: stop: not supported: inline assembly\n"
    );
}

#[test]
fn what_cannot_be_shown_is_said() {
    let place = place();
    for (arguments, message) in [
        (
            ["--function", "abs"],
            "patchwright: error: no function `abs` is defined in this file; defined are: sign, stop\n",
        ),
        (
            ["--graph", "a.svg"],
            "patchwright: error: --graph draws one function; name it with --function, one of: sign, stop\n",
        ),
        (
            ["--graph", "a.png"],
            "patchwright: error: --graph a.png: the name must end in .svg or .dot\n",
        ),
    ] {
        let output = place.run(["ir", "project/sign.c"].iter().chain(&arguments));
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stderr(&output), message);
    }
}
