//! `patchwright validate`.

use std::path::{Path, PathBuf};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use std::time::Instant;

use patchwright_exec::{
    CancelToken, FileError, JournalOptions, Project, RunnerProgram, Scratch, Worker, files,
};
use patchwright_patches::{BaseTree, Counts, FolderTree, InputError, Reading, Source};
use patchwright_report::{behaviour::Behaviour, page, text::Style, validation};
use patchwright_validate::{
    Confirm, Event, PatchSet, PatchVerdict, ProjectTree, Surroundings, TestFiles, Tests,
    ValidateError, ValidateOptions, Validated, Validation, read_set, validate,
};

use crate::{
    Exit,
    args::{BUILD_TIMEOUT, ConfirmArg, ValidateArgs},
    behaviour::{self, Variant},
    compare::named::apply,
    places::Places,
    progress::{Progress, left},
    project, protection,
    repair::default_jobs,
    serve, shards, signals, state,
};

/// Runs `patchwright validate`: prints a verdict for each patch, or with `--serve` answers patches as they come. Returns the exit
/// status.
pub fn run(args: &ValidateArgs) -> Exit {
    let done = match args.serve {
        true => serve::run(args),
        false => try_run(args),
    };
    match done {
        Ok(exit) => exit,
        Err(error) => {
            let exit = Exit::of_validation(&error);
            if exit == Exit::Interrupted {
                eprintln!(
                    "patchwright: interrupted before any verdict was known; --resume goes on"
                );
            } else {
                eprintln!("patchwright: error: {error}");
                if let (ValidateError::Project(_), [patches]) = (&error, &args.inputs[..]) {
                    let is_c = patches.extension().is_some_and(|end| end == "c");
                    let patches = patches.display();
                    match is_c {
                        true => eprintln!(
                            "patchwright: note: name the patches behind the C file: patchwright validate {patches} PATCHES"
                        ),
                        false => eprintln!(
                            "patchwright: note: with one argument the project is the current folder; name another \
                             one in front: patchwright validate PROJECT {patches}"
                        ),
                    }
                }
            }
            exit
        }
    }
}

/// What the arguments are.
struct Inputs<'a> {
    project: &'a Path,
    /// The cases of a single C file.
    cases: Option<&'a Path>,
    patches: Vec<Source>,
}

/// The project, its cases and the patches among the arguments. As for `repair`, the cases of a C file may follow it.
fn inputs(args: &ValidateArgs) -> Inputs<'_> {
    let (project, cases, patches) = match &args.inputs[..] {
        [file, cases, patches @ ..]
            if !patches.is_empty() && !file.is_dir() && holds_cases(cases) =>
        {
            (file.as_path(), Some(cases.as_path()), patches)
        }
        [project, patches @ ..] if !patches.is_empty() => (project.as_path(), None, patches),
        alone => (Path::new("."), None, alone),
    };
    let source = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Source::Stdin,
        false => Source::Path(path.clone()),
    };
    Inputs {
        project,
        cases,
        patches: patches.iter().map(source).collect(),
    }
}

/// Whether a folder has the expected output of some case.
fn holds_cases(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.any(|path| path.extension().is_some_and(|end| end == "out"))
}

/// What is shown while the run goes on.
struct Display<'d> {
    progress: Progress<'d>,
    set: &'d PatchSet,
    told: Mutex<(usize, usize)>,
    /// When verdicts began to be sought.
    begun: Instant,
    printer: Arc<Printer>,
}

/// Prints what is decided: as it is decided, at the end of the run, or when the run is ended in the middle of something.
struct Printer {
    /// The stream of `--jsonl`, as long as its last line is not printed.
    stream: Mutex<Option<validation::Stream>>,
    form: Form,
    /// What is known by now.
    known: Mutex<Validation>,
    /// Nobody reads what is printed, or it cannot be written.
    is_closed: AtomicBool,
    /// Why, and how to end then.
    not_printed: Mutex<Option<Exit>>,
    cancel: CancelToken,
}

/// What is printed.
#[derive(Clone, Debug)]
struct Form {
    jsonl: bool,
    json: bool,
    junit: Option<PathBuf>,
    html: Option<PathBuf>,
    keep_going: bool,
    stats: bool,
}

impl Display<'_> {
    fn show(&self, event: Event<'_>) {
        match event {
            Event::Phase(name) => self.progress.phase(name),
            Event::Progress { done, total } => self.progress.progress(done, total),
            Event::Warning(text) => self.progress.warn(&text),
            Event::Tests { tests, patches } => self.printer.begin(tests, patches),
            Event::Verdict { index, patch } => {
                self.printer.verdict(index, patch);
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                told.0 += 1;
                told.1 += usize::from(patch.verdict == Some(PatchVerdict::Plausible));
                let all = self.set.entries.len();
                let left = left(self.begun.elapsed(), told.0, all);
                self.progress.message(format!(
                    "validating patches {}/{all}, {} plausible{left}",
                    told.0, told.1
                ));
            }
        }
    }
}

