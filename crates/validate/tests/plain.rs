//! Sets of patches of small projects, validated from end to end.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use patchwright_exec::{
    CancelToken, JournalOptions, Project, ProjectFlags, RunnerProgram, Scratch,
};
use patchwright_patches::{FolderTree, Source};
use patchwright_validate::{
    Event, Failure, PatchVerdict, Surroundings, ValidateError, ValidateOptions, Validation, Way,
    read_set, rebuild::Rebuild, validate,
};

/// A project in a folder of its own: `calc` adds, subtracts and doubles, the last one wrongly.
struct Place {
    root: PathBuf,
    _guard: tempfile::TempDir,
}

const CALC: &str = "\
#include \"twice.h\"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(int a, int b)
{
    return a + b;
}

static int twice(int a)
{
    return a * FACTOR;
}

int main(int argc, char **argv)
{
    int a = atoi(argv[2]);
    int b = argc > 3 ? atoi(argv[3]) : 0;
    if (strcmp(argv[1], \"add\") == 0)
        printf(\"%d\\n\", add(a, b));
    else
        printf(\"%d\\n\", twice(a));
    return 0;
}
";

/// Writes the number of the run to a file outside of the project, for tests that count runs.
const DRIVER: &str = "\
#!/bin/sh
test -z \"$COUNT\" || echo \"$1\" >> \"$COUNT\"
case $1 in
add) test \"$(./calc add 2 3)\" = 5 ;;
zero) test \"$(./calc add 0 0)\" = 0 ;;
twice) test \"$(./calc twice 4)\" = 8 ;;
*) exit 2 ;;
esac
";

impl Place {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let place = Place {
            root: fs::canonicalize(guard.path()).unwrap(),
            _guard: guard,
        };
        for folder in ["project", "scratch", "state"] {
            fs::create_dir(place.root.join(folder)).unwrap();
        }
        place.write("calc.c", CALC);
        place.write("twice.h", "#define FACTOR 3\n");
        // As makefiles are: it does not know that calc.c includes twice.h.
        place.write("Makefile", "calc: calc.c\n\tcc -w -o calc calc.c\n");
        let driver = place.write("run.sh", DRIVER);
        fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn project_folder(&self) -> PathBuf {
        self.root.join("project")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project_folder().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn options(&self) -> ValidateOptions {
        ValidateOptions {
            jobs: 2,
            // These are about plain validation.
            schemata: false,
            ..ValidateOptions::default()
        }
    }

    fn journal(&self, resume: bool) -> Option<JournalOptions> {
        Some(JournalOptions {
            folder: self.root.join("state"),
            resume,
            required: true,
        })
    }

    fn flags(&self) -> ProjectFlags {
        ProjectFlags {
            build: Some("make -s".into()),
            driver: Some("run.sh".into()),
            tests: ["add", "zero", "twice"].map(String::from).to_vec(),
            ..ProjectFlags::default()
        }
    }

    fn run(
        &self,
        patches: &[(&str, String)],
        options: &ValidateOptions,
    ) -> Result<Validation, ValidateError> {
        self.run_with(
            patches,
            options,
            &self.flags(),
            CancelToken::new().unwrap(),
            &|_| {},
        )
    }

    fn run_with(
        &self,
        patches: &[(&str, String)],
        options: &ValidateOptions,
        flags: &ProjectFlags,
        cancel: CancelToken,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Validation, ValidateError> {
        let scratch = Scratch::new(&self.root.join("scratch")).unwrap();
        let project = Project::load(&self.project_folder(), flags).unwrap();
        let lines: String = patches
            .iter()
            .map(|(id, diff)| {
                let (id, diff) = (json(id), json(diff));
                format!("{{\"id\": {id}, \"patch\": {diff}}}\n")
            })
            .collect();
        let tree = FolderTree::new(&project.root);
        let set = read_set(&tree, &[Source::Stdin], &mut lines.as_bytes(), None, |_| {})?;
        validate(
            &project,
            &set,
            options,
            &Surroundings {
                program: &RunnerProgram::this_binary(),
                scratch: &scratch,
                cancel,
                events,
            },
        )
    }

    /// Everything in the project's folder.
    fn state(&self) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
        let entries = fs::read_dir(self.project_folder()).unwrap();
        entries
            .map(|entry| {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                let text = fs::read(&path).unwrap_or_default();
                (
                    path,
                    (about.mode(), about.mtime(), about.mtime_nsec(), text),
                )
            })
            .collect()
    }
}

/// A text as a JSON string.
fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The diff that replaces the only line `old` of a file.
fn replace(file: &str, text: &str, old: &str, new: &str) -> String {
    let number = text
        .lines()
        .position(|line| line == old)
        .expect("the line is there")
        + 1;
    let removed = format!("-{old}\n");
    let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
    let count = new.lines().count();
    format!("--- a/{file}\n+++ b/{file}\n@@ -{number} +{number},{count} @@\n{removed}{added}")
}

fn in_calc(old: &str, new: &str) -> String {
    replace("calc.c", CALC, old, new)
}

fn words(outcome: &Validation) -> Vec<&'static str> {
    let word = |verdict: &PatchVerdict| verdict.word();
    outcome
        .patches
        .iter()
        .map(|patch| patch.verdict.as_ref().map_or("-", word))
        .collect()
}

