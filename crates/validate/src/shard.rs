//! Divides a set of patches into parts for machines that know nothing of each other, and puts the results together.
//!
//! Part `K` of `N` has each `N`-th of the different patched trees; patches that make the same tree stay together. So a part depends
//! only on the set and its own number. The verdicts are those of one machine. Tests run in an order that depends on no other
//! patch, and the verdict of a woven program on a patch does not depend on its other patches. Work that one machine shares
//! among patches is done by each part that needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use patchwright_exec::{FileError, Project, Shard, hash_files};
use patchwright_patches::Hasher;
use serde::{Deserialize, Serialize};

use crate::ValidateOptions;
use crate::outcome::{Stats, Tests, Untouched, Validated, Validation, WovenStats};
use crate::set::PatchSet;

/// Returns the patches of `set` that belong to `shard`, and the number of each in the whole set.
pub fn part(set: &PatchSet, shard: Shard) -> (PatchSet, Vec<usize>) {
    let mut distinct = 0;
    let mut owners: Vec<bool> = Vec::with_capacity(set.entries.len());
    for (index, entry) in set.entries.iter().enumerate() {
        let owned = match (entry.same_as, entry.tree) {
            (Some(first), _) => owners[first],
            // What does not apply is decided anywhere.
            (None, None) => shard.has(index),
            (None, Some(_)) => {
                distinct += 1;
                shard.has(distinct - 1)
            }
        };
        owners.push(owned);
    }
    let numbers: Vec<usize> = (0..set.entries.len()).filter(|at| owners[*at]).collect();
    let local: BTreeMap<usize, usize> = numbers
        .iter()
        .enumerate()
        .map(|(local, global)| (*global, local))
        .collect();
    let entries = numbers.iter().map(|global| {
        let mut entry = set.entries[*global].clone();
        entry.same_as = entry.same_as.map(|first| local[&first]);
        entry
    });
    let part = PatchSet {
        entries: entries.collect(),
    };
    (part, numbers)
}

/// Switches off options with which a verdict could depend on patches of other parts: running patches before the untouched program,
/// and an early stop.
pub fn options_of_part(options: &mut ValidateOptions) {
    options.ask_first = true;
    options.stop_after = None;
}

/// The verdicts and counts of one part, as `validate --shard` writes them to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartResult {
    /// The name of the schema.
    schema: String,
    /// Its version.
    schema_version: u32,
    /// What all parts of one run have in common: project, patches and options.
    key: String,
    /// Which part it is.
    shard: Shard,
    /// The command that made it, by its words.
    #[serde(default)]
    pub command: Vec<String>,
    /// How many patches there are in all parts.
    total: usize,
    tests: Tests,
    /// The patches, by their numbers in the whole set.
    patches: Vec<(usize, Validated)>,
    interrupted: bool,
    done: Done,
}

/// What was done, in numbers that can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    untouched_builds: usize,
    builds: usize,
    full_builds: usize,
    executions: usize,
    resumed: usize,
    duplicates: usize,
    audited: usize,
    audits_failed: usize,
    renewed_copies: usize,
    prepare: Duration,
    validate: Duration,
    woven: Option<WovenDone>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct WovenDone {
    patches: usize,
    apart: BTreeMap<String, usize>,
    compilations: usize,
    builds: usize,
    executions: usize,
    forked: usize,
    classes: usize,
    time: Duration,
}

/// The name of the schema of a part's file.
pub const SCHEMA: &str = "patchwright-validate-shard";
const VERSION: u32 = 1;

/// Returns a digest of everything that parts of one run must share: project files, tests, patches and options. [`merge`] refuses
/// parts with different keys.
///
/// # Errors
/// A project that cannot be read.
pub fn key(
    project: &Project,
    set: &PatchSet,
    options: &ValidateOptions,
) -> Result<String, FileError> {
    let mut hasher = Hasher::new();
    hasher.field(SCHEMA).field(env!("CARGO_PKG_VERSION"));
    hash_files(project, &mut hasher)?;
    let tests = project.tests.iter().flat_map(|suite| &suite.tests);
    for test in tests {
        hasher.field(&test.name);
    }
    for entry in &set.entries {
        hasher.field(&entry.id().0);
        let tree = entry.tree.map(|tree| tree.to_string());
        hasher.field(tree.unwrap_or_default());
    }
    // Their debug form shows every field.
    hasher.field(format!(
        "{:?}",
        (
            options.keep_going,
            options.prioritize,
            options.schemata,
            options.confirm,
            options.ignore_failing,
            &options.must_fix,
            options.trust_test_changes,
        )
    ));
    Ok(hasher.finish().to_string())
}

