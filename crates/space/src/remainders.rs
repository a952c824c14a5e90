//! ASSIGNMENT of a remainder: `v %= M;` behind an assignment to `v`, where the program has a modulus `M`.
//!
//! What is assigned to may be anything, also an element, and the modulus need not be mentioned in the function.

use patchwright_csource::{ExprId, ExprKind, StmtKind, UnaryOperator, types::TypeKind};

use crate::{builder::ASSIGNMENT_COST, choices::Finder, operators::LONGEST, term::CType};

/// The statement, and the modulus.
const REMAINDER_COST: u32 = ASSIGNMENT_COST + 1;

/// Most moduli that are tried.
const MOST_MODULI: usize = 2;

/// Numbers that are no modulus anywhere are taken for one only if they are not less.
const LEAST_MODULUS: i128 = 1000;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let moduli = moduli(finder);
    if moduli.is_empty() {
        return;
    }
    for standing in finder.statements.clone() {
        let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
            continue;
        };
        let ExprKind::Assign { target, .. } =
            finder.function.expr(finder.function.stripped(expr)).kind
        else {
            continue;
        };
        let target = finder.function.stripped(target);
        let (ty, place) = {
            let target = finder.function.expr(target);
            (target.ty, target.place)
        };
        let is_large = |ctype: CType| ctype.is_integer() && ctype.value_type().size() > 1;
        let is_enumeration = matches!(finder.builder.unit.types.kind(ty), TypeKind::Enum { .. });
        let ctype = finder.builder.ctype(ty);
        let (Some(span), true) = (place.editable(), ctype.is_some_and(is_large)) else {
            continue;
        };
        if is_enumeration
            || !finder.is_short(standing.span, LONGEST)
            || finder.has_statements(expr)
            || has_effects(finder, target)
        {
            continue;
        }
        let lvalue = finder.plain(span);
        let texts = moduli
            .iter()
            .map(|modulus| format!("{lvalue} %= {modulus};"));
        finder.add_behind(&standing, REMAINDER_COST, texts.collect());
    }
}

pub(crate) fn has_effects(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    let own = match finder.function.expr(id).kind {
        ExprKind::Assign { .. } | ExprKind::Call { .. } | ExprKind::Other { .. } => true,
        ExprKind::Unary { operator, .. } => operator == UnaryOperator::Step,
        _ => false,
    };
    let children = finder.function.children(id);
    own || children.into_iter().any(|child| has_effects(finder, child))
}

/// What the file takes remainders by, then large constants that it names. Small numbers tell digits and parities.
fn moduli(finder: &Finder<'_, '_, '_>) -> Vec<String> {
    let unit = &finder.builder.unit;
    let start = finder.function.span.start;
    let text = finder.builder.text;
    let is_before = |at: u32| at < start;
    let mut named: Vec<(String, i128)> = Vec::new();
    for constant in &unit.macros {
        let is_defined = constant.mentions.first().is_some_and(|&at| is_before(at));
        if constant.in_project && is_defined && constant.is_operand {
            named.push((constant.name.clone(), constant.value));
        }
    }
    for (name, value) in unit.enumerations.iter().flatten() {
        let enumerated = text.enumerated(&unit.source, name);
        if enumerated.is_some_and(is_before) {
            named.push((name.clone(), *value));
        }
    }
    named.retain(|(name, value)| {
        (2..=i128::from(i64::MAX)).contains(value) && !finder.is_hidden(name)
    });
    let mut found: Vec<String> = Vec::new();
    for divisor in text.divisors(&unit.source) {
        let is_large = divisor
            .parse::<i128>()
            .is_ok_and(|value| value >= LEAST_MODULUS);
        let is_named = named
            .iter()
            .any(|(name, value)| name == divisor && *value >= LEAST_MODULUS);
        if (is_large || is_named) && !found.contains(divisor) {
            found.push(divisor.clone());
        }
    }
    for (name, value) in named {
        // Most large numbers are lengths; those are even.
        if value >= LEAST_MODULUS && value % 2 == 1 && !found.contains(&name) {
            found.push(name);
        }
    }
    found.truncate(MOST_MODULI);
    found
}
