//! C's operators on terms: crate `semantics`, for values that are not known.
//!
//! A value is a bit-vector of the width of its object: `_Bool` has 8 bits and is 0 or 1, a pointer has 64 bits, a float its
//! IEEE bits. The canonical forms of `semantics` are sign or zero extensions of these vectors.
//!
//! Undefined behaviour is a condition beside the value. If the condition is true, the value is what the processor would give
//! (overflow wraps); only callers that accept undefined behaviour may use it.
//!
//! The tests hold every function here to `semantics` and to `ir::wide`.

use patchwright_ir::{Type, Undefined};
use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_solve::{Float, Sort, Term, Terms};

/// The value of an operation, and the condition under which each kind of undefined behaviour occurs.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The value.
    pub value: Term,
    /// Conditions under which computing it is undefined behaviour; those that never hold are left
    /// out.
    pub undefined: Vec<(Undefined, Term)>,
}

impl Meaning {
    /// Makes a value that is always defined.
    pub(crate) fn defined(value: Term) -> Meaning {
        Meaning {
            value,
            undefined: Vec::new(),
        }
    }

    fn unless(mut self, terms: &Terms, kind: Undefined, condition: Term) -> Meaning {
        if terms.as_truth(condition) != Some(false) {
            self.undefined.push((kind, condition));
        }
        self
    }
}

/// Returns the number of bits of a value of this type. It is `None` for types that terms do not have:
/// `long double`, records, `void`.
pub fn width(ty: Type) -> Option<u32> {
    match ty {
        Type::F80 | Type::Void | Type::Aggregate { .. } => None,
        _ => Some(ty.size() as u32 * 8),
    }
}

/// Returns the sort of a value of this type, or `None` if terms do not have it.
pub fn sort(ty: Type) -> Option<Sort> {
    width(ty).map(Sort::Bits)
}

fn float(ty: Type) -> Option<Float> {
    match ty {
        Type::F32 => Some(Float::F32),
        Type::F64 => Some(Float::F64),
        _ => None,
    }
}

/// Returns a truth value as an `int`, 0 or 1.
pub fn int_of(terms: &mut Terms, condition: Term) -> Term {
    let (one, zero) = (terms.constant(32, 1), terms.constant(32, 0));
    terms.ite(condition, one, zero)
}

/// Returns the constant whose canonical form in crate `semantics` is `bits`.
pub fn constant(terms: &mut Terms, ty: Type, bits: u128) -> Option<Term> {
    let width = width(ty)?;
    let bits = match width {
        128 => bits,
        _ => bits & ((1 << width) - 1),
    };
    Some(terms.constant(width, bits))
}

/// Returns whether `a` compares unequal to zero. A NaN does.
pub fn truth(terms: &mut Terms, ty: Type, a: Term) -> Option<Term> {
    let width = width(ty)?;
    let zero = terms.constant(width, 0);
    let equal = match float(ty) {
        Some(kind) => terms.float_eq(kind, a, zero),
        None => terms.eq(a, zero),
    };
    Some(terms.not(equal))
}

/// Returns `a op b` for operands of type `ty`, as `semantics::binary` and `ir::wide` define it. It is
/// `None` for shifts and for operations that terms do not have.
pub fn binary(terms: &mut Terms, op: BinaryOp, ty: Type, a: Term, b: Term) -> Option<Meaning> {
    if op.is_comparison() {
        let condition = compare(terms, op, ty, a, b)?;
        return Some(Meaning::defined(int_of(terms, condition)));
    }
    if let Some(kind) = float(ty) {
        return Some(Meaning::defined(match op {
            BinaryOp::Add => terms.float_add(kind, a, b),
            BinaryOp::Sub => terms.float_sub(kind, a, b),
            BinaryOp::Mul => terms.float_mul(kind, a, b),
            BinaryOp::Div => terms.float_div(kind, a, b),
            _ => return None,
        }));
    }
    if !ty.is_integer() {
        return None;
    }
    let width = width(ty)?;
    let signed = ty.is_signed();
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let value = match op {
                BinaryOp::Add => terms.add(a, b),
                BinaryOp::Sub => terms.sub(a, b),
                _ => terms.mul(a, b),
            };
            let meaning = Meaning::defined(value);
            if !signed {
                return Some(meaning);
            }
            let overflow = match op {
                BinaryOp::Add => terms.add_overflows_signed(a, b),
                BinaryOp::Sub => terms.sub_overflows_signed(a, b),
                _ => terms.mul_overflows_signed(a, b),
            };
            meaning.unless(terms, Undefined::SignedOverflow, overflow)
        }
        BinaryOp::Div | BinaryOp::Rem => {
            let zero = terms.constant(width, 0);
            let by_zero = terms.eq(b, zero);
            let value = match (op, signed) {
                (BinaryOp::Div, true) => terms.sdiv(a, b),
                (BinaryOp::Div, false) => terms.udiv(a, b),
                (_, true) => terms.srem(a, b),
                (_, false) => terms.urem(a, b),
            };
            let meaning = Meaning::defined(value).unless(terms, Undefined::DivisionByZero, by_zero);
            if !signed {
                return Some(meaning);
            }
            let least = terms.constant(width, 1 << (width - 1));
            let minus_one = terms.constant(width, u128::MAX >> (128 - width));
            let (is_least, is_minus) = (terms.eq(a, least), terms.eq(b, minus_one));
            let overflow = terms.and(is_least, is_minus);
            meaning.unless(terms, Undefined::SignedOverflow, overflow)
        }
        BinaryOp::And => Meaning::defined(terms.bit_and(a, b)),
        BinaryOp::Or => Meaning::defined(terms.bit_or(a, b)),
        BinaryOp::Xor => Meaning::defined(terms.bit_xor(a, b)),
        _ => return None,
    })
}