impl Printer {
    fn known(&self) -> MutexGuard<'_, Validation> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stream(&self) -> MutexGuard<'_, Option<validation::Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, tests: &Tests, patches: &[Validated]) {
        *self.known() = Validation {
            tests: tests.clone(),
            patches: patches.to_vec(),
            interrupted: true,
            ..Validation::default()
        };
        if let Some(stream) = &mut *self.stream() {
            self.print(&stream.start(tests));
        }
    }

    fn verdict(&self, index: usize, patch: &Validated) {
        let mut known = self.known();
        patch.clone_into(&mut known.patches[index]);
        if let Some(stream) = &*self.stream() {
            let id = |number: usize| &known.patches[number].id.0[..];
            self.print(&stream.verdict(index, patch, id));
        }
    }

    /// The last line of a stream that has begun, when the run fails.
    fn end_stream(&self) {
        let known = self.known().clone();
        if let Some(stream) = self.stream().take()
            && !known.tests.names.is_empty()
        {
            self.print(&stream.end(&known));
        }
    }

    /// Writes what is known of all patches, for a run that does not get to it by itself.
    fn last_words(&self) {
        let known = self.known().clone();
        if known.tests.names.is_empty() {
            return;
        }
        if let Err(error) = self.write(&known, None) {
            eprintln!("patchwright: error: {error}");
        }
    }

    /// Writes what is known of all patches.
    fn write(&self, outcome: &Validation, behaviour: Option<&Behaviour>) -> Result<(), FileError> {
        let Form {
            jsonl,
            json,
            junit,
            html,
            keep_going,
            stats,
        } = &self.form;
        if let Some(file) = html {
            files::write_atomic(file, page::validate(outcome).as_bytes())?;
        }
        if let Some(file) = junit {
            files::write_atomic(file, validation::junit(outcome, *keep_going).as_bytes())?;
        }
        if *jsonl {
            // Nothing is printed behind it.
            if let Some(stream) = self.stream().take() {
                self.print(&stream.end(outcome));
            }
        } else if *json {
            self.print(&validation::json(outcome, behaviour));
        } else {
            let colour = crate::shown::colour();
            self.print(&validation::table(outcome, Style { colour }));
            if let Some(behaviour) = behaviour {
                self.print(&behaviour.text(Style { colour }));
            }
            if *stats {
                self.print(&validation::stats(&outcome.stats));
            }
        }
        Ok(())
    }

    /// Prints a line of the stream. If nobody reads it any more, there is nothing left to do.
    fn print(&self, line: &str) {
        if let Err(error) = crate::out::write(line)
            && !self.is_closed.swap(true, Ordering::Relaxed)
        {
            let exit = crate::not_printed(&error);
            *self
                .not_printed
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(exit);
            self.cancel.cancel();
        }
    }

    /// How to end if what was printed has not been written.
    fn unwritten(&self) -> Option<Exit> {
        *self
            .not_printed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn try_run(args: &ValidateArgs) -> Result<Exit, ValidateError> {
    let Inputs {
        project: root,
        cases,
        patches: sources,
    } = inputs(args);
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel =
        CancelToken::new().map_err(|source| files::FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), true);
    let project = project::load_described(root, cases, &args.description, Vec::new(), &scratch)?;
    let journal = state::journal(&args.resuming, "validate");
    let permitted = protection::set_up(&mut scratch, &project, journal.as_ref())?;
    // Before the patches are read: what is wrong with the project is the first thing to know.
    project.require_tests()?;
    if let Some(file) = &args.junit {
        // Now, not after the work.
        files::write_atomic(file, b"")?;
    }
    if let Some(file) = &args.html {
        files::write_atomic(file, b"")?;
    }
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| files::FileError::new("find", "the running program", source))?;
    let places = Places::new(scratch.path(), root);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    progress.phase("reading patches");
    let tree = tree(args, &project);
    let test_files = match args.trust_test_changes {
        true => None,
        false => Some(TestFiles::of(&project)?),
    };
    let mut set = read_set(
        tree.as_ref(),
        &sources,
        &mut std::io::stdin().lock(),
        reading(args),
        test_files.as_ref(),
        |read| {
            progress.message(format!("reading patches {read}"));
        },
    )
    .map_err(|error| about_project(error, args))?;
    let mut options = options(args, journal);
    let part = shards::part(&args.sharding, &project, &mut set, &mut options)?;
    let display = Display {
        progress,
        set: &set,
        told: Mutex::default(),
        begun: Instant::now(),
        printer: Arc::new(Printer {
            stream: Mutex::new(args.jsonl.then(validation::Stream::default)),
            form: Form {
                jsonl: args.jsonl,
                json: args.json,
                junit: args.junit.clone(),
                html: args.html.clone(),
                keep_going: args.keep_going,
                stats: args.stats,
            },
            known: Mutex::default(),
            is_closed: AtomicBool::new(false),
            not_printed: Mutex::default(),
            cancel: cancel.clone(),
        }),
    };
    let printer = display.printer.clone();
    signals::at_the_last_moment(move || printer.last_words());
    let show = |event: Event<'_>| display.show(event);
    let outcome = validate(
        &project,
        &set,
        &options,
        &Surroundings {
            program: &program,
            scratch: &scratch,
            cancel: cancel.clone(),
            events: &show,
        },
    );
    display.progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| display.progress.warn(told));
    let outcome = match (outcome, display.printer.unwritten()) {
        (Err(error), Some(exit)) if error.is_cancelled() => return Ok(exit),
        (Err(error), _) => {
            display.printer.end_stream();
            return Err(error);
        }
        (Ok(outcome), _) => outcome,
    };
    if let Some(part) = &part {
        part.write(&outcome)?;
    }
    let wants = args.behaviour.is_wanted() && !outcome.interrupted;
    let behaviour = match wants && outcome.plausible() > 0 {
        true => behaviour_of(args, &project, &set, &outcome, &scratch, &cancel),
        false => None,
    };
    signals::while_writing(|| display.printer.write(&outcome, behaviour.as_ref()))?;
    Ok(if let Some(exit) = display.printer.unwritten() {
        exit
    } else if outcome.interrupted {
        eprintln!("patchwright: {}", signals::interrupted(true));
        Exit::Interrupted
    } else if outcome.plausible() > 0 {
        Exit::Found
    } else {
        Exit::Nothing
    })
}

