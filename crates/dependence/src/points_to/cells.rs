//! Divides objects into parts, at all borders of what is read and written at known places.

use super::{BaseId, Location, LocationId, PointeeId, PointsTo, shape::gcd};
use crate::bits::Bits;

/// Parts of one object; one with more of them has larger parts.
const MOST_CELLS: usize = 96;

/// Parts of arrays of smaller elements are not told apart.
const LEAST_MODULUS: u32 = 8;

/// The parts of all objects, numbered one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    bases: Vec<Parts>,
    /// The object of each part.
    base: Vec<BaseId>,
}

#[derive(Clone, Debug)]
struct Parts {
    /// The number of the first one.
    first: u32,
    /// Their parts are those of the elements of an array of elements of this size; 0 where it is no array.
    modulus: u32,
    /// Where each begins.
    starts: Vec<u64>,
}

impl Cells {
    /// Splits objects into the parts that these accesses touch. Each access has a place and a number of bytes.
    pub(super) fn of(
        points_to: &PointsTo,
        accesses: &mut dyn Iterator<Item = (PointeeId, u64)>,
    ) -> Cells {
        let count = points_to.bases.len();
        let mut moduli = vec![0u32; count];
        let mut borders: Vec<Vec<(u64, u64)>> = vec![Vec::new(); count];
        for (pointee, size) in accesses {
            let (base, shape) = points_to.pointees[pointee as usize];
            let base = base as usize;
            moduli[base] = gcd(moduli[base], shape.modulus());
            match shape.bounds() {
                Some((low, high)) => borders[base].push((low.into(), high.into())),
                None if shape.is_single() => borders[base].push(shape.extent(size)),
                None => {}
            }
        }
        let mut cells = Cells::default();
        for (base, location) in points_to.bases.iter().enumerate() {
            let first = cells.base.len() as u32;
            let modulus = moduli[base];
            let has_parts = matches!(
                location,
                Location::Object(_) | Location::Local(..) | Location::Allocated(..)
            );
            let whole = !has_parts || (modulus != 0 && modulus < LEAST_MODULUS);
            let starts = match location {
                // Nothing reads or writes it.
                Location::Function(_) => Vec::new(),
                _ if whole => vec![0],
                _ => starts(&borders[base], u64::from(modulus), points_to.sizes[base]),
            };
            cells.base.extend(starts.iter().map(|_| base as BaseId));
            cells.bases.push(Parts {
                first,
                modulus: if whole { 0 } else { modulus },
                starts,
            });
        }
        cells
    }

    /// Returns the number of parts.
    pub(super) fn count(&self) -> usize {
        self.base.len()
    }

    /// The object that a part belongs to.
    pub(super) fn base(&self, id: LocationId) -> BaseId {
        self.base[id.0 as usize]
    }

    /// The parts of an object.
    pub(super) fn all(&self, base: BaseId) -> std::ops::Range<u32> {
        let parts = &self.bases[base as usize];
        parts.first..parts.first + parts.starts.len() as u32
    }

    /// Adds the parts of which bytes from `low` to `high` may be touched, which are modulo the elements' size in an array.
    pub(super) fn touched(&self, base: BaseId, (low, high): (u64, u64), into: &mut Bits) {
        let parts = &self.bases[base as usize];
        let mut add = |low: u64, high: u64| {
            let begin = parts.starts.partition_point(|&start| start <= low).max(1) - 1;
            let end = parts.starts.partition_point(|&start| start < high);
            for index in begin..end {
                into.insert(parts.first + index as u32);
            }
        };
        if parts.starts.is_empty() {
            return;
        }
        let modulus = u64::from(parts.modulus);
        let length = high.saturating_sub(low);
        if modulus == 0 {
            add(low, high);
        } else if length >= modulus {
            add(0, modulus);
        } else {
            let low = low % modulus;
            add(low, (low + length).min(modulus));
            if low + length > modulus {
                add(0, low + length - modulus);
            }
        }
    }

    /// Returns the parts that consist of exactly the bytes from `low` to `high`.
    pub(super) fn exactly(
        &self,
        base: BaseId,
        (low, high): (u64, u64),
        size: Option<u64>,
    ) -> Option<std::ops::Range<u32>> {
        let parts = &self.bases[base as usize];
        let begin = parts.starts.binary_search(&low).ok()?;
        let end = match parts.starts.binary_search(&high) {
            Ok(end) => end,
            Err(_) if size == Some(high) => parts.starts.len(),
            Err(_) => return None,
        };
        (parts.modulus == 0).then_some(parts.first + begin as u32..parts.first + end as u32)
    }
}

/// Where the parts between borders begin.
fn starts(borders: &[(u64, u64)], modulus: u64, size: Option<u64>) -> Vec<u64> {
    let mut starts = vec![0];
    for &(low, high) in borders {
        let (low, high) = match modulus {
            0 => (low, high),
            _ if high.saturating_sub(low) >= modulus => continue,
            _ => (low % modulus, low % modulus + (high - low)),
        };
        starts.extend([low, high]);
    }
    let end = match modulus {
        0 => size.unwrap_or(u64::from(u32::MAX)),
        _ => modulus,
    };
    starts.retain(|&start| start < end || start == 0);
    starts.sort_unstable();
    starts.dedup();
    let every = starts.len().div_ceil(MOST_CELLS);
    starts.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_between_borders() {
        let borders = [(0, 8), (8, 12), (16, 24)];
        assert_eq!(starts(&borders, 0, Some(24)), [0, 8, 12, 16]);
        assert_eq!(starts(&[(40, 48), (0, 8)], 16, None), [0, 8]);
        let many: Vec<(u64, u64)> = (0..1000).map(|n| (8 * n, 8 * n + 8)).collect();
        assert!(starts(&many, 0, None).len() <= MOST_CELLS);
    }
}
