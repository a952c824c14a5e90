//! Declarations at file scope: records, enumerations, names of types, variables, functions.

use patchwright_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{FunctionBuilder, Text, UnitBuilder, ordinary::Ordinary, spelled};
use crate::{
    Dialect,
    dump::{Dump, DumpError},
    locate,
    raw::{Location, Node},
    tree::*,
    types::{Field, IntegerKind, TypeKind, TypeTable},
};

impl<'a> UnitBuilder<'a> {
    /// Converts the dump, one declaration after the other. The functions are those of the file with a name that
    /// `is_main`, if that is one file.
    ///
    /// # Errors
    /// When the dump is not what is expected of the compiler.
    pub(crate) fn convert(
        dump: &Dump,
        dialect: Dialect,
        hidden: &FxHashSet<String>,
        is_main: &dyn Fn(&str) -> bool,
        text: Text<'a>,
        is_system: &dyn Fn(&str) -> bool,
    ) -> Result<Self, DumpError> {
        let mut files = locate::Files::default();
        let mut builder = UnitBuilder::new(dialect, text);
        builder.types.hide(hidden);
        if text
            .macros
            .definitions("bool")
            .iter()
            .any(|one| one.body.trim() == "_Bool")
        {
            builder.types.set_bool_is_macro();
        }
        let mut known_variables: Vec<usize> = Vec::new();
        let mut last_own = None;
        dump.declarations(&mut |mut node| {
            locate::resolve_files(&mut node, &mut files);
            let known = builder.files.len();
            builder.files.extend_from_slice(&files.names()[known..]);
            builder.main_file = files.only(is_main).unwrap_or(u32::MAX);
            builder.position = known_variables.len() as u32;
            if file_of(&node) == Some(builder.main_file) {
                last_own = Some(known_variables.len());
            }
            known_variables.push(builder.variables.len());
            builder.declaration(&node, &files, is_system);
        })?;
        if files.only(is_main).is_none() && files.names().iter().any(|name| is_main(name)) {
            // It came to light behind some functions: once more, with no file that is the main one.
            return UnitBuilder::convert(dump, dialect, hidden, &|_| false, text, is_system);
        }
        if let Some(&behind) = last_own.and_then(|last| known_variables.get(last + 1)) {
            // They stand behind an included file.
            for variable in &mut builder.variables[behind..] {
                variable.declared_at = Some(u32::MAX);
            }
        }
        builder.offsets = files.offsets;
        builder.refuse_templates();
        Ok(builder)
    }

    fn new(dialect: Dialect, text: Text<'a>) -> Self {
        UnitBuilder {
            source: text.source,
            macros: text.macros,
            folder: text.folder,
            line_marks: patchwright_ctext::line_marks(text.source),
            types: TypeTable::new(dialect),
            variables: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            functions_elsewhere: 0,
            main_file: u32::MAX,
            variable_of: FxHashMap::default(),
            enumerators: FxHashMap::default(),
            enumerations: Vec::new(),
            bit_fields: FxHashMap::default(),
            records: FxHashMap::default(),
            enums: FxHashMap::default(),
            typedefs: FxHashMap::default(),
            typedef_alignments: FxHashMap::default(),
            fields: FxHashMap::default(),
            functions_in_headers: Vec::new(),
            files: Vec::new(),
            declarations: FxHashMap::default(),
            declared: Vec::new(),
            initializers: Vec::new(),
            offsets: 0,
            aliases: FxHashMap::default(),
            position: 0,
            defined_tags: FxHashMap::default(),
            ordinary: Vec::new(),
            scope_marks: Vec::new(),
        }
    }

    /// A file that is included several times, each time with other macros, has functions of several meanings.
    fn refuse_templates(&mut self) {
        let mut times: FxHashMap<Span, usize> = FxHashMap::default();
        for function in &self.functions {
            *times.entry(function.body_span).or_default() += 1;
        }
        // Functions whose bodies one use of a macro makes lie in one place, too.
        let written = self.functions.iter_mut();
        let written = written.filter(|one| one.refusal != Some(Refusal::BodyFromMacro));
        for function in written {
            if times[&function.body_span] > 1 {
                function.refusal = Some(Refusal::Ambiguous);
            }
        }
    }

