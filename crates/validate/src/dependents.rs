//! Finds the sources that a changed header affects, by comparing preprocessed texts.
//!
//! A patch that changes a header would have every source compiled again, since makefiles written by hand do not know what
//! depends on it, and others know only that it was read. The preprocessor knows: a source whose text after preprocessing is
//! the same is the same to the compiler, and what was made of it stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use patchwright_exec::{
    CompileCommand, Limits, RunError, Worker, files, included, runner::Request, sandbox::Sandbox,
};
use patchwright_text::{Digest, Hasher};

use crate::rebuild::has;

/// The sources of a build, and their preprocessed texts in the untouched program.
pub struct Dependents {
    /// By their paths in the project, with the ways in which they are compiled.
    sources: BTreeMap<PathBuf, Vec<CompileCommand>>,
    /// Where the commands see the project. Without a view each copy has a place of its own.
    root: PathBuf,
    /// What each way of each source reads; `None` if the preprocessor fails.
    untouched: OnceLock<BTreeMap<PathBuf, Vec<Option<Preprocessed>>>>,
}

/// What a compiler sees of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Preprocessed {
    /// The files of the project that it reads, relative to its root.
    files: BTreeSet<PathBuf>,
    /// Its text without blank lines and line numbers.
    text: Digest,
}

/// The sources and objects to build again for a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affected {
    /// Sources of which the compiler sees another text.
    pub sources: BTreeSet<PathBuf>,
    /// What was made of the others, as far as it is known.
    pub up_to_date: BTreeSet<PathBuf>,
}

impl Dependents {
    /// Prepares the sources of these commands, whose paths are those that programs in the copy see.
    pub fn new(commands: &[CompileCommand], sandbox: &Sandbox) -> Self {
        Dependents {
            sources: included::sources(commands, sandbox),
            root: sandbox.run_root().to_path_buf(),
            untouched: OnceLock::new(),
        }
    }

    /// The command as programs in this copy see it.
    fn in_copy(&self, command: &CompileCommand, sandbox: &Sandbox) -> CompileCommand {
        command.rebase(&self.root, sandbox.run_root())
    }

