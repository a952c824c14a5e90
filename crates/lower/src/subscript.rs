//! Finds the bounds of subscripts of arrays whose length is known.
//!
//! An access beyond a whole object is detected where memory is accessed. A member, or the row of a matrix, ends before its object
//! does, so its subscripts carry their bounds. The rules are those of gcc's `-fsanitize=bounds`: a pointer made from such an array
//! may run over the whole object, and the last member of a structure behind a pointer may be longer than its type.

use patchwright_csource::{
    CastKind, ExprId, ExprKind, UnaryOperator,
    detail::Detail,
    types::{TypeId, TypeKind},
};
use patchwright_ir::{Operand, OriginId, Subscript, Type};

use crate::function::FunctionLowerer;

impl FunctionLowerer<'_, '_> {
    /// Returns the pointer that `&` makes of an lvalue, or that an array becomes. It may point past the last element.
    pub(crate) fn pointer_to(&mut self, id: ExprId) -> Operand {
        let inner = self.without_names(id);
        if self.accessed == Some(inner) {
            return self.address_of(id);
        }
        match self.subscripted(inner) {
            Some((base, index)) => {
                let origin = self.at_expr(inner);
                self.element(base, index, true, origin)
            }
            None => self.address_of(id),
        }
    }

    /// Notes the lvalue whose address `pointer` is, because the pointer is about to be followed.
    pub(crate) fn is_accessed(&mut self, pointer: ExprId) {
        let source = self.source;
        self.accessed = match &source.expr(source.without_parens(pointer)).kind {
            ExprKind::Cast {
                operand,
                cast: CastKind::ArrayToPointer,
                ..
            }
            | ExprKind::Unary {
                operator: UnaryOperator::AddressOf,
                operand,
            } => Some(self.without_names(*operand)),
            _ => None,
        };
    }

    /// The address of an element; where `end` holds, only the address is taken.
    pub(crate) fn element(
        &mut self,
        base: ExprId,
        index: ExprId,
        end: bool,
        origin: OriginId,
    ) -> Operand {
        let subscript = self.bound(base).map(|count| Subscript { count, end });
        self.is_accessed(base);
        let pointer = self.rvalue(base);
        let pointer = self.as_type(pointer, Type::Ptr);
        let number = self.rvalue(index);
        let size = self.stride(self.source.expr(base).ty, origin);
        self.advance_within(pointer, number, size, false, subscript, origin)
    }

    /// The pointer and the index of `a[2]`, and of `2[a]`.
    pub(crate) fn pointer_first(&self, first: ExprId, second: ExprId) -> (ExprId, ExprId) {
        let types = &self.lowerer.unit.types;
        match types.element(self.source.expr(first).ty).is_some() {
            true => (first, second),
            false => (second, first),
        }
    }

    /// The pointer and the index of a subscript.
    fn subscripted(&self, id: ExprId) -> Option<(ExprId, ExprId)> {
        match &self.source.expr(id).kind {
            ExprKind::Subscript { base, index } => Some((*base, *index)),
            ExprKind::Other { kind, children, .. } if kind == "ArraySubscriptExpr" => {
                match children[..] {
                    [first, _] if self.parts_of(first).is_some() => None,
                    [first, second] => Some(self.pointer_first(first, second)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// An lvalue without parentheses, and what else changes nothing about it.
    fn without_names(&self, id: ExprId) -> ExprId {
        let source = self.source;
        match &source.expr(id).kind {
            ExprKind::Paren(inner)
            | ExprKind::Unary {
                operator: UnaryOperator::Extension,
                operand: inner,
            } => self.without_names(*inner),
            ExprKind::Cast {
                operand,
                cast: CastKind::NoOp,
                ..
            } if source.expr(*operand).lvalue => self.without_names(*operand),
            ExprKind::Other { .. } => match source.details.of.get(&id) {
                Some(Detail::Same(same)) => self.without_names(*same),
                _ => id,
            },
            _ => id,
        }
    }

    /// How many elements the array has that a pointer is made from, where that is known and the array is a part of something.
    fn bound(&self, pointer: ExprId) -> Option<u64> {
        let source = self.source;
        let ExprKind::Cast {
            operand,
            cast: CastKind::ArrayToPointer,
            ..
        } = source.expr(source.without_parens(pointer)).kind
        else {
            return None;
        };
        let array = self.without_names(operand);
        let expr = source.expr(array);
        let count = self.count(expr.ty)?;
        match &expr.kind {
            // Whole objects.
            ExprKind::Variable(_) | ExprKind::String => None,
            ExprKind::Other { kind, .. } if kind == "CompoundLiteralExpr" => None,
            ExprKind::Member { .. } if self.may_be_longer(array) => None,
            _ => Some(count),
        }
    }

    fn count(&self, ty: TypeId) -> Option<u64> {
        match *self.lowerer.unit.types.kind(ty) {
            TypeKind::Array(_, Some(count)) if count > 0 && count < u64::MAX => Some(count),
            _ => None,
        }
    }

    /// An array that is the last member of a structure behind a pointer, for which more memory may be there than its type says.
    fn may_be_longer(&self, member: ExprId) -> bool {
        self.begins_at_pointer(member) && self.is_last(member)
    }

    /// An lvalue is what a pointer points to, or a part of it.
    fn begins_at_pointer(&self, id: ExprId) -> bool {
        let source = self.source;
        let id = self.without_names(id);
        match source.expr(id).kind {
            ExprKind::Member { arrow: true, .. }
            | ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                ..
            } => true,
            ExprKind::Member { base, .. } => self.begins_at_pointer(base),
            _ => match self.subscripted(id) {
                Some((base, _)) => match source.expr(source.without_parens(base)).kind {
                    ExprKind::Cast {
                        operand,
                        cast: CastKind::ArrayToPointer,
                        ..
                    } => self.begins_at_pointer(operand),
                    _ => true,
                },
                None => false,
            },
        }
    }

    /// A member is the last of its structure, and that one the last of what it is a member of, and so on.
    fn is_last(&self, id: ExprId) -> bool {
        let source = self.source;
        let id = self.without_names(id);
        let ExprKind::Member { base, arrow, .. } = source.expr(id).kind else {
            return true;
        };
        let Some(&Detail::Member { record, index }) = source.details.of.get(&id) else {
            return true;
        };
        let record = self.lowerer.unit.types.record(record);
        let fields = record.fields.as_deref().unwrap_or_default();
        (record.is_union || index + 1 >= fields.len()) && (arrow || self.is_last(base))
    }
}