    fn declaration(
        &mut self,
        node: &Node,
        files: &locate::Files,
        is_system: &dyn Fn(&str) -> bool,
    ) {
        if let Some(alias) = node.inner.iter().find(|n| n.kind == "AliasAttr") {
            let target = alias.aliasee.clone();
            self.aliases.insert(node.name.clone(), target);
        }
        // Headers of the system give functions other names that do the same.
        if node.inner.iter().any(|n| n.kind == "AsmLabelAttr")
            && !node.mangled.is_empty()
            && node.mangled != node.name
            && !file_of(node).is_some_and(|file| is_system(files.name(file)))
        {
            self.aliases.insert(node.name.clone(), node.mangled.clone());
        }
        match node.kind.as_str() {
            "RecordDecl" => self.record(node),
            "EnumDecl" => self.enumeration(node),
            "TypedefDecl" => self.typedef(node),
            "VarDecl" => {
                let id = self.variable(node, Storage::Global);
                self.variables[id.0 as usize].in_system_header = file_of(node)
                    .is_some_and(|file| file != self.main_file && is_system(files.name(file)));
                let name = &self.variables[id.0 as usize].name;
                if !self
                    .globals
                    .iter()
                    .any(|g| &self.variables[g.0 as usize].name == name)
                {
                    self.globals.push(id);
                }
                self.file_initializer(id, node);
            }
            "FunctionDecl" => {
                let mut declaration = self.function_declaration(node);
                declaration.in_system_header = file_of(node)
                    .is_some_and(|file| file != self.main_file && is_system(files.name(file)));
                let has_body = has_body(node);
                match self.declarations.get_mut(&node.name) {
                    Some(known) => {
                        let (internal, inline) =
                            (known.internal || declaration.internal, known.inline);
                        let no_return = known.no_return || declaration.no_return;
                        let weak = known.weak || declaration.weak;
                        let align = known.align.max(declaration.align);
                        let implicit = known.implicit && declaration.implicit;
                        let renamed = known.renamed || declaration.renamed;
                        let constructor = known.constructor.or(declaration.constructor);
                        let destructor = known.destructor.or(declaration.destructor);
                        let in_system_header =
                            known.in_system_header || declaration.in_system_header;
                        // What the compiler made up counts from where the source says it.
                        let order = match known.implicit {
                            true => declaration.order,
                            false => known.order,
                        };
                        // `inline` stays so only when every declaration says it.
                        let inline = inline && declaration.inline;
                        if has_body || !known.prototyped {
                            *known = declaration;
                        }
                        known.internal = internal;
                        known.inline = inline;
                        known.no_return = no_return;
                        known.weak = weak;
                        known.align = align;
                        known.constructor = constructor;
                        known.destructor = destructor;
                        known.implicit = implicit;
                        known.renamed = renamed;
                        known.order = order;
                        known.in_system_header = in_system_header;
                    }
                    None => {
                        self.declarations.insert(node.name.clone(), declaration);
                    }
                }
                let Some(body) = node.inner.iter().find(|n| n.kind == "CompoundStmt") else {
                    return;
                };
                let in_main = file_of(node) == Some(self.main_file);
                if in_main && !node.is_invalid {
                    if let Some(function) = FunctionBuilder::build(self, node, body) {
                        self.functions.push(function);
                    }
                } else {
                    self.functions_elsewhere += 1;
                    if !node.is_invalid
                        && let Some(mut function) = FunctionBuilder::build(self, node, body)
                    {
                        function.refusal = Some(Refusal::InHeader);
                        self.functions_in_headers.push(function);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes the structure or union that a node declares or defines.
    pub(super) fn record(&mut self, node: &Node) {
        let name = if node.name.is_empty() {
            self.unnamed(node)
        } else {
            node.name.clone()
        };
        let id = match self.records.get(&node.previous) {
            Some(&known) => known,
            None => self.types.declare_record(&name, node.tag_used == "union"),
        };
        self.records.insert(node.id, id);
        if !node.complete_definition {
            return;
        }
        *self.defined_tags.entry(node.name.clone()).or_default() += 1;
        let mut notes = super::details::layout_notes(node);
        let mut fields = Vec::new();
        let mut last_nested = None;
        for child in &node.inner {
            match child.kind.as_str() {
                "RecordDecl" => {
                    self.record(child);
                    last_nested = self.records.get(&child.id).copied();
                }
                "EnumDecl" => self.enumeration(child),
                "FieldDecl" => {
                    if child.is_bit_field {
                        self.bit_fields.insert(child.id, ());
                    }
                    let ty = match (child.name.is_empty(), last_nested) {
                        (true, Some(record)) if child.is_implicit => {
                            self.types.plain(TypeKind::Record(record))
                        }
                        _ => {
                            let ty = self.written(child);
                            match (self.types.kind(ty), last_nested) {
                                // `struct { … } name;`: the compiler has no name for the type.
                                (TypeKind::Other(_), Some(record))
                                    if spelled(child).contains("(unnamed ")
                                        && !spelled(child).contains(['*', '[']) =>
                                {
                                    self.types.plain(TypeKind::Record(record))
                                }
                                _ => ty,
                            }
                        }
                    };
                    let bit_width = child.is_bit_field.then(|| {
                        child
                            .inner
                            .iter()
                            .find_map(|n| n.value.as_ref()?.0.parse().ok())
                            .unwrap_or(0)
                    });
                    notes.typedefs.push(self.typedef_alignment(child));
                    self.fields.insert(child.id, (id, fields.len()));
                    fields.push(Field {
                        name: child.name.clone(),
                        ty,
                        bit_width,
                    });
                }
                _ => {}
            }
        }
        // A member of variable length is not understood.
        self.types.take_lengths();
        self.types.set_layout_notes(id, notes);
        self.types.define_record(id, fields);
    }

    /// The alignment that a typedef gives a field.
    fn typedef_alignment(&self, field: &Node) -> Option<u64> {
        let alias = field.ty.as_ref()?.alias?;
        self.typedef_alignments.get(&alias).copied()
    }

    /// Returns the text of the main file from a location on.
    pub(crate) fn text_at(&self, location: &Location) -> Option<&'a str> {
        let (file, offset) = match &location.spelling {
            Some(bare) => (bare.file_id, bare.offset),
            None => (location.file_id, location.offset),
        };
        if file != Some(self.main_file) {
            return None;
        }
        let rest = self.source.get(offset? as usize..)?;
        let end = rest.iter().position(|&c| c == b';' || c == b'{');
        std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]).ok()
    }

    /// Returns the text of another file from a location on.
    pub(super) fn text_elsewhere(&self, location: &Location) -> Option<String> {
        let (file, offset) = match &location.spelling {
            Some(bare) => (bare.file_id, bare.offset),
            None => (location.file_id, location.offset),
        };
        let name = self.files.get(file? as usize)?;
        let text = std::fs::read(self.folder.join(name)).ok()?;
        let rest = text.get(offset? as usize..)?;
        let end = rest.iter().position(|&c| c == b';' || c == b'{');
        let text = std::str::from_utf8(&rest[..end.unwrap_or(rest.len())]);
        text.ok().map(str::to_owned)
    }

    /// Returns the text of the main file from the use of the outermost macro round a location.
    pub(super) fn text_at_use(&self, location: &Location) -> Option<&'a str> {
        let bare = location.expansion.as_ref()?;
        if bare.file_id != Some(self.main_file) {
            return None;
        }
        let rest = self.source.get(bare.offset? as usize..)?;
        let end = rest.iter().position(|&c| c == b'\n').unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).ok()
    }

