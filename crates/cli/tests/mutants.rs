//! `patchwright mutants`.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects, compile and start programs"
)]

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::common::{Place, git::Git, stderr, stdout};

/// Numbers of a range, and how often a letter stands in a text. No case has a text, nor the ends of the range.
const RANGE: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int clamp(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

static int letters(const char *text)
{
    int found = 0;
    for (int i = 0; text[i] != '\0'; i++)
        if (text[i] == 'a')
            found++;
    return found;
}

int main(int argc, char **argv)
{
    printf("%d\n", clamp(atoi(argv[1]), 10, 100));
    if (argc > 2)
        printf("%d\n", letters(argv[2]));
    return 0;
}
// case 50 => 50
// case 3 => 10
// case 500 => 100
"#;

fn place() -> Place {
    let place = Place::new();
    place.write_program(RANGE);
    place
}

fn mutants(place: &Place, flags: &[&str], status: i32) -> Value {
    let arguments = ["mutants", "project/program.c", "--json"];
    let output = place.run(arguments.iter().chain(flags));
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(status), "{said}");
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["schema"], "patchwright-mutants");
    assert_eq!(place.leftovers(), [""; 0]);
    report
}

fn of_line(report: &Value, line: u64) -> Vec<&Value> {
    let all = report["mutants"].as_array().unwrap().iter();
    all.filter(|one| one["line"] == line).collect()
}

/// The diff's one added line.
fn added(mutant: &Value) -> &str {
    let diff = mutant["diff"].as_str().unwrap();
    let mut lines = diff.lines().filter_map(|line| line.strip_prefix('+'));
    lines
        .find(|line| !line.starts_with("++"))
        .unwrap_or("")
        .trim()
}

#[test]
#[ignore = "nightly: it asks about many survivors; the test of a function of a project protects by default"]
fn survivors_are_proved_equivalent_or_get_a_case_that_kills_them() {
    let place = place();
    let before = place.snapshot();
    let flags = ["--limit", "40", "--output", "killing"];
    let report = mutants(&place, &flags, 1);
    assert_eq!(place.snapshot(), before);
    let all = report["mutants"].as_array().unwrap();
    assert_eq!(report["summary"]["mutants"], all.len());
    // The cases know what lies inside and outside of the range.
    let killed = all.iter().filter(|one| one["fate"] == "killed").count();
    assert!(killed > 5, "{report:#}");
    // No case has a text.
    let unexecuted = of_line(&report, 17);
    assert!(!unexecuted.is_empty());
    for one in unexecuted {
        assert_eq!(
            (&one["fate"], &one["executed"]),
            (&"survived".into(), &false.into())
        );
    }
    // At the ends of this program's range both give the same.
    let boundary = of_line(&report, 6);
    let is_boundary = |one: &&&Value| added(one) == "if (value <= low)";
    if let Some(boundary) = boundary.iter().find(is_boundary) {
        let answer = &boundary["answer"];
        assert!(
            answer["of"] != "the program" || answer["is"] == "equivalent",
            "{boundary:#}"
        );
    }
    let mut executed = 0;
    // What C does not define a compiled mutant may do right.
    let is_sure = |one: &&Value| {
        let by = one["answer"]["by"].as_str().unwrap_or_default();
        one["answer"]["is"] == "killable" && by.starts_with("executed")
    };
    for one in all.iter().filter(is_sure) {
        for file in one["answer"]["files"].as_array().unwrap() {
            let file = place.root.join(file.as_str().unwrap());
            assert!(file.exists(), "{one:#}");
            if file.extension().is_some_and(|kind| kind == "args") {
                assert!(kills(&place, one, &file.with_extension("")), "{one:#}");
                executed += 1;
            }
        }
    }
    assert!(executed > 0, "{report:#}");
}

/// Whether a case passes in the untouched program and fails in the mutant, both compiled here.
fn kills(place: &Place, mutant: &Value, case: &Path) -> bool {
    let ran = |source: &Path| {
        let program = place.root.join("compiled");
        let made = Command::new("cc")
            .arg("-o")
            .arg(&program)
            .arg(source)
            .status();
        assert!(made.unwrap().success());
        let script = "eval \"set -- $(cat \"$1.args\")\"; \"$0\" \"$@\" < \"$2.in\"";
        let script = script.replace("\"$2.in\"", &format!("'{}.in'", case.display()));
        let output = Command::new("sh")
            .args(["-c", &script])
            .arg(&program)
            .arg(case)
            .output()
            .unwrap();
        (output.status.code(), output.stdout)
    };
    let tree = place.root.join("mutated");
    fs::create_dir_all(&tree).unwrap();
    fs::copy(place.project().join("program.c"), tree.join("program.c")).unwrap();
    let diff = place.root.join("mutant.diff");
    fs::write(&diff, mutant["diff"].as_str().unwrap()).unwrap();
    let patched = Command::new("patch")
        .args(["-s", "-p1", "-d"])
        .arg(&tree)
        .arg("-i")
        .arg(&diff)
        .status();
    assert!(patched.unwrap().success());
    let (untouched, mutated) = (
        ran(&place.project().join("program.c")),
        ran(&tree.join("program.c")),
    );
    let expected = fs::read(case.with_extension("out")).unwrap();
    untouched.1 == expected && untouched != mutated
}

