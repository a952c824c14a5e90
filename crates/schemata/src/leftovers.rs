//! Compares the files that a patch leaves behind in a test with those of the untouched program.
//!
//! Built by itself, a patch meets in each test what its earlier ones have left. The woven program gives every patch what
//! the untouched program has left, so it says nothing of the later tests of a patch that leaves something else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use patchwright_exec::{Changes, Left, is_record};

use crate::changing_names::ChangingName;

/// What the untouched program leaves behind in a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers {
    /// What it left when it was run first: the state that later tests begin with.
    pub changes: Changes,
    /// Paths at which it left something twice, but not the same: times, process numbers.
    unsteady: BTreeSet<PathBuf>,
    /// Paths at which it left something in one run and not in the other.
    ignored: BTreeSet<PathBuf>,
    /// Names that are others in each run, and what it left there.
    changing: Vec<(ChangingName, Vec<Left>)>,
    /// So many times it was run once more, and nothing was learned.
    asked: usize,
    /// So many times it was run once more.
    asked_in_all: usize,
}

/// The untouched program is run once more when a patch leaves something else: a log may hold minutes, or hundredths of a second. So many
/// times, if it does not tell anything new. That takes less than the builds of the patches that would be set apart.
const MOST_ASKED: usize = 12;

/// It is run once more at most so many times, whatever it tells: names may be new in each run for ever.
const MOST_ASKED_IN_ALL: usize = 48;

/// So many names of each of two runs are compared.
const MOST_NAMES: usize = 64;

impl Leftovers {
    /// Makes the leftovers of the untouched program from two runs that began in the same state. Only
    /// what both left is certain.
    pub fn of(changes: Changes, second: &Changes) -> Self {
        let mut leftovers = Leftovers {
            changes,
            ..Leftovers::default()
        };
        leftovers.add(second);
        leftovers
    }

    /// Whether it is worth running the untouched program once more where a patch leaves something else.
    pub fn may_ask(&self) -> bool {
        self.asked < MOST_ASKED && self.asked_in_all < MOST_ASKED_IN_ALL
    }

    /// Learns from a further run of the untouched program that began in the same state.
    pub fn learn(&mut self, again: &Changes) {
        let known = |own: &Leftovers| {
            let contents = own.changing.iter().map(|(_, left)| left.len());
            own.unsteady.len() + own.ignored.len() + own.changing.len() + contents.sum::<usize>()
        };
        let before = known(self);
        self.add(again);
        self.asked += usize::from(known(self) == before);
        self.asked_in_all += 1;
    }

    fn add(&mut self, again: &Changes) {
        let paths = |changes: &Changes| -> BTreeSet<PathBuf> {
            changes.iter().map(|(path, _)| path.to_owned()).collect()
        };
        let (one, other) = (paths(&self.changes), paths(again));
        let differs = |path: &&PathBuf| self.changes.get(path) != again.get(path);
        let unsteady = one.intersection(&other).filter(differs).cloned();
        self.unsteady.extend(unsteady);
        for gone in one.difference(&other).take(MOST_NAMES) {
            for come in other.difference(&one).take(MOST_NAMES) {
                if let Some(name) = ChangingName::of(gone, come) {
                    let left = [self.changes.get(gone), again.get(come)];
                    let left: Vec<Left> = left.into_iter().flatten().cloned().collect();
                    self.add_changing(name, left);
                }
            }
        }
        let ignored = one.symmetric_difference(&other);
        // Of what has another name each time only the name is kept.
        let is_kept = |path: &&PathBuf| {
            self.changes.get(path).is_some()
                || !self.changing.iter().any(|(name, _)| name.is_of(path))
        };
        let ignored: Vec<PathBuf> = ignored.filter(is_kept).cloned().collect();
        self.ignored.extend(ignored);
    }

    fn add_changing(&mut self, name: ChangingName, left: Vec<Left>) {
        let known = self.changing.iter_mut().find(|(known, _)| *known == name);
        match known {
            Some((_, known)) => {
                for left in left {
                    if !known.contains(&left) {
                        known.push(left);
                    }
                }
            }
            None => self.changing.push((name, left)),
        }
    }

    /// Whether the untouched program leaves this here, too, or at a path whose name is another one in each run.
    fn is_left_under_another_name(&self, path: &Path, left: &Left) -> bool {
        let mut changing = self.changing.iter();
        changing.any(|(name, known)| name.is_of(path) && known.contains(left))
    }

    /// Whether later tests can be run in the state of the untouched program, if a patch left
    /// `changes`.
    pub fn are(&self, changes: &Changes) -> bool {
        let counts = |path: &Path| {
            !self.ignored.contains(path)
                && !is_record(path, |other| self.changes.get(other).is_some())
        };
        let missing = self
            .changes
            .iter()
            .any(|(path, _)| counts(path) && changes.get(path).is_none());
        // As many files of a name that changes as the untouched program has left.
        let count = |own: &Changes, name: &ChangingName| {
            own.iter().filter(|(path, _)| name.is_of(path)).count()
        };
        let mut names = self.changing.iter().map(|(name, _)| name);
        let are_as_many = names.all(|name| count(changes, name) == count(&self.changes, name));
        !missing
            && are_as_many
            && changes
                .iter()
                .filter(|(path, _)| counts(path))
                .all(|(path, left)| match self.changes.get(path) {
                    Some(expected) => expected == left || self.unsteady.contains(path),
                    None => self.is_left_under_another_name(path, left),
                })
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "these tests make trees")]
mod tests {
    use super::*;
    use patchwright_exec::{CopyOptions, Sandbox, Snapshot};
    use std::fs;

