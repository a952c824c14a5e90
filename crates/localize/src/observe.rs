//! Builds the program with a mark at every statement, and records which statements each test executes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_csource::{Clang, ParseError, Refusal, parse_statements};
use patchwright_exec::{
    Baseline, BuildError, Cache, CompileCommand, FileSelection, Limits, Runner, TestSuite, Worker,
    WorkerOptions, files, includers, put_source, run_build, run_test, runner::Environment,
};
use patchwright_probe_image::{PROBE, PROBE_FILE, ProcessEnd, TRACE_FILE, Trace};
use patchwright_text::{Digest, Hasher, LineMap, Span};
use patchwright_weave::{Mark, mark_file};
use serde::{Deserialize, Serialize};

use crate::LocalizeError;
use crate::blame::{WovenFile, blamed_functions};
use crate::crash;
use crate::formula::{Counts, Formula};
use crate::narrow;
use crate::rank::Ranking;
use crate::statements::{self, FunctionInfo, SourceFile, Statement};

/// How often functions whose marked text does not compile are left out before giving up.
const ATTEMPTS: usize = 12;

/// Functions that are taken from what a process executed last, as if they were a stack.
const RECENT_FUNCTIONS: usize = 5;

/// Sources that are read at once: a large one takes some hundred megabytes.
const READERS: usize = 4;

/// The largest number of tests that are named in a message.
const MOST_NAMED: usize = 5;

/// Time for a test with marks: so many times its time-out.
pub(crate) const TIMEOUT_FACTOR: u32 = 3;

/// The name of the copy with marks.
const MARKED: &str = "marked";

/// The built, untouched program with its tests and their baseline, which [`localize`] observes.
pub struct Subject<'a> {
    /// The built copy; its sources are read.
    pub worker: &'a mut Worker,
    /// How to make a copy of it.
    pub copy: WorkerOptions<'a>,
    /// The sources to look at, relative to the root, and all ways in which they are compiled.
    pub sources: &'a [(PathBuf, Vec<CompileCommand>)],
    /// Only statements on these lines are looked at; all if it is empty.
    pub selections: &'a [FileSelection],
    /// The command that builds the program.
    pub build: &'a OsStr,
    /// The tests.
    pub suite: &'a TestSuite,
    /// Their verdicts.
    pub baseline: &'a Baseline,
    /// Their limits.
    pub limits: &'a Limits,
    /// Sources that may be read at once.
    pub jobs: usize,
    /// Where what tests execute is kept for later runs, the name of the program there, and how long finding it out has to take.
    pub kept: Option<(&'a Cache, Digest, Duration)>,
    /// Receives messages about the progress.
    pub events: &'a (dyn Fn(Event) + Sync),
}

/// A message of a localization about its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A phase begins.
    Phase(&'static str),
    /// Progress inside of a phase.
    Progress {
        /// Steps done.
        done: usize,
        /// Steps in all.
        total: usize,
    },
    /// Something the user wants to know.
    Note(String),
    /// Something the user should know.
    Warning(String),
}

/// The statements that one test executes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCoverage {
    /// The test, by its index in the suite.
    pub test: usize,
    /// Its verdict.
    pub passes: bool,
    /// The statements that it executes, ascending.
    pub executed: Vec<u32>,
    /// Where it crashed: the statements of the stack, innermost first. Empty when it did not crash.
    pub crash: Vec<u32>,
    /// Where the memory was freed that it used, or allocated beyond whose end it used something, if a report says so: the statements of the
    /// stack, innermost first.
    pub heap: Vec<u32>,
}

/// The statements of a program, and which tests execute them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Localization {
    /// The sources with statements.
    pub files: Vec<SourceFile>,
    /// Their functions.
    pub functions: Vec<FunctionInfo>,
    /// Their statements; ids are indices.
    pub statements: Vec<Statement>,
    /// The tests that count: neither flaky nor of another verdict with marks.
    pub tests: Vec<TestCoverage>,
    /// Functions without marks, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Tests that do not count, by index in the suite: marks change their verdict, what they execute cannot be seen, or they fail and execute
    /// no statement.
    pub set_aside: Vec<usize>,
}

