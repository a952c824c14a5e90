//! Patches are applied as `patch(1)` and `git apply` apply them.
#![allow(clippy::disallowed_methods)] // A test starts `patch` and `git` and writes into its own folder.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use patchwright_patches::{
    Applied, Applier, ApplyNote, FileChange, FolderTree, Inputs, Reading, Reason, Source,
    read_inputs,
};
use patchwright_text::unified_diff;
use proptest::prelude::*;

fn run(program: &str, arguments: &[&str], folder: &Path, input: &[u8]) -> Output {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
    // A program that sees an error early does not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn apply_at(folder: &Path, diff: &[u8], strip: Option<usize>) -> Applied {
    apply_to(&FolderTree::new(folder), diff, strip)
}

fn apply_to(tree: &FolderTree, diff: &[u8], strip: Option<usize>) -> Applied {
    let mut input = diff;
    let mut inputs: Inputs<'_> = read_inputs(&[Source::Stdin], &mut input).unwrap();
    let raw = inputs.next().unwrap().unwrap();
    let reading = Reading {
        strip,
        ..Default::default()
    };
    Applier::new(tree, reading).apply(raw)
}

fn apply(folder: &Path, diff: &[u8]) -> Applied {
    apply_at(folder, diff, None)
}

/// The new text of the only file, or why there is none.
fn new_text(applied: Applied, before: &[u8]) -> Result<Vec<u8>, Reason> {
    match applied {
        Applied::DoesNotApply(not) => Err(not.reason),
        Applied::Patch(patch) => match &patch.changes[..] {
            [] => Ok(before.to_vec()),
            [change] => Ok(change.text().expect("a text").to_vec()),
            more => panic!("{more:?}"),
        },
    }
}

fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn reason(applied: Applied) -> String {
    match applied {
        Applied::DoesNotApply(not) => not.reason.to_string(),
        Applied::Patch(patch) => panic!("{patch:?}"),
    }
}

fn text_of(lines: &[String]) -> Vec<u8> {
    lines.concat().into_bytes()
}

/// Lines that are often equal, so that hunks fit in several places; some are more than one line.
fn lines(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("(a|b|c|\r|)\n", count)
}

/// `before` with some lines replaced, taken out or put in.
fn edited(before: Vec<String>) -> impl Strategy<Value = Vec<String>> {
    let changes = proptest::collection::vec((any::<u16>(), 0..3u8, "(a|x|y|)\n"), 1..4);
    changes.prop_map(move |changes| {
        let mut after = before.clone();
        for (at, kind, line) in changes {
            let at = at as usize % (after.len() + 1);
            match kind {
                0 => after.insert(at, line),
                1 if at < after.len() => drop(after.remove(at)),
                _ if at < after.len() => after[at] = line,
                _ => after.push(line),
            }
        }
        after
    })
}

fn two_versions() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    lines(1..40).prop_flat_map(|before| (Just(before.clone()), edited(before)))
}

