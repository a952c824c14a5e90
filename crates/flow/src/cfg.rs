//! The control-flow graph of a function, one node for each action.
//!
//! Operands of `&&` and `||` in conditions are nodes of their own, as they are in a compiler's basic blocks; elsewhere
//! an expression is one node. Conditions that are constants have one way out. Functions that are known not to return
//! lead to the exit.

use rustc_hash::FxHashMap;

use crate::outline::*;

/// A node of a control-flow graph: entry, exit, an action, or a place of deleted statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// The beginning of the function.
    Entry,
    /// Its end: a `return`, the closing brace, or a call that does not return.
    Exit,
    /// An action.
    Action(ActionId),
    /// A place where something used to be; the number is the caller's.
    Deleted(u32),
}

/// The numbers of deleted statements by place. A place is before the statement with this index of a
/// block, or behind the last one.
pub type Deletions = FxHashMap<(BlockId, usize), u32>;

/// A control-flow graph. Nodes are numbered; [`Cfg::ENTRY`] and [`Cfg::EXIT`] are the first two.
#[derive(Clone, Debug)]
pub struct Cfg {
    nodes: Vec<Node>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    ends_program: Vec<bool>,
}

impl Cfg {
    /// The node of the function's entry.
    pub const ENTRY: usize = 0;
    /// The node of the function's exit.
    pub const EXIT: usize = 1;

    /// Builds the control-flow graph of `function`.
    pub fn new(function: &Function) -> Self {
        Self::with_deletions(function, &Deletions::default())
    }

    /// Builds the control-flow graph of `function` with a node at each place of deleted statements.
    pub fn with_deletions(function: &Function, deletions: &Deletions) -> Self {
        let mut builder = Builder {
            function,
            deletions,
            nodes: vec![Step::Node(Node::Entry), Step::Node(Node::Exit)],
            successors: vec![Vec::new(), Vec::new()],
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            labels: FxHashMap::default(),
            gotos: Vec::new(),
            computed: Vec::new(),
        };
        let ends = builder.block(&function.body, vec![Cfg::ENTRY]);
        builder.connect(&ends, Cfg::EXIT);
        builder.finish()
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns what a node stands for.
    pub fn node(&self, index: usize) -> Node {
        self.nodes[index]
    }

    /// Returns the nodes to which control may go from a node.
    pub fn successors(&self, index: usize) -> &[usize] {
        &self.successors[index]
    }

    /// Returns for each node the nodes that can follow it.
    pub fn all_successors(&self) -> &[Vec<usize>] {
        &self.successors
    }

    /// Returns the nodes from which control may come to a node.
    pub fn predecessors(&self, index: usize) -> &[usize] {
        &self.predecessors[index]
    }

    /// Whether the program ends in this node, because it calls `exit` or a similar function.
    pub fn ends_program(&self, index: usize) -> bool {
        self.ends_program[index]
    }
}

/// A node while the graph is made; joins vanish in the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Node(Node),
    Join,
}

