//! Lowers translation units: globals, declarations, and the names of functions and objects.

use patchwright_csource::{
    self as c, Storage, TranslationUnit, VarId,
    detail::{Declaration, Priority},
    types::TypeId,
};
use patchwright_ir::{
    Data, FileId, Function, FunctionId, Global, GlobalId, Hook, Linkage, Module, Node, Origin,
    Parameter, SourceFile, Type,
};
use patchwright_text::LineMap;
use rustc_hash::FxHashMap;

use crate::{
    alternatives::Alternatives,
    constant::Scope,
    data::{Image, initialize},
    function::FunctionLowerer,
    types::{Class, class},
};

/// Lowers a translation unit to a module. The module has all functions that the main file defines and
/// those of included files that other units can name. It also has the objects and functions that these
/// use, from headers too. `path` is the name of the main file in the compile command; it becomes file 0
/// of the module.
pub fn lower(unit: &TranslationUnit, path: &str) -> Module {
    lower_all(unit, path, None)
}

/// Lowers a translation unit as [`lower`] does, as a meta-program with `alternatives`.
pub fn lower_with(unit: &TranslationUnit, path: &str, alternatives: &Alternatives) -> Module {
    lower_all(unit, path, Some(alternatives))
}

fn lower_all<'a>(
    unit: &'a TranslationUnit,
    path: &str,
    alternatives: Option<&'a Alternatives>,
) -> Module {
    let main_file = unit.files.iter().position(|name| name == path);
    let mut lowerer = Lowerer {
        unit,
        alternatives,
        main_file: main_file.unwrap_or(0) as u32,
        lines: LineMap::new(&unit.source),
        module: Module::default(),
        objects: FxHashMap::default(),
        statics: FxHashMap::default(),
        labels: FxHashMap::default(),
        functions: FxHashMap::default(),
        strings: FxHashMap::default(),
    };
    lowerer.files();
    for function in &unit.functions {
        lowerer.declare(&function.name);
    }
    lowerer.hooks();
    for initializer in &unit.initializers {
        lowerer.define_object(initializer);
    }
    for &variable in &unit.globals {
        lowerer.tentative(variable);
    }
    for function in &unit.functions {
        lowerer.define(function);
    }
    // Functions of included files that other units can name are part of this one's object file.
    let (visible, mut waiting): (Vec<&c::Function>, Vec<&c::Function>) = unit
        .functions_in_headers
        .iter()
        .partition(|function| is_emitted(&function.details.declaration));
    for function in visible {
        lowerer.define(function);
    }
    // Of the others, those that are used; they may use others in turn.
    loop {
        let (used, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|function| {
            let name = &function.name;
            lowerer.functions.contains_key(name) || unit.wanted.contains(name)
        });
        waiting = rest;
        if used.is_empty() {
            break;
        }
        for function in used {
            lowerer.define(function);
            // It is nobody's own: each unit that uses it has it.
            let id = lowerer.declare(&function.name);
            let linkage = &mut lowerer.module.functions[id.index()].linkage;
            if *linkage == Linkage::External {
                *linkage = Linkage::Weak;
            }
        }
    }
    lowerer.other_names();
    lowerer.module
}

/// The compiler makes code of a function that is defined so, whether it is used or not.
fn is_emitted(declaration: &Declaration) -> bool {
    !(declaration.internal || declaration.inline || declaration.in_system_header)
}

/// Lowers a translation unit to a module.
pub(crate) struct Lowerer<'a> {
    pub(crate) unit: &'a TranslationUnit,
    pub(crate) alternatives: Option<&'a Alternatives>,
    pub(crate) main_file: u32,
    /// The lines of the main file.
    pub(crate) lines: LineMap,
    pub(crate) module: Module,
    /// Objects with a name at file scope.
    objects: FxHashMap<&'a str, GlobalId>,
    /// Static locals.
    statics: FxHashMap<VarId, GlobalId>,
    /// The labels of functions.
    labels: FxHashMap<&'a str, GlobalId>,
    functions: FxHashMap<String, FunctionId>,
    strings: FxHashMap<(Vec<u8>, u64), GlobalId>,
}

