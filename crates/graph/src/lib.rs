//! Graphs whose nodes are numbers: what is reachable, orders, dominators, components.
//!
//! A graph is the list of each node's successors, `&[Vec<usize>]`. Whoever has nodes of another kind numbers them.
//! Nothing here is recursive but [`nested`], whose depth is that of the longest way.

mod components;
mod dominators;
mod nested;

pub use components::{components, connected_parts};
pub use dominators::DominatorTree;
pub use nested::{Nested, nested};

/// Returns the graph with all edges turned round.
pub fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); successors.len()];
    for (node, next) in successors.iter().enumerate() {
        for &next in next {
            found[next].push(node);
        }
    }
    found
}

/// Returns for each node whether a way leads to it from one of the roots, which are reached themselves.
pub fn reachable(successors: &[Vec<usize>], roots: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut reached = vec![false; successors.len()];
    reach(successors, roots, &mut reached);
    reached
}

/// Adds what can be reached from the roots to what is reached already.
pub fn reach(
    successors: &[Vec<usize>],
    roots: impl IntoIterator<Item = usize>,
    reached: &mut [bool],
) {
    let mut open: Vec<usize> = roots.into_iter().collect();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(&successors[node]);
        }
    }
}

/// Returns the nodes that can be reached from the root, each behind those that are first reached through it.
/// Read backward, each stands behind what leads to it, loops aside.
pub fn postorder(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
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