    /// Notes an enumeration: its constants with their values, and its integer type.
    pub(super) fn enumeration(&mut self, node: &Node) {
        let mut next = 0i128;
        let (mut least, mut greatest) = (0, 0);
        let mut members = Vec::new();
        for child in &node.inner {
            if child.kind != "EnumConstantDecl" {
                continue;
            }
            if let Some(value) = child.inner.iter().find_map(enumerator) {
                next = value;
            }
            least = least.min(next);
            greatest = greatest.max(next);
            self.enumerators.insert(child.id, next);
            self.declare_ordinary(&child.name, Ordinary::Enumerator(next));
            members.push((child.name.clone(), next));
            next += 1;
        }
        self.enumerations.push(members);
        let packed = self.types.dialect().short_enums
            || node.inner.iter().any(|child| child.kind == "PackedAttr");
        let kind = IntegerKind::of_enumeration(least, greatest, packed);
        let id = match self.enums.get(&node.previous) {
            Some(&known) => known,
            None if node.name.is_empty() => {
                let name = self.unnamed(node);
                self.types.declare_enum(&name, kind)
            }
            None => self.types.declare_enum(&node.name, kind),
        };
        if !node.inner.is_empty() {
            self.types.set_enum_kind(id, kind);
            *self.defined_tags.entry(node.name.clone()).or_default() += 1;
        }
        self.enums.insert(node.id, id);
    }

