//! From a project's tree to verdicts: views, builds, compile databases, baselines, pools.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start processes"
)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Folder, folder, program, runner_with_view, seconds};
use patchwright_exec::runner::{Environment, TimeKind};
use patchwright_exec::sandbox::CopyOptions;
use patchwright_exec::view::absolute_references;
use patchwright_exec::{
    Baseline, BaselineOptions, BuildError, CancelToken, CompileCommand, Ending, FailReason,
    InterceptError, Patience, Pool, Project, ProjectFlags, Request, Sandbox, Scratch, TestError,
    TestSuite, Verdict, View, ViewStatus, Worker, WorkerOptions, intercept_build, run_build,
    run_test,
};

struct Fixture {
    project: Folder,
    scratch: Scratch,
    _base: Folder,
}

impl Fixture {
    fn new() -> Self {
        let base = folder();
        Fixture {
            project: folder(),
            scratch: Scratch::new(&base.path).unwrap(),
            _base: base,
        }
    }

    fn worker(&self, view: bool) -> Worker {
        let program = program();
        let options = WorkerOptions {
            view,
            ..self.options(&program)
        };
        Worker::start(0, "worker", &options).unwrap()
    }

    fn options<'a>(&'a self, program: &'a patchwright_exec::RunnerProgram) -> WorkerOptions<'a> {
        WorkerOptions {
            program,
            scratch: &self.scratch,
            project: &self.project.path,
            source: &self.project.path,
            prepare: None,
            view: false,
            exclude: vec![],
            build_timeout: None,
            cancel: CancelToken::new().unwrap(),
        }
    }

    fn load(&self, flags: &ProjectFlags) -> Project {
        Project::load(&self.project.path, flags).unwrap()
    }
}

fn build(worker: &mut Worker, command: &str) -> Result<String, BuildError> {
    let (sandbox, environment) = (&worker.sandbox, Environment::default());
    let log = run_build(
        &mut worker.runner,
        sandbox,
        OsStr::new(command),
        &environment,
        &seconds(60),
    )?;
    Ok(String::from_utf8(log.output).unwrap())
}

fn intercept(worker: &mut Worker, command: &str) -> Result<Vec<CompileCommand>, InterceptError> {
    let environment = Environment::default();
    let command = OsStr::new(command);
    let place = worker.folder.clone();
    let sandbox = &worker.sandbox;
    intercept_build(
        &mut worker.runner,
        sandbox,
        &place,
        command,
        &[],
        &environment,
        &seconds(60),
    )
    .map(|(commands, _)| commands)
}

#[test]
fn a_view_shows_the_copy_at_the_path_of_the_original() {
    let fixture = Fixture::new();
    let file = fixture.project.write("sub dir/file", "original");
    let mut worker = fixture.worker(true);
    if !worker.runner.view_active() {
        // Not permitted here; then the copy must be in use at its own path.
        assert_eq!(worker.sandbox.run_root(), worker.sandbox.folder());
        return;
    }
    assert_eq!(worker.sandbox.run_root(), fixture.project.path);
    let script = format!("cat '{0}'; echo changed > '{0}'; pwd", file.display());
    let request = Request::shell(script, worker.sandbox.run_root());
    let outcome = worker.runner.run(&request).unwrap();
    let expected = format!("original{}\n", fixture.project.path.display());
    assert_eq!(String::from_utf8(outcome.stdout).unwrap(), expected);
    assert_eq!(fs::read_to_string(&file).unwrap(), "original");
    assert_eq!(
        fs::read_to_string(worker.sandbox.host_path(&file)).unwrap(),
        "changed\n"
    );
}

