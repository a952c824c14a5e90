//! `repair --propose`: a program of the user's proposes patches.

mod desk;
pub mod sieve;

use std::ffi::OsString;
use std::io::BufRead as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use patchwright_exec::{Companion, Printed, Project};
use patchwright_patches::{Applied, Applier, FileChange, Patch, RawPatch, Reading, read_json_line};
use patchwright_repair::Event;
use patchwright_repair::proposer::{Answer, Proposal, Proposals, Proposer, Task};
use patchwright_report::proposals as lines;
use patchwright_validate::{ProjectTree, TestFiles};

pub use desk::Desk;

/// The flag for another program that proposes patches.
#[derive(Args, Clone, Debug, Default)]
pub struct ProposeArgs {
    /// Also try the patches that this shell command proposes as JSON lines; it runs with all your rights
    ///
    /// The command reads one JSON line with the failing tests and the suspicious lines. It prints one JSON line for each patch, and reads
    /// the verdict on each, and what the search has tried and found meanwhile.
    #[arg(
        long,
        value_name = "CMD",
        conflicts_with = "shard",
        help_heading = "Search"
    )]
    pub propose: Option<OsString>,
}

/// A program that proposes patches. It is started when the search begins, and ended with the last reference to its proposals.
#[derive(Debug)]
struct Program {
    command: OsString,
    project: Arc<Project>,
    desk: Arc<Desk>,
    talk: Arc<Talk>,
}

/// What is told to a program while it runs.
#[derive(Debug, Default)]
struct Talk {
    companion: Mutex<Option<Arc<Companion>>>,
}

impl Talk {
    fn companion(&self) -> MutexGuard<'_, Option<Arc<Companion>>> {
        self.companion
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, line: String) {
        if let Some(companion) = &*self.companion() {
            companion.tell(line);
        }
    }
}

/// The proposals of a shell command for a run.
pub struct Proposing {
    /// What the search is given.
    pub proposals: Arc<Proposals>,
    /// Where they lie until the search takes them.
    pub desk: Arc<Desk>,
    talk: Arc<Talk>,
    /// So many candidates had been tried when that was told.
    told: AtomicU64,
}

impl Proposing {
    /// The proposals of shell command `command` for `project`.
    pub fn of(command: &OsString, project: &Project) -> Self {
        let (desk, talk) = (Arc::<Desk>::default(), Arc::<Talk>::default());
        let program = Program {
            command: command.clone(),
            project: Arc::new(project.clone()),
            desk: desk.clone(),
            talk: talk.clone(),
        };
        Proposing {
            proposals: Proposals::of(Box::new(program)),
            desk,
            talk,
            told: AtomicU64::new(0),
        }
    }

    /// Tells the program what the search has tried by now, and which patches it has found.
    pub fn tell(&self, event: &Event) {
        match event {
            Event::Passed { patch, .. } if patch.proposal.is_none() => {
                self.talk.tell(lines::found(patch));
            }
            Event::Search {
                explored,
                executions,
                plausible,
                ..
            } => {
                // Twice as many as the last time: more often it would be noise.
                let is_news = *explored >= 2 * self.told.load(Ordering::Relaxed).max(1);
                if is_news {
                    self.told.store(*explored, Ordering::Relaxed);
                    let tried = lines::tried(*explored, *executions, *plausible);
                    self.talk.tell(tried);
                }
            }
            _ => {}
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(companion) = self.talk.companion().take() {
            // Others may wait for what it prints, so it does not go by itself.
            companion.end();
        }
    }
}

impl Proposer for Program {
    fn begin(&self, task: &Task) {
        let (companion, printed) = match Companion::start(&self.command) {
            Ok(started) => started,
            Err(error) => {
                eprintln!("patchwright: warning: nothing is proposed: {error}");
                self.desk.finish();
                return;
            }
        };
        let companion = Arc::new(companion);
        let root = self.project.root.to_string_lossy();
        companion.tell(lines::task(task, &root));
        let Printed { out, errors } = printed;
        std::thread::spawn(move || {
            for line in errors.split(b'\n').map_while(Result::ok) {
                eprintln!("patchwright: --propose: {}", String::from_utf8_lossy(&line));
            }
        });
        let (project, to, desk) = (self.project.clone(), companion.clone(), self.desk.clone());
        std::thread::spawn(move || {
            read(out, &project, &to, &desk);
            desk.finish();
        });
        *self.talk.companion() = Some(companion);
    }

    fn next(&self, most: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<Proposal>> {
        let found = self.desk.next(most, is_over);
        if found.is_none()
            && let Some(companion) = &*self.talk.companion()
        {
            companion.tell(lines::end());
            companion.hang_up();
        }
        found
    }

    fn left(&self) -> Vec<Proposal> {
        self.desk.left()
    }

    fn answer(&self, id: &str, answer: &Answer) {
        self.talk.tell(lines::answer(id, answer));
    }
}

/// Whether a line says that nothing more is proposed.
fn is_end(line: &[u8]) -> bool {
    let said = serde_json::from_slice::<serde_json::Value>(line);
    said.is_ok_and(|said| said["type"] == "end")
}

/// Reads the program's proposals up to the end of its output, or to a line that marks the end: a shell may hold the stream
/// open. A proposal that changes nothing is answered at once.
fn read(out: Box<dyn std::io::BufRead + Send>, project: &Project, to: &Companion, desk: &Desk) {
    let tree = ProjectTree::new(project);
    let applier = Applier::new(&tree, Reading::default());
    let test_files = match TestFiles::of(project) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("patchwright: warning: nothing is proposed: {error}");
            return;
        }
    };
    for (number, line) in out.split(b'\n').map_while(Result::ok).enumerate() {
        let number = number + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        if is_end(&line) {
            return;
        }
        let patches = match read_json_line(Path::new("proposal"), number, &line) {
            Ok(patches) => patches,
            Err(error) => {
                to.tell(lines::refused(
                    &format!("proposal:{number}"),
                    &error.to_string(),
                ));
                continue;
            }
        };
        for raw in patches {
            let id = raw.id.0.clone();
            match proposal(&applier, &test_files, raw.clone()) {
                Ok(proposal) => desk.put(raw, proposal),
                Err(reason) => to.tell(lines::refused(&id, &reason)),
            }
        }
    }
}

/// A proposal as the file that it changes; or why it cannot be tried.
fn proposal(
    applier: &Applier<'_>,
    test_files: &TestFiles<'_>,
    raw: RawPatch,
) -> Result<Proposal, String> {
    let Patch { id, changes, .. } = match applier.apply(raw) {
        Applied::Patch(patch) => patch,
        Applied::DoesNotApply(not) => return Err(not.reason.to_string()),
    };
    let is_of_tests = |path: &Path| test_files.contain(path) || test_files.is_beside(path);
    let (tests, changes): (Vec<FileChange>, Vec<FileChange>) = changes
        .into_iter()
        .partition(|change| change.paths().any(|path| is_of_tests(path.as_path())));
    match &changes[..] {
        [FileChange::Modify { path, text }] => Ok(Proposal {
            id: id.0,
            file: path.as_path().to_path_buf(),
            text: text.to_vec(),
            refusal: None,
        }),
        [] if !tests.is_empty() => {
            Err("it changes only files of the tests, which judge it".to_owned())
        }
        [] => Err("it changes nothing".to_owned()),
        [_] => Err(
            "it adds, removes or renames a file; a proposal changes the text of one that is there"
                .to_owned(),
        ),
        several => Err(format!(
            "it changes {} files; a proposal changes one",
            several.len()
        )),
    }
}
