//! The names in object files, libraries and programs.

use std::collections::BTreeSet;
use std::path::Path;

use patchwright_csource::lex;
use patchwright_exec::{FileError, files};
use rustc_hash::FxHashSet;

/// The names that object files, libraries and programs contain.
#[derive(Debug, Default)]
pub struct Symbols {
    names: FxHashSet<Vec<u8>>,
}

impl Symbols {
    /// Collects the names in all object files, libraries and programs below `folder`. Other files are skipped.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn below(folder: &Path) -> Result<Self, FileError> {
        let mut found = Self::default();
        for path in files::regular_files_below(folder)? {
            found.add(&files::read(&path)?);
        }
        Ok(found)
    }

    /// Collects the names in one object file.
    pub fn of(object: &[u8]) -> Self {
        let mut found = Self::default();
        found.add(object);
        found
    }

    /// Whether `name` is one of the names; a part of a name does not count.
    pub fn contain(&self, name: &str) -> bool {
        self.names.contains(name.as_bytes())
    }

    /// Tables of symbols hold names that end with a zero byte, whatever else the file is.
    fn add(&mut self, text: &[u8]) {
        if !text.starts_with(b"\x7fELF") && !text.starts_with(b"!<arch>") {
            return;
        }
        for string in text.split(|byte| *byte == 0) {
            let length = string.iter().rev().take_while(|byte| lex::is_word(**byte));
            let name = &string[string.len() - length.count()..];
            if !name.is_empty() && !self.names.contains(name) {
                self.names.insert(name.to_vec());
            }
        }
    }

    /// Whether one of `names` may be mentioned. A linker lets a name share the last bytes of a longer
    /// name.
    pub fn mention(&self, names: &BTreeSet<String>) -> bool {
        self.names
            .iter()
            .any(|known| names.iter().any(|name| known.ends_with(name.as_bytes())))
    }
}