#[test]
fn a_view_that_is_impossible_is_refused_with_a_reason() {
    let folder = folder();
    let runner = runner_with_view(View::of_copy("/no/such", &folder.path));
    let ViewStatus::Refused(refusal) = runner.view_status() else {
        panic!()
    };
    assert!(!refusal.reason.is_empty());
    let inside = folder.path.join("copy");
    fs::create_dir(&inside).unwrap();
    let runner = runner_with_view(View::of_copy(&inside, &folder.path));
    let ViewStatus::Refused(refusal) = runner.view_status() else {
        panic!()
    };
    assert!(refusal.reason.contains("lies inside"), "{refusal}");
    assert!(
        refusal.to_string().contains("set PATCHWRIGHT_TMP"),
        "{refusal}"
    );
}

#[test]
fn a_plain_copy_of_a_configured_tree_is_recognised_as_dangerous() {
    let fixture = Fixture::new();
    let root = fixture.project.path.display().to_string();
    fixture
        .project
        .write("Makefile", &format!("all:\n\ttouch {root}/stamp\n"));
    let worker = fixture.worker(false);
    let found = absolute_references(worker.sandbox.folder(), &fixture.project.path, &[]).unwrap();
    assert_eq!(
        (found[0].file.as_path(), found[0].line),
        (Path::new("Makefile"), 2)
    );
}

#[test]
fn a_failing_build_reports_its_first_error() {
    let fixture = Fixture::new();
    fixture.project.write("a.c", "int f(void) { return 1 }\n");
    fixture.project.write("Makefile", "a.o: a.c\n\tcc -c a.c\n");
    let mut worker = fixture.worker(false);
    let error = build(&mut worker, "make").unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the build `make` ended with exit status 2\nfirst error: a.c:1:"),
        "{text}"
    );
    let BuildError::Failed {
        ending,
        first_error: Some(line),
        ..
    } = error
    else {
        panic!()
    };
    assert_eq!(ending, Ending::Exited(2));
    assert!(line.contains("a.c:1:23: error: expected"), "{line}");
}

#[test]
fn temporary_files_of_a_command_are_gone_after_it() {
    let fixture = Fixture::new();
    let mut worker = fixture.worker(true);
    let folder = build(
        &mut worker,
        "mktemp >/dev/null && mkdir -m 0 $TMPDIR/closed && echo $TMPDIR",
    )
    .unwrap();
    let folder = Path::new(folder.trim());
    assert_eq!(folder, worker.folder.join("tmp"));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    build(&mut worker, "rmdir $TMPDIR").unwrap();
    build(&mut worker, "mktemp").unwrap();
}

#[test]
fn a_build_does_not_see_the_job_server_of_a_surrounding_make() {
    let fixture = Fixture::new();
    let mut worker = fixture.worker(false);
    assert_eq!(
        build(&mut worker, "echo \"[$MAKEFLAGS$MAKELEVEL]\"").unwrap(),
        "[]\n"
    );
}

#[test]
fn a_build_that_is_watched_gives_a_compile_database_for_the_project() {
    for view in [false, true] {
        let fixture = Fixture::new();
        let project = &fixture.project;
        project.write("sub/a b.c", "int main(void) { return X; }\n");
        project.write("lib.c", "int lib;\n");
        project.write("inc/x.h", "");
        project.write(
            "Makefile",
            "prog: lib.o sub/a.o\n\tcc -o prog lib.o sub/a.o\n\
             sub/a.o: sub/a\\ b.c\n\tcd sub && gcc -O1 '-DX=(1, 2)' -I$(CURDIR)/inc -c 'a b.c' -o a.o\n\
             lib.o: lib.c\n\tcc -c lib.c\n",
        );
        // It is up to date, and must be compiled all the same.
        project.write("lib.o", "");
        let mut worker = fixture.worker(view);
        let commands = intercept(&mut worker, "make -j2 >/dev/null").unwrap();
        let root = &project.path;
        let files: Vec<_> = commands.iter().map(|c| c.file.clone()).collect();
        assert_eq!(files, [root.join("lib.c"), root.join("sub/a b.c")]);
        assert_eq!(commands[0].directory, *root);
        assert_eq!(commands[1].directory, root.join("sub"));
        assert_eq!(
            commands[1].output.as_deref(),
            Some(root.join("sub/a.o").as_path())
        );
        let include = format!("-I{}/inc", root.display());
        let expected = [
            "-O1",
            "-DX=(1, 2)",
            include.as_str(),
            "-c",
            "a b.c",
            "-o",
            "a.o",
        ];
        assert_eq!(commands[1].arguments[1..], expected.map(OsString::from));
        let compiler = Path::new(&commands[1].arguments[0]);
        assert!(compiler.is_absolute() && compiler.ends_with("gcc"));
        assert!(worker.sandbox.folder().join("prog").is_file());
        assert!(!root.join("prog").exists());
    }
}

