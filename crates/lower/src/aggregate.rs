//! Lowers structures and unions as values.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{InstructionKind, Operand, Type};

use crate::{function::FunctionLowerer, types::Class};

impl FunctionLowerer<'_, '_> {
    /// The address of the object that holds the value of a record's expression.
    pub(crate) fn aggregate(&mut self, id: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Class::Aggregate { size, align } = self.class(id) else {
            let value = self.unsupported_expr(id);
            return self.as_type(value, Type::Ptr);
        };
        if let Some(address) = self.several(id) {
            return address;
        }
        let expr = source.expr(id);
        match &expr.kind {
            ExprKind::Paren(inner) => self.aggregate(*inner),
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue | CastKind::NoOp,
                ..
            } => self.aggregate(*operand),
            ExprKind::Cast {
                operand,
                cast: CastKind::Other,
                ..
            } if source.details.of.get(&id) == Some(&Detail::Operator("ToUnion".to_owned())) => {
                let local = self.temporary_object(size, align, origin);
                let address = self.local_address(local, origin);
                let member = source.expr(*operand).ty;
                self.initialize(address, member, *operand, origin);
                address
            }
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
}
