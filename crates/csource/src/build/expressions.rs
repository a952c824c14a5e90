//! Reads the expressions of clang's dump.

use super::{
    FunctionBuilder,
    signatures::{find_function_type, parameter_count},
};
use crate::{
    detail::Detail,
    raw::{Location, Node},
    tree::*,
};

impl FunctionBuilder<'_, '_> {
    /// Adds an expression that is not evaluated at run time, such as the operand of `sizeof`.
    pub(crate) fn unevaluated(&mut self, node: &Node) -> ExprId {
        let before = std::mem::replace(&mut self.evaluated, false);
        let id = self.expr(node);
        self.evaluated = before;
        id
    }

    /// Adds an expression with its operands, and returns its number.
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

    /// Adds the operands of a node, and returns which expression it is.
    pub(super) fn expr_kind(&mut self, node: &Node) -> ExprKind {
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

    /// Reads a name: of a variable, a constant of an enumeration, or a function.
    pub(super) fn reference(&mut self, node: &Node) -> ExprKind {
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

    /// Reads a call.
    pub(super) fn call(&mut self, node: &Node) -> ExprKind {
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

    /// Returns the expression inside of parentheses and implicit casts.
    pub(super) fn stripped(&self, mut id: ExprId) -> ExprId {
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
    pub(super) fn prototyped(&self, callee: &Node) -> usize {
        let mut text = callee
            .ty
            .as_ref()
            .map_or("", |ty| ty.desugared.as_ref().unwrap_or(&ty.spelled));
        if let Some(reference) = find_function_type(callee) {
            text = reference;
        }
        parameter_count(text)
    }

    /// Notes that the address of the variable that the operand names, or has as a part, is taken.
    pub(super) fn take_address(&mut self, operand: ExprId) {
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

    /// Reads an expression that the tree does not model. Its operands are kept.
    pub(super) fn other(&mut self, node: &Node) -> ExprKind {
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
pub(super) fn line_of(node: &Node) -> (u32, u32) {
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

/// Whether the node is there: clang prints empty nodes for missing parts.
pub(super) fn is_present(node: &Node) -> bool {
    !node.kind.is_empty()
}

/// Whether a node is an expression, by the name of its kind.
pub(crate) fn is_expression(node: &Node) -> bool {
    let kind = node.kind.as_str();
    kind.ends_with("Expr")
        || kind.ends_with("Operator")
        || kind.ends_with("Literal")
        || kind == "ExprWithCleanups"
}

/// Returns the kind of a cast by clang's name for it.
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