#[test]
fn a_build_without_a_visible_compiler_asks_for_a_database() {
    let fixture = Fixture::new();
    fixture.project.write("a.c", "int a;\n");
    let mut worker = fixture.worker(false);
    let script = "ln -s /usr/bin/cc compile && ./compile -c a.c && rm compile";
    let error = intercept(&mut worker, script).unwrap_err();
    assert!(matches!(error, InterceptError::NothingCompiled));
    assert!(error.to_string().contains("--compile-commands"));
}

#[test]
fn a_build_that_names_its_compiler_by_its_path_is_watched_all_the_same() {
    let fixture = Fixture::new();
    let project = &fixture.project;
    project.write("a.c", "int a;\n");
    project.write("sub/b.c", "int b;\n");
    project.write(
        "Makefile",
        "all: a.o sub/b.o\na.o: a.c\n\t/usr/bin/cc -DX='1 2' -c a.c\n\
         sub/b.o: sub/b.c\n\t(cd sub && exec /usr/bin/gcc -c b.c) & wait $$!\n\tkill -CONT $$$$\n",
    );
    let mut worker = fixture.worker(false);
    let commands = intercept(&mut worker, "make -j2 >/dev/null").unwrap();
    let root = &project.path;
    let files: Vec<_> = commands.iter().map(|command| &command.file).collect();
    assert_eq!(files, [&root.join("a.c"), &root.join("sub/b.c")]);
    assert_eq!(
        commands[0].arguments,
        ["/usr/bin/cc", "-DX=1 2", "-c", "a.c"]
    );
    assert_eq!(commands[1].directory, root.join("sub"));
}

#[test]
fn a_database_that_the_build_exports_is_used() {
    let fixture = Fixture::new();
    fixture.project.write("a.c", "int a;\n");
    let script = "test \"$CMAKE_EXPORT_COMPILE_COMMANDS\" = ON && mkdir build && \
        echo '[{\"directory\": \"'$PWD'/build\", \"file\": \"../a.c\", \"command\": \"cc -c ../a.c\"}]' \
        > build/compile_commands.json";
    let mut worker = fixture.worker(false);
    let commands = intercept(&mut worker, script).unwrap();
    assert_eq!(commands[0].file, fixture.project.path.join("a.c"));
    assert_eq!(commands[0].directory, fixture.project.path.join("build"));
}

fn single(
    fixture: &Fixture,
    source: &str,
    cases: &[(&str, &str)],
) -> Result<(Worker, TestSuite), BuildError> {
    let file = fixture.project.write("it's a prog.c", source);
    fixture.project.write("prog.h", "#define LIMIT 3\n");
    for (name, contents) in cases {
        fixture.project.write(&format!("cases/{name}"), contents);
    }
    let cases = fixture.project.path.join("cases");
    let flags = ProjectFlags::default();
    let cflags = ["-O1".into(), "-DNAME=\"x y\"".into()];
    let project = Project::single_file(&file, &cases, &cflags, &fixture.scratch, &flags).unwrap();
    assert_eq!(project.single_file.as_deref(), Some(file.as_path()));
    let program = program();
    let options = WorkerOptions {
        project: &project.root,
        source: &project.root,
        ..fixture.options(&program)
    };
    let mut worker = Worker::start(0, "worker", &options).unwrap();
    let command = project.build.clone().unwrap();
    build(&mut worker, command.to_str().unwrap())?;
    Ok((worker, project.tests.unwrap()))
}

