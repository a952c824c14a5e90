//! `patchwright validate` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Output, Stdio};

use crate::common::{Place, stderr, stdout};

/// The diff of `max.c` that makes this its condition.
fn condition(text: &str) -> String {
    format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({text}) {{\n")
}

fn line(id: &str, patch: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "patch": patch }))
}

fn run(place: &Place, arguments: &[&str], input: &str) -> Output {
    let state = place.root.join("state");
    let weave = match arguments.contains(&"--no-schemata") {
        true => &[][..],
        false => &["--weave-few"],
    };
    let mut child = place
        .patchwright([&["validate"], arguments, weave].concat())
        .env("XDG_CACHE_HOME", &state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn set() -> String {
    line("right", &condition("a >= b"))
        + &line("wrong", &condition("a < b"))
        + &line("broken", &condition("a >=< b"))
        + &line("elsewhere", &condition("a >= b").replace("a > b", "a == b"))
}

#[test]
#[ignore = "nightly: 4 s; a_killed_run_can_be_resumed goes this way"]
fn the_cases_of_a_c_file_may_follow_it_as_for_repair() {
    let place = Place::with_max2();
    fs::rename(
        place.project().join("cases"),
        place.project().join("examples"),
    )
    .unwrap();
    let arguments = ["project/max.c", "project/examples", "-"];
    let output = run(&place, &arguments, &line("right", &condition("a >= b")));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let last = ["project/max.c", "project/examples"];
    let output = place.run(["repair"].iter().chain(&last).chain(&["--first"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 2 s; a_killed_run_can_be_resumed goes this way"]
fn a_diff_of_a_c_file_may_change_what_lies_beside_it() {
    let place = Place::with_max2();
    place.write("README", "max: the larger one\n");
    let fix = condition("a >= b");
    let test =
        "--- a/cases/equal.args\n+++ b/cases/equal.args\n@@ -1 +1 @@\n-3 3\n+4 4\n".to_owned();
    assert_eq!(
        fs::read_to_string(place.project().join("cases/equal.args")).unwrap(),
        "3 3\n"
    );
    let about = "--- a/README\n+++ b/README\n@@ -1 +1 @@\n-max: the larger one\n+max\n";
    let lines = line("fix and test", &(fix.clone() + &test))
        + &line("fix and text", &(fix + about))
        + &line("test", &test)
        + &line(
            "makefile",
            "--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-a\n+b\n",
        );
    let output = run(&place, &["project/max.c", "-", "--json"], &lines);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let patches = value["patches"].as_array().unwrap();
    let verdicts: Vec<&str> = patches
        .iter()
        .map(|patch| patch["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        ["plausible", "plausible", "implausible", "does_not_apply"]
    );
    let left_out =
        "its changes of tests are left out: cases/equal.args (--trust-test-changes takes them)";
    assert_eq!(patches[0]["notes"][0], left_out);
    let beside = "its changes of files outside of the program are left out: README";
    assert_eq!(patches[1]["notes"][0], beside);
    let nothing = "no change is left: the verdict is that of the untouched program";
    assert_eq!(patches[2]["notes"][0], left_out);
    assert_eq!(patches[2]["notes"][1], nothing);
}

#[test]
fn a_c_file_without_patches_is_told_where_they_stand() {
    let place = Place::with_max2();
    let output = run(&place, &["project/max.c"], "");
    assert_eq!(output.status.code(), Some(2));
    let note = "name the patches behind the C file: patchwright validate project/max.c PATCHES";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}

#[test]
fn a_patch_of_tests_alone_is_said_to_be_the_untouched_program() {
    let place = Place::with_max2();
    let test = "--- a/cases/equal.args\n+++ b/cases/equal.args\n@@ -1 +1 @@\n-3 3\n+4 4\n";
    let arguments = ["project/max.c", "-", "--ignore-failing"];
    let output = run(&place, &arguments, &line("test", test));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("no change is left: the verdict is that of the untouched program"),
        "{text}"
    );
}

#[test]
fn a_table_names_each_patch_and_why() {
    let place = Place::with_max2();
    let before = place.snapshot();
    let output = run(&place, &["project/max.c", "-"], &set());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["right", "plausible", "[built]"]
    );
    assert!(
        lines[1].starts_with("wrong      implausible       ") && lines[1].ends_with(" [woven]"),
        "{text}"
    );
    assert!(
        lines[2].contains("does not compile") && lines[2].contains("max.c:8"),
        "{text}"
    );
    assert!(
        lines[3].contains("-:4, line 3 of the patch: hunk #1 of max.c (line 8) does not fit"),
        "{text}"
    );
    assert!(
        text.contains("4 patches: 1 plausible, 1 implausible, 1 not compiling, 1 not applying.")
    );
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn json_jsonl_and_junit_say_the_same() {
    let place = Place::with_max2();
    let junit = place.root.join("junit.xml");
    let arguments = [
        "project/max.c",
        "-",
        "--json",
        "--junit",
        junit.to_str().unwrap(),
    ];
    let output = run(&place, &arguments, &set());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "patchwright-validate");
    assert_eq!(json["schema_version"], 1);
    let verdicts: Vec<&str> = json["patches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|patch| patch["verdict"].as_str().unwrap())
        .collect();
    let expected = [
        "plausible",
        "implausible",
        "does_not_compile",
        "does_not_apply",
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(json["patches"][1]["failure"]["kind"], "output");
    assert_eq!(json["summary"]["plausible"], 1);
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(
        xml.contains("tests=\"4\"") && xml.contains("failures=\"1\" errors=\"2\""),
        "{xml}"
    );
    let output = run(
        &place,
        &["project/max.c", "-", "--jsonl", "--resume"],
        &set(),
    );
    let text = stdout(&output);
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["type"], "start");
    assert_eq!(lines.last().unwrap()["type"], "end");
    let mut streamed = vec![""; 4];
    for line in &lines[1..5] {
        let index = line["index"].as_u64().unwrap() as usize;
        streamed[index] = line["patch"]["verdict"].as_str().unwrap();
    }
    assert_eq!(streamed, expected);
    assert_eq!(lines.last().unwrap()["stats"]["resumed"], 3);
}

#[test]
#[ignore = "nightly: 2 s; a_killed_run_can_be_resumed goes this way"]
fn nothing_plausible_is_exit_status_1() {
    let place = Place::with_max2();
    let output = run(&place, &["project/max.c", "-"], &condition("a < b"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn mistakes_are_explained() {
    let place = Place::with_max2();
    fs::create_dir(place.root.join("empty")).unwrap();
    let twice = line("x", &condition("1")).repeat(2);
    for (arguments, input, expected) in [
        (
            &["project/max.c", "-"][..],
            "not a diff\n",
            "-:1: there is no unified diff in this text (no --- and +++ lines, no diff --git)",
        ),
        (
            &["project/max.c", "-"],
            "{\"id\": 1}\n",
            "-:1: an object without a patch;",
        ),
        (
            &["project/max.c", "-"],
            "{\"id\": 1\n",
            "-:2: this is not JSON of a patch:",
        ),
        (
            &["project/max.c", "-"],
            &twice,
            "two patches are called \"x\": -:1 and -:2;",
        ),
        (
            &["project/max.c", "empty"],
            "",
            "empty has no patches: no file whose name ends in",
        ),
        (
            &["project/max.c", "missing.diff"],
            "",
            "cannot read missing.diff: No such file",
        ),
        (
            &["project/max.c", "-"],
            "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
            "-:1: \"../x\" leaves the project's tree",
        ),
        (
            &["project/max.c", "-"],
            "--- a/max.c\n+++ b/max.c\n@@ -8,2 +8 @@\n   if (a > b) {\n",
            "-:3: the hunk says 2 old and 1 new lines but has 1 and 1 (line 5)",
        ),
    ] {
        let output = run(&place, arguments, input);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.starts_with(&format!("patchwright: error: {expected}")),
            "{text}"
        );
        assert_eq!(stdout(&output), "");
        assert_eq!(place.leftovers(), [""; 0]);
    }
}

/// A run of many patches, of which the first verdict has been read.
fn begun(place: &Place) -> (Child, BufReader<std::process::ChildStdout>) {
    let many: String = (0..60)
        .map(|number| {
            line(
                &number.to_string(),
                &condition(&format!("a < b + {number} - {number}")),
            )
        })
        .collect();
    fs::write(place.root.join("many.jsonl"), many).unwrap();
    let mut child = place
        .patchwright([
            "validate",
            "project/max.c",
            "many.jsonl",
            "--jsonl",
            "--state",
            "state",
        ])
        .args(["-j1", "--no-schemata"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..2 {
        lines.read_line(&mut String::new()).unwrap();
    }
    (child, lines)
}

fn resumed(place: &Place) -> (u64, u64) {
    let output = place.run([
        "validate",
        "project/max.c",
        "many.jsonl",
        "--json",
        "--state",
        "state",
        "--resume",
        "--no-schemata",
    ]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    (
        number(&json["stats"]["resumed"]),
        number(&json["summary"]["implausible"]),
    )
}

#[test]
#[ignore = "nightly: 6 s; a_killed_run_can_be_resumed and crate validate go on likewise"]
fn an_interrupt_ends_with_what_is_known_and_a_later_run_goes_on() {
    let place = Place::with_max2();
    let (mut child, mut lines) = begun(&place);
    // SAFETY: plain system call on the process of this test.
    assert_eq!(
        // SAFETY: the child has not been waited for, so the id is its own.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) },
        0
    );
    let mut last = String::new();
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        last = std::mem::take(&mut line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let end: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(
        (&end["type"], &end["interrupted"]),
        (&"end".into(), &true.into())
    );
    let known = 60 - end["summary"]["not_validated"].as_u64().unwrap();
    assert!(known >= 1);
    assert_eq!(place.leftovers(), [""; 0]);
    assert_eq!(resumed(&place), (known, 60));
}

#[test]
fn a_killed_run_can_be_resumed() {
    let place = Place::with_max2();
    let (mut child, lines) = begun(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lines);
    let (known, all) = resumed(&place);
    assert!(known >= 1);
    assert_eq!(all, 60);
}

#[test]
#[ignore = "nightly: 2 s; a_killed_run_can_be_resumed goes this way"]
fn what_the_build_itself_executes_is_built_with_each_patch() {
    let place = Place::new();
    place.write(
        "Makefile",
        "prog: main.c power.o table.h\n\tcc -o prog main.c power.o\ntable.h: generate\n\t./generate > table.h\n\
         generate: generate.c power.o\n\tcc -o generate generate.c power.o\npower.o: power.c\n\tcc -c power.c\n",
    );
    place.write(
        "power.c",
        "int cube(int x)\n{\n  return x * x * x + 1;\n}\n\nint square(int x)\n{\n  return x * x;\n}\n",
    );
    place.write(
        "generate.c",
        "#include <stdio.h>\nint cube(int);\nint main(void)\n{\n  printf(\"static const int table[] = {\");\n\
         \x20 for (int i = 0; i < 10; i++)\n    printf(\" %d,\", cube(i));\n  printf(\" };\\n\");\n  return 0;\n}\n",
    );
    place.write(
        "main.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include \"table.h\"\nint square(int);\n\
         int main(int argc, char **argv)\n{\n  int i = atoi(argv[1]);\n  printf(\"%d %d\\n\", table[i], square(i));\n\
         \x20 return 0;\n}\n",
    );
    place.script(
        "driver",
        "#!/bin/sh\ncase $1 in\ntwo) test \"$(./prog 2)\" = '8 4' ;;\nruns) ./prog 1 ;;\nesac\n",
    );
    let change = |from: &str, to: &str, line: u32| {
        format!("--- a/power.c\n+++ b/power.c\n@@ -{line} +{line} @@\n-{from}\n+{to}\n")
    };
    let cube = |to: &str| change("  return x * x * x + 1;", to, 3);
    let input = line("right", &cube("  return x * x * x;"))
        + &line("still_one_more", &cube("  return x * x * x + (x >= 0);"))
        + &line("aborts", &cube("  __builtin_abort();"))
        + &line(
            "elsewhere",
            &change("  return x * x;", "  return x + x;", 8),
        );
    let arguments = [
        "project", "-", "--build", "make", "--driver", "driver", "--tests", "two", "runs", "--json",
    ];
    let output = run(&place, &arguments, &input);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<(&str, bool)> = json["patches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|patch| {
            let verdict = patch["verdict"].as_str().unwrap();
            let is_woven = patch["way"] == "woven";
            // Who has to wait for a build of its own is told why.
            assert_eq!(patch["apart"].is_null(), is_woven, "{patch}");
            (verdict, is_woven)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("plausible", false),
            ("implausible", false),
            ("does_not_compile", false),
            ("implausible", true),
        ],
        "{json}"
    );
}

#[test]
fn a_patch_of_comments_does_what_the_untouched_program_does_unless_it_is_another_program() {
    let place = Place::with_max2();
    let comment = |text: &str| {
        format!("--- a/max.c\n+++ b/max.c\n@@ -7,2 +7,3 @@\n \n+{text}\n   if (a > b) {{\n")
    };
    let input = line("comment", &comment("  /* The greater one. */"))
        + &line("open", &comment("  /* The greater one."))
        + &line("spliced", &comment("  // The greater one. \\"));
    let output = run(&place, &["project/max.c", "-", "--json"], &input);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<(&str, &str)> = json["patches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|patch| {
            let text = |key: &str| patch[key].as_str().unwrap();
            (text("verdict"), text("way"))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("implausible", "woven"),
            ("does_not_compile", "woven"),
            ("does_not_compile", "woven"),
        ],
        "{json}"
    );
}

#[test]
#[ignore = "nightly: 2 s; a_killed_run_can_be_resumed goes this way"]
fn miscounted_hunks_are_counted_and_that_is_said() {
    let place = Place::with_max2();
    let input = "--- a/max.c\n+++ b/max.c\n@@ -8,9 +8,7 @@\n-  if (a > b) {\n+  if (a) {\n\n";
    let output = run(&place, &["project/max.c", "-"], input);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("implausible")
            && text
                .contains("one hunk has not as many lines as its header says; they were counted"),
        "{text}\n{}",
        stderr(&output)
    );
}

#[test]
fn a_loop_does_not_vouch_for_a_recursion_that_needs_more_of_the_stack() {
    let place = Place::new();
    let source = "#include <stdio.h>\n\
        struct node { int v; struct node *next; };\n\
        static struct node pool[150000];\n\
        static int sum(const struct node *n)\n{\n    int s = 1;\n    for (; n; n = n->next)\n        s += n->v;\n    return s;\n}\n\
        int main(void)\n{\n    int n = 0;\n    if (scanf(\"%d\", &n) != 1)\n        return 2;\n\
        \x20   for (int i = 0; i < n; i++) {\n        pool[i].v = 1;\n        pool[i].next = i + 1 < n ? &pool[i + 1] : NULL;\n    }\n\
        \x20   printf(\"%d\\n\", sum(n ? pool : NULL));\n    return 0;\n}\n";
    place.write("sum.c", source);
    for n in ["0", "3", "140000"] {
        place.write(&format!("cases/n{n}.in"), format!("{n}\n"));
        place.write(&format!("cases/n{n}.out"), format!("{n}\n"));
    }
    let diff = |old: &str, new: &str| {
        let removed: String = old.lines().map(|line| format!("-{line}\n")).collect();
        let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
        format!(
            "--- a/sum.c\n+++ b/sum.c\n@@ -6,{} +6,{} @@\n{removed}{added}",
            old.lines().count(),
            new.lines().count()
        )
    };
    let all = "    int s = 1;\n    for (; n; n = n->next)\n        s += n->v;\n    return s;\n";
    let recursion = "    char text[64];\n    if (!n)\n        return 0;\n    snprintf(text, sizeof text, \"%d\", n->v);\n    return n->v + sum(n->next);\n";
    let patches = line("loop", &diff("    int s = 1;\n", "    int s = 0;\n"))
        + &line("recursion", &diff(all, recursion));
    let verdicts = |more: &[&str]| {
        let arguments = [&["project/sum.c", "-", "--json"], more].concat();
        let output = run(&place, &arguments, &patches);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output))
            .unwrap_or_else(|_| panic!("{}", stderr(&output)));
        let patches = report["patches"].as_array().unwrap().iter();
        let verdicts = patches.map(|patch| patch["verdict"].as_str().unwrap().to_owned());
        verdicts.collect::<Vec<String>>()
    };
    let woven = verdicts(&[]);
    // Where the stack has no bounds, both are plausible.
    assert_eq!(woven, verdicts(&["--no-schemata"]));
    assert_eq!(woven[0], "plausible");
}

#[test]
#[ignore = "nightly: 2 s; a_killed_run_can_be_resumed goes this way"]
fn nobody_vouches_for_a_larger_array() {
    let place = Place::new();
    let source = "#include <stdio.h>\n#include <string.h>\n\nstatic int zeros(int n)\n{\n    char text[64];\n    int found = 0;\n\
        \x20   memset(text, n, sizeof text);\n    for (int i = 0; i < 64; i++)\n        found += text[i] == 0;\n    return found;\n}\n\n\
        int main(void)\n{\n    int n = 0;\n    if (scanf(\"%d\", &n) != 1)\n        return 2;\n    printf(\"%d\\n\", zeros(n));\n    return 0;\n}\n";
    place.write("zeros.c", source);
    for (n, zeros) in [("0", "64"), ("1", "0")] {
        place.write(&format!("cases/n{n}.in"), format!("{n}\n"));
        place.write(&format!("cases/n{n}.out"), format!("{zeros}\n"));
    }
    let change = |id: &str, at: usize, old: &str, new: &str| {
        let diff = format!("--- a/zeros.c\n+++ b/zeros.c\n@@ -{at} +{at} @@\n-{old}\n+{new}\n");
        line(id, &diff)
    };
    let patches = change("same", 7, "    int found = 0;", "    int found = 0 + 0;")
        + &change(
            "larger",
            6,
            "    char text[64];",
            "    char text[40000000];",
        );
    let verdicts = |more: &[&str]| -> serde_json::Value {
        let arguments = [&["project/zeros.c", "-", "--json"], more].concat();
        let output = run(&place, &arguments, &patches);
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let words = |report: &serde_json::Value| -> Vec<String> {
        let patches = report["patches"].as_array().unwrap().iter();
        patches
            .map(|patch| patch["verdict"].as_str().unwrap().to_owned())
            .collect()
    };
    let woven = verdicts(&[]);
    // Where the stack has no bounds, both are plausible.
    assert_eq!(words(&woven), words(&verdicts(&["--no-schemata"])));
    assert_eq!(words(&woven)[0], "plausible");
    let larger = &woven["patches"][1];
    assert!(larger["confirmed_by"].is_null(), "{larger}");
}

const LARGER: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n  int a = atoi(argv[1]), b = atoi(argv[2]);\n  printf(\"%d\\n\", b);\n  return 0;\n}\n";

/// A set of patches that mend the only case of [`LARGER`] that fails, and the place for it.
fn larger() -> (Place, String) {
    let place = Place::new();
    place.write("larger.c", LARGER);
    for (name, arguments, output) in [("a", "5 1", "5\n"), ("b", "2 7", "7\n")] {
        place.write(&format!("cases/{name}.args"), arguments);
        place.write(&format!("cases/{name}.out"), output);
    }
    let patch = |value: &str| {
        format!(
            "--- a/larger.c\n+++ b/larger.c\n@@ -6 +6 @@\n-  printf(\"%d\\n\", b);\n+  printf(\"%d\\n\", {value});\n"
        )
    };
    let set = line("five", &patch("b > 5 ? b : 5"))
        + &line("right", &patch("a > b ? a : b"))
        + &line("also", &patch("b < a ? a : b"));
    (place, set)
}

/// What is said of the behaviour.
fn behaviour(place: &Place, flags: &[&str], set: &str) -> String {
    let project = [
        "project",
        "-",
        "--build",
        "cc -o larger larger.c",
        "--program",
        "larger",
        "--cases",
        "cases",
        "--compare-budget",
        "24s",
    ];
    let output = run(place, &[&project[..], flags].concat(), set);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let at = text.find("Behaviour, seen with").unwrap_or_else(|| {
        panic!("{text}{}", stderr(&output));
    });
    text[at..].to_owned()
}

#[test]
#[ignore = "nightly: 29 s; a_patch_that_is_wrong_for_one_number_is_told_from_the_right_one goes the same way"]
fn plausible_patches_are_told_apart_by_inputs_and_answers() {
    let (place, set) = larger();
    let text = behaviour(&place, &["--compare"], &set);
    assert!(
        text.contains("right, also (none of the inputs tried tells them apart): change the result"),
        "{text}"
    );
    assert!(
        text.contains(" tells ") && text.contains("five ("),
        "{text}"
    );

    assert!(
        text.contains("for 1 of 3 partitions of all inputs"),
        "{text}"
    );

    let answer = r#"{"arguments": ["9", "3"], "input": "", "output": "9\n", "status": 0}"#;
    let file = place.write("answers", answer);
    let text = behaviour(&place, &["--answers", file.to_str().unwrap()], &set);
    let order = ["right, also", "five: "].map(|name| text.find(name).unwrap());
    assert!(order[0] < order[1], "{text}");
    assert!(text.contains("contradicts answer 1"), "{text}");
}

#[test]
#[ignore = "nightly: 14 s; a_killed_run_can_be_resumed goes this way"]
fn a_patch_that_is_wrong_for_one_number_is_told_from_the_right_one() {
    let (place, set) = larger();
    let rare = "--- a/larger.c\n+++ b/larger.c\n@@ -6 +6 @@\n-  printf(\"%d\\n\", b);\n\
                +  printf(\"%d\\n\", a > b ? a : b + (b == 77777));\n";
    let text = behaviour(&place, &["--compare"], &(set + &line("rare", rare)));
    // No execution of an input like those of the tests would find that.
    assert!(text.contains("\"77777\" tells "), "{text}");
    assert!(
        text.contains("for 2 of 4 partitions of all inputs"),
        "{text}"
    );
}

#[test]
fn a_stream_has_its_last_line_also_when_the_run_is_interrupted_twice() {
    let place = Place::with_max2();
    let (mut child, mut lines) = begun(&place);
    for _ in 0..2 {
        // SAFETY: the child has not been waited for, so the id is its own.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    }
    let (mut last, mut verdicts, mut line) = (String::new(), 2, String::new());
    while lines.read_line(&mut line).unwrap() > 0 {
        verdicts += 1;
        last = std::mem::take(&mut line);
    }
    child.wait().unwrap();
    let end: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(
        (&end["type"], &end["interrupted"]),
        (&"end".into(), &true.into())
    );
    // Without the first and the last line.
    let known = 60 - end["summary"]["not_validated"].as_u64().unwrap();
    assert_eq!(known, verdicts - 2);
}
