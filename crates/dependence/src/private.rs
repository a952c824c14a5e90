//! Finds private locals, which only the calls below their function can reach.
//!
//! A local in memory is *private* if its address is in no static object, not on the heap and not known to unknown functions. Then
//! only functions whose arguments lead to it can touch it. So a call affects a private local only if its arguments lead
//! there. A recursive function whose arguments do not lead to locals of earlier activations sees only its own.

use patchwright_ir::{LocalId, LocalKind, Program, RoutineId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    bits::Bits,
    call_graph::{CallGraph, CallSite},
    points_to::{Location, PointsTo, Sparse},
};

/// Which locals are private, and which of them each call may touch.
#[derive(Debug)]
pub(crate) struct Private {
    /// The parts of private locals.
    private: Bits,
    /// Private locals of which each activation sees its own.
    own: FxHashSet<Location>,
    /// For each call, the parts of private locals that its arguments lead to.
    given: FxHashMap<(RoutineId, u32, u32), Bits>,
}

impl Private {
    /// Finds the locals whose address does not leave the activation and its callees.
    pub(crate) fn of(program: &Program, points_to: &PointsTo, calls: &CallGraph) -> Private {
        let bases = points_to.bases();
        let is_local = |id: u32| {
            let location = bases[id as usize];
            matches!(location, Location::Local(..) | Location::Rest(_))
        };
        let count = bases.len() as u32;
        let mut private: Bits = (0..count).filter(|&id| is_local(id)).collect();
        let leads = closure(points_to.held_bases());
        for id in (0..count).filter(|&id| !is_local(id)) {
            private = private.without(&leads[id as usize]);
        }
        let from = |pointers: &Sparse| -> Bits {
            let mut all = points_to.bases_of(pointers);
            for id in all.clone().iter() {
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
                let mut pointers = Sparse::default();
                for operand in instruction.operands() {
                    pointers.union(&points_to.of_operand(program, routine, operand));
                }
                let parts = points_to.parts_of(&from(&pointers));
                given.insert(key(routine, site), parts);
            }
            // Ways that its callers gave it.
            let mut handed = Sparse::default();
            for index in 0..function.parameters.len() {
                let local = LocalId(index as u32);
                match function.local(local).kind {
                    LocalKind::Register(_) => {
                        handed.union(points_to.of_register(routine, local));
                    }
                    LocalKind::Memory { .. } => {
                        let parts = points_to.parts(Location::Local(routine, local));
                        handed.union(&points_to.held_in(&parts.map(|id| id.0).collect()));
                    }
                }
            }
            let rest = points_to.parts(Location::Rest(routine));
            handed.union(&points_to.held_in(&rest.map(|id| id.0).collect()));
            for id in from(&handed).iter() {
                if let Location::Local(of, _) | Location::Rest(of) = bases[id as usize]
                    && of == routine
                {
                    own.remove(id);
                }
            }
        }
        Private {
            own: own.iter().map(|id| bases[id as usize]).collect(),
            private: points_to.parts_of(&private),
            given,
        }
    }

    /// Each activation of its function sees only its own, and none once it has returned.
    pub(crate) fn is_own(&self, local: Location) -> bool {
        self.own.contains(&local)
    }

    /// Returns the part of a callee's effects that is an effect of the call in the caller.
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

/// All that is reached in any number of steps.
fn closure(mut leads: Vec<Bits>) -> Vec<Bits> {
    loop {
        let mut changed = false;
        for id in 0..leads.len() {
            let mut set = std::mem::take(&mut leads[id]);
            for next in set.clone().iter() {
                if next as usize != id {
                    changed |= set.union(&leads[next as usize]);
                }
            }
            leads[id] = set;
        }
        if !changed {
            return leads;
        }
    }
}
