//! Finds operators in the text of expressions, and where parentheses are needed.

use patchwright_csource::{
    BinaryOperator::{self, *},
    ExprId, ExprKind, Function, TranslationUnit, UnaryOperator, lex,
};
use patchwright_text::Span;

/// How strongly the outermost operator of an expression binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Binding(u8);

impl Binding {
    /// `?:`, assignments, the comma.
    pub(crate) const WEAK: Binding = Binding(0);
    /// Unary operators and conversions.
    pub(crate) const UNARY: Binding = Binding(11);
    /// What needs no parentheses anywhere.
    pub(crate) const PRIMARY: Binding = Binding(12);

    pub(crate) fn of(operator: BinaryOperator) -> Binding {
        Binding(match operator {
            Comma => 0,
            LogicalOr => 1,
            LogicalAnd => 2,
            Or => 3,
            Xor => 4,
            And => 5,
            Eq | Ne => 6,
            Lt | Le | Gt | Ge => 7,
            Shl | Shr => 8,
            Add | Sub => 9,
            Mul | Div | Rem => 10,
        })
    }
}

/// `id` without the conversions around it that the compiler put there.
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

/// How strongly the text of an expression holds together.
pub(crate) fn binding(function: &Function, id: ExprId) -> Binding {
    match &function.expr(written(function, id)).kind {
        ExprKind::Binary { operator, .. } => Binding::of(*operator),
        ExprKind::Assign { .. } | ExprKind::Conditional { .. } => Binding::WEAK,
        ExprKind::Unary {
            operator: UnaryOperator::Step,
            ..
        }
        | ExprKind::Unary { .. }
        | ExprKind::Cast { .. } => Binding::UNARY,
        ExprKind::Other { kind, .. } if kind.ends_with("Operator") => Binding::WEAK,
        _ => Binding::PRIMARY,
    }
}

/// Whether an expression that stands where `id` stands needs parentheses when its outermost operator binds like
/// `new`; `parent` is the written expression around it.
pub(crate) fn needs_parentheses(
    function: &Function,
    id: ExprId,
    parent: Option<ExprId>,
    new: Binding,
) -> bool {
    let Some(parent) = parent else { return false };
    match &function.expr(parent).kind {
        ExprKind::Binary {
            operator, right, ..
        } => {
            let around = Binding::of(*operator);
            let is_right = written(function, *right) == written(function, id);
            new < around || is_right && new == around
        }
        ExprKind::Conditional { condition, .. } => {
            written(function, *condition) == written(function, id) && new == Binding::WEAK
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
    let gap = unit.source.get(..right_start as usize)?;
    let start = lex::skip_blank(gap, left_end as usize);
    let end = start + operator.len();
    let found = gap.get(start..end)? == operator.as_bytes();
    let rest = lex::skip_blank(gap, end);
    (found && rest == right_start as usize).then(|| Span::new(start as u32, end as u32))
}
