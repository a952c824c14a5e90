//! `patchwright complexity` as a user meets it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make repositories and start it"
)]

use std::{fs, path::Path};

use crate::common::{Place, git::Git, stderr, stdout};
use git2::Repository;

/// Two commits: a function, and a fix of it that adds two branches.
fn with_fix() -> Git {
    let mut git = Git::new();
    git.commit("Begin", &[("src/max.c", MAX), ("README", "max\n")]);
    git.commit("Guard against zero", &[("src/max.c", FIXED)]);
    git
}

/// What is printed of the commits of a repository.
fn report_of(git: &Git, arguments: &[&str]) -> String {
    report(&git.place, &[arguments, &["--repo", "project"]].concat())
}

const MAX: &str = "#include \"config.h\"\n\nint max(int a, int b)\n{\n  return a > b ? a : b;\n}\n";
const FIXED: &str = "#include \"config.h\"\n\nint max(int a, int b)\n{\n  if (a == 0 || b == 0)\n    return 0;\n  \
                     return a > b ? a : b;\n}\n";

/// Exit status, standard output and standard error, with the folder of the test called `[ROOT]`.
fn report(place: &Place, arguments: &[&str]) -> String {
    let output = place.run([&["complexity"], arguments].concat());
    let text = format!(
        "exit status {}\n{}{}",
        output.status.code().unwrap(),
        stdout(&output),
        stderr(&output)
    );
    text.replace(place.root.to_str().unwrap(), "[ROOT]")
}

#[test]
fn a_commit() {
    insta::assert_snapshot!(report_of(&with_fix(), &["HEAD"]));
}

#[test]
fn the_first_commit_is_compared_with_nothing() {
    insta::assert_snapshot!(report_of(&with_fix(), &["HEAD~1"]));
}

#[test]
fn a_range_is_a_table() {
    let mut git = with_fix();
    git.commit("Describe it", &[("README", "The greater one.\n")]);
    git.commit(
        "Say so",
        &[("src/max.c", &FIXED.replace("return 0", "return -1"))],
    );
    insta::assert_snapshot!(report_of(&git, &["HEAD~3..HEAD"]));
    let newest = report_of(&git, &["HEAD~3..", "-n", "1"]);
    assert!(
        newest.contains("Say so") && !newest.contains("Guard"),
        "{newest}"
    );
}

#[test]
fn what_is_not_committed_yet() {
    let git = with_fix();
    insta::assert_snapshot!("nothing", report_of(&git, &[]));
    fs::write(git.place.project().join("src/max.c"), MAX).unwrap();
    insta::assert_snapshot!("undone", report_of(&git, &[]));
}

#[test]
fn two_files_and_two_folders() {
    let place = Place::new();
    place.write("old/max.c", MAX);
    place.write("new/max.c", FIXED);
    place.write(
        "new/min.h",
        "static inline int min(int a, int b) { return a < b ? a : b; }\n",
    );
    let files = report(&place, &["project/old/max.c", "project/new/max.c"]);
    insta::assert_snapshot!("files", files);
    insta::assert_snapshot!("folders", report(&place, &["project/old", "project/new"]));
}

#[test]
fn json_has_a_schema_and_its_version() {
    let text = report_of(&with_fix(), &["HEAD", "--json"]);
    let json: serde_json::Value =
        serde_json::from_str(text.trim_start_matches("exit status 0\n")).unwrap();
    assert_eq!(json["schema"], "patchwright-complexity");
    assert_eq!(json["schema_version"], 1);
    let change = &json["changes"][0];
    assert_eq!(change["cycc"], 3);
    assert_eq!(change["cloc"], 2);
    assert_eq!(change["commit"]["subject"], "Guard against zero");
    assert_eq!(change["functions"][0]["name"], "max");
    assert_eq!(change["graph"]["edges"].as_array().unwrap().len(), 6);
}

