//! Runs everything: from the built program to the mutants with their fates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use patchwright_csource::{Clang, ParseError, parse_variants};
use patchwright_exec::{
    CancelToken, CompileCommand, Deadline, FailReason, FileError, FileSelection, Project, Shard,
    Worker, WorkerOptions, all_sources, files, record_build,
};
use patchwright_patches::{Body, Origin, PatchId, RawPatch};
use patchwright_repair::RepairOptions;
use patchwright_repair::equivalence::Compilations;
use patchwright_repair::linked::Linked;
use patchwright_repair::test_sources::test_sources;
use patchwright_space::Schemas;
use patchwright_text::{Hasher, apply_edits, unified_diff};
use patchwright_validate::outcome::Untouched;
use patchwright_validate::{
    Event, Failure, PatchVerdict, ProjectTree, Surroundings, TestFiles, Tests, ValidateError,
    ValidateOptions, Validated, Validation, set_of, validate,
};

use crate::choose::order;
use crate::code::{Codes, Compiled};
use crate::covered::Covered;
use crate::error::MutantsError;
use crate::generate::{Mistake, Mutant, mutants};
use crate::journal::Journal;
use crate::outcome::{Answer, Fate, Judged, MutantsOutcome};

/// This part of the budget is for choosing and testing, the rest for what survives.
const TESTING: f64 = 0.6;

/// So many times the wanted number of mutants are compiled at most, to find those with code of their own.
const COMPILED: usize = 4;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct MutantsOptions {
    /// So many mutants are tried at most; 0 tries all.
    pub limit: usize,
    /// The time for all of it.
    pub budget: Option<Duration>,
    /// The time for what is asked of one survivor.
    pub each: Duration,
    /// Whether survivors are asked about.
    pub asks: bool,
    /// What answers depend on beside the project: those of a run that asked otherwise are not taken over.
    pub asking: String,
    /// How mutants are made.
    pub repair: RepairOptions,
    /// How they are validated.
    pub validate: ValidateOptions,
    /// Only this part of those that are chosen is tried.
    pub part: Option<Shard>,
}

impl MutantsOptions {
    /// Returns the kinds of change that mutants have: those that people write by mistake in one place.
    pub fn schemas() -> Schemas {
        Schemas {
            assignment: false,
            // Texts that are printed are no logic, and conditions that are written too much are rare.
            format: false,
            refinement: false,
            declarations: false,
            exits: None,
            entries: false,
            ..Schemas::default()
        }
    }
}

/// A survivor, for those who may know more of it.
pub struct Asked<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The mutant.
    pub mutant: &'a Mutant,
    /// The whole text of its file.
    pub text: &'a [u8],
    /// A built copy of the untouched program.
    pub folder: &'a Path,
    /// How its sources are compiled there.
    pub commands: &'a [CompileCommand],
    /// When the answer must be there.
    pub end: Instant,
}

/// Says what is known of a survivor. An error is a message for the user, and nothing is known then.
pub type Ask<'a> = dyn FnMut(&Asked<'_>) -> Result<Answer, String> + 'a;