    /// Returns the paths of the sources, relative to the project.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.sources.keys().map(PathBuf::as_path)
    }

    /// Returns the state of all files that the sources read in this copy.
    pub fn inputs(&self, sandbox: &Sandbox) -> Inputs {
        let read = self.untouched.get().into_iter().flat_map(BTreeMap::values);
        let files = read.flatten().flatten().flat_map(|way| &way.files);
        let files: BTreeSet<&PathBuf> = files.collect();
        Inputs(
            files
                .into_iter()
                .map(|file| (file.clone(), state(&sandbox.folder().join(file))))
                .collect(),
        )
    }

    /// Preprocesses the untouched sources, unless that was done. The worker's copy must be that of
    /// the untouched program.
    ///
    /// # Errors
    /// A preprocessor that cannot be run.
    pub fn read_untouched(&self, worker: &mut Worker) -> Result<(), RunError> {
        if self.untouched.get().is_none() {
            let mut read = BTreeMap::new();
            for (source, commands) in &self.sources {
                let ways = commands.iter().map(|command| {
                    let command = self.in_copy(command, &worker.sandbox);
                    preprocessed(worker, &command)
                });
                read.insert(source.clone(), ways.collect::<Result<_, _>>()?);
            }
            // Another worker may have been faster, with the same result.
            let _ = self.untouched.set(read);
        }
        Ok(())
    }

    /// Returns what to build again if the contents of the files `changed` differ and there are
    /// headers `added`, both relative to the project's root. The worker's copy has the new contents.
    /// It is `None` if that cannot be told, because no source reads one of the changed headers.
    ///
    /// # Errors
    /// A preprocessor that cannot be run.
    pub fn affected(
        &self,
        worker: &mut Worker,
        changed: &[&Path],
        added: &[&Path],
    ) -> Result<Option<Affected>, RunError> {
        let Some(untouched) = self.untouched.get() else {
            return Ok(None);
        };
        let is_read = |file: &Path| {
            let ways = untouched.values().flatten().flatten();
            self.sources.contains_key(file) || ways.into_iter().any(|way| way.files.contains(file))
        };
        if !changed.iter().all(|file| is_read(file)) {
            return Ok(None);
        }
        // Whoever includes a header names it.
        let names: Vec<&OsStr> = added.iter().filter_map(|path| path.file_name()).collect();
        let names_one = |text: &[u8]| {
            let has = |name: &&OsStr| has(text, name.as_bytes());
            names.iter().any(has)
        };
        let mut naming: BTreeSet<&Path> = BTreeSet::new();
        if !names.is_empty() {
            let ways = untouched.values().flatten().flatten();
            let read: BTreeSet<&PathBuf> = ways.flat_map(|way| &way.files).collect();
            // What cannot be read may name it.
            let is_naming = |file: &&&PathBuf| {
                let text = files::read(&worker.sandbox.folder().join(file));
                text.map_or(true, |text| names_one(&text))
            };
            naming.extend(read.iter().filter(is_naming).map(|file| file.as_path()));
        }
        let mut affected = Affected::default();
        let mut remade = BTreeSet::new();
        for (source, ways) in untouched {
            for (command, way) in self.sources[source].iter().zip(ways) {
                let command = &self.in_copy(command, &worker.sandbox);
                let is_untouched = |way: &Preprocessed, command: &CompileCommand| {
                    let mut arguments = command.arguments.iter();
                    changed
                        .iter()
                        .chain(&naming)
                        .all(|file| !way.files.contains(*file))
                        && !arguments.any(|argument| names_one(argument.as_bytes()))
                };
                let same = match way {
                    None => false,
                    Some(way) if is_untouched(way, command) => true,
                    Some(way) => {
                        let now = preprocessed(worker, command)?;
                        now.is_some_and(|now| now.text == way.text)
                    }
                };
                let output = command.output.as_deref();
                let inside = |path: &Path| worker.sandbox.below_root(&command.directory.join(path));
                let made = output.and_then(inside);
                if same {
                    affected.up_to_date.extend(made);
                } else {
                    affected.sources.insert(source.clone());
                    remade.extend(made);
                }
            }
        }
        // What is made of several sources, or of one in several ways.
        affected.up_to_date.retain(|made| !remade.contains(made));
        let libtool: Vec<PathBuf> = affected
            .up_to_date
            .iter()
            .filter_map(|made| libtool_object(made))
            .collect();
        affected.up_to_date.extend(libtool);
        tracing::debug!(
            "{} of {} sources are affected",
            affected.sources.len(),
            untouched.len()
        );
        Ok(Some(affected))
    }
}

/// The times and lengths of the files that sources read.
pub struct Inputs(Vec<(PathBuf, Option<(SystemTime, u64)>)>);

