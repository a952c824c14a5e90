//! Measures a change: from two versions of files to the graph, the complexity and the numbers of lines.

use std::collections::{BTreeMap, BTreeSet};

use std::rc::Rc;
use std::sync::Arc;

use patchwright_flow::{Cfg, Function, Node};
use patchwright_graph::{reachable, reversed};
use rustc_hash::FxHashMap;

use crate::align::Alteration;
use crate::compare::{
    Differences, FileChange, FunctionChange, Note, Outside, Source, Status, compare,
};
use crate::definitions::{Definitions, Version};
use crate::graph::{Graph, Role, Vertex};
use crate::interaction::{InteractionGraph, interaction_graph};
use crate::program::{Known, Outlines, Program, files_that_matter};
use crate::sequence::{Part, edges};
use crate::uses;

/// Files in two versions, and the other files of the program.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The files that differ.
    pub files: Vec<FileChange>,
    /// Other files of the new version, whose calls count. Without them a function that other files can see counts as
    /// one with which the program may begin, unless `main` is in its file.
    pub rest: Option<Vec<Arc<Source>>>,
    /// What is known of macros.
    pub definitions: Definitions,
    /// Where the headers of both versions are, if they are to be read where flags are known.
    pub versions: Option<[Rc<dyn Version>; 2]>,
}

/// The figures of a function that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFunction {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its line in the new version; in the old one if it was removed.
    pub line: u32,
    /// What became of it.
    pub status: Status,
    /// Actions that were added, modified, moved.
    pub altered: [usize; 3],
    /// Actions that are as they were, and use a macro or a variable that is not.
    pub uses: usize,
    /// Places of deleted statements.
    pub deleted: usize,
    /// Executable changed lines.
    pub changed_lines: usize,
    /// What stands before its body differs.
    pub signature: bool,
    /// Lines of potential interaction locations (algorithm 5), each with the lines of the changes that can meet there.
    pub interactions: Vec<(u32, Vec<u32>)>,
}

/// The figures of a change: graph, functions, lines and notes.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// The change sequence graph.
    pub graph: Graph,
    /// Executable changed lines (CLoC): lines of the new version with tokens of changed statements, and one for each
    /// place of deleted statements.
    pub changed_lines: usize,
    /// The functions that changed.
    pub functions: Vec<MeasuredFunction>,
    /// What changed outside of functions and is no part of the graph.
    pub outside: Outside,
    /// Declarations inside of functions that execute nothing and changed.
    pub local_declarations: usize,
    /// What could not be measured as it should.
    pub notes: Vec<Note>,
}

impl Measurement {
    /// Returns the cyclomatic complexity of the change (CyCC).
    pub fn complexity(&self) -> usize {
        self.graph.complexity()
    }
}

/// Builds the change sequence graph of a change and counts its changed lines, functions and declarations.
pub fn measure(change: &Change) -> Measurement {
    measure_with(change, &mut Outlines::default())
}

/// Measures one of several changes that have the same definitions. Files that do not change between them
/// are read once, into `outlines`.
pub fn measure_with(change: &Change, outlines: &mut Outlines) -> Measurement {
    let differences = compare(change);
    let redefined: Vec<&str> = differences.redefined.iter().map(String::as_str).collect();
    let widened = match redefined.is_empty() {
        true => None,
        false => uses::widened(change, &redefined, outlines),
    };
    let (change, mut differences) = match &widened {
        Some(wide) => (wide, compare(wide)),
        None => (change, differences),
    };
    if change.rest.is_none() && !differences.redefined.is_empty() {
        let names = differences.redefined.clone();
        differences.notes.push(Note::UsesElsewhere { names });
    }
    let rest = files_that_matter(change, &differences, outlines);
    let program = Program::of(change, &differences, &rest);
    let mut builder = Builder::new(change, &program);
    builder.build();
    let (graph, unreachable) = (builder.graph, builder.unreachable);
    let mut changed_lines = 0;
    let mut functions = Vec::new();
    let mut local_declarations = 0;
    for function in &differences.functions {
        let difference = &function.difference;
        let lines = difference.lines.len() + difference.deletions.len();
        changed_lines += lines;
        local_declarations += difference.declarations;
        let count = |kind: Alteration| difference.altered.values().filter(|a| **a == kind).count();
        functions.push(MeasuredFunction {
            name: function.name.clone(),
            file: path_of(change, function),
            line: function.line,
            status: function.status.clone(),
            altered: [Alteration::Added, Alteration::Modified, Alteration::Moved].map(count),
            uses: count(Alteration::Used),
            deleted: difference.deletions.len(),
            changed_lines: lines,
            signature: difference.signature,
            interactions: interactions(&differences, function),
        });
    }
    Measurement {
        graph,
        changed_lines,
        functions,
        outside: differences.outside,
        local_declarations,
        notes: differences.notes.into_iter().chain(unreachable).collect(),
    }
}

