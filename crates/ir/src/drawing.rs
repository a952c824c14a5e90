//! The control flow of a function as boxes and edges, to be drawn.

use crate::{
    function::Function,
    instruction::TerminatorKind,
    text::{print_instruction, print_local, print_terminator},
};

/// A graph of boxes with lines of text, and edges between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// First the function with its variables, then its blocks in order, each with its name and its instructions.
    pub boxes: Vec<Vec<String>>,
    /// From box to box, and what the edge stands for: whether the condition held, values of a `switch`.
    pub edges: Vec<(usize, usize, String)>,
}

/// Returns the drawing of a function's control flow. The first box has the function's variables; each
/// other box is a block.
pub fn control_flow(function: &Function) -> Drawing {
    let mut drawing = Drawing::default();
    let mut head = vec![function.name.clone()];
    let locals = function.locals.iter().enumerate();
    let named = locals.filter(|(_, local)| !local.name.is_empty());
    head.extend(named.map(|(index, local)| format!("l{index} {}", print_local(local))));
    drawing.boxes.push(head);
    if function.is_defined() {
        drawing.edges.push((0, 1, String::new()));
    }
    for id in function.block_ids() {
        let block = function.block(id);
        let mut lines = vec![format!("{id}:")];
        let instructions = block.instructions.iter();
        lines.extend(instructions.map(|instruction| print_instruction(function, instruction)));
        lines.push(print_terminator(&block.terminator));
        drawing.boxes.push(lines);
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
            let box_of = |block: crate::BlockId| block.index() + 1;
            drawing.edges.push((box_of(id), box_of(edge.target), name));
        }
    }
    drawing
}
