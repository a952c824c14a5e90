//! Change sequence graphs (thesis, definition 14) and the cyclomatic complexity of a change (definition 15).

use patchwright_graph::{reachable, reversed};
use std::collections::{BTreeSet, VecDeque};

/// A vertex of a change sequence graph: the entry, the exit, or a changed place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// The program's entry, the source of the graph.
    Entry,
    /// The program's exit, its sink.
    Exit,
    /// Something that changed.
    Place {
        /// How it changed.
        role: Role,
        /// The file, in the new version.
        file: String,
        /// The function.
        function: String,
        /// The line in the new version.
        line: u32,
        /// Its text, in one line.
        text: String,
    },
}

/// Whether a vertex is a changed statement or the place of deleted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A statement that was added, modified or moved.
    Changed,
    /// The place of statements that were deleted.
    Deleted,
}

/// A change sequence graph: a directed graph of changes with one source and one sink.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The vertices; [`Graph::ENTRY`] and [`Graph::EXIT`] are the first two.
    pub vertices: Vec<Vertex>,
    /// The edges, as indices of vertices.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Default for Graph {
    fn default() -> Self {
        Graph {
            vertices: vec![Vertex::Entry, Vertex::Exit],
            edges: BTreeSet::new(),
        }
    }
}

impl Graph {
    /// The vertex of the program's entry.
    pub const ENTRY: usize = 0;
    /// The vertex of the program's exit.
    pub const EXIT: usize = 1;

    /// Whether no executed statement changed.
    pub fn is_empty(&self) -> bool {
        self.vertices.len() == 2
    }

    /// Returns the vertices to which edges lead from `vertex`.
    pub fn successors(&self, vertex: usize) -> impl Iterator<Item = usize> {
        self.edges
            .range((vertex, 0)..=(vertex, usize::MAX))
            .map(|(_, to)| *to)
    }

    /// Returns for each vertex those to which its edges lead.
    pub(crate) fn all_successors(&self) -> Vec<Vec<usize>> {
        let vertices = 0..self.vertices.len();
        vertices.map(|one| self.successors(one).collect()).collect()
    }

    /// Returns the number of connected components, without regard to directions: P of definition 15.
    pub fn components(&self) -> usize {
        patchwright_graph::connected_parts(self.vertices.len(), self.edges.iter().copied())
    }

    /// Returns CyCC = E − N + 2P, or 0 for a change without changed statements.
    pub fn complexity(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.edges.len() + 2 * self.components() - self.vertices.len()
    }

    /// Returns the number of sequences that [`Graph::sequences`] gives.
    pub fn sequence_count(&self) -> usize {
        let reached = reachable(&self.all_successors(), [Self::ENTRY]);
        let edges = self.edges.iter().filter(|(from, _)| reached[*from]).count();
        let vertices = reached.iter().filter(|reached| **reached).count();
        if reached[Self::EXIT] {
            edges + 2 - vertices
        } else {
            0
        }
    }

    /// Returns linearly independent sequences of changes: vertices on ways from entry to exit, without these two. Each sequence
    /// has an edge that no earlier one has. If all vertices lie between entry and exit, there are [`Graph::complexity`] of them.
    ///
    /// The algorithm is McCabe's baseline method. A shortest way to the exit is preferred at each vertex. Each edge that is
    /// not preferred gives one sequence.
    pub fn sequences(&self) -> Vec<Vec<usize>> {
        let before = reversed(&self.all_successors());
        let mut distance = vec![usize::MAX; self.vertices.len()];
        distance[Self::EXIT] = 0;
        let mut open = VecDeque::from([Self::EXIT]);
        while let Some(vertex) = open.pop_front() {
            for &from in &before[vertex] {
                if distance[from] == usize::MAX {
                    distance[from] = distance[vertex] + 1;
                    open.push_back(from);
                }
            }
        }
        let preferred = |vertex: usize| {
            self.successors(vertex)
                .filter(|to| distance[*to] != usize::MAX)
                .min_by_key(|to| (distance[*to], *to))
        };
        let rest = |from: usize| {
            let mut path = Vec::new();
            let mut at = from;
            while at != Self::EXIT {
                path.push(at);
                match preferred(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            path
        };
        if distance[Self::ENTRY] == usize::MAX {
            return Vec::new();
        }
        let mut sequences = vec![rest(Self::ENTRY)];
        // How each vertex is reached first, breadth first.
        let mut prefix: Vec<Option<Vec<usize>>> = vec![None; self.vertices.len()];
        prefix[Self::ENTRY] = Some(vec![Self::ENTRY]);
        let mut open = VecDeque::from([Self::ENTRY]);
        while let Some(vertex) = open.pop_front() {
            let so_far = prefix[vertex].clone().unwrap_or_default();
            for next in self.successors(vertex) {
                if distance[next] != usize::MAX && Some(next) != preferred(vertex) {
                    let mut sequence = so_far.clone();
                    sequence.extend(rest(next));
                    sequences.push(sequence);
                }
                if prefix[next].is_none() && next != Self::EXIT {
                    let mut path = so_far.clone();
                    path.push(next);
                    prefix[next] = Some(path);
                    open.push_back(next);
                }
            }
        }
        for sequence in &mut sequences {
            sequence.retain(|vertex| *vertex != Self::ENTRY);
        }
        // Nothing is changed on a way from the entry straight to the exit.
        sequences.retain(|sequence| !sequence.is_empty());
        sequences
    }
}
