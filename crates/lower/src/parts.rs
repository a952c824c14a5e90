//! Complex numbers and vectors of GNU C: values of several numbers, which lie in memory as records do.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{Argument, InstructionKind, Operand, OriginId, Type, wide};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    constant::{Constant, Scope},
    function::FunctionLowerer,
    types::{Class, Parts, parts},
};

/// An operand of arithmetic on complex numbers: its real part, and the imaginary one if it has one.
type Number = (Operand, Option<Operand>);

/// The function of the compiler's library that multiplies or divides complex numbers.
fn library(op: BinaryOp, of: Type) -> Option<&'static str> {
    Some(match (op, of) {
        (BinaryOp::Mul, Type::F32) => "__mulsc3",
        (BinaryOp::Mul, Type::F64) => "__muldc3",
        (BinaryOp::Mul, Type::F80) => "__mulxc3",
        (BinaryOp::Div, Type::F32) => "__divsc3",
        (BinaryOp::Div, Type::F64) => "__divdc3",
        (BinaryOp::Div, Type::F80) => "__divxc3",
        _ => return None,
    })
}

/// The type in which vectors compute: integers wrap around in them, also where they are narrower than `int`.
fn computing(op: BinaryOp, of: Type) -> Type {
    let wraps = matches!(
        op,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl
    );
    match of {
        Type::Bool | Type::I8 | Type::U8 | Type::I16 | Type::U16 => Type::I32,
        Type::I32 if wraps => Type::U32,
        Type::I64 if wraps => Type::U64,
        other => other,
    }
}

