//! The sorts of terms: the kinds of values that they have.

use std::fmt;

/// The greatest width of bits in one term.
pub const MOST_BITS: u32 = 128;

/// The kind of a term's values.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// True or false.
    Bool,
    /// A vector of that many bits, 1 to [`MOST_BITS`].
    Bits(u32),
    /// A total map from bits to bits.
    Array {
        /// Width of an index.
        index: u32,
        /// Width of an element.
        element: u32,
    },
}

impl fmt::Display for Sort {
    /// As SMT-LIB 2 writes it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => out.write_str("Bool"),
            Sort::Bits(width) => write!(out, "(_ BitVec {width})"),
            Sort::Array { index, element } => write!(
                out,
                "(Array {} {})",
                Sort::Bits(*index),
                Sort::Bits(*element)
            ),
        }
    }
}

/// A format of IEEE 754. A value of it is the bits of its encoding.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Float {
    /// binary32, C's `float`.
    F32,
    /// binary64, C's `double`.
    F64,
}

impl Float {
    /// Bits of an encoding.
    pub fn width(self) -> u32 {
        self.exponent_bits() + self.fraction_bits() + 1
    }

    /// Bits of the exponent's field.
    pub fn exponent_bits(self) -> u32 {
        match self {
            Float::F32 => 8,
            Float::F64 => 11,
        }
    }

    /// Bits of the significand that are stored, the leading one not counted.
    pub fn fraction_bits(self) -> u32 {
        match self {
            Float::F32 => 23,
            Float::F64 => 52,
        }
    }

    /// The NaN that operations give: quiet, positive, without a payload.
    pub fn canonical_nan(self) -> u128 {
        match self {
            Float::F32 => 0x7FC0_0000,
            Float::F64 => 0x7FF8_0000_0000_0000,
        }
    }
}
