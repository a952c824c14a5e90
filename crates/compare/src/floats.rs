//! Reads floating-point comparisons and negations from conditions, in which they are terms over bits.

use patchwright_ir::Type;
use patchwright_prove::shown;
use patchwright_solve::{Float, FloatOp, Node, Term};

use crate::code::*;
use crate::shown::Printer;

impl Printer<'_> {
    /// Returns the floating-point format of a term if its value is used as such a number, and not its bits.
    pub(crate) fn kind_of(&self, term: Term) -> Option<Float> {
        match self.terms.node(term) {
            Node::Variable(_) => match self.names.of.get(&term)?.1? {
                Type::F32 => Some(Float::F32),
                Type::F64 => Some(Float::F64),
                _ => None,
            },
            Node::FloatBinary(kind, ..)
            | Node::FloatSqrt(kind, _)
            | Node::FloatFromSigned(kind, _)
            | Node::FloatFromUnsigned(kind, _)
            | Node::FloatConvert(_, kind, _) => Some(kind),
            _ => None,
        }
    }

    /// Two floating-point numbers with the same bits; nothing if they are others, or the two zeros would be mixed up.
    pub(crate) fn equal_floats(&self, a: Term, word: &str, b: Term, depth: u32) -> Option<String> {
        // All bits but the sign are zero in both zeros, and in nothing else.
        for (term, other) in [(a, b), (b, a)] {
            if self.terms.as_constant(other) == Some(0)
                && let Some((number, kind)) = self.without_sign(term)
            {
                let number = wrapped(self.float(kind, number, depth), EQUAL + 1);
                return Some(format!("{number} {word} 0.0"));
            }
        }
        let kind = self.kind_of(a).or(self.kind_of(b))?;
        let is_value = |term: Term| match self.terms.as_constant(term) {
            Some(bits) => {
                let value = match kind {
                    Float::F32 => f32::from_bits(bits as u32).into(),
                    Float::F64 => f64::from_bits(bits as u64),
                };
                value != 0.0 && !value.is_nan()
            }
            None => self.kind_of(term) == Some(kind),
        };
        if !is_value(a) || !is_value(b) {
            return None;
        }
        let (a, b) = match self.terms.as_constant(a) {
            Some(_) => (b, a),
            None => (a, b),
        };
        let part = |term| wrapped(self.float(kind, term, depth), EQUAL + 1);
        Some(format!("{} {word} {}", part(a), part(b)))
    }

    /// Writes a comparison of the bits of a floating-point number as `signbit(x)` or `isnan(x)`; `None` for other comparisons.
    pub(crate) fn of_float(&self, a: Term, b: Term, sign: Sign, depth: u32) -> Option<String> {
        if sign == Sign::Signed && self.terms.as_constant(b) == Some(0) {
            let text = self.float(self.kind_of(a)?, a, depth).0;
            return Some(format!("signbit({text})"));
        }
        let (number, kind) = self.without_sign(b)?;
        let infinity: u128 = match kind {
            Float::F32 => f32::INFINITY.to_bits().into(),
            Float::F64 => f64::INFINITY.to_bits().into(),
        };
        let is_asked = sign == Sign::Unsigned && self.terms.as_constant(a) == Some(infinity);
        is_asked.then(|| format!("isnan({})", self.float(kind, number, depth).0))
    }

    /// The number whose bits a term has but for the sign.
    fn without_sign(&self, term: Term) -> Option<(Term, Float)> {
        let number = match self.terms.node(term) {
            Node::BitAnd(x, y) => match (self.terms.as_constant(x), self.terms.as_constant(y)) {
                (Some(mask), _) if mask == sign_of(self.kind_of(y)?) - 1 => y,
                (_, Some(mask)) if mask == sign_of(self.kind_of(x)?) - 1 => x,
                _ => return None,
            },
            Node::Concat(high, low) => match self.terms.node(low) {
                Node::Extract {
                    of,
                    high: top,
                    low: 0,
                } if self.terms.as_constant(high) == Some(0)
                    && top + 2 == self.terms.width(of)
                    && self.terms.width(term) == self.terms.width(of) =>
                {
                    of
                }
                _ => return None,
            },
            Node::Extract { of, high, low: 0 } if high + 2 == self.terms.width(of) => of,
            _ => return None,
        };
        Some((number, self.kind_of(number)?))
    }

    /// The bits of a constant with which those of a floating-point number are compared.
    pub(crate) fn bits_of(&self, ty: Type, bits: u128) -> Option<String> {
        let is_number = match ty {
            Type::F32 => !f32::from_bits(bits as u32).is_nan(),
            Type::F64 => !f64::from_bits(bits as u64).is_nan(),
            _ => false,
        };
        is_number.then(|| format!("bits({})", shown(ty, bits)))
    }

    /// Returns a floating-point number as a C expression of its value.
    pub(crate) fn float(&self, kind: Float, term: Term, depth: u32) -> (String, Precedence) {
        if self.is_cut(depth) {
            return ("…".to_owned(), PRIMARY);
        }
        let depth = depth + 1;
        let ty = match kind {
            Float::F32 => Type::F32,
            Float::F64 => Type::F64,
        };
        if let Some((number, _)) = self.without_sign(term) {
            let number = self.float(kind, number, depth).0;
            return (format!("fabs({number})"), PRIMARY);
        }
        match self.terms.node(term) {
            Node::Constant(bits) => {
                let text = shown(ty, bits);
                let precedence = if text.starts_with('-') {
                    UNARY
                } else {
                    PRIMARY
                };
                (text, precedence)
            }
            Node::Variable(_) => (self.name(term), PRIMARY),
            Node::FloatBinary(_, op, a, b) => {
                let (word, precedence) = match op {
                    FloatOp::Add => ("+", PLUS),
                    FloatOp::Mul => ("*", TIMES),
                    FloatOp::Div => ("/", TIMES),
                };
                let (a, b) = (self.float(kind, a, depth), self.float(kind, b, depth));
                let text = format!(
                    "{} {word} {}",
                    wrapped(a, precedence),
                    wrapped(b, precedence + 1)
                );
                (text, precedence)
            }
            Node::FloatSqrt(_, a) => (format!("sqrt({})", self.float(kind, a, depth).0), PRIMARY),
            Node::FloatFromSigned(_, a) => {
                let a = self.bits(a, Sign::Signed, depth).signed();
                (format!("({}){}", floating(kind), a.within(UNARY)), UNARY)
            }
            Node::FloatFromUnsigned(_, a) => {
                let a = self.bits(a, Sign::Unsigned, depth);
                (format!("({}){}", floating(kind), a.within(UNARY)), UNARY)
            }
            Node::FloatConvert(from, _, a) => {
                let a = self.float(from, a, depth);
                (format!("({}){}", floating(kind), wrapped(a, UNARY)), UNARY)
            }
            Node::BitXor(a, b) if self.terms.as_constant(b) == Some(sign_of(kind)) => (
                format!("-{}", wrapped(self.float(kind, a, depth), UNARY)),
                UNARY,
            ),
            Node::BitXor(a, b) if self.terms.as_constant(a) == Some(sign_of(kind)) => (
                format!("-{}", wrapped(self.float(kind, b, depth), UNARY)),
                UNARY,
            ),
            Node::Ite(c, a, b) => {
                let c = wrapped(self.truth(c, true, depth), CHOICE + 1);
                let (a, b) = (self.float(kind, a, depth), self.float(kind, b, depth));
                let text = format!("{c} ? {} : {}", wrapped(a, CHOICE), wrapped(b, CHOICE));
                (text, CHOICE)
            }
            // The bits of a number, looked at as such.
            Node::BitXor(..) | Node::Concat(..) | Node::BitAnd(..) => {
                self.bits(term, Sign::Unsigned, depth).parts()
            }
            _ => self.bits(term, Sign::Any, depth).parts(),
        }
    }
}

/// The bit that is the sign.
const fn sign_of(kind: Float) -> u128 {
    match kind {
        Float::F32 => 1 << 31,
        Float::F64 => 1 << 63,
    }
}

const fn floating(kind: Float) -> &'static str {
    match kind {
        Float::F32 => "float",
        Float::F64 => "double",
    }
}
