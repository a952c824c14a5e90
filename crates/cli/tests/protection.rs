//! What programs that are built and tested cannot do to the user's files, and what the user is told.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::common::{Place, stderr, stdout};

/// The example, with a driver that begins with this, a makefile, and files beside it.
fn project(driver: &str) -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.write("Makefile", "max: max.c\n\tcc -o max max.c\n");
    place.script(
        "driver",
        &format!(
            "#!/bin/sh\n{driver}\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
             more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\nesac\n"
        ),
    );
    for folder in ["beside", "home"] {
        fs::create_dir(place.root.join(folder)).unwrap();
        fs::write(place.root.join(folder).join("kept"), "kept").unwrap();
    }
    place
}

const TESTS: [&str; 8] = [
    "--build", "make", "--driver", "driver", "--tests", "less", "more", "same",
];

fn run(place: &Place, command: &str, more: &[&str]) -> Output {
    let arguments = [&[command, "project"], more, &TESTS].concat();
    let mut patchwright = place.patchwright(arguments);
    patchwright.env("HOME", place.root.join("home"));
    patchwright.output().unwrap()
}

fn kept(place: &Place, folder: &str) -> String {
    fs::read_to_string(place.root.join(folder).join("kept")).unwrap_or_default()
}

#[test]
fn the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told() {
    for command in ["repair", "localize"] {
        let place = project("[ $1 = same ] && rm -rf ../beside; echo x > $HOME/kept");
        let output = run(&place, command, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(kept(&place, "beside"), "kept");
        assert_eq!(kept(&place, "home"), "kept");
        let told = stderr(&output);
        let beside = place.root.join("beside/kept");
        let wanted = format!(
            "warning: test same, which fails, tried to change {} outside of the copy (unlinkat, by rm), which was refused; \
             --allow-writes DIR permits it",
            beside.display()
        );
        assert!(told.contains(&wanted), "{told}");
        let home = place.root.join("home/kept");
        let wanted = format!(
            "changed {} (openat, by driver) in a private layer",
            home.display()
        );
        assert!(told.contains(&wanted), "{told}");
    }
}

#[test]
fn a_build_that_goes_astray_is_not_repeated_without_protection() {
    let place = project("");
    place.write(
        "Makefile",
        "max: max.c\n\tcc -o max max.c\n\tcd .. && rm -rf *\n",
    );
    let output = run(&place, "repair", &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(kept(&place, "beside"), "kept");
    let told = stderr(&output);
    assert!(
        told.contains("warning: the build tried to change"),
        "{told}"
    );
}

#[test]
#[ignore = "nightly: 11 s; the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told goes this way"]
fn the_user_decides_by_flags_and_is_told_what_a_description_permits() {
    let driver = "echo x >> ../beside/log || exit 1";
    let place = project(driver);
    let output = run(&place, "repair", &["--first"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("beside/log"),
        "{}",
        stderr(&output)
    );
    for flags in [&["--allow-writes", "beside"][..], &["--unprotected"]] {
        let place = project(driver);
        let output = run(&place, "repair", &[flags, &["--first"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(place.root.join("beside/log").exists());
        let is_told = stderr(&output).contains("nothing is protected");
        assert_eq!(is_told, flags[0] == "--unprotected");
    }
    let place = project(driver);
    place.write(
        "patchwright.toml",
        "[protection]\nallow-writes = [\"../beside\"]\n",
    );
    let output = run(&place, "repair", &["--first"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(
        told.contains("patchwright.toml:2 lets builds and tests write to"),
        "{told}"
    );
    place.write("patchwright.toml", "[protection]\nunprotected = true\n");
    let output = run(&place, "repair", &["--first"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for folder in ["nowhere", "/"] {
        let output = run(&place, "repair", &["--allow-writes", folder]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
}

#[test]
fn a_patch_cannot_forge_the_verdict_of_another_one() {
    let place = project("");
    let diff = |from: &str, to: &str| {
        format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if ({from}) {{\n+  if ({to}) {{\n")
    };
    fs::create_dir(place.root.join("patches")).unwrap();
    let write = |name: &str, text: &str| {
        fs::write(place.root.join("patches").join(name), text).unwrap();
    };
    write(
        "a.diff",
        &format!(
            "{}--- a/Makefile\n+++ b/Makefile\n@@ -2 +2,2 @@\n-\tcc -o max max.c\n+\tfor f in $$XDG_CACHE_HOME/patchwright/*/*.jsonl; do \
         echo forged >> $$f; cp /dev/null $$f; rm -f $$f; done; exit 0\n+\tcc -o max max.c\n",
            diff("a > b", "a >= b")
        ),
    );
    write("b.diff", &diff("a > b", "a < b"));
    write("c.diff", &diff("a > b", "b <= a"));
    let verdicts = |more: &[&str]| {
        let output = run(
            &place,
            "validate",
            &[&["patches", "--jsonl", "-j", "1"], more].concat(),
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let lines: Vec<serde_json::Value> = stdout(&output)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let verdict =
            |line: &serde_json::Value| line["patch"]["verdict"].as_str().map(str::to_owned);
        (
            lines.iter().filter_map(verdict).collect::<Vec<_>>(),
            stderr(&output),
        )
    };
    let journals = || {
        let folder = place.root.join("cache/patchwright/validate");
        let entries = fs::read_dir(folder).unwrap();
        let files = entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        files.collect::<Vec<_>>()
    };
    let (found, told) = verdicts(&[]);
    assert_eq!(
        found
            .iter()
            .filter(|verdict| *verdict == "implausible")
            .count(),
        1,
        "{found:?}"
    );
    assert!(told.contains(".jsonl outside of the copy"), "{told}");
    assert!(told.contains("patch "), "{told}");
    let kept = journals();
    assert!(kept.len() == 1 && !kept[0].contains("forged"));
    // A run without --resume takes nothing away, and one with it needs no test.
    verdicts(&[]);
    assert!(journals().contains(&kept[0]));
}

#[test]
fn without_namespaces_nothing_is_run_unless_the_user_says_so() {
    let place = project("echo x > ../beside/ran");
    let with = |more: &str| {
        let script = format!(
            "echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$P\" repair project --first {more} {}",
            TESTS.join(" ")
        );
        let program = place.patchwright([""; 0]);
        Command::new("unshare")
            .args(["-U", "-r", "sh", "-c", &script])
            .env("P", program.get_program())
            .env("PATCHWRIGHT_TMP", place.root.join("scratch"))
            .env("XDG_CACHE_HOME", place.root.join("cache"))
            .current_dir(&place.root)
            .output()
            .unwrap()
    };
    let output = with("");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("--unprotected"),
        "{}",
        stderr(&output)
    );
    assert!(!place.root.join("beside/ran").exists());
    let output = with("--unprotected");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 3 s; the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told goes this way"]
fn programs_see_no_variable_of_ours() {
    let place = project("env | grep '^PATCHWRIGHT_' && exit 1");
    let output = run(&place, "repair", &["--first"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 4 s; the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told goes this way"]
fn output_that_cannot_be_written_is_no_bug_of_ours() {
    let place = project("");
    place.write(
        "p.diff",
        "--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {\n+  if (a >= b) {\n",
    );
    let full = || {
        Stdio::from(
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        )
    };
    for arguments in [
        &["repair", "project", "--first"][..],
        &["localize", "project"],
        &["validate", "project", "project/p.diff"],
        &["man"],
        &["--help"],
    ] {
        let is_described = arguments.contains(&"project");
        let tests = if is_described { &TESTS[..] } else { &[] };
        let mut command = place.patchwright([arguments, tests].concat());
        let output = command.stdout(full()).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        let told = stderr(&output);
        assert!(
            told.contains("standard output cannot be written: No space left"),
            "{told}"
        );
    }
}

#[test]
fn what_the_system_does_not_give_is_no_bug_of_ours() {
    let place = Place::with_max2();
    let program = place.patchwright([""; 0]);
    for (limit, status, told) in [
        ("ulimit -v 300000", 2, "gives no more memory or threads"),
        ("PATH=; export PATH", 2, "no C compiler in PATH"),
        // That of the compiler.
        ("ulimit -f 1", 3, "File size limit exceeded"),
    ] {
        let script = format!("{limit}; exec \"$P\" repair project/max.c --first");
        let output = Command::new("/bin/sh")
            .args(["-c", &script])
            .env("P", program.get_program())
            .env("PATCHWRIGHT_TMP", place.root.join("scratch"))
            .env("XDG_CACHE_HOME", place.root.join("cache"))
            .current_dir(&place.root)
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), None, "{limit}");
        assert_eq!(
            output.status.code(),
            Some(status),
            "{limit}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(told),
            "{limit}: {}",
            stderr(&output)
        );
    }
}

#[test]
#[ignore = "nightly: 3 s; the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told goes this way"]
fn a_file_may_have_a_name_that_looks_like_a_flag() {
    let place = Place::with_max2();
    fs::rename(place.project().join("max.c"), place.project().join("-x.c")).unwrap();
    let mut command = place.patchwright(["repair", "./-x.c", "--first"]);
    let output = command.current_dir(place.project()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 7 s; surroundings::two_runs_at_once_give_what_each_gives_alone goes the same way"]
fn two_runs_at_once_in_one_project_both_find_what_there_is() {
    let place = Place::with_max2();
    let arguments = [
        "repair",
        "project/max.c",
        "--state",
        "state",
        "--max-cost",
        "2",
    ];
    let start = || {
        let mut command = place.patchwright(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for run in [start(), start()] {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(fs::read_dir(place.root.join("state")).unwrap().count(), 0);
}

#[test]
fn a_signal_ends_a_run_within_a_second_also_in_the_middle_of_reading() {
    let place = Place::new();
    // Reading it takes a minute.
    let terms: Vec<String> = (0..3_000).map(|n| format!("a[{}]", n % 7)).collect();
    let sum = terms.join("\n + ");
    place.write("sum.c", format!(
        "#include <stdio.h>\nint a[7];\nint main(void)\n{{\n  int s = {sum};\n  printf(\"%d\\n\", s);\n  return 0;\n}}\n"
    ));
    place.write("cases/wrong.out", "1\n");
    place.write("cases/right.out", "0\n");
    let mut command = place.patchwright(["repair", "project/sum.c"]);
    let mut run = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = std::io::BufReader::new(run.stderr.take().unwrap());
    // Tests have been run: next, sources are read.
    let mut line = String::new();
    std::io::BufRead::read_line(&mut told, &mut line).unwrap();
    assert!(line.contains("1 of 2 tests fails"), "{line}");
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    // SAFETY: no pointers.
    unsafe { libc::kill(run.id() as i32, libc::SIGTERM) };
    let status = run.wait().unwrap();
    let taken = begun.elapsed();
    assert_eq!(status.code(), Some(4));
    assert!(taken < Duration::from_secs(2), "{taken:?}");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut told, &mut rest).unwrap();
    assert!(rest.contains("--resume goes on"), "{rest}");
}

#[test]
fn a_closed_standard_output_is_no_success() {
    let place = Place::with_max2();
    let run = |arguments: &str| {
        Command::new("sh")
            .args(["-c", &format!("exec \"$P\" {arguments} >&-")])
            .env("P", place.patchwright([""; 0]).get_program())
            .env("PATCHWRIGHT_TMP", place.root.join("scratch"))
            .env("XDG_CACHE_HOME", place.root.join("cache"))
            .current_dir(&place.root)
            .output()
            .unwrap()
    };
    for arguments in [
        "repair project/max.c --first",
        "man",
        "completions bash",
        "--version",
        "complexity project/max.c project/max.c",
    ] {
        let output = run(arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {told}");
        assert!(
            told.contains("standard output cannot be written: it is closed"),
            "{told}"
        );
    }
    // What is executed decides that itself.
    assert_eq!(run("run project/max.c -- 2 1").status.code(), Some(0));
}

#[test]
#[ignore = "nightly: 7 s; the_test_that_runs_the_bug_changes_nothing_and_what_it_tried_is_told goes this way"]
fn a_build_has_a_limit_of_memory_that_is_told() {
    let place = project("");
    place.write(
        "p.diff",
        "--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {\n+#include \"/dev/zero\"\n",
    );
    let output = run(
        &place,
        "validate",
        &["project/p.diff", "--build-memory", "200", "--no-schemata"],
    );
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{told}{}", stderr(&output));
    let wanted = "the build exceeded its limit of memory (--build-memory gives it more)";
    assert!(told.contains(wanted), "{told}");
    // A woven one, too: its clones are compiled before.
    let output = run(
        &place,
        "validate",
        &["project/p.diff", "--build-memory", "200", "--weave-few"],
    );
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{told}{}", stderr(&output));
    assert!(told.contains("does not compile"), "{told}");
}
