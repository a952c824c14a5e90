//! Computes the initial data of objects with static storage duration.

use patchwright_csource::{
    CastKind, ExprId, ExprKind,
    detail::Detail,
    types::{TypeId, TypeKind},
};
use patchwright_ir::{Data, Relocation, Target};

use crate::{
    constant::{Constant, Scope},
    types::{Class, parts},
};

/// The bytes of an object while its initialiser is read.
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Image {
    /// Makes an image of `size` zero bytes.
    pub(crate) fn new(size: u64) -> Image {
        Image {
            bytes: vec![0; size as usize],
            relocations: Vec::new(),
        }
    }

    fn room(&mut self, end: u64) {
        if self.bytes.len() < end as usize {
            self.bytes.resize(end as usize, 0);
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        self.room(at + bytes.len() as u64);
        let at = at as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        let end = (at + bytes.len()) as u64;
        let at = at as u64;
        self.relocations
            .retain(|r| r.offset + 8 <= at || r.offset >= end);
    }

    fn write_address(&mut self, at: u64, target: Target, addend: i64) {
        self.write(at, &[0; 8]);
        self.relocations.push(Relocation {
            offset: at,
            target,
            addend,
        });
    }

    /// Writes `width` bits that begin `offset` bits after the start.
    fn write_bits(&mut self, offset: u64, width: u32, value: u128) {
        for bit in 0..u64::from(width) {
            let position = offset + bit;
            self.room(position / 8 + 1);
            let mask = 1 << (position % 8);
            let byte = &mut self.bytes[(position / 8) as usize];
            if value >> bit & 1 == 1 {
                *byte |= mask;
            } else {
                *byte &= !mask;
            }
        }
    }

    /// Converts it to data of the module, without trailing zeros.
    pub(crate) fn into_data(mut self) -> Data {
        while self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.relocations.sort_by_key(|relocation| relocation.offset);
        Data {
            bytes: self.bytes,
            relocations: self.relocations,
        }
    }
}

/// Writes the value of an initialiser for an object of type `ty` at the offset `at`.
pub(crate) fn initialize(
    scope: &mut Scope<'_, '_>,
    image: &mut Image,
    at: u64,
    ty: TypeId,
    value: ExprId,
) -> Result<(), String> {
    let arena = scope.arena;
    let unit = scope.lowerer.unit;
    let kind = &arena.expr(value).kind;
    match scope.lowerer.class(ty) {
        Class::Unknown(reason) => return Err(reason.to_owned()),
        Class::Array | Class::Aggregate { .. } => {}
        Class::Void | Class::Function => return Err("an initialiser of no object".to_owned()),
        Class::Scalar(_) => {
            match scope.value(value) {
                Some(Constant::Value(ty, bits)) => {
                    image.write(at, &bits.to_le_bytes()[..ty.size() as usize]);
                }
                Some(Constant::Address(target, addend)) => image.write_address(at, target, addend),
                None => return Err("an initialiser that is not known to be constant".to_owned()),
            }
            return Ok(());
        }
    }
    match kind {
        ExprKind::Paren(inner) => return initialize(scope, image, at, ty, *inner),
        ExprKind::String => {
            let (mut bytes, _) = scope.string_bytes(value).ok_or("a string literal")?;
            if let Some((size, _)) = unit.types.size_and_align(ty)
                && !matches!(unit.types.kind(ty), TypeKind::Array(_, None))
            {
                bytes.truncate(size as usize);
            } else {
                // A flexible array member has room for the terminator, too.
                bytes.push(0);
            }
            image.write(at, &bytes);
            return Ok(());
        }
        ExprKind::Cast {
            operand,
            cast: CastKind::LValueToRValue | CastKind::NoOp,
            ..
        } => return initialize(scope, image, at, ty, *operand),
        ExprKind::Other { kind, children, .. } => match kind.as_str() {
            "CompoundLiteralExpr" | "ConstantExpr" => {
                let child = children.first().ok_or("an empty literal")?;
                return initialize(scope, image, at, ty, *child);
            }
            "ImplicitValueInitExpr" => return Ok(()),
            _ => {}
        },
        _ => {}
    }
    if let Some(parts) = parts(&unit.types, ty)
        && let Some(values) = scope.parts(value, parts)
    {
        let size = parts.of.size();
        for (index, bits) in values.into_iter().enumerate() {
            image.write(
                at + index as u64 * size,
                &bits.to_le_bytes()[..size as usize],
            );
        }
        return Ok(());
    }
    let Some(Detail::List { elements, member }) = scope.detail(value) else {
        return Err("an initialiser that is not known to be constant".to_owned());
    };
    match unit.types.kind(ty) {
        TypeKind::Array(element, _) | TypeKind::Vector(element, _) | TypeKind::Complex(element) => {
            let (size, _) = unit
                .types
                .size_and_align(*element)
                .ok_or("elements of unknown size")?;
            if let [Some(only)] = elements.as_slice()
                && matches!(
                    arena.expr(arena.without_parens(*only)).kind,
                    ExprKind::String
                )
                && matches!(scope.lowerer.class(*element), Class::Scalar(_))
                && !matches!(scope.lowerer.class(arena.expr(*only).ty), Class::Scalar(_))
            {
                return initialize(scope, image, at, ty, *only);
            }
            for (index, item) in elements.iter().enumerate() {
                if let Some(item) = item {
                    initialize(scope, image, at + index as u64 * size, *element, *item)?;
                }
            }
            Ok(())
        }
        TypeKind::Record(record) => {
            let layout = unit
                .types
                .layout(*record)
                .ok_or("a record whose layout is not known")?;
            let definition = unit.types.record(*record);
            let fields = definition.fields.as_deref().unwrap_or_default();
            if let [Some(only)] = elements.as_slice()
                && arena.expr(*only).ty == ty
            {
                return initialize(scope, image, at, ty, *only);
            }
            let positions: Vec<usize> = if definition.is_union {
                vec![member.unwrap_or(0)]
            } else {
                named(fields)
            };
            for (&position, item) in positions.iter().zip(elements) {
                let Some(item) = item else { continue };
                let field = &fields[position];
                let bits = at * 8 + layout.offsets[position];
                match field.bit_width {
                    None => initialize(scope, image, bits / 8, field.ty, *item)?,
                    Some(width) => match scope.value(*item) {
                        Some(Constant::Value(_, value)) => image.write_bits(bits, width, value),
                        _ => return Err("a bit-field that is no constant".to_owned()),
                    },
                }
            }
            Ok(())
        }
        _ => Err("an initialiser of an unknown form".to_owned()),
    }
}

/// The fields that an initialiser list has elements for: all but unnamed bit-fields.
pub(crate) fn named(fields: &[patchwright_csource::types::Field]) -> Vec<usize> {
    (0..fields.len())
        .filter(|&index| !(fields[index].name.is_empty() && fields[index].bit_width.is_some()))
        .collect()
}
