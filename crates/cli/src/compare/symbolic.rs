//! Compares two versions by their bounded encodings.

mod reported;

use std::{
    cell::Cell,
    collections::BTreeSet,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use patchwright_compare::{
    Case, Explored, Explorer, Extent, Found, Known, Pair, Partition, Share, Side, Strategy,
    Turning, Verdict, covered, executes_change, failing, is_assumption, reasons, verdict,
};
use patchwright_exec::{CancelToken, JournalOptions};
use patchwright_ir::{Module, Program};
use patchwright_prove::mixes_arguments;
use patchwright_report::comparison::{self, Comparison};
use patchwright_solve::{Budget, Terms};
use patchwright_symbolic::{Check, EncodeError, Encoding, Options, encode};

use super::{
    arguments::{CompareArgs, Order},
    interactions::{interactions, plan, told},
    journal,
    notes::notes,
    paths::{self, Setup, Shared},
    read::{Version, Versions},
    replay::{self, Watch},
};
use crate::encoded::{Problem, checks};
use reported::share;
pub use reported::{empty, sample};

/// Two versions to compare, and how.
pub struct Job<'a> {
    /// The flags.
    pub args: &'a CompareArgs,
    /// The versions.
    pub versions: Versions,
    /// Ends the work.
    pub cancel: &'a CancelToken,
    /// Where what is found is kept until all is, so that it can be resumed.
    pub journal: Option<JournalOptions>,
    /// When reading them began.
    pub started: Instant,
    /// When to end.
    pub end: Option<Instant>,
    /// Inputs to begin with.
    pub cases: Vec<Case>,
    /// Where nothing differs within the bound, more rounds are looked at by another one.
    pub deepens: bool,
}

/// The answer of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They are the same code.
    Same,
    /// What the bounded encoding says.
    Symbolic(Verdict),
    /// Only executions were looked at.
    Executed,
}

/// The result of comparing two versions: report, answer and partitions.
pub struct Compared {
    /// What to tell.
    pub report: Comparison,
    /// The answer.
    pub answer: Answer,
    /// Partitions of the inputs.
    pub partitions: Vec<Partition>,
    /// The versions, if there are partitions of their inputs.
    pub versions: Option<Versions>,
    /// What was found wrong about what is said: a mistake of ours.
    pub bug: Option<String>,
    /// Inputs that executions differ for.
    pub cases: Vec<super::native::Seen>,
}

impl Compared {
    /// Makes the result of a comparison without partitions.
    pub fn of(report: Comparison, answer: Answer) -> Compared {
        Compared {
            report,
            answer,
            partitions: Vec::new(),
            versions: None,
            bug: None,
            cases: Vec::new(),
        }
    }
}

/// What was found by one of two ways.
struct Whole {
    report: Comparison,
    answer: Answer,
    explored: Explored,
    bug: Option<String>,
}

impl Whole {
    /// It answers the question.
    fn is_enough(&self) -> bool {
        let open = [Verdict::Unknown, Verdict::Unfinished, Verdict::NoneEnds];
        let open = open.map(Answer::Symbolic);
        !open.contains(&self.answer)
    }

    /// It answers the question for all inputs with which no loop has more rounds than the bound.
    fn is_within_bound(&self) -> bool {
        self.answer == Answer::Symbolic(Verdict::EqualWithinBound)
    }

    /// Paths show more.
    fn is_worse_than(&self, found: &Found) -> bool {
        let is_first = self.explored.made == 0 && found.explored.made > 0;
        if self.is_within_bound() {
            return matches!(found.verdict, Verdict::Different | Verdict::Equal);
        }
        !self.is_enough()
            && match found.verdict {
                Verdict::Different | Verdict::Equal => true,
                Verdict::Unfinished | Verdict::Unknown => is_first,
                _ => false,
            }
    }
}

