//! Words of bits: sums, comparisons, shifts.

use super::gates::{Gates, Lit, Word};

/// A number as a word.
pub(crate) fn number(width: u32, value: u128) -> Word {
    (0..width)
        .map(|bit| Lit::constant(bit < 128 && value >> bit & 1 == 1))
        .collect()
}

/// Widened with zeros, or cut.
pub(crate) fn zero_extended(word: &[Lit], width: usize) -> Word {
    let mut word = word.to_vec();
    word.resize(width, Lit::FALSE);
    word
}

/// Widened with copies of the sign, or cut.
pub(crate) fn sign_extended(word: &[Lit], width: usize) -> Word {
    let mut word = word.to_vec();
    let sign = word[word.len() - 1];
    word.resize(width, sign);
    word
}

/// Returns the number of bits that hold the signed value: all higher bits repeat the last of them.
pub(crate) fn significant(word: &[Lit]) -> usize {
    let sign = word[word.len() - 1];
    let copies = word.iter().rev().take_while(|&&lit| lit == sign).count();
    word.len() - copies + 1
}

/// Returns the number of bits that hold the unsigned value, at least one.
pub(crate) fn significant_unsigned(word: &[Lit]) -> usize {
    let zeros = word
        .iter()
        .rev()
        .take_while(|&&lit| lit == Lit::FALSE)
        .count();
    (word.len() - zeros).max(1)
}

impl Gates {
    /// Sum and carry.
    pub(crate) fn add_with_carry(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> (Word, Lit) {
        let mut carry = carry;
        let sum = a
            .iter()
            .zip(b)
            .map(|(&x, &y)| {
                let half = self.xor(x, y);
                let bit = self.xor(half, carry);
                carry = self.majority(x, y, carry);
                bit
            })
            .collect();
        (sum, carry)
    }

    /// Returns the sum of two words, without carry.
    pub(crate) fn add(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.add_with_carry(a, b, Lit::FALSE).0
    }

    /// Returns the difference of two words, without borrow.
    pub(crate) fn sub(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.sub_with_borrow(a, b).0
    }

    /// Difference, and whether `a` is less, without sign.
    pub(crate) fn sub_with_borrow(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
        let inverted: Word = b.iter().map(|&lit| !lit).collect();
        let (difference, carry) = self.add_with_carry(a, &inverted, Lit::TRUE);
        (difference, !carry)
    }

    /// Returns the two's complement of a word.
    pub(crate) fn neg(&mut self, a: &[Lit]) -> Word {
        let zero = vec![Lit::FALSE; a.len()];
        self.sub(&zero, a)
    }

    /// Minus where the condition is true.
    pub(crate) fn negated_if(&mut self, condition: Lit, a: &[Lit]) -> Word {
        let inverted: Word = a.iter().map(|&lit| self.xor(lit, condition)).collect();
        let zero = vec![Lit::FALSE; a.len()];
        self.add_with_carry(&inverted, &zero, condition).0
    }

    /// Returns a literal that is true if two words are equal.
    pub(crate) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut result = Lit::TRUE;
        // From the top: numbers that one word is compared with have most of their upper bits in common.
        for (&x, &y) in a.iter().zip(b).rev() {
            let same = self.iff(x, y);
            result = self.and(result, same);
            if result == Lit::FALSE {
                break;
            }
        }
        result
    }

    /// Less, without sign.
    pub(crate) fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut less = Lit::FALSE;
        for (&x, &y) in a.iter().zip(b) {
            less = self.majority(!x, y, less);
        }
        less
    }

    /// Less, with sign.
    pub(crate) fn less_signed(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let top = a.len() - 1;
        let low = self.less(&a[..top], &b[..top]);
        self.majority(a[top], !b[top], low)
    }

    /// Returns the word `condition ? then : otherwise`.
    pub(crate) fn mux_word(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Word {
        then.iter()
            .zip(otherwise)
            .map(|(&x, &y)| self.mux(condition, x, y))
            .collect()
    }

    /// The word where the condition is true, else zero.
    pub(crate) fn masked(&mut self, condition: Lit, word: &[Lit]) -> Word {
        word.iter().map(|&lit| self.and(condition, lit)).collect()
    }

    /// Returns a literal that is true if all bits are 0.
    pub(crate) fn is_zero(&mut self, word: &[Lit]) -> Lit {
        !self.any(word.iter().copied())
    }

    /// Shifted to the left by a number without sign, of any width; zeros come in.
    pub(crate) fn shifted_left(&mut self, word: &[Lit], count: &[Lit]) -> Word {
        let reversed: Word = word.iter().rev().copied().collect();
        let mut shifted = self.shifted_right(&reversed, count, Lit::FALSE);
        shifted.reverse();
        shifted
    }

    /// Shifted to the right by a number without sign, of any width; copies of `fill` come in.
    pub(crate) fn shifted_right(&mut self, word: &[Lit], count: &[Lit], fill: Lit) -> Word {
        let mut word = word.to_vec();
        let mut too_far = Lit::FALSE;
        for (stage, &bit) in count.iter().enumerate() {
            let distance = 1usize.checked_shl(stage as u32).unwrap_or(usize::MAX);
            if distance >= word.len() {
                too_far = self.or(too_far, bit);
                continue;
            }
            word = (0..word.len())
                .map(|at| {
                    let from = word.get(at + distance).copied().unwrap_or(fill);
                    self.mux(bit, from, word[at])
                })
                .collect();
        }
        word.iter()
            .map(|&lit| self.mux(too_far, fill, lit))
            .collect()
    }

    /// Shifts right as [`Gates::shifted_right`] with zeros. The lowest bit also tells whether a 1 fell out.
    pub(crate) fn shifted_right_sticky(&mut self, word: &[Lit], count: &[Lit]) -> Word {
        let mut word = word.to_vec();
        let mut sticky = Lit::FALSE;
        for (stage, &bit) in count.iter().enumerate() {
            let distance = 1usize.checked_shl(stage as u32).unwrap_or(usize::MAX);
            let falling = word[..distance.min(word.len())].to_vec();
            let falls = self.any(falling);
            let falls = self.and(falls, bit);
            sticky = self.or(sticky, falls);
            word = (0..word.len())
                .map(|at| {
                    let from = at
                        .checked_add(distance)
                        .and_then(|at| word.get(at))
                        .copied()
                        .unwrap_or(Lit::FALSE);
                    self.mux(bit, from, word[at])
                })
                .collect();
        }
        word[0] = self.or(word[0], sticky);
        word
    }

    /// Shifted to the left until the highest bit is set, and by how far; a word of zeros is shifted somehow.
    pub(crate) fn normalised(&mut self, word: &[Lit]) -> (Word, Word) {
        let stages = (usize::BITS - (word.len() - 1).leading_zeros()) as usize;
        let mut word = word.to_vec();
        let mut count = vec![Lit::FALSE; stages];
        for stage in (0..stages).rev() {
            let distance = 1 << stage;
            if distance >= word.len() {
                continue;
            }
            let high = word[word.len() - distance..].to_vec();
            let empty = self.is_zero(&high);
            count[stage] = empty;
            word = (0..word.len())
                .map(|at| {
                    let from = at.checked_sub(distance).map_or(Lit::FALSE, |at| word[at]);
                    self.mux(empty, from, word[at])
                })
                .collect();
        }
        (word, count)
    }
}
