//! Patches that another program proposes while the search goes on: they are built and tested as what the search finds, and stand in the
//! same report.

use std::{collections::BTreeSet, path::Path};

use patchwright_csource::lex;
use patchwright_exec::{Project, Verdict, files};
use patchwright_text::{LineMap, line_edits, unified_diff};

use crate::{
    Event, RepairError, RepairOptions, RepairOutcome, Surroundings,
    changed_file::Candidate,
    check::{Beyond, check_all},
    equivalence::{Compilations, code_with},
    instrumented::Instrumented,
    patch::{Patch, Rank},
    plausibility::{Read, rank},
    prepare::Prepared,
    proposer::{Answer, FailingTest, FunctionText, Proposal, Proposals, State, Suspect, Task},
    rejection::Rejection,
};

/// The kind of change of what somebody has proposed.
const NAME: &str = "PROPOSED";

/// What changes something in a function that was not told stands behind what is known better.
const UNKNOWN: Rank = Rank {
    is_evasion: false,
    is_crowd: true,
    bits: f64::INFINITY,
    location: usize::MAX,
};

/// The largest number of suspicious lines that are told.
const MOST_SUSPECTS: usize = 40;

/// The largest number of functions that are told, those with the most suspicious lines.
const MOST_FUNCTIONS: usize = 5;

/// The largest number of failing tests that are told.
const MOST_TESTS: usize = 20;

/// What is needed to build and test proposals.
pub(crate) struct Bench<'b, 'a> {
    pub(crate) prepared: &'b Prepared,
    pub(crate) project: &'a Project,
    pub(crate) options: &'b RepairOptions,
    pub(crate) surroundings: &'b Surroundings<'a>,
}

impl Proposals {
    /// Tells the task, if that has not been done.
    pub(crate) fn begin(&self, prepared: &Prepared, instrumented: &Instrumented) {
        if !std::mem::replace(&mut self.state().begun, true) {
            let task = task(prepared, instrumented);
            let is_told = |file: &Path| task.functions.iter().any(|told| told.file == file);
            self.state().read = Read::all(instrumented, &is_told);
            self.proposer.begin(&task);
        }
    }

    /// Tries what is proposed, until nothing more is or `is_over` says so.
    pub(crate) fn work(&self, bench: &Bench<'_, '_>, is_over: &dyn Fn() -> bool) {
        let cancel = &bench.surroundings.cancel;
        let is_over = || is_over() || cancel.is_cancelled();
        while !is_over() && !self.state().ended {
            match self.proposer.next(bench.options.jobs.max(1), &is_over) {
                None => self.state().ended = true,
                Some(proposals) => {
                    if !self.try_all(bench, proposals) {
                        return;
                    }
                }
            }
        }
    }

    /// Finds out what machine code the compiler makes of what passes, by which equal patches are told.
    ///
    /// # Errors
    /// When texts cannot be compiled.
    pub(crate) fn compile(&self, bench: &Bench<'_, '_>) -> Result<(), RepairError> {
        let (project, surroundings) = (bench.project, bench.surroundings);
        let mut state = self.state();
        let State { passed, read, .. } = &mut *state;
        let mut compilations = None;
        for patch in passed.iter_mut().filter(|patch| patch.code.is_none()) {
            let Some(read) = read.iter().find(|read| read.file == patch.file) else {
                continue;
            };
            let compilations = match &mut compilations {
                Some(started) => started,
                none => none.insert(Compilations::start(
                    "compare-proposals",
                    bench.prepared,
                    project,
                    surroundings,
                )?),
            };
            let found = code_with(&patch.edits, &read.unit, &patch.file, compilations)?;
            if let Some((function, code)) = found {
                patch.function = function;
                patch.code = Some(code.to_string());
            }
        }
        compilations.map_or(Ok(()), Compilations::remove)
    }

    /// Answers what is still proposed when the run ends, and returns how much that is.
    pub(crate) fn dismiss(&self) -> usize {
        for proposal in self.proposer.left() {
            let mut state = self.state();
            match proposal.refusal {
                Some(_) => state.tried += 1,
                None => state.untried += 1,
            }
            drop(state);
            let answer = proposal.refusal.unwrap_or(Answer::NotTried);
            self.proposer.answer(&proposal.id, &answer);
        }
        self.state().untried
    }

