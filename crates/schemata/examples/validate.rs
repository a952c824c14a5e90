//! Validates diffs against a project with the engine alone, and compares with plain builds if asked to.
//!
//! `validate PROJECT DIFF… [--check] [--no-dedup] [-j N]`: one line for each patch, then what was done. With `--check`
//! every patch that compiles is also applied to a copy, built and run in all tests that the engine has a verdict on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use patchwright_exec::{
    Baseline, BaselineOptions, CancelToken, Limits, Project, ProjectFlags, RunnerProgram, Scratch,
    Verdict, Worker, WorkerOptions, files, intercept, intercept_build, read_compile_database,
    run_build, run_test, runner::Environment, supervisor_main,
};
use patchwright_patches::{
    Applied, Applier, Body, FileChange, FolderTree, Origin, PatchId, RawPatch,
};
use patchwright_schemata::{Context, Engine, Event, Fate, Options};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "supervisor") {
        supervisor_main();
    }
    let mut flag = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name);
        place.map(|place| arguments.remove(place)).is_some()
    };
    let (check, dedup) = (flag("--check"), !flag("--no-dedup"));
    let jobs = if flag("-j2") { 2 } else { 1 };
    let (root, diffs) = arguments.split_first().ok_or("validate PROJECT DIFF…")?;
    let project = Project::load(root.as_ref(), &ProjectFlags::default())?;
    let suite = project.require_tests()?;
    let build = project.build.as_ref().ok_or("no build command")?;
    let scratch = Scratch::new(&std::env::temp_dir())?;
    let program = RunnerProgram::current_exe(["supervisor"])?;
    let cancel = CancelToken::new()?;
    let start = |name: &str, source: &std::path::Path| {
        Worker::start(
            0,
            name,
            &WorkerOptions {
                program: &program,
                scratch: &scratch,
                project: &project.root,
                source,
                view: true,
                exclude: Vec::new(),
                cancel: cancel.clone(),
            },
        )
    };
    let mut base = start("base", &project.root)?;
    let (environment, limits) = (Environment::default(), Limits::for_build());
    if let Some(prepare) = &project.prepare {
        run_build(
            &mut base.runner,
            &base.sandbox,
            prepare,
            &environment,
            &limits,
        )?;
    }
    let database = match &project.compile_commands {
        Some(path) => Some(base.sandbox.host_path(path)),
        None => intercept::find_database(base.sandbox.folder(), 2)?,
    };
    let commands = match database {
        Some(path) => {
            run_build(
                &mut base.runner,
                &base.sandbox,
                build,
                &environment,
                &limits,
            )?;
            read_compile_database(&path)?
        }
        None => {
            let workplace = base.folder.join("intercept");
            files::create_private_folder(&workplace)?;
            intercept_build(
                &mut base.runner,
                &base.sandbox,
                &workplace,
                build,
                &[],
                &environment,
                &limits,
            )?
            .0
        }
    };
    let folder = base.sandbox.folder().to_path_buf();
    let commands: Vec<_> = commands
        .into_iter()
        .map(|command| match base.runner.view_active() {
            true => command.rebase(&folder, &project.root),
            false => command.rebase(&project.root, &folder),
        })
        .collect();
    let mut plain = start("plain", &folder)?;
    let baseline = Baseline::measure(
        &mut plain.runner,
        &plain.sandbox,
        suite,
        &BaselineOptions::default(),
        |_| {},
    )?;
    let tree = FolderTree::new(&project.root);
    let applier = Applier::new(&tree, None);
    let mut patches = Vec::new();
    for diff in diffs {
        let raw = RawPatch {
            id: PatchId(diff.clone()),
            origin: Origin {
                file: diff.into(),
                line: 1,
                lines_are_of_file: true,
            },
            body: Body::Diff(files::read(diff.as_ref())?),
        };
        match applier.apply(raw) {
            Applied::Patch(patch) => patches.push(patch),
            other => println!("{diff}: {other:?}"),
        }
    }
    let started = Instant::now();
    let context = Context {
        project: &project,
        baseline: &baseline,
        commands: &commands,
        program: &program,
        scratch: &scratch,
        cancel: cancel.clone(),
    };
    let options = Options {
        jobs,
        dedup,
        keep_going: check,
        ..Options::default()
    };
    let mut engine = Engine::prepare(context, &mut base, &patches, options, &mut |_| {})?;
    println!("compiled in {:.1?}", started.elapsed());
    // Tests that fail come first.
    let mut tests: Vec<usize> = (0..suite.tests.len())
        .filter(|t| !baseline.tests[*t].flaky)
        .collect();
    tests.sort_by_key(|test| baseline.tests[*test].verdict.is_pass());
    let mut verdicts: BTreeMap<usize, BTreeMap<usize, Verdict>> = BTreeMap::new();
    let mut open = 0;
    engine.run(&mut base, &tests, &mut |event| match event {
        Event::Verdict {
            patch,
            test,
            verdict,
            ..
        } => {
            verdicts.entry(patch).or_default().insert(test, verdict);
        }
        Event::Open { .. } => open += 1,
        Event::Phase(phase) => println!("{:.1?}: {phase}", started.elapsed()),
        Event::Apart { .. } => {}
    })?;
    let wall = started.elapsed();
    let mut fates: BTreeMap<String, usize> = BTreeMap::new();
    for (patch, fate) in engine.fates().iter().enumerate() {
        let id = &patches[patch].id;
        let (word, text) = match fate {
            Fate::Woven => {
                let known = verdicts.get(&patch);
                let failed = known.and_then(|known| {
                    tests.iter().find_map(|test| match known.get(test)? {
                        Verdict::Pass => None,
                        Verdict::Fail(reason) => {
                            Some(format!("fails {}: {reason}", suite.tests[*test].name))
                        }
                    })
                });
                ("woven", failed.unwrap_or_else(|| "plausible".to_owned()))
            }
            Fate::DoesNotCompile { line, message, .. } => {
                ("does not compile", format!("line {line}: {message}"))
            }
            Fate::Apart(reason) => ("apart", reason.reason().to_owned()),
        };
        *fates.entry(word.to_owned()).or_default() += 1;
        println!("{id}: {word}: {text}");
    }
    println!("{fates:?}, {open} open, {wall:.1?}\n{:#?}", engine.stats());
    if !check {
        return Ok(());
    }
    let (mut same, mut executions) = (0, 0);
    let started = Instant::now();
    for (patch, known) in patches.iter().enumerate() {
        let fate = &engine.fates()[patch];
        if matches!(fate, Fate::Apart(_)) {
            continue;
        }
        let mut originals: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for change in &known.changes {
            if let FileChange::Modify { path, text } = change {
                let path = plain.sandbox.folder().join(path.as_path());
                originals.push((path.clone(), files::read(&path)?));
                files::replace(&path, &text.to_vec())?;
            }
        }
        let built = run_build(
            &mut plain.runner,
            &plain.sandbox,
            build,
            &environment,
            &limits,
        );
        match (fate, built.is_ok()) {
            (Fate::DoesNotCompile { .. }, false) => same += 1,
            (Fate::Woven, true) => {
                for (test, verdict) in verdicts.get(&patch).into_iter().flatten() {
                    let limits = Limits {
                        wall: baseline.tests[*test].timeout,
                        ..project.limits.clone()
                    };
                    let run = run_test(
                        &mut plain.runner,
                        &plain.sandbox,
                        &suite.tests[*test],
                        &suite.environment,
                        &limits,
                    )?;
                    executions += 1;
                    if run.verdict.is_pass() == verdict.is_pass() {
                        same += 1;
                    } else {
                        let name = &suite.tests[*test].name;
                        println!(
                            "DIFFERS {} {name}: {verdict:?}, plainly {:?}",
                            known.id, run.verdict
                        );
                    }
                }
            }
            (fate, built) => println!("DIFFERS {}: {fate:?}, builds: {built}", known.id),
        }
        for (path, text) in originals {
            files::replace(&path, &text)?;
        }
    }
    println!(
        "{same} verdicts are the same; {executions} executions, {:.1?} plainly",
        started.elapsed()
    );
    Ok(())
}
