//! The table of C types of a translation unit, read from clang's spelling of them.

mod names;
mod parse;

use rustc_hash::FxHashMap;

pub(crate) use parse::unnamed_at;

use crate::Dialect;

/// The number of a type in its [`TypeTable`]. Equal numbers mean the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// The number of a structure or union in its [`TypeTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u32);

/// The number of an array length that is computed at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LengthId(pub u32);

/// The integer types of C. The order is by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum IntegerKind {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Int128,
    UnsignedInt128,
}

impl IntegerKind {
    /// Returns the size in bytes on x86-64 Linux.
    pub const fn size(self) -> u64 {
        use IntegerKind::*;
        match self {
            Bool | Char | SignedChar | UnsignedChar => 1,
            Short | UnsignedShort => 2,
            Int | UnsignedInt => 4,
            Long | UnsignedLong | LongLong | UnsignedLongLong => 8,
            Int128 | UnsignedInt128 => 16,
        }
    }

    /// Returns the type of an enumeration with these least and greatest enumerators. A packed one takes no more bytes than it needs.
    pub(crate) fn of_enumeration(least: i128, greatest: i128, packed: bool) -> IntegerKind {
        use IntegerKind::*;
        let kinds = match (least < 0, packed) {
            (true, true) => &[SignedChar, Short, Int, Long][..],
            (true, false) => &[Int, Long],
            (false, true) => &[UnsignedChar, UnsignedShort, UnsignedInt, UnsignedLong],
            (false, false) => &[UnsignedInt, UnsignedLong],
        };
        let fits = |kind: &&IntegerKind| {
            let bits = 8 * kind.size() as u32;
            match least < 0 {
                true => least >= -(1 << (bits - 1)) && greatest < 1 << (bits - 1),
                false => greatest < 1 << bits,
            }
        };
        kinds.iter().find(fits).copied().unwrap_or(Long)
    }
}

/// The floating types of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum FloatKind {
    Float,
    Double,
    LongDouble,
    Other,
}

/// `const`, `volatile`, `restrict` and `_Atomic`, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Qualifiers {
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `_Atomic`
    pub is_atomic: bool,
    /// `restrict`
    pub is_restrict: bool,
}

/// A type without its qualifiers; typedef names are resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TypeKind {
    Void,
    Integer(IntegerKind),
    /// An enumeration and the integer type that it has on this platform.
    Enum {
        name: String,
    },
    Float(FloatKind),
    Pointer(TypeId),
    /// An array with its length, if it is constant and known.
    Array(TypeId, Option<u64>),
    /// An array whose length is computed at run time: which one, by its number in [`crate::detail::Details::lengths`] of the function,
    /// where that is known.
    VariableArray(TypeId, Option<LengthId>),
    Record(RecordId),
    /// A complex number of parts of this type.
    Complex(TypeId),
    /// GNU C's vector: so many numbers of this type.
    Vector(TypeId, u64),
    Function,
    /// What the table cannot express; the spelling is the compiler's.
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    kind: TypeKind,
    qualifiers: Qualifiers,
}

/// A member of a structure or union: name, type and width of a bit-field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Width of a bit-field in bits.
    pub bit_width: Option<u32>,
}

/// A structure or union with its members, if they are known.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its tag or the compiler's name for it.
    pub name: String,
    /// How C text can name the type, if it can: `struct s`, or a typedef's name.
    pub spelling: Option<String>,
    /// A union.
    pub is_union: bool,
    /// Its members, if the definition is visible.
    pub fields: Option<Vec<Field>>,
    /// Several records of different scopes have its tag, so no text names it everywhere.
    pub ambiguous: bool,
}

/// All types of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    entries: Vec<Entry>,
    index: FxHashMap<Entry, TypeId>,
    records: Vec<Record>,
    names: names::Names,
    /// What integers enumerations are.
    enums: FxHashMap<String, IntegerKind>,
    /// How many lengths there are, and the text of those that were read and not converted yet.
    lengths: u32,
    waiting: Vec<(LengthId, String)>,
    /// Types that were read, by their text and whether it was read where it is written.
    spelled: FxHashMap<(String, bool), TypeId>,
    record_sizes: FxHashMap<RecordId, u64>,
    layout_notes: FxHashMap<RecordId, LayoutNotes>,
    /// Size and alignment of records whose definition the dump does not show.
    told_sizes: FxHashMap<RecordId, (u64, u64)>,
    dialect: Dialect,
}