fn path_of(change: &Change, function: &FunctionChange) -> String {
    let file = &change.files[function.file];
    let source = match function.status {
        Status::Removed => file.old.as_ref(),
        _ => file.new.as_ref(),
    };
    source.map_or(String::new(), |source| source.path.clone())
}

/// Algorithm 5 in the function by itself; its outputs are its end and its assertions.
fn interactions(differences: &Differences, change: &FunctionChange) -> Vec<(u32, Vec<u32>)> {
    let Some(index) = change.index else {
        return Vec::new();
    };
    let function = &differences.outlines[change.file].functions[index];
    if change.status == Status::Added || change.difference.altered.len() < 2 {
        return Vec::new();
    }
    let cfg = Cfg::with_deletions(function, &change.difference.places);
    let graph = function_interactions(function, &cfg, change);
    let line = |node: usize| match cfg.node(node) {
        Node::Action(action) => function.action(action).line,
        Node::Deleted(number) => change.difference.deletions[number as usize].line,
        Node::Entry | Node::Exit => function.line,
    };
    let mut found: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (node, on) in &graph.interactions {
        let lines = on.iter().map(|change| line(*change));
        found.entry(line(*node)).or_default().extend(lines);
    }
    found
        .into_iter()
        .map(|(line, on)| (line, on.into_iter().collect()))
        .collect()
}

fn function_interactions(
    function: &Function,
    cfg: &Cfg,
    change: &FunctionChange,
) -> InteractionGraph {
    let changes = (0..cfg.node_count())
        .filter(|node| is_changed(cfg.node(*node), change))
        .collect();
    let outputs = (0..cfg.node_count())
        .filter(|node| match cfg.node(*node) {
            Node::Exit => true,
            Node::Action(action) => function.action(action).calls.iter().any(|c| c == "assert"),
            _ => false,
        })
        .collect();
    interaction_graph(function, cfg, &changes, &outputs)
}

fn is_changed(node: Node, change: &FunctionChange) -> bool {
    match node {
        Node::Action(action) => change.difference.altered.contains_key(&action),
        Node::Deleted(_) => true,
        Node::Entry | Node::Exit => false,
    }
}

struct Builder<'a> {
    change: &'a Change,
    program: &'a Program<'a>,
    graph: Graph,
    unreachable: Vec<Note>,
}

impl<'a> Builder<'a> {
    fn new(change: &'a Change, program: &'a Program<'a>) -> Self {
        Builder {
            change,
            program,
            graph: Graph::default(),
            unreachable: Vec::new(),
        }
    }

    fn build(&mut self) {
        let relevant = self.relevant();
        let number: FxHashMap<usize, usize> = relevant
            .iter()
            .enumerate()
            .map(|(i, id)| (*id, i))
            .collect();
        let mut parts = Vec::new();
        for &id in &relevant {
            parts.push(self.part(id, &number));
        }
        self.graph.edges = edges(&parts, Graph::ENTRY, Graph::EXIT);
        self.leave_out_unreachable();
        self.end_endless();
    }