#[test]
#[ignore = "nightly: 17 s; validate::a_killed_run_can_be_resumed resumes what mutants are validated by"]
fn a_run_that_is_resumed_keeps_verdicts_and_answers() {
    let place = place();
    let flags = ["--limit", "12", "--state", "state"];
    let first = mutants(&place, &flags, 1);
    let second = mutants(&place, &[&flags[..], &["--resume"]].concat(), 1);
    assert_eq!(second["executions"], 0);
    let all = |report: &Value| report["mutants"].as_array().unwrap().clone();
    for (one, other) in all(&first).iter().zip(&all(&second)) {
        for key in ["line", "diff", "fate", "test"] {
            assert_eq!(one[key], other[key]);
        }
        // More may be known the second time.
        if one["answer"]["is"] != "unknown" {
            assert_eq!(one["answer"], other["answer"]);
        }
    }
}

#[test]
fn only_lines_that_have_changed_are_mutated_and_pipelines_read_the_survivors() {
    let mut repository = Git::new();
    repository.place.write_program(RANGE);
    repository.commit("first", &[]);
    let place = &repository.place;
    let changed = RANGE.replace("if (value > high)", "if (high < value)");
    place.write("program.c", changed);
    let flags = [
        "--changed",
        "HEAD..",
        "--no-answers",
        "--junit",
        "j.xml",
        "--html",
        "m.html",
    ];
    let report = mutants(place, &flags, 1);
    let all = report["mutants"].as_array().unwrap();
    assert!(all.iter().all(|one| one["line"] == 8), "{report:#}");
    let junit = fs::read_to_string(place.root.join("j.xml")).unwrap();
    let survived = report["summary"]["survived"].as_u64().unwrap() as usize;
    assert_eq!(junit.matches("<failure").count(), survived, "{junit}");
    let page = fs::read_to_string(place.root.join("m.html")).unwrap();
    assert_eq!(page.matches("id=\"mutant-").count(), survived);
}

#[test]
#[ignore = "nightly: 11 s; only_lines_that_have_changed_are_mutated_and_pipelines_read_the_survivors goes this way"]
fn a_function_of_a_project_gets_a_test_that_passes_now_and_fails_in_the_mutant() {
    let place = Place::new();
    place.write("src/limit.h", "int limit(int value);\n");
    place.write(
        "src/limit.c",
        "#include \"limit.h\"\n\nint limit(int value)\n{\n    if (value > 100)\n        return 100;\n    return value;\n}\n",
    );
    place.write(
        "main.c",
        "#include <stdlib.h>\n#include \"src/limit.h\"\nint main(int argc, char **argv)\n{\n    return limit(atoi(argv[1])) != atoi(argv[2]);\n}\n",
    );
    place.script(
        "test.sh",
        "#!/bin/sh\n[ $1 = small ] && exec ./main 3 3\nexec ./main 300 100\n",
    );
    let arguments = [
        "mutants",
        "project",
        "--files",
        "src/limit.c",
        "--build",
        "cc -o main main.c src/limit.c",
        "--driver",
        "./test.sh",
        "--tests",
        "small",
        "--output",
        "killing",
        "--limit",
        "20",
        "--json",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let all = report["mutants"].as_array().unwrap();
    let killable = all.iter().find(|one| one["answer"]["is"] == "killable");
    let killable = killable.unwrap_or_else(|| panic!("{report:#}"));
    let test = place
        .root
        .join(killable["answer"]["files"][0].as_str().unwrap());
    let passes = || {
        let program = place.root.join("killing/program");
        let made = Command::new("cc")
            .arg("-o")
            .arg(&program)
            .arg(&test)
            .status();
        assert!(made.unwrap().success());
        Command::new(&program).output().unwrap().status.success()
    };
    assert!(passes());
    let diff = place.root.join("mutant.diff");
    fs::write(&diff, killable["diff"].as_str().unwrap()).unwrap();
    let patched = Command::new("patch")
        .args(["-s", "-p1", "-d"])
        .arg(place.project())
        .arg("-i")
        .arg(&diff)
        .status();
    assert!(patched.unwrap().success());
    assert!(!passes());
}

#[test]
fn what_cannot_be_mutated_is_one_error() {
    let place = place();
    let output = place.run(["mutants", "project/program.c", "--files", "none.c"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("none.c"), "{said}");
}
