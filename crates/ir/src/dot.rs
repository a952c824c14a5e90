//! The control-flow graph as a drawing, in the language of Graphviz.

use std::fmt::Write;

use crate::{
    function::Function,
    instruction::TerminatorKind,
    text::{print_instruction, print_terminator},
};

/// The graph of a function: one box a block, with its instructions; edges of branches say
/// whether the condition held, those of switches which values they stand for.
pub fn function(function: &Function) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph \"{}\" {{", escaped(&function.name));
    out.push_str("  node [shape=box fontname=monospace];\n");
    for id in function.block_ids() {
        let block = function.block(id);
        let mut label = format!("{id}\n");
        for instruction in &block.instructions {
            label.push_str(&print_instruction(function, instruction));
            label.push('\n');
        }
        label.push_str(&print_terminator(&block.terminator));
        label.push('\n');
        let _ = writeln!(out, "  {id} [label=\"{}\"];", escaped(&label));
        let names: Vec<String> = match &block.terminator.kind {
            TerminatorKind::Branch { .. } => vec!["true".to_owned(), "false".to_owned()],
            TerminatorKind::Switch { cases, .. } => cases
                .iter()
                .map(|case| match case.low == case.high {
                    true => case.low.to_string(),
                    false => format!("{}…{}", case.low, case.high),
                })
                .chain(["default".to_owned()])
                .collect(),
            _ => vec![String::new()],
        };
        for (edge, name) in block.terminator.edges().iter().zip(names) {
            let _ = writeln!(out, "  {id} -> {} [label=\"{name}\"];", edge.target);
        }
    }
    out.push_str("}\n");
    out
}

/// Lines end left-aligned; quotes and backslashes are escaped.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            _ => out.push(c),
        }
    }
    out
}
