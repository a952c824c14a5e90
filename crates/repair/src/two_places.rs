//! Searches for repairs of two places, if no change of one place passes all tests.
//!
//! The first search looks for *halves*: changes of one place that pass some failing test and all tests
//! that pass. The other failing tests do not count. If no failing test passes by a change of one place,
//! nothing is found. The other half is one of these:
//!
//! * another half, which passes the tests that the first one does not;
//! * the same change where the text is alike ([`crate::twins`]);
//! * a change of the program *with* the first half, found by a further search. If one mistake hides the
//!   other, the second change passes nothing by itself.
//!
//! Halves for the first failing test take hardly any executions: [`crate::halves`]. So pairs of halves are tried
//! after each cost of 2 or more.
//!
//! Cheap halves are likelier than expensive single changes. So what completes a half is sought after each cost of 4 or
//! more, or after any cost when most of the time is over. The halves then have that cost at most, and the
//! search does as much work as was done before ([`Extent::cheap`]). It is tried once more at the end.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    time::{Duration, Instant},
};

use patchwright_exec::{Project, Scratch, TestSuite, runner::Environment};
use patchwright_text::apply_edits;

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    changed_file::Candidate,
    check::{Beyond, check_all},
    clean_copy::CleanCopy,
    halves,
    joined::{completed, twofold},
    outcome::TwoPlaces,
    patch::Patch,
    phases::Phases,
    prepare::{Again, Prepared},
    relations::Bounds,
    twins::twins,
};

/// Searches for changes of one place at most, each for another failing test.
const MOST_AIMS: usize = 4;

/// The number of changes of one place that each search keeps.
const PARTS_OF_SEARCH: usize = 16;

/// The same while the search for a single place goes on: each is built twice.
const PARTS_CHEAP: usize = 8;

/// So many of them, the cheapest and of these those that pass most, are completed by a search in the program with them.
const COMPLETED_OF_SEARCH: usize = 3;

/// The largest number of pairs that are built and tested after each search.
const MOST_PAIRS: usize = 60;

/// Executions that each search may take, if the one for a single place has taken fewer.
const LEAST_EXECUTIONS: u64 = 2000;

/// The same while the search for a single place goes on.
const LEAST_EXECUTIONS_CHEAP: u64 = 600;

/// The part of the time that is left which is taken while the search for a single place goes on.
const SHARE_CHEAP: u32 = 3;

/// Where copying, building and testing the program takes longer, changes of two places are sought only in the end: each search does
/// all of that anew.
const MOST_PREPARATION: Duration = Duration::from_secs(4);

/// How much is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The most that each change of the two may cost.
    max_cost: u32,
    /// Executions of each search.
    executions: u64,
    /// Executions of all of them.
    in_all: u64,
    /// Changes of one place that are kept of each search.
    parts: usize,
    /// When the time is up.
    end: Option<Instant>,
    /// What completes a half is sought in the program with it.
    completes: bool,
}

impl Extent {
    /// Sets the extent after a search for changes of one place that took so many executions.
    pub(crate) fn last(max_cost: u32, executions: u64, end: Option<Instant>) -> Self {
        Extent {
            max_cost,
            executions: executions.max(LEAST_EXECUTIONS),
            in_all: u64::MAX,
            parts: PARTS_OF_SEARCH,
            end,
            completes: true,
        }
    }

    /// When a search has gone through this cost with so many executions.
    pub(crate) fn cheap(
        cost: u32,
        executions: u64,
        left: Option<Duration>,
        completes: bool,
    ) -> Self {
        let executions = executions.max(LEAST_EXECUTIONS_CHEAP);
        Extent {
            max_cost: cost,
            executions,
            in_all: executions,
            parts: PARTS_CHEAP,
            end: left.map(|left| Instant::now() + left / SHARE_CHEAP),
            completes,
        }
    }

    fn is_over(&self, done: &TwoPlaces) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end) || done.executions >= self.in_all
    }
}

/// A change of one place that passes some of the failing tests, and all that pass.
struct Part {
    patch: Patch,
    passes: BTreeSet<usize>,
}

/// Two changes as one, with the place of the first in the order of the search, and the text.
type Pair = (u32, usize, Patch, Vec<u8>);

