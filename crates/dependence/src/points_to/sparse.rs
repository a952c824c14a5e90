//! Sets of numbers that lie far apart.

/// A set of numbers: words of 64 bits that are not empty, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sparse(Vec<(u32, u64)>);

impl Sparse {
    /// Adds a number; false if it was there.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        match self.0.binary_search_by_key(&word, |&(word, _)| word) {
            Ok(at) => {
                let new = self.0[at].1 & bit == 0;
                self.0[at].1 |= bit;
                new
            }
            Err(at) => {
                self.0.insert(at, (word, bit));
                true
            }
        }
    }

    /// Adds all numbers of another set; false if they were all there.
    pub(crate) fn union(&mut self, other: &Sparse) -> bool {
        if other.0.is_empty() {
            return false;
        }
        let mut at = 0;
        let mut missing = 0;
        let mut changed = false;
        for &(word, bits) in &other.0 {
            while at < self.0.len() && self.0[at].0 < word {
                at += 1;
            }
            match self.0.get_mut(at) {
                Some((mine, held)) if *mine == word => {
                    changed |= bits & !*held != 0;
                    *held |= bits;
                }
                _ => missing += 1,
            }
        }
        if missing == 0 {
            return changed;
        }
        let mine = std::mem::take(&mut self.0);
        let mut all = Vec::with_capacity(mine.len() + missing);
        let (mut a, mut b) = (mine.into_iter().peekable(), other.0.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    all.extend(a.next());
                    b.next();
                }
                (Some(x), Some(y)) if x.0 < y.0 => all.extend(a.next()),
                (_, Some(_)) => all.extend(b.next().copied()),
                (Some(_), None) => all.extend(a.next()),
                (None, None) => break,
            }
        }
        self.0 = all;
        true
    }

    /// The numbers that are in this set and not in the other.
    pub(crate) fn without(&self, other: &Sparse) -> Sparse {
        let mut at = 0;
        let mut left = Vec::new();
        for &(word, bits) in &self.0 {
            while at < other.0.len() && other.0[at].0 < word {
                at += 1;
            }
            let gone = match other.0.get(at) {
                Some(&(theirs, held)) if theirs == word => held,
                _ => 0,
            };
            if bits & !gone != 0 {
                left.push((word, bits & !gone));
            }
        }
        Sparse(left)
    }

    /// Whether the set has no number.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only number of the set, if there is just one.
    pub(crate) fn single(&self) -> Option<u32> {
        match self.0[..] {
            [(word, bits)] if bits.is_power_of_two() => Some(word * 64 + bits.trailing_zeros()),
            _ => None,
        }
    }

    /// Returns the numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(word, bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(word * 64 + bit)
            })
        })
    }
}

impl FromIterator<u32> for Sparse {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Sparse {
        let mut set = Sparse::default();
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
    fn sets_are_united_and_subtracted() {
        let mut set: Sparse = [3, 64, 700].into_iter().collect();
        assert!(!set.union(&[64].into_iter().collect()));
        assert!(set.union(&[65, 5000, 1].into_iter().collect()));
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 3, 64, 65, 700, 5000]);
        let left = set.without(&[1, 3, 64, 65, 700].into_iter().collect());
        assert_eq!(left.single(), Some(5000));
        assert!(left.without(&set).is_empty() && set.single().is_none());
    }
}
