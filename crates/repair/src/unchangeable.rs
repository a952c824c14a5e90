//! Counts what no kind of change covers in the searched functions, so that the user knows where to look
//! by hand.
//!
//! The count is of the tree, so of the text that the compiler sees. Only functions that all failing tests reach count: a label
//! elsewhere says nothing about the bug.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use patchwright_csource::{
    Expr, ExprId, ExprKind, Function, Place, Storage, TranslationUnit, VarId, lex,
    types::{TypeId, TypeKind},
};
use patchwright_space::{HoleKind, changed_argument};
use patchwright_text::{LineMap, Span};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::instrumented::{HoleEntry, SourceFile};

/// The kind of a thing that no kind of change covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnchangeableKind {
    /// The value of a `case` that is no plain number or name.
    CaseLabel,
    /// The value with which a variable begins that is not local, or `static`; tables of functions are some.
    StaticInitializer,
    /// The characters of a string literal that are not like a line that tests expect.
    StringLiteral,
    /// An expression that comes from the body of a macro of the project.
    MacroBody,
    /// A bit-field of an object behind a pointer of which the functions that are searched read or write something: no assignment to it is
    /// tried.
    BitField,
    /// A function that stands in a header of the project and is called from the functions that are searched.
    HeaderFunction,
    /// A function in the files that were read that can hold no location, and why.
    RefusedFunction(String),
}

/// The number and the first places of things of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchangeable {
    /// What they are.
    pub kind: UnchangeableKind,
    /// How many there are.
    pub count: usize,
    /// File and line of the first of them, in order, each line once: [`MOST_PLACES`] at most.
    pub places: Vec<String>,
}

/// The number of places that are named for each kind.
pub const MOST_PLACES: usize = 3;

/// A file, relative to the project's root where it lies in it, and a line, from 1.
pub(crate) type FileLine = (PathBuf, u32);

/// The places of all things that no kind of change covers.
#[derive(Clone, Debug, Default)]
pub struct UnchangeableThings {
    found: BTreeMap<UnchangeableKind, Vec<FileLine>>,
    /// Where the initial values are of variables that other sources can name.
    globals: BTreeMap<String, FileLine>,
}

impl UnchangeableThings {
    /// Notes a place that no schema changes.
    pub(crate) fn add(&mut self, kind: UnchangeableKind, place: FileLine) {
        self.found.entry(kind).or_default().push(place);
    }

    /// Notes the initial values that a source has and that others may use.
    pub(crate) fn add_globals(&mut self, unit: &TranslationUnit, relative: &Path) {
        for one in &unit.initializers {
            let line = one.arena.details.expr_lines[one.value.0 as usize].1;
            let in_header = one.arena.expr(one.value).place == Place::OtherFile;
            if !unit.declared[one.variable.0 as usize].internal && !in_header {
                let name = unit.variable(one.variable).name.clone();
                self.globals.insert(name, (relative.to_path_buf(), line));
            }
        }
    }

    /// Returns the number of things of each kind, with the first places.
    pub fn summed_up(mut self) -> Vec<Unchangeable> {
        self.found.values_mut().for_each(|places| places.sort());
        let sum = |(kind, places): (UnchangeableKind, Vec<FileLine>)| {
            let distinct: BTreeSet<&FileLine> = places.iter().collect();
            let first = distinct.into_iter().take(MOST_PLACES);
            Unchangeable {
                kind,
                count: places.len(),
                places: first
                    .map(|(file, line)| format!("{}:{line}", file.display()))
                    .collect(),
            }
        };
        self.found.into_iter().map(sum).collect()
    }
}

