//! Prepares a repair: a built copy of the untouched program, the compile commands, and the baseline.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError, atomic::AtomicU64},
    time::{Duration, Instant},
};

use patchwright_exec::{
    Baseline, BaselineOptions, CompileCommand, Limits, Patience, Project, RecordError, Test,
    TestSuite, Worker, WorkerOptions, all_sources, files, record_kept_build,
};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    checks::Checks,
    circumstances::Kind,
    focus::Focus,
    journal::Journal,
    outcome::RepairOutcome,
    phases::Phases,
    remembered::{self, Remembered},
    test_sources::test_sources,
    undefined::Scrutiny,
};

/// Where it takes no longer to make ready, a patch is tested in other circumstances before it is shown.
const QUICK: Duration = Duration::from_secs(10);

/// What it takes at least to compile a source, by experience with small ones. A build in a tree that has been built compiles
/// none, and tells nothing of how long a whole build takes.
const A_SOURCE: Duration = Duration::from_millis(50);

/// Repairs a project, as [`crate::repair`] does.
pub(crate) type Again =
    fn(&Project, &RepairOptions, &Surroundings<'_>) -> Result<RepairOutcome, RepairError>;

/// The built copy of the untouched program, with its compile commands and baseline.
pub struct Prepared {
    /// The copy, built and without any change.
    pub worker: Worker,
    /// How long it takes, by what the build and the tests took, to make ready for tests in other circumstances.
    pub(crate) scrutiny_time: Duration,
    /// How sources are compiled, as the programs in the sandbox see it.
    pub commands: Vec<CompileCommand>,
    /// Verdicts of the untouched program.
    pub baseline: Baseline,
    /// The tests.
    pub suite: TestSuite,
    /// The limits of each test.
    pub limits: Limits,
    /// Tests that fail, by index.
    pub failing: Vec<usize>,
    /// Tests that pass, by index.
    pub passing: Vec<usize>,
    /// Compiled sources that are tests, in which no changes are sought.
    pub test_sources: BTreeSet<PathBuf>,
    /// The statements to look at first, if the program was localized.
    pub focus: Option<Focus>,
    /// What was looked at before, if that was not enough.
    pub looked_at: LookedAt,
    /// What is known from an earlier run, and where this one keeps what it finds.
    pub journal: Option<Journal>,
    /// Milliseconds that changes of declarations have taken in all rounds.
    pub(crate) declaration_time: AtomicU64,
    /// Where what is found out about the untouched program is kept for later runs.
    pub(crate) remembered: Option<Remembered>,
    /// In which circumstances patches are tested, once that is known.
    pub(crate) scrutiny: OnceLock<Scrutiny>,
    /// Repairs the program with one change, where a second one is sought; without it, none is.
    pub(crate) again: Option<Again>,
    /// Is held by who finds that out.
    pub(crate) measuring: Mutex<()>,
    /// What is known of changed programs.
    pub(crate) checks: Checks,
    /// Which failing tests pass with a change of one place, by its diff.
    pub(crate) halves: Mutex<BTreeMap<Vec<u8>, BTreeSet<usize>>>,
}

/// The locations that earlier rounds of a repair have looked at without success.
#[derive(Clone, Debug, Default)]
pub struct LookedAt {
    /// With a focus: so many statements of its order.
    pub statements: usize,
    /// Without: so many locations of those that were left, each time.
    pub locations: Vec<usize>,
    /// With a focus: of so many statements the likeliest candidates were executed…
    pub briefly: usize,
    /// …those with fewer bits than this.
    pub executed_bits: f64,
}

impl LookedAt {
    /// The next round looks again at all statements, of which only the likeliest candidates were executed.
    pub(crate) fn begin_again(&mut self, executed_bits: f64) {
        self.executed_bits = executed_bits;
        self.briefly = std::mem::take(&mut self.statements);
    }
}

impl Prepared {
    /// Whether it takes little time to ask if a patch passes only by undefined behaviour.
    pub(crate) fn is_scrutinized_quickly(&self) -> bool {
        self.scrutiny.get().is_some() || self.scrutiny_time <= QUICK
    }

    /// In which circumstances patches are tested; `None` if that is not wanted.
    ///
    /// # Errors
    /// When the untouched program cannot be tested so.
    pub(crate) fn scrutiny(
        &self,
        project: &Project,
        options: &RepairOptions,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<&Scrutiny>, RepairError> {
        if !options.scrutinize {
            return Ok(None);
        }
        // Whoever comes meanwhile waits.
        let _measuring = self
            .measuring
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.scrutiny.get() {
            return Ok(Some(known));
        }
        let measured = Scrutiny::measure(self, project, surroundings);
        if measured.is_err() {
            // Whoever tries again needs the names of the copies.
            for kind in Kind::ALL {
                let _ = files::remove_tree(&surroundings.scratch.path().join(kind.name()));
            }
        }
        let measured = measured?;
        Ok(Some(self.scrutiny.get_or_init(|| measured)))
    }
}

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

/// Copies, builds and tests the untouched program.
///
/// # Errors
/// When it cannot be built, or its baseline is no ground for a repair.
pub fn prepare<'a>(
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
    phases: &mut Phases,
) -> Result<Prepared, RepairError> {
    let events = surroundings.events;
    let suite = project.require_tests()?;
    if project.build.is_none() {
        return Err(RepairError::Record(RecordError::NoBuild {
            root: project.root.clone(),
        }));
    }
    let started = Instant::now();
    let journal = patchwright_exec::open_wanted_journal(
        options.journal.as_ref(),
        |place| Journal::open(project, options, place),
        |warning| (surroundings.events)(Event::Warning(warning)),
    )?;
    events(Event::Phase("copying the project"));
    let mut worker = Worker::start(
        0,
        "base",
        &worker_options(project, &project.root, surroundings),
    )?;
    for (file, text) in &options.replaced {
        worker.sandbox.write(file, text, None)?;
    }
    phases.copy = started.elapsed();
    for skipped in worker.sandbox.skipped() {
        events(Event::Warning(format!(
            "{} is no regular file and is not in the copy",
            skipped.display()
        )));
    }
    let started = Instant::now();
    events(Event::Phase("building the program"));
    let remembered = Remembered::of(project, options.kept.as_ref());
    // With a change it is another program, and without a view what is built names the copy.
    let is_same = options.replaced.is_empty() && worker.runner.view_active();
    let remembered = remembered.filter(|_| is_same);
    let kept = remembered.as_ref().map(|kept| (&*kept.cache, kept.key));
    let least = remembered.as_ref().map_or(Duration::MAX, |kept| kept.least);
    let (commands, built) = record_kept_build(&mut worker, project, kept, least)?;
    phases.build = started.elapsed();
    let compiling = A_SOURCE.saturating_mul(u32::try_from(commands.len()).unwrap_or(u32::MAX));
    phases.whole_build = built.unwrap_or(phases.build).max(compiling);
    let started = Instant::now();
    let known = journal.as_ref().and_then(Journal::baseline).cloned();
    let mut taken_over = 0;
    let baseline = match known {
        Some(baseline) => baseline,
        None => {
            events(Event::Phase("running the tests of the untouched program"));
            let measuring = BaselineOptions {
                limits: project.limits.clone(),
                prove_endless: true,
                patience: Patience::within(options.budget),
                ..Default::default()
            };
            let (baseline, known) = remembered::baseline(
                remembered.as_ref(),
                suite,
                &measuring,
                &mut worker,
                &mut |done, total| events(Event::Progress { done, total }),
            )?;
            taken_over = known;
            // With more time a test may be waited for for longer.
            let is_cut =
                options.budget.is_some() && baseline.tests.iter().any(|test| test.lost_patience);
            if let (Some(journal), false) = (&journal, is_cut) {
                journal.keep_baseline(&baseline)?;
            }
            baseline
        }
    };
    if built.is_some() || taken_over > 0 {
        let build = if built.is_some() {
            "what the build made"
        } else {
            ""
        };
        let and = if built.is_some() && taken_over > 0 {
            " and "
        } else {
            ""
        };
        let verdicts = match taken_over {
            0 => String::new(),
            1 => "the verdict of 1 test".to_owned(),
            many => format!("the verdicts of {many} tests"),
        };
        events(Event::Note(format!(
            "an earlier run on the same files has left {build}{and}{verdicts}; --no-cache does not use them"
        )));
    }
    phases.baseline = started.elapsed();
    phases.all_tests = baseline.tests.iter().map(|test| test.durations[0]).sum();
    for test in baseline.flaky() {
        events(Event::Warning(format!(
            "test {} is flaky: it passed once and failed once without any change; it is set aside",
            test.name
        )));
    }
    let told = baseline
        .impatience()
        .chain(baseline.trailing_whitespace())
        .chain(baseline.without_newline(suite))
        .chain(baseline.leaks())
        .chain(surroundings.scratch.attempts().news());
    for told in told {
        events(Event::Warning(told));
    }
    let failing: Vec<usize> = baseline.failing().map(|test| test.index).collect();
    let passing: Vec<usize> = baseline.passing().map(|test| test.index).collect();
    check_baseline(&baseline, suite, options)?;
    events(Event::Note(baseline.failures()));
    if let Some(slowest) = baseline.slowest() {
        events(Event::Note(slowest));
    }
    if passing.is_empty() {
        let nothing_holds = "no test passes, so no test protects what works; tests that pass \
                             make wrong patches rarer";
        events(Event::Warning(nothing_holds.to_owned()));
    }
    let test_sources = match project.files.is_empty() {
        true => test_sources(&all_sources(&commands, &worker.sandbox), &worker.sandbox),
        false => BTreeSet::new(),
    };
    if let Some(first) = test_sources.first() {
        let more = match test_sources.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        events(Event::Warning(format!(
            "{first}{more} looks like a test by its name or folder, or includes one, so no changes are sought there; --files {first} has it searched",
            first = first.display(),
        )));
    }
    Ok(Prepared {
        test_sources,
        // Two builds, and three times the tests.
        scrutiny_time: phases.whole_build * 2 + phases.all_tests * 3,
        worker,
        commands,
        baseline,
        suite: suite.clone(),
        limits: project.limits.clone(),
        failing,
        passing,
        focus: None,
        looked_at: LookedAt::default(),
        journal,
        declaration_time: AtomicU64::new(0),
        remembered,
        scrutiny: OnceLock::new(),
        again: None,
        measuring: Mutex::new(()),
        halves: Mutex::default(),
        checks: Checks::default(),
    })
}

/// Checks that the tests of the untouched program permit a repair.
///
/// # Errors
/// No test fails, or only flaky ones do. All tests of a driver fail: mostly the driver is wrong. All cases fail, one of them only by
/// unexpected whitespace: mostly the comparison is wrong.
fn check_baseline(
    baseline: &Baseline,
    suite: &TestSuite,
    options: &RepairOptions,
) -> Result<(), RepairError> {
    let Some(first) = baseline.failing().next() else {
        let names: Vec<&str> = baseline.flaky().map(|test| test.name.as_str()).collect();
        if names.is_empty() {
            return Err(RepairError::NothingFails {
                tests: baseline.tests.len(),
            });
        }
        return Err(RepairError::OnlyFlaky {
            names: names.join(", "),
        });
    };
    let is_usual = suite.tests.len() == 1
        || !suite.tests.iter().any(Test::is_driven) && !baseline.has_unexpected_whitespace();
    let may_all_fail = options.allow_all_failing || is_usual;
    if baseline.passing().next().is_none() && !may_all_fail {
        return Err(RepairError::EverythingFails {
            tests: baseline.tests.len(),
            reason: first.failure(),
        });
    }
    Ok(())
}