/// Returns the files that patches may change. Cases beside a single C file are in no copy, so a patch of them cannot be tried.
pub(crate) fn tree(args: &ValidateArgs, project: &Project) -> Box<dyn BaseTree> {
    match args.trust_test_changes {
        true => Box::new(FolderTree::new(&project.root).without(&project.exclude)),
        false => Box::new(ProjectTree::new(project)),
    }
}

/// Returns how patches are read, from the flags.
pub(crate) fn reading(args: &ValidateArgs) -> Reading {
    Reading {
        strip: args.strip,
        counts: match args.recount {
            true => Counts::Ignored,
            false => Counts::Corrected,
        },
    }
}

/// Returns the options of a run, from the flags.
pub(crate) fn options(args: &ValidateArgs, journal: Option<JournalOptions>) -> ValidateOptions {
    ValidateOptions {
        jobs: args.jobs.unwrap_or_else(default_jobs),
        keep_going: args.keep_going,
        stop_after: args.stop_after.map(|number| number as usize),
        prioritize: !args.no_prioritize,
        schemata: !args.no_schemata,
        by_cost: !args.weave_few,
        ask_first: args.ask_first,
        dedup: !args.no_dedup,
        virtualize: !args.no_virtualize,
        prove_endless: !args.no_prove_endless,
        confirm: match args.confirm {
            ConfirmArg::Together => Confirm::Together,
            ConfirmArg::Classes => Confirm::Classes,
            ConfirmArg::Each => Confirm::Each,
            ConfirmArg::None => Confirm::Never,
        },
        build_timeout: args.description.build_timeout.unwrap_or(BUILD_TIMEOUT),
        ignore_failing: args.ignore_failing,
        must_fix: args.must_fix.clone(),
        trust_test_changes: args.trust_test_changes,
        audit: args.audit,
        journal,
        ..Default::default()
    }
}

/// What the plausible patches do, each called by its number in the set.
fn behaviour_of(
    args: &ValidateArgs,
    project: &Project,
    set: &PatchSet,
    outcome: &Validation,
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Option<Behaviour> {
    let mut numbers = Vec::new();
    let mut variants = Vec::new();
    for (at, (entry, validated)) in set.entries.iter().zip(&outcome.patches).enumerate() {
        let is_plausible = validated.verdict == Some(PatchVerdict::Plausible);
        if let (true, Some(patch)) = (is_plausible, entry.patch()) {
            numbers.push(at + 1);
            variants.push(Variant {
                weight: 0,
                name: format!("patch {}", entry.id().0),
                change: Box::new(move |worker: &Worker| {
                    let mut changes = patch.changes.iter();
                    changes.try_for_each(|change| apply(worker, change))
                }),
            });
        }
    }
    let looked = behaviour::look(&args.behaviour, project, &variants, scratch, cancel, None);
    let (mut found, order) = behaviour::told(looked)?;
    found.renumber(&|place| order.get(place - 1).map_or(place, |&at| numbers[at]));
    found.names = set
        .entries
        .iter()
        .map(|entry| entry.id().0.clone())
        .collect();
    Some(found)
}

/// With a single argument, a folder without patches was perhaps meant as the project.
fn about_project(error: ValidateError, args: &ValidateArgs) -> ValidateError {
    match error {
        ValidateError::Input(InputError::EmptyFolder { .. }) if args.inputs.len() == 1 => {
            ValidateError::Input(InputError::NoPatches)
        }
        other => other,
    }
}