impl Inputs {
    /// Whether the time or length of one of the files differs in the copy `sandbox` from what was recorded. The first such file
    /// is logged.
    pub fn have_changed(&self, sandbox: &Sandbox) -> bool {
        let now = |file: &Path| state(&sandbox.folder().join(file));
        let changed = self.0.iter().find(|(file, before)| now(file) != *before);
        if let Some((file, _)) = changed {
            tracing::info!("the build has written {}", file.display());
        }
        changed.is_some()
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Sets the times of a copy's files as if everything had just been built, except what is affected.
///
/// # Errors
/// A time that cannot be set.
pub fn mark(sandbox: &Sandbox, affected: &Affected) -> Result<(), files::FileError> {
    let touch = |file: &PathBuf| {
        let path = sandbox.folder().join(file);
        match path.is_file() {
            true => files::touch(&path),
            false => Ok(()),
        }
    };
    // Each later than those before: a source must be newer than anything that is up to date and made of it, too.
    affected.up_to_date.iter().try_for_each(touch)?;
    affected.sources.iter().try_for_each(touch)
}

/// What libtool calls the object, which is what makefiles know: `a.lo` for `a.o` and `.libs/a.o`.
fn libtool_object(object: &Path) -> Option<PathBuf> {
    let name = object.file_name()?;
    let folder = object.parent()?;
    let folder = match folder.file_name() {
        Some(hidden) if hidden == ".libs" => folder.parent()?,
        _ => folder,
    };
    Some(folder.join(name).with_extension("lo"))
}

/// What a compiler sees of the source of a command in the worker's copy; `None` if the preprocessor fails.
fn preprocessed(
    worker: &mut Worker,
    command: &CompileCommand,
) -> Result<Option<Preprocessed>, RunError> {
    let mut arguments = command.without_products().into_iter();
    let mut limits = Limits::with_wall(Duration::from_secs(600));
    limits.output = 1 << 30;
    let request = Request::new(arguments.next().unwrap_or_default(), &command.directory)
        .args(arguments)
        .arg("-E")
        .env("LC_ALL", "C")
        .past_compiler_caches()
        .limits(limits);
    let outcome = worker.runner.run(&request)?;
    if !outcome.ending.is_success() {
        return Ok(None);
    }
    let (names, text) = read(&outcome.stdout);
    let files = names
        .iter()
        .filter_map(|name| worker.sandbox.below_root(&command.directory.join(name)));
    Ok(Some(Preprocessed {
        files: files.collect(),
        text,
    }))
}

/// The files that a preprocessed text names, and a digest of its lines.
fn read(text: &[u8]) -> (BTreeSet<String>, Digest) {
    let mut files = BTreeSet::new();
    let mut hasher = Hasher::new();
    for line in text.split(|byte| *byte == b'\n') {
        if let Some(name) = marker(line) {
            files.insert(name);
        } else if !line.trim_ascii().is_empty() {
            hasher.field(line);
        }
    }
    (files, hasher.finish())
}

/// The file that a line like `# 12 "a.h" 1` names.
fn marker(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let rest = line
        .strip_prefix("# ")?
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let name = rest.strip_prefix(" \"")?;
    let (name, _) = name.rsplit_once('"')?;
    // The compiler's folder, for the debugger.
    if name.ends_with("//") {
        return None;
    }
    Some(name.replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# 0 \"a.c\"\n# 1 \"a.c\"\n# 1 \"b.h\" 1\nint b;\n\n# 2 \"a.c\" 2\nint a;\n";

    #[test]
    fn a_text_is_the_same_on_whichever_lines_it_stands() {
        let moved = TEXT
            .replace("int b;\n\n", "\n\n\nint b;\n")
            .replace("# 2 ", "# 7 ");
        assert_eq!(read(TEXT.as_bytes()), read(moved.as_bytes()));
        let other = TEXT.replace("int b", "int c");
        assert_ne!(read(TEXT.as_bytes()), read(other.as_bytes()));
    }

    #[test]
    fn markers_name_the_files_that_are_read() {
        let files: Vec<String> = read(TEXT.as_bytes()).0.into_iter().collect();
        assert_eq!(files, ["a.c", "b.h"]);
        for other in [
            "#pragma once",
            "# pragma \"x\"",
            "int a;",
            "# define A \"b\"",
            "# 1 \"/a//\"",
        ] {
            assert_eq!(marker(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn objects_of_libtool_have_names_of_their_own() {
        let name = |object: &str| libtool_object(Path::new(object)).unwrap();
        assert_eq!(name("src/.libs/a.o"), Path::new("src/a.lo"));
        assert_eq!(name("src/a.o"), Path::new("src/a.lo"));
        assert_eq!(name("a.o"), Path::new("a.lo"));
    }
}
