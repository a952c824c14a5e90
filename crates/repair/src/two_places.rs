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
//! Cheap halves are likelier than expensive single changes. So this is tried after each cost of 4 or
//! more, or after any cost when most of the time is over. The halves then have that cost at most, and the
//! search does as much work as was done before ([`Extent::cheap`]). It is tried once more at the end.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    time::{Duration, Instant},
};

use patchwright_exec::{Project, Scratch, TestSuite, runner::Environment};
use patchwright_text::{Edit, LineMap, Span, apply_edits, unified_diff};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    changed_file::Candidate,
    check::{Beyond, check_all},
    clean_copy::CleanCopy,
    outcome::TwoPlaces,
    patch::Patch,
    phases::Phases,
    prepare::{Again, Prepared},
    relations::Bounds,
    twins::twins,
};

/// How a repair of two places is called where patches have a kind of change.
const NAME: &str = "two_places";

/// Searches for changes of one place at most, each for another failing test.
const MOST_AIMS: usize = 4;

/// So many changes of one place are kept of each search.
const PARTS_OF_SEARCH: usize = 16;

/// The same while the search for a single place goes on: each is built twice.
const PARTS_CHEAP: usize = 8;

/// So many of them, the cheapest and of these those that pass most, are completed by a search in the program with them.
const COMPLETED_OF_SEARCH: usize = 3;

/// So many pairs are built and tested at most after each search.
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
}

impl Extent {
    /// After a search for a change of one place that took so many executions.
    pub(crate) fn last(options: &RepairOptions, executions: u64, end: Option<Instant>) -> Self {
        Extent {
            max_cost: options.max_cost,
            executions: executions.max(LEAST_EXECUTIONS),
            in_all: u64::MAX,
            parts: PARTS_OF_SEARCH,
            end,
        }
    }