impl PartResult {
    /// Makes the result of a part. `outcome` numbers the patches of the part alone; `numbers` has the number of each in the whole
    /// set, which has `total` patches.
    pub fn new(
        key: String,
        shard: Shard,
        total: usize,
        numbers: &[usize],
        outcome: &Validation,
    ) -> Self {
        let global = |local: usize| numbers[local];
        let patches = outcome.patches.iter().enumerate().map(|(local, patch)| {
            let patch = Validated {
                same_as: patch.same_as.map(global),
                confirmed_by: patch.confirmed_by.map(global),
                confirmed_with: patch.confirmed_with.iter().copied().map(global).collect(),
                ..patch.clone()
            };
            (global(local), patch)
        });
        let stats = &outcome.stats;
        PartResult {
            schema: SCHEMA.to_owned(),
            schema_version: VERSION,
            key,
            shard,
            command: Vec::new(),
            total,
            tests: outcome.tests.clone(),
            patches: patches.collect(),
            interrupted: outcome.interrupted,
            done: Done {
                untouched_builds: stats.untouched_builds,
                builds: stats.builds,
                full_builds: stats.full_builds,
                executions: stats.executions,
                resumed: stats.resumed,
                duplicates: stats.duplicates,
                audited: stats.audited,
                audits_failed: stats.audits_failed,
                renewed_copies: stats.renewed_copies,
                prepare: stats.prepare,
                validate: stats.validate,
                woven: stats.woven.as_ref().map(|woven| WovenDone {
                    patches: woven.patches,
                    apart: woven.apart.clone(),
                    compilations: woven.compilations,
                    builds: woven.builds,
                    executions: woven.executions,
                    forked: woven.forked,
                    classes: woven.classes,
                    time: woven.time,
                }),
            },
        }
    }

    /// Returns which part this is the result of.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Returns the time and counts of the part.
    pub fn measured(&self) -> Measured {
        Measured {
            patches: self.patches.len(),
            total: self.total,
            prepare: self.done.prepare,
            validate: self.done.validate,
        }
    }

    /// Returns the result as JSON, the format of the files that [`merge`] puts together.
    pub fn to_json(&self) -> String {
        // Strings and numbers only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the JSON that [`PartResult::to_json`] wrote.
    ///
    /// # Errors
    /// In words what is wrong with the text: another format, or another version.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        let read: PartResult = serde_json::from_slice(text)
            .map_err(|error| format!("it is no result of --shard: {error}"))?;
        if (&read.schema[..], read.schema_version) != (SCHEMA, VERSION) {
            return Err(format!(
                "it is a {} of version {}, and {SCHEMA} of version {VERSION} is read",
                read.schema, read.schema_version
            ));
        }
        let is_within = |number: &usize| *number < read.total;
        let all = read.patches.iter().flat_map(|(number, patch)| {
            let others = patch.same_as.iter().chain(&patch.confirmed_by);
            std::iter::once(number)
                .chain(others)
                .chain(&patch.confirmed_with)
        });
        let tests = read.patches.iter().flat_map(|(_, patch)| &patch.tests);
        let are_known = tests
            .map(|result| result.test)
            .all(|test| test < read.tests.names.len());
        if !all.copied().collect::<Vec<_>>().iter().all(is_within) || !are_known {
            return Err("it names patches or tests that do not exist".to_owned());
        }
        Ok(read)
    }
}

/// The time and counts of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its patches.
    pub patches: usize,
    /// Those of all parts.
    pub total: usize,
    /// Copying, building and testing the untouched program.
    pub prepare: Duration,
    /// The rest.
    pub validate: Duration,
}

/// Why parts cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is none.
    #[error("there is nothing to merge; name the files that --shard has written")]
    Nothing,
    /// They are of different runs.
    #[error(
        "part {first} and part {second} are of different runs; run them with the same project, patches and flags"
    )]
    Different {
        /// A part.
        first: Shard,
        /// The part that contradicts it.
        second: Shard,
    },
    /// A test does not do the same on all machines.
    #[error(
        "test {test} behaves differently on the untouched program in part {first} and in part {second}; run one of the parts again on a machine like the other one"
    )]
    Tests {
        /// The test.
        test: String,
        /// A part.
        first: Shard,
        /// The part that contradicts it.
        second: Shard,
    },
    /// A part was run twice, and the verdicts differ.
    #[error(
        "part {shard} was run twice, and the verdicts on {patch} differ: {first} and {second}; merge only one of the two files, and look for a flaky test"
    )]
    Contradiction {
        /// The part.
        shard: Shard,
        /// The patch.
        patch: String,
        /// A verdict.
        first: String,
        /// The other one.
        second: String,
    },
}

/// The results of all parts as one validation, and what is missing from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// What one machine would have said; interrupted if something is missing.
    pub validation: Validation,
    /// The parts that are missing, or were interrupted.
    pub missing: Vec<Shard>,
    /// How many results were of a part that had one.
    pub repeated: usize,
}