/// Whether a repair of two places can be sought when one of one place is not found. (Where all failing tests crash at one statement, one
/// place is what is wrong.)
pub(crate) fn is_possible(prepared: &Prepared, options: &RepairOptions) -> bool {
    let focus = prepared.focus.as_ref();
    options.places > 1
        && !focus.is_some_and(|focus| focus.has_one_crash())
        && !options.all
        && !options.keep_verdicts
        && prepared.failing.len() > 1
        && !prepared.passing.is_empty()
}

/// Whether making the program ready takes so little that it can be done again and again.
pub(crate) fn is_quickly_prepared(phases: &Phases) -> bool {
    phases.copy + phases.whole_build + phases.all_tests * 2 + phases.weave <= MOST_PREPARATION
}

/// Searches for changes of two places. Returns verified patches, the best first, and the work that was done.
///
/// # Errors
/// As for [`repair`]; a search that cannot be done finds nothing.
pub(crate) fn search(
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    extent: Extent,
    halves: Option<Halves<'_>>,
) -> Result<(Vec<Patch>, TwoPlaces), RepairError> {
    let Some(again) = prepared.again else {
        return Ok(Default::default());
    };
    (surroundings.events)(Event::Phase("searching for patches of two places"));
    let mut searches = Searches {
        halves,
        again,
        prepared,
        project,
        options,
        surroundings,
        extent,
    };
    let mut done = TwoPlaces::default();
    let mut patches = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut tried: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut aims: Vec<usize> = Vec::new();
    let mut aim = prepared.failing.first().copied();
    while let Some(test) = aim {
        aims.push(test);
        let known = parts.len();
        for part in searches.parts(test, &mut done)? {
            if parts
                .iter()
                .all(|known| known.patch.diff != part.patch.diff)
            {
                parts.push(part);
            }
        }
        let pairs = searches.pairs(&parts)?;
        patches = searches.verified(pairs, &mut tried, &mut done)?;
        let mut halves: Vec<&Part> = parts[known..].iter().collect();
        // What passes most may do so by an overfitting change that costs more.
        halves.sort_by_key(|part| (part.patch.cost, Reverse(part.passes.len())));
        let completed = match extent.completes {
            true => COMPLETED_OF_SEARCH,
            false => 0,
        };
        for half in halves.into_iter().take(completed) {
            if extent.is_over(&done) || options.first && !patches.is_empty() {
                break;
            }
            let pairs = searches.completions(half, &mut done)?;
            patches.extend(searches.verified(pairs, &mut tried, &mut done)?);
        }
        if !patches.is_empty() {
            break;
        }
        // What no change passes so far, or else what some change does not pass.
        let open = |part: &Part| {
            let failing = prepared.failing.iter().copied();
            let open: Vec<usize> = failing.filter(|test| !part.passes.contains(test)).collect();
            open
        };
        let passed = |test: &usize| parts.iter().any(|part| part.passes.contains(test));
        let failing = prepared.failing.iter().copied();
        let mut next = failing
            .filter(|test| !passed(test))
            .chain(parts.iter().flat_map(open));
        aim = next
            .find(|test| !aims.contains(test))
            .filter(|_| aims.len() < MOST_AIMS && !extent.is_over(&done));
    }
    patches.sort_by_key(|patch| patch.cost);
    patches.truncate(options.max_patches);
    for (number, patch) in patches.iter_mut().enumerate() {
        patch.class = number + 1;
    }
    Ok((patches, done))
}

/// Finds changes of one place for a failing test in the program that has been instrumented: [`crate::search::Search::halves`].
pub(crate) type Halves<'h> =
    Box<dyn FnMut(usize, halves::Extent) -> Result<(Vec<Patch>, u64), RepairError> + 'h>;

struct Searches<'s, 'a> {
    /// Where there is no such program any more, a search of its own finds them.
    halves: Option<Halves<'s>>,
    again: Again,
    prepared: &'s Prepared,
    project: &'s Project,
    options: &'s RepairOptions,
    surroundings: &'s Surroundings<'a>,
    extent: Extent,
}

impl Searches<'_, '_> {
    /// Changes of one place that pass a failing test and all that pass.
    fn parts(&mut self, test: usize, done: &mut TwoPlaces) -> Result<Vec<Part>, RepairError> {
        if let Some(halves) = &mut self.halves {
            let Extent {
                max_cost,
                executions,
                in_all,
                parts,
                end,
                ..
            } = self.extent;
            let within = halves::Extent {
                max_cost,
                executions: executions.min(in_all.saturating_sub(done.executions)),
                parts,
                end: end.map(|end| Instant::now() + half_until(end)),
            };
            let (patches, executions) = halves(test, within)?;
            done.searches += 1;
            done.executions += executions;
            return self.measured(patches);
        }
        let prepared = self.prepared;
        let wanted: BTreeSet<&str> = std::iter::once(&test)
            .chain(&prepared.passing)
            .map(|test| &prepared.suite.tests[*test].name[..])
            .collect();
        let patches = self.nested(&wanted, None, done)?;
        self.measured(patches)
    }

