//! The interface between the interpreter and the models of library functions.

use patchwright_ir::{Type, wide};

use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
};

/// A model: gives the bits of the value.
pub(crate) type Native = fn(&mut Machine<'_>, &Args<'_>) -> Run<u128>;

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    pub(crate) ty: Type,
    pub(crate) bits: u128,
}

/// The arguments of a call.
pub(crate) struct Args<'a>(pub(crate) &'a [Arg]);

impl Args<'_> {
    /// Returns an argument. A missing one is undefined behaviour of the call.
    pub(crate) fn get(&self, index: usize) -> Run<Arg> {
        match self.0.get(index) {
            Some(arg) => Ok(*arg),
            None => undefined(
                Undefined::BadCall,
                format!(
                    "argument {} of a function of the library is missing",
                    index + 1
                ),
            ),
        }
    }

    /// A pointer, or an integer as it is.
    pub(crate) fn word(&self, index: usize) -> Run<u64> {
        Ok(self.get(index)?.bits as u64)
    }

    /// Returns an argument as a signed integer.
    pub(crate) fn int(&self, index: usize) -> Run<i64> {
        let arg = self.get(index)?;
        let bits = wide::convert(arg.ty, Type::I64, arg.bits).unwrap_or(arg.bits);
        Ok(bits as u64 as i64)
    }

    /// A float of any type, as a `double`.
    pub(crate) fn float(&self, index: usize) -> Run<f64> {
        let arg = self.get(index)?;
        let bits = wide::convert(arg.ty, Type::F64, arg.bits).unwrap_or(0);
        Ok(f64::from_bits(bits as u64))
    }
}

/// An `int` as the bits of a result.
pub(crate) fn int(value: i64) -> Run<u128> {
    Ok(u128::from(value as u64))
}

/// A pointer or an unsigned integer as the bits of a result.
pub(crate) fn word(value: u64) -> Run<u128> {
    Ok(u128::from(value))
}
