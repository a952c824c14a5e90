//! Products, and whether they fit.

use super::gates::{Gates, Lit, Word};
use super::words::{sign_extended, significant};

impl Gates {
    /// The lowest `width` bits of the product of two numbers with sign.
    pub(crate) fn product(&mut self, a: &[Lit], b: &[Lit], width: usize) -> Word {
        // With fewer rows there is less to add; a row whose bit is a constant zero costs nothing.
        let rows = |word: &[Lit]| {
            word[..significant(word)]
                .iter()
                .filter(|&&lit| lit != Lit::FALSE)
                .count()
        };
        let constants = |word: &[Lit]| word.iter().all(|lit| lit.is_constant());
        let (a, b) = if constants(a) || (!constants(b) && rows(a) < rows(b)) {
            (b, a)
        } else {
            (a, b)
        };
        if constants(b) {
            return self.product_by_constant(a, b, width);
        }
        let (n, m) = (significant(a), significant(b));
        let mut result = Vec::with_capacity(width);
        // The part of the sum that may change, as a number with sign.
        let mut open: Word = vec![Lit::FALSE];
        for (at, &factor) in b[..m].iter().enumerate().take(width) {
            let size = (n + 1).min(width - at);
            let row = sign_extended(&a[..n], size.max(n))[..size].to_vec();
            let row = self.masked(factor, &row);
            let so_far = sign_extended(&open, size.max(open.len()))[..size].to_vec();
            // The sign's row counts negative.
            let sum = if at + 1 == m {
                self.sub(&so_far, &row)
            } else {
                self.add(&so_far, &row)
            };
            result.push(sum[0]);
            // One more bit, so that the shift loses nothing.
            open = if sum.len() > 1 {
                sum[1..].to_vec()
            } else {
                vec![Lit::FALSE]
            };
        }
        if result.len() < width {
            let rest = width - result.len();
            result.extend(
                sign_extended(&open, rest.max(open.len()))
                    .into_iter()
                    .take(rest),
            );
        }
        result
    }

    /// Multiplies by a constant: adds and subtracts shifted words, one for each digit other than 0 of the constant in digits 1, 0 and -1.
    fn product_by_constant(&mut self, a: &[Lit], constant: &[Lit], width: usize) -> Word {
        let a = sign_extended(a, width.max(a.len()));
        let mut result = vec![Lit::FALSE; width];
        let bit = |at: usize| {
            constant
                .get(at)
                .or(constant.last())
                .is_some_and(|&lit| lit == Lit::TRUE)
        };
        let mut carry = false;
        for at in 0..width {
            let (here, next) = (bit(at), bit(at + 1));
            let odd = here != carry;
            if odd {
                let above = &a[..width - at];
                // A run of ones is its end minus its beginning.
                let minus = next;
                let part = result[at..].to_vec();
                let part = if minus {
                    self.sub(&part, above)
                } else {
                    self.add(&part, above)
                };
                result.truncate(at);
                result.extend(part);
                carry = minus;
            }
        }
        result
    }

    /// The product of two numbers without sign is too large for their width.
    pub(crate) fn product_overflows_unsigned(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let width = a.len();
        // Ones whose product alone is too large.
        let mut far = Lit::FALSE;
        let mut upper = Lit::FALSE;
        for at in 1..width {
            upper = self.or(upper, b[width - at]);
            let both = self.and(a[at], upper);
            far = self.or(far, both);
        }
        // Else one more bit holds the product.
        let [a, b] = [a, b].map(|word| super::words::zero_extended(word, width + 2));
        let product = self.product(&a, &b, width + 1);
        self.or(far, product[width])
    }

    /// The product of two numbers with sign does not fit their width.
    pub(crate) fn product_overflows_signed(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let width = a.len();
        let top = width - 1;
        // Bits that differ from the sign, whose product alone is too large.
        let [x, y]: [Word; 2] = [a, b].map(|word| {
            let sign = word[top];
            word[..top].iter().map(|&lit| self.xor(lit, sign)).collect()
        });
        let mut far = Lit::FALSE;
        let mut upper = Lit::FALSE;
        for at in 1..top {
            upper = self.or(upper, y[top - at]);
            let both = self.and(x[at], upper);
            far = self.or(far, both);
        }
        // Else one more bit holds the product, or shows that it is twice the least number.
        let [a, b] = [a, b].map(|word| sign_extended(word, width + 1));
        let product = self.product(&a, &b, width + 1);
        let differ = self.xor(product[width], product[top]);
        self.or(far, differ)
    }
}
