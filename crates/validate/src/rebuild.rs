//! Decides how much of a project to build again for a patch.
//!
//! An incremental build is right only as far as the build system knows what depends on what. Makefiles written by hand often do
//! not know about headers. So there are three levels:
//!
//! 1. A patch that changes only existing sources, each compiled by itself, is left to the incremental build.
//! 2. If it also changes headers or included sources, all sources that may be affected are made to look changed.
//! 3. Any other patch (build files, new or deleted files, …) is built in a new copy of the project. Files from an earlier build
//!    would hide that the patched build does not make them any more.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use patchwright_exec::{FileError, Sandbox, files};
use patchwright_patches::{FileChange, Patch};

/// How much is built again: what is out of date, every affected source, or everything in a new copy.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Rebuild {
    /// What the build system finds to be out of date.
    Incremental,
    /// Every source for which it is not known that the compiler sees the same text of it.
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

/// Whether sources may include a file, by its name.
pub fn may_be_included(path: &Path) -> bool {
    has_extension(path, &INCLUDING)
}

/// Whether a file is a source that is compiled by itself, by its name.
pub fn is_compiled(path: &Path) -> bool {
    has_extension(path, &SOURCES)
}

/// Whether a file is a header, by its name.
pub fn is_header(path: &Path) -> bool {
    has_extension(path, &HEADERS)
}

/// Returns the file names of sources that other files of the tree include.
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
    included_file(line).filter(|name| has_extension(Path::new(name), &SOURCES))
}

/// The file name in a line `#include "x.h"`.
fn included_file(line: &[u8]) -> Option<OsString> {
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
    path.file_name().map(OsStr::to_owned)
}

impl Rebuild {
    /// Returns what a patch needs. `included` are the names of [`included_sources`]. `unread` are
    /// files, relative to the root, that the build of the untouched program has not opened, so that
    /// they do not matter.
    pub fn needed_for(
        patch: &Patch,
        included: &BTreeSet<OsString>,
        unread: &BTreeSet<PathBuf>,
    ) -> Self {
        let needed = patch.changes.iter().map(|change| match change {
            FileChange::Modify { path, .. } => {
                let path = path.as_path();
                let name = path.file_name().unwrap_or_default();
                if has_extension(path, &SOURCES) && !included.contains(name) {
                    Rebuild::Incremental
                } else if may_be_included(path) {
                    Rebuild::Full
                } else if unread.contains(path) {
                    Rebuild::Incremental
                } else {
                    Rebuild::Clean
                }
            }
            FileChange::Mode { .. } => Rebuild::Incremental,
            // A header that comes is like one that changes: sources may see it in the place of another one, and the preprocessor tells which.
            FileChange::Add { path, .. } if is_header(path.as_path()) => Rebuild::Full,
            FileChange::Add { .. } | FileChange::Delete { .. } | FileChange::Rename { .. } => {
                Rebuild::Clean
            }
        });
        needed.max().unwrap_or(Rebuild::Incremental)
    }
}

/// Makes all sources of a copy newer, except those in `known`, which are relative to its root.
///
/// # Errors
/// What cannot be read or touched.
pub fn touch_sources(sandbox: &Sandbox, known: &BTreeSet<&Path>) -> Result<(), FileError> {
    for path in files::regular_files_below(sandbox.folder())? {
        let is_known = || {
            let inside = path.strip_prefix(sandbox.folder());
            inside.is_ok_and(|inside| known.contains(inside))
        };
        if has_extension(&path, &SOURCES) && !is_known() {
            files::touch(&path)?;
        }
    }
    Ok(())
}

