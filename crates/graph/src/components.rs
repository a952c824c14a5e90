//! Components: nodes that reach each other, and nodes that hang together.

/// Calls `found` with each strongly connected component that can be reached from the starts: nodes of which each leads to each
/// other one. A component comes behind all that it leads to. The node by which it was entered stands first in it.
///
/// The algorithm is Tarjan's ("Depth-first search and linear graph algorithms", 1972), with the calls on a stack of its own.
pub fn components(
    count: usize,
    starts: impl IntoIterator<Item = usize>,
    successors: impl Fn(usize) -> Vec<usize>,
    mut found: impl FnMut(&[usize]),
) {
    let mut index = vec![0_u32; count];
    let mut low = vec![0_u32; count];
    let mut on_stack = vec![false; count];
    let mut next = 1;
    let mut stack: Vec<usize> = Vec::new();
    for start in starts {
        if index[start] != 0 {
            continue;
        }
        let mut calls: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut entered = Some(start);
        loop {
            if let Some(node) = entered.take() {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
                calls.push((node, successors(node)));
            }
            let Some((node, targets)) = calls.last_mut() else {
                break;
            };
            let node = *node;
            if let Some(target) = targets.pop() {
                if index[target] == 0 {
                    entered = Some(target);
                } else if on_stack[target] {
                    low[node] = low[node].min(index[target]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(above, _)) = calls.last() {
                low[above] = low[above].min(low[node]);
            }
            if low[node] == index[node] {
                let members = stack.iter().rev().take_while(|&&member| member != node);
                let first = stack.len() - members.count() - 1;
                for &member in &stack[first..] {
                    on_stack[member] = false;
                }
                found(&stack[first..]);
                stack.truncate(first);
            }
        }
    }
}

/// Returns the number of parts that hang together, without regard to the directions of edges.
pub fn connected_parts(count: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> usize {
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    let mut parts = count;
    for (from, to) in edges {
        let (a, b) = (root(&mut parent, from), root(&mut parent, to));
        if a != b {
            parent[a] = b;
            parts -= 1;
        }
    }
    parts
}