    /// What is left by writing these files.
    fn left(files: &[(&str, &str)]) -> Changes {
        let guard = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(guard.path()).unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        let options = CopyOptions::default();
        let copy = Sandbox::create(&project, &root.join("copy"), &project, &options).unwrap();
        let snapshot = Snapshot::take(&copy).unwrap();
        for (name, text) in files {
            let path = copy.folder().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        snapshot.changes(&copy).unwrap()
    }

    #[test]
    fn contents_that_are_always_the_same_count_and_others_do_not() {
        let first = left(&[("log", "10:00"), ("out", "42")]);
        let leftovers = Leftovers::of(first, &left(&[("log", "10:01"), ("out", "42")]));
        assert!(leftovers.are(&left(&[("log", "10:02"), ("out", "42")])));
        assert!(!leftovers.are(&left(&[("log", "10:00"), ("out", "43")])));
        assert!(!leftovers.are(&left(&[("out", "42")])));
        assert!(!leftovers.are(&left(&[("log", ""), ("out", "42"), ("more", "")])));
    }

    #[test]
    fn what_runners_of_tests_record_does_not_count() {
        let left = |time: &str, out: &str| {
            left(&[
                ("build/Testing/Temporary/LastTest.log", time),
                ("tests/one.log", time),
                ("tests/one.trs", ":test-result: PASS"),
                ("own.log", out),
            ])
        };
        let first = left("0.00 sec", "1");
        let leftovers = Leftovers::of(first.clone(), &first);
        assert!(leftovers.are(&left("0.01 sec", "1")));
        assert!(!leftovers.are(&left("0.00 sec", "2")));
    }

    #[test]
    fn what_is_left_only_sometimes_does_not_count() {
        let leftovers = Leftovers::of(
            left(&[("a", ""), ("out", "42")]),
            &left(&[("b", ""), ("out", "42")]),
        );
        for names in [&["out"][..], &["a", "out"], &["a", "b", "out"]] {
            let files: Vec<_> = names.iter().map(|name| (*name, "42")).collect();
            assert!(leftovers.are(&left(&files)), "{names:?}");
        }
        assert!(!leftovers.are(&left(&[("a", "")])));
        assert!(!leftovers.are(&left(&[("c", ""), ("out", "42")])));
    }

    #[test]
    fn a_further_run_of_the_untouched_program_tells_what_is_not_always_the_same() {
        let first = || left(&[("log", "10:00"), ("out", "42")]);
        let mut leftovers = Leftovers::of(first(), &first());
        let of_patch = left(&[("log", "10:01"), ("out", "42")]);
        assert!(!leftovers.are(&of_patch));
        leftovers.learn(&left(&[("log", "10:01"), ("out", "42")]));
        assert!(leftovers.are(&of_patch));
        assert!(!leftovers.are(&left(&[("log", "10:01"), ("out", "43")])));
        // Where it is always the same it is not asked for ever.
        while leftovers.may_ask() {
            leftovers.learn(&first());
        }
        assert!(!leftovers.are(&left(&[("log", "10:01"), ("out", "43")])));
    }

    #[test]
    fn a_name_that_is_another_one_in_each_run_does_not_count_and_its_contents_do() {
        let first = left(&[("out.100", "42"), ("log", "")]);
        let leftovers = Leftovers::of(first, &left(&[("out.103", "42"), ("log", "")]));
        assert!(leftovers.are(&left(&[("out.107", "42"), ("log", "")])));
        assert!(!leftovers.are(&left(&[("out.107", "43"), ("log", "")])));
        assert!(!leftovers.are(&left(&[("out.old", "42"), ("log", "")])));
        assert!(!leftovers.are(&left(&[("log", "")])));
        let two = [("out.107", "42"), ("out.108", "42"), ("log", "")];
        assert!(!leftovers.are(&left(&two)));
    }

    #[test]
    fn names_that_are_always_new_are_not_asked_for_for_ever() {
        let first = left(&[("a", "")]);
        let mut leftovers = Leftovers::of(first.clone(), &first);
        let mut asked = 0;
        while leftovers.may_ask() {
            leftovers.learn(&left(&[("a", ""), (&"n".repeat(asked + 1), "")]));
            asked += 1;
        }
        assert_eq!(asked, MOST_ASKED_IN_ALL);
    }

    #[test]
    fn where_nothing_is_left_nothing_may_be() {
        let leftovers = Leftovers::default();
        assert!(leftovers.are(&Changes::default()));
        assert!(!leftovers.are(&left(&[("a", "")])));
    }
}
