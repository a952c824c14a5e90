//! Descriptions of projects: what is accepted, and how mistakes are explained.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Folder, folder};
use patchwright_exec::limits::MIB;
use patchwright_exec::{Comparison, FileSelection, Project, ProjectFlags, Scratch, TestKind};

fn project(config: &str) -> Folder {
    let folder = folder();
    folder.write("patchwright.toml", config);
    folder.script("run-test.sh", "#!/bin/sh\n");
    folder.write("plain.sh", "");
    folder.write("src/pch.c", "");
    folder.write("main.c", "");
    folder.write("cases/a.out", "1\n");
    folder.write("cases/b.in", "x");
    folder.write("cases/b.out", "");
    folder.write("empty/readme", "");
    folder.write("unfinished/a.in", "");
    folder.write("quotes/a.out", "");
    folder.write("quotes/a.args", "'x");
    folder.write("codes/a.out", "");
    folder.write("codes/a.code", "256");
    folder
}

fn load(config: &str, flags: &ProjectFlags) -> Result<Project, String> {
    let folder = project(config);
    let real = folder.path.to_str().unwrap().to_owned();
    Project::load(&folder.path, flags).map_err(|error| error.to_string().replace(&real, "ROOT"))
}

#[test]
fn a_full_description_is_read() {
    let config = r#"
[project]
build = "make -j2"
compile-commands = "build/../compile_commands.json"
prepare = "./configure"
[tests]
driver = "./run-test.sh"
names = ["t1", "t 2"]
timeout = "5s"
environment = { ASAN_OPTIONS = "detect_leaks=0" }
[limits]
memory-mb = 100
output-mb = 2
processes = 20
[repair]
files = ["src/pch.c", "main.c:5-45", "./main.c:20"]
"#;
    let folder = project(config);
    let project = Project::load(&folder.path, &ProjectFlags::default()).unwrap();
    assert_eq!(project.root, folder.path);
    assert_eq!(project.build.as_deref(), Some("make -j2".as_ref()));
    assert_eq!(project.prepare.as_deref(), Some("./configure".as_ref()));
    assert_eq!(
        project.compile_commands,
        Some(folder.path.join("compile_commands.json"))
    );
    let suite = project.require_tests().unwrap();
    let names: Vec<_> = suite.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["t1", "t 2"]);
    assert_eq!(
        suite.tests[0].kind,
        TestKind::Driver {
            driver: "run-test.sh".into()
        }
    );
    assert_eq!(suite.timeout, Some(Duration::from_secs(5)));
    assert_eq!(suite.environment.set.len(), 1);
    assert_eq!(project.limits.memory, Some(100 * MIB));
    assert_eq!(
        (project.limits.output, project.limits.processes),
        (2 * MIB, Some(20))
    );
    let files: Vec<_> = project.files.iter().map(ToString::to_string).collect();
    assert_eq!(files, ["src/pch.c", "main.c:5-45", "main.c:20"]);
}

#[test]
fn flags_win_over_the_file() {
    let config = "[project]\nbuild = \"make\"\n[tests]\ndriver = \"plain.sh\"\nnames = [\"old\"]\n\
                  timeout = \"1ms\"\n[repair]\nfiles = [\"main.c\"]\n";
    let flags = ProjectFlags {
        build: Some("ninja".into()),
        driver: Some("run-test.sh".into()),
        tests: vec!["new".into()],
        test_timeout: Some(Duration::from_secs(9)),
        files: vec!["src/pch.c:3".parse().unwrap()],
        ..ProjectFlags::default()
    };
    let project = load(config, &flags).unwrap();
    assert_eq!(project.build.as_deref(), Some("ninja".as_ref()));
    let suite = project.require_tests().unwrap();
    assert_eq!(
        (suite.tests.len(), suite.tests[0].name.as_str()),
        (1, "new")
    );
    assert_eq!(suite.timeout, Some(Duration::from_secs(9)));
    let selected = FileSelection {
        file: "src/pch.c".into(),
        lines: Some((3, 3)),
    };
    assert_eq!(project.files, [selected]);
}

#[test]
fn flags_for_cases_replace_a_driver_in_the_file() {
    let config = "[tests]\ndriver = \"run-test.sh\"\n";
    let flags = ProjectFlags {
        program: Some("./prog".into()),
        cases: Some("cases".into()),
        tests: vec!["b".into()],
        ..ProjectFlags::default()
    };
    let project = load(config, &flags).unwrap();
    let suite = project.require_tests().unwrap();
    let TestKind::Case(case) = &suite.tests[0].kind else {
        panic!()
    };
    assert_eq!(case.program, Path::new("prog"));
    assert!(case.stdin.as_ref().unwrap().ends_with("cases/b.in"));
}

