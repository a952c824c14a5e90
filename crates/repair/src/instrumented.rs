//! The instrumented program with its locations.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use patchwright_csource::{ExprId, Refusal, TranslationUnit};
use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_space::{
    Form, Hole, HoleKind, Leaves, Parents, Schema, Slot, SlotSource, TermTypes,
};
use patchwright_weave::{FunctionId, HoleId};

use crate::{likelihood::Weights, unchangeable::UnchangeableThings};

/// A source file that has locations.
pub struct SourceFile {
    /// Relative to the project's root.
    pub relative: PathBuf,
    /// What is known of it.
    pub unit: TranslationUnit,
    /// The types of its terms.
    pub types: TermTypes,
    /// The parents of each function's expressions.
    pub parents: Vec<Parents>,
}

/// A hole with its leaves, and the tests that visit it.
pub struct HoleEntry {
    /// Its file.
    pub file: usize,
    /// The hole.
    pub hole: Hole,
    /// What terms at the hole are made of.
    pub leaves: Leaves,
    /// The expression, for holes that are one.
    pub expr: Option<ExprId>,
    /// Its number in the program.
    pub id: HoleId,
    /// The number of its function.
    pub function: FunctionId,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// File and line, for messages.
    pub place: String,
    /// Tests that visit it, by index.
    pub visited_by: BTreeSet<usize>,
    /// Not all failing tests visit it, so a change of it alone mends nothing. It is one for changes of two places.
    pub is_partial: bool,
    /// How near it is to where failing tests crash, from 0 to 1.
    pub nearness: f64,
    /// The suspicion of the most suspicious statement or operand that the location holds or stands in, by the tests that
    /// execute it. It is 0 where the program is not localized.
    pub held: f64,
    /// How suspicious it is, from 0 to 1.
    pub suspiciousness: f64,
    /// The place of its statement among all that failing tests execute, the most suspicious first; 0 where the program is not localized.
    pub order: usize,
}

impl HoleEntry {
    /// Whether the hole counts for `--locations`. Holes with few candidates (alternatives or exits)
    /// belong to their statement and do not count.
    pub fn is_counted(&self) -> bool {
        !matches!(self.hole.kind, HoleKind::Choice(_) | HoleKind::Exit(_))
    }

    /// Whether all that it has are first values (INITIALIZATION).
    pub(crate) fn begins(&self) -> bool {
        let HoleKind::Choice(choice) = &self.hole.kind else {
            return false;
        };
        let mut alternatives = choice.alternatives.iter();
        alternatives.all(|alternative| alternative.schema == Schema::Initialization)
    }

    /// Orders the more suspicious location first. Locations that only failing tests reach may all have the highest suspicion:
    /// of these the one nearer to the crash is first.
    pub(crate) fn by_suspicion(&self, other: &HoleEntry) -> std::cmp::Ordering {
        let order = other.suspiciousness.total_cmp(&self.suspiciousness);
        order.then(other.nearness.total_cmp(&self.nearness))
    }

    /// Whether it is a statement that can be moved.
    pub(crate) fn moves(&self) -> bool {
        match &self.hole.kind {
            HoleKind::Choice(choice) => matches!(choice.form, Form::Moved(_)),
            _ => false,
        }
    }

    /// Whether it declares variables without a value.
    pub(crate) fn declares(&self) -> bool {
        match &self.hole.kind {
            HoleKind::Choice(choice) => matches!(choice.form, Form::After { .. }),
            _ => false,
        }
    }
}

/// The instrumented program with all its holes.
pub struct Instrumented {
    /// Files with locations.
    pub files: Vec<SourceFile>,
    /// Holes that all failing tests visit, in order of file and place.
    pub holes: Vec<HoleEntry>,
    /// Number of holes in the files that were read, as far as they are selected.
    pub holes_in_all: usize,
    /// What was left out because it is less suspicious.
    pub left_out: LeftOut,
    /// Workers with copies of the instrumented build, each with its channel.
    pub workers: Vec<(Worker, Channel)>,
    /// Where the probe is.
    pub probe: PathBuf,
    /// What has no location, and why.
    pub left_alone: LeftAlone,
    /// Passing tests that the instrumented program fails: they are only used for verification.
    pub set_aside: BTreeSet<usize>,
    /// What the bytes of variables without a value hold, if that has to be a pattern.
    pub unset: Option<u8>,
    /// Failing tests crash.
    pub crash: bool,
    /// How likely changes are.
    pub weights: Arc<Weights>,
}

/// The functions and changes without locations, by reason.
#[derive(Clone, Debug, Default)]
pub struct LeftAlone {
    /// Functions, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Changes that schemas would make of calls, declarations and statements, by reason.
    pub changes: BTreeMap<&'static str, usize>,
    /// Expressions and statements that differ between the ways a source is compiled.
    pub disagreements: usize,
    /// What no schema changes.
    pub unchangeable: UnchangeableThings,
}

impl LeftAlone {
    /// Why there is no location at all.
    pub(crate) fn reason(&self) -> String {
        match self.refused.keys().next() {
            // Some of these are sentences; most go on from what they are about.
            Some(reason) if reason.starts_with("its ") || reason.starts_with("a ") => {
                reason.clone()
            }
            Some(reason) => format!("what is there {reason}"),
            None if self.disagreements > 0 => {
                format!("what is there {}", Refusal::Ambiguous.reason())
            }
            None => "nothing there is an expression or statement that a schema changes".to_owned(),
        }
    }
}

/// The parts that a repair skips because they are less suspicious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// Locations that all failing tests visit, beyond the wanted number.
    pub locations: usize,
    /// Of how many locations, those that are looked at included.
    pub of_locations: usize,
    /// Statements that all failing tests execute in which no location was looked for.
    pub statements: usize,
    /// Of how many statements.
    pub of_statements: usize,
}

impl LeftOut {
    /// Whether nothing was skipped.
    pub fn is_empty(&self) -> bool {
        self.locations == 0 && self.statements == 0
    }
}

/// Converts the slots of a hole for the probe.
pub fn probe_slots(slots: &[Slot]) -> Vec<patchwright_probe_image::Slot> {
    slots
        .iter()
        .map(|slot| match slot.source {
            SlotSource::Value => patchwright_probe_image::Slot::Value(slot.ty),
            SlotSource::Load {
                base,
                index,
                length,
                bits,
            } => patchwright_probe_image::Slot::Load(patchwright_probe_image::Load {
                ty: slot.ty,
                base,
                index: index.map(|(slot, scale)| patchwright_probe_image::Index { slot, scale }),
                offset: 0,
                length,
                bits: bits.map(|bits| patchwright_probe_image::Bits {
                    width: bits.width,
                    signed: bits.signed,
                }),
            }),
        })
        .collect()
}
