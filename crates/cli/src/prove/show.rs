//! Converts results for the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use patchwright_csource::{ExprKind, Place as CPlace, UnaryOperator};
use patchwright_ir::Node;
use patchwright_prove::{Counterexample, Given, Replay, arguments, shown_inputs, standard_input};
use patchwright_report::proof::{self, Report};
use patchwright_symbolic::{InputKind, Place};
use patchwright_text::LineMap;

use super::read::Program;

/// Converts a place for the report, with the text of its line.
pub fn place(program: &Program, place: &Place) -> proof::Place {
    let source = program
        .sources
        .iter()
        .find(|source| source.path == place.file);
    let text = source.map(|source| text_of(&source.unit.source, place.line));
    proof::Place {
        file: program.shown(&place.file),
        line: place.line,
        function: place.function.clone(),
        text: text.unwrap_or_default(),
    }
}

/// Converts a line of a source to a place for the report.
pub fn line(program: &Program, source: usize, line: u32, function: &str) -> proof::Place {
    let source = &program.sources[source];
    proof::Place {
        file: program.shown(&source.path),
        line,
        function: function.to_owned(),
        text: text_of(&source.unit.source, line),
    }
}

fn text_of(source: &[u8], line: u32) -> String {
    let span = LineMap::new(source).line_span(line);
    let bytes = span.and_then(|span| span.slice(source)).unwrap_or_default();
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// What an assignment at this place writes, as the source calls it: `p->size`, where the object is only known as `h`.
fn designated(program: &Program, place: &Place) -> Option<String> {
    let source = program.sources.iter().find(|one| one.path == place.file)?;
    let mut functions = source.unit.functions.iter();
    let function = functions.find(|one| one.name == place.function)?;
    let Some(Node::Expression(node)) = place.origin?.node else {
        return None;
    };
    let target = match function.exprs.get(node as usize)?.kind {
        ExprKind::Assign { target, .. } => target,
        ExprKind::Unary {
            operator: UnaryOperator::Step,
            operand,
        } => operand,
        _ => return None,
    };
    let CPlace::Written(span) = function.expr(target).place else {
        return None;
    };
    let text = String::from_utf8_lossy(span.slice(&source.unit.source)?).into_owned();
    // Names of several lines would not be read.
    (text.len() <= LONGEST_NAME && !text.contains('\n')).then_some(text)
}

/// Bytes of what is written, as a name, at most.
const LONGEST_NAME: usize = 24;

/// Converts the inputs of an execution for the report. Inputs that do not matter are left out.
pub fn inputs(given: &[Given]) -> Vec<proof::Input> {
    let is_shown = |one: &&Given| {
        let is_argument = matches!(
            one.kind,
            InputKind::Argument(_)
                | InputKind::Null
                | InputKind::Same { .. }
                | InputKind::Distance { .. }
                | InputKind::Before { .. }
        );
        (one.consumed || is_argument)
            && !matches!(
                one.kind,
                InputKind::ArgumentByte(..)
                    | InputKind::ArgumentNumber(..)
                    | InputKind::Present
                    | InputKind::Unfit
                    | InputKind::Length
            )
    };
    let all: Vec<&Given> = given.iter().filter(is_shown).collect();
    let shown = shown_inputs(&all).into_iter();
    shown
        .map(|(name, value)| proof::Input { name, value })
        .collect()
}

/// Converts a counterexample for the report, with the interpreter's confirmation.
pub fn counterexample(
    program: &Program,
    found: &Counterexample,
    replay: &Replay,
) -> proof::Counterexample {
    let reads = found.inputs.iter().any(|given| {
        matches!(
            given.kind,
            InputKind::Scanned { .. } | InputKind::Byte(_) | InputKind::Present | InputKind::Unfit
        )
    });
    let bytes = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    proof::Counterexample {
        kind: found.kind.code(),
        message: found.message.clone(),
        place: found.place.as_ref().map(|at| place(program, at)),
        inputs: inputs(&found.inputs),
        standard_input: reads.then(|| bytes(standard_input(&found.inputs))),
        arguments: arguments(&found.inputs).into_iter().map(bytes).collect(),
        trace: found
            .trace
            .iter()
            .filter(|step| program.is_own(&step.place))
            .map(|step| proof::Step {
                place: place(program, &step.place),
                name: designated(program, &step.place).or_else(|| step.name.clone()),
                value: step.value.clone(),
            })
            .collect(),
        replay: match replay {
            Replay::Agrees => "agrees".to_owned(),
            Replay::Differs(message) => format!("it differs: {message}"),
            Replay::Untold(reason) => reason.clone(),
        },
    }
}

/// Returns the sources with their must sets: `+` marks lines of the slice, `*` also lines of the core.
pub fn annotated(program: &Program, report: &Report) -> String {
    let mut text = String::new();
    let mut marks: BTreeMap<&str, (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
    for sets in report.must_sets.iter().flatten() {
        for place in &sets.slice {
            marks.entry(&place.file).or_default().0.insert(place.line);
        }
        for place in &sets.core {
            marks.entry(&place.file).or_default().1.insert(place.line);
        }
    }
    for source in &program.sources {
        let name = program.shown(&source.path);
        let (slice, core) = marks.get(name.as_str()).cloned().unwrap_or_default();
        let _ = writeln!(text, "{name}");
        let all = String::from_utf8_lossy(&source.unit.source).into_owned();
        for (number, line) in (1..).zip(all.lines()) {
            let mark = match (core.contains(&number), slice.contains(&number)) {
                (true, _) => '*',
                (false, true) => '+',
                (false, false) => ' ',
            };
            let _ = writeln!(text, "{mark} {number:>5}  {line}");
        }
    }
    text
}