/// What comparisons of numbers of this type give in a vector.
fn mask(of: Type) -> Type {
    match of.size() {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

impl FunctionLowerer<'_, '_> {
    /// The parts of the values of an expression.
    pub(crate) fn parts_of(&self, id: ExprId) -> Option<Parts> {
        parts(&self.lowerer.unit.types, self.source.expr(id).ty)
    }

    /// The address of the value of an expression of several numbers, if its form is one of those only.
    pub(crate) fn several(&mut self, id: ExprId) -> Option<Operand> {
        let whole = self.parts_of(id)?;
        let source = self.source;
        let origin = self.at_expr(id);
        let values = match &source.expr(id).kind {
            ExprKind::Cast {
                cast: CastKind::LValueToRValue | CastKind::NoOp,
                ..
            } => return None,
            ExprKind::Cast { operand, cast, .. } => {
                return Some(self.made_of_parts(id, *operand, *cast, whole));
            }
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::Plus => return Some(self.aggregate(*operand)),
                UnaryOperator::Minus | UnaryOperator::Complement | UnaryOperator::Not => {
                    let values = self.numbers(*operand);
                    self.signs(*operator, &values, whole, origin)
                }
                UnaryOperator::Step => return Some(self.step_parts(id, *operand, whole)),
                _ => return None,
            },
            ExprKind::Binary {
                operator,
                left,
                right,
            } if *operator != BinaryOperator::Comma => {
                let op = BinaryOp::from_spelling(operator.spelling())?;
                let (a, b) = (self.numbers(*left), self.numbers(*right));
                let of = self.parts_of(*left).map_or(whole.of, |parts| parts.of);
                self.operate_on_parts(id, op, (&a, &b), of, whole)
            }
            ExprKind::Assign {
                operator: Some(operator),
                target,
                value,
            } => {
                let op = BinaryOp::from_spelling(operator.spelling())?;
                let Some(Detail::Compute { left, .. }) = source.details.of.get(&id) else {
                    return None;
                };
                let of = parts(&self.lowerer.unit.types, *left)?;
                let b = self.numbers(*value);
                let address = self.address_of(*target);
                let old = self.load_parts(address, whole, origin);
                let a = self.converted(&old, of.of, origin);
                let new = self.operate_on_parts(id, op, (&a, &b), of.of, of);
                let new = self.converted(&new, whole.of, origin);
                self.store_parts(address, &new, whole, origin);
                return Some(address);
            }
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let ExprKind::Function(name) = &source.expr(source.stripped(*callee)).kind else {
                    return None;
                };
                let [first, rest @ ..] = arguments.as_slice() else {
                    return None;
                };
                match (name.trim_start_matches("__builtin_"), rest) {
                    ("conj" | "conjf" | "conjl", []) => {
                        let values = self.numbers(*first);
                        self.signs(UnaryOperator::Complement, &values, whole, origin)
                    }
                    ("complex", [second]) => vec![self.rvalue(*first), self.rvalue(*second)],
                    _ => return None,
                }
            }
            ExprKind::Other { kind, children, .. } => match (kind.as_str(), children.as_slice()) {
                ("ImaginaryLiteral", [value]) => {
                    let value = self.rvalue(*value);
                    let value = self.as_type(value, whole.of);
                    vec![self.zero(whole.of, origin), value]
                }
                ("ConvertVectorExpr", [from, ..]) => {
                    let values = self.numbers(*from);
                    self.converted(&values, whole.of, origin)
                }
                ("ShuffleVectorExpr", [a, b, indices @ ..]) => {
                    let mut all = self.numbers(*a);
                    all.extend(self.numbers(*b));
                    let mut values = Vec::new();
                    for &index in indices {
                        // -1 is any value.
                        let index = self.scope().integer(index)?.max(0);
                        values.push(*all.get(index as usize)?);
                    }
                    values
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(self.new_parts(id, &values, whole, origin))
    }

    fn zero(&self, of: Type, origin: OriginId) -> Operand {
        self.constant(of, 0, origin)
    }

    fn converted(&mut self, values: &[Operand], to: Type, origin: OriginId) -> Vec<Operand> {
        let convert = |&value: &Operand| {
            let from = self.type_of(value);
            self.convert(value, from, to, origin)
        };
        values.iter().map(convert).collect()
    }

    /// The numbers that an expression is: all parts, or the one of a scalar.
    fn numbers(&mut self, id: ExprId) -> Vec<Operand> {
        match self.parts_of(id) {
            Some(whole) => {
                let origin = self.at_expr(id);
                let address = self.aggregate(id);
                self.load_parts(address, whole, origin)
            }
            None => vec![self.rvalue(id)],
        }
    }

    fn load_parts(&mut self, address: Operand, whole: Parts, origin: OriginId) -> Vec<Operand> {
        let load = |index| {
            let address = self.member_address(address, index * whole.of.size(), None, origin);
            self.load(Self::at_address(address), whole.of, origin)
        };
        (0..whole.count).map(load).collect()
    }

    fn store_parts(
        &mut self,
        address: Operand,
        values: &[Operand],
        whole: Parts,
        origin: OriginId,
    ) {
        for (index, &value) in values.iter().enumerate() {
            let offset = index as u64 * whole.of.size();
            let place = self.member_address(address, offset, None, origin);
            self.store(Self::at_address(place), whole.of, value, origin);
        }
    }

    /// A new object of these parts.
    fn new_parts(
        &mut self,
        id: ExprId,
        values: &[Operand],
        whole: Parts,
        origin: OriginId,
    ) -> Operand {
        let (size, align) = match self.class(id) {
            Class::Aggregate { size, align } => (size, align),
            _ => (whole.count * whole.of.size(), whole.of.size()),
        };
        let local = self.temporary_object(size, align, origin);
        let address = self.local_address(local, origin);
        self.store_parts(address, values, whole, origin);
        address
    }

    /// `-`, `~` and `!` of each part; `~` of a complex number is its conjugate.
    fn signs(
        &mut self,
        operator: UnaryOperator,
        values: &[Operand],
        whole: Parts,
        origin: OriginId,
    ) -> Vec<Operand> {
        let mut result = Vec::new();
        for (index, &a) in values.iter().enumerate() {
            result.push(match operator {
                UnaryOperator::Complement if whole.complex && index == 0 => a,
                UnaryOperator::Complement if !whole.complex => {
                    let ones =
                        self.constant(whole.of, wide::canonical(whole.of, u128::MAX), origin);
                    self.on_part(BinaryOp::Xor, a, ones, whole.of, origin)
                }
                UnaryOperator::Not => {
                    let zero = self.zero(self.type_of(a), origin);
                    self.compared(BinaryOp::Eq, a, zero, origin)
                }
                _ if whole.of.is_float() => {
                    self.emit_value(whole.of, origin, |dst| InstructionKind::Unary {
                        dst,
                        op: UnaryOp::Neg,
                        ty: whole.of,
                        a,
                    })
                }
                _ => {
                    let zero = self.zero(whole.of, origin);
                    self.on_part(BinaryOp::Sub, zero, a, whole.of, origin)
                }
            });
        }
        result
    }

    /// `a op b` of two parts; of type `of`.
    pub(crate) fn on_part(
        &mut self,
        op: BinaryOp,
        a: Operand,
        b: Operand,
        of: Type,
        origin: OriginId,
    ) -> Operand {
        let within = computing(op, of);
        let (from_a, from_b) = (self.type_of(a), self.type_of(b));
        let a = self.convert(a, from_a, within, origin);
        let b = self.convert(b, from_b, within, origin);
        let value = self.operate(op, a, b, within, origin);
        self.convert(value, within, of, origin)
    }

    /// All bits set where a comparison of two parts holds, else none.
    fn compared(&mut self, op: BinaryOp, a: Operand, b: Operand, origin: OriginId) -> Operand {
        let of = self.type_of(a);
        let within = computing(op, of);
        let a = self.convert(a, of, within, origin);
        let b = self.convert(b, of, within, origin);
        let holds = self.operate(op, a, b, Type::I32, origin);
        let zero = self.zero(Type::I32, origin);
        let all = self.operate(BinaryOp::Sub, zero, holds, Type::I32, origin);
        self.convert(all, Type::I32, mask(of), origin)
    }

    /// A binary operator on numbers with parts of type `of`; its result has the parts `whole`.
    fn operate_on_parts(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        (a, b): (&[Operand], &[Operand]),
        of: Type,
        whole: Parts,
    ) -> Vec<Operand> {
        let origin = self.at_expr(id);
        if !whole.complex {
            let mut values = Vec::new();
            for (&a, &b) in a.iter().zip(b) {
                values.push(match op.is_comparison() {
                    true => self.compared(op, a, b, origin),
                    false => self.on_part(op, a, b, of, origin),
                });
            }
            return values;
        }
        let (Some(a), Some(b)) = (as_number(a), as_number(b)) else {
            let value = self.unsupported_value(origin, "an operand of several numbers", whole.of);
            return vec![value, value];
        };
        let (re, im) = self.complex(id, op, a, b, of);
        vec![re, im]
    }

    /// Arithmetic on complex numbers, where a real operand has no imaginary part, not one of zero.
    fn complex(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        (ar, ai): Number,
        (br, bi): Number,
        of: Type,
    ) -> (Operand, Operand) {
        let origin = self.at_expr(id);
        let zero = self.zero(of, origin);
        let on = |this: &mut Self, op, a, b| this.on_part(op, a, b, of, origin);
        match (op, ai, bi) {
            (BinaryOp::Add | BinaryOp::Sub, _, None) => (on(self, op, ar, br), ai.unwrap_or(zero)),
            (BinaryOp::Add, None, Some(bi)) => (on(self, op, ar, br), bi),
            (BinaryOp::Sub, None, Some(bi)) => {
                let parts = Parts {
                    of,
                    count: 1,
                    complex: false,
                };
                let negative = self.signs(UnaryOperator::Minus, &[bi], parts, origin);
                (self.on_part(op, ar, br, of, origin), negative[0])
            }
            (BinaryOp::Add | BinaryOp::Sub, Some(ai), Some(bi)) => {
                (on(self, op, ar, br), on(self, op, ai, bi))
            }
            (BinaryOp::Mul | BinaryOp::Div, Some(ai), None) => {
                (on(self, op, ar, br), on(self, op, ai, br))
            }
            (BinaryOp::Mul, None, Some(bi)) => (on(self, op, ar, br), on(self, op, ar, bi)),
            (BinaryOp::Mul | BinaryOp::Div, ai, Some(bi)) => {
                let ai = ai.unwrap_or(zero);
                match library(op, of) {
                    Some(name) => self.by_library(id, name, [ar, ai, br, bi], of),
                    None if op == BinaryOp::Div => {
                        self.divided_integers([ar, ai, br, bi], of, origin)
                    }
                    None => {
                        let on = |this: &mut Self, op, a, b| this.on_part(op, a, b, of, origin);
                        let (rr, ii) = (
                            on(self, BinaryOp::Mul, ar, br),
                            on(self, BinaryOp::Mul, ai, bi),
                        );
                        let (ri, ir) = (
                            on(self, BinaryOp::Mul, ar, bi),
                            on(self, BinaryOp::Mul, ai, br),
                        );
                        (
                            on(self, BinaryOp::Sub, rr, ii),
                            on(self, BinaryOp::Add, ri, ir),
                        )
                    }
                }
            }
            _ => {
                let value = self.unsupported_value(origin, "an operator on complex numbers", of);
                (value, value)
            }
        }
    }

    fn by_library(
        &mut self,
        id: ExprId,
        name: &str,
        values: [Operand; 4],
        of: Type,
    ) -> (Operand, Operand) {
        let origin = self.at_expr(id);
        let whole = Parts {
            of,
            count: 2,
            complex: true,
        };
        let arguments = self.converted(&values, of, origin).into_iter();
        let arguments = arguments
            .map(|value| Argument {
                ty: of,
                value,
                to_const: false,
            })
            .collect();
        let size = 2 * of.size();
        match self.call_library(id, name, arguments, Type::Aggregate { size }) {
            Some(address) => {
                let values = self.load_parts(address, whole, origin);
                (values[0], values[1])
            }
            None => {
                let value = self.unsupported_value(origin, "an operator on complex numbers", of);
                (value, value)
            }
        }
    }

    /// `==` and `!=` of complex numbers.
    pub(crate) fn compare_complex(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    ) -> Operand {
        let origin = self.at_expr(id);
        let (a, b) = (self.numbers(left), self.numbers(right));
        let (Some((ar, ai)), Some((br, bi))) = (as_number(&a), as_number(&b)) else {
            return self.unsupported_expr(id);
        };
        let join = match op {
            BinaryOp::Eq => BinaryOp::And,
            BinaryOp::Ne => BinaryOp::Or,
            _ => return self.unsupported_expr(id),
        };
        let of = self.type_of(ar);
        let zero = self.zero(of, origin);
        let re = self.compared(op, ar, br, origin);
        let im = self.compared(op, ai.unwrap_or(zero), bi.unwrap_or(zero), origin);
        let both = self.operate(join, re, im, self.type_of(re), origin);
        let zero = self.zero(self.type_of(both), origin);
        self.operate(BinaryOp::Ne, both, zero, Type::I32, origin)
    }

    /// 1 if a number is zero, else 0.
    pub(crate) fn is_zero(&mut self, id: ExprId, origin: OriginId) -> Operand {
        let values = self.numbers(id);
        let mut all: Option<Operand> = None;
        for value in values {
            let zero = self.zero(self.type_of(value), origin);
            let here = self.operate(BinaryOp::Eq, value, zero, Type::I32, origin);
            all = Some(match all {
                Some(all) => self.operate(BinaryOp::And, all, here, Type::I32, origin),
                None => here,
            });
        }
        all.unwrap_or_else(|| self.zero(Type::I32, origin))
    }

    /// `++` and `--`.
    fn step_parts(&mut self, id: ExprId, operand: ExprId, whole: Parts) -> Operand {
        let origin = self.at_expr(id);
        let Some(&Detail::Step { increment, prefix }) = self.source.details.of.get(&id) else {
            return self.unsupported_value(origin, "a step of an unknown form", Type::Ptr);
        };
        let address = self.address_of(operand);
        let old = self.load_parts(address, whole, origin);
        let one = self.constant(Type::I32, 1, origin);
        let op = if increment {
            BinaryOp::Add
        } else {
            BinaryOp::Sub
        };
        let mut new = old.clone();
        let count = if whole.complex { 1 } else { new.len() };
        for value in &mut new[..count] {
            *value = self.on_part(op, *value, one, whole.of, origin);
        }
        let before = match prefix {
            true => None,
            false => Some(self.new_parts(id, &old, whole, origin)),
        };
        self.store_parts(address, &new, whole, origin);
        before.unwrap_or(address)
    }

    /// A conversion to a complex number or a vector.
    fn made_of_parts(
        &mut self,
        id: ExprId,
        operand: ExprId,
        cast: CastKind,
        whole: Parts,
    ) -> Operand {
        let origin = self.at_expr(id);
        // The same bytes, of another type.
        if cast == CastKind::Pointer {
            if self.parts_of(operand).is_some() {
                return self.aggregate(operand);
            }
            let value = self.rvalue(operand);
            let of = self.type_of(value);
            let bytes = Parts {
                of,
                count: 1,
                complex: false,
            };
            return self.new_parts(id, &[value], bytes, origin);
        }
        let from = self.numbers(operand);
        let from = self.converted(&from, whole.of, origin);
        let values = match (whole.complex, from.as_slice()) {
            (true, [re]) => vec![*re, self.zero(whole.of, origin)],
            (false, [one]) => vec![*one; whole.count as usize],
            _ => from,
        };
        self.new_parts(id, &values, whole, origin)
    }

    /// A conversion of a complex number or a vector to a number.
    pub(crate) fn number_of_parts(
        &mut self,
        id: ExprId,
        operand: ExprId,
        cast: CastKind,
    ) -> Operand {
        let origin = self.at_expr(id);
        let Some(to) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        if cast == CastKind::Pointer {
            let address = self.aggregate(operand);
            return self.load(Self::at_address(address), to, origin);
        }
        if !self.parts_of(operand).is_some_and(|parts| parts.complex) {
            return self.unsupported_expr(id);
        }
        if to == Type::Bool {
            let zero = self.is_zero(operand, origin);
            let not = self.constant(Type::I32, 0, origin);
            let value = self.operate(BinaryOp::Eq, zero, not, Type::I32, origin);
            return self.convert(value, Type::I32, Type::Bool, origin);
        }
        let values = self.numbers(operand);
        let from = self.type_of(values[0]);
        self.convert(values[0], from, to, origin)
    }

    /// Emits `__real__` or `__imag__`.
    pub(crate) fn part(&mut self, id: ExprId, operand: ExprId) -> Operand {
        let origin = self.at_expr(id);
        let Some(ty) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        if self.parts_of(operand).is_some() {
            let address = self.part_address(id, operand, origin);
            return self.load(Self::at_address(address), ty, origin);
        }
        let value = self.rvalue(operand);
        match self.is_imaginary(id) {
            Some(true) => self.zero(ty, origin),
            Some(false) => value,
            None => self.unsupported_expr(id),
        }
    }

    fn is_imaginary(&self, id: ExprId) -> Option<bool> {
        match self.source.details.of.get(&id) {
            Some(Detail::Operator(name)) => Some(name == "__imag"),
            _ => None,
        }
    }

    /// Returns the address of the real or imaginary part of a complex number.
    pub(crate) fn part_address(
        &mut self,
        id: ExprId,
        operand: ExprId,
        origin: OriginId,
    ) -> Operand {
        let size = self.parts_of(operand).map_or(0, |parts| parts.of.size());
        let offset = match self.is_imaginary(id) {
            Some(true) => size,
            Some(false) => 0,
            None => return self.unsupported_value(origin, "an operator of GNU C", Type::Ptr),
        };
        let address = self.aggregate(operand);
        self.member_address(address, offset, None, origin)
    }

    /// Returns the address of an element of a vector.
    pub(crate) fn part_at(&mut self, vector: ExprId, index: ExprId, origin: OriginId) -> Operand {
        let size = self.parts_of(vector).map_or(0, |parts| parts.of.size());
        let address = self.aggregate(vector);
        let number = self.rvalue(index);
        let size = self.constant(Type::U64, u128::from(size), origin);
        self.advance(address, number, size, false, origin)
    }

    /// Lowers a function of `complex.h` that is another way to write an operator or a function of real numbers.
    pub(crate) fn complex_function(
        &mut self,
        id: ExprId,
        name: &str,
        arguments: &[ExprId],
    ) -> Option<Operand> {
        let [argument] = arguments else {
            return None;
        };
        let whole = self.parts_of(*argument).filter(|parts| parts.complex)?;
        let suffix = match whole.of {
            Type::F32 => "f",
            Type::F64 => "",
            _ => "l",
        };
        let name = name
            .strip_suffix(suffix)
            .filter(|_| !suffix.is_empty())
            .unwrap_or(name);
        let (function, turned) = match name {
            "creal" | "cimag" => {
                let values = self.numbers(*argument);
                return values.get(usize::from(name == "cimag")).copied();
            }
            "cabs" => ("hypot", false),
            "carg" => ("atan2", true),
            _ => return None,
        };
        let mut values = self.numbers(*argument);
        if turned {
            values.reverse();
        }
        let argument = |value| Argument {
            ty: whole.of,
            value,
            to_const: false,
        };
        let arguments = values.into_iter().map(argument).collect();
        self.call_library(id, &format!("{function}{suffix}"), arguments, whole.of)
    }
}

fn as_number(values: &[Operand]) -> Option<Number> {
    match *values {
        [re] => Some((re, None)),
        [re, im] => Some((re, Some(im))),
        _ => None,
    }
}

impl Scope<'_, '_> {
    /// The parts of a constant that is a complex number, or a vector all of whose parts are the same.
    pub(crate) fn parts(&mut self, id: ExprId, whole: Parts) -> Option<Vec<u128>> {
        let number = self.number(id, whole.of)?;
        Some(match (whole.complex, number) {
            (true, (re, im)) => vec![re, im.unwrap_or(0)],
            (false, (re, None)) => vec![re; whole.count as usize],
            (false, _) => return None,
        })
    }

    /// A number, its parts converted to a type.
    fn number(&mut self, id: ExprId, of: Type) -> Option<(u128, Option<u128>)> {
        let arena = self.arena;
        let own = parts(&self.lowerer.unit.types, arena.expr(id).ty);
        let Some(own) = own else {
            let Constant::Value(ty, bits) = self.value(id)? else {
                return None;
            };
            return Some((wide::convert(ty, of, bits)?, None));
        };
        if !own.complex {
            // A vector of one number.
            return match &arena.expr(id).kind {
                ExprKind::Cast { operand, cast, .. } if *cast == CastKind::Other => {
                    let (value, None) = self.number(*operand, own.of)? else {
                        return None;
                    };
                    Some((wide::convert(own.of, of, value)?, None))
                }
                _ => None,
            };
        }
        let (re, im) = match &arena.expr(id).kind {
            ExprKind::Paren(inner)
            | ExprKind::Cast { operand: inner, .. }
            | ExprKind::Unary {
                operator: UnaryOperator::Plus | UnaryOperator::Extension,
                operand: inner,
            } => self.number(*inner, own.of)?,
            ExprKind::Unary {
                operator: UnaryOperator::Minus,
                operand,
            } => {
                let (re, im) = self.number(*operand, own.of)?;
                let negative = |bits| wide::unary(UnaryOp::Neg, own.of, bits);
                (negative(re)?, Some(negative(im.unwrap_or(0))?))
            }
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                let op = BinaryOp::from_spelling(operator.spelling())?;
                let (ar, ai) = self.number(*left, own.of)?;
                let (br, bi) = self.number(*right, own.of)?;
                let on = |op, a, b| wide::binary(op, own.of, a, b);
                match (op, ai, bi) {
                    (BinaryOp::Add | BinaryOp::Sub, _, None) => (on(op, ar, br)?, ai),
                    (BinaryOp::Add, None, _) => (on(op, ar, br)?, bi),
                    (BinaryOp::Add | BinaryOp::Sub, _, Some(bi)) => {
                        (on(op, ar, br)?, Some(on(op, ai.unwrap_or(0), bi)?))
                    }
                    (BinaryOp::Mul, None, Some(bi)) => (on(op, ar, br)?, Some(on(op, ar, bi)?)),
                    (BinaryOp::Mul | BinaryOp::Div, Some(ai), None) => {
                        (on(op, ar, br)?, Some(on(op, ai, br)?))
                    }
                    _ => return None,
                }
            }
            ExprKind::Other { kind, children, .. } => match (kind.as_str(), children.as_slice()) {
                ("ImaginaryLiteral", [value]) => {
                    let (value, None) = self.number(*value, own.of)? else {
                        return None;
                    };
                    (0, Some(value))
                }
                ("ConstantExpr", [inner]) => self.number(*inner, own.of)?,
                _ => return None,
            },
            _ => return None,
        };
        let to = |bits| wide::convert(own.of, of, bits);
        Some((
            to(re)?,
            match im {
                Some(im) => Some(to(im)?),
                None => None,
            },
        ))
    }
}
