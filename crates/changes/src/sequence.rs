//! The inter-procedural change sequence graph (thesis, section 5.3, algorithm 7, for definition 14).
//!
//! Control-flow graphs are made for functions that changed or may come, by calls, to one that did; other functions are
//! passed without a trace. A path that goes into a function comes out again where it went in (summaries of calls); one
//! that begins inside of a function may come out at each of its calls. This is what definition 14 asks for; the
//! algorithm as printed follows calls but not returns.
//!
//! Calls through pointers are not followed; functions whose address is taken count as entries of the program instead.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_flow::{Cfg, Node};
use patchwright_graph::{reach, reachable};

/// A function and the parts of its control flow that the change sequence graph needs.
pub(crate) struct Part {
    pub cfg: Cfg,
    /// By node: the parts that it may call.
    pub calls: Vec<Vec<usize>>,
    /// By node: its vertex in the graph, if it changed.
    pub vertex: Vec<Option<usize>>,
    /// The program, or something unknown, may begin here.
    pub is_root: bool,
}

impl Part {
    /// Returns the nodes of changed statements, each with its vertex in the change sequence graph.
    pub fn changed(&self) -> impl Iterator<Item = (usize, usize)> {
        self.vertex
            .iter()
            .enumerate()
            .filter_map(|(node, vertex)| Some((node, (*vertex)?)))
    }
}

/// What may be executed first from some place on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ahead {
    /// Changes, as vertices.
    first: BTreeSet<usize>,
    /// The function's end may come without any of them.
    returns: bool,
    /// The program's end may.
    ends: bool,
}

/// Edges between the vertices; `entry` and `exit` are the vertices of the program's beginning and end.
pub(crate) fn edges(parts: &[Part], entry: usize, exit: usize) -> BTreeSet<(usize, usize)> {
    let summaries = summaries(parts);
    let mut callers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); parts.len()];
    for (caller, part) in parts.iter().enumerate() {
        for (node, called) in part.calls.iter().enumerate() {
            for called in called {
                callers[*called].push((caller, node));
            }
        }
    }
    let roots = roots(parts, &callers);
    // What may follow when a function returns to any of its callers, until nothing changes.
    let mut after: Vec<Ahead> = (0..parts.len())
        .map(|part| Ahead {
            ends: roots.contains(&part),
            ..Ahead::default()
        })
        .collect();
    let sites: BTreeMap<(usize, usize), Ahead> = callers
        .iter()
        .flatten()
        .map(|&(caller, node)| {
            let ahead = from_successors(&parts[caller], node, &summaries);
            ((caller, node), ahead)
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for part in 0..parts.len() {
            let mut found = after[part].clone();
            for site in &callers[part] {
                let ahead = &sites[site];
                found.first.extend(&ahead.first);
                found.ends |= ahead.ends;
                if ahead.returns {
                    let beyond = after[site.0].clone();
                    found.first.extend(beyond.first);
                    found.ends |= beyond.ends;
                }
            }
            if found != after[part] {
                after[part] = found;
                changed = true;
            }
        }
    }
    let mut edges = BTreeSet::new();
    for root in roots {
        let ahead = &summaries[root];
        edges.extend(ahead.first.iter().map(|vertex| (entry, *vertex)));
    }
    for (part_index, part) in parts.iter().enumerate() {
        for (node, vertex) in part.changed() {
            let ahead = from_node(part, node, &summaries);
            let mut next = ahead.first;
            let mut ends = ahead.ends;
            if ahead.returns {
                next.extend(&after[part_index].first);
                ends |= after[part_index].ends;
            }
            edges.extend(next.into_iter().map(|to| (vertex, to)));
            if ends {
                edges.insert((vertex, exit));
            }
        }
    }
    edges
}

/// The parts where the program may begin. One that no root comes to, by itself or as part of a cycle of calls, is one.
fn roots(parts: &[Part], callers: &[Vec<(usize, usize)>]) -> BTreeSet<usize> {
    let mut roots: BTreeSet<usize> = (0..parts.len())
        .filter(|part| parts[*part].is_root || callers[*part].is_empty())
        .collect();
    let calls = parts.iter().map(|part| part.calls.concat());
    let calls: Vec<Vec<usize>> = calls.collect();
    let mut reached = reachable(&calls, roots.iter().copied());
    for part in 0..parts.len() {
        if !reached[part] {
            roots.insert(part);
            reach(&calls, [part], &mut reached);
        }
    }
    roots
}

/// What each part does when it is called, until nothing changes: recursion adds, and never takes away.
fn summaries(parts: &[Part]) -> Vec<Ahead> {
    let mut summaries = vec![Ahead::default(); parts.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, part) in parts.iter().enumerate() {
            let ahead = from_successors(part, Cfg::ENTRY, &summaries);
            if ahead != summaries[i] {
                summaries[i] = ahead;
                changed = true;
            }
        }
    }
    summaries
}

/// What is ahead when a node has been executed, but not yet what it calls.
fn from_node(part: &Part, node: usize, summaries: &[Ahead]) -> Ahead {
    let mut ahead = Ahead::default();
    if called(part, node, summaries, &mut ahead) {
        let beyond = from_successors(part, node, summaries);
        ahead.first.extend(beyond.first);
        ahead.returns |= beyond.returns;
        ahead.ends |= beyond.ends;
    }
    ahead
}

/// Adds what the calls of a node come to; tells whether control may pass them all without a change.
fn called(part: &Part, node: usize, summaries: &[Ahead], ahead: &mut Ahead) -> bool {
    let mut passes = true;
    for called in &part.calls[node] {
        let summary = &summaries[*called];
        ahead.first.extend(&summary.first);
        ahead.ends |= summary.ends;
        passes &= summary.returns;
    }
    passes
}

/// What is ahead when a node and what it calls have been executed.
fn from_successors(part: &Part, node: usize, summaries: &[Ahead]) -> Ahead {
    let mut ahead = Ahead::default();
    let mut seen = vec![false; part.cfg.node_count()];
    let leave = |node: usize, ahead: &mut Ahead, open: &mut Vec<usize>| {
        if part.cfg.ends_program(node) {
            ahead.ends = true;
        } else {
            open.extend(part.cfg.successors(node));
        }
    };
    let mut open = Vec::new();
    leave(node, &mut ahead, &mut open);
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        if part.cfg.node(node) == Node::Exit {
            ahead.returns = true;
        } else if let Some(vertex) = part.vertex[node] {
            ahead.first.insert(vertex);
        } else if called(part, node, summaries, &mut ahead) {
            leave(node, &mut ahead, &mut open);
        }
    }
    ahead
}
