//! `patchwright compare`.

pub(crate) mod arguments;
mod corpus;
mod cover;
mod functions;
mod golden;
mod interactions;
mod journal;
pub(crate) mod named;
pub(crate) mod native;
mod notes;
mod observed;
pub(crate) mod parts;
mod paths;
pub(crate) mod read;
mod recorded;
mod replay;
mod revisions;
mod rounds;
pub(crate) mod seen;
mod several;
mod steady;
pub(crate) mod symbolic;
pub(crate) mod tests_of;

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use patchwright_compare::Verdict;
use patchwright_exec::{CancelToken, Scratch};
use patchwright_report::{comparison::Comparison, text::Style};

use crate::{
    Exit,
    encoded::{Problem, deep},
    inputs::InputArgs,
    protection, signals,
};
use arguments::CompareArgs;
use named::{Builder, Named};
use parts::Told;
use symbolic::{Answer, Compared, Job};

/// Runs `patchwright compare`: prints the report to standard output, errors to standard error, and returns the exit status.
pub fn run(args: &CompareArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(Problem::Input(message)) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
        Err(Problem::Interrupted) => {
            eprintln!("patchwright: interrupted before anything was known");
            Exit::Interrupted
        }
    }
}

fn try_run(args: &CompareArgs) -> Result<Exit, Problem> {
    let mut scratch = Scratch::in_default_place_telling(&signals::removing).map_err(Problem::of)?;
    let cancel = CancelToken::new().map_err(Problem::of)?;
    signals::cancel_on_signals(cancel.clone(), false);
    let revisions = revisions::find(&args.versions, args.file.as_deref(), &scratch)?;
    let named = match &revisions {
        None => named::named(&args.versions, &args.description, &scratch)?,
        Some(revisions) => {
            let paths = revisions.versions.each_ref().map(OsString::from);
            let mut named = named::named(&paths, &args.description, &scratch)
                .map_err(|problem| revisions.said(problem))?;
            for (named, shown) in named.iter_mut().zip(&revisions.shown) {
                named.shown.clone_from(shown);
            }
            named
        }
    };
    if args.seeds.is_some() || named[0].is_file() {
        // What is wrong with them is said now, and not after a build.
        seen::seeds(args, &named[0])?;
    }
    if let named::What::Project(project, _) = &named[0].what {
        for told in protection::set_up(&mut scratch, project, None).map_err(Problem::of)? {
            eprintln!("patchwright: {told}");
        }
    }
    let mut exits = Vec::new();
    let functions = match revisions {
        Some(revisions) => functions::functions(args, &revisions)?,
        None => functions::of_files(args, &named)?,
    };
    if args.sharding.shard.is_some() {
        exits = functions::part(args, functions.as_deref(), &named, &scratch, &cancel)?;
    } else if let Some(functions) = functions {
        exits = functions::each_function(args, &functions, &named, &scratch, &cancel)?;
    } else {
        let mut work = Work {
            args,
            scratch: &scratch,
            cancel: &cancel,
            number: 0,
            told: Told::default(),
        };
        let is_patches = named.len() > 2 && named[1..].iter().all(Named::is_patch);
        for at in 1..named.len() {
            // Patches are all patches of the first version; versions follow each other.
            let old = if is_patches {
                &named[0]
            } else {
                &named[at - 1]
            };
            let pair = [old, &named[at]];
            let (of_several, mut made) = (named.len() > 2, None);
            match work.is_of_functions(pair) {
                true => exits.extend(work.functions(pair)?),
                false => exits.push(work.pair(pair, of_several, &mut made)?),
            }
            if cancel.is_cancelled() {
                break;
            }
        }
        let is_all = named.len() > 2 && named.iter().all(Named::is_file) && !args.native;
        if is_all && !cancel.is_cancelled() {
            exits.extend(work.all(&named)?);
        }
    }
    for told in protection::untold(&scratch) {
        eprintln!("patchwright: {told}");
    }
    Ok(worst(&exits))
}

/// How several comparisons end together.
fn worst(exits: &[Exit]) -> Exit {
    let worst = [
        Exit::Bug,
        Exit::Interrupted,
        Exit::BadInput,
        Exit::Nothing,
        Exit::Found,
    ];
    let mut worst = worst.into_iter();
    worst
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Found)
}

/// Comparisons that are to be made.
struct Work<'a> {
    args: &'a CompareArgs,
    scratch: &'a Scratch,
    cancel: &'a CancelToken,
    /// Pairs so far.
    number: usize,
    /// What has been printed.
    told: Told,
}