    /// What control never comes to is in no sequence (definition 14), so it is no vertex; it is told.
    fn leave_out_unreachable(&mut self) {
        let mut reached = reachable(&self.graph.all_successors(), [Graph::ENTRY]);
        reached[Graph::EXIT] = true;
        let mut numbers = vec![0; reached.len()];
        let mut kept = Vec::new();
        for (old, vertex) in std::mem::take(&mut self.graph.vertices)
            .into_iter()
            .enumerate()
        {
            numbers[old] = kept.len();
            match vertex {
                Vertex::Place {
                    file,
                    function,
                    line,
                    ..
                } if !reached[old] => self.unreachable.push(Note::Unreachable {
                    path: file,
                    function,
                    line,
                }),
                vertex => kept.push(vertex),
            }
        }
        self.graph.vertices = kept;
        let edges = std::mem::take(&mut self.graph.edges);
        let edges = edges.into_iter().filter(|(from, _)| reached[*from]);
        self.graph.edges = edges
            .map(|(from, to)| (numbers[from], numbers[to]))
            .collect();
    }

    /// Functions that changed or may come, by calls, to one that did, in a fixed order.
    fn relevant(&self) -> Vec<usize> {
        let known = &self.program.known;
        let changed = |id: usize| {
            known[id].change.is_some_and(|change| {
                !change.difference.altered.is_empty() || !change.difference.deletions.is_empty()
            })
        };
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
        for (id, caller) in known.iter().enumerate() {
            let mut names: Vec<&str> = caller
                .function
                .actions
                .iter()
                .flat_map(|action| action.calls.iter().map(String::as_str))
                .collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                for called in self.program.resolve(caller.file, name) {
                    callers[called].push(id);
                }
            }
        }
        let relevant = reachable(&callers, (0..known.len()).filter(|id| changed(*id)));
        (0..known.len()).filter(|id| relevant[*id]).collect()
    }

    fn part(&mut self, id: usize, number: &FxHashMap<usize, usize>) -> Part {
        let known = &self.program.known[id];
        let (function, change) = (known.function, known.change);
        let cfg = match change {
            Some(change) => Cfg::with_deletions(function, &change.difference.places),
            None => Cfg::new(function),
        };
        let mut calls = vec![Vec::new(); cfg.node_count()];
        let mut vertex = vec![None; cfg.node_count()];
        for node in 0..cfg.node_count() {
            if let Node::Action(action) = cfg.node(node) {
                for name in &function.action(action).calls {
                    let called = self.program.resolve(known.file, name);
                    calls[node].extend(called.iter().filter_map(|id| number.get(id)));
                }
            }
            if let Some(change) = change
                && is_changed(cfg.node(node), change)
            {
                vertex[node] = Some(self.vertex(known, change, cfg.node(node)));
            }
        }
        Part {
            cfg,
            calls,
            vertex,
            is_root: self.program.is_root(id),
        }
    }

    fn vertex(&mut self, known: &Known, change: &FunctionChange, node: Node) -> usize {
        let source = self.change.files[change.file].new.as_ref();
        let (role, line, text) = match node {
            Node::Deleted(number) => {
                let deletion = &change.difference.deletions[number as usize];
                let text = format!("deleted: line {} of the old version", deletion.old_line);
                (Role::Deleted, deletion.line, text)
            }
            Node::Action(action) => {
                let action = known.function.action(action);
                let text = source.map_or(&[][..], |s| &s.text[action.span.range()]);
                let text = String::from_utf8_lossy(text);
                let words: Vec<&str> = text.split_whitespace().collect();
                (Role::Changed, action.line, words.join(" "))
            }
            Node::Entry | Node::Exit => (Role::Changed, known.function.line, String::new()),
        };
        self.graph.vertices.push(Vertex::Place {
            role,
            file: known.path.to_owned(),
            function: known.function.name.clone(),
            line,
            text,
        });
        self.graph.vertices.len() - 1
    }

    /// A program that never ends is ended some time: where no way leads to the exit, the last change in the source gets
    /// an edge to it.
    fn end_endless(&mut self) {
        loop {
            let before = reversed(&self.graph.all_successors());
            let reaches = reachable(&before, [Graph::EXIT]);
            match (Graph::EXIT + 1..before.len()).rev().find(|v| !reaches[*v]) {
                Some(stuck) => self.graph.edges.insert((stuck, Graph::EXIT)),
                None => return,
            };
        }
    }
}