    /// Changes that complete one of one place.
    fn completions(&self, half: &Part, done: &mut TwoPlaces) -> Result<Vec<Pair>, RepairError> {
        let prepared = self.prepared;
        let wanted: BTreeSet<&str> = prepared
            .failing
            .iter()
            .chain(&prepared.passing)
            .map(|test| &prepared.suite.tests[*test].name[..])
            .collect();
        let source = self.source(&half.patch)?;
        let Ok(text) = apply_edits(&source, &half.patch.edits) else {
            return Ok(Vec::new());
        };
        let rests = self.nested(&wanted, Some((&half.patch, &text)), done)?;
        let pairs = rests.iter().enumerate().filter_map(|(rank, rest)| {
            let is_same = rest.file == half.patch.file;
            let (patch, both) = is_same.then(|| completed(&source, &half.patch, rest, &text))??;
            Some((patch.cost, rank, patch, both))
        });
        Ok(pairs.collect())
    }

    /// What a search for changes of one place finds with which these tests pass, in the program with a change if one is given.
    fn nested(
        &self,
        wanted: &BTreeSet<&str>,
        changed: Option<(&Patch, &[u8])>,
        done: &mut TwoPlaces,
    ) -> Result<Vec<Patch>, RepairError> {
        let Searches {
            prepared,
            surroundings,
            extent,
            ..
        } = self;
        let suite = self.project.tests.as_ref().unwrap_or(&prepared.suite);
        let tests = suite.tests.iter();
        let tests = tests.filter(|test| wanted.contains(&test.name[..]));
        let project = Project {
            tests: Some(TestSuite {
                tests: tests.cloned().collect(),
                ..suite.clone()
            }),
            ..self.project.clone()
        };
        let left = extent.in_all.saturating_sub(done.executions);
        let options = RepairOptions {
            places: 1,
            widens: false,
            first: false,
            // The builds for that take as long as a build of the project; pairs are looked at.
            scrutinize: false,
            max_patches: extent.parts,
            max_cost: extent.max_cost,
            budget: extent.end.map(half_until),
            budget_without_patch: None,
            early: false,
            journal: None,
            proposals: None,
            replaced: changed
                .map(|(patch, text)| (patch.file.clone(), text.to_vec()))
                .into_iter()
                .collect(),
            bounds: Bounds {
                executions: Some(extent.executions.min(left)),
                ..self.options.bounds
            },
            ..self.options.clone()
        };
        let scratch = Scratch::new(surroundings.scratch.path())?;
        // The costs of a search inside of this one would read as if all began again.
        let quiet = |_: Event| {};
        let nested = Surroundings {
            program: surroundings.program,
            scratch: &scratch,
            cancel: surroundings.cancel.clone(),
            events: &quiet,
        };
        done.searches += 1;
        let outcome = match (self.again)(&project, &options, &nested) {
            Err(error) if !error.is_cancelled() => {
                tracing::info!("no search for one of several failing tests: {error}");
                return Ok(Vec::new());
            }
            outcome => outcome?,
        };
        done.executions += outcome.stats.executions;
        Ok(outcome.patches)
    }

