//! What is going to be verified, and in which order: no candidate twice, and none that changes nothing.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
    sync::{Mutex, PoisonError},
};

use patchwright_csource::Function;
use patchwright_exec::Project;
use patchwright_space::{HoleKind, Schema, delete_statement};
use patchwright_text::{Edit, LineMap, apply_edits, unified_diff};

use crate::{
    RepairError, RepairOptions, Surroundings,
    change_text::{
        Comparisons, is_early_step, is_evasion, is_no_op, is_offset, is_self_assignment,
        names_number, repeats, size_of_change, without_numbers,
    },
    check::at_once,
    equivalence::{Code, Compilations, alone},
    found::{Found, FoundClass},
    instrument::{HoleEntry, Instrumented, SourceFile},
    names::{is_unmentioned, names},
    outcome::Patch,
    prepare::Prepared,
};

/// A plausible candidate, ready to be verified.
#[derive(Clone)]
pub(crate) struct Proposal<'a> {
    pub(crate) class: usize,
    pub(crate) found: &'a FoundClass,
    pub(crate) edit: Cow<'a, Edit>,
    /// The edit that was found, which may do the same in a longer way.
    pub(crate) member_edit: &'a Edit,
    pub(crate) schema: Schema,
    /// Its place in the class.
    pub(crate) member: usize,
    /// See [`Comparisons::strangeness`].
    strangeness: usize,
    /// See [`repeats`].
    repeats: bool,
    /// See [`is_unmentioned`].
    is_unmentioned: bool,
    /// See [`is_early_step`].
    is_early_step: bool,
    /// See [`is_new_number`].
    is_new_number: bool,
    /// See [`is_offset`].
    is_offset: bool,
    /// See [`names_number`].
    names_number: bool,
    /// See [`size_of_change`].
    size_of_change: usize,
    /// See [`is_evasion`].
    pub(crate) is_evasion: bool,
    /// Enough candidates before it differ from it in a number only, or are of the same location.
    is_crowd: bool,
}

/// From this cost on an expression is calculated in a new way.
const CALCULATED_COST: u32 = 3;

/// Where candidates stand.
#[derive(Clone, Copy)]
pub(crate) struct Places<'f> {
    pub(crate) holes: &'f [HoleEntry],
    pub(crate) files: &'f [SourceFile],
    /// Failing tests crash.
    pub(crate) crash: bool,
}

impl Instrumented {
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            holes: &self.holes,
            files: &self.files,
            crash: self.crash,
        }
    }
}

impl Proposal<'_> {
    /// The changed file, its text and what changes in it; `None` if nothing does.
    pub(crate) fn applied<'f>(
        &'f self,
        places: Places<'f>,
    ) -> Option<(&'f Path, Vec<u8>, Vec<u8>)> {
        let (file, before) = self.found.changed(places.holes, places.files);
        if is_self_assignment(before, &self.edit) {
            return None;
        }
        let text = apply_edits(before, std::slice::from_ref(&*self.edit)).ok()?;
        let diff = unified_diff(file.to_string_lossy().as_bytes(), before, &text);
        (!diff.is_empty()).then_some((file, text, diff))
    }

    /// By index, the tests that execute what it changes, if that is known.
    pub(crate) fn visited_by<'f>(&self, places: Places<'f>) -> Option<&'f BTreeSet<usize>> {
        match self.schema {
            // What is declared elsewhere changes there, too.
            Schema::Declaration => None,
            _ => {
                let visited = &places.holes[self.found.entry].visited_by;
                self.found.is_local.then_some(visited)
            }
        }
    }

    /// The function of the file as it was in whose body it changes something, if it is one.
    pub(crate) fn function<'f>(&self, places: Places<'f>) -> Option<&'f Function> {
        let entry = &places.holes[self.found.entry];
        let is_local = self.found.is_local && self.found.header.is_none();
        is_local.then(|| &places.files[entry.file].unit.functions[entry.hole.function])
    }

    /// It as a patch, as yet the first one of the first class.
    pub(crate) fn patch(&self, places: Places<'_>, diff: Vec<u8>) -> Patch {
        let entry = &places.holes[self.found.entry];
        let (changed, text) = self.found.changed(places.holes, places.files);
        let functions = &places.files[entry.file].unit.functions;
        Patch {
            file: changed.to_path_buf(),
            line: LineMap::new(text).line(self.edit.span.start),
            function: match self.found.is_local {
                true => functions[entry.hole.function].name.clone(),
                false => String::new(),
            },
            schema: self.schema.name(),
            cost: self.found.cost,
            diff,
            edits: vec![self.edit.clone().into_owned()],
            class: 1,
            class_size: self.found.count,
            representative: self.member == 0,
            code_differs: true,
            distinct: 0,
            undefined: None,
        }
    }

    /// Whether it only takes a piece of the text out.
    fn takes_out(&self, places: Places<'_>) -> bool {
        let (_, source) = self.found.changed(places.holes, places.files);
        let (before, after) = (&source[self.edit.span.range()], &self.edit.text[..]);
        let same = |(a, b): &(&u8, &u8)| a == b;
        let begin = before.iter().zip(after).take_while(same).count();
        let end = before.iter().rev().zip(after.iter().rev());
        after.len() < before.len() && begin + end.take_while(same).count() >= after.len()
    }

    /// How many characters the text gains.
    fn growth(&self) -> isize {
        self.edit.text.len() as isize - self.edit.span.len() as isize
    }

    /// It calculates something new in place of what was there: of two things that nobody joined before, something fits any tests. The lesser
    /// or the greater of what was there and something else is no such thing.
    fn is_calculated(&self) -> bool {
        let is_choice = self.edit.text.contains(&b'?');
        self.schema == Schema::Expression && self.found.cost >= CALCULATED_COST && !is_choice
    }
}

