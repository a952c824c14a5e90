//! Prepares a run: builds the untouched program in a pristine copy, and tests it in a worker's copy.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::{
    Baseline, BaselineOptions, BaselineTest, CompileCommand, FileSelection, Opened, Project,
    RecordError, Sandbox, Snapshot, TestSuite, Worker, WorkerOptions, files, record,
};
use patchwright_patches::FileChange;
use serde::{Deserialize, Serialize};

use crate::dependents::Dependents;
use crate::error::ValidateError;
use crate::outcome::{Tests, Untouched};
use crate::rebuild::{included_sources, is_header, may_be_included};
use crate::set::PatchSet;
use crate::test_files::TestFiles;
use crate::{Event, Surroundings, ValidateOptions};

/// The built and tested untouched program.
pub struct Prepared {
    /// The pristine copy: built, and nothing was run in it since.
    pub pristine: Worker,
    /// The build command.
    pub build: OsString,
    /// The tests.
    pub suite: TestSuite,
    /// What the tests do on the untouched program.
    pub untouched: UntouchedTests,
    /// How the sources are compiled, as programs in the worker's copy see it, if that was asked for and is
    /// known.
    pub commands: Option<Vec<CompileCommand>>,
    /// Files of tests, relative to the root, that neither the build nor the tests of the untouched program change, and that no patch may
    /// change.
    pub test_files: Vec<PathBuf>,
    /// File names of sources that other sources include.
    pub included: BTreeSet<OsString>,
    /// Files that some patch changes, relative to the root, and that the build of the untouched program has not opened.
    pub unread_by_build: BTreeSet<PathBuf>,
    /// What depends on headers, if it is known.
    pub dependents: Option<Dependents>,
    /// The untouched program is built in the pristine copy.
    pub is_built: bool,
    /// What is said of the tests is supposed, not seen.
    pub is_supposed: bool,
    /// What the names of copies begin with.
    pub prefix: &'static str,
}

/// How much is found out about the untouched program before patches are validated.
#[derive(Clone, Copy)]
pub enum Asking<'a> {
    /// Its tests are run twice, so that flaky ones are known. They are run once if they take more processor time than the function
    /// permits. The function is given the compile commands of the sources.
    Twice(&'a dyn Fn(&[CompileCommand]) -> Option<Duration>),
    /// Its tests are run once.
    Once,
    /// It is built. Its tests are run, twice, only if the function says so for the compile commands of the sources.
    Build(&'a dyn Fn(&[CompileCommand]) -> bool),
    /// Nothing.
    Nothing,
}

/// The files that the patches of a set change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Existing sources, relative to the root.
    pub sources: Vec<PathBuf>,
    /// Headers, or other files that sources may include.
    pub headers: bool,
    /// Existing files that are neither, relative to the root.
    pub others: Vec<PathBuf>,
}

impl Changed {
    /// Collects the files that the open patches of the set change; `is_open` takes a patch's number.
    pub(crate) fn by(set: &PatchSet, is_open: &dyn Fn(&usize) -> bool) -> Self {
        let open = set.distinct().filter(is_open);
        let patches = open.filter_map(|entry| set.entries[entry].patch());
        let (mut modified, mut headers) = (BTreeSet::new(), false);
        for change in patches.flat_map(|patch| &patch.changes) {
            match change {
                FileChange::Modify { path, .. } => {
                    modified.insert(path.as_path());
                }
                FileChange::Add { path, .. } => headers |= is_header(path.as_path()),
                _ => {}
            }
        }
        let owned = |paths: Vec<&Path>| paths.into_iter().map(Path::to_path_buf).collect();
        let (sources, others): (Vec<&Path>, Vec<&Path>) =
            modified.into_iter().partition(|path| is_c(path));
        let (included, others): (Vec<&Path>, Vec<&Path>) =
            others.into_iter().partition(|path| may_be_included(path));
        Self {
            sources: owned(sources),
            headers: headers || !included.is_empty(),
            others: owned(others),
        }
    }
}

/// Whether a file is a source of C, by its name.
fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}

/// The results of the tests on the untouched program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntouchedTests {
    /// Verdicts and times.
    pub baseline: Baseline,
    /// Whether a test leaves something behind in the copy: files that come, go or are written to. Then the verdict of a
    /// test may depend on those before it.
    pub leaves: bool,
    /// The files that they have changed.
    pub changed: BTreeSet<PathBuf>,
    /// Sources that the build does not compile, and that no test has opened.
    #[serde(default)]
    pub unread: BTreeSet<PathBuf>,
}

