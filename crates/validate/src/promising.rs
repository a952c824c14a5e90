//! Patches that are plausible in woven programs, and are still to be confirmed.

use std::collections::{BTreeMap, HashMap};

use patchwright_schemata::Behaviour;

use crate::Confirm;
use crate::plain::Checked;

/// Plausible patches in classes: those of one class did the same in every test, so that the verdict of a build of the first
/// holds for the others.
#[derive(Debug, Default)]
pub struct Promising {
    /// By the first member, which represents the class: the others, and what woven programs say of them.
    classes: BTreeMap<usize, Vec<(usize, Checked)>>,
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
        let class = self.classes.entry(first).or_default();
        if first != entry {
            class.push((entry, checked));
        }
    }

    /// The patch is one of these.
    pub fn has(&self, entry: usize) -> bool {
        self.first.contains_key(&entry)
    }

    /// The patch is one of these, and another one is tried first.
    pub fn waits(&self, entry: usize) -> bool {
        self.first.get(&entry).is_some_and(|first| *first != entry)
    }

    /// The others of the class that this patch represents.
    pub fn others(&self, entry: usize) -> &[(usize, Checked)] {
        self.classes.get(&entry).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plain::Way;
    use crate::verdict::PatchVerdict;

    fn add(promising: &mut Promising, entry: usize, behaviour: &[Behaviour], confirm: Confirm) {
        let checked = Checked {
            verdict: PatchVerdict::Plausible,
            tests: Vec::new(),
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
        assert!(promising.others(3).is_empty() && promising.has(3) && !promising.has(4));
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
