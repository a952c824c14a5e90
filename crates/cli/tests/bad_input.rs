//! What is wrong with the input is said in a message that tells what to do, and by the exit
//! status.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};

/// Exit status and standard error, with the folder of the test called `[ROOT]` and scratch
/// folders `[SCRATCH]`.
fn report(place: &Place, arguments: &[&str]) -> String {
    let before = place.snapshot();
    let output = place.run([&["repair"], arguments].concat());
    assert_eq!(stdout(&output), "");
    assert_eq!(place.leftovers(), [""; 0]);
    assert_eq!(place.snapshot(), before);
    let mut text = stderr(&output);
    let scratch = format!("{}/scratch/", place.root.display());
    while let Some(at) = text.find(&scratch) {
        let name = at + scratch.len();
        let end = text[name..].find('/').map_or(text.len(), |n| name + n);
        text.replace_range(at..end, "[SCRATCH]");
    }
    let text = text.replace(place.root.to_str().unwrap(), "[ROOT]");
    let code = output.status.code();
    format!(
        "exit status {}\n{text}",
        code.map_or("none".to_owned(), |code| code.to_string())
    )
}

/// A project of a folder: `max.c`, and a driver that knows the tests `less`, `more`, `same`.
fn driven() -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script(
        "driver.sh",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
         more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\n\
         *) exit 2 ;;\nesac\n",
    );
    place
}

const BUILD: [&str; 2] = ["--build", "cc -o max max.c"];
const DRIVER: [&str; 2] = ["--driver", "driver.sh"];

fn with_driver(place: &Place, build: &[&str], tests: &[&str], more: &[&str]) -> String {
    report(
        place,
        &[&["project"], build, &DRIVER, &["--tests"], tests, more].concat(),
    )
}

#[test]
fn a_project_without_tests() {
    insta::assert_snapshot!(report(&driven(), &[&["project"], &BUILD[..]].concat()));
}

#[test]
fn a_project_without_a_build_command() {
    insta::assert_snapshot!(with_driver(&driven(), &[], &["less", "same"], &[]));
}

#[test]
fn a_build_that_fails() {
    let build = [
        "--build",
        "echo compiling; echo max.c is not nice >&2; exit 3",
    ];
    insta::assert_snapshot!(with_driver(&driven(), &build, &["less", "same"], &[]));
}

#[test]
fn a_compile_database_that_does_not_exist() {
    let flag = ["--compile-commands", "nowhere.json"];
    let arguments = [&BUILD[..], &flag[..]].concat();
    insta::assert_snapshot!(with_driver(&driven(), &arguments, &["less", "same"], &[]));
}

#[test]
fn a_driver_that_does_not_exist() {
    let place = driven();
    fs::remove_file(place.project().join("driver.sh")).unwrap();
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn a_driver_that_is_not_executable() {
    let place = driven();
    place.write("plain.txt", "#!/bin/sh\n");
    let arguments = ["project", "--driver", "plain.txt", "--tests", "less"];
    insta::assert_snapshot!(report(&place, &[&arguments, &BUILD[..]].concat()));
}

#[test]
fn no_test_that_fails() {
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "more"], &[]));
}

#[test]
fn tests_that_all_fail() {
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["same", "unknown"], &[]));
}