/// The phase in which the untouched program is built.
pub(crate) const BUILDING: &str = "building the program";

/// The phase in which its tests are run: twice, or once for a few patches.
pub(crate) const TESTING: &str = "running the tests of the untouched program";

/// The options for a worker that copies `source`.
pub(crate) fn worker_options<'a>(
    project: &'a Project,
    source: &'a std::path::Path,
    surroundings: &Surroundings<'a>,
) -> WorkerOptions<'a> {
    let Surroundings {
        program, scratch, ..
    } = *surroundings;
    WorkerOptions::new(project, source, program, scratch, &surroundings.cancel)
}

/// Copies, builds and tests the untouched program. The worker, with the number 0, has a copy of the
/// pristine copy, of which the snapshot is. What is known already of the tests is not measured
/// again: time-outs stay the same when a run is resumed. How the files in `changed` (relative to the
/// root) are compiled is found out with the build, if patches may be woven; for all sources, if other files of the
/// program change, too.
///
/// # Errors
/// When it cannot be built, or no test is stable.
pub fn prepare<'a>(
    project: &'a Project,
    known: Option<UntouchedTests>,
    (changed, test_files): (&Changed, &TestFiles<'_>),
    asking: Asking<'_>,
    options: &ValidateOptions,
    surroundings: &Surroundings<'a>,
) -> Result<(Prepared, Worker, Snapshot), ValidateError> {
    let events = surroundings.events;
    let suite = project.require_tests()?;
    let Some(build) = &project.build else {
        return Err(ValidateError::Record(RecordError::NoBuild {
            root: project.root.clone(),
        }));
    };
    events(Event::Phase("copying the project"));
    let root = &project.root;
    let prefix = match asking {
        Asking::Twice(_) | Asking::Once => "",
        Asking::Build(_) | Asking::Nothing => "first-",
    };
    let is_built = !matches!(asking, Asking::Nothing);
    let mut pristine = Worker::start(
        0,
        &format!("{prefix}pristine"),
        &worker_options(project, root, surroundings),
    )?;
    for skipped in pristine.sandbox.skipped() {
        events(Event::Warning(format!(
            "{} is no regular file and is not in the copy",
            skipped.display()
        )));
    }
    // A source that others include is a header to them.
    let included = included_sources(pristine.sandbox.folder())?;
    let is_included = |file: &PathBuf| {
        let name = file.file_name();
        name.is_some_and(|name| included.contains(name))
    };
    let changed = &Changed {
        sources: changed.sources.clone(),
        headers: changed.headers || changed.sources.iter().any(is_included),
        others: changed.others.clone(),
    };
    events(Event::Phase(BUILDING));
    let watched = watch(pristine.sandbox.folder(), &changed.others);
    let commands = match changed.sources.is_empty() && !changed.headers {
        false if options.schemata && asking.may_need_commands(changed) => {
            recorded(&mut pristine, project, changed, surroundings)?
        }
        _ => None,
    };
    if commands.is_none() {
        record::prepare_copy(&mut pristine, project)?;
        if is_built {
            record::run_in_copy(&mut pristine, build).map_err(RecordError::Build)?;
        }
    }
    // What could not be watched may have been read.
    let unread_by_build = watched.and_then(|watched| watched.unopened().ok());
    let unread_by_build = unread_by_build.filter(|_| is_built).unwrap_or_default();
    let folder = pristine.sandbox.folder().to_path_buf();
    let mut worker = Worker::start(
        0,
        &format!("{prefix}worker-0"),
        &worker_options(project, &folder, surroundings),
    )?;
    // Without a view each copy has a place of its own.
    let (built, copy) = (pristine.sandbox.run_root(), worker.sandbox.run_root());
    let commands: Option<Vec<CompileCommand>> = commands.map(|commands| {
        let rebase = |command: &CompileCommand| command.rebase(built, copy);
        commands.iter().map(rebase).collect()
    });
    let mut snapshot = Snapshot::take(&worker.sandbox)?;
    let is_supposed = match asking {
        Asking::Twice(_) | Asking::Once => false,
        Asking::Build(asks) => !asks(commands.as_deref().unwrap_or_default()),
        Asking::Nothing => true,
    };
    let untouched = match known {
        Some(untouched) => untouched,
        None if is_supposed => UntouchedTests {
            baseline: Baseline::presumed(suite, &project.limits, options.timeouts),
            leaves: false,
            changed: BTreeSet::new(),
            unread: BTreeSet::new(),
        },
        None => {
            events(Event::Phase(TESTING));
            let measured = BaselineOptions {
                limits: project.limits.clone(),
                rule: options.timeouts,
                prove_endless: options.prove_endless,
                once: matches!(asking, Asking::Once),
                most_again: match asking {
                    Asking::Twice(most) => most(commands.as_deref().unwrap_or_default()),
                    _ => None,
                },
                ..Default::default()
            };
            let total = measured.runs() * suite.tests.len();
            let watched = match &commands {
                // Else there may be commands that nobody knows.
                Some(commands) if changed.headers => watch_uncompiled(&worker.sandbox, commands)?,
                _ => None,
            };
            let mut leaves = false;
            let baseline = Baseline::measure(
                &mut worker.runner,
                &worker.sandbox,
                suite,
                &measured,
                |done| {
                    // After each test: a later one may remove what it left. What cannot be read has changed.
                    leaves = leaves || snapshot.has_changed(&worker.sandbox).unwrap_or(true);
                    events(Event::Progress { done, total });
                },
            )?;
            // What could not be watched may have been read.
            let unread = watched.and_then(|watched| watched.unopened().ok());
            let changes = snapshot.changes(&worker.sandbox)?;
            let changed = changes.paths().map(Path::to_path_buf).collect();
            snapshot.restore(&worker.sandbox, &folder)?;
            UntouchedTests {
                baseline,
                leaves,
                changed,
                unread: unread.unwrap_or_default(),
            }
        }
    };
    if !is_supposed {
        check(&untouched.baseline, suite, options, surroundings)?;
    }
    let prepared = Prepared {
        included,
        unread_by_build,
        dependents: commands
            .as_ref()
            .map(|commands| Dependents::new(commands, &worker.sandbox)),
        pristine,
        build: build.clone(),
        suite: suite.clone(),
        test_files: match options.trust_test_changes {
            true => Vec::new(),
            false => protected(project, test_files, &folder, &untouched)?,
        },
        untouched,
        commands,
        is_built,
        is_supposed,
        prefix,
    };
    Ok((prepared, worker, snapshot))
}