fn three_versions() -> impl Strategy<Value = (Vec<String>, Vec<String>, Vec<String>)> {
    lines(4..60)
        .prop_flat_map(|before| (Just(before.clone()), edited(before.clone()), edited(before)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_diff_of_two_texts_turns_one_into_the_other(
        (before, after) in two_versions(),
        newline in any::<[bool; 2]>(),
    ) {
        let (mut before, mut after) = (text_of(&before), text_of(&after));
        for (text, keeps) in [(&mut before, newline[0]), (&mut after, newline[1])] {
            if !keeps && text.len() > 1 {
                text.pop();
            }
        }
        let diff = unified_diff(b"x.c", &before, &after);
        prop_assume!(!diff.is_empty() && !after.is_empty());
        let folder = folder_with(&[("x.c", &before)]);
        let applied = new_text(apply(folder.path(), &diff), &before);
        prop_assert_eq!(applied, Ok(after));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_diff_for_another_version_does_what_the_patch_program_does(
        (base, after, other) in three_versions(),
    ) {
        let (base, after, other) = (text_of(&base), text_of(&after), text_of(&other));
        let diff = unified_diff(b"x.c", &base, &after);
        prop_assume!(!diff.is_empty() && !after.is_empty() && !other.is_empty());
        let folder = folder_with(&[("x.c", &other)]);
        let ours = new_text(apply(folder.path(), &diff), &other);
        let arguments = ["-p1", "--binary", "-s", "-f", "-r", "-", "--no-backup-if-mismatch", "-N"];
        let theirs = run("patch", &arguments, folder.path(), &diff);
        let file = std::fs::read(folder.path().join("x.c")).unwrap_or_default();
        let shown = String::from_utf8_lossy(&diff).into_owned();
        match ours {
            // patch takes one of the two.
            Err(Reason::Ambiguous { .. }) => {}
            Ok(text) if theirs.status.success() => prop_assert_eq!(
                String::from_utf8_lossy(&text), String::from_utf8_lossy(&file), "{}", shown
            ),
            Err(_) if !theirs.status.success() => {}
            ours => {
                // patch asks, or gives up, when the first hunk looks like one applied before.
                let said = String::from_utf8_lossy(&theirs.stdout);
                prop_assert!(
                    said.contains("previously applied"),
                    "ours {:?}, theirs {:?}\n{}\nfile {:?}", ours, theirs, shown,
                    String::from_utf8_lossy(&other)
                );
            }
        }
    }

    #[test]
    fn miscounted_hunks_are_counted_as_by_git((base, after, _) in three_versions(), wrong in 0..9u8) {
        let (base, after) = (text_of(&base), text_of(&after));
        let diff = unified_diff(b"x.c", &base, &after);
        prop_assume!(!diff.is_empty() && !after.is_empty());
        let text = String::from_utf8(diff).unwrap();
        let miscounted: String = text
            .split_inclusive('\n')
            .map(|line| match line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" +")) {
                Some((old, new)) => {
                    let start = |range: &str| {
                        let end = range.find(|c: char| !c.is_ascii_digit());
                        range[..end.unwrap_or(range.len())].to_owned()
                    };
                    format!("@@ -{},{wrong} +{},{} @@\n", start(old), start(new), 9 - wrong)
                }
                None => line.to_owned(),
            })
            .collect();
        let folder = folder_with(&[("x.c", &base)]);
        let tree = FolderTree::new(folder.path());
        let mut input = miscounted.as_bytes();
        let raw = read_inputs(&[Source::Stdin], &mut input).unwrap().next().unwrap().unwrap();
        let reading = Reading::default();
        let ours = new_text(Applier::new(&tree, reading).apply(raw), &base);
        prop_assert_eq!(ours.as_ref(), Ok(&after), "{}", miscounted);
        let arguments = ["apply", "--recount", "--whitespace=nowarn"];
        let theirs = run("git", &arguments, folder.path(), miscounted.as_bytes());
        if theirs.status.success() {
            prop_assert_eq!(&std::fs::read(folder.path().join("x.c")).unwrap(), &after);
        }
    }

    #[test]
    fn what_git_applies_is_applied_alike((base, after, other) in three_versions()) {
        let (base, after, other) = (text_of(&base), text_of(&after), text_of(&other));
        let diff = unified_diff(b"x.c", &base, &after);
        prop_assume!(!diff.is_empty() && !after.is_empty() && !other.is_empty());
        let folder = folder_with(&[("x.c", &other)]);
        let ours = new_text(apply(folder.path(), &diff), &other);
        let arguments = ["apply", "--whitespace=nowarn"];
        let theirs = run("git", &arguments, folder.path(), &diff);
        // git matches hunks at the ends of files by other rules; where both have one place at the
        // stated line, they agree.
        if theirs.status.success() && base == other {
            let file = std::fs::read(folder.path().join("x.c")).unwrap_or_default();
            prop_assert_eq!(ours, Ok(file));
        }
    }
}

#[test]
fn offsets_and_fuzz_are_noted() {
    let base = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let diff = unified_diff(b"x.c", base, b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
    let folder = folder_with(&[("x.c", b"0\n0\n1\n2\n3\n4\n5\n6\n7\nother\n9\n")]);
    let Applied::Patch(patch) = apply(folder.path(), &diff) else {
        panic!()
    };
    let notes: Vec<String> = patch.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "x.c: hunk #1 applied at line 4 (offset 2)",
            "x.c: hunk #1 applied with fuzz 1"
        ]
    );
    let lines = patch.changes[0].text().unwrap().changed_lines();
    assert_eq!((lines[0].old.clone(), lines[0].new.clone()), (6..7, 6..7));
}

#[test]
fn the_level_of_the_paths_is_found() {
    let folder = folder_with(&[("src/x.c", b"a\n")]);
    for (old, new, note) in [
        ("a/src/x.c", "b/src/x.c", None),
        ("src/x.c", "src/x.c", None),
        ("old/src/x.c", "new/src/x.c", Some(ApplyNote::Strip(1))),
        ("p/q/src/x.c", "p/r/src/x.c", Some(ApplyNote::Strip(2))),
        ("src/x.c.orig", "src/x.c", None),
    ] {
        let diff = format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
        let Applied::Patch(patch) = apply(folder.path(), diff.as_bytes()) else {
            panic!("{diff}")
        };
        assert_eq!(patch.notes.into_iter().next(), note);
        assert_eq!(patch.changes[0].path().to_string(), "src/x.c");
    }
    let diff = b"--- a/src/x.c\n+++ b/src/x.c\n@@ -1 +1 @@\n-a\n+b\n";
    let text = reason(apply_at(folder.path(), diff, Some(0)));
    assert!(text.contains("no file b/src/x.c"), "{text}");
}

