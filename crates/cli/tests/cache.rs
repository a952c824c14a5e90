//! What is kept of sources between runs never changes an answer.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make files and start it"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::{Place, stderr, stdout};

const MAIN: &str = r#"#include <stdio.h>
#include "limit.h"
int twice(int n);
int main(void) {
    int values[LIMIT];
    for (int i = 0; i < LIMIT; i++) values[i] = twice(i);
    printf("%d %d\n", values[LIMIT - 1], FACTOR);
    return values[LIMIT];
}
"#;
const OTHER: &str = r#"#include "limit.h"
#ifndef FACTOR
#error no factor
#endif
struct unused { char a; int b; };
int twice(int n) { return n * FACTOR + (int) __builtin_offsetof(struct unused, b) - 4; }
"#;

/// Status, standard output and standard error.
type Said = (Option<i32>, String, String);

/// The commands that read sources. The first two of them stand for the two ways to do so (`crates/cli/src/sources.rs` and
/// `crates/cli/src/encoded.rs`), and show places within lines.
const COMMANDS: [&[&str]; 5] = [
    &["run", "project/main.c", "project/other.c"],
    &["prove", "project/main.c", "project/other.c", "--json"],
    &["slice", "project/main.c:7", "--with", "project/other.c"],
    &[
        "compare",
        "project/other.c",
        "project/new.c",
        "--function",
        "twice",
        "--json",
    ],
    &["ir", "project/main.c"],
];

/// What each of some commands says.
fn answers(place: &Place, commands: &[&[&str]], cache: &[&str], flags: &str) -> Vec<Said> {
    commands
        .iter()
        .map(|command| {
            let command = command.iter().chain(cache).copied();
            let output = place.run(command.chain(["--cflags", flags]));
            let (out, said) = (
                without_times(&stdout(&output)),
                without_heartbeats(&stderr(&output)),
            );
            (output.status.code(), out, said)
        })
        .collect()
}