impl<'a> Lowerer<'a> {
    /// Functions that are called before `main` and at the end, those of headers included.
    fn hooks(&mut self) {
        let unit = self.unit;
        for function in unit.functions.iter().chain(&unit.functions_in_headers) {
            let Some(declaration) = unit.declarations.get(&function.name) else {
                continue;
            };
            let (first, last) = (declaration.constructor, declaration.destructor);
            if first.is_none() && last.is_none() {
                continue;
            }
            let id = self.declare(&function.name);
            // One whose place among the others is not known says so when it is called.
            let hook = |priority| Hook {
                function: id,
                priority: match priority {
                    Priority::Number(number) => number,
                    Priority::Last | Priority::Unknown => u32::MAX,
                },
            };
            self.module.constructors.extend(first.map(hook));
            self.module.destructors.extend(last.map(hook));
        }
    }

    /// The object whose bytes stand for the labels of a function: their addresses are labels as values.
    pub(crate) fn labels(&mut self, function: &'a c::Function) -> GlobalId {
        if let Some(&id) = self.labels.get(function.name.as_str()) {
            return id;
        }
        let id = self.anonymous("labels", function.labels.len() as u64, 1);
        self.module.globals[id.index()].constant = true;
        self.labels.insert(&function.name, id);
        id
    }

    fn files(&mut self) {
        let files = self.unit.files.iter();
        self.module.files = files
            .map(|path| SourceFile { path: path.clone() })
            .collect();
        if self.module.files.is_empty() {
            self.module.files.push(SourceFile {
                path: String::new(),
            });
        }
        self.module.files.swap(0, self.main_file as usize);
    }

    /// The file of the module for a file of the unit.
    pub(crate) fn file(&self, file: u32) -> FileId {
        FileId(match file {
            0 => self.main_file,
            file if file == self.main_file => 0,
            file => file,
        })
    }

    /// Returns how values of a type are lowered.
    pub(crate) fn class(&self, ty: TypeId) -> Class {
        class(&self.unit.types, ty)
    }

