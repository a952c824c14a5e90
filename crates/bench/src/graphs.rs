//! Measures the analyses of real source files: lowering, points-to sets, the dependence graph, and
//! slices.

use std::{error::Error, ffi::OsStr, path::PathBuf, time::Instant};

use patchwright_dependence::{Bits, Graph, VertexId};
use patchwright_exec::own_peak_memory;
use patchwright_ir::Program;

use crate::locations::each_source;

/// Slices that are taken of each file.
const SLICES: usize = 100;

/// Prints a row for each source whose path ends with one of `sources`, or for all sources.
pub fn run(
    projects: &[PathBuf],
    build: Option<&OsStr>,
    sources: &[String],
) -> Result<bool, Box<dyn Error>> {
    println!(
        "| file | lines | functions | instructions | vertices | dependences | seconds: reading, lowering, graph | \
         {SLICES} backward slices | {SLICES} forward slices | mean share of lines | peak MiB |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for project in projects {
        each_source(project, build, &mut |source| {
            if !sources.is_empty() && !sources.iter().any(|end| source.name.ends_with(end)) {
                return Ok(());
            }
            let lines = source.text.split(|&byte| byte == b'\n').count();
            let begin = Instant::now();
            let command = &source.commands[0];
            let runner = &mut source.worker.runner;
            let unit = patchwright_csource::parse(source.clang, runner, command, source.text)?;
            let reading = begin.elapsed();
            let begin = Instant::now();
            let module = patchwright_lower::lower(&unit, &command.file.to_string_lossy());
            drop(unit);
            let lowering = begin.elapsed();
            let begin = Instant::now();
            let program = Program::link(vec![module])?;
            let graph = Graph::of(&program);
            let building = begin.elapsed();
            let all: Bits = (0..graph.vertex_count() as u32).collect();
            let instructions: Vec<VertexId> = graph.instructions_of(&all).collect();
            let total = graph.lines(&all).len().max(1);
            let criteria: Vec<VertexId> = instructions
                .iter()
                .copied()
                .step_by((instructions.len() / SLICES).max(1))
                .take(SLICES)
                .collect();
            let begin = Instant::now();
            let backward: Vec<Bits> = criteria.iter().map(|&id| graph.backward(&[id])).collect();
            let backward_time = begin.elapsed();
            let begin = Instant::now();
            let forward: Vec<Bits> = criteria.iter().map(|&id| graph.forward(&[id])).collect();
            let forward_time = begin.elapsed();
            let share: usize = backward
                .iter()
                .chain(&forward)
                .map(|slice| graph.lines(slice).len())
                .sum();
            let functions = program.routines.iter().filter(|routine| routine.defined);
            println!(
                "| {} | {lines} | {} | {} | {} | {} | {:.1}, {:.1}, {:.1} | {:.1} s | {:.1} s | {:.0} % | {} |",
                source.name,
                functions.count(),
                instructions.len(),
                graph.vertex_count(),
                graph.edge_count(),
                reading.as_secs_f64(),
                lowering.as_secs_f64(),
                building.as_secs_f64(),
                backward_time.as_secs_f64(),
                forward_time.as_secs_f64(),
                100.0 * share as f64 / (2 * criteria.len().max(1) * total) as f64,
                own_peak_memory().unwrap_or(0) >> 20,
            );
            Ok(())
        })?;
    }
    Ok(true)
}
