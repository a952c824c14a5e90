//! A linked program, and the state of its execution.

use std::rc::Rc;

use patchwright_ir::{Function, Global, Linkage, Module, Target};
use rustc_hash::FxHashMap;

use crate::{
    code::Code,
    decode::{Linked, decode},
    fault::{Ending, Outcome, Place, Run, Stop},
    libc::{self, Library, Native},
    memory::{Kind, Memory},
    world::World,
};

/// What an execution may use.
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

/// Why modules are no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Two definitions of a name.
    #[error("`{name}` is defined twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// No definition of an object.
    #[error(
        "the object `{name}` is used, but no file that was given defines it, and it is no object \
         of the library that the interpreter models"
    )]
    NoObject {
        /// The name.
        name: String,
    },
    /// No function `main`.
    #[error("no file that was given defines `main`")]
    NoMain,
    /// An initial value that could not be lowered.
    #[error("the initial value of `{name}` is not supported: {reason}")]
    Initializer {
        /// The object.
        name: String,
        /// Why.
        reason: String,
    },
    /// The objects do not fit.
    #[error("the program's objects are larger than the limit of memory")]
    TooLarge,
}

/// A function of the program.
pub(crate) struct Routine {
    pub(crate) name: Rc<str>,
    module: usize,
    /// Its position in the module, if it has a body.
    body: Option<usize>,
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

/// A program that is executed.
pub struct Machine<'w> {
    modules: Vec<Module>,
    /// For each module, the program's number of each of its functions.
    functions: Vec<Vec<u32>>,
    globals: Vec<Vec<u64>>,
    pub(crate) addresses: Vec<u64>,
    pub(crate) routines: Vec<Routine>,
    pub(crate) memory: Memory,
    pub(crate) registers: Vec<u64>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) result: Option<u128>,
    pub(crate) executed: u64,
    pub(crate) serial: u64,
    pub(crate) limits: Limits,
    pub(crate) library: Library,
    pub(crate) world: &'w mut dyn World,
    main: u32,
}

