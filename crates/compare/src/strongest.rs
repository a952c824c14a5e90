//! Leaves out bounds that others imply: of `n > 1 && n > 2 && n > 3` the last says it all.

use patchwright_solve::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// A bound of a term by a number.
struct Bound {
    of: Term,
    is_signed: bool,
    is_upper: bool,
    /// The least or largest value that it permits, as it is without sign or with it.
    value: i128,
}

/// Returns the literals without bounds that others of them imply, in their order. Together they say the same.
pub(crate) fn strongest(terms: &Terms, literals: Vec<Term>) -> Vec<Term> {
    let mut best: FxHashMap<(Term, bool, bool), (i128, Term)> = FxHashMap::default();
    for &literal in &literals {
        let Some(bound) = bound(terms, literal) else {
            continue;
        };
        let key = (bound.of, bound.is_signed, bound.is_upper);
        let known = best.entry(key).or_insert((bound.value, literal));
        let is_tighter = match bound.is_upper {
            true => bound.value < known.0,
            false => bound.value > known.0,
        };
        if is_tighter {
            *known = (bound.value, literal);
        }
    }
    let is_needed = |literal: &Term| match bound(terms, *literal) {
        Some(bound) => {
            let (_, of_best) = best[&(bound.of, bound.is_signed, bound.is_upper)];
            of_best == *literal
        }
        None => true,
    };
    literals.into_iter().filter(is_needed).collect()
}

/// A literal as a bound, if it is one.
fn bound(terms: &Terms, literal: Term) -> Option<Bound> {
    let (inner, is_negated) = match terms.node(literal) {
        Node::Not(inner) => (inner, true),
        _ => (literal, false),
    };
    let (a, b, is_signed) = match terms.node(inner) {
        Node::Ult(a, b) => (a, b, false),
        Node::Slt(a, b) => (a, b, true),
        _ => return None,
    };
    let number = |term: Term| {
        let value = terms.as_constant(term)?;
        let width = terms.width(term);
        (width <= 64).then(|| match is_signed {
            true => (value as i128) << (128 - width) >> (128 - width),
            false => value as i128,
        })
    };
    let (of, is_upper, value) = match (number(a), number(b)) {
        // Less than a number, or not.
        (None, Some(value)) if is_negated => (a, false, value),
        (None, Some(value)) => (a, true, value - 1),
        // A number is less, or not.
        (Some(value), None) if is_negated => (b, true, value),
        (Some(value), None) => (b, false, value + 1),
        _ => return None,
    };
    Some(Bound {
        of,
        is_signed,
        is_upper,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_solve::Sort;

    #[test]
    fn of_bounds_on_one_side_the_tightest_stays() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(8));
        let y = terms.variable("y", Sort::Bits(8));
        let number = |terms: &mut Terms, value| terms.constant(8, value);
        let (two, nine) = (number(&mut terms, 2), number(&mut terms, 9));
        let minus = number(&mut terms, 0xfe);
        let more = terms.ult(two, x);
        let much_more = terms.ult(nine, x);
        let less = terms.ult(x, nine);
        let not_less = terms.not(less);
        let other = terms.ult(two, y);
        let signed = terms.slt(minus, x);
        let signed_more = terms.slt(two, x);
        let same = terms.eq(x, y);
        let all = vec![more, not_less, other, signed, much_more, signed_more, same];
        let left = strongest(&terms, all);
        assert_eq!(left, [other, much_more, signed_more, same]);
        // Both sides stay.
        let at_most = terms.not(much_more);
        assert_eq!(strongest(&terms, vec![more, at_most]), [more, at_most]);
    }
}
