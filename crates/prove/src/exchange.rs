//! Level 3: exchanges operands of operators and arguments of calls, and takes one value of `?:` for both.

use patchwright_csource::{BinaryOperator, ExprId};
use patchwright_lower::alternatives::Alternative;
use patchwright_text::Span;

use crate::{
    enumerate::Walker,
    mutation::Mutation,
    pieces::{Parentheses, Piece, Text, parentheses, replace},
    syntax::{binding, needs_parentheses},
};

/// Calls with more arguments are left alone: each pair of arguments would be one more change.
const MOST_ARGUMENTS: usize = 6;

/// Two places, each with the text of the other one.
fn exchanged(first: Span, second: Span, parentheses: [Parentheses; 2]) -> Mutation {
    let piece = |span: Span, from: Span, parentheses: Parentheses| Piece {
        span,
        text: Text::Moved { from, parentheses },
        extent: span.len(),
        closing: false,
        cautious: false,
    };
    Mutation::new(vec![
        piece(first, second, parentheses[1]),
        piece(second, first, parentheses[0]),
    ])
}

impl Walker<'_> {
    /// The text of two expressions differs.
    fn differ(&self, first: Span, second: Span) -> bool {
        self.unit.text(first) != self.unit.text(second)
    }

    /// Makes the pieces that exchange the operands of an operator whose order matters. Comparisons are left out, because another operator
    /// does the same.
    pub(crate) fn other_way_round(
        &self,
        operator: BinaryOperator,
        (left, first): (ExprId, Span),
        (right, second): (ExprId, Span),
    ) -> Option<(Alternative, Mutation)> {
        use BinaryOperator::*;
        let function = self.function;
        let fits = matches!(operator, Sub | Div | Rem | Shl | Shr)
            && self.same_type(function.expr(left).ty, function.expr(right).ty)
            && self.is_arithmetic(function.expr(left).ty)
            && self.differ(first, second);
        // The operator groups from the left.
        let left = match binding(function, left) <= operator.precedence() {
            true => Parentheses::Always,
            false => Parentheses::IfChanged,
        };
        let parentheses = [left, Parentheses::IfChanged];
        fits.then(|| {
            (
                Alternative::Exchanged,
                exchanged(first, second, parentheses),
            )
        })
    }

    /// Pairs of arguments of one type.
    pub(crate) fn arguments(&mut self, id: ExprId, arguments: &[ExprId]) {
        if arguments.len() > MOST_ARGUMENTS {
            return;
        }
        let mut found = Vec::new();
        for (second, &b) in arguments.iter().enumerate() {
            for (first, &a) in arguments[..second].iter().enumerate() {
                let (x, y) = (self.function.expr(a), self.function.expr(b));
                let (Some(here), Some(there)) = (self.place(a), self.place(b)) else {
                    continue;
                };
                let fits = self.same_type(x.ty, y.ty) && self.is_scalar(x.ty);
                if fits && self.differ(here, there) {
                    found.push((
                        Alternative::ExchangedArguments(first, second),
                        exchanged(here, there, [Parentheses::Never; 2]),
                    ));
                }
            }
        }
        if !found.is_empty()
            && let Some(span) = self.editable(id)
        {
            self.add(id, span, found);
        }
    }

    /// `a` and `b` in place of `c ? a : b`.
    pub(crate) fn one_value(&mut self, id: ExprId, parent: Option<ExprId>, values: [ExprId; 2]) {
        let Some(span) = self.editable(id) else {
            return;
        };
        let mut found = Vec::new();
        for (alternative, value) in [Alternative::Left, Alternative::Right]
            .into_iter()
            .zip(values)
        {
            let Some(place) = self.place(value) else {
                continue;
            };
            let mut pieces = vec![
                replace(Span::new(span.start, place.start), ""),
                replace(Span::new(place.end, span.end), ""),
            ];
            pieces.retain(|piece| !piece.span.is_empty());
            let whole = needs_parentheses(self.function, id, parent, binding(self.function, value));
            pieces.extend(parentheses(place, !whole));
            found.push((alternative, Mutation::new(pieces)));
        }
        self.add(id, span, found);
    }
}
