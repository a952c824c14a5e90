//! Versions executed as they are, on the inputs of tests and on inputs that are like these. What differs was *seen*; nothing
//! is proved by it.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_compare::{Case, Mutator, shrunk};
use patchwright_exec::{
    Ending, Limits, Outcome, Request, RunError, Runner, Worker, files,
    runner::{Overflow, Stdin},
};

use crate::encoded::Problem;

/// A version that has been built.
pub struct Built {
    /// Its copy.
    pub worker: Worker,
    /// The program, relative to the copy's root, or absolute.
    pub program: PathBuf,
}

/// What an execution did, as far as somebody outside sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ran {
    /// How it ended.
    pub ending: String,
    /// It was ended by a signal.
    pub crashed: bool,
    /// It was ended because it took too long.
    pub endless: bool,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub errors: Vec<u8>,
    /// Files that it has written, of a case that has files: their names and what they hold; nothing for one that is gone.
    pub written: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

/// An input for which versions do different things.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The input.
    pub case: Case,
    /// The test that it was made of.
    pub of: String,
    /// What each version did.
    pub ran: Vec<Ran>,
    /// Seconds after the beginning.
    pub after: f64,
}

/// What a search did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Inputs that all versions were executed with.
    pub inputs: usize,
    /// Of these, inputs of tests.
    pub of_tests: usize,
    /// Inputs for which something differed.
    pub differing: usize,
    /// The first of each kind of difference, made small.
    pub seen: Vec<Seen>,
    /// Inputs with which one version does not always do the same; only what is steady was compared.
    pub unsteady: Vec<String>,
}

/// How far a search goes.
pub struct Extent<'a> {
    /// It ends then.
    pub end: Instant,
    /// Inputs at most.
    pub inputs: usize,
    /// Kinds of differences after which it ends.
    pub kinds: usize,
    /// Once something was found, so long it is looked for something else; without it until the end.
    pub patience: Option<Duration>,
    /// It ends when this says so.
    pub interrupt: &'a dyn Fn() -> bool,
}

/// Wall-clock time of an execution at most, until it is known what one takes.
const PATIENCE: Duration = Duration::from_secs(5);
/// Cases with the most words of what has changed that others are made of more often.
const MOST_RELEVANT: usize = 12;
/// Bytes that are printed at most.
const OUTPUT: u64 = 4 << 20;

impl Built {
    /// Executes the program.
    ///
    /// # Errors
    /// When it cannot be executed.
    pub fn run(&mut self, case: &Case, wall: Duration) -> Result<Ran, Problem> {
        let root = self.worker.sandbox.run_root().to_path_buf();
        let mut program = match self.program.components().count() {
            1 => PathBuf::from(".").join(&self.program),
            _ => self.program.clone(),
        };
        let mut folder = root.clone();
        if !case.files.is_empty() {
            self.lay(case)?;
            program = root.join(&self.program);
            folder = root.join(OWN);
        }
        let words = case
            .arguments
            .iter()
            .map(|word| OsString::from_vec(word.clone()));
        let mut request = Request::new(program, folder)
            .args(words)
            .stdin(Stdin::Bytes(case.input.clone()));
        request.repeated = true;
        request.overflow = Overflow::Discard;
        request.limits = Limits {
            output: OUTPUT,
            memory: Some(1 << 30),
            ..Limits::with_wall(wall)
        };
        let outcome = execute(&mut self.worker.runner, &request)?;
        let shown = |text: Vec<u8>| replaced(text, root.as_os_str().as_bytes());
        Ok(Ran {
            ending: match outcome.ending {
                Ending::Exited(status) => format!("exit {status}"),
                other => other.to_string(),
            },
            crashed: matches!(outcome.ending, Ending::Signaled(_)),
            endless: matches!(outcome.ending, Ending::TimedOut(_)),
            output: shown(outcome.stdout),
            errors: shown(outcome.stderr),
            written: match case.files.is_empty() {
                true => BTreeMap::new(),
                false => self.written(case)?,
            },
        })
    }

