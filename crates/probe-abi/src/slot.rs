//! How the probe computes the value of a slot from what the woven source hands over.

/// Where the value of a slot comes from: the entry itself, or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SlotKind {
    /// The entry is the value, in canonical form.
    Value = 0,
    /// The value lies in memory.
    Load = 1,
    /// The value lies in memory, inside an object of known length.
    LoadBounded = 2,
    /// The value is that of some bits in memory.
    LoadBits = 3,
}

/// The description of a slot of a hole, as the host gives it to the probe.
///
/// A load reads a value of type [`ty`](Self::ty) at `value(base) + position`, where
/// `position = entry + offset + value(index) * scale` in bytes and the *entry* is what the woven source hands over for
/// this slot, as a signed number. A position that overflows, a base or index that is undefined, and an address that
/// cannot be read make the slot undefined. [`SlotKind::LoadBounded`] also wants
/// `0 <= position && position + size <= length`. For [`SlotKind::LoadBits`] the entry is a number of bits, and
/// [`length`](Self::length) says which are read ([`SlotDescriptor::bits`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotDescriptor {
    /// How the value is obtained.
    pub kind: SlotKind,
    /// The type of the value: the number of a `Ty` of crate `semantics`.
    pub ty: u8,
    /// 0 for [`SlotKind::Value`]; else one more than the greatest depth of base and index. Loads of one depth are
    /// done together.
    pub depth: u8,
    /// The slot that holds the address.
    pub base: u16,
    /// The slot that holds an index, or [`SlotDescriptor::NO_INDEX`].
    pub index: u16,
    /// Bytes added to the position.
    pub offset: i64,
    /// Bytes that one step of the index counts.
    pub scale: i64,
    /// Length in bytes of the object at the base.
    pub length: u64,
}

impl SlotDescriptor {
    /// The [`index`](Self::index) of a load without an index.
    pub const NO_INDEX: u16 = u16::MAX;

    /// The number of words of the encoded form.
    pub const WORDS: usize = 4;

    /// A slot whose entry is its value. Its type does not matter.
    pub const VALUE: SlotDescriptor = SlotDescriptor {
        kind: SlotKind::Value,
        ty: 0,
        depth: 0,
        base: 0,
        index: Self::NO_INDEX,
        offset: 0,
        scale: 0,
        length: 0,
    };

    /// Returns the [`length`](Self::length) of a slot for so many bits.
    pub fn length_of_bits(width: u8, signed: bool) -> u64 {
        u64::from(width) | u64::from(signed) << 8
    }

    /// Returns how many bits [`SlotKind::LoadBits`] reads, and whether the last one is the sign.
    pub fn bits(&self) -> (u32, bool) {
        (self.length as u32 & 0xff, self.length & 0x100 != 0)
    }

    /// Returns the form in which a descriptor lies in shared memory.
    pub fn encode(&self) -> [u64; Self::WORDS] {
        let head = self.kind as u64
            | u64::from(self.ty) << 8
            | u64::from(self.depth) << 16
            | u64::from(self.base) << 32
            | u64::from(self.index) << 48;
        [head, self.offset as u64, self.scale as u64, self.length]
    }

    /// Reads the encoded form. It is `None` if the words are not one.
    pub fn decode(words: [u64; Self::WORDS]) -> Option<Self> {
        let [head, offset, scale, length] = words;
        Some(Self {
            kind: match head as u8 {
                0 => SlotKind::Value,
                1 => SlotKind::Load,
                2 => SlotKind::LoadBounded,
                3 => SlotKind::LoadBits,
                _ => return None,
            },
            ty: (head >> 8) as u8,
            depth: (head >> 16) as u8,
            base: (head >> 32) as u16,
            index: (head >> 48) as u16,
            offset: offset as i64,
            scale: scale as i64,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_survives_encoding() {
        let slot = SlotDescriptor {
            kind: SlotKind::LoadBounded,
            ty: 5,
            depth: 3,
            base: 511,
            index: 17,
            offset: -8,
            scale: i64::MIN,
            length: u64::MAX,
        };
        assert_eq!(SlotDescriptor::decode(slot.encode()), Some(slot));
        let value = SlotDescriptor::VALUE;
        assert_eq!(SlotDescriptor::decode(value.encode()), Some(value));
    }

    #[test]
    fn words_that_are_no_descriptor_are_refused() {
        assert_eq!(SlotDescriptor::decode([4, 0, 0, 0]), None);
    }
}
