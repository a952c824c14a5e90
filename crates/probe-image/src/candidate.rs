//! The candidate of a hole, and the slots that it may read.

use patchwright_probe_abi::{FunctionId, HoleId, MAX_CODE, MAX_SLOTS, SlotDescriptor, SlotKind};
use patchwright_semantics::{Instruction, Ty};

/// A value that the probe reads at each visit of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The woven entry is the value in canonical form.
    Value(Ty),
    /// The value is read from memory; it is undefined when that cannot be read.
    Load(Load),
}

/// A safe read of memory at `value(base) + entry + offset + value(index) * scale`, where the woven entry is a signed
/// number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Type of the value in memory.
    pub ty: Ty,
    /// The earlier slot that holds the address.
    pub base: usize,
    /// An index that is itself the value of a slot.
    pub index: Option<Index>,
    /// Bytes added to the entry.
    pub offset: i64,
    /// Bytes of the object at the base; a read that does not lie in it is undefined.
    pub length: Option<u64>,
    /// Only these bits are read, the first of which the entry gives, in bits, not bytes. The length of the object does not count then.
    pub bits: Option<Bits>,
}

/// The bits of a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// How many, up to 32.
    pub width: u8,
    /// The last one is that of the sign.
    pub signed: bool,
}

/// An index into the array behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// The earlier slot that holds the index.
    pub slot: usize,
    /// Bytes that one step counts.
    pub scale: i64,
}

impl Slot {
    /// Returns the type of the slot's value.
    pub fn ty(&self) -> Ty {
        match self {
            Slot::Value(ty) => *ty,
            Slot::Load(load) => load.ty,
        }
    }
}

/// A candidate: the hole, its slots, and the code of the candidate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The hole.
    pub hole: HoleId,
    /// The function that has the hole.
    pub function: FunctionId,
    /// The slots, in the order of the entries that were woven into the source.
    pub slots: &'a [Slot],
    /// The term, compiled. Its value is the canonical value that the hole gets.
    pub code: &'a [Instruction],
}

/// Why a candidate exceeds what the probe can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CandidateError {
    /// More slots than the probe has room for.
    #[error("{hole} has {count} slots, more than {MAX_SLOTS}")]
    TooManySlots {
        /// The hole.
        hole: HoleId,
        /// Number of slots.
        count: usize,
    },
    /// More instructions than the probe has room for.
    #[error("the candidate at {hole} has {count} instructions, more than {MAX_CODE}")]
    TooMuchCode {
        /// The hole.
        hole: HoleId,
        /// Number of instructions.
        count: usize,
    },
    /// A load refers to itself, a later slot, or a slot of the wrong type.
    #[error(
        "slot {slot} of {hole} needs slot {needed}, which is no earlier slot of the right type"
    )]
    BadReference {
        /// The hole.
        hole: HoleId,
        /// The slot that loads.
        slot: usize,
        /// The slot that it refers to.
        needed: usize,
    },
    /// Loads through loads through loads, too deep for the probe.
    #[error("slot {slot} of {hole} lies behind more than 255 pointers")]
    TooDeep {
        /// The hole.
        hole: HoleId,
        /// The slot.
        slot: usize,
    },
}

impl Candidate<'_> {
    /// The slots as the probe wants them.
    pub(crate) fn descriptors(&self) -> Result<Vec<SlotDescriptor>, CandidateError> {
        let hole = self.hole;
        if self.slots.len() > MAX_SLOTS {
            let count = self.slots.len();
            return Err(CandidateError::TooManySlots { hole, count });
        }
        if self.code.len() > MAX_CODE {
            let count = self.code.len();
            return Err(CandidateError::TooMuchCode { hole, count });
        }
        let mut descriptors: Vec<SlotDescriptor> = Vec::with_capacity(self.slots.len());
        for (number, slot) in self.slots.iter().enumerate() {
            let ty = slot.ty() as u8;
            let Slot::Load(load) = slot else {
                descriptors.push(SlotDescriptor {
                    ty,
                    ..SlotDescriptor::VALUE
                });
                continue;
            };
            let depth_of = |needed: usize, right: fn(Ty) -> bool| {
                let good = needed < number && right(self.slots[needed].ty());
                good.then(|| descriptors[needed].depth)
                    .ok_or(CandidateError::BadReference {
                        hole,
                        slot: number,
                        needed,
                    })
            };
            let mut depth = depth_of(load.base, |ty| ty == Ty::Ptr)?;
            if let Some(index) = load.index {
                depth = depth.max(depth_of(index.slot, Ty::is_integer)?);
            }
            let Some(depth) = depth.checked_add(1) else {
                return Err(CandidateError::TooDeep { hole, slot: number });
            };
            let index = load
                .index
                .map_or(SlotDescriptor::NO_INDEX, |index| index.slot as u16);
            descriptors.push(SlotDescriptor {
                kind: match (load.bits, load.length) {
                    (Some(_), _) => SlotKind::LoadBits,
                    (None, Some(_)) => SlotKind::LoadBounded,
                    (None, None) => SlotKind::Load,
                },
                ty,
                depth,
                base: load.base as u16,
                index,
                offset: load.offset,
                scale: load.index.map_or(0, |index| index.scale),
                length: match load.bits {
                    Some(bits) => SlotDescriptor::length_of_bits(bits.width, bits.signed),
                    None => load.length.unwrap_or(0),
                },
            });
        }
        Ok(descriptors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(base: usize) -> Slot {
        Slot::Load(Load {
            ty: Ty::Ptr,
            base,
            index: None,
            offset: 0,
            length: None,
            bits: None,
        })
    }

    fn descriptors(slots: &[Slot]) -> Result<Vec<SlotDescriptor>, CandidateError> {
        let (hole, function, code) = (HoleId(7), FunctionId(0), &[][..]);
        Candidate {
            hole,
            function,
            slots,
            code,
        }
        .descriptors()
    }

    #[test]
    fn depth_counts_the_pointers_followed() {
        let descriptors = descriptors(&[Slot::Value(Ty::Ptr), load(0), load(1), load(0)]).unwrap();
        let depths: Vec<u8> = descriptors.iter().map(|slot| slot.depth).collect();
        assert_eq!(depths, [0, 1, 2, 1]);
    }

    #[test]
    fn a_load_through_a_later_slot_or_a_number_is_refused() {
        for slots in [
            [load(0), Slot::Value(Ty::Ptr)],
            [Slot::Value(Ty::I64), load(0)],
            [Slot::Value(Ty::Ptr), load(9)],
        ] {
            let error = descriptors(&slots).unwrap_err();
            assert!(matches!(
                error,
                CandidateError::BadReference {
                    hole: HoleId(7),
                    ..
                }
            ));
        }
    }

    #[test]
    fn too_many_slots_too_much_code_and_too_deep_loads_are_refused() {
        let slots = vec![Slot::Value(Ty::I32); MAX_SLOTS + 1];
        let error = descriptors(&slots).unwrap_err();
        assert!(matches!(error, CandidateError::TooManySlots { .. }));
        let code = vec![Instruction::default(); MAX_CODE + 1];
        let candidate = Candidate {
            hole: HoleId(7),
            function: FunctionId(0),
            slots: &[],
            code: &code,
        };
        let error = candidate.descriptors().unwrap_err();
        assert!(matches!(error, CandidateError::TooMuchCode { .. }));
        let mut slots = vec![Slot::Value(Ty::Ptr)];
        slots.extend((0..300).map(load));
        let error = descriptors(&slots).unwrap_err();
        assert_eq!(
            error,
            CandidateError::TooDeep {
                hole: HoleId(7),
                slot: 256
            }
        );
    }
}