/// Compares two versions without printing. `number` must be unique in this process.
///
/// # Errors
/// Versions that cannot be compared, and interruption.
pub(crate) fn quietly(
    args: &CompareArgs,
    pair: [&Named; 2],
    made: Option<Vec<named::Made>>,
    number: usize,
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Result<Compared, Problem> {
    let work = Work {
        args,
        scratch,
        cancel,
        number,
        told: Told::default(),
    };
    work.compared(pair, &mut { made })
}

/// Time for what is proved where nobody says how much.
const USUAL_TIME: Duration = Duration::from_secs(60);
const DEEPER_BOUND: u32 = 72;
const DEEPER: Duration = Duration::from_secs(15);
/// Rounds, and time, for structures whose pointers lead back or to one object: loops over these may have no end.
const LINKED_BOUND: u32 = 5;
const LINKED: Duration = Duration::from_secs(10);
/// Time for executions where nothing else is to be done, and where they come before the symbols.
const ONLY_EXECUTIONS: Duration = Duration::from_secs(60);
const EXECUTIONS_FIRST: Duration = Duration::from_secs(5);
/// Where what was proved is about fewer arguments than programs look at.
const EXECUTIONS_AFTER_PROOF: Duration = Duration::from_secs(3);

impl Work<'_> {
    /// What is known of two versions. What was `made` of them before is not made again.
    fn compared(
        &self,
        pair: [&Named; 2],
        made: &mut Option<Vec<named::Made>>,
    ) -> Result<Compared, Problem> {
        let args = self.args;
        let begin = Instant::now();
        let end = args.budget.map(|time| begin + time);
        let is_program = args.function.is_none();
        let is_file = pair[0].is_file();
        // Whole projects are too much for symbols.
        let symbols = !args.native && (is_file || !is_program);
        let first = is_program && !args.no_native && (!symbols || args.seeds.is_some());
        let mut seen = None;
        if made.is_none() && (first || !is_file) {
            *made = Some(self.built(pair)?);
        }
        if first && let Some(made) = made {
            let time = match (symbols, end) {
                (true, _) => begin + EXECUTIONS_FIRST,
                (false, Some(end)) => end,
                (false, None) => Instant::now() + ONLY_EXECUTIONS,
            };
            seen = Some(seen::search(args, pair, made, self.cancel, time)?);
        }
        // Where terms do not get far, executions need a part of the time.
        let total = args.budget.unwrap_or(USUAL_TIME);
        let of_symbols = match is_program && !args.no_native && seen.is_none() {
            true => Some(begin + total * 2 / 3),
            false => end,
        };
        let mut compared = match symbols {
            true => self.symbols(pair, made.as_deref().and_then(two), begin, of_symbols)?,
            false => {
                let mut report = symbolic::empty(args, &pair[0].shown, &pair[1].shown);
                report.differences_complete = false;
                report.covers_everything = false;
                Compared::of(report, Answer::Executed)
            }
        };
        let open = matches!(
            compared.answer,
            Answer::Symbolic(Verdict::Unknown | Verdict::Unfinished | Verdict::NoneEnds)
        );
        // What was proved may be about fewer arguments than the programs look at.
        let any_arguments = compared
            .versions
            .as_ref()
            .is_some_and(|one| one.any_arguments);
        let same = [Verdict::Equal, Verdict::EqualWithinBound].map(Answer::Symbolic);
        // Beyond the bound, too, one may do something else, or never end.
        let is_bounded = compared.answer == Answer::Symbolic(Verdict::EqualWithinBound);
        let is_proved = is_bounded || any_arguments && same.contains(&compared.answer);
        let open = open || is_proved;
        if seen.is_none() && is_program && !args.no_native && open && !self.cancel.is_cancelled() {
            let mut made = self.built(pair)?;
            let usual = if is_proved {
                EXECUTIONS_AFTER_PROOF
            } else {
                EXECUTIONS_FIRST * 2
            };
            let time = end.unwrap_or_else(|| Instant::now() + usual);
            let time = time.max(Instant::now() + Duration::from_secs(2));
            seen = Some(seen::search(args, pair, &mut made, self.cancel, time)?);
        }
        if let Some(tally) = seen {
            seen::tell(&mut compared, &tally);
        }
        Ok(compared)
    }

    /// Compares two versions, and prints what is known of them. What was `made` of them before is not made again.
    fn pair(
        &mut self,
        pair: [&Named; 2],
        of_several: bool,
        made: &mut Option<Vec<named::Made>>,
    ) -> Result<Exit, Problem> {
        let args = self.args;
        self.number += 1;
        let mut compared = self.compared(pair, made)?;
        if let Some(golden) = &args.golden {
            self.judge(&mut compared, golden)?;
        }
        if let Some(file) = &args.c_test {
            tests_of::c_test(&mut compared, args, None, file)?;
        }
        if let Some(file) = &args.html {
            let sources = match &compared.versions {
                Some(versions) => [0, 1].map(|side| versions.page_source(side)),
                None => Default::default(),
            };
            let page = compared.report.page(&sources);
            patchwright_exec::files::write_atomic(file, page.as_bytes()).map_err(Problem::of)?;
        }
        if let (Some(folder), true) = (&args.output, compared.answer != Answer::Same) {
            let folder = match of_several {
                true => folder.join(self.number.to_string()),
                false => folder.clone(),
            };
            tests_of::write(&mut compared, args, &folder)?;
        }
        let gap = if self.number > 1 { "\n" } else { "" };
        let function = args.function.iter().map(|name| format!(": {name}"));
        let function: String = function.collect();
        let head = format!("{gap}{} → {}{function}\n", pair[0].shown, pair[1].shown);
        if of_several && !args.json {
            print(&head)?;
        }
        if of_several {
            self.told.text.push_str(&head);
        }
        self.print(&compared.report)?;
        if let Some(message) = compared.bug {
            eprintln!(
                "patchwright: this is a bug of Patchwright: executions are not what the report says: {message}; please \
                 report it with both versions"
            );
            return Ok(Exit::Bug);
        }
        Ok(match compared.answer {
            _ if self.cancel.is_cancelled() => Exit::Interrupted,
            _ if !compared.report.seen.is_empty() => Exit::Nothing,
            Answer::Symbolic(Verdict::Different) => Exit::Nothing,
            Answer::Symbolic(Verdict::Void) => Exit::BadInput,
            _ => Exit::Found,
        })
    }

    /// Compares more than two versions at once, and prints which of them agree.
    fn all(&mut self, named: &[Named]) -> Result<Option<Exit>, Problem> {
        if named.len() > several::MOST {
            eprintln!(
                "patchwright: note: agreement is reported for at most {} versions",
                several::MOST
            );
            return Ok(None);
        }
        let time = self.args.budget.unwrap_or(USUAL_TIME);
        let end = Instant::now().checked_add(time);
        let known = deep(|| several::compare(self.args, named, self.scratch, self.cancel, end))?;
        let Some((report, bug)) = known else {
            return Ok(None);
        };
        print(&match self.args.json {
            true => report.json(),
            false => format!(
                "\n{}",
                report.text(Style {
                    colour: crate::shown::colour()
                })
            ),
        })?;
        Ok(bug.map(|message| {
            eprintln!(
                "patchwright: this is a bug of Patchwright: executions are not what the report says: {message}; please \
                 report it with all versions"
            );
            Exit::Bug
        }))
    }

    /// Judges the differences by a version that is right.
    fn judge(&self, compared: &mut Compared, golden: &OsString) -> Result<(), Problem> {
        let args = self.args;
        let names = [golden.clone(), golden.clone()];
        let right = named::named(&names, &args.description, self.scratch)?;
        let pair = [&right[0], &right[1]];
        let is_executed = !compared.cases.is_empty();
        let mut made = match is_executed || !right[0].is_file() {
            true => Some(self.made(pair, &[format!("golden-{}", self.number)])?),
            false => None,
        };
        let mut of_samples = Vec::new();
        if !compared.partitions.is_empty() {
            let folder = format!("golden-read-{}", self.number);
            // It stands in for both.
            let twice = made.as_deref().map(|made| [&made[0], &made[0]]);
            let cancel = self.cancel.clone();
            let mut versions = read::versions(args, pair, twice, self.scratch, &folder, cancel)?;
            let watch = symbolic::watch(
                &versions,
                args.function.clone(),
                patchwright_symbolic::Check::ALL.into_iter().collect(),
            );
            let partitions = &compared.partitions;
            of_samples = deep(|| golden::partitions(&mut versions, &watch, partitions))?;
        }
        let made = made.as_mut().and_then(|made| made.first_mut());
        golden::judge(compared, &right[0].shown, of_samples, made)
    }

    /// Both versions, built.
    fn built(&self, pair: [&Named; 2]) -> Result<Vec<named::Made>, Problem> {
        let names = ["old", "new"].map(|side| format!("{side}-{}", self.number));
        self.made(pair, &names)
    }

    /// The versions that there are names for, built.
    fn made(&self, pair: [&Named; 2], names: &[String]) -> Result<Vec<named::Made>, Problem> {
        let cflags = self.args.description.cflags.as_deref().unwrap_or_default();
        let builder = Builder {
            scratch: self.scratch,
            cancel: self.cancel.clone(),
            program: self.args.description.program.clone(),
            cflags: shlex::split(cflags)
                .unwrap_or_default()
                .into_iter()
                .map(OsString::from)
                .collect(),
            covers: true,
        };
        let mut made = Vec::new();
        for (name, named) in names.iter().zip(pair) {
            made.push(builder.build(named, name)?);
        }
        Ok(made)
    }

    /// What is known by terms. Structures that structures lead to are their own at first; where nothing differs then, those are
    /// looked at, too, whose pointers lead back or to one object.
    fn symbols(
        &self,
        pair: [&Named; 2],
        made: Option<[&named::Made; 2]>,
        started: Instant,
        end: Option<Instant>,
    ) -> Result<Compared, Problem> {
        let end = end.or_else(|| Instant::now().checked_add(USUAL_TIME));
        let known = self.trees(pair, made, started, end)?;
        let is_open = known
            .versions
            .as_ref()
            .is_some_and(|versions| versions.told.links_apart);
        let differs = known.answer == Answer::Symbolic(Verdict::Different);
        let is_same = known.answer == Answer::Same;
        if !is_open || differs || is_same || self.cancel.is_cancelled() {
            return Ok(known);
        }
        let args = CompareArgs {
            bound: Some(self.args.rounds().min(LINKED_BOUND)),
            inputs: InputArgs {
                links: true,
                ..self.args.inputs.clone()
            },
            ..self.args.clone()
        };
        let last = Instant::now() + LINKED;
        let end = end.map_or(last, |end| end.min(last));
        let linked = self.bounded(&args, pair, made, Instant::now(), Some(end), "-linked")?;
        let answers = [Verdict::Equal, Verdict::Different].map(Answer::Symbolic);
        Ok(match answers.contains(&linked.answer) {
            true => linked,
            false => known,
        })
    }

    /// What the bounded encoding says.
    fn trees(
        &self,
        pair: [&Named; 2],
        made: Option<[&named::Made; 2]>,
        started: Instant,
        end: Option<Instant>,
    ) -> Result<Compared, Problem> {
        let known = self.bounded(self.args, pair, made, started, end, "")?;
        let left = end.map_or(DEEPER, |end| end.saturating_duration_since(Instant::now()));
        let is_open = known.answer == Answer::Symbolic(Verdict::EqualWithinBound);
        // What takes long for some rounds takes longer for more of them.
        let is_quick = started.elapsed() < DEEPER && left >= DEEPER;
        if !is_open || !is_quick || self.args.bound.is_some() || self.cancel.is_cancelled() {
            return Ok(known);
        }
        let args = CompareArgs {
            bound: Some(DEEPER_BOUND),
            ..self.args.clone()
        };
        let end = Instant::now() + DEEPER;
        let deeper = self.bounded(&args, pair, made, Instant::now(), Some(end), "-deeper")?;
        let answers = [
            Verdict::Equal,
            Verdict::EqualWithinBound,
            Verdict::Different,
        ];
        Ok(
            match answers.map(Answer::Symbolic).contains(&deeper.answer) {
                true => deeper,
                false => known,
            },
        )
    }

    /// What the encoding with the bound that `args` say tells.
    fn bounded(
        &self,
        args: &CompareArgs,
        pair: [&Named; 2],
        made: Option<[&named::Made; 2]>,
        started: Instant,
        end: Option<Instant>,
        name: &str,
    ) -> Result<Compared, Problem> {
        let folder = format!("compare-{}{name}", self.number);
        let cancel = self.cancel.clone();
        let versions = read::versions(args, pair, made, self.scratch, &folder, cancel)?;
        let cases = seen::seeds(args, pair[0])?;
        let cases = cases.into_iter().map(|(_, case)| case).collect();
        deep(|| {
            Job {
                args,
                versions,
                cancel: self.cancel,
                journal: crate::state::journal(&args.resuming, "compare"),
                started,
                end,
                cases,
                deepens: args.bound.is_none(),
            }
            .run()
        })
    }

    fn print(&mut self, report: &Comparison) -> Result<(), Problem> {
        let plain = Style { colour: false };
        self.told.text.push_str(&report.text(plain));
        self.told.json.push_str(&report.json());
        let colour = crate::shown::colour();
        print(&match self.args.json {
            true => report.json(),
            false => report.text(Style { colour }),
        })
    }
}

/// The two of a list of two.
fn two(made: &[named::Made]) -> Option<[&named::Made; 2]> {
    match made {
        [old, new] => Some([old, new]),
        _ => None,
    }
}

fn print(text: &str) -> Result<(), Problem> {
    print!("{text}");
    Ok(())
}