/// Without the lines of JSON that tell how long something took, or when it was found: fractions of a second.
fn without_times(text: &str) -> String {
    let is_time = |line: &str| {
        let (_, number) = line.rsplit_once(' ').unwrap_or_default();
        number.contains('.') && number.trim_end_matches(',').parse::<f64>().is_ok()
    };
    let lines = text.lines().filter(|line| !is_time(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Without the lines that say how long it has been doing something: `patchwright: encoding (10 s)`.
fn without_heartbeats(text: &str) -> String {
    let is_heartbeat = |line: &str| {
        let seconds = line
            .strip_suffix(" s)")
            .and_then(|line| line.rsplit_once(" ("));
        line.starts_with("patchwright: ")
            && seconds.is_some_and(|(_, seconds)| seconds.parse::<u64>().is_ok())
    };
    let lines = text.lines().filter(|line| !is_heartbeat(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The cache gives the same answers as no cache in both ways to read sources, when it is cold and when it is warm.
fn check(place: &Place, flags: &str, what: &str) {
    check_of(&COMMANDS[..2], place, flags, what);
}

/// The same of each command.
fn check_all(place: &Place, flags: &str, what: &str) {
    check_of(&COMMANDS, place, flags, what);
}

fn check_of(commands: &[&[&str]], place: &Place, flags: &str, what: &str) {
    let plain = answers(place, commands, &["--no-cache"], flags);
    for round in ["cold", "warm"] {
        let cached = answers(place, commands, &["--cache", "kept"], flags);
        assert_eq!(plain, cached, "{what}, {round}");
    }
}

fn program() -> Place {
    let place = Place::new();
    place.write("main.c", MAIN);
    place.write("other.c", OTHER);
    place.write("new.c", OTHER.replace("n * FACTOR", "FACTOR * n"));
    place.write("limit.h", "#define LIMIT 3\n");
    place
}

fn entries(place: &Place) -> Vec<PathBuf> {
    let all = fs::read_dir(place.root.join("kept")).unwrap();
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
#[ignore = "nightly: 23 s; the others of this file change a header, damage the cache and count what is asked again"]
fn answers_are_the_same_whatever_was_kept_and_whatever_changes() {
    let place = program();
    check_all(&place, "-DFACTOR=2", "first");
    let first = entries(&place).len();
    assert!(first >= 3, "{first}");
    check(&place, "-DFACTOR=3", "another flag");
    assert!(entries(&place).len() > first);
    check(&place, "-DFACTOR=2 -funsigned-char", "another type");
    place.write("limit.h", "#define LIMIT 4\n");
    check(&place, "-DFACTOR=2", "another header");
    // The preprocessor prints the same then; places within the line are other ones.
    let moved = MAIN.replace("return values", "return /* beyond */ values");
    place.write("main.c", moved);
    check_all(&place, "-DFACTOR=2", "a comment");
    place.write("limit.h", "#define LIMIT 3\n");
    check(&place, "-DFACTOR=2", "the header as it was");
    place.write("main.c", "int main(void) { return x; }");
    check_all(&place, "-DFACTOR=2", "an error");
}

#[test]
fn a_header_that_comes_before_another_one_is_seen() {
    let place = program();
    for folder in ["first", "second"] {
        fs::create_dir(place.root.join(folder)).unwrap();
    }
    place.write("main.c", MAIN.replace("\"limit.h\"", "<own_limit.h>"));
    let flags = "-DFACTOR=2 -I first -I second";
    fs::write(place.root.join("second/own_limit.h"), "#define LIMIT 5\n").unwrap();
    check(&place, flags, "the second folder");
    fs::write(place.root.join("first/own_limit.h"), "#define LIMIT 6\n").unwrap();
    check(&place, flags, "the first folder");
}

#[test]
#[ignore = "nightly: 7 s; a_header_that_comes_before_another_one_is_seen goes this way"]
fn a_damaged_cache_is_a_cold_one() {
    let place = program();
    check(&place, "-DFACTOR=2", "first");
    let whole: Vec<(PathBuf, Vec<u8>)> = entries(&place)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    for (path, bytes) in &whole {
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 0xff;
        fs::write(path, &damaged).unwrap();
    }
    check(&place, "-DFACTOR=2", "bytes are changed");
    for (path, bytes) in &whole {
        // It was written anew.
        assert_eq!(fs::read(path).unwrap()[..80], bytes[..80]);
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    check(&place, "-DFACTOR=2", "entries are cut");
    for (path, bytes) in &whole {
        assert!(fs::read(path).unwrap().len() > bytes.len() / 2);
        fs::write(path, "").unwrap();
    }
    check(&place, "-DFACTOR=2", "entries are empty");
}

#[test]
#[ignore = "nightly: 4 s; a_header_that_comes_before_another_one_is_seen goes this way"]
fn a_cache_that_cannot_be_used_is_no_error() {
    let place = program();
    let kept = place.root.join("kept");
    fs::write(&kept, "a file").unwrap();
    check(&place, "-DFACTOR=2", "a file in its place");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "a file");
    fs::remove_file(&kept).unwrap();
    symlink(place.root.join("project"), &kept).unwrap();
    let before = place.snapshot();
    check(&place, "-DFACTOR=2", "a link in its place");
    assert_eq!(place.snapshot(), before);
}

#[test]
fn the_compiler_is_started_twice_for_a_file_and_then_once() {
    let place = program();
    let log = place.root.join("log");
    let script = format!(
        "#!/bin/sh\necho \" $* \" >> {}\nexec clang-19 \"$@\"\n",
        log.display()
    );
    place.script("clang", &script);
    place.write("one.c", "int main(void) { return 3; }");
    let starts = |flags: &[&str]| {
        let _ = fs::remove_file(&log);
        let mut command = place.patchwright(["run", "project/one.c"]);
        command.args(flags);
        let clang = place.root.join("project/clang");
        let output = command.env("PATCHWRIGHT_CLANG", clang).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let all = fs::read_to_string(&log).unwrap();
        let with = |flag: &str| all.lines().filter(|line| line.contains(flag)).count();
        (with(" -E "), with("-ast-dump=json"), all.lines().count())
    };
    // One more is for the version.
    assert_eq!(starts(&["--no-cache"]), (1, 1, 3));
    assert_eq!(starts(&["--cache", "kept"]), (1, 1, 3));
    assert_eq!(starts(&["--cache", "kept"]), (1, 0, 2));
    assert_eq!(starts(&["--no-cache"]), (1, 1, 3));
    fs::remove_dir_all(place.root.join("kept")).unwrap();
    assert_eq!(starts(&["--cache", "kept"]), (1, 1, 3));
    assert_eq!(starts(&["--cache", "kept", "--cflags", "-DX"]), (1, 1, 3));
    // Without a flag, in the user's cache.
    assert_eq!(starts(&[]), (1, 1, 3));
    assert_eq!(starts(&[]), (1, 0, 2));
    let usual = place.root.join("cache/patchwright/sources");
    let mode = fs::metadata(usual).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
#[ignore = "nightly: 2 s; a_header_that_comes_before_another_one_is_seen goes this way"]
fn files_that_are_read_together_are_what_they_are_alone() {
    let place = Place::new();
    let names: Vec<String> = (0..7)
        .map(|number| format!("project/f{number}.c"))
        .collect();
    for (number, name) in names.iter().enumerate() {
        let next = (number + 1) % names.len();
        let text = format!(
            "#include <string.h>\n#define OWN {number}\n#ifdef LEFT\n#error left\n#endif\n#define LEFT\n\
             int f{next}(int n);\nint f{number}(int n) {{ return n > 30 ? n : f{next}(n + OWN + (int) strlen(\"a{{}}\")); }}\n"
        );
        fs::write(place.root.join(name), text).unwrap();
    }
    place.write("main.c", "int f0(int n); int main(void) { return f0(0); }");
    let mut arguments = vec!["run", "--cache", "kept", "project/main.c"];
    arguments.extend(names.iter().map(String::as_str));
    // 0 3 + 0, 1 + 3, …: f0 to f6 add 3 to 9.
    for round in ["cold", "warm"] {
        let output = place.run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(33),
            "{round}: {}",
            stderr(&output)
        );
    }
    let before = entries(&place).len();
    for name in &names {
        place.run(["ir", "--cache", "kept", name]);
    }
    // What was kept together serves each of them.
    assert_eq!(entries(&place).len(), before);
}

#[test]
fn several_runs_share_a_cache_at_once() {
    let place = program();
    let run = || {
        let mut command = place.patchwright(["run", "project/main.c", "project/other.c"]);
        command.args(["--cache", "kept", "--cflags", "-DFACTOR=2"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(|_| run()).collect();
    let outputs: Vec<_> = running
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    for output in &outputs {
        assert_eq!(stdout(output), "4 2\n");
        assert_eq!(stderr(output), stderr(&outputs[0]));
    }
}
