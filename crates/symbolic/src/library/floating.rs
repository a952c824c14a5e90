//! Functions of `math.h`: the exact ones as terms, the others as functions of which nothing is known
//! but that equal arguments give equal results.

use patchwright_clib::{Fact, Special, facts, special};
use patchwright_ir::Type;
use patchwright_solve::{Float, Node, Sort, Term};

use super::model::{Given, Model, usual};
use crate::{
    calling::Call,
    encoder::{Encoder, World},
    encoding::Place,
};

/// Returns the model of a function of `math.h`.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        _ if special(name).is_some() => usual(number),
        "fabs" | "fabsf" => usual(absolute),
        "sqrt" | "sqrtf" => usual(root),
        "isnan" | "__isnan" | "__isnanf" | "__builtin_isnan" => usual(is_nan),
        "__builtin_isinf" => usual(is_infinite),
        "isinf" | "__isinf" | "__isinff" | "__builtin_isinf_sign" => usual(which_infinity),
        "finite" | "__finite" | "__finitef" | "__builtin_isfinite" => usual(is_finite),
        "__builtin_isnormal" => usual(is_normal),
        "__signbit" | "__signbitf" | "__builtin_signbit" | "__builtin_signbitf" => usual(sign),
        "__builtin_fpclassify" => usual(classify),
        "__builtin_isgreater" => usual(|e, call, _| compare(e, call, Order::Above)),
        "__builtin_isgreaterequal" => usual(|e, call, _| compare(e, call, Order::NotBelow)),
        "__builtin_isless" => usual(|e, call, _| compare(e, call, Order::Below)),
        "__builtin_islessequal" => usual(|e, call, _| compare(e, call, Order::NotAbove)),
        "__builtin_islessgreater" => usual(|e, call, _| compare(e, call, Order::Apart)),
        "__builtin_isunordered" => usual(|e, call, _| compare(e, call, Order::None)),
        _ if only_calculates(name) => usual(unknown_value),
        _ => None,
    }
}

/// Functions that calculate a number of floating point from others, and do nothing else but set `errno`; those that are
/// written in C are not among them.
fn only_calculates(name: &str) -> bool {
    matches!(
        name,
        "sin"
            | "cos"
            | "tan"
            | "asin"
            | "acos"
            | "atan"
            | "atan2"
            | "sinh"
            | "cosh"
            | "tanh"
            | "asinh"
            | "acosh"
            | "atanh"
            | "exp"
            | "exp2"
            | "exp10"
            | "log"
            | "log2"
            | "log10"
            | "pow"
            | "cbrt"
            | "hypot"
            | "fmod"
            | "ldexp"
            | "scalbn"
            | "sinf"
            | "cosf"
            | "tanf"
            | "asinf"
            | "acosf"
            | "atanf"
            | "sinhf"
            | "coshf"
            | "tanhf"
            | "expf"
            | "exp2f"
            | "logf"
            | "log2f"
            | "log10f"
            | "powf"
            | "fmodf"
            | "cbrtf"
            | "hypotf"
            | "atan2f"
            | "expm1"
            | "log1p"
            | "remainder"
            | "fma"
            | "fmaf"
            | "tgamma"
            | "nextafter"
    )
}

/// Infinity, or no number.
fn number(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let is_infinite = special(call.name) == Some(Special::Infinity);
    let (single, double) = match is_infinite {
        true => (f32::INFINITY, f64::INFINITY),
        false => (f32::NAN, f64::NAN),
    };
    Ok(match kind_of(call.result) {
        Some(Float::F32) => Some(Some(encoder.terms.constant(32, single.to_bits().into()))),
        Some(Float::F64) => Some(Some(encoder.terms.constant(64, double.to_bits().into()))),
        None => None,
    })
}

fn kind_of(ty: Type) -> Option<Float> {
    match ty {
        Type::F32 => Some(Float::F32),
        Type::F64 => Some(Float::F64),
        _ => None,
    }
}

fn absolute(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some((ty, value)) = call.argument(0) else {
        return Ok(None);
    };
    let Some(kind) = kind_of(ty) else {
        return Ok(None);
    };
    let width = kind.width();
    let mask = encoder
        .terms
        .constant(width, u128::MAX >> (128 - width + 1));
    Ok(Some(Some(encoder.terms.bit_and(value, mask))))
}