/// How the time to the first difference is called.
const FIRST: &str = "first difference";
/// Time for single paths, after all inputs were looked at together. The time of that attempt is added.
const MORE: Duration = Duration::from_secs(1);
/// The same, where nothing differs as far as the bound goes.
const BEYOND: Duration = Duration::from_secs(4);
/// How long what paths have shown is not kept at most.
const LOOK: Duration = Duration::from_millis(200);
/// The stack of the thread that follows executions, whose calls nest on it.
const STACK: usize = 1 << 30;

impl Job<'_> {
    /// Encodes both versions, explores the differences and confirms the samples.
    ///
    /// # Errors
    /// What the user can mend, and interruption before anything was known.
    pub fn run(mut self) -> Result<Compared, Problem> {
        let args = self.args;
        // Leaks are no behaviour that callers see.
        let usual = Check::ALL
            .into_iter()
            .filter(|check| !matches!(check, Check::Leak | Check::Termination));
        let checks = checks(args.check.as_deref(), usual.collect())?;
        let [old, new] = [0, 1].map(|side| self.versions.both[side].shown.clone());
        let mut report = empty(args, &old, &new);
        report
            .seconds
            .push(("read".to_owned(), self.started.elapsed().as_secs_f64()));
        report.arguments = self.versions.arguments;
        report.inputs.clone_from(&self.versions.told.inputs);
        report.assumed.clone_from(&self.versions.told.assumed);
        if self.versions.same_code {
            return Ok(Compared::of(report, Answer::Same));
        }
        let (journal, known) = journal::open(args, &self.versions, self.journal.as_ref())?.unzip();
        let known = known.unwrap_or_default();
        let keep = |known: Known| {
            // What cannot be kept is not resumed.
            let _ = journal.as_ref().map(|one| one.add(&journal::line(&known)));
        };
        let setup = self.setup(&checks, &known)?;
        let (shared, cancel, end) = (Shared::default(), self.cancel, self.end);
        let started = Instant::now();
        let (mut whole, found) = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || {
                    paths::explore(&setup, &shared, cancel, started, end)
                })
                .map_err(Problem::of)?;
            let whole = self.whole(report, &checks, known, &keep, &shared);
            let is_enough = whole.as_ref().map_or(true, |whole| whole.is_enough());
            // Beyond the bound there may be more, which is found by some rounds more than that.
            let is_within = whole.as_ref().is_ok_and(|whole| whole.is_within_bound());
            shared.is_beyond.store(is_within, Ordering::Relaxed);
            let is_enough = is_enough && !is_within;
            // What is not known of all inputs at once may be known of some paths soon.
            let usual = if is_within && !self.deepens {
                BEYOND
            } else {
                MORE
            };
            let more = Instant::now() + started.elapsed() + usual;
            paths::wait(&thread, || {
                shared.news().into_iter().for_each(&keep);
                if is_enough || Instant::now() >= more {
                    shared.is_over.store(true, Ordering::Relaxed);
                }
            });
            let found = match thread.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            whole.and_then(|whole| Ok((whole, found?)))
        })?;
        if let Some(journal) = journal
            && !self.is_over()
        {
            let _ = journal.remove();
        }
        let first = shared.first();
        if let Some(found) = found
            && whole.is_worse_than(&found)
        {
            self.of_paths(&mut whole, found, checks)?;
        }
        if self.cancel.is_cancelled() && whole.answer == Answer::Symbolic(Verdict::Unfinished) {
            let nothing = whole.explored.partitions.is_empty() && whole.explored.made == 0;
            if nothing {
                return Err(Problem::Interrupted);
            }
        }
        whole.report.notes.extend(notes(&self.versions));
        let notes = std::mem::take(&mut whole.report.notes);
        let (assumed, notes) = notes.into_iter().partition(|note| is_assumption(note));
        whole.report.notes = notes;
        let assumed: Vec<String> = assumed;
        whole.report.assumed.extend(assumed);
        let seconds = &mut whole.report.seconds;
        match (first, seconds.iter_mut().find(|one| one.0 == FIRST)) {
            (Some(first), Some((_, other))) => *other = first.min(*other),
            (Some(first), None) if whole.answer == Answer::Symbolic(Verdict::Different) => {
                seconds.push((FIRST.to_owned(), first));
            }
            _ => {}
        }
        Ok(Compared {
            report: whole.report,
            answer: whole.answer,
            partitions: whole.explored.partitions,
            versions: Some(self.versions),
            bug: whole.bug,
            cases: Vec::new(),
        })
    }

    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// How the versions are explored path by path.
    fn setup(&self, checks: &BTreeSet<Check>, known: &[Known]) -> Result<Setup, Problem> {
        let args = self.args;
        let encoder = Encoder {
            args,
            checks,
            shared: &self.versions.shared,
            interrupt: &|| false,
        };
        let extent = Extent {
            different: args.different,
            equal: args.equal,
            conflicts: args.conflicts,
            strategy: Strategy::Differences,
        };
        let turning = match args.strategy {
            Order::Prv => Turning::Nearest,
            Order::ChangedPaths => Turning::Changed,
            Order::AllPaths => Turning::Any,
        };
        let options = encoder.options(String::new(), true);
        Ok(Setup {
            known: known.to_vec(),
            cases: self.cases.clone(),
            sequences: match args.interactions {
                true => plan(&self.versions).sequences,
                false => Vec::new(),
            },
            ..Setup::of(&self.versions, options, extent, turning)
        })
    }

    /// What paths have shown, instead of what both encodings have not.
    fn of_paths(
        &mut self,
        whole: &mut Whole,
        found: Found,
        checks: BTreeSet<Check>,
    ) -> Result<(), Problem> {
        let report = &mut whole.report;
        report.partitions.clear();
        report.reasons = self.told(&found.reasons);
        report.notes = found.notes;
        report.ended_early = !found.explored.differences_complete && !found.explored.more_differ;
        let is_all = found.explored.differences_complete;
        whole.answer = Answer::Symbolic(found.verdict);
        whole.explored = found.explored;
        report.covered = Some(comparison::Covered {
            by_paths: true,
            ..share(found.share)
        });
        if self.args.interactions {
            let note = (!is_all).then_some("not all paths were looked at");
            report.interactions = Some(told(plan(&self.versions), found.sequences, note));
        }
        whole.bug = self.described(whole, checks)?;
        Ok(())
    }

    /// What the encodings of both versions say, each as a whole.
    fn whole(
        &mut self,
        mut report: Comparison,
        checks: &BTreeSet<Check>,
        known: Vec<Known>,
        keep: &dyn Fn(Known),
        shared: &Shared,
    ) -> Result<Whole, Problem> {
        let args = self.args;
        let (cancel, end) = (self.cancel, self.end);
        let begin = Instant::now();
        let quarter = end.map(|end| begin + end.saturating_duration_since(begin) / 4);
        let looked = Cell::new(begin);
        let interrupt = || {
            let now = Instant::now();
            if now >= looked.get() + LOOK {
                // What paths have shown is not lost, whatever ends this.
                looked.set(now);
                shared.news().into_iter().for_each(keep);
            }
            let is_late = quarter.is_some_and(|end| now >= end);
            cancel.is_cancelled()
                || end.is_some_and(|end| now >= end)
                // Path by path it is known already.
                || is_late && shared.is_done.load(Ordering::Relaxed)
        };
        let together = self.together(checks, &|| interrupt() || is_late(quarter));
        if let Some(together) = together
            .clone()
            .filter(|_| self.some_end(checks, &interrupt))
        {
            report.verdict = Verdict::Equal.code().to_owned();
            report.covered = Some(share(Share::Exact(1.0)));
            report.notes.push(together);
            report
                .seconds
                .push(("rounds".to_owned(), begin.elapsed().as_secs_f64()));
            return Ok(Whole {
                report,
                answer: Answer::Symbolic(Verdict::Equal),
                explored: Explored::default(),
                bug: None,
            });
        }
        let mut terms = Terms::new();
        let is_program = args.function.is_none();
        // What takes so long to be written as terms takes longer to be solved.
        let is_late =
            || interrupt() || is_program && quarter.is_some_and(|end| Instant::now() >= end);
        let Some(pair) = self.pair(&mut terms, checks, &is_late)? else {
            report.verdict = Verdict::Unfinished.code().to_owned();
            report.differences_complete = false;
            report.covers_everything = false;
            report.ended_early = true;
            return Ok(Whole {
                report,
                answer: Answer::Symbolic(Verdict::Unfinished),
                explored: Explored::default(),
                bug: None,
            });
        };
        report
            .seconds
            .push(("encode".to_owned(), begin.elapsed().as_secs_f64()));
        let started = Instant::now();
        let extent = Extent {
            different: args.different,
            equal: args.equal,
            conflicts: args.conflicts,
            strategy: self.strategy(&mut terms, &pair),
        };
        let mut first = None;
        let mut log = |known: Known| {
            shared.news().into_iter().for_each(keep);
            keep(known);
        };
        let explored = Explorer::new(&mut terms, &pair, is_program, extent, &interrupt)
            .resumed(known, &mut log)
            .run(&mut |partition| {
                if partition.kind.differs() {
                    first.get_or_insert_with(|| begin.elapsed().as_secs_f64());
                }
            });
        if let Some(first) = first {
            report.seconds.push((FIRST.to_owned(), first));
        }
        report.ended_early = interrupt();
        report
            .seconds
            .push(("explore".to_owned(), started.elapsed().as_secs_f64()));
        let budget = Budget {
            conflicts: args.conflicts,
            interrupt: Some(&interrupt),
        };
        let found = reasons(&mut terms, &pair, &budget);
        let mut answer = verdict(&mut terms, &pair, &explored, &found, &budget);
        report.reasons = self.told(&found);
        if let (Some(together), Verdict::EqualWithinBound) = (together, answer) {
            answer = Verdict::Equal;
            report.reasons.clear();
            report.notes.push(together);
        }
        if answer == Verdict::NoneEnds {
            report.reasons = self.told(&failing(&pair));
        }
        report
            .reasons
            .extend(explored.open_functions.iter().map(|name| comparison::Reason {
                text: format!(
                    "what `{name}` gives decides whether the versions differ, and little is known of it"
                ),
                place: None,
            }));
        report.notes.extend(pair.notes());
        report.covered = Some(share(covered(&mut terms, &pair, &explored.partitions)));
        if args.interactions {
            let found = interactions(&self.versions, &mut terms, &pair, &budget);
            report.interactions = Some(found);
        }
        let mut whole = Whole {
            report,
            answer: Answer::Symbolic(answer),
            explored,
            bug: None,
        };
        whole.bug = self.described(&mut whole, checks.clone())?;
        Ok(whole)
    }

    fn strategy(&self, terms: &mut Terms, pair: &Pair) -> Strategy {
        match self.args.strategy {
            Order::Prv => Strategy::Differences,
            Order::AllPaths => Strategy::AllPaths,
            Order::ChangedPaths => {
                let changed = [0, 1].map(|side| {
                    let version = &self.versions.both[side];
                    (version.source().path.as_str(), version.changed.as_slice())
                });
                Strategy::ChangedPaths(executes_change(terms, pair, changed))
            }
        }
    }

    /// Both versions, encoded; nothing if somebody interrupted.
    fn pair(
        &self,
        terms: &mut Terms,
        checks: &BTreeSet<Check>,
        interrupt: &dyn Fn() -> bool,
    ) -> Result<Option<Pair>, Problem> {
        let args = self.args;
        // Numbers that are read from arguments are any numbers, where nobody looks at the digits as well.
        let mut argument_numbers = true;
        loop {
            let Some(old) = self.encoded(terms, Side::Old, checks, argument_numbers, interrupt)?
            else {
                return Ok(None);
            };
            let Some(new) = self.encoded(terms, Side::New, checks, argument_numbers, interrupt)?
            else {
                return Ok(None);
            };
            let is_program = args.function.is_none();
            let holders = &self.versions.holders;
            let pair = Pair::new(terms, old, new, is_program, holders, args.input);
            let encodings = Side::BOTH.map(|side| pair.encoding(side));
            if !argument_numbers || !mixes_arguments(terms, &pair.roots(), &encodings) {
                return Ok(Some(pair));
            }
            argument_numbers = false;
        }
    }

    /// One version, encoded; nothing if somebody interrupted.
    fn encoded(
        &self,
        terms: &mut Terms,
        side: Side,
        checks: &BTreeSet<Check>,
        argument_numbers: bool,
        interrupt: &dyn Fn() -> bool,
    ) -> Result<Option<Encoding>, Problem> {
        let version = &self.versions.both[usize::from(side == Side::New)];
        let encoder = Encoder {
            args: self.args,
            checks,
            shared: &self.versions.shared,
            interrupt,
        };
        let prefix = format!("{}.", side.name().to_lowercase());
        encoder.encode(
            terms,
            version,
            &self.versions.library,
            prefix,
            argument_numbers,
        )
    }
}