/// So many members of a class are compiled, to see how many programs they are.
const MEMBERS_COMPILED: usize = 6;

/// So many texts are compiled at most for that, over all classes.
const MOST_COMPILED: usize = 300;

/// With so many bytes less a text is shorter than another one; `> 17` is not for `>= 18`.
const SHORTER_BY: isize = 3;

/// So many later candidates with a shorter text are compiled for each that is proposed.
const SHORTER_COMPILED: usize = 6;

/// So many candidates that differ in a number only are reported before all others: which of them is right nobody can tell, and
/// they would leave no room for anything else.
const NUMBERS_REPORTED: usize = 2;

/// So many of one location are reported before those of other locations.
const PATCHES_OF_LOCATION: usize = 4;

/// Most patches of one class in a report that has room for other classes.
const MEMBERS_REPORTED: usize = 4;

/// Of the nearness of a crash itself, what the function has in which it happens, and the statement that calls it.
const NEAR_CRASH: f64 = 0.45;

/// The order of the report: cost, and one more where tests crash and it is neither in that function nor where it is called; less drastic changes before more drastic ones (moved statements after what changes
/// values, numbers but 1 that are added to something after these, and exits last); what people rarely change after what they do (numbers as conditions, signs, casts), and so what then has one
/// operand twice; what names only what the function mentions before what does not; the first of each class before the others, and for that what compares things that the function compares elsewhere, or
/// others in the same way, and what keeps a condition and adds to it; what calculates something new after what does not; such
/// comparisons before others; steps at the end of a block before others; numbers of the function, or the next one, before others and before variables in their place; another operator before other changes, and fewer bytes of text before more; kind of change; the order of the search.
/// Of those that differ in a number only, all but the first [`NUMBERS_REPORTED`] come after everything else, as those of one location beyond
/// [`PATCHES_OF_LOCATION`], and after them what keeps something from happening or from being seen ([`is_evasion`]).
pub(crate) fn ranked<'f>(classes: &'f [FoundClass], places: Places<'_>) -> Vec<Proposal<'f>> {
    let Places {
        holes,
        files,
        crash,
    } = places;
    let mut comparisons: BTreeMap<(usize, usize), Comparisons> = BTreeMap::new();
    let mut mentioned: BTreeMap<(usize, usize), BTreeSet<&[u8]>> = BTreeMap::new();
    let mut proposals: Vec<Proposal<'_>> = Vec::new();
    for (class, found) in classes.iter().enumerate() {
        let entry = &holes[found.entry];
        let unit = &files[entry.file].unit;
        let (_, source) = found.changed(holes, files);
        let comparisons = comparisons
            .entry((entry.file, entry.hole.function))
            .or_insert_with(|| Comparisons::of(&unit.source, &unit.functions[entry.hole.function]));
        let mentioned = mentioned
            .entry((entry.file, entry.hole.function))
            .or_insert_with(|| {
                let text = &unit.source[unit.functions[entry.hole.function].span.range()];
                names(text).into_iter().collect()
            });
        let mut members: Vec<Proposal<'_>> = found
            .members
            .iter()
            .map(|(member_edit, schema)| {
                // What does nothing is better not there.
                let deletion = match is_no_op(source, member_edit) && !crash {
                    true => deletion(places, entry, member_edit),
                    false => None,
                };
                let takes_out = deletion.is_some();
                let (edit, schema) = match deletion {
                    Some(deletion) => (Cow::Owned(deletion), &Schema::Deletion),
                    None => (Cow::Borrowed(member_edit), schema),
                };
                let before = &source[edit.span.range()];
                Proposal {
                    class,
                    found,
                    schema: *schema,
                    member: 0,
                    strangeness: comparisons.strangeness(before, &edit.text),
                    repeats: repeats(source, &edit),
                    is_unmentioned: is_unmentioned(mentioned, before, &edit.text),
                    is_early_step: is_early_step(source, &edit),
                    is_new_number: is_new_number(
                        &unit.source[unit.functions[entry.hole.function].span.range()],
                        before,
                        &edit.text,
                    ),
                    is_offset: *schema == Schema::Expression && is_offset(before, &edit.text),
                    names_number: names_number(before, &edit.text),
                    size_of_change: size_of_change(before, &edit.text),
                    is_evasion: !takes_out && is_evasion(source, &edit, *schema, crash),
                    is_crowd: false,
                    edit,
                    member_edit,
                }
            })
            .collect();
        members.sort_by_key(|member| {
            let keeps_condition = member.schema == Schema::Refinement;
            (
                member.is_unmentioned,
                member.strangeness,
                member.repeats,
                !keeps_condition,
            )
        });
        // Few members of a class are reported; what only takes something out is one of them.
        let taken_out = members.iter().position(|member| member.takes_out(places));
        if let Some(at) = taken_out.filter(|&at| at > 1) {
            let member = members.remove(at);
            members.insert(1, member);
        }
        for (number, member) in members.iter_mut().enumerate() {
            member.member = number;
        }
        proposals.extend(members);
    }
    let nearness = |found: &FoundClass| holes[found.entry].nearness;
    let nearest = holes.iter().map(|hole| hole.nearness);
    let nearest = nearest.fold(0.0, f64::max);
    let is_far = |found: &FoundClass| crash && nearness(found) < nearest * NEAR_CRASH;
    proposals.sort_by_key(|proposal| {
        // After what is moved, before what leaves early.
        let drasticness = proposal.schema.drasticness();
        let drastic = (
            drasticness.max(u32::from(proposal.is_offset)),
            proposal.is_offset,
        );
        (
            proposal.is_evasion,
            proposal.found.cost + u32::from(is_far(proposal.found)),
            drastic,
            proposal.schema == Schema::UnusualExpression || proposal.repeats,
            (proposal.is_unmentioned, proposal.member),
            proposal.is_calculated(),
            proposal.strangeness,
            proposal.is_early_step,
            proposal.is_new_number || proposal.names_number,
            proposal.size_of_change,
            proposal.schema,
            proposal.class,
        )
    });
    let mut alike: BTreeMap<(usize, Vec<u8>), usize> = BTreeMap::new();
    let mut of_location: BTreeMap<usize, usize> = BTreeMap::new();
    for proposal in &mut proposals {
        let entry = proposal.found.entry;
        let count = alike
            .entry((entry, without_numbers(&proposal.edit.text)))
            .or_default();
        *count += 1;
        let is_alike = *count > NUMBERS_REPORTED;
        // Those that differ in a number only do not keep others away.
        let at_location = of_location.entry(entry).or_default();
        *at_location += usize::from(!is_alike && !proposal.is_evasion);
        proposal.is_crowd = is_alike || *at_location > PATCHES_OF_LOCATION;
    }
    proposals.sort_by_key(|proposal| (proposal.is_evasion, proposal.is_crowd));
    proposals
}

