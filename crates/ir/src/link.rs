//! Links modules to a program: finds the definition that each name of each module means.

use std::collections::HashMap;

use crate::{
    function::{Function, Linkage},
    module::{Data, Global, Module},
    types::{FunctionId, GlobalId, ObjectId, RoutineId},
};

/// Why modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Two definitions of a name.
    #[error("`{name}` is defined twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// Two definitions of an object, none of which has an initial value.
    #[error(
        "`{name}` is defined twice; if the project's compiler takes both for one object, give the \
         flag -fcommon"
    )]
    TwiceWithoutValue {
        /// The name.
        name: String,
    },
}

/// A function of a program, with the module that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// The module that defines it, or declares it when none does.
    pub module: usize,
    /// Its definition there, or its declaration.
    pub function: FunctionId,
    /// It has a body; without one it belongs to a library.
    pub defined: bool,
}

/// An object of static storage duration of a program, with the module that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// The module that defines it, or declares it when none does.
    pub module: usize,
    /// Its definition there, or its declaration.
    pub global: GlobalId,
    /// It has a definition; without one it belongs to a library.
    pub defined: bool,
}

/// Linked modules. A static function or object belongs to its module; all other names are shared.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The modules.
    pub modules: Vec<Module>,
    /// Functions, those without a body included.
    pub routines: Vec<Routine>,
    /// Objects of static storage duration, those without a definition included.
    pub objects: Vec<Object>,
    functions: Vec<Vec<RoutineId>>,
    globals: Vec<Vec<ObjectId>>,
}

impl Program {
    /// Links modules. A definition that is not weak takes precedence over weak ones, an
    /// initialised object over a tentative definition.
    ///
    /// # Errors
    /// When a name has two definitions.
    pub fn link(modules: Vec<Module>) -> Result<Program, LinkError> {
        let mut program = Program {
            modules,
            ..Program::default()
        };
        program.link_functions()?;
        program.link_globals()?;
        Ok(program)
    }

    fn link_functions(&mut self) -> Result<(), LinkError> {
        let mut named: HashMap<&str, (RoutineId, Linkage)> = HashMap::new();
        let mut numbers: Vec<Vec<Option<RoutineId>>> = self
            .modules
            .iter()
            .map(|module| vec![None; module.functions.len()])
            .collect();
        let routines = &mut self.routines;
        let mut new = |name: &str, module: usize, position: usize, defined: bool| {
            routines.push(Routine {
                name: name.to_owned(),
                module,
                function: FunctionId(position as u32),
                defined,
            });
            RoutineId(routines.len() as u32 - 1)
        };
        let mut replaced: Vec<(RoutineId, usize, usize)> = Vec::new();
        for (index, module) in self.modules.iter().enumerate() {
            for (position, function) in module.functions.iter().enumerate() {
                if !function.is_defined() {
                    continue;
                }
                if function.linkage == Linkage::Internal {
                    numbers[index][position] = Some(new(&function.name, index, position, true));
                    continue;
                }
                let number = match named.get(function.name.as_str()) {
                    Some(&(_, Linkage::External)) if function.linkage == Linkage::External => {
                        return Err(LinkError::Twice {
                            name: function.name.clone(),
                        });
                    }
                    Some(&(number, known)) => {
                        if known == Linkage::Weak && function.linkage == Linkage::External {
                            replaced.push((number, index, position));
                            named.insert(&function.name, (number, Linkage::External));
                        }
                        number
                    }
                    None => {
                        let number = new(&function.name, index, position, true);
                        named.insert(&function.name, (number, function.linkage));
                        number
                    }
                };
                numbers[index][position] = Some(number);
            }
        }
        for (index, module) in self.modules.iter().enumerate() {
            let mut list = Vec::with_capacity(module.functions.len());
            for (position, function) in module.functions.iter().enumerate() {
                let known = numbers[index][position]
                    .or_else(|| named.get(function.name.as_str()).map(|&(number, _)| number));
                let number = known.unwrap_or_else(|| {
                    let number = new(&function.name, index, position, false);
                    named.insert(&function.name, (number, Linkage::Weak));
                    number
                });
                list.push(number);
            }
            self.functions.push(list);
        }
        for (number, module, position) in replaced {
            let routine = &mut self.routines[number.index()];
            routine.module = module;
            routine.function = FunctionId(position as u32);
        }
        Ok(())
    }