/// The test that speaks against each patch.
fn killers(outcome: &Validation) -> Vec<&str> {
    let name = |test: usize| &outcome.tests.names[test][..];
    outcome
        .patches
        .iter()
        .map(|patch| match &patch.verdict {
            Some(PatchVerdict::Implausible(killer)) => name(killer.test),
            _ => "-",
        })
        .collect()
}

const TWICE: &str = "    return a * FACTOR;";
const ADD: &str = "    return a + b;";

fn typical() -> Vec<(&'static str, String)> {
    vec![
        ("right", in_calc(TWICE, "    return a * 2;")),
        ("breaks", in_calc(TWICE, "    a = 4; exit(7);")),
        ("syntax", in_calc(TWICE, "    return a * 2")),
        ("missing", in_calc(TWICE, "    return helper(a);")),
        ("elsewhere", replace("calc.c", "x\n", "x", "y")),
        (
            "header",
            replace(
                "twice.h",
                "#define FACTOR 3\n",
                "#define FACTOR 3",
                "#define FACTOR 2",
            ),
        ),
        ("again", in_calc(TWICE, "    return a * 2;")),
        (
            "both",
            in_calc(TWICE, "    return a * 2;") + &in_calc(ADD, "    return a - b;"),
        ),
        ("hangs", in_calc(TWICE, "    for (;;);")),
        (
            "file",
            "--- /dev/null\n+++ b/extra.h\n@@ -0,0 +1 @@\n+#define FACTOR 2\n".to_owned()
                + &replace(
                    "calc.c",
                    CALC,
                    "#include \"twice.h\"",
                    "#include \"extra.h\"",
                ),
        ),
    ]
}

fn quick(place: &Place) -> ValidateOptions {
    let mut options = place.options();
    options.timeouts.slack = Duration::from_millis(1500);
    options
}

#[test]
fn each_kind_of_verdict_is_given_and_the_project_is_left_alone() {
    let place = Place::new();
    let before = place.state();
    let outcome = place.run(&typical(), &quick(&place)).unwrap();
    assert_eq!(place.state(), before);
    assert_eq!(
        words(&outcome),
        [
            "plausible",
            "implausible",
            "does not compile",
            "does not compile",
            "does not apply",
            "plausible",
            "plausible",
            "implausible",
            "implausible",
            "plausible",
        ]
    );
    assert_eq!(
        killers(&outcome),
        ["-", "twice", "-", "-", "-", "-", "-", "add", "twice", "-"]
    );
    let Some(PatchVerdict::DoesNotCompile(failure)) = &outcome.patches[2].verdict else {
        panic!()
    };
    let first = failure.first_error.as_deref().unwrap();
    assert!(first.starts_with("calc.c:13:"), "{first}");
    let Some(PatchVerdict::Implausible(killer)) = &outcome.patches[8].verdict else {
        panic!()
    };
    assert_eq!(killer.failure.to_string(), "time-out");
    assert_eq!(outcome.patches[6].same_as, Some(0));
    assert_eq!(outcome.stats.duplicates, 1);
    let ways: Vec<Option<Way>> = outcome.patches.iter().map(|patch| patch.way).collect();
    let (part, all) = (Way::Plain(Rebuild::Incremental), Way::Plain(Rebuild::Full));
    assert_eq!(ways[0], Some(part));
    assert_eq!(ways[4], None);
    assert_eq!((ways[5], ways[9]), (Some(all), Some(all)));
    assert!(!outcome.interrupted);
}

