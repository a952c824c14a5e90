//! Finds operators in the text of expressions, and where parentheses are needed.

use patchwright_csource::{ExprId, ExprKind, Function, TranslationUnit, lex};
use patchwright_semantics::Precedence;
use patchwright_text::Span;

/// Returns the expression inside the conversions that the compiler has put around it.
pub(crate) fn written(function: &Function, mut id: ExprId) -> ExprId {
    while let ExprKind::Cast {
        operand,
        implicit: true,
        ..
    } = function.expr(id).kind
    {
        id = operand;
    }
    id
}

/// Returns the precedence of the text of an expression.
pub(crate) fn binding(function: &Function, id: ExprId) -> Precedence {
    match &function.expr(written(function, id)).kind {
        ExprKind::Binary { operator, .. } => operator.precedence(),
        ExprKind::Assign { .. } => Precedence::Assignment,
        ExprKind::Conditional { .. } => Precedence::Conditional,
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => Precedence::Unary,
        ExprKind::Other { kind, .. } if kind.ends_with("Operator") => Precedence::Comma,
        _ => Precedence::Primary,
    }
}

/// Whether an expression that stands where `id` stands needs parentheses when its outermost operator binds like
/// `new`; `parent` is the written expression around it.
pub(crate) fn needs_parentheses(
    function: &Function,
    id: ExprId,
    parent: Option<ExprId>,
    new: Precedence,
) -> bool {
    let Some(parent) = parent else { return false };
    match &function.expr(parent).kind {
        ExprKind::Binary {
            operator, right, ..
        } => {
            let around = operator.precedence();
            let is_right = written(function, *right) == written(function, id);
            new < around || is_right && new == around
        }
        ExprKind::Conditional { condition, .. } => {
            written(function, *condition) == written(function, id) && new <= Precedence::Conditional
        }
        ExprKind::Subscript { base, .. } => written(function, *base) == written(function, id),
        ExprKind::Assign { target, .. } => written(function, *target) == written(function, id),
        ExprKind::Call { callee, .. } => written(function, *callee) == written(function, id),
        ExprKind::Paren(_) => false,
        ExprKind::Unary { .. } | ExprKind::Cast { .. } | ExprKind::Member { .. } => true,
        ExprKind::Other { kind, .. } => kind != "InitListExpr",
        _ => true,
    }
}

/// The place of the token `operator` between two operands, if it is written there.
pub(crate) fn operator_between(
    unit: &TranslationUnit,
    left_end: u32,
    right_start: u32,
    operator: &str,
) -> Option<Span> {
    let gap = unit.source.get(left_end as usize..right_start as usize)?;
    let mut tokens = lex::Tokens::new(gap);
    let sign = tokens
        .next()
        .filter(|sign| sign.raw == operator.as_bytes())?;
    let start = left_end + sign.start as u32;
    tokens
        .next()
        .is_none()
        .then(|| Span::new(start, start + operator.len() as u32))
}
