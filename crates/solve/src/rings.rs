//! Finds sums and products that are equal by the laws of commutative rings.
//!
//! Bits of one width are a commutative ring: `a * a - b * b` is `(a - b) * (a + b)` for all numbers. As circuits these are
//! two nests of multipliers, and that they agree takes a solver for clauses hours to find out. As polynomials, sums of
//! products of what is no sum or product itself, they are one.
//!
//! Polynomials are only looked at, never written back: expanded, a term may need many more multipliers.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

use crate::fold::mask;
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

/// Products of a polynomial at most; what has more is left as it is.
const MOST_PRODUCTS: usize = 96;
/// Factors of a product at most.
const MOST_FACTORS: usize = 24;

/// A product: its factors in order, as often as they occur.
type Product = Vec<Term>;
/// A sum: products in order, each once, with what it is multiplied by, which is not zero.
type Polynomial = Vec<(Product, u128)>;

/// The polynomials of terms that were looked at, and which terms have equal ones.
#[derive(Default)]
pub struct Rings {
    of: FxHashMap<Term, Rc<Polynomial>>,
    /// The first term with a polynomial of that width.
    first: FxHashMap<(u32, Rc<Polynomial>), Term>,
    made: FxHashMap<Term, Term>,
    /// The quotients that belong to rests.
    quotients: FxHashMap<Term, Term>,
    /// Terms in whose polynomials rests are said by these.
    with_rests: FxHashSet<Term>,
}

impl Rings {
    /// Returns terms that equal `roots` for all values of their variables. Parts that are equal by
    /// the laws of rings have become one term. Equations of such parts are decided, or have lost what
    /// stands on both sides.
    pub fn unified(&mut self, terms: &mut Terms, roots: &[Term]) -> Vec<Term> {
        for term in terms.within(roots) {
            if self.made.contains_key(&term) {
                continue;
            }
            let made = &self.made;
            let new = terms.rebuild(term, |part| made[&part]);
            let new = self.first_like(terms, new);
            self.made.insert(term, new);
        }
        roots.iter().map(|root| self.made[root]).collect()
    }

    /// Returns the first term with the same polynomial as `term`, whose parts must have been looked
    /// at.
    pub fn first_like(&mut self, terms: &mut Terms, term: Term) -> Term {
        match terms.node(term) {
            // What is left over is what the quotient times the divisor leaves, also where that is zero.
            Node::Urem(a, b) => {
                let quotient = terms.udiv(a, b);
                self.quotients.insert(term, quotient);
            }
            Node::Srem(a, b) => {
                let quotient = terms.sdiv(a, b);
                self.quotients.insert(term, quotient);
            }
            _ => {}
        }
        match terms.node(term) {
            Node::Eq(a, b) => self.equation(terms, a, b).unwrap_or(term),
            _ if is_ring(terms, term) => {
                let polynomial = self.polynomial(terms, term);
                let key = (terms.width(term), polynomial);
                *self.first.entry(key).or_insert(term)
            }
            _ => term,
        }
    }

    /// An equation of sums, with less on its sides; nothing if there is nothing to be gained.
    fn equation(&mut self, terms: &mut Terms, a: Term, b: Term) -> Option<Term> {
        if !is_ring(terms, a) && !is_ring(terms, b) {
            return None;
        }
        let width = terms.width(a);
        let (left, right) = (self.polynomial(terms, a), self.polynomial(terms, b));
        let difference = sum(&left, &right, mask(width), width)?;
        match difference.as_slice() {
            [] => return Some(terms.truth(true)),
            [(product, _)] if product.is_empty() => return Some(terms.truth(false)),
            _ => {}
        }
        if [a, b].iter().any(|side| self.with_rests.contains(side)) {
            // A rest is easier to be read than what it is made of.
            return None;
        }
        if cost(&difference) >= cost(&left) + cost(&right) {
            return None;
        }
        // What is taken away stands on the other side.
        let half = 1 << (width - 1);
        let (taken, added): (Polynomial, Polynomial) = difference
            .into_iter()
            .partition(|(_, factor)| *factor >= half);
        let taken: Polynomial = taken
            .into_iter()
            .map(|(product, factor)| (product, factor.wrapping_neg() & mask(width)))
            .collect();
        let left = written(terms, &added, width);
        let right = written(terms, &taken, width);
        Some(terms.eq(left, right))
    }

