//! Floating point of any format: IEEE 754's encodings, rounded to nearest, ties to even.

use super::gates::{Gates, Lit, Word};
use super::words::{number, sign_extended, zero_extended};
use crate::sort::Float;

/// The sizes of a format's fields.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand that are stored.
    pub fraction: u32,
}

impl From<Float> for Format {
    fn from(kind: Float) -> Self {
        Format {
            exponent: kind.exponent_bits(),
            fraction: kind.fraction_bits(),
        }
    }
}

impl Format {
    /// Returns the number of bits of a value.
    pub(crate) fn width(self) -> usize {
        (self.exponent + self.fraction + 1) as usize
    }

    fn fraction(self) -> usize {
        self.fraction as usize
    }

    fn exponent(self) -> usize {
        self.exponent as usize
    }

    /// Bits of the significand with the leading one.
    fn precision(self) -> usize {
        self.fraction() + 1
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// A number taken apart.
struct Parts {
    sign: Lit,
    /// Without bias, with sign, two bits wider than the field; that of the least normal numbers for subnormal ones.
    exponent: Word,
    /// With the leading bit, which is zero for subnormal numbers.
    significand: Word,
    nan: Lit,
    infinite: Lit,
    zero: Lit,
}

/// A number with sign that fits the width.
fn constant(width: usize, value: i64) -> Word {
    number(width as u32, i128::from(value) as u128)
}

impl Gates {
    fn parts(&mut self, format: Format, word: &[Lit]) -> Parts {
        let (fraction, field) = word[..word.len() - 1].split_at(format.fraction());
        let sign = word[word.len() - 1];
        let ones = self.all(field.iter().copied());
        let normal = self.any(field.iter().copied());
        let empty = self.is_zero(fraction);
        // The field of subnormal numbers is zero and means one.
        let mut exponent = zero_extended(field, format.exponent() + 2);
        exponent[0] = self.or(exponent[0], !normal);
        let bias = constant(exponent.len(), -format.bias());
        let exponent = self.add(&exponent, &bias);
        let mut significand = fraction.to_vec();
        significand.push(normal);
        Parts {
            sign,
            exponent,
            significand,
            nan: self.and(ones, !empty),
            infinite: self.and(ones, empty),
            zero: self.and(!normal, empty),
        }
    }

    fn infinity(format: Format, sign: Lit) -> Word {
        let mut word = vec![Lit::FALSE; format.fraction()];
        word.extend(vec![Lit::TRUE; format.exponent()]);
        word.push(sign);
        word
    }

    fn nan(format: Format) -> Word {
        let mut word = Self::infinity(format, Lit::FALSE);
        word[format.fraction() - 1] = Lit::TRUE;
        word
    }

    fn zero(format: Format, sign: Lit) -> Word {
        let mut word = vec![Lit::FALSE; format.width() - 1];
        word.push(sign);
        word
    }

    /// The nearest number to `significand`, whose highest bit counts two to the `exponent`. The lowest bit may stand for
    /// all that is below it, where there are two bits more than the format has. All zeros give zero.
    fn rounded(
        &mut self,
        format: Format,
        sign: Lit,
        exponent: &[Lit],
        significand: &[Lit],
    ) -> Word {
        let precision = format.precision();
        let mut wide = significand.to_vec();
        // Room for what rounding looks at.
        while wide.len() < precision + 2 {
            wide.insert(0, Lit::FALSE);
        }
        let (wide, count) = self.normalised(&wide);
        let width = exponent
            .len()
            .max(count.len() + 1)
            .max(format.exponent() + 2)
            + 1;
        let exponent = sign_extended(exponent, width);
        let count = zero_extended(&count, width);
        let exponent = self.sub(&exponent, &count);
        // Below the least exponent the significand moves down instead.
        let least = constant(width, 1 - format.bias());
        let missing = self.sub(&least, &exponent);
        let small = self.less_signed(&exponent, &least);
        let distance = self.masked(small, &missing);
        // What is below the rounding bit is one bit from here on.
        let extra = wide.len() - (precision + 2);
        let sticky = self.any(wide[..=extra].iter().copied());
        let mut short = vec![sticky];
        short.extend(&wide[extra + 1..]);
        // Further than all bits is as good as just as far.
        let bits = (usize::BITS - (precision + 2).leading_zeros()) as usize;
        let mut near = distance[..bits].to_vec();
        let far = self.any(distance[bits..width - 1].iter().copied());
        for bit in &mut near {
            *bit = self.or(*bit, far);
        }
        let short = self.shifted_right_sticky(&short, &near);
        let (sticky, half, kept) = (short[0], short[1], &short[2..]);
        let odd_or_more = self.or(kept[0], sticky);
        let up = self.and(half, odd_or_more);
        // The field of the exponent: zero without a leading one.
        let leading = kept[precision - 1];
        let bias = constant(width, format.bias());
        let biased = self.add(&exponent, &bias);
        let one = constant(width, 1);
        let biased = self.mux_word(small, &one, &biased);
        let field = self.masked(leading, &biased);
        // A carry out of the fraction is the next exponent.
        let mut packed = kept[..format.fraction()].to_vec();
        packed.extend(&field[..format.exponent()]);
        let zero = vec![Lit::FALSE; packed.len()];
        let (mut packed, _) = self.add_with_carry(&packed, &zero, up);
        let most = constant(width, format.bias());
        let above = self.less_signed(&most, &exponent);
        // Nothing was large that has no leading one.
        let above = self.and(above, leading);
        let rounded_up = self.all(packed[format.fraction()..].iter().copied());
        let overflow = self.or(above, rounded_up);
        packed.push(sign);
        let infinity = Self::infinity(format, sign);
        self.mux_word(overflow, &infinity, &packed)
    }

    /// Makes the circuit of `a + b`, rounded to the nearest.
    pub(crate) fn float_sum(&mut self, format: Format, a: &[Lit], b: &[Lit]) -> Word {
        let magnitude = format.width() - 1;
        let swap = self.less(&a[..magnitude], &b[..magnitude]);
        let (large, small) = (self.mux_word(swap, b, a), self.mux_word(swap, a, b));
        let (large, small) = (self.parts(format, &large), self.parts(format, &small));
        // A bit above for the carry; below two for rounding, and one that says whether there was more.
        let widened = |word: &[Lit]| {
            let mut wide = vec![Lit::FALSE; 3];
            wide.extend(word);
            wide.push(Lit::FALSE);
            wide
        };
        let distance = self.sub(&large.exponent, &small.exponent);
        let lower = widened(&small.significand);
        let lower = self.shifted_right_sticky(&lower, &distance[..format.exponent()]);
        let upper = widened(&large.significand);
        let differ = self.xor(large.sign, small.sign);
        let lower: Word = lower.iter().map(|&lit| self.xor(lit, differ)).collect();
        let (sum, _) = self.add_with_carry(&upper, &lower, differ);
        let one = constant(large.exponent.len(), 1);
        let exponent = self.add(&large.exponent, &one);
        // Nothing left is plus zero, unless both were minus zero.
        let nothing = self.is_zero(&sum);
        let both = self.and(large.sign, small.sign);
        let sign = self.mux(nothing, both, large.sign);
        let result = self.rounded(format, sign, &exponent, &sum);
        let infinity = Self::infinity(format, large.sign);
        let result = self.mux_word(large.infinite, &infinity, &result);
        let opposite = self.and(small.infinite, differ);
        let some = self.or(large.nan, small.nan);
        let nan = self.or(some, opposite);
        self.mux_word(nan, &Self::nan(format), &result)
    }

    /// Makes the circuit of `a * b`, rounded to the nearest.
    pub(crate) fn float_product(&mut self, format: Format, a: &[Lit], b: &[Lit]) -> Word {
        let (a, b) = (self.parts(format, a), self.parts(format, b));
        let sign = self.xor(a.sign, b.sign);
        let width = 2 * format.precision();
        let [x, y] = [&a, &b].map(|part| zero_extended(&part.significand, width + 1));
        let product = self.product(&x, &y, width);
        let size = a.exponent.len() + 1;
        let (x, y) = (
            sign_extended(&a.exponent, size),
            sign_extended(&b.exponent, size),
        );
        // The highest bit of the product counts one more than the sum says.
        let (exponent, _) = self.add_with_carry(&x, &y, Lit::TRUE);
        let result = self.rounded(format, sign, &exponent, &product);
        let infinite = self.or(a.infinite, b.infinite);
        let zero = self.or(a.zero, b.zero);
        let infinity = Self::infinity(format, sign);
        let result = self.mux_word(infinite, &infinity, &result);
        let some = self.or(a.nan, b.nan);
        let undefined = self.and(infinite, zero);
        let nan = self.or(some, undefined);
        self.mux_word(nan, &Self::nan(format), &result)
    }

    /// Makes the circuit of `a / b`, rounded to the nearest.
    pub(crate) fn float_quotient(&mut self, format: Format, a: &[Lit], b: &[Lit]) -> Word {
        let (a, b) = (self.parts(format, a), self.parts(format, b));
        let sign = self.xor(a.sign, b.sign);
        let precision = format.precision();
        let size = a.exponent.len() + 2;
        let mut exponent = vec![Lit::FALSE; size];
        let mut significands = Vec::new();
        for (part, divisor) in [(&a, false), (&b, true)] {
            let (significand, count) = self.normalised(&part.significand);
            let mut count = zero_extended(&count, size.max(count.len()));
            count.truncate(size);
            let own = sign_extended(&part.exponent, size);
            let own = self.sub(&own, &count);
            exponent = if divisor {
                self.sub(&exponent, &own)
            } else {
                self.add(&exponent, &own)
            };
            significands.push(significand);
        }
        // Both are between one and two, so the quotient is between a half and two: the bits of the format, those that
        // rounding looks at, and one more.
        let shift = precision + 2;
        let mut dividend = vec![Lit::FALSE; shift];
        dividend.extend(&significands[0]);
        let divisor = zero_extended(&significands[1], dividend.len());
        let (quotient, rest) = self.divided(&dividend, &divisor);
        let inexact = !self.is_zero(&rest);
        let mut quotient = quotient[..=shift].to_vec();
        quotient[0] = self.or(quotient[0], inexact);
        let result = self.rounded(format, sign, &exponent, &quotient);
        let infinite = self.or(a.infinite, b.zero);
        let infinity = Self::infinity(format, sign);
        let result = self.mux_word(infinite, &infinity, &result);
        let nothing = self.or(a.zero, b.infinite);
        let zero = Self::zero(format, sign);
        let result = self.mux_word(nothing, &zero, &result);
        let both_infinite = self.and(a.infinite, b.infinite);
        let both_zero = self.and(a.zero, b.zero);
        let nan = self.any([a.nan, b.nan, both_infinite, both_zero]);
        self.mux_word(nan, &Self::nan(format), &result)
    }

    /// Makes the circuit of the square root, rounded to the nearest.
    pub(crate) fn float_root(&mut self, format: Format, word: &[Lit]) -> Word {
        let a = self.parts(format, word);
        let (significand, count) = self.normalised(&a.significand);
        let size = a.exponent.len() + 1;
        let exponent = sign_extended(&a.exponent, size);
        let count = zero_extended(&count, size);
        let exponent = self.sub(&exponent, &count);
        // An odd exponent gives one factor of two to the significand, so that the rest can be halved.
        let odd = exponent[0];
        let digits = format.precision() + 2;
        let mut radicand = vec![Lit::FALSE; 2 * digits - 1 - format.precision()];
        radicand.extend(&significand);
        radicand.push(Lit::FALSE);
        let mut doubled = radicand.clone();
        doubled.rotate_right(1);
        let radicand = self.mux_word(odd, &doubled, &radicand);
        let (mut root, inexact) = self.square_root(&radicand);
        root[0] = self.or(root[0], inexact);
        let half = sign_extended(&exponent[1..], size);
        let result = self.rounded(format, Lit::FALSE, &half, &root);
        let infinity = Self::infinity(format, Lit::FALSE);
        let result = self.mux_word(a.infinite, &infinity, &result);
        let negative = self.and(a.sign, !a.zero);
        let nan = self.or(a.nan, negative);
        let result = self.mux_word(nan, &Self::nan(format), &result);
        self.mux_word(a.zero, word, &result)
    }

    /// The nearest number to an integer.
    pub(crate) fn float_of_integer(&mut self, format: Format, word: &[Lit], signed: bool) -> Word {
        let sign = if signed {
            word[word.len() - 1]
        } else {
            Lit::FALSE
        };
        let magnitude = self.negated_if(sign, word);
        let bits = (usize::BITS - magnitude.len().leading_zeros()) as usize + 1;
        let exponent = constant(bits.max(2), magnitude.len() as i64 - 1);
        self.rounded(format, sign, &exponent, &magnitude)
    }

    /// The integer without the fraction; the nearest that there is where it is out of range, zero for a NaN.
    pub(crate) fn integer_of_float(
        &mut self,
        format: Format,
        word: &[Lit],
        width: usize,
        signed: bool,
    ) -> Word {
        let a = self.parts(format, word);
        let exponent = &a.exponent;
        let size = exponent
            .len()
            .max((usize::BITS - width.leading_zeros()) as usize + 2);
        let exponent = sign_extended(exponent, size);
        let small = exponent[size - 1];
        let most = constant(size, width as i64);
        let far = self.less_signed(&most, &exponent);
        // The significand so high that it has only to be moved down.
        let mut wide = vec![Lit::FALSE; width];
        wide.extend(&a.significand);
        let size_of_count =
            (size as u32).max(64 - ((width + format.fraction()) as u64).leading_zeros() + 1);
        let top = constant(size_of_count as usize, (width + format.fraction()) as i64);
        let exponent = sign_extended(&exponent, size_of_count as usize);
        let count = self.sub(&top, &exponent);
        // Shifts further than the word never happen to numbers that are not small or far.
        let bits = (usize::BITS - wide.len().leading_zeros()) as usize;
        let shifted = self.shifted_right(&wide, &count[..bits.min(count.len())], Lit::FALSE);
        let magnitude = zero_extended(&shifted, width + 1);
        let magnitude = self.masked(!small, &magnitude);
        let positive_most = if signed { width - 1 } else { width };
        let mut limit = vec![Lit::FALSE; width + 1];
        limit[positive_most] = Lit::TRUE;
        let far = self.and(far, !small);
        let far = self.or(far, a.infinite);
        let fits = self.less(&magnitude, &limit);
        let too_large = self.or(!fits, far);
        let mut most = vec![Lit::TRUE; width];
        let mut least = vec![Lit::FALSE; width];
        if signed {
            most[width - 1] = Lit::FALSE;
            least[width - 1] = Lit::TRUE;
        }
        let end = self.mux_word(a.sign, &least, &most);
        let value = if signed {
            self.negated_if(a.sign, &magnitude[..width])
        } else {
            self.masked(!a.sign, &magnitude[..width])
        };
        let value = self.mux_word(too_large, &end, &value);
        self.masked(!a.nan, &value)
    }

    /// Makes the circuit of a conversion between two formats, rounded to the nearest.
    pub(crate) fn float_converted(&mut self, from: Format, to: Format, word: &[Lit]) -> Word {
        let a = self.parts(from, word);
        let result = self.rounded(to, a.sign, &a.exponent, &a.significand);
        let infinity = Self::infinity(to, a.sign);
        let result = self.mux_word(a.infinite, &infinity, &result);
        self.mux_word(a.nan, &Self::nan(to), &result)
    }
}