    /// Puts the files of a case where the program is started.
    fn lay(&self, case: &Case) -> Result<(), Problem> {
        let folder = self.worker.sandbox.folder().join(OWN);
        if folder.exists() {
            files::remove_tree(&folder).map_err(Problem::of)?;
        }
        files::create_folder(&folder).map_err(Problem::of)?;
        for (name, held) in &case.files {
            let path = folder.join(Path::new(OsStr::from_bytes(name)));
            if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
                files::create_output_folder(parent).map_err(Problem::of)?;
            }
            files::write_atomic(&path, held).map_err(Problem::of)?;
        }
        Ok(())
    }

    /// What has become of them, and what is new.
    fn written(&self, case: &Case) -> Result<BTreeMap<Vec<u8>, Option<Vec<u8>>>, Problem> {
        let folder = self.worker.sandbox.folder().join(OWN);
        let mut all: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
        for (name, held) in files_in(&folder) {
            all.insert(name, Some(held));
        }
        for (name, held) in &case.files {
            match all.get(name) {
                Some(Some(now)) if now == held => {
                    all.remove(name);
                }
                Some(_) => {}
                None => {
                    all.insert(name.clone(), None);
                }
            }
        }
        Ok(all)
    }
}

/// The folder that a program is started in whose case has files, within the copy.
const OWN: &str = ".patchwright-case";
/// Bytes of a file that are looked at, and files of a folder, at most.
const MOST_BYTES: u64 = 1 << 20;
const MOST_FILES: usize = 256;

/// The regular files below a folder, their names relative to it, and what they hold; not those that are too large.
pub fn files_in(folder: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut paths = files::regular_files_below(folder).unwrap_or_default();
    paths.sort();
    let mut all = Vec::new();
    for path in paths.into_iter().take(MOST_FILES) {
        let is_small = path.metadata().is_ok_and(|one| one.len() <= MOST_BYTES);
        let Ok(name) = path.strip_prefix(folder) else {
            continue;
        };
        if let (true, Ok(held)) = (is_small, files::read(&path)) {
            all.push((name.as_os_str().as_bytes().to_vec(), held));
        }
    }
    all
}

fn execute(runner: &mut Runner, request: &Request) -> Result<Outcome, Problem> {
    runner.run(request).map_err(|error| match error {
        RunError::Cancelled => Problem::Interrupted,
        other => Problem::of(other),
    })
}

/// Versions lie in different folders, whose names they may print.
fn replaced(text: Vec<u8>, root: &[u8]) -> Vec<u8> {
    if root.len() < 2 || !text.windows(root.len()).any(|part| part == root) {
        return text;
    }
    let mut new = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(root) {
            new.extend_from_slice(b"FOLDER");
            at += root.len();
        } else {
            new.push(text[at]);
            at += 1;
        }
    }
    new
}

/// In what two executions differ; nothing if in nothing that is steady.
fn difference(a: &Ran, b: &Ran, steady: &Steady) -> Option<&'static str> {
    let ends = match (a.endless, b.endless) {
        (false, false) => a.ending != b.ending,
        (one, other) => one != other,
    };
    if ends && steady.ending {
        return Some(match (a.crashed, b.crashed, a.endless, b.endless) {
            (false, true, ..) => "NEW crashes",
            (true, false, ..) => "OLD crashes",
            (.., false, true) => "NEW does not end",
            (.., true, false) => "OLD does not end",
            _ => "the exit status",
        });
    }
    if a.endless || b.endless {
        return None;
    }
    match () {
        () if steady.output.differ(&a.output, &b.output) => Some("the output"),
        () if steady.written && a.written != b.written => Some("what it writes to files"),
        () if steady.errors.differ(&a.errors, &b.errors) => Some("the output to standard error"),
        () => None,
    }
}

/// What is the same each time a version is executed with an input.
struct Steady {
    ending: bool,
    written: bool,
    output: Lines,
    errors: Lines,
}

enum Lines {
    /// All of them.
    All,
    /// All but these.
    But(BTreeSet<usize>),
    /// Not even how many there are.
    None,
}

impl Lines {
    fn of(texts: &[&[u8]]) -> Lines {
        if texts.windows(2).all(|pair| pair[0] == pair[1]) {
            return Lines::All;
        }
        let lines: Vec<Vec<&[u8]>> = texts
            .iter()
            .map(|text| text.split(|byte| *byte == b'\n').collect())
            .collect();
        if lines.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Lines::None;
        }
        let varies = |line: &usize| {
            lines
                .windows(2)
                .any(|pair| pair[0][*line] != pair[1][*line])
        };
        Lines::But((0..lines[0].len()).filter(varies).collect())
    }

    fn and(self, other: Lines) -> Lines {
        match (self, other) {
            (Lines::All, one) | (one, Lines::All) => one,
            (Lines::But(a), Lines::But(b)) => Lines::But(a.union(&b).copied().collect()),
            _ => Lines::None,
        }
    }

    fn differ(&self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Lines::All => a != b,
            Lines::None => false,
            Lines::But(left_out) => {
                let a: Vec<&[u8]> = a.split(|byte| *byte == b'\n').collect();
                let b: Vec<&[u8]> = b.split(|byte| *byte == b'\n').collect();
                a.len() != b.len()
                    || (0..a.len()).any(|at| !left_out.contains(&at) && a[at] != b[at])
            }
        }
    }

    fn is_all(&self) -> bool {
        matches!(self, Lines::All)
    }
}