    /// The name of a record or enumeration without a tag: where it is declared.
    fn unnamed(&self, node: &Node) -> String {
        let place = node.loc.as_ref().and_then(|loc| {
            let (file, line, column) = match &loc.expansion {
                Some(bare) => (bare.file_id?, bare.line, bare.column),
                None => (loc.file_id?, loc.line, loc.column),
            };
            let name = self.files.get(file as usize)?;
            let (name, line) = match file == self.main_file {
                true => self.called(name, line),
                false => (name.as_str(), line),
            };
            Some(format!("{name}:{line}:{column}"))
        });
        match place {
            Some(place) => crate::types::unnamed_at(&place),
            None => format!("(anonymous {:x})", node.id.0),
        }
    }

    /// What the compiler calls a line of the source.
    fn called<'n>(&'n self, file: &'n str, line: u32) -> (&'n str, u32) {
        let marks = &self.line_marks[..self.line_marks.partition_point(|mark| mark.at < line)];
        let Some(last) = marks.last() else {
            return (file, line);
        };
        let named = marks.iter().rev().find_map(|mark| mark.file.as_deref());
        let line = (line - last.at - 1).wrapping_add(last.next);
        (named.unwrap_or(file), line)
    }

    /// Adds a variable to the unit, and returns its number.
    pub(super) fn variable(&mut self, node: &Node, storage: Storage) -> VarId {
        let ty = self.written(node);
        let id = VarId(self.variables.len() as u32);
        self.declared.push(super::details::declared(node));
        self.variables.push(Variable {
            name: node.name.clone(),
            ty,
            storage,
            initializer: None,
            thread_local: node.tls.is_some(),
            declared_at: node
                .loc
                .as_ref()
                .filter(|loc| loc.file_id == Some(self.main_file))
                .and_then(|loc| loc.offset),
            in_system_header: false,
        });
        self.variable_of.insert(node.id, id);
        self.declare_ordinary(&node.name, Ordinary::Variable(id));
        id
    }
}

fn file_of(node: &Node) -> Option<u32> {
    let loc = node.loc.as_ref()?;
    match &loc.expansion {
        Some(expansion) => expansion.file_id,
        None => loc.file_id,
    }
}

fn has_body(node: &Node) -> bool {
    node.inner.iter().any(|n| n.kind == "CompoundStmt")
}

/// The value of an enumerator's expression, which may be converted to the enumeration's type.
fn enumerator(node: &Node) -> Option<i128> {
    match (&node.value, &node.inner[..]) {
        (Some(value), _) => value.0.parse().ok(),
        (None, [inner]) if node.kind == "ImplicitCastExpr" => enumerator(inner),
        _ => None,
    }
}
