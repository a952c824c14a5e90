//! The tree to which patches of a project are applied.

use std::io;

use patchwright_exec::Project;
use patchwright_patches::{BaseTree, Entry, FolderTree, RelativePath};

use crate::test_files::{home, is_of_program};

/// The files of a project. Of one that was made of a single C file, also what lies beside that file and is neither a source nor a
/// file of a build: a diff of a fix may change its cases, or a text, in one go.
#[derive(Debug)]
pub struct ProjectTree {
    own: FolderTree,
    beside: Option<FolderTree>,
}

impl ProjectTree {
    /// The tree of this project.
    pub fn new(project: &Project) -> Self {
        ProjectTree {
            own: FolderTree::new(&project.root),
            beside: home(project).map(FolderTree::new),
        }
    }
}

impl BaseTree for ProjectTree {
    fn look_up(&self, path: &RelativePath) -> io::Result<Entry> {
        match (self.own.look_up(path)?, &self.beside) {
            (Entry::Missing, Some(beside)) if !is_of_program(path.as_path()) => {
                beside.look_up(path)
            }
            (entry, _) => Ok(entry),
        }
    }
}
