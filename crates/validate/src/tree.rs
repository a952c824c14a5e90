//! The tree to which the patches of a project are applied.

use std::io;

use patchwright_exec::Project;
use patchwright_patches::{BaseTree, Entry, FolderTree, RelativePath};

use crate::test_files::{home, is_of_program};

/// The files of a project. If it was made of a single C file, files beside that file belong to it, too,
/// unless they are sources or build files. So a diff may change cases and texts together with the source.
#[derive(Debug)]
pub struct ProjectTree {
    own: FolderTree,
    beside: Option<FolderTree>,
}

impl ProjectTree {
    /// Makes the tree of a project.
    pub fn new(project: &Project) -> Self {
        ProjectTree {
            own: FolderTree::new(&project.root).without(&project.exclude),
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
