//! How much of a project must be built again for a patch.
//!
//! An incremental build is right only as far as the build system knows what depends on what, and
//! makefiles written by hand often do not know about headers. So only a patch that changes existing
//! source files, which are compiled by themselves, is left to the incremental build. If it also changes
//! headers, or sources that others include, all sources are made to look changed. For every other one
//! (build files, files that come or go, anything else) the project is copied and built anew: what
//! an earlier build has made must not take the place of what this one does not make any more.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use patchwright_exec::{FileError, Sandbox, files, sandbox::touch_all};
use patchwright_patches::{FileChange, Patch};

/// How much is built again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Rebuild {
    /// What the build system finds to be out of date.
    Incremental,
    /// Every source.
    Full,
    /// Everything, in a new copy of the project.
    Clean,
}

/// Extensions of files that are compiled by themselves.
const SOURCES: [&str; 7] = ["c", "cc", "cpp", "cxx", "C", "S", "s"];

/// Extensions of files in which sources may be included.
const INCLUDING: [&str; 12] = [
    "c", "cc", "cpp", "cxx", "C", "h", "hh", "hpp", "inc", "y", "l", "S",
];

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| extensions.contains(&extension))
}

/// The file names of sources that other files of the tree include.
///
/// # Errors
/// What cannot be read.
pub fn included_sources(folder: &Path) -> Result<BTreeSet<OsString>, FileError> {
    let mut found = BTreeSet::new();
    for path in files::regular_files_below(folder)? {
        if has_extension(&path, &INCLUDING) {
            let text = files::read(&path)?;
            let lines = text.split(|byte| *byte == b'\n');
            found.extend(lines.filter_map(included_source));
        }
    }
    Ok(found)
}

/// The file name in a line `#include "x.c"`, if it is one of a source.
fn included_source(line: &[u8]) -> Option<OsString> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"include")?;
    let rest = rest.trim_ascii_start();
    let close = match rest.first()? {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let end = 1 + rest[1..].iter().position(|byte| *byte == close)?;
    let path = OsString::from_vec(rest[1..end].to_vec());
    let path = Path::new(&path);
    has_extension(path, &SOURCES).then(|| path.file_name().map(OsStr::to_owned))?
}

impl Rebuild {
    /// What a patch needs, given the names of [`included_sources`].
    pub fn needed_for(patch: &Patch, included: &BTreeSet<OsString>) -> Self {
        let needed = patch.changes.iter().map(|change| match change {
            FileChange::Modify { path, .. } => {
                let path = path.as_path();
                let name = path.file_name().unwrap_or_default();
                if has_extension(path, &SOURCES) && !included.contains(name) {
                    Rebuild::Incremental
                } else if has_extension(path, &INCLUDING) {
                    Rebuild::Full
                } else {
                    Rebuild::Clean
                }
            }
            FileChange::Mode { .. } => Rebuild::Incremental,
            FileChange::Add { .. } | FileChange::Delete { .. } | FileChange::Rename { .. } => {
                Rebuild::Clean
            }
        });
        needed.max().unwrap_or(Rebuild::Incremental)
    }
}

/// Writes what a patch changes into a copy, and makes the build see what it must.
///
/// # Errors
/// What cannot be written.
pub fn write_patch(sandbox: &Sandbox, patch: &Patch, rebuild: Rebuild) -> Result<(), FileError> {
    if rebuild == Rebuild::Full {
        for extension in SOURCES {
            touch_all(sandbox.folder(), OsStr::new(extension))?;
        }
    }
    for change in &patch.changes {
        match change {
            FileChange::Modify { path, text } => {
                sandbox.write(path.as_path(), &text.to_vec(), None)?;
            }
            FileChange::Add {
                path,
                text,
                executable,
            } => sandbox.write(path.as_path(), &text.to_vec(), Some(*executable))?,
            FileChange::Delete { path } => sandbox.remove_file(path.as_path())?,
            FileChange::Rename {
                from,
                to,
                text,
                executable,
            } => {
                sandbox.remove_file(from.as_path())?;
                sandbox.write(to.as_path(), &text.to_vec(), Some(*executable))?;
            }
            FileChange::Mode { path, executable } => {
                sandbox.set_executable(path.as_path(), *executable)?;
            }
        }
    }
    Ok(())
}

/// What of a patch is unusual for a repair, for the user: that it changes the build or the tests.
pub fn remarks(patch: &Patch, is_test: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut remarks = Vec::new();
    for path in patch.changes.iter().flat_map(FileChange::paths) {
        let path = path.as_path();
        if is_build_file(path) {
            remarks.push(format!("it changes the build: {}", path.display()));
        } else if is_test(path) {
            remarks.push(format!("it changes the tests: {}", path.display()));
        }
    }
    remarks
}

fn is_build_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let named = [
        "CMakeLists.txt",
        "GNUmakefile",
        "SConstruct",
        "build.ninja",
        "config.status",
        "configure",
        "configure.ac",
        "configure.in",
        "meson.build",
        "patchwright.toml",
    ];
    named.contains(&name)
        || name.to_ascii_lowercase().starts_with("makefile")
        || has_extension(path, &["mk", "cmake", "am", "m4", "ninja"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_include_sources_are_found() {
        let name = |line: &str| included_source(line.as_bytes());
        assert_eq!(name("#include \"sub/x.c\""), Some("x.c".into()));
        assert_eq!(name("  #  include <y.c> // z"), Some("y.c".into()));
        for other in [
            "#include \"x.h\"",
            "include \"x.c\"",
            "#include X",
            "#include \"x.c",
        ] {
            assert_eq!(name(other), None);
        }
    }

    #[test]
    fn build_files_are_known_by_name() {
        for path in [
            "Makefile",
            "src/makefile.am",
            "a/rules.mk",
            "CMakeLists.txt",
            "configure",
        ] {
            assert!(is_build_file(Path::new(path)), "{path}");
        }
        for path in ["src/main.c", "configure.c", "README"] {
            assert!(!is_build_file(Path::new(path)), "{path}");
        }
    }
}
