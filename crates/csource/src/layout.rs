//! Computes sizes, alignments and offsets by the ABI of x86-64 Linux.

use patchwright_exec::{CompileCommand, Runner};
use rustc_hash::FxHashMap;

use crate::{
    clang::{Clang, ParseError},
    detail::Detail,
    tree::{ExprId, ExprKind, Function},
    types::{FloatKind, RecordId, TypeId, TypeKind, TypeTable, unnamed_at},
};

/// The size of a record and the offsets of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    /// Bytes.
    pub size: u64,
    /// Bytes.
    pub align: u64,
    /// Offset of each field, in bits.
    pub offsets: Vec<u64>,
}

impl TypeTable {
    /// Returns the size and the alignment in bytes of a complete type of constant size. As in GNU C,
    /// `void` and functions have size 1. An array of unknown length has size 0.
    pub fn size_and_align(&self, id: TypeId) -> Option<(u64, u64)> {
        let scalar = |size| Some((size, size));
        match self.kind(id) {
            TypeKind::Void | TypeKind::Function => scalar(1),
            TypeKind::Integer(kind) => scalar(kind.size()),
            TypeKind::Enum { name } => scalar(self.enum_kind(name).size()),
            TypeKind::Float(FloatKind::Float) => scalar(4),
            TypeKind::Float(FloatKind::Double) => scalar(8),
            TypeKind::Float(FloatKind::LongDouble) => scalar(16),
            TypeKind::Float(FloatKind::Other) => None,
            TypeKind::Pointer(_) => scalar(8),
            TypeKind::Array(of, length) => {
                let (size, align) = self.size_and_align(*of)?;
                Some((size.checked_mul(length.unwrap_or(0))?, align))
            }
            TypeKind::Complex(of) => {
                let (size, align) = self.size_and_align(*of)?;
                Some((2 * size, align))
            }
            TypeKind::Vector(of, count) => {
                let (size, _) = self.size_and_align(*of)?;
                scalar(size.checked_mul(*count)?)
            }
            TypeKind::VariableArray(..) | TypeKind::Other(_) => None,
            // The compiler may fill it up.
            TypeKind::Record(_) if self.qualifiers(id).is_atomic => None,
            TypeKind::Record(record) => match self.layout(*record) {
                Some(layout) => Some((layout.size, layout.align)),
                None => self.told_size(*record),
            },
        }
    }

    /// Returns the layout of a record. It is `None` if the definition is not known, or has an
    /// attribute whose effect is not known.
    pub fn layout(&self, id: RecordId) -> Option<RecordLayout> {
        let record = self.record(id);
        let notes = self.layout_notes(id);
        if notes.is_some_and(|notes| notes.unknown || notes.refused) {
            return None;
        }
        let fields = record.fields.as_ref()?;
        let packed = notes.is_some_and(|notes| notes.packed);
        let pack = notes.and_then(|notes| notes.pack);
        let mut offsets = Vec::with_capacity(fields.len());
        let mut bits = 0u64;
        let mut size = 0u64;
        let mut align = 1u64;
        for (index, field) in fields.iter().enumerate() {
            if record.is_union {
                bits = 0;
            }
            let (field_size, natural) = self.size_and_align(field.ty)?;
            let of_typedef = notes.and_then(|notes| notes.typedefs.get(index).copied().flatten());
            let natural = of_typedef.unwrap_or(natural);
            let (field_packed, asked) = notes
                .and_then(|notes| notes.fields.get(index).copied())
                .unwrap_or((false, None));
            let mut field_align = if packed || field_packed { 1 } else { natural };
            if let Some(asked) = asked {
                field_align = field_align.max(asked);
            }
            field_align = field_align.min(pack.unwrap_or(u64::MAX));
            match field.bit_width {
                Some(0) => {
                    // Ends the unit; it does not count for the alignment of the record.
                    bits = bits.next_multiple_of(natural * 8);
                    offsets.push(bits);
                    continue;
                }
                Some(width) => {
                    let width = u64::from(width);
                    let unit = field_size * 8;
                    if asked.is_some() {
                        bits = bits.next_multiple_of(field_align * 8);
                    } else if !(packed || field_packed || pack.is_some())
                        && bits % unit + width > unit
                    {
                        // It must not straddle a unit of its type.
                        bits = bits.next_multiple_of(natural * 8);
                    }
                    offsets.push(bits);
                    bits = bits.checked_add(width)?;
                    // Unnamed ones do not count.
                    if !field.name.is_empty() {
                        align = align.max(field_align);
                    }
                }
                None => {
                    bits = bits.next_multiple_of(field_align * 8);
                    offsets.push(bits);
                    bits = bits.checked_add(field_size.checked_mul(8)?)?;
                    align = align.max(field_align);
                }
            }
            size = size.max(bits.div_ceil(8));
        }
        size = size.max(bits.div_ceil(8));
        if let Some(asked) = notes.and_then(|notes| notes.align) {
            align = align.max(asked);
        }
        Some(RecordLayout {
            size: size.next_multiple_of(align),
            align,
            offsets,
        })
    }
}

