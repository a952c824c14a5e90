//! Walks over commits: ancestors, common ancestors, and the end of a shallow history.

use std::path::{Path, PathBuf};

use git2::{Oid, Sort, StatusOptions};
use rustc_hash::FxHashMap;

use super::{Commit, GitError, History, failed};

/// A commit in a list: its name, and the indices of those of its parents that are in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its full name.
    pub id: String,
    /// Indices of its parents, in their order; those that are not among the commits are left out.
    pub parents: Vec<usize>,
}

impl History {
    /// Returns the commits that lead to `to` and to none of `from`, each behind its parents. All
    /// names are full ones.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn members(&self, from: &[&str], to: &str) -> Result<Vec<Member>, GitError> {
        let walk = || {
            let mut walk = self.repository.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.push(Oid::from_str(to)?)?;
            for from in from {
                walk.hide(Oid::from_str(from)?)?;
            }
            let mut members: Vec<Member> = Vec::new();
            let mut indices: FxHashMap<Oid, usize> = FxHashMap::default();
            for id in walk {
                let id = id?;
                let commit = self.repository.find_commit(id)?;
                let parents = commit.parent_ids().filter_map(|id| indices.get(&id));
                let parents = parents.copied().collect();
                indices.insert(id, members.len());
                members.push(Member {
                    id: id.to_string(),
                    parents,
                });
            }
            Ok(members)
        };
        walk().map_err(failed("walk over the commits"))
    }

    /// Returns the ancestors of `revision` that have exactly one parent, newest first.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn newest_first(&self, revision: &str) -> Result<Vec<Commit>, GitError> {
        let start = self.find(revision)?.id();
        let walk = || {
            let mut walk = self.repository.revwalk()?;
            walk.set_sorting(Sort::TIME)?;
            walk.push(start)?;
            let mut found = Vec::new();
            for id in walk {
                let commit = Self::describe(&self.repository.find_commit(id?)?);
                if commit.parents == 1 {
                    found.push(commit);
                }
            }
            Ok(found)
        };
        walk().map_err(failed("walk over the commits"))
    }

    /// Returns the whole message of a commit.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn message(&self, commit: &str) -> Result<String, GitError> {
        let find = || {
            let commit = self.repository.find_commit(Oid::from_str(commit)?)?;
            Ok(String::from_utf8_lossy(commit.message_bytes()).into_owned())
        };
        find().map_err(failed("read a commit"))
    }

    /// Returns the full name of a commit's first parent. It is `None` if there is no parent, or if a
    /// shallow clone does not have it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn first_parent(&self, commit: &str) -> Result<Option<String>, GitError> {
        let find = || {
            let commit = self.repository.find_commit(Oid::from_str(commit)?)?;
            let parent = commit.parent_ids().next();
            Ok(parent.filter(|id| self.repository.find_commit(*id).is_ok()))
        };
        let parent: Option<Oid> = find().map_err(failed("read a commit"))?;
        Ok(parent.map(|id| id.to_string()))
    }

    /// Returns the full name of the best common ancestor of two commits, if there is one.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn common_ancestor(&self, one: &str, other: &str) -> Result<Option<String>, GitError> {
        let find = || {
            let ends = [Oid::from_str(one)?, Oid::from_str(other)?];
            match self.repository.merge_base(ends[0], ends[1]) {
                Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
                found => found.map(|id| Some(id.to_string())),
            }
        };
        find().map_err(failed("walk over the commits"))
    }

    /// Whether the history is cut off somewhere, as in a shallow clone.
    pub fn is_shallow(&self) -> bool {
        self.repository.is_shallow()
    }

    /// Returns the folder of the working tree, without symbolic links.
    ///
    /// # Errors
    /// When there is none.
    pub fn working_tree(&self) -> Result<PathBuf, GitError> {
        let root = self.repository.workdir();
        let root = root.and_then(|root| std::fs::canonicalize(root).ok());
        root.ok_or_else(|| GitError::NoWorkingTree {
            folder: self.folder.clone(),
        })
    }

    /// Returns the files below `below` that git follows and that differ from the last commit,
    /// relative to the root of the working tree.
    ///
    /// # Errors
    /// When the repository or the working tree cannot be read.
    pub fn uncommitted_files(&self, below: &Path) -> Result<Vec<PathBuf>, GitError> {
        let mut options = StatusOptions::new();
        options.include_untracked(false).exclude_submodules(true);
        if !below.as_os_str().is_empty() {
            options.pathspec(below).disable_pathspec_match(true);
        }
        let found = self
            .repository
            .statuses(Some(&mut options))
            .map_err(failed("compare with the working tree"))?;
        Ok(found
            .iter()
            .map(|entry| PathBuf::from(String::from_utf8_lossy(entry.path_bytes()).into_owned()))
            .collect())
    }

    /// Whether git ignores the file `path` of the working tree, given relative to its root.
    pub fn ignores(&self, path: &Path) -> bool {
        self.repository.is_path_ignored(path).unwrap_or(false)
    }

    /// Returns the number of commits that lead to `to` and not to `from`, both full names.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn distance(&self, from: &str, to: &str) -> Result<usize, GitError> {
        let count = || {
            let [from, to] = [Oid::from_str(from)?, Oid::from_str(to)?];
            self.repository.graph_ahead_behind(to, from)
        };
        let (ahead, _) = count().map_err(failed("walk over the commits"))?;
        Ok(ahead)
    }

    /// Whether `ancestor` is an ancestor of `commit` or the same commit, both full names.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn leads_to(&self, ancestor: &str, commit: &str) -> Result<bool, GitError> {
        let find = || {
            let [ancestor, commit] = [Oid::from_str(ancestor)?, Oid::from_str(commit)?];
            Ok(ancestor == commit || self.repository.graph_descendant_of(commit, ancestor)?)
        };
        find().map_err(failed("walk over the commits"))
    }
}

/// Returns the days between the times of two commits.
pub fn days_between(from: &Commit, to: &Commit) -> f64 {
    (to.time - from.time) as f64 / 86_400.0
}
