//! Links modules to a program, and gives its routines and objects addresses.

use patchwright_ir::{Linkage, Module, ObjectId, Program, RoutineId, Target};

use crate::{
    allow::Allowance,
    answers::Answers,
    fault::Run,
    libc::{self, kept::Library},
    machine::{Limits, Loaded, Machine},
    memory::{Kind, Memory},
    world::World,
};

/// Why modules cannot be linked to a program that can be executed.
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
        /// What is not supported about it.
        reason: String,
    },
    /// The objects do not fit.
    #[error("the program's objects need more memory than the limit")]
    TooLarge,
}

impl<'w> Machine<'w> {
    /// Links modules to a program and makes a machine that can run it. `world` is everything outside
    /// of the program.
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
}