/// Asks clang for the sizes and member offsets that the dump of the tree does not tell, and stores them in `types` and `functions`.
///
/// Three cases need that: records defined inside of `sizeof` or a cast, `#pragma pack`, and attributes that change a layout.
pub(crate) fn ask<'f>(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    types: &mut TypeTable,
    functions: impl Iterator<Item = &'f mut Function>,
) -> Result<(), ParseError> {
    let mut functions: Vec<&mut Function> = functions.collect();
    let mut unknown = Vec::new();
    // Members whose record is known by its name only, by the record and their name.
    let mut members: FxHashMap<(RecordId, String), Option<u64>> = FxHashMap::default();
    for function in &functions {
        for detail in function.details.of.values() {
            if let Detail::SizeOf(ty) | Detail::AlignOf(ty) = detail
                && let TypeKind::Record(record) = *types.kind(*ty)
                && types.size_and_align(*ty).is_none()
            {
                unknown.push(record);
            }
        }
        let all = (0..function.exprs.len()).map(|id| ExprId(id as u32));
        members.extend(all.filter_map(|id| Some((unplaced(types, function, id)?, None))));
    }
    if unknown.is_empty() && members.is_empty() && !types.has_layout_notes() {
        return Ok(());
    }
    // Of those that the source asks the size of, and then of all; there attributes behind a definition do not count yet.
    for complete in [false, true] {
        // A size that the compiler did not need is in the second list only.
        let sought = members.values().any(Option::is_none)
            || unknown
                .iter()
                .any(|&record| types.told_size(record).is_none());
        if complete && !types.has_unknown_pack() && !sought {
            break;
        }
        let dump = clang.layouts(runner, command, complete)?;
        for layout in dump.split("*** Dumping AST Record Layout").skip(1) {
            let Some((name, size, align)) = read(layout) else {
                continue;
            };
            let Some(record) = types.record_by_name(&name) else {
                continue;
            };
            if unknown.contains(&record) {
                types.set_told_size(record, size, align);
            }
            for member in read_members(layout) {
                if let Some(sought) = members.get_mut(&(record, member.name)) {
                    *sought = Some(member.offset);
                }
            }
            types.tell_pack(record, size, align);
            if !complete {
                types.check_layout(record, size, align);
            }
        }
    }
    for function in &mut functions {
        for id in (0..function.exprs.len()).map(|id| ExprId(id as u32)) {
            if let Some(member) = unplaced(types, function, id)
                && let Some(offset) = members.get(&member).copied().flatten()
            {
                function.details.of.insert(id, Detail::MemberAt(offset));
            }
        }
    }
    Ok(())
}

/// The record and the name of a member whose declaration is not known.
fn unplaced(types: &TypeTable, function: &Function, id: ExprId) -> Option<(RecordId, String)> {
    let ExprKind::Member {
        base, arrow, name, ..
    } = &function.expr(id).kind
    else {
        return None;
    };
    if function.details.of.contains_key(&id) {
        return None;
    }
    let base = function.expr(*base).ty;
    let object = match arrow {
        true => types.element(base)?,
        false => base,
    };
    match *types.kind(object) {
        TypeKind::Record(record) => Some((record, name.clone())),
        _ => None,
    }
}

/// A member of a record whose definition is not in the dump of the tree.
pub(crate) struct ToldMember {
    pub(crate) name: String,
    /// As the compiler spells it.
    pub(crate) ty: String,
    /// Bytes.
    pub(crate) offset: u64,
}

/// The members of all records.
pub(crate) fn members(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    types: &TypeTable,
) -> Result<FxHashMap<RecordId, Vec<ToldMember>>, ParseError> {
    let dump = clang.layouts(runner, command, true)?;
    let mut found = FxHashMap::default();
    for layout in dump.split("*** Dumping AST Record Layout").skip(1) {
        if let Some((name, ..)) = read(layout)
            && let Some(record) = types.record_by_name(&name)
        {
            found.insert(record, read_members(layout).collect());
        }
    }
    Ok(found)
}

/// The members of a record that are no bit-fields.
fn read_members(layout: &str) -> impl Iterator<Item = ToldMember> {
    layout.lines().filter_map(|line| {
        let (offset, member) = line.split_once(" | ")?;
        let member = member.strip_prefix("  ")?;
        if member.starts_with(' ') {
            return None;
        }
        let (ty, name) = member.rsplit_once(' ')?;
        Some(ToldMember {
            name: name.to_owned(),
            ty: ty.to_owned(),
            offset: offset.trim().parse().ok()?,
        })
    })
}

/// The name of a record, its size and its alignment.
fn read(layout: &str) -> Option<(String, u64, u64)> {
    let head = layout.lines().find(|line| line.contains(" | "))?;
    let (_, head) = head.split_once(" | ")?;
    let name = match head.split_once(" at ") {
        Some((_, place)) => unnamed_at(place.trim_end().strip_suffix(')')?),
        None => head.trim().split_once(' ')?.1.to_owned(),
    };
    let size = layout.split_once("[sizeof=")?.1;
    let (size, rest) = size.split_once(',')?;
    let align = rest.split_once("align=")?.1.split(']').next()?;
    Some((name, size.parse().ok()?, align.parse().ok()?))
}
