//! C types, read from the compiler's spelling of them.

use rustc_hash::FxHashMap;

/// Names a type of a [`TypeTable`]; equal ids mean the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// Names a structure or union of a [`TypeTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u32);

/// The integer types of C, by rank and sign.
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
    /// Bytes on this platform (x86-64 Linux).
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

    /// The type of an enumeration whose least and greatest enumerators these are; a packed one
    /// takes no more bytes than it needs.
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

/// Floating types.
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
    /// An array whose length is computed at run time.
    VariableArray(TypeId),
    Record(RecordId),
    Function,
    /// What the table cannot express; the spelling is the compiler's.
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    kind: TypeKind,
    qualifiers: Qualifiers,
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Width of a bit-field in bits.
    pub bit_width: Option<u32>,
}

/// A structure or union.
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
    /// Two definitions in different scopes share the name: nothing is known of it.
    pub ambiguous: bool,
}

/// All types of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    entries: Vec<Entry>,
    index: FxHashMap<Entry, TypeId>,
    records: Vec<Record>,
    tags: FxHashMap<String, RecordId>,
    typedefs: FxHashMap<String, TypedefTarget>,
    /// What integers enumerations are.
    enums: FxHashMap<String, IntegerKind>,
    spelled: FxHashMap<String, TypeId>,
    record_sizes: FxHashMap<RecordId, u64>,
    layout_notes: FxHashMap<RecordId, crate::detail::LayoutNotes>,
    /// Size and alignment of records whose definition the dump does not show.
    told_sizes: FxHashMap<RecordId, (u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
enum TypedefTarget {
    Type(TypeId),
    Ambiguous,
}

impl TypeTable {
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

    /// The unqualified type of this kind.
    pub fn plain(&mut self, kind: TypeKind) -> TypeId {
        self.intern(kind, Qualifiers::default())
    }

    /// What `id` is, without qualifiers.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self.entries[id.0 as usize].kind
    }

    /// The qualifiers of `id` itself.
    pub fn qualifiers(&self, id: TypeId) -> Qualifiers {
        self.entries[id.0 as usize].qualifiers
    }

    /// `id` without its own qualifiers.
    pub fn unqualified(&mut self, id: TypeId) -> TypeId {
        let kind = self.kind(id).clone();
        self.intern(kind, Qualifiers::default())
    }

    /// The record that `id` names.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// An enumeration's integer type: `unsigned int` unless an enumerator is negative; a wider one
    /// if an enumerator needs it (what gcc and clang choose on this platform).
    pub fn enum_kind(&self, name: &str) -> IntegerKind {
        let known = self.enums.get(name).copied();
        known.unwrap_or(IntegerKind::UnsignedInt)
    }

    pub(crate) fn set_enum_kind(&mut self, name: &str, kind: IntegerKind) {
        self.enums.insert(name.to_owned(), kind);
    }

    pub(crate) fn declare_record(&mut self, name: &str, is_union: bool) -> RecordId {
        if let Some(&id) = self.tags.get(name) {
            return id;
        }
        let id = RecordId(self.records.len() as u32);
        let spellable = !name.is_empty() && !name.contains('(');
        self.records.push(Record {
            name: name.to_owned(),
            spelling: spellable
                .then(|| format!("{} {name}", if is_union { "union" } else { "struct" })),
            is_union,
            fields: None,
            ambiguous: false,
        });
        self.tags.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn define_record(&mut self, id: RecordId, fields: Vec<Field>) {
        let record = &mut self.records[id.0 as usize];
        if record.fields.is_some() {
            record.ambiguous = true;
        }
        record.fields = Some(fields);
    }

    pub(crate) fn set_layout_notes(&mut self, id: RecordId, notes: crate::detail::LayoutNotes) {
        self.layout_notes.insert(id, notes);
    }

    pub(crate) fn set_told_size(&mut self, id: RecordId, size: u64, align: u64) {
        self.told_sizes.insert(id, (size, align));
    }

    pub(crate) fn told_size(&self, id: RecordId) -> Option<(u64, u64)> {
        // The compiler's own record has no declaration in the dump.
        if self.record(id).name == "__va_list_tag" {
            return Some((24, 8));
        }
        self.told_sizes.get(&id).copied()
    }

    /// What attributes say of the layout of a record that is defined.
    pub(crate) fn layout_notes(&self, id: RecordId) -> Option<&crate::detail::LayoutNotes> {
        self.layout_notes.get(&id)
    }

    /// A record under `#pragma pack` has this size and alignment: so it can be told which `pack`
    /// holds.
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

    pub(crate) fn alias_record(&mut self, alias: &str, id: RecordId) {
        self.tags.entry(alias.to_owned()).or_insert(id);
        let record = &mut self.records[id.0 as usize];
        if record.spelling.is_none() {
            record.spelling = Some(alias.to_owned());
        }
    }

    pub(crate) fn record_by_name(&self, name: &str) -> Option<RecordId> {
        self.tags.get(name).copied()
    }

    /// Declares a typedef; a second one of the same name with another meaning makes the name
    /// ambiguous (it is local to some scope), and types that use it become [`TypeKind::Other`].
    pub(crate) fn declare_typedef(&mut self, name: &str, target: TypeId) {
        match self.typedefs.get(name) {
            Some(TypedefTarget::Type(known)) if *known == target => {}
            Some(_) => {
                self.typedefs
                    .insert(name.to_owned(), TypedefTarget::Ambiguous);
            }
            None => {
                self.typedefs
                    .insert(name.to_owned(), TypedefTarget::Type(target));
            }
        }
    }

    fn with_qualifiers(&mut self, id: TypeId, more: Qualifiers) -> TypeId {
        let Entry { kind, qualifiers } = self.entries[id.0 as usize].clone();
        self.intern(
            kind,
            Qualifiers {
                is_const: qualifiers.is_const || more.is_const,
                is_volatile: qualifiers.is_volatile || more.is_volatile,
                is_atomic: qualifiers.is_atomic || more.is_atomic,
            },
        )
    }

    /// The integer kind of an integer type; enumerations count as the integer that they are.
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

    pub(crate) fn set_record_size(&mut self, id: TypeId, size: u64) {
        if let TypeKind::Record(record) = *self.kind(id) {
            self.record_sizes.insert(record, size);
        }
    }

    /// The size of an object of this type in bytes on this platform (x86-64 Linux), if it is a
    /// complete type of constant size.
    pub fn size(&self, id: TypeId) -> Option<u64> {
        Some(match self.kind(id) {
            TypeKind::Integer(kind) => kind.size(),
            TypeKind::Enum { name } => self.enum_kind(name).size(),
            TypeKind::Float(FloatKind::Float) => 4,
            TypeKind::Float(FloatKind::Double) => 8,
            TypeKind::Float(FloatKind::LongDouble) => 16,
            TypeKind::Pointer(_) => 8,
            TypeKind::Array(of, Some(length)) => self.size(*of)?.checked_mul(*length)?,
            TypeKind::Record(record) if !self.record(*record).ambiguous => {
                *self.record_sizes.get(record)?
            }
            _ => return None,
        })
    }

    /// What a pointer or array type points to or consists of.
    pub fn element(&self, id: TypeId) -> Option<TypeId> {
        match self.kind(id) {
            TypeKind::Pointer(to) | TypeKind::Array(to, _) | TypeKind::VariableArray(to) => {
                Some(*to)
            }
            _ => None,
        }
    }

    /// A spelling of the type that is valid C at any place where its tags are visible, or
    /// `None` (anonymous records, function types and what the table cannot express).
    pub fn spelling(&self, id: TypeId) -> Option<String> {
        self.spell(id, String::new())
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
            TypeKind::Enum { name } if !name.contains('(') => format!("enum {name}"),
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

    /// The type that the compiler spells `text`.
    pub fn parse(&mut self, text: &str) -> TypeId {
        if let Some(&id) = self.spelled.get(text) {
            return id;
        }
        let parsed = Parser {
            table: self,
            tokens: tokenize(text),
            at: 0,
        }
        .type_name();
        match parsed {
            Some(id) => {
                self.spelled.insert(text.to_owned(), id);
                id
            }
            None => self.plain(TypeKind::Other(text.to_owned())),
        }
    }
}

impl IntegerKind {
    /// The type as it is written.
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

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `(unnamed struct at f.c:3:1)`: one token, with what stands in the parentheses.
    Unnamed(String),
    Number(u64),
    Punct(char),
    Ellipsis,
}

fn tokenize(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i] as char;
        if c.is_ascii_whitespace() {
            i += 1;
        } else if c.is_ascii_alphabetic() || c == '_' || c == '$' || !c.is_ascii() {
            let start = i;
            while i < bytes.len()
                && (bytes[i].is_ascii_alphanumeric()
                    || bytes[i] == b'_'
                    || bytes[i] == b'$'
                    || !bytes[i].is_ascii())
            {
                i += 1;
            }
            tokens.push(Token::Word(text[start..i].to_owned()));
        } else if c.is_ascii_digit() {
            let start = i;
            while i < bytes.len() && bytes[i].is_ascii_alphanumeric() {
                i += 1;
            }
            let digits = text[start..i].trim_end_matches(|c: char| !c.is_ascii_digit());
            tokens.push(Token::Number(digits.parse().unwrap_or(0)));
        } else if c == '('
            && (text[i..].starts_with("(unnamed ") || text[i..].starts_with("(anonymous "))
        {
            let end = closing(text, i);
            tokens.push(Token::Unnamed(text[i..end].to_owned()));
            i = end;
        } else if text[i..].starts_with("...") {
            tokens.push(Token::Ellipsis);
            i += 3;
        } else {
            tokens.push(Token::Punct(c));
            i += 1;
        }
    }
    tokens
}

