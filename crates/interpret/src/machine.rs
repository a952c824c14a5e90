//! A linked program, and the state of its execution.

use std::rc::Rc;

use patchwright_ir::{Function, Hook, Linkage, Module, ObjectId, Program, RoutineId, Target};

use crate::{
    allow::Allowance,
    code::Code,
    decode::{Linked, decode},
    fault::{Ending, Outcome, Place, Run, Stop},
    libc::{self, Library, Native, verify::Answers},
    memory::{Kind, Memory},
    observe::Observer,
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
    /// The modules do not fit together.
    #[error(transparent)]
    Modules(#[from] patchwright_ir::LinkError),
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

/// A program that is executed.
pub struct Machine<'w> {
    pub(crate) program: Program,
    /// The address of each object of the program.
    objects: Vec<u64>,
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
    main: u32,
    pub(crate) answers: Answers,
    /// How many of the answers' inputs were given.
    pub(crate) answered: usize,
    pub(crate) observer: Option<&'w mut dyn Observer>,
    pub(crate) allowance: Allowance,
    /// An instruction is executed that is to give a result where C defines none.
    pub(crate) lenient: bool,
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
            program: Program::link(modules)?,
            objects: Vec::new(),
            addresses: Vec::new(),
            routines: Vec::new(),
            memory: Memory::new(limits.memory),
            registers: Vec::new(),
            unwritten: Vec::new(),
            frames: Vec::new(),
            result: None,
            executed: 0,
            serial: 0,
            limits,
            library: Library::default(),
            world,
            main: 0,
            answers: Answers::default(),
            answered: 0,
            observer: None,
            allowance: Allowance::default(),
            lenient: false,
        };
        machine.place_routines()?;
        machine.place_objects()?;
        Ok(machine)
    }

    /// Gives each routine an address, and what models it.
    fn place_routines(&mut self) -> Result<(), LinkError> {
        for number in 0..self.program.routines.len() {
            let routine = &self.program.routines[number];
            let native = match routine.defined {
                true => None,
                false => libc::find(&routine.name),
            };
            let linkage = self.program.function(RoutineId(number as u32)).linkage;
            // What is declared weak and defined nowhere is at no address.
            let is_absent = !routine.defined && native.is_none() && linkage == Linkage::Weak;
            self.routines.push(Loaded {
                name: routine.name.as_str().into(),
                code: None,
                native,
            });
            self.addresses.push(match is_absent {
                true => 0,
                false => self
                    .memory
                    .allocate(0, 16, Kind::Function(number as u32), true)
                    .map_err(|_| LinkError::TooLarge)?,
            });
        }
        match self.program.routine_named("main") {
            Some(main) if self.program.routine(main).defined => {
                self.main = main.0;
                Ok(())
            }
            _ => Err(LinkError::NoMain),
        }
    }

    /// Gives each object an address and its initial value.
    fn place_objects(&mut self) -> Result<(), LinkError> {
        let mut defined = Vec::new();
        for number in 0..self.program.objects.len() as u32 {
            let object = ObjectId(number);
            let global = self.program.global(object);
            let address = match self.program.objects[object.index()].defined {
                false => {
                    let name = global.name.clone();
                    let is_weak = global.linkage == Linkage::Weak;
                    match libc::object(self, &name) {
                        Some(address) => address,
                        None if is_weak => 0,
                        None => return Err(LinkError::NoObject { name }),
                    }
                }
                true => {
                    let (size, align) = (global.size, global.align);
                    let address = self
                        .memory
                        .allocate(size, align, Kind::Global, global.unsupported.is_none())
                        .map_err(|_| LinkError::TooLarge)?;
                    if let Some(reason) = &global.unsupported {
                        let message = format!("the initial value of `{}`: {reason}", global.name);
                        self.memory.refuse(address, message);
                    }
                    defined.push((address, object));
                    address
                }
            };
            self.objects.push(address);
        }
        let program = std::mem::take(&mut self.program);
        for (address, object) in defined {
            let global = program.global(object);
            let Some(data) = &global.data else { continue };
            let module = program.objects[object.index()].module;
            if global.unsupported.is_none() {
                self.fill(address, data, &program, module)
                    .map_err(|_| LinkError::Initializer {
                        name: global.name.clone(),
                        reason: "the data do not fit".to_owned(),
                    })?;
            }
            if global.constant {
                self.memory.freeze(address);
            }
        }
        self.program = program;
        Ok(())
    }

    fn fill(
        &mut self,
        address: u64,
        data: &patchwright_ir::Data,
        program: &Program,
        module: usize,
    ) -> Run<()> {
        if !data.bytes.is_empty() {
            self.memory
                .write(address, data.bytes.len() as u64)?
                .copy_from_slice(&data.bytes);
        }
        for relocation in &data.relocations {
            let target = match relocation.target {
                Target::Global(id) => self.objects[program.object_of(module, id).index()],
                Target::Function(id) => self.addresses[program.routine_of(module, id).index()],
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
        self.program.body(RoutineId(routine))
    }

    /// What a routine is executed from.
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

    /// Answers what the program asks instead of computing it. To be called before [`Machine::run`].
    pub fn answer(&mut self, answers: Answers) {
        self.answers = answers;
        self.answered = 0;
    }

    /// What a routine returns, as it is declared.
    pub(crate) fn result_of(&self, routine: RoutineId) -> patchwright_ir::Type {
        self.program.function(routine).result
    }

    /// Executes the program: `main` with these arguments, the first one being its name, and this
    /// environment.
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

    /// Where the innermost call is.
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
