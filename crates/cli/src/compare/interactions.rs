//! `--interactions`: the change sequence graph, and inputs for its sequences.

use std::collections::BTreeMap;

use patchwright_changes::{Change, FileChange, Graph, Source, Vertex, measure};
use patchwright_compare::{Pair, Sequence, Side, sequences};
use patchwright_report::comparison::{Interactions, Met};
use patchwright_solve::{Budget, Terms};

use super::{read::Versions, symbolic::sample};

/// Sequences that are looked at most.
const MOST: usize = 64;

/// The change sequence graph, and the sequences to look for.
pub struct Plan {
    edges: Vec<(String, String)>,
    meeting: BTreeMap<u32, Vec<u32>>,
    /// The sequences, as lines of NEW.
    pub sequences: Vec<Vec<u32>>,
}

/// Returns the plan for the change between both versions.
pub fn plan(versions: &Versions) -> Plan {
    let source = |side: usize| Source {
        // One name, since it is one file.
        path: versions.both[1].source().path.clone(),
        text: versions.both[side].source().unit.source.to_vec(),
    };
    let change = Change {
        files: vec![FileChange {
            old: Some(source(0)),
            new: Some(source(1)),
        }],
        ..Change::default()
    };
    let measured = measure(&change);
    let line = |vertex: usize| match measured.graph.vertices.get(vertex) {
        Some(Vertex::Place { line, .. }) => Some(*line),
        _ => None,
    };
    let name = |vertex: usize| match vertex {
        Graph::ENTRY => "entry".to_owned(),
        Graph::EXIT => "exit".to_owned(),
        _ => line(vertex).map_or_else(String::new, |line| line.to_string()),
    };
    let edges = measured.graph.edges.iter();
    let edges = edges.map(|(from, to)| (name(*from), name(*to)));
    let mut all: Vec<Vec<u32>> = Vec::new();
    for sequence in measured.graph.sequences() {
        let lines: Vec<u32> = sequence.into_iter().filter_map(line).collect();
        if !all.contains(&lines) && all.len() < MOST {
            all.push(lines);
        }
    }
    let mut meeting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for function in &measured.functions {
        meeting.extend(function.interactions.iter().cloned());
    }
    Plan {
        edges: edges.collect(),
        meeting,
        sequences: all,
    }
}

/// Explores the sequences of changes of both versions.
pub fn interactions(
    versions: &Versions,
    terms: &mut Terms,
    pair: &Pair,
    budget: &Budget<'_>,
) -> Interactions {
    let plan = plan(versions);
    let file = &versions.both[1].source().path;
    let found = sequences(terms, pair, file, &plan.sequences, budget);
    let is_bounded = !pair.encoding(Side::New).unwinding.is_empty();
    let note = is_bounded.then_some("sequences are looked for within the bound");
    told(plan, found, note)
}

/// Makes the report of a plan's sequences.
pub fn told(plan: Plan, found: Vec<Sequence>, note: Option<&str>) -> Interactions {
    Interactions {
        edges: plan.edges,
        interaction_locations: plan.meeting.into_iter().collect(),
        sequences: found
            .into_iter()
            .map(|sequence| Met {
                lines: sequence.lines,
                feasible: sequence.feasible,
                differs: sequence.differs,
                critical: sequence.critical,
                sample: sequence
                    .sample
                    .map(|samples| sample(&samples))
                    .unwrap_or_default(),
            })
            .collect(),
        notes: note.into_iter().map(str::to_owned).collect(),
    }
}
