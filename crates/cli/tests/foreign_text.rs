//! What builds, tests, patches, sources and names say is shown with its control characters seen, by every command.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{fs, process::Output};

use crate::common::git::Git;
use crate::common::{Place, stderr, stdout};

/// Erases a line, and goes back to its beginning; a title; in C1; deletes; turns the direction of text round.
const EVIL: &str = "\x1b[2K\r\x1b]0;title\x07\u{9b}2J\x7f\u{202e}end";

/// What of it a terminal would obey.
fn obeyed(text: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Some("bytes that are no UTF-8".to_owned());
    };
    let found = text.chars().find(|c| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    found.map(|c| c.escape_unicode().to_string())
}

#[track_caller]
fn assert_safe(what: &str, output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        assert_eq!(obeyed(stream), None, "{what}: {text}");
    }
}

/// Nothing is obeyed, and the text was shown.
#[track_caller]
fn assert_seen(what: &str, output: &Output) {
    assert_safe(what, output);
    let all = format!("{}{}", stdout(output), stderr(output));
    assert!(all.contains("\\x1b"), "{what} does not show it: {all}");
}

/// A project whose driver, build and sources say what they should not.
fn evil_project() -> Place {
    let place = Place::with_max2();
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    place.write(
        "max.c",
        source.replace(
            "#include <stdio.h>\n",
            &format!("#include <stdio.h>\n/* {EVIL} */\n"),
        ),
    );
    place.script(
        "driver.sh",
        &format!("#!/bin/sh\nprintf '%s\\n' '{EVIL}' >&2\ncase $1 in\nless*) test \"$(./max 1 2)\" = 1 ;;\nmore) test \"$(./max 2 1)\" = 0 ;;\n*) test \"$(./max 3 3)\" = 0 ;;\nesac\n"),
    );
    place
}

/// A patch of a line of `max.c`.
fn patch(of: &str, to: &str) -> String {
    format!("--- a/max.c\n+++ b/max.c\n@@ -9,1 +9,1 @@\n-{of}\n+{to}\n")
}

#[test]
fn verdicts_on_patches_cannot_be_overwritten_by_what_the_compiler_says() {
    let place = evil_project();
    let line = "  if (a > b) {";
    let json =
        |id: &str, patch: &str| format!("{}\n", serde_json::json!({"id": id, "patch": patch}));
    let set = [
        json("evil", &patch(line, &format!("#error {EVIL}"))),
        json("right", &patch(line, "  if (a >= b) {")),
        json("unknown", &patch("  no such line", EVIL)),
    ];
    place.write("set.jsonl", set.concat());
    let project = [
        "validate",
        "project",
        "project/set.jsonl",
        "--build",
        "cc -o max max.c",
        "--driver",
        "driver.sh",
        "--tests",
        "same",
        "more",
    ];
    let evil_test = format!("less{EVIL}");
    let run = |more: &[&str]| place.run([&project[..], &[&evil_test], more].concat());
    let output = run(&["--no-schemata", "--junit", "junit.xml", "--stats"]);
    assert_seen("validate", &output);
    let junit = fs::read(place.root.join("junit.xml")).unwrap();
    assert_eq!(obeyed(&junit), None, "{}", String::from_utf8_lossy(&junit));
    assert!(String::from_utf8_lossy(&junit).contains("\\x1b[2K"));
    // Programs read what it was.
    let output = run(&["--no-schemata", "--json"]);
    assert_eq!(obeyed(&output.stdout), None);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        report["patches"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("\x1b[2K"),
        "{report:#}"
    );
    let output = run(&["--no-schemata", "--jsonl"]);
    assert_eq!(obeyed(&output.stdout), None);
    for line in stdout(&output).lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    // Styles are ours.
    let output = run(&["--no-schemata", "--color", "always"]);
    let text = stdout(&output);
    assert!(text.contains("\x1b[1;32mplausible"), "{text}");
    assert!(
        text.contains("\\x1b[2K") && !text.contains("\x1b[2K"),
        "{text}"
    );
}