    fn link_globals(&mut self) -> Result<(), LinkError> {
        let mut chosen: HashMap<&str, (usize, usize)> = HashMap::new();
        let modules = &self.modules;
        for (index, module) in modules.iter().enumerate() {
            for (position, global) in module.globals.iter().enumerate() {
                if global.linkage == Linkage::Internal {
                    continue;
                }
                let better = match chosen.get(global.name.as_str()) {
                    Some(&(m, p)) => {
                        let known = rank(&modules[m].globals[p]);
                        if known == 3 && rank(global) == 3 {
                            let name = global.name.clone();
                            let empty = |global: &Global| global.data == Some(Data::default());
                            return Err(match empty(global) && empty(&modules[m].globals[p]) {
                                true => LinkError::TwiceWithoutValue { name },
                                false => LinkError::Twice { name },
                            });
                        }
                        // Of tentative definitions the largest one.
                        let larger = known == 2 && global.size > modules[m].globals[p].size;
                        rank(global) > known || (larger && rank(global) == known)
                    }
                    None => true,
                };
                if better {
                    chosen.insert(&global.name, (index, position));
                }
            }
        }
        let mut shared: HashMap<&str, ObjectId> = HashMap::new();
        for (index, module) in modules.iter().enumerate() {
            let mut list = Vec::with_capacity(module.globals.len());
            for (position, global) in module.globals.iter().enumerate() {
                let is_shared = global.linkage != Linkage::Internal;
                if is_shared && let Some(&number) = shared.get(global.name.as_str()) {
                    list.push(number);
                    continue;
                }
                let (module, position) = match is_shared {
                    true => chosen[global.name.as_str()],
                    false => (index, position),
                };
                let number = ObjectId(self.objects.len() as u32);
                self.objects.push(Object {
                    name: global.name.clone(),
                    module,
                    global: GlobalId(position as u32),
                    defined: modules[module].globals[position].data.is_some(),
                });
                if is_shared {
                    shared.insert(&global.name, number);
                }
                list.push(number);
            }
            self.globals.push(list);
        }
        Ok(())
    }

    /// Returns the routine that a function of a module means.
    pub fn routine_of(&self, module: usize, function: FunctionId) -> RoutineId {
        self.functions[module][function.index()]
    }

    /// Returns the routines that the functions of a module mean, in the order of the functions.
    pub fn routines_of(&self, module: usize) -> &[RoutineId] {
        &self.functions[module]
    }

    /// Returns the object that a global of a module means.
    pub fn object_of(&self, module: usize, global: GlobalId) -> ObjectId {
        self.globals[module][global.index()]
    }

    /// Returns the numbers of all routines, in order.
    pub fn routine_ids(&self) -> impl Iterator<Item = RoutineId> + use<> {
        (0..self.routines.len() as u32).map(RoutineId)
    }

    /// Returns the routine with the number `id`.
    pub fn routine(&self, id: RoutineId) -> &Routine {
        &self.routines[id.index()]
    }

    /// Returns the definition of a routine, or a declaration if it has no definition.
    pub fn function(&self, id: RoutineId) -> &Function {
        let routine = self.routine(id);
        self.modules[routine.module].function(routine.function)
    }

    /// Returns the definition of a routine, or `None` if it is only declared.
    pub fn body(&self, id: RoutineId) -> Option<&Function> {
        self.routine(id).defined.then(|| self.function(id))
    }

    /// Whether a routine is declared to never return.
    pub fn never_returns(&self, id: RoutineId) -> bool {
        self.function(id).no_return
    }

    /// Returns the definition of an object, or a declaration if it has no definition.
    pub fn global(&self, id: ObjectId) -> &Global {
        let object = &self.objects[id.index()];
        self.modules[object.module].global(object.global)
    }

    /// Returns the routine called `name` that is not static.
    pub fn routine_named(&self, name: &str) -> Option<RoutineId> {
        self.routine_ids().find(|&id| {
            self.routine(id).name == name && self.function(id).linkage != Linkage::Internal
        })
    }
}

/// Which of several definitions and declarations of an object counts.
fn rank(global: &Global) -> u8 {
    match (&global.data, global.tentative, global.linkage) {
        (None, _, _) => 0,
        (Some(_), _, Linkage::Weak) => 1,
        (Some(_), true, _) => 2,
        (Some(_), false, _) => 3,
    }
}