impl<'w> Machine<'w> {
    /// Links modules to a program.
    ///
    /// # Errors
    /// When the modules define a name twice, or use an object that nothing defines.
    pub fn link(
        modules: Vec<Module>,
        limits: Limits,
        world: &'w mut dyn World,
    ) -> Result<Machine<'w>, LinkError> {
        let mut machine = Machine {
            functions: Vec::new(),
            globals: Vec::new(),
            addresses: Vec::new(),
            routines: Vec::new(),
            memory: Memory::new(limits.memory),
            registers: Vec::new(),
            frames: Vec::new(),
            result: None,
            executed: 0,
            serial: 0,
            limits,
            library: Library::default(),
            world,
            main: 0,
            modules,
        };
        machine.link_functions()?;
        machine.link_globals()?;
        Ok(machine)
    }

    fn link_functions(&mut self) -> Result<(), LinkError> {
        let mut strong: FxHashMap<String, (u32, Linkage)> = FxHashMap::default();
        let modules = std::mem::take(&mut self.modules);
        let mut numbers: Vec<Vec<Option<u32>>> = modules
            .iter()
            .map(|m| vec![None; m.functions.len()])
            .collect();
        for (index, module) in modules.iter().enumerate() {
            for (position, function) in module.functions.iter().enumerate() {
                if !function.is_defined() {
                    continue;
                }
                if function.linkage == Linkage::Internal {
                    let number = self.routine(&function.name, index, Some(position))?;
                    numbers[index][position] = Some(number);
                    continue;
                }
                match strong.get(&function.name) {
                    Some(&(_, Linkage::External)) if function.linkage == Linkage::External => {
                        return Err(LinkError::Twice {
                            name: function.name.clone(),
                        });
                    }
                    Some(&(number, known)) => {
                        if known == Linkage::Weak && function.linkage == Linkage::External {
                            let routine = &mut self.routines[number as usize];
                            routine.module = index;
                            routine.body = Some(position);
                            strong.insert(function.name.clone(), (number, Linkage::External));
                        }
                        numbers[index][position] = Some(number);
                    }
                    None => {
                        let number = self.routine(&function.name, index, Some(position))?;
                        strong.insert(function.name.clone(), (number, function.linkage));
                        numbers[index][position] = Some(number);
                    }
                }
            }
        }
        for (index, module) in modules.iter().enumerate() {
            let mut list = Vec::with_capacity(module.functions.len());
            for (position, function) in module.functions.iter().enumerate() {
                let number = match (numbers[index][position], strong.get(&function.name)) {
                    (Some(number), _) | (None, Some(&(number, _))) => number,
                    (None, None) => {
                        let number = self.routine(&function.name, index, None)?;
                        self.routines[number as usize].native = libc::find(&function.name);
                        strong.insert(function.name.clone(), (number, Linkage::Weak));
                        number
                    }
                };
                list.push(number);
            }
            self.functions.push(list);
        }
        self.modules = modules;
        match strong.get("main") {
            Some(&(number, _)) if self.routines[number as usize].body.is_some() => {
                self.main = number;
                Ok(())
            }
            _ => Err(LinkError::NoMain),
        }
    }

    fn routine(
        &mut self,
        name: &str,
        module: usize,
        body: Option<usize>,
    ) -> Result<u32, LinkError> {
        let number = self.routines.len() as u32;
        let address = self
            .memory
            .allocate(0, 16, Kind::Function(number), true)
            .map_err(|_| LinkError::TooLarge)?;
        self.addresses.push(address);
        self.routines.push(Routine {
            name: name.into(),
            module,
            body,
            code: None,
            native: None,
        });
        Ok(number)
    }

    fn link_globals(&mut self) -> Result<(), LinkError> {
        let modules = std::mem::take(&mut self.modules);
        let mut chosen: FxHashMap<&str, (usize, usize)> = FxHashMap::default();
        let rank = |global: &Global| match (&global.data, global.tentative, global.linkage) {
            (None, _, _) => 0,
            (Some(_), _, Linkage::Weak) => 1,
            (Some(_), true, _) => 2,
            (Some(_), false, _) => 3,
        };
        for (index, module) in modules.iter().enumerate() {
            for (position, global) in module.globals.iter().enumerate() {
                if global.linkage == Linkage::Internal {
                    continue;
                }
                match chosen.get(global.name.as_str()) {
                    Some(&(m, p)) => {
                        let known = rank(&modules[m].globals[p]);
                        if known == 3 && rank(global) == 3 {
                            return Err(LinkError::Twice {
                                name: global.name.clone(),
                            });
                        }
                        if rank(global) > known {
                            chosen.insert(&global.name, (index, position));
                        }
                    }
                    None => {
                        chosen.insert(&global.name, (index, position));
                    }
                }
            }
        }
        let mut addresses: FxHashMap<&str, u64> = FxHashMap::default();
        let mut defined = Vec::new();
        for (index, module) in modules.iter().enumerate() {
            let mut list = Vec::with_capacity(module.globals.len());
            for (position, global) in module.globals.iter().enumerate() {
                let shared = global.linkage != Linkage::Internal;
                if shared && let Some(&address) = addresses.get(global.name.as_str()) {
                    list.push(address);
                    continue;
                }
                let (m, p) = match shared {
                    true => chosen[global.name.as_str()],
                    false => (index, position),
                };
                let definition = &modules[m].globals[p];
                let address = if definition.data.is_none() && shared {
                    libc::object(self, &global.name).ok_or_else(|| LinkError::NoObject {
                        name: global.name.clone(),
                    })?
                } else {
                    if let Some(reason) = &definition.unsupported {
                        return Err(LinkError::Initializer {
                            name: definition.name.clone(),
                            reason: reason.clone(),
                        });
                    }
                    let address = self
                        .memory
                        .allocate(definition.size, definition.align, Kind::Global, true)
                        .map_err(|_| LinkError::TooLarge)?;
                    defined.push((address, m, p));
                    address
                };
                if shared {
                    addresses.insert(&global.name, address);
                }
                list.push(address);
            }
            self.globals.push(list);
        }
        for (address, m, p) in defined {
            let global = &modules[m].globals[p];
            let Some(data) = &global.data else { continue };
            let filled = self.fill(address, data, m);
            filled.map_err(|_| LinkError::Initializer {
                name: global.name.clone(),
                reason: "the data do not fit".to_owned(),
            })?;
            if global.constant {
                self.memory.freeze(address);
            }
        }
        self.modules = modules;
        Ok(())
    }

    fn fill(&mut self, address: u64, data: &patchwright_ir::Data, module: usize) -> Run<()> {
        if !data.bytes.is_empty() {
            self.memory
                .write(address, data.bytes.len() as u64)?
                .copy_from_slice(&data.bytes);
        }
        for relocation in &data.relocations {
            let target = match relocation.target {
                Target::Global(id) => self.globals[module][id.index()],
                Target::Function(id) => self.addresses[self.functions[module][id.index()] as usize],
            };
            let value = target.wrapping_add(relocation.addend as u64);
            self.memory.store(
                patchwright_semantics::Ty::Ptr,
                address + relocation.offset,
                value,
            )?;
        }
        Ok(())
    }

    /// The function in the IR that a routine is, if it has a body.
    pub(crate) fn function(&self, routine: u32) -> Option<&Function> {
        let routine = &self.routines[routine as usize];
        Some(&self.modules[routine.module].functions[routine.body?])
    }

    /// What a routine is executed from.
    pub(crate) fn code(&mut self, routine: u32) -> Option<Rc<Code>> {
        let entry = &self.routines[routine as usize];
        if let Some(code) = &entry.code {
            return Some(code.clone());
        }
        let body = entry.body?;
        let module = entry.module;
        let linked = Linked {
            functions: &self.functions[module],
            globals: &self.globals[module],
            addresses: &self.addresses,
        };
        let code = Rc::new(decode(&self.modules[module].functions[body], &linked));
        self.routines[routine as usize].code = Some(code.clone());
        Some(code)
    }

    /// Executes the program: `main` with these arguments, the first one being its name, and this
    /// environment.
    pub fn run(&mut self, arguments: &[Vec<u8>], environment: &[Vec<u8>]) -> Outcome {
        let ended = self.start(arguments, environment);
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
        let parameters = self.function(self.main).map_or(0, |f| f.parameters.len());
        let all = [
            (int, u128::from(count)),
            (pointer, u128::from(vector)),
            (pointer, u128::from(environment)),
        ];
        let value = self.call_from_library(self.main, &all[..parameters.min(3)])?;
        Ok(value as u32 as i32)
    }

    /// The handlers of `atexit`, then the streams.
    fn exit(&mut self, mut status: i32) -> Ending {
        self.frames.clear();
        while let Some(handler) = self.library.at_exit.pop() {
            match self.call_address(handler, &[]) {
                Ok(_) => {}
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

    /// An array of strings that ends with a null pointer.
    fn vector(&mut self, strings: &[Vec<u8>]) -> Run<u64> {
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
    fn trace(&self) -> Vec<Place> {
        const MOST: usize = 64;
        let frames = self.frames.iter().rev().take(MOST);
        frames.filter_map(|frame| self.place(frame)).collect()
    }

    fn place(&self, frame: &Frame) -> Option<Place> {
        let function = self.function(frame.routine)?;
        let routine = &self.routines[frame.routine as usize];
        let code = routine.code.as_ref()?;
        let origin = code.origins.get(frame.pc.saturating_sub(1)).copied();
        let origin = function.origin(origin.unwrap_or(patchwright_ir::OriginId(0)));
        let line = origin.line.or(function.origins[0].line);
        let (file, line) = line?;
        Some(Place {
            function: function.name.clone(),
            file: self.modules[routine.module].files[file.index()]
                .path
                .clone(),
            line,
            origin: Some(origin),
        })
    }
}

fn ending(stop: Stop) -> Ending {
    match stop {
        Stop::Exit(status) => Ending::Exit(status & 0xff),
        Stop::Abort => Ending::Abort,
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