    /// The polynomial of a term, in which all that is no sum or product is unknown.
    fn polynomial(&mut self, terms: &Terms, root: Term) -> Rc<Polynomial> {
        let mut open = vec![root];
        while let Some(&term) = open.last() {
            if self.of.contains_key(&term) {
                open.pop();
                continue;
            }
            let missing: Vec<Term> = self
                .operands(terms, term)
                .into_iter()
                .filter(|part| !self.of.contains_key(part))
                .collect();
            if missing.is_empty() {
                let is_rest = matches!(terms.node(term), Node::Urem(..) | Node::Srem(..));
                let mut parts = self.operands(terms, term).into_iter();
                if is_rest || parts.any(|part| self.with_rests.contains(&part)) {
                    self.with_rests.insert(term);
                }
                let polynomial = self.expanded(terms, term);
                let polynomial = polynomial.unwrap_or_else(|| vec![(vec![term], 1)]);
                self.of.insert(term, Rc::new(polynomial));
                open.pop();
            } else {
                open.extend(missing);
            }
        }
        Rc::clone(&self.of[&root])
    }

    /// What a term's polynomial is made of.
    fn operands(&self, terms: &Terms, term: Term) -> Vec<Term> {
        match terms.node(term) {
            Node::Neg(a) | Node::BitNot(a) => vec![a],
            Node::Add(a, b) | Node::Mul(a, b) => vec![a, b],
            Node::Urem(a, b) | Node::Srem(a, b) => match self.quotients.get(&term) {
                Some(&quotient) => vec![a, b, quotient],
                None => Vec::new(),
            },
            Node::Concat(..) => {
                shifted(terms, term).map_or_else(Vec::new, |(whole, ..)| vec![whole])
            }
            _ => Vec::new(),
        }
    }

    /// The polynomial of a term whose operands have theirs; nothing if it would be too large.
    fn expanded(&self, terms: &Terms, term: Term) -> Option<Polynomial> {
        let width = terms.width(term);
        let minus_one = mask(width);
        let of = |part: Term| self.of[&part].as_slice();
        match terms.node(term) {
            Node::Constant(0) => Some(Vec::new()),
            Node::Constant(value) => Some(vec![(Vec::new(), value)]),
            Node::Neg(a) => sum(&[], of(a), minus_one, width),
            Node::BitNot(a) => sum(&[(Vec::new(), minus_one)], of(a), minus_one, width),
            Node::Add(a, b) => sum(of(a), of(b), 1, width),
            Node::Mul(a, b) => product(of(a), of(b), width),
            Node::Urem(a, b) | Node::Srem(a, b) => {
                let quotient = *self.quotients.get(&term)?;
                let product = product(of(quotient), of(b), width)?;
                sum(of(a), &product, minus_one, width)
            }
            Node::Concat(..) => {
                let (whole, factor, low) = shifted(terms, term)?;
                sum(&[(Vec::new(), low)], of(whole), factor, width)
            }
            _ => None,
        }
    }
}

/// Whether a term is a sum or a product.
fn is_ring(terms: &Terms, term: Term) -> bool {
    match terms.node(term) {
        Node::Add(..) | Node::Mul(..) | Node::Neg(_) | Node::BitNot(_) => true,
        Node::Urem(..) | Node::Srem(..) => true,
        Node::Concat(..) => shifted(terms, term).is_some(),
        _ => false,
    }
}

