//! SWAP of subscripts: `b[j][k]` for `b[k][j]`.
//!
//! Each index is a hole of its own, and no term changes two of them.

use patchwright_csource::{CastKind, ExprId, ExprKind, UnaryOperator};
use patchwright_text::{Edit, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    choices::Finder,
    operators::{LONGEST, add_edits, discarded},
    space::Schema,
};

/// Two indices.
const SWAP_COST: u32 = 2;

/// Finds elements of arrays of arrays whose indices can be exchanged: where they are read, and in assignments where they
/// are written.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut read: FxHashSet<ExprId> = FxHashSet::default();
    let mut written: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let bare = |id: ExprId| finder.function.without_parens(id);
        match finder.function.expr(id).kind {
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue,
                ..
            } => {
                read.insert(bare(operand));
            }
            ExprKind::Assign { target, .. } => {
                written.insert(bare(target), id);
            }
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => {
                written.insert(bare(operand), id);
            }
            _ => {}
        }
    }
    let discarded = discarded(finder.function);
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let element = ExprId(number as u32);
        let edits = exchanged(finder, element);
        if edits.is_empty() {
            continue;
        }
        let (whole, is_used) = match written.get(&element) {
            Some(&assignment) => (assignment, !discarded.contains(&assignment)),
            None if read.contains(&element) => (element, true),
            None => continue,
        };
        let expr = finder.function.expr(whole);
        let (ty, evaluated) = (expr.ty, expr.evaluated);
        let Some(span) = expr.place.editable() else {
            continue;
        };
        let Some(ctype) = finder.builder.ctype(ty) else {
            continue;
        };
        if !evaluated
            || !finder.is_short(span, LONGEST)
            || is_used && !finder.can_spell(ctype)
            || finder.has_statements(whole)
            || !spans.insert(span)
        {
            continue;
        }
        let value = is_used.then_some(ctype);
        add_edits(finder, span, value, (Schema::Swap, SWAP_COST), edits);
    }
}

/// The exchanges of two indices of one element; none if it is not in an array of arrays.
fn exchanged(finder: &Finder<'_, '_, '_>, element: ExprId) -> Vec<Edit> {
    let mut indices: Vec<(Span, String)> = Vec::new();
    let mut at = element;
    while let ExprKind::Subscript { base, index } = finder.function.expr(at).kind {
        let bare = finder.function.stripped(index);
        let Some(span) = finder.function.expr(bare).place.editable() else {
            return Vec::new();
        };
        // `1[row]` has its index in front.
        if indices
            .last()
            .is_some_and(|(next, _)| span.end > next.start)
        {
            return Vec::new();
        }
        indices.push((span, finder.plain(span)));
        at = finder.function.stripped(base);
    }
    let mut found = Vec::new();
    for (number, (second, second_text)) in indices.iter().enumerate() {
        for (first, first_text) in &indices[number + 1..] {
            if first_text != second_text {
                let between = finder.text(Span::new(first.end, second.start));
                let text = format!("{second_text}{between}{first_text}");
                found.push(Edit::replace(Span::new(first.start, second.end), text));
            }
        }
    }
    found
}
