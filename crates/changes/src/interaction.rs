//! The change sequence graph with potential interaction locations (thesis, section 4.4, algorithm 5), of one function.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_flow::dependence::Dependence;
use patchwright_flow::{Cfg, Function};
use rustc_hash::FxHashSet;

/// A change sequence graph with interaction locations. Its vertices are nodes of the control-flow graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InteractionGraph {
    /// The changed nodes that something follows or leads to.
    pub changes: BTreeSet<usize>,
    /// Potential interaction locations, each with the changes on which it depends (definition 11).
    pub interactions: BTreeMap<usize, BTreeSet<usize>>,
    /// The output nodes.
    pub outputs: BTreeSet<usize>,
    /// The edges.
    pub edges: BTreeSet<(usize, usize)>,
}

/// Builds the graph for the changed nodes and the output nodes of `cfg`, the graph of `function`.
///
/// Only *important* nodes become interaction locations, as the thesis suggests. Such a node depends on several changes, and on no
/// other node where these changes have already met.
pub fn interaction_graph(
    function: &Function,
    cfg: &Cfg,
    changes: &BTreeSet<usize>,
    outputs: &BTreeSet<usize>,
) -> InteractionGraph {
    let dependence = Dependence::of(function, cfg);
    let depends_on: Vec<BTreeSet<usize>> = (0..cfg.node_count())
        .map(|node| {
            let slice = dependence.backward_slice(&[node]);
            changes
                .iter()
                .copied()
                .filter(|change| slice.contains(change))
                .collect()
        })
        .collect();
    let met_before = |node: usize| {
        dependence.control[node]
            .iter()
            .chain(&dependence.data[node])
            .any(|on| *on != node && !changes.contains(on) && depends_on[*on].len() > 1)
    };
    let mut traversal = Traversal {
        cfg,
        changes,
        outputs,
        interacting: (0..cfg.node_count())
            .filter(|node| depends_on[*node].len() > 1 && !met_before(*node))
            .collect(),
        depends_on: &depends_on,
        graph: InteractionGraph {
            changes: changes.clone(),
            outputs: outputs.clone(),
            ..InteractionGraph::default()
        },
        open: changes.iter().copied().collect(),
    };
    while let Some(from) = traversal.open.pop() {
        traversal.from(from);
    }
    traversal.graph
}

struct Traversal<'a> {
    cfg: &'a Cfg,
    changes: &'a BTreeSet<usize>,
    outputs: &'a BTreeSet<usize>,
    interacting: FxHashSet<usize>,
    depends_on: &'a [BTreeSet<usize>],
    graph: InteractionGraph,
    open: Vec<usize>,
}

impl Traversal<'_> {
    /// Procedure TRAVERSECHANGE from a change or an interaction location.
    fn from(&mut self, from: usize) {
        let mut seen = FxHashSet::default();
        let mut open = self.cfg.successors(from).to_vec();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            if self.changes.contains(&node) || self.outputs.contains(&node) {
                self.graph.edges.insert((from, node));
            } else if self.interacting.contains(&node) {
                let on = &self.depends_on[node];
                self.graph
                    .edges
                    .extend(on.iter().map(|change| (*change, node)));
                if self.graph.interactions.insert(node, on.clone()).is_none() {
                    self.open.push(node);
                }
            } else {
                open.extend(self.cfg.successors(node));
            }
        }
    }
}
