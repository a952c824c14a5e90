//! Locals that nothing but the calls below their function can get at.
//!
//! A local in memory whose address is in no object of static storage, on no heap and in no hands of unknown functions is
//! *private*: who wants to touch it must have been given a way to it by arguments. So a call has an effect on a private
//! local only if its arguments lead there; and where a function is not given ways to its own locals of earlier
//! activations, each of its activations sees only its own, although it is recursive.

use patchwright_ir::{LocalId, LocalKind, Program, RoutineId, Value};
use rustc_hash::FxHashMap;

use crate::{
    bits::Bits,
    call_graph::{CallGraph, CallSite},
    points_to::{Location, LocationId, PointsTo},
};

/// Which locals are private, and which of them each call may touch.
#[derive(Debug)]
pub(crate) struct Private {
    private: Bits,
    /// Private locals of which each activation sees its own.
    own: Bits,
    /// For each call, the private locals that its arguments lead to.
    given: FxHashMap<(RoutineId, u32, u32), Bits>,
}

impl Private {
    pub(crate) fn of(program: &Program, points_to: &PointsTo, calls: &CallGraph) -> Private {
        let count = points_to.location_count() as u32;
        let is_local = |id: u32| {
            matches!(
                points_to.location(LocationId(id)),
                Location::Local(..) | Location::Rest(_)
            )
        };
        let mut locals: Bits = (0..count).filter(|&id| is_local(id)).collect();
        // What each location leads to, at last.
        let mut leads: Vec<Bits> = (0..count)
            .map(|id| points_to.in_location(LocationId(id)).clone())
            .collect();
        loop {
            let mut changed = false;
            for id in 0..count as usize {
                let mut set = std::mem::take(&mut leads[id]);
                for next in set.clone().iter() {
                    if next as usize != id {
                        changed |= set.union(&leads[next as usize]);
                    }
                }
                leads[id] = set;
            }
            if !changed {
                break;
            }
        }
        for id in 0..count {
            if !is_local(id) {
                locals = locals.without(&leads[id as usize]);
            }
        }
        let private = locals;
        let from = |pointed: &Bits| -> Bits {
            let mut all = pointed.clone();
            for id in pointed.iter() {
                all.union(&leads[id as usize]);
            }
            all.intersection(&private)
        };
        let mut given = FxHashMap::default();
        let mut own = private.clone();
        for routine in program.routine_ids() {
            let Some(function) = program.body(routine) else {
                continue;
            };
            for site in calls.sites(routine) {
                let block = function.block(site.block);
                let instruction = &block.instructions[site.position as usize];
                let mut pointed = Bits::default();
                for operand in instruction.operands() {
                    if !matches!(operand.value, Value::Constant { .. }) {
                        pointed.union(&points_to.of_operand(program, routine, operand));
                    }
                }
                given.insert(key(routine, site), from(&pointed));
            }
            // Ways that its callers gave it.
            let mut handed = Bits::default();
            for index in 0..function.parameters.len() {
                let local = LocalId(index as u32);
                handed.union(match function.local(local).kind {
                    LocalKind::Register(_) => points_to.of_register(routine, local),
                    LocalKind::Memory { .. } => {
                        match points_to.find(Location::Local(routine, local)) {
                            Some(id) => points_to.in_location(id),
                            None => continue,
                        }
                    }
                });
            }
            if let Some(rest) = points_to.find(Location::Rest(routine)) {
                handed.union(points_to.in_location(rest));
            }
            let handed = from(&handed);
            for id in handed.iter() {
                let of = match points_to.location(LocationId(id)) {
                    Location::Local(of, _) | Location::Rest(of) => of,
                    _ => continue,
                };
                if of == routine {
                    own.remove(id);
                }
            }
        }
        Private {
            private,
            own,
            given,
        }
    }

    /// Each activation of its function sees only its own, and none once it has returned.
    pub(crate) fn is_own(&self, id: LocationId) -> bool {
        self.own.contains(id.0)
    }

    /// What of the effects of a routine that a call calls is an effect of the call.
    pub(crate) fn through(&self, routine: RoutineId, site: &CallSite, effects: &Bits) -> Bits {
        let hidden = match self.given.get(&key(routine, site)) {
            Some(given) => self.private.without(given),
            None => return effects.clone(),
        };
        effects.without(&hidden)
    }
}

fn key(routine: RoutineId, site: &CallSite) -> (RoutineId, u32, u32) {
    (routine, site.block.0, site.position)
}
