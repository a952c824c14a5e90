//! SHA-256 digests of sequences of fields, used as keys for contents.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest. Contents with equal digests are taken for equal. `Display` writes 64 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl fmt::Display for Digest {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the [`Digest`] of a sequence of fields. The hasher writes the length of each field before the
/// field, so different sequences have different digests.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Makes a hasher that no field was added to.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `bytes` as one field.
    pub fn field(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.pieces([bytes.as_ref()])
    }

    /// Adds a number as a field of eight bytes, the lowest first.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.field(number.to_le_bytes())
    }

    /// Adds one field that is given in pieces. The digest is that of their concatenation, however it
    /// is cut.
    pub fn pieces<'p>(
        &mut self,
        pieces: impl IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    ) -> &mut Self {
        let pieces = pieces.into_iter();
        let length: usize = pieces.clone().map(<[u8]>::len).sum();
        self.0.update((length as u64).to_le_bytes());
        for piece in pieces {
            self.0.update(piece);
        }
        self
    }

    /// Returns the digest of the fields added so far. More fields may follow.
    pub fn finish(&self) -> Digest {
        Digest(self.0.clone().finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let of = |fields: &[&str]| {
            let mut hasher = Hasher::new();
            for field in fields {
                hasher.field(field);
            }
            hasher.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        let mut pieces = Hasher::new();
        pieces.pieces([&b"a"[..], b"b"]);
        assert_eq!(pieces.finish(), of(&["ab"]));
        assert_eq!(of(&[]).to_string().len(), 64);
    }
}
