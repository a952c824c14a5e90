//! Makes the atoms of a hole, and the slots from which the tested process gives their values.
//!
//! A slot either takes the value of a C expression that cannot fail (a local, a constant that the
//! compiler knows), or is read from memory at an address that other slots give. Whatever may fail
//! (`p->x`, `a[i]`, `*p`) is read by the probe, so that looking at it never crashes the program.

mod pointers;

use patchwright_csource::{
    ExprId, ExprKind, Function, TranslationUnit, UnaryOperator, VarId,
    types::{Field, IntegerKind, TypeId, TypeKind},
};
use patchwright_semantics::Ty;
use rustc_hash::FxHashMap;

use crate::{
    common_leaves::CommonLeaves,
    term::{Atom, AtomId, AtomTable, CType, Pointees, Precedence},
    types::TermTypes,
};
use pointers::{Index, Pointer, Reach, arrow, dereference, postfix};

/// The source of a slot's value at a visit, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// C text of type `unsigned long long` that is woven into the source: the value itself, or a
    /// number of bytes from the base.
    pub entry: String,
    /// What the entry means.
    pub source: SlotSource,
    /// The type of the value.
    pub ty: Ty,
}

/// What the entry of a slot means: the value itself, or an offset in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotSource {
    /// The value itself.
    Value,
    /// The value lies in memory `entry + index · scale` bytes after the address in slot `base`.
    Load {
        /// The slot with the address.
        base: usize,
        /// The slot with an index, and the bytes that one step of it counts.
        index: Option<(usize, i64)>,
        /// Bytes of the object at the base, if known: other reads are undefined.
        length: Option<u64>,
        /// The value is that of these bits, and the entry a number of bits.
        bits: Option<Bits>,
    },
}

/// The bits of a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// How many.
    pub width: u8,
    /// The last one is that of the sign.
    pub signed: bool,
}

/// The atoms of one hole with their slots.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    /// The atoms of terms.
    pub table: AtomTable,
    /// Where their values come from.
    pub slots: Vec<Slot>,
    /// What further atoms may be, for a source that is compiled in several ways.
    pub permitted: Option<CommonLeaves>,
    by_spelling: FxHashMap<String, AtomId>,
    slot_by_spelling: FxHashMap<String, usize>,
}

/// The largest number of slots of a hole.
pub const MAX_SLOTS: usize = 480;

/// The text of an lvalue and how to reach it.
struct Path {
    text: String,
    precedence: Precedence,
    ty: TypeId,
    /// The type to which a bit-field is promoted, which is the type of its atom.
    promoted: Option<CType>,
    /// Where a bit-field lies that is not read by the compiler.
    bits: Option<BitPlace>,
    reach: Reach,
}

/// A bit-field in a record in memory.
struct BitPlace {
    bits: Bits,
    /// C text, the number of its first bit in the record.
    first: String,
}

/// Makes atoms of expressions of one function.
pub struct AtomBuilder<'a> {
    /// The unit; its type table grows.
    pub unit: &'a mut TranslationUnit,
    /// The types that terms see.
    pub types: &'a mut TermTypes,
}

impl Atoms {
    /// Returns the atom with this text, if there is one.
    pub fn find(&self, spelling: &str) -> Option<AtomId> {
        self.by_spelling.get(spelling).copied()
    }

    /// Whether an atom is an element behind a pointer to an object of unknown size, or is reached
    /// through one.
    pub fn is_unbounded(&self, atom: AtomId) -> bool {
        let mut slot = self.table[atom].slot as usize;
        loop {
            let Slot { source, entry, .. } = &self.slots[slot];
            match source {
                SlotSource::Value => return false,
                SlotSource::Load {
                    index,
                    length: None,
                    ..
                } if index.is_some() || entry.contains('*') => return true,
                SlotSource::Load { base, .. } => slot = *base,
            }
        }
    }

