//! Reduces programs to a slice that can be executed.

use patchwright_ir::{
    Edge, InstructionKind, Module, Operand, RoutineId, TempId, Temporary, Terminator,
    TerminatorKind, Type, Value, Without,
};

use crate::{
    bits::Bits,
    graph::{Graph, Slot, Vertex, VertexId, find},
};

/// A program of which only a slice is left.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Its modules.
    pub modules: Vec<Module>,
    /// The slice: that of the criteria, made so that it can be executed.
    pub slice: Bits,
    /// For each routine and block, the old positions of the instructions that are left.
    kept: Vec<Vec<Vec<u32>>>,
}

impl Reduced {
    /// Returns the former position of an instruction that is left, given its routine, its block and
    /// its present position.
    pub fn before(&self, routine: RoutineId, block: u32, position: u32) -> Option<u32> {
        let kept = self.kept.get(routine.index())?.get(block as usize)?;
        kept.get(position as usize).copied()
    }
}

/// Reduces a program to the backward slice of criteria: executed with the same input, if the
/// program comes to its end, all that is left computes the same values.
///
/// A slice may have a parameter without the argument of each call. Here they all are in it, with
/// what they depend on (D. Binkley, "Precise executable interprocedural slices", 1993).
pub fn reduce(graph: &Graph<'_>, criteria: &[VertexId]) -> Reduced {
    let slice = executable(graph, criteria);
    let mut modules = graph.program().modules.clone();
    let mut kept = vec![Vec::new(); graph.program().routines.len()];
    for routine in graph.program().routine_ids() {
        let entry = graph.program().routine(routine);
        if entry.defined {
            let function = &mut modules[entry.module].functions[entry.function.index()];
            kept[routine.index()] = reduce_function(graph, routine, &slice, function);
        }
    }
    Reduced {
        modules,
        slice,
        kept,
    }
}

fn executable(graph: &Graph<'_>, criteria: &[VertexId]) -> Bits {
    let mut criteria = criteria.to_vec();
    loop {
        let slice = graph.backward(&criteria);
        let mut missing = Vec::new();
        for site in &graph.sites {
            if !slice.contains(site.node.0) {
                continue;
            }
            for &callee in &site.bodies {
                for &(slot, formal) in &graph.parts[callee.index()].ins {
                    let needed = slice.contains(formal.0) || is_aggregate(graph, callee, slot);
                    if let Some(actual) = find(&site.ins, slot)
                        && needed
                        && !slice.contains(actual.0)
                    {
                        missing.push(actual);
                    }
                }
            }
        }
        if missing.is_empty() {
            return slice;
        }
        criteria.extend(missing);
    }
}

/// Aggregates are copied by the call itself, so there must be one.
fn is_aggregate(graph: &Graph<'_>, routine: RoutineId, slot: Slot) -> bool {
    let function = graph.program().function(routine);
    match slot {
        Slot::Parameter(index) => matches!(
            function.parameters[index as usize].ty,
            Type::Aggregate { .. }
        ),
        Slot::Rest => true,
        _ => false,
    }
}

fn zero(operand: Operand, ty: Type) -> Operand {
    Operand {
        value: Value::Constant { ty, bits: 0 },
        origin: operand.origin,
    }
}

