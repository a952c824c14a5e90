//! Reads changes from a git repository. The program `git` is not needed.

mod tree;
mod walk;

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

use git2::{
    Delta, Diff, DiffFindOptions, DiffOptions, ErrorCode, ObjectType, Oid, Repository, Sort, Tree,
    TreeWalkMode, TreeWalkResult,
};

use patchwright_flow::headers::Header;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compare::{FileChange, Source};
use crate::definitions::{Disk, Version};
use crate::measure::Change;
use crate::trees::changed_files;

pub use tree::Item;
pub use walk::{Member, days_between};

/// Why a repository cannot be read, or a revision not be found.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository.
    #[error("{} is in no git repository", folder.display())]
    NotARepository {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// The repository belongs to someone else.
    #[error(
        "the git repository of {} belongs to another user; if you trust it, run: git config --global --add safe.directory {}",
        folder.display(),
        folder.display()
    )]
    OtherOwner {
        /// Where it is.
        folder: PathBuf,
    },
    /// A revision that is not there.
    #[error(
        "the repository knows no revision `{revision}`; give a commit, tag or branch, or a range A..B"
    )]
    UnknownRevision {
        /// What was asked for.
        revision: String,
    },
    /// A bare repository has no working tree to compare with.
    #[error("the repository {} has no working tree; give a revision, such as HEAD", folder.display())]
    NoWorkingTree {
        /// Where it is.
        folder: PathBuf,
    },
    /// A file of the working tree cannot be read.
    #[error("cannot read {}: {source}; check its owner and mode", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Anything else that the library says.
    #[error("cannot {action} in the git repository: {message}; `git fsck` may tell more")]
    Repository {
        /// What was being done.
        action: &'static str,
        /// What the library said.
        message: String,
    },
}

fn failed(action: &'static str) -> impl Fn(git2::Error) -> GitError {
    move |error| GitError::Repository {
        action,
        message: error.message().to_owned(),
    }
}

/// A commit: name, subject, time and number of parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its full name.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// How many parents it has; with more than one it is a merge and is compared with the first, with none it is
    /// compared with nothing.
    pub parents: usize,
}

impl Commit {
    /// Returns the first twelve digits of the commit's name.
    pub fn short(&self) -> &str {
        &self.id[..12]
    }

    /// Returns the day of the commit in UTC, such as `2026-11-21`.
    pub fn date(&self) -> String {
        // Days to a date of the Gregorian calendar, years beginning in March.
        let days = self.time.div_euclid(86_400) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Whether a file is a C source or header by its name.
pub fn is_c(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "c" || extension == "h")
}

/// A version of the files, in a repository; what is not there, made by a build say, is looked for in the working tree.
struct Revision {
    repository: Rc<Repository>,
    tree: Oid,
    /// By path, and by what is in them, which most revisions share.
    known: RefCell<FxHashMap<PathBuf, Option<Arc<Header>>>>,
    headers: Rc<RefCell<FxHashMap<Oid, Arc<Header>>>>,
    disk: Rc<Disk>,
}

impl std::fmt::Debug for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Revision({})", self.tree)
    }
}

impl Revision {
    /// The header in the revision.
    fn find(&self, path: &Path) -> Option<Arc<Header>> {
        let tree = self.repository.find_tree(self.tree).ok()?;
        let id = tree.get_path(path).ok()?.id();
        if let Some(header) = self.headers.borrow().get(&id) {
            return Some(header.clone());
        }
        let blob = self.repository.find_blob(id).ok()?;
        let header = Arc::new(Header::read(blob.content()));
        self.headers.borrow_mut().insert(id, header.clone());
        Some(header)
    }
}

impl Version for Revision {
    fn header(&self, path: &Path) -> Option<Arc<Header>> {
        if let Some(header) = self.known.borrow().get(path) {
            return header.clone();
        }
        let header = match path.is_relative() {
            true => self.find(path),
            false => None,
        };
        let mut known = self.known.borrow_mut();
        known.insert(path.to_path_buf(), header.clone());
        header
    }

    fn other_header(&self, path: &Path) -> Option<Arc<Header>> {
        self.disk.header(path)
    }
}

/// An opened git repository.
pub struct History {
    repository: Rc<Repository>,
    /// Headers that were read.
    headers: Rc<RefCell<FxHashMap<Oid, Arc<Header>>>>,
    /// The working tree.
    disk: Rc<Disk>,
    folder: PathBuf,
    /// Files that were read, by their contents and paths: most are the same in many revisions.
    sources: RefCell<FxHashMap<(Oid, String), Arc<Source>>>,
}

