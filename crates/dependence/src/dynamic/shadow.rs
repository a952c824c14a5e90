//! Records which instruction wrote each byte of memory.

use patchwright_interpret::Access;
use rustc_hash::FxHashMap;

use super::instance::{Instance, NONE};

/// The instances that wrote each byte, or each bit of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    /// For each eight bytes.
    words: FxHashMap<u64, [Instance; 8]>,
    /// For bytes whose bits were written by themselves last, as bit-fields are.
    bits: FxHashMap<u64, [Instance; 8]>,
}

impl Shadow {
    /// Returns the instances that wrote what an access reads, each once, and [`NONE`] for bytes that none wrote.
    pub(super) fn writers(&self, access: Access) -> Vec<Instance> {
        let mut found: Vec<Instance> = Vec::new();
        let mut note = |writer: Instance| {
            if found.last() != Some(&writer) && !found.contains(&writer) {
                found.push(writer);
            }
        };
        for byte in access.address..access.address + access.size {
            match (self.bits.get(&byte), access.bits) {
                (None, _) => {
                    let word = self.words.get(&(byte / 8));
                    note(word.map_or(NONE, |word| word[byte as usize % 8]));
                }
                (Some(bits), None) => bits.iter().for_each(|&writer| note(writer)),
                (Some(bits), Some(field)) => {
                    bits_of(field, byte - access.address).for_each(|bit| note(bits[bit]));
                }
            }
        }
        found
    }

    /// Notes that the instance `by` writes the bytes of an access.
    pub(super) fn write(&mut self, access: Access, by: Instance) {
        for byte in access.address..access.address + access.size {
            let word = self.words.entry(byte / 8).or_insert([NONE; 8]);
            let own = &mut word[byte as usize % 8];
            let field = access.bits.map(|bits| bits_of(bits, byte - access.address));
            match field {
                Some(field) if field.len() < 8 => {
                    let bits = self.bits.entry(byte).or_insert([*own; 8]);
                    bits[field].fill(by);
                }
                _ => {
                    *own = by;
                    if !self.bits.is_empty() {
                        self.bits.remove(&byte);
                    }
                }
            }
        }
    }
}

/// The bits of a byte that belong to a field, counted from the lowest.
fn bits_of((offset, width): (u32, u32), byte: u64) -> std::ops::Range<usize> {
    let first = byte as usize * 8;
    let (start, end) = (offset as usize, (offset + width) as usize);
    start.clamp(first, first + 8) - first..end.clamp(first, first + 8) - first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, size: u64, bits: Option<(u32, u32)>) -> Access {
        Access {
            address,
            size,
            write: false,
            bits,
        }
    }

    #[test]
    fn a_bit_field_is_written_by_itself() {
        let mut shadow = Shadow::default();
        shadow.write(access(16, 4, None), 1);
        shadow.write(access(16, 2, Some((4, 6))), 2);
        assert_eq!(shadow.writers(access(16, 1, Some((0, 4)))), [1]);
        assert_eq!(shadow.writers(access(16, 2, Some((4, 6)))), [2]);
        assert_eq!(shadow.writers(access(16, 1, None)), [1, 2]);
        assert_eq!(shadow.writers(access(17, 1, Some((2, 3)))), [1]);
        shadow.write(access(16, 1, None), 3);
        assert_eq!(shadow.writers(access(16, 1, Some((4, 4)))), [3]);
        assert_eq!(shadow.writers(access(15, 1, None)), [NONE]);
    }

    #[test]
    fn bytes_that_a_wide_field_covers_are_written_whole() {
        let mut shadow = Shadow::default();
        shadow.write(access(8, 3, Some((4, 20))), 5);
        assert_eq!(shadow.writers(access(9, 2, None)), [5]);
        assert_eq!(shadow.writers(access(8, 1, None)), [NONE, 5]);
    }
}
