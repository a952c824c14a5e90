//! `patchwright validate --serve`: patches come as lines of JSON, and verdicts go as lines of JSON.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use patchwright_exec::{CancelToken, FileError, RunnerProgram, Scratch};
use patchwright_patches::read_json_line;
use patchwright_report::validation::Stream;
use patchwright_validate::{Event, Inbox, Surroundings, Tests, ValidateError, serve};

use crate::{
    Exit, args::ValidateArgs, places::Places, progress::Progress, project, protection, signals,
    state, validate,
};

/// What has been printed, and what is needed for more.
#[derive(Default)]
struct Told {
    stream: Stream,
    /// The ids of all patches in the order in which they have come.
    ids: Vec<String>,
    /// The line at the start has been printed.
    has_begun: bool,
    /// Answers that wait for it.
    early: Vec<String>,
}

/// What a reader and the run share.
struct Desk {
    inbox: Inbox,
    told: Mutex<Told>,
    is_closed: AtomicBool,
    cancel: CancelToken,
}

impl Desk {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line. If nobody reads any more, there is nothing left to do.
    fn print(&self, line: &str) {
        if crate::out::write(line).is_err() {
            self.is_closed.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }

    /// Prints the line at the start, then what was to be answered before it.
    fn begin(&self, tests: &Tests) {
        let mut told = self.told();
        let line = told.stream.start(tests);
        self.print(&line);
        told.has_begun = true;
        for line in told.early.drain(..) {
            self.print(&line);
        }
    }

    /// Answers a line that is no patch.
    fn refuse(&self, number: usize, message: &str) {
        let line = Stream::refused(number, message);
        let mut told = self.told();
        match told.has_begun {
            true => self.print(&line),
            false => told.early.push(line),
        }
    }

    /// Reads patches until the input ends. What is wrong with a line is answered, and the next ones count all the same.
    fn read(&self, input: impl BufRead) {
        let mut ids: HashSet<String> = HashSet::new();
        for (number, line) in input.split(b'\n').enumerate() {
            let number = number + 1;
            let answer = |message: String| self.refuse(number, &message);
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    answer(format!("standard input cannot be read: {error}"));
                    break;
                }
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let patches = match read_json_line(Path::new("-"), number, &line) {
                Ok(patches) => patches,
                Err(error) => {
                    answer(error.to_string());
                    continue;
                }
            };
            let known = patches.iter().find(|patch| ids.contains(&patch.id.0));
            if let Some(patch) = known {
                answer(format!(
                    "an earlier patch is called {:?}; give each an id of its own",
                    patch.id.0
                ));
                continue;
            }
            ids.extend(patches.iter().map(|patch| patch.id.0.clone()));
            let mut told = self.told();
            told.ids
                .extend(patches.iter().map(|patch| patch.id.0.clone()));
            // While this is held, so that both are in the same order.
            self.inbox.put(patches);
        }
        self.inbox.end();
    }
}

/// Runs `patchwright validate --serve`: reads patches as JSON lines from standard input until its end, and prints a line for each verdict.
///
/// # Errors
/// See [`ValidateError`]: a project that cannot be read, built or protected. A bad line is answered and is no error.
pub fn run(args: &ValidateArgs) -> Result<Exit, ValidateError> {
    let (root, cases) = match &args.inputs[..] {
        [] => (Path::new("."), None),
        [root] => (root.as_path(), None),
        [root, cases, ..] => (root.as_path(), Some(cases.as_path())),
    };
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel = CancelToken::new().map_err(|source| FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), true);
    let project = project::load_described(root, cases, &args.description, Vec::new(), &scratch)?;
    let journal = state::journal(&args.resuming, "validate");
    let permitted = protection::set_up(&mut scratch, &project, journal.as_ref())?;
    project.require_tests()?;
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| FileError::new("find", "the running program", source))?;
    let places = Places::new(scratch.path(), root);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    let options = validate::options(args, journal);
    let desk = Arc::new(Desk {
        inbox: Inbox::default(),
        told: Mutex::default(),
        is_closed: AtomicBool::new(false),
        cancel: cancel.clone(),
    });
    let reader = desk.clone();
    // It may wait for a line for ever, so nobody waits for it.
    std::thread::spawn(move || reader.read(std::io::stdin().lock()));
    let show = |event: Event<'_>| match event {
        Event::Phase(name) => progress.phase(name),
        Event::Progress { done, total } => progress.progress(done, total),
        Event::Warning(text) => progress.warn(&text),
        Event::Tests { tests, .. } => desk.begin(tests),
        Event::Verdict { index, patch } => {
            let told = desk.told();
            let id = |number: usize| &told.ids[number][..];
            let line = told.stream.verdict(index, patch, id);
            drop(told);
            desk.print(&line);
        }
    };
    let outcome = serve(
        &project,
        validate::tree(args, &project).as_ref(),
        validate::reading(args),
        &options,
        &Surroundings {
            program: &program,
            scratch: &scratch,
            cancel: cancel.clone(),
            events: &show,
        },
        &mut || {
            progress.message("waiting for patches".to_owned());
            desk.inbox.take(&cancel)
        },
    );
    progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    let outcome = match outcome {
        Err(_) if desk.is_closed.load(Ordering::Relaxed) => return Ok(Exit::OutputClosed),
        outcome => outcome?,
    };
    signals::while_writing(|| {
        let line = desk.told().stream.end(&outcome);
        desk.print(&line);
    });
    Ok(if desk.is_closed.load(Ordering::Relaxed) {
        Exit::OutputClosed
    } else if cancel.is_cancelled() {
        eprintln!("patchwright: {}", signals::interrupted(true));
        Exit::Interrupted
    } else if outcome.plausible() > 0 {
        Exit::Found
    } else {
        Exit::Nothing
    })
}
