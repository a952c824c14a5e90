//! Runs a linked program, from the constructors before `main` to the functions of `atexit`.

use patchwright_ir::{Hook, Module};

use crate::{
    answers::Answers,
    fault::{Ending, Outcome, Run, Stop},
    libc,
    machine::Machine,
};

impl Machine<'_> {
    /// Sets the answers to what the program asks from outside. Call it before [`Machine::run`].
    pub fn answer(&mut self, answers: Answers) {
        self.answers = answers;
        self.answered = 0;
    }

    /// Runs the program. The first of `arguments` is its name. `environment` has texts of the form
    /// `NAME=VALUE`.
    pub fn run(&mut self, arguments: &[Vec<u8>], environment: &[Vec<u8>]) -> Outcome {
        let ended = self.start(arguments, environment);
        self.report_accesses();
        let (ending, trace) = match ended {
            Ok(status) | Err(Stop::Exit(status)) => (self.exit(status), Vec::new()),
            Err(stop) => {
                let trace = self.trace();
                // What the program printed before is part of what it did.
                libc::flush_all(self);
                (ending(stop), trace)
            }
        };
        Outcome {
            ending,
            trace,
            instructions: self.executed,
        }
    }

    fn start(&mut self, arguments: &[Vec<u8>], environment: &[Vec<u8>]) -> Run<i32> {
        let count = arguments.len() as u64;
        let vector = self.vector(arguments)?;
        let environment = self.vector(environment)?;
        libc::start(self, arguments.first(), environment)?;
        let int = patchwright_ir::Type::I32;
        let pointer = patchwright_ir::Type::Ptr;
        let all = [
            (int, u128::from(count)),
            (pointer, u128::from(vector)),
            (pointer, u128::from(environment)),
        ];
        for routine in self.hooks(|module| &module.constructors) {
            let parameters = self.function(routine).map_or(0, |f| f.parameters.len());
            self.call_from_library(routine, &all[..parameters.min(3)])?;
        }
        let parameters = self.function(self.main).map_or(0, |f| f.parameters.len());
        let value = self.call_from_library(self.main, &all[..parameters.min(3)])?;
        Ok(value as u32 as i32)
    }

    /// The functions that all modules want to be called before `main`, in order.
    fn hooks(&self, of: fn(&Module) -> &Vec<Hook>) -> Vec<u32> {
        let mut all = Vec::new();
        for (number, module) in self.program.modules.iter().enumerate() {
            for hook in of(module) {
                let routine = self.program.routine_of(number, hook.function);
                all.push((hook.priority, routine.0));
            }
        }
        all.sort_by_key(|&(priority, _)| priority);
        all.into_iter().map(|(_, routine)| routine).collect()
    }

    /// The handlers of `atexit`, then the destructors, then the streams.
    fn exit(&mut self, mut status: i32) -> Ending {
        self.frames.clear();
        let mut destructors = match self.library.at_once {
            true => Vec::new(),
            false => self.hooks(|module| &module.destructors),
        };
        loop {
            // A destructor may register more handlers.
            let ended = match self.library.at_exit.pop() {
                Some(handler) => self.call_address(handler, &[]).map(|_| ()),
                None => match destructors.pop() {
                    Some(routine) => self.call_from_library(routine, &[]).map(|_| ()),
                    None => break,
                },
            };
            match ended {
                Ok(()) => {}
                Err(Stop::Exit(other)) => {
                    self.frames.clear();
                    status = other;
                }
                Err(stop) => {
                    libc::flush_all(self);
                    return ending(stop);
                }
            }
        }
        libc::flush_all(self);
        Ending::Exit(status & 0xff)
    }
}

fn ending(stop: Stop) -> Ending {
    match stop {
        Stop::Exit(status) => Ending::Exit(status & 0xff),
        Stop::Abort => Ending::Abort,
        Stop::Assumption => Ending::Assumption,
        Stop::Undefined(kind, message) => Ending::Undefined { kind, message },
        Stop::Unsupported(reason) => Ending::Unsupported(reason),
        Stop::Limit => Ending::Limit("instructions"),
        Stop::Memory(what) => Ending::Limit(what),
        Stop::Jump(..) => Ending::Undefined {
            kind: crate::fault::Undefined::BadArgument,
            message: "longjmp to a function that has returned".to_owned(),
        },
    }
}
