//! Executes versions on the inputs of tests and on similar inputs. A difference is seen; nothing is
//! proved.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet, VecDeque},
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    panic::resume_unwind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_compare::{Case, Compared, Mutator, shrunk};
use patchwright_exec::{
    Ending, Limits, Outcome, Request, RunError, Runner, Worker, files,
    runner::{Overflow, Stdin},
};

use super::{
    corpus::{Corpus, Entry, Made, Turns, nearest},
    cover::{Cover, Near, Through},
    steady::{Steady, difference, sanitizer_report},
};
use crate::encoded::Problem;

/// A built version that can be executed.
pub struct Built {
    /// Its copy.
    pub worker: Worker,
    /// The program, relative to the copy's root, or absolute.
    pub program: PathBuf,
    /// What is noted of its executions, if it was built for that.
    pub cover: Option<Cover>,
    /// Folders of all versions, which none may be told by: their paths, and what stands for them.
    pub folders: Vec<(PathBuf, &'static str)>,
}

/// The visible effects of an execution.
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

/// An input for which the versions do different things.
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

/// What a search by executions has found: counts, and one small input for each kind of difference.
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

/// When a search by executions ends.
pub struct Extent<'a> {
    /// The latest moment at which it ends.
    pub end: Instant,
    /// Inputs at most.
    pub inputs: usize,
    /// Kinds of differences after which it ends.
    pub kinds: usize,
    /// How long the search goes on after its last find; without a value it goes on until `end`.
    pub patience: Option<Duration>,
    /// The search ends as soon as this returns true.
    pub interrupt: &'a dyn Fn() -> bool,
    /// Whether differences are executed again until they are certain, and counted by kinds. Otherwise only the effect of each
    /// input is wanted, and nothing goes on beyond `end`.
    pub confirms: bool,
}

impl Extent<'_> {
    /// So long an execution may take.
    fn wall(&self, wall: Duration) -> Duration {
        match self.confirms {
            true => wall,
            false => wall.min(self.end.saturating_duration_since(Instant::now())),
        }
    }

    /// Whether an execution that was ended may have been ended for want of time.
    fn has_cut(&self, ran: &[Ran]) -> bool {
        !self.confirms && Instant::now() >= self.end && ran.iter().any(|one| one.endless)
    }
}

/// Wall-clock time of an execution at most, until it is known what one takes.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that are printed at most.
const OUTPUT: u64 = 4 << 20;