fn root(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((ty, value)) = call.argument(0) else {
        return Ok(None);
    };
    let Some(kind) = kind_of(ty) else {
        return Ok(None);
    };
    // EDOM
    let zero = encoder.terms.constant(kind.width(), 0);
    let negative = encoder.terms.float_lt(kind, value, zero);
    let number = encoder.terms.constant(32, 33);
    encoder.set_errno_where(world, negative, number);
    Ok(Some(Some(encoder.terms.float_sqrt(kind, value))))
}

fn unknown_value(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some(sort @ Sort::Bits(_)) = crate::meaning::sort(call.result) else {
        return Ok(None);
    };
    let arguments: Option<Vec<_>> = call.arguments.iter().map(|&(_, value)| value).collect();
    let Some(arguments) = arguments else {
        return Ok(None);
    };
    encoder.note(format!(
        "nothing is known of `{}` but that equal arguments give equal results",
        call.name
    ));
    if facts(call.name).is_some_and(|facts| facts.contains(&Fact::Errno)) {
        encoder.errno_may_change(world, call);
    }
    let value = encoder.terms.apply(call.name, &arguments, sort);
    Ok(Some(Some(value)))
}

/// A number by its bits: without its sign, its sign, and the bits of infinity and of the least normal number.
struct Parts {
    width: u32,
    magnitude: Term,
    negative: Term,
    infinity: Term,
    normal: Term,
}

fn parts(encoder: &mut Encoder<'_>, call: &Call<'_>, index: usize) -> Option<Parts> {
    let (ty, value) = call.argument(index)?;
    let kind = kind_of(ty)?;
    let width = kind.width();
    let terms = &mut *encoder.terms;
    let mask = terms.constant(width, u128::MAX >> (128 - width + 1));
    let (infinity, normal) = match kind {
        Float::F32 => (
            f32::INFINITY.to_bits().into(),
            f32::MIN_POSITIVE.to_bits().into(),
        ),
        Float::F64 => (
            f64::INFINITY.to_bits().into(),
            f64::MIN_POSITIVE.to_bits().into(),
        ),
    };
    let top = terms.extract(value, width - 1, width - 1);
    let one = terms.constant(1, 1);
    Some(Parts {
        width,
        magnitude: terms.bit_and(value, mask),
        negative: terms.eq(top, one),
        infinity: terms.constant(width, infinity),
        normal: terms.constant(width, normal),
    })
}

/// A truth value as `int`.
fn truth(encoder: &mut Encoder<'_>, holds: Term) -> Given {
    let (no, yes) = (encoder.terms.constant(32, 0), encoder.terms.constant(32, 1));
    Ok(Some(Some(encoder.terms.ite(holds, yes, no))))
}

fn is_nan(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(of) = parts(encoder, call, 0) else {
        return Ok(None);
    };
    let holds = encoder.terms.ult(of.infinity, of.magnitude);
    truth(encoder, holds)
}

fn is_infinite(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(of) = parts(encoder, call, 0) else {
        return Ok(None);
    };
    let holds = encoder.terms.eq(of.infinity, of.magnitude);
    truth(encoder, holds)
}

/// 1 for infinity, -1 for the negative one.
fn which_infinity(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(of) = parts(encoder, call, 0) else {
        return Ok(None);
    };
    let terms = &mut *encoder.terms;
    let holds = terms.eq(of.infinity, of.magnitude);
    let [none, plus] = [0, 1].map(|value| terms.constant(32, value));
    let minus = terms.constant(32, u128::from(u32::MAX));
    let which = terms.ite(of.negative, minus, plus);
    Ok(Some(Some(terms.ite(holds, which, none))))
}

fn is_finite(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(of) = parts(encoder, call, 0) else {
        return Ok(None);
    };
    let holds = encoder.terms.ult(of.magnitude, of.infinity);
    truth(encoder, holds)
}

fn is_normal(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(of) = parts(encoder, call, 0) else {
        return Ok(None);
    };
    let finite = encoder.terms.ult(of.magnitude, of.infinity);
    let normal = encoder.terms.ule(of.normal, of.magnitude);
    let holds = encoder.terms.and(finite, normal);
    truth(encoder, holds)
}

