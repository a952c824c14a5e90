//! Orders plausible candidates for the report by how likely each is meant.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use patchwright_csource::Function;
use patchwright_space::{HoleKind, Schema, delete_statement};
use patchwright_text::{Edit, LineMap, Span, apply_edits, unified_diff};

use crate::{
    change_text::{is_no_op, is_self_assignment, without_numbers},
    evasion::{empties, is_evasion},
    found::FoundClass,
    instrumented::{HoleEntry, Instrumented, SourceFile},
    likelihood::{Change, FunctionFacts, Traits, Weights, surprise::Habits},
    patch::{Patch, Rank},
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
    /// What its kind and its text tell.
    pub(crate) traits: Traits,
    /// How unlikely it is, in bits: see [`Weights::bits`], with what the tests say of its location.
    pub(crate) bits: f64,
    /// See [`is_evasion`].
    pub(crate) is_evasion: bool,
    /// Enough candidates before it differ from it in a number only, or are of the same location.
    is_crowd: bool,
}

/// Where candidates stand.
#[derive(Clone, Copy)]
pub(crate) struct Places<'f> {
    pub(crate) holes: &'f [HoleEntry],
    pub(crate) files: &'f [SourceFile],
    /// Failing tests crash.
    pub(crate) crash: bool,
    /// How likely changes are.
    pub(crate) weights: &'f Weights,
}

impl Instrumented {
    /// Returns what the order of patches needs to know of their places.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            holes: &self.holes,
            files: &self.files,
            crash: self.crash,
            weights: &self.weights,
        }
    }
}

impl Proposal<'_> {
    /// Returns the changed file, its text after the change, and the diff; `None` if nothing changes.
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

    /// Returns the indices of the tests that execute what the candidate changes, if that is known.
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

    /// Returns the function of the original file whose body the candidate changes, if it is one.
    pub(crate) fn function<'f>(&self, places: Places<'f>) -> Option<&'f Function> {
        let entry = &places.holes[self.found.entry];
        let is_local = self.found.is_local && self.found.header.is_none();
        is_local.then(|| &places.files[entry.file].unit.functions[entry.hole.function])
    }

    /// Converts it to a patch, for now the first of the first class.
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
            kind: match &entry.hole.kind {
                HoleKind::Choice(choice) if self.found.is_local => choice.name.clone(),
                _ => None,
            },
            cost: self.found.cost,
            diff,
            edits: vec![self.edit.clone().into_owned()],
            class: 1,
            class_size: self.found.count,
            representative: self.member == 0,
            code_differs: true,
            distinct: 0,
            undefined: None,
            proposal: None,
            rank: Rank {
                is_evasion: self.is_evasion,
                is_crowd: self.is_crowd,
                bits: self.bits,
                location: self.found.entry,
            },
            code: None,
        }
    }

    /// Whether it only takes a piece of the text out.
    pub(crate) fn takes_out(&self) -> bool {
        self.traits.takes_out
    }

    /// Returns how many of the program's words and signs the candidate changes.
    pub(crate) fn distance(&self) -> usize {
        self.traits.distance
    }

    /// Returns how many characters the text gains.
    pub(crate) fn growth(&self) -> i64 {
        self.traits.growth
    }
}

/// The number of candidates differing in a number only that are reported before all others. Tests cannot tell which of them is right, and more
/// would leave no room for anything else.
const NUMBERS_REPORTED: usize = 2;

/// So many of one location are reported before those of other locations.
const PATCHES_OF_LOCATION: usize = 4;

/// The most patches of one class in a report that has room for other classes.
pub(crate) const MEMBERS_REPORTED: usize = 4;

/// Of the nearness of a crash itself, what the function has in which it happens, and the statement that calls it.
const NEAR_CRASH: f64 = 0.45;

/// Of the nearness of a crash itself, so much makes a location one where it happens.
const AT_CRASH: f64 = 0.9;

/// Where tests crash, a change is so many bits less likely if it stands neither in the function that crashes nor where that is
/// called…
const FAR_FROM_CRASH: f64 = 3.0;

/// …and a condition of what crashes is so many bits likelier: two in three fixes of crashes are such.
const CONDITION_AT_CRASH: f64 = 2.0;

