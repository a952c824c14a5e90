//! Computes dominator trees of graphs and of the blocks of a function.

use crate::{function::Function, types::BlockId};

/// The dominator tree of a graph whose nodes are numbers: which nodes every way from the root to a
/// node leads through. Of a reversed graph it is the tree of post-dominators.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    root: usize,
    immediate: Vec<Option<usize>>,
    depth: Vec<u32>,
    /// Reachable nodes, each after its immediate dominator.
    order: Vec<usize>,
}

impl DominatorTree {
    /// Computes it from the successors of each node (Cooper, Harvey and Kennedy, "A simple, fast
    /// dominance algorithm", 2001).
    pub fn of(successors: &[Vec<usize>], root: usize) -> DominatorTree {
        let count = successors.len();
        let mut immediate: Vec<Option<usize>> = vec![None; count];
        let mut depth = vec![0; count];
        if root >= count {
            let order = Vec::new();
            return DominatorTree {
                root,
                immediate,
                depth,
                order,
            };
        }
        let mut order = postorder(successors, root);
        let mut number = vec![usize::MAX; count];
        for (position, &node) in order.iter().enumerate() {
            number[node] = position;
        }
        let mut predecessors = vec![Vec::new(); count];
        for &node in &order {
            for &next in &successors[node] {
                predecessors[next].push(node);
            }
        }
        immediate[root] = Some(root);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev() {
                if node == root {
                    continue;
                }
                let mut found: Option<usize> = None;
                for &before in &predecessors[node] {
                    if immediate[before].is_none() {
                        continue;
                    }
                    found = Some(match found {
                        None => before,
                        Some(other) => meet(&immediate, &number, root, before, other),
                    });
                }
                if immediate[node] != found {
                    immediate[node] = found;
                    changed = true;
                }
            }
        }
        order.reverse();
        for &node in &order {
            if let Some(above) = immediate[node]
                && above != node
            {
                depth[node] = depth[above] + 1;
            }
        }
        DominatorTree {
            root,
            immediate,
            depth,
            order,
        }
    }

    /// Whether a path leads from the root to `node`.
    pub fn is_reachable(&self, node: usize) -> bool {
        self.immediate[node].is_some()
    }

    /// Returns the immediate dominator of `node`: the closest other node on every path to it. It is
    /// `None` for the root and for unreachable nodes.
    pub fn immediate(&self, node: usize) -> Option<usize> {
        self.immediate[node].filter(|_| node != self.root)
    }

    /// Whether every path to `below` passes `above`. A node dominates itself.
    pub fn dominates(&self, above: usize, mut below: usize) -> bool {
        while self.depth[below] > self.depth[above] {
            match self.immediate(below) {
                Some(next) => below = next,
                None => return false,
            }
        }
        above == below
    }

    /// Returns the reachable nodes, each behind its immediate dominator.
    pub fn order(&self) -> &[usize] {
        &self.order
    }
}

fn meet(
    immediate: &[Option<usize>],
    number: &[usize],
    root: usize,
    mut a: usize,
    mut b: usize,
) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = immediate[a].unwrap_or(root);
        }
        while number[b] < number[a] {
            b = immediate[b].unwrap_or(root);
        }
    }
    a
}

/// The reachable nodes, each after those that are first reached through it.
fn postorder(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    seen[root] = true;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node].get(*next) {
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

/// The dominator tree of a function's blocks: the blocks that every path from the entry to a block
/// passes.
#[derive(Clone, Debug)]
pub struct Dominators(DominatorTree);

impl Dominators {
    /// Computes the dominators of a function with a body.
    pub fn of(function: &Function) -> Dominators {
        let successors: Vec<Vec<usize>> = function
            .blocks
            .iter()
            .map(|block| {
                let edges = block.terminator.edges();
                edges.iter().map(|edge| edge.target.index()).collect()
            })
            .collect();
        Dominators(DominatorTree::of(&successors, 0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_dominated_by_its_head_and_post_dominated_by_its_end() {
        // 0 → 1 → 2 → 1, 1 → 3; 4 is not reachable.
        let successors = [vec![1], vec![2, 3], vec![1], vec![], vec![3]];
        let tree = DominatorTree::of(&successors, 0);
        assert_eq!(tree.immediate(2), Some(1));
        assert_eq!(tree.immediate(3), Some(1));
        assert_eq!(tree.immediate(0), None);
        assert!(tree.dominates(0, 3) && !tree.dominates(2, 3));
        assert!(!tree.is_reachable(4));
        let reversed = [vec![], vec![0, 2], vec![1], vec![1], vec![]];
        let tree = DominatorTree::of(&reversed, 3);
        assert_eq!(tree.immediate(0), Some(1));
        assert_eq!(tree.immediate(2), Some(1));
        assert!(tree.dominates(3, 0));
    }
}