impl TypeTable {
    /// An empty table, for sources of a dialect.
    pub(crate) fn new(dialect: Dialect) -> TypeTable {
        TypeTable {
            dialect,
            ..TypeTable::default()
        }
    }

    /// The dialect that the types are read in.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn intern(&mut self, kind: TypeKind, qualifiers: Qualifiers) -> TypeId {
        let entry = Entry { kind, qualifiers };
        if let Some(&id) = self.index.get(&entry) {
            return id;
        }
        let id = TypeId(self.entries.len() as u32);
        self.entries.push(entry.clone());
        self.index.insert(entry, id);
        id
    }

    /// Returns the number of the unqualified type of this kind, which is added if it is new.
    pub fn plain(&mut self, kind: TypeKind) -> TypeId {
        self.intern(kind, Qualifiers::default())
    }

    /// Returns the kind of a type, without its qualifiers.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self.entries[id.0 as usize].kind
    }

    /// Returns the outermost qualifiers of a type.
    pub fn qualifiers(&self, id: TypeId) -> Qualifiers {
        self.entries[id.0 as usize].qualifiers
    }

    /// Returns the type without its outermost qualifiers.
    pub fn unqualified(&mut self, id: TypeId) -> TypeId {
        let kind = self.kind(id).clone();
        self.intern(kind, Qualifiers::default())
    }

    /// Sets the integer type of an enumeration.
    pub(crate) fn set_enum_kind(&mut self, id: TypeId, kind: IntegerKind) {
        if let TypeKind::Enum { name } = self.kind(id) {
            let name = name.clone();
            self.enums.insert(name, kind);
        }
    }

    /// Whether the size of the type is computed at run time.
    pub fn is_variable(&self, id: TypeId) -> bool {
        match self.kind(id) {
            TypeKind::VariableArray(..) => true,
            TypeKind::Array(of, _) => self.is_variable(*of),
            _ => false,
        }
    }

    /// The lengths that were read since the last time, with their text.
    pub(crate) fn take_lengths(&mut self) -> Vec<(LengthId, String)> {
        std::mem::take(&mut self.waiting)
    }

    /// Returns the record with the number `id`.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// Returns the integer type of an enumeration, as gcc and clang choose it: `unsigned int`, `int`
    /// if an enumerator is negative, or a wider one if an enumerator needs it.
    pub fn enum_kind(&self, name: &str) -> IntegerKind {
        let known = self.enums.get(name).copied();
        known.unwrap_or(IntegerKind::UnsignedInt)
    }

    /// Gives a declared structure or union its members.
    pub(crate) fn define_record(&mut self, id: RecordId, fields: Vec<Field>) {
        self.records[id.0 as usize].fields = Some(fields);
    }

    /// Notes the attributes and pragmas that change the layout of a record.
    pub(crate) fn set_layout_notes(&mut self, id: RecordId, notes: LayoutNotes) {
        self.layout_notes.insert(id, notes);
    }

    /// Notes the size and alignment, in bytes, that clang tells of a record.
    pub(crate) fn set_told_size(&mut self, id: RecordId, size: u64, align: u64) {
        self.told_sizes.insert(id, (size, align));
    }

    /// Returns the size and alignment, in bytes, that clang has told of a record.
    pub(crate) fn told_size(&self, id: RecordId) -> Option<(u64, u64)> {
        // The compiler's own record has no declaration in the dump.
        if self.record(id).name == "__va_list_tag" {
            return Some((24, 8));
        }
        self.told_sizes.get(&id).copied()
    }

    /// Returns the attributes of a defined record that change its layout.
    pub(crate) fn layout_notes(&self, id: RecordId) -> Option<&LayoutNotes> {
        self.layout_notes.get(&id)
    }

    /// Returns the alignment that a member's declaration asks for; `None` inside if it asks for none. The outer `None` means that something
    /// else may change it.
    pub(crate) fn member_align(&self, id: RecordId, index: usize) -> Option<Option<u64>> {
        let Some(notes) = self.layout_notes(id) else {
            return Some(None);
        };
        let (packed, asked) = notes.fields.get(index).copied().unwrap_or((false, None));
        let plain = !(notes.packed || notes.unknown || notes.pack.is_some() || packed);
        plain.then_some(asked)
    }

    /// Notes the size and alignment of a record under `#pragma pack`, from which the value of `pack` follows.
    pub(crate) fn tell_pack(&mut self, id: RecordId, size: u64, align: u64) {
        let Some(notes) = self.layout_notes.get_mut(&id).filter(|notes| notes.unknown) else {
            return;
        };
        notes.unknown = false;
        notes.pack = Some(align);
        if self.layout(id).map(|layout| (layout.size, layout.align)) != Some((size, align))
            && let Some(notes) = self.layout_notes.get_mut(&id)
        {
            notes.unknown = true;
        }
    }

    /// A record is under a `#pragma pack` that is not known.
    pub(crate) fn has_unknown_pack(&self) -> bool {
        self.layout_notes.values().any(|notes| notes.unknown)
    }

    /// Attributes or pragmas say something of the layout of a record.
    pub(crate) fn has_layout_notes(&self) -> bool {
        self.layout_notes.values().any(|notes| !notes.is_plain())
    }

    /// The compiler gives a record this size and alignment: if ours are others, its layout is not known.
    pub(crate) fn check_layout(&mut self, id: RecordId, size: u64, align: u64) {
        if self
            .layout(id)
            .is_some_and(|own| (own.size, own.align) != (size, align))
            && let Some(notes) = self.layout_notes.get_mut(&id)
        {
            notes.refused = true;
        }
    }

    /// Returns the type with further qualifiers.
    pub(crate) fn with_qualifiers(&mut self, id: TypeId, more: Qualifiers) -> TypeId {
        let Entry { kind, qualifiers } = self.entries[id.0 as usize].clone();
        self.intern(
            kind,
            Qualifiers {
                is_const: qualifiers.is_const || more.is_const,
                is_volatile: qualifiers.is_volatile || more.is_volatile,
                is_atomic: qualifiers.is_atomic || more.is_atomic,
                is_restrict: qualifiers.is_restrict || more.is_restrict,
            },
        )
    }

    /// Returns the kind of an integer type. An enumeration has that of its integer type. Other types
    /// give `None`.
    pub fn integer_kind(&self, id: TypeId) -> Option<IntegerKind> {
        match self.kind(id) {
            TypeKind::Integer(kind) => Some(*kind),
            TypeKind::Enum { name } => Some(self.enum_kind(name)),
            _ => None,
        }
    }

    /// All types that some pointer or array type of the table points to or consists of.
    pub(crate) fn pointees(&self) -> Vec<TypeId> {
        let mut found: Vec<TypeId> = (0..self.entries.len() as u32)
            .filter_map(|id| self.element(TypeId(id)))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Notes the size of a record, in bytes.
    pub(crate) fn set_record_size(&mut self, id: TypeId, size: u64) {
        if let TypeKind::Record(record) = *self.kind(id) {
            self.record_sizes.insert(record, size);
        }
    }

    /// Returns the size in bytes of a complete type of constant size on x86-64 Linux, else `None`.
    pub fn size(&self, id: TypeId) -> Option<u64> {
        Some(match self.kind(id) {
            TypeKind::Integer(kind) => kind.size(),
            TypeKind::Enum { name } => self.enum_kind(name).size(),
            TypeKind::Float(FloatKind::Float) => 4,
            TypeKind::Float(FloatKind::Double) => 8,
            TypeKind::Float(FloatKind::LongDouble) => 16,
            TypeKind::Pointer(_) => 8,
            TypeKind::Array(of, Some(length)) => self.size(*of)?.checked_mul(*length)?,
            TypeKind::Record(record) => *self.record_sizes.get(record)?,
            _ => return None,
        })
    }

    /// Returns the type that a pointer points to, or the element type of an array.
    pub fn element(&self, id: TypeId) -> Option<TypeId> {
        match self.kind(id) {
            TypeKind::Pointer(to) | TypeKind::Array(to, _) | TypeKind::VariableArray(to, _) => {
                Some(*to)
            }
            _ => None,
        }
    }

    /// Returns the type as C code, valid wherever its tags are visible. It is `None` for anonymous
    /// records, function types, and types that the table cannot express.
    pub fn spelling(&self, id: TypeId) -> Option<String> {
        self.spell(id, String::new())
    }

    /// Returns the declaration of a variable of the type as C code: `int (*rows)[3]`. It is `None` where [`TypeTable::spelling`]
    /// is.
    pub fn declaration(&self, id: TypeId, name: &str) -> Option<String> {
        self.spell(id, name.to_owned())
    }

    fn spell(&self, id: TypeId, declarator: String) -> Option<String> {
        let entry = &self.entries[id.0 as usize];
        let mut prefix = String::new();
        if entry.qualifiers.is_const {
            prefix.push_str("const ");
        }
        if entry.qualifiers.is_volatile {
            prefix.push_str("volatile ");
        }
        let base = match &entry.kind {
            TypeKind::Void => "void".to_owned(),
            TypeKind::Integer(kind) => kind.spelling().to_owned(),
            TypeKind::Enum { name } if !name.contains('(') && self.is_tag_of_one(name) => {
                format!("enum {name}")
            }
            TypeKind::Float(FloatKind::Float) => "float".to_owned(),
            TypeKind::Float(FloatKind::Double) => "double".to_owned(),
            TypeKind::Float(FloatKind::LongDouble) => "long double".to_owned(),
            TypeKind::Record(record) => self.record(*record).spelling.clone()?,
            TypeKind::Pointer(to) => {
                let inner = format!("*{}{}", prefix, declarator);
                let inner = match self.kind(*to) {
                    TypeKind::Array(..) => format!("({inner})"),
                    _ => inner,
                };
                return self.spell(*to, inner);
            }
            TypeKind::Array(of, Some(length)) => {
                return self.spell(*of, format!("{declarator}[{length}]"));
            }
            _ => return None,
        };
        Some(if declarator.is_empty() {
            format!("{prefix}{base}")
        } else {
            format!("{prefix}{base} {declarator}")
        })
    }

    /// Returns the type that clang spells `text`. Names must have one meaning in the whole source.
    pub fn parse(&mut self, text: &str) -> TypeId {
        self.parse_as(text, false)
    }

    fn parse_as(&mut self, text: &str, here: bool) -> TypeId {
        let key = (text.to_owned(), here);
        if let Some(&id) = self.spelled.get(&key) {
            return id;
        }
        let lengths = self.lengths;
        match self.parse_type_name(text, here) {
            Some(id) => {
                // Each declaration has lengths of its own.
                if self.lengths == lengths {
                    self.spelled.insert(key, id);
                }
                id
            }
            None => self.plain(TypeKind::Other(text.to_owned())),
        }
    }
}

