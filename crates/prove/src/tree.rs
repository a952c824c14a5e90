//! The tree of the decisions along the inputs that were explored, of one program or of two.
//!
//! What an execution decides first is the same for all inputs; what it decides next depends on how that came out, and so on.
//! So the paths of all inputs are one tree: below each node stand the conditions that were found to be decided next, which
//! exclude each other. An input that satisfies all conditions down to a node, and none below it, takes a new path.
//! If no node has such an input, all paths are known (theorem 2).

use patchwright_solve::{Assignment, Term, Terms};

/// The number of a node. The root is 0.
pub type NodeId = usize;

/// The number of the root.
pub const ROOT: NodeId = 0;

/// Whether everything or nothing is known of the inputs of a path, or whether they do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// All is known of them.
    Known,
    /// Nothing is.
    Open,
    /// They do not count.
    Void,
}

/// A condition that is decided on a path.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// The condition, as it holds on the path.
    pub condition: Term,
    /// The place, by a number.
    pub place: usize,
    /// How many decisions lie between it and what has changed; 0 where nothing has, and where only one version decides it.
    pub distance: u32,
}

#[derive(Debug)]
struct Node {
    parent: NodeId,
    /// The condition under which executions get here from the parent; of the root, nothing.
    condition: Option<Term>,
    below: Vec<NodeId>,
    depth: u32,
    /// What is decided here.
    place: usize,
    distance: u32,
    /// An input that gets here.
    input: usize,
    leaf: Option<Leaf>,
}

/// The tree of decisions, with the input that made each path.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    inputs: Vec<Assignment>,
}

/// Where a path was put, and whether it is new.
pub struct Put {
    /// Its end.
    pub leaf: NodeId,
    /// Nodes that are new, or that something new stands below.
    pub changed: Vec<NodeId>,
    /// Nobody has seen the path before.
    pub is_new: bool,
}

impl Default for Tree {
    /// Nothing was looked at.
    fn default() -> Tree {
        Tree {
            nodes: vec![Node {
                parent: ROOT,
                condition: None,
                below: Vec::new(),
                depth: 0,
                place: 0,
                distance: 0,
                input: 0,
                leaf: None,
            }],
            inputs: Vec::new(),
        }
    }
}

impl Tree {
    /// Adds the path of an input.
    pub fn put(&mut self, path: &[Decision], input: Assignment) -> Put {
        let number = self.inputs.len();
        let (mut at, mut changed) = (ROOT, Vec::new());
        for decision in path {
            let node = &self.nodes[at];
            let below = node.below.iter().copied();
            let known =
                { below }.find(|&one| self.nodes[one].condition == Some(decision.condition));
            at = match known {
                Some(below) => below,
                None => {
                    let new = self.nodes.len();
                    let depth = self.nodes[at].depth + 1;
                    self.nodes.push(Node {
                        parent: at,
                        condition: Some(decision.condition),
                        below: Vec::new(),
                        depth,
                        place: 0,
                        distance: 0,
                        input: number,
                        leaf: None,
                    });
                    let node = &mut self.nodes[at];
                    if node.below.is_empty() {
                        (node.place, node.distance) = (decision.place, decision.distance);
                        node.input = number;
                    }
                    node.below.push(new);
                    changed.push(at);
                    new
                }
            };
        }
        let is_new = !changed.is_empty() || self.nodes[at].leaf.is_none() && path.is_empty();
        if is_new {
            self.inputs.push(input);
        }
        Put {
            leaf: at,
            changed,
            is_new,
        }
    }

    /// Sets what is known of the inputs of the path that ends at `leaf`.
    pub fn settle(&mut self, leaf: NodeId, what: Leaf) {
        self.nodes[leaf].leaf = Some(what);
    }

    /// Returns the place of the decision at a node, as [`Decision`] has it.
    pub fn place(&self, node: NodeId) -> usize {
        self.nodes[node].place
    }

    /// Returns the [`Decision::distance`] of the decision at a node.
    pub fn distance(&self, node: NodeId) -> u32 {
        self.nodes[node].distance
    }

    /// Returns how many decisions come before the one at a node.
    pub fn depth(&self, node: NodeId) -> u32 {
        self.nodes[node].depth
    }

    /// Returns an input whose path passes the node.
    pub fn input(&self, node: NodeId) -> &Assignment {
        &self.inputs[self.nodes[node].input]
    }

    /// Returns the conditions on the path to a node.
    pub fn conditions(&self, node: NodeId) -> Vec<Term> {
        let mut all = Vec::new();
        let mut at = node;
        while let Some(condition) = self.nodes[at].condition {
            all.push(condition);
            at = self.nodes[at].parent;
        }
        all.reverse();
        all
    }

    /// Returns the conditions of an input that reaches a node and takes none of its known branches.
    /// It is `None` if clearly no such input exists.
    pub fn rest(&self, terms: &mut Terms, node: NodeId) -> Option<Vec<Term>> {
        let below = &self.nodes[node].below;
        let ways: Vec<Term> = below
            .iter()
            .filter_map(|&one| self.nodes[one].condition)
            .collect();
        let rest: Vec<Term> = ways.iter().map(|&way| terms.not(way)).collect();
        let is_all = rest.iter().any(|other| ways.contains(other));
        (!is_all && !rest.is_empty()).then_some(rest)
    }

    /// Returns the ends of all paths with what is known of them.
    pub fn ends(&self) -> impl Iterator<Item = (NodeId, Leaf)> + '_ {
        let all = self.nodes.iter().enumerate();
        all.filter_map(|(node, one)| Some((node, one.leaf?)))
    }

    /// Returns the conditions of all nodes.
    pub fn all_conditions(&self) -> Vec<Term> {
        self.nodes.iter().filter_map(|one| one.condition).collect()
    }

    /// Returns what is known of the path that an input takes. `holds` says whether a condition is true for the input. Returns `None`
    /// if that path was not explored yet.
    pub fn known(&self, holds: impl Fn(Term) -> bool) -> Option<Leaf> {
        let mut at = ROOT;
        loop {
            let node = &self.nodes[at];
            if node.below.is_empty() {
                return node.leaf;
            }
            let taken = |below: &&NodeId| self.nodes[**below].condition.is_some_and(&holds);
            at = *node.below.iter().find(taken)?;
        }
    }

    /// Returns the number of terms in all conditions.
    pub fn size(&self, terms: &Terms) -> usize {
        terms.within(&self.all_conditions()).len()
    }
}
