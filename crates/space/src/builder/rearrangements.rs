//! The parts of an expression in another arrangement: grouped otherwise (`a && (b || c)` for `a && b || c`, `(a + b) / 2` for
//! `a + b / 2`), or with two leaves exchanged (`k * n + column` for `column * n + k`).

use patchwright_semantics::BinaryOp;

use super::SpaceBuilder;
use crate::{
    sites::{TermPath, operands},
    space::{Schema, Template, replace},
    term::{Kind, Pointees, Term},
};

/// What is taken out, and put in elsewhere.
const REARRANGEMENT_COST: u32 = 2;

/// Most pairs of leaves that are exchanged at one place.
const MOST_EXCHANGES: usize = 24;

/// Most operands that are grouped in every way; of more, neighbours only.
const MOST_OPERANDS: usize = 5;

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Binary(BinaryOp),
    And,
    Or,
}

impl Operator {
    fn of(term: &Term) -> Option<(Operator, &Term, &Term)> {
        match term.kind() {
            Kind::Binary(op, l, r) => Some((Operator::Binary(*op), l, r)),
            Kind::LogicalAnd(l, r) => Some((Operator::And, l, r)),
            Kind::LogicalOr(l, r) => Some((Operator::Or, l, r)),
            _ => None,
        }
    }

    fn apply(self, left: Term, right: Term, pointees: &Pointees) -> Option<Term> {
        match self {
            Operator::Binary(op) => Term::binary(op, left, right, pointees).ok(),
            Operator::And => Some(Term::logical_and(left, right)),
            Operator::Or => Some(Term::logical_or(left, right)),
        }
    }

    fn is_comparison(self) -> bool {
        matches!(self, Operator::Binary(op) if op.is_comparison())
    }

    /// Whether it is the same however several operands are grouped.
    fn is_associative(self) -> bool {
        use BinaryOp::*;
        match self {
            Operator::Binary(op) => matches!(op, Add | Mul | And | Or | Xor),
            Operator::And | Operator::Or => true,
        }
    }

    /// Whether `x self (y later z)` is `(x self y) later z`.
    fn is_grouped_freely(self, later: Operator) -> bool {
        self == later && self.is_associative()
            || self == Operator::Binary(BinaryOp::Add) && later == Operator::Binary(BinaryOp::Sub)
    }

    /// Whether people put operands of both side by side, in need of parentheses.
    fn is_grouped_with(self, other: Operator) -> bool {
        let is_logical = |operator| !matches!(operator, Operator::Binary(_));
        !self.is_comparison() && !other.is_comparison() && is_logical(self) == is_logical(other)
    }
}

impl SpaceBuilder<'_> {
    /// Adds the other arrangements of the operands at a site.
    pub(super) fn rearrangements(&mut self, site: usize) {
        let term = self.space.sites[site].term.clone();
        let mut found = match self.chain_around(site) {
            // All of its ways are found where it begins.
            Some(chain) if side_by_side(&chain).len() <= MOST_OPERANDS => match chain == term {
                true => grouped_in_every_way(&term, self.pointees),
                false => Vec::new(),
            },
            _ => grouped(&term, self.pointees),
        };
        found.extend(exchanged(&term, self.pointees));
        for rearranged in found {
            if let Some(pool) = self.fixed(&rearranged) {
                let template = Template::One(pool);
                self.block(
                    site,
                    template,
                    REARRANGEMENT_COST,
                    Schema::Expression,
                    usize::MAX,
                );
            }
        }
    }
}

impl SpaceBuilder<'_> {
    /// The largest term around a site that consists of operands side by side; `None` if the site is none.
    fn chain_around(&self, site: usize) -> Option<Term> {
        let mut at = &self.root;
        let mut around: Option<&Term> = None;
        let mut last = None;
        for step in self.space.sites[site].path.iter().map(Some).chain([None]) {
            let own = Operator::of(at).map(|(operator, ..)| operator);
            let own = own.filter(|operator| !operator.is_comparison());
            around = match (last, own) {
                (_, None) => None,
                (Some(last), Some(own)) if own.is_grouped_with(last) => around,
                _ => Some(at),
            };
            last = own;
            if let Some(&step) = step {
                at = operands(at).get(usize::from(step)).copied()?;
            }
        }
        around.cloned()
    }
}

/// The operands of a term side by side, from left to right, each with the operator behind it.
fn side_by_side(term: &Term) -> Vec<(Term, Option<Operator>)> {
    fn collect(term: &Term, within: Operator, found: &mut Vec<(Term, Option<Operator>)>) {
        match Operator::of(term) {
            Some((own, left, right)) if own.is_grouped_with(within) => {
                collect(left, own, found);
                if let Some(last) = found.last_mut() {
                    last.1 = Some(own);
                }
                collect(right, own, found);
            }
            _ => found.push((term.clone(), None)),
        }
    }
    let mut found = Vec::new();
    match Operator::of(term) {
        Some((operator, ..)) => collect(term, operator, &mut found),
        None => found.push((term.clone(), None)),
    }
    found
}

