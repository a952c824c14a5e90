//! Level 3: negates a condition.

use patchwright_csource::{BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator};
use patchwright_lower::alternatives::Alternative;
use patchwright_semantics::Precedence;
use patchwright_text::Span;

use crate::{
    enumerate::{Role, Walker},
    mutation::Mutation,
    pieces::{Piece, Text, parentheses, replace},
    syntax::binding,
};

impl Walker<'_> {
    /// `!c` in place of `c`, and `c` in place of `!c`. Comparisons have their opposites among the operators.
    pub(crate) fn negated(&mut self, id: ExprId, role: Role) {
        let function = self.function;
        let expr = function.expr(id);
        let is_inner = match &expr.kind {
            ExprKind::Paren(_) => true,
            ExprKind::Cast { implicit, cast, .. } => *implicit && *cast != CastKind::LValueToRValue,
            ExprKind::Binary { operator, .. } => matches!(
                operator,
                BinaryOperator::Lt
                    | BinaryOperator::Le
                    | BinaryOperator::Gt
                    | BinaryOperator::Ge
                    | BinaryOperator::Eq
                    | BinaryOperator::Ne
            ),
            ExprKind::Integer { .. } => true,
            _ => false,
        };
        if role != Role::Condition || is_inner || !expr.evaluated {
            return;
        }
        let Some(span) = self.editable(id) else {
            return;
        };
        let pieces = match expr.kind {
            ExprKind::Unary {
                operator: UnaryOperator::Not,
                operand,
            } => {
                let Some(inside) = self.place(operand) else {
                    return;
                };
                vec![replace(Span::new(span.start, inside.start), "")]
            }
            _ => {
                let mut pieces = vec![Piece {
                    span: Span::empty(span.start),
                    text: Text::Is("!".to_owned()),
                    extent: span.len() + 1,
                    closing: false,
                    cautious: false,
                }];
                let holds_together = binding(function, id) >= Precedence::Unary;
                pieces.extend(parentheses(span, holds_together));
                pieces
            }
        };
        self.add(id, span, vec![(Alternative::Not, Mutation::new(pieces))]);
    }
}
