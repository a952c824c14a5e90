//! Terms for floating point: bits in IEEE 754's encoding, rounded to nearest, ties to even.

use crate::fold;
use crate::fold::{FloatOp, mask};
use crate::sort::{Float, MOST_BITS, Sort};
use crate::terms::{Node, Term, Terms};

impl Terms {
    #[track_caller]
    fn expect_float(&self, kind: Float, a: Term) {
        assert_eq!(
            self.width(a),
            kind.width(),
            "a number of {kind:?} has {} bits",
            kind.width()
        );
    }

    #[track_caller]
    fn float_binary(&mut self, kind: Float, op: FloatOp, a: Term, b: Term) -> Term {
        self.expect_float(kind, a);
        self.expect_float(kind, b);
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.constant(kind.width(), fold::float_op(kind, op, x, y));
        }
        // All NaNs that come out are one, so the order does not matter.
        let (a, b) = if op == FloatOp::Div {
            (a, b)
        } else {
            self.ordered(a, b)
        };
        self.intern(Node::FloatBinary(kind, op, a, b), Sort::Bits(kind.width()))
    }

    /// Returns `a + b` in the format `kind`.
    #[track_caller]
    pub fn float_add(&mut self, kind: Float, a: Term, b: Term) -> Term {
        self.float_binary(kind, FloatOp::Add, a, b)
    }

    /// Returns `a - b` in the format `kind`.
    #[track_caller]
    pub fn float_sub(&mut self, kind: Float, a: Term, b: Term) -> Term {
        // This is what IEEE 754 says of it, signs of zeros included.
        let b = self.float_neg(kind, b);
        self.float_binary(kind, FloatOp::Add, a, b)
    }

    /// Returns `a * b` in the format `kind`.
    #[track_caller]
    pub fn float_mul(&mut self, kind: Float, a: Term, b: Term) -> Term {
        self.float_binary(kind, FloatOp::Mul, a, b)
    }

    /// Returns `a / b` in the format `kind`.
    #[track_caller]
    pub fn float_div(&mut self, kind: Float, a: Term, b: Term) -> Term {
        self.float_binary(kind, FloatOp::Div, a, b)
    }

    /// Returns the square root of `a` in the format `kind`.
    #[track_caller]
    pub fn float_sqrt(&mut self, kind: Float, a: Term) -> Term {
        self.expect_float(kind, a);
        if let Some(x) = self.as_constant(a) {
            return self.constant(kind.width(), fold::float_sqrt(kind, x));
        }
        self.intern(Node::FloatSqrt(kind, a), Sort::Bits(kind.width()))
    }

    /// Returns `a` with the other sign, also of a NaN.
    #[track_caller]
    pub fn float_neg(&mut self, kind: Float, a: Term) -> Term {
        self.expect_float(kind, a);
        let sign = self.constant(kind.width(), 1 << (kind.width() - 1));
        self.bit_xor(a, sign)
    }

    /// The bits without the sign.
    fn float_magnitude(&mut self, kind: Float, a: Term) -> Term {
        self.extract(a, kind.width() - 2, 0)
    }

    /// Returns whether `a` is a NaN.
    #[track_caller]
    pub fn float_is_nan(&mut self, kind: Float, a: Term) -> Term {
        self.expect_float(kind, a);
        let width = kind.width() - 1;
        let magnitude = self.float_magnitude(kind, a);
        let infinity = mask(kind.exponent_bits()) << kind.fraction_bits();
        let infinity = self.constant(width, infinity);
        self.ult(infinity, magnitude)
    }

    /// Zero, of any sign.
    fn float_is_zero(&mut self, kind: Float, a: Term) -> Term {
        let magnitude = self.float_magnitude(kind, a);
        let zero = self.constant(kind.width() - 1, 0);
        self.eq(magnitude, zero)
    }

    /// No NaN is among the two.
    fn float_comparable(&mut self, kind: Float, a: Term, b: Term) -> Term {
        let (x, y) = (self.float_is_nan(kind, a), self.float_is_nan(kind, b));
        let one = self.or(x, y);
        self.not(one)
    }

    /// Returns whether two numbers are equal. A NaN equals nothing, and both zeros are equal.
    #[track_caller]
    pub fn float_eq(&mut self, kind: Float, a: Term, b: Term) -> Term {
        let comparable = self.float_comparable(kind, a, b);
        let same = self.eq(a, b);
        let (x, y) = (self.float_is_zero(kind, a), self.float_is_zero(kind, b));
        let zeros = self.and(x, y);
        let equal = self.or(same, zeros);
        self.and(comparable, equal)
    }

    /// Returns whether `a < b`. It is false if one is a NaN.
    #[track_caller]
    pub fn float_lt(&mut self, kind: Float, a: Term, b: Term) -> Term {
        let comparable = self.float_comparable(kind, a, b);
        let (x, y) = (self.float_is_zero(kind, a), self.float_is_zero(kind, b));
        let zeros = self.and(x, y);
        let (negative, other) = (self.is_negative(a), self.is_negative(b));
        let up = self.ult(a, b);
        let down = self.ult(b, a);
        // Sign and magnitude: of two negative ones the greater encoding is the lesser number.
        let below_zero = self.not(zeros);
        let plus = self.ite(other, down, below_zero);
        let minus = self.not(other);
        let up = self.and(minus, up);
        let less = self.ite(negative, plus, up);
        self.and(comparable, less)
    }

    /// Returns whether `a <= b`. It is false if one is a NaN.
    #[track_caller]
    pub fn float_le(&mut self, kind: Float, a: Term, b: Term) -> Term {
        let comparable = self.float_comparable(kind, a, b);
        let greater = self.float_lt(kind, b, a);
        let not_greater = self.not(greater);
        self.and(comparable, not_greater)
    }

    /// Returns the number in the format `kind` nearest to a signed integer.
    #[track_caller]
    pub fn float_from_signed(&mut self, kind: Float, a: Term) -> Term {
        let width = self.width(a);
        let function = |x| fold::float_from_signed(kind, width, x);
        if let Some(folded) = self.fold_unary(kind.width(), a, function) {
            return folded;
        }
        self.intern(Node::FloatFromSigned(kind, a), Sort::Bits(kind.width()))
    }

    /// Returns the number in the format `kind` nearest to an unsigned integer.
    #[track_caller]
    pub fn float_from_unsigned(&mut self, kind: Float, a: Term) -> Term {
        let function = |x| fold::float_from_unsigned(kind, x);
        if let Some(folded) = self.fold_unary(kind.width(), a, function) {
            return folded;
        }
        self.intern(Node::FloatFromUnsigned(kind, a), Sort::Bits(kind.width()))
    }

    /// Returns the signed integer of `width` bits with the fraction cut off. A number out of range
    /// becomes the nearest integer of that width, a NaN becomes zero.
    #[track_caller]
    pub fn float_to_signed(&mut self, kind: Float, a: Term, width: u32) -> Term {
        self.expect_float(kind, a);
        assert!((1..=MOST_BITS).contains(&width));
        let function = |x| fold::float_to_signed(kind, x, width);
        if let Some(folded) = self.fold_unary(width, a, function) {
            return folded;
        }
        self.intern(Node::FloatToSigned(kind, a), Sort::Bits(width))
    }

    /// Returns the unsigned integer of `width` bits with the fraction cut off. A number out of range
    /// becomes the nearest integer of that width, a NaN becomes zero.
    #[track_caller]
    pub fn float_to_unsigned(&mut self, kind: Float, a: Term, width: u32) -> Term {
        self.expect_float(kind, a);
        assert!((1..=MOST_BITS).contains(&width));
        let function = |x| fold::float_to_unsigned(kind, x, width);
        if let Some(folded) = self.fold_unary(width, a, function) {
            return folded;
        }
        self.intern(Node::FloatToUnsigned(kind, a), Sort::Bits(width))
    }

    /// Returns the number in the format `to` nearest to `a`, which has the format `from`.
    #[track_caller]
    pub fn float_convert(&mut self, from: Float, to: Float, a: Term) -> Term {
        self.expect_float(from, a);
        if from == to {
            return a;
        }
        let function = |x| fold::float_convert(from, to, x);
        if let Some(folded) = self.fold_unary(to.width(), a, function) {
            return folded;
        }
        self.intern(Node::FloatConvert(from, to, a), Sort::Bits(to.width()))
    }
}
