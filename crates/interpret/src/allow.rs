//! Undefined behaviour that the user permits: the execution goes on as compilers' code does on x86-64,
//! and the behaviour is noted.

use patchwright_ir::{Type, wide};
use patchwright_semantics::{self as semantics, BinaryOp, Ty, UnaryOp};

use crate::{
    fault::{Place, Run, Stop, Undefined},
    machine::Machine,
};

/// Undefined behaviour that was permitted: its kind, its place and how often it occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What kind.
    pub kind: Undefined,
    /// What happened, the first time.
    pub message: String,
    /// Where it happened first; `None` where that is not known.
    pub place: Option<Place>,
    /// How often it happened at this place.
    pub times: u64,
}

/// The kinds after which an execution can go on, and what it goes on with:
/// * overflows wrap around;
/// * shifts use the low bits of the count, as the processor does, and drop what is shifted out;
/// * conversions of floats give what the processor's instructions give;
/// * memory without a value holds the bytes that it holds;
/// * pointers are the sum of their address and so many bytes, wherever that is;
/// * an integer that is passed in `...` and read as a narrower one gives its low bits.
pub const CAN_BE_ALLOWED: [Undefined; 6] = [
    Undefined::SignedOverflow,
    Undefined::BadShift,
    Undefined::BadConversion,
    Undefined::UninitializedRead,
    Undefined::BadPointerArithmetic,
    Undefined::BadVariadic,
];

/// What is accepted, and what was.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    kinds: Vec<Undefined>,
    noted: Vec<Accepted>,
}

impl Machine<'_> {
    /// Permits these kinds of undefined behaviour. Only kinds in [`CAN_BE_ALLOWED`] have an effect.
    pub fn allow(&mut self, kinds: &[Undefined]) {
        self.allowance.kinds = kinds.to_vec();
    }

    /// Returns the permitted undefined behaviour that occurred, in the order of its first occurrence.
    pub fn accepted(&self) -> &[Accepted] {
        &self.allowance.noted
    }

    /// Whether this kind of undefined behaviour is accepted.
    pub(crate) fn allows(&self, kind: Undefined) -> bool {
        self.allowance.kinds.contains(&kind)
    }

    /// Goes on after an instruction failed by accepted undefined behaviour, with the result of `otherwise`. If that is `None`, the
    /// execution stops.
    #[cold]
    pub(crate) fn go_on<T>(
        &mut self,
        stop: Stop,
        pc: usize,
        otherwise: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Run<T> {
        let Stop::Undefined(kind, message) = &stop else {
            return Err(stop);
        };
        if !self.allows(*kind) {
            return Err(stop);
        }
        let Some(value) = otherwise(self) else {
            return Err(stop);
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
        self.note_accepted(*kind, message.clone());
        Ok(value)
    }

    /// Notes what was accepted, at the place where the innermost function is.
    pub(crate) fn note_accepted(&mut self, kind: Undefined, message: String) {
        let place = self.innermost_place();
        let noted = &mut self.allowance.noted;
        match noted
            .iter_mut()
            .find(|one| one.kind == kind && one.place == place)
        {
            Some(one) => one.times += 1,
            None => noted.push(Accepted {
                kind,
                message,
                place,
                times: 1,
            }),
        }
    }

    /// Calls a function of the library that may read memory without a value, if that is accepted.
    pub(crate) fn with_lenient_memory<T>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Run<T>,
    ) -> Run<T> {
        if !self.allows(Undefined::UninitializedRead) {
            return call(self);
        }
        let before = self.memory.set_lenient(true);
        let result = call(self);
        self.memory.set_lenient(before);
        if let Some(message) = self.memory.take_lenient_read() {
            self.note_accepted(Undefined::UninitializedRead, message);
        }
        result
    }
}

