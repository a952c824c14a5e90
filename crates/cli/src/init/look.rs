//! A built copy of the project that is looked at, and in which commands are tried.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::runner::{Overflow, Sink};
use patchwright_exec::{FileError, Limits, Request, Worker, files};

use super::build::{Build, quoted};
use super::error::InitError;
use super::written::DRIVER;
use crate::progress::Progress;

/// A command that is tried may take so long.
const SHORT: Duration = Duration::from_secs(20);

/// The number of tests that are tried to see whether any passes.
const FEW: usize = 8;

/// A whole suite may take so long.
const LONG: Duration = Duration::from_secs(600);

/// Makes a fresh copy of the project and builds it in this way; an error of its build is told in words.
pub type Start<'l> = dyn Fn(&Build) -> Result<Result<Worker, String>, InitError> + 'l;

/// A built copy of the project, in which `init` tries commands.
pub struct Look<'l> {
    worker: Worker,
    start: &'l Start<'l>,
    /// The files of the tree before it was built, relative to the root.
    pub sources: BTreeSet<PathBuf>,
    /// The files of the copy after the build, relative to the root.
    pub files: BTreeSet<PathBuf>,
    progress: &'l Progress<'l>,
}

/// How a tried command ended, and what it printed.
pub struct Said {
    /// Whether it ended with status 0.
    pub is_success: bool,
    /// Whether a signal ended it, or a sanitizer reported something.
    pub crashes: bool,
    /// What it printed, to either stream.
    pub text: String,
    /// How long it took.
    pub time: Duration,
}

/// The files of a tree, relative to its root.
///
/// # Errors
/// A tree that cannot be read.
pub fn files_of(folder: &Path) -> Result<BTreeSet<PathBuf>, FileError> {
    let all = files::regular_files_below(folder)?;
    let inside = all.iter().filter_map(|path| path.strip_prefix(folder).ok());
    let is_own = |path: &&Path| !path.starts_with(".git");
    Ok(inside.filter(is_own).map(Path::to_path_buf).collect())
}

impl<'l> Look<'l> {
    /// Starts to look at a built copy. `sources` are the files of the tree.
    ///
    /// # Errors
    /// A tree that cannot be read.
    pub fn new(
        worker: Worker,
        start: &'l Start<'l>,
        sources: BTreeSet<PathBuf>,
        progress: &'l Progress<'l>,
    ) -> Result<Self, FileError> {
        let files = files_of(worker.sandbox.folder())?;
        Ok(Look {
            worker,
            start,
            sources,
            files,
            progress,
        })
    }

    /// Goes on in a fresh copy that is built in this way, in which no test has run. Returns whether that was possible; if not,
    /// the copy stays what it is.
    pub fn refresh(&mut self, build: &Build) -> bool {
        let Ok(Ok(worker)) = (self.start)(build) else {
            return false;
        };
        self.worker = worker;
        self.see_files();
        true
    }

    /// The path that the root has for a command.
    pub fn root(&self) -> String {
        self.worker
            .sandbox
            .run_root()
            .to_string_lossy()
            .into_owned()
    }

    /// Runs a few of these tests in the copy. Returns how many passed, and how many were run.
    pub fn passing(&mut self, script: &str, names: &[String]) -> (usize, usize) {
        let driver = self.worker.sandbox.folder().join(DRIVER);
        let written = files::write_atomic(&driver, script.as_bytes())
            .and_then(|()| files::make_executable(&driver));
        if written.is_err() {
            return (0, 0);
        }
        let few = names.iter().take(FEW);
        let passing = few
            .filter(|name| {
                self.ask_for(&format!("./{DRIVER} {}", quoted(name)), LONG)
                    .is_success
            })
            .count();
        (passing, names.len().min(FEW))
    }

    /// Runs a shell command in the root.
    pub fn ask(&mut self, script: &str) -> Said {
        self.ask_for(script, SHORT)
    }

    /// Runs a shell command that runs many tests.
    pub fn ask_long(&mut self, script: &str) -> Said {
        self.progress.message(format!("trying `{script}`"));
        let said = self.ask_for(script, LONG);
        self.see_files();
        said
    }

    /// Looks again which files there are, because something may have been built.
    fn see_files(&mut self) {
        if let Ok(files) = files_of(self.worker.sandbox.folder()) {
            self.files = files;
        }
    }

    fn ask_for(&mut self, script: &str, time: Duration) -> Said {
        let limits = Limits {
            wall: time,
            ..Limits::for_build()
        };
        let mut request = Request::shell(script, self.worker.sandbox.run_root()).limits(limits);
        request.stderr = Sink::WithStdout;
        request.overflow = Overflow::Discard;
        match self.worker.runner.run(&request) {
            Ok(outcome) => {
                let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                Said {
                    is_success: outcome.ending.is_success(),
                    crashes: !matches!(outcome.ending, patchwright_exec::Ending::Exited(0..128))
                        || text.contains("Sanitizer")
                        || text.contains("runtime error: "),
                    text,
                    time: outcome.wall,
                }
            }
            // What cannot be run says nothing.
            Err(_) => Said {
                is_success: false,
                crashes: false,
                text: String::new(),
                time: Duration::ZERO,
            },
        }
    }

    /// Returns the text of a file of the copy, with invalid UTF-8 replaced. The text is empty if the file cannot be read.
    pub fn text(&self, path: &Path) -> String {
        let bytes = files::read(&self.worker.sandbox.folder().join(path)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Programs that the build has made, relative to the root. Scripts by which libtool starts a program count.
    pub fn programs(&self) -> Vec<PathBuf> {
        let folder = self.worker.sandbox.folder();
        let is_wrapper = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            let real = path.with_file_name(".libs").join(name);
            self.files.contains(&real) && is_elf(&folder.join(real))
        };
        let made = self.files.difference(&self.sources);
        let is_program = |path: &&PathBuf| {
            let full = folder.join(path);
            let ends_otherwise = path.extension().is_some_and(|end| {
                ["o", "so", "a", "lo", "la"]
                    .iter()
                    .any(|other| end == *other)
            });
            let is_of_tool = path.components().any(|part| {
                ["CMakeFiles", "meson-private", ".libs"]
                    .iter()
                    .any(|name| part.as_os_str() == *name)
            });
            !ends_otherwise
                && !is_of_tool
                && files::is_executable(&full)
                && (is_elf(&full) || is_wrapper(path))
        };
        made.filter(is_program).cloned().collect()
    }

    /// Whether a file of the copy is a program or a script that somebody may start.
    pub fn is_startable(&self, path: &Path) -> bool {
        let full = self.worker.sandbox.folder().join(path);
        let is_script = path.extension().is_some_and(|end| {
            ["sh", "bash", "pl", "py", "t"]
                .iter()
                .any(|other| end == *other)
        });
        let is_tool = path.file_name().is_some_and(|name| name == "libtool");
        let starts = || is_elf(&full) || self.text(path).starts_with("#!");
        !is_tool && (is_script || files::is_executable(&full) && starts())
    }

    /// Whether a file of the copy can be executed.
    pub fn is_executable(&self, path: &Path) -> bool {
        files::is_executable(&self.worker.sandbox.folder().join(path))
    }
}

/// Whether a file begins as a program does.
fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 18];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    // A shared object that can be executed is a program, too.
    read.is_ok() && magic.starts_with(b"\x7fELF") && matches!(magic[16], 2 | 3)
}
