//! A repair in parts on machines that know nothing of each other, and the parts put together.
//!
//! All parts prepare, weave and rank the same program. Part `K` of `N` explores each `N`-th family of locations: the places at which one
//! variable is assigned share what is known, and stay together. What a report is ordered by depends on the patch and the program only, so the
//! patches of all parts are put into one order.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_exec::{FileError, Project, hash_project};
use patchwright_text::Hasher;
use serde::{Deserialize, Serialize};

use crate::{Patch, RepairOptions, RepairOutcome, Stats};

/// The name of the schema of a part's file.
pub const SCHEMA: &str = "patchwright-repair-shard";

/// The version of the parts' format.
pub const VERSION: u32 = 1;

/// What a part has found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    patches: Vec<Patch>,
    stats: Stats,
    /// As many patches are reported at most.
    most: usize,
}

/// Changes the options for a part. A part does not know what others find, so it does nothing that depends on finding nothing.
pub fn options_of_part(options: &mut RepairOptions) {
    options.places = 1;
    options.widens = false;
}

/// What all parts of one run have in common, as a digest.
///
/// # Errors
/// A project that cannot be read.
pub fn key(project: &Project, options: &RepairOptions) -> Result<String, FileError> {
    let mut hasher = Hasher::new();
    hasher.field(SCHEMA).field(env!("CARGO_PKG_VERSION"));
    hash_project(project, &mut hasher)?;
    let kinds: Vec<&str> = options.kinds.iter().map(|kind| kind.name()).collect();
    // Their debug form shows every field.
    hasher.field(format!(
        "{:?}",
        (
            (options.all, options.max_patches, options.max_cost),
            (options.schemas, kinds, options.locations, options.formula),
            (&options.space, &options.leaves, options.budget),
            (
                options.allow_all_failing,
                &options.relations,
                &options.weights,
            ),
        )
    ));
    Ok(hasher.finish().to_string())
}

impl Found {
    /// Takes the result of a part from an outcome with these options.
    pub fn new(outcome: &RepairOutcome, options: &RepairOptions) -> Self {
        Found {
            patches: outcome.patches.clone(),
            stats: outcome.stats.clone(),
            most: match options.all {
                true => usize::MAX,
                false => options.max_patches,
            },
        }
    }
}

/// Why what parts have found does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tests of the untouched program do not do the same in all parts: {first} and {second}; run the parts again on machines that are alike"
)]
pub struct DifferentTests {
    first: String,
    second: String,
}

/// Puts what parts have found together: their patches in one order, each once.
///
/// # Errors
/// Tests that are flaky, or whose result depends on the machine.
pub fn merge(parts: Vec<Found>) -> Result<RepairOutcome, DifferentTests> {
    let tests = |found: &Found| {
        let (failing, passing, flaky) = found.stats.tests;
        format!("{failing} fail, {passing} pass, {flaky} are flaky")
    };
    // One whose time was up has not run them.
    let mut known = parts.iter().filter(|part| part.stats.tests != (0, 0, 0));
    if let Some(first) = known.next()
        && let Some(second) = known.find(|part| part.stats.tests != first.stats.tests)
    {
        return Err(DifferentTests {
            first: tests(first),
            second: tests(second),
        });
    }
    let most = parts.first().map_or(usize::MAX, |part| part.most);
    let mut stats: Option<Stats> = None;
    let mut patches: Vec<Patch> = Vec::new();
    // A part that has found nothing better reports what others would not.
    let is_sure = |part: &Found| part.patches.iter().any(|patch| patch.undefined.is_none());
    let any_sure = parts.iter().any(is_sure);
    let mut classes = 0;
    for part in parts {
        let before = classes;
        for mut patch in part.patches {
            patch.class += before;
            classes = classes.max(patch.class);
            if patch.undefined.is_none() || !any_sure || most == usize::MAX {
                patches.push(patch);
            }
        }
        match &mut stats {
            Some(stats) => stats.add_part(part.stats),
            None => stats = Some(part.stats),
        }
    }
    let mut stats = stats.unwrap_or_default();
    patches.sort_by(|a, b| {
        let by_rank = a.rank.order(&b.rank);
        let by_location = a.rank.location.cmp(&b.rank.location);
        by_rank.then(a.cost.cmp(&b.cost)).then(by_location)
    });
    let (mut diffs, mut codes) = (BTreeSet::new(), BTreeSet::new());
    let all = patches.len();
    patches.retain(|patch| {
        let code = patch.code.as_ref();
        let code = code.map(|code| (patch.file.clone(), patch.function.clone(), code.clone()));
        diffs.insert(patch.diff.clone()) && code.is_none_or(|code| codes.insert(code))
    });
    stats.duplicates += all - patches.len();
    stats.is_full |= patches.len() >= most;
    patches.truncate(most);
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for patch in &mut patches {
        let next = numbers.len() + 1;
        let number = numbers.entry(patch.class);
        patch.representative = matches!(number, std::collections::btree_map::Entry::Vacant(_));
        patch.class = *number.or_insert(next);
    }
    Ok(RepairOutcome { patches, stats })
}