/// The options with which versions are encoded.
pub struct Encoder<'a> {
    /// The flags.
    pub args: &'a CompareArgs,
    /// Undefined behaviour that is looked for.
    pub checks: &'a BTreeSet<Check>,
    /// The objects that both versions have.
    pub shared: &'a BTreeSet<String>,
    /// Ends the work.
    pub interrupt: &'a dyn Fn() -> bool,
}

impl Encoder<'_> {
    /// Returns the options of an encoding whose inputs have names with this prefix. `argument_numbers` encodes an argument that is only
    /// read as a number as any number.
    pub(super) fn options(&self, prefix: String, argument_numbers: bool) -> Options {
        Options {
            bound: self.args.rounds(),
            recursion: self.args.rounds(),
            checks: self.checks.clone(),
            lassos: true,
            havoc: self.args.havoc,
            input: self.args.input,
            argument_numbers,
            prefix,
            outside: Some(self.shared.clone()),
            ..Options::default()
        }
    }

    /// Encodes a version with its library. `prefix` stands before the names of what belongs to this
    /// version alone. With `argument_numbers`, numbers that are read from arguments are any numbers.
    /// It is `None` if the user interrupts.
    pub fn encode(
        &self,
        terms: &mut Terms,
        version: &Version,
        library: &Module,
        prefix: String,
        argument_numbers: bool,
    ) -> Result<Option<Encoding>, Problem> {
        let modules = vec![version.module(), library.clone()];
        let program = Program::link(modules).map_err(Problem::of)?;
        let options = self.options(prefix, argument_numbers);
        match encode(&program, &version.entry, &options, terms, self.interrupt) {
            Ok(encoding) => Ok(Some(encoding)),
            Err(EncodeError::Interrupted) => Ok(None),
            Err(other) => Err(Problem::of(other)),
        }
    }
}

/// Returns the effects that executions of two versions can show.
pub fn watch(versions: &Versions, function: Option<String>, checks: BTreeSet<Check>) -> Watch {
    let result = match &function {
        Some(name) => replay::result_types(versions, name),
        None => [None, None],
    };
    let records = match &function {
        Some(name) => replay::returned_records(versions, name),
        None => [None, None],
    };
    Watch {
        globals: replay::globals(versions),
        result,
        records,
        function,
        checks,
    }
}

/// The time for something is over.
fn is_late(end: Option<Instant>) -> bool {
    end.is_some_and(|end| Instant::now() >= end)
}
