//! Collects patches that are plausible in woven programs and are still to be confirmed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use patchwright_patches::Patch;
use patchwright_schemata::{Behaviour, Standing};

use crate::Confirm;
use crate::plain::Checked;
use crate::set::PatchSet;
use crate::verdict::TestResult;

#[derive(Debug)]
struct Class {
    promise: Promise,
    scope: Scope,
    standing: Standing,
    /// What woven programs say of the first.
    checked: Checked,
    /// The other members, and what woven programs say of them.
    others: Vec<(usize, Checked)>,
}

/// Functions: see [`patchwright_schemata::Engine::scope`].
type Scope = Vec<(usize, Option<usize>)>;

/// What a woven program says about a patch that is to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Its result in every test.
    pub results: Vec<TestResult>,
    /// The tests in which a patch of its class did anything but what the untouched program does, whose tests were run twice.
    pub differs: BTreeSet<usize>,
}

/// Patches that one build confirms, if it passes.
pub struct Group {
    /// Their numbers in the set.
    pub entries: Vec<usize>,
    /// All of them as one.
    pub patch: Patch,
    /// Where some of them did anything but what the untouched program does.
    pub promise: Promise,
}

/// The largest number of patches that one build confirms. If the build fails, each patch is built by
/// itself.
pub const MOST_TOGETHER: usize = 8;

/// The changes of a patch, and what it did in each test that was run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    /// The functions that it changes.
    pub scope: Scope,
    /// Whether others stand for it, and it for others.
    pub standing: Standing,
    /// What it did.
    pub behaviour: Vec<Behaviour>,
}

/// What patches of one class have in common: what they change, and the outcome of each test.
type Likeness = (Scope, Vec<u32>);

/// Plausible patches in classes: those of one class change the same functions, and every test ended in the same way with the
/// same output, so that a build of the first stands for the others.
#[derive(Debug, Default)]
pub struct Promising {
    /// By the first member, which represents the class.
    classes: BTreeMap<usize, Class>,
    /// Of each member the first of its class.
    first: BTreeMap<usize, usize>,
    /// The first by what its class has in common.
    known: HashMap<Likeness, usize>,
}

impl Promising {
    /// Adds a patch of the set with what it did in the tests. Patches must be added in their order.
    pub fn add(&mut self, entry: usize, checked: Checked, conduct: Conduct, confirm: Confirm) {
        let outcomes = conduct.behaviour.iter().map(|behaviour| behaviour.outcome);
        let likeness = (conduct.scope.clone(), outcomes.collect());
        let first = match confirm {
            Confirm::Together | Confirm::Classes if conduct.standing == Standing::Member => {
                *self.known.entry(likeness).or_insert(entry)
            }
            _ => entry,
        };
        self.first.insert(entry, first);
        let class = self.classes.entry(first).or_insert_with(|| Class {
            promise: Promise {
                differs: BTreeSet::new(),
                results: checked.tests.clone(),
            },
            scope: conduct.scope,
            standing: conduct.standing,
            checked: checked.clone(),
            others: Vec::new(),
        });
        let tests = checked.tests.iter().zip(&conduct.behaviour);
        let differs = tests.filter(|(_, behaviour)| !behaviour.as_original);
        let differs = differs.map(|(result, _)| result.test);
        class.promise.differs.extend(differs);
        if first != entry {
            class.others.push((entry, checked));
        }
    }

    /// Chooses the patch with the least `rank` as the representative of each class, so that the order
    /// of the set does not matter.
    pub fn represent<R: Ord>(&mut self, rank: impl Fn(usize) -> R) {
        for (first, mut class) in std::mem::take(&mut self.classes) {
            let members = class.others.iter().map(|(entry, _)| *entry);
            let least = members.chain([first]).min_by_key(|entry| rank(*entry));
            let least = least.unwrap_or(first);
            if let Some(at) = class.others.iter().position(|(entry, _)| *entry == least) {
                let (_, checked) = class.others.remove(at);
                class.promise.results.clone_from(&checked.tests);
                let before = std::mem::replace(&mut class.checked, checked);
                class.others.push((first, before));
                class.others.sort_by_key(|(entry, _)| *entry);
                self.first.insert(first, least);
                for (entry, _) in &class.others {
                    self.first.insert(*entry, least);
                }
                self.first.insert(least, least);
            }
            self.classes.insert(least, class);
        }
    }

    /// Returns the promise of a patch that represents its class.
    pub fn promise(&self, entry: usize) -> Option<&Promise> {
        Some(&self.classes.get(&entry)?.promise)
    }

    /// Whether the patch is in a class that another patch represents.
    pub fn waits(&self, entry: usize) -> bool {
        self.first.get(&entry).is_some_and(|first| *first != entry)
    }

    /// Returns the verdict that a woven program gave to the representative `entry`.
    pub fn checked(&self, entry: usize) -> Option<&Checked> {
        Some(&self.classes.get(&entry)?.checked)
    }

