//! Terms as trees, and the atoms of which they are made.

use std::ops::Index;
use std::sync::Arc;

use patchwright_semantics::{BinaryOp, UnaryOp, evaluate};

use super::compile::{Context, compile};
use super::ctype::{
    CType, Operand, PointeeId, Pointees, TypeError, binary_type, cast_type, conditional_type,
    unary_type,
};
use super::print::Precedence;

/// The number of an atom in an [`AtomTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub u32);

/// A leaf of terms: an expression of the program that is observed, not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The expression as C text without side effects, such as `x`, `p->next` or `*p`.
    pub spelling: String,
    /// How tightly the outermost operator of the spelling binds.
    pub precedence: Precedence,
    /// The type of the expression.
    pub ctype: CType,
    /// The place of its value in the states that terms are evaluated on.
    pub slot: u32,
}

/// The atoms of the terms at one location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtomTable(Vec<Atom>);

impl AtomTable {
    /// Makes an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an atom that the table does not have, and returns its number.
    ///
    /// # Panics
    /// When 2³² atoms are in the table.
    pub fn add(&mut self, atom: Atom) -> AtomId {
        let id = u32::try_from(self.0.len()).expect("fewer than 2^32 atoms");
        self.0.push(atom);
        AtomId(id)
    }

    /// Returns the atoms with their numbers, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (AtomId, &Atom)> {
        (0..).map(AtomId).zip(&self.0)
    }
}

/// The atom with this id.
///
/// # Panics
/// When the id is not of this table.
impl Index<AtomId> for AtomTable {
    type Output = Atom;

    fn index(&self, id: AtomId) -> &Atom {
        &self.0[id.0 as usize]
    }
}

/// The root of a term: an atom, a constant, or an operation on other terms.
///
/// The order of kinds is the one in which the operands of commutative operators are written:
/// constants come last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An observed expression.
    Atom(AtomId),
    /// A unary operator and its operand.
    Unary(UnaryOp, Term),
    /// A conversion of the operand to the term's type.
    Cast(Term),
    /// A binary operator with its left and right operand.
    Binary(BinaryOp, Term, Term),
    /// `left && right`
    LogicalAnd(Term, Term),
    /// `left || right`
    LogicalOr(Term, Term),
    /// `condition ? then : otherwise`
    Conditional(Term, Term, Term),
    /// A canonical value and how it is written.
    Constant(u64, Arc<str>),
}

/// A typed expression without side effects. Copies share their nodes and are cheap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(Arc<Node>);

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Node {
    kind: Kind,
    ctype: CType,
    size: u32,
}

impl Term {
    fn new(kind: Kind, ctype: CType) -> Self {
        let size = match &kind {
            Kind::Atom(_) | Kind::Constant(..) => 0,
            Kind::Unary(_, a) | Kind::Cast(a) => a.size(),
            Kind::Binary(_, a, b) | Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => {
                a.size().saturating_add(b.size())
            }
            Kind::Conditional(a, b, c) => {
                a.size().saturating_add(b.size()).saturating_add(c.size())
            }
        }
        .saturating_add(1);
        Self(Arc::new(Node { kind, ctype, size }))
    }

    /// Makes the term that is an atom.
    ///
    /// # Panics
    /// When the id is not of this table.
    pub fn atom(id: AtomId, atoms: &AtomTable) -> Self {
        Self::new(Kind::Atom(id), atoms[id].ctype)
    }

    /// Makes a constant of type `ctype` with the bits `value`. Bits beyond the type's size are ignored.
    ///
    /// `spelling` must be an expression of exactly this type and value that binds like a literal. That is a literal, with or without
    /// a minus sign, an enumerator, a macro for such an expression, or anything in parentheses.
    pub fn constant(value: u64, ctype: CType, spelling: impl Into<Arc<str>>) -> Self {
        let value = ctype.value_type().canonical(value);
        Self::new(Kind::Constant(value, spelling.into()), ctype)
    }

    /// Makes the term `op operand`, with the type that C gives it.
    ///
    /// # Errors
    /// When C does not have the expression.
    pub fn unary(op: UnaryOp, operand: Term) -> Result<Self, TypeError> {
        let ctype = unary_type(op, operand.ctype())?;
        Ok(Self::new(Kind::Unary(op, operand), ctype))
    }

    /// Makes `left op right`.
    ///
    /// # Errors
    /// When C does not have the expression; see [`binary_type`].
    pub fn binary(
        op: BinaryOp,
        left: Term,
        right: Term,
        pointees: &Pointees,
    ) -> Result<Self, TypeError> {
        let operands = (left.operand(pointees), right.operand(pointees));
        let ctype = binary_type(op, operands.0, operands.1, pointees)?;
        Ok(Self::new(Kind::Binary(op, left, right), ctype))
    }