impl Localization {
    /// Ranks the statements that failing tests execute, and their functions and files.
    pub fn rank(&self, formula: Formula) -> Ranking {
        Ranking::new(self, formula)
    }

    /// Returns for each of `count` groups the number of tests that execute one of its statements.
    pub(crate) fn counts(&self, count: usize, group_of: impl Fn(usize) -> usize) -> Vec<Counts> {
        let all_failing = self.tests.iter().filter(|test| !test.passes).count();
        let mut counts = vec![
            Counts {
                all_failing,
                all_passing: self.tests.len() - all_failing,
                ..Counts::default()
            };
            count
        ];
        for test in &self.tests {
            let executed = test.executed.iter().map(|&id| group_of(id as usize));
            for group in executed.collect::<BTreeSet<usize>>() {
                match test.passes {
                    true => counts[group].passing += 1,
                    false => counts[group].failing += 1,
                }
            }
        }
        counts
    }

    /// Returns the number of the smallest statement of a file whose text contains `span`.
    pub fn innermost(&self, file: usize, span: Span) -> Option<u32> {
        let first = self.files.get(file)?.first as usize;
        let rest = self.statements.get(first..)?;
        let count = rest.partition_point(|one| one.file == file);
        rest[..count]
            .iter()
            .enumerate()
            .filter(|(_, one)| one.span.contains_span(span))
            .min_by_key(|(_, one)| one.span.len())
            .map(|(index, _)| (first + index) as u32)
    }

    /// Returns the numbers of a file's statements and operands of conditions that stand in `span`.
    pub fn inside(&self, file: usize, span: Span) -> impl Iterator<Item = u32> {
        let first = self
            .files
            .get(file)
            .map_or(usize::MAX, |file| file.first as usize);
        let rest = self.statements.get(first..).unwrap_or_default();
        let own = (first as u32..).zip(rest);
        own.take_while(move |(_, one)| one.file == file)
            .filter(move |(_, one)| span.contains_span(one.span))
            .map(|(id, _)| id)
    }

    /// The smallest statement on a line of a file that `wanted` accepts.
    fn on_line(&self, file: usize, line: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        (0u32..)
            .zip(&self.statements)
            .filter(|(id, one)| {
                one.file == file && (one.line..=one.last_line).contains(&line) && wanted(*id)
            })
            .min_by_key(|(_, one)| one.span.len())
            .map(|(id, _)| id)
    }
}

/// A file that is going to be marked.
struct Plan {
    host_path: PathBuf,
    /// The sources that include it, if no command compiles it by itself.
    includers: Vec<PathBuf>,
    marks: Vec<Mark>,
    /// Number of its statements.
    count: u32,
}

/// Reads the sources that failing tests execute, or all where no test fails, marks their statements, builds the program, and runs
/// each test once, flaky ones aside.
///
/// # Errors
/// When there are no statements, or the marked program cannot be built or observed.
pub fn localize(subject: &mut Subject<'_>) -> Result<Localization, LocalizeError> {
    let executed = narrow::executed(subject)?;
    let found = match &executed {
        None => return observe_or_recall(subject, MARKED),
        Some(sources) => observe_or_recall(
            &mut Subject {
                worker: &mut *subject.worker,
                copy: subject.copy.clone(),
                sources,
                ..*subject
            },
            MARKED,
        ),
    };
    match found {
        // The program that was watched may not be the one that the build makes.
        Err(LocalizeError::NothingExecuted { .. } | LocalizeError::NoStatements { .. }) => {
            observe_or_recall(subject, "marked-all")
        }
        found => found,
    }
}

