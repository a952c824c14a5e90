//! Converts expressions of the program to terms.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, UnaryOperator, lex,
    types::{TypeId, TypeKind},
};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    slots::{AtomBuilder, Atoms},
    term::{CType, Precedence, Term},
};

impl AtomBuilder<'_> {
    /// Returns the expression `id` as a term. It is `None` if it has effects, cannot be observed, or
    /// is of a type or kind that terms do not have.
    ///
    /// Implicit conversions are left to the typing of terms; where that gives another type than
    /// the compiler's, the expression is refused.
    pub fn model(&mut self, atoms: &mut Atoms, function: &Function, id: ExprId) -> Option<Term> {
        let expr = function.expr(id);
        if !expr.evaluated {
            return None;
        }
        let term = self.model_kind(atoms, function, id)?;
        let expected = self.ctype(expr.ty)?;
        // Below an implicit conversion the types differ by it; elsewhere they must agree.
        let converted = matches!(
            expr.kind,
            ExprKind::Cast { implicit: true, .. } | ExprKind::Paren(_)
        );
        (converted || term.ctype() == expected).then_some(term)
    }

    fn model_kind(&mut self, atoms: &mut Atoms, function: &Function, id: ExprId) -> Option<Term> {
        let expr = function.expr(id);
        match &expr.kind {
            ExprKind::Integer {
                value, enumerator, ..
            } => {
                let ctype = self.ctype(expr.ty)?;
                let spelling = match (expr.place.editable(), enumerator) {
                    (Some(span), _) => {
                        let text = self.unit.text(span);
                        // A macro's text may be more than a literal.
                        let plain = text
                            .chars()
                            .all(|c| lex::is_word_char(c) || matches!(c, '\'' | '\\'));
                        if plain || enumerator.is_some() || text.starts_with('\'') {
                            text.into_owned()
                        } else {
                            format!("({text})")
                        }
                    }
                    (None, Some(name)) => name.clone(),
                    (None, None) => {
                        return Term::literal(*value as u64, ctype).ok();
                    }
                };
                Some(Term::constant(*value as u64, ctype, spelling))
            }
            ExprKind::Float(value) => {
                let span = expr.place.editable()?;
                let text = self.unit.text(span).into_owned();
                match self.ctype(expr.ty)? {
                    CType::Double => Some(Term::constant(value.to_bits(), CType::Double, text)),
                    CType::Float => Some(Term::constant(
                        u64::from((*value as f32).to_bits()),
                        CType::Float,
                        text,
                    )),
                    _ => None,
                }
            }
            ExprKind::CompilerConstant => {
                let span = expr.place.editable()?;
                let ctype = self.ctype(expr.ty)?;
                let text = self.unit.text(span).into_owned();
                let atom =
                    atoms.add_value(&text, Precedence::Unary, ctype, self.types.pointees())?;
                Some(Term::atom(atom, &atoms.table))
            }
            ExprKind::Paren(inner) => self.model(atoms, function, *inner),
            ExprKind::Unary { operator, operand } => {
                let operator = match operator {
                    UnaryOperator::Minus => UnaryOp::Neg,
                    UnaryOperator::Complement => UnaryOp::Complement,
                    UnaryOperator::Not => UnaryOp::Not,
                    UnaryOperator::Extension => return self.model(atoms, function, *operand),
                    _ => return None,
                };
                let operand = self.model(atoms, function, *operand)?;
                Term::unary(operator, operand).ok()
            }
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                let left = self.model(atoms, function, *left)?;
                let right = self.model(atoms, function, *right)?;
                match operator {
                    BinaryOperator::LogicalAnd => Some(Term::logical_and(left, right)),
                    BinaryOperator::LogicalOr => Some(Term::logical_or(left, right)),
                    _ => Term::binary(
                        BinaryOp::from_spelling(operator.spelling())?,
                        left,
                        right,
                        self.types.pointees(),
                    )
                    .ok(),
                }
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.model(atoms, function, *condition)?;
                let then = self.model(atoms, function, *then)?;
                let otherwise = self.model(atoms, function, *otherwise)?;
                Term::conditional(condition, then, otherwise, self.types.pointees()).ok()
            }
            ExprKind::Cast {
                operand,
                implicit,
                cast,
            } => self.model_cast(atoms, function, *operand, *implicit, *cast, expr.ty),
            _ => None,
        }
    }

    fn model_cast(
        &mut self,
        atoms: &mut Atoms,
        function: &Function,
        operand: ExprId,
        implicit: bool,
        cast: CastKind,
        ty: TypeId,
    ) -> Option<Term> {
        match cast {
            CastKind::LValueToRValue => {
                let atom = self.read(atoms, function, operand)?;
                Some(Term::atom(atom, &atoms.table))
            }
            CastKind::ArrayToPointer => {
                let inner = function.without_parens(operand);
                // A string's address is no atom; an array's is.
                matches!(
                    function.expr(inner).kind,
                    ExprKind::Variable(_) | ExprKind::Member { arrow: false, .. }
                )
                .then_some(())?;
                let atom = self.read(atoms, function, operand)?;
                Some(Term::atom(atom, &atoms.table))
            }
            CastKind::NullToPointer if implicit => self.model(atoms, function, operand),
            CastKind::Arithmetic | CastKind::PointerToBoolean if implicit => {
                self.model(atoms, function, operand)
            }
            CastKind::NoOp if implicit => self.model(atoms, function, operand),
            // `void *` to another pointer and back, as C does by itself.
            CastKind::Pointer if implicit => self.model(atoms, function, operand),
            CastKind::NullToPointer
            | CastKind::Arithmetic
            | CastKind::Pointer
            | CastKind::NoOp
            | CastKind::PointerToInteger
            | CastKind::IntegerToPointer
                if !implicit =>
            {
                let inner = self.model(atoms, function, operand)?;
                let to = self.ctype(ty)?;
                if let (CType::Pointer(id), Some(0)) = (to, zero(&inner))
                    && self.types.pointees()[id].is_void
                {
                    return Some(Term::constant(0, to, "NULL"));
                }
                Term::cast(to, inner, self.types.pointees()).ok()
            }
            _ => None,
        }
    }

    /// Whether objects of this type can be leaves of terms.
    pub fn is_scalar(&mut self, ty: TypeId) -> bool {
        !matches!(
            self.unit.types.kind(ty),
            TypeKind::Array(..) | TypeKind::VariableArray(..)
        ) && self.ctype(ty).is_some()
    }
}

fn zero(term: &Term) -> Option<u64> {
    match term.kind() {
        crate::term::Kind::Constant(value, _) => Some(*value),
        _ => None,
    }
}
