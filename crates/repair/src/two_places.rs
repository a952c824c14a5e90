//! Repairs of two places, when no change of one place passes all tests.
//!
//! A fault at two places often shows in tests of its own at each. So a change of one place is sought that passes *some* failing test
//! and all tests that pass, by a search in which the other failing tests do not count; what it leaves failing is the aim of the next
//! search. Two such changes are tried as one, and so is each of them together with the same change where the text is alike
//! ([`crate::twins`]). Where no failing test passes by a change of one place alone, nothing is found.

use std::collections::BTreeSet;
use std::time::Instant;

use patchwright_exec::{Project, Scratch, TestSuite, runner::Environment};
use patchwright_text::{Edit, LineMap, apply_edits, unified_diff};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    check::{Beyond, Candidate, check_all},
    outcome::{Patch, Stats, TwoPlaces},
    prepare::Prepared,
    relations::Bounds,
    repair,
    twins::twins,
    verify::CleanCopy,
};

/// How a repair of two places is called where patches have a kind of change.
const NAME: &str = "two_places";

/// Searches for changes of one place at most, each for another failing test.
const MOST_SEARCHES: usize = 4;

/// So many changes of one place are kept of each search.
const PARTS_OF_SEARCH: usize = 8;

/// So many pairs are built and tested at most.
const MOST_PAIRS: usize = 60;

/// Executions that each search may take, if the one for a single place has taken fewer.
const LEAST_EXECUTIONS: u64 = 2000;

/// A change of one place that passes some of the failing tests, and all that pass.
struct Part {
    patch: Patch,
    passes: BTreeSet<usize>,
}

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

/// Verified patches of two places, best first. `tried` is what the search for one place has taken; `end` is when the time is up.
///
/// # Errors
/// As for [`repair`]; a search that cannot be done finds nothing.
pub(crate) fn search(
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    (tried, end): (&Stats, Option<Instant>),
) -> Result<(Vec<Patch>, TwoPlaces), RepairError> {
    (surroundings.events)(Event::Phase("searching for patches of two places"));
    let searches = Searches {
        prepared,
        project,
        options,
        surroundings,
        executions: tried.executions.max(LEAST_EXECUTIONS),
        end,
    };
    let mut done = TwoPlaces::default();
    let mut parts: Vec<Part> = Vec::new();
    let mut aims: Vec<usize> = Vec::new();
    let mut aim = prepared.failing.first().copied();
    while let Some(test) = aim {
        aims.push(test);
        parts.extend(searches.parts(test, &mut done)?);
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
            .filter(|_| aims.len() < MOST_SEARCHES && !searches.is_out_of_time());
    }
    let patches = searches.verified(&parts, &mut done)?;
    Ok((patches, done))
}

struct Searches<'s, 'a> {
    prepared: &'s Prepared,
    project: &'s Project,
    options: &'s RepairOptions,
    surroundings: &'s Surroundings<'a>,
    executions: u64,
    end: Option<Instant>,
}

impl Searches<'_, '_> {
    fn is_out_of_time(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Changes of one place that pass a failing test and all that pass.
    fn parts(&self, test: usize, done: &mut TwoPlaces) -> Result<Vec<Part>, RepairError> {
        let Searches {
            prepared,
            surroundings,
            ..
        } = self;
        let wanted: BTreeSet<&str> = std::iter::once(&test)
            .chain(&prepared.passing)
            .map(|test| &prepared.suite.tests[*test].name[..])
            .collect();
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
        let options = RepairOptions {
            places: 1,
            widens: false,
            first: false,
            // The builds for that take as long as a build of the project; pairs are looked at.
            scrutinize: self.project.single_file.is_some(),
            max_patches: PARTS_OF_SEARCH,
            budget: self.end.map(half),
            budget_without_patch: None,
            early: false,
            journal: None,
            bounds: Bounds {
                executions: Some(self.executions),
                ..self.options.bounds
            },
            ..self.options.clone()
        };
        let scratch = Scratch::new(surroundings.scratch.path())?;
        let quiet = |event: Event| {
            if let Event::Search { .. } = event {
                (surroundings.events)(event);
            }
        };
        let nested = Surroundings {
            program: surroundings.program,
            scratch: &scratch,
            cancel: surroundings.cancel.clone(),
            events: &quiet,
        };
        done.searches += 1;
        let outcome = match repair(&project, &options, &nested) {
            Err(error) if !error.is_cancelled() => {
                tracing::info!("no search for one of several failing tests: {error}");
                return Ok(Vec::new());
            }
            outcome => outcome?,
        };
        done.executions += outcome.stats.executions;
        let patches = outcome.patches.into_iter();
        let patches = patches.filter(|patch| patch.undefined.is_none());
        self.measured(patches.collect())
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

    /// The pairs that pass everything, best first.
    fn verified(&self, parts: &[Part], done: &mut TwoPlaces) -> Result<Vec<Patch>, RepairError> {
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
        let mut pairs: Vec<(u32, usize, Patch, Vec<u8>)> = Vec::new();
        for (rank, (number, second)) in candidates.iter().enumerate() {
            let source = self.source(second)?;
            let twofold = twofold(&source, &parts[*number].patch, second);
            let Some((patch, text)) = twofold else {
                continue;
            };
            if !pairs
                .iter()
                .any(|(_, _, known, _)| known.diff == patch.diff)
            {
                pairs.push((patch.cost, rank, patch, text));
            }
        }
        pairs.sort_by_key(|(cost, rank, ..)| (*cost, *rank));
        pairs.truncate(MOST_PAIRS);
        let wanted = match self.options.first {
            true => 1,
            false => self.options.max_patches,
        };
        let mut patches: Vec<Patch> = Vec::new();
        for chunk in pairs.chunks(self.options.jobs.max(1)) {
            if patches.len() >= wanted || self.is_out_of_time() && !patches.is_empty() {
                break;
            }
            done.pairs += chunk.len();
            let candidates = chunk.iter().map(|(_, _, patch, text)| Candidate {
                file: &patch.file,
                text,
                diff: &patch.diff,
                visited_by: None,
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
        cost,
        diff: unified_diff(path.as_bytes(), source, &text),
        edits,
        class: 0,
        class_size: 1,
        representative: true,
        code_differs: true,
        undefined: None,
        distinct: 0,
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

    const SOURCE: &[u8] = b"a = 1 << n;\nb = x;\nc = 1 << m;\n";

    fn patch(edit: Edit) -> Patch {
        Patch {
            file: "x.c".into(),
            line: 1,
            function: "f".into(),
            schema: "expression",
            cost: 2,
            diff: Vec::new(),
            edits: vec![edit],
            class: 1,
            class_size: 1,
            representative: true,
            code_differs: true,
            undefined: None,
            distinct: 0,
        }
    }

    fn replaced(from: usize, to: usize, text: &str) -> Patch {
        patch(Edit::replace(Span::new(from as u32, to as u32), text))
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