/// Does all that for the sources of a subject, or knows it from an earlier run.
fn observe_or_recall(subject: &mut Subject<'_>, copy: &str) -> Result<Localization, LocalizeError> {
    let Some((cache, program, least)) = subject.kept else {
        return observe(subject, copy);
    };
    let key = key(subject, program);
    let known = cache.get(key);
    if let Some(known) = known.and_then(|known| serde_json::from_slice(&known).ok()) {
        let told = "what the tests execute is known from an earlier run";
        (subject.events)(Event::Note(told.to_owned()));
        return Ok(known);
    }
    let started = Instant::now();
    let found = observe(subject, copy)?;
    // A path that is no text is not kept.
    if started.elapsed() >= least
        && let Ok(text) = serde_json::to_vec(&found)
    {
        cache.put(key, &text);
    }
    Ok(found)
}

/// Names all that an observation depends on.
fn key(subject: &Subject<'_>, program: Digest) -> Digest {
    let mut hasher = Hasher::new();
    hasher
        .field("executed")
        .field(program.to_string())
        .field(format!("{:?}", subject.sources))
        .field(format!("{:?}", subject.selections))
        .field(format!("{:?}", subject.suite));
    for test in &subject.baseline.tests {
        hasher.field(format!("{} {}", test.verdict.is_pass(), test.flaky));
    }
    hasher.finish()
}

/// Does all that for the sources of a subject, in a copy of this name.
fn observe(subject: &mut Subject<'_>, copy: &str) -> Result<Localization, LocalizeError> {
    let events = subject.events;
    let (mut found, mut plans) = read(subject)?;
    if found.statements.is_empty() {
        let reason = found.refused.keys().next().cloned();
        return Err(LocalizeError::NoStatements { reason });
    }
    events(Event::Phase("marking statements and building"));
    let mut worker = Worker::start(0, copy, &subject.copy)?;
    for (plan, file) in plans.iter_mut().zip(&found.files) {
        plan.host_path = worker.sandbox.folder().join(&file.relative);
        let mut sources = subject.sources.iter();
        if let Some((_, commands)) = sources.find(|(relative, _)| *relative == file.relative) {
            plan.includers = includers(commands, &subject.worker.sandbox);
        }
    }
    let run = subject.copy.scratch.run_path();
    build_marked(&mut worker, subject.build, &plans, &mut found, events, &run)?;
    events(Event::Phase("running the tests to see what they execute"));
    let probe = subject.copy.scratch.path().join("trace-probe.so");
    files::write_atomic(&probe, PROBE)?;
    let trace = Trace::create(&worker.shared, found.statements.len() as u32)?;
    for (file, name) in [(probe.as_path(), PROBE_FILE), (trace.path(), TRACE_FILE)] {
        let link = worker.run_folder().join(name);
        files::remove_file(&link)?;
        files::create_link(file, &link)?;
    }
    run_tests(&mut worker, subject, &trace, &probe, &mut found)?;
    Ok(found)
}

