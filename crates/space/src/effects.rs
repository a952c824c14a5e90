//! What expressions change.

use patchwright_csource::{ExprId, ExprKind, UnaryOperator};

use crate::choices::Finder;

/// Whether an expression may change something.
pub(crate) fn has_effects(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    let own = match finder.function.expr(id).kind {
        ExprKind::Assign { .. } | ExprKind::Call { .. } | ExprKind::Other { .. } => true,
        ExprKind::Unary { operator, .. } => operator == UnaryOperator::Step,
        _ => false,
    };
    let children = finder.function.children(id);
    own || children.into_iter().any(|child| has_effects(finder, child))
}