/// Puts parts together. One that was run several times counts once; of those that were interrupted, the one that knows most.
///
/// # Errors
/// See [`MergeError`].
pub fn merge(parts: Vec<PartResult>) -> Result<Merged, MergeError> {
    // A part without patches that apply has not asked the tests.
    let is_asked = |part: &&PartResult| !part.tests.untouched.contains(&Untouched::NotAsked);
    let first = parts.iter().find(is_asked).or(parts.first()).cloned();
    let Some(first) = first else {
        return Err(MergeError::Nothing);
    };
    let mut chosen: BTreeMap<usize, PartResult> = BTreeMap::new();
    let mut repeated = 0;
    for part in parts {
        if (&part.key, part.total, part.shard.of) != (&first.key, first.total, first.shard.of) {
            return Err(MergeError::Different {
                first: first.shard,
                second: part.shard,
            });
        }
        if is_asked(&&part) && part.tests != first.tests {
            return Err(different_tests(&first, &part));
        }
        let known = |part: &PartResult| {
            let verdicts = part
                .patches
                .iter()
                .filter(|(_, patch)| patch.verdict.is_some());
            (!part.interrupted, verdicts.count())
        };
        match chosen.get(&part.shard.number) {
            None => drop(chosen.insert(part.shard.number, part)),
            Some(other) => {
                repeated += 1;
                contradiction(other, &part)?;
                if known(&part) > known(other) {
                    chosen.insert(part.shard.number, part);
                }
            }
        }
    }
    let of = first.shard.of;
    let is_complete = |number: &usize| chosen.get(number).is_some_and(|part| !part.interrupted);
    let missing = (1..=of)
        .filter(|number| !is_complete(number))
        .map(|number| Shard { number, of })
        .collect::<Vec<Shard>>();
    let mut stats = Stats::default();
    let mut patches: BTreeMap<usize, Validated> = BTreeMap::new();
    for part in chosen.into_values() {
        add(&mut stats, &part.done);
        patches.extend(part.patches);
    }
    let known: BTreeSet<usize> = patches.keys().copied().collect();
    // A number that is missing has neither a name nor a place, so those behind it move up.
    let place = |number: usize| known.range(..number).count();
    let patches = patches.into_values().map(|patch| Validated {
        same_as: patch.same_as.map(place),
        confirmed_by: patch.confirmed_by.map(place),
        confirmed_with: patch.confirmed_with.iter().copied().map(place).collect(),
        ..patch
    });
    Ok(Merged {
        validation: Validation {
            tests: first.tests,
            patches: patches.collect(),
            stats,
            interrupted: !missing.is_empty(),
        },
        missing,
        repeated,
    })
}

fn different_tests(first: &PartResult, second: &PartResult) -> MergeError {
    let names = first.tests.names.iter().enumerate();
    let mut differing = names.filter(|(at, _)| {
        first.tests.untouched.get(*at) != second.tests.untouched.get(*at)
            || first.tests.set_aside.contains(at) != second.tests.set_aside.contains(at)
    });
    match differing.next() {
        Some((_, test)) => MergeError::Tests {
            test: test.clone(),
            first: first.shard,
            second: second.shard,
        },
        None => MergeError::Different {
            first: first.shard,
            second: second.shard,
        },
    }
}

fn contradiction(first: &PartResult, second: &PartResult) -> Result<(), MergeError> {
    let known: BTreeMap<usize, &Validated> = first
        .patches
        .iter()
        .map(|(number, patch)| (*number, patch))
        .collect();
    for (number, patch) in &second.patches {
        let other = known.get(number).and_then(|other| other.verdict.as_ref());
        if let (Some(verdict), Some(other)) = (&patch.verdict, other)
            && verdict.word() != other.word()
        {
            return Err(MergeError::Contradiction {
                shard: second.shard,
                patch: patch.id.0.clone(),
                first: other.word().to_owned(),
                second: verdict.word().to_owned(),
            });
        }
    }
    Ok(())
}

fn add(stats: &mut Stats, done: &Done) {
    let woven = done.woven.as_ref().map(|woven| WovenStats {
        patches: woven.patches,
        apart: woven.apart.clone(),
        compilations: woven.compilations,
        builds: woven.builds,
        executions: woven.executions,
        forked: woven.forked,
        classes: woven.classes,
        time: woven.time,
        ..WovenStats::default()
    });
    stats.add(&Stats {
        untouched_builds: done.untouched_builds,
        builds: done.builds,
        full_builds: done.full_builds,
        executions: done.executions,
        resumed: done.resumed,
        duplicates: done.duplicates,
        audited: done.audited,
        audits_failed: done.audits_failed,
        renewed_copies: done.renewed_copies,
        woven,
        ..Stats::default()
    });
    stats.prepare += done.prepare;
    stats.validate += done.validate;
}
