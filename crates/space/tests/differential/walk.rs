//! Evaluation straight over the tree: with the scalar operators, and with the row operators.
//!
//! C's implicit conversions are written here a second time, independently of the compiler from
//! terms to code.

use patchwright_semantics::rows::{
    Operand, binary_row, convert_row, logical_and_row, logical_or_row, pointer_add_row,
    pointer_difference_row, pointer_sub_row, select_row, shift_row, truth_row, unary_row,
    within_row,
};
use patchwright_semantics::{
    BinaryOp, Ty, UnaryOp, binary, convert, pointer_add, pointer_difference, pointer_index,
    pointer_sub, shift, truth, unary, within,
};
use patchwright_space::term::{
    AtomTable, CType, Context, Kind, PointeeId, Pointees, Term, promote, usual_conversions,
};

/// What a binary operator comes to after typing.
enum Plan {
    Arithmetic(Ty),
    Shift(Ty, Ty),
    PointerPlusIndex(Ty, u64),
    IndexPlusPointer(Ty, u64),
    PointerMinusIndex(Ty, u64),
    Difference(u64),
}

fn plan(op: BinaryOp, left: &Term, right: &Term, pointees: &Pointees) -> Plan {
    let size = |id: PointeeId| pointees[id].size.expect("typed");
    let (left_ty, right_ty) = (left.ctype().value_type(), right.ctype().value_type());
    match (left.ctype(), right.ctype()) {
        (CType::Pointer(id), CType::Pointer(_)) if op == BinaryOp::Sub => {
            Plan::Difference(size(id))
        }
        (CType::Pointer(id), _) if op == BinaryOp::Add => {
            Plan::PointerPlusIndex(right_ty, size(id))
        }
        (CType::Pointer(id), _) if op == BinaryOp::Sub => {
            Plan::PointerMinusIndex(right_ty, size(id))
        }
        (_, CType::Pointer(id)) if op == BinaryOp::Add => Plan::IndexPlusPointer(left_ty, size(id)),
        (CType::Pointer(_), _) | (_, CType::Pointer(_)) => Plan::Arithmetic(Ty::Ptr),
        (a, b) if op.is_shift() => Plan::Shift(promote(a).value_type(), promote(b).value_type()),
        (a, b) => Plan::Arithmetic(usual_conversions(a, b).expect("typed").value_type()),
    }
}

/// The type of the value that a term gives in a context.
pub fn result_type(term: &Term, context: Context) -> CType {
    match context {
        Context::Truth => CType::Int,
        Context::Convert(to) => to,
        Context::Index(_) => CType::Long,
        Context::Same => term.ctype(),
    }
}

pub struct Scalar<'a> {
    pub atoms: &'a AtomTable,
    pub pointees: &'a Pointees,
    pub state: &'a [u64],
}

impl Scalar<'_> {
    pub fn in_context(&self, term: &Term, context: Context) -> Option<u64> {
        match context {
            Context::Truth => self.truth(term).map(u64::from),
            Context::Convert(to) => self.converted(term, to.value_type()),
            Context::Index(count) => within(self.converted(term, Ty::I64)?, count),
            Context::Same => self.value(term),
        }
    }

    fn truth(&self, term: &Term) -> Option<bool> {
        Some(truth(term.ctype().value_type(), self.value(term)?))
    }

    fn converted(&self, term: &Term, to: Ty) -> Option<u64> {
        convert(term.ctype().value_type(), to, self.value(term)?)
    }

    fn value(&self, term: &Term) -> Option<u64> {
        let ty = term.ctype().value_type();
        match term.kind() {
            Kind::Atom(id) => Some(self.state[self.atoms[*id].slot as usize]),
            Kind::Constant(value, _) => Some(*value),
            Kind::Cast(a) => self.converted(a, ty),
            Kind::Unary(UnaryOp::Not, a) => Some(u64::from(!self.truth(a)?)),
            Kind::Unary(op, a) => unary(*op, ty, self.converted(a, ty)?),
            Kind::LogicalAnd(a, b) => Some(u64::from(self.truth(a)? && self.truth(b)?)),
            Kind::LogicalOr(a, b) => Some(u64::from(self.truth(a)? || self.truth(b)?)),
            Kind::Conditional(a, b, c) => {
                let chosen = if self.truth(a)? { b } else { c };
                self.converted(chosen, ty)
            }
            Kind::Binary(op, a, b) => match plan(*op, a, b, self.pointees) {
                Plan::Arithmetic(ty) => {
                    binary(*op, ty, self.converted(a, ty)?, self.converted(b, ty)?)
                }
                Plan::Shift(left, right) => {
                    let (a, b) = (self.converted(a, left)?, self.converted(b, right)?);
                    shift(*op, left, right, a, b)
                }
                Plan::PointerPlusIndex(index, size) => {
                    let index = pointer_index(index, self.value(b)?)?;
                    pointer_add(self.value(a)?, index, size)
                }
                Plan::IndexPlusPointer(index, size) => {
                    let index = pointer_index(index, self.value(a)?)?;
                    pointer_add(self.value(b)?, index, size)
                }
                Plan::PointerMinusIndex(index, size) => {
                    let index = pointer_index(index, self.value(b)?)?;
                    pointer_sub(self.value(a)?, index, size)
                }
                Plan::Difference(size) => pointer_difference(self.value(a)?, self.value(b)?, size),
            },
        }
    }
}

