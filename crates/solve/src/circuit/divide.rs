//! Quotients and rests, square roots: digit by digit, so that known operands give known results by propagation alone.

use super::gates::{Gates, Lit, Word};
use super::words::{significant_unsigned, zero_extended};

impl Gates {
    /// Quotient and rest without sign. Where the divisor is zero they are all ones and the dividend.
    pub(crate) fn divided(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let operands = (a.to_vec(), b.to_vec());
        if let Some(results) = self.divisions.get(&operands) {
            return results.clone();
        }
        let (quotient, rest) = self.long_division(a, b);
        // What follows from all digits together, and is not seen from any of them.
        let zero = self.is_zero(b);
        let less = self.less(&rest, b);
        self.laws.push(vec![zero, less]);
        let more = self.less(a, &rest);
        self.laws.push(vec![!more]);
        let more = self.less(a, &quotient);
        self.laws.push(vec![zero, !more]);
        self.divisions
            .insert(operands, (quotient.clone(), rest.clone()));
        (quotient, rest)
    }

    fn long_division(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let width = a.len();
        let size = significant_unsigned(b);
        // What of the divisor is not zero from a bit on.
        let mut above = vec![Lit::FALSE; width + 1];
        for at in (0..width).rev() {
            above[at] = self.or(above[at + 1], b[at]);
        }
        let mut quotient = vec![Lit::FALSE; width];
        let mut rest: Word = Vec::new();
        // Zeros at the top of the dividend leave the rest zero, and give quotients of one only by a zero.
        let zero_divisor = !above[0];
        let digits = significant_unsigned(a);
        for bit in &mut quotient[digits..] {
            *bit = zero_divisor;
        }
        for at in (0..digits).rev() {
            rest.insert(0, a[at]);
            // The rest was less than the divisor, or than the power that was reached: one bit more holds it.
            rest.truncate(size + 1);
            let here = rest.len().min(width);
            let divisor = zero_extended(&b[..size.min(here)], rest.len());
            let (difference, borrow) = self.sub_with_borrow(&rest, &divisor);
            let large = above[here];
            let fits = self.and(!borrow, !large);
            quotient[at] = fits;
            rest = self.mux_word(fits, &difference, &rest);
        }
        // Where the divisor is zero, bits of the rest were cut that belong to the dividend.
        let rest = zero_extended(&rest, width);
        let rest = self.mux_word(zero_divisor, a, &rest);
        (quotient, rest)
    }

    /// Quotient and rest with sign; towards zero, the rest has the sign of the dividend.
    pub(crate) fn divided_signed(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let top = a.len() - 1;
        let (minus, other) = (a[top], b[top]);
        let (a, b) = (self.negated_if(minus, a), self.negated_if(other, b));
        let (quotient, rest) = self.divided(&a, &b);
        let differ = self.xor(minus, other);
        (
            self.negated_if(differ, &quotient),
            self.negated_if(minus, &rest),
        )
    }

    /// The greatest number whose square is not greater, and whether it is less. The width is even.
    pub(crate) fn square_root(&mut self, a: &[Lit]) -> (Word, Lit) {
        let digits = a.len() / 2;
        let mut root: Word = Vec::new();
        let mut rest: Word = Vec::new();
        for at in (0..digits).rev() {
            // Two more bits; what is taken away for a one is twice the root so far, and then 01.
            rest.splice(0..0, [a[2 * at], a[2 * at + 1]]);
            let mut taken = vec![Lit::TRUE, Lit::FALSE];
            taken.extend(&root);
            let width = rest.len().max(taken.len());
            let (wide, taken) = (zero_extended(&rest, width), zero_extended(&taken, width));
            let (difference, borrow) = self.sub_with_borrow(&wide, &taken);
            rest = self.mux_word(!borrow, &difference, &wide);
            root.insert(0, !borrow);
            // The rest is at most twice the root.
            rest.truncate(root.len() + 1);
        }
        let inexact = !self.is_zero(&rest);
        (root, inexact)
    }
}
