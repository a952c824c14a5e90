//! Small projects with patches, validated by the engine and by plain builds.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.
#![allow(dead_code)] // Every test file uses a part of this.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use patchwright_exec::{
    Baseline, BaselineOptions, CancelToken, CopyOptions, FailReason, Limits, Project, ProjectFlags,
    RunnerProgram, Scratch, Snapshot, Verdict, Worker, WorkerOptions, intercept_build,
    runner::Environment,
};
use patchwright_patches::{
    Applied, Applier, Body, FolderTree, Origin, Patch, PatchId, RawPatch, Reading,
};
use patchwright_schemata::{Context, Engine, Event, Fate, Options, Stats};
use patchwright_text::unified_diff;

/// A program of one file, with arguments and expected outputs.
pub struct Subject {
    pub source: String,
    pub cases: Vec<(String, String)>,
    pub cflags: Vec<String>,
    /// Time-out of each test.
    pub timeout: Duration,
}

impl Subject {
    pub fn new(source: &str, cases: &[(&str, &str)]) -> Self {
        Subject {
            source: source.to_owned(),
            cases: cases
                .iter()
                .map(|(arguments, output)| ((*arguments).to_owned(), (*output).to_owned()))
                .collect(),
            cflags: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }
}

/// What the engine found out.
pub struct Found {
    pub fates: Vec<Fate>,
    /// By patch and test.
    pub verdicts: BTreeMap<(usize, usize), Verdict>,
    pub open: Vec<(usize, usize)>,
    pub stats: Stats,
}

/// Validates texts of the subject's file that stand for patches.
pub fn validate(subject: &Subject, texts: &[String], options: Options) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("subject.c");
    fs::write(&file, &subject.source).unwrap();
    let cases = folder.path().join("cases");
    fs::create_dir(&cases).unwrap();
    for (number, (arguments, output)) in subject.cases.iter().enumerate() {
        fs::write(cases.join(format!("{number:03}.args")), arguments).unwrap();
        fs::write(cases.join(format!("{number:03}.out")), output).unwrap();
    }
    let temporary = folder.path().join("scratch");
    fs::create_dir(&temporary).unwrap();
    let scratch = Scratch::new(&temporary).unwrap();
    let flags = ProjectFlags {
        test_timeout: Some(subject.timeout),
        ..Default::default()
    };
    let cflags: Vec<_> = subject.cflags.iter().map(|flag| flag.into()).collect();
    let project = Project::single_file(&file, &cases, &cflags, &scratch, &flags).unwrap();
    validate_project(
        &project,
        &scratch,
        texts_as_patches(subject, texts, &project),
        options,
    )
}

fn texts_as_patches(subject: &Subject, texts: &[String], project: &Project) -> Vec<Patch> {
    let tree = FolderTree::new(&project.root);
    let applier = Applier::new(&tree, Reading::default());
    texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let diff = unified_diff(b"subject.c", subject.source.as_bytes(), text.as_bytes());
            patch(&applier, &format!("p{number}"), diff)
        })
        .collect()
}

pub fn patch(applier: &Applier<'_>, id: &str, diff: Vec<u8>) -> Patch {
    let raw = RawPatch {
        id: PatchId(id.to_owned()),
        origin: Origin {
            file: PathBuf::from("-"),
            line: 1,
            lines_are_of_file: true,
        },
        body: Body::Diff(diff),
    };
    match applier.apply(raw) {
        Applied::Patch(patch) => patch,
        other => panic!("{other:?}"),
    }
}

/// A project in `folder` with these files, built by a command, whose tests a shell script runs.
pub fn driver_project(
    folder: &Path,
    files: &[(&str, &str)],
    build: &str,
    script: &str,
    tests: [&str; 2],
) -> Project {
    let root = folder.join("project");
    fs::create_dir(&root).unwrap();
    for (name, text) in files {
        fs::write(root.join(name), text).unwrap();
    }
    let driver = root.join("test.sh");
    fs::write(&driver, script).unwrap();
    fs::set_permissions(&driver, fs::Permissions::from_mode(0o755)).unwrap();
    let flags = ProjectFlags {
        build: Some(build.into()),
        driver: Some("test.sh".into()),
        tests: tests.map(str::to_owned).to_vec(),
        ..Default::default()
    };
    Project::load(&root, &flags).unwrap()
}

