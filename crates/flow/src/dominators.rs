//! Computes control dependence.

use patchwright_graph::DominatorTree;

use crate::cfg::Cfg;

/// Returns the dominators of a graph: the nodes that every path from the entry to a node passes.
pub fn dominators(cfg: &Cfg) -> DominatorTree {
    DominatorTree::of(cfg.all_successors(), Cfg::ENTRY)
}

/// Returns the post-dominators of a graph: the nodes that every path from a node to the exit passes. An endless loop counts as
/// if the last of its nodes in the source led to the exit.
pub fn post_dominators(cfg: &Cfg) -> DominatorTree {
    DominatorTree::post(cfg.all_successors(), Cfg::EXIT, (0..cfg.node_count()).rev())
}

/// Returns for each node the nodes on which it depends by control: one of their branches always leads to
/// it, and another one may not.
pub fn control_dependence(cfg: &Cfg) -> Vec<Vec<usize>> {
    let post = post_dominators(cfg);
    let mut depends = vec![Vec::new(); cfg.node_count()];
    for branch in 0..cfg.node_count() {
        let successors = cfg.successors(branch);
        if successors.len() < 2 {
            continue;
        }
        let stop = post.immediate(branch);
        for &first in successors {
            for node in post.up(first, stop) {
                if !depends[node].contains(&branch) {
                    depends[node].push(branch);
                }
            }
        }
    }
    depends
}