/// Mutates a project, and asks `ask` about the survivors.
///
/// When the run is cancelled, what is known by then is the outcome.
///
/// # Errors
/// See [`MutantsError`]. That all mutants survive is no error.
pub fn mutate(
    project: &Project,
    options: &MutantsOptions,
    surroundings: &Surroundings<'_>,
    ask: &mut Ask<'_>,
) -> Result<MutantsOutcome, MutantsError> {
    let started = Instant::now();
    let end = options.budget.map(|budget| started + budget);
    let testing = options.budget.map(|budget| match options.asks {
        true => started + budget.mul_f64(TESTING),
        false => started + budget,
    });
    let whole = deadline(&surroundings.cancel, end)?;
    let own = Surroundings {
        cancel: whole.token().clone(),
        ..*surroundings
    };
    let mut outcome = MutantsOutcome {
        part: options.part,
        ..MutantsOutcome::default()
    };
    let prepared = prepare(project, options, &mut outcome, &own);
    let (program, mut judged) = prepared.map_err(|error| {
        let is_late = error.is_cancelled() && !surroundings.cancel.is_cancelled();
        if is_late {
            MutantsError::OutOfTime
        } else {
            error
        }
    })?;
    let of_testing = deadline(whole.token(), testing)?;
    let own = Surroundings {
        cancel: of_testing.token().clone(),
        ..*surroundings
    };
    outcome.times[0] = started.elapsed();
    let began = Instant::now();
    let tested = test(project, &mut judged, options, &own);
    outcome.times[1] = began.elapsed();
    match tested {
        Ok(Some(validation)) => {
            outcome.builds = validation.stats.builds;
            outcome.executions = validation.stats.executions;
            if let Some(woven) = &validation.stats.woven {
                outcome.builds += woven.builds;
                outcome.executions += woven.executions;
            }
            outcome.tested = true;
            outcome.tests = validation.tests.runs();
            outcome.set_aside = set_aside(&validation.tests);
        }
        Ok(None) => outcome.tests = project.require_tests()?.tests.len(),
        Err(error) if error.is_cancelled() && !surroundings.cancel.is_cancelled() => {}
        Err(error) => return Err(error),
    }
    outcome.mutants = judged;
    let began = Instant::now();
    if options.asks && !surroundings.cancel.is_cancelled() {
        let journal = patchwright_exec::open_wanted_journal(
            options.validate.journal.as_ref(),
            |place| Journal::open(project, &options.asking, place),
            |warning| (surroundings.events)(Event::Warning(warning)),
        );
        let journal = journal.map_err(ValidateError::from)?;
        let time = (whole.token(), end);
        program.ask(&mut outcome, time, journal.as_ref(), ask, surroundings)?;
    }
    outcome.times[2] = began.elapsed();
    let is_open = |one: &Judged| one.fate == Fate::Open;
    let is_unfinished = outcome.mutants.iter().any(is_open);
    outcome.interrupted = surroundings.cancel.is_cancelled();
    outcome.out_of_time =
        !outcome.interrupted && (is_unfinished || end.is_some_and(|end| Instant::now() >= end));
    Ok(outcome)
}

/// Builds the program, and makes and chooses its mutants.
fn prepare<'a>(
    project: &'a Project,
    options: &'a MutantsOptions,
    outcome: &mut MutantsOutcome,
    surroundings: &Surroundings<'a>,
) -> Result<(Program<'a>, Vec<Judged>), MutantsError> {
    let mut program = Program::build(project, options, surroundings)?;
    let found = program.mutants(surroundings)?;
    outcome.found = found.len();
    let chosen = program.chosen(found, outcome, surroundings)?;
    let judged = program.judged(chosen, surroundings)?;
    outcome.chosen = judged.len();
    outcome.choice = choice(&judged);
    let is_own = |one: &Judged| {
        let part = options.part;
        part.is_none_or(|part| part.has(one.number - 1))
    };
    let judged = judged.into_iter().filter(is_own).collect();
    Ok((program, judged))
}

/// A digest of what was chosen.
fn choice(judged: &[Judged]) -> String {
    let mut hasher = Hasher::new();
    for one in judged {
        hasher.field(&one.diff);
    }
    hasher.finish().to_string()
}

fn deadline(parent: &CancelToken, end: Option<Instant>) -> Result<Deadline, FileError> {
    Deadline::new(parent, end).map_err(|source| FileError::new("open", "a timer", source))
}

/// The built program.
struct Program<'a> {
    project: &'a Project,
    options: &'a MutantsOptions,
    worker: Worker,
    commands: Vec<CompileCommand>,
    /// The sources that are mutated.
    sources: BTreeMap<PathBuf, Vec<CompileCommand>>,
    /// Those that are tried in all parts, by their numbers from 1.
    chosen: Vec<Mutant>,
}

