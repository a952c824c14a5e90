//! Holes round expressions that have effects.
//!
//! The part with effects stays as it is and is evaluated once. A condition gets another one in front or behind. The value of a
//! call becomes an atom of terms: `read(f) < n` becomes `read(f) <= n`, `strlen(s)` becomes `strlen(s) + 1`.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Place, UnaryOperator, VarId, mentioned_for_certain,
};
use patchwright_semantics::BinaryOp;
use patchwright_text::Span;

use crate::{
    holes::{Added, Captured, Finder, Hole, HoleKind, Use},
    slots::Atoms,
    term::{CType, Context, Precedence, Term},
};

impl Finder<'_, '_, '_> {
    /// Holes for what is added to a condition that has effects.
    pub(crate) fn refinement(&mut self, id: ExprId, usage: Use) {
        let expr = self.function.expr(id);
        let (Some(span), Some(scope)) = (expr.place.editable(), self.scope.clone()) else {
            return;
        };
        // What is 0 or 1 is a condition, even if it is kept.
        let is_kept = !matches!(usage, Use::Truth | Use::Discard) && is_truth_value(&expr.kind);
        if usage != Use::Truth && !is_kept {
            return;
        }
        let is_typed = self.function.is_typed_argument(span);
        if is_typed || self.builder.ctype(expr.ty).is_none() || !self.spans.insert(span) {
            return;
        }
        let text = self.builder.unit.text(span).into_owned();
        let precedence = self.precedence(id, &text);
        let in_macro_argument = matches!(expr.place, Place::MacroArgument { .. });
        for added in [
            Added::AndBefore(precedence),
            Added::OrBefore(precedence),
            Added::Behind,
        ] {
            let mut atoms = Atoms::default();
            let mut scope = scope.clone();
            if added == Added::Behind {
                atoms.add_captured(&text, precedence, CType::Int);
                // `(c = getc(f)) != EOF && c != ' '`
                let given = mentioned_for_certain(self.builder.unit, self.function, id);
                let has_value = |id: &VarId| scope.assigned.contains(id) || given.contains(id);
                scope.assigned = scope.visible.iter().copied().filter(has_value).collect();
            }
            self.found.push(Hole {
                function: self.function_index,
                span,
                kind: HoleKind::Refinement(added),
                context: Context::Truth,
                ctype: None,
                atoms,
                scope,
                expr: Some(id),
                in_macro_argument,
                captured: None,
            });
        }
    }

    /// A hole for what a call's value is combined with.
    pub(crate) fn captured_whole(&mut self, id: ExprId, usage: Use) {
        let Some((span, mut atoms, captured)) = self.capture(id) else {
            return;
        };
        let text = self.builder.unit.text(span).into_owned();
        let precedence = self.precedence(id, &text);
        let Some(atom) = atoms.add_captured(&text, precedence, captured.ctype) else {
            return;
        };
        let original = Term::atom(atom, &atoms.table);
        self.captured_hole(id, span, atoms, original, captured, usage);
    }

    /// A hole for a comparison or arithmetic of which one operand has effects, and the other has
    /// not.
    pub(crate) fn captured_operand(&mut self, id: ExprId, left: ExprId, right: ExprId, usage: Use) {
        let expr = self.function.expr(id);
        let ExprKind::Binary { operator, .. } = expr.kind else {
            return;
        };
        if self.is_large(id) {
            return;
        }
        let (Some(op), Some(span)) = (
            BinaryOp::from_spelling(operator.spelling()),
            expr.place.editable(),
        ) else {
            return;
        };
        let expected = self.builder.ctype(expr.ty);
        for (impure, pure, impure_is_left) in [(left, right, true), (right, left, false)] {
            // Whether the other operand has effects too shows when it is modelled.
            let Some((inner_span, mut atoms, captured)) = self.capture(impure) else {
                continue;
            };
            let text = self.builder.unit.text(inner_span).into_owned();
            let precedence = self.precedence(impure, &text);
            let atom = atoms.add_captured(&text, precedence, captured.ctype);
            let (Some(atom), Some(other)) = (atom, self.modelled(&mut atoms, pure)) else {
                continue;
            };
            let own = Term::atom(atom, &atoms.table);
            let (l, r) = if impure_is_left {
                (own, other)
            } else {
                (other, own)
            };
            let pointees = self.builder.types.pointees();
            if let Ok(original) = Term::binary(op, l, r, pointees)
                && Some(original.ctype()) == expected
            {
                self.captured_hole(id, span, atoms, original, captured, usage);
                return;
            }
        }
    }

    /// The part `id`, if it is a call or an assignment in parentheses with a value that can be
    /// handed over.
    fn capture(&mut self, id: ExprId) -> Option<(Span, Atoms, Captured)> {
        let mut outer = id;
        while let ExprKind::Cast {
            operand,
            implicit: true,
            ..
        } = self.function.expr(outer).kind
        {
            outer = operand;
        }
        let bare = self.function.stripped(outer);
        let is_value = match &self.function.expr(bare).kind {
            ExprKind::Call { .. } => true,
            ExprKind::Assign { target, .. } => !matches!(
                self.function
                    .expr(self.function.without_parens(*target))
                    .kind,
                ExprKind::Member {
                    bit_field: true,
                    ..
                }
            ),
            _ => false,
        };
        let span = self.function.expr(outer).place.editable()?;
        if !is_value || !self.function.expr(bare).evaluated {
            return None;
        }
        let ty = self.function.expr(bare).ty;
        let ctype = self.builder.ctype(ty)?;
        let named = match ctype {
            CType::Pointer(id) => self.builder.types.pointees().pointer_spelling(id).is_some(),
            _ => true,
        };
        named.then(|| (span, Atoms::default(), Captured { span, ctype }))
    }

    fn captured_hole(
        &mut self,
        id: ExprId,
        span: Span,
        atoms: Atoms,
        original: Term,
        captured: Captured,
        usage: Use,
    ) {
        // It would be of the promoted type.
        if self.function.is_typed_argument(span) {
            return;
        }
        let (Some(scope), Some((context, ctype))) =
            (self.scope.clone(), usage.context(original.ctype()))
        else {
            return;
        };
        // A refinement has the same text; several uses of a macro's argument have one hole.
        let is_new = self.spans.insert(span) || {
            let same = |hole: &&Hole| hole.span == span;
            self.found
                .iter()
                .filter(same)
                .all(|hole| matches!(hole.kind, HoleKind::Refinement(_)))
        };
        if !is_new {
            return;
        }
        self.found.push(Hole {
            function: self.function_index,
            span,
            kind: HoleKind::Expression {
                original,
                condition: usage == Use::Truth,
            },
            context,
            ctype,
            atoms,
            scope,
            expr: Some(id),
            in_macro_argument: matches!(self.function.expr(id).place, Place::MacroArgument { .. }),
            captured: Some(captured),
        });
    }

    /// How tightly the text of `id` binds.
    fn precedence(&self, id: ExprId, text: &str) -> Precedence {
        // In a macro's text precedences are not what they seem.
        let written = matches!(self.function.expr(id).place, Place::Written(_));
        if !written || text.starts_with('(') {
            return if is_parenthesised(text) {
                Precedence::Primary
            } else {
                Precedence::Assignment
            };
        }
        match &self.function.expr(self.function.stripped(id)).kind {
            ExprKind::Binary { operator, .. } => operator.precedence(),
            ExprKind::Call { .. } | ExprKind::Member { .. } | ExprKind::Subscript { .. } => {
                Precedence::Postfix
            }
            ExprKind::Unary { .. } => Precedence::Unary,
            _ => Precedence::Assignment,
        }
    }
}

/// Whether an expression is 0 or 1 and made of calls: a negation, a conjunction or a disjunction. (Comparisons with one call
/// hand its value over, and are changed as a whole.)
fn is_truth_value(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
        ExprKind::Binary { operator, .. } => matches!(
            operator,
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
        ),
        _ => false,
    }
}

/// Whether the first parenthesis of the text is closed by its last character; texts with quotes
/// are not looked into.
fn is_parenthesised(text: &str) -> bool {
    if !text.starts_with('(') || text.contains(['"', '\'']) {
        return false;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pair_of_parentheses_round_everything_binds_like_a_name() {
        assert!(is_parenthesised("(a + (b))"));
        assert!(!is_parenthesised("(a) + (b)"));
        assert!(!is_parenthesised("(a == ')')"));
        assert!(!is_parenthesised("a"));
    }
}
