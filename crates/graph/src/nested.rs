//! Weak topological orders: loops within loops, whatever jumps make them.

/// A node, or a loop of nodes and of loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nested {
    /// A node that begins no loop.
    Node(usize),
    /// The first node of a loop, and the rest of the loop.
    Loop(usize, Vec<Nested>),
}

/// Returns the nodes that can be reached from the root in a weak topological order (Bourdoncle, "Efficient chaotic iteration
/// strategies with widenings", 1993). Each node stands behind its predecessors. The first node of a loop is an exception: edges of
/// the loop lead back to it.
pub fn nested(successors: &[Vec<usize>], root: usize) -> Vec<Nested> {
    let mut partition = Partition {
        successors,
        number: vec![0; successors.len()],
        next: 0,
        stack: Vec::new(),
    };
    let mut result = Vec::new();
    if root < successors.len() {
        partition.visit(root, &mut result);
    }
    result.reverse();
    result
}

struct Partition<'a> {
    successors: &'a [Vec<usize>],
    number: Vec<u32>,
    next: u32,
    stack: Vec<usize>,
}

const DONE: u32 = u32::MAX;

impl Partition<'_> {
    /// Bourdoncle's procedure `Visit`; what it finds is in reverse.
    fn visit(&mut self, vertex: usize, found: &mut Vec<Nested>) -> u32 {
        self.stack.push(vertex);
        self.next += 1;
        self.number[vertex] = self.next;
        let mut head = self.next;
        let mut is_loop = false;
        let successors = self.successors;
        for &next in &successors[vertex] {
            let least = match self.number[next] {
                0 => self.visit(next, found),
                known => known,
            };
            if least <= head {
                head = least;
                is_loop = true;
            }
        }
        if head == self.number[vertex] {
            self.number[vertex] = DONE;
            let mut top = self.stack.pop();
            if is_loop {
                while let Some(other) = top.filter(|&other| other != vertex) {
                    self.number[other] = 0;
                    top = self.stack.pop();
                }
                let mut inner = Vec::new();
                for &next in &successors[vertex] {
                    if self.number[next] == 0 {
                        self.visit(next, &mut inner);
                    }
                }
                inner.reverse();
                found.push(Nested::Loop(vertex, inner));
            } else {
                found.push(Nested::Node(vertex));
            }
        }
        head
    }
}