/// Whether a build file of the tree reads a file called `name`, other than as a dependency.
///
/// # Errors
/// What cannot be read.
pub fn is_read_by_build(folder: &Path, name: &OsStr) -> Result<bool, FileError> {
    let name = name.as_encoded_bytes();
    for path in files::regular_files_below(folder)? {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        if is_build_file(inside) {
            let text = files::read(&path)?;
            let mut lines = text.split(|byte| *byte == b'\n');
            if lines.any(|line| has(line, name) && READERS.iter().any(|reader| has(line, reader))) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Extensions of headers of C.
const HEADERS: [&str; 4] = ["h", "hh", "hpp", "inc"];

/// Extensions of what includes files, but not through a compiler of C.
const OTHER_LANGUAGES: [&str; 9] = ["cc", "cpp", "cxx", "C", "hh", "hpp", "S", "s", "rc"];

/// Extensions of programs that builds run, besides those that are built.
const SCRIPTS: [&str; 6] = ["sh", "py", "pl", "awk", "sed", "tcl"];

/// Whether only compiled C sources read the file `relative`. `known` are those sources, relative to `folder`, the tree's root.
///
/// The result is false if a recipe or script names the file, or if a makefile makes something other than an object of it. It is
/// also false if a source outside of `known` includes the file, because a test may compile that source. With `in_place` the
/// file itself is woven like a source. Then it may have any name, and rules may name it as a prerequisite.
///
/// # Errors
/// What cannot be read.
pub fn is_only_included(
    folder: &Path,
    known: &BTreeSet<&Path>,
    relative: &Path,
    in_place: bool,
) -> Result<bool, FileError> {
    let Some(file_name) = relative.file_name() else {
        return Ok(false);
    };
    let is_header = in_place || has_extension(relative, &HEADERS);
    if !is_header || is_read_by_build(folder, file_name)? {
        return Ok(false);
    }
    let name = file_name.as_encoded_bytes();
    for path in files::regular_files_below(folder)? {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let reads: fn(&[u8]) -> bool = if has_extension(inside, &SCRIPTS) {
            |_| true
        } else if has_extension(inside, &OTHER_LANGUAGES) {
            |line| line.trim_ascii_start().starts_with(b"#")
        } else if is_build_file(inside) && !in_place {
            |line| line.starts_with(b"\t") || makes_no_object(line)
        } else {
            continue;
        };
        let text = joined(&files::read(&path)?);
        let mut lines = text.split(|byte| *byte == b'\n');
        if lines.any(|line| names_file(line, name) && reads(line)) {
            return Ok(false);
        }
    }
    Ok(!is_included_elsewhere(folder, known, file_name)?)
}

/// Whether a source that is not `known` includes a file of this name, or a header that does.
fn is_included_elsewhere(
    folder: &Path,
    known: &BTreeSet<&Path>,
    name: &OsStr,
) -> Result<bool, FileError> {
    let (mut headers, mut others) = (Vec::new(), BTreeSet::new());
    for path in files::regular_files_below(folder)? {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let is_header = has_extension(inside, &HEADERS);
        if is_header || has_extension(inside, &["c"]) && !known.contains(inside) {
            let text = files::read(&path)?;
            let included = text.split(|byte| *byte == b'\n').filter_map(included_file);
            match (is_header, inside.file_name()) {
                (true, Some(name)) => headers.push((name.to_owned(), included.collect())),
                _ => others.extend(included),
            }
        }
    }
    let mut reached = BTreeSet::from([name.to_owned()]);
    loop {
        let before = reached.len();
        for (header, included) in &headers {
            let included: &Vec<OsString> = included;
            if included.iter().any(|name| reached.contains(name)) {
                reached.insert(header.clone());
            }
        }
        if reached.len() == before {
            return Ok(!reached.is_disjoint(&others));
        }
    }
}

/// A text in which lines that go on in the next are one.
fn joined(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for at in 1..text.len() {
        if text[at] == b'\n' && text[at - 1] == b'\\' {
            text[at - 1..=at].fill(b' ');
        }
    }
    text
}

/// Whether a text names a file, and not one whose name contains that name.
fn names_file(text: &[u8], name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let end = text.len().saturating_sub(name.len());
    let mut places = (0..=end).filter(|at| text[*at..].starts_with(name));
    places.any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !before.is_some_and(is_part) && !text.get(at + name.len()).is_some_and(is_part)
    })
}

/// Whether a line of a makefile is a rule with a target that is no object, by its name.
fn makes_no_object(line: &[u8]) -> bool {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return false;
    };
    let (targets, rest) = (&line[..colon], &line[colon + 1..]);
    let is_assignment = rest.starts_with(b"=") || targets.contains(&b'=');
    let is_object = |target: &[u8]| {
        [
            &b".o"[..],
            b".lo",
            b".obj",
            b"_OBJECTS)",
            b"OBJS)",
            b"OBJ)",
            b".PHONY",
            b".d",
        ]
        .iter()
        .any(|end| target.ends_with(end))
    };
    let mut targets = targets
        .split(u8::is_ascii_whitespace)
        .filter(|target| !target.is_empty());
    !is_assignment && !targets.all(is_object)
}

