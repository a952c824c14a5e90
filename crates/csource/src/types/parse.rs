//! Parses clang's spelling of a type.

use super::{
    names::{Meaning, Tag},
    *,
};
use patchwright_ctext::{self as lex, Kind};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `(unnamed struct at f.c:3:1)`: one token, with what stands in the parentheses.
    Unnamed(String),
    Number(u64),
    Punct(char),
    Ellipsis,
}

/// The tokens of a text, and where each begins.
fn tokenize(text: &str) -> (Vec<Token>, Vec<usize>) {
    let mut tokens = Vec::new();
    let mut starts = Vec::new();
    let mut read = lex::Tokens::new(text.as_bytes());
    while let Some(token) = read.next() {
        let rest = &text[token.start..];
        let said = &rest[..token.raw.len()];
        starts.push(token.start);
        tokens.push(match token.kind {
            Kind::Word => Token::Word(said.to_owned()),
            Kind::Number => {
                let digits = said.trim_end_matches(|c: char| !c.is_ascii_digit());
                Token::Number(digits.parse().unwrap_or(0))
            }
            _ if rest.starts_with("(unnamed ") || rest.starts_with("(anonymous ") => {
                let end = closing(text, token.start);
                read.skip_to(end);
                Token::Unnamed(text[token.start..end].to_owned())
            }
            _ if said == "..." => Token::Ellipsis,
            _ => Token::Punct(said.chars().next().unwrap_or_default()),
        });
    }
    (tokens, starts)
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
    text: &'a str,
    tokens: Vec<Token>,
    /// Where each token begins.
    starts: Vec<usize>,
    at: usize,
    /// The names are those that are visible where the scopes of the table stand.
    here: bool,
}

impl TypeTable {
    /// Parses the name of a type as clang spells it; `None` for one that is not understood. With `here`, tags have the meaning of the
    /// current scope.
    pub(super) fn parse_type_name(&mut self, text: &str, here: bool) -> Option<TypeId> {
        let (tokens, starts) = tokenize(text);
        Parser {
            table: self,
            text,
            tokens,
            starts,
            at: 0,
            here,
        }
        .type_name()
    }
}

/// The name that a record or enumeration without a tag has in the table: where it is declared.
/// `text` is what stands in parentheses after `struct`.
fn unnamed(text: &str) -> String {
    match text.find(" at ") {
        Some(at) => unnamed_at(text[at + 4..].trim_end_matches(')')),
        None => text.to_owned(),
    }
}

/// Returns the name of an unnamed tag from its place, `FILE:LINE:COLUMN`.
pub(crate) fn unnamed_at(place: &str) -> String {
    format!("(unnamed at {place})")
}