/// Validates other texts of files of a project that stand for patches: the file, its text in the project, the other one.
/// What is needed on the way stands in `folder`.
pub fn validate_texts(
    folder: &Path,
    project: &Project,
    texts: &[(&str, &str, String)],
    options: Options,
) -> Found {
    let temporary = folder.join("scratch");
    fs::create_dir(&temporary).unwrap();
    let scratch = Scratch::new(&temporary).unwrap();
    let tree = FolderTree::new(&project.root);
    let applier = Applier::new(&tree, Reading::default());
    let patches = texts.iter().enumerate().map(|(number, (file, old, new))| {
        let diff = unified_diff(file.as_bytes(), old.as_bytes(), new.as_bytes());
        patch(&applier, &format!("p{number}"), diff)
    });
    validate_project(project, &scratch, patches.collect(), options)
}

pub fn validate_project(
    project: &Project,
    scratch: &Scratch,
    patches: Vec<Patch>,
    options: Options,
) -> Found {
    let program = RunnerProgram::this_binary();
    let cancel = CancelToken::new().unwrap();
    let mut base = Worker::start(
        0,
        "base",
        &WorkerOptions {
            program: &program,
            scratch,
            project: &project.root,
            source: &project.root,
            prepare: None,
            view: true,
            exclude: Vec::new(),
            build_timeout: None,
            cancel: cancel.clone(),
        },
    )
    .unwrap();
    let workplace = base.folder.join("intercept");
    fs::create_dir(&workplace).unwrap();
    let (commands, _) = intercept_build(
        &mut base.runner,
        &base.sandbox,
        &workplace,
        project.build.as_ref().unwrap(),
        &[],
        &Environment::default(),
        &Limits::for_build(),
    )
    .unwrap();
    let (folder, root) = (base.sandbox.folder().to_path_buf(), project.root.clone());
    let commands: Vec<_> = commands
        .into_iter()
        .map(|command| match base.runner.view_active() {
            true => command.rebase(&folder, &root),
            false => command.rebase(&root, &folder),
        })
        .collect();
    let suite = project.tests.as_ref().unwrap();
    let mut snapshot = Snapshot::take(&base.sandbox).unwrap();
    let pristine = base.folder.join("pristine");
    let view = CopyOptions {
        viewed: base.runner.view_active(),
        ..CopyOptions::default()
    };
    base.sandbox.duplicate(&pristine, &view).unwrap();
    let mut leaves = false;
    let baseline = Baseline::measure(
        &mut base.runner,
        &base.sandbox,
        suite,
        &BaselineOptions::default(),
        |_| leaves |= snapshot.has_changed(&base.sandbox).unwrap(),
    )
    .unwrap();
    snapshot.restore(&base.sandbox, &pristine).unwrap();
    let context = Context {
        project,
        baseline: &baseline,
        leaves,
        commands: &commands,
        program: &program,
        is_only_included: &|path, _| Ok(path.extension().is_some_and(|end| end == "h")),
        scratch,
        cancel,
    };
    let mut engine = Engine::prepare(context, &mut base, &patches, options, &mut |_| {}).unwrap();
    let mut found = Found {
        fates: Vec::new(),
        verdicts: BTreeMap::new(),
        open: Vec::new(),
        stats: Stats::default(),
    };
    let tests: Vec<usize> = (0..suite.tests.len()).collect();
    engine
        .run(&mut base, &tests, &mut |event| match event {
            Event::Verdict {
                patch,
                test,
                verdict,
                ..
            } => {
                let before = found.verdicts.insert((patch, test), verdict);
                assert_eq!(
                    before, None,
                    "patch {patch} has two verdicts in test {test}"
                );
            }
            Event::Open { patch, test, .. } => found.open.push((patch, test)),
            Event::Apart { .. } | Event::Again { .. } | Event::Phase(_) | Event::Progress(_) => {}
        })
        .unwrap();
    found.fates = engine.fates().to_vec();
    found.stats = engine.stats().clone();
    found
}