/// A row of values, or one value for all states.
pub enum Column {
    Same(u64),
    Each(Vec<u64>, Vec<u8>),
}

impl Column {
    fn operand(&self) -> Operand<'_> {
        match self {
            Column::Same(value) => Operand::Scalar(*value, false),
            Column::Each(values, undefined) => Operand::Row(values, undefined),
        }
    }

    pub fn get(&self, state: usize) -> Option<u64> {
        match self {
            Column::Same(value) => Some(*value),
            Column::Each(values, undefined) => (undefined[state] == 0).then_some(values[state]),
        }
    }
}

pub struct Rows<'a> {
    pub atoms: &'a AtomTable,
    pub pointees: &'a Pointees,
    pub states: &'a [Vec<u64>],
}

impl Rows<'_> {
    fn filled(&self, fill: impl FnOnce(&mut [u64], &mut [u8])) -> Column {
        let (mut values, mut undefined) = (vec![9; self.states.len()], vec![9; self.states.len()]);
        fill(&mut values, &mut undefined);
        Column::Each(values, undefined)
    }

    pub fn in_context(&self, term: &Term, context: Context) -> Column {
        match context {
            Context::Truth => self.truth(term),
            Context::Convert(to) => self.converted(term, to.value_type()),
            Context::Index(count) => {
                let index = self.converted(term, Ty::I64);
                self.filled(|out, undefined| within_row(count, index.operand(), out, undefined))
            }
            Context::Same => self.value(term),
        }
    }

    fn truth(&self, term: &Term) -> Column {
        let (ty, column) = (term.ctype().value_type(), self.value(term));
        self.filled(|out, undefined| truth_row(ty, column.operand(), out, undefined))
    }

    fn converted(&self, term: &Term, to: Ty) -> Column {
        let (ty, column) = (term.ctype().value_type(), self.value(term));
        self.filled(|out, undefined| convert_row(ty, to, column.operand(), out, undefined))
    }

    fn value(&self, term: &Term) -> Column {
        let ty = term.ctype().value_type();
        match term.kind() {
            Kind::Atom(id) => {
                let slot = self.atoms[*id].slot as usize;
                let values = self.states.iter().map(|state| state[slot]).collect();
                Column::Each(values, vec![0; self.states.len()])
            }
            Kind::Constant(value, _) => Column::Same(*value),
            Kind::Cast(a) => self.converted(a, ty),
            Kind::Unary(UnaryOp::Not, a) => {
                let (ty, a) = (a.ctype().value_type(), self.value(a));
                self.filled(|out, undefined| {
                    unary_row(UnaryOp::Not, ty, a.operand(), out, undefined);
                })
            }
            Kind::Unary(op, a) => {
                let a = self.converted(a, ty);
                self.filled(|out, undefined| unary_row(*op, ty, a.operand(), out, undefined))
            }
            Kind::LogicalAnd(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.filled(|out, undefined| {
                    logical_and_row(a.operand(), b.operand(), out, undefined);
                })
            }
            Kind::LogicalOr(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.filled(|out, undefined| {
                    logical_or_row(a.operand(), b.operand(), out, undefined);
                })
            }
            Kind::Conditional(a, b, c) => {
                let (a, b, c) = (self.truth(a), self.converted(b, ty), self.converted(c, ty));
                self.filled(|out, undefined| {
                    select_row(a.operand(), b.operand(), c.operand(), out, undefined);
                })
            }
            Kind::Binary(op, a, b) => self.binary(*op, a, b),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Term, b: &Term) -> Column {
        let plan = plan(op, a, b, self.pointees);
        let (a, b) = match plan {
            Plan::Arithmetic(ty) => (self.converted(a, ty), self.converted(b, ty)),
            Plan::Shift(left, right) => (self.converted(a, left), self.converted(b, right)),
            Plan::IndexPlusPointer(..) => (self.value(b), self.value(a)),
            _ => (self.value(a), self.value(b)),
        };
        let (a, b) = (a.operand(), b.operand());
        self.filled(|out, undefined| match plan {
            Plan::Arithmetic(ty) => binary_row(op, ty, a, b, out, undefined),
            Plan::Shift(left, right) => shift_row(op, left, right, a, b, out, undefined),
            Plan::PointerPlusIndex(index, size) | Plan::IndexPlusPointer(index, size) => {
                pointer_add_row(index, size, a, b, out, undefined);
            }
            Plan::PointerMinusIndex(index, size) => {
                pointer_sub_row(index, size, a, b, out, undefined);
            }
            Plan::Difference(size) => pointer_difference_row(size, a, b, out, undefined),
        })
    }
}