    fn add_slot(&mut self, key: String, slot: Slot) -> Option<usize> {
        if let Some(&known) = self.slot_by_spelling.get(&key) {
            return Some(known);
        }
        if self.slots.len() >= MAX_SLOTS {
            return None;
        }
        self.slots.push(slot);
        self.slot_by_spelling.insert(key, self.slots.len() - 1);
        Some(self.slots.len() - 1)
    }

    fn add_atom(
        &mut self,
        spelling: String,
        precedence: Precedence,
        ctype: CType,
        slot: usize,
    ) -> AtomId {
        if let Some(&known) = self.by_spelling.get(&spelling) {
            return known;
        }
        let id = self.table.add(Atom {
            spelling: spelling.clone(),
            precedence,
            ctype,
            slot: slot as u32,
        });
        self.by_spelling.insert(spelling, id);
        id
    }

    /// Makes slot 0 the value of an expression with effects, which the program evaluates once. `text`
    /// is its text and `ctype` its type (`int` for the truth of a condition).
    pub fn add_captured(
        &mut self,
        text: &str,
        precedence: Precedence,
        ctype: CType,
    ) -> Option<AtomId> {
        let slot = self.add_slot(
            text.to_owned(),
            Slot {
                entry: value_entry("__pw_c", ctype),
                source: SlotSource::Value,
                ty: ctype.value_type(),
            },
        )?;
        Some(self.add_atom(text.to_owned(), precedence, ctype, slot))
    }

    /// Adds an atom for an expression that can be evaluated at the hole in any case; its slot holds the value. `pointees` are the
    /// types to which pointers point. Returns `None` if there is no room for the slot.
    pub fn add_value(
        &mut self,
        spelling: &str,
        precedence: Precedence,
        ctype: CType,
        pointees: &Pointees,
    ) -> Option<AtomId> {
        let slot = Slot {
            entry: value_entry(spelling, ctype),
            source: SlotSource::Value,
            ty: ctype.value_type(),
        };
        self.add(spelling.to_owned(), precedence, ctype, slot, pointees)
    }

    /// Adds an atom with its slot, if there is room and it is permitted.
    fn add(
        &mut self,
        spelling: String,
        precedence: Precedence,
        ctype: CType,
        slot: Slot,
        pointees: &Pointees,
    ) -> Option<AtomId> {
        if let Some(known) = self.find(&spelling) {
            return Some(known);
        }
        if let Some(permitted) = &self.permitted
            && !permitted.permits_atom(self, &spelling, ctype, &slot, pointees)
        {
            return None;
        }
        let slot = self.add_slot(spelling.clone(), slot)?;
        Some(self.add_atom(spelling, precedence, ctype, slot))
    }
}

/// C text that hands over the value of `text`, which is of type `ctype`, in canonical form.
fn value_entry(text: &str, ctype: CType) -> String {
    match ctype {
        CType::Pointer(_) => format!("(__pw_u64)(__pw_uptr)({text})"),
        CType::Float => format!("__pw_f32({text})"),
        CType::Double => format!("__pw_f64({text})"),
        _ => format!("(__pw_u64)({text})"),
    }
}

