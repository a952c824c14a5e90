//! `repair --propose`: a program of the user's proposes patches.

use std::ffi::OsString;
use std::io::BufRead as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use patchwright_exec::{Companion, Printed, Project};
use patchwright_patches::{Applied, Applier, FileChange, Patch, RawPatch, Reading, read_json_line};
use patchwright_repair::proposer::{Answer, Proposal, Proposals, Proposer, Task};
use patchwright_report::proposals as lines;
use patchwright_validate::{ProjectTree, TestFiles};

/// So often it is looked whether anybody waits for proposals.
const PACE: Duration = Duration::from_millis(50);

/// The flag for another program that proposes patches.
#[derive(Args, Clone, Debug, Default)]
pub struct ProposeArgs {
    /// Also try the patches that this shell command proposes as JSON lines; it runs with all your rights
    ///
    /// The command reads one JSON line with the failing tests and the suspicious lines. It prints one JSON line for each patch, and reads
    /// the verdict on each.
    #[arg(
        long,
        value_name = "CMD",
        conflicts_with = "shard",
        help_heading = "Search"
    )]
    pub propose: Option<OsString>,
}

/// A program that proposes patches.
#[derive(Debug)]
struct Program {
    command: OsString,
    project: Arc<Project>,
    talk: Mutex<Option<Talk>>,
}

/// A program that is running.
#[derive(Debug)]
struct Talk {
    companion: Arc<Companion>,
    proposals: Receiver<Proposal>,
}

/// Returns the proposals of shell command `command` for `project`. The command is started when the search begins, and ended
/// with the result's last reference.
pub fn proposals(command: &OsString, project: &Project) -> Arc<Proposals> {
    Proposals::of(Box::new(Program {
        command: command.clone(),
        project: Arc::new(project.clone()),
        talk: Mutex::default(),
    }))
}

impl Drop for Program {
    fn drop(&mut self) {
        let talk = self.talk.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(talk) = talk {
            // Others may wait for what it prints, so it does not go by itself.
            talk.companion.end();
        }
    }
}

impl Proposer for Program {
    fn begin(&self, task: &Task) {
        let (companion, printed) = match Companion::start(&self.command) {
            Ok(started) => started,
            Err(error) => {
                eprintln!("patchwright: warning: nothing is proposed: {error}");
                return;
            }
        };
        let companion = Arc::new(companion);
        let root = self.project.root.to_string_lossy();
        companion.tell(lines::task(task, &root));
        let (proposals, receiver) = channel();
        let Printed { out, errors } = printed;
        std::thread::spawn(move || {
            for line in errors.split(b'\n').map_while(Result::ok) {
                eprintln!("patchwright: --propose: {}", String::from_utf8_lossy(&line));
            }
        });
        let (project, to) = (self.project.clone(), companion.clone());
        std::thread::spawn(move || read(out, &project, &to, &proposals));
        *self.talk.lock().unwrap_or_else(PoisonError::into_inner) = Some(Talk {
            companion,
            proposals: receiver,
        });
    }

    fn next(&self, most: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<Proposal>> {
        let talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        let talk = talk.as_ref()?;
        let mut found = Vec::new();
        while found.is_empty() && !is_over() {
            match talk.proposals.recv_timeout(PACE) {
                Ok(proposal) => found.push(proposal),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    talk.companion.tell(lines::end());
                    talk.companion.hang_up();
                    return None;
                }
            }
        }
        let more = most.saturating_sub(found.len());
        found.extend(talk.proposals.try_iter().take(more));
        Some(found)
    }

    fn answer(&self, id: &str, answer: &Answer) {
        let talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(talk) = &*talk {
            talk.companion.tell(lines::answer(id, answer));
        }
    }
}

/// Whether a line says that nothing more is proposed.
fn is_end(line: &[u8]) -> bool {
    let said = serde_json::from_slice::<serde_json::Value>(line);
    said.is_ok_and(|said| said["type"] == "end")
}

/// Reads the program's proposals up to the end of its output, or to a line that marks the end: a shell may hold the stream
/// open. A proposal that changes nothing is answered at once.
fn read(
    out: Box<dyn std::io::BufRead + Send>,
    project: &Project,
    to: &Companion,
    proposals: &Sender<Proposal>,
) {
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
            match proposal(&applier, &test_files, raw) {
                Ok(proposal) => {
                    if proposals.send(proposal).is_err() {
                        return;
                    }
                }
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
