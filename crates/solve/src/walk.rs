//! Walks over terms: parts, variables, sizes, substitution. Nothing recurses, so deep terms are no
//! problem.

use std::collections::HashMap;
use std::hash::BuildHasher;

use rustc_hash::FxHashMap;

use crate::fold::FloatOp;
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Calls `each` with the direct parts of `term`, in order.
    pub fn for_each_part(&self, term: Term, mut each: impl FnMut(Term)) {
        match self.node(term) {
            Node::Truth(_) | Node::Constant(_) | Node::Variable(_) => {}
            Node::Not(a)
            | Node::Neg(a)
            | Node::BitNot(a)
            | Node::Extract { of: a, .. }
            | Node::SignExtend(a)
            | Node::FloatSqrt(_, a)
            | Node::FloatFromSigned(_, a)
            | Node::FloatFromUnsigned(_, a)
            | Node::FloatToSigned(_, a)
            | Node::FloatToUnsigned(_, a)
            | Node::FloatConvert(_, _, a)
            | Node::ArrayOf(a) => each(a),
            Node::And(a, b)
            | Node::Xor(a, b)
            | Node::Eq(a, b)
            | Node::Ult(a, b)
            | Node::Slt(a, b)
            | Node::MulOverflowsSigned(a, b)
            | Node::MulOverflowsUnsigned(a, b)
            | Node::Add(a, b)
            | Node::Mul(a, b)
            | Node::Udiv(a, b)
            | Node::Urem(a, b)
            | Node::Sdiv(a, b)
            | Node::Srem(a, b)
            | Node::BitAnd(a, b)
            | Node::BitXor(a, b)
            | Node::Shl(a, b)
            | Node::Lshr(a, b)
            | Node::Ashr(a, b)
            | Node::Concat(a, b)
            | Node::FloatBinary(_, _, a, b)
            | Node::Select(a, b) => {
                each(a);
                each(b);
            }
            Node::Ite(a, b, c) | Node::Store(a, b, c) => {
                each(a);
                each(b);
                each(c);
            }
            Node::Apply(_, list) => self.arguments(list).iter().copied().for_each(each),
        }
    }

    /// Returns all terms that `roots` consist of, themselves included. Each occurs once, behind its
    /// parts.
    pub fn within(&self, roots: &[Term]) -> Vec<Term> {
        self.within_unless(roots, |_| false)
    }

    /// Returns the parts of terms as [`Terms::within`], without those inside of terms that `stop` selects.
    pub(crate) fn within_unless(&self, roots: &[Term], stop: impl Fn(Term) -> bool) -> Vec<Term> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open: Vec<Term> = Vec::new();
        let mut found = Vec::new();
        for &root in roots {
            if seen.insert(root) {
                open.push(root);
            }
        }
        while let Some(term) = open.pop() {
            found.push(term);
            if stop(term) {
                continue;
            }
            self.for_each_part(term, |part| {
                if seen.insert(part) {
                    open.push(part);
                }
            });
        }
        // Parts were made before what they are part of.
        found.sort_unstable();
        found
    }

    /// Returns the variables of a term, in the order in which they were made.
    pub fn variables_of(&self, term: Term) -> Vec<Term> {
        let mut found = self.within(&[term]);
        found.retain(|&term| matches!(self.node(term), Node::Variable(_)));
        found
    }

    /// Returns the number of terms that a term consists of, itself included. Shared terms count once.
    pub fn size(&self, term: Term) -> usize {
        self.within(&[term]).len()
    }

    /// Returns `term` with the terms in `replacements` replaced at once and simplified again.
    pub fn substitute<S: BuildHasher>(
        &mut self,
        term: Term,
        replacements: &HashMap<Term, Term, S>,
    ) -> Term {
        self.substitute_all(&[term], replacements)[0]
    }

    /// Substitutes in several terms as [`Terms::substitute`] does. This is cheaper than one call for
    /// each.
    pub fn substitute_all<S: BuildHasher>(
        &mut self,
        terms: &[Term],
        replacements: &HashMap<Term, Term, S>,
    ) -> Vec<Term> {
        let mut made: FxHashMap<Term, Term> = FxHashMap::default();
        let mut open: Vec<Term> = terms.iter().rev().copied().collect();
        while let Some(&term) = open.last() {
            if made.contains_key(&term) {
                open.pop();
                continue;
            }
            if let Some(&new) = replacements.get(&term) {
                assert_eq!(self.sort(new), self.sort(term), "replaced by another sort");
                made.insert(term, new);
                continue;
            }
            // What is decided by one part alone needs no others.
            let decided = match self.node(term) {
                Node::Ite(condition, then, otherwise) => match made.get(&condition) {
                    None => Err(condition),
                    Some(&new) => match self.as_truth(new) {
                        None => Ok(None),
                        Some(truth) => {
                            let taken = if truth { then } else { otherwise };
                            made.get(&taken).map(|&new| Some(new)).ok_or(taken)
                        }
                    },
                },
                Node::And(a, b) => {
                    let first = a.min(b);
                    match made.get(&first) {
                        None => Err(first),
                        Some(&new) if self.as_truth(new) == Some(false) => Ok(Some(new)),
                        Some(_) => Ok(None),
                    }
                }
                _ => Ok(None),
            };
            match decided {
                Err(first) => open.push(first),
                Ok(Some(new)) => {
                    made.insert(term, new);
                }
                Ok(None) => {
                    let before = open.len();
                    self.for_each_part(term, |part| {
                        if !made.contains_key(&part) {
                            open.push(part);
                        }
                    });
                    if open.len() == before {
                        let new = self.rebuild(term, |part| made[&part]);
                        made.insert(term, new);
                    }
                }
            }
        }
        terms.iter().map(|term| made[term]).collect()
    }

    /// Returns `term` with each direct part replaced by what `part` gives for it.
    ///
    /// # Panics
    ///
    /// If a part gets another sort.
    pub fn rebuild(&mut self, term: Term, part: impl Fn(Term) -> Term) -> Term {
        let mut same = true;
        self.for_each_part(term, |old| same &= part(old) == old);
        if same {
            return term;
        }
        match self.node(term) {
            Node::Truth(_) | Node::Constant(_) | Node::Variable(_) => term,
            Node::Not(a) => self.not(part(a)),
            Node::And(a, b) => self.and(part(a), part(b)),
            Node::Xor(a, b) => self.xor(part(a), part(b)),
            Node::Ite(a, b, c) => self.ite(part(a), part(b), part(c)),
            Node::Eq(a, b) => self.eq(part(a), part(b)),
            Node::Ult(a, b) => self.ult(part(a), part(b)),
            Node::Slt(a, b) => self.slt(part(a), part(b)),
            Node::MulOverflowsSigned(a, b) => self.mul_overflows_signed(part(a), part(b)),
            Node::MulOverflowsUnsigned(a, b) => self.mul_overflows_unsigned(part(a), part(b)),
            Node::Neg(a) => self.neg(part(a)),
            Node::Add(a, b) => self.add(part(a), part(b)),
            Node::Mul(a, b) => self.mul(part(a), part(b)),
            Node::Udiv(a, b) => self.udiv(part(a), part(b)),
            Node::Urem(a, b) => self.urem(part(a), part(b)),
            Node::Sdiv(a, b) => self.sdiv(part(a), part(b)),
            Node::Srem(a, b) => self.srem(part(a), part(b)),
            Node::BitNot(a) => self.bit_not(part(a)),
            Node::BitAnd(a, b) => self.bit_and(part(a), part(b)),
            Node::BitXor(a, b) => self.bit_xor(part(a), part(b)),
            Node::Shl(a, b) => self.shl(part(a), part(b)),
            Node::Lshr(a, b) => self.lshr(part(a), part(b)),
            Node::Ashr(a, b) => self.ashr(part(a), part(b)),
            Node::Extract { of, high, low } => self.extract(part(of), high, low),
            Node::Concat(a, b) => self.concat(part(a), part(b)),
            Node::SignExtend(a) => {
                let width = self.width(term);
                self.sign_extend(part(a), width)
            }
            Node::FloatBinary(kind, op, a, b) => {
                let (a, b) = (part(a), part(b));
                match op {
                    FloatOp::Add => self.float_add(kind, a, b),
                    FloatOp::Mul => self.float_mul(kind, a, b),
                    FloatOp::Div => self.float_div(kind, a, b),
                }
            }
            Node::FloatSqrt(kind, a) => self.float_sqrt(kind, part(a)),
            Node::FloatFromSigned(kind, a) => self.float_from_signed(kind, part(a)),
            Node::FloatFromUnsigned(kind, a) => self.float_from_unsigned(kind, part(a)),
            Node::FloatToSigned(kind, a) => {
                let width = self.width(term);
                self.float_to_signed(kind, part(a), width)
            }
            Node::FloatToUnsigned(kind, a) => {
                let width = self.width(term);
                self.float_to_unsigned(kind, part(a), width)
            }
            Node::FloatConvert(from, to, a) => self.float_convert(from, to, part(a)),
            Node::Apply(function, list) => {
                let arguments: Vec<Term> = self.arguments(list).iter().map(|&a| part(a)).collect();
                let (name, result): (String, Sort) =
                    (self.symbol_name(function).to_owned(), self.sort(term));
                self.apply(&name, &arguments, result)
            }
            Node::ArrayOf(element) => match self.sort(term) {
                Sort::Array { index, .. } => self.array_of(index, part(element)),
                _ => unreachable!("an array has an array's sort"),
            },
            Node::Store(a, i, v) => self.store(part(a), part(i), part(v)),
            Node::Select(a, i) => self.select(part(a), part(i)),
        }
    }
}
