//! Sets of bytes of an object that are written on every path.

/// Ranges of bytes, in order, apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ranges(Vec<(i64, i64)>);

/// The offset behind every object.
pub(crate) const END: i64 = i64::MAX;

impl Ranges {
    /// Returns the set that has every byte of every object, at negative offsets, too.
    pub fn all() -> Self {
        Ranges(vec![(i64::MIN, END)])
    }

    /// Whether the set has no byte.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges in order: first byte, and the byte behind the last one.
    pub fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds the bytes from `from` to before `to`.
    pub fn add(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let (mut from, mut to) = (from, to);
        let first = self.0.partition_point(|range| range.1 < from);
        let mut last = first;
        while last < self.0.len() && self.0[last].0 <= to {
            from = from.min(self.0[last].0);
            to = to.max(self.0[last].1);
            last += 1;
        }
        self.0.splice(first..last, [(from, to)]);
    }

    /// Adds the bytes of `others`, moved by `by` bytes.
    pub fn add_moved(&mut self, others: &Ranges, by: i64) {
        for &(from, to) in &others.0 {
            self.add(moved(from, by), moved(to, by));
        }
    }

    /// Whether the set has all bytes from `from` to before `to`.
    pub fn contains(&self, from: i64, to: i64) -> bool {
        from >= to || self.0.iter().any(|range| range.0 <= from && to <= range.1)
    }

    /// Whether the set has all bytes of `others`.
    pub fn contains_all(&self, others: &Ranges) -> bool {
        others.0.iter().all(|&(from, to)| self.contains(from, to))
    }

    /// Returns the bytes that both sets have.
    pub fn intersection(&self, other: &Ranges) -> Ranges {
        let mut found = Vec::new();
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            let (from, to) = (x.0.max(y.0), x.1.min(y.1));
            if from < to {
                found.push((from, to));
            }
            match x.1 < y.1 {
                true => a += 1,
                false => b += 1,
            }
        }
        Ranges(found)
    }
}

fn moved(at: i64, by: i64) -> i64 {
    match at {
        i64::MIN | END => at,
        at => at.saturating_add(by),
    }
}

/// The bytes of an object that are written on every way to a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// These bytes are.
    pub written: Ranges,
    /// Something else of it may be: at a place that is not known, or by somebody who perhaps does it.
    pub weak: bool,
    /// Others may know where it is.
    pub escaped: bool,
}

impl Bytes {
    /// Returns the state of an object that is written as a whole.
    pub fn written() -> Self {
        Bytes {
            written: Ranges::all(),
            ..Bytes::default()
        }
    }

    /// Returns the state where two paths meet: only what is written on both counts as written.
    pub fn meet(&self, other: &Bytes) -> Bytes {
        Bytes {
            written: self.written.intersection(&other.written),
            weak: self.weak && other.weak,
            escaped: self.escaped || other.escaped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut ranges = Ranges::default();
        ranges.add(8, 12);
        ranges.add(0, 4);
        assert!(!ranges.contains(0, 12));
        ranges.add(4, 8);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(0, 12)]);
        let mut other = Ranges::default();
        other.add(2, 3);
        other.add(10, 20);
        let both = ranges.intersection(&other);
        assert_eq!(both.iter().collect::<Vec<_>>(), [(2, 3), (10, 12)]);
        assert!(Ranges::all().contains_all(&ranges));
        assert!(!other.contains_all(&ranges));
    }
}
