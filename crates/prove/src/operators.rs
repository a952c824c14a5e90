//! Replaces binary operators, compound assignments, `++` and `--` by others.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, UnaryOperator, detail::Detail, types::TypeKind,
};
use patchwright_lower::alternatives::Alternative;
use patchwright_semantics::Precedence;
use patchwright_text::Span;

use crate::{
    enumerate::{Role, Walker},
    level::{Level, Operands, others},
    mutation::Mutation,
    pieces::{Piece, behind, parentheses, replace},
    syntax::{binding, needs_parentheses, operator_between, written},
};

impl Walker<'_> {
    fn operands(&self, left: ExprId, right: ExprId) -> Operands {
        let types = &self.unit.types;
        let kind = |id: ExprId| types.kind(self.function.expr(id).ty);
        let is_integer = |id: ExprId| types.integer_kind(self.function.expr(id).ty).is_some();
        let is_float = |id: ExprId| matches!(kind(id), TypeKind::Float(_));
        let is_pointer = |id: ExprId| matches!(kind(id), TypeKind::Pointer(_));
        match (is_pointer(left), is_pointer(right)) {
            (true, true) => Operands::Pointers,
            (true, false) if is_integer(right) => Operands::PointerAndInteger,
            (false, false) if is_integer(left) && is_integer(right) => Operands::Integers,
            (false, false)
                if (is_float(left) || is_integer(left))
                    && (is_float(right) || is_integer(right)) =>
            {
                Operands::Floats
            }
            _ => Operands::Others,
        }
    }

    /// Adds the mutations of an operator with two operands.
    pub(crate) fn binary(
        &mut self,
        id: ExprId,
        parent: Option<ExprId>,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
        role: Role,
    ) {
        let Some(span) = self.editable(id) else {
            return;
        };
        let (Some(first), Some(second)) = (self.place(left), self.place(right)) else {
            return;
        };
        let Some(token) = operator_between(self.unit, first.end, second.start, operator.spelling())
        else {
            self.out_of_reach += 1;
            return;
        };
        let mut found = Vec::new();
        let mut operands = self.operands(left, right);
        if is_pointer_difference(operator, operands) {
            operands = Operands::Others;
        }
        for other in others(operator, self.level, operands) {
            let mut pieces = vec![replace(token, other.spelling())];
            let new = other.precedence();
            for (operand, place, is_right) in [(left, first, false), (right, second, true)] {
                let own = binding(self.function, operand);
                let weaker = own < new || own == new && is_right;
                let cautious = !weaker || operator.precedence() == new;
                if own < Precedence::Primary {
                    pieces.extend(parentheses(place, cautious));
                }
            }
            let cautious =
                operator.precedence() == new || !needs_parentheses(self.function, id, parent, new);
            pieces.extend(parentheses(span, cautious));
            let mut mutation = Mutation::new(pieces);
            let number = self.integer_value(right);
            mutation.alone = number.and_then(|number| self.left_alone(id, other, number));
            found.push((Alternative::Operator(other), mutation));
        }
        let logical = matches!(
            operator,
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
        );
        if self.level == Level::Three {
            found.extend(self.other_way_round(operator, (left, first), (right, second)));
        }
        if logical && self.level == Level::Three {
            for (alternative, kept, place) in [
                (Alternative::Left, left, first),
                (Alternative::Right, right, second),
            ] {
                let mut pieces = vec![
                    replace(Span::new(span.start, place.start), ""),
                    replace(Span::new(place.end, span.end), ""),
                ];
                pieces.retain(|piece| !piece.span.is_empty());
                if role != Role::Condition && !self.is_truth_value(kept) {
                    let weak = binding(self.function, kept) < BinaryOperator::Ne.precedence();
                    pieces.extend(parentheses(place, !weak));
                    pieces.push(behind(place, " != 0", place.len() + 1));
                    let whole = needs_parentheses(
                        self.function,
                        id,
                        parent,
                        BinaryOperator::Ne.precedence(),
                    );
                    let mut outer = parentheses(place, !whole);
                    outer.iter_mut().for_each(|piece| piece.extent += 2);
                    pieces.extend(outer);
                }
                found.push((alternative, Mutation::new(pieces)));
            }
        }
        self.add(id, span, found);
    }

    fn integer_value(&self, id: ExprId) -> Option<i128> {
        match self.function.expr(written(self.function, id)).kind {
            ExprKind::Integer { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the left operand in place of an operation that does not change it, such as `x + 0`.
    pub(crate) fn left_alone(
        &self,
        id: ExprId,
        operator: BinaryOperator,
        number: i128,
    ) -> Option<Piece> {
        use BinaryOperator::{Add, Div, Mul, Or, Shl, Shr, Sub, Xor};
        let ExprKind::Binary { left, right, .. } = self.function.expr(id).kind else {
            return None;
        };
        let neutral = match operator {
            Add | Sub | Or | Xor | Shl | Shr => number == 0,
            Mul | Div => number == 1,
            _ => false,
        };
        let operands = self.operands(left, right);
        let fits = matches!(operands, Operands::Integers | Operands::PointerAndInteger);
        // `n - 0U` has another type than an `int` called `n`.
        let same = self.function.expr(id).ty == self.function.expr(left).ty;
        let (first, second) = (self.place(left)?, self.place(right)?);
        let rest = Span::new(first.end, second.end);
        let text = self.unit.text(rest);
        let is_plain = !text.contains(['/', '\n']) || operator == Div && !text.contains("/*");
        (neutral && fits && same && is_plain).then(|| replace(rest, ""))
    }

    /// Its value is 0 or 1, an `int`.
    pub(crate) fn is_truth_value(&self, id: ExprId) -> bool {
        let id = self.function.without_parens(written(self.function, id));
        match &self.function.expr(id).kind {
            ExprKind::Binary { operator, .. } => {
                is_comparison(*operator)
                    || matches!(
                        operator,
                        BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
                    )
            }
            ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
            _ => false,
        }
    }

    /// Adds the mutations of an assignment such as `+=`.
    pub(crate) fn compound(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        target: ExprId,
        value: ExprId,
    ) {
        let Some(span) = self.editable(id) else {
            return;
        };
        let (Some(first), Some(second)) = (self.place(target), self.place(value)) else {
            return;
        };
        let spelling = format!("{}=", operator.spelling());
        let Some(token) = operator_between(self.unit, first.end, second.start, &spelling) else {
            self.out_of_reach += 1;
            return;
        };
        let operands = self.operands(target, value);
        let found = others(operator, self.level, operands)
            .into_iter()
            .map(|other| {
                let text = format!("{}=", other.spelling());
                let pieces = vec![replace(token, &text)];
                (Alternative::Operator(other), Mutation::new(pieces))
            })
            .collect();
        self.add(id, span, found);
    }

    /// Adds the mutations of `++` and `--`.
    pub(crate) fn step(&mut self, id: ExprId, operand: ExprId, role: Role) {
        let Some(&Detail::Step { increment, prefix }) = self.function.details.of.get(&id) else {
            return;
        };
        let (Some(span), Some(place)) = (self.editable(id), self.place(operand)) else {
            return;
        };
        let own: i64 = if increment { 1 } else { -1 };
        let token = match prefix {
            true => Span::new(span.start, place.start),
            false => Span::new(place.end, span.end),
        };
        let turned = if increment { "--" } else { "++" };
        let mut found = vec![(
            Alternative::Step(-own),
            Mutation::new(vec![replace(token, turned)]),
        )];
        if self.level >= Level::Two && role == Role::Effect {
            for by in [2 * own, 0] {
                let operator = if increment { "+=" } else { "-=" };
                let mut pieces = vec![
                    replace(token, ""),
                    behind(place, &format!(" {operator} {}", by.abs()), span.len()),
                ];
                if !prefix {
                    pieces = vec![replace(token, &format!(" {operator} {}", by.abs()))];
                }
                found.push((Alternative::Step(by), Mutation::new(pieces)));
            }
        }
        self.add(id, span, found);
    }
}

/// Whether an operator compares.
pub(crate) fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Lt | Le | Gt | Ge | Eq | Ne)
}

fn is_pointer_difference(operator: BinaryOperator, operands: Operands) -> bool {
    operator == BinaryOperator::Sub && operands == Operands::Pointers
}