    /// What a name stands for, if it is another name of something of the unit.
    fn own_name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        // A name of a name of a name: compilers refuse circles.
        let mut own = name;
        for _ in 0..self.unit.aliases.len() {
            match self.unit.aliases.get(own) {
                Some(target) => own = target,
                None => break,
            }
        }
        own
    }

    /// Gives functions their other names, for other units: here these mean the function itself.
    fn other_names(&mut self) {
        let unit = self.unit;
        let mut names: Vec<&String> = unit.aliases.keys().collect();
        names.sort_unstable();
        for name in names {
            let Some(&id) = self.functions.get(self.own_name(name)) else {
                continue;
            };
            let declaration = unit.declarations.get(name);
            let Some(declaration) = declaration.filter(|known| !(known.internal || known.renamed))
            else {
                continue;
            };
            let function = &self.module.functions[id.index()];
            if function.is_defined() {
                let mut other = function.clone();
                other.name.clone_from(name);
                other.linkage = match declaration.weak {
                    true => Linkage::Weak,
                    false => Linkage::External,
                };
                self.module.functions.push(other);
            }
        }
    }

    /// The function called `name`, as the unit declares it.
    pub(crate) fn declare(&mut self, name: &str) -> FunctionId {
        let written = name;
        let name = self.own_name(name);
        if let Some(&id) = self.functions.get(name) {
            return id;
        }
        let unit = self.unit;
        let declaration = unit.declarations.get(name);
        let function = match declaration.or_else(|| unit.declarations.get(written)) {
            Some(declaration) => Function {
                name: name.to_owned(),
                ..self.declared(declaration)
            },
            None => undeclared(name),
        };
        self.push_function(name, function)
    }

    /// Declares a function without a declaration at file scope, as a call shows it.
    pub(crate) fn declare_as(
        &mut self,
        name: &str,
        result: Type,
        parameters: Vec<Type>,
        variadic: bool,
    ) -> FunctionId {
        let known = |name| self.unit.declarations.contains_key(name);
        if known(name) || known(self.own_name(name)) {
            return self.declare(name);
        }
        let name = self.own_name(name);
        if self.functions.contains_key(name) {
            return self.declare(name);
        }
        let mut function = undeclared(name);
        function.result = result;
        function.parameters = parameters.into_iter().map(|ty| Parameter { ty }).collect();
        function.variadic = variadic;
        self.push_function(name, function)
    }

    fn define(&mut self, function: &'a c::Function) {
        let id = self.declare(&function.name);
        let lowered = FunctionLowerer::lower(self, function, id);
        self.module.functions[id.index()] = lowered;
    }

    fn push_function(&mut self, name: &str, function: Function) -> FunctionId {
        let id = FunctionId(self.module.functions.len() as u32);
        self.module.functions.push(function);
        self.functions.insert(name.to_owned(), id);
        id
    }

    /// The type that a value is passed or returned as.
    pub(crate) fn passed(&self, ty: TypeId) -> Option<Type> {
        match self.class(ty) {
            Class::Void => Some(Type::Void),
            Class::Scalar(ty) => Some(ty),
            Class::Aggregate { size, .. } => Some(Type::Aggregate { size }),
            Class::Array | Class::Function => Some(Type::Ptr),
            Class::Unknown(_) => None,
        }
    }

    fn declared(&self, declaration: &Declaration) -> Function {
        let mut function = undeclared(&declaration.name);
        let result = declaration.result.and_then(|ty| self.passed(ty));
        let parameters: Option<Vec<Parameter>> = declaration
            .parameters
            .iter()
            .map(|&ty| self.passed(ty).map(|ty| Parameter { ty }))
            .collect();
        function.prototyped = declaration.prototyped && result.is_some() && parameters.is_some();
        function.result = result.unwrap_or(Type::I32);
        function.parameters = parameters.unwrap_or_default();
        function.variadic = declaration.variadic;
        function.no_return = declaration.no_return;
        function.linkage = if declaration.internal {
            Linkage::Internal
        } else if declaration.weak || declaration.inline {
            Linkage::Weak
        } else {
            Linkage::External
        };
        function
    }

    /// An object that no name of C reaches.
    pub(crate) fn anonymous(&mut self, kind: &str, size: u64, align: u64) -> GlobalId {
        let id = GlobalId(self.module.globals.len() as u32);
        self.module.globals.push(Global {
            name: format!(".{kind}.{}", id.0),
            linkage: Linkage::Internal,
            size,
            align,
            constant: false,
            thread_local: false,
            tentative: false,
            data: Some(Data::default()),
            unsupported: None,
            origin: Origin::default(),
        });
        id
    }

    /// The object of a string literal, of `size` bytes; equal literals are one object.
    pub(crate) fn string(&mut self, mut bytes: Vec<u8>, size: u64, align: u64) -> GlobalId {
        bytes.truncate(size as usize);
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        if let Some(&id) = self.strings.get(&(bytes.clone(), size)) {
            return id;
        }
        let id = self.anonymous("string", size, align);
        let global = &mut self.module.globals[id.index()];
        global.constant = true;
        global.data = Some(Data {
            bytes: bytes.clone(),
            relocations: Vec::new(),
        });
        self.strings.insert((bytes, size), id);
        id
    }

    /// The object of a variable with static storage duration.
    pub(crate) fn object(&mut self, id: VarId) -> GlobalId {
        let unit = self.unit;
        let variable = unit.variable(id);
        let own = self.own_name(&variable.name);
        if own != variable.name
            && let Some(other) = unit
                .variables
                .iter()
                .position(|known| known.storage == Storage::Global && known.name == own)
        {
            return self.object(VarId(other as u32));
        }
        if variable.storage == Storage::StaticLocal {
            if let Some(&global) = self.statics.get(&id) {
                return global;
            }
        } else if let Some(&global) = self.objects.get(variable.name.as_str()) {
            self.complete(global, id);
            return global;
        }
        let declared = unit.declared[id.0 as usize];
        let (size, align) = unit.types.size_and_align(variable.ty).unwrap_or((0, 1));
        let global = GlobalId(self.module.globals.len() as u32);
        let local = variable.storage == Storage::StaticLocal;
        self.module.globals.push(Global {
            name: match local {
                true => format!("{}.{}", variable.name, id.0),
                false => own.to_owned(),
            },
            linkage: if local || declared.internal {
                Linkage::Internal
            } else if declared.weak {
                Linkage::Weak
            } else {
                Linkage::External
            },
            size,
            align: align.max(declared.align.unwrap_or(1)),
            constant: unit.types.qualifiers(element(unit, variable.ty)).is_const,
            thread_local: variable.thread_local,
            tentative: false,
            data: None,
            unsupported: None,
            origin: Origin {
                node: Some(Node::Variable(id.0)),
                span: None,
                line: None,
            },
        });
        if local {
            self.statics.insert(id, global);
        } else {
            self.objects.insert(&variable.name, global);
        }
        global
    }

    /// A later declaration may complete the type, or say more of the linkage.
    fn complete(&mut self, global: GlobalId, id: VarId) {
        let declared = self.unit.declared[id.0 as usize];
        let size = self.unit.types.size_and_align(self.unit.variable(id).ty);
        let global = &mut self.module.globals[global.index()];
        if let Some((size, align)) = size {
            global.size = global.size.max(size);
            global.align = global.align.max(align);
        }
        if declared.internal {
            global.linkage = Linkage::Internal;
        }
    }

    fn define_object(&mut self, initializer: &'a c::detail::FileInitializer) {
        let ty = self.unit.variable(initializer.variable).ty;
        let global = self.object(initializer.variable);
        self.initialize_object(global, ty, &initializer.arena, initializer.value);
    }

    /// Gives an object its initial data.
    pub(crate) fn initialize_object(
        &mut self,
        global: GlobalId,
        ty: TypeId,
        arena: &'a c::Function,
        value: c::ExprId,
    ) {
        let size = self.module.globals[global.index()].size;
        let mut image = Image::new(size);
        let mut scope = Scope {
            lowerer: self,
            arena,
        };
        let result = initialize(&mut scope, &mut image, 0, ty, value);
        let object = &mut self.module.globals[global.index()];
        // A flexible array member may make it longer than its type.
        object.size = size.max(image.bytes.len() as u64);
        match result {
            Ok(()) => object.data = Some(image.into_data()),
            Err(reason) => {
                object.data = Some(Data::default());
                object.unsupported = Some(reason);
            }
        }
    }

    /// A variable at file scope that no declaration initialises: zero, if it is not only declared.
    fn tentative(&mut self, variable: VarId) {
        let unit = self.unit;
        let name = &unit.variable(variable).name;
        let mut defined = false;
        let mut last = None;
        for (index, other) in unit.variables.iter().enumerate() {
            if other.storage == Storage::Global && &other.name == name {
                defined |= !unit.declared[index].is_extern;
                last = Some(VarId(index as u32));
            }
        }
        // What headers declare and nothing uses is left out.
        if !defined {
            return;
        }
        let global = self.object(last.unwrap_or(variable));
        let class = self.class(unit.variable(last.unwrap_or(variable)).ty);
        let object = &mut self.module.globals[global.index()];
        if object.data.is_none() {
            object.data = Some(Data::default());
            // Else a definition like any other.
            object.tentative = unit.dialect.common;
            if let Class::Unknown(reason) = class {
                object.unsupported = Some(reason.to_owned());
            }
        }
    }
}

/// What an array consists of; the type itself for others.
fn element(unit: &TranslationUnit, mut ty: TypeId) -> TypeId {
    use c::types::TypeKind;
    while let TypeKind::Array(of, _) = unit.types.kind(ty) {
        ty = *of;
    }
    ty
}

fn undeclared(name: &str) -> Function {
    Function {
        name: name.to_owned(),
        linkage: Linkage::External,
        parameters: Vec::new(),
        variadic: false,
        prototyped: false,
        no_return: false,
        result: Type::I32,
        locals: Vec::new(),
        temporaries: Vec::new(),
        blocks: Vec::new(),
        origins: vec![Origin::default()],
    }
}