impl Steady {
    const ALL: Steady = Steady {
        ending: true,
        written: true,
        output: Lines::All,
        errors: Lines::All,
    };

    /// What is steady of executions of one version.
    fn of(runs: &[Ran]) -> Steady {
        let output: Vec<&[u8]> = runs.iter().map(|ran| &ran.output[..]).collect();
        let errors: Vec<&[u8]> = runs.iter().map(|ran| &ran.errors[..]).collect();
        Steady {
            ending: runs.windows(2).all(|pair| {
                (&pair[0].ending, pair[0].endless) == (&pair[1].ending, pair[1].endless)
            }),
            written: runs
                .windows(2)
                .all(|pair| pair[0].written == pair[1].written),
            output: Lines::of(&output),
            errors: Lines::of(&errors),
        }
    }

    fn and(self, other: Steady) -> Steady {
        Steady {
            ending: self.ending && other.ending,
            written: self.written && other.written,
            output: self.output.and(other.output),
            errors: self.errors.and(other.errors),
        }
    }

    fn is_all(&self) -> bool {
        self.ending && self.written && self.output.is_all() && self.errors.is_all()
    }
}

/// A search for inputs for which versions differ.
pub struct Search<'a> {
    /// The versions; the first is what the others are compared with.
    pub versions: &'a mut [Built],
    /// Inputs to begin with, by name.
    pub seeds: Vec<(String, Case)>,
    /// Makes more of them.
    pub mutator: Mutator,
    /// Whether what is found is made small.
    pub shrinks: bool,
}

