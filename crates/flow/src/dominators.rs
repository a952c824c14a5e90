//! Computes dominators, post-dominators and control dependence.
//!
//! The algorithm is Cooper, Harvey and Kennedy's: immediate dominators by intersecting paths upward in reverse
//! post-order until nothing changes.

use crate::cfg::Cfg;

/// The immediate dominators of the nodes of a graph.
#[derive(Clone, Debug)]
pub struct Dominators {
    immediate: Vec<Option<usize>>,
    root: usize,
}

impl Dominators {
    /// Computes dominators: the nodes that every path from the entry to a node passes.
    pub fn of(cfg: &Cfg) -> Self {
        let edges = |node: usize| cfg.successors(node).to_vec();
        Self::compute(cfg.node_count(), Cfg::ENTRY, &edges)
    }

    /// Computes post-dominators: the nodes that every path from a node to the exit passes. An endless
    /// loop counts as if the last of its nodes in the source led to the exit.
    pub fn post(cfg: &Cfg) -> Self {
        let mut backward: Vec<Vec<usize>> = (0..cfg.node_count())
            .map(|node| cfg.predecessors(node).to_vec())
            .collect();
        loop {
            let reached = reachable(Cfg::EXIT, &|node| backward[node].clone(), cfg.node_count());
            match (0..cfg.node_count()).rev().find(|node| !reached[*node]) {
                Some(stuck) => backward[Cfg::EXIT].push(stuck),
                None => break,
            }
        }
        Self::compute(cfg.node_count(), Cfg::EXIT, &|node| backward[node].clone())
    }

    fn compute(len: usize, root: usize, successors: &dyn Fn(usize) -> Vec<usize>) -> Self {
        let order = post_order(root, successors, len);
        let mut number = vec![usize::MAX; len];
        for (i, node) in order.iter().enumerate() {
            number[*node] = i;
        }
        let mut predecessors = vec![Vec::new(); len];
        for node in &order {
            for next in successors(*node) {
                predecessors[next].push(*node);
            }
        }
        let mut immediate: Vec<Option<usize>> = vec![None; len];
        immediate[root] = Some(root);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().filter(|node| **node != root) {
                let mut found: Option<usize> = None;
                for &before in &predecessors[node] {
                    if immediate[before].is_none() {
                        continue;
                    }
                    found = Some(match found {
                        None => before,
                        Some(other) => intersect(other, before, &immediate, &number),
                    });
                }
                if immediate[node] != found {
                    immediate[node] = found;
                    changed = true;
                }
            }
        }
        Dominators { immediate, root }
    }

    /// Returns the immediate dominator of `node`. It is `None` for the root and for unreachable
    /// nodes.
    pub fn immediate(&self, node: usize) -> Option<usize> {
        self.immediate[node].filter(|_| node != self.root)
    }

    /// Whether `above` dominates `node`; a node dominates itself.
    pub fn dominates(&self, above: usize, node: usize) -> bool {
        let mut at = Some(node);
        while let Some(node) = at {
            if node == above {
                return true;
            }
            at = self.immediate(node);
        }
        false
    }
}

fn intersect(a: usize, b: usize, immediate: &[Option<usize>], number: &[usize]) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        while number[a] < number[b] {
            a = immediate[a].expect("nodes that were visited have a dominator");
        }
        while number[b] < number[a] {
            b = immediate[b].expect("nodes that were visited have a dominator");
        }
    }
    a
}

fn reachable(root: usize, successors: &dyn Fn(usize) -> Vec<usize>, len: usize) -> Vec<bool> {
    let mut reached = vec![false; len];
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(successors(node));
        }
    }
    reached
}

fn post_order(root: usize, successors: &dyn Fn(usize) -> Vec<usize>, len: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; len];
    seen[root] = true;
    let mut stack = vec![(root, successors(root).into_iter())];
    while let Some((node, next)) = stack.last_mut() {
        match next.next() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, successors(next).into_iter()));
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

/// Returns for each node the nodes on which it depends by control: one of their branches always leads to
/// it, and another one may not.
pub fn control_dependence(cfg: &Cfg) -> Vec<Vec<usize>> {
    let post = Dominators::post(cfg);
    let mut depends = vec![Vec::new(); cfg.node_count()];
    for branch in 0..cfg.node_count() {
        let successors = cfg.successors(branch);
        if successors.len() < 2 {
            continue;
        }
        let stop = post.immediate(branch);
        for &first in successors {
            let mut at = Some(first);
            while let Some(node) = at {
                if at == stop {
                    break;
                }
                if !depends[node].contains(&branch) {
                    depends[node].push(branch);
                }
                at = post.immediate(node);
            }
        }
    }
    depends
}