struct Builder<'a> {
    function: &'a Function,
    deletions: &'a Deletions,
    nodes: Vec<Step>,
    successors: Vec<Vec<usize>>,
    /// Where `break` and `continue` stand, for each loop or `switch` around.
    breaks: Vec<Vec<usize>>,
    continues: Vec<Vec<usize>>,
    /// The node of each `switch` around, and whether a `default:` was met.
    switches: Vec<(usize, bool)>,
    labels: FxHashMap<&'a str, usize>,
    gotos: Vec<(usize, &'a str)>,
    computed: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, step: Step) -> usize {
        self.nodes.push(step);
        self.successors.push(Vec::new());
        self.nodes.len() - 1
    }

    fn connect(&mut self, from: &[usize], to: usize) {
        for node in from {
            if !self.successors[*node].contains(&to) {
                self.successors[*node].push(to);
            }
        }
    }

    fn join(&mut self, from: &[usize]) -> usize {
        let join = self.add(Step::Join);
        self.connect(from, join);
        join
    }

    /// A node for what is executed; what is not adds none.
    fn action(&mut self, action: ActionId, from: Vec<usize>) -> Vec<usize> {
        let function = self.function;
        let about = function.action(action);
        if let ActionKind::Label(name) = &about.kind {
            let join = self.join(&from);
            self.labels.insert(name, join);
            return vec![join];
        }
        if !about.is_executable() {
            return from;
        }
        let node = self.add(Step::Node(Node::Action(action)));
        self.connect(&from, node);
        match &about.kind {
            ActionKind::Case | ActionKind::Default => {
                if let Some((switch, default)) = self.switches.last_mut() {
                    *default |= about.kind == ActionKind::Default;
                    let switch = *switch;
                    self.connect(&[switch], node);
                }
            }
            ActionKind::Goto(label) => {
                self.gotos.push((node, label));
                return Vec::new();
            }
            ActionKind::ComputedGoto => {
                self.computed.push(node);
                return Vec::new();
            }
            ActionKind::Break => {
                if let Some(breaks) = self.breaks.last_mut() {
                    breaks.push(node);
                    return Vec::new();
                }
            }
            ActionKind::Continue => {
                if let Some(continues) = self.continues.last_mut() {
                    continues.push(node);
                    return Vec::new();
                }
            }
            ActionKind::Return => {
                self.connect(&[node], Cfg::EXIT);
                return Vec::new();
            }
            _ if ends_program(about) => {
                self.connect(&[node], Cfg::EXIT);
                return Vec::new();
            }
            _ => {}
        }
        vec![node]
    }

    /// The ways out of a condition: when it holds, and when it does not.
    fn condition(&mut self, condition: &Condition, from: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        match condition {
            Condition::Leaf(action) => {
                let ends = self.action(*action, from);
                match self.function.action(*action).kind {
                    ActionKind::Condition(Some(true)) => (ends, Vec::new()),
                    ActionKind::Condition(Some(false)) => (Vec::new(), ends),
                    _ => (ends.clone(), ends),
                }
            }
            Condition::And(left, right) => {
                let (holds, mut fails) = self.condition(left, from);
                let (both, fails_right) = self.condition(right, holds);
                fails.extend(fails_right);
                (both, fails)
            }
            Condition::Or(left, right) => {
                let (mut holds, fails) = self.condition(left, from);
                let (holds_right, neither) = self.condition(right, fails);
                holds.extend(holds_right);
                (holds, neither)
            }
            Condition::Not(inner) => {
                let (holds, fails) = self.condition(inner, from);
                (fails, holds)
            }
        }
    }

    fn block(&mut self, block: &Block, mut from: Vec<usize>) -> Vec<usize> {
        for (i, statement) in block.statements.iter().enumerate() {
            from = self.deleted(block.id, i, from);
            from = self.statement(statement, from);
        }
        self.deleted(block.id, block.statements.len(), from)
    }

    fn deleted(&mut self, block: BlockId, index: usize, from: Vec<usize>) -> Vec<usize> {
        match self.deletions.get(&(block, index)) {
            Some(number) => {
                let node = self.add(Step::Node(Node::Deleted(*number)));
                match self.switches.last() {
                    // Behind a `break`: what used to be there was a case.
                    Some((switch, _)) if from.is_empty() => self.connect(&[*switch], node),
                    _ => self.connect(&from, node),
                }
                vec![node]
            }
            None => from,
        }
    }

    /// The body of a loop; gives the ends from which the next round begins, and where `break` stands.
    fn round(&mut self, body: &Block, from: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        self.breaks.push(Vec::new());
        self.continues.push(Vec::new());
        let mut ends = self.block(body, from);
        ends.extend(self.continues.pop().unwrap_or_default());
        (ends, self.breaks.pop().unwrap_or_default())
    }

    fn statement(&mut self, statement: &Statement, from: Vec<usize>) -> Vec<usize> {
        match statement {
            Statement::Simple(action) => self.action(*action, from),
            Statement::Block(block) => self.block(block, from),
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let (holds, fails) = self.condition(condition, from);
                let mut ends = self.block(then, holds);
                ends.extend(self.block(otherwise, fails));
                ends
            }
            Statement::While { condition, body } => {
                let head = self.join(&from);
                let (holds, mut fails) = self.condition(condition, vec![head]);
                let (ends, breaks) = self.round(body, holds);
                self.connect(&ends, head);
                fails.extend(breaks);
                fails
            }
            Statement::Do { body, condition } => {
                let head = self.join(&from);
                let (ends, breaks) = self.round(body, vec![head]);
                let (holds, mut fails) = self.condition(condition, ends);
                self.connect(&holds, head);
                fails.extend(breaks);
                fails
            }
            Statement::For {
                init,
                condition,
                step,
                body,
            } => {
                let from = match init {
                    Some(init) => self.action(*init, from),
                    None => from,
                };
                let head = self.join(&from);
                let (holds, mut fails) = match condition {
                    Some(condition) => self.condition(condition, vec![head]),
                    None => (vec![head], Vec::new()),
                };
                let (ends, breaks) = self.round(body, holds);
                let ends = match step {
                    Some(step) => self.action(*step, ends),
                    None => ends,
                };
                self.connect(&ends, head);
                fails.extend(breaks);
                fails
            }
            Statement::MacroLoop { head, body } => {
                let join = self.join(&from);
                let mut head = self.action(*head, vec![join]);
                let (ends, breaks) = self.round(body, head.clone());
                self.connect(&ends, join);
                head.extend(breaks);
                head
            }
            Statement::Switch { value, body } => {
                let value = self.action(*value, from);
                let Some(&node) = value.first() else {
                    return self.block(body, Vec::new());
                };
                self.switches.push((node, false));
                self.breaks.push(Vec::new());
                let mut ends = self.block(body, Vec::new());
                ends.extend(self.breaks.pop().unwrap_or_default());
                if let Some((_, false)) = self.switches.pop() {
                    ends.extend(value);
                }
                ends
            }
        }
    }

    /// Resolves `goto` and takes the joins out.
    fn finish(mut self) -> Cfg {
        for (node, label) in std::mem::take(&mut self.gotos) {
            // A label that is not there: the function could not be read in whole.
            let target = self.labels.get(label).copied().unwrap_or(Cfg::EXIT);
            self.connect(&[node], target);
        }
        let mut labels: Vec<usize> = self.labels.values().copied().collect();
        labels.sort_unstable();
        for node in std::mem::take(&mut self.computed) {
            for label in &labels {
                self.connect(&[node], *label);
            }
        }
        let mut number = vec![usize::MAX; self.nodes.len()];
        let mut nodes = Vec::new();
        for (i, step) in self.nodes.iter().enumerate() {
            if let Step::Node(node) = step {
                number[i] = nodes.len();
                nodes.push(*node);
            }
        }
        let mut successors = Vec::with_capacity(nodes.len());
        for (i, step) in self.nodes.iter().enumerate() {
            if *step == Step::Join {
                continue;
            }
            let mut found = Vec::new();
            let mut seen = vec![];
            let mut open: Vec<usize> = self.successors[i].iter().rev().copied().collect();
            while let Some(next) = open.pop() {
                if self.nodes[next] != Step::Join {
                    if !found.contains(&number[next]) {
                        found.push(number[next]);
                    }
                } else if !seen.contains(&next) {
                    seen.push(next);
                    open.extend(self.successors[next].iter().rev());
                }
            }
            successors.push(found);
        }
        let predecessors = patchwright_graph::reversed(&successors);
        let ends_program = nodes
            .iter()
            .map(|node| match node {
                Node::Action(action) => ends_program(self.function.action(*action)),
                _ => false,
            })
            .collect();
        Cfg {
            nodes,
            successors,
            predecessors,
            ends_program,
        }
    }
}

/// Whether an action calls a function that does not return, and does so whenever it is executed.
fn ends_program(action: &Action) -> bool {
    action.kind == ActionKind::Statement
        && matches!(&action.calls[..], [first, ..] if patchwright_clib::never_returns(first))
}