/// Candidates in the order of the report: the likeliest first, by [`Weights::bits`] and by where tests crash. The likeliest of a class is its first.
///
/// Of candidates that differ in a number only, all but the first [`NUMBERS_REPORTED`] come after everything else. So do those of one location
/// beyond [`PATCHES_OF_LOCATION`]. Behind them comes what keeps something from happening or from being seen
/// ([`is_evasion`]).
pub(crate) fn ranked<'f>(classes: &'f [FoundClass], places: Places<'_>) -> Vec<Proposal<'f>> {
    let Places {
        holes,
        files,
        crash,
        weights,
    } = places;
    let nearest = holes.iter().map(|hole| hole.nearness);
    let nearest = nearest.fold(0.0, f64::max);
    let mut facts: BTreeMap<(usize, usize), FunctionFacts<'_>> = BTreeMap::new();
    let mut habits: BTreeMap<usize, Arc<Habits<'_>>> = BTreeMap::new();
    let mut proposals: Vec<Proposal<'_>> = Vec::new();
    for (class, found) in classes.iter().enumerate() {
        let entry = &holes[found.entry];
        let unit = &files[entry.file].unit;
        let (_, source) = found.changed(holes, files);
        let facts = facts
            .entry((entry.file, entry.hole.function))
            .or_insert_with(|| {
                let habits = habits
                    .entry(entry.file)
                    .or_insert_with(|| Arc::new(Habits::of(&unit.source)));
                FunctionFacts::of(unit, &unit.functions[entry.hole.function])
                    .with_habits(Arc::clone(habits))
            });
        let is_local = found.is_local && found.header.is_none();
        // What is never executed is better not there, and so is what does nothing.
        let first = found.members.first().filter(|_| found.is_never);
        let never = first.and_then(|(edit, _)| Some((edit, deletion(places, entry, edit)?)));
        let each = found.members.iter().map(|(member_edit, schema)| {
            let deletion = match is_no_op(source, member_edit) && !crash {
                true => deletion(places, entry, member_edit),
                false => None,
            };
            (member_edit, schema, deletion)
        });
        let never = never.map(|(edit, deletion)| (edit, &Schema::Deletion, Some(deletion)));
        let mut members: Vec<Proposal<'_>> = each
            .chain(never)
            .map(|(member_edit, schema, deletion)| {
                // An empty branch nobody writes.
                let takes_out = deletion.as_ref().is_some_and(|edit| !empties(source, edit));
                let (edit, schema) = match deletion {
                    Some(deletion) => (Cow::Owned(deletion), &Schema::Deletion),
                    None => (Cow::Borrowed(member_edit), schema),
                };
                let of_location = match crash {
                    true => bits_of_location(entry.nearness, nearest, *schema),
                    false => 0.0,
                };
                let traits = facts.traits(Change {
                    source,
                    edit: &edit,
                    kind: *schema,
                    cost: found.cost,
                    is_local,
                    crash,
                });
                Proposal {
                    class,
                    found,
                    schema: *schema,
                    member: 0,
                    is_evasion: (!takes_out || found.is_never) && traits.is_evasion,
                    bits: weights.bits(&traits) + of_location,
                    traits,
                    is_crowd: false,
                    edit,
                    member_edit,
                }
            })
            .collect();
        members.sort_by(|a, b| a.bits.total_cmp(&b.bits));
        // Few members of a class are reported; what only takes something out is one of them.
        let taken_out = members.iter().position(Proposal::takes_out);
        if let Some(at) = taken_out.filter(|&at| at > 1) {
            let member = members.remove(at);
            members.insert(1, member);
        }
        for (number, member) in members.iter_mut().enumerate() {
            member.member = number;
        }
        proposals.extend(members);
    }
    proposals.sort_by(|a, b| {
        let by_bits = a.bits.total_cmp(&b.bits);
        a.is_evasion.cmp(&b.is_evasion).then(by_bits)
    });
    bring_deletions_forward(&mut proposals, places);
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

/// Returns how much less likely a change is because of its location, in bits, if failing tests crash.
pub(crate) fn bits_of_location(nearness: f64, nearest: f64, kind: Schema) -> f64 {
    let is_condition = matches!(kind, Schema::Guard | Schema::Refinement);
    if nearness < nearest * NEAR_CRASH {
        FAR_FROM_CRASH
    } else if is_condition && nearness >= nearest * AT_CRASH {
        -CONDITION_AT_CRASH
    } else {
        0.0
    }
}

/// If so many changes of one statement pass all tests, no test depends on the statement. Then its deletion is the simplest patch.
pub(crate) const WAYS_TO_DISFIGURE: usize = 4;

/// Puts a statement taken out before the first of many other changes of it.
fn bring_deletions_forward(proposals: &mut Vec<Proposal<'_>>, places: Places<'_>) {
    let file = |proposal: &Proposal<'_>| places.holes[proposal.found.entry].file;
    for at in 0..proposals.len() {
        let deletion = &proposals[at];
        let (_, source) = deletion.found.changed(places.holes, places.files);
        // What keeps memory from being freed is hardly ever meant.
        let is_plain = deletion.schema == Schema::Deletion
            && deletion.found.header.is_none()
            && !empties(source, &deletion.edit)
            && !is_evasion(source, &deletion.edit, Schema::Guard, places.crash);
        let statement = statement(places, &places.holes[deletion.found.entry], &deletion.edit);
        let Some((span, _)) = statement.filter(|_| is_plain) else {
            continue;
        };
        let changes = |other: &&Proposal<'_>| {
            !other.is_evasion
                && other.schema != Schema::Deletion
                && other.found.header.is_none()
                && file(other) == file(deletion)
                && span.contains_span(other.edit.span)
                // What is put before it leaves it as it is.
                && (other.edit.span.start > span.start
                    || !other.edit.span.is_empty()
                    || other.schema == Schema::Guard)
        };
        let others = proposals.iter().filter(changes).count();
        let first = proposals.iter().position(|other| changes(&other));
        if let Some(first) = first.filter(|first| *first < at && others >= WAYS_TO_DISFIGURE) {
            let mut deletion = proposals.remove(at);
            deletion.is_evasion = false;
            deletion.bits = proposals[first].bits;
            proposals.insert(first, deletion);
        }
    }
}

/// The statement that an edit changes taken out, if it can be.
fn deletion(places: Places<'_>, entry: &HoleEntry, edit: &Edit) -> Option<Edit> {
    let (span, is_body) = statement(places, entry, edit)?;
    let source = &places.files[entry.file].unit.source;
    Some(delete_statement(source, span, is_body))
}

/// The statement that an edit changes or takes out, and whether it stands alone where the grammar wants one.
fn statement(places: Places<'_>, entry: &HoleEntry, edit: &Edit) -> Option<(Span, bool)> {
    if let HoleKind::Guard { is_body, .. } = entry.hole.kind {
        return Some((entry.hole.span, is_body));
    }
    let around = places
        .holes
        .iter()
        .filter(|other| other.file == entry.file && other.hole.span.contains_span(edit.span));
    let guards = around.filter_map(|other| match other.hole.kind {
        HoleKind::Guard { is_body, .. } => Some((other.hole.span, is_body)),
        _ => None,
    });
    guards.min_by_key(|(span, _)| span.len())
}