fn sign(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if let Some((_, value)) = call.argument(0) {
        encoder.sign_is_seen(world, value, call.place);
    }
    match parts(encoder, call, 0) {
        Some(of) => truth(encoder, of.negative),
        None => Ok(None),
    }
}

/// One of five values, for NaN, infinity, normal and subnormal numbers and zero.
fn classify(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let names: Option<Vec<Term>> = (0..5)
        .map(|index| call.argument(index).map(|(_, value)| value))
        .collect();
    let (Some(names), Some(of)) = (names, parts(encoder, call, 5)) else {
        return Ok(None);
    };
    let terms = &mut *encoder.terms;
    let zero = terms.constant(of.width, 0);
    let nan = terms.ult(of.infinity, of.magnitude);
    let infinite = terms.eq(of.infinity, of.magnitude);
    let normal = terms.ule(of.normal, of.magnitude);
    let nothing = terms.eq(of.magnitude, zero);
    let mut class = names[3];
    for (holds, name) in [
        (nothing, names[4]),
        (normal, names[2]),
        (infinite, names[1]),
        (nan, names[0]),
    ] {
        class = terms.ite(holds, name, class);
    }
    Ok(Some(Some(class)))
}

/// How two numbers stand to each other.
#[derive(Clone, Copy)]
enum Order {
    Below,
    NotAbove,
    Above,
    NotBelow,
    Apart,
    None,
}

fn compare(encoder: &mut Encoder<'_>, call: &Call<'_>, order: Order) -> Given {
    let (Some((first, a)), Some((second, b))) = (call.argument(0), call.argument(1)) else {
        return Ok(None);
    };
    let (Some(kind), true) = (kind_of(first), first == second) else {
        return Ok(None);
    };
    let terms = &mut *encoder.terms;
    let (below, above) = (terms.float_lt(kind, a, b), terms.float_lt(kind, b, a));
    let holds = match order {
        Order::Below => below,
        Order::Above => above,
        Order::NotAbove => terms.float_le(kind, a, b),
        Order::NotBelow => terms.float_le(kind, b, a),
        Order::Apart => terms.or(below, above),
        Order::None => {
            let (a, b) = (terms.float_is_nan(kind, a), terms.float_is_nan(kind, b));
            terms.or(a, b)
        }
    };
    truth(encoder, holds)
}

impl Encoder<'_> {
    /// The bits of a value are looked at: which sign a NaN has that an operation made is up to the processor.
    pub(crate) fn sign_is_seen(&mut self, world: &World, value: Term, place: &Place) {
        if let Some(is_nan) = self.is_made_nan(value, 4) {
            let reason = "the sign of a NaN that an operation makes";
            self.unknown_where(world, is_nan, reason, place);
        }
    }

    /// When a value is a NaN that an operation made, if it may be one.
    fn is_made_nan(&mut self, value: Term, depth: u32) -> Option<Term> {
        match self.terms.node(value) {
            Node::FloatBinary(kind, ..) | Node::FloatSqrt(kind, _) => {
                let is_nan = self.terms.float_is_nan(kind, value);
                (self.terms.as_truth(is_nan) != Some(false)).then_some(is_nan)
            }
            Node::Ite(condition, a, b) if depth > 0 => {
                let (x, y) = (
                    self.is_made_nan(a, depth - 1),
                    self.is_made_nan(b, depth - 1),
                );
                if x.is_none() && y.is_none() {
                    return None;
                }
                let no = self.terms.truth(false);
                Some(self.terms.ite(condition, x.unwrap_or(no), y.unwrap_or(no)))
            }
            // Turned around, as by `-`.
            Node::BitXor(a, b) if depth > 0 => {
                let found = self.is_made_nan(a, depth - 1);
                found.or_else(|| self.is_made_nan(b, depth - 1))
            }
            // A part that has the sign.
            Node::Extract { of, high, .. } if depth > 0 && high + 1 == self.terms.width(of) => {
                self.is_made_nan(of, depth - 1)
            }
            _ => None,
        }
    }
}