impl Search<'_> {
    /// Searches. `each` is told of every input, with the test that it was made of and what all versions did.
    pub fn run(
        mut self,
        extent: &Extent<'_>,
        each: &mut dyn FnMut(&str, &Case, &[Ran]),
    ) -> Result<Tally, Problem> {
        let started = Instant::now();
        let mut tally = Tally::default();
        let mut corpus: Vec<(String, Case)> = Vec::new();
        // How many words of what has changed they have, the most first, and which they are.
        let mut relevant: Vec<(usize, usize)> = Vec::new();
        let mut done: HashSet<Case> = HashSet::new();
        let mut shapes: HashSet<u64> = HashSet::new();
        let mut kinds: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
        let mut wall = PATIENCE;
        let mut slowest = Duration::ZERO;
        let mut last_found: Option<Instant> = None;
        let seeds = std::mem::take(&mut self.seeds);
        let mut waiting = seeds.into_iter().peekable();
        loop {
            let is_late = match (extent.patience, last_found) {
                (Some(patience), Some(found)) => {
                    waiting.peek().is_none() && Instant::now() >= found + patience
                }
                _ => false,
            };
            let is_over = is_late || Instant::now() >= extent.end || (extent.interrupt)();
            if is_over || tally.inputs >= extent.inputs || kinds.len() >= extent.kinds {
                break;
            }
            let (of, case, is_seed) = match waiting.next() {
                Some((name, case)) => (name, case, true),
                None if corpus.is_empty() => break,
                None => {
                    if tally.of_tests == 0 {
                        tally.of_tests = tally.inputs;
                    }
                    // What was found last leads further, and what has to do with the change.
                    let from = match self.mutator.below(4) {
                        0 => self.mutator.below(corpus.len()),
                        1 | 2 if !relevant.is_empty() => {
                            let best = relevant.len().min(MOST_RELEVANT);
                            relevant[self.mutator.below(best)].1
                        }
                        _ => {
                            let last = corpus.len().div_ceil(3);
                            corpus.len() - 1 - self.mutator.below(last)
                        }
                    };
                    let other = self.mutator.below(corpus.len());
                    let (name, case) = corpus[from].clone();
                    let other = corpus[other].1.clone();
                    (name, self.mutator.mutated(&case, &other), false)
                }
            };
            if !done.insert(case.clone()) {
                continue;
            }
            let before = Instant::now();
            let mut ran = Vec::with_capacity(self.versions.len());
            for version in self.versions.iter_mut() {
                ran.push(version.run(&case, wall)?);
            }
            slowest = slowest.max(before.elapsed());
            tally.inputs += 1;
            if is_seed && waiting.peek().is_none() {
                tally.of_tests = tally.inputs;
                // One that takes twenty times as long as the tests is taken to be endless.
                wall = (slowest * 20).clamp(Duration::from_millis(500), PATIENCE);
            }
            each(&of, &case, &ran);
            let is_new = shapes.insert(shape(&ran[0]));
            if (is_seed || is_new) && !ran[0].endless {
                let relevance = self.mutator.relevance(&case);
                if relevance > 0 {
                    let place = relevant.partition_point(|(other, _)| *other >= relevance);
                    relevant.insert(place, (relevance, corpus.len()));
                }
                corpus.push((of.clone(), case.clone()));
            }
            let mut differs = false;
            for at in 1..ran.len() {
                let Some(what) = difference(&ran[0], &ran[at], &Steady::ALL) else {
                    continue;
                };
                if kinds.contains_key(&(at, what)) {
                    differs = true;
                    continue;
                }
                let steady = self.steady(&[0, at], &case, wall * 2)?;
                if !steady.is_all() && tally.unsteady.len() < 8 {
                    tally.unsteady.push(of.clone());
                }
                let Some(what) = difference(&ran[0], &ran[at], &steady) else {
                    continue;
                };
                differs = true;
                if kinds.contains_key(&(at, what)) {
                    continue;
                }
                kinds.insert((at, what), tally.seen.len());
                let after = started.elapsed().as_secs_f64();
                let small = match self.shrinks && steady.is_all() {
                    true => self.small(at, what, &case, wall, extent)?,
                    false => case.clone(),
                };
                let mut ran = Vec::new();
                for version in self.versions.iter_mut() {
                    ran.push(version.run(&small, wall)?);
                }
                last_found = Some(Instant::now());
                tally.seen.push(Seen {
                    case: small,
                    of: of.clone(),
                    ran,
                    after,
                });
            }
            tally.differing += usize::from(differs);
        }
        Ok(tally)
    }

    /// What is the same when versions are executed again.
    fn steady(
        &mut self,
        versions: &[usize],
        case: &Case,
        wall: Duration,
    ) -> Result<Steady, Problem> {
        let mut steady = Steady::ALL;
        for &at in versions {
            let mut runs = Vec::new();
            for _ in 0..3 {
                runs.push(self.versions[at].run(case, wall)?);
            }
            steady = steady.and(Steady::of(&runs));
        }
        Ok(steady)
    }

    fn small(
        &mut self,
        at: usize,
        what: &'static str,
        case: &Case,
        wall: Duration,
        extent: &Extent<'_>,
    ) -> Result<Case, Problem> {
        const TRIES: usize = 400;
        let mut problem = None;
        let versions = &mut *self.versions;
        let tries = if what.contains("not end") { 12 } else { TRIES };
        let small = shrunk(case, tries, &mut |case| {
            if problem.is_some() || (extent.interrupt)() || Instant::now() >= extent.end {
                return false;
            }
            let mut run = |at: usize| versions[at].run(case, wall);
            match (run(0), run(at)) {
                (Ok(old), Ok(new)) => difference(&old, &new, &Steady::ALL) == Some(what),
                (Err(error), _) | (_, Err(error)) => {
                    problem = Some(error);
                    false
                }
            }
        });
        match problem {
            Some(Problem::Interrupted) | None => Ok(small),
            Some(other) => Err(other),
        }
    }
}

/// What is new about an execution: how it ended, and what it printed without numbers.
fn shape(ran: &Ran) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    ran.ending.hash(&mut hasher);
    let written = ran.written.values().flatten();
    for text in [&ran.output, &ran.errors].into_iter().chain(written) {
        let mut was_digit = false;
        for byte in text.iter().take(512) {
            let is_digit = byte.is_ascii_digit();
            if is_digit && was_digit {
                continue;
            }
            was_digit = is_digit;
            (if is_digit { b'0' } else { *byte }).hash(&mut hasher);
        }
        0u8.hash(&mut hasher);
    }
    hasher.finish()
}