fn reduce_function(
    graph: &Graph<'_>,
    routine: RoutineId,
    slice: &Bits,
    function: &mut patchwright_ir::Function,
) -> Vec<Vec<u32>> {
    let part = &graph.parts[routine.index()];
    let has = |vertex: Option<VertexId>| vertex.is_some_and(|vertex| slice.contains(vertex.0));
    let original = function.clone();
    let mut kept = Vec::with_capacity(function.blocks.len());
    for id in original.block_ids() {
        let old = original.block(id);
        let mut positions = Vec::new();
        let mut instructions = Vec::new();
        for (position, instruction) in old.instructions.iter().enumerate() {
            let position = position as u32;
            let always = matches!(
                instruction.kind,
                InstructionKind::Live { .. }
                    | InstructionKind::Dead { .. }
                    | InstructionKind::Settle { .. }
            );
            let vertex = graph.instruction(routine, id, position);
            if !always && !has(vertex) {
                continue;
            }
            let mut instruction = instruction.clone();
            if let (Some(vertex), InstructionKind::Call { arguments, .. }) =
                (vertex, &mut instruction.kind)
                && let Ok(site) = graph.sites.binary_search_by_key(&vertex, |site| site.node)
                && graph
                    .calls()
                    .site(routine, id, position)
                    .is_some_and(|site| site.libraries.is_empty())
            {
                let site = &graph.sites[site];
                for (index, argument) in arguments.iter_mut().enumerate() {
                    let slot = Slot::Parameter(index as u32);
                    let used = has(find(&site.ins, slot)) || has(find(&site.ins, Slot::Rest));
                    if !used && !matches!(argument.ty, Type::Aggregate { .. }) {
                        argument.value = zero(argument.value, argument.ty);
                    }
                }
            }
            positions.push(position);
            instructions.push(instruction);
        }
        let last = old.instructions.len() as u32;
        let in_slice = has(graph.instruction(routine, id, last));
        let terminator = match in_slice {
            true => old.terminator.clone(),
            false => without(&original, part, id, &old.terminator),
        };
        positions.push(last);
        kept.push(positions);
        let block = &mut function.blocks[id.index()];
        block.instructions = instructions;
        block.terminator = terminator;
    }
    renumber(function);
    kept
}

/// A terminator that decides nothing of the slice.
fn without(
    function: &patchwright_ir::Function,
    part: &crate::graph::Part,
    block: patchwright_ir::BlockId,
    terminator: &Terminator,
) -> Terminator {
    let back = match function.result {
        Type::Void => TerminatorKind::Return(None),
        _ => TerminatorKind::ReturnNothing,
    };
    let kind = match &terminator.kind {
        TerminatorKind::Branch { .. } | TerminatorKind::Switch { .. } => {
            let control = part.control.as_ref();
            match control.and_then(|control| control.meeting_point(function, block)) {
                Some(target) => TerminatorKind::Goto(Edge {
                    target,
                    origin: terminator.origin,
                }),
                None => back,
            }
        }
        TerminatorKind::Return(Some(value)) => match function.result {
            Type::Aggregate { .. } => back,
            ty => TerminatorKind::Return(Some(zero(*value, ty))),
        },
        other => other.clone(),
    };
    Terminator {
        kind,
        origin: terminator.origin,
        without: Without::Same,
        inside: None,
    }
}

/// Leaves out the temporaries that nothing defines any more.
fn renumber(function: &mut patchwright_ir::Function) {
    let mut names: Vec<Option<TempId>> = vec![None; function.temporaries.len()];
    let mut left: Vec<Temporary> = Vec::new();
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            if let Some(dst) = instruction.defines_mut() {
                let name = TempId(left.len() as u32);
                left.push(function.temporaries[dst.index()]);
                names[dst.index()] = Some(name);
                *dst = name;
            }
        }
    }
    let types = std::mem::replace(&mut function.temporaries, left);
    let mut rename = |operand: &mut Operand| {
        if let Value::Temp(id) = &mut operand.value {
            match names[id.index()] {
                Some(name) => *id = name,
                // Only what no longer matters uses it.
                None => {
                    operand.value = Value::Constant {
                        ty: types[id.index()].ty,
                        bits: 0,
                    };
                }
            }
        }
    };
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            instruction.for_each_operand_mut(&mut rename);
        }
        if let Some(operand) = block.terminator.operand_mut() {
            rename(operand);
        }
    }
}

impl Graph<'_> {
    /// Returns the vertices of `slice` that are instructions, without those that stand for parameters, results and memory.
    pub fn instructions_of<'s>(&'s self, slice: &'s Bits) -> impl Iterator<Item = VertexId> + 's {
        slice
            .iter()
            .map(VertexId)
            .filter(|&id| matches!(self.vertex(id), Vertex::Instruction(..)))
    }
}
