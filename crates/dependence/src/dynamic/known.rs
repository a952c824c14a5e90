//! The recorder's tables about the instructions of a routine.

use patchwright_ir::{Callee, InstructionKind, Operand, RoutineId, TempId, TerminatorKind, Value};

use super::Recorder;
use crate::call_graph::CallGraph;

/// What an instruction does, as far as the recorder follows it. Numbers are those of locals.
#[derive(Clone, Debug)]
pub(super) enum What {
    Plain,
    Read(u32),
    Write(u32),
    VaStart,
    /// The temporaries that hold the arguments.
    Call(Vec<Option<u32>>),
    Return,
}

/// What the recorder knows of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) vertex: u32,
    pub(super) what: What,
    /// The temporaries that it uses; of a call without those of the arguments.
    pub(super) uses: Vec<u32>,
    pub(super) defines: Option<u32>,
    pub(super) segment: u32,
    pub(super) ends_segment: bool,
    /// The instruction before is a call that `longjmp` comes back to, with this temporary for its value.
    pub(super) lands: Option<u32>,
}

impl Recorder<'_, '_> {
    /// Looks at the instructions of a routine when they are executed first.
    pub(super) fn know(&mut self, routine: RoutineId) {
        if self.known.contains_key(&routine) {
            return;
        }
        let graph = self.graph;
        let function = graph.program.function(routine);
        let Some(control) = &graph.parts[routine.index()].control else {
            return;
        };
        let temp = |operand: &Operand| match operand.value {
            Value::Temp(TempId(id)) => Some(id),
            _ => None,
        };
        let blocks = function.block_ids().map(|id| {
            let block = function.block(id);
            let vertex = |position: u32| {
                let vertex = graph.instruction(routine, id, position);
                vertex.map_or(0, |vertex| vertex.0)
            };
            let place = |position: u32| {
                let segment = control.segment_of(id, position);
                (segment, control.end_of(segment).1 == position)
            };
            let landing = |position: u32| {
                let before = position.checked_sub(1)?;
                let site = graph.calls().site(routine, id, before)?;
                let lands = CallGraph::is_landing(graph.program, site);
                let value = block.instructions[before as usize].defines();
                value.filter(|_| lands).map(|id| id.0)
            };
            let mut list = Vec::with_capacity(block.instructions.len() + 1);
            for (position, instruction) in block.instructions.iter().enumerate() {
                let position = position as u32;
                let mut uses: Vec<u32> = instruction.operands().iter().filter_map(temp).collect();
                let what = match &instruction.kind {
                    InstructionKind::Read { local, .. } => What::Read(local.0),
                    InstructionKind::Write { local, .. } => What::Write(local.0),
                    InstructionKind::VaStart { .. } => What::VaStart,
                    InstructionKind::Call {
                        callee,
                        arguments,
                        result_address,
                        ..
                    } => {
                        uses.clear();
                        if let Callee::Indirect(address) = callee {
                            uses.extend(temp(address));
                        }
                        uses.extend(result_address.as_ref().and_then(temp));
                        What::Call(arguments.iter().map(|a| temp(&a.value)).collect())
                    }
                    _ => What::Plain,
                };
                let (segment, ends_segment) = place(position);
                list.push(Known {
                    vertex: vertex(position),
                    what,
                    uses,
                    defines: instruction.defines().map(|id| id.0),
                    segment,
                    ends_segment,
                    lands: landing(position),
                });
            }
            let last = block.instructions.len() as u32;
            let (segment, ends_segment) = place(last);
            let returns = matches!(
                block.terminator.kind,
                TerminatorKind::Return(_) | TerminatorKind::ReturnNothing
            );
            list.push(Known {
                vertex: vertex(last),
                what: if returns { What::Return } else { What::Plain },
                uses: block.terminator.operand().iter().filter_map(temp).collect(),
                defines: None,
                segment,
                ends_segment,
                lands: landing(last),
            });
            list
        });
        let blocks = blocks.collect();
        self.known.insert(routine, blocks);
    }
}