#[test]
fn tests_that_all_fail_and_say_why() {
    let place = driven();
    place.script("driver.sh", "#!/bin/sh\nexec ./maxx 1 2\n");
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn no_workers() {
    insta::assert_snapshot!(with_driver(
        &driven(),
        &BUILD,
        &["less", "same"],
        &["-j", "0"]
    ));
}

#[test]
fn cases_after_a_folder() {
    insta::assert_snapshot!(report(&Place::with_max2(), &["project", "project/cases"]));
}

#[test]
fn cases_of_a_single_file_that_are_not_there() {
    insta::assert_snapshot!(report(&Place::with_max2(), &["project/max.c", "tests"]));
}

#[test]
fn lines_of_a_folder() {
    let place = driven();
    fs::create_dir(place.project().join("src")).unwrap();
    let files = ["--files", "src:3"];
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selected_file_that_no_build_compiles() {
    let place = driven();
    place.write("unused.c", "int unused(int a) { return a + 1; }\n");
    let files = ["--files", "unused.c"];
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selected_header() {
    let place = driven();
    place.write("unused.h", "static int unused(int a) { return a + 1; }\n");
    let files = ["--files", "unused.h:1"];
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selected_file_that_does_not_exist() {
    let files = ["--files", "other.c:3"];
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selection_of_lines_without_a_location() {
    let files = ["--files", "max.c:1-2"];
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "same"], &files));
}

#[test]
fn a_source_that_is_not_valid_c() {
    let place = Place::with_max2();
    place.write("max.c", "int main(void) {\n  return 0\n}\n");
    let text = report(&place, &["project/max.c"]);
    // The compiler's own words differ from version to version.
    let own: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("exit status") || line.contains("patchwright"))
        .collect();
    insta::assert_snapshot!(own.join("\n"));
    assert!(text.contains("max.c:2:"), "{text}");
}

#[test]
fn a_folder_of_cases_that_is_empty() {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    fs::create_dir(place.project().join("cases")).unwrap();
    insta::assert_snapshot!(report(&place, &["project/max.c"]));
}

#[test]
fn a_folder_of_cases_that_does_not_exist() {
    let place = Place::with_max2();
    insta::assert_snapshot!(report(&place, &["project/max.c", "project/none"]));
}

#[test]
fn a_case_without_an_expected_output() {
    let place = Place::with_max2();
    fs::remove_file(place.project().join("cases/equal.out")).unwrap();
    insta::assert_snapshot!(report(&place, &["project/max.c"]));
}

#[test]
fn an_unknown_key_in_the_description() {
    let place = driven();
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"cc -o max max.c\"\n\n[tests]\ndrivers = \"driver.sh\"\n",
    );
    insta::assert_snapshot!(report(&place, &["project"]));
}

#[test]
fn a_project_that_does_not_exist() {
    insta::assert_snapshot!(report(&driven(), &["nowhere"]));
}

#[test]
fn a_file_that_is_not_c() {
    let place = Place::with_max2();
    place.write("notes.txt", "no program\n");
    insta::assert_snapshot!(report(&place, &["project/notes.txt", "project/cases"]));
}

#[test]
#[ignore = "nightly: 3 s; tests_that_do_not_start_the_program goes this way"]
fn a_test_that_never_ends() {
    let place = driven();
    place.script(
        "driver.sh",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\nforever) exec sleep 1000 ;;\nesac\n",
    );
    let timeout = ["--test-timeout", "300ms"];
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "forever"], &timeout));
}

#[test]
fn tests_that_do_not_start_the_program() {
    let place = driven();
    place.script("driver.sh", "#!/bin/sh\ntest $1 = less\n");
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn a_build_that_compiles_nothing() {
    let build = ["--build", "true"];
    insta::assert_snapshot!(with_driver(&driven(), &build, &["less", "same"], &[]));
}

#[test]
fn a_compile_database_that_is_none() {
    let place = driven();
    place.write(
        "compile_commands.json",
        "[{\"directory\": \"/\", \"file\":\n",
    );
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn a_compile_database_of_other_sources() {
    let place = driven();
    let text = "[{\"directory\": \"/nowhere\", \"file\": \"a.c\", \"arguments\": [\"cc\", \"-c\", \"a.c\"]}]";
    place.write("compile_commands.json", text);
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn a_prepare_command_that_fails() {
    let prepare = ["--prepare", "echo no configure here; exit 7"];
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "same"], &prepare));
}

/// `max.c` has its bug behind this line.
fn with_line(line: &[u8]) -> Place {
    let place = Place::with_max2();
    let source = fs::read(place.project().join("max.c")).unwrap();
    place.write("max.c", [line, b"\n", &source[..]].concat());
    place
}

#[test]
fn a_source_that_is_in_utf_16() {
    let place = Place::with_max2();
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    let wide: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("max.c", [&b"\xff\xfe"[..], &wide].concat());
    let text = report(&place, &["project/max.c"]);
    let first = text.lines().take(2).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(first);
}

#[test]
fn a_source_that_clang_does_not_accept_although_gcc_does() {
    let place = with_line(b"int nested(void) { int f(void) { return 1; } return f(); }");
    insta::assert_snapshot!(report(&place, &["project/max.c"]));
}

/// Puts a program of this name that prints `text` into a folder of the place.
fn fake(place: &Place, name: &str, text: &str) -> std::path::PathBuf {
    let folder = place.root.join("fakes");
    fs::create_dir_all(&folder).unwrap();
    place.script("fake", &format!("#!/bin/sh\necho '{text}'\n"));
    fs::rename(place.project().join("fake"), folder.join(name)).unwrap();
    folder
}

