//! Holes of a source that is compiled in several ways: what is the same in all of them.
//!
//! A candidate is one text for all ways, and its value is computed once for all of them. So a hole
//! is one only where all ways give it the same kind, type and original term, and what fills it is
//! made of atoms and constants that mean the same in all of them.

use patchwright_csource::Function;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    distant::Leaves,
    holes::{Hole, HoleKind},
    sites::operands,
    slots::{Atoms, Slot, SlotSource},
    term::{CType, Context, Kind, Pointees, Term},
};

/// A hole of another way, with its leaves.
pub struct OtherHole<'a> {
    /// The hole; its atoms include those of the leaves.
    pub hole: &'a Hole,
    /// The leaves.
    pub leaves: &'a Leaves,
    /// What pointers of that way point to.
    pub pointees: &'a Pointees,
}

/// What another way has at the place of a hole.
pub enum Twin<'a> {
    /// It leaves out the text.
    LeftOut,
    /// The same text, but no such hole.
    Different,
    /// The same hole.
    Same(OtherHole<'a>),
}

/// Which leaves have the same meaning in all ways: of atoms by their spelling, of constants as
/// they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonLeaves {
    atoms: FxHashMap<String, String>,
    constants: FxHashSet<String>,
}

impl CommonLeaves {
    /// The leaves of a hole.
    fn of(other: &OtherHole<'_>) -> Self {
        let (atoms, pointees) = (&other.hole.atoms, other.pointees);
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
            constants: other
                .leaves
                .iter()
                .filter(|leaf| matches!(leaf.kind(), Kind::Constant(..)))
                .map(|leaf| describe(leaf, atoms, pointees))
                .collect(),
        }
    }

    fn intersect(&mut self, other: CommonLeaves) {
        self.atoms
            .retain(|spelling, meaning| other.atoms.get(spelling) == Some(meaning));
        self.constants
            .retain(|constant| other.constants.contains(constant));
    }

    /// Whether an atom with this spelling and slot may be used.
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

    /// Whether a leaf that is a constant may be used; atoms are permitted when they are made.
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

/// The leaves that a hole may have in view of all other ways; `None` stands for any (no other way
/// compiles its text).
///
/// # Errors
/// In some way there is no such hole.
pub fn common(twins: &[Twin<'_>]) -> Result<Option<CommonLeaves>, Disagreement> {
    let mut leaves: Option<CommonLeaves> = None;
    for twin in twins {
        match twin {
            Twin::LeftOut => {}
            Twin::Different => return Err(Disagreement),
            Twin::Same(other) => {
                let found = CommonLeaves::of(other);
                match &mut leaves {
                    Some(leaves) => leaves.intersect(found),
                    None => leaves = Some(found),
                }
            }
        }
    }
    Ok(leaves)
}

/// Ways in which a source is compiled disagree about a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement;

/// Finds what another way has at the place of `hole`, whose pointers point to `own`: among `holes`,
/// those of `function`, which is the same function there, with their `pointees`.
pub fn twin<'a>(
    hole: &Hole,
    own: &Pointees,
    function: &Function,
    holes: &'a [(Hole, Leaves)],
    pointees: &'a Pointees,
) -> Twin<'a> {
    let signature_here = signature(hole, own);
    let same = holes
        .iter()
        .find(|(other, _)| other.span == hole.span && signature(other, pointees) == signature_here);
    if let Some((hole, leaves)) = same {
        return Twin::Same(OtherHole {
            hole,
            leaves,
            pointees,
        });
    }
    let exprs = function.exprs.iter().map(|expr| expr.place);
    let stmts = function.stmts.iter().map(|stmt| stmt.place);
    let is_there = exprs
        .chain(stmts)
        .any(|place| place.editable() == Some(hole.span));
    if is_there {
        Twin::Different
    } else {
        Twin::LeftOut
    }
}

/// What must be the same about a hole itself.
fn signature(hole: &Hole, pointees: &Pointees) -> String {
    let kind = match &hole.kind {
        HoleKind::Expression {
            original,
            condition,
        } => format!("{condition} {}", describe(original, &hole.atoms, pointees)),
        HoleKind::Refinement(added) => format!("{added:?}"),
        HoleKind::Guard { is_body, .. } => format!("guard {is_body}"),
        // Places of one way only: never compared.
        HoleKind::Assignment(at) => format!("{at:?}"),
        HoleKind::Choice(choice) => format!("{choice:?}"),
        HoleKind::Exit(exits) => format!("{exits:?}"),
    };
    let context = match hole.context {
        Context::Convert(to) => format!("convert {}", describe_type(to, pointees)),
        other => format!("{other:?}"),
    };
    let ctype = hole.ctype.map(|ctype| describe_type(ctype, pointees));
    let captured = hole.captured.as_ref();
    let captured = captured.map(|part| (part.span, describe_type(part.ctype, pointees)));
    format!(
        "{kind} {context} {ctype:?} {captured:?} {}",
        hole.in_macro_argument
    )
}

/// A type without the numbers of its table.
fn describe_type(ctype: CType, pointees: &Pointees) -> String {
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
fn describe_atom(atoms: &Atoms, ctype: CType, slot: &Slot, pointees: &Pointees) -> String {
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
fn describe(term: &Term, atoms: &Atoms, pointees: &Pointees) -> String {
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