/// Whether a number comes in that the function mentions nowhere, and that is not one more or less than one that goes.
fn is_new_number(function: &[u8], before: &[u8], after: &[u8]) -> bool {
    let numbers = |text: &[u8]| -> Vec<i64> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.';
        let words = text.split(|byte| !is_word(byte));
        words
            .filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
            .collect()
    };
    let (gone, known) = (numbers(before), numbers(function));
    numbers(after).into_iter().any(|new| {
        let is_near = gone.iter().any(|old| old.abs_diff(new) <= 1);
        new > 1 && !is_near && !known.contains(&new)
    })
}

/// The statement that an edit changes taken out, if it can be.
fn deletion(places: Places<'_>, entry: &HoleEntry, edit: &Edit) -> Option<Edit> {
    let around = places
        .holes
        .iter()
        .filter(|other| other.file == entry.file && other.hole.span.contains_span(edit.span));
    let guards = around.filter_map(|other| match other.hole.kind {
        HoleKind::Guard { is_body, .. } => Some((other.hole.span, is_body)),
        _ => None,
    });
    let (span, is_body) = guards.min_by_key(|(span, _)| span.len())?;
    let source = &places.files[entry.file].unit.source;
    Some(delete_statement(source, span, is_body))
}

/// A candidate to verify.
pub(crate) struct Proposed<'f> {
    /// It.
    pub(crate) proposal: Proposal<'f>,
    /// Its file's text.
    pub(crate) text: Vec<u8>,
    /// Its diff.
    pub(crate) diff: Vec<u8>,
    /// The compiler makes other code of it than of the untouched program and of all that were proposed before.
    pub(crate) code_differs: bool,
    /// See [`crate::Patch::distinct`].
    pub(crate) distinct: usize,
}

