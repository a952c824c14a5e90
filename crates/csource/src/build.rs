//! Builds the typed tree from clang's dump.

mod assembly;
mod declarations;
mod derived;
mod details;
mod expressions;
mod lengths;
mod names;
mod ordinary;
mod signatures;
mod statements;
mod uses;

use std::path::Path;

use patchwright_text::Span;
use rustc_hash::FxHashMap;

use expressions::line_of;
use signatures::return_spelling;
pub(crate) use signatures::{function_spelling, parameter_spellings};

use patchwright_ctext as lex;

use crate::{
    detail::{Declaration, Declared, Detail, Details, FileInitializer},
    locate::{Locator, Point},
    macros::MacroTable,
    raw::{Node, RawId},
    tree::*,
    types::{TypeId, TypeKind, TypeTable},
};

/// The text that a dump is about.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// Of the file.
    pub(crate) source: &'a [u8],
    pub(crate) macros: &'a MacroTable,
    /// Where the compiler stands, from which it names files.
    pub(crate) folder: &'a Path,
}

/// Everything that is known of the file-level declarations while functions are converted.
pub(crate) struct UnitBuilder<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) macros: &'a MacroTable,
    folder: &'a Path,
    /// What the source says of the names of its lines.
    line_marks: Vec<lex::LineMark>,
    pub(crate) types: TypeTable,
    pub(crate) variables: Vec<Variable>,
    pub(crate) globals: Vec<VarId>,
    pub(crate) functions: Vec<Function>,
    pub(crate) functions_elsewhere: usize,
    main_file: u32,
    variable_of: FxHashMap<RawId, VarId>,
    enumerators: FxHashMap<RawId, i128>,
    pub(crate) enumerations: Vec<Vec<(String, i128)>>,
    bit_fields: FxHashMap<RawId, ()>,
    records: FxHashMap<RawId, crate::types::RecordId>,
    enums: FxHashMap<RawId, TypeId>,
    typedefs: FxHashMap<RawId, TypeId>,
    /// Typedefs with an alignment of their own, in bytes.
    typedef_alignments: FxHashMap<RawId, u64>,
    pub(crate) fields: FxHashMap<RawId, (crate::types::RecordId, usize)>,
    pub(crate) functions_in_headers: Vec<Function>,
    pub(crate) files: Vec<String>,
    pub(crate) declarations: FxHashMap<String, Declaration>,
    pub(crate) declared: Vec<Declared>,
    pub(crate) initializers: Vec<FileInitializer>,
    /// How many `offsetof` there are.
    pub(crate) offsets: u32,
    /// Names that are other names of functions and objects, with those.
    pub(crate) aliases: FxHashMap<String, String>,
    /// Place of the declaration that is being converted among those of the file.
    pub(crate) position: u32,
    /// How often each tag is defined, as far as the dump shows.
    defined_tags: FxHashMap<String, usize>,
    /// The ordinary identifiers that are visible, the innermost last, and how many there were where each scope began.
    ordinary: Vec<(String, ordinary::Ordinary)>,
    scope_marks: Vec<usize>,
}

fn spelled(node: &Node) -> &str {
    node.ty.as_ref().map_or("", |ty| ty.spelled.as_str())
}

/// Builds the tree of one function from clang's nodes.
pub(crate) struct FunctionBuilder<'u, 'a> {
    pub(crate) unit: &'u mut UnitBuilder<'a>,
    locator: Locator<'a>,
    pub(crate) exprs: Vec<Expr>,
    stmts: Vec<Stmt>,
    /// The node number of each expression and statement, for their places.
    expr_nodes: Vec<u32>,
    stmt_nodes: Vec<u32>,
    labels: Vec<String>,
    label_names: FxHashMap<RawId, String>,
    gotos: Vec<(StmtId, RawId)>,
    label_addresses: Vec<(ExprId, RawId)>,
    locals: Vec<VarId>,
    address_taken: Vec<VarId>,
    refusal: Option<Refusal>,
    pub(crate) evaluated: bool,
    pub(crate) details: Details,
    /// The file and line of what is being converted.
    current_line: (u32, u32),
    return_type: Option<TypeId>,
    /// The lengths of the typedefs of the declaration that is being converted.
    typedef_lengths: Vec<crate::types::LengthId>,
    /// The type of the member whose base was converted last.
    member_type: Option<TypeId>,
    /// What converting the children of an expression tells about it.
    pub(crate) noted: Option<Detail>,
}

impl<'u, 'a> FunctionBuilder<'u, 'a> {
    fn new(unit: &'u mut UnitBuilder<'a>) -> Self {
        let locator = Locator::new(unit.source, unit.main_file, unit.macros);
        FunctionBuilder {
            unit,
            locator,
            exprs: Vec::new(),
            stmts: Vec::new(),
            expr_nodes: Vec::new(),
            stmt_nodes: Vec::new(),
            labels: Vec::new(),
            label_names: FxHashMap::default(),
            gotos: Vec::new(),
            label_addresses: Vec::new(),
            locals: Vec::new(),
            address_taken: Vec::new(),
            refusal: None,
            evaluated: true,
            details: Details::default(),
            current_line: (0, 0),
            return_type: None,
            typedef_lengths: Vec::new(),
            member_type: None,
            noted: None,
        }
    }

