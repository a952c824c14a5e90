//! Alternatives of expressions: other meanings that an expression may have in a meta-program.
//!
//! The IR of a meta-program asks, where an expression with alternatives is evaluated, the function
//! [`CHOICE`] which of them is meant, and [`CONSTANT`] for a number that is left open. Neither has a
//! body: who executes or encodes the program answers, always the same for one number. With 0 as
//! every answer the meta-program means what the program means.

use patchwright_csource::{BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, VarId};
use patchwright_ir::{
    Argument, Edge, InstructionKind, LocalKind, Operand, OriginId, SwitchCase, TerminatorKind,
    Type, wide,
};
use patchwright_semantics::BinaryOp;
use rustc_hash::FxHashMap;

use crate::{edge::to, function::FunctionLowerer};

/// The name of the function that chooses among alternatives: `int __patchwright_choice(int number)`. 0 is
/// the original, `k` is the `k`-th alternative.
pub const CHOICE: &str = "__patchwright_choice";

/// The name of the function that gives an open constant: `long __patchwright_constant(int number)`.
pub const CONSTANT: &str = "__patchwright_constant";

/// An operand of a comparison that [`Alternative::Beside`] adds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// The value of a variable of an integer or pointer type.
    Variable(VarId),
    /// An `int`.
    Constant(i32),
    /// An `int` that is left open: the argument for [`CONSTANT`].
    Open(u32),
    /// What a function of the translation unit without parameters returns, an integer.
    Call(String),
}

/// Another meaning of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Alternative {
    /// Another operator on the same operands: of a binary operator, a compound assignment, `&&` or
    /// `||`.
    Operator(BinaryOperator),
    /// `++` and `--`: the operand changes by this.
    Step(i64),
    /// A constant of the same type, in the canonical form of crate `semantics`.
    Constant(u64),
    /// A constant of the same type that is left open: the argument for [`CONSTANT`].
    Open(u32),
    /// The value of another variable of the same type, in place of reading one.
    Variable(VarId),
    /// The value, and this added.
    Plus(i64),
    /// The opposite of a condition.
    Not,
    /// Only the left operand of `&&` or `||`, or the first value of `?:`.
    Left,
    /// Only the right operand of `&&` or `||`, or the second value of `?:`.
    Right,
    /// The operands of a binary operator the other way round.
    Exchanged,
    /// These two arguments of a call, counted from 0, the other way round.
    ExchangedArguments(usize, usize),
    /// The condition, and another one: `condition operator left comparison right`, or the other one first.
    Beside {
        /// `&&` or `||`
        operator: BinaryOperator,
        /// The other condition is evaluated first.
        before: bool,
        /// Left operand.
        left: Atom,
        /// The comparison.
        comparison: BinaryOperator,
        /// Right operand.
        right: Atom,
    },
}

/// The alternatives of an expression with the number of their choice. Expressions that are copies of one
/// text share a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The argument for [`CHOICE`].
    pub number: u32,
    /// The alternatives, the first of which is chosen by 1.
    pub alternatives: Vec<Alternative>,
}

/// The alternatives of the expressions of a translation unit, by function.
#[derive(Clone, Debug, Default)]
pub struct Alternatives {
    /// The expressions of each function, by its name.
    pub of: FxHashMap<String, FxHashMap<ExprId, Choice>>,
    /// Integer constants whose text stands in the definition of a macro, each with the expressions that expand it. An
    /// alternative of the constant is chosen for all these expressions that have none of their own.
    pub shared: FxHashMap<String, FxHashMap<ExprId, Choice>>,
}

