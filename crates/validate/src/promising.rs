//! Patches that are plausible in woven programs, and are still to be confirmed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use patchwright_schemata::Behaviour;

use crate::Confirm;
use crate::plain::Checked;
use crate::verdict::TestResult;

#[derive(Debug)]
struct Class {
    promise: Promise,
    /// The members but the first, and what woven programs say of them.
    others: Vec<(usize, Checked)>,
}

/// What a woven program says of a patch that is to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Its result in every test.
    pub results: Vec<TestResult>,
    /// The tests in which it did anything but what the untouched program does, whose tests were run twice.
    pub differs: BTreeSet<usize>,
}

/// Plausible patches in classes: those of one class did the same in every test, so that the verdict of a build of the first
/// holds for the others.
#[derive(Debug, Default)]
pub struct Promising {
    /// By the first member, which represents the class.
    classes: BTreeMap<usize, Class>,
    /// Of each member the first of its class.
    first: BTreeMap<usize, usize>,
    /// The first by what its class did.
    known: HashMap<Vec<Behaviour>, usize>,
}

impl Promising {
    /// Adds a patch of the set that behaved so in the tests. Patches are added in their order.
    pub fn add(
        &mut self,
        entry: usize,
        checked: Checked,
        behaviour: &[Behaviour],
        confirm: Confirm,
    ) {
        let first = match confirm {
            Confirm::Classes => *self.known.entry(behaviour.to_vec()).or_insert(entry),
            Confirm::Each | Confirm::Never => entry,
        };
        self.first.insert(entry, first);
        let class = self.classes.entry(first).or_insert_with(|| {
            let tests = checked.tests.iter().zip(behaviour);
            let differs = tests.filter(|(_, behaviour)| **behaviour != Behaviour::AsOriginal);
            Class {
                promise: Promise {
                    differs: differs.map(|(result, _)| result.test).collect(),
                    results: checked.tests.clone(),
                },
                others: Vec::new(),
            }
        });
        if first != entry {
            class.others.push((entry, checked));
        }
    }

    /// What is said of the patch, if it is one of these and represents its class.
    pub fn promise(&self, entry: usize) -> Option<&Promise> {
        Some(&self.classes.get(&entry)?.promise)
    }

    /// The patch is one of these, and another one is tried first.
    pub fn waits(&self, entry: usize) -> bool {
        self.first.get(&entry).is_some_and(|first| *first != entry)
    }

    /// The others of the class that this patch represents.
    pub fn others(&self, entry: usize) -> &[(usize, Checked)] {
        self.classes.get(&entry).map_or(&[], |class| &class.others)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plain::Way;
    use crate::verdict::PatchVerdict;

    fn passed(test: usize) -> TestResult {
        TestResult {
            test,
            failure: None,
            milliseconds: None,
        }
    }

    fn add(promising: &mut Promising, entry: usize, behaviour: &[Behaviour], confirm: Confirm) {
        let checked = Checked {
            verdict: PatchVerdict::Plausible,
            tests: vec![passed(0), passed(1)],
            executions: 0,
            way: Way::Woven,
            build: Duration::ZERO,
            total: Duration::ZERO,
        };
        promising.add(entry, checked, behaviour, confirm);
    }

    #[test]
    fn patches_that_behaved_the_same_in_every_test_have_one_representative() {
        let mut promising = Promising::default();
        let (same, other) = (Behaviour::AsOriginal, Behaviour::Class(7));
        for (entry, second) in [(2, other), (3, same), (5, other)] {
            add(
                &mut promising,
                entry,
                &[Behaviour::Class(1), second],
                Confirm::Classes,
            );
        }
        let waiting: Vec<usize> = (0..6).filter(|entry| promising.waits(*entry)).collect();
        assert_eq!(waiting, [5]);
        assert_eq!(promising.others(2)[0].0, 5);
        assert!(promising.others(3).is_empty());
        assert_eq!(promising.promise(4), None);
        // In the second test the patch did what the untouched program does.
        let promise = promising.promise(3).unwrap();
        assert_eq!(promise.differs, BTreeSet::from([0]));
    }

    #[test]
    fn where_each_is_to_be_confirmed_none_waits() {
        let mut promising = Promising::default();
        for entry in [1, 2] {
            add(&mut promising, entry, &[Behaviour::Class(1)], Confirm::Each);
        }
        assert!(!promising.waits(1) && !promising.waits(2));
    }
}
