//! Functions of `math.h`: the exact ones as terms, the others as functions of which nothing is known
//! but that equal arguments give equal results.

use patchwright_ir::Type;
use patchwright_solve::{Float, Sort};

use super::{Given, Model, usual};
use crate::{
    call::Call,
    encoder::{Encoder, World},
};

pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "fabs" | "fabsf" => usual(absolute),
        "sqrt" | "sqrtf" => usual(root),
        "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "sinh" | "cosh" | "tanh"
        | "exp" | "exp2" | "log" | "log2" | "log10" | "pow" | "cbrt" | "hypot" | "floor"
        | "ceil" | "round" | "trunc" | "rint" | "nearbyint" | "fmod" | "ldexp" | "sinf"
        | "cosf" | "tanf" | "expf" | "logf" | "powf" | "floorf" | "ceilf" | "roundf" | "truncf"
        | "fmodf" | "atanf" | "atan2f" | "log10f" | "expm1" | "log1p" => usual(unknown_value),
        _ => None,
    }
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

fn root(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some((ty, value)) = call.argument(0) else {
        return Ok(None);
    };
    match kind_of(ty) {
        Some(kind) => Ok(Some(Some(encoder.terms.float_sqrt(kind, value)))),
        None => Ok(None),
    }
}

fn unknown_value(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
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
    let value = encoder.terms.apply(call.name, &arguments, sort);
    Ok(Some(Some(value)))
}
