//! FUNCTION in the place of an operator: `strcmp(a, b) == 0` for `a == b`, which compares where strings lie.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind,
    types::{IntegerKind, TypeKind},
};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Finder, Form},
    space::Schema,
    term::CType,
};

/// The function's name, and the number.
const COMPARISON_COST: u32 = 2;

/// Finds comparisons of two pointers to characters.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let (
            ExprKind::Binary {
                operator,
                left,
                right,
            },
            true,
        ) = (&expr.kind, expr.evaluated)
        else {
            continue;
        };
        let (operator, left, right) = (*operator, *left, *right);
        if !is_comparison(operator) {
            continue;
        }
        let (Some(span), Some(left), Some(right)) = (
            expr.place.editable(),
            string(finder, left),
            string(finder, right),
        ) else {
            continue;
        };
        if finder.has_statements(id) || !spans.insert(span) {
            continue;
        }
        if !finder.can_name("strcmp") {
            finder
                .found
                .refuse("FUNCTION by strcmp, which the source does not declare");
            continue;
        }
        let text = format!("strcmp({left}, {right}) {} 0", operator.spelling());
        let alternative = Alternative {
            schema: Schema::Function,
            cost: COMPARISON_COST,
            woven: text.clone(),
            edit: Edit::replace(span, text),
        };
        finder.add(span, Some(CType::Int), Form::Expression, vec![alternative]);
    }
}

fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Eq | Ne | Lt | Le | Gt | Ge)
}

/// The text of an operand, if it is a pointer to characters and not the null pointer.
fn string(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<String> {
    let types = &finder.builder.unit.types;
    let mut bare = id;
    while let ExprKind::Cast {
        operand,
        implicit: true,
        cast,
    } = finder.function.expr(bare).kind
    {
        if cast == CastKind::NullToPointer {
            return None;
        }
        bare = operand;
    }
    // A null pointer of type `void *` is one of the type that it is converted to.
    let is_string = |id: ExprId| match types.kind(finder.function.expr(id).ty) {
        TypeKind::Pointer(to) | TypeKind::Array(to, _) => {
            types.integer_kind(*to) == Some(IntegerKind::Char)
        }
        _ => false,
    };
    if !is_string(id) || !is_string(bare) {
        return None;
    }
    let span = finder.function.expr(bare).place.editable()?;
    Some(finder.text(span))
}
