//! Expressions.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, StmtId, StmtKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{
    Argument, Callee, InstructionKind, LocalKind, Operand, OriginId, Target, TerminatorKind, Type,
    wide,
};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    constant::binary_op, function::FunctionLowerer, place::Location, statement::to, types::Class,
};

impl<'a> FunctionLowerer<'_, 'a> {
    /// The value is what a call gives, perhaps converted.
    fn is_call(&self, id: ExprId) -> bool {
        match self.source.expr(id).kind {
            ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => self.is_call(inner),
            ExprKind::Call { .. } => true,
            _ => false,
        }
    }

    /// What to say of an expression that is not understood.
    pub(crate) fn reason(&self, id: ExprId, what: &str) -> String {
        match &self.source.expr(id).kind {
            ExprKind::Other { kind, .. } => match kind.as_str() {
                "AddrLabelExpr" => "the address of a label".to_owned(),
                "AtomicExpr" => "an atomic operation".to_owned(),
                "ImaginaryLiteral" => "a complex number".to_owned(),
                _ => format!("{what} that the compiler calls {kind}"),
            },
            ExprKind::Cast { .. } => match self.source.details.of.get(&id) {
                Some(Detail::Operator(name)) => format!("a conversion of kind {name}"),
                _ => "a conversion of an unknown kind".to_owned(),
            },
            ExprKind::CompilerConstant => {
                "offsetof with an index, or sizeof of a variable array".to_owned()
            }
            ExprKind::Function(_) => "a function as an object".to_owned(),
            _ => format!("{what} of an unknown form"),
        }
    }

    fn unsupported_expr(&mut self, id: ExprId) -> Operand {
        let origin = self.at_expr(id);
        let reason = match self.class(id) {
            Class::Unknown(reason) => reason.to_owned(),
            _ => self.reason(id, "an expression"),
        };
        let ty = self.scalar(id).unwrap_or(Type::I32);
        self.unsupported_value(origin, &reason, ty)
    }

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

    /// The value of an expression: of a scalar type, or the address of a record.
    pub(crate) fn rvalue(&mut self, id: ExprId) -> Operand {
        let source = self.source;
        let expr = source.expr(id);
        let origin = self.at_expr(id);
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
                Some(ty) => self.constant(ty, wide::canonical(ty, *value as u128), origin),
                None => self.unsupported_expr(id),
            },
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
            // An lvalue where a value is needed: arrays in GNU C's statement expressions.
            ExprKind::String
            | ExprKind::Variable(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. } => self.address_of(id),
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => self.other(id, kind, children, *body),
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
            ("CompoundLiteralExpr", _, _) => self.address_of(id),
            _ => self.unsupported_expr(id),
        }
    }

    fn write(&mut self, local: patchwright_ir::LocalId, value: Operand, origin: OriginId) {
        self.emit(InstructionKind::Write { local, value }, origin);
    }

    fn read(&mut self, local: patchwright_ir::LocalId, ty: Type, origin: OriginId) -> Operand {
        self.emit_value(ty, origin, |dst| InstructionKind::Read { dst, local })
    }

    /// The value of the last expression of a statement expression.
    fn statement_expression(&mut self, id: ExprId, body: StmtId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let StmtKind::Compound(inner) = &source.stmt(body).kind else {
            return self.unsupported_expr(id);
        };
        self.open_scope();
        let mut value = None;
        for (index, &statement) in inner.iter().enumerate() {
            match source.stmt(statement).kind {
                StmtKind::Expression(expr) if index + 1 == inner.len() => {
                    value = Some(match self.class(id) {
                        Class::Aggregate { size, align } => {
                            // The object may die with the scope.
                            let from = self.aggregate(expr);
                            let local = self.temporary_object(size, align, origin);
                            let address = self.local_address(local, origin);
                            self.emit(
                                InstructionKind::Copy {
                                    to: address,
                                    from,
                                    size,
                                },
                                origin,
                            );
                            address
                        }
                        _ => self.rvalue(expr),
                    });
                }
                _ => self.statement(statement),
            }
        }
        self.close_scope(origin);
        match value {
            Some(value) => value,
            None => self.unsupported_expr(id),
        }
    }

    fn unary(&mut self, id: ExprId, operator: UnaryOperator, operand: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let op = match operator {
            UnaryOperator::Plus | UnaryOperator::Extension => return self.rvalue(operand),
            UnaryOperator::Dereference => return self.address_of(id),
            UnaryOperator::AddressOf => {
                let inner = source.expr(source.without_parens(operand));
                return match &inner.kind {
                    ExprKind::Function(_) => self.rvalue(operand),
                    _ => self.address_of(operand),
                };
            }
            UnaryOperator::Step => return self.step(id, operand),
            UnaryOperator::Minus => UnaryOp::Neg,
            UnaryOperator::Complement => UnaryOp::Complement,
            UnaryOperator::Not => UnaryOp::Not,
            UnaryOperator::Other => return self.unsupported_expr(id),
        };
        let a = self.rvalue(operand);
        let ty = self.type_of(a);
        let Some(result) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        self.emit_value(result, origin, |dst| InstructionKind::Unary {
            dst,
            op,
            ty,
            a,
        })
    }

    /// `++` and `--`.
    fn step(&mut self, id: ExprId, operand: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Some(&Detail::Step { increment, prefix }) = source.details.of.get(&id) else {
            return self.unsupported_expr(id);
        };
        let Some(ty) = self.scalar(operand) else {
            return self.unsupported_expr(id);
        };
        let location = self.location(operand);
        let old = self.load(location, ty, origin);
        let new = if ty == Type::Ptr {
            let size = self.stride(source.expr(operand).ty, origin);
            let one = self.constant(Type::I32, 1, origin);
            self.advance(old, one, size, !increment, origin)
        } else {
            let computed = crate::function::promoted_integer(ty);
            let one = wide::convert(Type::I32, computed, 1).unwrap_or(1);
            let one = self.constant(computed, one, origin);
            let a = self.convert(old, ty, computed, origin);
            let op = if increment {
                BinaryOp::Add
            } else {
                BinaryOp::Sub
            };
            let sum = self.emit_value(computed, origin, |dst| InstructionKind::Binary {
                dst,
                op,
                ty: computed,
                a,
                b: one,
            });
            self.convert(sum, computed, ty, origin)
        };
        let stored = self.store(location, ty, new, origin);
        if prefix { stored } else { old }
    }

    /// `a op b` for values of the right types.
    fn operate(
        &mut self,
        op: BinaryOp,
        a: Operand,
        b: Operand,
        result: Type,
        origin: OriginId,
    ) -> Operand {
        let ty = self.type_of(a);
        if op.is_shift() {
            let count = self.type_of(b);
            let a = self.as_type(a, result);
            return self.emit_value(result, origin, |dst| InstructionKind::Shift {
                dst,
                op,
                ty: result,
                count,
                a,
                b,
            });
        }
        let b = self.as_type(b, ty);
        let gives = if op.is_comparison() { Type::I32 } else { ty };
        let value = self.emit_value(gives, origin, |dst| InstructionKind::Binary {
            dst,
            op,
            ty,
            a,
            b,
        });
        self.as_type(value, result)
    }

    fn binary(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> Operand {
        let origin = self.at_expr(id);
        let Some(op) = binary_op(operator) else {
            if operator == BinaryOperator::Comma {
                self.effect(left);
                return self.rvalue(right);
            }
            return self.logical(id);
        };
        let Some(result) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        let a = self.rvalue(left);
        let b = self.rvalue(right);
        self.combine(op, (left, a), (right, b), result, origin)
    }

    /// A binary operator on evaluated operands, pointers included.
    fn combine(
        &mut self,
        op: BinaryOp,
        (left, a): (ExprId, Operand),
        (right, b): (ExprId, Operand),
        result: Type,
        origin: OriginId,
    ) -> Operand {
        let source = self.source;
        match (self.type_of(a), self.type_of(b)) {
            (Type::Ptr, Type::Ptr) if op == BinaryOp::Sub => {
                let size = self.stride(source.expr(left).ty, origin);
                self.emit_value(Type::I64, origin, |dst| {
                    InstructionKind::PointerDifference { dst, a, b, size }
                })
            }
            (Type::Ptr, ty) if ty.is_integer() && !op.is_comparison() => {
                let size = self.stride(source.expr(left).ty, origin);
                self.advance(a, b, size, op == BinaryOp::Sub, origin)
            }
            (ty, Type::Ptr) if ty.is_integer() && op == BinaryOp::Add => {
                let size = self.stride(source.expr(right).ty, origin);
                self.advance(b, a, size, false, origin)
            }
            _ => self.operate(op, a, b, result, origin),
        }
    }

    /// `target op= value`: the value first, then the target.
    fn compound(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        target: ExprId,
        value: ExprId,
    ) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Some(&Detail::Compute { left, result }) = source.details.of.get(&id) else {
            return self.unsupported_expr(id);
        };
        let (Some(ty), Class::Scalar(left), Class::Scalar(result), Some(op)) = (
            self.scalar(target),
            self.class_of(left),
            self.class_of(result),
            binary_op(operator),
        ) else {
            return self.unsupported_expr(id);
        };
        let b = self.rvalue(value);
        let location = self.location(target);
        let old = self.load(location, ty, origin);
        let a = self.convert(old, ty, left, origin);
        let new = self.combine(op, (target, a), (value, b), result, origin);
        let new = self.convert(new, result, ty, origin);
        self.store(location, ty, new, origin)
    }

    /// `&&` and `||` as a value.
    fn logical(&mut self, id: ExprId) -> Operand {
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
    fn conditional(&mut self, id: ExprId) -> Operand {
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
        let result = ty.map(|ty| self.new_local(String::new(), LocalKind::Register(ty), origin));
        let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
        let (then_origin, else_origin) = (self.at_expr(then), self.at_expr(otherwise));
        self.condition(condition, to(yes, then_origin), to(no, else_origin));
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
            CastKind::ArrayToPointer => self.address_of(operand),
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

    /// The address of the object that holds the value of a record's expression.
    pub(crate) fn aggregate(&mut self, id: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Class::Aggregate { size, align } = self.class(id) else {
            let value = self.unsupported_expr(id);
            return self.as_type(value, Type::Ptr);
        };
        let expr = source.expr(id);
        match &expr.kind {
            ExprKind::Paren(inner) => self.aggregate(*inner),
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue | CastKind::NoOp,
                ..
            } => self.aggregate(*operand),
            ExprKind::Binary {
                operator: BinaryOperator::Comma,
                left,
                right,
            } => {
                self.effect(*left);
                self.aggregate(*right)
            }
            ExprKind::Assign {
                operator: None,
                target,
                value,
            } => {
                let (address, from) = match self.is_call(*value) {
                    true => {
                        let address = self.address_of(*target);
                        (address, self.aggregate(*value))
                    }
                    false => {
                        let from = self.aggregate(*value);
                        (self.address_of(*target), from)
                    }
                };
                self.emit(
                    InstructionKind::Copy {
                        to: address,
                        from,
                        size,
                    },
                    origin,
                );
                address
            }
            ExprKind::Call { .. } => match self.call(id) {
                Some(address) => self.as_type(address, Type::Ptr),
                None => self.unsupported_value(origin, "a call without a value", Type::Ptr),
            },
            ExprKind::Conditional { .. } => self.conditional(id),
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => match (
                kind.as_str(),
                source.details.of.get(&id),
                children.as_slice(),
            ) {
                (_, Some(Detail::Same(same)), _) => self.aggregate(*same),
                ("StmtExpr", _, _) => match body {
                    Some(body) => self.statement_expression(id, *body),
                    None => self.unsupported_value(origin, "an expression", Type::Ptr),
                },
                ("VAArgExpr", _, [list]) => {
                    let list = self.rvalue(*list);
                    let list = self.as_type(list, Type::Ptr);
                    self.emit_value(Type::Ptr, origin, |dst| InstructionKind::VaArg {
                        dst,
                        ty: Type::Aggregate { size },
                        list,
                    })
                }
                ("InitListExpr" | "ImplicitValueInitExpr", _, _) => {
                    let local = self.temporary_object(size, align, origin);
                    let address = self.local_address(local, origin);
                    self.initialize(address, expr.ty, id, origin);
                    address
                }
                ("ConstantExpr", _, [inner]) => self.aggregate(*inner),
                ("CompoundLiteralExpr", _, _) => self.address_of(id),
                _ => {
                    let reason = self.reason(id, "an expression");
                    self.unsupported_value(origin, &reason, Type::Ptr)
                }
            },
            ExprKind::Variable(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Unary {
                operator: UnaryOperator::Dereference | UnaryOperator::Extension,
                ..
            } => self.address_of(id),
            _ => {
                let reason = self.reason(id, "an expression");
                self.unsupported_value(origin, &reason, Type::Ptr)
            }
        }
    }

    /// A call; its value, or the address of the record that it returns.
    pub(crate) fn call(&mut self, id: ExprId) -> Option<Operand> {
        let source = self.source;
        let origin = self.at_expr(id);
        let ExprKind::Call {
            callee,
            arguments,
            prototyped,
        } = &source.expr(id).kind
        else {
            return None;
        };
        let name = match &source.expr(source.stripped(*callee)).kind {
            ExprKind::Function(name) => Some(name.as_str()),
            _ => None,
        };
        if let Some(name) = name
            && let Some(value) = self.builtin(id, name, arguments)
        {
            return value;
        }
        let result = match self.class(id) {
            Class::Void => Type::Void,
            Class::Scalar(ty) => ty,
            Class::Aggregate { size, .. } => Type::Aggregate { size },
            _ => {
                let value = self.unsupported_expr(id);
                return Some(value);
            }
        };
        let indirect = match name {
            Some(_) => None,
            None => {
                let callee = self.rvalue(*callee);
                Some(self.as_type(callee, Type::Ptr))
            }
        };
        let arguments = self.arguments(arguments);
        let (callee, no_return) = match (name, indirect) {
            (Some(name), _) => {
                let types: Vec<Type> = arguments.iter().map(|a| a.ty).collect();
                self.callee(name, &types, *prototyped, result, origin)
            }
            (None, Some(callee)) => (Callee::Indirect(callee), false),
            (None, None) => return None,
        };
        let value = self.emit_call(callee, arguments, *prototyped, result, id);
        if no_return {
            self.terminate(TerminatorKind::Unreachable, origin);
        }
        value
    }

    /// Evaluates arguments, the last one first.
    pub(crate) fn arguments(&mut self, arguments: &[ExprId]) -> Vec<Argument> {
        let mut passed: Vec<Argument> = arguments
            .iter()
            .rev()
            .map(|&argument| {
                let (ty, value) = match self.class(argument) {
                    Class::Aggregate { size, .. } => {
                        (Type::Aggregate { size }, self.aggregate(argument))
                    }
                    _ => {
                        let value = self.rvalue(argument);
                        (self.type_of(value), value)
                    }
                };
                Argument { ty, value }
            })
            .collect();
        passed.reverse();
        passed
    }

    /// The function that a name means, if a call of this form fits its declaration; else its
    /// address, so that the call is checked when it happens.
    fn callee(
        &mut self,
        name: &str,
        arguments: &[Type],
        fixed: usize,
        result: Type,
        origin: OriginId,
    ) -> (Callee, bool) {
        let variadic = arguments.len() > fixed && fixed > 0;
        let parameters = arguments[..fixed.min(arguments.len())].to_vec();
        let function = self.lowerer.declare_as(name, result, parameters, variadic);
        let declared = self.lowerer.module.function(function);
        let no_return = declared.no_return;
        let count = declared.parameters.len();
        let fits = !declared.prototyped
            || (declared.result == result
                && (arguments.len() == count || declared.variadic && arguments.len() >= count)
                && declared
                    .parameters
                    .iter()
                    .zip(arguments)
                    .all(|(parameter, argument)| parameter.ty == *argument));
        let callee = if fits {
            Callee::Direct(function)
        } else {
            Callee::Indirect(self.address_constant(Target::Function(function), origin))
        };
        (callee, no_return)
    }

    pub(crate) fn emit_call(
        &mut self,
        callee: Callee,
        arguments: Vec<Argument>,
        fixed: usize,
        result: Type,
        id: ExprId,
    ) -> Option<Operand> {
        let origin = self.at_expr(id);
        let result_address = match (result, self.class(id)) {
            (Type::Aggregate { size }, Class::Aggregate { align, .. }) => {
                let local = self.temporary_object(size, align, origin);
                Some(self.local_address(local, origin))
            }
            _ => None,
        };
        let dst = result.is_value().then(|| self.new_temporary(result));
        self.emit(
            InstructionKind::Call {
                dst,
                callee,
                arguments,
                fixed,
                result,
                result_address,
            },
            origin,
        );
        match dst {
            Some(dst) => Some(Operand {
                value: patchwright_ir::Value::Temp(dst),
                origin,
            }),
            None => result_address,
        }
    }

    /// Calls a function of the library by name, with arguments of these types.
    pub(crate) fn call_library(
        &mut self,
        id: ExprId,
        name: &str,
        arguments: Vec<Argument>,
        result: Type,
    ) -> Option<Operand> {
        let origin = self.at_expr(id);
        let types: Vec<Type> = arguments.iter().map(|a| a.ty).collect();
        let (callee, _) = self.callee(name, &types, types.len(), result, origin);
        let fixed = types.len();
        self.emit_call(callee, arguments, fixed, result, id)
    }

    /// Where a value in memory is.
    pub(crate) fn at_address(address: Operand) -> Location {
        Location::Memory {
            address,
            volatile: false,
        }
    }
}