#[test]
fn a_single_c_file_with_cases_is_built_and_judged() {
    let fixture = Fixture::new();
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include \"prog.h\"\n\
        int main(int argc, char **argv) { int c; if (argc > 1 && argv[1][0] == 'x') abort();\n\
        while ((c = getchar()) != EOF) putchar(c); printf(\"%d %s\\n\", argc, NAME);\n\
        for (int i = 1; i < argc; i++) puts(argv[i]);\n\
        return argc > LIMIT ? (int) sqrt(argc * argc) : 0; }";
    let cases = [
        ("plain.out", "1 x y\n"),
        ("input.in", "hello\n"),
        ("input.out", "hello\n1 x y\n"),
        ("words.args", "'a b' \"c\"\n"),
        ("words.out", "3 x y\na b\nc\n"),
        ("code.args", "a b c d"),
        ("code.out", "5 x y\na\nb\nc\nd\n"),
        ("code.code", "5\n"),
        ("wrong.out", "1 x z\n"),
        ("crash.args", "x"),
        ("crash.out", ""),
    ];
    let (mut worker, suite) = single(&fixture, source, &cases).unwrap();
    let mut verdicts = Vec::new();
    for test in &suite.tests {
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            test,
            &suite.environment,
            &seconds(10),
        );
        let verdict = match run.unwrap().verdict {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Fail(reason) => reason.to_string(),
        };
        verdicts.push(format!("{}: {verdict}", test.name));
    }
    assert_eq!(
        verdicts,
        [
            "code: pass",
            "crash: signal 6 (SIGABRT)",
            "input: pass",
            "plain: pass",
            "words: pass",
            "wrong: output line 1: \"1 x y\" instead of \"1 x z\"",
        ]
    );
}

#[test]
fn a_report_of_a_sanitizer_is_the_reason_of_a_failure() {
    let fixture = Fixture::new();
    fixture.project.write(
        "a.c",
        "#include <stdlib.h>\nint main(void) { char *p = malloc(1); return p[1]; }\n",
    );
    fixture.project.script("t.sh", "#!/bin/sh\nexec ./a\n");
    let project = fixture.load(&driver_flags("./t.sh", &["t"]));
    let suite = project.require_tests().unwrap();
    let mut worker = fixture.worker(false);
    build(&mut worker, "cc -g -fsanitize=address -o a a.c").unwrap();
    let run = run_test(
        &mut worker.runner,
        &worker.sandbox,
        &suite.tests[0],
        &suite.environment,
        &seconds(20),
    );
    let Verdict::Fail(FailReason::SanitizerReport(line)) = run.unwrap().verdict else {
        panic!()
    };
    assert!(
        line.contains("AddressSanitizer: heap-buffer-overflow"),
        "{line}"
    );
}

fn driver_flags(driver: &str, tests: &[&str]) -> ProjectFlags {
    ProjectFlags {
        driver: Some(driver.into()),
        tests: tests.iter().map(|name| (*name).to_owned()).collect(),
        ..ProjectFlags::default()
    }
}

#[test]
fn a_test_fails_whose_driver_an_earlier_test_has_removed() {
    let fixture = Fixture::new();
    fixture.project.script("t.sh", "#!/bin/sh\nrm -f t.sh\n");
    let project = fixture.load(&driver_flags("t.sh", &["first", "second"]));
    let mut worker = fixture.worker(false);
    let environment = Environment::default();
    let verdicts: Vec<Verdict> = (project.require_tests().unwrap().tests.iter())
        .map(|test| {
            let run = run_test(
                &mut worker.runner,
                &worker.sandbox,
                test,
                &environment,
                &seconds(5),
            );
            run.unwrap().verdict
        })
        .collect();
    let not_found = FailReason::ExitCode {
        expected: 0,
        actual: 127,
    };
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail(not_found)]);
}