/// Lower bits of a number above constant ones: the number, a power of two, and what is added to their product.
fn shifted(terms: &Terms, term: Term) -> Option<(Term, u128, u128)> {
    let Node::Concat(upper, lower) = terms.node(term) else {
        return None;
    };
    let low = terms.as_constant(lower)?;
    let Node::Extract { of, low: 0, .. } = terms.node(upper) else {
        return None;
    };
    (terms.sort(of) == terms.sort(term)).then(|| (of, 1 << terms.width(lower), low))
}

/// One polynomial and a multiple of another one.
fn sum(
    a: &[(Product, u128)],
    b: &[(Product, u128)],
    times: u128,
    width: u32,
) -> Option<Polynomial> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(x), Some(y)) => x.0.cmp(&y.0),
        };
        let mut factor = 0u128;
        let mut product = None;
        if order.is_le()
            && let Some(one) = a.next()
        {
            factor = one.1;
            product = Some(&one.0);
        }
        if order.is_ge()
            && let Some(one) = b.next()
        {
            factor = factor.wrapping_add(one.1.wrapping_mul(times));
            product = Some(&one.0);
        }
        factor &= mask(width);
        if let Some(product) = product
            && factor != 0
        {
            all.push((product.clone(), factor));
        }
    }
    (all.len() <= MOST_PRODUCTS).then_some(all)
}

fn product(a: &[(Product, u128)], b: &[(Product, u128)], width: u32) -> Option<Polynomial> {
    if a.len() * b.len() > MOST_PRODUCTS * 4 {
        return None;
    }
    let mut all: std::collections::BTreeMap<Product, u128> = std::collections::BTreeMap::new();
    for (x, k) in a {
        for (y, l) in b {
            let mut factors: Product = x.iter().chain(y).copied().collect();
            if factors.len() > MOST_FACTORS {
                return None;
            }
            factors.sort_unstable();
            let sum = all.entry(factors).or_default();
            *sum = sum.wrapping_add(k.wrapping_mul(*l)) & mask(width);
        }
    }
    all.retain(|_, factor| *factor != 0);
    (all.len() <= MOST_PRODUCTS).then(|| all.into_iter().collect())
}

/// What a polynomial costs as a circuit: products of unknowns are dear.
fn cost(polynomial: &[(Product, u128)]) -> usize {
    polynomial
        .iter()
        .map(|(product, factor)| {
            let by = usize::from(!product.is_empty() && !factor.is_power_of_two()) * 4;
            1 + by + product.len().saturating_sub(1) * 64
        })
        .sum()
}

