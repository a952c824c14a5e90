//! Whitespace that nobody sees, in the output of cases.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::io::Write;
use std::process::Stdio;

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

const FLAG: &str = "--ignore-trailing-whitespace";

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int last = atoi(argv[1]);
  for (int i = 0; i < last; i++)
    printf("%d ", i);
  printf("\n\n");
  return 0;
}
"#;

/// A program that prints a blank behind each number and an empty line at the end, which its cases do not want; and
/// not the last number.
fn place() -> Place {
    let place = Place::new();
    place.write("program.c", PROGRAM);
    for (name, arguments, output) in [
        ("negative", "-1", ""),
        ("none", "0", "0"),
        ("two", "2", "0 1 2\n"),
    ] {
        place.write(&format!("cases/{name}.args"), arguments);
        place.write(&format!("cases/{name}.out"), output);
    }
    place
}

fn json(place: &Place, arguments: &[&str]) -> (Value, String) {
    let output = place.run([arguments, &["--json"]].concat());
    let messages = stderr(&output);
    match serde_json::from_slice(&output.stdout) {
        Ok(report) => (report, messages),
        Err(_) => (Value::Null, messages),
    }
}

#[test]
fn a_test_that_fails_by_whitespace_alone_is_said_to() {
    let place = place();
    let (report, messages) = json(&place, &["repair", "project/program.c"]);
    assert_eq!(report, Value::Null);
    let hint = "test negative fails only by whitespace at the ends of lines or of the output; \
                --ignore-trailing-whitespace lets such tests pass";
    assert!(messages.contains(hint), "{messages}");
    let (_, messages) = json(&place, &["localize", "project/program.c"]);
    assert!(messages.contains(hint), "{messages}");
}

#[test]
#[ignore = "nightly: 5 s; an_output_that_is_expected_without_the_newline_that_others_have_is_told goes this way"]
fn repair_and_localize_and_validate_ignore_it_alike() {
    let place = place();
    let (report, messages) = json(&place, &["repair", "project/program.c", FLAG, "--first"]);
    assert!(!messages.contains("whitespace"), "{messages}");
    assert_eq!(report["stats"]["passing_tests"], 1);
    assert_eq!(report["stats"]["failing_tests"], 2);
    let diff = report["patches"][0]["diff"].as_str().expect(&messages);
    assert!(diff.contains("i <= last"), "{diff}");
    assert_eq!(
        report["stats"]["rejected_by_verification"],
        serde_json::json!([])
    );

    let (report, _) = json(&place, &["localize", "project/program.c", FLAG]);
    assert_eq!(report["failing_tests"], serde_json::json!(["none", "two"]));

    let validate = |more: &[&str]| {
        let arguments = [&["validate", "project/program.c", "-", "--json"], more].concat();
        let mut command = place.patchwright(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(diff.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        (report["summary"]["plausible"].as_u64(), stderr(&output))
    };
    assert_eq!(validate(&[FLAG]).0, Some(1));
    let (plausible, messages) = validate(&[]);
    assert_eq!(plausible, Some(0));
    assert!(messages.contains(FLAG), "{messages}");
}

/// A newline that the program forgets makes all of its cases fail, the first one only by that.
#[test]
#[ignore = "nightly: 30 s; the other tests of this file compare and mend white space"]
fn a_newline_that_is_missing_in_every_test_is_put_there() {
    let place = Place::new();
    let program = "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 for (int i = 0; i < n; i++) {\n\
         \x20   for (int j = 0; j <= i; j++) printf(\"#\");\n\
         \x20   printf(\"\");\n\
         \x20 }\n\
         \x20 return 0;\n\
         }\n";
    place.write("program.c", program);
    for (name, output) in [("1", "#\n"), ("2", "#\n##\n"), ("3", "#\n##\n###\n")] {
        place.write(&format!("cases/{name}.args"), name);
        place.write(&format!("cases/{name}.out"), output);
    }
    let (report, messages) = json(&place, &["repair", "project/program.c", "--first"]);
    let diff = report["patches"][0]["diff"].as_str().expect(&messages);
    assert!(diff.contains("+    printf(\"\\n\");"), "{diff}");
}

#[test]
fn an_output_that_is_expected_without_the_newline_that_others_have_is_told() {
    let place = Place::new();
    let program = "#include <stdio.h>\n#include <stdlib.h>\n\nint main(int argc, char **argv) {\n  \
                   printf(\"%d\\n\", atoi(argv[1]) > 3);\n  return argc - 2;\n}\n";
    place.write("program.c", program);
    for (name, arguments, output) in [
        ("large", "9", "1\n"),
        ("small", "1", "0\n"),
        ("three", "3", "1"),
    ] {
        place.write(&format!("cases/{name}.args"), arguments);
        place.write(&format!("cases/{name}.out"), output);
    }
    let arguments = ["repair", "project/program.c", "--first", "--budget", "1s"];
    let hint = "test three fails, and the output that is expected there ends without a newline, \
                unlike that of other tests; --ignore-trailing-whitespace lets a program pass that prints one";
    let (_, messages) = json(&place, &arguments);
    assert!(messages.contains(hint), "{messages}");
    let (_, messages) = json(&place, &[&arguments[..], &[FLAG]].concat());
    assert!(!messages.contains(hint), "{messages}");
}
