//! Changes made from texts.
#![allow(dead_code, reason = "each test uses a part of it")]

use patchwright_changes::{Change, FileChange, Graph, Measurement, Source, Vertex, measure};

pub fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.as_bytes().to_vec(),
    }
}

/// One file in two versions.
pub fn change(old: &str, new: &str) -> Measurement {
    change_files(&[("a.c", old, new)])
}

/// Files in two versions; an empty text is no file.
pub fn change_files(files: &[(&str, &str, &str)]) -> Measurement {
    let side = |path: &str, text: &str| (!text.is_empty()).then(|| source(path, text));
    measure(&Change {
        files: files
            .iter()
            .map(|(path, old, new)| FileChange {
                old: side(path, old),
                new: side(path, new),
            })
            .collect(),
        ..Change::default()
    })
}

/// The name of a vertex: `entry`, `exit`, or its line.
pub fn name(graph: &Graph, vertex: usize) -> String {
    match &graph.vertices[vertex] {
        Vertex::Entry => "entry".to_owned(),
        Vertex::Exit => "exit".to_owned(),
        Vertex::Place { line, .. } => line.to_string(),
    }
}

/// The edges as `1->2`, sorted as text.
pub fn edges(graph: &Graph) -> Vec<String> {
    let mut edges: Vec<String> = graph
        .edges
        .iter()
        .map(|(from, to)| format!("{}->{}", name(graph, *from), name(graph, *to)))
        .collect();
    edges.sort();
    edges
}

/// The linearly independent sequences as `1-2-3`.
pub fn sequences(graph: &Graph) -> Vec<String> {
    graph
        .sequences()
        .iter()
        .map(|sequence| {
            let names: Vec<String> = sequence.iter().map(|vertex| name(graph, *vertex)).collect();
            names.join("-")
        })
        .collect()
}