#[test]
fn a_driver_that_cannot_be_executed_is_an_error_and_no_verdict() {
    let fixture = Fixture::new();
    fixture.project.script("t.sh", "#!/no/such/shell\n");
    let project = fixture.load(&driver_flags("t.sh", &["t"]));
    let mut worker = fixture.worker(false);
    let test = &project.require_tests().unwrap().tests[0];
    let environment = Environment::default();
    let error = run_test(
        &mut worker.runner,
        &worker.sandbox,
        test,
        &environment,
        &seconds(5),
    );
    let error = error.unwrap_err();
    assert!(matches!(error, TestError::Driver { .. }));
    assert!(error.to_string().contains("t.sh"), "{error}");
}

#[test]
fn the_baseline_finds_flaky_and_hanging_tests() {
    let fixture = Fixture::new();
    let driver = "#!/bin/sh\ncase $1 in\n pass) exit 0;;\n fail) exit 1;;\n hang) sleep 1000;;\n\
        flaky) [ -e seen ] && exit 1; touch seen;;\nesac\n";
    fixture.project.script("driver", driver);
    let project = fixture.load(&driver_flags("driver", &["pass", "fail", "hang", "flaky"]));
    let mut worker = fixture.worker(false);
    let mut options = BaselineOptions::default();
    options.limits.wall = Duration::from_millis(700);
    options.rule.floor = Duration::from_millis(500);
    let mut runs = Vec::new();
    let suite = project.require_tests().unwrap();
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, suite, &options, |n| runs.push(n)).unwrap();
    assert_eq!(runs, (1..=8).collect::<Vec<_>>());
    let names = |tests: &mut dyn Iterator<Item = &patchwright_exec::BaselineTest>| {
        tests.map(|test| test.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut baseline.passing()), ["pass"]);
    assert_eq!(names(&mut baseline.failing()), ["fail", "hang"]);
    assert_eq!(names(&mut baseline.flaky()), ["flaky"]);
    let hang = &baseline.tests[2];
    assert_eq!(
        hang.verdict,
        Verdict::Fail(FailReason::TimedOut(TimeKind::Wall))
    );
    assert!(
        baseline
            .tests
            .iter()
            .all(|test| test.timeout <= Duration::from_millis(700))
    );
}

#[test]
fn a_copy_of_a_copy_is_made_ready_where_it_keeps_its_own_path() {
    let fixture = Fixture::new();
    let flags = ProjectFlags {
        prepare: Some("pwd -P >place".into()),
        ..ProjectFlags::default()
    };
    let project = fixture.load(&flags);
    let program = program();
    let copy = |name, source: &Path| {
        let cancel = CancelToken::new().unwrap();
        let options = WorkerOptions {
            view: false,
            ..WorkerOptions::new(&project, source, &program, &fixture.scratch, &cancel)
        };
        Worker::start(0, name, &options).unwrap()
    };
    let mut base = copy("base", &project.root);
    assert!(!base.sandbox.folder().join("place").exists());
    patchwright_exec::record::prepare_copy(&mut base, &project).unwrap();
    let second = copy("second", base.sandbox.folder());
    for worker in [&base, &second] {
        let place = fs::read_to_string(worker.sandbox.folder().join("place")).unwrap();
        assert_eq!(Path::new(place.trim_end()), worker.sandbox.folder());
    }
}

#[test]
#[ignore = "nightly: 4 s; a_test_that_computes_all_the_time_is_ended_sooner_than_one_that_sleeps goes this way"]
fn a_test_that_takes_much_longer_than_the_others_is_not_waited_for_a_minute() {
    let fixture = Fixture::new();
    let driver = "#!/bin/sh\ncase $1 in\n hang*) sleep 1000;;\nesac\n";
    fixture.project.script("driver", driver);
    let project = fixture.load(&driver_flags("driver", &["a", "hang", "b", "hang2"]));
    let mut worker = fixture.worker(false);
    let mut options = BaselineOptions::default();
    options.limits.wall = Duration::from_secs(3600);
    options.rule.floor = Duration::from_millis(500);
    options.patience = Patience {
        first: Duration::from_secs(2),
        next: Duration::from_secs(1),
        unknown: Duration::from_secs(1),
        alone: Duration::MAX,
        first_factor: 5,
        next_factor: 2,
    };
    let suite = project.require_tests().unwrap();
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, suite, &options, |_| ()).unwrap();
    let hanging: Vec<&str> = baseline.failing().map(|test| test.name.as_str()).collect();
    assert_eq!(hanging, ["hang", "hang2"]);
    assert_eq!(baseline.impatience().count(), 2);
    let hang = &baseline.tests[1];
    assert!(hang.lost_patience && hang.durations[0] >= options.patience.first);
    assert!(hang.expected < hang.durations[0]);
}