#[test]
fn drawings_are_written() {
    let git = with_fix();
    for name in ["graph.svg", "graph.dot"] {
        let path = git.place.root.join(name);
        report_of(&git, &["HEAD", "--graph", path.to_str().unwrap()]);
        assert!(
            fs::read_to_string(path).unwrap().contains("return 0"),
            "{name}"
        );
    }
    let path = git.place.root.join("plot.svg");
    report_of(&git, &["HEAD~1..HEAD", "--plot", path.to_str().unwrap()]);
    assert!(fs::read_to_string(path).unwrap().starts_with("<svg"));
    insta::assert_snapshot!(
        "no_drawing",
        report_of(&git, &["HEAD", "--graph", "graph.png"])
    );
    insta::assert_snapshot!(
        "range",
        report_of(&git, &["HEAD~1..HEAD", "--graph", "a.svg"]).replace("a.svg", "")
    );
}

#[test]
fn a_merge_is_compared_with_its_first_parent() {
    let mut git = with_fix();
    let first = git
        .repository
        .head()
        .unwrap()
        .peel_to_commit()
        .unwrap()
        .id();
    let base = git.repository.revparse_single("HEAD~1").unwrap().id();
    fs::write(
        git.place.project().join("src/min.c"),
        "int min(void) { return 0; }\n",
    )
    .unwrap();
    git.commit_on("Merge min", &[first, base], &[]);
    let text = report_of(&git, &["HEAD"]);
    assert!(
        text.contains("a merge: compared with its first parent"),
        "{text}"
    );
    assert!(text.contains("min") && !text.contains("max.c"), "{text}");
    insta::assert_snapshot!(report_of(&git, &["HEAD~1..HEAD"]));
}

#[test]
fn a_renamed_file_without_changes_changes_nothing() {
    let mut git = with_fix();
    git.commit("Rename", &[("src/max.c", ""), ("src/greater.c", FIXED)]);
    insta::assert_snapshot!(report_of(&git, &["HEAD"]));
}

#[test]
fn code_in_headers_counts() {
    let mut git = with_fix();
    git.commit(
        "Header",
        &[(
            "min.h",
            "static inline int min(int a) { return a; }\nextern int b;\n",
        )],
    );
    insta::assert_snapshot!(report_of(&git, &["HEAD"]));
}

#[test]
fn a_change_without_c_has_no_complexity() {
    let mut git = with_fix();
    git.commit("Words", &[("README", "more\n")]);
    insta::assert_snapshot!(report_of(&git, &["HEAD"]));
}

#[test]
fn old_style_functions_and_what_is_no_c() {
    let place = Place::new();
    let old = "local int f(a)\n    int a;\n{\n    return a;\n}\n";
    place.write("a.c", old);
    place.write(
        "b.c",
        old.replace("return a", "if (a) return 1;\n    return a"),
    );
    insta::assert_snapshot!("old_style", report(&place, &["project/a.c", "project/b.c"]));
    place.write(
        "b.c",
        format!("{old}int g(void) {{ x = ; @ y(); }}\n) = 3;\n"),
    );
    insta::assert_snapshot!("no_c", report(&place, &["project/a.c", "project/b.c"]));
}

#[test]
#[ignore = "nightly: 5 s; mistakes_are_explained goes this way"]
fn a_file_of_a_hundred_thousand_lines() {
    let function = |i: usize| {
        format!(
            "static int f{i}(int a)\n{{\n  if (a > {i})\n    return a;\n  g(a);\n  a = a * {i};\n  return a + 1;\n}}\n\n\n"
        )
    };
    let old: String = (0..10_000).map(function).collect();
    let new = old.replacen("a > 7777)", "a >= 7777)", 1);
    assert_eq!(old.lines().count(), 100_000);
    let place = Place::new();
    place.write("a.c", old);
    place.write("b.c", new);
    let text = report(&place, &["project/a.c", "project/b.c"]);
    assert!(text.contains("CyCC 1 · CLoC 1 · 1 function"), "{text}");
}

