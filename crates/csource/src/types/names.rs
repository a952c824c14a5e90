//! Resolves the names of types. A tag or a typedef may mean different types in different scopes.
//!
//! A declaration is read with the names that are visible where it stands ([`TypeTable::parse_here`]). The type of an expression
//! comes from declarations elsewhere. So a name in its spelling tells the type only if the name has one meaning in the whole
//! source ([`TypeTable::parse`]). If it has several meanings, the type is [`TypeKind::Other`], and the tree must tell it.

use rustc_hash::FxHashSet;

use super::*;

/// The meaning of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(RecordId),
    Enum(TypeId),
}

/// The meanings of one name.
#[derive(Clone, Debug)]
struct Meanings<T> {
    /// All of them, in order of their declarations.
    all: Vec<T>,
    /// Those that are visible, with the depth of their scopes; the last one hides the others.
    visible: Vec<(usize, T)>,
}

/// Names of one name space of C.
#[derive(Clone, Debug)]
struct Space<T>(FxHashMap<String, Meanings<T>>);

impl<T> Default for Space<T> {
    fn default() -> Self {
        Space(FxHashMap::default())
    }
}

impl<T: Copy + PartialEq> Space<T> {
    /// Gives a name a meaning in the scope at a depth; whether it has several now.
    fn declare(&mut self, name: &str, meaning: T, depth: usize) -> bool {
        let meanings = self.0.entry(name.to_owned()).or_insert(Meanings {
            all: Vec::new(),
            visible: Vec::new(),
        });
        if !meanings.all.contains(&meaning) {
            meanings.all.push(meaning);
        }
        if let Some(last) = meanings.visible.last_mut()
            && last.0 == depth
        {
            last.1 = meaning;
        } else {
            meanings.visible.push((depth, meaning));
        }
        meanings.all.len() > 1
    }

    fn leave(&mut self, name: &str, depth: usize) {
        if let Some(meanings) = self.0.get_mut(name)
            && meanings.visible.last().is_some_and(|last| last.0 == depth)
        {
            meanings.visible.pop();
        }
    }

    fn visible(&self, name: &str) -> Option<T> {
        self.0.get(name)?.visible.last().map(|last| last.1)
    }

    fn all(&self, name: &str) -> &[T] {
        self.0.get(name).map_or(&[], |meanings| &meanings.all)
    }
}

/// All names of types, and the scope that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    tags: Space<Tag>,
    typedefs: Space<TypeId>,
    /// Records and enumerations without a tag, by the typedef that the compiler calls them by.
    aliases: FxHashMap<String, Vec<Tag>>,
    /// Records that are mentioned and that no declaration tells of: of the compiler itself, of parameters.
    mentioned: FxHashMap<String, RecordId>,
    /// What is declared in each open scope below that of the file: a tag or a typedef.
    scopes: Vec<Vec<(bool, String)>>,
    /// Tags of records and enumerations whose definitions are not all known.
    hidden: FxHashSet<String>,
    /// `bool` is a macro, so the compiler may call `_Bool` so.
    bool_is_macro: bool,
}

/// The meaning of a name, as far as it is known.
pub(super) enum Meaning<T> {
    One(T),
    Several,
    None,
}

impl Names {
    /// Returns the meaning of a tag, at its place (`here`) or anywhere.
    pub(super) fn tag(&self, name: &str, here: bool) -> Meaning<Tag> {
        if self.hidden.contains(name) {
            return Meaning::Several;
        }
        if here && let Some(tag) = self.tags.visible(name) {
            return Meaning::One(tag);
        }
        let aliases = self.aliases.get(name).map_or(&[][..], Vec::as_slice);
        let tags = match here {
            true => &[],
            false => self.tags.all(name),
        };
        one(tags.iter().chain(aliases).copied())
    }

    /// Returns the meaning of a typedef, at its place (`here`) or anywhere.
    pub(super) fn typedef(&self, name: &str, here: bool) -> Meaning<TypeId> {
        if name == "bool" && self.bool_is_macro && !self.typedefs.all(name).is_empty() {
            return Meaning::Several;
        }
        match here {
            true => match self.typedefs.visible(name) {
                Some(target) => Meaning::One(target),
                None => Meaning::None,
            },
            false => one(self.typedefs.all(name).iter().copied()),
        }
    }
}

fn one<T: PartialEq>(mut meanings: impl Iterator<Item = T>) -> Meaning<T> {
    match meanings.next() {
        None => Meaning::None,
        Some(first) => match meanings.all(|other| other == first) {
            true => Meaning::One(first),
            false => Meaning::Several,
        },
    }
}

impl TypeTable {
    /// Begins a scope: its declarations are forgotten at its end.
    pub(crate) fn open_scope(&mut self) {
        self.names.scopes.push(Vec::new());
    }

    /// Ends the innermost scope.
    pub(crate) fn close_scope(&mut self) {
        let depth = self.names.scopes.len();
        let Some(declared) = self.names.scopes.pop() else {
            return;
        };
        if !declared.is_empty() {
            self.spelled.clear();
        }
        for (is_tag, name) in declared {
            match is_tag {
                true => self.names.tags.leave(&name, depth),
                false => self.names.typedefs.leave(&name, depth),
            }
        }
    }

