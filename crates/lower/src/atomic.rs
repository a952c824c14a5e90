//! Atomic operations, as one thread sees them: each is done at once, and all in the order of the program.

use patchwright_csource::{ExprId, detail::Detail};
use patchwright_ir::{InstructionKind, LocalKind, Operand, OriginId, TerminatorKind, Type};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    edge::to,
    function::FunctionLowerer,
    types::{Class, class},
};

/// An object that is accessed at once.
#[derive(Clone, Copy)]
struct Object {
    address: Operand,
    ty: Type,
    /// What is added to a pointer in it counts bytes. Where it may count elements, compilers do not agree.
    by_bytes: bool,
}

impl<'a> FunctionLowerer<'_, 'a> {
    /// Lowers a builtin of `<stdatomic.h>` or GNU C. Its children are the pointer, the order and then the other operands. Returns the
    /// value, if there is one.
    pub(crate) fn atomic(&mut self, id: ExprId, children: &'a [ExprId]) -> Option<Operand> {
        let origin = self.at_expr(id);
        let name = match self.source.details.of.get(&id) {
            Some(Detail::Operator(name)) => name.as_str(),
            _ => "",
        };
        let c11 = name.strip_prefix("__c11_atomic_");
        let gnu = name.strip_prefix("__atomic_");
        let known = c11.or(gnu).zip(children.split_first());
        let Some((operation, (&pointer, rest))) = known else {
            return self.no_atomic(id, name);
        };
        let Some(object) = self.atomic_object(pointer, c11.is_none()) else {
            return self.no_atomic(id, name);
        };
        let ty = object.ty;
        match (operation, rest) {
            ("load" | "load_n", [_]) => Some(self.atomic_load(object, origin)),
            ("load", [_, result]) => {
                let result = self.rvalue(*result);
                let value = self.atomic_load(object, origin);
                self.store(Self::at_address(result), ty, value, origin);
                None
            }
            ("init", [value]) | ("store_n", [_, value]) => {
                let value = self.rvalue(*value);
                self.atomic_store(object, value, origin);
                None
            }
            ("store", [_, value]) => {
                let value = self.rvalue(*value);
                let value = match c11 {
                    Some(_) => value,
                    None => self.load(Self::at_address(value), ty, origin),
                };
                self.atomic_store(object, value, origin);
                None
            }
            ("exchange" | "exchange_n", [_, value]) => {
                let value = self.rvalue(*value);
                let old = self.atomic_load(object, origin);
                self.atomic_store(object, value, origin);
                Some(old)
            }
            ("exchange", [_, value, result]) => {
                let (value, result) = (self.rvalue(*value), self.rvalue(*result));
                let value = self.load(Self::at_address(value), ty, origin);
                let old = self.atomic_load(object, origin);
                self.atomic_store(object, value, origin);
                self.store(Self::at_address(result), ty, old, origin);
                None
            }
            (
                "compare_exchange_n"
                | "compare_exchange_strong"
                | "compare_exchange_weak"
                | "compare_exchange",
                [_, expected, _, desired, ..],
            ) if !ty.is_float() => {
                let expected = self.rvalue(*expected);
                let mut desired = self.rvalue(*desired);
                if operation == "compare_exchange" {
                    desired = self.load(Self::at_address(desired), ty, origin);
                }
                let wanted = self.load(Self::at_address(expected), ty, origin);
                let (old, same) = self.compare_and_swap(object, wanted, desired, origin);
                let result = self.new_local(String::new(), LocalKind::Register(Type::Bool), origin);
                let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
                self.terminate(
                    TerminatorKind::Branch {
                        condition: same,
                        ty: Type::I32,
                        then: to(yes, origin),
                        otherwise: to(no, origin),
                    },
                    origin,
                );
                for (block, bits) in [(yes, 1), (no, 0)] {
                    self.continue_in(block);
                    if bits == 0 {
                        self.store(Self::at_address(expected), ty, old, origin);
                    }
                    let value = self.constant(Type::Bool, bits, origin);
                    let local = result;
                    self.emit(InstructionKind::Write { local, value }, origin);
                    self.goto(end, origin);
                }
                self.continue_in(end);
                Some(
                    self.emit_value(Type::Bool, origin, |dst| InstructionKind::Read {
                        dst,
                        local: result,
                    }),
                )
            }
            (_, [_, value]) => {
                let (operator, gives_new) = match operation.strip_prefix("fetch_") {
                    Some(operator) => (operator, false),
                    None => (operation.strip_suffix("_fetch").unwrap_or(""), true),
                };
                let value = self.rvalue(*value);
                match self.update(object, operator, value, origin) {
                    Some((old, new)) => Some(if gives_new { new } else { old }),
                    None => self.no_atomic(id, name),
                }
            }
            _ => self.no_atomic(id, name),
        }
    }

    /// Lowers a call of `__sync_…` or of some functions `__atomic_…`. `None` for other functions.
    pub(crate) fn atomic_call(
        &mut self,
        id: ExprId,
        name: &str,
        arguments: &'a [ExprId],
    ) -> Option<Option<Operand>> {
        let origin = self.at_expr(id);
        // The compiler adds the size of the object.
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let short = short.strip_suffix('_').unwrap_or(short);
        let fence = short.ends_with("_fence") || short == "__sync_synchronize";
        if fence {
            for &argument in arguments {
                self.effect(argument);
            }
            return Some(None);
        }
        if let "__atomic_test_and_set" | "__atomic_clear" = short {
            let address = self.rvalue(*arguments.first()?);
            let place = Self::at_address(address);
            if short == "__atomic_clear" {
                let zero = self.constant(Type::U8, 0, origin);
                self.store(place, Type::U8, zero, origin);
                return Some(None);
            }
            let old = self.load(place, Type::U8, origin);
            let one = self.constant(Type::U8, 1, origin);
            self.store(place, Type::U8, one, origin);
            return Some(Some(self.convert(old, Type::U8, Type::Bool, origin)));
        }
        let operation = short.strip_prefix("__sync_")?;
        let (&pointer, rest) = arguments.split_first()?;
        let Some(object) = self.atomic_object(pointer, true) else {
            return Some(self.no_atomic(id, name));
        };
        Some(match (operation, rest) {
            ("lock_test_and_set", [value, ..]) => {
                let value = self.rvalue(*value);
                let old = self.atomic_load(object, origin);
                self.atomic_store(object, value, origin);
                Some(old)
            }
            ("lock_release", _) => {
                let zero = self.constant(object.ty, 0, origin);
                self.atomic_store(object, zero, origin);
                None
            }
            ("bool_compare_and_swap" | "val_compare_and_swap", [wanted, new, ..])
                if !object.ty.is_float() =>
            {
                let (wanted, new) = (self.rvalue(*wanted), self.rvalue(*new));
                let (old, same) = self.compare_and_swap(object, wanted, new, origin);
                Some(match operation {
                    "val_compare_and_swap" => old,
                    _ => self.convert(same, Type::I32, Type::Bool, origin),
                })
            }
            (_, [value, ..]) => {
                let (operator, gives_new) = match operation.strip_prefix("fetch_and_") {
                    Some(operator) => (operator, false),
                    None => (operation.strip_suffix("_and_fetch").unwrap_or(""), true),
                };
                let value = self.rvalue(*value);
                match self.update(object, operator, value, origin) {
                    Some((old, new)) => Some(if gives_new { new } else { old }),
                    None => self.no_atomic(id, name),
                }
            }
            _ => self.no_atomic(id, name),
        })
    }

    fn no_atomic(&mut self, id: ExprId, name: &str) -> Option<Operand> {
        let origin = self.at_expr(id);
        let reason = format!("the atomic operation {name}");
        let ty = self.scalar(id).unwrap_or(Type::I32);
        Some(self.unsupported_value(origin, &reason, ty))
    }

    /// The object that a pointer points to; `gnu` if what is added to pointers in it counts bytes.
    fn atomic_object(&mut self, pointer: ExprId, gnu: bool) -> Option<Object> {
        let types = &self.lowerer.unit.types;
        let of = types.element(self.source.expr(pointer).ty)?;
        let Class::Scalar(ty) = class(types, of) else {
            return None;
        };
        let element = types
            .element(of)
            .and_then(|element| types.size_and_align(element));
        let by_bytes = gnu || element.is_some_and(|(size, _)| size == 1);
        let address = self.rvalue(pointer);
        let address = self.as_type(address, Type::Ptr);
        Some(Object {
            address,
            ty,
            by_bytes,
        })
    }

    fn atomic_load(&mut self, object: Object, origin: OriginId) -> Operand {
        self.load(Self::at_address(object.address), object.ty, origin)
    }

    fn atomic_store(&mut self, object: Object, value: Operand, origin: OriginId) {
        self.store(Self::at_address(object.address), object.ty, value, origin);
    }

    /// Emits a compare-and-swap. Returns the object's old value, and whether it was the expected one, as an `int`. If so, the object gets the new
    /// value.
    fn compare_and_swap(
        &mut self,
        object: Object,
        wanted: Operand,
        new: Operand,
        origin: OriginId,
    ) -> (Operand, Operand) {
        let ty = object.ty;
        let old = self.atomic_load(object, origin);
        let b = self.as_type(wanted, ty);
        let same = self.emit_value(Type::I32, origin, |dst| InstructionKind::Binary {
            dst,
            op: BinaryOp::Eq,
            ty,
            a: old,
            b,
        });
        let (yes, end) = (self.new_block(), self.new_block());
        self.terminate(
            TerminatorKind::Branch {
                condition: same,
                ty: Type::I32,
                then: to(yes, origin),
                otherwise: to(end, origin),
            },
            origin,
        );
        self.continue_in(yes);
        self.atomic_store(object, new, origin);
        self.goto(end, origin);
        self.continue_in(end);
        (old, same)
    }

    /// What the object held, and what it holds after an operation. Integers wrap.
    fn update(
        &mut self,
        object: Object,
        operator: &str,
        value: Operand,
        origin: OriginId,
    ) -> Option<(Operand, Operand)> {
        let ty = object.ty;
        let op = match operator {
            "add" => BinaryOp::Add,
            "sub" => BinaryOp::Sub,
            "and" | "nand" => BinaryOp::And,
            "or" => BinaryOp::Or,
            "xor" => BinaryOp::Xor,
            _ => return None,
        };
        let computed = match ty {
            Type::Ptr if object.by_bytes && matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                Type::Ptr
            }
            _ if !ty.is_integer() => return None,
            Type::I128 | Type::U128 => Type::U128,
            Type::I64 | Type::U64 => Type::U64,
            _ => Type::U32,
        };
        let old = self.atomic_load(object, origin);
        let new = if computed == Type::Ptr {
            let negative = op == BinaryOp::Sub;
            let one = self.constant(Type::U64, 1, origin);
            self.advance(old, value, one, negative, origin)
        } else {
            let a = self.convert(old, ty, computed, origin);
            let of = self.type_of(value);
            let b = self.convert(value, of, computed, origin);
            let mut sum = self.emit_value(computed, origin, |dst| InstructionKind::Binary {
                dst,
                op,
                ty: computed,
                a,
                b,
            });
            if operator == "nand" {
                sum = self.emit_value(computed, origin, |dst| InstructionKind::Unary {
                    dst,
                    op: UnaryOp::Complement,
                    ty: computed,
                    a: sum,
                });
            }
            self.convert(sum, computed, ty, origin)
        };
        self.atomic_store(object, new, origin);
        Some((old, new))
    }
}
