//! Removes blocks that control never reaches.

use patchwright_ir::{BlockId, Function, TempId, Terminator, TerminatorKind, Value, Without};

/// Removes unreachable blocks and names what is left anew, in order. `repeated` are the blocks that conditions behind them lead
/// back to.
pub(crate) fn prune(function: &mut Function, repeated: &[BlockId]) {
    let reachable = function.reachable();
    let without: Vec<Without> = function
        .block_ids()
        .map(|id| {
            let terminator = &function.block(id).terminator;
            match terminator.without {
                Without::Block(next) if reachable[id.index()] => {
                    let found = first_left(function, &reachable, repeated, next);
                    simplified(terminator, found)
                }
                _ => Without::Same,
            }
        })
        .collect();
    for (block, without) in function.blocks.iter_mut().zip(without) {
        block.terminator.without = without;
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
        if let Without::Block(target) = &mut block.terminator.without {
            *target = block_names[target.index()];
        }
        block
            .terminator
            .for_each_edge_mut(&mut |edge| edge.target = block_names[edge.target.index()]);
    }
}

/// Returns the first block that is left, in the order of the source, from `start` on. Blocks that are never executed are left out, jumps
/// included.
fn first_left(
    function: &Function,
    reachable: &[bool],
    repeated: &[BlockId],
    start: BlockId,
) -> Without {
    let mut seen = vec![false; reachable.len()];
    let mut todo = vec![start];
    while let Some(block) = todo.pop() {
        if reachable[block.index()] {
            return Without::Block(block);
        }
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let terminator = &function.block(block).terminator;
        match terminator.without {
            Without::Block(next) => todo.push(next),
            _ => {
                let edges = terminator.edges();
                let mut next: Vec<BlockId> = edges.iter().map(|edge| edge.target).collect();
                next.sort_by_key(|block| repeated.contains(block));
                todo.extend(next.into_iter().rev());
            }
        }
    }
    Without::End
}

/// A jump without which control goes the same way is none.
fn simplified(terminator: &Terminator, without: Without) -> Without {
    match (&terminator.kind, without) {
        (TerminatorKind::Goto(edge), Without::Block(block)) if edge.target == block => {
            Without::Same
        }
        (TerminatorKind::Return(_) | TerminatorKind::ReturnNothing, Without::End) => Without::Same,
        _ => without,
    }
}