    /// Returns groups of representatives that one build can confirm: patches that change only existing functions, no function twice in
    /// a group, and up to [`MOST_TOGETHER`] patches. The order of the set makes no difference.
    pub fn groups(&self, set: &PatchSet) -> Vec<Group> {
        let mut groups: Vec<(Scope, Group)> = Vec::new();
        // Not in the order of the set, so that it does not matter.
        let mut classes: Vec<(usize, &Class)> = self.classes.iter().map(|(e, c)| (*e, c)).collect();
        classes.sort_by_key(|(entry, _)| set.entries[*entry].tree);
        for (entry, class) in classes {
            let Some(patch) = set.entries[entry].patch() else {
                continue;
            };
            let adds = class.scope.iter().any(|(_, function)| function.is_none());
            if class.standing == Standing::Alone || adds {
                continue;
            }
            let joins = |(scope, group): &(Scope, Group)| {
                let is_apart = !class.scope.iter().any(|function| scope.contains(function));
                let has_room = group.entries.len() < MOST_TOGETHER;
                group.patch.and(patch).filter(|_| has_room && is_apart)
            };
            let joined = (0..groups.len()).find_map(|at| Some((at, joins(&groups[at])?)));
            let promise = &class.promise;
            let Some((at, patch)) = joined else {
                let group = Group {
                    entries: vec![entry],
                    patch: patch.clone(),
                    promise: promise.clone(),
                };
                groups.push((class.scope.clone(), group));
                continue;
            };
            let (scope, group) = &mut groups[at];
            scope.extend(&class.scope);
            group.entries.push(entry);
            group.patch = patch;
            group.promise.differs.extend(&promise.differs);
        }
        let groups = groups.into_iter().map(|(_, group)| group);
        groups.filter(|group| group.entries.len() > 1).collect()
    }

    /// Returns a group of these representatives if they can be confirmed by one build.
    pub fn group(&self, entries: &[usize], set: &PatchSet) -> Option<Group> {
        let mut members = entries.iter().map(|entry| {
            let patch = set.entries[*entry].patch()?;
            Some((patch, self.promise(*entry)?))
        });
        let (patch, promise) = members.next()??;
        let mut group = Group {
            entries: entries.to_vec(),
            patch: patch.clone(),
            promise: promise.clone(),
        };
        for member in members {
            let (patch, promise) = member?;
            group.patch = group.patch.and(patch)?;
            group.promise.differs.extend(&promise.differs);
        }
        Some(group)
    }

    /// Returns the other members of the class that this patch represents.
    pub fn others(&self, entry: usize) -> &[(usize, Checked)] {
        self.classes.get(&entry).map_or(&[], |class| &class.others)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plain::{Time, Way};
    use crate::verdict::PatchVerdict;

    fn passed(test: usize) -> TestResult {
        TestResult {
            test,
            failure: None,
            milliseconds: None,
        }
    }

    fn add(promising: &mut Promising, entry: usize, conduct: &Conduct, confirm: Confirm) {
        let checked = Checked {
            verdict: PatchVerdict::Plausible,
            tests: vec![passed(0), passed(1)],
            executions: 0,
            way: Way::Woven,
            build: Duration::ZERO,
            total: Duration::ZERO,
            changes_tests: BTreeSet::new(),
            time: Time::Right,
        };
        promising.add(entry, checked, conduct.clone(), confirm);
    }

    /// A patch of this function, with the outcomes of two tests and whether it differed in them.
    fn conduct(function: usize, tests: [(u32, bool); 2]) -> Conduct {
        let behaviour = |(outcome, differs): (u32, bool)| Behaviour {
            outcome,
            as_original: !differs,
        };
        Conduct {
            standing: Standing::Member,
            scope: vec![(0, Some(function))],
            behaviour: tests.map(behaviour).to_vec(),
        }
    }

    #[test]
    fn patches_of_one_function_with_the_same_outcome_of_every_test_have_one_representative() {
        let mut promising = Promising::default();
        for (entry, function, tests) in [
            (2, 1, [(1, true), (7, true)]),
            (3, 1, [(1, true), (8, false)]),
            (5, 1, [(1, true), (7, true)]),
            (6, 2, [(1, true), (7, true)]),
        ] {
            let conduct = conduct(function, tests);
            add(&mut promising, entry, &conduct, Confirm::Classes);
        }
        let waiting: Vec<usize> = (0..7).filter(|entry| promising.waits(*entry)).collect();
        assert_eq!(waiting, [5]);
        assert_eq!(promising.others(2)[0].0, 5);
        assert!(promising.others(3).is_empty());
        assert_eq!(promising.promise(4), None);
        // In the second test the patch did what the untouched program does.
        let promise = promising.promise(3).unwrap();
        assert_eq!(promise.differs, BTreeSet::from([0]));
    }

    #[test]
    fn the_representative_is_run_in_every_test_in_which_one_of_its_class_differs() {
        let mut promising = Promising::default();
        for (entry, tests) in [(2, [(1, true), (7, false)]), (5, [(1, false), (7, true)])] {
            add(&mut promising, entry, &conduct(1, tests), Confirm::Classes);
        }
        assert_eq!(
            promising.promise(2).unwrap().differs,
            BTreeSet::from([0, 1])
        );
        assert!(promising.waits(5));
    }

    #[test]
    fn a_patch_that_may_take_more_of_the_stack_stands_for_itself() {
        let mut promising = Promising::default();
        for (entry, standing) in [
            (1, Standing::Member),
            (2, Standing::Itself),
            (3, Standing::Member),
        ] {
            let conduct = Conduct {
                standing,
                ..conduct(1, [(1, true), (7, true)])
            };
            add(&mut promising, entry, &conduct, Confirm::Together);
        }
        let waiting: Vec<usize> = (0..4).filter(|entry| promising.waits(*entry)).collect();
        assert_eq!(waiting, [3]);
        assert!(promising.promise(2).is_some() && promising.others(2).is_empty());
    }

    #[test]
    fn where_each_is_to_be_confirmed_none_waits() {
        let mut promising = Promising::default();
        for entry in [1, 2] {
            let conduct = conduct(1, [(1, true), (7, true)]);
            add(&mut promising, entry, &conduct, Confirm::Each);
        }
        assert!(!promising.waits(1) && !promising.waits(2));
    }
}