impl<'a> Program<'a> {
    fn build(
        project: &'a Project,
        options: &'a MutantsOptions,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, MutantsError> {
        let events = surroundings.events;
        project.require_tests()?;
        events(Event::Phase("copying the project"));
        let copy = worker_options(project, &project.root, surroundings);
        let mut worker = Worker::start(0, "mutated", &copy)?;
        events(Event::Phase("building the program"));
        let commands = record_build(&mut worker, project)?;
        let all = all_sources(&commands, &worker.sandbox);
        let tests = TestFiles::of(project)?;
        let of_tests = test_sources(&all, &worker.sandbox);
        let is_wanted = |relative: &Path| match project.files.is_empty() {
            true => !of_tests.contains(relative) && !tests.contain(relative),
            false => project.files.iter().any(|one| one.covers(relative)),
        };
        let mut sources = all;
        sources.retain(|relative, _| is_wanted(relative));
        Ok(Program {
            project,
            options,
            worker,
            commands,
            sources,
            chosen: Vec::new(),
        })
    }

    /// All mutants of the selected lines.
    fn mutants(&mut self, surroundings: &Surroundings<'_>) -> Result<Vec<Mutant>, MutantsError> {
        let events = surroundings.events;
        events(Event::Phase("making mutants"));
        let clang = Clang::find(&mut self.worker.runner)?;
        let folder = self.worker.sandbox.folder().to_path_buf();
        let linked = Linked::read(&folder);
        let total = self.sources.len();
        let (mut all, mut reason) = (Vec::new(), None);
        for (done, (relative, commands)) in self.sources.iter().enumerate() {
            events(Event::Progress { done, total });
            let text = files::read(&folder.join(relative))?;
            let runner = &mut self.worker.runner;
            let units = match parse_variants(&clang, runner, commands, &text) {
                Ok(units) => units,
                Err(error @ ParseError::Rejected { .. }) => {
                    let told = format!("{error}; the file is left alone");
                    events(Event::Warning(told.clone()));
                    reason = Some(told);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let selections = &self.project.files;
            let selected = |line: u32| is_selected(selections, relative, line);
            let is_linked = |name: &str| linked.has(name);
            let options = &self.options.repair;
            all.extend(mutants(relative, units, options, &selected, &is_linked));
        }
        if all.is_empty() {
            let what = match &self.project.files[..] {
                [] => "the program".to_owned(),
                [one] => one.to_string(),
                [first, rest @ ..] => format!("{first} and {} more selections", rest.len()),
            };
            let none = match self.sources.is_empty() {
                true => "the build compiles no C source of it that is no test",
                false => "its functions have no place that can be changed",
            };
            let reason = reason.unwrap_or_else(|| none.to_owned());
            return Err(MutantsError::Nothing { what, reason });
        }
        Ok(all)
    }

    /// The mutants to try, in the order of their files.
    fn chosen(
        &mut self,
        found: Vec<Mutant>,
        outcome: &mut MutantsOutcome,
        surroundings: &Surroundings<'_>,
    ) -> Result<Vec<(Mutant, Compiled)>, MutantsError> {
        let events = surroundings.events;
        events(Event::Phase("leaving out mutants with the same code"));
        let folder = self.worker.sandbox.folder().to_path_buf();
        let copy = worker_options(self.project, &folder, surroundings);
        let worker = Worker::start(0, "compiled", &copy)?;
        let (from, to) = (self.worker.sandbox.run_root(), worker.sandbox.run_root());
        let commands = self.commands.iter();
        let commands: Vec<CompileCommand> =
            commands.map(|command| command.rebase(from, to)).collect();
        let sources = all_sources(&commands, &worker.sandbox);
        let mut codes = Codes::new(Compilations::of(worker, sources));
        let limit = match self.options.limit {
            0 => found.len(),
            limit => limit,
        };
        let mut chosen = Vec::new();
        let most = limit.saturating_mul(COMPILED);
        for mutant in order(found).into_iter().take(most) {
            if chosen.len() >= limit || surroundings.cancel.is_cancelled() {
                break;
            }
            let (done, total) = (chosen.len(), limit);
            events(Event::Progress { done, total });
            match codes.compile(&mutant)? {
                Compiled::Same => outcome.same_code += 1,
                Compiled::Repeated => outcome.repeated_code += 1,
                compiled => chosen.push((mutant, compiled)),
            }
        }
        codes.remove()?;
        chosen.sort_by(|(a, _), (b, _)| {
            let place = |one: &Mutant| {
                let Mistake { file, edit, .. } = &one.mistake;
                (file.clone(), edit.span, edit.text.clone())
            };
            place(a).cmp(&place(b))
        });
        Ok(chosen)
    }

    /// The chosen mutants, those settled of which it is known that no test executes them.
    fn judged(
        &mut self,
        chosen: Vec<(Mutant, Compiled)>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Vec<Judged>, MutantsError> {
        let mut sources: Vec<(PathBuf, Vec<CompileCommand>)> = Vec::new();
        for (relative, commands) in &self.sources {
            if chosen
                .iter()
                .any(|(mutant, _)| mutant.mistake.file == *relative)
            {
                sources.push((relative.clone(), commands.clone()));
            }
        }
        let suite = self.project.require_tests()?;
        let covered = match self.project.build.is_some() && !sources.is_empty() {
            true => Covered::observe(
                &mut self.worker,
                self.project,
                suite,
                &sources,
                &self.options.validate,
                surroundings,
            )?,
            false => None,
        };
        let mut judged = Vec::new();
        for (number, (mutant, compiled)) in (1..).zip(chosen) {
            let mistake = mutant.mistake.clone();
            let executed = covered
                .as_ref()
                .and_then(|known| known.is_executed(&mistake));
            let text = new_text(&mutant);
            let path = mistake.file.to_string_lossy().into_owned();
            let fate = match (compiled, executed) {
                // What does not compile is seen in a build.
                (Compiled::New, Some(false)) => Fate::Survived,
                _ => Fate::Open,
            };
            judged.push(Judged {
                number,
                diff: unified_diff(path.as_bytes(), &mutant.source, &text),
                mistake,
                fate,
                executed,
                answer: None,
                resumed: false,
            });
            self.chosen.push(mutant);
        }
        Ok(judged)
    }

    /// Asks about the survivors: first about those that a test executes.
    fn ask(
        &self,
        outcome: &mut MutantsOutcome,
        (cancel, end): (&CancelToken, Option<Instant>),
        journal: Option<&Journal>,
        ask: &mut Ask<'_>,
        surroundings: &Surroundings<'_>,
    ) -> Result<(), MutantsError> {
        let is_survivor = |at: &usize| outcome.mutants[*at].fate == Fate::Survived;
        let mut open: Vec<usize> = (0..outcome.mutants.len()).filter(is_survivor).collect();
        open.sort_by_key(|&at| outcome.mutants[at].executed == Some(false));
        if open.is_empty() {
            return Ok(());
        }
        let sandbox = &self.worker.sandbox;
        let (from, folder) = (sandbox.run_root(), sandbox.folder());
        let commands = self.commands.iter();
        let commands: Vec<CompileCommand> = commands.map(|one| one.rebase(from, folder)).collect();
        (surroundings.events)(Event::Phase("asking about survivors"));
        let total = open.len();
        for (done, at) in open.into_iter().enumerate() {
            (surroundings.events)(Event::Progress { done, total });
            let judged = &outcome.mutants[at];
            if let Some(known) = journal.and_then(|journal| journal.known(judged)) {
                outcome.mutants[at].answer = Some(known.clone());
                continue;
            }
            let now = Instant::now();
            let last = now + self.options.each;
            let is_late = end.is_some_and(|end| now >= end);
            let number = judged.number;
            let mutant = &self.chosen[number - 1];
            let is_asked = !is_late && !cancel.is_cancelled();
            let answer = match is_asked {
                false => Err("the time is over".to_owned()),
                true => ask(&Asked {
                    number,
                    mutant,
                    text: &new_text(mutant),
                    folder,
                    commands: &commands,
                    end: end.map_or(last, |end| end.min(last)),
                }),
            };
            let answer = answer.unwrap_or_else(|because| Answer::Unknown { because });
            // With more time a resumed run may know more; and one that is ended knows less.
            if let (true, Some(journal)) = (answer.is_definite(), journal) {
                journal.keep(judged, &answer)?;
            }
            outcome.mutants[at].answer = Some(answer);
        }
        Ok(())
    }
}

fn worker_options<'a>(
    project: &'a Project,
    source: &'a Path,
    surroundings: &Surroundings<'a>,
) -> WorkerOptions<'a> {
    let Surroundings {
        program, scratch, ..
    } = *surroundings;
    WorkerOptions::new(project, source, program, scratch, &surroundings.cancel)
}

fn is_selected(selections: &[FileSelection], relative: &Path, line: u32) -> bool {
    let mut selections = selections.iter();
    selections.len() == 0
        || selections.any(|selection| selection.covers(relative) && selection.contains_line(line))
}

/// The text of the file with the mutant.
fn new_text(mutant: &Mutant) -> Vec<u8> {
    let edits = std::slice::from_ref(&mutant.mistake.edit);
    // It was made of this text.
    apply_edits(&mutant.source, edits).unwrap_or_else(|_| mutant.source.to_vec())
}

/// Tests the mutants that are open. It is `None` if there is none.
fn test(
    project: &Project,
    judged: &mut [Judged],
    options: &MutantsOptions,
    surroundings: &Surroundings<'_>,
) -> Result<Option<Validation>, MutantsError> {
    let open: Vec<usize> = (0..judged.len())
        .filter(|&at| judged[at].fate == Fate::Open)
        .collect();
    if open.is_empty() {
        return Ok(None);
    }
    let tree = ProjectTree::new(project);
    let patches = open.iter().map(|&at| RawPatch {
        id: PatchId(format!("mutant-{}", judged[at].number)),
        origin: Origin {
            file: judged[at].mistake.file.clone(),
            line: judged[at].mistake.line as usize,
            lines_are_of_file: false,
        },
        body: Body::Diff(judged[at].diff.clone()),
    });
    let set = set_of(&tree, patches);
    let validation = validate(project, &set, &options.validate, surroundings)?;
    for (&at, patch) in open.iter().zip(&validation.patches) {
        judged[at].fate = fate(patch, &validation.tests);
        judged[at].resumed = patch.resumed;
    }
    Ok(Some(validation))
}

fn fate(patch: &Validated, tests: &Tests) -> Fate {
    match &patch.verdict {
        None => Fate::Open,
        Some(PatchVerdict::Plausible) => Fate::Survived,
        Some(PatchVerdict::Implausible(killer)) => Fate::Killed {
            test: tests.names[killer.test].clone(),
            failure: killer.failure.to_string(),
            timed_out: matches!(killer.failure, Failure::Ran(FailReason::TimedOut(_))),
        },
        Some(PatchVerdict::Unstable(killer)) => {
            Fate::Unsteady(format!("{}: {}", tests.names[killer.test], killer.failure))
        }
        Some(PatchVerdict::DoesNotCompile(failure)) => Fate::DoesNotCompile(failure.to_string()),
        Some(PatchVerdict::DoesNotApply(reason)) => Fate::DoesNotCompile(reason.clone()),
    }
}

/// The tests that say nothing of mutants.
fn set_aside(tests: &Tests) -> Vec<String> {
    let names = tests.names.iter().zip(&tests.untouched).enumerate();
    let aside = names.filter(|(at, (_, untouched))| {
        tests.set_aside.contains(at) || **untouched == Untouched::Flaky
    });
    aside.map(|(_, (name, _))| name.clone()).collect()
}
