//! Sets of small numbers, as bits.

/// A set of small numbers, as bits. An empty set takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number. The result is false if the set has it already.
    pub fn insert(&mut self, number: u32) -> bool {
        let word = number as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let bit = 1 << (number % 64);
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    /// Removes a number, if the set has it.
    pub fn remove(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Whether the set has the number.
    pub fn contains(&self, number: u32) -> bool {
        self.0
            .get(number as usize / 64)
            .is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds all numbers of `other`. The result is false if the set has them all already.
    pub fn union(&mut self, other: &Bits) -> bool {
        let used = other.0.len() - other.0.iter().rev().take_while(|&&word| word == 0).count();
        if used > self.0.len() {
            self.0.resize(used, 0);
        }
        let mut changed = false;
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    /// Returns the numbers of this set that `other` does not have.
    pub fn without(&self, other: &Bits) -> Bits {
        let mut left = self.clone();
        for (mine, &theirs) in left.0.iter_mut().zip(&other.0) {
            *mine &= !theirs;
        }
        left
    }

    /// Returns the numbers that both sets have.
    pub fn intersection(&self, other: &Bits) -> Bits {
        let both = self.0.iter().zip(&other.0).map(|(a, b)| a & b);
        Bits(both.collect())
    }

    /// Whether the set has no number.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Returns how many numbers the set has.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the number of a set that has exactly one, else `None`.
    pub fn single(&self) -> Option<u32> {
        let mut all = self.iter();
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    /// Returns the numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(index as u32 * 64 + bit)
            })
        })
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Bits {
        let mut set = Bits::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_in_and_come_out_in_order() {
        let mut set: Bits = [130, 3, 64, 3].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 130]);
        assert_eq!(set.count(), 3);
        assert!(!set.union(&[3].into_iter().collect()));
        assert!(set.union(&[4].into_iter().collect()));
        set.remove(130);
        assert!(!set.contains(130) && !set.contains(1000));
        let left = set.without(&[3, 64].into_iter().collect());
        assert_eq!(left.single(), Some(4));
        assert_eq!(set.single(), None);
    }
}
