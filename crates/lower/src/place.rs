//! Lowers lvalues to places of objects.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, VarId,
    detail::Detail,
    types::{TypeId, TypeKind},
};
use patchwright_ir::{
    InstructionKind, LocalId, LocalKind, Operand, OriginId, Subscript, Target, Type, Value,
};

use crate::{data::named, function::FunctionLowerer, types::Class};

/// What an lvalue designates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location {
    /// A register local.
    Register(LocalId, Type),
    /// An object in memory.
    Memory {
        /// The address of the object.
        address: Operand,
        /// It is `volatile`.
        volatile: bool,
    },
    /// A bit-field.
    Bits {
        /// Where its first byte is.
        address: Operand,
        /// Bits before it in that byte.
        offset: u32,
        /// Bits.
        width: u32,
    },
}

impl<'a> FunctionLowerer<'_, 'a> {
    fn memory(&self, id: ExprId, address: Operand) -> Location {
        let ty = self.source.expr(id).ty;
        Location::Memory {
            address,
            volatile: self.lowerer.unit.types.qualifiers(ty).is_volatile,
        }
    }

    /// Returns the location that an lvalue designates.
    pub(crate) fn location(&mut self, id: ExprId) -> Location {
        let source = self.source;
        let origin = self.at_expr(id);
        let expr = source.expr(id);
        match &expr.kind {
            ExprKind::Paren(inner) => self.location(*inner),
            ExprKind::Variable(variable) => self.variable_location(*variable, origin),
            ExprKind::Member { base, arrow, .. } => self.member(id, *base, *arrow),
            ExprKind::Subscript { base, index } => {
                let address = self.element(*base, *index, false, origin);
                self.memory(id, address)
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => {
                self.is_accessed(*operand);
                let address = self.rvalue(*operand);
                let address = self.as_type(address, Type::Ptr);
                self.memory(id, address)
            }
            ExprKind::Unary {
                operator: UnaryOperator::Extension,
                operand,
            } => self.location(*operand),
            ExprKind::Unary {
                operator: UnaryOperator::Other,
                operand,
            } if self.parts_of(*operand).is_some() => {
                let address = self.part_address(id, *operand, origin);
                self.memory(id, address)
            }
            ExprKind::Cast {
                operand,
                cast: CastKind::NoOp,
                ..
            } if source.expr(*operand).lvalue => self.location(*operand),
            ExprKind::String => {
                let address = match self.scope().string_object(id) {
                    Some(global) => self.address_constant(Target::Global(global), origin),
                    None => self.unsupported_value(origin, "a string literal", Type::Ptr),
                };
                self.memory(id, address)
            }
            ExprKind::Binary {
                operator: BinaryOperator::Comma,
                left,
                right,
            } => {
                self.effect(*left);
                self.location(*right)
            }
            ExprKind::Other { kind, children, .. } => {
                match (
                    kind.as_str(),
                    source.details.of.get(&id),
                    children.as_slice(),
                ) {
                    (_, Some(Detail::Same(same)), _) => self.location(*same),
                    ("CompoundLiteralExpr", _, [list]) => {
                        let ty = expr.ty;
                        let Some((size, align)) = self.lowerer.unit.types.size_and_align(ty) else {
                            let address = self.unsupported_value(
                                origin,
                                "a literal of unknown size",
                                Type::Ptr,
                            );
                            return self.memory(id, address);
                        };
                        let local = self.temporary_object(size, align, origin);
                        // Control may come here again within one life of the block, and then it is the same object. Where that
                        // may be it lives until the function returns.
                        if source.labels.is_empty() {
                            self.emit(InstructionKind::Live { local }, origin);
                            self.in_scope(local);
                        }
                        let address = self.local_address(local, origin);
                        self.initialize(address, ty, *list, origin);
                        self.memory(id, address)
                    }
                    ("ArraySubscriptExpr", _, [vector, index])
                        if self.parts_of(*vector).is_some() =>
                    {
                        let address = self.part_at(*vector, *index, origin);
                        self.memory(id, address)
                    }
                    ("ArraySubscriptExpr", _, [first, second]) => {
                        let (base, index) = self.pointer_first(*first, *second);
                        let address = self.element(base, index, false, origin);
                        self.memory(id, address)
                    }
                    _ => self.rvalue_in_memory(id),
                }
            }
            _ => self.rvalue_in_memory(id),
        }
    }

    /// Returns the location of a variable.
    pub(crate) fn variable_location(&mut self, variable: VarId, origin: OriginId) -> Location {
        let unit = self.lowerer.unit;
        let volatile = unit
            .types
            .qualifiers(unit.variable(variable).ty)
            .is_volatile;
        let address = if unit.types.is_variable(unit.variable(variable).ty) {
            let local = self.array_register(variable, origin);
            self.emit_value(Type::Ptr, origin, |dst| InstructionKind::Read {
                dst,
                local,
            })
        } else if self.is_automatic(variable) {
            let local = self.local(variable);
            if let LocalKind::Register(ty) = self.local_kind(local) {
                return Location::Register(local, ty);
            }
            self.local_address(local, origin)
        } else {
            let global = self.lowerer.object(variable);
            self.address_constant(Target::Global(global), origin)
        };
        Location::Memory { address, volatile }
    }

    /// A record that is no lvalue (the result of a call) as an object.
    fn rvalue_in_memory(&mut self, id: ExprId) -> Location {
        let address = match self.class(id) {
            Class::Aggregate { .. } => self.aggregate(id),
            _ => {
                let origin = self.at_expr(id);
                let reason = self.reason(id, "an lvalue");
                self.unsupported_value(origin, &reason, Type::Ptr)
            }
        };
        self.memory(id, address)
    }

    /// Returns the address of a function or global as an operand.
    pub(crate) fn address_constant(&self, target: Target, origin: OriginId) -> Operand {
        Operand {
            value: Value::Address { target, addend: 0 },
            origin,
        }
    }

    /// The address of an object that is not in a register.
    pub(crate) fn address_of(&mut self, id: ExprId) -> Operand {
        let origin = self.at_expr(id);
        let location = self.location(id);
        self.location_address(location, origin)
    }

    /// The address of what is not in a register.
    pub(crate) fn location_address(&mut self, location: Location, origin: OriginId) -> Operand {
        match location {
            Location::Memory { address, .. } => address,
            Location::Register(..) | Location::Bits { .. } => {
                self.unsupported_value(origin, "the address of what has none", Type::Ptr)
            }
        }
    }

    fn member(&mut self, id: ExprId, base: ExprId, arrow: bool) -> Location {
        let source = self.source;
        let origin = self.at_expr(id);
        let base_address = if arrow {
            let pointer = self.rvalue(base);
            self.as_type(pointer, Type::Ptr)
        } else {
            self.address_of(base)
        };
        let found = match source.details.of.get(&id) {
            Some(&Detail::Member { record, index }) => {
                let types = &self.lowerer.unit.types;
                types.layout(record).map(|layout| {
                    let field = types
                        .record(record)
                        .fields
                        .as_ref()
                        .and_then(|fields| fields.get(index));
                    (
                        layout.offsets[index],
                        field.and_then(|field| field.bit_width),
                    )
                })
            }
            Some(&Detail::MemberAt(offset)) => Some((8 * offset, None)),
            _ => None,
        };
        let Some((bits, width)) = found else {
            let address =
                self.unsupported_value(origin, "a member whose place is not known", Type::Ptr);
            return self.memory(id, address);
        };
        let array = self.member_array(id);
        let address = self.member_address(base_address, bits / 8, array, origin);
        match width {
            Some(width) => Location::Bits {
                address,
                offset: (bits % 8) as u32,
                width,
            },
            None => self.memory(id, address),
        }
    }

    /// The address of a member; of an absolute address, as old definitions of `offsetof` take
    /// it, a constant.
    pub(crate) fn member_address(
        &mut self,
        base: Operand,
        offset: u64,
        array: Option<u64>,
        origin: OriginId,
    ) -> Operand {
        if let Value::Constant { bits, .. } = base.value {
            return self.constant(Type::Ptr, bits.wrapping_add(u128::from(offset)), origin);
        }
        self.emit_value(Type::Ptr, origin, |dst| InstructionKind::MemberAddress {
            dst,
            a: base,
            offset,
            array,
        })
    }

    /// Returns the size in bytes of the member `id` if it is an array, else `None`. The last member of a structure, and an array of one
    /// element in a union, may be longer than their types; for them the result is `u64::MAX`, which is no bound.
    fn member_array(&self, id: ExprId) -> Option<u64> {
        let Some(&Detail::Member { record, index }) = self.source.details.of.get(&id) else {
            return None;
        };
        let types = &self.lowerer.unit.types;
        let record = types.record(record);
        let fields = record.fields.as_ref()?;
        let ty = fields.get(index)?.ty;
        if !matches!(
            types.kind(ty),
            TypeKind::Array(..) | TypeKind::VariableArray(..)
        ) {
            return None;
        }
        let element = types.element(ty).and_then(|of| types.size_and_align(of));
        let size = types.size_and_align(ty).map(|(size, _)| size);
        let may_be_longer = match record.is_union {
            true => size <= element.map(|(size, _)| size),
            false => index + 1 == fields.len(),
        };
        match may_be_longer {
            true => Some(u64::MAX),
            false => Some(size.unwrap_or(u64::MAX)),
        }
    }

    /// The size of what a pointer or array type consists of, as an operand.
    pub(crate) fn stride(&mut self, ty: TypeId, origin: OriginId) -> Operand {
        match self.lowerer.unit.types.element(ty) {
            Some(element) => self.size_of(element, origin),
            None => self.unsupported_value(origin, "an element of unknown size", Type::U64),
        }
    }

    /// A pointer moved by an index.
    pub(crate) fn advance(
        &mut self,
        pointer: Operand,
        index: Operand,
        size: Operand,
        negative: bool,
        origin: OriginId,
    ) -> Operand {
        self.advance_within(pointer, index, size, negative, None, origin)
    }

    /// A pointer moved by an index, which may be the subscript of an array.
    pub(crate) fn advance_within(
        &mut self,
        pointer: Operand,
        index: Operand,
        size: Operand,
        negative: bool,
        subscript: Option<Subscript>,
        origin: OriginId,
    ) -> Operand {
        let mut index = index;
        let mut ty = self.type_of(index);
        if ty.scalar().is_none_or(|ty| !ty.is_integer()) {
            index = match ty.is_integer() {
                true => self.convert(index, ty, Type::I64, origin),
                false => self.as_type(index, Type::I64),
            };
            ty = Type::I64;
        }
        let pointer = self.as_type(pointer, Type::Ptr);
        self.emit_value(Type::Ptr, origin, |dst| InstructionKind::PointerAdd {
            dst,
            a: pointer,
            index,
            ty,
            size,
            negative,
            subscript,
        })
    }

    /// Reads an object of the scalar type `ty`.
    pub(crate) fn load(&mut self, location: Location, ty: Type, origin: OriginId) -> Operand {
        match location {
            Location::Register(local, of) => {
                let value = self.emit_value(of, origin, |dst| InstructionKind::Read { dst, local });
                self.as_type(value, ty)
            }
            Location::Memory { address, volatile } => {
                self.emit_value(ty, origin, |dst| InstructionKind::Load {
                    dst,
                    ty,
                    address,
                    volatile,
                })
            }
            Location::Bits {
                address,
                offset,
                width,
            } => self.emit_value(ty, origin, |dst| InstructionKind::LoadBits {
                dst,
                ty,
                address,
                offset,
                width,
            }),
        }
    }

    /// Writes an object of the scalar type `ty`; the value that it then has.
    pub(crate) fn store(
        &mut self,
        location: Location,
        ty: Type,
        value: Operand,
        origin: OriginId,
    ) -> Operand {
        let value = self.as_type(value, ty);
        match location {
            Location::Register(local, of) => {
                let value = self.as_type(value, of);
                self.emit(InstructionKind::Write { local, value }, origin);
                value
            }
            Location::Memory { address, volatile } => {
                self.emit(
                    InstructionKind::Store {
                        ty,
                        address,
                        value,
                        volatile,
                    },
                    origin,
                );
                value
            }
            Location::Bits {
                address,
                offset,
                width,
            } => {
                self.emit(
                    InstructionKind::StoreBits {
                        ty,
                        address,
                        value,
                        offset,
                        width,
                    },
                    origin,
                );
                self.emit_value(ty, origin, |dst| InstructionKind::Extend {
                    dst,
                    ty,
                    value,
                    width,
                })
            }
        }
    }

    /// Gives the object of type `ty` at an address its first value.
    pub(crate) fn initialize(
        &mut self,
        address: Operand,
        ty: TypeId,
        value: ExprId,
        origin: OriginId,
    ) {
        let source = self.source;
        let unit = self.lowerer.unit;
        match self.class_of(ty) {
            Class::Scalar(scalar) => {
                let value = self.rvalue(value);
                let location = Location::Memory {
                    address,
                    volatile: false,
                };
                self.store(location, scalar, value, origin);
                return;
            }
            Class::Unknown(reason) => {
                self.unsupported_effect(origin, reason);
                return;
            }
            Class::Void | Class::Function => {
                self.unsupported_effect(origin, "an initialiser of no object");
                return;
            }
            Class::Array | Class::Aggregate { .. } => {}
        }
        let Some((size, _)) = unit.types.size_and_align(ty) else {
            self.unsupported_effect(origin, "an initialiser of an object of unknown size");
            return;
        };
        match &source.expr(value).kind {
            ExprKind::Paren(inner) => return self.initialize(address, ty, *inner, origin),
            ExprKind::String => {
                let literal = self.scope().string_bytes(value);
                let Some((bytes, _)) = literal else {
                    self.unsupported_effect(origin, "a string literal");
                    return;
                };
                let global = self.lowerer.string(bytes, size, 1);
                let from = self.address_constant(Target::Global(global), origin);
                let kind = InstructionKind::Copy {
                    to: address,
                    from,
                    size,
                };
                self.emit(kind, origin);
                return;
            }
            ExprKind::Other { kind, .. } if kind == "ImplicitValueInitExpr" => {
                self.emit(InstructionKind::Zero { address, size }, origin);
                return;
            }
            _ => {}
        }
        if let Some(Detail::List { elements, member }) = source.details.of.get(&value) {
            self.initialize_list(address, ty, elements, *member, size, origin);
            return;
        }
        let from = match self.class_of(ty) {
            Class::Array => self.address_of(value),
            _ => self.aggregate(value),
        };
        let from = self.as_type(from, Type::Ptr);
        let kind = InstructionKind::Copy {
            to: address,
            from,
            size,
        };
        self.emit(kind, origin);
    }

    fn initialize_list(
        &mut self,
        address: Operand,
        ty: TypeId,
        elements: &'a [Option<ExprId>],
        member: Option<usize>,
        size: u64,
        origin: OriginId,
    ) {
        let source = self.source;
        let unit = self.lowerer.unit;
        if let [Some(only)] = elements {
            let inner = source.expr(source.without_parens(*only));
            let is_string = matches!(inner.kind, ExprKind::String)
                && matches!(unit.types.kind(inner.ty), TypeKind::Array(..))
                && matches!(unit.types.kind(ty), TypeKind::Array(of, _)
                    if matches!(unit.types.kind(*of), TypeKind::Integer(_)));
            if is_string || inner.ty == ty {
                return self.initialize(address, ty, *only, origin);
            }
        }
        self.emit(InstructionKind::Zero { address, size }, origin);
        match unit.types.kind(ty) {
            TypeKind::Array(element, _)
            | TypeKind::Vector(element, _)
            | TypeKind::Complex(element) => {
                let Some((stride, _)) = unit.types.size_and_align(*element) else {
                    self.unsupported_effect(origin, "elements of unknown size");
                    return;
                };
                for (index, item) in elements.iter().enumerate() {
                    let Some(item) = item else { continue };
                    let at = self.at_expr(*item);
                    let number = self.constant(Type::I64, index as u128, at);
                    let stride = self.constant(Type::U64, u128::from(stride), at);
                    let place = self.advance(address, number, stride, false, at);
                    self.initialize(place, *element, *item, at);
                }
            }
            TypeKind::Record(record) => {
                let definition = unit.types.record(*record);
                let fields = definition.fields.as_deref().unwrap_or_default();
                let Some(layout) = unit.types.layout(*record) else {
                    self.unsupported_effect(origin, "a record whose layout is not known");
                    return;
                };
                let positions: Vec<usize> = if definition.is_union {
                    vec![member.unwrap_or(0)]
                } else {
                    named(fields)
                };
                for (&position, item) in positions.iter().zip(elements) {
                    let Some(item) = item else { continue };
                    let at = self.at_expr(*item);
                    let bits = layout.offsets[position];
                    let place = self.member_address(address, bits / 8, None, at);
                    match (
                        fields[position].bit_width,
                        self.class_of(fields[position].ty),
                    ) {
                        (Some(width), Class::Scalar(ty)) => {
                            let value = self.rvalue(*item);
                            let location = Location::Bits {
                                address: place,
                                offset: (bits % 8) as u32,
                                width,
                            };
                            self.store(location, ty, value, at);
                        }
                        (Some(_), _) => self.unsupported_effect(at, "a bit-field"),
                        (None, _) => self.initialize(place, fields[position].ty, *item, at),
                    }
                }
            }
            _ => self.unsupported_effect(origin, "an initialiser of an unknown form"),
        }
    }
}