#[test]
#[ignore = "nightly: 12 s; names_of_files_and_texts_of_sources_are_shown_by_every_command shows foreign text in every command"]
fn repairs_and_localizations_show_what_builds_and_tests_print() {
    let place = evil_project();
    let evil_test = format!("equal{EVIL}");
    let described = [
        "--build",
        "cc -o max max.c",
        "--driver",
        "driver.sh",
        "--tests",
        "same",
        "more",
        &evil_test,
    ];
    let run = |arguments: &[&str]| place.run([arguments, &described].concat());
    let all_fail = [&["repair", "project"], &described[..5], &[&evil_test]].concat();
    assert_seen("repair", &place.run(all_fail));
    assert_seen(
        "localize",
        &run(&["localize", "project", "--annotate", "--html", "page.html"]),
    );
    let page = fs::read(place.root.join("page.html")).unwrap();
    assert_eq!(obeyed(&page), None);
    assert!(String::from_utf8_lossy(&page).contains("\\x1b"));
    let build = format!("printf '%s\\n' 'max.c:1:1: error: {EVIL}'; exit 1");
    let output = place.run([
        "repair",
        "project",
        "--build",
        &build,
        "--driver",
        "driver.sh",
        "--tests",
        "same",
        "less",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert_seen("a build", &output);
}

#[test]
fn names_of_files_and_texts_of_sources_are_shown_by_every_command() {
    let place = Place::new();
    // It would end the line.
    let text = EVIL.replace('\r', "");
    let source = |sign: &str| {
        format!(
            "#include <assert.h>\n#include <stdio.h>\nint f(int a)\n{{\n  int r = a {sign} 1; /* {text} */\n  assert(a != 7 || \"{text}\" == 0);\n  return r;\n}}\nint main(void)\n{{\n  int a[1] = {{0}};\n  printf(\"%d\\n\", f(a[f(0)]));\n  return 0;\n}}\n"
        )
    };
    let (old, new) = (format!("old{EVIL}.c"), format!("new{EVIL}.c"));
    let place_of = |name: &str| format!("project/{name}");
    place.write(&old, source("+"));
    place.write(&new, source("-"));
    let (old, new) = (place_of(&old), place_of(&new));
    let line = format!("{old}:5");
    let missing = place_of(&format!("missing{EVIL}.c"));
    for arguments in [
        &["run", &old][..],
        &["ir", &old],
        &["slice", &line],
        &["prove", &old, "--function", "f"],
        &["compare", &old, &new, "--function", "f"],
        &["complexity", &old, &new],
        &["repair", &missing],
        &["localize", &missing],
        &["validate", &missing, "project/none"],
        &["run", EVIL],
    ] {
        assert_seen(&format!("{arguments:?}"), &place.run(arguments));
    }
    for arguments in [
        &["prove", &new, "--function", "f", "--like", &old][..],
        &["prove", &old, "--budget", EVIL],
        &[EVIL],
    ] {
        assert_safe(&format!("{arguments:?}"), &place.run(arguments));
    }
    let output = place.run([
        "compare",
        &old,
        &new,
        "--function",
        "f",
        "--html",
        "page.html",
    ]);
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}",
        stderr(&output)
    );
    let page = fs::read(place.root.join("page.html")).unwrap();
    assert_eq!(obeyed(&page), None);
}

#[test]
fn commits_are_shown_by_their_subjects() {
    let mut git = Git::new();
    let description = "[project]\nbuild = \"cc -o total total.c\"\n[tests]\nprogram = \"total\"\ncases = \"cases\"\n";
    let source = |number| {
        format!(
            "#include <stdio.h>\nint main(void)\n{{\n  printf(\"%d\\n\", {number});\n  return 0;\n}}\n"
        )
    };
    git.place.write("patchwright.toml", description);
    git.place.write("cases/add.out", "7\n");
    git.commit("Begin", &[("total.c", &source(7))]);
    git.commit(EVIL, &[("total.c", &source(8))]);
    let mut command = git.place.patchwright(["regression", "add"]);
    let output = command.current_dir(git.place.project()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_seen("regression", &output);
    let mut command = git.place.patchwright(["complexity", "HEAD~1..HEAD"]);
    let output = command.current_dir(git.place.project()).output().unwrap();
    assert_seen("complexity", &output);
}
