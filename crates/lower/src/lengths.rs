//! Variable arrays: their lengths are computed where they are declared, and kept in registers; the array itself is allocated there and
//! lives as long as its variable.

use patchwright_csource::{
    ExprId, StmtId, VarId,
    types::{LengthId, TypeId, TypeKind},
};
use patchwright_ir::{InstructionKind, LocalId, LocalKind, Operand, OriginId, Type};
use patchwright_semantics::BinaryOp;

use crate::function::FunctionLowerer;

impl<'a> FunctionLowerer<'_, 'a> {
    /// The register that holds a length.
    fn length_register(&mut self, length: LengthId, origin: OriginId) -> LocalId {
        if let Some(&local) = self.lengths.get(&length) {
            return local;
        }
        let local = self.new_local(String::new(), LocalKind::Register(Type::U64), origin);
        self.lengths.insert(length, local);
        local
    }

    /// Computes lengths, in order.
    pub(crate) fn compute_lengths(&mut self, lengths: &'a [LengthId], origin: OriginId) {
        let source = self.source;
        for &length in lengths {
            let Some(&value) = source.details.lengths.get(&length) else {
                self.unsupported_effect(origin, "a length of an array that is not understood");
                continue;
            };
            let value = self.rvalue(value);
            let of = self.type_of(value);
            let value = self.convert(value, of, Type::U64, origin);
            let local = self.length_register(length, origin);
            self.emit(InstructionKind::Write { local, value }, origin);
        }
    }

    /// Computes the lengths in the types of parameters, when the function is entered.
    pub(crate) fn parameter_lengths(&mut self) {
        let source = self.source;
        for &parameter in &source.parameters {
            let origin = self.at_variable(parameter);
            for &(of, effect) in &source.details.parameter_effects {
                match effect {
                    _ if of != parameter => {}
                    Some(effect) => self.effect(effect),
                    None => {
                        let reason = "a length of a parameter that is not understood";
                        self.unsupported_effect(origin, reason);
                    }
                }
            }
            if let Some(lengths) = source.details.declared_lengths.get(&parameter) {
                self.compute_lengths(lengths, origin);
            }
        }
    }

    /// Computes the lengths in the typedefs of a declaration.
    pub(crate) fn typedef_lengths(&mut self, declaration: StmtId) {
        let source = self.source;
        if let Some(lengths) = source.details.typedef_lengths.get(&declaration) {
            let origin = self.at_stmt(declaration);
            self.compute_lengths(lengths, origin);
        }
    }

    /// The size of objects of a type.
    pub(crate) fn size_of(&mut self, ty: TypeId, origin: OriginId) -> Operand {
        let types = &self.lowerer.unit.types;
        if let Some((size, _)) = types.size_and_align(ty)
            && !types.is_variable(ty)
        {
            return self.constant(Type::U64, u128::from(size), origin);
        }
        let (of, length) = match *types.kind(ty) {
            TypeKind::VariableArray(of, Some(length)) => match self.lengths.get(&length) {
                Some(&local) => {
                    let length = self.emit_value(Type::U64, origin, |dst| InstructionKind::Read {
                        dst,
                        local,
                    });
                    (of, length)
                }
                None => {
                    let reason = "the size of an array whose length was not computed";
                    return self.unsupported_value(origin, reason, Type::U64);
                }
            },
            TypeKind::Array(of, Some(length)) => {
                (of, self.constant(Type::U64, u128::from(length), origin))
            }
            _ => return self.unsupported_value(origin, "an object of unknown size", Type::U64),
        };
        let b = self.size_of(of, origin);
        self.emit_value(Type::U64, origin, |dst| InstructionKind::Binary {
            dst,
            op: BinaryOp::Mul,
            ty: Type::U64,
            a: length,
            b,
        })
    }

    /// Computes an `offsetof` with variable indices, each with the size of its elements.
    pub(crate) fn offset_with_indices(
        &mut self,
        offset: u64,
        indices: &'a [(ExprId, u64)],
        origin: OriginId,
    ) -> Operand {
        let mut sum = self.constant(Type::U64, u128::from(offset), origin);
        for &(index, size) in indices {
            let value = self.rvalue(index);
            let of = self.type_of(value);
            let a = self.convert(value, of, Type::U64, origin);
            let b = self.constant(Type::U64, u128::from(size), origin);
            let mut operate = |op, a, b| {
                self.emit_value(Type::U64, origin, |dst| InstructionKind::Binary {
                    dst,
                    op,
                    ty: Type::U64,
                    a,
                    b,
                })
            };
            let bytes = operate(BinaryOp::Mul, a, b);
            sum = operate(BinaryOp::Add, sum, bytes);
        }
        sum
    }

    /// The register that holds where a variable array is.
    pub(crate) fn array_register(&mut self, variable: VarId, origin: OriginId) -> LocalId {
        if let Some(&local) = self.arrays.get(&variable) {
            return local;
        }
        let local = self.new_local(String::new(), LocalKind::Register(Type::Ptr), origin);
        self.arrays.insert(variable, local);
        local
    }

    /// Brings a variable array to life. Its local stands for its scope.
    pub(crate) fn declare_array(&mut self, variable: VarId, ty: TypeId, origin: OriginId) {
        let scope = self.declare(variable, origin);
        let size = self.size_of(ty, origin);
        let value = self.emit_value(Type::Ptr, origin, |dst| InstructionKind::Allocate {
            dst,
            size,
            scope: Some(scope),
        });
        let local = self.array_register(variable, origin);
        self.emit(InstructionKind::Write { local, value }, origin);
    }
}
