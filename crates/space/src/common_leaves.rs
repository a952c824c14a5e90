//! The leaves of a hole that mean the same in all ways in which its source is compiled.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    sites::operands,
    slots::{Atoms, Slot, SlotSource},
    term::{CType, Kind, Pointees, Term},
};

/// Which leaves have the same meaning in all ways: of atoms by their spelling, of constants as
/// they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonLeaves {
    atoms: FxHashMap<String, String>,
    constants: FxHashSet<String>,
}

impl CommonLeaves {
    /// The leaves of a hole.
    pub(crate) fn of<'t>(
        atoms: &Atoms,
        leaves: impl Iterator<Item = &'t Term>,
        pointees: &Pointees,
    ) -> Self {
        CommonLeaves {
            atoms: atoms
                .table
                .iter()
                .map(|(_, atom)| {
                    let slot = &atoms.slots[atom.slot as usize];
                    let meaning = describe_atom(atoms, atom.ctype, slot, pointees);
                    (atom.spelling.clone(), meaning)
                })
                .collect(),
            constants: leaves
                .filter(|leaf| matches!(leaf.kind(), Kind::Constant(..)))
                .map(|leaf| describe(leaf, atoms, pointees))
                .collect(),
        }
    }

    /// Keeps those that mean the same elsewhere too.
    pub(crate) fn intersect(&mut self, other: CommonLeaves) {
        self.atoms
            .retain(|spelling, meaning| other.atoms.get(spelling) == Some(meaning));
        self.constants
            .retain(|constant| other.constants.contains(constant));
    }

    /// Whether an atom with this spelling, type and slot may be used.
    pub fn permits_atom(
        &self,
        atoms: &Atoms,
        spelling: &str,
        ctype: CType,
        slot: &Slot,
        pointees: &Pointees,
    ) -> bool {
        self.atoms.get(spelling) == Some(&describe_atom(atoms, ctype, slot, pointees))
    }

    /// Whether a leaf may be used. Only constants are checked here; atoms are checked when they are
    /// made.
    pub fn permits_constant(&self, leaf: &Term, atoms: &Atoms, pointees: &Pointees) -> bool {
        !matches!(leaf.kind(), Kind::Constant(..))
            || self.constants.contains(&describe(leaf, atoms, pointees))
    }

    /// Whether a term may be used, of whose constants this is not known; atoms are permitted when they are made.
    pub(crate) fn permits_term(&self, term: &Term, atoms: &Atoms, pointees: &Pointees) -> bool {
        let parts = operands(term);
        match parts.is_empty() {
            true => self.permits_constant(term, atoms, pointees),
            false => parts
                .into_iter()
                .all(|part| self.permits_term(part, atoms, pointees)),
        }
    }
}

/// A type without the numbers of its table.
pub(crate) fn describe_type(ctype: CType, pointees: &Pointees) -> String {
    match ctype {
        CType::Pointer(id) => {
            let pointee = &pointees[id];
            format!(
                "{} {:?} {} {} {} *",
                pointee.spelling,
                pointee.size,
                pointee.is_void,
                pointee.is_function,
                pointee.is_const
            )
        }
        other => other.to_string(),
    }
}

/// An atom's type and the way to its value.
pub(crate) fn describe_atom(
    atoms: &Atoms,
    ctype: CType,
    slot: &Slot,
    pointees: &Pointees,
) -> String {
    let source = match slot.source {
        SlotSource::Value => String::new(),
        SlotSource::Load {
            base,
            index,
            length,
            bits,
        } => {
            let entry = |slot: usize| &atoms.slots[slot].entry;
            format!(
                " at {} {:?} {length:?} {bits:?}",
                entry(base),
                index.map(|(slot, scale)| (entry(slot), scale))
            )
        }
    };
    format!("{} {}{source}", describe_type(ctype, pointees), slot.entry)
}

/// A term without the numbers of its tables.
pub(crate) fn describe(term: &Term, atoms: &Atoms, pointees: &Pointees) -> String {
    let all = |operands: &[&Term]| -> String {
        let described: Vec<String> = operands
            .iter()
            .map(|operand| describe(operand, atoms, pointees))
            .collect();
        described.join(", ")
    };
    let kind = match term.kind() {
        Kind::Atom(id) => {
            let atom = &atoms.table[*id];
            let slot = &atoms.slots[atom.slot as usize];
            let meaning = describe_atom(atoms, atom.ctype, slot, pointees);
            format!("{}: {meaning}", atom.spelling)
        }
        Kind::Constant(value, spelling) => format!("{value} {spelling}"),
        Kind::Unary(op, a) => format!("{op:?}({})", all(&[a])),
        Kind::Cast(a) => format!("cast({})", all(&[a])),
        Kind::Binary(op, a, b) => format!("{op:?}({})", all(&[a, b])),
        Kind::LogicalAnd(a, b) => format!("and({})", all(&[a, b])),
        Kind::LogicalOr(a, b) => format!("or({})", all(&[a, b])),
        Kind::Conditional(a, b, c) => format!("if({})", all(&[a, b, c])),
    };
    format!("{kind}: {}", describe_type(term.ctype(), pointees))
}