impl IntegerKind {
    /// Returns the type as C writes it, such as `unsigned int`.
    pub fn spelling(self) -> &'static str {
        use IntegerKind::*;
        match self {
            Bool => "_Bool",
            Char => "char",
            SignedChar => "signed char",
            UnsignedChar => "unsigned char",
            Short => "short",
            UnsignedShort => "unsigned short",
            Int => "int",
            UnsignedInt => "unsigned int",
            Long => "long",
            UnsignedLong => "unsigned long",
            LongLong => "long long",
            UnsignedLongLong => "unsigned long long",
            Int128 => "__int128",
            UnsignedInt128 => "unsigned __int128",
        }
    }
}

/// The attributes that change the layout of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayoutNotes {
    /// `packed`
    pub packed: bool,
    /// `aligned`, in bytes.
    pub align: Option<u64>,
    /// `#pragma pack` holds, but not known is which.
    pub unknown: bool,
    /// `#pragma pack`: the most that members are aligned to, in bytes.
    pub pack: Option<u64>,
    /// The same for each field: packed, aligned.
    pub fields: Vec<(bool, Option<u64>)>,
    /// The alignment that the typedef of each field gives it.
    pub typedefs: Vec<Option<u64>>,
    /// It has an attribute that changes the layout in a way that is not known.
    pub refused: bool,
}

impl LayoutNotes {
    /// Whether no attribute changes the layout, apart from single members in system headers.
    pub(crate) fn is_plain(&self) -> bool {
        !self.packed
            && self.align.is_none()
            && !self.unknown
            && !self.refused
            && self.typedefs.iter().all(Option::is_none)
            && self.fields.iter().all(|&(packed, _)| !packed)
    }
}
