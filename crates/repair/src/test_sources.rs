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

/// What stands between the words of a file's name.
const SEPARATORS: [char; 3] = ['_', '-', '.'];

/// Returns the sources that are tests by their folder or name, or that include such a file (a header that is called so aside). If all
/// sources are tests, none is returned.
pub fn test_sources(
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
    let all: Vec<&PathBuf> = sources.collect();
    let stems: Vec<String> = all.iter().map(|path| stem(path)).collect();
    let (tests, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| {
        is_test(path) || including.contains(*path) || is_driver(&stem(path), &stems)
    });
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
    let stem = stem(relative);
    let mut words = stem.split(SEPARATORS);
    let (first, last) = (words.next(), words.next_back());
    let is_word = |word: Option<&str>| word.is_some_and(|word| WORDS.contains(&word));
    in_folder || is_word(first) || is_word(last)
}

/// The name of a file in small letters, without what tells its language.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.to_ascii_lowercase()
}

/// `regextest` beside `regex_match`: what runs a library for its tests, called after it. No word that only ends so (`latest`) is the first
/// word of another file's name and `test`.
fn is_driver(stem: &str, all: &[String]) -> bool {
    let mut tested = WORDS.iter().filter_map(|word| stem.strip_suffix(word));
    tested.any(|name| {
        let behind = |other: &String| {
            other
                .strip_prefix(name)
                .map(|rest| rest.starts_with(SEPARATORS))
        };
        !name.is_empty() && all.iter().filter_map(behind).any(|is_named| is_named)
    })
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
    fn what_is_called_after_a_library_and_test_is_no_part_of_it() {
        let sources = [
            "src/ring_open.c",
            "src/ringtest.c",
            "src/latest.c",
            "ringbuffer.c",
        ];
        let sources = sources.map(PathBuf::from);
        let found = those_that_are(sources.iter(), &BTreeSet::new());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [sources[1].clone()]);
        let alone = ["ring.c", "ringtest.c", "contest.c", "con.c"].map(PathBuf::from);
        assert!(those_that_are(alone.iter(), &BTreeSet::new()).is_empty());
    }

    #[test]
    fn a_program_of_tests_only_is_a_program() {
        let sources = [PathBuf::from("tests/a.c"), PathBuf::from("tests/b.c")];
        assert!(those_that_are(sources.iter(), &BTreeSet::new()).is_empty());
        let more = [PathBuf::from("tests/a.c"), PathBuf::from("a.c")];
        assert_eq!(those_that_are(more.iter(), &BTreeSet::new()).len(), 1);
    }
}