/// Returns the truth value of a comparison. Pointers are compared as addresses.
pub fn compare(terms: &mut Terms, op: BinaryOp, ty: Type, a: Term, b: Term) -> Option<Term> {
    width(ty)?;
    if let Some(kind) = float(ty) {
        return Some(match op {
            BinaryOp::Lt => terms.float_lt(kind, a, b),
            BinaryOp::Le => terms.float_le(kind, a, b),
            BinaryOp::Gt => terms.float_lt(kind, b, a),
            BinaryOp::Ge => terms.float_le(kind, b, a),
            BinaryOp::Eq => terms.float_eq(kind, a, b),
            _ => {
                let equal = terms.float_eq(kind, a, b);
                terms.not(equal)
            }
        });
    }
    let (a, b, op) = match op {
        BinaryOp::Gt => (b, a, BinaryOp::Lt),
        BinaryOp::Ge => (b, a, BinaryOp::Le),
        _ => (a, b, op),
    };
    Some(match op {
        BinaryOp::Lt if ty.is_signed() => terms.slt(a, b),
        BinaryOp::Lt => terms.ult(a, b),
        BinaryOp::Le if ty.is_signed() => terms.sle(a, b),
        BinaryOp::Le => terms.ule(a, b),
        BinaryOp::Eq => terms.eq(a, b),
        BinaryOp::Ne => {
            let equal = terms.eq(a, b);
            terms.not(equal)
        }
        _ => return None,
    })
}

/// Returns `a << b` or `a >> b`, with `a` of the promoted type `left` and `b` of type `right`, as
/// `semantics::shift` defines it.
pub fn shift(
    terms: &mut Terms,
    op: BinaryOp,
    (left, a): (Type, Term),
    (right, b): (Type, Term),
) -> Option<Meaning> {
    if !left.is_integer() || !right.is_integer() || !op.is_shift() {
        return None;
    }
    let (width, of_count) = (width(left)?, width(right)?);
    // A negative count is huge without a sign.
    let most = terms.constant(of_count, u128::from(width - 1));
    let too_far = terms.ult(most, b);
    let count = match width.cmp(&of_count) {
        std::cmp::Ordering::Less => terms.extract(b, width - 1, 0),
        std::cmp::Ordering::Equal => b,
        std::cmp::Ordering::Greater => terms.zero_extend(b, width),
    };
    let signed = left.is_signed();
    if op == BinaryOp::Shr {
        let value = match signed {
            true => terms.ashr(a, count),
            false => terms.lshr(a, count),
        };
        return Some(Meaning::defined(value).unless(terms, Undefined::BadShift, too_far));
    }
    let value = terms.shl(a, count);
    let mut bad = too_far;
    if signed {
        // Representable exactly when the value was not negative and nothing, the sign included,
        // was shifted out.
        let zero = terms.constant(width, 0);
        let negative = terms.slt(a, zero);
        let back = terms.ashr(value, count);
        let kept = terms.eq(back, a);
        let lost = terms.not(kept);
        let unfit = terms.or(negative, lost);
        bad = terms.or(bad, unfit);
    }
    Some(Meaning::defined(value).unless(terms, Undefined::BadShift, bad))
}

/// Whether a value of type `left` has no more bits than it is to be shifted by.
pub(crate) fn shifts_too_far(terms: &mut Terms, left: Type, count: Term) -> Term {
    let most = u128::from(width(left).unwrap_or(64) - 1);
    let most = terms.constant(terms.width(count), most);
    terms.ult(most, count)
}