/// `a op b` where it overflows, wrapped around; `None` for division.
pub(crate) fn wrapped(op: BinaryOp, ty: Type, a: u128, b: u128) -> Option<u128> {
    let exact = wide::wraps_in(op, ty)?;
    let a = wide::convert(ty, exact, a)?;
    let b = wide::convert(ty, exact, b)?;
    wide::convert(exact, ty, wide::binary(op, exact, a, b)?)
}

/// Returns `-a` with wrap-around where it overflows; `None` for other operations.
pub(crate) fn wrapped_unary(op: UnaryOp, ty: Type, a: u128) -> Option<u128> {
    match op {
        UnaryOp::Neg => wrapped(BinaryOp::Sub, ty, 0, a),
        _ => None,
    }
}

/// A pointer that is moved by so many elements.
pub(crate) fn moved(a: u64, index: u64, size: u64, negative: bool) -> u64 {
    let bytes = index.wrapping_mul(size);
    match negative {
        true => a.wrapping_sub(bytes),
        false => a.wrapping_add(bytes),
    }
}

/// A shift as the processor executes it: by the low bits of the count.
pub(crate) fn wrapped_shift(op: BinaryOp, ty: Type, a: u128, count: u128) -> Option<u128> {
    let exact = wide::wraps_in(op, ty).unwrap_or(ty);
    let a = wide::convert(ty, exact, a)?;
    let count = count & u128::from(8 * ty.size() - 1);
    wide::convert(exact, ty, wide::shift(op, exact, Type::U32, a, count)?)
}

/// 2 to the power of 63, the first number that is too large for an `I64`.
const TWO_TO_63: f64 = (1u64 << 63) as f64;

/// What `cvttsd2si` gives for what does not fit.
const INDEFINITE: i64 = i64::MIN;

/// Converts a float that the integer type cannot hold as gcc and clang do without optimisation.
pub(crate) fn converted(from: Ty, to: Ty, a: u64) -> Option<u64> {
    let value = match from {
        Ty::F32 => f64::from(f32::from_bits(a as u32)),
        Ty::F64 => f64::from_bits(a),
        _ => return None,
    };
    // The instructions give 32 or 64 bits; NaN and what is too large give only the sign bit.
    let quad = |value: f64| match value > -9.3e18 && value < TWO_TO_63 {
        true => value as i64,
        false => INDEFINITE,
    };
    let long = |value: f64| match value > -2147483649.0 && value < 2147483648.0 {
        true => value as i32,
        false => i32::MIN,
    };
    let bits = match to {
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::U8 | Ty::U16 => i64::from(long(value)) as u64,
        Ty::U32 | Ty::I64 => quad(value) as u64,
        Ty::U64 if value < TWO_TO_63 || value.is_nan() => quad(value) as u64,
        Ty::U64 => (quad(value - TWO_TO_63) as u64) ^ (1 << 63),
        _ => return None,
    };
    Some(to.canonical(bits))
}

/// The count of a shift as an unsigned number of 128 bits.
pub(crate) fn count_bits(count: Ty, b: u64) -> u128 {
    u128::from(semantics::convert(count, Ty::U64, b).unwrap_or(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_what_the_processor_makes_of_it() {
        let of = |to, value: f64| converted(Ty::F64, to, value.to_bits());
        assert_eq!(of(Ty::I32, 3e9), Some(i32::MIN as i64 as u64));
        assert_eq!(of(Ty::U8, 300.5), Some(44));
        assert_eq!(of(Ty::U32, -1.0), Some(u32::MAX.into()));
        assert_eq!(of(Ty::I64, 1e30), Some(1 << 63));
        assert_eq!(of(Ty::U64, 1e30), Some(0));
        let sum = wrapped(BinaryOp::Add, Type::I32, i32::MAX as u128, 1);
        assert_eq!(sum, Some(i32::MIN as i64 as u64 as u128));
        assert_eq!(wrapped(BinaryOp::Div, Type::I32, 1, 1), None);
        let shifted = wrapped_shift(BinaryOp::Shl, Type::I32, 1, 33);
        assert_eq!(shifted, Some(2));
    }
}
