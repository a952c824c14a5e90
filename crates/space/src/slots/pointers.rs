//! Reads what a pointer or an index of an expression leads to.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, TranslationUnit, UnaryOperator,
    types::TypeId,
};

use super::{AtomBuilder, Atoms, Path};
use crate::term::{Atom, Precedence};

/// How the woven code gets at what an expression names.
pub(super) enum Reach {
    /// It is (a member of) a variable: the compiler can name it without a check.
    Direct,
    /// It lies in memory after the address in a slot.
    Memory {
        base: usize,
        /// C text, a number of bytes.
        offset: String,
        index: Option<(usize, i64)>,
        length: Option<u64>,
    },
}

/// A pointer value: the address in a slot, and what is added to it.
pub(super) struct Pointer {
    slot: usize,
    pub(super) text: String,
    pub(super) precedence: Precedence,
    /// C text, a number of bytes; none for 0.
    offset: Option<String>,
    index: Option<(usize, i64)>,
    /// Bytes of the object at the address in the slot, if known.
    length: Option<u64>,
}

impl Pointer {
    /// Makes the pointer whose address is in a slot.
    pub(super) fn to_slot(
        slot: usize,
        text: String,
        precedence: Precedence,
        length: Option<u64>,
    ) -> Self {
        Pointer {
            slot,
            text,
            precedence,
            offset: None,
            index: None,
            length,
        }
    }

    /// Adds a number of bytes, which C text gives.
    pub(super) fn add(&mut self, bytes: String) {
        self.offset = Some(match self.offset.take() {
            Some(offset) => format!("{offset} + {bytes}"),
            None => bytes,
        });
    }

    /// Adds steps of `size` bytes; `None` if two indices would have to be read from slots.
    fn step(&mut self, index: &Index, size: i64) -> Option<()> {
        match (index.slot, self.index) {
            (Some(slot), None) => self.index = Some((slot, size)),
            _ if index.is_simple => self.add(format!("(long long)({}) * {size}", index.text)),
            _ => return None,
        }
        Some(())
    }

    /// Returns the memory to which the pointer leads.
    pub(super) fn reach(self) -> Reach {
        Reach::Memory {
            base: self.slot,
            offset: self.offset.unwrap_or_else(|| "0".to_owned()),
            index: self.index,
            length: self.length,
        }
    }
}

/// An index of an element.
pub(super) struct Index {
    pub(super) text: String,
    /// The slot that holds it, unless it is a constant or the compiler evaluates it.
    pub(super) slot: Option<usize>,
    /// The compiler can evaluate it without a check.
    pub(super) is_simple: bool,
}

impl AtomBuilder<'_> {
    /// The pointer value of `id` (an rvalue of pointer type).
    pub(super) fn pointer(
        &mut self,
        atoms: &mut Atoms,
        function: &Function,
        id: ExprId,
    ) -> Option<Pointer> {
        let id = function.without_parens(id);
        match &function.expr(id).kind {
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue,
                ..
            } => {
                let atom = self.read(atoms, function, *operand)?;
                let Atom {
                    slot,
                    spelling,
                    precedence,
                    ..
                } = atoms.table[atom].clone();
                Some(Pointer::to_slot(slot as usize, spelling, precedence, None))
            }
            ExprKind::Cast {
                operand,
                cast: CastKind::ArrayToPointer,
                ..
            } => {
                let path = self.path(atoms, function, *operand)?;
                let (text, precedence) = (path.text.clone(), path.precedence);
                match path.reach {
                    Reach::Direct => {
                        let length = self.unit.types.size(path.ty);
                        let atom = self.read_path(atoms, path)?;
                        let slot = atoms.table[atom].slot as usize;
                        Some(Pointer::to_slot(slot, text, precedence, length))
                    }
                    // A row of an array, an array in what a pointer points to: its address is computed.
                    Reach::Memory {
                        base,
                        offset,
                        index,
                        length,
                    } => Some(Pointer {
                        slot: base,
                        text,
                        precedence,
                        offset: Some(offset).filter(|offset| offset != "0"),
                        index,
                        length,
                    }),
                }
            }
            ExprKind::Cast {
                operand,
                implicit: true,
                cast: CastKind::NoOp,
            } => self.pointer(atoms, function, *operand),
            ExprKind::Binary {
                operator: BinaryOperator::Add,
                left,
                right,
            } => {
                let element = self.unit.types.element(function.expr(*left).ty)?;
                let size = self.unit.types.size(element)? as i64;
                let mut pointer = self.pointer(atoms, function, *left)?;
                let index = self.index(atoms, function, *right)?;
                pointer.step(&index, size)?;
                pointer.text = format!("{} + {}", pointer.text, index.text);
                // What stands on the right is an operand of `+` without brackets.
                let is_operand = matches!(
                    function.expr(function.stripped(*right)).kind,
                    ExprKind::Binary { .. }
                );
                pointer.precedence = Precedence::Additive;
                (!is_operand).then_some(pointer)
            }
            _ => None,
        }
    }

    /// Returns the path of an element of the array to which a pointer leads.
    pub(super) fn element(
        &mut self,
        mut pointer: Pointer,
        index: &Index,
        ty: TypeId,
    ) -> Option<Path> {
        let size = self.unit.types.size(ty)? as i64;
        pointer.step(index, size)?;
        Some(Path {
            text: format!(
                "{}[{}]",
                postfix(&pointer.text, pointer.precedence),
                index.text
            ),
            precedence: Precedence::Postfix,
            ty,
            promoted: None,
            bits: None,
            reach: pointer.reach(),
        })
    }

    /// An index that is a constant, is read, or is evaluated by the compiler.
    pub(super) fn index(
        &mut self,
        atoms: &mut Atoms,
        function: &Function,
        id: ExprId,
    ) -> Option<Index> {
        let stripped = function.stripped(id);
        let expr = function.expr(stripped);
        let simple = is_simple(self.unit, function, stripped);
        match &expr.kind {
            ExprKind::Integer {
                value, enumerator, ..
            } => Some(Index {
                text: match (enumerator, expr.place.editable()) {
                    (_, Some(span)) => self.unit.text(span).into_owned(),
                    (Some(name), None) => name.clone(),
                    (None, None) => value.to_string(),
                },
                slot: None,
                is_simple: true,
            }),
            ExprKind::Variable(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                ..
            } => {
                self.unit.types.integer_kind(expr.ty)?;
                let atom = self.read(atoms, function, stripped)?;
                let atom = &atoms.table[atom];
                Some(Index {
                    text: atom.spelling.clone(),
                    slot: Some(atom.slot as usize),
                    is_simple: simple,
                })
            }
            // `! x`, `i + 1`: pure expressions of variables, evaluated by the compiler.
            _ if simple => {
                let span = expr.place.editable()?;
                Some(Index {
                    text: self.unit.text(span).into_owned(),
                    slot: None,
                    is_simple: true,
                })
            }
            _ => None,
        }
    }
}

