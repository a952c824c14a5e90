//! Finds the heads of a function's loops and what goes from one round to the next, so that one round can
//! be looked at by itself.

use patchwright_ir::{BlockId, Function, LocalId, LocalKind, LocalUse, Operand, Value};
use rustc_hash::FxHashSet;

use crate::order::Order;

/// The head of a loop. Each cycle of the control flow passes a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its block.
    pub block: BlockId,
    /// Registers whose values may be read from there on; all have one.
    pub live: Vec<LocalId>,
}

/// Returns the heads of a function's loops, in the order of its blocks. It is `None` if rounds depend on
/// more than registers and memory: on unwritten values or temporaries.
pub fn heads(function: &Function) -> Option<Vec<Head>> {
    let order = Order::of(function);
    let blocks: Vec<BlockId> = function
        .block_ids()
        .filter(|&block| order.is_head(block))
        .collect();
    let is_register =
        |local: &LocalId| matches!(function.local(*local).kind, LocalKind::Register(_));
    let written = written(function);
    let carried = carried(function);
    let mut all = Vec::new();
    for block in blocks {
        if !carried[block.index()].is_empty() {
            return None;
        }
        let live: Vec<LocalId> = (0..function.locals.len() as u32)
            .map(LocalId)
            .filter(|local| is_register(local) && order.lives(block, local.index()))
            .collect();
        let at = &written[block.index()];
        if !live.iter().all(|local| at[local.index()]) {
            return None;
        }
        all.push(Head { block, live });
    }
    Some(all)
}

/// For each block, the registers that are written on all ways to it.
fn written(function: &Function) -> Vec<Vec<bool>> {
    let count = function.locals.len();
    let mut at = vec![vec![true; count]; function.blocks.len()];
    if let Some(entry) = at.first_mut() {
        for (index, written) in entry.iter_mut().enumerate() {
            *written = index < function.parameters.len();
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for id in function.block_ids() {
            let mut now = at[id.index()].clone();
            let block = function.block(id);
            for instruction in &block.instructions {
                match instruction.local() {
                    Some((local, LocalUse::Write)) => now[local.index()] = true,
                    Some((local, LocalUse::Begin | LocalUse::End)) => now[local.index()] = false,
                    _ => {}
                }
            }
            for edge in block.terminator.edges() {
                let next = &mut at[edge.target.index()];
                for (next, now) in next.iter_mut().zip(&now) {
                    changed |= *next && !now;
                    *next &= now;
                }
            }
        }
    }
    at
}

/// For each block, the temporaries of blocks before it that are used from there on.
fn carried(function: &Function) -> Vec<FxHashSet<u32>> {
    let mut at: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); function.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in function.blocks.iter().enumerate().rev() {
            let mut now: FxHashSet<u32> = FxHashSet::default();
            for edge in block.terminator.edges() {
                now.extend(&at[edge.target.index()]);
            }
            now.extend(block.terminator.operand().and_then(temporary));
            for instruction in block.instructions.iter().rev() {
                if let Some(dst) = instruction.defines() {
                    now.remove(&dst.0);
                }
                now.extend(instruction.operands().into_iter().filter_map(temporary));
            }
            changed |= now.len() > at[index].len();
            at[index] = now;
        }
    }
    at
}

fn temporary(operand: Operand) -> Option<u32> {
    match operand.value {
        Value::Temp(temp) => Some(temp.0),
        _ => None,
    }
}