#[test]
fn a_clang_that_does_not_exist() {
    let place = Place::with_max2();
    let mut command = place.patchwright(["repair", "project/max.c"]);
    let output = command
        .env("PATCHWRIGHT_CLANG", "/nonexistent/clang")
        .output()
        .unwrap();
    insta::assert_snapshot!(format!(
        "exit status {}\n{}",
        output.status.code().unwrap(),
        stderr(&output)
    ));
}

#[test]
fn a_clang_that_is_too_old() {
    let place = Place::with_max2();
    let old = "Debian clang version 14.0.6";
    let folder = fake(&place, "clang-14", old);
    let mut command = place.patchwright(["repair", "project/max.c"]);
    let output = command
        .env("PATCHWRIGHT_CLANG", folder.join("clang-14"))
        .output()
        .unwrap();
    let text = stderr(&output).replace(place.root.to_str().unwrap(), "[ROOT]");
    insta::assert_snapshot!(format!(
        "exit status {}\n{text}",
        output.status.code().unwrap()
    ));

    // The same where only such ones are in PATH.
    fake(&place, "clang", old);
    for version in 16..=22 {
        fake(&place, &format!("clang-{version}"), old);
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = place.patchwright(["repair", "project/max.c"]);
    let output = command.env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("clang-19: version 14"), "{text}");
    assert!(text.contains("clang: version 14"), "{text}");
}

#[test]
#[ignore = "nightly: 6 s; tests_that_do_not_start_the_program goes this way"]
fn a_reader_that_has_gone_ends_it_quietly() {
    let place = Place::with_max2();
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    let first = source.lines().next().unwrap();
    let patch = format!("--- a/max.c\n+++ b/max.c\n@@ -1 +1,2 @@\n+/* none */\n {first}\n");
    place.write("none.diff", patch);
    let validation = [
        "validate",
        "project/max.c",
        "project/none.diff",
        "--cases",
        "project/cases",
    ];
    for arguments in [
        &["repair", "project/max.c"][..],
        &validation,
        &[&validation[..], &["--jsonl"]].concat(),
        &["man"],
        &["completions", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.patchwright(arguments);
        let output = command
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(141), "{arguments:?} {text}");
        assert!(!text.contains("panicked"), "{text}");
        assert_eq!(place.leftovers(), [""; 0]);
    }
}

#[test]
fn a_build_that_succeeds_only_on_what_it_left_when_it_failed() {
    let place = driven();
    let build = "make -s";
    place.write(
        "Makefile",
        "max: max.c\n\ttest -e once || { touch once; false; }\n\tcc -o max max.c\n",
    );
    let output = place.run([
        "repair",
        "project",
        "--build",
        build,
        "--driver",
        "driver.sh",
        "--tests",
        "less",
        "same",
    ]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(
        message.contains("does not build before any change"),
        "{message}"
    );
}

#[test]
fn times_without_a_unit_and_former_flags_are_told_with_what_to_write_now() {
    let place = driven();
    place.write("max.c", "int main(void) { return 0; }\n");
    for (arguments, wanted) in [
        (
            &["repair", "project", "--test-timeout", "300"][..],
            "write `300ms`",
        ),
        (
            &["repair", "project", "--build-timeout", "90"],
            "write `90s`",
        ),
        (&["repair", "project", "--budget", "60"], "write `60s`"),
        (
            &["validate", "project", "p.diff", "--compare-budget", "40"],
            "write `40s`",
        ),
        (
            &["compare", "a.c", "b.c", "--budget", "1.5m"],
            "`1.5m` is no time",
        ),
        (
            &["regression", "less", "--budget", "1d"],
            "such as 500ms, 10s, 10m or 1h",
        ),
        (
            &["prove", "max.c", "--budget", "100000"],
            "`--conflicts 100000`",
        ),
        (
            &["prove", "max.c", "--timeout", "1s"],
            "`--timeout` is called `--budget`",
        ),
    ] {
        let output = place.run(arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.starts_with("patchwright: error: "), "{told}");
        assert!(told.contains(wanted), "{arguments:?}: {told}");
    }
    place.write(
        "patchwright.toml",
        "[tests]\ndriver = \"driver.sh\"\nnames = [\"less\"]\ntimeout-ms = 300\n",
    );
    let output = place.run(["repair", "project"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("`timeout-ms = 300` is written `timeout = \"300ms\"`"),
        "{told}"
    );
}