/// Returns `op a` in the promoted type `ty`. The result of `!` is an `int`.
pub fn unary(terms: &mut Terms, op: UnaryOp, ty: Type, a: Term) -> Option<Meaning> {
    let width = width(ty)?;
    match op {
        UnaryOp::Not => {
            let holds = truth(terms, ty, a)?;
            let not = terms.not(holds);
            Some(Meaning::defined(int_of(terms, not)))
        }
        UnaryOp::Neg => {
            if let Some(kind) = float(ty) {
                return Some(Meaning::defined(terms.float_neg(kind, a)));
            }
            if !ty.is_integer() {
                return None;
            }
            let meaning = Meaning::defined(terms.neg(a));
            if !ty.is_signed() {
                return Some(meaning);
            }
            let least = terms.constant(width, 1 << (width - 1));
            let overflow = terms.eq(a, least);
            Some(meaning.unless(terms, Undefined::SignedOverflow, overflow))
        }
        UnaryOp::Complement if ty.is_integer() => Some(Meaning::defined(terms.bit_not(a))),
        UnaryOp::Complement => None,
    }
}

/// Returns `a`, of type `from`, converted to type `to`, as `semantics::convert` defines it.
pub fn convert(terms: &mut Terms, from: Type, to: Type, a: Term) -> Option<Meaning> {
    let (before, after) = (width(from)?, width(to)?);
    if to == Type::Bool {
        let holds = truth(terms, from, a)?;
        let (one, zero) = (terms.constant(8, 1), terms.constant(8, 0));
        return Some(Meaning::defined(terms.ite(holds, one, zero)));
    }
    if from == to {
        return Some(Meaning::defined(a));
    }
    match (float(from), float(to)) {
        (Some(from), Some(to)) => Some(Meaning::defined(terms.float_convert(from, to, a))),
        (Some(kind), None) if to.is_integer() => {
            let value = match to.is_signed() {
                true => terms.float_to_signed(kind, a, after),
                false => terms.float_to_unsigned(kind, a, after),
            };
            let fits = fits(terms, kind, to, a)?;
            let unfit = terms.not(fits);
            Some(Meaning::defined(value).unless(terms, Undefined::BadConversion, unfit))
        }
        (None, Some(kind)) if from.is_integer() => Some(Meaning::defined(match from.is_signed() {
            true => terms.float_from_signed(kind, a),
            false => terms.float_from_unsigned(kind, a),
        })),
        (None, None) => Some(Meaning::defined(resize(
            terms,
            a,
            before,
            after,
            from.is_signed(),
        ))),
        _ => None,
    }
}

/// The low bits of a value, or the value extended.
pub(crate) fn resize(terms: &mut Terms, a: Term, before: u32, after: u32, signed: bool) -> Term {
    match (before.cmp(&after), signed) {
        (std::cmp::Ordering::Equal, _) => a,
        (std::cmp::Ordering::Greater, _) => terms.extract(a, after - 1, 0),
        (std::cmp::Ordering::Less, true) => terms.sign_extend(a, after),
        (std::cmp::Ordering::Less, false) => terms.zero_extend(a, after),
    }
}

/// Whether the integral part of a float is a value of the integer type `to`.
fn fits(terms: &mut Terms, kind: Float, to: Type, a: Term) -> Option<Term> {
    // All bounds are powers of two, exact in both formats but for those with one bit more than the
    // fraction; there the neighbour decides, as in `semantics`.
    let bits = to.size() as i32 * 8;
    let (low, high, low_inclusive) = match to.is_signed() {
        true => {
            let least = -(2f64.powi(bits - 1));
            // -129 and the like are exact while the format has the bits for it.
            let fraction = if kind == Float::F32 { 24 } else { 53 };
            match bits < fraction {
                true => (least - 1.0, 2f64.powi(bits - 1), false),
                false => (least, 2f64.powi(bits - 1), true),
            }
        }
        false => (-1.0, 2f64.powi(bits), false),
    };
    let (low, high) = match kind {
        Float::F32 => (
            terms.constant(32, u128::from((low as f32).to_bits())),
            terms.constant(32, u128::from((high as f32).to_bits())),
        ),
        Float::F64 => (
            terms.constant(64, u128::from(low.to_bits())),
            terms.constant(64, u128::from(high.to_bits())),
        ),
    };
    let above = match low_inclusive {
        true => terms.float_le(kind, low, a),
        false => terms.float_lt(kind, low, a),
    };
    let below = terms.float_lt(kind, a, high);
    Some(terms.and(above, below))
}

/// Returns the low `bits` bits of a value of type `ty`, extended by its sign or by zeros.
pub fn extend(terms: &mut Terms, ty: Type, value: Term, bits: u32) -> Option<Term> {
    let width = width(ty)?;
    if bits >= width || bits == 0 {
        return Some(value);
    }
    let low = terms.extract(value, bits - 1, 0);
    Some(resize(terms, low, bits, width, ty.is_signed()))
}