#[test]
fn where_no_test_ends_only_the_first_one_gets_all_its_time() {
    let fixture = Fixture::new();
    fixture
        .project
        .script("driver", "#!/bin/sh\necho $1 >>runs\nsleep 1000\n");
    let project = fixture.load(&driver_flags("driver", &["a", "b", "c"]));
    let mut worker = fixture.worker(false);
    let mut options = BaselineOptions::default();
    options.limits.wall = Duration::from_millis(400);
    options.rule.floor = Duration::from_millis(100);
    options.rule.slack = Duration::ZERO;
    options.patience.unknown = Duration::from_millis(50);
    options.patience.next = Duration::from_millis(100);
    let suite = project.require_tests().unwrap();
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, suite, &options, |_| ()).unwrap();
    let lost = baseline.tests.iter().map(|test| test.lost_patience);
    // It sleeps, so that it gets all its time.
    assert_eq!(lost.collect::<Vec<_>>(), [false, true, true]);
    let runs = fs::read_to_string(worker.sandbox.folder().join("runs")).unwrap();
    let runs: Vec<&str> = runs.lines().collect();
    // Once more with all its time, the next one with some of it, and the second run of the first: nothing else would be told by more.
    assert_eq!(runs, ["a", "b", "c", "a", "b", "a"]);
    let told: Vec<String> = baseline.impatience().collect();
    assert!(told[0].contains("because no test has ended"), "{told:?}");
}

/// Computes for about as many hundredths of a second as its input says.
const COMPUTES: &str = "#include <stdio.h>\n#include <time.h>\nint main(void) {\n    long n = 0;\n    scanf(\"%ld\", &n);\n    \
    while (clock() < n * (CLOCKS_PER_SEC / 100)) ;\n    puts(\"done\");\n    return 0;\n}\n";

#[test]
fn where_all_tests_compute_without_end_the_first_one_does_not_get_all_its_time() {
    let fixture = Fixture::new();
    let cases = [
        ("a.in", "900000"),
        ("a.out", "done\n"),
        ("b.in", "900000"),
        ("b.out", "done\n"),
    ];
    let (mut worker, suite) = single(&fixture, COMPUTES, &cases).unwrap();
    let mut options = BaselineOptions::default();
    options.limits.wall = Duration::from_secs(3600);
    options.rule.floor = Duration::from_millis(100);
    options.rule.slack = Duration::ZERO;
    options.patience.unknown = Duration::from_millis(50);
    options.patience.next = Duration::from_millis(100);
    options.patience.first = Duration::from_millis(600);
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, &suite, &options, |_| ()).unwrap();
    assert!(baseline.tests.iter().all(|test| test.lost_patience));
    assert!(baseline.tests[0].durations[0] >= options.patience.first / 2);
}

#[test]
fn a_script_that_computes_for_long_is_waited_for_like_one_that_sleeps() {
    let fixture = Fixture::new();
    let driver = "#!/bin/sh\ni=0\nwhile [ $i -lt 300000 ]; do i=$((i+1)); done\n";
    fixture.project.script("driver", driver);
    let project = fixture.load(&driver_flags("driver", &["a"]));
    let mut worker = fixture.worker(false);
    let mut options = BaselineOptions::default();
    options.patience.unknown = Duration::from_millis(20);
    options.patience.first = Duration::from_millis(40);
    let suite = project.require_tests().unwrap();
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, suite, &options, |_| ()).unwrap();
    assert_eq!(baseline.passing().count(), 1);
}