#[test]
fn verdicts_do_not_depend_on_workers_or_on_what_came_before() {
    let place = Place::new();
    let patches = typical();
    let together = place.run(&patches, &quick(&place)).unwrap();
    let options = ValidateOptions {
        jobs: 1,
        ..quick(&place)
    };
    let mut backwards: Vec<_> = patches.clone();
    backwards.reverse();
    let mut other = place.run(&backwards, &options).unwrap();
    other.patches.reverse();
    assert_eq!(words(&other), words(&together));
    assert_eq!(killers(&other), killers(&together));
    for (number, patch) in patches.iter().enumerate() {
        let alone = place.run(std::slice::from_ref(patch), &options).unwrap();
        assert_eq!(words(&alone), words(&together)[number..=number]);
    }
}

#[test]
fn every_test_is_run_on_every_patch_if_asked() {
    let place = Place::new();
    let options = ValidateOptions {
        keep_going: true,
        ..quick(&place)
    };
    let outcome = place.run(&typical()[..2], &options).unwrap();
    let row = |patch: usize| -> Vec<(usize, bool)> {
        let tests = outcome.patches[patch].tests.iter();
        let mut row: Vec<_> = tests
            .map(|test| (test.test, test.failure.is_none()))
            .collect();
        row.sort_unstable();
        row
    };
    assert_eq!(row(0), [(0, true), (1, true), (2, true)]);
    assert_eq!(row(1), [(0, true), (1, true), (2, false)]);
}

#[test]
fn a_run_stops_after_enough_plausible_patches_in_their_order() {
    let place = Place::new();
    let mut patches = typical();
    patches.swap(0, 1);
    let options = ValidateOptions {
        stop_after: Some(2),
        ..quick(&place)
    };
    let told = Mutex::new(Vec::new());
    let tell = |event: Event<'_>| {
        if let Event::Verdict { index, .. } = event {
            told.lock().unwrap().push(index);
        }
    };
    let cancel = CancelToken::new().unwrap();
    let outcome = place
        .run_with(&patches, &options, &place.flags(), cancel, &tell)
        .unwrap();
    assert_eq!(*told.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(outcome.plausible(), 2);
    assert!(
        outcome.patches[6..]
            .iter()
            .all(|patch| patch.verdict.is_none())
    );
    assert!(!outcome.interrupted);
}

/// The runs of tests so far, by the file that the driver writes.
fn runs(count: &Path) -> usize {
    fs::read_to_string(count)
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let place = Place::new();
    let count = place.root.join("count");
    let mut flags = place.flags();
    flags.test_timeout = Some(Duration::from_secs(20));
    // The driver finds the file in its environment.
    place.write(
        "patchwright.toml",
        &format!(
            "[tests]\nenvironment = {{ COUNT = {:?} }}\n",
            count.display().to_string()
        ),
    );
    let patches: Vec<_> = (0..6)
        .map(|n| {
            (
                ["a", "b", "c", "d", "e", "f"][n],
                in_calc(TWICE, &format!("    return a * {n} / 1;")),
            )
        })
        .collect();
    let options = |resume| ValidateOptions {
        jobs: 1,
        journal: place.journal(resume),
        ..place.options()
    };
    let cancel = CancelToken::new().unwrap();
    let verdicts = Mutex::new(0);
    let stop = cancel.clone();
    let interrupt = move |event: Event<'_>| {
        if let Event::Verdict { .. } = event {
            let mut verdicts = verdicts.lock().unwrap();
            *verdicts += 1;
            if *verdicts == 3 {
                stop.cancel();
            }
        }
    };
    let first = place
        .run_with(&patches, &options(false), &flags, cancel, &interrupt)
        .unwrap();
    assert!(first.interrupted);
    assert_eq!(words(&first)[3..], ["-", "-", "-"]);
    let before = runs(&count);
    let fresh = || CancelToken::new().unwrap();
    let second = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(
        words(&second),
        [
            "implausible",
            "implausible",
            "plausible",
            "implausible",
            "implausible",
            "implausible"
        ]
    );
    assert_eq!(second.stats.resumed, 3);
    // Three patches fail their first test; the baseline is known.
    assert_eq!(runs(&count) - before, 3);
    let third = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(words(&third), words(&second));
    assert_eq!(killers(&third), killers(&second));
    assert_eq!(runs(&count) - before, 3);
    // Another project is another journal.
    place.write("twice.h", "#define FACTOR 4\n");
    let fourth = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(fourth.stats.resumed, 0);
}