/// How a program compiled plainly ends: exit status or signal, and whether its output is as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    DoesNotCompile,
    Ran(Vec<PlainRun>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainRun {
    Pass,
    Output,
    Exit(i32),
    Signal(i32),
    /// It runs out of time, or prints without end.
    Endless,
}

impl PlainRun {
    /// What a verdict says, in these words.
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => PlainRun::Pass,
            Verdict::Fail(FailReason::Output(_)) => PlainRun::Output,
            Verdict::Fail(FailReason::ExitCode { actual, .. }) => PlainRun::Exit(*actual),
            Verdict::Fail(FailReason::Signal(signal)) => PlainRun::Signal(*signal),
            Verdict::Fail(FailReason::TimedOut(_) | FailReason::LimitExceeded(_)) => {
                PlainRun::Endless
            }
            Verdict::Fail(other) => panic!("{other:?}"),
        }
    }
}

/// The signal of a process that writes too much to a file.
const SIGXFSZ: i32 = 25;

/// Runs a program that writes at most 64 MiB to `out`; `None` when it runs out of time.
pub fn run(program: &Path, arguments: &str, out: &Path, timeout: Duration) -> Option<ExitStatus> {
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -f 131072; exec \"$@\"", "sh"])
        .arg(program)
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(fs::File::create(out).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if started.elapsed() > timeout => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::yield_now(),
        }
    }
}

/// Compiles and runs each text by itself.
pub fn plain(subject: &Subject, folder: &Path, text: &str) -> Plain {
    let (file, program) = (folder.join("plain.c"), folder.join("plain"));
    fs::write(&file, text).unwrap();
    let compiled = Command::new("cc")
        .args(["-g", "-O1", "-w", "-o"])
        .args([&program, &file])
        .args(&subject.cflags)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !compiled.success() {
        return Plain::DoesNotCompile;
    }
    let runs = subject.cases.iter().map(|(arguments, expected)| {
        let out = folder.join("out");
        let Some(status) = run(&program, arguments, &out, subject.timeout) else {
            return PlainRun::Endless;
        };
        match (status.signal(), status.code()) {
            (Some(SIGXFSZ), _) => PlainRun::Endless,
            (Some(signal), _) => PlainRun::Signal(signal),
            (_, Some(0)) if fs::read(&out).unwrap() == expected.as_bytes() => PlainRun::Pass,
            (_, Some(0)) => PlainRun::Output,
            (_, Some(code)) => PlainRun::Exit(code),
            _ => unreachable!("a process exits or is ended by a signal"),
        }
    });
    Plain::Ran(runs.collect())
}

/// Validates changes of the subject, each of several texts, in all tests. Verdicts of those that are woven are those of plain builds.
pub fn as_plainly(subject: &Subject, changes: &[&[(&str, &str)]]) -> Found {
    let patched = |changes: &&[(&str, &str)]| {
        let source = subject.source.clone();
        changes.iter().fold(source, |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        })
    };
    let texts: Vec<String> = changes.iter().map(patched).collect();
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let found = validate(subject, &texts, options);
    let folder = tempfile::tempdir().unwrap();
    for (patch, text) in texts.iter().enumerate() {
        if found.fates[patch] == Fate::Woven && found.open.iter().all(|(open, _)| *open != patch) {
            let runs = 0..subject.cases.len();
            let runs = runs.map(|test| PlainRun::of(&found.verdicts[&(patch, test)]));
            let plain = plain(subject, folder.path(), text);
            assert_eq!(Plain::Ran(runs.collect()), plain, "{text}");
        }
    }
    found
}