    /// Tries some; whether there is time for more.
    fn try_all(&self, bench: &Bench<'_, '_>, proposals: Vec<Proposal>) -> bool {
        let root = bench.prepared.worker.sandbox.folder();
        let mut tried = Vec::new();
        for proposal in proposals {
            let answer = |answer: &Answer| self.proposer.answer(&proposal.id, answer);
            let source = match files::read(&root.join(&proposal.file)) {
                Ok(source) => source,
                Err(error) => {
                    answer(&Answer::DoesNotBuild {
                        message: error.to_string(),
                    });
                    continue;
                }
            };
            let path = proposal.file.to_string_lossy().into_owned();
            let diff = unified_diff(path.as_bytes(), &source, &proposal.text);
            if diff.is_empty() {
                answer(&Answer::Known { of: None });
                continue;
            }
            let mut state = self.state();
            let known = state.seen.iter().find(|(seen, _)| *seen == diff);
            if let Some((_, of)) = known {
                let of = Some(of.clone());
                drop(state);
                answer(&Answer::Known { of });
                continue;
            }
            state.seen.push((diff.clone(), proposal.id.clone()));
            if let Some(refusal) = &proposal.refusal {
                state.tried += 1;
                drop(state);
                answer(refusal);
                continue;
            }
            drop(state);
            let mut patch = patch(&proposal, &source, diff);
            let weights = &bench.options.weights;
            let read = self.state();
            let rank = rank(
                &read.read,
                &proposal.file,
                &proposal.text,
                patch.cost,
                weights,
            );
            drop(read);
            patch.rank = rank.unwrap_or(UNKNOWN);
            tried.push((proposal, patch));
        }
        let candidates: Vec<Candidate<'_>> = tried
            .iter()
            .map(|(proposal, patch)| Candidate {
                file: &proposal.file,
                text: &proposal.text,
                diff: &patch.diff,
                visited_by: None,
                function: None,
            })
            .collect();
        let quiet = |event: Event| {
            if let Event::Warning(_) = event {
                (bench.surroundings.events)(event);
            }
        };
        let results = check_all(
            "proposal",
            &candidates,
            bench.prepared,
            bench.project,
            &bench.surroundings.telling(&quiet),
            &Beyond {
                scrutinize: bench.options.scrutinize.then_some(bench.options),
                passes: &|_| {},
                hurries: false,
            },
        );
        let mut ended = false;
        for ((proposal, patch), result) in tried.into_iter().zip(results) {
            let checked = match result {
                Ok(checked) => checked,
                Err(error) => {
                    if !error.is_cancelled() && !ended {
                        (bench.surroundings.events)(Event::Warning(format!(
                            "proposals are not tried any more: {error}"
                        )));
                    }
                    ended = true;
                    let mut state = self.state();
                    state.ended |= !error.is_cancelled();
                    state.untried += 1;
                    drop(state);
                    self.proposer.answer(&proposal.id, &Answer::NotTried);
                    continue;
                }
            };
            let answer = match checked.rejection {
                Some(Rejection::Build(message)) => Answer::DoesNotBuild { message },
                Some(Rejection::Test {
                    test,
                    reason,
                    failure,
                }) => Answer::Fails {
                    test: FailingTest::of(&bench.prepared.suite.tests[test], failure),
                    message: reason,
                },
                None => {
                    let undefined = checked.undefined;
                    let patch = Patch {
                        undefined: undefined.clone(),
                        ..patch
                    };
                    let mut state = self.state();
                    state.unscrutinized += usize::from(checked.is_unscrutinized);
                    match undefined.is_some() {
                        true => state.undefined.push(patch),
                        false => {
                            state.passed.push(patch.clone());
                            drop(state);
                            (bench.surroundings.events)(Event::Passed {
                                patch: Box::new(patch),
                                is_scrutinized: bench.options.scrutinize
                                    && !checked.is_unscrutinized,
                            });
                        }
                    }
                    Answer::Passes { undefined }
                }
            };
            self.state().tried += 1;
            self.proposer.answer(&proposal.id, &answer);
        }
        !ended
    }

    /// Adds what passes to a report, as many as the search's own at most, each before what is less likely ([`Rank`]). What the search has found as well is only named there; patches with
    /// undefined behaviour are reported if there are no others.
    pub(crate) fn join(&self, outcome: &mut RepairOutcome, options: &RepairOptions) {
        let state = self.state();
        outcome.stats.proposals = Some((state.tried, state.passed.len() + state.undefined.len()));
        outcome.stats.unscrutinized += state.unscrutinized;
        let without_others = outcome.patches.is_empty() && state.passed.is_empty();
        let more = match without_others {
            true => &state.undefined[..],
            false => &[],
        };
        let most = match (options.first, options.all) {
            (true, _) => 1,
            (_, true) => usize::MAX,
            _ => options.max_patches,
        };
        let mut proposed: Vec<&Patch> = state.passed.iter().chain(more).collect();
        proposed.sort_by(|a, b| a.rank.order(&b.rank).then(a.cost.cmp(&b.cost)));
        outcome.stats.is_full |= proposed.len() > most;
        for proposed in proposed.into_iter().take(most) {
            let mut own = outcome.patches.iter_mut();
            if let Some(own) = own.find(|own| own.diff == proposed.diff) {
                own.proposal.clone_from(&proposed.proposal);
                continue;
            }
            let at = outcome
                .patches
                .iter()
                .position(|own| proposed.rank.order(&own.rank).is_lt());
            let at = at.unwrap_or(outcome.patches.len());
            outcome.patches.insert(at, proposed.clone());
        }
        if options.first {
            outcome.patches.truncate(1);
        }
        let mut classes: BTreeSet<usize> = outcome.patches.iter().map(|own| own.class).collect();
        let all = &mut outcome.patches;
        for at in 0..all.len() {
            if all[at].class > 0 {
                continue;
            }
            let same = all.iter().find(|other| is_same(other, &all[at]));
            let Some(same) = same.map(|same| same.class) else {
                // No other is known to be the same program: it is a class of its own.
                let class = classes.last().map_or(1, |last| last + 1);
                all[at].class = class;
                classes.insert(class);
                continue;
            };
            all[at].class = same;
            all[at].representative = false;
            all[at].code_differs = false;
            let members = all.iter().filter(|other| other.class == same);
            let size = members.map(|other| other.class_size).max();
            let size = size.unwrap_or_default() + 1;
            for other in all.iter_mut().filter(|other| other.class == same) {
                other.class_size = size;
            }
        }
    }
}