/// A declarator, outermost derivation last.
enum Derivation {
    Pointer(Qualifiers),
    Array(Option<u64>),
    VariableArray(Option<LengthId>),
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
                Derivation::Array(length) => self.table.plain(TypeKind::Array(ty, length)),
                Derivation::VariableArray(length) => {
                    self.table.plain(TypeKind::VariableArray(ty, length))
                }
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
                    "restrict" | "__restrict" => qualifiers.is_restrict = true,
                    "_Nonnull" | "_Nullable" => {}
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
                let first = self.at;
                match self.peek().cloned() {
                    Some(Token::Number(n))
                        if self.tokens.get(self.at + 1) == Some(&Token::Punct(']')) =>
                    {
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
                let end = self.at;
                if !self.eat(']') {
                    return None;
                }
                suffixes.push(match variable {
                    true => Derivation::VariableArray(self.length(first, end)),
                    false => Derivation::Array(length),
                });
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

    /// The length whose text these tokens are, where it is written.
    fn length(&mut self, first: usize, end: usize) -> Option<LengthId> {
        if !self.here {
            return None;
        }
        let (start, end) = (*self.starts.get(first)?, *self.starts.get(end)?);
        let text = self.text.get(start..end)?.trim().to_owned();
        let id = LengthId(self.table.lengths);
        self.table.lengths += 1;
        self.table.waiting.push((id, text));
        Some(id)
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

    /// A name that means one type here and another one there.
    fn several(&mut self, name: &str) -> TypeId {
        let text = format!("{name}, which has several meanings");
        self.table.plain(TypeKind::Other(text))
    }

    fn of_tag(&mut self, tag: Tag) -> TypeId {
        match tag {
            Tag::Record(id) => self.table.plain(TypeKind::Record(id)),
            Tag::Enum(id) => id,
        }
    }

    /// `struct name`, `union name`, `enum name`.
    fn tagged(&mut self, word: &str, name: &str) -> TypeId {
        match self.table.names.tag(name, self.here) {
            Meaning::One(tag) => self.of_tag(tag),
            Meaning::Several => self.several(&format!("{word} {name}")),
            // What is declared within a `sizeof` or a cast is not in the dump.
            Meaning::None if word == "enum" => {
                self.table.plain(TypeKind::Other(format!("enum {name}")))
            }
            Meaning::None => {
                let id = self.table.mention_record(name, word == "union");
                self.table.plain(TypeKind::Record(id))
            }
        }
    }

    /// A typedef's name; clang also spells a record without a tag by its typedef's name.
    fn named(&mut self, name: &str) -> Option<TypeId> {
        match self.table.names.typedef(name, self.here) {
            Meaning::One(target) => Some(target),
            Meaning::Several => Some(self.several(name)),
            Meaning::None => match self.table.names.tag(name, self.here) {
                Meaning::One(tag) => Some(self.of_tag(tag)),
                Meaning::Several => Some(self.several(name)),
                Meaning::None => None,
            },
        }
    }

    /// The numbers of a vector, whose attribute comes next: `__attribute__((__vector_size__(4 * sizeof(int))))`.
    fn vector_length(&mut self) -> Option<u64> {
        self.at += 1;
        let end = {
            let before = self.at;
            self.skip_parentheses()?;
            std::mem::replace(&mut self.at, before)
        };
        let length = match self.tokens.get(self.at..self.at + 6)? {
            [
                Token::Punct('('),
                Token::Punct('('),
                Token::Word(name),
                Token::Punct('('),
                Token::Number(length),
                Token::Punct('*'),
            ] if name == "__vector_size__" => *length,
            // Behind the number's type: what clang spreads a number to.
            [
                Token::Punct('('),
                Token::Punct('('),
                Token::Word(name),
                Token::Punct('('),
                Token::Number(length),
                Token::Punct(')'),
            ] if name == "ext_vector_type" => *length,
            _ => return None,
        };
        self.at = end;
        Some(length)
    }

    fn specifiers(&mut self) -> Option<TypeId> {
        let mut qualifiers = Qualifiers::default();
        let mut words: Vec<String> = Vec::new();
        let mut named: Option<TypeId> = None;
        let mut vector = None;
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
                                self.at += 2;
                                let base = self.specifiers()?;
                                let derivations = self.declarator()?;
                                if !self.eat(')') {
                                    return None;
                                }
                                named = Some(self.derive(base, derivations));
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
                            named = Some(self.tagged(&word, &name));
                        }
                        "bool" if !words.is_empty() || named.is_some() => return None,
                        "bool" => match self.table.names.typedef("bool", self.here) {
                            Meaning::One(target) => named = Some(target),
                            Meaning::Several => named = Some(self.several("bool")),
                            Meaning::None => words.push(word.clone()),
                        },
                        "void" | "_Bool" | "char" | "short" | "int" | "long" | "signed"
                        | "unsigned" | "float" | "double" | "__int128" | "_Complex"
                        | "_Float16" | "__bf16" | "__float128" | "_Float128" => {
                            words.push(word.clone());
                        }
                        "__attribute__" => {
                            vector = Some(self.vector_length()?);
                            continue;
                        }
                        "typeof" | "__typeof__" => return None,
                        _ if words.is_empty() && named.is_none() => {
                            named = Some(self.named(&word)?);
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
                let complex = words.iter().position(|word| word == "_Complex");
                if let Some(at) = complex {
                    words.remove(at);
                    if words.is_empty() {
                        words.push("double".to_owned());
                    }
                }
                let kind = builtin(&words, self.table.dialect())?;
                let number = self.table.plain(kind);
                match complex {
                    Some(_) => self.table.plain(TypeKind::Complex(number)),
                    None => number,
                }
            }
        };
        let base = match vector {
            Some(length) => self.table.plain(TypeKind::Vector(base, length)),
            None => base,
        };
        Some(self.table.with_qualifiers(base, qualifiers))
    }
}

fn builtin(words: &[String], dialect: Dialect) -> Option<TypeKind> {
    let count = |word: &str| words.iter().filter(|w| *w == word).count();
    let unsigned = count("unsigned") > 0;
    let kind =
        |signed, unsigned_kind| TypeKind::Integer(if unsigned { unsigned_kind } else { signed });
    use IntegerKind::*;
    Some(if count("void") > 0 {
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
            match dialect.unsigned_char {
                // It is another type than `unsigned char`, and has the same values.
                true => TypeKind::Integer(UnsignedChar),
                false => kind(Char, UnsignedChar),
            }
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
        table.declare_enum("e", IntegerKind::UnsignedInt);
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
    fn a_name_means_what_it_means_where_it_is_written_and_elsewhere_only_if_it_has_one_meaning() {
        let mut table = TypeTable::default();
        let (int, long) = (table.parse("int"), table.parse("long"));
        table.declare_typedef("T", int);
        let outer = table.declare_record("s", false);
        assert_eq!(table.parse("T"), int);
        table.open_scope();
        table.declare_typedef("T", long);
        let inner = table.declare_record("s", false);
        assert_eq!(table.parse_here("T"), long);
        assert_eq!(
            table.parse_here("struct s"),
            table.plain(TypeKind::Record(inner))
        );
        table.close_scope();
        assert_eq!(table.parse_here("T"), int);
        let here = table.parse_here("struct s *");
        assert_eq!(
            table.element(here),
            Some(table.plain(TypeKind::Record(outer)))
        );
        let anywhere = table.parse("struct s *");
        assert!(!table.is_known(anywhere));
        assert_eq!(table.spelling(here), None);
    }

    #[test]
    fn what_cannot_be_read_is_kept_as_it_is() {
        let mut table = TypeTable::default();
        let id = table.parse("unknown_t *");
        assert!(matches!(table.kind(id), TypeKind::Other(_)));
    }
}
