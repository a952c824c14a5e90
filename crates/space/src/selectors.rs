//! Makes holes of what selects the object that an expression works on: subscripts and pointers.
//!
//! They are holes of their own, because what another one selects is not known before. An index into an array whose
//! length is declared has values that are undefined: those that select nothing of it.

use patchwright_csource::{
    CastKind, ExprId, ExprKind, Function, TranslationUnit, UnaryOperator, types::TypeKind,
};

use crate::{
    holes::{Finder, Use},
    term::CType,
};

/// What is done with an element of an array.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    Used,
    /// Its address is taken: it may be the one behind the last.
    Addressed,
}

impl Finder<'_, '_, '_> {
    /// Holes for the subscripts and pointers inside of a pure expression.
    pub(crate) fn selectors(&mut self, id: ExprId) {
        if !self.function.expr(id).evaluated {
            return;
        }
        match self.function.expr(id).kind.clone() {
            ExprKind::Subscript { base, index } => self.subscript(base, index, Element::Used),
            ExprKind::Member {
                base, arrow: true, ..
            } => self.base(base),
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => self.base(operand),
            ExprKind::Unary {
                operator: UnaryOperator::AddressOf,
                operand,
            } => match self.addressed_element(operand) {
                Some((base, index)) => self.subscript(base, index, Element::Addressed),
                None => self.selectors(operand),
            },
            _ => {
                for child in self.function.children(id) {
                    self.selectors(child);
                }
            }
        }
    }

    /// Holes inside of what the address is taken of.
    pub(crate) fn address_of(&mut self, id: ExprId) {
        match self.addressed_element(id) {
            Some((base, index)) => self.subscript(base, index, Element::Addressed),
            None => self.lvalue(id),
        }
    }

    /// Holes inside of what names an object.
    pub(crate) fn lvalue(&mut self, id: ExprId) {
        match self.function.expr(id).kind.clone() {
            ExprKind::Paren(inner) => self.lvalue(inner),
            ExprKind::Subscript { base, index } => self.subscript(base, index, Element::Used),
            ExprKind::Member { base, arrow, .. } => {
                if arrow {
                    self.base(base);
                } else {
                    self.lvalue(base);
                }
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => self.base(operand),
            ExprKind::Variable(_) => {}
            _ => self.below(id, Use::Same),
        }
    }

    /// The parts of `base[index]`, if it is that.
    fn addressed_element(&self, id: ExprId) -> Option<(ExprId, ExprId)> {
        match self.function.expr(self.function.without_parens(id)).kind {
            ExprKind::Subscript { base, index } => Some((base, index)),
            _ => None,
        }
    }

    fn subscript(&mut self, base: ExprId, index: ExprId, element: Element) {
        let array = decayed_array(self.function, base);
        let length = array.and_then(|id| declared_length(self.builder.unit, self.function, id));
        let usage = match length {
            Some(length) if element == Element::Used => Use::Index(length),
            Some(length) => Use::Index(length.saturating_add(1)),
            None => Use::Convert(CType::Long),
        };
        self.expr(index, usage);
        self.base(base);
    }

    /// Adds the operand of `->`, `*` or `[ ]`, which nothing converts, so that it keeps its type.
    pub(crate) fn base(&mut self, base: ExprId) {
        let ty = self.function.expr(base).ty;
        match self.builder.ctype(ty) {
            Some(CType::Pointer(_)) if self.decayed(base).is_none() => {
                self.expr(base, Use::Same);
            }
            _ => self.below(base, Use::Same),
        }
    }
}

/// The array that decays to the pointer `id`.
pub(crate) fn decayed_array(function: &Function, id: ExprId) -> Option<ExprId> {
    let id = function.without_parens(id);
    match function.expr(id).kind {
        ExprKind::Cast {
            operand,
            cast: CastKind::ArrayToPointer,
            ..
        } => Some(operand),
        ExprKind::Cast {
            operand,
            implicit: true,
            ..
        } => decayed_array(function, operand),
        _ => None,
    }
}

/// The number of elements of an array, where its declaration is to be believed: a member with at most one element may stand
/// for any number of them.
pub(crate) fn declared_length(
    unit: &TranslationUnit,
    function: &Function,
    array: ExprId,
) -> Option<u64> {
    let is_member = matches!(
        function.expr(function.without_parens(array)).kind,
        ExprKind::Member { .. }
    );
    match unit.types.kind(function.expr(array).ty) {
        TypeKind::Array(_, Some(length)) if *length > u64::from(is_member) => Some(*length),
        _ => None,
    }
}
