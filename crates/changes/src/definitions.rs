//! Macros that the compiler's flags define, for each file.

use std::path::{Path, PathBuf};

use patchwright_flow::Macros;

/// What is known of macros when files are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// In files that are not named below.
    pub all: Macros,
    /// In these files.
    pub files: Vec<(PathBuf, Macros)>,
}

impl Definitions {
    /// What is known in a file, by its path in the repository or folder: the end of the path by which it was named.
    pub fn of(&self, path: &str) -> &Macros {
        let named = self
            .files
            .iter()
            .find(|(file, _)| file.ends_with(Path::new(path)));
        named.map_or(&self.all, |(_, macros)| macros)
    }
}