    /// Makes `left && right`.
    pub fn logical_and(left: Term, right: Term) -> Self {
        Self::new(Kind::LogicalAnd(left, right), CType::Int)
    }

    /// Makes `left || right`.
    pub fn logical_or(left: Term, right: Term) -> Self {
        Self::new(Kind::LogicalOr(left, right), CType::Int)
    }

    /// Makes `condition ? then : otherwise`.
    ///
    /// # Errors
    /// When the arms have no common type; see [`conditional_type`].
    pub fn conditional(
        condition: Term,
        then: Term,
        otherwise: Term,
        pointees: &Pointees,
    ) -> Result<Self, TypeError> {
        let arms = (then.operand(pointees), otherwise.operand(pointees));
        let ctype = conditional_type(arms.0, arms.1, pointees)?;
        Ok(Self::new(
            Kind::Conditional(condition, then, otherwise),
            ctype,
        ))
    }

    /// Makes the term `(to)operand`.
    ///
    /// # Errors
    /// When C does not have the cast or it cannot be spelled; see [`cast_type`].
    pub fn cast(to: CType, operand: Term, pointees: &Pointees) -> Result<Self, TypeError> {
        let ctype = cast_type(operand.ctype(), to, pointees)?;
        Ok(Self::new(Kind::Cast(operand), ctype))
    }

    /// Returns the atoms of the term, in order, each as often as it occurs.
    pub fn atoms(&self) -> Vec<AtomId> {
        match self.kind() {
            Kind::Atom(id) => vec![*id],
            Kind::Constant(..) => Vec::new(),
            Kind::Unary(_, a) | Kind::Cast(a) => a.atoms(),
            Kind::Binary(_, a, b) | Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => {
                [a.atoms(), b.atoms()].concat()
            }
            Kind::Conditional(a, b, c) => [a.atoms(), b.atoms(), c.atoms()].concat(),
        }
    }

    /// Returns the root of the term: its operator with the operands, or the leaf.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Returns the type of the expression.
    pub fn ctype(&self) -> CType {
        self.0.ctype
    }

    /// Returns the number of nodes: operators, casts, atoms and constants.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// Returns what the typing rules need to know when the term becomes an operand.
    pub fn operand(&self, pointees: &Pointees) -> Operand {
        Operand {
            ctype: self.ctype(),
            is_null_pointer_constant: self.is_null_pointer_constant(pointees),
        }
    }

    /// C17 6.3.2.3p3.
    fn is_null_pointer_constant(&self, pointees: &Pointees) -> bool {
        let is_zero = |term: &Term| term.integer_constant() == Some(0);
        match (self.kind(), self.ctype()) {
            (kind, CType::Pointer(id)) => {
                let to = &pointees[id];
                to.is_void
                    && !to.is_const
                    && match kind {
                        // A constant of type `void *` is `NULL` or another name for it.
                        Kind::Constant(value, _) => *value == 0,
                        Kind::Cast(operand) => is_zero(operand),
                        _ => false,
                    }
            }
            _ => is_zero(self),
        }
    }

    /// The value of an integer constant expression.
    fn integer_constant(&self) -> Option<u64> {
        fn is_constant(term: &Term) -> bool {
            term.ctype().is_integer()
                && match term.kind() {
                    Kind::Atom(_) => false,
                    Kind::Constant(..) => true,
                    Kind::Cast(a) => {
                        is_constant(a)
                            || a.ctype().is_floating() && matches!(a.kind(), Kind::Constant(..))
                    }
                    Kind::Unary(_, a) => is_constant(a),
                    Kind::Binary(_, a, b) | Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => {
                        is_constant(a) && is_constant(b)
                    }
                    Kind::Conditional(a, b, c) => [a, b, c].into_iter().all(is_constant),
                }
        }
        match self.kind() {
            Kind::Constant(value, _) => self.ctype().is_integer().then_some(*value),
            Kind::Atom(_) => None,
            _ if !is_constant(self) => None,
            _ => {
                // Neither atoms nor pointers occur, so no table is looked at.
                let (atoms, pointees) = (AtomTable::new(), Pointees::new());
                let code = compile(self, Context::Same, &atoms, &pointees).ok()?;
                evaluate(&code, &[], &[])
            }
        }
    }

    /// Returns the type to which a pointer term points, or `None` for other terms.
    pub fn pointee(&self) -> Option<PointeeId> {
        match self.ctype() {
            CType::Pointer(id) => Some(id),
            _ => None,
        }
    }
}