#[test]
fn what_headers_define_decides_conditionals_where_flags_are_known() {
    let mut git = Git::new();
    let source = "#include <level.h>\nint f(int n)\n{\n#if LEVEL > 1\n  n++;\n#else\n  n--;\n#endif\n  return n;\n}\n";
    git.commit(
        "Begin",
        &[("include/level.h", "#define LEVEL 2\n"), ("f.c", source)],
    );
    let other = source.replace("n--;", "n -= 2;");
    git.commit("Change what is not compiled", &[("f.c", &other)]);
    let commands = r#"[{"directory": "/home/me/f", "file": "f.c", "arguments": ["cc", "-Iinclude", "-c", "f.c"]}]"#;
    let database = git.place.root.join("compile_commands.json");
    fs::write(&database, commands).unwrap();
    let database = database.to_str().unwrap();
    let status = |arguments: &[&str]| {
        let report = report_of(&git, &[&["HEAD"], arguments].concat());
        report.lines().next().unwrap().to_owned()
    };
    assert_eq!(status(&[]), "exit status 0");
    assert_eq!(status(&["--cflags", "-Iinclude"]), "exit status 1");
    assert_eq!(status(&["--compile-commands", database]), "exit status 1");
    // Where the header is not found, the branch that changed is measured.
    assert_eq!(status(&["--cflags", "-O2"]), "exit status 0");
    // A header that is not of the revision, as a build makes it.
    fs::create_dir(git.place.project().join("made")).unwrap();
    fs::write(
        git.place.project().join("made/level.h"),
        "#define LEVEL 1\n",
    )
    .unwrap();
    assert_eq!(status(&["--cflags", "-Imade"]), "exit status 0");
    fs::write(
        git.place.project().join("made/level.h"),
        "#define LEVEL 3\n",
    )
    .unwrap();
    assert_eq!(status(&["--cflags", "-Imade"]), "exit status 1");
}

#[test]
fn mistakes_are_explained() {
    let git = with_fix();
    insta::assert_snapshot!("unknown_revision", report_of(&git, &["nowhere"]));
    insta::assert_snapshot!("unknown_range", report_of(&git, &["nowhere..HEAD"]));
    insta::assert_snapshot!("three_dots", report_of(&git, &["HEAD~1...HEAD"]));
    insta::assert_snapshot!("one_path", report_of(&git, &["project/src/max.c"]));
    insta::assert_snapshot!(
        "missing_path",
        report_of(&git, &["project/src/max.c", "project/gone.c"])
    );
    insta::assert_snapshot!(
        "file_and_folder",
        report_of(&git, &["project/src/max.c", "project"])
    );
    let place = Place::new();
    place.write("max.c", MAX);
    place.write("fix.diff", "--- a/max.c\n+++ b/max.c\n");
    insta::assert_snapshot!(
        "a_patch",
        report(&place, &["project/max.c", "project/fix.diff"])
    );
    insta::assert_snapshot!(
        "no_repository",
        report(&place, &["HEAD", "--repo", "/nonexistent"])
    );
}

#[test]
fn a_bare_repository_has_revisions_and_no_working_tree() {
    let git = with_fix();
    let bare = git.place.root.join("bare.git");
    Repository::init_bare(&bare).unwrap();
    let copy = |name: &str| {
        fn all(from: &Path, to: &Path) {
            fs::create_dir_all(to).unwrap();
            for entry in fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                let to = to.join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    all(&entry.path(), &to);
                } else {
                    fs::copy(entry.path(), to).unwrap();
                }
            }
        }
        all(
            &git.place.project().join(".git").join(name),
            &bare.join(name),
        );
    };
    copy("objects");
    copy("refs");
    fs::copy(git.place.project().join(".git/HEAD"), bare.join("HEAD")).unwrap();
    let with_commit = report(&git.place, &["HEAD", "--repo", "bare.git"]);
    assert!(with_commit.contains("CyCC 3"), "{with_commit}");
    insta::assert_snapshot!(report(&git.place, &["--repo", "bare.git"]));
}
