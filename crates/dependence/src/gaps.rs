//! Lists the parts of a program that slices ignore, so that slices may miss lines.

use std::collections::BTreeSet;

use patchwright_ir::{Callee, FileId, InstructionKind, Program};

use crate::call_graph::instructions;

/// A part of a program whose effects the analyses do not know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The module.
    pub module: usize,
    /// File and line there, counted from 1, where they are known.
    pub place: Option<(u32, u32)>,
    /// The function, or the object whose initial value it is.
    pub name: String,
    /// What it is.
    pub reason: String,
}

/// Calls that let a function be executed at any time; an effect of that is in no slice.
const HANDLERS: [&str; 5] = [
    "signal",
    "sigaction",
    "sysv_signal",
    "__sysv_signal",
    "pthread_create",
];

/// Calls that open a stream whose output goes to memory of the program.
const MEMORY_STREAMS: [&str; 2] = ["fmemopen", "open_memstream"];

/// Returns all gaps of a program, in the order of their places: code that was not lowered, and functions
/// that may run at any time.
pub fn gaps(program: &Program) -> Vec<Gap> {
    let mut found = BTreeSet::new();
    let place = |line: Option<(FileId, u32)>| line.map(|(file, line)| (file.0, line));
    for routine in program.routine_ids() {
        let Some(function) = program.body(routine) else {
            continue;
        };
        let module = program.routine(routine).module;
        for (_, _, instruction) in instructions(function) {
            let reason = match &instruction.kind {
                InstructionKind::Unsupported { reason, .. } => {
                    format!("not lowered: {reason}")
                }
                InstructionKind::Call {
                    callee: Callee::Direct(callee),
                    ..
                } => {
                    let callee = program.routine(program.routine_of(module, *callee));
                    let name = callee.name.as_str();
                    if callee.defined {
                        continue;
                    } else if HANDLERS.contains(&name) {
                        format!("`{name}`: when its function is executed is not followed")
                    } else if MEMORY_STREAMS.contains(&name) {
                        format!("`{name}`: what is written to memory by the stream is not followed")
                    } else {
                        continue;
                    }
                }
                _ => continue,
            };
            found.insert(Gap {
                module,
                place: place(function.origin(instruction.origin).line),
                name: function.name.clone(),
                reason,
            });
        }
    }
    for (number, module) in program.modules.iter().enumerate() {
        let hooks = [
            (&module.constructors, "before `main`"),
            (&module.destructors, "when the program ends"),
        ];
        for (hook, when) in hooks
            .iter()
            .flat_map(|(all, when)| all.iter().map(move |h| (h, when)))
        {
            let function = module.function(hook.function);
            found.insert(Gap {
                module: number,
                place: function
                    .origins
                    .first()
                    .and_then(|origin| place(origin.line)),
                name: function.name.clone(),
                reason: format!("it is called {when}, which is not followed"),
            });
        }
    }
    for object in program.objects.iter().filter(|object| object.defined) {
        let global = program.modules[object.module].global(object.global);
        if let Some(reason) = &global.unsupported {
            found.insert(Gap {
                module: object.module,
                place: place(global.origin.line),
                name: object.name.clone(),
                reason: format!("initial value not lowered: {reason}"),
            });
        }
    }
    found.into_iter().collect()
}