fn written(terms: &mut Terms, polynomial: &[(Product, u128)], width: u32) -> Term {
    let mut sum = terms.constant(width, 0);
    for (product, factor) in polynomial {
        let mut all = terms.constant(width, *factor);
        let mut factors = product.iter();
        if let Some(&first) = factors.next() {
            let whole = factors.fold(first, |so_far, &factor| terms.mul(so_far, factor));
            all = terms.mul(whole, all);
        }
        sum = terms.add(sum, all);
    }
    debug_assert_eq!(terms.sort(sum), Sort::Bits(width));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Assignment;

    fn variables(terms: &mut Terms) -> [Term; 3] {
        ["a", "b", "c"].map(|name| terms.variable(name, Sort::Bits(32)))
    }

    #[test]
    fn a_rest_is_what_the_quotient_leaves() {
        let mut terms = Terms::new();
        let [a, b, _] = variables(&mut terms);
        for signed in [false, true] {
            let (rest, quotient) = match signed {
                true => (terms.srem(a, b), terms.sdiv(a, b)),
                false => (terms.urem(a, b), terms.udiv(a, b)),
            };
            let product = terms.mul(quotient, b);
            let left = terms.sub(a, product);
            let same = terms.eq(rest, left);
            let [same] = Rings::default().unified(&mut terms, &[same])[..] else {
                panic!("one root");
            };
            assert_eq!(terms.as_truth(same), Some(true));
        }
    }

    #[test]
    fn products_that_are_expanded_otherwise_are_one() {
        let mut terms = Terms::new();
        let [a, b, c] = variables(&mut terms);
        let (aa, bb) = (terms.mul(a, a), terms.mul(b, b));
        let squares = terms.sub(aa, bb);
        let (less, more) = (terms.sub(a, b), terms.add(a, b));
        let factored = terms.mul(less, more);
        let same = terms.eq(squares, factored);
        assert_eq!(terms.as_truth(same), None, "or nothing is tested");
        let [same] = Rings::default().unified(&mut terms, &[same])[..] else {
            panic!("one");
        };
        assert_eq!(terms.as_truth(same), Some(true));
        // Below choices, too.
        let zero = terms.constant(32, 0);
        let positive = terms.slt(zero, c);
        let (x, y) = (
            terms.ite(positive, squares, c),
            terms.ite(positive, factored, c),
        );
        let same = terms.eq(x, y);
        let [same] = Rings::default().unified(&mut terms, &[same])[..] else {
            panic!("one");
        };
        assert_eq!(terms.as_truth(same), Some(true));
    }

    #[test]
    fn what_is_on_both_sides_of_an_equation_is_left_out() {
        let mut terms = Terms::new();
        let [a, b, c] = variables(&mut terms);
        let (ab, ac) = (terms.mul(a, b), terms.mul(a, c));
        let apart = terms.add(ab, ac);
        let sum = terms.add(b, c);
        let joined = terms.mul(a, sum);
        let three = terms.constant(32, 3);
        let more = terms.add(joined, three);
        let never = terms.eq(apart, more);
        let with = terms.add(joined, c);
        let seldom = terms.eq(apart, with);
        let found = Rings::default().unified(&mut terms, &[never, seldom]);
        assert_eq!(terms.as_truth(found[0]), Some(false));
        let zero = terms.constant(32, 0);
        assert_eq!(found[1], terms.eq(c, zero));
    }

    #[test]
    fn unified_terms_have_the_values_of_the_terms() {
        let mut state = 7u64;
        let mut random = move |most: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        for width in [8, 32, 64] {
            let mut terms = Terms::new();
            let mut pool: Vec<Term> = (0..3)
                .map(|at| terms.variable(&format!("v{at}"), Sort::Bits(width)))
                .collect();
            for _ in 0..80 {
                let pick =
                    |random: &mut dyn FnMut(u64) -> u64| pool[random(pool.len() as u64) as usize];
                let (a, b) = (pick(&mut random), pick(&mut random));
                let k = terms.constant(width, u128::from(random(9)));
                let new = match random(8) {
                    0 => terms.add(a, b),
                    1 => terms.sub(a, b),
                    2 | 3 => terms.mul(a, b),
                    4 => terms.neg(a),
                    5 => terms.bit_not(a),
                    6 => terms.shl(a, k),
                    _ => {
                        let same = terms.eq(a, b);
                        let one = terms.add(a, k);
                        terms.ite(same, one, b)
                    }
                };
                pool.push(new);
            }
            let mut roots = pool.clone();
            for _ in 0..60 {
                let (a, b) = (random(83) as usize, random(83) as usize);
                let k = terms.constant(width, u128::from(random(3)));
                let (a, b) = (terms.mul(pool[a], k), pool[b]);
                roots.push(terms.eq(a, b));
            }
            let found = Rings::default().unified(&mut terms, &roots);
            for _ in 0..20 {
                let mut model = Assignment::new();
                for &variable in &pool[..3] {
                    let value = u128::from(random(1 << 31)) * u128::from(random(1 << 20));
                    model.set_bits(&terms, variable, value & mask(width) & 0xff);
                }
                let (old, new) = (
                    terms.evaluate_all(&roots, &model),
                    terms.evaluate_all(&found, &model),
                );
                assert_eq!(old, new);
            }
        }
    }
}