    /// Which failing tests pass with each of these patches.
    fn measured(&self, patches: Vec<Patch>) -> Result<Vec<Part>, RepairError> {
        let (prepared, project) = (self.prepared, self.project);
        let environment = &prepared.suite.environment;
        let mut copy = CleanCopy::start("parts", prepared, project, self.surroundings)?;
        let mut parts = Vec::new();
        let mut measured = prepared.halves.lock();
        let measured = measured
            .as_deref_mut()
            .unwrap_or_else(|error| error.get_mut());
        for patch in patches {
            if let Some(passes) = measured.get(&patch.diff) {
                let passes = passes.clone();
                parts.push(Part { patch, passes });
                continue;
            }
            let source = self.source(&patch)?;
            let Ok(text) = apply_edits(&source, &patch.edits) else {
                continue;
            };
            let put = |copy: &mut CleanCopy<'_>, text: &[u8]| {
                copy.put(&Candidate {
                    file: &patch.file,
                    text,
                    diff: &[],
                    visited_by: None,
                    function: None,
                })
            };
            put(&mut copy, &text)?;
            let mut passes = BTreeSet::new();
            if copy.build(&Environment::default())?.is_none() {
                for &test in &prepared.failing {
                    if copy.run(test, environment)?.is_pass() {
                        passes.insert(test);
                    }
                }
            }
            put(&mut copy, &source)?;
            tracing::debug!(
                "line {}, cost {}: passes {passes:?}",
                patch.line,
                patch.cost
            );
            measured.insert(patch.diff.clone(), passes.clone());
            parts.push(Part { patch, passes });
        }
        copy.remove()?;
        Ok(parts)
    }

    /// The untouched text of the file of a patch.
    fn source(&self, patch: &Patch) -> Result<Vec<u8>, RepairError> {
        let folder = self.prepared.worker.sandbox.folder();
        Ok(patchwright_exec::files::read(&folder.join(&patch.file))?)
    }

    /// Changes of which one passes what the other does not, and each with its twins; the cheapest first.
    fn pairs(&self, parts: &[Part]) -> Result<Vec<Pair>, RepairError> {
        let union = |first: &Part, second: &Part| first.passes.union(&second.passes).count();
        let mut candidates: Vec<(usize, Patch)> = Vec::new();
        for (number, first) in parts.iter().enumerate() {
            let source = self.source(&first.patch)?;
            if let [edit] = &first.patch.edits[..] {
                let twins = twins(&source, edit).into_iter().map(|twin| Patch {
                    edits: vec![twin],
                    ..first.patch.clone()
                });
                candidates.extend(twins.map(|twin| (number, twin)));
            }
            let others = parts[number + 1..].iter();
            // The one passes what the other does not.
            let others = others.filter(|second| {
                let least = first.passes.len().max(second.passes.len());
                union(first, second) > least && first.patch.file == second.patch.file
            });
            candidates.extend(others.map(|second| (number, second.patch.clone())));
        }
        let mut pairs: Vec<Pair> = Vec::new();
        for (rank, (number, second)) in candidates.iter().enumerate() {
            let source = self.source(second)?;
            let twofold = twofold(&source, &parts[*number].patch, second);
            if let Some((patch, text)) = twofold {
                pairs.push((patch.cost, rank, patch, text));
            }
        }
        Ok(pairs)
    }

    /// The pairs that pass everything, best first; those that have been tried are left out.
    fn verified(
        &self,
        mut pairs: Vec<Pair>,
        tried: &mut BTreeSet<Vec<u8>>,
        done: &mut TwoPlaces,
    ) -> Result<Vec<Patch>, RepairError> {
        pairs.sort_by_key(|(cost, rank, ..)| (*cost, *rank));
        pairs.retain(|(_, _, patch, _)| !tried.contains(&patch.diff));
        pairs.truncate(MOST_PAIRS);
        pairs.retain(|(_, _, patch, _)| tried.insert(patch.diff.clone()));
        let wanted = match self.options.first {
            true => 1,
            false => self.options.max_patches,
        };
        let mut patches: Vec<Patch> = Vec::new();
        for chunk in pairs.chunks(self.options.jobs.max(1)) {
            let is_out_of_time = self.extent.end.is_some_and(|end| Instant::now() >= end);
            if patches.len() >= wanted || is_out_of_time && !patches.is_empty() {
                break;
            }
            done.pairs += chunk.len();
            let candidates = chunk.iter().map(|(_, _, patch, text)| Candidate {
                file: &patch.file,
                text,
                diff: &patch.diff,
                visited_by: None,
                function: None,
            });
            let results = check_all(
                "pairs",
                &candidates.collect::<Vec<_>>(),
                self.prepared,
                self.project,
                self.surroundings,
                &Beyond {
                    scrutinize: Some(self.options),
                    passes: &|_| {},
                    hurries: false,
                },
            );
            for ((.., patch, _), checked) in chunk.iter().zip(results) {
                let checked = checked?;
                if checked.rejection.is_some() || patches.len() >= wanted {
                    continue;
                }
                let patch = Patch {
                    class: patches.len() + 1,
                    undefined: checked.undefined,
                    ..patch.clone()
                };
                (self.surroundings.events)(Event::Verified(Box::new(patch.clone())));
                patches.push(patch);
            }
        }
        Ok(patches)
    }
}

/// Half of the time that is left.
fn half_until(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now()) / 2
}
