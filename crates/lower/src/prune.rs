//! Removal of the blocks that control never gets to.

use patchwright_ir::{BlockId, Function, TempId, Value};

/// Removes unreachable blocks and names what is left anew, in order.
pub(crate) fn prune(function: &mut Function) {
    let mut reachable = vec![false; function.blocks.len()];
    let mut todo = vec![BlockId(0)];
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut reachable[block.index()], true) {
            let edges = function.block(block).terminator.edges();
            todo.extend(edges.iter().map(|edge| edge.target));
        }
    }
    let mut block_names = Vec::with_capacity(reachable.len());
    let mut next = 0;
    for &reachable in &reachable {
        block_names.push(BlockId(next));
        next += u32::from(reachable);
    }
    let mut keep = reachable.iter().copied();
    function.blocks.retain(|_| keep.next().unwrap_or(false));
    let mut temp_names = vec![None; function.temporaries.len()];
    let mut kept = Vec::new();
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            if let Some(dst) = instruction.defines_mut() {
                let name = TempId(kept.len() as u32);
                kept.push(function.temporaries[dst.index()]);
                temp_names[dst.index()] = Some(name);
                *dst = name;
            }
        }
    }
    function.temporaries = kept;
    let rename = |value: &mut Value| {
        if let Value::Temp(id) = value
            && let Some(name) = temp_names[id.index()]
        {
            *id = name;
        }
    };
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            instruction.for_each_operand_mut(&mut |operand| rename(&mut operand.value));
        }
        if let Some(operand) = block.terminator.operand_mut() {
            rename(&mut operand.value);
        }
        block
            .terminator
            .for_each_edge_mut(&mut |edge| edge.target = block_names[edge.target.index()]);
    }
}
