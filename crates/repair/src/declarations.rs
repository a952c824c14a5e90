//! The kind DECLARATION: another type, a larger array, another first number, another element of a table,
//! another body of a macro.
//!
//! A declaration decides about the code of everything that uses it. So an execution of one changed program says nothing about another,
//! and there are no classes. Each candidate is built by itself in a copy of the untouched program, and tested.
//!
//! That is slow, so there are few such candidates. They are tried only when nothing cheap was found, or half of the time is over.
//! Two kinds come earlier: parentheses that a macro lacks, and changes for which failing tests give [`evidence`].

mod edits;
mod evidence;
mod follow;
mod macros;
mod tables;
pub(crate) mod tried;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use patchwright_csource::lex;
use patchwright_exec::{Project, files, included_files};
use patchwright_space::Schema;
use patchwright_text::{apply_edits, unified_diff};

use crate::{
    Event, RepairError,
    changed_file::Candidate,
    check::{Beyond, check_all},
    found::{FoundClass, Header},
    instrumented::SourceFile,
    likely,
    search::Search,
};
use evidence::Expected;
use tried::{DeclarationTurn, Tried};

/// When this share of the time is over without a patch, changes of declarations come before the other candidates of their cost. They are
/// few, and the others would take the rest of the time.
const LATEST_DECLARATIONS: f64 = 0.5;

/// The share of a budget that changes of declarations get while other candidates are left. Each costs a build, and few mistakes are in
/// declarations.
const SHARE: f64 = 0.125;

/// The largest number of changed declarations that are built.
const MOST_BUILDS: usize = 96;