fn closing(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return open + offset + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

struct Parser<'a> {
    table: &'a mut TypeTable,
    tokens: Vec<Token>,
    at: usize,
}

/// The name that a record or enumeration without a tag has in the table: where it is declared.
/// `text` is what stands in parentheses after `struct`.
fn unnamed(text: &str) -> String {
    match text.find(" at ") {
        Some(at) => unnamed_at(text[at + 4..].trim_end_matches(')')),
        None => text.to_owned(),
    }
}

/// The same from the place, `FILE:LINE:COLUMN`.
pub(crate) fn unnamed_at(place: &str) -> String {
    format!("(unnamed at {place})")
}

/// A declarator, outermost derivation last.
enum Derivation {
    Pointer(Qualifiers),
    Array(Option<u64>, bool),
    Function,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, c: char) -> bool {
        if self.peek() == Some(&Token::Punct(c)) {
            self.at += 1;
            true
        } else {
            false
        }
    }

    fn type_name(mut self) -> Option<TypeId> {
        let base = self.specifiers()?;
        let derivations = self.declarator()?;
        if self.at != self.tokens.len() {
            return None;
        }
        Some(self.derive(base, derivations))
    }

    fn derive(&mut self, base: TypeId, derivations: Vec<Derivation>) -> TypeId {
        let mut ty = base;
        for derivation in derivations {
            ty = match derivation {
                Derivation::Pointer(qualifiers) => {
                    self.table.intern(TypeKind::Pointer(ty), qualifiers)
                }
                Derivation::Array(length, false) => self.table.plain(TypeKind::Array(ty, length)),
                Derivation::Array(_, true) => self.table.plain(TypeKind::VariableArray(ty)),
                Derivation::Function => self.table.plain(TypeKind::Function),
            };
        }
        ty
    }

    /// Derivations in the order in which they apply to the base type.
    fn declarator(&mut self) -> Option<Vec<Derivation>> {
        let mut pointers = Vec::new();
        while self.eat('*') || self.eat('^') {
            let mut qualifiers = Qualifiers::default();
            while let Some(Token::Word(word)) = self.peek() {
                match word.as_str() {
                    "const" => qualifiers.is_const = true,
                    "volatile" => qualifiers.is_volatile = true,
                    "_Atomic" => qualifiers.is_atomic = true,
                    "restrict" | "__restrict" | "_Nonnull" | "_Nullable" => {}
                    _ => return None,
                }
                self.at += 1;
            }
            pointers.push(Derivation::Pointer(qualifiers));
        }
        // A parenthesis opens an inner declarator if a pointer follows, else parameters.
        let mut inner = Vec::new();
        if self.peek() == Some(&Token::Punct('('))
            && matches!(
                self.tokens.get(self.at + 1),
                Some(Token::Punct('*' | '^' | '('))
            )
        {
            self.at += 1;
            inner = self.declarator()?;
            if !self.eat(')') {
                return None;
            }
        }
        let mut suffixes = Vec::new();
        loop {
            if self.eat('[') {
                let mut length = None;
                let mut variable = false;
                match self.peek().cloned() {
                    Some(Token::Number(n)) => {
                        self.at += 1;
                        length = Some(n);
                    }
                    Some(Token::Punct(']')) => {}
                    _ => {
                        variable = true;
                        let mut depth = 0;
                        while let Some(token) = self.peek() {
                            match token {
                                Token::Punct('[') => depth += 1,
                                Token::Punct(']') if depth == 0 => break,
                                Token::Punct(']') => depth -= 1,
                                _ => {}
                            }
                            self.at += 1;
                        }
                    }
                }
                if !self.eat(']') {
                    return None;
                }
                suffixes.push(Derivation::Array(length, variable));
            } else if self.peek() == Some(&Token::Punct('(')) {
                self.skip_parentheses()?;
                suffixes.push(Derivation::Function);
            } else {
                break;
            }
        }
        if let Some(Token::Word(word)) = self.peek()
            && word == "__attribute__"
        {
            self.at += 1;
            self.skip_parentheses()?;
        }
        suffixes.reverse();
        pointers.extend(suffixes);
        pointers.extend(inner);
        Some(pointers)
    }

    fn skip_parentheses(&mut self) -> Option<()> {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            match token {
                Token::Punct('(') => depth += 1,
                Token::Punct(')') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
        None
    }

    fn specifiers(&mut self) -> Option<TypeId> {
        let mut qualifiers = Qualifiers::default();
        let mut words: Vec<String> = Vec::new();
        let mut named: Option<TypeId> = None;
        loop {
            let token = self.peek().cloned();
            match token {
                Some(Token::Word(word)) => {
                    match word.as_str() {
                        "const" => qualifiers.is_const = true,
                        "volatile" => qualifiers.is_volatile = true,
                        "_Atomic" => {
                            qualifiers.is_atomic = true;
                            if self.tokens.get(self.at + 1) == Some(&Token::Punct('(')) {
                                // _Atomic(T): the inner type does not matter, it is never used.
                                self.at += 1;
                                self.skip_parentheses()?;
                                named =
                                    Some(self.table.plain(TypeKind::Other("_Atomic".to_owned())));
                                continue;
                            }
                        }
                        "restrict" | "__restrict" => {}
                        "struct" | "union" | "enum" => {
                            self.at += 1;
                            let name = match self.peek()? {
                                Token::Word(name) => name.clone(),
                                Token::Unnamed(name) => unnamed(name),
                                _ => return None,
                            };
                            // `struct s::(unnamed at f.c:3:1)`
                            let name = match self.tokens.get(self.at + 1..self.at + 4) {
                                Some(
                                    [Token::Punct(':'), Token::Punct(':'), Token::Unnamed(inner)],
                                ) => {
                                    let name = unnamed(inner);
                                    self.at += 3;
                                    name
                                }
                                _ => name,
                            };
                            named = Some(if word == "enum" {
                                self.table.plain(TypeKind::Enum { name })
                            } else {
                                let record = self.table.declare_record(&name, word == "union");
                                self.table.plain(TypeKind::Record(record))
                            });
                        }
                        "void" | "_Bool" | "bool" | "char" | "short" | "int" | "long"
                        | "signed" | "unsigned" | "float" | "double" | "__int128" | "_Complex"
                        | "_Float16" | "__bf16" | "__float128" | "_Float128" => {
                            words.push(word.clone());
                        }
                        "typeof" | "__typeof__" | "__attribute__" => return None,
                        _ if words.is_empty() && named.is_none() => {
                            match self.table.typedefs.get(&word) {
                                Some(TypedefTarget::Type(ty)) => named = Some(*ty),
                                Some(TypedefTarget::Ambiguous) => return None,
                                None => match self.table.record_by_name(&word) {
                                    // clang spells an anonymous record by its typedef's name.
                                    Some(record) => {
                                        named = Some(self.table.plain(TypeKind::Record(record)));
                                    }
                                    None => return None,
                                },
                            }
                        }
                        _ => return None,
                    }
                    self.at += 1;
                }
                _ => break,
            }
        }
        let base = match named {
            Some(ty) if words.is_empty() => ty,
            Some(_) => return None,
            None => {
                let kind = builtin(&words)?;
                self.table.plain(kind)
            }
        };
        Some(self.table.with_qualifiers(base, qualifiers))
    }
}