#[test]
fn files_come_go_move_and_change_their_mode_as_with_git() {
    let folder = folder_with(&[
        ("keep.c", b"1\n2\n3\n"),
        ("gone.c", b"x\n"),
        ("old.c", b"a\nb\nc\nd\ne\nf\ng\n"),
        ("run.sh", b"true\n"),
    ]);
    let diff = "diff --git a/gone.c b/gone.c\ndeleted file mode 100644\nindex 587be6b..0000000\n--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/made/new.c b/made/new.c\nnew file mode 100755\nindex 0000000..9766475\n--- /dev/null\n+++ b/made/new.c\n@@ -0,0 +1 @@\n+ok\n\
        diff --git a/old.c b/moved.c\nsimilarity index 80%\nrename from old.c\nrename to moved.c\nindex 1..2 100644\n--- a/old.c\n+++ b/moved.c\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n\
        diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
    let Applied::Patch(patch) = apply(folder.path(), diff.as_bytes()) else {
        panic!("{:?}", apply(folder.path(), diff.as_bytes()))
    };
    let theirs = run("git", &["apply"], folder.path(), diff.as_bytes());
    assert!(theirs.status.success(), "{theirs:?}");
    let executable = |name: &str| {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o100 != 0
    };
    let mut kinds = Vec::new();
    for change in &patch.changes {
        match change {
            FileChange::Delete { path } => {
                kinds.push("delete");
                assert!(!folder.path().join(path).exists());
            }
            FileChange::Mode {
                path,
                executable: x,
            } => {
                kinds.push("mode");
                assert_eq!(executable(&path.to_string()), *x);
            }
            FileChange::Add {
                path,
                text,
                executable: x,
            }
            | FileChange::Rename {
                to: path,
                text,
                executable: x,
                ..
            } => {
                kinds.push("text");
                assert_eq!(
                    std::fs::read(folder.path().join(path)).unwrap(),
                    text.to_vec()
                );
                assert_eq!(executable(&path.to_string()), *x);
            }
            FileChange::Modify { .. } => panic!("{change:?}"),
        }
    }
    assert_eq!(kinds, ["delete", "text", "text", "mode"]);
}

#[test]
fn two_changes_of_one_file_follow_each_other() {
    let folder = folder_with(&[("x.c", b"1\n2\n3\n")]);
    let diff = "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n\
                --- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n one\n 2\n-3\n+three\n";
    let text = new_text(apply(folder.path(), diff.as_bytes()), b"").unwrap();
    assert_eq!(text, b"one\n2\nthree\n");
}

#[test]
fn nothing_outside_of_the_tree_can_be_named() {
    let folder = folder_with(&[("sub/x.c", b"a\n")]);
    std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("sub/x.c", folder.path().join("alias.c")).unwrap();
    let diff = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n");
    for (name, said) in [
        ("../x.c", "leaves the project's tree"),
        ("sub/../../x.c", "leaves the project's tree"),
        ("link/passwd", "lies beyond a symbolic link"),
        ("alias.c", "is a symbolic link"),
        ("sub", "is a folder"),
        ("sub/x.c/y.c", "lies below a file"),
    ] {
        let text = reason(apply(folder.path(), diff(name).as_bytes()));
        assert!(text.contains(said), "{text}");
    }
    let absolute = "--- /etc/hostname\n+++ /etc/hostname\n@@ -1 +1 @@\n-a\n+b\n";
    let text = reason(apply(folder.path(), absolute.as_bytes()));
    assert!(text.contains("absolute path"), "{text}");
}

#[test]
fn hunks_that_do_not_fit_are_named_with_a_hint() {
    let folder = folder_with(&[("x.c", b"a\nnew\nc\n"), ("w.c", b"a\r\nb\r\nc\r\n")]);
    let diff = "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n a\n-old\n+new\n c\n";
    assert_eq!(
        reason(apply(folder.path(), diff.as_bytes())),
        "-:3: hunk #1 of x.c (line 1) does not fit: the file looks as if it had been applied already"
    );
    let diff = "--- a/w.c\n+++ b/w.c\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    let diff = diff.replace('\n', "\r\n");
    let text = new_text(apply(folder.path(), diff.as_bytes()), b"").unwrap();
    assert_eq!(text, b"a\r\nB\r\nc\r\n");
    let diff = "--- a/none.c\n+++ b/none.c\n@@ -1 +1 @@\n-a\n+b\n";
    let text = reason(apply(folder.path(), diff.as_bytes()));
    assert!(text.contains("no file none.c"), "{text}");
}