impl Search<'_> {
    /// Tries changes of declarations if they are still to be tried, and returns whether they were. `is_last` says that there is nothing
    /// else to try. Cancelling interrupts the search.
    ///
    /// # Errors
    /// When copies cannot be made or run.
    pub(crate) fn take_turn(
        &mut self,
        project: &Project,
        which: DeclarationTurn,
        is_last: bool,
    ) -> Result<bool, RepairError> {
        let waits = is_last && self.declarations_left.contains_key(&which);
        if self.found.interrupted || !waits && !self.wants_declarations(which) {
            return Ok(false);
        }
        match self.try_declarations(project, which, is_last) {
            Err(error) if error.is_cancelled() => self.found.interrupted = true,
            tried => tried?,
        }
        Ok(true)
    }

    /// Whether so much of the time is over and nothing has been found that what is left of a cost has to wait for changes of
    /// declarations.
    pub(crate) fn declarations_are_due(&self) -> bool {
        let share = match self.is_surveyed() {
            true => likely::SHARE,
            false => LATEST_DECLARATIONS,
        };
        self.wants_declarations(DeclarationTurn::Others) && self.is_over_for(share)
    }

    /// Whether changes of declarations are still to be tried: nothing has been found, and no whole space is explored, which is a measurement.
    fn wants_declarations(&self, which: DeclarationTurn) -> bool {
        self.options.schemas.declarations
            && self.options.max_cost >= which.cost()
            && !self.declarations_tried.contains(&which)
            && !self.options.all
            && !self.options.relations.is_singly()
            && self.found.classes.is_empty()
    }

    /// Builds and tests changes of declarations, the likeliest first, up to the first ones that are plausible.
    ///
    /// # Errors
    /// When copies cannot be made or run.
    fn try_declarations(
        &mut self,
        project: &Project,
        which: DeclarationTurn,
        is_last: bool,
    ) -> Result<(), RepairError> {
        let tried = match self.declarations_left.remove(&which) {
            Some(left) => left,
            None => {
                self.declarations_tried.push(which);
                let mut tried = self.declarations(which);
                let left_out = tried.len().saturating_sub(MOST_BUILDS);
                self.found.stats.declarations_left_out += left_out as u64;
                tried.truncate(MOST_BUILDS);
                tried
            }
        };
        let most = tried.len();
        let mut rest = &tried[..];
        while !rest.is_empty() && self.found.classes.is_empty() && !self.is_over() {
            if !is_last && self.share_is_used() {
                break;
            }
            let started = Instant::now();
            let (batch, others) = rest.split_at(rest.len().min(self.options.jobs.max(1)));
            rest = others;
            (self.surroundings.events)(Event::Declarations {
                done: most - rest.len() - batch.len(),
                total: most,
            });
            let candidates: Vec<Candidate<'_>> = batch
                .iter()
                .map(|tried| Candidate {
                    file: &tried.file,
                    text: &tried.text,
                    diff: &tried.diff,
                    visited_by: None,
                    function: None,
                })
                .collect();
            let results = check_all(
                "declaration",
                &candidates,
                self.prepared,
                project,
                self.surroundings,
                &Beyond::TRIED,
            );
            let taken = started.elapsed().as_millis() as u64;
            self.prepared
                .declaration_time
                .fetch_add(taken, Ordering::Relaxed);
            self.found.stats.candidates += batch.len() as u64;
            for (tried, result) in batch.iter().zip(results) {
                let checked = result?;
                self.found.stats.explored += 1;
                self.found.stats.declarations += 1;
                self.found.stats.executions += checked.executions;
                if checked.rejection.is_some() {
                    continue;
                }
                self.found.stats.plausible += 1;
                self.keep_plausible(FoundClass {
                    entry: tried.entry,
                    cost: which.cost(),
                    count: 1,
                    members: vec![(tried.change.edit.clone(), Schema::Declaration)],
                    shared: None,
                    is_local: tried.change.is_local,
                    is_never: false,
                    header: tried.header.clone(),
                });
            }
        }
        let done = most - rest.len();
        let left: Vec<Tried> = tried.into_iter().skip(done).collect();
        if !left.is_empty() {
            self.declarations_left.insert(which, left);
        }
        Ok(())
    }

    /// Whether changes of declarations have had their share of the time, in all rounds together.
    fn share_is_used(&self) -> bool {
        let taken = self.prepared.declaration_time.load(Ordering::Relaxed);
        let share = self.options.budget.map(|budget| budget.mul_f64(SHARE));
        share.is_some_and(|share| Duration::from_millis(taken) >= share)
    }

    /// The changes of what the functions at the locations declare and mention: those of more suspicious functions first, of each the
    /// likelier ones first.
    fn declarations(&self, which: DeclarationTurn) -> Vec<Tried> {
        let whole = (0..self.holes.len()).filter(|&at| !self.holes[at].is_partial);
        let mut order: Vec<usize> = whole.collect();
        order.sort_by(|&a, &b| {
            let order = self.holes[a].by_suspicion(&self.holes[b]);
            order.then(a.cmp(&b))
        });
        let mut functions: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut headers: BTreeMap<usize, Vec<Arc<Header>>> = BTreeMap::new();
        let mut found: Vec<Tried> = Vec::new();
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
        for entry in order {
            let hole = &self.holes[entry];
            if !functions.insert((hole.file, hole.hole.function)) {
                continue;
            }
            let file = &self.files[hole.file];
            let function = &file.unit.functions[hole.hole.function];
            let source = &file.unit.source;
            let headers = headers
                .entry(hole.file)
                .or_insert_with(|| self.headers(file));
            let own_words = lex::words(&source[function.span.range()]);
            let mut named: BTreeSet<String> = own_words.into_iter().collect();
            let texts = headers.iter().map(|header| &header.text);
            for text in texts.chain([source]) {
                macros::name_what_is_used(text, &mut named);
            }
            let in_file = |header: Option<&Header>| {
                let text = header.map_or(source, |header| &header.text);
                if which == DeclarationTurn::Parentheses {
                    return macros::parentheses(text, &named);
                }
                let mut changes = match header {
                    Some(header) => edits::sizes_of_members(&header.text, function),
                    None => edits::changes(&file.unit, function),
                };
                changes.extend(macros::macros(text, &named));
                changes
            };
            let mut in_files = vec![(None, in_file(None))];
            in_files.extend(
                headers
                    .iter()
                    .map(|header| (Some(header), in_file(Some(header)))),
            );
            for (header, changes) in in_files {
                let (path, source) = match header {
                    Some(header) => (&header.relative, &header.text),
                    None => (&file.relative, source),
                };
                for change in changes {
                    let Ok(text) = apply_edits(source, std::slice::from_ref(&change.edit)) else {
                        continue;
                    };
                    let diff = unified_diff(path.to_string_lossy().as_bytes(), source, &text);
                    if !diff.is_empty() && seen.insert(diff.clone()) {
                        found.push(Tried {
                            entry,
                            file: path.clone(),
                            header: header.cloned(),
                            change,
                            text,
                            diff,
                        });
                    }
                }
            }
        }
        let expected = Expected::of(self.suite, &self.failing, self.crash);
        let evidence = |tried: &Tried| tried.change.evidence;
        let is_shown = |tried: &Tried| evidence(tried).is_some_and(|shown| expected.has(shown));
        match which {
            DeclarationTurn::Parentheses => {}
            DeclarationTurn::Shown => found.retain(is_shown),
            // Those have been tried.
            DeclarationTurn::Others => {
                let tried = self.declarations_tried.contains(&DeclarationTurn::Shown);
                found.retain(|one| !(tried && is_shown(one)));
            }
        }
        found.sort_by_key(|tried| tried.change.rank);
        let numbered = found.into_iter().enumerate();
        let own = |number: usize| self.options.shard.is_none_or(|shard| shard.has(number));
        let own = numbered.filter(|(number, _)| own(*number));
        own.map(|(_, tried)| tried).collect()
    }

    /// The files that a source includes, itself or in turn.
    fn headers(&self, file: &SourceFile) -> Vec<Arc<Header>> {
        let sandbox = &self.prepared.worker.sandbox;
        let paths = included_files(&self.prepared.commands, sandbox, &file.relative).into_iter();
        let read = paths.filter_map(|relative| {
            let text = files::read(&sandbox.folder().join(&relative)).ok()?;
            Some(Arc::new(Header { relative, text }))
        });
        read.collect()
    }
}
