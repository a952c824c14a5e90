//! The graph of a function's blocks.

use patchwright_graph::DominatorTree;

use crate::{function::Function, types::BlockId};

impl Function {
    /// Returns for each block where its edges lead, in their order.
    pub fn successors(&self) -> Vec<Vec<usize>> {
        let edges = self.blocks.iter().map(|block| block.terminator.edges());
        edges
            .map(|edges| edges.iter().map(|edge| edge.target.index()).collect())
            .collect()
    }

    /// Returns for each block where control can go from it: a branch on a constant leads one way.
    pub fn ways(&self) -> Vec<Vec<usize>> {
        let edges = self.blocks.iter().map(|block| block.terminator.taken());
        edges
            .map(|edges| edges.iter().map(|edge| edge.target.index()).collect())
            .collect()
    }

    /// Returns for each block whether a path leads to it from the entry.
    pub fn reachable(&self) -> Vec<bool> {
        patchwright_graph::reachable(&self.successors(), [0])
    }

    /// Returns the blocks that can be reached, each behind those that lead to it, loops aside.
    pub fn reverse_postorder(&self) -> Vec<BlockId> {
        let order = patchwright_graph::postorder(&self.successors(), 0);
        let order = order.into_iter().rev();
        order.map(|block| BlockId(block as u32)).collect()
    }
}

/// The dominator tree of a function's blocks: the blocks that every path from the entry to a block
/// passes.
#[derive(Clone, Debug)]
pub struct Dominators(DominatorTree);

impl Dominators {
    /// Computes the dominators of a function with a body.
    pub fn of(function: &Function) -> Dominators {
        Dominators(DominatorTree::of(&function.successors(), 0))
    }

    /// Whether a path leads from the entry to `block`.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.0.is_reachable(block.index())
    }

    /// Returns the immediate dominator of `block`. It is `None` for the entry and for unreachable
    /// blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let above = self.0.immediate(block.index())?;
        Some(BlockId(above as u32))
    }

    /// Whether every path to `below` passes `above`. A block dominates itself.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        self.0.dominates(above.index(), below.index())
    }
}