/// What is known of the code of a function.
struct Codes {
    /// What makes declarations of all other functions; empty if they are compiled, too.
    alone: Vec<Edit>,
    /// Of the untouched program.
    original: Option<Code>,
    /// Of what was proposed.
    proposed: Vec<Code>,
}

/// So many proposals are compiled ahead.
const AHEAD: usize = 8;

/// A text of a source, and the function whose code is wanted if it is one.
#[derive(PartialEq, Eq, Hash)]
struct Compiled {
    file: usize,
    wanted: Option<usize>,
    text: Vec<u8>,
}

impl Compiled {
    fn compile(
        &self,
        instrumented: &Instrumented,
        compilations: &mut Compilations,
    ) -> Result<Option<Code>, RepairError> {
        let file = &instrumented.files[self.file];
        let name = self
            .wanted
            .map(|function| &file.unit.functions[function].name);
        compilations.code(&file.relative, &self.text, name.map(String::as_str))
    }
}

/// The candidates to verify, best first.
pub(crate) struct Selection<'f> {
    proposals: std::vec::IntoIter<Proposal<'f>>,
    instrumented: &'f Instrumented,
    /// Diffs that were proposed.
    seen: BTreeSet<Vec<u8>>,
    /// Where texts are compiled, several at the same time.
    compilations: Vec<Compilations>,
    /// The code of what was compiled ahead.
    ahead: HashMap<Compiled, Option<Code>>,
    /// What is known of the code of each function, by file and number.
    codes: BTreeMap<(usize, usize), Codes>,
    duplicates: usize,
    compiled: usize,
    all: bool,
    /// Classes of which a member was proposed.
    represented: BTreeSet<usize>,
}

