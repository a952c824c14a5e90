//! Finds jumps that kept instructions from being executed.

use patchwright_ir::RoutineId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Recorder,
    instance::{Instance, NONE},
};
use crate::{
    bits::Bits,
    control::{Control, Decider},
    graph::{Vertex, VertexId},
};

/// The jumps of an execution. Without one, control would have gone on behind it.
///
/// Where an instruction is in a slice, its line stands in the program that the slice leaves. A jump that led past it belongs to the
/// slice as well, or the line would be executed once more.
pub(super) struct Jumps {
    /// For the end of each segment and each activation, the instances at which control jumped there.
    taken: FxHashMap<(RoutineId, u32, u32), Vec<Instance>>,
    /// For the end of each segment, the last one.
    last: FxHashMap<(RoutineId, u32), Instance>,
    /// The segments that were asked for, of each activation.
    seen: FxHashSet<(u32, RoutineId, u32)>,
}

impl Jumps {
    /// Collects the jumps of a recorded execution.
    pub(super) fn of(recorder: &Recorder<'_, '_>) -> Jumps {
        let mut jumps = Jumps {
            taken: FxHashMap::default(),
            last: FxHashMap::default(),
            seen: FxHashSet::default(),
        };
        for decision in &recorder.decisions {
            let control = recorder.graph.parts[decision.routine.index()]
                .control
                .as_ref();
            let Some(control) = control else { continue };
            let mut note = |segment: u32| {
                let key = (decision.routine, segment, decision.activation);
                jumps.taken.entry(key).or_default().push(decision.instance);
                let last = jumps.last.entry((decision.routine, segment)).or_default();
                *last = decision.instance.max(*last);
            };
            if has_way_without(control, decision.segment) {
                note(decision.segment);
            }
            if control.may_end(decision.segment) && decision.taken != decision.segment + 1 {
                note(decision.segment);
                // What stands behind a call that never returns has the way without it.
                if has_way_without(control, decision.segment + 1) {
                    note(decision.segment + 1);
                }
            }
        }
        jumps
    }

    /// Adds the jumps that led past an instruction in its activation. Of other calls of the routine only the jump itself belongs to
    /// the slice, not how it came to the call.
    pub(super) fn that_left_out(
        &mut self,
        recorder: &Recorder<'_, '_>,
        instance: Instance,
        out: &mut Vec<Instance>,
        vertices: &mut Bits,
    ) {
        let owner = recorder.owners[instance as usize];
        let vertex = VertexId(recorder.instances[instance as usize]);
        let Vertex::Instruction(routine, block, position) = recorder.graph.vertex(vertex) else {
            return;
        };
        let control = recorder.graph.parts[routine.index()].control.as_ref();
        let Some(control) = control.filter(|_| owner != NONE) else {
            return;
        };
        let segment = control.segment_of(block, position);
        if !self.seen.insert((owner, routine, segment)) {
            return;
        }
        for decider in &control.deciders[segment as usize] {
            let Decider::End(by, way) = *decider else {
                continue;
            };
            if !control.is_without_jump(by, way) && !control.may_end(by) {
                continue;
            }
            out.extend(self.taken.get(&(routine, by, owner)).into_iter().flatten());
            if let Some(&last) = self.last.get(&(routine, by)) {
                vertices.insert(recorder.instances[last as usize]);
            }
        }
    }
}

fn has_way_without(control: &Control, segment: u32) -> bool {
    let segment = segment as usize;
    control.ways[segment].len() > control.successors[segment].len()
}
