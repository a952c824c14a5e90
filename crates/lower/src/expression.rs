//! Lowers expressions.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, StmtId, StmtKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{
    InstructionKind, LocalKind, Operand, OriginId, Target, TerminatorKind, Type, Value, wide,
};

use crate::{edge::to, function::FunctionLowerer, place::Location, types::Class};

impl<'a> FunctionLowerer<'_, 'a> {
    /// Returns the message that an expression is not understood.
    pub(crate) fn reason(&self, id: ExprId, what: &str) -> String {
        match &self.source.expr(id).kind {
            ExprKind::Other { kind, .. } => match kind.as_str() {
                "AddrLabelExpr" => "the address of a label".to_owned(),
                "AtomicExpr" => "an atomic operation".to_owned(),
                _ => format!("{what} that the compiler calls {kind}"),
            },
            ExprKind::Cast { .. } => match self.source.details.of.get(&id) {
                Some(Detail::Operator(name)) => format!("a conversion of kind {name}"),
                _ => "a conversion of an unknown kind".to_owned(),
            },
            ExprKind::CompilerConstant => "a size or an offset that is not known".to_owned(),
            ExprKind::Function(_) => "a function as an object".to_owned(),
            _ => format!("{what} of an unknown form"),
        }
    }

    /// Emits an instruction with the reason why an expression is not supported, and returns any value.
    pub(crate) fn unsupported_expr(&mut self, id: ExprId) -> Operand {
        let origin = self.at_expr(id);
        let reason = match self.class(id) {
            Class::Unknown(reason) => reason.to_owned(),
            _ => self.reason(id, "an expression"),
        };
        let ty = self.scalar(id).unwrap_or(Type::I32);
        self.unsupported_value(origin, &reason, ty)
    }

    /// Returns the type of the expression's value if it fits a register; an array or function counts as its address.
    pub(crate) fn scalar(&self, id: ExprId) -> Option<Type> {
        match self.class(id) {
            Class::Scalar(ty) => Some(ty),
            Class::Array | Class::Function => Some(Type::Ptr),
            _ => None,
        }
    }

    /// A value that does not matter, for expressions without one.
    fn nothing(&self, origin: OriginId) -> Operand {
        self.constant(Type::I32, 0, origin)
    }

    /// Evaluates an expression whose value is not used.
    pub(crate) fn effect(&mut self, id: ExprId) {
        let source = self.source;
        let expr = source.expr(id);
        match &expr.kind {
            ExprKind::Paren(inner) => self.effect(*inner),
            ExprKind::Cast {
                operand,
                cast: CastKind::ToVoid,
                ..
            } => self.effect(*operand),
            ExprKind::Binary {
                operator: BinaryOperator::Comma,
                left,
                right,
            } => {
                self.effect(*left);
                self.effect(*right);
            }
            ExprKind::Call { .. } => {
                self.call(id);
            }
            ExprKind::Conditional { .. } if self.class(id) == Class::Void => {
                self.conditional(id);
            }
            ExprKind::Other {
                kind,
                body: Some(body),
                ..
            } if kind == "StmtExpr" => {
                self.statement(*body);
            }
            ExprKind::Variable(_) | ExprKind::String | ExprKind::Function(_) => {}
            _ if matches!(self.class(id), Class::Aggregate { .. }) => {
                self.aggregate(id);
            }
            _ if expr.lvalue && !matches!(expr.kind, ExprKind::Assign { .. }) => {
                self.location(id);
            }
            _ if self.class(id) == Class::Void => self.void_effect(id),
            _ => {
                self.rvalue(id);
            }
        }
    }

    /// Evaluates an expression that has no value, of a kind that has nothing else to say.
    fn void_effect(&mut self, id: ExprId) {
        let source = self.source;
        let origin = self.at_expr(id);
        match &source.expr(id).kind {
            ExprKind::Unary {
                operator: UnaryOperator::Extension,
                operand,
            }
            | ExprKind::Cast {
                operand,
                cast: CastKind::NoOp,
                ..
            } => self.effect(*operand),
            ExprKind::Other { kind, children, .. } => {
                match (
                    kind.as_str(),
                    source.details.of.get(&id),
                    children.as_slice(),
                ) {
                    (_, Some(Detail::Same(same)), _) => self.effect(*same),
                    ("AtomicExpr", _, _) => {
                        self.atomic(id, children);
                    }
                    ("ChooseExpr", _, [condition, then, otherwise]) => {
                        match self.scope().integer(*condition) {
                            Some(0) => self.effect(*otherwise),
                            Some(_) => self.effect(*then),
                            None => self.unsupported_effect(origin, "a choice not known"),
                        }
                    }
                    _ => {
                        let reason = self.reason(id, "an expression");
                        self.unsupported_effect(origin, &reason);
                    }
                }
            }
            _ => {
                let reason = self.reason(id, "an expression");
                self.unsupported_effect(origin, &reason);
            }
        }
    }

    /// The value of an expression itself: of a scalar type, or the address of a record.
    pub(crate) fn own_rvalue(&mut self, id: ExprId) -> Operand {
        let source = self.source;
        let expr = source.expr(id);
        let origin = self.at_expr(id);
        if let Some(lengths) = source.details.named_lengths.get(&id) {
            self.compute_lengths(lengths, origin);
        }
        match self.class(id) {
            Class::Aggregate { .. } => return self.aggregate(id),
            Class::Void => {
                self.effect(id);
                return self.nothing(origin);
            }
            _ => {}
        }
        match &expr.kind {
            ExprKind::Integer { value, .. } => match self.scalar(id) {
                Some(ty) => self.number(id, ty, wide::canonical(ty, *value as u128), origin),
                None => self.unsupported_expr(id),
            },
            ExprKind::CompilerConstant
                if let Some(&Detail::SizeOf(ty)) = source.details.of.get(&id)
                    && self.lowerer.unit.types.is_variable(ty) =>
            {
                self.size_of(ty, origin)
            }
            ExprKind::CompilerConstant
                if let Some(Detail::OffsetOf {
                    value: Some(value),
                    indices,
                    ..
                }) = source.details.of.get(&id)
                    && !indices.is_empty() =>
            {
                self.offset_with_indices(*value, indices, origin)
            }
            ExprKind::Float(_) | ExprKind::CompilerConstant => match self.scope().value(id) {
                Some(crate::constant::Constant::Value(ty, bits)) => self.constant(ty, bits, origin),
                _ => self.unsupported_expr(id),
            },
            ExprKind::Paren(inner) => self.rvalue(*inner),
            ExprKind::Unary { operator, operand } => self.unary(id, *operator, *operand),
            ExprKind::Binary {
                operator,
                left,
                right,
            } => self.binary(id, *operator, *left, *right),
            ExprKind::Assign {
                operator,
                target,
                value,
            } => match operator {
                None => {
                    let (location, value) = match self.is_call(*value) {
                        true => {
                            let location = self.location(*target);
                            (location, self.rvalue(*value))
                        }
                        false => {
                            let value = self.rvalue(*value);
                            (self.location(*target), value)
                        }
                    };
                    let Some(ty) = self.scalar(*target) else {
                        return self.unsupported_expr(id);
                    };
                    self.store(location, ty, value, origin)
                }
                Some(operator) => self.compound(id, *operator, *target, *value),
            },
            ExprKind::Conditional { .. } => self.conditional(id),
            ExprKind::Cast { operand, cast, .. } => self.cast(id, *operand, *cast),
            ExprKind::Call { .. } => {
                let value = self.call(id);
                match (value, self.scalar(id)) {
                    (Some(value), Some(ty)) => self.as_type(value, ty),
                    _ => self.unsupported_expr(id),
                }
            }
            ExprKind::Function(name) => {
                let function = self.lowerer.declare(name);
                self.address_constant(Target::Function(function), origin)
            }
            ExprKind::String
            | ExprKind::Variable(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. } => self.value_at(id),
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => self.other(id, kind, children, *body),
        }
    }

    /// Returns the value of an expression that designates an object, or a part of one, without a conversion that reads it. A member of a
    /// call's result is such an expression: it is no lvalue in C, but has a place in memory. The value of an array is its address.
    pub(crate) fn value_at(&mut self, id: ExprId) -> Operand {
        match self.class(id) {
            Class::Scalar(ty) => {
                let origin = self.at_expr(id);
                let location = self.location(id);
                self.load(location, ty, origin)
            }
            Class::Array | Class::Function => self.pointer_to(id),
            _ => self.unsupported_expr(id),
        }
    }

    fn other(
        &mut self,
        id: ExprId,
        kind: &str,
        children: &'a [ExprId],
        body: Option<StmtId>,
    ) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        match (kind, source.details.of.get(&id), children) {
            (_, Some(Detail::Same(same)), _) => self.rvalue(*same),
            (_, Some(&Detail::Answer(answer)), _) => {
                self.constant(Type::I32, u128::from(answer), origin)
            }
            (_, Some(Detail::Label(_)), _) => match self.scope().value(id) {
                Some(crate::constant::Constant::Address(target, addend)) => Operand {
                    value: Value::Address { target, addend },
                    origin,
                },
                _ => self.unsupported_expr(id),
            },
            ("StmtExpr", _, _) => match body {
                Some(body) => self.statement_expression(id, body),
                None => self.unsupported_expr(id),
            },
            ("ConstantExpr", _, [inner]) => self.rvalue(*inner),
            ("ImplicitValueInitExpr", _, _) => match self.scalar(id) {
                Some(ty) => self.constant(ty, 0, origin),
                None => self.unsupported_expr(id),
            },
            ("InitListExpr", Some(Detail::List { elements, .. }), _) => {
                match (elements.as_slice(), self.scalar(id)) {
                    ([Some(only)], Some(ty)) => {
                        let value = self.rvalue(*only);
                        self.as_type(value, ty)
                    }
                    ([] | [None], Some(ty)) => self.constant(ty, 0, origin),
                    _ => self.unsupported_expr(id),
                }
            }
            ("ChooseExpr", _, [condition, then, otherwise]) => {
                match self.scope().integer(*condition) {
                    Some(0) => self.rvalue(*otherwise),
                    Some(_) => self.rvalue(*then),
                    None => self.unsupported_expr(id),
                }
            }
            ("VAArgExpr", _, [list]) => {
                let list = self.rvalue(*list);
                let list = self.as_type(list, Type::Ptr);
                match self.scalar(id) {
                    Some(ty) => {
                        self.emit_value(ty, origin, |dst| InstructionKind::VaArg { dst, ty, list })
                    }
                    None => self.unsupported_expr(id),
                }
            }
            ("BinaryConditionalOperator", _, [condition, otherwise]) => {
                let Some(ty) = self.scalar(id) else {
                    return self.unsupported_expr(id);
                };
                let result = self.new_local(String::new(), LocalKind::Register(ty), origin);
                let value = self.rvalue(*condition);
                let of = self.type_of(value);
                let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
                let otherwise_origin = self.at_expr(*otherwise);
                self.terminate(
                    TerminatorKind::Branch {
                        condition: value,
                        ty: of,
                        then: to(yes, origin),
                        otherwise: to(no, otherwise_origin),
                    },
                    origin,
                );
                self.continue_in(yes);
                let converted = self.convert(value, of, ty, origin);
                self.write(result, converted, origin);
                self.goto(end, origin);
                self.continue_in(no);
                let other = self.rvalue(*otherwise);
                let other = self.as_type(other, ty);
                self.write(result, other, origin);
                self.goto(end, origin);
                self.continue_in(end);
                self.read(result, ty, origin)
            }
            ("AtomicExpr", _, _) => match (self.atomic(id, children), self.scalar(id)) {
                (Some(value), Some(ty)) => self.as_type(value, ty),
                _ => self.unsupported_expr(id),
            },
            ("CompoundLiteralExpr" | "ArraySubscriptExpr", _, _) => self.value_at(id),
            _ => self.unsupported_expr(id),
        }
    }

    /// Emits a write to a register local.
    pub(crate) fn write(
        &mut self,
        local: patchwright_ir::LocalId,
        value: Operand,
        origin: OriginId,
    ) {
        self.emit(InstructionKind::Write { local, value }, origin);
    }

    /// Emits a read of a register local.
    pub(crate) fn read(
        &mut self,
        local: patchwright_ir::LocalId,
        ty: Type,
        origin: OriginId,
    ) -> Operand {
        self.emit_value(ty, origin, |dst| InstructionKind::Read { dst, local })
    }

    /// The expression that a statement is, below labels, which control passes here.
    fn labelled(&mut self, statement: StmtId) -> Option<ExprId> {
        let source = self.source;
        match &source.stmt(statement).kind {
            StmtKind::Expression(expr) => Some(*expr),
            StmtKind::Label { name, body } => {
                let mut below = *body;
                while let StmtKind::Label { body, .. } = source.stmt(below).kind {
                    below = body;
                }
                if !matches!(source.stmt(below).kind, StmtKind::Expression(_)) {
                    return None;
                }
                let origin = self.at_stmt(statement);
                self.pass_label(name, origin);
                self.labelled(*body)
            }
            _ => None,
        }
    }

    /// The value of the last expression of a statement expression.
    pub(crate) fn statement_expression(&mut self, id: ExprId, body: StmtId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let StmtKind::Compound(inner) = &source.stmt(body).kind else {
            return self.unsupported_expr(id);
        };
        self.open_scope();
        let mut value = None;
        for (index, &statement) in inner.iter().enumerate() {
            let last = match index + 1 == inner.len() {
                true => self.labelled(statement),
                false => None,
            };
            let Some(expr) = last else {
                self.statement(statement);
                continue;
            };
            value = Some(match self.class(id) {
                Class::Aggregate { size, align } => {
                    // The object may die with the scope.
                    let from = self.aggregate(expr);
                    let local = self.temporary_object(size, align, origin);
                    let to = self.local_address(local, origin);
                    self.emit(InstructionKind::Copy { to, from, size }, origin);
                    to
                }
                _ => self.rvalue(expr),
            });
        }
        self.close_scope(origin);
        match value {
            Some(value) => value,
            None => self.unsupported_expr(id),
        }
    }

    /// `&&` and `||` as a value.
    pub(crate) fn logical(&mut self, id: ExprId) -> Operand {
        let origin = self.at_expr(id);
        let result = self.new_local(String::new(), LocalKind::Register(Type::I32), origin);
        let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
        self.condition(id, to(yes, origin), to(no, origin));
        for (block, value) in [(yes, 1), (no, 0)] {
            self.continue_in(block);
            let value = self.constant(Type::I32, value, origin);
            self.write(result, value, origin);
            self.goto(end, origin);
        }
        self.continue_in(end);
        self.read(result, Type::I32, origin)
    }

    /// `?:`, also without a value or of a record (then the value is an address).
    pub(crate) fn conditional(&mut self, id: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } = source.expr(id).kind
        else {
            return self.unsupported_expr(id);
        };
        let ty = match self.class(id) {
            Class::Void => None,
            Class::Aggregate { .. } => Some(Type::Ptr),
            Class::Scalar(ty) => Some(ty),
            Class::Array | Class::Function => Some(Type::Ptr),
            Class::Unknown(_) => return self.unsupported_expr(id),
        };
        if self.is_unknown_conditional(then, otherwise) {
            let reason = "a conditional of a wide bit-field and a signed value";
            return self.unsupported_value(origin, reason, ty.unwrap_or(Type::I32));
        }
        let result = ty.map(|ty| self.new_local(String::new(), LocalKind::Register(ty), origin));
        let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
        let (then_origin, else_origin) = (self.at_expr(then), self.at_expr(otherwise));
        let (to_then, to_else) = (to(yes, then_origin), to(no, else_origin));
        self.take_one(id, to_then, to_else);
        self.condition(condition, to_then, to_else);
        for (block, arm) in [(yes, then), (no, otherwise)] {
            self.continue_in(block);
            match (result, ty) {
                (Some(result), Some(ty)) => {
                    let value = self.rvalue(arm);
                    let value = self.as_type(value, ty);
                    self.write(result, value, origin);
                }
                _ => self.effect(arm),
            }
            self.goto(end, origin);
        }
        self.continue_in(end);
        match (result, ty) {
            (Some(result), Some(ty)) => self.read(result, ty, origin),
            _ => self.nothing(origin),
        }
    }

    fn cast(&mut self, id: ExprId, operand: ExprId, cast: CastKind) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        if self.parts_of(operand).is_some() && cast != CastKind::ToVoid {
            return self.number_of_parts(id, operand, cast);
        }
        match cast {
            CastKind::LValueToRValue => {
                let Some(ty) = self.scalar(operand) else {
                    return self.unsupported_expr(id);
                };
                if source.expr(operand).lvalue {
                    let location = self.location(operand);
                    self.load(location, ty, origin)
                } else {
                    self.rvalue(operand)
                }
            }
            CastKind::ArrayToPointer => self.pointer_to(operand),
            CastKind::FunctionToPointer => {
                let inner = source.expr(source.without_parens(operand));
                match inner.kind {
                    ExprKind::Unary {
                        operator: UnaryOperator::Dereference,
                        operand,
                    } => self.rvalue(operand),
                    _ => self.rvalue(operand),
                }
            }
            CastKind::NullToPointer => self.constant(Type::Ptr, 0, origin),
            CastKind::NoOp | CastKind::Pointer => self.rvalue(operand),
            CastKind::ToVoid => {
                self.effect(operand);
                self.nothing(origin)
            }
            CastKind::Arithmetic
            | CastKind::PointerToBoolean
            | CastKind::PointerToInteger
            | CastKind::IntegerToPointer => {
                let value = self.rvalue(operand);
                let (Some(from), Some(result)) = (self.scalar(operand), self.scalar(id)) else {
                    return self.unsupported_expr(id);
                };
                self.convert(value, from, result, origin)
            }
            CastKind::Other => self.unsupported_expr(id),
        }
    }

    /// Returns the location at an address.
    pub(crate) fn at_address(address: Operand) -> Location {
        Location::Memory {
            address,
            volatile: false,
        }
    }
}
