//! More than two versions at once: which of them agree, for which inputs.

use std::time::Instant;

use patchwright_compare::{Extent, Holder, Pair, Partition, Strategy, several};
use patchwright_exec::{CancelToken, Scratch};
use patchwright_prove::mixes_arguments;
use patchwright_report::comparison::{AllVersions, Member, SharedPartition, VERSIONS_SCHEMA};
use patchwright_solve::Terms;
use patchwright_symbolic::{Check, Encoding, Entry};

use super::{
    arguments::CompareArgs,
    golden,
    named::{self, Named},
    read::{self, Version, Versions},
    replay::{self, Harnesses, Replay},
    symbolic::{self, Encoder},
};
use crate::encoded::{Problem, checks};

/// The largest number of versions that are compared all at once.
pub const MOST: usize = 8;

/// Compares several versions. The second result is a bug of ours, if executions contradict the report. It
/// is `None` if time is over before anything is known.
pub fn compare(
    args: &CompareArgs,
    named: &[Named],
    scratch: &Scratch,
    cancel: &CancelToken,
    end: Option<Instant>,
) -> Result<Option<(AllVersions, Option<String>)>, Problem> {
    let mut all = Vec::new();
    for (at, other) in named[1..].iter().enumerate() {
        let folder = format!("compare-all-{at}");
        let pair = [&named[0], other];
        let versions = read::versions(args, pair, None, scratch, &folder, cancel.clone())?;
        all.push(versions);
    }
    // All of them get the same arguments.
    let most = all.iter().filter_map(|versions| versions.arguments).max();
    for version in all.iter_mut().flat_map(|versions| &mut versions.both) {
        if let (Entry::Main { arguments, .. }, Some(most)) = (&mut version.entry, most) {
            *arguments = most;
        }
    }
    let usual = Check::ALL
        .into_iter()
        .filter(|check| !matches!(check, Check::Leak | Check::Termination));
    let checks = checks(args.check.as_deref(), usual.collect())?;
    let interrupt = || cancel.is_cancelled() || end.is_some_and(|end| Instant::now() >= end);
    let mut terms = Terms::new();
    let mut shared = all.iter().map(|versions| versions.shared.clone());
    let first = shared.next().unwrap_or_default();
    let shared = shared.fold(first, |all, next| &all & &next);
    let encoder = Encoder {
        args,
        checks: &checks,
        shared: &shared,
        interrupt: &interrupt,
    };
    let Some(pairs) = pairs(&mut terms, &all, &encoder)? else {
        return Ok(None);
    };
    let is_program = args.function.is_none();
    let extent = Extent {
        different: args.different,
        equal: 0,
        conflicts: args.conflicts,
        strategy: Strategy::Differences,
    };
    let found = several(&mut terms, &pairs, is_program, extent, &interrupt);
    let mut report = AllVersions {
        schema: VERSIONS_SCHEMA,
        schema_version: 1,
        versions: named.iter().map(|one| one.shown.clone()).collect(),
        function: args.function.clone(),
        complete: found.complete,
        more_differ: found.more,
        golden: None,
        partitions: Vec::new(),
    };
    for (at, shared) in found.partitions.iter().enumerate() {
        let samples = [0, 1].map(|side| shared.pairs[0].samples[side].clone());
        let members = shared.groups.iter().zip(&shared.behaviours).enumerate();
        let members = members.map(|(version, (&group, behaviour))| {
            let mut does = behaviour.formulas.clone();
            does.extend(behaviour.failure.as_ref().map(|(message, place)| {
                format!(
                    "fails: {message} ({}:{})",
                    report.versions[version], place.line
                )
            }));
            Member {
                version: report.versions[version].clone(),
                group,
                does,
                observed: None,
                judged: None,
            }
        });
        report.partitions.push(SharedPartition {
            number: at + 1,
            condition: shared.condition.clone(),
            sample: symbolic::sample(&samples),
            members: members.collect(),
            golden: None,
            replay: "agrees".to_owned(),
        });
    }
    let mut bug = None;
    for (at, versions) in all.iter_mut().enumerate() {
        let own: Vec<Partition> = found
            .partitions
            .iter()
            .map(|shared| shared.pairs[at].clone())
            .collect();
        let watch = symbolic::watch(versions, args.function.clone(), checks.clone());
        let harnesses = Harnesses::of(versions, &watch, &own)?;
        for (number, partition) in own.iter().enumerate() {
            let ([old, new], answer) =
                replay::replay(versions, &watch, &harnesses, number, partition)?;
            let shown = &mut report.partitions[number];
            shown.members[0].observed = old;
            shown.members[at + 1].observed = new;
            match answer {
                Replay::Agrees => {}
                Replay::Untold(reason) => shown.replay = reason,
                Replay::SameText => {
                    "the text that is printed is the same for the sample"
                        .clone_into(&mut shown.replay);
                }
                Replay::Differs(message) => {
                    shown.replay = format!("it differs: {message}");
                    bug = bug.or(Some(message));
                }
            }
        }
    }
    if let Some(golden) = &args.golden {
        let twice = named::named(
            &[golden.clone(), golden.clone()],
            &args.description,
            scratch,
        )?;
        if twice.iter().all(Named::is_file) {
            let pair = [&twice[0], &twice[1]];
            let cancel = cancel.clone();
            let mut right = read::versions(args, pair, None, scratch, "golden-all", cancel)?;
            let watch = symbolic::watch(&right, args.function.clone(), checks);
            report.golden = Some(twice[0].shown.clone());
            for (shared, shown) in found.partitions.iter().zip(&mut report.partitions) {
                let samples = &shared.pairs[0].samples;
                if let Some(observed) = replay::observed_in(&mut right, &watch, samples)? {
                    golden::judge_all(shown, observed);
                }
            }
        }
    }
    Ok(Some((report, bug)))
}

/// All pairs of versions, in the order that [`several`] wants.
fn pairs(
    terms: &mut Terms,
    all: &[Versions],
    encoder: &Encoder<'_>,
) -> Result<Option<Vec<Pair>>, Problem> {
    let first = all.first().map(|versions| &versions.both[0]);
    let others = all.iter().map(|versions| &versions.both[1]);
    let versions: Vec<&Version> = first.into_iter().chain(others).collect();
    let holders: Vec<Holder> = all.iter().flat_map(|one| one.holders.clone()).collect();
    let is_program = encoder.args.function.is_none();
    let mut argument_numbers = true;
    loop {
        let mut encodings: Vec<Encoding> = Vec::new();
        for (at, version) in versions.iter().enumerate() {
            let prefix = format!("v{}.", at + 1);
            let library = &all[0].library;
            match encoder.encode(terms, version, library, prefix, argument_numbers)? {
                Some(encoding) => encodings.push(encoding),
                None => return Ok(None),
            }
        }
        let mut pairs = Vec::new();
        for (at, one) in encodings.iter().enumerate() {
            for other in &encodings[at + 1..] {
                let input = encoder.args.input;
                let (one, other) = (one.clone(), other.clone());
                pairs.push(Pair::new(terms, one, other, is_program, &holders, input));
            }
        }
        let mixes = |terms: &Terms, pair: &Pair| {
            let sides = patchwright_compare::Side::BOTH.map(|side| pair.encoding(side));
            mixes_arguments(terms, &pair.roots(), &sides)
        };
        if !argument_numbers || !pairs.iter().any(|pair| mixes(terms, pair)) {
            return Ok(Some(pairs));
        }
        argument_numbers = false;
    }
}
