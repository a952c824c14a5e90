//! `math.h`: what gives more than one number, `long double`, and comparisons.

use patchwright_ir::{
    Type,
    extended::{self as exact, Whole},
    wide,
};
use patchwright_semantics::{BinaryOp, Ty};

use super::{
    calling::{Native, int},
    math::{double, extended, reported, single, split},
    real,
    stdlib::ERANGE,
};
use crate::{fault::Run, machine::Machine};

/// Returns the model of a further function of `math.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "remquo" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            let (rest, quotient) = real::with_quotient(m, x, y);
            store_int(m, a.word(2)?, quotient.into())?;
            double(rest)
        },
        "remquof" => |m, a| {
            let (x, y) = (a.float(0)? as f32, a.float(1)? as f32);
            let (rest, quotient) = real::with_quotient_single(m, x, y);
            store_int(m, a.word(2)?, quotient.into())?;
            single(rest)
        },
        "nexttoward" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            let (from, to) = (extended(a, 0)?, extended(a, 1)?);
            let holds = |op| wide::binary(op, Type::F80, from, to) == Some(1);
            let next = if holds(BinaryOp::Lt) {
                x.next_up()
            } else if holds(BinaryOp::Gt) {
                x.next_down()
            } else {
                return double(if holds(BinaryOp::Eq) { y } else { x + y });
            };
            if x.is_finite() && x != 0.0 && !next.is_normal() {
                m.set_errno(ERANGE);
            }
            double(next)
        },
        "frexpf" => |m, a| {
            let (fraction, exponent) = split(a.float(0)?);
            store_int(m, a.word(1)?, exponent)?;
            single(fraction as f32)
        },
        "modff" => |m, a| {
            let x = a.float(0)? as f32;
            let whole = x.trunc();
            m.memory
                .store(Ty::F32, a.word(1)?, u64::from(whole.to_bits()))?;
            let rest = if x.is_infinite() { 0.0 } else { x - whole };
            single(rest.copysign(x))
        },
        "sincos" => |m, a| {
            let x = a.float(0)?;
            m.memory.store(Ty::F64, a.word(1)?, x.sin().to_bits())?;
            m.memory.store(Ty::F64, a.word(2)?, x.cos().to_bits())?;
            reported(m, &[x], x.sin());
            int(0)
        },
        "lrintl" | "llrintl" => |_, a| long(exact::whole(extended(a, 0)?, Whole::Even)),
        "lroundl" | "llroundl" => |_, a| long(exact::whole(extended(a, 0)?, Whole::Nearest)),
        "__builtin_isgreater" => |_, a| int(i64::from(a.float(0)? > a.float(1)?)),
        "__builtin_isgreaterequal" => |_, a| int(i64::from(a.float(0)? >= a.float(1)?)),
        "__builtin_islessequal" => |_, a| int(i64::from(a.float(0)? <= a.float(1)?)),
        "__builtin_islessgreater" => |_, a| {
            int(i64::from(
                a.float(0)? < a.float(1)? || a.float(0)? > a.float(1)?,
            ))
        },
        _ => return None,
    })
}

fn store_int(m: &mut Machine<'_>, at: u64, value: i64) -> Run<()> {
    m.memory.store(Ty::I32, at, value as u64)
}

/// A `long double` without a fraction as a `long`. What does not fit becomes the least one, as on the processor.
fn long(bits: u128) -> Run<u128> {
    Ok(wide::convert(Type::F80, Type::I64, bits).unwrap_or(1 << 63))
}