/// Whether an expression reads nothing but variables and constants, and cannot be undefined
/// unless the program's own evaluation of its variables is.
pub(super) fn is_simple(unit: &TranslationUnit, function: &Function, id: ExprId) -> bool {
    use patchwright_csource::BinaryOperator::*;
    let expr = function.expr(id);
    if !expr.evaluated || unit.types.qualifiers(expr.ty).is_volatile {
        return false;
    }
    let small = |id: ExprId| is_simple(unit, function, id);
    match &expr.kind {
        ExprKind::Integer { .. } => true,
        ExprKind::Variable(_) => true,
        ExprKind::Paren(inner) => small(*inner),
        ExprKind::Cast { operand, cast, .. } => {
            matches!(
                cast,
                CastKind::LValueToRValue | CastKind::Arithmetic | CastKind::NoOp
            ) && unit.types.integer_kind(expr.ty).is_some()
                && small(*operand)
        }
        ExprKind::Unary { operator, operand } => {
            matches!(operator, UnaryOperator::Not | UnaryOperator::Complement) && small(*operand)
        }
        // Overflow of +, - and * with sanitizers would be reported twice at the worst.
        ExprKind::Binary {
            operator: Add | Sub | Mul | And | Or | Xor | Lt | Le | Gt | Ge | Eq | Ne,
            left,
            right,
        } => small(*left) && small(*right),
        // By a positive constant everything can be divided.
        ExprKind::Binary {
            operator: Div | Rem,
            left,
            right,
        } => {
            let by = &function.expr(function.stripped(*right)).kind;
            matches!(by, ExprKind::Integer { value, .. } if *value > 0) && small(*left)
        }
        _ => false,
    }
}

/// The member `name` of what a pointer points to.
pub(super) fn arrow(mut pointer: Pointer, name: &str, ty: TypeId) -> Path {
    let text = postfix(&pointer.text, pointer.precedence);
    pointer.add(format!("__builtin_offsetof(__typeof__(*{text}), {name})"));
    Path {
        text: format!("{text}->{name}"),
        precedence: Precedence::Postfix,
        ty,
        promoted: None,
        bits: None,
        reach: pointer.reach(),
    }
}

/// Returns the path of the object to which a pointer leads.
pub(super) fn dereference(pointer: Pointer, ty: TypeId) -> Path {
    let text = match pointer.precedence >= Precedence::Unary {
        true => pointer.text.clone(),
        false => format!("({})", pointer.text),
    };
    Path {
        text: format!("*{text}"),
        precedence: Precedence::Unary,
        ty,
        promoted: None,
        bits: None,
        reach: pointer.reach(),
    }
}

/// Puts a text into parentheses unless a postfix operator can stand behind it.
pub(super) fn postfix(text: &str, precedence: Precedence) -> String {
    if precedence >= Precedence::Postfix {
        text.to_owned()
    } else {
        format!("({text})")
    }
}
