//! What users meet first: the current folder as the project, files that nothing needs, flags of all commands.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};

/// The greater of two numbers, wrong for the first of three tests of a driver.
fn driven() -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script(
        "driver.sh",
        "#!/bin/sh\ncase $1 in\n-neg) test \"$(./max -1 -2)\" = -1 ;;\n--pos) test \"$(./max 1 2)\" = 2 ;;\nsame) test \
         \"$(./max 3 3)\" = 3 ;;\n*) exit 2 ;;\nesac\n",
    );
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"cc -o max max.c\"\nexclude = [\"data\"]\n[tests]\ndriver = \"driver.sh\"\nnames = [\"same\"]\n",
    );
    place
}

#[test]
fn the_current_folder_is_the_project_and_names_of_tests_may_look_like_flags() {
    let place = driven();
    // Far more than a disk has, and nothing that a build needs.
    let data = place.write("data/holes", "");
    fs::File::options()
        .write(true)
        .open(&data)
        .unwrap()
        .set_len(1 << 43)
        .unwrap();
    place.write("max.c", "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v)\n{\n  int a = atoi(v[1]), b = atoi(v[2]);\n  printf(\"%d\\n\", a < b ? a : b);\n  return n != 3;\n}\n");
    let mut command = place.patchwright(["repair", "--first", "--tests", "-neg", "--pos", "same"]);
    let output = command.current_dir(place.project()).output().unwrap();
    let (text, told) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{text}{told}");
    assert!(
        text.contains("+  printf(\"%d\\n\", a > b ? a : b);")
            || text.contains("b < a")
            || text.contains("a >= b")
            || text.contains("b : a"),
        "{text}"
    );
}

#[test]
fn a_build_is_not_waited_for_longer_than_the_user_says() {
    let place = driven();
    let arguments = [
        "repair",
        "project",
        "--build",
        "sleep 1000",
        "--build-timeout",
        "1s",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("time"), "{}", stderr(&output));
}

#[test]
fn errors_of_the_command_line_look_like_all_others() {
    let place = driven();
    for arguments in [
        &["repair", "--no-such-flag"][..],
        &["nothing"],
        &["repair", "project", "--max-patches", "x"],
    ] {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(told.starts_with("patchwright: error: "), "{told}");
    }
}

#[test]
#[ignore = "nightly: 5 s; the_current_folder_is_the_project_and_names_of_tests_may_look_like_flags goes this way"]
fn colours_and_notes_are_as_the_user_wants_them() {
    let place = Place::with_max2();
    let run = |more: &[&str]| {
        let arguments = ["repair", "project/max.c", "--first"];
        let output = place.run([&arguments, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let (plain, quiet) = run(&["-q"]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert_eq!(quiet, "");
    let (coloured, verbose) = run(&["--color", "always", "-v"]);
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    assert!(verbose.contains("1 of 3 tests fails"), "{verbose}");
    let output = place.run(["repair", "project/max.c", "-q", "-v"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_has_no_end_is_not_read() {
    let place = Place::with_max2();
    for arguments in [
        &["complexity", "project/max.c", "/dev/zero"][..],
        &["ir", "/dev/zero"],
    ] {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(
            told.contains("/dev/zero") && told.contains("no plain file"),
            "{told}"
        );
    }
}

#[test]
fn each_command_has_a_manual_page_that_a_command_installs() {
    let place = Place::new();
    let output = place.run(["man", "project/man/man1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = |name: &str| {
        let path = place.project().join(format!("man/man1/{name}.1"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert!(page("patchwright").contains("patchwright\\-repair(1)"));
    assert!(page("patchwright-repair").contains("\\-\\-max\\-patches"));
    assert!(page("patchwright-validate").contains(".SH OPTIONS"));
    let runner = place.project().join("man/man1/patchwright-__runner.1");
    assert!(!runner.exists());

    place.write("full", "a file");
    let output = place.run(["man", "project/full/man1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("full/man1"), "{}", stderr(&output));
}
