//! Writes two revisions of a git repository to folders. The checkout is not looked at.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use patchwright_changes::{
    Status,
    git::{Commit, GitError, History},
    measure,
};
use patchwright_exec::{Scratch, files};
use patchwright_history::export;

use crate::encoded::Problem;

/// Two revisions as folders.
#[derive(Debug)]
pub struct Revisions {
    /// What stands for the versions in the list of them: folders, or the file in both.
    pub versions: [PathBuf; 2],
    /// What the user calls them.
    pub shown: [String; 2],
    /// Functions of the file that differ, in both versions: these are compared where the file has no `main`. Nothing if
    /// whole revisions are compared.
    pub functions: Option<Vec<String>>,
}

impl Revisions {
    /// Replaces the paths of the folders in an error by the names of the revisions.
    pub fn said(&self, problem: Problem) -> Problem {
        match problem {
            Problem::Input(mut message) => {
                for (path, shown) in self.versions.iter().zip(&self.shown) {
                    message = message.replace(&path.display().to_string(), shown);
                }
                Problem::Input(message)
            }
            other => other,
        }
    }
}

/// Returns the revisions `A..B`, if that is the only name. An empty end is HEAD. Written are the files
/// below the current folder. `file`, relative to that, is what is compared, if it is named.
///
/// # Errors
/// What is no revision, a file that one of them does not have, a repository that cannot be read.
pub fn find(
    names: &[OsString],
    file: Option<&Path>,
    scratch: &Scratch,
) -> Result<Option<Revisions>, Problem> {
    let range = match names {
        [only] if !Path::new(only).exists() => only.to_string_lossy().into_owned(),
        _ => String::new(),
    };
    let Some((old, new)) = range.split_once("..") else {
        return match file {
            Some(file) => Err(Problem::Input(format!(
                "--file {}: --file needs two revisions; name them as A..B",
                file.display()
            ))),
            None => Ok(None),
        };
    };
    if new.starts_with('.') {
        return Err(Problem::Input(format!(
            "`{range}`: two revisions are written A..B, with two dots"
        )));
    }
    let history = History::open(Path::new(".")).map_err(|error| match error {
        GitError::NotARepository { .. } => Problem::Input(format!(
            "{range}: there is no such file or folder, and the current folder is in no git repository that has such revisions"
        )),
        other => Problem::of(other),
    })?;
    let ends = [old, new].map(|end| if end.is_empty() { "HEAD" } else { end });
    let mut commits = Vec::new();
    for end in ends {
        commits.push(history.commit(end).map_err(Problem::of)?);
    }
    let below = below(&history)?;
    let mut versions = Vec::new();
    for (side, commit) in ["old", "new"].into_iter().zip(&commits) {
        let folder = scratch
            .create_folder(&format!("revision-{side}"))
            .map_err(Problem::of)?;
        let exported =
            export(&history, &commit.id, &below, &folder, commit.time).map_err(Problem::of)?;
        for submodule in exported.submodules {
            eprintln!(
                "patchwright: warning: {} is a submodule; a revision does not have its files",
                submodule.display()
            );
        }
        let Some(file) = file else {
            versions.push((folder, commit.short().to_owned()));
            continue;
        };
        let path = folder.join(file);
        if file.is_absolute() || !path.is_file() {
            return Err(Problem::Input(format!(
                "--file {}: commit {} has no such file; it is relative to the current folder",
                file.display(),
                commit.short()
            )));
        }
        versions.push((path, format!("{}:{}", commit.short(), file.display())));
    }
    let functions = match file {
        Some(file) => Some(functions(&history, &commits, &below.join(file))?),
        None => None,
    };
    let (Some(new), Some(old)) = (versions.pop(), versions.pop()) else {
        return Ok(None);
    };
    Ok(Some(Revisions {
        versions: [old.0, new.0],
        shown: [old.1, new.1],
        functions,
    }))
}

/// The current folder, relative to the root of the repository.
fn below(history: &History) -> Result<PathBuf, Problem> {
    let Ok(root) = history.working_tree() else {
        return Ok(PathBuf::new());
    };
    let here = std::env::current_dir().map_err(Problem::of)?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let below = real(&here).strip_prefix(real(&root)).map(Path::to_path_buf);
    Ok(below.unwrap_or_default())
}

/// The functions of a file that both revisions have, and that differ.
fn functions(history: &History, commits: &[Commit], file: &Path) -> Result<Vec<String>, Problem> {
    let [old, new] = commits else {
        return Ok(Vec::new());
    };
    let change = history
        .between(&old.id, &new.id, false)
        .map_err(Problem::of)?;
    let measured = measure(&change);
    let changed = measured
        .functions
        .iter()
        .filter(|function| function.status == Status::Changed && Path::new(&function.file) == file);
    Ok(changed.map(|function| function.name.clone()).collect())
}

/// Whether a file seems to define `main`.
///
/// # Errors
/// When it cannot be read.
pub fn has_main(file: &Path) -> Result<bool, Problem> {
    let text = files::read(file).map_err(Problem::of)?;
    Ok(super::read::defines(&text, "main"))
}
