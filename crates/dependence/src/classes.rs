//! Locations that no instruction tells apart.
//!
//! Two parts of memory are one class if every instruction that may touch one may touch the other in the same way. For a
//! dependence graph they are the same: the edges of one are also those of the other. Programs with few kinds of large
//! structures on the heap have far fewer such classes than parts. A class is stood for by one of its members, so what an
//! instruction touches is cut down to those. Locals of different routines, or of one, stay apart: they have lifetimes of their
//! own.

use patchwright_ir::{InstructionKind, TerminatorKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    bits::Bits,
    effects::{Facts, aggregate_source, result_place},
    points_to::{Location, LocationId},
};

/// The members that stand for their classes; `facts` tells all parts apart.
pub(crate) fn representatives(facts: Facts<'_>, unknown: &Bits) -> Bits {
    let mut partition = Partition::new(facts);
    partition.split(unknown);
    for routine in facts.program.routine_ids() {
        let Some(function) = facts.program.body(routine) else {
            continue;
        };
        for id in function.block_ids() {
            let block = function.block(id);
            for (position, instruction) in block.instructions.iter().enumerate() {
                let place = (id, position as u32);
                let effects = facts.of_instruction(routine, place, instruction, unknown);
                partition.split(&effects.reads);
                partition.split(&effects.writes);
                partition.split(&effects.overwrites);
                if let Some((writes, overwrites)) = result_place(facts, routine, instruction) {
                    partition.split(&writes);
                    partition.split(&overwrites);
                }
                if let InstructionKind::Call { arguments, .. } = &instruction.kind {
                    for argument in arguments {
                        if let Type::Aggregate { size } = argument.ty {
                            let from = aggregate_source(facts, routine, argument.value, size);
                            partition.split(&from);
                        }
                    }
                }
            }
            if let TerminatorKind::Return(Some(value)) = block.terminator.kind
                && let Type::Aggregate { size } = function.result
            {
                partition.split(&aggregate_source(facts, routine, value, size));
            }
        }
    }
    partition.representatives()
}

/// Classes of parts, split by sets until each set consists of whole classes.
struct Partition {
    class: Vec<u32>,
    classes: u32,
    done: FxHashSet<Bits>,
}

impl Partition {
    fn new(facts: Facts<'_>) -> Partition {
        let mut numbers: FxHashMap<Option<Location>, u32> = FxHashMap::default();
        let count = facts.points_to.location_count() as u32;
        let class = (0..count)
            .map(|id| {
                let location = facts.points_to.location(LocationId(id));
                let key = match location {
                    Location::Object(_) | Location::Allocated(..) => None,
                    other => Some(other),
                };
                let next = numbers.len() as u32;
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        Partition {
            class,
            classes: numbers.len() as u32,
            done: FxHashSet::default(),
        }
    }

    fn split(&mut self, set: &Bits) {
        if set.is_empty() || self.done.contains(set) {
            return;
        }
        let mut inside: FxHashMap<u32, u32> = FxHashMap::default();
        for id in set.iter() {
            let class = &mut self.class[id as usize];
            let classes = &mut self.classes;
            *class = *inside.entry(*class).or_insert_with(|| {
                *classes += 1;
                *classes - 1
            });
        }
        self.done.insert(set.clone());
    }

    fn representatives(&self) -> Bits {
        let mut known: FxHashSet<u32> = FxHashSet::default();
        let ids = self.class.iter().enumerate();
        ids.filter(|&(_, &class)| known.insert(class))
            .map(|(id, _)| id as u32)
            .collect()
    }
}
