//! From the compiler's dump to the typed tree.

mod assembly;
mod declarations;
mod derived;
mod lengths;
mod names;
mod signatures;
mod uses;

use std::path::Path;

use patchwright_text::Span;
use rustc_hash::FxHashMap;

use signatures::{find_function_type, parameter_count, return_spelling};
pub(crate) use signatures::{function_spelling, parameter_spellings};

use crate::{
    detail::{Declaration, Declared, Detail, Details, FileInitializer},
    lex,
    locate::{Locator, Point},
    macros::MacroTable,
    raw::{Location, Node, RawId},
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
    ordinary: Vec<(String, names::Ordinary)>,
    scope_marks: Vec<usize>,
}

fn spelled(node: &Node) -> &str {
    node.ty.as_ref().map_or("", |ty| ty.spelled.as_str())
}

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
            let spelled = return_spelling(&text).unwrap_or("?");
            match here {
                true => unit.types.parse_here(spelled),
                false => unit.types.parse(spelled),
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
            _ => (Span { start: 0, end: 0 }, Some(Refusal::BodyFromMacro)),
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

    fn needs_semicolon(&self, stmt: usize) -> bool {
        match &self.stmts[stmt].kind {
            StmtKind::Compound(_)
            | StmtKind::Declaration(_)
            | StmtKind::Null
            | StmtKind::Other { .. } => false,
            StmtKind::If {
                then, otherwise, ..
            } => self.needs_semicolon(otherwise.unwrap_or(*then).0 as usize),
            StmtKind::While { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Switch { body, .. }
            | StmtKind::Case(body)
            | StmtKind::Default(body)
            | StmtKind::Label { body, .. } => self.needs_semicolon(body.0 as usize),
            _ => true,
        }
    }

    fn push_stmt(&mut self, raw: &Node, node: u32, kind: StmtKind) -> StmtId {
        self.details.stmt_lines.push(line_of(raw));
        self.locator.leave(node);
        let id = StmtId(self.stmts.len() as u32);
        self.stmts.push(Stmt {
            kind,
            place: Place::Unknown,
        });
        self.stmt_nodes.push(node);
        id
    }

    fn stmt(&mut self, node: &Node) -> StmtId {
        if is_expression(node) {
            // An expression statement has no node of its own.
            let entered = self.locator.enter(node);
            let expr = self.expr(node);
            return self.push_stmt(node, entered, StmtKind::Expression(expr));
        }
        let entered = self.locator.enter(node);
        let inner = &node.inner;
        let has_scope = matches!(node.kind.as_str(), "CompoundStmt" | "ForStmt");
        if has_scope {
            self.unit.open_scope();
        }
        let kind = match node.kind.as_str() {
            "CompoundStmt" => StmtKind::Compound(inner.iter().map(|n| self.stmt(n)).collect()),
            "DeclStmt" => {
                let found = self.local_declarations(inner);
                let lengths = std::mem::take(&mut self.typedef_lengths);
                let id = self.push_stmt(node, entered, StmtKind::Declaration(found));
                if !lengths.is_empty() {
                    self.details.typedef_lengths.insert(id, lengths);
                }
                return id;
            }
            "NullStmt" => StmtKind::Null,
            "IfStmt" if (2..=3).contains(&inner.len()) => StmtKind::If {
                condition: self.expr(&inner[0]),
                then: self.stmt(&inner[1]),
                otherwise: inner.get(2).map(|n| self.stmt(n)),
            },
            "WhileStmt" if inner.len() == 2 => StmtKind::While {
                condition: self.expr(&inner[0]),
                body: self.stmt(&inner[1]),
            },
            "DoStmt" if inner.len() == 2 => StmtKind::Do {
                body: self.stmt(&inner[0]),
                condition: self.expr(&inner[1]),
            },
            "ForStmt" if inner.len() == 5 => StmtKind::For {
                init: is_present(&inner[0]).then(|| self.stmt(&inner[0])),
                condition: is_present(&inner[2]).then(|| self.expr(&inner[2])),
                increment: is_present(&inner[3]).then(|| self.expr(&inner[3])),
                body: self.stmt(&inner[4]),
            },
            "SwitchStmt" if inner.len() == 2 => StmtKind::Switch {
                condition: self.expr(&inner[0]),
                body: self.stmt(&inner[1]),
            },
            "CaseStmt" if inner.len() >= 2 => {
                let labels: Vec<ExprId> = inner[..inner.len() - 1]
                    .iter()
                    .map(|label| self.unevaluated(label))
                    .collect();
                let body = self.stmt(&inner[inner.len() - 1]);
                let id = self.push_stmt(node, entered, StmtKind::Case(body));
                self.details
                    .cases
                    .insert(id, (labels[0], labels.get(1).copied()));
                return id;
            }
            "DefaultStmt" if inner.len() == 1 => StmtKind::Default(self.stmt(&inner[0])),
            "LabelStmt" if inner.len() == 1 => {
                // GNU C's local labels may have a name twice.
                let mut name = node.name.clone();
                if self.labels.contains(&name) {
                    name = format!("{name} ({})", self.labels.len());
                }
                self.labels.push(name.clone());
                self.label_names.insert(node.label_decl, name.clone());
                StmtKind::Label {
                    name,
                    body: self.stmt(&inner[0]),
                }
            }
            "GotoStmt" => {
                let id = self.push_stmt(node, entered, StmtKind::Goto(String::new()));
                self.gotos.push((id, node.target_label));
                return id;
            }
            "BreakStmt" => StmtKind::Break,
            "ContinueStmt" => StmtKind::Continue,
            "ReturnStmt" => {
                let value = inner.first().map(|n| self.expr(n));
                if let (Some(value), Some(ty)) = (value, self.return_type) {
                    self.tell(value, ty);
                }
                StmtKind::Return(value)
            }
            other => {
                match other {
                    "GCCAsmStmt" | "MSAsmStmt" => self.refuse(Refusal::InlineAssembly),
                    "IndirectGotoStmt" => self.refuse(Refusal::ComputedGoto),
                    _ => {}
                }
                let (mut expressions, mut statements) = (Vec::new(), Vec::new());
                for child in inner.iter().filter(|n| is_present(n)) {
                    if is_expression(child) {
                        expressions.push(self.expr(child));
                    } else if child.kind.ends_with("Stmt") {
                        statements.push(self.stmt(child));
                    }
                }
                let assembly = match other {
                    "GCCAsmStmt" => self.assembly(node, &expressions),
                    _ => None,
                };
                let kind = StmtKind::Other {
                    kind: other.to_owned(),
                    expressions,
                    statements,
                };
                let id = self.push_stmt(node, entered, kind);
                if let Some(assembly) = assembly {
                    self.details.assembly.insert(id, assembly);
                }
                return id;
            }
        };
        if has_scope {
            self.unit.close_scope();
        }
        self.push_stmt(node, entered, kind)
    }

    fn local_declarations(&mut self, nodes: &[Node]) -> Vec<VarId> {
        let mut found = Vec::new();
        for node in nodes {
            match node.kind.as_str() {
                "VarDecl" => {
                    let storage = match node.storage_class.as_str() {
                        "static" => Storage::StaticLocal,
                        "extern" => Storage::Global,
                        _ => Storage::Local,
                    };
                    let entered = self.locator.enter(node);
                    if let (Some(range), Some(name)) = (&node.range, &node.loc) {
                        self.locator.names(&range.begin, name);
                    }
                    let id = self.unit.variable(node, storage);
                    self.current_line = line_of(node);
                    let lengths = self.lengths();
                    if !lengths.is_empty() {
                        self.details.declared_lengths.insert(id, lengths);
                    }
                    let initializer = node.inner.iter().find(|n| is_expression(n));
                    if let Some(initializer) = initializer {
                        let evaluated = self.evaluated;
                        self.evaluated = evaluated && storage == Storage::Local;
                        let expr = self.expr(initializer);
                        self.evaluated = evaluated;
                        self.unit.variables[id.0 as usize].initializer = Some(expr);
                        let value = &self.exprs[expr.0 as usize];
                        self.unit.settle(id, node, value);
                        let ty = self.unit.variables[id.0 as usize].ty;
                        self.tell(expr, ty);
                    }
                    if let Some(attribute) = node.inner.iter().find(|n| n.kind == "CleanupAttr") {
                        let function = attribute.cleanup.as_ref();
                        let name = function.map_or(String::new(), |f| f.name.clone());
                        self.details.cleanups.insert(id, name);
                    }
                    self.locator.leave(entered);
                    self.locals.push(id);
                    found.push(id);
                }
                "RecordDecl" => self.unit.record(node),
                "EnumDecl" => self.unit.enumeration(node),
                "TypedefDecl" => {
                    self.unit.typedef(node);
                    self.current_line = line_of(node);
                    let lengths = self.lengths();
                    self.typedef_lengths.extend(lengths);
                }
                "FunctionDecl" if node.inner.iter().any(|n| n.kind == "CompoundStmt") => {
                    self.refuse(Refusal::NestedFunction);
                }
                _ => {}
            }
        }
        found
    }

    pub(crate) fn unevaluated(&mut self, node: &Node) -> ExprId {
        let before = std::mem::replace(&mut self.evaluated, false);
        let id = self.expr(node);
        self.evaluated = before;
        id
    }

    pub(crate) fn expr(&mut self, node: &Node) -> ExprId {
        let entered = self.locator.enter(node);
        let kind = self.expr_kind(node);
        let noted = self.noted.take();
        let detail = noted.or_else(|| self.detail(node));
        self.locator.leave(entered);
        self.tell_operands(&kind);
        let ty = self.type_of(node, &kind);
        self.current_line = line_of(node);
        let lengths = self.lengths();
        let id = ExprId(self.exprs.len() as u32);
        if !lengths.is_empty() {
            self.details.named_lengths.insert(id, lengths);
        }
        self.exprs.push(Expr {
            kind,
            ty,
            lvalue: node.value_category == "lvalue",
            place: Place::Unknown,
            evaluated: self.evaluated,
        });
        if node.kind == "AddrLabelExpr" {
            self.label_addresses.push((id, node.address_of_label));
        }
        self.expr_nodes.push(entered);
        self.details.expr_lines.push(line_of(node));
        if let Some(detail) = detail {
            self.details.of.insert(id, detail);
        }
        id
    }

    fn expr_kind(&mut self, node: &Node) -> ExprKind {
        let inner = &node.inner;
        match (node.kind.as_str(), inner.len()) {
            ("IntegerLiteral" | "CharacterLiteral", _) => {
                match node.value.as_ref().and_then(|v| v.0.parse().ok()) {
                    Some(value) => ExprKind::Integer {
                        value,
                        character: node.kind == "CharacterLiteral",
                        enumerator: None,
                    },
                    None => self.other(node),
                }
            }
            ("FloatingLiteral", _) => match node.value.as_ref().and_then(|v| v.0.parse().ok()) {
                Some(value) => ExprKind::Float(value),
                None => self.other(node),
            },
            ("StringLiteral" | "PredefinedExpr", _) => ExprKind::String,
            ("DeclRefExpr", _) => self.reference(node),
            ("MemberExpr", 1) => {
                if let Some(range) = &node.range {
                    self.locator.names(&range.begin, &range.end);
                }
                let base = self.expr(&inner[0]);
                self.tell_record(base, node.is_arrow, node.referenced_member);
                ExprKind::Member {
                    base,
                    arrow: node.is_arrow,
                    name: node.name.clone(),
                    bit_field: self.unit.bit_fields.contains_key(&node.referenced_member),
                }
            }
            ("ArraySubscriptExpr", 2) => {
                let (first, second) = (self.expr(&inner[0]), self.expr(&inner[1]));
                let is_pointer = |builder: &Self, id: ExprId| {
                    builder
                        .unit
                        .types
                        .element(builder.exprs[id.0 as usize].ty)
                        .is_some()
                };
                if is_pointer(self, first) {
                    ExprKind::Subscript {
                        base: first,
                        index: second,
                    }
                } else {
                    // `2[a]`, or a type that could not be read.
                    ExprKind::Other {
                        kind: "ArraySubscriptExpr".to_owned(),
                        children: vec![first, second],
                        body: None,
                        evaluated: self.evaluated,
                    }
                }
            }
            ("UnaryOperator", 1) => {
                let operand = self.expr(&inner[0]);
                let operator = match node.opcode.as_str() {
                    "-" => UnaryOperator::Minus,
                    "+" => UnaryOperator::Plus,
                    "~" => UnaryOperator::Complement,
                    "!" => UnaryOperator::Not,
                    "*" => UnaryOperator::Dereference,
                    "&" => UnaryOperator::AddressOf,
                    "++" | "--" => UnaryOperator::Step,
                    "__extension__" => UnaryOperator::Extension,
                    _ => UnaryOperator::Other,
                };
                if operator == UnaryOperator::AddressOf {
                    self.take_address(operand);
                }
                ExprKind::Unary { operator, operand }
            }
            ("BinaryOperator" | "CompoundAssignOperator", 2) => {
                let (left, right) = (self.expr(&inner[0]), self.expr(&inner[1]));
                if node.opcode == "=" {
                    ExprKind::Assign {
                        operator: None,
                        target: left,
                        value: right,
                    }
                } else if node.kind == "CompoundAssignOperator" {
                    ExprKind::Assign {
                        operator: BinaryOperator::from_spelling(node.opcode.trim_end_matches('=')),
                        target: left,
                        value: right,
                    }
                } else {
                    match BinaryOperator::from_spelling(&node.opcode) {
                        Some(operator) => ExprKind::Binary {
                            operator,
                            left,
                            right,
                        },
                        None => ExprKind::Other {
                            kind: node.kind.clone(),
                            children: vec![left, right],
                            body: None,
                            evaluated: self.evaluated,
                        },
                    }
                }
            }
            ("ConditionalOperator", 3) => ExprKind::Conditional {
                condition: self.expr(&inner[0]),
                then: self.expr(&inner[1]),
                otherwise: self.expr(&inner[2]),
            },
            ("ParenExpr", 1) => ExprKind::Paren(self.expr(&inner[0])),
            ("ImplicitCastExpr" | "CStyleCastExpr", 1) => {
                let operand = self.expr(&inner[0]);
                ExprKind::Cast {
                    operand,
                    implicit: node.kind == "ImplicitCastExpr",
                    cast: cast_kind(&node.cast_kind),
                }
            }
            ("CallExpr", n) if n >= 1 => self.call(node),
            ("UnaryExprOrTypeTraitExpr" | "OffsetOfExpr", _) => {
                let mut operands = Vec::new();
                let before = self.exprs.len();
                for child in inner.iter().filter(|n| is_expression(n)) {
                    operands.push(self.unevaluated(child));
                }
                self.note_size(node, operands);
                // The size of a variable array is computed at run time, and then its operand is evaluated.
                let has_effect = |expr: &Expr| {
                    let other = |kind: &str| matches!(kind, "StmtExpr" | "AtomicExpr");
                    match &expr.kind {
                        ExprKind::Assign { .. } | ExprKind::Call { .. } => true,
                        ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Step,
                        ExprKind::Other { kind, .. } => other(kind),
                        _ => false,
                    }
                };
                if let Some(Detail::SizeOf(ty)) = self.noted
                    && node.arg_type.is_none()
                    && self.unit.types.is_variable(ty)
                    && self.exprs[before..].iter().any(has_effect)
                {
                    self.noted = None;
                }
                ExprKind::CompilerConstant
            }
            ("InitListExpr", _) => self.initializer_list(node),
            ("GenericSelectionExpr", _) => self.generic(node),
            _ => self.other(node),
        }
    }

    fn reference(&mut self, node: &Node) -> ExprKind {
        let Some(target) = &node.referenced else {
            return self.other(node);
        };
        match target.kind.as_str() {
            "VarDecl" | "ParmVarDecl" => match self.unit.variable_of.get(&target.id) {
                Some(&id) => ExprKind::Variable(id),
                None => self.other(node),
            },
            "EnumConstantDecl" => match self.unit.enumerators.get(&target.id) {
                Some(&value) => ExprKind::Integer {
                    value,
                    character: false,
                    enumerator: Some(target.name.clone()),
                },
                None => self.other(node),
            },
            "FunctionDecl" => ExprKind::Function(target.name.clone()),
            _ => self.other(node),
        }
    }

    fn call(&mut self, node: &Node) -> ExprKind {
        let callee = self.expr(&node.inner[0]);
        let builtin = match &self.exprs[self.stripped(callee).0 as usize].kind {
            ExprKind::Function(name) => name.starts_with("__builtin_"),
            _ => false,
        };
        // Builtins may want constants or be no calls at all.
        let arguments = node.inner[1..]
            .iter()
            .map(|n| {
                if builtin {
                    self.unevaluated(n)
                } else {
                    self.expr(n)
                }
            })
            .collect();
        let prototyped = self.prototyped(&node.inner[0]);
        ExprKind::Call {
            callee,
            arguments,
            prototyped,
        }
    }

    fn stripped(&self, mut id: ExprId) -> ExprId {
        loop {
            match self.exprs[id.0 as usize].kind {
                ExprKind::Paren(inner)
                | ExprKind::Cast {
                    operand: inner,
                    implicit: true,
                    ..
                } => id = inner,
                _ => return id,
            }
        }
    }

    /// The number of parameters with a declared type, from the spelling of the callee's type.
    fn prototyped(&self, callee: &Node) -> usize {
        let mut text = callee
            .ty
            .as_ref()
            .map_or("", |ty| ty.desugared.as_ref().unwrap_or(&ty.spelled));
        if let Some(reference) = find_function_type(callee) {
            text = reference;
        }
        parameter_count(text)
    }

    fn take_address(&mut self, operand: ExprId) {
        let mut id = operand;
        loop {
            match self.exprs[id.0 as usize].kind {
                ExprKind::Paren(inner) => id = inner,
                ExprKind::Member {
                    base, arrow: false, ..
                } => id = base,
                ExprKind::Variable(variable) => {
                    if !self.address_taken.contains(&variable) {
                        self.address_taken.push(variable);
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    fn other(&mut self, node: &Node) -> ExprKind {
        match node.kind.as_str() {
            "AddrLabelExpr" => self.refuse(Refusal::ComputedGoto),
            "RecoveryExpr" => self.refuse(Refusal::NotAccepted),
            _ => {}
        }
        let mut children = Vec::new();
        let mut body = None;
        let evaluated = self.evaluated;
        // Of these the compiler shows operands that are not evaluated, or twice.
        let opaque = matches!(
            node.kind.as_str(),
            "GenericSelectionExpr"
                | "ChooseExpr"
                | "OpaqueValueExpr"
                | "ConstantExpr"
                | "VAArgExpr"
                | "DesignatedInitExpr"
                | "PseudoObjectExpr"
        );
        self.evaluated = evaluated && !opaque;
        for child in node.array_filler.iter().chain(&node.inner) {
            if is_expression(child) {
                let skip = matches!(
                    child.kind.as_str(),
                    "ImplicitValueInitExpr" | "OpaqueValueExpr"
                );
                // Of a constant, what it is has no other place.
                if !skip || node.kind == "ConstantExpr" {
                    children.push(self.expr(child));
                }
            } else if child.kind == "CompoundStmt" {
                body = Some(self.stmt(child));
            } else if child.kind == "VarDecl" {
                self.local_declarations(std::slice::from_ref(child));
            }
        }
        self.evaluated = evaluated;
        if node.kind == "BinaryConditionalOperator" {
            // `a ?: b` is shown as a, a, a, b with a opaque: the last is b.
            children.drain(1..children.len().saturating_sub(1).max(1));
        }
        ExprKind::Other {
            kind: node.kind.clone(),
            children,
            body,
            evaluated: evaluated && !opaque,
        }
    }
}

/// File and line where a node begins: of the outermost invocation, in a macro.
fn line_of(node: &Node) -> (u32, u32) {
    let begin = node.range.as_ref().map(|range| &range.begin);
    match begin {
        Some(Location {
            expansion: Some(at),
            ..
        }) => (at.file_id.unwrap_or(0), at.line),
        Some(at) => (at.file_id.unwrap_or(0), at.line),
        None => (0, 0),
    }
}

fn is_present(node: &Node) -> bool {
    !node.kind.is_empty()
}

pub(crate) fn is_expression(node: &Node) -> bool {
    let kind = node.kind.as_str();
    kind.ends_with("Expr")
        || kind.ends_with("Operator")
        || kind.ends_with("Literal")
        || kind == "ExprWithCleanups"
}

pub(crate) fn cast_kind(name: &str) -> CastKind {
    match name {
        "LValueToRValue" => CastKind::LValueToRValue,
        "ArrayToPointerDecay" => CastKind::ArrayToPointer,
        "FunctionToPointerDecay" | "BuiltinFnToFnPtr" => CastKind::FunctionToPointer,
        "IntegralCast"
        | "IntegralToBoolean"
        | "IntegralToFloating"
        | "FloatingToIntegral"
        | "FloatingToBoolean"
        | "FloatingCast"
        | "BooleanToSignedIntegral" => CastKind::Arithmetic,
        "NullToPointer" => CastKind::NullToPointer,
        "PointerToBoolean" => CastKind::PointerToBoolean,
        "BitCast" => CastKind::Pointer,
        "PointerToIntegral" => CastKind::PointerToInteger,
        "IntegralToPointer" => CastKind::IntegerToPointer,
        "NoOp" | "AtomicToNonAtomic" | "NonAtomicToAtomic" => CastKind::NoOp,
        "ToVoid" => CastKind::ToVoid,
        _ => CastKind::Other,
    }
}