impl<'f> Selection<'f> {
    /// Ranks what was found. Of a whole space there is one candidate for each class.
    ///
    /// # Errors
    /// When the copy in which texts are compiled cannot be made.
    pub(crate) fn new<'a>(
        found: &'f Found,
        instrumented: &'f Instrumented,
        prepared: &Prepared,
        project: &'a Project,
        options: &RepairOptions,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let mut proposals = ranked(&found.classes, instrumented.places());
        proposals.retain(|proposal| proposal.member < MEMBERS_REPORTED);
        let copies = match options.first || options.all {
            true => 1,
            false => options.jobs.max(1),
        };
        let copies = copies.min(proposals.len());
        let compilations = (0..copies)
            .map(|number| {
                let name = format!("compare-{number}");
                Compilations::start(&name, prepared, project, surroundings)
            })
            .collect::<Result<_, RepairError>>()?;
        Ok(Selection {
            proposals: proposals.into_iter(),
            instrumented,
            seen: BTreeSet::new(),
            compilations,
            ahead: HashMap::new(),
            codes: BTreeMap::new(),
            duplicates: 0,
            compiled: 0,
            all: options.all,
            represented: BTreeSet::new(),
        })
    }

    /// The next candidate.
    ///
    /// # Errors
    /// When texts cannot be compiled.
    pub(crate) fn next(&mut self) -> Result<Option<Proposed<'f>>, RepairError> {
        loop {
            self.compile_ahead()?;
            let Some(mut proposal) = self.proposals.next() else {
                return Ok(None);
            };
            if self.all && self.represented.contains(&proposal.class) {
                continue;
            }
            let Some((_, mut text, mut diff)) = proposal.applied(self.instrumented.places()) else {
                continue;
            };
            if !self.seen.insert(diff.clone()) {
                continue;
            }
            // What stands outside of the function may change the code of others.
            let code = match proposal.found.is_local {
                true => self.code(proposal.found.entry, &proposal.edit)?,
                false => None,
            };
            if let Some(code) = &code {
                let known = self.codes(proposal.found.entry)?;
                // Of what an uninitialised variable holds, the compiler may assume that it is zero.
                let is_original = known.original.as_ref() == Some(code)
                    && proposal.schema != Schema::Initialization;
                if is_original || known.proposed.contains(code) {
                    self.duplicates += 1;
                    continue;
                }
                known.proposed.push(code.clone());
                if let Some(shorter) = self.shorter(&proposal, code)? {
                    let applied = shorter.applied(self.instrumented.places());
                    let applied = applied.map(|(_, text, diff)| (text, diff));
                    if let Some(applied) = applied {
                        proposal = shorter;
                        (text, diff) = applied;
                        self.seen.insert(diff.clone());
                        self.duplicates += 1;
                    }
                }
            }
            let distinct = self.distinct(&proposal, code.as_ref())?;
            self.represented.insert(proposal.class);
            return Ok(Some(Proposed {
                proposal,
                text,
                diff,
                code_differs: code.is_some(),
                distinct,
            }));
        }
    }

    /// Of the candidates that come later, cost at most one more and have the same code, that which leaves the least text: `n = a;` for
    /// `n += a - n;`.
    fn shorter(
        &mut self,
        proposal: &Proposal<'f>,
        code: &Code,
    ) -> Result<Option<Proposal<'f>>, RepairError> {
        if self.all {
            return Ok(None);
        }
        let holes = &self.instrumented.holes;
        let place = |proposal: &Proposal<'_>| {
            let entry = &holes[proposal.found.entry];
            (entry.file, entry.hole.function)
        };
        let later = self.proposals.as_slice().iter().filter(|other| {
            other.found.is_local
                && other.found.cost <= proposal.found.cost + 1
                && place(other) == place(proposal)
                && other.growth() + SHORTER_BY <= proposal.growth()
        });
        let mut later: Vec<Proposal<'f>> = later.cloned().collect();
        let places = self.instrumented.places();
        later.sort_by_key(|other| {
            let is_other = other.class != proposal.class;
            (is_other, !other.takes_out(places), other.growth())
        });
        later.truncate(SHORTER_COMPILED);
        let mut found: Option<Proposal<'f>> = None;
        for other in later {
            let is_shortest = found
                .as_ref()
                .is_none_or(|best| other.growth() < best.growth());
            if is_shortest && self.code(other.found.entry, &other.edit)?.as_ref() == Some(code) {
                found = Some(other);
            }
        }
        Ok(found)
    }

    /// Removes the copy; how many candidates were the same as the untouched program or as another one.
    ///
    /// # Errors
    /// When the copy cannot be removed.
    pub(crate) fn finish(&mut self) -> Result<usize, RepairError> {
        for compilations in std::mem::take(&mut self.compilations) {
            compilations.remove()?;
        }
        Ok(self.duplicates)
    }

    /// What is known of the code of the function that a hole is in.
    fn codes(&mut self, entry: usize) -> Result<&mut Codes, RepairError> {
        let instrumented = self.instrumented;
        let hole = &instrumented.holes[entry];
        let key = (hole.file, hole.hole.function);
        if !self.codes.contains_key(&key) {
            let file = &instrumented.files[hole.file];
            let mut alone = alone(&file.unit, hole.hole.function);
            let mut original = self.compiled(entry, &alone, None)?;
            if original.is_none() {
                alone.clear();
                original = self.compiled(entry, &alone, None)?;
            }
            let proposed = Vec::new();
            let codes = Codes {
                alone,
                original,
                proposed,
            };
            self.codes.insert(key, codes);
        }
        Ok(self.codes.get_mut(&key).expect("it has just been added"))
    }

    /// The code of a candidate.
    fn code(&mut self, entry: usize, edit: &Edit) -> Result<Option<Code>, RepairError> {
        let alone = self.codes(entry)?.alone.clone();
        self.compiled(entry, &alone, Some(edit))
    }

    /// The code of a function with an edit, or without one.
    fn compiled(
        &mut self,
        entry: usize,
        alone: &[Edit],
        edit: Option<&Edit>,
    ) -> Result<Option<Code>, RepairError> {
        let Some(wanted) = self.text(entry, alone, edit) else {
            return Ok(None);
        };
        if let Some(known) = self.ahead.get(&wanted) {
            return Ok(known.clone());
        }
        match self.compilations.first_mut() {
            Some(compilations) => wanted.compile(self.instrumented, compilations),
            None => Ok(None),
        }
    }

    /// What is compiled for the code of a function with an edit, or without one.
    fn text(&self, entry: usize, alone: &[Edit], edit: Option<&Edit>) -> Option<Compiled> {
        let edits: Vec<Edit> = alone.iter().chain(edit).cloned().collect();
        let hole = &self.instrumented.holes[entry];
        let file = &self.instrumented.files[hole.file];
        let text = apply_edits(&file.unit.source, &edits).ok()?;
        Some(Compiled {
            file: hole.file,
            wanted: (!alone.is_empty()).then_some(hole.hole.function),
            text,
        })
    }

    /// Compiles what the next proposals are told apart by, several at the same time.
    fn compile_ahead(&mut self) -> Result<(), RepairError> {
        if self.compilations.len() < 2 {
            return Ok(());
        }
        let next = self.proposals.as_slice().iter();
        let next = next.filter(|proposal| proposal.found.is_local).take(AHEAD);
        let next: Vec<Proposal<'f>> = next.cloned().collect();
        let mut wanted: Vec<Compiled> = Vec::new();
        for (number, proposal) in next.iter().enumerate() {
            let entry = proposal.found.entry;
            let alone = self.codes(entry)?.alone.clone();
            let text = self.text(entry, &alone, Some(&proposal.edit));
            let is_known = |text: &Compiled| self.ahead.contains_key(text) || wanted.contains(text);
            match text.filter(|text| !is_known(text)) {
                Some(text) => wanted.push(text),
                // What comes next is there.
                None if number == 0 => return Ok(()),
                None => {}
            }
        }
        let instrumented = self.instrumented;
        let free = Mutex::new(std::mem::take(&mut self.compilations));
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = lock().len();
        let codes = at_once(jobs, &wanted, |_, wanted| {
            let own = lock().pop();
            let Some(mut own) = own else {
                return Ok(None);
            };
            let code = wanted.compile(instrumented, &mut own);
            lock().push(own);
            code
        });
        self.compilations = free.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (wanted, code) in wanted.into_iter().zip(codes) {
            self.ahead.insert(wanted, code?);
        }
        Ok(())
    }

    /// How many programs the first members of a candidate's class are, where a whole space is reported.
    fn distinct(
        &mut self,
        proposal: &Proposal<'f>,
        code: Option<&Code>,
    ) -> Result<usize, RepairError> {
        let Some(code) = code.filter(|_| self.all && proposal.found.members.len() > 1) else {
            return Ok(0);
        };
        let mut codes = vec![code.clone()];
        for (edit, _) in proposal
            .found
            .members
            .iter()
            .skip(1)
            .take(MEMBERS_COMPILED - 1)
        {
            if self.compiled == MOST_COMPILED {
                return Ok(0);
            }
            self.compiled += 1;
            if let Some(code) = self.code(proposal.found.entry, edit)?
                && !codes.contains(&code)
            {
                codes.push(code);
            }
        }
        Ok(codes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_if_the_function_does_not_mention_it_or_the_one_beside() {
        let function = b"{ if (n == 0) n = -5; return n / 10 + x7; }";
        for (before, after, is_new) in [
            ("5", "9", true),
            ("5", "10", false),
            ("-5", "-10", false),
            ("5", "6", false),
            ("5", "7", true),
            ("n", "7", true),
            ("n", "n + 3", true),
            ("n", "n + 10", false),
        ] {
            let found = is_new_number(function, before.as_bytes(), after.as_bytes());
            assert_eq!(found, is_new, "{before} {after}");
        }
    }
}