impl Built {
    /// Executes the program on a case, for at most the time `wall`.
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
        let shown = |text: Vec<u8>| {
            let all = self.folders.iter();
            all.fold(text, |text, (path, name)| {
                replaced(text, path.as_os_str().as_bytes(), name)
            })
        };
        let errors = shown(outcome.stderr);
        // What is not freed at the end is no behaviour.
        let (reported, errors) = match sanitizer_report(&errors) {
            Some((what, rest)) => (Some(what), rest),
            None => (None, errors),
        };
        let reported = reported.filter(|what| !what.starts_with("LeakSanitizer"));
        Ok(Ran {
            crashed: reported.is_some() || matches!(outcome.ending, Ending::Signaled(_)),
            ending: match (reported, outcome.ending) {
                (Some(reported), _) => reported,
                (None, Ending::Exited(status)) => format!("exit {status}"),
                (None, other) => other.to_string(),
            },
            endless: matches!(outcome.ending, Ending::TimedOut(_)),
            output: shown(outcome.stdout),
            errors,
            written: match case.files.is_empty() {
                true => BTreeMap::new(),
                false => self.written(case)?,
            },
        })
    }

    /// Executes the program, and tells what it went through; what it compares, too, if that is wanted.
    fn run_noted(
        &mut self,
        case: &Case,
        wall: Duration,
        compares: bool,
    ) -> Result<(Ran, Through), Problem> {
        if let Some(cover) = &mut self.cover {
            cover.begin(compares)?;
        }
        let ran = self.run(case, wall)?;
        let through = match &mut self.cover {
            Some(cover) => cover.through()?,
            None => Through::default(),
        };
        Ok((ran, through))
    }

    /// Asks which lines new places are on. Whether something was asked.
    fn ask(&mut self, at_once: bool) -> Result<bool, Problem> {
        let program = self.worker.sandbox.folder().join(&self.program);
        match &mut self.cover {
            Some(cover) => cover.ask(&mut self.worker.runner, &program, at_once),
            None => Ok(false),
        }
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

/// Returns the regular files below a folder: names relative to it, and contents. Large files are left
/// out.
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

/// Tells each version the folders of all of them, their own ones for temporary files included: an input may hold the path of
/// another one's.
fn introduce(versions: &mut [Built]) {
    let all = versions.iter().flat_map(|one| {
        [
            (one.worker.sandbox.run_root().to_path_buf(), "FOLDER"),
            (one.worker.folder.clone(), "OWN"),
        ]
    });
    let mut all: Vec<(PathBuf, &'static str)> = all.collect();
    // A path may begin like another one.
    all.sort_by_key(|(path, _)| Reverse(path.as_os_str().len()));
    all.dedup();
    for version in versions {
        version.folders.clone_from(&all);
    }
}

/// Versions lie in different folders, whose names they may print.
fn replaced(text: Vec<u8>, root: &[u8], name: &str) -> Vec<u8> {
    if root.len() < 2 || !text.windows(root.len()).any(|part| part == root) {
        return text;
    }
    let mut new: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\n');
        if text[at..].starts_with(root) {
            new.extend_from_slice(name.as_bytes());
            at += root.len();
        } else if is_blank(&text[at]) {
            // Where a line was broken may come of how long the path is.
            let blanks = text[at..].iter().take_while(|byte| is_blank(byte)).count();
            let is_last = at + blanks == text.len();
            new.push(if is_last { b'\n' } else { b' ' });
            at += blanks;
        } else {
            new.push(text[at]);
            at += 1;
        }
    }
    new
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

/// Entries that are kept for new ways through what has changed at most.
const MOST_WAYS: usize = 3000;
/// Inputs that are made of what one execution compared at most: for what is near to the change, and for the rest.
const MOST_TOWARDS: [usize; 2] = [300, 60];
/// Differences of one kind that were there by chance, after which only some of them are looked at.
const MOST_DOUBTS: usize = 12;
/// Inputs with something less that are made of one at most.
const MOST_NEIGHBOURS: usize = 150;

impl Search<'_> {
    /// Runs the search. `each` gets every executed input: the test of which it was made, the input,
    /// and what all versions did.
    pub fn run(
        mut self,
        extent: &Extent<'_>,
        each: &mut dyn FnMut(&str, &Case, &[Ran]),
    ) -> Result<Tally, Problem> {
        let started = Instant::now();
        introduce(self.versions);
        let mut tally = Tally::default();
        let mut corpus = Corpus::default();
        let mut done: HashSet<Case> = HashSet::new();
        let mut shapes: HashSet<u64> = HashSet::new();
        let mut kinds: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
        let mut doubts: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
        let mut wall = PATIENCE;
        let mut slowest = Duration::ZERO;
        let mut last_found: Option<Instant> = None;
        let mut ways = 0;
        let mut towards = Turns::default();
        let covers = self.versions.iter().any(|one| one.cover.is_some());
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
            let (of, case, depth) = match waiting.next() {
                Some((name, case)) => (name, case, 0),
                None if corpus.entries.is_empty() => break,
                None => {
                    if tally.of_tests == 0 {
                        tally.of_tests = tally.inputs;
                    }
                    // What is near to the change and nothing was made of has its turn soon.
                    let pause = if corpus.has_near_unused() { 2 } else { 8 };
                    if covers && towards.has_room() && self.mutator.below(pause) == 0 {
                        let row = self.towards(&mut corpus, wall)?;
                        towards.add(row);
                    }
                    let turn = (self.mutator.below(2) == 0).then(|| towards.next());
                    match turn.flatten() {
                        Some(made) => (made.of, made.case, made.depth),
                        None => {
                            let from = corpus.choose(&mut self.mutator);
                            let other = self.mutator.below(corpus.entries.len());
                            let (from, other) = (&corpus.entries[from], &corpus.entries[other]);
                            let case = self.mutator.mutated(&from.case, &other.case);
                            (from.of.clone(), case, from.depth + 1)
                        }
                    }
                }
            };
            let is_seed = depth == 0;
            if !done.insert(case.clone()) {
                continue;
            }
            let before = Instant::now();
            let (ran, through) = self.all(&case, extent.wall(wall))?;
            if extent.has_cut(&ran) {
                break;
            }
            slowest = slowest.max(before.elapsed());
            tally.inputs += 1;
            if is_seed && waiting.peek().is_none() {
                tally.of_tests = tally.inputs;
                // One that takes twenty times as long as the tests is taken to be endless.
                wall = (slowest * 20).clamp(Duration::from_millis(500), PATIENCE);
            }
            each(&of, &case, &ran);
            let is_new =
                shapes.insert(shape(&ran[0])) && !covers || through.iter().any(|one| one.is_new);
            let is_new_way = through.iter().any(|one| one.is_new_way) && ways < MOST_WAYS;
            ways += usize::from(is_new_way);
            let is_kept = is_seed || is_new || is_new_way;
            if is_kept && !ran[0].endless {
                let slots: Vec<Vec<u16>> = through.into_iter().map(|one| one.slots).collect();
                let entry = Entry {
                    of: of.clone(),
                    near: nearest(self.versions, &slots),
                    case: case.clone(),
                    slots,
                    tries: 0,
                    depth,
                    is_used: false,
                };
                corpus.add(entry, self.mutator.relevance(&case));
            }
            let is_last_seed = is_seed && waiting.peek().is_none();
            if is_last_seed || is_new && !is_seed {
                let mut asked = false;
                for version in self.versions.iter_mut() {
                    asked |= version.ask(is_last_seed)?;
                }
                if asked {
                    corpus.look_again(self.versions);
                }
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
                // Where it was by chance so often it costs too much to ask each time.
                let doubt = doubts.entry((at, what)).or_default();
                *doubt += 1;
                if *doubt > MOST_DOUBTS && self.mutator.below(8) > 0 {
                    continue;
                }
                let twice = extent.wall(wall * 2);
                let steady = match extent.confirms {
                    true => self.steady(&[0, at], &case, twice)?,
                    false if Instant::now() >= extent.end => break,
                    false => self.once_more(&[0, at], &ran, &case, twice)?,
                };
                if !extent.confirms && Instant::now() >= extent.end {
                    break;
                }
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
                if !extent.confirms {
                    continue;
                }
                let after = started.elapsed().as_secs_f64();
                let small = match self.shrinks && steady.is_all() {
                    true => self.small(at, what, &case, wall, extent)?,
                    false => case.clone(),
                };
                let mut confirmed = None;
                for case in [small, case.clone()] {
                    if let Some(ran) = self.confirmed(at, what, &case, wall)? {
                        confirmed = Some((case, ran));
                        break;
                    }
                }
                let Some((small, ran)) = confirmed else {
                    // It was by chance that it was the same each time.
                    kinds.remove(&(at, what));
                    tally.unsteady.truncate(7);
                    tally.unsteady.push(of.clone());
                    differs = false;
                    continue;
                };
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
        let count = |near| corpus.entries.iter().filter(|one| one.near == near).count();
        tracing::info!(
            "{} inputs, kept {}: {} come to changed lines, {} to changed functions; {ways} ways through these",
            tally.inputs,
            corpus.entries.len(),
            count(Near::Line),
            count(Near::Function)
        );
        Ok(tally)
    }

    /// Executes all versions, two at the same time.
    fn all(&mut self, case: &Case, wall: Duration) -> Result<(Vec<Ran>, Vec<Through>), Problem> {
        let mut all = Vec::with_capacity(self.versions.len());
        for pair in self.versions.chunks_mut(2) {
            match pair {
                [one, other] => std::thread::scope(|scope| {
                    let other = scope.spawn(|| other.run_noted(case, wall, false));
                    all.push(one.run_noted(case, wall, false));
                    all.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
                }),
                rest => all.extend(rest.iter_mut().map(|one| one.run_noted(case, wall, false))),
            }
        }
        let all: Result<Vec<(Ran, Through)>, Problem> = all.into_iter().collect();
        Ok(all?.into_iter().unzip())
    }

    /// Inputs that are made of an entry in all simple ways: something less, or what an execution compared exchanged.
    fn towards(&mut self, corpus: &mut Corpus, wall: Duration) -> Result<VecDeque<Made>, Problem> {
        let Some(at) = corpus.unused() else {
            return Ok(VecDeque::new());
        };
        let entry = &mut corpus.entries[at];
        if entry.depth == 0 {
            entry.case = self.without_files(&entry.case, &entry.slots, wall)?;
        }
        let neighbours = self.mutator.neighbours(&entry.case, MOST_NEIGHBOURS);
        let mut all: [Vec<Case>; 2] = Default::default();
        let mut left = MOST_TOWARDS;
        let mut known: HashSet<Compared> = HashSet::new();
        for version in self.versions.iter_mut().take(2) {
            version.run_noted(&entry.case, wall, true)?;
            let Some(cover) = &version.cover else {
                continue;
            };
            for (near, compared) in cover.compared()? {
                if !known.insert(compared.clone()) {
                    continue;
                }
                let is_far = near == Near::Elsewhere;
                let at = usize::from(is_far);
                let left = &mut left[at];
                let most = (*left).min(if is_far { 4 } else { 24 });
                let made = self.mutator.towards(&entry.case, &compared, most);
                *left -= made.len();
                all[at].extend(made);
                if let Compared::Texts { a, b } = compared {
                    let is_word = |word: &Vec<u8>| {
                        let is_plain = word.iter().all(|byte| (b' '..=b'~').contains(byte));
                        !word.is_empty() && (!is_far || is_plain && word.len() > 1)
                    };
                    self.mutator.learn([a, b].into_iter().filter(is_word));
                }
            }
        }
        // Of each kind in turns.
        let [near, far] = all;
        let mut kinds = [near, neighbours, far].map(Vec::into_iter);
        let mut cases: Vec<Case> = Vec::new();
        loop {
            let count = cases.len();
            cases.extend(kinds.iter_mut().filter_map(Iterator::next));
            if cases.len() == count {
                break;
            }
        }
        let (of, depth) = (&entry.of, entry.depth + 1);
        let made = cases.into_iter().map(|case| Made {
            of: of.clone(),
            case,
            depth,
        });
        Ok(made.collect())
    }

    /// A case without the files that make no difference for where executions go: nothing is gained by changing them.
    fn without_files(
        &mut self,
        case: &Case,
        slots: &[Vec<u16>],
        wall: Duration,
    ) -> Result<Case, Problem> {
        let mut best = case.clone();
        for at in (0..case.files.len()).rev() {
            let mut new = best.clone();
            new.files.remove(at);
            let (_, through) = self.all(&new, wall)?;
            if through.iter().map(|one| &one.slots).eq(slots) {
                best = new;
            }
        }
        Ok(best)
    }

    /// What all versions do with an input, if two of them differ in this way each time they are executed again.
    fn confirmed(
        &mut self,
        at: usize,
        what: &'static str,
        case: &Case,
        wall: Duration,
    ) -> Result<Option<Vec<Ran>>, Problem> {
        /// What depends on chance is not the same so often.
        const TIMES: usize = 8;
        let mut runs: [Vec<Ran>; 2] = Default::default();
        let mut ran = Vec::new();
        for _ in 0..TIMES {
            ran = self.all(case, wall)?.0;
            runs[0].push(ran[0].clone());
            runs[1].push(ran[at].clone());
        }
        let steady = Steady::of(&runs[0]).and(Steady::of(&runs[1]));
        Ok((difference(&ran[0], &ran[at], &steady) == Some(what)).then_some(ran))
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

    /// What is the same when versions are executed once more.
    fn once_more(
        &mut self,
        versions: &[usize],
        ran: &[Ran],
        case: &Case,
        wall: Duration,
    ) -> Result<Steady, Problem> {
        let mut steady = Steady::ALL;
        for &at in versions {
            let again = self.versions[at].run(case, wall)?;
            // How much something prints until it is ended is chance.
            if !(ran[at].endless && again.endless) {
                steady = steady.and(Steady::of(&[ran[at].clone(), again]));
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_broken_by_the_length_of_a_path_are_the_same() {
        let shown = |text: &str, root: &str| {
            let text = replaced(text.into(), root.as_bytes(), "FOLDER");
            String::from_utf8_lossy(&text).into_owned()
        };
        let one = shown("Try '/tmp/p/tar --help' for\nmore information.\n", "/tmp/p");
        let other = shown(
            "Try '/tmp/p-fixed/tar --help'\nfor more information.\n",
            "/tmp/p-fixed",
        );
        assert_eq!(one, other);
        assert_eq!(one, "Try 'FOLDER/tar --help' for more information.\n");
        // What names no folder stays as it is.
        assert_eq!(shown("a  b\nc", "/tmp/p"), "a  b\nc");
    }
}