impl Asking<'_> {
    /// Whether it may matter how the files are compiled: patches may be woven, or headers change.
    fn may_need_commands(self, changed: &Changed) -> bool {
        match self {
            Asking::Twice(_) | Asking::Build(_) => true,
            Asking::Once => changed.headers,
            Asking::Nothing => false,
        }
    }
}

/// Prepares and builds the copy, and tells how files are compiled; `None`, with a warning, if that
/// cannot be found out. The copy may be prepared by then.
fn recorded(
    pristine: &mut Worker,
    project: &Project,
    changed: &Changed,
    surroundings: &Surroundings<'_>,
) -> Result<Option<Vec<CompileCommand>>, ValidateError> {
    let wanted: &[PathBuf] = match changed.headers {
        true => &[],
        false => &changed.sources,
    };
    let files = wanted.iter().map(|file| FileSelection {
        file: file.clone(),
        lines: None,
    });
    let selected = Project {
        files: files.collect(),
        ..project.clone()
    };
    match record::record_build(pristine, &selected) {
        Ok(commands) => Ok(Some(commands)),
        Err(error @ (RecordError::Intercept { .. } | RecordError::Database(_))) => {
            (surroundings.events)(Event::Warning(format!(
                "patches are built one by one, which takes longer: {error}"
            )));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Watches the sources of a copy that no command compiles, as far as the kernel allows it: a test may compile them.
fn watch_uncompiled(
    sandbox: &Sandbox,
    commands: &[CompileCommand],
) -> Result<Option<Opened>, ValidateError> {
    let compiled: BTreeSet<PathBuf> = commands
        .iter()
        .filter_map(|command| sandbox.below_root(&command.file))
        .collect();
    let folder = sandbox.folder();
    let all = files::regular_files_below(folder)?;
    let inside = all.iter().filter_map(|path| path.strip_prefix(folder).ok());
    let uncompiled = inside.filter(|path| is_c(path) && !compiled.contains(*path));
    let uncompiled: Vec<PathBuf> = uncompiled.map(Path::to_path_buf).collect();
    Ok(watch(folder, &uncompiled))
}

/// Watches these files of a copy, as far as the kernel allows it.
fn watch(folder: &Path, files: &[PathBuf]) -> Option<Opened> {
    let files = files.iter().map(PathBuf::as_path);
    Opened::watch(folder, files)
        .inspect_err(|error| tracing::info!("files are not watched: {error}"))
        .ok()
}

/// Files of tests that are the same in the built copy at `folder`, and that the tests leave alone.
fn protected(
    project: &Project,
    test_files: &TestFiles<'_>,
    folder: &Path,
    untouched: &UntouchedTests,
) -> Result<Vec<PathBuf>, ValidateError> {
    let mut found = Vec::new();
    for file in test_files.existing()? {
        // What is not in the copy, or cannot be read there, is none that could be put back.
        let is_same = || {
            let own = files::read(&project.root.join(&file)).ok();
            own.is_some() && own == files::read(&folder.join(&file)).ok()
        };
        if !untouched.changed.contains(&file) && is_same() {
            found.push(file);
        }
    }
    Ok(found)
}

/// The largest number of names that are listed.
const MOST_NAMES: usize = 10;

/// What is said of the tests that fail on the untouched program, if some do.
fn about_failing(baseline: &Baseline, tests: &Tests) -> Option<String> {
    let names = |tests: Vec<&BaselineTest>| {
        let shown: Vec<&str> = tests
            .iter()
            .take(MOST_NAMES)
            .map(|test| &test.name[..])
            .collect();
        let more = match tests.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let word = if tests.len() == 1 { "test" } else { "tests" };
        format!("{} {word} ({}{more})", tests.len(), shown.join(", "))
    };
    let (aside, to_mend): (Vec<_>, Vec<_>) = baseline
        .failing()
        .partition(|test| tests.set_aside.contains(&test.index));
    let verb = |number: usize| if number == 1 { "fails" } else { "fail" };
    let mut said = Vec::new();
    if !to_mend.is_empty() {
        let advice = match aside.is_empty() {
            true => {
                "; --must-fix NAME keeps only those that patches are meant to mend, and --ignore-failing sets all of them aside"
            }
            false => "",
        };
        said.push(format!(
            "{} {} on the untouched program: a patch is plausible only if it mends {}{advice}",
            names(to_mend.clone()),
            verb(to_mend.len()),
            if to_mend.len() == 1 {
                "it"
            } else {
                "all of them"
            },
        ));
    }
    if !aside.is_empty() {
        said.push(format!(
            "{} {} on the untouched program and {} set aside",
            names(aside.clone()),
            verb(aside.len()),
            if aside.len() == 1 { "is" } else { "are" },
        ));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// Says what is unusual of a baseline.
fn check(
    baseline: &Baseline,
    suite: &TestSuite,
    options: &ValidateOptions,
    surroundings: &Surroundings<'_>,
) -> Result<(), ValidateError> {
    let warn = |text: String| (surroundings.events)(Event::Warning(text));
    for test in baseline.flaky() {
        warn(format!(
            "test {} is flaky: it passed once and failed once without any change; it is set aside",
            test.name
        ));
    }
    let unusual = baseline.impatience().chain(baseline.trailing_whitespace());
    let unusual = unusual.chain(baseline.without_newline(suite));
    let tried = surroundings.scratch.attempts().news();
    unusual.chain(tried).for_each(warn);
    let tests = Tests::of(baseline, options);
    for name in &options.must_fix {
        let known = baseline.tests.iter().find(|test| test.name == *name);
        match known {
            None => {
                return Err(ValidateError::NoSuchTest {
                    name: name.clone(),
                    names: tests.names.join(", "),
                });
            }
            Some(test) if !test.flaky && test.verdict.is_pass() => warn(format!(
                "test {name} passes on the untouched program: there is nothing to mend"
            )),
            Some(_) => {}
        }
    }
    if tests.count(Untouched::Flaky) == tests.names.len() {
        return Err(ValidateError::OnlyFlaky {
            names: tests.names.join(", "),
        });
    }
    // Who sets failing tests aside wants to break nothing.
    let seeks = !options.ignore_failing;
    if seeks && tests.count(Untouched::Fails) == 0 {
        warn(
            "no test fails on the untouched program: a plausible patch is one that breaks nothing"
                .into(),
        );
    } else if tests.count(Untouched::Passes) == 0 {
        warn("every test fails on the untouched program; does the driver work?".into());
    }
    if let Some(text) = about_failing(baseline, &tests) {
        warn(text);
    }
    if tests.runs() == 0 {
        return Err(ValidateError::OnlyFailing {
            names: tests.names.join(", "),
        });
    }
    Ok(())
}