    /// The expression of an initialiser at file scope, and the arena that holds it.
    pub(crate) fn initializer(
        unit: &'u mut UnitBuilder<'a>,
        ty: TypeId,
        node: &Node,
    ) -> (ExprId, Function) {
        let return_type = unit.types.plain(TypeKind::Void);
        let mut builder = FunctionBuilder::new(unit);
        builder.evaluated = false;
        let value = builder.expr(node);
        builder.tell(value, ty);
        builder.places();
        let empty = Span { start: 0, end: 0 };
        let arena = Function {
            name: String::new(),
            span: empty,
            body_span: empty,
            body: StmtId(0),
            parameters: Vec::new(),
            return_type,
            labels: Vec::new(),
            locals: builder.locals,
            address_taken: Vec::new(),
            refusal: None,
            typed_arguments: Vec::new(),
            exprs: builder.exprs,
            stmts: builder.stmts,
            details: builder.details,
        };
        (value, arena)
    }

    fn build(unit: &'u mut UnitBuilder<'a>, node: &Node, body: &Node) -> Option<Function> {
        unit.open_scope();
        let built = Self::build_inside(unit, node, body);
        unit.close_scope();
        built
    }

    fn build_inside(unit: &mut UnitBuilder<'a>, node: &Node, body: &Node) -> Option<Function> {
        let return_type = {
            // `int (struct s *, int)`: what stands before the parameters, which come last.
            let (text, here) = function_spelling(node);
            let spelled = return_spelling(&text).unwrap_or_else(|| "?".to_owned());
            match here {
                true => unit.types.parse_here(&spelled),
                false => unit.types.parse(&spelled),
            }
        };
        let declaration = unit.declarations.get(&node.name).cloned();
        let mut builder = FunctionBuilder::new(unit);
        builder.details.declaration = declaration.unwrap_or_default();
        builder.details.position = builder.unit.position;
        builder.return_type = Some(return_type);
        let mut parameters = Vec::new();
        if node.is_inline && node.storage_class != "static" {
            builder.refuse(Refusal::ExternInline);
        }
        for child in &node.inner {
            if child.kind == "ParmVarDecl" {
                let id = builder.unit.variable(child, Storage::Parameter);
                parameters.push(id);
                builder.locals.push(id);
                builder.current_line = line_of(child);
                let lengths = builder.lengths();
                if !lengths.is_empty() {
                    builder.details.declared_lengths.insert(id, lengths);
                }
                builder.parameter_effects(id, child);
            }
        }
        let range = node.range.as_ref()?;
        let begin = builder.locator.point(&range.begin);
        let body_id = builder.stmt(body);
        let body_range = body.range.as_ref()?;
        let (open, close) = (
            builder.locator.point(&body_range.begin),
            builder.locator.point(&body_range.end),
        );
        let (body_span, refusal) = match (open, close) {
            (Point::Plain(open), Point::Plain(close)) => (
                Span {
                    start: open.start,
                    end: close.end,
                },
                None,
            ),
            // It lies where the macro is used.
            (Point::Plain(used), _) => (Span::empty(used.start), Some(Refusal::BodyFromMacro)),
            (open, _) => {
                let used = builder.locator.invocation(open);
                let at = used.map_or(0, |used| used.span.start);
                (Span::empty(at), Some(Refusal::BodyFromMacro))
            }
        };
        let start = match begin {
            Point::Plain(span) => span.start,
            other => builder
                .locator
                .invocation(other)
                .map_or(body_span.start, |invocation| invocation.span.start),
        };
        builder.places();
        Some(Function {
            name: node.name.clone(),
            span: Span {
                start: start.min(body_span.start),
                end: body_span.end,
            },
            body_span,
            body: body_id,
            parameters,
            return_type,
            labels: builder.labels,
            locals: builder.locals,
            address_taken: builder.address_taken,
            refusal: refusal.or(builder.refusal),
            typed_arguments: builder.locator.typed_arguments(),
            exprs: builder.exprs,
            stmts: builder.stmts,
            details: builder.details,
        })
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// Second pass: the labels that jumps name, and places, now that it is known which nodes touch which invocation.
    fn places(&mut self) {
        for (goto, target) in std::mem::take(&mut self.gotos) {
            let name = self.label_names.get(&target).cloned().unwrap_or_default();
            self.stmts[goto.0 as usize].kind = StmtKind::Goto(name);
        }
        for (expr, target) in std::mem::take(&mut self.label_addresses) {
            let name = self.label_names.get(&target).cloned().unwrap_or_default();
            if !self.details.label_addresses.contains(&name) {
                self.details.label_addresses.push(name.clone());
            }
            self.details.of.insert(expr, Detail::Label(name));
        }
        self.locator.count_copies();
        for i in 0..self.exprs.len() {
            if self.expr_nodes[i] == u32::MAX {
                continue;
            }
            let is_comma = matches!(
                self.exprs[i].kind,
                ExprKind::Binary {
                    operator: BinaryOperator::Comma,
                    ..
                }
            );
            self.exprs[i].place = self.locator.place(self.expr_nodes[i], is_comma, false);
        }
        self.find_constant_arguments();
        self.compare_uses();
        for i in 0..self.stmts.len() {
            let mut place = self.locator.place(self.stmt_nodes[i], true, true);
            if self.needs_semicolon(i)
                && let Some(span) = place.editable()
            {
                let next = lex::skip_blank(self.unit.source, span.end as usize);
                let with = Span {
                    start: span.start,
                    end: next as u32 + 1,
                };
                place = match (self.unit.source.get(next), place) {
                    (Some(b';'), Place::Written(_)) => Place::Written(with),
                    (Some(b';'), Place::MacroArgument { invocation, .. })
                        if with.end < invocation.end =>
                    {
                        Place::MacroArgument {
                            span: with,
                            invocation,
                        }
                    }
                    _ => Place::Unknown,
                };
            }
            self.stmts[i].place = place;
        }
    }
}