/// Whether the compiler makes the same code of a proposal as of a patch whose class is known.
fn is_same(known: &Patch, proposed: &Patch) -> bool {
    let place = |patch: &Patch| (patch.file.clone(), patch.function.clone());
    known.class > 0
        && known.code.is_some()
        && known.code == proposed.code
        && place(known) == place(proposed)
}

/// A proposal as a patch.
fn patch(proposal: &Proposal, source: &[u8], diff: Vec<u8>) -> Patch {
    let edits = line_edits(source, &proposal.text);
    let lines = LineMap::new(source);
    let cost: usize = edits
        .iter()
        .map(|edit| {
            let old = String::from_utf8_lossy(&source[edit.span.range()]);
            tokens_changed(&old, &String::from_utf8_lossy(&edit.text))
        })
        .sum();
    Patch {
        file: proposal.file.clone(),
        line: edits.first().map_or(1, |edit| lines.line(edit.span.start)),
        function: String::new(),
        schema: NAME,
        kind: None,
        cost: u32::try_from(cost).unwrap_or(u32::MAX),
        diff,
        edits,
        class: 0,
        class_size: 1,
        representative: true,
        code_differs: true,
        undefined: None,
        distinct: 0,
        proposal: Some(proposal.id.clone()),
        rank: UNKNOWN,
        code: None,
    }
}

/// How many words and signs lie between the first and the last that differ, in the text that has more of them there.
fn tokens_changed(old: &str, new: &str) -> usize {
    let words = |text: &str| -> Vec<String> {
        let text = lex::without_comments(text);
        let tokens = lex::tokens(&text).into_iter();
        tokens.map(|(token, _)| token.to_owned()).collect()
    };
    let (old, new) = (words(old), words(new));
    let least = old.len().min(new.len());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind = old.iter().rev().zip(new.iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    old.len().max(new.len()) - before - behind.min(least - before)
}

/// What is known when the search begins.
fn task(prepared: &Prepared, instrumented: &Instrumented) -> Task {
    let failing = prepared.failing.iter().take(MOST_TESTS).map(|&test| {
        let failure = match &prepared.baseline.tests[test].verdict {
            Verdict::Fail(why) => Some(why.clone()),
            Verdict::Pass => None,
        };
        FailingTest::of(&prepared.suite.tests[test], failure)
    });
    let holes = &instrumented.holes;
    let whole = (0..holes.len()).filter(|&at| !holes[at].is_partial);
    let mut order: Vec<usize> = whole.collect();
    order.sort_by(|&a, &b| {
        let order = instrumented.holes[a].by_suspicion(&instrumented.holes[b]);
        order.then(a.cmp(&b))
    });
    let (mut seen, mut suspects, mut functions) = (BTreeSet::new(), Vec::new(), Vec::new());
    for hole in order.into_iter().map(|at| &instrumented.holes[at]) {
        if suspects.len() >= MOST_SUSPECTS || !seen.insert((hole.file, hole.line)) {
            continue;
        }
        let file = &instrumented.files[hole.file];
        let function = &file.unit.functions[hole.hole.function];
        suspects.push(Suspect {
            file: file.relative.clone(),
            line: hole.line,
            function: function.name.clone(),
            suspiciousness: hole.suspiciousness,
        });
        let is_told =
            |told: &FunctionText| told.file == file.relative && told.name == function.name;
        if functions.len() < MOST_FUNCTIONS && !functions.iter().any(is_told) {
            let source = &file.unit.source;
            functions.push(FunctionText {
                file: file.relative.clone(),
                line: LineMap::new(source).line(function.span.start),
                name: function.name.clone(),
                text: String::from_utf8_lossy(&source[function.span.range()]).into_owned(),
            });
        }
    }
    Task {
        failing: failing.collect(),
        passing: prepared.passing.len(),
        suspects,
        functions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proposal_changes_is_counted_in_words_and_signs() {
        assert_eq!(tokens_changed("if (a > b)", "if (a >= b)"), 1);
        assert_eq!(tokens_changed("x = 1;", "x = 1; // one"), 0);
        assert_eq!(tokens_changed("", "if (p)"), 4);
        assert_eq!(tokens_changed("f(a, a);", "f(a);"), 2);
    }
}
