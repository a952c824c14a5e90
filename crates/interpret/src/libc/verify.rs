//! Models of functions that verifiers know: assumptions, assertions, nondeterministic numbers; and the
//! questions of meta-programs.

use patchwright_clib::{Question, Statement, question, statement};
use patchwright_ir::{RoutineId, Type, wide};

use super::calling::{Native, int, word};
use crate::{
    fault::{Run, Stop, Undefined},
    machine::Machine,
};

/// Returns the model of a function that verifiers know.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "reach_error" | "__VERIFIER_error" => |_, _| Err(Stop::Abort),
        "__patchwright_choice" => |m, a| {
            let number = a.int(0)? as u32;
            let chosen = m.answers.choices.get(&number).copied();
            int(i64::from(chosen.unwrap_or(0)))
        },
        "__patchwright_constant" => |m, a| {
            let number = a.int(0)? as u32;
            int(m.answers.constants.get(&number).copied().unwrap_or(0))
        },
        _ => match statement(name) {
            Some(Statement::Assume) => |_, a| match a.get(0)?.bits {
                0 => Err(Stop::Assumption),
                _ => int(0),
            },
            Some(Statement::Assert) => |_, a| match a.get(0)?.bits {
                0 => Err(Stop::Abort),
                _ => int(0),
            },
            _ => match question(name)? {
                Question::Accessible => |m, a| {
                    let size = match a.get(1) {
                        Ok(size) => size.bits as u64,
                        Err(_) => 1,
                    };
                    let there = match m.memory.image(a.word(0)?, size) {
                        Err(Stop::Undefined(kind, _)) => kind == Undefined::UninitializedRead,
                        other => other.is_ok(),
                    };
                    int(i64::from(there))
                },
                Question::SameObject => |_, a| int(i64::from(a.word(0)? >> 32 == a.word(1)? >> 32)),
                Question::ObjectSize => |m, a| {
                    let within = m.memory.within(a.word(0)?);
                    word(within.map_or(0, |(_, size)| size))
                },
                Question::Offset => |m, a| {
                    let at = a.word(0)?;
                    word(m.memory.within(at).map_or(at, |(offset, _)| offset))
                },
            },
        },
    })
}

/// Returns any number if the name of the routine is that of a nondeterministic function.
pub(crate) fn any(machine: &mut Machine<'_>, routine: u32) -> Option<Run<u128>> {
    let name = machine.routines[routine as usize].name.clone();
    if statement(&name) != Some(Statement::Any) {
        return None;
    }
    let ty = machine.result_of(RoutineId(routine));
    if !ty.is_integer() && !matches!(ty, Type::F32 | Type::F64) {
        let reason = format!("an answer of the function `{name}`, whose type is {ty}");
        return Some(Err(Stop::Unsupported(reason)));
    }
    Some(match machine.answers.inputs.get(machine.answered) {
        Some(bits) => {
            machine.answered += 1;
            Ok(wide::canonical(ty, *bits))
        }
        None => Err(Stop::Unsupported(format!(
            "the function `{name}`: there is no answer for call {} of functions that may give anything",
            machine.answered + 1
        ))),
    })
}
