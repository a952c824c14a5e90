//! Diffs must be taken by the tools that people apply them with.
#![allow(clippy::disallowed_methods)] // A test starts `patch` and `git` and writes into its own folder.

use patchwright_text::unified_diff;
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn pipe_into(program: &str, arguments: &[&str], folder: &Path, input: &[u8]) {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let diff = String::from_utf8_lossy(input);
    assert!(output.status.success(), "{program}: {output:?}\n{diff}");
}

fn assert_applies(path: &str, before: &[u8], after: &[u8]) {
    let diff = unified_diff(path.as_bytes(), before, after);
    if diff.is_empty() {
        assert_eq!(before, after);
        return;
    }
    for (program, arguments) in [
        ("patch", &["-p1", "--binary", "-s"][..]),
        ("git", &["apply", "--whitespace=nowarn"][..]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, before).unwrap();
        pipe_into(program, arguments, folder.path(), &diff);
        let result = std::fs::read(&file).unwrap_or_default();
        assert_eq!(result, after, "{program} made something else");
    }
}

#[test]
fn carriage_returns_and_odd_bytes_are_kept() {
    assert_applies("a.c", b"x\r\ny\r\nz\r\n", b"x\r\nY\r\nz\r\n");
    assert_applies("a.c", b"x\r\ny\n", b"x\ny\r\n");
    assert_applies("a.c", b"caf\xe9\nb\n", b"caf\xe9\nc\n");
    assert_applies("a.c", b"one\rtwo\nthree\n", b"one\rtwo\n3\n");
}

#[test]
fn names_with_blanks_and_foreign_letters_are_found() {
    assert_applies("my folder/a file.c", b"x\n", b"y\n");
    assert_applies("\u{e4}/\u{f6}.c", b"x\n", b"y\n");
}

#[test]
fn ends_with_and_without_newline_apply() {
    for (before, after) in [("a\nb", "a\nc"), ("a\nb", "a\nb\n"), ("a\n", "a")] {
        assert_applies("a.c", before.as_bytes(), after.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_two_texts_have_a_diff_that_applies(
        before in proptest::collection::vec("[ab]?\r?\n?", 1..30),
        after in proptest::collection::vec("[ab]?\r?\n?", 1..30),
    ) {
        // An empty file is deleted by `patch`, so both sides keep a first line.
        let text = |lines: &[String]| format!("first\n{}", lines.concat()).into_bytes();
        assert_applies("folder/x.c", &text(&before), &text(&after));
    }
}
