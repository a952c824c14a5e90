//! Compiles terms to code for the stack machine, with C's implicit conversions made explicit.

use patchwright_semantics::{
    BinaryOp, Instruction, MAX_STACK, Ty, UnaryOp, conversion_is_identity,
};
use thiserror::Error;

use super::ctype::{CType, Pointees, TypeError, check_assignment, promote, usual_conversions};
use super::tree::{AtomTable, Kind, Term};

/// How the value of a term is used: as a condition, converted to a type, or as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// It is a condition: the result is 1 if the value compares unequal to zero, else 0.
    Truth,
    /// It is converted to this type as if by assignment.
    Convert(CType),
    /// It is converted to `long` and selects one of so many elements of an array; other values are
    /// undefined.
    Index(u64),
    /// It is used as it is, as a value of the term's own type.
    Same,
}

/// Why a term cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The context asks for a conversion that C does not do implicitly.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The term nests so deeply that its evaluation would need a larger stack.
    #[error("the term needs {needed} places on the evaluation stack, which has {MAX_STACK}")]
    TooDeep {
        /// The number of values that would be on the stack at once.
        needed: usize,
    },
    /// The code of one branch is longer than a jump can skip.
    #[error("the term has a branch of {length} instructions, more than a jump can skip")]
    TooLong {
        /// The number of instructions.
        length: usize,
    },
}

/// Returns the code that evaluates `term` in `context` from the slots of its atoms.
///
/// # Errors
/// When the context's type does not take the term's value without a cast, and when the term is too
/// deep for the stack machine.
///
/// # Panics
/// When an atom or a pointee is not of these tables.
pub fn compile(
    term: &Term,
    context: Context,
    atoms: &AtomTable,
    pointees: &Pointees,
) -> Result<Vec<Instruction>, CompileError> {
    let mut emitter = Emitter {
        atoms,
        pointees,
        code: Vec::new(),
        depth: 0,
        max_depth: 0,
    };
    match context {
        Context::Truth => emitter.truth(term)?,
        Context::Convert(to) => {
            check_assignment(term.operand(pointees), to, pointees)?;
            emitter.converted(term, to)?;
        }
        Context::Index(count) => {
            check_assignment(term.operand(pointees), CType::Long, pointees)?;
            emitter.converted(term, CType::Long)?;
            emitter.emit(1, Instruction::within(count));
        }
        Context::Same => emitter.value(term)?,
    }
    if emitter.max_depth > MAX_STACK {
        return Err(CompileError::TooDeep {
            needed: emitter.max_depth,
        });
    }
    Ok(emitter.code)
}

struct Emitter<'a> {
    atoms: &'a AtomTable,
    pointees: &'a Pointees,
    code: Vec<Instruction>,
    /// The number of values on the stack after the code so far.
    depth: usize,
    max_depth: usize,
}

