//! Dominators and post-dominators.

use crate::{postorder, reach, reachable, reversed};

/// The dominator tree of a graph: which nodes every way from the root to a node leads through.
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

    /// Computes the tree of post-dominators: which nodes every way from a node to the exit leads through. A node without a way
    /// to the exit counts as if an edge led there. Such edges are added at nodes of `endless`, in their order, until each node
    /// has a way.
    pub fn post(
        successors: &[Vec<usize>],
        exit: usize,
        endless: impl IntoIterator<Item = usize>,
    ) -> DominatorTree {
        let mut backward = reversed(successors);
        let mut reached = reachable(&backward, [exit]);
        for node in endless {
            if !reached[node] {
                reach(&backward, [node], &mut reached);
                backward[exit].push(node);
            }
        }
        DominatorTree::of(&backward, exit)
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

    /// Returns `node` and its dominators, the closest first, up to `stop`, which is left out.
    ///
    /// In a tree of post-dominators this gives the nodes that depend on one way of a branch: `node` is where the way leads, and `stop` is
    /// the branch's immediate post-dominator (Ferrante, Ottenstein and Warren, "The program dependence graph and its use in
    /// optimization", 1987).
    pub fn up(&self, node: usize, stop: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let all = std::iter::successors(Some(node), |&node| self.immediate(node));
        all.take_while(move |&node| Some(node) != stop)
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
