//! Dominators of a function's blocks.

use crate::{function::Function, types::BlockId};

/// Which blocks every way from the entry to a block leads through.
#[derive(Clone, Debug)]
pub struct Dominators {
    immediate: Vec<Option<BlockId>>,
    depth: Vec<u32>,
}

impl Dominators {
    /// Computes them for a function with a body (Cooper, Harvey and Kennedy, "A simple, fast
    /// dominance algorithm", 2001).
    pub fn of(function: &Function) -> Dominators {
        let count = function.blocks.len();
        let order = postorder(function);
        let mut number = vec![usize::MAX; count];
        for (position, block) in order.iter().enumerate() {
            number[block.index()] = position;
        }
        let predecessors = function.predecessors();
        let mut immediate: Vec<Option<BlockId>> = vec![None; count];
        if count > 0 {
            immediate[0] = Some(BlockId(0));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev() {
                if block.0 == 0 {
                    continue;
                }
                let mut found: Option<BlockId> = None;
                for &before in &predecessors[block.index()] {
                    if immediate[before.index()].is_none() {
                        continue;
                    }
                    found = Some(match found {
                        None => before,
                        Some(other) => meet(&immediate, &number, before, other),
                    });
                }
                if immediate[block.index()] != found {
                    immediate[block.index()] = found;
                    changed = true;
                }
            }
        }
        let mut depth = vec![0; count];
        for &block in order.iter().rev() {
            if let Some(above) = immediate[block.index()]
                && above != block
            {
                depth[block.index()] = depth[above.index()] + 1;
            }
        }
        Dominators { immediate, depth }
    }

    /// Control can get to the block.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.immediate[block.index()].is_some()
    }

    /// The closest other block that every way to `block` leads through; `None` for the entry and
    /// for unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()].filter(|&above| above != block)
    }

    /// Every way to `below` leads through `above`; a block dominates itself.
    pub fn dominates(&self, above: BlockId, mut below: BlockId) -> bool {
        while self.depth[below.index()] > self.depth[above.index()] {
            match self.immediate(below) {
                Some(next) => below = next,
                None => return false,
            }
        }
        above == below
    }
}

fn meet(
    immediate: &[Option<BlockId>],
    number: &[usize],
    mut a: BlockId,
    mut b: BlockId,
) -> BlockId {
    while a != b {
        while number[a.index()] < number[b.index()] {
            a = immediate[a.index()].unwrap_or(BlockId(0));
        }
        while number[b.index()] < number[a.index()] {
            b = immediate[b.index()].unwrap_or(BlockId(0));
        }
    }
    a
}

/// The reachable blocks, each after those that are first reached through it.
fn postorder(function: &Function) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(function.blocks.len());
    if function.blocks.is_empty() {
        return order;
    }
    let mut seen = vec![false; function.blocks.len()];
    seen[0] = true;
    let mut stack = vec![(BlockId(0), function.blocks[0].terminator.edges(), 0)];
    while let Some((block, edges, next)) = stack.last_mut() {
        match edges.get(*next) {
            Some(edge) => {
                *next += 1;
                let target = edge.target;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, function.block(target).terminator.edges(), 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}