/// Returns every way to group neighbouring operands that differs from the present one.
fn grouped_in_every_way(term: &Term, pointees: &Pointees) -> Vec<Term> {
    let parts = side_by_side(term);
    let own = grouped_to_the_left(term, pointees);
    let mut found = ways_to_group(&parts, pointees);
    found.retain(|way| Some(way) != own.as_ref() && way != term);
    found
}

fn ways_to_group(parts: &[(Term, Option<Operator>)], pointees: &Pointees) -> Vec<Term> {
    if let [(only, _)] = parts {
        return vec![only.clone()];
    }
    let mut found = Vec::new();
    for at in 1..parts.len() {
        let Some(operator) = parts[at - 1].1 else {
            continue;
        };
        let rights = ways_to_group(&parts[at..], pointees);
        for left in ways_to_group(&parts[..at], pointees) {
            for right in &rights {
                let is_same = |later| parts.len() - at > 1 && operator.is_grouped_freely(later);
                if !Operator::of(right).is_some_and(|(later, ..)| is_same(later)) {
                    found.extend(operator.apply(left.clone(), right.clone(), pointees));
                }
            }
        }
    }
    found
}

/// A term without parentheses that change nothing.
fn grouped_to_the_left(term: &Term, pointees: &Pointees) -> Option<Term> {
    let Some((mut operator, left, right)) = Operator::of(term) else {
        return Some(term.clone());
    };
    let mut left = grouped_to_the_left(left, pointees)?;
    let mut right = grouped_to_the_left(right, pointees)?;
    while let Some((later, first, second)) = Operator::of(&right)
        && operator.is_grouped_freely(later)
    {
        left = operator.apply(left, first.clone(), pointees)?;
        (operator, right) = (later, second.clone());
    }
    operator.apply(left, right, pointees)
}

/// `x op1 (y op2 z)` for `(x op1 y) op2 z`, and the other way round. Comparisons stay what they are.
fn grouped(term: &Term, pointees: &Pointees) -> Vec<Term> {
    let Some((outer, left, right)) = Operator::of(term) else {
        return Vec::new();
    };
    let parts = |term: &Term, inner_is_left: bool| -> Option<Term> {
        let (inner, first, second) = Operator::of(term)?;
        let (earlier, later) = match inner_is_left {
            true => (inner, outer),
            false => (outer, inner),
        };
        let changes_nothing = earlier.is_grouped_freely(later);
        if inner.is_comparison() || outer.is_comparison() || changes_nothing {
            return None;
        }
        let (first, second) = (first.clone(), second.clone());
        if inner_is_left {
            let within = outer.apply(second, right.clone(), pointees)?;
            inner.apply(first, within, pointees)
        } else {
            let within = outer.apply(left.clone(), first, pointees)?;
            inner.apply(within, second, pointees)
        }
    };
    parts(left, true)
        .into_iter()
        .chain(parts(right, false))
        .collect()
}

/// The term with two leaves exchanged that stand in different operands. What stands in different conditions is rarely
/// mixed up.
fn exchanged(term: &Term, pointees: &Pointees) -> Vec<Term> {
    if matches!(term.kind(), Kind::LogicalAnd(..) | Kind::LogicalOr(..)) {
        return Vec::new();
    }
    let sides: Vec<Vec<(TermPath, Term)>> = operands(term)
        .into_iter()
        .enumerate()
        .map(|(number, operand)| {
            let mut leaves = Vec::new();
            collect_leaves(operand, vec![number as u8], &mut leaves);
            leaves
        })
        .collect();
    let mut found = Vec::new();
    for (number, side) in sides.iter().enumerate() {
        for (a_path, a) in side {
            for (b_path, b) in sides[number + 1..].iter().flatten() {
                // Both are operands themselves: that is the operator with its operands exchanged.
                let are_operands = a_path.len() == 1 && b_path.len() == 1;
                if a == b || are_operands || found.len() == MOST_EXCHANGES {
                    continue;
                }
                let half = replace(term, a_path, b, pointees);
                found.extend(half.and_then(|half| replace(&half, b_path, a, pointees)));
            }
        }
    }
    found
}

fn collect_leaves(term: &Term, path: TermPath, found: &mut Vec<(TermPath, Term)>) {
    let parts = operands(term);
    if parts.is_empty() {
        found.push((path, term.clone()));
        return;
    }
    for (number, part) in parts.into_iter().enumerate() {
        let mut inner = path.clone();
        inner.push(number as u8);
        collect_leaves(part, inner, found);
    }
}