#[test]
fn a_diff_without_carriage_returns_applies_to_a_file_whose_lines_all_end_with_them() {
    let folder = folder_with(&[
        ("w.c", b"a\r\nb\r\nc\r\n"),
        ("end.c", b"a\r\nb"),
        ("mixed.c", b"a\r\nb\r\nc\n"),
    ]);
    let diff = |name: &str, lines: &str| format!("--- a/{name}\n+++ b/{name}\n{lines}");
    let middle = "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+more\n c\n";
    let Applied::Patch(patch) = apply(folder.path(), diff("w.c", middle).as_bytes()) else {
        panic!("it applies");
    };
    let text = patch.changes[0].text().unwrap().to_vec();
    assert_eq!(text, b"a\r\nB\r\nmore\r\nc\r\n");
    assert!(
        matches!(&patch.notes[..], [ApplyNote::CarriageReturnsAdded { .. }]),
        "{:?}",
        patch.notes
    );
    let no_newline = "\\ No newline at end of file\n";
    let end = format!("@@ -1,2 +1,3 @@\n a\n-b\n{no_newline}+x\n+B\n{no_newline}");
    let text = new_text(apply(folder.path(), diff("end.c", &end).as_bytes()), b"").unwrap();
    assert_eq!(text, b"a\r\nx\r\nB");
    // What the new lines should end with is not known.
    let text = reason(apply(folder.path(), diff("mixed.c", middle).as_bytes()));
    assert!(text.contains("end with \\r\\n"), "{text}");
}

#[test]
fn a_hunk_that_fits_twice_equally_near_is_refused() {
    let folder = folder_with(&[("x.c", b"q\nq\na\nb\nc\nq\nq\nq\nq\nq\na\nb\nc\nq\nq\n")]);
    let diff = "--- a/x.c\n+++ b/x.c\n@@ -7,3 +7,3 @@\n a\n-b\n+B\n c\n";
    let text = reason(apply(folder.path(), diff.as_bytes()));
    assert!(text.contains("at line 3 and at line 11"), "{text}");
}

#[test]
fn patches_with_the_same_result_have_the_same_digest() {
    let folder = folder_with(&[("x.c", b"a\na\nb\n")]);
    let digest = |diff: &str| match apply(folder.path(), diff.as_bytes()) {
        Applied::Patch(patch) => patch.digest(),
        other => panic!("{other:?}"),
    };
    let first = digest("--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,2 @@\n-a\n a\n b\n");
    let second = digest("--- x.c\n+++ x.c\n@@ -1,3 +1,2 @@\n a\n-a\n b\n");
    let other = digest("--- x.c\n+++ x.c\n@@ -1,3 +1,2 @@\n a\n a\n-b\n");
    assert_eq!(first, second);
    assert_ne!(first, other);
}

#[test]
fn what_is_left_out_of_the_project_is_not_changed() {
    let folder = folder_with(&[("x.c", b"a\n"), ("data/y.c", b"a\n"), ("dataset.c", b"a\n")]);
    let tree = FolderTree::new(folder.path()).without(&["x.c".into(), "data".into()]);
    let changed = |file: &str| {
        let diff = format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
        apply_to(&tree, diff.as_bytes(), None)
    };
    for file in ["x.c", "data/y.c"] {
        let text = reason(changed(file));
        assert!(text.contains("is left out by `exclude`"), "{text}");
    }
    assert!(matches!(changed("dataset.c"), Applied::Patch(_)));
}

#[test]
fn a_manifest_of_expressapr_replaces_a_piece() {
    let folder = folder_with(&[("x.c", b"int x = 1; int y;\nint z;\n")]);
    let manifest = r#"{"manifest_version": 3, "filename": "x.c", "context_above": "int x = ",
        "unpatched": "1", "context_below": "; int y;\nint z;\n", "patches": ["2", "3;\nint w"]}"#;
    let tree = FolderTree::new(folder.path());
    let mut input = manifest.as_bytes();
    let texts: Vec<Vec<u8>> = read_inputs(&[Source::Stdin], &mut input)
        .unwrap()
        .map(|raw| {
            new_text(
                Applier::new(&tree, Reading::default()).apply(raw.unwrap()),
                b"",
            )
            .unwrap()
        })
        .collect();
    assert_eq!(texts[0], b"int x = 2; int y;\nint z;\n");
    assert_eq!(texts[1], b"int x = 3;\nint w; int y;\nint z;\n");
    let other = manifest.replace("int z", "int Z");
    let text = reason(apply(folder.path(), other.as_bytes()));
    assert!(text.contains("are not the text of x.c"), "{text}");
}