impl AtomBuilder<'_> {
    /// Returns the type of terms for a C type, or `None` if terms do not have it.
    pub fn ctype(&mut self, ty: TypeId) -> Option<CType> {
        self.types.ctype(&mut self.unit.types, ty)
    }

    /// Returns the atom for the value of a variable, or for the address to which an array decays.
    pub fn variable(&mut self, atoms: &mut Atoms, id: VarId) -> Option<AtomId> {
        let variable = self.unit.variable(id);
        if variable.thread_local && variable.in_system_header
            || self.unit.replaced_names.contains(&variable.name)
        {
            return None;
        }
        let (name, ty) = (variable.name.clone(), variable.ty);
        let ctype = self.ctype(ty)?;
        atoms.add_value(&name, Precedence::Primary, ctype, self.types.pointees())
    }

    /// Returns the atom for the value of the lvalue expression `id`.
    pub fn read(&mut self, atoms: &mut Atoms, function: &Function, id: ExprId) -> Option<AtomId> {
        let path = self.path(atoms, function, id)?;
        self.read_path(atoms, path)
    }

    fn read_path(&mut self, atoms: &mut Atoms, path: Path) -> Option<AtomId> {
        if let Some(known) = atoms.find(&path.text) {
            return Some(known);
        }
        let ctype = match path.promoted {
            Some(promoted) => promoted,
            None => self.ctype(path.ty)?,
        };
        let is_array = matches!(self.unit.types.kind(path.ty), TypeKind::Array(..));
        let slot = match path.reach {
            Reach::Direct => Slot {
                entry: value_entry(&path.text, ctype),
                source: SlotSource::Value,
                ty: ctype.value_type(),
            },
            // An array inside what a pointer points to: its address is computed, not loaded.
            Reach::Memory { .. } if is_array => return None,
            Reach::Memory {
                base,
                offset,
                index,
                length,
            } => Slot {
                entry: match &path.bits {
                    None => format!("(__pw_u64)({offset})"),
                    // In bits.
                    Some(place) => format!("(__pw_u64)(({offset})*8+(long long){})", place.first),
                },
                source: SlotSource::Load {
                    base,
                    index,
                    length: match path.bits {
                        Some(_) if length.is_some() => return None,
                        _ => length,
                    },
                    bits: path.bits.map(|place| place.bits),
                },
                ty: ctype.value_type(),
            },
        };
        let pointees = self.types.pointees();
        atoms.add(path.text, path.precedence, ctype, slot, pointees)
    }

    /// How the lvalue `id` is reached; `None` if looking at it could have effects, or it is of a
    /// kind that is not modelled.
    fn path(&mut self, atoms: &mut Atoms, function: &Function, id: ExprId) -> Option<Path> {
        let id = function.without_parens(id);
        let expr = function.expr(id);
        let ty = expr.ty;
        let qualifiers = self.unit.types.qualifiers(ty);
        if qualifiers.is_volatile || qualifiers.is_atomic {
            return None;
        }
        match &expr.kind {
            ExprKind::Variable(variable) => {
                let variable = self.unit.variable(*variable);
                if matches!(
                    self.unit.types.kind(variable.ty),
                    TypeKind::VariableArray(..) | TypeKind::Other(_)
                ) || self.unit.replaced_names.contains(&variable.name)
                {
                    return None;
                }
                Some(Path {
                    text: variable.name.clone(),
                    precedence: Precedence::Primary,
                    ty,
                    promoted: None,
                    bits: None,
                    reach: Reach::Direct,
                })
            }
            ExprKind::Member {
                base,
                arrow: false,
                name,
                bit_field,
            } => {
                if self.unit.replaced_names.contains(name) {
                    return None;
                }
                // A member of an anonymous member is written as a member of the whole.
                let inner = self.path(atoms, function, *base)?;
                let promoted = match bit_field {
                    true => Some(self.promoted_bit_field(inner.ty, name)?),
                    false => None,
                };
                // What the compiler reads by itself needs no place.
                let bits = match (bit_field, &inner.reach) {
                    (true, Reach::Memory { .. }) => {
                        Some(self.bit_place(inner.ty, &inner.text, name)?)
                    }
                    _ => None,
                };
                let text = if name.is_empty() {
                    inner.text.clone()
                } else {
                    format!("{}.{name}", postfix(&inner.text, inner.precedence))
                };
                let reach = match inner.reach {
                    Reach::Direct => Reach::Direct,
                    Reach::Memory {
                        base,
                        offset,
                        index,
                        length,
                    } => Reach::Memory {
                        base,
                        offset: if name.is_empty() || *bit_field {
                            offset
                        } else {
                            format!(
                                "{offset} + __builtin_offsetof(__typeof__({}), {name})",
                                inner.text
                            )
                        },
                        index,
                        length,
                    },
                };
                Some(Path {
                    text,
                    precedence: Precedence::Postfix,
                    ty,
                    promoted,
                    bits,
                    reach,
                })
            }
            ExprKind::Member {
                base,
                arrow: true,
                name,
                bit_field,
            } => {
                if name.is_empty() || self.unit.replaced_names.contains(name) {
                    return None;
                }
                let record = function.expr(*base).ty;
                let pointer = self.pointer(atoms, function, *base)?;
                match bit_field {
                    true => self.bits_behind(pointer, record, name, ty),
                    false => Some(arrow(pointer, name, ty)),
                }
            }
            ExprKind::Subscript { base, index } => {
                let pointer = self.pointer(atoms, function, *base)?;
                let index = self.index(atoms, function, *index)?;
                self.element(pointer, &index, ty)
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => {
                let pointer = self.pointer(atoms, function, *operand)?;
                if matches!(
                    self.unit.types.kind(ty),
                    TypeKind::Function | TypeKind::Void
                ) {
                    return None;
                }
                Some(dereference(pointer, ty))
            }
            _ => None,
        }
    }

    /// Returns the type to which a bit-field is promoted (C11 6.3.1.1). It is `None` for types wider
    /// than `int`, about which compilers disagree.
    pub fn promoted_bit_field(&self, record: TypeId, name: &str) -> Option<CType> {
        let types = &self.unit.types;
        let TypeKind::Record(record) = *types.kind(record) else {
            return None;
        };
        let record = types.record(record);
        if record.ambiguous {
            return None;
        }
        let mut fields = record.fields.iter().flatten();
        let field = fields.find(|field| field.name == name)?;
        let qualifiers = types.qualifiers(field.ty);
        if qualifiers.is_volatile || qualifiers.is_atomic {
            return None;
        }
        let unsigned = match types.integer_kind(field.ty)? {
            IntegerKind::Bool | IntegerKind::UnsignedChar | IntegerKind::UnsignedShort => false,
            IntegerKind::UnsignedInt => field.bit_width? == 32,
            IntegerKind::Char | IntegerKind::SignedChar | IntegerKind::Short | IntegerKind::Int => {
                false
            }
            _ => return None,
        };
        Some(if unsigned { CType::UInt } else { CType::Int })
    }

    /// Returns the atom for a member of the record that `base` is or points to.
    pub fn member(&mut self, atoms: &mut Atoms, base: VarId, field: &Field) -> Option<AtomId> {
        let (name, ty) = (field.name.as_str(), field.ty);
        let is_bit_field = field.bit_width.is_some();
        let variable = self.unit.variable(base).clone();
        let base_name = variable.name.clone();
        let is_pointer = matches!(self.unit.types.kind(variable.ty), TypeKind::Pointer(_));
        let is_array = matches!(self.unit.types.kind(ty), TypeKind::Array(..));
        if is_pointer && is_array || self.unit.replaced_names.contains(name) {
            return None;
        }
        if !is_pointer {
            let ctype = match is_bit_field {
                true => self.promoted_bit_field(variable.ty, name)?,
                false => self.ctype(ty)?,
            };
            let spelling = format!("{base_name}.{name}");
            let pointees = self.types.pointees();
            return atoms.add_value(&spelling, Precedence::Postfix, ctype, pointees);
        }
        let pointer = self.variable(atoms, base)?;
        let slot = atoms.table[pointer].slot as usize;
        let pointer = Pointer::to_slot(slot, base_name, Precedence::Primary, None);
        let path = match is_bit_field {
            true => self.bits_behind(pointer, variable.ty, name, ty)?,
            false => arrow(pointer, name, ty),
        };
        self.read_path(atoms, path)
    }

    /// Bit-field `name`, declared with type `ty`, behind a pointer whose own type is `record`.
    fn bits_behind(
        &self,
        pointer: Pointer,
        record: TypeId,
        name: &str,
        ty: TypeId,
    ) -> Option<Path> {
        let record = self.unit.types.element(record)?;
        let promoted = self.promoted_bit_field(record, name)?;
        let text = postfix(&pointer.text, pointer.precedence);
        let bits = self.bit_place(record, &format!("*{text}"), name)?;
        Some(Path {
            text: format!("{text}->{name}"),
            precedence: Precedence::Postfix,
            ty,
            promoted: Some(promoted),
            bits: Some(bits),
            reach: pointer.reach(),
        })
    }

    /// Where bit-field `name` lies in a record, an expression of whose type is `text`. The compiler tells: it has the first bit set in an
    /// object of that type of which nothing else is.
    fn bit_place(&self, record: TypeId, text: &str, name: &str) -> Option<BitPlace> {
        let types = &self.unit.types;
        let TypeKind::Record(record) = *types.kind(record) else {
            return None;
        };
        let mut fields = types.record(record).fields.iter().flatten();
        let field = fields.find(|field| field.name == name)?;
        let width = u8::try_from(field.bit_width?).ok()?;
        let signed = matches!(
            types.integer_kind(field.ty)?,
            IntegerKind::SignedChar | IntegerKind::Char | IntegerKind::Short | IntegerKind::Int
        );
        let object = format!("static const __typeof__({text}) __pw_b={{.{name}=1}};");
        Some(BitPlace {
            bits: Bits { width, signed },
            first: format!(
                "(__extension__({{{object}__pw_first_bit((const void *)&__pw_b,sizeof __pw_b);}}))"
            ),
        })
    }

    /// Returns the atom for `*variable` or `variable[index]`, where `index` is a variable or a
    /// constant.
    pub fn element_of(
        &mut self,
        atoms: &mut Atoms,
        base: VarId,
        index: Option<ElementIndex>,
    ) -> Option<AtomId> {
        let variable = self.unit.variable(base);
        let (name, ty) = (variable.name.clone(), variable.ty);
        let element = self.unit.types.element(ty)?;
        self.ctype(element)?;
        let length = match self.unit.types.kind(ty) {
            TypeKind::Array(..) => self.unit.types.size(ty),
            TypeKind::Pointer(_) => None,
            _ => return None,
        };
        let pointer = self.variable(atoms, base)?;
        let slot = atoms.table[pointer].slot as usize;
        let mut pointer = Pointer::to_slot(slot, name, Precedence::Primary, length);
        let path = match index {
            None => dereference(pointer, element),
            Some(ElementIndex::Constant(value)) => {
                let index = Index {
                    text: value.to_string(),
                    slot: None,
                    is_simple: true,
                };
                self.element(pointer, &index, element)?
            }
            Some(ElementIndex::Variable(index)) => {
                let atom = self.variable(atoms, index)?;
                let index = Index {
                    text: self.unit.variable(index).name.clone(),
                    slot: Some(atoms.table[atom].slot as usize),
                    is_simple: false,
                };
                self.element(pointer, &index, element)?
            }
            Some(ElementIndex::Shifted(index, by)) => {
                let atom = self.variable(atoms, index)?;
                let own = self.unit.variable(index).name.clone();
                let index = Index {
                    text: match by < 0 {
                        true => format!("{own} - {}", by.unsigned_abs()),
                        false => format!("{own} + {by}"),
                    },
                    slot: Some(atoms.table[atom].slot as usize),
                    is_simple: false,
                };
                let size = self.unit.types.size(element)? as i64;
                pointer.add(format!("({by}LL) * {size}"));
                self.element(pointer, &index, element)?
            }
        };
        self.read_path(atoms, path)
    }
}

/// The index of an element: a variable or a constant.
#[derive(Clone, Copy, Debug)]
pub enum ElementIndex {
    /// A number.
    Constant(i64),
    /// An integer variable.
    Variable(VarId),
    /// An integer variable, and a number that is added to it.
    Shifted(VarId, i64),
}