impl<'a> FunctionLowerer<'_, 'a> {
    /// The alternatives of an expression.
    fn choice(&self, id: ExprId) -> Option<&'a Choice> {
        self.choices?.get(&id)
    }

    fn ask(&mut self, name: &str, number: u32, result: Type, origin: OriginId) -> Operand {
        let argument = Argument {
            ty: Type::I32,
            value: self.constant(Type::I32, u128::from(number), origin),
            to_const: false,
        };
        let (callee, _) = self.callee(name, &[Type::I32], 1, result, origin);
        self.emit_value(result, origin, |dst| InstructionKind::Call {
            dst: Some(dst),
            callee,
            arguments: vec![argument],
            fixed: 1,
            result,
            result_address: None,
        })
    }

    /// A number that is left open, as a value of type `ty`.
    fn open(&mut self, number: u32, ty: Type, origin: OriginId) -> Operand {
        let value = self.ask(CONSTANT, number, Type::I64, origin);
        self.convert(value, Type::I64, ty, origin)
    }

    /// Control goes where the choice says: the `k`-th edge belongs to alternative `k`, those without
    /// an edge go where the original does.
    fn branch_on_choice(
        &mut self,
        choice: &Choice,
        arms: Vec<(usize, Edge)>,
        original: Edge,
        origin: OriginId,
    ) {
        let value = self.ask(CHOICE, choice.number, Type::I32, origin);
        let cases = arms
            .into_iter()
            .map(|(index, edge)| SwitchCase {
                low: index as i128 + 1,
                high: index as i128 + 1,
                edge,
            })
            .collect();
        self.terminate(
            TerminatorKind::Switch {
                value,
                ty: Type::I32,
                cases,
                default: original,
            },
            origin,
        );
    }

    /// The value that the alternative in force gives, or the original one. Alternatives for which
    /// `applies` does not hold are of no concern here: with them it is the original's.
    fn choose(
        &mut self,
        choice: &Choice,
        ty: Type,
        origin: OriginId,
        applies: impl Fn(&Alternative) -> bool,
        mut value: impl FnMut(&mut Self, Option<&Alternative>) -> Operand,
    ) -> Operand {
        let numbered = choice.alternatives.iter().enumerate();
        let arms: Vec<_> = numbered.filter(|(_, other)| applies(other)).collect();
        if arms.is_empty() {
            return value(self, None);
        }
        let result = self.new_local(String::new(), LocalKind::Register(ty), origin);
        let end = self.new_block();
        let original = self.new_block();
        let blocks: Vec<_> = arms.iter().map(|_| self.new_block()).collect();
        let edges = arms.iter().zip(&blocks);
        let edges = edges.map(|((index, _), block)| (*index, to(*block, origin)));
        self.branch_on_choice(choice, edges.collect(), to(original, origin), origin);
        let others = arms.iter().map(|(_, other)| Some(*other));
        for (block, other) in
            std::iter::once((original, None)).chain(blocks.into_iter().zip(others))
        {
            self.continue_in(block);
            let computed = value(self, other);
            let computed = self.as_type(computed, ty);
            self.emit(
                InstructionKind::Write {
                    local: result,
                    value: computed,
                },
                origin,
            );
            self.goto(end, origin);
        }
        self.continue_in(end);
        self.emit_value(ty, origin, |dst| InstructionKind::Read {
            dst,
            local: result,
        })
    }

    /// An integer constant, or what stands for all of its kind.
    pub(crate) fn number(&mut self, id: ExprId, ty: Type, bits: u128, origin: OriginId) -> Operand {
        let Some(choice) = self.shared.and_then(|shared| shared.get(&id)) else {
            return self.constant(ty, bits, origin);
        };
        let open = |other: &Alternative| matches!(other, Alternative::Open(_));
        self.choose(choice, ty, origin, open, |this, other| match other {
            Some(Alternative::Open(number)) => this.open(*number, ty, origin),
            _ => this.constant(ty, bits, origin),
        })
    }

    /// The value of an expression, with all that alternatives make of it.
    pub(crate) fn rvalue(&mut self, id: ExprId) -> Operand {
        let beside = |other: &Alternative| matches!(other, Alternative::Beside { .. });
        let has_conditions = self
            .choice(id)
            .is_some_and(|choice| choice.alternatives.iter().any(beside));
        match has_conditions && self.is_truth(id) {
            true => self.logical(id),
            false => self.rvalue_alone(id),
        }
    }

    /// Its value is 0 or 1, and control flow can say as well which.
    fn is_truth(&self, id: ExprId) -> bool {
        use BinaryOperator::*;
        match &self.source.expr(id).kind {
            ExprKind::Binary { operator, .. } => matches!(
                operator,
                Lt | Le | Gt | Ge | Eq | Ne | LogicalAnd | LogicalOr
            ),
            ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
            _ => false,
        }
    }

    /// Returns the value of an expression with the alternatives that replace it or add to it, without those that stand beside it.
    pub(crate) fn rvalue_alone(&mut self, id: ExprId) -> Operand {
        let (Some(choice), Some(ty)) = (self.choice(id), self.scalar(id)) else {
            return self.own_rvalue(id);
        };
        let origin = self.at_expr(id);
        let replaces = |other: &Alternative| {
            matches!(
                other,
                Alternative::Constant(_) | Alternative::Open(_) | Alternative::Variable(_)
            )
        };
        let value = self.choose(choice, ty, origin, replaces, |this, other| match other {
            Some(Alternative::Constant(bits)) => this.constant(ty, u128::from(*bits), origin),
            Some(Alternative::Open(number)) => this.open(*number, ty, origin),
            Some(Alternative::Variable(variable)) => this.variable_value(*variable, id),
            _ => this.own_rvalue(id),
        });
        let adds = |other: &Alternative| matches!(other, Alternative::Plus(_));
        self.choose(choice, ty, origin, adds, |this, other| match other {
            Some(Alternative::Plus(number)) if ty == Type::Ptr => {
                let size = this.stride(this.source.expr(id).ty, origin);
                let by = this.constant(Type::I64, u128::from(number.unsigned_abs()), origin);
                this.advance(value, by, size, *number < 0, origin)
            }
            Some(Alternative::Plus(number)) => {
                let op = if *number < 0 {
                    BinaryOp::Sub
                } else {
                    BinaryOp::Add
                };
                let by = wide::convert(Type::I64, ty, u128::from(number.unsigned_abs()));
                let by = this.constant(ty, by.unwrap_or(1), origin);
                this.operate(op, value, by, ty, origin)
            }
            _ => value,
        })
    }

    /// The value of another variable, where the expression `id` reads one, or the address of another
    /// array, where it names one.
    fn variable_value(&mut self, variable: VarId, id: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let location = self.variable_location(variable, origin);
        match (&source.expr(id).kind, self.scalar(id)) {
            (
                ExprKind::Cast {
                    cast: CastKind::ArrayToPointer,
                    ..
                },
                _,
            ) => self.location_address(location, origin),
            (_, Some(ty)) => self.load(location, ty, origin),
            _ => self.unsupported_expr(id),
        }
    }

    /// A binary operator on evaluated operands, or another one that an alternative puts in its place.
    pub(crate) fn combine_or_other(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        left: (ExprId, Operand),
        right: (ExprId, Operand),
        result: Type,
    ) -> Operand {
        let origin = self.at_expr(id);
        let Some(choice) = self.choice(id) else {
            return self.combine(op, left, right, result, origin);
        };
        let applies = |other: &Alternative| {
            matches!(other, Alternative::Operator(_) | Alternative::Exchanged)
        };
        self.choose(choice, result, origin, applies, |this, other| {
            let op = match other {
                Some(Alternative::Operator(other)) => BinaryOp::from_spelling(other.spelling()),
                _ => Some(op),
            };
            let (left, right) = match other {
                Some(Alternative::Exchanged) => (right, left),
                _ => (left, right),
            };
            match op {
                Some(op) => this.combine(op, left, right, result, origin),
                None => this.unsupported_expr(id),
            }
        })
    }

    /// Arguments of a call, in the order that an alternative puts them in.
    pub(crate) fn in_chosen_order(
        &mut self,
        id: ExprId,
        arguments: Vec<Argument>,
    ) -> Vec<Argument> {
        let Some(choice) = self.choice(id) else {
            return arguments;
        };
        let origin = self.at_expr(id);
        let partner = |other: &Alternative, position: usize| match *other {
            Alternative::ExchangedArguments(a, b) if a == position => Some(b),
            Alternative::ExchangedArguments(a, b) if b == position => Some(a),
            _ => None,
        };
        let mut chosen = Vec::with_capacity(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            let applies = |other: &Alternative| partner(other, position).is_some();
            let value = self.choose(choice, argument.ty, origin, applies, |_, other| {
                let from = other.and_then(|other| partner(other, position));
                from.and_then(|from| arguments.get(from))
                    .unwrap_or(argument)
                    .value
            });
            chosen.push(Argument { value, ..*argument });
        }
        chosen
    }

    /// Adds the alternatives that take one branch of `?:` whatever the condition says.
    pub(crate) fn take_one(&mut self, id: ExprId, then: Edge, otherwise: Edge) {
        let Some(choice) = self.choice(id) else {
            return;
        };
        let position =
            |wanted: Alternative| choice.alternatives.iter().position(|one| *one == wanted);
        let ends = [(Alternative::Left, then), (Alternative::Right, otherwise)];
        let arms: Vec<_> = ends
            .into_iter()
            .filter_map(|(wanted, end)| Some((position(wanted)?, end)))
            .collect();
        if arms.is_empty() {
            return;
        }
        let origin = self.at_expr(id);
        let both = self.new_block();
        self.branch_on_choice(choice, arms, to(both, origin), origin);
        self.continue_in(both);
    }

    /// Returns the amount that `++` or `--` adds to an operand of type `ty`, by its alternatives.
    pub(crate) fn step_or_other(
        &mut self,
        id: ExprId,
        operand: ExprId,
        old: Operand,
        increment: bool,
        ty: Type,
    ) -> Operand {
        let origin = self.at_expr(id);
        let own = if increment { 1 } else { -1 };
        let Some(choice) = self.choice(id) else {
            return self.stepped(operand, old, own, ty, origin);
        };
        let applies = |other: &Alternative| matches!(other, Alternative::Step(_));
        self.choose(choice, ty, origin, applies, |this, other| {
            let by = match other {
                Some(Alternative::Step(by)) => *by,
                _ => own,
            };
            this.stepped(operand, old, by, ty, origin)
        })
    }

    /// A value changed by `by`, as `++` and `--` do it for 1 and -1.
    fn stepped(
        &mut self,
        operand: ExprId,
        old: Operand,
        by: i64,
        ty: Type,
        origin: OriginId,
    ) -> Operand {
        let count = u128::from(by.unsigned_abs());
        if ty == Type::Ptr {
            let size = self.stride(self.source.expr(operand).ty, origin);
            let count = self.constant(Type::I32, count, origin);
            return self.advance(old, count, size, by < 0, origin);
        }
        let computed = crate::function::promoted_integer(ty);
        let count = wide::convert(Type::I32, computed, count).unwrap_or(count);
        let b = self.constant(computed, count, origin);
        let a = self.convert(old, ty, computed, origin);
        let op = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
        let sum = self.arithmetic(op, computed, a, b, origin);
        self.convert(sum, computed, ty, origin)
    }

    /// Lowers a condition, with what alternatives make of it.
    pub(crate) fn condition(&mut self, id: ExprId, then: Edge, otherwise: Edge) {
        let Some(choice) = self.choice(id) else {
            return self.own_condition(id, then, otherwise);
        };
        let origin = self.at_expr(id);
        let beside = |wanted: BinaryOperator, first: bool| {
            let numbered = choice.alternatives.iter().enumerate();
            numbered
                .filter(move |(_, other)| {
                    matches!(
                        other,
                        Alternative::Beside { operator, before, .. }
                            if *operator == wanted && *before == first
                    )
                })
                .collect::<Vec<_>>()
        };
        let (and, or) = (BinaryOperator::LogicalAnd, BinaryOperator::LogicalOr);
        let early = [beside(and, true), beside(or, true)];
        if early.iter().any(|others| !others.is_empty()) {
            let own = to(self.new_block(), origin);
            let mut edges = Vec::new();
            let mut comparisons = Vec::new();
            let [conjuncts, disjuncts] = early;
            for (others, ends) in [(conjuncts, [own, otherwise]), (disjuncts, [then, own])] {
                for (index, other) in others {
                    let block = self.new_block();
                    edges.push((index, to(block, origin)));
                    comparisons.push((block, other, ends));
                }
            }
            self.branch_on_choice(choice, edges, own, origin);
            for (block, other, ends) in comparisons {
                self.continue_in(block);
                self.compare_atoms(other, ends, origin);
            }
            self.continue_in(own.target);
        }
        let mut ends = [then, otherwise];
        for (end, operator) in [(0, and), (1, or)] {
            let others = beside(operator, false);
            if others.is_empty() {
                continue;
            }
            // Where the condition's own value would decide, another condition is asked.
            let here = self.current();
            let decide = self.new_block();
            self.continue_in(decide);
            let blocks: Vec<_> = others.iter().map(|_| self.new_block()).collect();
            let edges = others.iter().zip(&blocks);
            let edges = edges.map(|((index, _), block)| (*index, to(*block, origin)));
            self.branch_on_choice(choice, edges.collect(), ends[end], origin);
            for ((_, other), block) in others.into_iter().zip(blocks) {
                self.continue_in(block);
                self.compare_atoms(other, [then, otherwise], origin);
            }
            ends[end] = to(decide, ends[end].origin);
            self.continue_in(here);
        }
        let [mut then, mut otherwise] = ends;
        if let Some(not) = choice
            .alternatives
            .iter()
            .position(|one| *one == Alternative::Not)
        {
            let here = self.current();
            let ways = [self.new_block(), self.new_block()];
            for (way, [own, other]) in ways.into_iter().zip([[then, otherwise], [otherwise, then]])
            {
                self.continue_in(way);
                self.branch_on_choice(choice, vec![(not, other)], own, origin);
            }
            self.continue_in(here);
            [then, otherwise] = ways.map(|way| to(way, origin));
        }
        match self.source.expr(id).kind {
            ExprKind::Binary {
                operator: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
                left,
                right,
            } => self.chosen_logical(choice, operator, [left, right], [then, otherwise], origin),
            _ => self.own_condition(id, then, otherwise),
        }
    }

    /// `&&` or `||`, the other one, or one operand alone.
    fn chosen_logical(
        &mut self,
        choice: &Choice,
        operator: BinaryOperator,
        [left, right]: [ExprId; 2],
        [then, otherwise]: [Edge; 2],
        origin: OriginId,
    ) {
        let position = |wanted: &dyn Fn(&Alternative) -> bool| {
            let mut all = choice.alternatives.iter();
            all.position(wanted)
        };
        let other = position(&|other| matches!(other, Alternative::Operator(_)));
        let only_left = position(&|other| *other == Alternative::Left);
        let only_right = position(&|other| *other == Alternative::Right);
        let (holds, fails, second) = (self.new_block(), self.new_block(), self.new_block());
        let second = to(second, origin);
        if let Some(only_right) = only_right {
            let first = self.new_block();
            let skip = vec![(only_right, second)];
            self.branch_on_choice(choice, skip, to(first, origin), origin);
            self.continue_in(first);
        }
        self.condition(left, to(holds, origin), to(fails, origin));
        let is_and = operator == BinaryOperator::LogicalAnd;
        for (block, goes_on, end) in [(holds, is_and, then), (fails, !is_and, otherwise)] {
            self.continue_in(block);
            let (own, swapped) = match goes_on {
                true => (second, end),
                false => (end, second),
            };
            let mut arms = Vec::new();
            if let Some(other) = other {
                arms.push((other, swapped));
            }
            if let Some(only_left) = only_left {
                arms.push((only_left, end));
            }
            self.branch_on_choice(choice, arms, own, origin);
        }
        self.continue_in(second.target);
        self.condition(right, then, otherwise);
    }

    fn compare_atoms(
        &mut self,
        other: &Alternative,
        [then, otherwise]: [Edge; 2],
        origin: OriginId,
    ) {
        let Alternative::Beside {
            left,
            comparison,
            right,
            ..
        } = other
        else {
            return self.goto(then.target, origin);
        };
        let a = self.atom(left, origin);
        let b = self.atom(right, origin);
        let op = BinaryOp::from_spelling(comparison.spelling()).unwrap_or(BinaryOp::Ne);
        // Pointers are compared with pointers, integers in the type that C converts both to.
        let b = match (self.type_of(a), b.value) {
            (Type::Ptr, patchwright_ir::Value::Constant { bits: 0, .. }) => {
                self.constant(Type::Ptr, 0, origin)
            }
            _ => b,
        };
        let (a, b) = self.balanced(a, b, origin);
        let condition = self.operate(op, a, b, Type::I32, origin);
        self.terminate(
            TerminatorKind::Branch {
                condition,
                ty: Type::I32,
                then,
                otherwise,
            },
            origin,
        );
    }

    /// Two integers after the usual arithmetic conversions.
    fn balanced(&mut self, a: Operand, b: Operand, origin: OriginId) -> (Operand, Operand) {
        let (left, right) = (self.type_of(a), self.type_of(b));
        if !left.is_integer() || !right.is_integer() {
            return (a, b);
        }
        let (x, y) = (
            crate::function::promoted(left),
            crate::function::promoted(right),
        );
        let common = match (x.size().cmp(&y.size()), x.is_signed()) {
            (std::cmp::Ordering::Greater, _) => x,
            (std::cmp::Ordering::Less, _) => y,
            (std::cmp::Ordering::Equal, true) => y,
            (std::cmp::Ordering::Equal, false) => x,
        };
        (
            self.convert(a, left, common, origin),
            self.convert(b, right, common, origin),
        )
    }

    fn atom(&mut self, atom: &Atom, origin: OriginId) -> Operand {
        match atom {
            Atom::Variable(variable) => {
                let class = self.lowerer.class(self.lowerer.unit.variable(*variable).ty);
                let location = self.variable_location(*variable, origin);
                match class {
                    crate::types::Class::Scalar(ty) => self.load(location, ty, origin),
                    _ => self.unsupported_value(origin, "a variable of this type", Type::I32),
                }
            }
            Atom::Constant(value) => {
                let bits = wide::canonical(Type::I32, *value as u128);
                self.constant(Type::I32, bits, origin)
            }
            Atom::Open(number) => self.open(*number, Type::I32, origin),
            Atom::Call(name) => {
                let function = self.lowerer.declare(name);
                let result = self.lowerer.module.function(function).result;
                if !result.is_integer() {
                    return self.unsupported_value(origin, "a call of this type", Type::I32);
                }
                let (callee, _) = self.callee(name, &[], 0, result, origin);
                self.emit_value(result, origin, |dst| InstructionKind::Call {
                    dst: Some(dst),
                    callee,
                    arguments: Vec::new(),
                    fixed: 0,
                    result,
                    result_address: None,
                })
            }
        }
    }
}
