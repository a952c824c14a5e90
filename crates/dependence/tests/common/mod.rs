//! C sources as linked programs.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeSet;

use patchwright_dependence::{Bits, Criterion, Graph, VertexId};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::Program;
pub use patchwright_testkit::module;

/// A program of one translation unit.
pub fn program(source: &str) -> Program {
    Program::link(vec![module(source)]).expect("links")
}

/// The vertices of a line, or of a variable there.
pub fn at(graph: &Graph<'_>, line: u32, variable: Option<&str>) -> Vec<VertexId> {
    let criterion = Criterion {
        file: "unit.c".to_owned(),
        line,
        variable: variable.map(str::to_owned),
    };
    graph.criterion(&criterion).expect("there is code")
}

/// The lines of a slice.
pub fn lines(graph: &Graph<'_>, slice: &Bits) -> BTreeSet<u32> {
    graph.lines(slice).keys().map(|line| line.line).collect()
}

/// The lines of the backward slice of a line.
pub fn backward(graph: &Graph<'_>, line: u32) -> BTreeSet<u32> {
    lines(graph, &graph.backward(&at(graph, line, None)))
}

/// The lines of the forward slice of a line.
pub fn forward(graph: &Graph<'_>, line: u32) -> BTreeSet<u32> {
    lines(graph, &graph.forward(&at(graph, line, None)))
}

/// What a program prints, which ends by itself.
pub fn output(modules: Vec<patchwright_ir::Module>) -> String {
    let mut world = Closed::default();
    let mut machine = Machine::link(modules, Limits::default(), &mut world).expect("links");
    let outcome = machine.run(&[b"prog".to_vec()], &[]);
    assert!(
        matches!(outcome.ending, Ending::Exit(_)),
        "{:?}",
        outcome.ending
    );
    drop(machine);
    String::from_utf8_lossy(&world.output).into_owned()
}
