//! `long double`: bits of 128, of which only those are known that come from constants or from narrower types.
//!
//! Every number of a narrower type is one of `long double`, so what is converted to it and compared, or converted back, is
//! what the narrower type says. What is calculated with it is not encoded: it may be anything.

use patchwright_ir::{Type, wide};
use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_solve::{Sort, Term};

use crate::{encoder::Encoder, meaning};

/// Bits of a value in memory, and of its term.
pub(crate) const WIDTH: u32 = 128;

const WHAT: &str = "what is calculated with `long double`";

/// The width of a value's term, `long double` included.
pub(crate) fn width(ty: Type) -> Option<u32> {
    match ty {
        Type::F80 => Some(WIDTH),
        ty => meaning::width(ty),
    }
}

impl Encoder<'_> {
    /// A value as `long double`.
    pub(crate) fn widened(&mut self, from: Type, value: Term) -> Term {
        if from == Type::F80 {
            return value;
        }
        if let Some(bits) = self.terms.as_constant(value) {
            let bits = wide::canonical(from, bits);
            if let Some(whole) = wide::convert(from, Type::F80, bits) {
                return self.terms.constant(WIDTH, whole);
            }
        }
        let what = format!("{WHAT} ({from})");
        let whole = self.open_of(&what, &[value], Sort::Bits(WIDTH));
        if !matches!(from, Type::I128 | Type::U128) {
            self.narrow_values.insert(whole, (from, value));
        }
        whole
    }

    /// The value of a narrower type that a `long double` was made of.
    fn narrow(&mut self, value: Term) -> Option<(Type, Term)> {
        if let Some(bits) = self.terms.as_constant(value) {
            let double = wide::convert(Type::F80, Type::F64, bits)?;
            let again = wide::convert(Type::F64, Type::F80, double)?;
            return (again == bits).then(|| (Type::F64, self.terms.constant(64, double)));
        }
        self.narrow_values.get(&value).copied()
    }

    /// A `long double` as another type.
    pub(crate) fn narrowed_to(&mut self, value: Term, to: Type) -> Option<Term> {
        if to == Type::F80 {
            return Some(value);
        }
        let width = meaning::width(to)?;
        if let Some(bits) = self.terms.as_constant(value)
            && let Some(number) = wide::convert(Type::F80, to, bits)
        {
            return Some(
                self.terms
                    .constant(width, number & (u128::MAX >> (128 - width))),
            );
        }
        if let Some((from, narrow)) = self.narrow(value)
            && let Some(meaning) = meaning::convert(self.terms, from, to, narrow)
        {
            return Some(meaning.value);
        }
        let any = self.open_of(WHAT, &[value], Sort::Bits(width));
        Some(self.narrowed(to, any))
    }

    /// `a op b` of `long double`.
    pub(crate) fn extended_binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let is_comparison = op.is_comparison();
        let width = if is_comparison { 32 } else { WIDTH };
        if let (Some(x), Some(y)) = (self.terms.as_constant(a), self.terms.as_constant(b))
            && let Some(bits) = wide::binary(op, Type::F80, x, y)
        {
            return self.terms.constant(width, bits);
        }
        if is_comparison
            && let (Some((first, x)), Some((second, y))) = (self.narrow(a), self.narrow(b))
            && let (Some(x), Some(y)) = (self.as_double(first, x), self.as_double(second, y))
            && let Some(meaning) = meaning::binary(self.terms, op, Type::F64, x, y)
        {
            return meaning.value;
        }
        let what = format!("{WHAT} (`{}`)", op.spelling());
        let any = self.open_of(&what, &[a, b], Sort::Bits(width));
        match is_comparison {
            false => any,
            true => {
                let one = self.terms.constant(32, 1);
                self.terms.bit_and(any, one)
            }
        }
    }

    /// A number as a `double`, if every number of its type is one.
    fn as_double(&mut self, ty: Type, value: Term) -> Option<Term> {
        match ty {
            Type::F64 => Some(value),
            ty if ty == Type::F32 || ty.is_integer() && ty.size() <= 4 => {
                meaning::convert(self.terms, ty, Type::F64, value).map(|meaning| meaning.value)
            }
            _ => None,
        }
    }

    /// `op a` of a `long double`.
    pub(crate) fn extended_unary(&mut self, op: UnaryOp, a: Term) -> Term {
        let width = match op {
            UnaryOp::Not => 32,
            _ => WIDTH,
        };
        if let Some(bits) = self.terms.as_constant(a)
            && let Some(bits) = wide::unary(op, Type::F80, bits)
        {
            return self.terms.constant(width, bits);
        }
        if op == UnaryOp::Not
            && let Some((ty, value)) = self.narrow(a)
            && let Some(holds) = meaning::truth(self.terms, ty, value)
        {
            let not = self.terms.not(holds);
            return meaning::int_of(self.terms, not);
        }
        let what = format!("{WHAT} (`{}`)", op.spelling());
        let any = self.open_of(&what, &[a], Sort::Bits(width));
        match op {
            UnaryOp::Not => {
                let one = self.terms.constant(32, 1);
                self.terms.bit_and(any, one)
            }
            _ => any,
        }
    }
}