#[test]
fn hostile_patches_hurt_nobody() {
    let place = Place::new();
    let outside = place.root.join("project/calc.c");
    let call = |code: &str| in_calc(TWICE, &format!("    {code}\n    return a * 2;"));
    let patches = vec![
        ("removes", call("system(\"rm -rf $PWD/*\");")),
        (
            "writes",
            call(&format!("system(\"echo x > {}\");", outside.display())),
        ),
        (
            "daemon",
            call("if (fork() == 0) { setsid(); for (;;) pause(); }"),
        ),
        ("good", call(";")),
    ];
    let before = place.state();
    let outcome = place.run(&patches, &quick(&place)).unwrap();
    assert_eq!(place.state(), before);
    assert_eq!(words(&outcome)[3], "plausible");
    assert_eq!(fs::read_dir(place.root.join("scratch")).unwrap().count(), 0);
}

#[test]
fn a_patch_whose_tests_change_their_mind_is_unstable() {
    let place = Place::new();
    let memory = place.root.join("memory");
    // Passes all tests once.
    let code = format!(
        "    if (a == 4 && fopen(\"{0}\", \"r\")) return 0;\n    fopen(\"{0}\", \"w\");\n    return a * 2;",
        memory.display()
    );
    let outcome = place
        .run(&[("moody", in_calc(TWICE, &code))], &quick(&place))
        .unwrap();
    let Some(PatchVerdict::Unstable(killer)) = &outcome.patches[0].verdict else {
        panic!("{outcome:?}")
    };
    assert_eq!(outcome.tests.names[killer.test], "twice");
    assert!(matches!(killer.failure, Failure::Ran(_)));
}

#[test]
fn patches_of_the_build_and_the_tests_are_validated_and_named() {
    let place = Place::new();
    let makefile = "calc: calc.c\n\tcc -w -o calc calc.c\n";
    let patches = vec![
        (
            "build",
            replace(
                "Makefile",
                makefile,
                "\tcc -w -o calc calc.c",
                "\tcc -w -DFACTOR=2 -o calc calc.c",
            ),
        ),
        (
            "driver",
            replace("run.sh", DRIVER, "*) exit 2 ;;", "*) exit 3 ;;"),
        ),
    ];
    let outcome = place.run(&patches, &quick(&place)).unwrap();
    assert_eq!(outcome.patches[0].notes, ["it changes the build: Makefile"]);
    assert_eq!(outcome.patches[1].notes, ["it changes the tests: run.sh"]);
    assert_eq!(words(&outcome), ["implausible", "implausible"]);
}

#[test]
fn a_set_that_nobody_can_understand_is_an_error() {
    let place = Place::new();
    let patches = [("a", "hello\n".to_owned()), ("b", String::new())];
    let error = place.run(&patches, &place.options()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("none of the 2 patches can be understood"),
        "{text}"
    );
}

#[test]
fn woven_patches_have_the_verdicts_of_plain_validation() {
    let place = Place::new();
    let patches = typical();
    let plain = place.run(&patches, &quick(&place)).unwrap();
    for (dedup, keep_going) in [(true, false), (false, true)] {
        let options = ValidateOptions {
            schemata: true,
            dedup,
            keep_going,
            ..quick(&place)
        };
        let woven = place.run(&patches, &options).unwrap();
        assert_eq!(words(&woven), words(&plain));
        assert_eq!(killers(&woven), killers(&plain));
        let stats = woven.stats.woven.unwrap();
        assert!(stats.patches >= 3, "{stats:?}");
        assert_eq!(stats.overruled, 0);
    }
}
