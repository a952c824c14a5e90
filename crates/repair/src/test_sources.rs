//! Sources of tests that the build compiles beside the program: an assertion that is changed until it holds is no repair.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use patchwright_exec::{CompileCommand, Sandbox, includers};

/// Folders that hold tests.
const FOLDERS: [&str; 7] = [
    "t",
    "test",
    "tests",
    "testing",
    "testsuite",
    "unittest",
    "unittests",
];

/// Words that, before or behind the rest of a file's name, tell that it is a test.
const WORDS: [&str; 4] = ["test", "tests", "unittest", "unittests"];

/// Those of the sources, each with its commands, that are tests by their folder or name, or because they include such a one (a header that is
/// called so aside); none if all are.
pub(crate) fn test_sources(
    sources: &BTreeMap<PathBuf, Vec<CompileCommand>>,
    sandbox: &Sandbox,
) -> BTreeSet<PathBuf> {
    let including = sources
        .iter()
        .filter(|(path, _)| is_test(path) && path.extension().is_some_and(|known| known != "h"))
        .flat_map(|(_, commands)| includers(commands, sandbox))
        .collect();
    those_that_are(sources.keys(), &including)
}

fn those_that_are<'p>(
    sources: impl Iterator<Item = &'p PathBuf>,
    including: &BTreeSet<PathBuf>,
) -> BTreeSet<PathBuf> {
    let (tests, others): (Vec<_>, Vec<_>) =
        sources.partition(|path| is_test(path) || including.contains(*path));
    match others.is_empty() {
        true => BTreeSet::new(),
        false => tests.into_iter().cloned().collect(),
    }
}

/// `tests/overwrite.c`, `test_overwrite.c`, `overwrite-test.c`, `test.c`.
fn is_test(relative: &Path) -> bool {
    let mut folders = relative.parent().into_iter().flat_map(Path::components);
    let in_folder = folders.any(|folder| {
        let name = folder.as_os_str().to_string_lossy().to_ascii_lowercase();
        FOLDERS.contains(&name.as_str())
    });
    let stem = relative.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.to_ascii_lowercase();
    let mut words = stem.split(['_', '-', '.']);
    let (first, last) = (words.next(), words.next_back());
    let is_word = |word: Option<&str>| word.is_some_and(|word| WORDS.contains(&word));
    in_folder || is_word(first) || is_word(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_names_tell_tests_from_the_program() {
        for test in [
            "tests/ring.c",
            "lib/test/ring.c",
            "test_ring.c",
            "src/ring-test.c",
            "test.c",
            "Tests/a.c",
            "ring.unittest.c",
        ] {
            assert!(is_test(Path::new(test)), "{test}");
        }
        for program in [
            "ring.c",
            "src/latest.c",
            "testimony.c",
            "contest/ring.c",
            "src/attest_ring.c",
            "check_password.c",
        ] {
            assert!(!is_test(Path::new(program)), "{program}");
        }
    }

    #[test]
    fn a_program_of_tests_only_is_a_program() {
        let sources = [PathBuf::from("tests/a.c"), PathBuf::from("tests/b.c")];
        assert!(those_that_are(sources.iter(), &BTreeSet::new()).is_empty());
        let more = [PathBuf::from("tests/a.c"), PathBuf::from("a.c")];
        assert_eq!(those_that_are(more.iter(), &BTreeSet::new()).len(), 1);
    }
}
