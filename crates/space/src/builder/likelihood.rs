//! Computes how unlikely a leaf is in place of what stood there, as a cost beyond its node.

use super::SpaceBuilder;
use crate::{
    pools::PoolId,
    term::{AtomTable, Kind, Term},
};

/// What it costs beyond its node to put what is no size in place of `sizeof`.
const NO_SIZE: u32 = 2;

/// What it costs beyond its node to put a number in place of a character: `c == 1` for `c == '+'` is never true, and what `c == 73` says,
/// people write as `c == 'I'`.
const NO_CHARACTER: u32 = 2;

/// The origin of a leaf, by which its likelihood is known.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LeafKind {
    Varying,
    /// `sizeof`
    Size,
    /// 0, 1 and −1: where something begins, and steps.
    Usual,
    /// What is written as a character.
    Character,
    OtherConstant,
}

impl LeafKind {
    /// Returns the kind of a leaf, by which its likelihood is known.
    pub(super) fn of(term: &Term, atoms: &AtomTable) -> LeafKind {
        match term.kind() {
            Kind::Constant(..) if is_character(term) => LeafKind::Character,
            Kind::Constant(value, _) if !term.ctype().is_floating() => {
                match (-1..=1).contains(&(*value as i64)) {
                    true => LeafKind::Usual,
                    false => LeafKind::OtherConstant,
                }
            }
            Kind::Constant(..) => LeafKind::OtherConstant,
            Kind::Atom(id) if atoms[*id].spelling.starts_with("sizeof") => LeafKind::Size,
            _ => LeafKind::Varying,
        }
    }
}

impl SpaceBuilder<'_> {
    /// Returns the extra cost of `leaf` in place of the term at site `site`, in nodes.
    ///
    /// A number in place of something that varies costs extra: it often passes the tests by chance, and people write another variable there
    /// seventeen times as often. Anything else in place of a size costs extra, because sizes are compared with sizes.
    pub(super) fn unlikelihood(&self, site: usize, leaf: PoolId) -> u32 {
        let term = &self.space.sites[site].term;
        let varied = !matches!(term.kind(), Kind::Constant(..));
        let is_size = LeafKind::of(term, &self.space.hole.atoms.table) == LeafKind::Size;
        match self.leaf_kind(leaf) {
            Some(kind) if is_size && kind != LeafKind::Size => NO_SIZE,
            Some(LeafKind::Usual | LeafKind::OtherConstant) if is_character(term) => NO_CHARACTER,
            Some(LeafKind::Usual | LeafKind::Character | LeafKind::OtherConstant) => {
                u32::from(varied)
            }
            Some(LeafKind::Size) => u32::from(!self.is_argument),
            _ => 0,
        }
    }

    /// Returns the extra cost of negating the term at site `site`, in nodes. A term that is compared with a character is hardly ever
    /// negated, so that costs as much as a number in the character's place.
    pub(super) fn unlikelihood_of_sign(&self, site: usize) -> u32 {
        match self.beside(site) {
            Some((op, other)) if op.is_comparison() && is_character(other) => NO_CHARACTER,
            _ => 0,
        }
    }

    fn leaf_kind(&self, leaf: PoolId) -> Option<LeafKind> {
        let first = self.space.part(leaf, 0)?;
        Some(LeafKind::of(first, &self.space.hole.atoms.table))
    }
}

/// Whether it is a character that is neither a letter, a digit nor a blank.
pub(super) fn is_sign(term: &Term) -> bool {
    let Kind::Constant(value, _) = term.kind() else {
        return false;
    };
    let byte = u8::try_from(*value).unwrap_or_default();
    is_character(term) && byte.is_ascii_punctuation()
}

/// Whether it is a character as C writes it.
fn is_character(term: &Term) -> bool {
    matches!(term.kind(), Kind::Constant(_, spelling) if spelling.starts_with('\''))
}
