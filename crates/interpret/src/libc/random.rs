//! Generators of random numbers.

/// The generator of glibc's `rand`: additive feedback over 31 words.
#[derive(Default)]
pub(crate) struct Random {
    pub(super) words: Vec<i32>,
    pub(super) at: usize,
}

/// The generator of `drand48` and its like: 48 bits, congruential.
#[derive(Default)]
pub(crate) struct Random48(pub(super) u64);

impl Random48 {
    /// Returns the next state of `drand48` and its relatives, 48 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(11) & ((1 << 48) - 1);
        self.0
    }
}

impl Random {
    /// Sets the state as `srandom` does it in glibc.
    pub(super) fn seed(&mut self, seed: u32) {
        let seed = if seed == 0 { 1 } else { seed };
        let mut word = seed as i32;
        self.words = vec![word];
        for _ in 1..31 {
            let (high, low) = (word / 127_773, word % 127_773);
            word = 16_807i32
                .wrapping_mul(low)
                .wrapping_sub(2836i32.wrapping_mul(high));
            if word < 0 {
                word = word.wrapping_add(2_147_483_647);
            }
            self.words.push(word);
        }
        self.at = 0;
        for _ in 0..310 {
            self.next();
        }
    }

    /// Returns the next number of `random`, from 0 to 2³¹ − 1.
    pub(super) fn next(&mut self) -> i64 {
        if self.words.is_empty() {
            self.seed(1);
        }
        let front = (self.at + 3) % 31;
        let sum = self.words[front].wrapping_add(self.words[self.at]);
        self.words[front] = sum;
        self.at = (self.at + 1) % 31;
        i64::from((sum as u32) >> 1)
    }
}