impl Emitter<'_> {
    /// Appends an instruction that pops `pops` values and pushes one.
    fn emit(&mut self, pops: usize, instruction: Instruction) {
        self.code.push(instruction);
        self.depth = self.depth - pops + 1;
        self.max_depth = self.max_depth.max(self.depth);
    }

    fn convert(&mut self, from: Ty, to: Ty) {
        if !conversion_is_identity(from, to) {
            self.emit(1, Instruction::convert(from, to));
        }
    }

    /// Pushes the value of `term` converted to `to`.
    fn converted(&mut self, term: &Term, to: CType) -> Result<(), CompileError> {
        self.value(term)?;
        self.convert(term.ctype().value_type(), to.value_type());
        Ok(())
    }

    /// Pushes 1 if `term` compares unequal to zero, else 0.
    fn truth(&mut self, term: &Term) -> Result<(), CompileError> {
        self.value(term)?;
        if !term.is_truth_value() {
            self.convert(term.ctype().value_type(), Ty::Bool);
        }
        Ok(())
    }

    /// Pushes what `then` pushes if `condition` is true, else what `otherwise` pushes; both push
    /// one value.
    fn branch(
        &mut self,
        condition: &Term,
        then: impl FnOnce(&mut Self) -> Result<(), CompileError>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        self.truth(condition)?;
        let distance = |from: usize, to: usize| {
            let length = to - from - 1;
            u32::try_from(length).map_err(|_| CompileError::TooLong { length })
        };
        let jump_to_otherwise = self.code.len();
        self.code.push(Instruction::jump_if_zero(0));
        self.depth -= 1;
        then(self)?;
        let jump_to_end = self.code.len();
        self.code.push(Instruction::jump(0));
        self.depth -= 1;
        let skip = distance(jump_to_otherwise, self.code.len())?;
        self.code[jump_to_otherwise] = Instruction::jump_if_zero(skip);
        otherwise(self)?;
        let skip = distance(jump_to_end, self.code.len())?;
        self.code[jump_to_end] = Instruction::jump(skip);
        Ok(())
    }

    fn constant(&mut self, value: u64) {
        self.emit(0, Instruction::constant(value));
    }

    /// Pushes the value of `term` as a value of its own type.
    fn value(&mut self, term: &Term) -> Result<(), CompileError> {
        match term.kind() {
            Kind::Atom(id) => self.emit(0, Instruction::slot(self.atoms[*id].slot)),
            Kind::Constant(value, _) => self.constant(*value),
            Kind::Cast(operand) => self.converted(operand, term.ctype())?,
            Kind::Unary(UnaryOp::Not, operand) => {
                self.value(operand)?;
                let ty = operand.ctype().value_type();
                self.emit(1, Instruction::unary(UnaryOp::Not, ty));
            }
            Kind::Unary(op, operand) => {
                self.converted(operand, term.ctype())?;
                self.emit(1, Instruction::unary(*op, term.ctype().value_type()));
            }
            Kind::Binary(op, left, right) => self.binary(term, *op, left, right)?,
            Kind::LogicalAnd(left, right) => self.branch(
                left,
                |this| this.truth(right),
                |this| {
                    this.constant(0);
                    Ok(())
                },
            )?,
            Kind::LogicalOr(left, right) => self.branch(
                left,
                |this| {
                    this.constant(1);
                    Ok(())
                },
                |this| this.truth(right),
            )?,
            Kind::Conditional(condition, then, otherwise) => self.branch(
                condition,
                |this| this.converted(then, term.ctype()),
                |this| this.converted(otherwise, term.ctype()),
            )?,
        }
        Ok(())
    }

    fn binary(
        &mut self,
        term: &Term,
        op: BinaryOp,
        left: &Term,
        right: &Term,
    ) -> Result<(), CompileError> {
        // Typing made sure that there is a size where one is asked for.
        let size = |pointer: &Term| {
            let id = pointer.pointee()?;
            self.pointees[id].size
        };
        match (left.pointee(), right.pointee()) {
            (Some(_), Some(_)) if op == BinaryOp::Sub => {
                let size = size(left).unwrap_or(0);
                self.value(left)?;
                self.value(right)?;
                self.emit(2, Instruction::pointer_difference(size));
            }
            (Some(_), None) if !op.is_comparison() => {
                let (size, index) = (size(left).unwrap_or(0), right.ctype().value_type());
                self.value(left)?;
                self.value(right)?;
                self.emit(
                    2,
                    match op {
                        BinaryOp::Sub => Instruction::pointer_sub(index, size),
                        _ => Instruction::pointer_add(index, size),
                    },
                );
            }
            (None, Some(_)) if !op.is_comparison() => {
                let (size, index) = (size(right).unwrap_or(0), left.ctype().value_type());
                self.value(right)?;
                self.value(left)?;
                self.emit(2, Instruction::pointer_add(index, size));
            }
            (None, None) if op.is_shift() => {
                let (left_ty, right_ty) = (term.ctype().value_type(), right.ctype().value_type());
                self.converted(left, term.ctype())?;
                self.converted(right, promote(right.ctype()))?;
                self.emit(2, Instruction::shift(op, left_ty, right_ty));
            }
            _ => {
                // Only pointers have no common type; a null pointer constant compares as one.
                let common = usual_conversions(left.ctype(), right.ctype())
                    .map_or(Ty::Ptr, CType::value_type);
                self.value(left)?;
                self.convert(left.ctype().value_type(), common);
                self.value(right)?;
                self.convert(right.ctype().value_type(), common);
                self.emit(2, Instruction::binary(op, common));
            }
        }
        Ok(())
    }
}

impl Term {
    /// Whether the value is 0 or 1 by construction.
    pub(super) fn is_truth_value(&self) -> bool {
        match self.kind() {
            Kind::Unary(UnaryOp::Not, _) | Kind::LogicalAnd(..) | Kind::LogicalOr(..) => true,
            Kind::Binary(op, ..) => op.is_comparison(),
            Kind::Constant(value, _) => self.ctype().is_integer() && *value <= 1,
            _ => self.ctype() == CType::Bool,
        }
    }
}
