//! EXPRESSION with something else of the same kind in one place: `b[i - 1]` for `a[i - 1]`, `list[i].most` for `list[i].least`.
//!
//! Terms have the elements and members that the function mentions, or that a variable names. What lies further in is not among them.

use patchwright_csource::{CastKind, ExprId, ExprKind, types::TypeKind};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::Finder,
    operators::{LONGEST, add_edits},
    own_calls::innermost,
    space::Schema,
    targets::{members, variables},
};

/// The name.
const OTHER_COST: u32 = 2;

/// Most other names for one.
const MOST_OTHERS: usize = 4;

/// Most places in one function.
const MOST_PLACES: usize = 60;

/// Adds other arrays and members of the same type in place of one.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let read = finder.function.expr(ExprId(number as u32));
        let ExprKind::Cast {
            operand,
            implicit: true,
            cast: CastKind::LValueToRValue,
        } = read.kind
        else {
            continue;
        };
        let id = finder.function.without_parens(operand);
        let expr = finder.function.expr(id);
        let Some(span) = expr.place.editable() else {
            continue;
        };
        if !read.evaluated || !finder.is_short(span, LONGEST) || finder.has_statements(id) {
            continue;
        }
        let Some(ctype) = finder.builder.ctype(expr.ty) else {
            continue;
        };
        if !finder.can_spell(ctype) {
            continue;
        }
        let edits = others(finder, id, span);
        if edits.is_empty() || !spans.insert(span) {
            continue;
        }
        if spans.len() > MOST_PLACES {
            finder
                .found
                .refuse("EXPRESSION with other elements in further places");
            return;
        }
        let schema = (Schema::Expression, OTHER_COST);
        add_edits(finder, span, Some(ctype), schema, edits);
    }
}

/// What makes another element or member of one.
fn others(finder: &mut Finder<'_, '_, '_>, id: ExprId, span: Span) -> Vec<Edit> {
    let function = finder.function;
    let expr = function.expr(id);
    let ty = expr.ty;
    let (at, names) = match expr.kind.clone() {
        ExprKind::Subscript { base, .. } => {
            // The outermost array of `a[i][j]`.
            let mut base = function.stripped(base);
            let mut depth = 1;
            while let ExprKind::Subscript { base: inner, .. } = function.expr(base).kind {
                base = function.stripped(inner);
                depth += 1;
            }
            let (ExprKind::Variable(own), Some(at)) = (
                &function.expr(base).kind,
                function.expr(base).place.editable(),
            ) else {
                return Vec::new();
            };
            let Some(standing) = innermost(finder, span) else {
                return Vec::new();
            };
            let wanted = finder.builder.ctype(ty);
            let names = variables(finder, &standing, *own, |finder, ty| {
                let element = (0..depth).try_fold(ty, |ty, _| {
                    let types = &finder.builder.unit.types;
                    let is_indexed =
                        matches!(types.kind(ty), TypeKind::Array(..) | TypeKind::Pointer(_));
                    types.element(ty).filter(|_| is_indexed)
                });
                element.is_some_and(|element| finder.builder.ctype(element) == wanted)
            });
            (at, names)
        }
        ExprKind::Member {
            base,
            arrow,
            name,
            bit_field: false,
        } => {
            // Those of a variable are leaves.
            let is_leaf = matches!(
                function.expr(function.stripped(base)).kind,
                ExprKind::Variable(_)
            );
            if is_leaf || !finder.text(span).ends_with(&name) {
                return Vec::new();
            }
            let names = members(finder, base, arrow, &name, ty);
            (Span::new(span.end - name.len() as u32, span.end), names)
        }
        _ => return Vec::new(),
    };
    let names = names.into_iter().take(MOST_OTHERS);
    names.map(|name| Edit::replace(at, name)).collect()
}
