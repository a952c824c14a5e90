//! `patchwright compare` of revisions of a git repository.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make repositories and start it"
)]

use crate::common::{git::Git, stderr, stdout};

/// Two functions, one with this comparison and one with this sum.
fn source(comparison: &str, sum: &str) -> String {
    format!(
        "#include \"limit.h\"\nint clamp(int a)\n{{\n  if (a {comparison} LIMIT)\n    a = LIMIT;\n  return a;\n}}\nint \
         twice(short a)\n{{\n  return {sum};\n}}\n"
    )
}

const MAIN: &str = "#include <stdio.h>\nint main(void)\n{\n  int c = getchar();\n  putchar(c == 'a' ? 'x' : 'y');\n  return 0;\n}\n";

fn repository() -> Git {
    let mut git = Git::new();
    git.commit(
        "Begin",
        &[
            ("src/clamp.c", &source(">", "a * 2")),
            ("src/limit.h", "#define LIMIT 100\n"),
            ("src/tool.c", MAIN),
            ("src/Makefile", "tool: tool.c\n\tcc -o tool tool.c\n"),
        ],
    );
    git.commit(
        "Change two functions and the program",
        &[
            ("src/clamp.c", &source("> 1 +", "2 * a")),
            ("src/tool.c", &MAIN.replace("'a'", "'b'")),
        ],
    );
    git
}

fn run(git: &Git, folder: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = git.place.patchwright([&["compare"], arguments].concat());
    let output = command
        .current_dir(git.place.project().join(folder))
        .output()
        .unwrap();
    assert_eq!(git.place.leftovers(), [""; 0]);
    (
        output.status.code().unwrap(),
        stdout(&output),
        stderr(&output),
    )
}

#[test]
fn each_function_of_a_file_that_differs_between_revisions_is_compared() {
    let git = repository();
    // What is not committed plays no part.
    git.place.write("src/limit.h", "#define LIMIT 7\n");
    let before = git.place.snapshot();
    let (status, text, told) = run(&git, "", &["HEAD~1..HEAD", "--file", "src/clamp.c"]);
    assert_eq!(status, 1, "{text}{told}");
    let of = |name: &str| {
        let part = text.split("→").find(|part| {
            let first = part.lines().next().unwrap_or_default();
            first.ends_with(&format!("clamp.c: {name}"))
        });
        part.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    assert!(of("clamp").contains("a = 101"), "{text}");
    assert!(of("twice").contains("Equal for all inputs"), "{text}");
    assert!(!text.contains("revision-"), "{text}");
    assert_eq!(git.place.snapshot(), before);

    let only = ["HEAD~1..", "--file", "clamp.c", "--function", "twice"];
    let (status, text, told) = run(&git, "src", &only);
    assert_eq!(status, 0, "{text}{told}");
    assert!(!text.contains(": clamp"), "{text}");
}

#[test]
#[ignore = "nightly: 2 s; each_function_of_a_file_that_differs_between_revisions_is_compared goes this way"]
fn programs_of_revisions_are_compared_as_files_and_as_projects() {
    let git = repository();
    let (status, text, told) = run(&git, "src", &["HEAD~1..HEAD", "--file", "tool.c"]);
    assert_eq!(status, 1, "{text}{told}");
    assert!(text.contains("standard input"), "{text}");
    let project = [
        "HEAD~1..HEAD",
        "--build",
        "make",
        "--program",
        "tool",
        "--executions",
        "40",
        "--budget",
        "20s",
    ];
    let (status, text, told) = run(&git, "src", &project);
    assert_eq!(status, 1, "{text}{told}");
    assert!(
        text.contains("the program was seen to do other things"),
        "{text}"
    );
}

#[test]
fn what_is_no_revision_and_files_that_are_not_there_are_told() {
    let git = repository();
    for (arguments, status, said) in [
        (
            &["HEAD..HEAD", "--file", "src/clamp.c"][..],
            0,
            "Both versions have the same text",
        ),
        (&["HEAD...HEAD"], 2, "two revisions are written A..B"),
        (
            &["HEAD..nothing"],
            2,
            "the repository knows no revision `nothing`",
        ),
        (&["HEAD~1..", "--file", "src/none.c"], 2, "has no such file"),
        (
            &["src/clamp.c", "--file", "x.c"],
            2,
            "--file needs two revisions",
        ),
        (&["src/clamp.c"], 2, "there is one version only"),
    ] {
        let (actual, text, told) = run(&git, "", arguments);
        assert_eq!(actual, status, "{arguments:?} {text}{told}");
        assert!(
            format!("{text}{told}").contains(said),
            "{arguments:?} {text}{told}"
        );
    }
}