impl History {
    /// Opens the repository that contains `folder`.
    pub fn open(folder: &Path) -> Result<Self, GitError> {
        match Repository::discover(folder) {
            Ok(repository) => Ok(History {
                disk: Rc::new(Disk::new(repository.workdir())),
                headers: Rc::default(),
                repository: Rc::new(repository),
                folder: folder.to_path_buf(),
                sources: RefCell::default(),
            }),
            Err(error) if error.code() == ErrorCode::Owner => Err(GitError::OtherOwner {
                folder: folder.to_path_buf(),
            }),
            Err(error) if error.code() == ErrorCode::NotFound => Err(GitError::NotARepository {
                folder: folder.to_path_buf(),
            }),
            Err(error) => Err(failed("open the files")(error)),
        }
    }

    /// Whether `revision` names a commit.
    pub fn knows(&self, revision: &str) -> bool {
        self.find(revision).is_ok()
    }

    fn find(&self, revision: &str) -> Result<git2::Commit<'_>, GitError> {
        self.repository
            .revparse_single(revision)
            .and_then(|object| object.peel_to_commit())
            .map_err(|_| GitError::UnknownRevision {
                revision: revision.to_owned(),
            })
    }

    fn describe(commit: &git2::Commit) -> Commit {
        let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
        Commit {
            id: commit.id().to_string(),
            subject: message.trim_start().lines().next().unwrap_or("").to_owned(),
            time: commit.time().seconds(),
            parents: commit.parent_count(),
        }
    }

    /// Returns the commit that `revision` names.
    pub fn commit(&self, revision: &str) -> Result<Commit, GitError> {
        self.find(revision).map(|commit| Self::describe(&commit))
    }

    /// Returns the commits that lead to `to` and not to `from`, oldest first. An empty end is HEAD,
    /// as in git.
    pub fn range(&self, from: &str, to: &str) -> Result<Vec<Commit>, GitError> {
        let or_head = |revision: &str| {
            if revision.is_empty() {
                "HEAD"
            } else {
                revision
            }
            .to_owned()
        };
        let (from, to) = (self.find(&or_head(from))?, self.find(&or_head(to))?);
        let walk = || {
            let mut walk = self.repository.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.push(to.id())?;
            walk.hide(from.id())?;
            walk.map(|id| Ok(Self::describe(&self.repository.find_commit(id?)?)))
                .collect::<Result<Vec<_>, git2::Error>>()
        };
        walk().map_err(failed("walk over the commits"))
    }

    /// Returns the change of a commit against its first parent. With `whole` it has the rest of the
    /// program, too.
    pub fn change(&self, commit: &Commit, whole: bool) -> Result<Change, GitError> {
        let find = || {
            let commit = self.repository.find_commit(Oid::from_str(&commit.id)?)?;
            let old = match commit.parent_count() {
                0 => None,
                _ => Some(commit.parent(0)?.tree()?),
            };
            Ok((old, commit.tree()?))
        };
        let (old, new) = find().map_err(failed("read a commit"))?;
        self.between_trees(old.as_ref(), &new, whole)
    }

    /// Returns the change between two revisions. With `whole` it has the rest of the program, too.
    pub fn between(&self, old: &str, new: &str, whole: bool) -> Result<Change, GitError> {
        let tree = |revision| self.find(revision)?.tree().map_err(failed("read a commit"));
        self.between_trees(Some(&tree(old)?), &tree(new)?, whole)
    }

    fn version(&self, tree: Oid) -> Rc<dyn Version> {
        Rc::new(Revision {
            repository: self.repository.clone(),
            tree,
            known: RefCell::default(),
            headers: self.headers.clone(),
            disk: self.disk.clone(),
        })
    }

    fn between_trees(
        &self,
        old: Option<&Tree>,
        new: &Tree,
        whole: bool,
    ) -> Result<Change, GitError> {
        // libgit2 would open every folder of both trees; told which files differ, it opens only what leads there.
        let changed =
            changed_files(&self.repository, old, new).map_err(failed("compare two trees"))?;
        let files = if changed.is_empty() {
            Vec::new()
        } else {
            let mut options = DiffOptions::new();
            options.ignore_submodules(true).disable_pathspec_match(true);
            for path in &changed {
                options.pathspec(path.as_path());
            }
            let diff = self
                .repository
                .diff_tree_to_tree(old, Some(new), Some(&mut options))
                .map_err(failed("compare two trees"))?;
            self.files(diff, None)?
        };
        let rest = match whole {
            true => Some(self.rest(new, &files)?),
            false => None,
        };
        let new = self.version(new.id());
        let old = old.map_or(new.clone(), |old| self.version(old.id()));
        Ok(Change {
            files,
            rest,
            versions: Some([old, new]),
            ..Change::default()
        })
    }

    /// Returns the change between the last commit and the working tree, without files that git does
    /// not know.
    pub fn uncommitted(&self, whole: bool) -> Result<Change, GitError> {
        self.to_working_tree("HEAD", whole)
    }

    /// Returns the change from `revision` to the working tree. Files that git does not track are left out.
    ///
    /// # Errors
    /// A bare repository, and a revision or file that cannot be read.
    pub fn since(&self, revision: &str) -> Result<Change, GitError> {
        self.to_working_tree(revision, false)
    }

    fn to_working_tree(&self, revision: &str, whole: bool) -> Result<Change, GitError> {
        let root = self
            .repository
            .workdir()
            .ok_or_else(|| GitError::NoWorkingTree {
                folder: self.folder.clone(),
            })?;
        let commit = self.find(revision)?;
        let tree = commit.tree().map_err(failed("read a commit"))?;
        let mut options = DiffOptions::new();
        options
            .pathspec("*.c")
            .pathspec("*.h")
            .ignore_submodules(true);
        let diff = self
            .repository
            .diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options))
            .map_err(failed("compare with the working tree"))?;
        let files = self.files(diff, Some(root))?;
        let rest = match whole {
            true => Some(self.rest(&tree, &files)?),
            false => None,
        };
        Ok(Change {
            files,
            rest,
            versions: Some([self.version(tree.id()), self.disk.clone()]),
            ..Change::default()
        })
    }

    /// The files of a difference; new versions come from the working tree if its root is given.
    fn files(&self, mut diff: Diff, root: Option<&Path>) -> Result<Vec<FileChange>, GitError> {
        diff.find_similar(Some(DiffFindOptions::new().renames(true)))
            .map_err(failed("find renamed files"))?;
        let mut files = Vec::new();
        for delta in diff.deltas() {
            let side = |file: git2::DiffFile, absent: Delta, root: Option<&Path>| {
                let path = file.path().map(Path::to_path_buf).unwrap_or_default();
                let is_file = file.mode() == git2::FileMode::Blob
                    || file.mode() == git2::FileMode::BlobExecutable;
                if delta.status() == absent || !is_file || !is_c(&path) {
                    return Ok(None);
                }
                let text = match root {
                    Some(root) => {
                        let path = root.join(&path);
                        std::fs::read(&path).map_err(|source| GitError::File { path, source })?
                    }
                    None => self
                        .repository
                        .find_blob(file.id())
                        .map_err(failed("read a file"))?
                        .content()
                        .to_vec(),
                };
                Ok(Some(Source {
                    path: path.to_string_lossy().into_owned(),
                    text,
                }))
            };
            let change = FileChange {
                old: side(delta.old_file(), Delta::Added, None)?,
                new: side(delta.new_file(), Delta::Deleted, root)?,
            };
            if change != FileChange::default() {
                files.push(change);
            }
        }
        Ok(files)
    }

    /// The C files of a tree that are not among the new versions of `changed`.
    fn rest(&self, tree: &Tree, changed: &[FileChange]) -> Result<Vec<Arc<Source>>, GitError> {
        let mut known = self.sources.borrow_mut();
        let mut rest = Vec::new();
        let mut missing = None;
        let changed: FxHashSet<&str> = changed
            .iter()
            .filter_map(|file| Some(file.new.as_ref()?.path.as_str()))
            .collect();
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            let path = format!("{folder}{}", String::from_utf8_lossy(entry.name_bytes()));
            let wanted = entry.kind() == Some(ObjectType::Blob)
                && is_c(Path::new(&path))
                && !changed.contains(path.as_str());
            if wanted {
                let key = (entry.id(), path);
                if let Some(source) = known.get(&key) {
                    rest.push(source.clone());
                    return TreeWalkResult::Ok;
                }
                match self.repository.find_blob(entry.id()) {
                    Ok(blob) => {
                        let source = Arc::new(Source {
                            path: key.1.clone(),
                            text: blob.content().to_vec(),
                        });
                        known.insert(key, source.clone());
                        rest.push(source);
                    }
                    Err(error) => missing = Some(error),
                }
            }
            TreeWalkResult::Ok
        })
        .map_err(failed("read a tree"))?;
        match missing {
            Some(error) => Err(failed("read a file")(error)),
            None => Ok(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let date = |time| {
            let commit = Commit {
                id: String::new(),
                subject: String::new(),
                time,
                parents: 1,
            };
            commit.date()
        };
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(1_795_219_200), "2026-11-21");
    }
}
