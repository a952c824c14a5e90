//! Collects the functions that a built program defines or imports, from the symbol tables of its object
//! files.

use std::{fs, path::Path};

use object::{
    Object, ObjectSymbol, SymbolKind,
    read::{File, archive::ArchiveFile},
};
use rustc_hash::FxHashSet;

/// Larger files are not looked at.
const LARGEST: u64 = 256 << 20;

/// The names of the functions of a built program.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    names: FxHashSet<String>,
}

impl Linked {
    /// Reads the object files, libraries and programs of a built tree. Files that cannot be read are
    /// skipped, so functions may be missed.
    pub fn read(folder: &Path) -> Self {
        let mut found = Linked::default();
        let mut open = vec![folder.to_path_buf()];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries {
                // Links lead to what is elsewhere in the tree, or to what is not part of it.
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_file() {
                    found.file(&entry.path());
                }
            }
        }
        found
    }

    /// Whether the program defines or imports a function called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn file(&mut self, path: &Path) {
        let beginning = |magic: &[u8]| {
            let mut read = [0; 8];
            let opened = fs::File::open(path);
            let read_all =
                opened.and_then(|mut file| std::io::Read::read_exact(&mut file, &mut read));
            read_all.is_ok() && read.starts_with(magic)
        };
        let is_archive = beginning(b"!<arch>\n");
        let small = fs::metadata(path).is_ok_and(|about| about.len() <= LARGEST);
        if !small || !is_archive && !beginning(b"\x7fELF") {
            return;
        }
        let Ok(bytes) = fs::read(path) else {
            return;
        };
        if !is_archive {
            return self.object(&bytes);
        }
        let Ok(archive) = ArchiveFile::parse(&*bytes) else {
            return;
        };
        for member in archive.members().flatten() {
            if let Ok(data) = member.data(&*bytes) {
                self.object(data);
            }
        }
    }

    fn object(&mut self, bytes: &[u8]) {
        let Ok(file) = File::parse(bytes) else {
            return;
        };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            // What is imported has no kind.
            let function = symbol.kind() == SymbolKind::Text || symbol.is_undefined();
            if let (true, true, Ok(name)) = (function, symbol.is_global(), symbol.name()) {
                let name = name.split('@').next().unwrap_or(name);
                self.names.insert(name.to_owned());
            }
        }
    }
}
