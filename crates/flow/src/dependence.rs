//! Reaching definitions, program dependence and slices of one function.
//!
//! Data flows through variables by name. Memory behind pointers is one variable ([`MEMORY`]), which the variables whose
//! address is taken share; writes to it, to members and to elements leave the former value possible. Calls write what
//! they are given the address of. Two variables of one name in nested scopes count as one.

use patchwright_graph::{reachable, reversed};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::{Cfg, Node};
use crate::dominators::control_dependence;
use crate::outline::{Definition, Function, MEMORY};

/// The direct dependences between the nodes of one function (the program dependence graph).
#[derive(Clone, Debug)]
pub struct Dependence {
    /// By node: the nodes whose branch decides whether it is executed.
    pub control: Vec<Vec<usize>>,
    /// By node: the nodes that may have written what it reads.
    pub data: Vec<Vec<usize>>,
}

impl Dependence {
    /// Computes the dependences between the nodes of `cfg`, the graph of `function`.
    pub fn of(function: &Function, cfg: &Cfg) -> Self {
        Dependence {
            control: control_dependence(cfg),
            data: data_dependence(function, cfg),
        }
    }

    /// By node: those on which it depends.
    fn on(&self) -> Vec<Vec<usize>> {
        let both = self.control.iter().zip(&self.data);
        both.map(|(control, data)| [&control[..], data].concat())
            .collect()
    }

    /// Returns all nodes on which one of `criterion` depends, and these themselves.
    pub fn backward_slice(&self, criterion: &[usize]) -> FxHashSet<usize> {
        members(&reachable(&self.on(), criterion.iter().copied()))
    }

    /// Returns all nodes that depend on one of `criterion`, and these themselves.
    pub fn forward_slice(&self, criterion: &[usize]) -> FxHashSet<usize> {
        members(&reachable(&reversed(&self.on()), criterion.iter().copied()))
    }
}

fn members(reached: &[bool]) -> FxHashSet<usize> {
    let all = reached.iter().enumerate();
    all.filter(|(_, reached)| **reached)
        .map(|(node, _)| node)
        .collect()
}

/// What each node writes, what pointers may reach included.
fn definitions(function: &Function, cfg: &Cfg) -> Vec<Vec<Definition>> {
    (0..cfg.node_count())
        .map(|index| match cfg.node(index) {
            Node::Action(action) => {
                let mut written = function.action(action).definitions.clone();
                if written.iter().any(|d| d.name == MEMORY) {
                    written.extend(function.addressed.iter().map(|name| Definition {
                        name: name.clone(),
                        whole: false,
                    }));
                }
                written
            }
            Node::Entry => function
                .parameters
                .iter()
                .map(|name| Definition {
                    name: name.clone(),
                    whole: true,
                })
                .collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn data_dependence(function: &Function, cfg: &Cfg) -> Vec<Vec<usize>> {
    let written = definitions(function, cfg);
    // Reaching definitions: sets of (variable, node), forward, until nothing changes.
    let mut sites: Vec<(&str, usize)> = Vec::new();
    let mut sites_of: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut generated = vec![Vec::new(); cfg.node_count()];
    for (node, written) in written.iter().enumerate() {
        for definition in written {
            sites_of
                .entry(&definition.name)
                .or_default()
                .push(sites.len());
            generated[node].push(sites.len());
            sites.push((&definition.name, node));
        }
    }
    let mut reach_in: Vec<FxHashSet<usize>> = vec![FxHashSet::default(); cfg.node_count()];
    let mut open: Vec<usize> = (0..cfg.node_count()).rev().collect();
    while let Some(node) = open.pop() {
        let mut out = reach_in[node].clone();
        for definition in written[node].iter().filter(|d| d.whole) {
            for site in &sites_of[definition.name.as_str()] {
                out.remove(site);
            }
        }
        out.extend(&generated[node]);
        for &next in cfg.successors(node) {
            let before = reach_in[next].len();
            reach_in[next].extend(&out);
            if reach_in[next].len() > before && !open.contains(&next) {
                open.push(next);
            }
        }
    }
    (0..cfg.node_count())
        .map(|node| {
            let Node::Action(action) = cfg.node(node) else {
                return Vec::new();
            };
            let mut used: Vec<&str> = function
                .action(action)
                .uses
                .iter()
                .map(String::as_str)
                .collect();
            if used.contains(&MEMORY) {
                used.extend(function.addressed.iter().map(String::as_str));
            }
            let mut on: Vec<usize> = used
                .iter()
                .filter_map(|name| sites_of.get(name))
                .flatten()
                .filter(|site| reach_in[node].contains(site))
                .map(|site| sites[*site].1)
                .collect();
            on.sort_unstable();
            on.dedup();
            on
        })
        .collect()
}