#[test]
fn whitespace_at_ends_of_lines_is_ignored_in_the_output_of_cases_only() {
    let comparison = |config: &str, flags: &ProjectFlags| -> Result<Comparison, String> {
        let project = load(config, flags)?;
        match &project.require_tests().unwrap().tests[0].kind {
            TestKind::Case(case) => Ok(case.comparison),
            TestKind::Driver { .. } => Ok(Comparison::Exact),
        }
    };
    let cases = "[tests]\nprogram = \"prog\"\ncases = \"cases\"\n";
    let with_key = format!("{cases}ignore-trailing-whitespace = true\n");
    let plain = ProjectFlags::default();
    let ignoring = ProjectFlags {
        ignore_trailing_whitespace: true,
        ..ProjectFlags::default()
    };
    assert_eq!(comparison(cases, &plain), Ok(Comparison::Exact));
    for (config, flags) in [
        (&*with_key, &plain),
        (cases, &ignoring),
        (&*with_key, &ignoring),
    ] {
        let ignores = Ok(Comparison::IgnoreTrailingWhitespace);
        assert_eq!(comparison(config, flags), ignores, "{config}");
    }
    // A driver by a flag replaces all that is said of cases.
    let driver = ProjectFlags {
        driver: Some("run-test.sh".into()),
        tests: vec!["a".into()],
        ..ProjectFlags::default()
    };
    assert_eq!(comparison(&with_key, &driver), Ok(Comparison::Exact));
    let driver_compares = |config: &str, flags: &ProjectFlags, place: &str| {
        let error = comparison(config, flags).unwrap_err();
        assert!(error.starts_with(place), "{error}");
        assert!(
            error.contains("a driver decides by itself what passes"),
            "{error}"
        );
    };
    let config = "[tests]\ndriver = \"run-test.sh\"\nnames = [\"a\"]\n";
    driver_compares(config, &ignoring, "--ignore-trailing-whitespace: ");
    let config = format!("{config}ignore-trailing-whitespace = true\n");
    driver_compares(&config, &plain, "ROOT/patchwright.toml:4: ");
}

#[test]
fn what_is_known_of_a_project_depends_on_how_outputs_are_compared() {
    let folder = project("[tests]\nprogram = \"prog\"\ncases = \"cases\"\n");
    let digest = |ignore_trailing_whitespace| {
        let flags = ProjectFlags {
            ignore_trailing_whitespace,
            ..ProjectFlags::default()
        };
        let project = Project::load(&folder.path, &flags).unwrap();
        let mut hasher = patchwright_text::Hasher::new();
        patchwright_exec::hash_project(&project, &mut hasher).unwrap();
        hasher.finish()
    };
    assert_eq!(digest(false), digest(false));
    assert_ne!(digest(false), digest(true));
}

#[test]
fn a_project_without_tests_is_a_project() {
    let project = load("", &ProjectFlags::default()).unwrap();
    insta::assert_snapshot!(project.require_tests().unwrap_err());
}

#[test]
fn mistakes_in_the_file_are_explained_with_their_place() {
    let tests = |line: &str| format!("[tests]\n{line}\n");
    let driver =
        |line: &str| format!("[tests]\ndriver = \"run-test.sh\"\nnames = [\"a\"]\n{line}\n");
    let configs = [
        "[project\n".to_owned(),
        "[project]\nbild = \"make\"\n".to_owned(),
        "\n[test]\n".to_owned(),
        "[project]\nbuild = 3\n".to_owned(),
        "[project]\nbuild = \"make\"\nprepare = \" \"\n".to_owned(),
        tests("names = [\"a\"]"),
        tests("driver = \"missing.sh\"\nnames = [\"a\"]"),
        tests("driver = \"plain.sh\"\nnames = [\"a\"]"),
        tests("driver = \"cases\"\nnames = [\"a\"]"),
        tests("driver = \"run-test.sh\""),
        tests("driver = \"run-test.sh\"\nnames = []"),
        tests("driver = \"run-test.sh\"\nnames = [\n  \"a\",\n  \"a\"]"),
        tests("driver = \"run-test.sh\"\nnames = [\"\"]"),
        driver("cases = \"cases\""),
        driver("timeout = \"0s\""),
        driver("timeout = \"-1s\""),
        driver("timeout = 300"),
        driver("timeout = true"),
        driver("timeout-ms = 300"),
        tests("cases = \"cases\""),
        tests("program = \"prog\""),
        tests("program = \"prog\"\ncases = \"missing\""),
        tests("program = \"prog\"\ncases = \"empty\""),
        tests("program = \"prog\"\ncases = \"unfinished\""),
        tests("program = \"prog\"\ncases = \"quotes\""),
        tests("program = \"prog\"\ncases = \"codes\""),
        tests("program = \"prog\"\ncases = \"cases\"\nnames = [\"c\"]"),
        "[limits]\nmemory-mb = 0\n".to_owned(),
        "[repair]\nfiles = [\"main.c:0\"]\n".to_owned(),
        "[repair]\nfiles = [\n\"main.c\",\n\"missing.c:3\"]\n".to_owned(),
        "[repair]\nfiles = [\"../other.c\"]\n".to_owned(),
    ];
    let messages = configs
        .iter()
        .map(|config| load(config, &ProjectFlags::default()).expect_err(config));
    // A file outside the project is named by its full path.
    let text = messages.collect::<Vec<_>>().join("\n");
    let text = text.replace(std::env::temp_dir().to_str().unwrap(), "TMP");
    insta::assert_snapshot!(text);
}

