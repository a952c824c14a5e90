//! The machine: a linked program and the state of its execution.

use std::rc::Rc;

use patchwright_ir::{Function, Program, RoutineId};

use crate::{
    allow::Allowance,
    answers::Answers,
    code::Code,
    decode::{Linked, decode},
    fault::{Place, Run},
    libc::{calling::Native, kept::Library},
    memory::{Kind, Memory},
    observe::Observer,
    world::World,
};

/// The limits of an execution: instructions, memory and depth of calls.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// IR instructions.
    pub instructions: u64,
    /// Bytes of live objects.
    pub memory: u64,
    /// Nested calls.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            instructions: u64::MAX,
            memory: 8 << 30,
            depth: 100_000,
        }
    }
}

/// What a routine of the program is executed from.
pub(crate) struct Loaded {
    pub(crate) name: Rc<str>,
    pub(crate) code: Option<Rc<Code>>,
    pub(crate) native: Option<Native>,
}

/// A call that is active.
pub(crate) struct Frame {
    pub(crate) routine: u32,
    pub(crate) pc: usize,
    pub(crate) base: usize,
    /// Where the value goes: the call site of the caller; `None` for calls from the library.
    pub(crate) site: Option<u32>,
    /// The place for a record that is returned.
    pub(crate) result_address: u64,
    /// The arguments that are not declared.
    pub(crate) varargs: Vec<(patchwright_ir::Type, u128)>,
    pub(crate) allocations: Vec<u64>,
    pub(crate) serial: u64,
}

/// A linked program with the state of its execution.
pub struct Machine<'w> {
    pub(crate) program: Program,
    /// The address of each object of the program.
    pub(crate) objects: Vec<u64>,
    /// The address of each routine.
    pub(crate) addresses: Vec<u64>,
    pub(crate) routines: Vec<Loaded>,
    pub(crate) memory: Memory,
    pub(crate) registers: Vec<u64>,
    /// The registers whose values are only copied and that have none.
    pub(crate) unwritten: Vec<crate::copies::Unwritten>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) result: Option<u128>,
    pub(crate) executed: u64,
    pub(crate) serial: u64,
    pub(crate) limits: Limits,
    pub(crate) library: Library,
    pub(crate) world: &'w mut dyn World,
    pub(crate) main: u32,
    pub(crate) answers: Answers,
    /// How many of the answers' inputs were given.
    pub(crate) answered: usize,
    pub(crate) observer: Option<&'w mut dyn Observer>,
    pub(crate) allowance: Allowance,
    /// An instruction is executed that is to give a result where C defines none.
    pub(crate) lenient: bool,
}

impl<'w> Machine<'w> {
    /// The function in the IR that a routine is, if it has a body.
    pub(crate) fn function(&self, routine: u32) -> Option<&Function> {
        self.program.body(RoutineId(routine))
    }

    /// Returns the decoded code of a routine.
    pub(crate) fn code(&mut self, routine: u32) -> Option<Rc<Code>> {
        let entry = &self.routines[routine as usize];
        if let Some(code) = &entry.code {
            return Some(code.clone());
        }
        let id = RoutineId(routine);
        let body = self.program.body(id)?;
        let linked = Linked {
            program: &self.program,
            module: self.program.routine(id).module,
            objects: &self.objects,
            addresses: &self.addresses,
            observed: self.observer.is_some(),
        };
        let code = Rc::new(decode(body, &linked));
        self.routines[routine as usize].code = Some(code.clone());
        Some(code)
    }

    /// Returns the declared result type of a routine.
    pub(crate) fn result_of(&self, routine: RoutineId) -> patchwright_ir::Type {
        self.program.function(routine).result
    }

    /// An array of strings that ends with a null pointer.
    pub(crate) fn vector(&mut self, strings: &[Vec<u8>]) -> Run<u64> {
        let size = 8 * (strings.len() as u64 + 1);
        let vector = self.memory.allocate(size, 16, Kind::Global, true)?;
        for (index, string) in strings.iter().enumerate() {
            let address = self.new_string(string)?;
            self.memory.store(
                patchwright_semantics::Ty::Ptr,
                vector + 8 * index as u64,
                address,
            )?;
        }
        Ok(vector)
    }

    /// A new global object that holds a string.
    pub(crate) fn new_string(&mut self, string: &[u8]) -> Run<u64> {
        let size = string.len() as u64 + 1;
        let address = self.memory.allocate(size, 1, Kind::Global, true)?;
        self.memory.write(address, size)?[..string.len()].copy_from_slice(string);
        Ok(address)
    }

    /// The calls that are active, the innermost first.
    pub(crate) fn trace(&self) -> Vec<Place> {
        const MOST: usize = 64;
        let frames = self.frames.iter().rev().take(MOST);
        frames.filter_map(|frame| self.place(frame)).collect()
    }

    /// Returns the place of the innermost call.
    pub(crate) fn innermost_place(&self) -> Option<Place> {
        self.frames.iter().rev().find_map(|frame| self.place(frame))
    }

    fn place(&self, frame: &Frame) -> Option<Place> {
        let function = self.function(frame.routine)?;
        let routine = &self.routines[frame.routine as usize];
        let code = routine.code.as_ref()?;
        let origin = code.origins.get(frame.pc.saturating_sub(1)).copied();
        let origin = function.origin(origin.unwrap_or(patchwright_ir::OriginId(0)));
        let line = origin.line.or(function.origins[0].line);
        let (file, line) = line?;
        let module = self.program.routine(RoutineId(frame.routine)).module;
        Some(Place {
            function: function.name.clone(),
            file: self.program.modules[module].files[file.index()]
                .path
                .clone(),
            line,
            origin: Some(origin),
        })
    }
}
