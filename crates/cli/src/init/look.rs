//! A built copy of the project that is looked at, and in which commands are tried.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::runner::{Overflow, Sink};
use patchwright_exec::{FileError, Limits, Request, Worker, files};

use crate::progress::Progress;

/// A command that is tried may take so long.
const SHORT: Duration = Duration::from_secs(20);

/// A whole suite may take so long.
const LONG: Duration = Duration::from_secs(600);

/// A built copy of the project, in which `init` tries commands.
pub struct Look<'l> {
    worker: Worker,
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
    /// A copy that is built, of a tree with these files.
    ///
    /// # Errors
    /// A tree that cannot be read.
    pub fn new(
        worker: Worker,
        sources: BTreeSet<PathBuf>,
        progress: &'l Progress<'l>,
    ) -> Result<Self, FileError> {
        let files = files_of(worker.sandbox.folder())?;
        Ok(Look {
            worker,
            sources,
            files,
            progress,
        })
    }

    /// Runs a shell command in the root.
    pub fn ask(&mut self, script: &str) -> Said {
        self.ask_for(script, SHORT)
    }

    /// Runs a shell command that runs many tests.
    pub fn ask_long(&mut self, script: &str) -> Said {
        self.progress.message(format!("trying `{script}`"));
        let said = self.ask_for(script, LONG);
        // It may have built something.
        if let Ok(files) = files_of(self.worker.sandbox.folder()) {
            self.files = files;
        }
        said
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
                }
            }
            // What cannot be run says nothing.
            Err(_) => Said {
                is_success: false,
                crashes: false,
                text: String::new(),
            },
        }
    }

    /// Returns the text of a file of the copy, with invalid UTF-8 replaced. The text is empty if the file cannot be read.
    pub fn text(&self, path: &Path) -> String {
        let bytes = files::read(&self.worker.sandbox.folder().join(path)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Programs that the build has made, relative to the root.
    pub fn programs(&self) -> Vec<PathBuf> {
        let folder = self.worker.sandbox.folder();
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
            !ends_otherwise && !is_of_tool && files::is_executable(&full) && is_elf(&full)
        };
        made.filter(is_program).cloned().collect()
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

/// Returns `text` quoted as one word of the shell. The result is empty for a text with a NUL byte.
pub fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| String::new(), std::borrow::Cow::into_owned)
}