#[test]
fn mistakes_in_flags_are_explained_with_the_flag() {
    let driver = |driver: &str| ProjectFlags {
        driver: Some(driver.into()),
        tests: vec!["a".into()],
        ..ProjectFlags::default()
    };
    let all = [
        driver("missing.sh"),
        driver("plain.sh"),
        ProjectFlags {
            tests: vec![],
            ..driver("run-test.sh")
        },
        ProjectFlags {
            tests: vec!["a".into(), "b".into(), "a".into()],
            ..driver("run-test.sh")
        },
        ProjectFlags {
            test_timeout: Some(Duration::ZERO),
            ..driver("run-test.sh")
        },
        ProjectFlags {
            files: vec!["missing.c".parse().unwrap()],
            ..driver("run-test.sh")
        },
        ProjectFlags {
            config: Some("missing.toml".into()),
            ..driver("run-test.sh")
        },
    ];
    let messages: Vec<_> = all
        .iter()
        .map(|flags| load("", flags).unwrap_err())
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_single_file_must_be_readable_c() {
    let (folder, base) = (project(""), folder());
    let scratch = Scratch::new(&base.path).unwrap();
    let message = |file: &str, cases: &str| {
        let file: PathBuf = folder.path.join(file);
        let cases = folder.path.join(cases);
        let flags = ProjectFlags::default();
        let error = Project::single_file(&file, &cases, &[], &scratch, &flags).unwrap_err();
        error
            .to_string()
            .replace(folder.path.to_str().unwrap(), "ROOT")
    };
    let messages = [
        message("missing.c", "cases"),
        message("plain.sh", "cases"),
        message("main.c", "missing"),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_selection_of_a_single_file_names_the_users_file() {
    let (folder, base) = (project(""), folder());
    let scratch = Scratch::new(&base.path).unwrap();
    let file = folder.path.join("src/pch.c");
    let selection = FileSelection {
        file: file.clone(),
        lines: Some((1, 4)),
    };
    let flags = ProjectFlags {
        files: vec![selection],
        ..ProjectFlags::default()
    };
    let cases = folder.path.join("cases");
    let project = Project::single_file(&file, &cases, &[], &scratch, &flags).unwrap();
    assert_eq!(
        project.files,
        [FileSelection {
            file: "pch.c".into(),
            lines: Some((1, 4))
        }]
    );
    assert_eq!(project.single_file, Some(file));
}

#[test]
fn a_single_file_takes_what_it_includes_from_its_folder_along() {
    let (folder, base) = (project(""), folder());
    let scratch = Scratch::new(&base.path).unwrap();
    let sources = folder.path.join("src");
    fs::create_dir_all(sources.join("sub")).unwrap();
    for (name, text) in [
        (
            "all.c",
            "#include \"sub/a.h\"\n#include \"sub/out.h\"\n#include \"none.h\"\n#include <b.h>\n",
        ),
        ("sub/a.h", "#include \"c.h\"\n#include \"b.h\"\n"),
        ("sub/b.h", "#include \"../all.c\"\n"),
        ("c.h", "\n"),
        ("b.h", "\n"),
        // Where it is copied to, its own include would not be found.
        ("sub/out.h", "#include \"../../patchwright.toml\"\n"),
    ] {
        fs::write(sources.join(name), text).unwrap();
    }
    let file = sources.join("all.c");
    let cases = folder.path.join("cases");
    let flags = ProjectFlags::default();
    let project = Project::single_file(&file, &cases, &[], &scratch, &flags).unwrap();
    let exists = ["all.c", "sub/a.h", "sub/b.h", "c.h", "b.h", "sub/out.h"]
        .map(|name| project.root.join(name).exists());
    assert_eq!(exists, [true, true, true, true, false, false]);
}
