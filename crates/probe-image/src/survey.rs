//! Surveys of the original program: the holes to look at, and the states that a run reports.

use crate::candidate::{Candidate, CandidateError, Slot};
use crate::channel::write_code;
use crate::watch;
use patchwright_probe_abi::{
    self as abi, FunctionId, HoleId, MAX_SURVEY_CODE, SlotDescriptor,
    window::{CUT_SHORT, MAX_LOCATIONS, MAX_WATCHED_SLOTS, PlaceWord},
};
use patchwright_semantics::Instruction;
use std::sync::atomic::Ordering;

/// A hole to survey, with its slots and the code of its original value.
#[derive(Clone, Copy, Debug)]
pub struct SurveyedHole<'a> {
    /// The hole.
    pub hole: HoleId,
    /// Its slots, in the order of the entries that were woven into the source.
    pub slots: &'a [Slot],
    /// What gives the original's value there, compiled.
    pub original: &'a [Instruction],
}

/// The states that a run has logged at a surveyed hole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The hole was visited.
    pub is_visited: bool,
    /// There were more states, or more visits, than a process looks at.
    pub is_cut: bool,
    /// The distinct states: the values of the slots, for every slot 1 when it is undefined, and the original's value.
    pub states: Vec<(Vec<u64>, Vec<u8>, u64)>,
}

/// Returns how many of these holes, from the first on, fit into one survey.
pub fn surveys_at_once(holes: &[SurveyedHole<'_>]) -> usize {
    let (mut slots, mut code) = (0, 0);
    let fits = holes.iter().take(MAX_LOCATIONS).take_while(|hole| {
        slots += hole.slots.len();
        code += hole.original.len();
        slots <= MAX_WATCHED_SLOTS && code <= MAX_SURVEY_CODE
    });
    fits.count()
}

/// Writes the request; the number of slots of each hole.
pub(crate) fn write(
    channel: abi::Channel<'_>,
    holes: &[SurveyedHole<'_>],
) -> Result<Vec<usize>, CandidateError> {
    let count: usize = holes.iter().map(|hole| hole.slots.len()).sum();
    if surveys_at_once(holes) < holes.len() {
        let hole = HoleId(u32::MAX);
        return Err(CandidateError::TooManySlots { hole, count });
    }
    let mut words = channel.slots().chunks_exact(SlotDescriptor::WORDS);
    let mut code = Vec::new();
    for (hole, word) in holes.iter().zip(channel.locations()) {
        let descriptors = Candidate {
            hole: hole.hole,
            function: FunctionId(0),
            slots: hole.slots,
            code: hole.original,
        }
        .descriptors()?;
        for descriptor in &descriptors {
            for (word, value) in words.next().unwrap_or(&[]).iter().zip(descriptor.encode()) {
                word.store(value, Ordering::Relaxed);
            }
        }
        code.extend_from_slice(hole.original);
        let place = PlaceWord {
            hole: hole.hole.0,
            slots: descriptors.len() as u16,
            code: hole.original.len() as u16,
        };
        word.store(place.encode(), Ordering::Relaxed);
    }
    write_code(channel, &code);
    let header = channel.header();
    header
        .location_count
        .store(holes.len() as u64, Ordering::Relaxed);
    for (field, value) in [
        (&header.hole, u32::MAX),
        (&header.function, u32::MAX),
        (&header.slot_count, count as u32),
        (&header.code_length, code.len() as u32),
    ] {
        field.store(value, Ordering::Relaxed);
    }
    Ok(holes.iter().map(|hole| hole.slots.len()).collect())
}

/// Reads what a run has reported, hole by hole.
pub(crate) fn read(
    channel: abi::Channel<'_>,
    generation: u32,
    slot_counts: &[usize],
    holes: &[SurveyedHole<'_>],
) -> Vec<Seen> {
    let logged = watch::read(channel, generation, slot_counts);
    // What a process was killed over, or what there was no room for, may be a state of any hole.
    let is_cut = logged.overflow || logged.mismatch;
    let coverage = channel.coverage();
    let mut seen: Vec<Seen> = holes
        .iter()
        .map(|hole| {
            let byte = coverage.get(hole.hole.0 as usize);
            let byte = byte.map_or(0, |byte| byte.load(Ordering::Relaxed));
            Seen {
                is_visited: byte != 0,
                is_cut: is_cut || byte == CUT_SHORT,
                states: Vec::new(),
            }
        })
        .collect();
    for state in logged.states {
        if let (Some(seen), Some(value)) = (seen.get_mut(state.location), state.result) {
            seen.states.push((state.values, state.undefined, value));
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_semantics::Ty;

    #[test]
    fn a_run_surveys_as_many_holes_as_its_sections_hold() {
        let slots = [Slot::Value(Ty::I32); 100];
        let code = [Instruction::slot(0)];
        let hole = SurveyedHole {
            hole: HoleId(0),
            slots: &slots,
            original: &code,
        };
        assert_eq!(surveys_at_once(&[hole; 5]), 5);
        assert_eq!(surveys_at_once(&[hole; 2000]), MAX_WATCHED_SLOTS / 100);
        let few = SurveyedHole {
            slots: &slots[..1],
            ..hole
        };
        assert_eq!(surveys_at_once(&vec![few; 2000]), MAX_LOCATIONS);
    }
}