/// Reads the sources, several at once, and numbers their statements.
fn read(subject: &mut Subject<'_>) -> Result<(Localization, Vec<Plan>), LocalizeError> {
    let events = subject.events;
    events(Event::Phase("reading the sources"));
    let clang = Clang::find(&mut subject.worker.runner)?;
    let sandbox = &subject.worker.sandbox;
    // More of them see the same copy.
    let more = subject.jobs.min(READERS).min(subject.sources.len());
    let mut readers = Vec::new();
    for _ in 1..more {
        readers.push(subject.worker.runner.twin()?);
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, FileResult>> = Mutex::default();
    let work = |runner: &mut Runner| {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((relative, commands)) = subject.sources.get(index)
        {
            let total = subject.sources.len();
            events(Event::Progress { done: index, total });
            let result = read_file(&clang, runner, &sandbox.folder().join(relative), commands);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(index, result);
        }
    };
    let own = &mut subject.worker.runner;
    std::thread::scope(|scope| {
        for reader in &mut readers {
            scope.spawn(|| work(reader));
        }
        work(own);
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = Localization::default();
    let mut plans = Vec::new();
    for (index, result) in results {
        let relative = &subject.sources[index].0;
        let (source, own) = match result {
            Ok(read) => read,
            Err(LocalizeError::Parse(error @ ParseError::Rejected { .. }))
                if subject.selections.is_empty() =>
            {
                events(Event::Warning(format!("{error}; the file is left alone")));
                let reason = Refusal::NotAccepted.reason().to_owned();
                *found.refused.entry(reason).or_default() += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        for refusal in &own.refused {
            *found
                .refused
                .entry(refusal.reason().to_owned())
                .or_default() += 1;
        }
        plans.extend(add_file(
            &mut found,
            relative,
            source,
            own,
            subject.selections,
        ));
    }
    Ok((found, plans))
}

type FileResult = Result<(Vec<u8>, statements::Found), LocalizeError>;

fn read_file(
    clang: &Clang,
    runner: &mut Runner,
    path: &Path,
    commands: &[CompileCommand],
) -> FileResult {
    let source = files::read(path)?;
    let units = parse_statements(clang, runner, commands, &source)?;
    let own = statements::find(&source, &units);
    Ok((source, own))
}

/// Adds a file's statements, as far as they are selected; `None` if there are none.
fn add_file(
    found: &mut Localization,
    relative: &Path,
    source: Vec<u8>,
    own: statements::Found,
    selections: &[FileSelection],
) -> Option<Plan> {
    let wanted = |line: u32| {
        selections.is_empty()
            || selections
                .iter()
                .any(|selection| selection.covers(relative) && selection.contains_line(line))
    };
    let (file, first) = (found.files.len(), found.statements.len() as u32);
    let function = found.functions.len();
    let mut marks = Vec::new();
    for (statement, mark) in own.statements.into_iter().zip(own.marks) {
        if !wanted(statement.line) {
            continue;
        }
        marks.push(Mark {
            number: marks.len() as u32,
            ..mark
        });
        found.statements.push(Statement {
            file,
            function: function + statement.function,
            ..statement
        });
    }
    if marks.is_empty() {
        return None;
    }
    let functions = own.functions.into_iter();
    found
        .functions
        .extend(functions.map(|info| FunctionInfo { file, ..info }));
    found.files.push(SourceFile {
        relative: relative.to_path_buf(),
        source,
        first,
    });
    Some(Plan {
        host_path: PathBuf::new(),
        includers: Vec::new(),
        count: marks.len() as u32,
        marks,
    })
}

/// Writes the marked files and builds them. Functions in which the compiler finds errors lose their marks.
fn build_marked(
    worker: &mut Worker,
    build: &OsStr,
    plans: &[Plan],
    found: &mut Localization,
    events: &(dyn Fn(Event) + Sync),
    run: &Path,
) -> Result<(), LocalizeError> {
    let mut left_out: BTreeSet<usize> = BTreeSet::new();
    for attempt in 0.. {
        for (plan, file) in plans.iter().zip(&found.files) {
            let function_of =
                |mark: &Mark| found.statements[(file.first + mark.number) as usize].function;
            let marks: Vec<Mark> = plan
                .marks
                .iter()
                .filter(|mark| !left_out.contains(&function_of(mark)))
                .copied()
                .collect();
            let woven = match mark_file(&file.source, file.first, plan.count, &marks, Some(run)) {
                Ok(woven) => woven,
                Err(error) => {
                    let name = file.relative.display();
                    events(Event::Warning(format!(
                        "the statements of {name} cannot be observed: {error}"
                    )));
                    left_out.extend(plan.marks.iter().map(function_of));
                    file.source.clone()
                }
            };
            if files::read(&plan.host_path)? != woven {
                put_source(&worker.sandbox, &file.relative, &woven, &plan.includers)?;
            }
        }
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &Environment::default(),
            &Limits::for_build(),
        );
        let error = match built {
            Ok(_) => break,
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(error) if attempt >= ATTEMPTS => return Err(LocalizeError::MarkedBuild(error)),
            Err(error) => error,
        };
        let woven: Vec<WovenFile<'_>> = (0..)
            .zip(&found.files)
            .map(|(index, file)| WovenFile {
                relative: &file.relative,
                source: &file.source,
                functions: (0u32..)
                    .zip(&found.functions)
                    .filter(|(id, info)| info.file == index && !left_out.contains(&(*id as usize)))
                    .map(|(id, info)| (id, info.name.as_str(), info.body))
                    .collect(),
            })
            .collect();
        let blamed = blamed_functions(&error.to_string(), &woven);
        if blamed.is_empty() {
            return Err(LocalizeError::MarkedBuild(error));
        }
        for (id, name) in blamed {
            events(Event::Warning(format!(
                "the compiler does not accept function {name} with marks; its statements are not observed"
            )));
            left_out.insert(id as usize);
        }
    }
    if !left_out.is_empty() {
        let reason = "its marked text does not compile (a bug of Patchwright)".to_owned();
        found.refused.insert(reason, left_out.len());
    }
    Ok(())
}

/// What a run of a test showed.
struct Observed {
    coverage: TestCoverage,
    frames: Vec<crash::Frame>,
    heap_frames: Vec<crash::Frame>,
    ends: Vec<ProcessEnd>,
}

fn run_tests(
    worker: &mut Worker,
    subject: &Subject<'_>,
    trace: &Trace,
    probe: &Path,
    found: &mut Localization,
) -> Result<(), LocalizeError> {
    let mut environment = subject.suite.environment.clone();
    for (name, value) in trace.environment(probe) {
        environment.set.insert(name.into(), value);
    }
    // Failing tests first: if they are not observed, the others need not be run.
    let baseline = subject.baseline;
    let tests: Vec<_> = baseline.failing().chain(baseline.passing()).collect();
    let failing = baseline.failing().count();
    let mut attached = false;
    let mut observed = Vec::new();
    let mut unobserved: Vec<&str> = Vec::new();
    for (done, known) in tests.iter().enumerate() {
        (subject.events)(Event::Progress {
            done,
            total: tests.len(),
        });
        trace.reset();
        let limits = Limits {
            wall: known.timeout * TIMEOUT_FACTOR,
            // What a handler executes when we end the test says nothing about it.
            term_grace: Duration::ZERO,
            ..known.limits(subject.limits, true)
        };
        let test = &subject.suite.tests[known.index];
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            test,
            &environment,
            &limits,
        )?;
        attached |= trace.attached() > 0;
        if !attached && done + 1 == failing {
            return Err(LocalizeError::NothingAttached {
                test: tests[0].name.clone(),
                failure: tests[0].failure(),
            });
        }
        if run.verdict.is_pass() != known.verdict.is_pass() {
            (subject.events)(Event::Warning(format!(
                "test {} has another verdict when statements are observed; it does not count",
                known.name
            )));
            found.set_aside.push(known.index);
            continue;
        }
        if trace.attached() == 0 {
            unobserved.push(&known.name);
            // What a passing test executes that was not seen must not count as not executed.
            if run.verdict.is_pass() {
                found.set_aside.push(known.index);
                continue;
            }
        }
        let outputs = [&run.outcome.stderr, &run.outcome.stdout];
        let first = |frames: fn(&[u8]) -> Vec<crash::Frame>| {
            let mut found = outputs.iter().map(|output| frames(output));
            found.find(|frames| !frames.is_empty()).unwrap_or_default()
        };
        let (frames, heap_frames) = (first(crash::reported_frames), first(crash::heap_frames));
        observed.push(Observed {
            coverage: TestCoverage {
                test: known.index,
                passes: run.verdict.is_pass(),
                executed: trace.executed(),
                crash: Vec::new(),
                heap: Vec::new(),
            },
            frames,
            heap_frames,
            ends: trace.ends(),
        });
    }
    if !unobserved.is_empty() {
        (subject.events)(Event::Warning(format!(
            "these tests cannot be observed, so they do not count for the ranking: {}",
            listed(&unobserved)
        )));
    }
    let mut of_failing = observed.iter().filter(|one| !one.coverage.passes);
    if failing > 0 && of_failing.clone().next().is_none() {
        return Err(LocalizeError::MarkedDiffers);
    }
    if failing > 0 && of_failing.all(|one| one.coverage.executed.is_empty()) {
        return Err(LocalizeError::NothingExecuted {
            statements: found.statements.len(),
        });
    }
    let is_idle = |one: &Observed| !one.coverage.passes && one.coverage.executed.is_empty();
    let idle: Vec<usize> = observed
        .iter()
        .filter(|one| is_idle(one))
        .map(|one| one.coverage.test)
        .collect();
    if !idle.is_empty() {
        let tests = baseline.tests.iter();
        let names: Vec<&str> = tests
            .filter(|test| idle.contains(&test.index))
            .map(|test| test.name.as_str())
            .collect();
        (subject.events)(Event::Warning(format!(
            "these failing tests execute no statement of the program, so they do not count for the ranking: {}",
            listed(&names)
        )));
        observed.retain(|one| !is_idle(one));
        found.set_aside.extend(idle);
    }
    // Where processes also end in passing tests is no crash: perhaps a server that its test ends.
    let usual: BTreeSet<u32> = observed
        .iter()
        .filter(|one| one.coverage.passes)
        .flat_map(|one| sudden_ends(one, found))
        .map(|stack| stack[0])
        .collect();
    let root = worker.sandbox.run_root();
    for one in observed.iter_mut().filter(|one| !one.coverage.passes) {
        one.coverage.heap = stack(&one.heap_frames, one, found, root);
        one.coverage.crash = match stack(&one.frames, one, found, root) {
            stack if stack.is_empty() => sudden_ends(one, found)
                .into_iter()
                .find(|stack| !usual.contains(&stack[0]))
                .unwrap_or_default(),
            stack => stack,
        };
    }
    found.tests = observed.into_iter().map(|one| one.coverage).collect();
    Ok(())
}

/// The first of some names.
fn listed(names: &[&str]) -> String {
    let few = names.len().min(MOST_NAMED);
    match names.len() - few {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..few].join(", ")),
    }
}

/// The statements in the frames of a report, innermost first.
fn stack(frames: &[crash::Frame], one: &Observed, found: &Localization, root: &Path) -> Vec<u32> {
    let paths = found.files.iter().map(|file| file.relative.as_path());
    let executed: BTreeSet<u32> = one.coverage.executed.iter().copied().collect();
    let mut stack = Vec::new();
    for frame in frames {
        let statement = crash::file_meant(&frame.file, root, paths.clone())
            .and_then(|file| found.on_line(file, frame.line, |id| executed.contains(&id)));
        stack.extend(statement.filter(|id| !stack.contains(id)));
    }
    stack
}

/// Returns where each process of a test ended that neither exited nor became another program: its last statement, and the last
/// one of each function before.
fn sudden_ends(one: &Observed, found: &Localization) -> Vec<Vec<u32>> {
    let mut ends = Vec::new();
    for (place, end) in one.ends.iter().enumerate() {
        let mut later = one.ends[place + 1..].iter();
        if end.exited || later.any(|other| other.process == end.process) {
            continue;
        }
        let mut functions = BTreeSet::new();
        let stack: Vec<u32> = end
            .recent
            .iter()
            .copied()
            .filter(|&id| functions.insert(found.statements[id as usize].function))
            .take(RECENT_FUNCTIONS)
            .collect();
        // The arguments of `_exit` may have been what was executed last.
        let leaves = stack.iter().any(|&id| found.statements[id as usize].leaves);
        if !leaves && !stack.is_empty() {
            ends.push(stack);
        }
    }
    ends
}

/// Returns the first line of a statement's text, without blanks around it.
pub fn first_line(file: &SourceFile, statement: &Statement) -> String {
    let text = statement.span.slice(&file.source).unwrap_or_default();
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).trim().to_owned()
}

/// Returns the lines of a file, without line ends.
pub fn lines_of(file: &SourceFile) -> Vec<String> {
    let map = LineMap::new(&file.source);
    (1..=map.line_count())
        .filter_map(|line| map.line_span(line))
        .map(|span| {
            let text = span.slice(&file.source).unwrap_or_default();
            String::from_utf8_lossy(text).trim_end().to_owned()
        })
        .collect()
}