    /// Notes that some definitions of these tags are unknown, so that their meaning is unknown.
    pub(crate) fn hide(&mut self, tags: &FxHashSet<String>) {
        self.names.hidden = tags.clone();
    }

    /// `bool` is a macro in this source.
    pub(crate) fn set_bool_is_macro(&mut self) {
        self.names.bool_is_macro = true;
    }

    fn declare_tag(&mut self, name: &str, tag: Tag) {
        let depth = self.names.scopes.len();
        let several = self.names.tags.declare(name, tag, depth);
        if let Some(scope) = self.names.scopes.last_mut() {
            scope.push((true, name.to_owned()));
        }
        if !several {
            return;
        }
        self.spelled.clear();
        // Its text names one thing here and another one there.
        for tag in self.names.tags.all(name).to_vec() {
            if let Tag::Record(id) = tag {
                let record = &mut self.records[id.0 as usize];
                record.ambiguous = true;
                record.spelling = None;
            }
        }
    }

    /// A record that is declared here, for the first time.
    pub(crate) fn declare_record(&mut self, name: &str, is_union: bool) -> RecordId {
        let id = match self.names.mentioned.remove(name) {
            Some(id) => id,
            None => self.new_record(name, is_union),
        };
        self.declare_tag(name, Tag::Record(id));
        id
    }

    /// Returns the record of a tag that is mentioned but not declared.
    pub(super) fn mention_record(&mut self, name: &str, is_union: bool) -> RecordId {
        if let Some(&id) = self.names.mentioned.get(name) {
            return id;
        }
        let id = self.new_record(name, is_union);
        self.names.mentioned.insert(name.to_owned(), id);
        id
    }

    fn new_record(&mut self, name: &str, is_union: bool) -> RecordId {
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
        id
    }

    /// Declares an enumeration in the current scope; `kind` is its integer type.
    pub(crate) fn declare_enum(&mut self, name: &str, kind: IntegerKind) -> TypeId {
        let others = self.names.tags.all(name).len();
        let unique = match others {
            0 => name.to_owned(),
            // No text names it everywhere.
            _ => format!("{name} ({others})"),
        };
        self.enums.insert(unique.clone(), kind);
        let id = self.plain(TypeKind::Enum { name: unique });
        self.declare_tag(name, Tag::Enum(id));
        id
    }

    /// An enumeration without a tag gets a typedef, by which the compiler calls it.
    pub(crate) fn alias_enum(&mut self, alias: &str, id: TypeId) {
        let aliases = self.names.aliases.entry(alias.to_owned()).or_default();
        aliases.push(Tag::Enum(id));
    }

    /// A record without a tag gets a typedef, by which the compiler calls it.
    pub(crate) fn alias_record(&mut self, alias: &str, id: RecordId) {
        let aliases = self.names.aliases.entry(alias.to_owned()).or_default();
        aliases.push(Tag::Record(id));
        let several = aliases.len() > 1;
        let record = &mut self.records[id.0 as usize];
        if record.spelling.is_none() && !several {
            record.spelling = Some(alias.to_owned());
        }
    }

    /// Declares a typedef in the scope that is being read.
    pub(crate) fn declare_typedef(&mut self, name: &str, target: TypeId) {
        let depth = self.names.scopes.len();
        if self.names.typedefs.declare(name, target, depth) {
            self.spelled.clear();
        }
        if let Some(scope) = self.names.scopes.last_mut() {
            scope.push((false, name.to_owned()));
        }
    }

    /// The only record of the source that is called so.
    pub(crate) fn record_by_name(&self, name: &str) -> Option<RecordId> {
        match self.names.tag(name, false) {
            Meaning::One(Tag::Record(id)) => Some(id),
            Meaning::One(Tag::Enum(_)) | Meaning::Several => None,
            Meaning::None => self.names.mentioned.get(name).copied(),
        }
    }

    /// The text of a tag names the same thing wherever it stands.
    pub(super) fn is_tag_of_one(&self, name: &str) -> bool {
        self.names.tags.all(name).len() <= 1
    }

    /// Whether no part of the type is [`TypeKind::Other`].
    pub(crate) fn is_known(&self, id: TypeId) -> bool {
        match self.kind(id) {
            TypeKind::VariableArray(_, None) => false,
            TypeKind::Pointer(to)
            | TypeKind::Array(to, _)
            | TypeKind::VariableArray(to, Some(_)) => self.is_known(*to),
            TypeKind::Other(_) => false,
            _ => true,
        }
    }

    /// Two such types are compatible only if they are the same: no functions, enumerations or arrays.
    pub(crate) fn is_plain(&self, id: TypeId) -> bool {
        match self.kind(id) {
            TypeKind::Pointer(to) => self.is_plain(*to),
            TypeKind::Void | TypeKind::Integer(_) | TypeKind::Float(_) | TypeKind::Record(_) => {
                !self.qualifiers(id).is_atomic
            }
            _ => false,
        }
    }

    /// Returns the type that is spelled `text` at this place.
    pub(crate) fn parse_here(&mut self, text: &str) -> TypeId {
        self.parse_as(text, true)
    }
}