fn builtin(words: &[String]) -> Option<TypeKind> {
    let count = |word: &str| words.iter().filter(|w| *w == word).count();
    let unsigned = count("unsigned") > 0;
    let kind =
        |signed, unsigned_kind| TypeKind::Integer(if unsigned { unsigned_kind } else { signed });
    use IntegerKind::*;
    Some(if count("_Complex") > 0 {
        return None;
    } else if count("void") > 0 {
        TypeKind::Void
    } else if count("_Bool") + count("bool") > 0 {
        TypeKind::Integer(Bool)
    } else if count("__int128") > 0 {
        kind(Int128, UnsignedInt128)
    } else if count("float") > 0 {
        TypeKind::Float(FloatKind::Float)
    } else if count("double") > 0 {
        TypeKind::Float(if count("long") > 0 {
            FloatKind::LongDouble
        } else {
            FloatKind::Double
        })
    } else if count("char") > 0 {
        if count("signed") > 0 {
            TypeKind::Integer(SignedChar)
        } else {
            kind(Char, UnsignedChar)
        }
    } else if count("short") > 0 {
        kind(Short, UnsignedShort)
    } else if count("long") >= 2 {
        kind(LongLong, UnsignedLongLong)
    } else if count("long") == 1 {
        kind(Long, UnsignedLong)
    } else if count("int") + count("signed") + count("unsigned") > 0 {
        kind(Int, UnsignedInt)
    } else if words.is_empty() {
        return None;
    } else {
        TypeKind::Float(FloatKind::Other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Option<String> {
        let mut table = TypeTable::default();
        let int = table.parse("int");
        table.declare_typedef("my_int", int);
        let id = table.parse(text);
        table.spelling(id)
    }

    #[test]
    fn types_are_read_and_spelled_again() {
        for text in [
            "int",
            "unsigned char",
            "const char *",
            "char *const *",
            "struct s *",
            "enum e",
            "double [4]",
            "int (*)[3]",
            "long long",
            "void *",
        ] {
            let again = spelled(text).map(|s| s.replace(' ', ""));
            assert_eq!(again.as_deref(), Some(text.replace(' ', "").as_str()));
        }
    }

    #[test]
    fn typedef_names_are_resolved() {
        assert_eq!(spelled("const my_int *").as_deref(), Some("const int *"));
    }

    #[test]
    fn a_pointer_to_a_function_is_a_pointer() {
        let mut table = TypeTable::default();
        let id = table.parse("int (*)(const char *, ...)");
        let TypeKind::Pointer(to) = table.kind(id).clone() else {
            panic!("{:?}", table.kind(id));
        };
        assert_eq!(table.kind(to), &TypeKind::Function);
    }

    #[test]
    fn an_array_of_arrays_nests_in_the_right_order() {
        let mut table = TypeTable::default();
        let id = table.parse("int [2][3]");
        let TypeKind::Array(row, Some(2)) = table.kind(id).clone() else {
            panic!("{:?}", table.kind(id));
        };
        assert!(matches!(table.kind(row), TypeKind::Array(_, Some(3))));
    }

    #[test]
    fn what_cannot_be_read_is_kept_as_it_is() {
        let mut table = TypeTable::default();
        let id = table.parse("unknown_t *");
        assert!(matches!(table.kind(id), TypeKind::Other(_)));
    }
}