/// Adds what no schema changes in the functions of the entries, on the lines that are `wanted`. `roots` are the folders
/// by which the compiler may have called the project.
pub(crate) fn find(
    files: &[SourceFile],
    entries: &[HoleEntry],
    wanted: &dyn Fn(&Path, u32) -> bool,
    roots: &[&Path],
    found: &mut UnchangeableThings,
) {
    // What alternatives change.
    let choices = entries.iter().filter_map(|entry| match &entry.hole.kind {
        HoleKind::Choice(choice) => Some((entry.file, choice)),
        _ => None,
    });
    let changed: FxHashSet<(usize, Span)> = choices
        .flat_map(|(file, choice)| {
            let spans = choice.alternatives.iter().map(|one| one.edit.span);
            spans.map(move |span| (file, span))
        })
        .collect();
    let searched: BTreeSet<(usize, usize)> = entries
        .iter()
        .map(|entry| (entry.file, entry.hole.function))
        .collect();
    // One text in several ways, and one header in several files, is one thing.
    let mut searcher = Searcher {
        wanted,
        roots,
        seen: BTreeSet::new(),
        found,
    };
    for (file, function) in searched {
        let is_changed = |span: Span| changed.contains(&(file, span));
        let function = &files[file].unit.functions[function];
        searcher.function(&files[file], function, &is_changed);
    }
}

/// The texts by which something is printed or read.
fn formats(function: &Function) -> FxHashSet<ExprId> {
    let text = |expr: &Expr| {
        let ExprKind::Call {
            callee, arguments, ..
        } = &expr.kind
        else {
            return None;
        };
        match &function.expr(function.stripped(*callee)).kind {
            ExprKind::Function(name) => {
                let argument = arguments.get(changed_argument(name)?)?;
                Some(function.stripped(*argument))
            }
            _ => None,
        }
    };
    function.exprs.iter().filter_map(text).collect()
}

struct Searcher<'a> {
    wanted: &'a dyn Fn(&Path, u32) -> bool,
    roots: &'a [&'a Path],
    seen: BTreeSet<(UnchangeableKind, FileLine, String)>,
    found: &'a mut UnchangeableThings,
}