/// Words of a line of a build file that looks into a file.
const READERS: [&[u8]; 10] = [
    b"shell", b"`", b"sed", b"awk", b"grep", b"cat ", b"cut ", b"perl", b"python", b"m4 ",
];

/// Whether a line contains a part.
pub(crate) fn has(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len().max(1)).any(|window| window == part)
}

/// Writes the changes of a patch into a copy.
///
/// # Errors
/// What cannot be written.
pub fn write_patch(sandbox: &Sandbox, patch: &Patch) -> Result<(), FileError> {
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

/// Returns remarks for the user about unusual changes of a patch: of the build or the tests.
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
    fn a_build_that_looks_into_a_header_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let makefile = folder.path().join("Makefile");
        let reads = |text: &str| {
            files::write_atomic(&makefile, text.as_bytes()).unwrap();
            is_read_by_build(folder.path(), OsStr::new("version.h")).unwrap()
        };
        assert!(!reads("a.o: a.c version.h\n\t$(CC) -c a.c\n"));
        assert!(reads("V = $(shell sed -n 's/V //p' version.h)\n"));
        assert!(reads("t.c: version.h\n\tawk -f t.awk version.h > t.c\n"));
        assert!(!reads("V = $(shell date)\n"));
    }

    #[test]
    fn a_header_of_which_something_else_than_objects_is_made_is_not_only_included() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let only = |makefile: &str| {
            files::write_atomic(&path("Makefile"), makefile.as_bytes()).unwrap();
            let known = BTreeSet::from([Path::new("a.c")]);
            is_only_included(folder.path(), &known, Path::new("src/opts.h"), false).unwrap()
        };
        let makefile = "HEADERS = \\\n\topts.h\nopts.html: a\n\tmk opts.html\na.o: a.c opts.h\n\t$(CC) -c a.c\n$(OBJS): opts.h\n";
        assert!(only(makefile));
        assert!(!only("opts.c: opts.h mk\n\t./mk $< > $@\n"));
        assert!(!only("opts.c: mk\n\t./mk src/opts.h > $@\n"));
        files::write_atomic(&path("a.cc"), b"#include \"opts.h\"\n").unwrap();
        assert!(!only(makefile));
        files::remove_file(&path("a.cc")).unwrap();
        files::write_atomic(&path("gen.py"), b"open('src/opts.h')\n").unwrap();
        assert!(!only(makefile));
        files::remove_file(&path("gen.py")).unwrap();
        // What a test may compile.
        files::write_atomic(&path("all.h"), b"#include \"opts.h\"\n").unwrap();
        files::write_atomic(&path("a.c"), b"#include \"all.h\"\n").unwrap();
        assert!(only(makefile));
        files::write_atomic(&path("check.c"), b"#include \"all.h\"\n").unwrap();
        assert!(!only(makefile));
        let none = BTreeSet::new();
        assert!(!is_only_included(folder.path(), &none, Path::new("README"), false).unwrap());
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