#[test]
fn of_what_a_driver_prints_without_end_a_few_megabytes_are_kept() {
    let fixture = Fixture::new();
    fixture
        .project
        .script("driver", "#!/bin/sh\nhead -c 12000000 /dev/zero\n");
    let project = fixture.load(&driver_flags("driver", &["a"]));
    let mut worker = fixture.worker(false);
    let test = &project.require_tests().unwrap().tests[0];
    let options = BaselineOptions::default();
    let run = run_test(
        &mut worker.runner,
        &worker.sandbox,
        test,
        &Environment::default(),
        &options.limits,
    );
    let run = run.unwrap();
    assert!(run.verdict.is_pass());
    assert!(run.outcome.output_truncated);
    assert_eq!(run.outcome.stdout.len(), 4 << 20);
}

#[test]
fn a_test_that_computes_all_the_time_is_ended_sooner_than_one_that_sleeps() {
    let fixture = Fixture::new();
    let cases = [
        ("a.in", "0"),
        ("a.out", "done\n"),
        ("loop.in", "900000"),
        ("loop.out", "done\n"),
    ];
    let (mut worker, suite) = single(&fixture, COMPUTES, &cases).unwrap();
    let options = BaselineOptions {
        patience: Patience {
            first: Duration::from_secs(1),
            next: Duration::from_secs(1),
            unknown: Duration::from_secs(1),
            alone: Duration::MAX,
            first_factor: 1,
            next_factor: 1,
        },
        ..BaselineOptions::default()
    };
    let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
    let baseline = Baseline::measure(runner, sandbox, &suite, &options, |_| ()).unwrap();
    let test = &baseline.tests[1];
    assert_eq!(
        test.verdict,
        Verdict::Fail(FailReason::TimedOut(TimeKind::Cpu))
    );
    assert!(test.lost_patience);
}

#[test]
fn a_pool_gives_results_in_the_order_of_the_tasks() {
    let fixture = Fixture::new();
    fixture.project.write("file", "x");
    let program = program();
    let mut pool = Pool::start(3, "worker", &fixture.options(&program)).unwrap();
    let results = pool.run(0..20, |worker, task| {
        // Each works in a copy of its own.
        let script = format!("echo {task} > file; cat file");
        let request = Request::shell(script, worker.sandbox.run_root());
        let outcome = worker.runner.run(&request).unwrap();
        String::from_utf8(outcome.stdout)
            .unwrap()
            .trim()
            .parse::<u32>()
            .unwrap()
    });
    assert_eq!(results, (0..20).collect::<Vec<_>>());
    assert_eq!(
        fs::read_to_string(fixture.project.path.join("file")).unwrap(),
        "x"
    );
    let mut delivered = Vec::new();
    pool.run_until(
        0..,
        |_, task: u64| task,
        |result| {
            delivered.push(result);
            if result == 5 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    assert_eq!(delivered, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_built_copy_can_be_duplicated_without_a_rebuild() {
    let fixture = Fixture::new();
    fixture
        .project
        .write("a.c", "int main(void) { return 0; }\n");
    fixture.project.write("Makefile", "a: a.c\n\tcc -o a a.c\n");
    let mut first = fixture.worker(false);
    build(&mut first, "make").unwrap();
    let copy: PathBuf = fixture.scratch.path().join("second");
    let second: Sandbox = first
        .sandbox
        .duplicate(&copy, &CopyOptions::default())
        .unwrap();
    let request = Request::new("make", second.run_root()).arg("-q");
    assert!(first.runner.run(&request).unwrap().ending.is_success());
    // A changed file is built again, however soon it was changed.
    let file = second.host_path(Path::new("a.c"));
    patchwright_exec::files::replace(&file, b"int main(void) { return 1; }\n").unwrap();
    assert_eq!(
        first.runner.run(&request).unwrap().ending,
        Ending::Exited(1)
    );
}