impl Searcher<'_> {
    /// Adds something, unless it is known; what is on one line is told apart by its text.
    fn add(&mut self, kind: UnchangeableKind, place: FileLine, text: String) {
        if self.seen.insert((kind.clone(), place.clone(), text)) {
            self.found.add(kind, place);
        }
    }

    fn function(
        &mut self,
        file: &SourceFile,
        function: &Function,
        is_changed: &dyn Fn(Span) -> bool,
    ) {
        let unit = &file.unit;
        let lines = LineMap::new(&unit.source);
        let wanted = self.wanted;
        let is_wanted = |line: u32| wanted(&file.relative, line);
        // The file in which the function's own text is.
        let main = function.details.stmt_lines[function.body.0 as usize].0;
        for (label, _) in function.details.cases.values() {
            let place = function.expr(function.stripped(*label)).place;
            if place.editable().is_some_and(is_changed) {
                continue;
            }
            let (in_file, line) = function.details.expr_lines[label.0 as usize];
            let at = match in_file == main {
                true if !is_wanted(line) => continue,
                true => (file.relative.clone(), line),
                false => (self.shown(unit, in_file), line),
            };
            self.add(UnchangeableKind::CaseLabel, at, format!("{label:?}"));
        }
        let formats = formats(function);
        for (number, expr) in function.exprs.iter().enumerate() {
            match expr.place {
                Place::MacroBody { invocation } if expr.evaluated => {
                    let line = lines.line(invocation.start);
                    if is_wanted(line) && has_body(unit, invocation) {
                        let at = (file.relative.clone(), line);
                        let text = format!("{invocation:?}");
                        self.add(UnchangeableKind::MacroBody, at, text);
                    }
                }
                Place::Written(span) | Place::MacroArgument { span, .. } => {
                    let line = lines.line(span.start);
                    if !is_wanted(line) {
                        continue;
                    }
                    match &expr.kind {
                        // `__func__` is none that could be wrong.
                        ExprKind::String
                            if expr.evaluated
                                && unit.text(span).ends_with('"')
                                && !is_changed(Span::new(span.start + 1, span.end - 1))
                                && !formats.contains(&ExprId(number as u32)) =>
                        {
                            let at = (file.relative.clone(), line);
                            self.add(UnchangeableKind::StringLiteral, at, format!("{span:?}"));
                        }
                        ExprKind::Variable(id) => self.initializer(file, function, *id),
                        ExprKind::Member {
                            base, arrow: true, ..
                        } if has_bit_field(unit, function.expr(*base).ty) => {
                            let at = (file.relative.clone(), line);
                            self.add(UnchangeableKind::BitField, at, String::new());
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        self.headers(unit, function);
    }

    /// The initial value of a variable that the function mentions.
    fn initializer(&mut self, file: &SourceFile, function: &Function, id: VarId) {
        let unit = &file.unit;
        let variable = unit.variable(id);
        match (variable.storage, variable.initializer) {
            (Storage::StaticLocal, Some(value)) => {
                self.add_initializer(file, function, value, &variable.name);
            }
            (Storage::Global, _) => {
                let mut own = unit.initializers.iter();
                let own = own.find(|one| unit.variable(one.variable).name == variable.name);
                let elsewhere = self.found.globals.get(&variable.name);
                match (own, elsewhere.cloned()) {
                    (Some(one), _) => {
                        self.add_initializer(file, &one.arena, one.value, &variable.name);
                    }
                    (None, Some(at)) if !unit.declared[id.0 as usize].internal => {
                        let name = variable.name.clone();
                        self.add(UnchangeableKind::StaticInitializer, at, name);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn add_initializer(&mut self, file: &SourceFile, arena: &Function, value: ExprId, name: &str) {
        let (in_file, line) = arena.details.expr_lines[value.0 as usize];
        let at = match arena.expr(value).place {
            Place::OtherFile => (self.shown(&file.unit, in_file), line),
            _ => (file.relative.clone(), line),
        };
        self.add(UnchangeableKind::StaticInitializer, at, name.to_owned());
    }

    /// Functions in headers of the project that the function calls, also through each other.
    fn headers(&mut self, unit: &TranslationUnit, function: &Function) {
        let mut known = FxHashSet::default();
        let mut open = vec![function];
        while let Some(caller) = open.pop() {
            for expr in &caller.exprs {
                let ExprKind::Function(name) = &expr.kind else {
                    continue;
                };
                let defined = unit.functions_in_headers.iter();
                let mut defined = defined.filter(|one| one.name == *name);
                let Some(callee) = defined.next().filter(|_| known.insert(name.clone())) else {
                    continue;
                };
                let declared = unit.declarations.get(name);
                if declared.is_some_and(|declared| declared.in_system_header) {
                    continue;
                }
                let (in_file, line) = callee.details.stmt_lines[callee.body.0 as usize];
                let at = (self.shown(unit, in_file), line);
                self.add(UnchangeableKind::HeaderFunction, at, name.clone());
                open.push(callee);
            }
        }
    }

    /// A file that the compiler names, by its path in the project.
    fn shown(&self, unit: &TranslationUnit, file: u32) -> PathBuf {
        let name = unit.files.get(file as usize).map_or("", String::as_str);
        let path = Path::new(name);
        let below = self
            .roots
            .iter()
            .find_map(|root| path.strip_prefix(root).ok());
        let path = below.unwrap_or(path);
        path.strip_prefix(".").unwrap_or(path).to_path_buf()
    }
}

/// Whether a pointer of this type is one to a structure or union that has a bit-field with a name.
fn has_bit_field(unit: &TranslationUnit, pointer: TypeId) -> bool {
    let types = &unit.types;
    let TypeKind::Pointer(to) = types.kind(pointer) else {
        return false;
    };
    let TypeKind::Record(record) = types.kind(*to) else {
        return false;
    };
    let mut fields = types.record(*record).fields.iter().flatten();
    fields.any(|field| field.bit_width.is_some() && !field.name.is_empty())
}

/// Whether the macro that is used here is one of the project that computes something. What a constant stands for is
/// replaced where it is used.
fn has_body(unit: &TranslationUnit, invocation: Span) -> bool {
    let text = unit.text(invocation);
    let (name, _) = lex::first_word(&text);
    unit.project_macros.contains(name) && !unit.macros.iter().any(|one| one.name == name)
}