    /// When a search has gone through this cost with so many executions.
    pub(crate) fn cheap(cost: u32, executions: u64, left: Option<Duration>) -> Self {
        let executions = executions.max(LEAST_EXECUTIONS_CHEAP);
        Extent {
            max_cost: cost,
            executions,
            in_all: executions,
            parts: PARTS_CHEAP,
            end: left.map(|left| Instant::now() + left / SHARE_CHEAP),
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

/// Verified patches of two places, best first, and what it took.
///
/// # Errors
/// As for [`repair`]; a search that cannot be done finds nothing.
pub(crate) fn search(
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    extent: Extent,
) -> Result<(Vec<Patch>, TwoPlaces), RepairError> {
    let Some(again) = prepared.again else {
        return Ok(Default::default());
    };
    (surroundings.events)(Event::Phase("searching for patches of two places"));
    let searches = Searches {
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
        for half in halves.into_iter().take(COMPLETED_OF_SEARCH) {
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

struct Searches<'s, 'a> {
    again: Again,
    prepared: &'s Prepared,
    project: &'s Project,
    options: &'s RepairOptions,
    surroundings: &'s Surroundings<'a>,
    extent: Extent,
}

impl Searches<'_, '_> {
    /// Changes of one place that pass a failing test and all that pass.
    fn parts(&self, test: usize, done: &mut TwoPlaces) -> Result<Vec<Part>, RepairError> {
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
        let half = |end: Instant| end.saturating_duration_since(Instant::now()) / 2;
        let left = extent.in_all.saturating_sub(done.executions);
        let options = RepairOptions {
            places: 1,
            widens: false,
            first: false,
            // The builds for that take as long as a build of the project; pairs are looked at.
            scrutinize: false,
            max_patches: extent.parts,
            max_cost: extent.max_cost,
            budget: extent.end.map(half),
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
        for patch in patches {
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

/// A change, and one of the program with it, as one change of the source; and the text. `changed` is the text with the first.
fn completed(
    source: &[u8],
    first: &Patch,
    second: &Patch,
    changed: &[u8],
) -> Option<(Patch, Vec<u8>)> {
    let text = apply_edits(changed, &second.edits).ok()?;
    let edits = match moved_back(&first.edits, &second.edits) {
        Some(moved) => [&first.edits[..], &moved].concat(),
        None => vec![whole(source, &text)],
    };
    let cost = first.cost + second.cost;
    joined(source, first, second, edits, text, cost)
}

/// Edits of the text with other edits, as edits of the source; `None` if they touch what those have put there.
fn moved_back(first: &[Edit], second: &[Edit]) -> Option<Vec<Edit>> {
    let moved = |edit: &Edit| {
        let mut shift = 0;
        for known in first {
            let start = i64::from(known.span.start) + shift;
            let end = start + known.text.len() as i64;
            if i64::from(edit.span.end) < start {
                break;
            }
            if i64::from(edit.span.start) <= end {
                return None;
            }
            shift += known.text.len() as i64 - i64::from(known.span.end - known.span.start);
        }
        let back = |at: u32| u32::try_from(i64::from(at) - shift).ok();
        let span = Span::new(back(edit.span.start)?, back(edit.span.end)?);
        Some(Edit::replace(span, &edit.text[..]))
    };
    second.iter().map(moved).collect()
}

/// What makes one text of another, as a single edit.
fn whole(old: &[u8], new: &[u8]) -> Edit {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let before = old.iter().zip(new).take_while(same).count();
    let shorter = old.len().min(new.len()) - before;
    let backwards = old.iter().rev().zip(new.iter().rev());
    let behind = backwards.take(shorter).take_while(same).count();
    let span = Span::new(before as u32, (old.len() - behind) as u32);
    Edit::replace(span, &new[before..new.len() - behind])
}

/// Both changes as one, and the text; `None` if they touch each other. What is done in the same way at both places costs little more
/// than at one.
fn twofold(source: &[u8], first: &Patch, second: &Patch) -> Option<(Patch, Vec<u8>)> {
    let mut edits = [&first.edits[..], &second.edits].concat();
    edits.sort_by_key(|edit| edit.span);
    let parted = |pair: &[Edit]| pair[0].span.end < pair[1].span.start;
    if !edits.windows(2).all(parted) {
        return None;
    }
    let text = apply_edits(source, &edits).ok()?;
    let cost = match is_twin(source, &first.edits, &second.edits) {
        true => first.cost.max(second.cost) + 1,
        false => first.cost + second.cost,
    };
    joined(source, first, second, edits, text, cost)
}

/// The patch that these edits are, and the text; `None` if they change nothing.
fn joined(
    source: &[u8],
    first: &Patch,
    second: &Patch,
    mut edits: Vec<Edit>,
    text: Vec<u8>,
    cost: u32,
) -> Option<(Patch, Vec<u8>)> {
    edits.sort_by_key(|edit| edit.span);
    let (start, path) = (edits.first()?.span.start, first.file.to_string_lossy());
    let earlier = match first.edits.first()?.span.start == start {
        true => first,
        false => second,
    };
    let patch = Patch {
        file: first.file.clone(),
        line: LineMap::new(source).line(start),
        function: earlier.function.clone(),
        schema: NAME,
        kind: None,
        cost,
        diff: unified_diff(path.as_bytes(), source, &text),
        edits,
        class: 0,
        class_size: 1,
        representative: true,
        code_differs: true,
        undefined: None,
        distinct: 0,
        proposal: None,
        rank: first.rank.and(second.rank),
        code: None,
    };
    (!patch.diff.is_empty()).then_some((patch, text))
}

/// Whether both take away the same and add the same, blanks aside.
fn is_twin(source: &[u8], first: &[Edit], second: &[Edit]) -> bool {
    let change = |edit: &Edit| {
        let blank = |text: &[u8]| -> Vec<u8> {
            let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
            bytes.copied().collect()
        };
        let (mut old, mut new) = (
            blank(edit.span.slice(source).unwrap_or_default()),
            blank(&edit.text),
        );
        let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
        let prefix = old.iter().zip(&new).take_while(same).count();
        old.drain(..prefix);
        new.drain(..prefix);
        let suffix = old.iter().rev().zip(new.iter().rev()).take_while(same);
        let suffix = suffix.count();
        old.truncate(old.len() - suffix);
        new.truncate(new.len() - suffix);
        (old, new)
    };
    let changes = |edits: &[Edit]| -> Vec<_> { edits.iter().map(change).collect() };
    changes(first) == changes(second)
}

#[cfg(test)]
mod tests {
    use patchwright_text::Span;

    use super::*;
    use crate::patch::Rank;

    const SOURCE: &[u8] = b"a = 1 << n;\nb = x;\nc = 1 << m;\n";

    fn patch(edit: Edit) -> Patch {
        Patch {
            file: "x.c".into(),
            line: 1,
            function: "f".into(),
            schema: "expression",
            kind: None,
            cost: 2,
            diff: Vec::new(),
            edits: vec![edit],
            class: 1,
            class_size: 1,
            representative: true,
            code_differs: true,
            undefined: None,
            distinct: 0,
            proposal: None,
            rank: Rank::default(),
            code: None,
        }
    }

    fn replaced(from: usize, to: usize, text: &str) -> Patch {
        patch(Edit::replace(Span::new(from as u32, to as u32), text))
    }

    #[test]
    fn an_edit_of_a_changed_text_is_one_of_the_source_if_it_lies_elsewhere() {
        let known = [Edit::replace(Span::new(4, 6), "longer")];
        let moved = |from: u32, to: u32| {
            let edit = Edit::replace(Span::new(from, to), "x");
            let moved = moved_back(&known, std::slice::from_ref(&edit))?;
            Some((moved[0].span.start, moved[0].span.end))
        };
        assert_eq!(moved(1, 3), Some((1, 3)));
        assert_eq!(moved(12, 14), Some((8, 10)));
        assert_eq!(moved(8, 9), None);
        assert_eq!(moved(3, 4), None);
    }

    #[test]
    fn what_makes_one_text_of_another_is_as_short_as_it_can_be() {
        let edit = whole(b"a = b + c;", b"a = d - c;");
        assert_eq!((edit.span.start, edit.span.end), (4, 7));
        assert_eq!(&edit.text[..], b"d -");
        let edit = whole(b"aa", b"aaa");
        assert_eq!(&edit.text[..], b"a");
    }

    #[test]
    fn the_same_change_at_both_places_costs_little_more_than_at_one() {
        let (first, second) = (replaced(4, 10, "1ULL << n"), replaced(23, 24, "1ULL"));
        let (both, text) = twofold(SOURCE, &second, &first).unwrap();
        assert_eq!(text, b"a = 1ULL << n;\nb = x;\nc = 1ULL << m;\n");
        assert_eq!((both.cost, both.line, both.edits.len()), (3, 1, 2));
        let (other, _) = twofold(SOURCE, &first, &replaced(16, 17, "y")).unwrap();
        assert_eq!(other.cost, 4);
    }

    #[test]
    fn changes_that_touch_each_other_are_no_pair() {
        let pair = twofold(SOURCE, &replaced(4, 5, "2"), &replaced(5, 10, " << 1"));
        assert!(pair.is_none());
    }
}
