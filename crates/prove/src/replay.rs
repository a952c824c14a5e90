//! Executes counterexamples in the interpreter, which must agree.

use std::collections::BTreeSet;

use patchwright_clib::{Statement, statement};
use patchwright_interpret::{Answers, Closed, Ending, Limits, Machine, Outcome};
use patchwright_ir::{Linkage, Module};
use patchwright_symbolic::{Check, FailureKind, InputKind};

use crate::{
    program_inputs::{arguments, standard_input},
    spec::WrongKind,
    verdict::{Counterexample, Given},
};

/// The result of executing a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// The same goes wrong in the same place.
    Agrees,
    /// Something else happens, which is a mistake of ours.
    Differs(String),
    /// It could not be told: why.
    Untold(String),
}

/// Instructions of an execution at most.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

/// Executes a linked program with the inputs of a counterexample. It returns how the execution ended and
/// what it printed.
///
/// # Errors
/// When it cannot be linked.
pub fn execute(mut modules: Vec<Module>, inputs: &[Given]) -> Result<(Outcome, Vec<u8>), String> {
    // Calling these is the failure, whatever a program's own function of this name does.
    for function in modules.iter_mut().flat_map(|module| &mut module.functions) {
        if statement(&function.name) == Some(Statement::Error) && function.is_defined() {
            function.blocks.clear();
            function.linkage = Linkage::External;
        }
    }
    let mut world = Closed::with_input(standard_input(inputs));
    let limits = Limits {
        instructions: MOST_INSTRUCTIONS,
        ..Limits::default()
    };
    let mut machine = Machine::link(modules, limits, &mut world).map_err(|e| e.to_string())?;
    let consumed = inputs.iter().filter(|given| given.consumed);
    let returned = |given: &&Given| matches!(given.kind, InputKind::Returned { .. });
    machine.answer(Answers {
        inputs: consumed.filter(returned).map(|given| given.bits).collect(),
        ..Answers::default()
    });
    let mut words = vec![b"program".to_vec()];
    words.extend(arguments(inputs));
    let outcome = machine.run(&words, &[]);
    drop(machine);
    Ok((outcome, world.output))
}

/// Compares an execution with what the counterexample predicts. `checks` are the errors that are looked
/// for. Returns whether the same went wrong at the same line, something else (a bug of ours), or why that cannot be told.
pub fn agreement(found: &Counterexample, outcome: &Outcome, checks: &BTreeSet<Check>) -> Replay {
    let unwritten = found
        .inputs
        .iter()
        .find(|given| given.consumed && matches!(given.kind, InputKind::Unwritten(_)));
    let there = |line: u32| outcome.trace.iter().any(|place| place.line == line);
    let same_place = match &found.place {
        Some(place) => there(place.line),
        None => true,
    };
    let at = match outcome.trace.first() {
        Some(place) => format!(" at {place}"),
        None => String::new(),
    };
    match (&found.kind, &outcome.ending) {
        (WrongKind::Failure(FailureKind::Leak), Ending::Exit(_)) => Replay::Untold(
            "the interpreter does not look for memory that is never freed".to_owned(),
        ),
        // It was followed for as long as is allowed, and is still there.
        (WrongKind::Failure(FailureKind::Endless), Ending::Limit(_)) if same_place => {
            Replay::Agrees
        }
        (WrongKind::Failure(FailureKind::Assertion | FailureKind::Abort), Ending::Abort)
            if same_place =>
        {
            Replay::Agrees
        }
        (
            WrongKind::Failure(FailureKind::Undefined(kind)),
            Ending::Undefined { kind: other, .. },
        ) if kind.may_stand_for(*other) && same_place => Replay::Agrees,
        (_, Ending::Undefined { kind, message }) if !checks.contains(&Check::of(*kind)) => {
            Replay::Untold(format!(
                "before that, the execution has undefined behaviour that is not looked for: {}: {message}{at} \
                 (`--check {}` looks for it)",
                kind.code(),
                Check::of(*kind).name()
            ))
        }
        (_, Ending::Unsupported(reason)) => {
            Replay::Untold(format!("the interpreter does not support {reason}"))
        }
        (_, Ending::Limit(what)) => Replay::Untold(format!(
            "the execution takes longer than the limit of {what}"
        )),
        _ if unwritten.is_some() => Replay::Untold(format!(
            "the execution rests on a value that nothing has written: {}",
            unwritten.map_or("", |given| given.name.as_str())
        )),
        (_, ending) => Replay::Differs(format!("the interpreter ends with {ending:?}{at}")),
    }
}
