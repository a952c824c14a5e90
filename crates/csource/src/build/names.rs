//! The names that are visible where a declaration is read, and how often tags are defined.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{UnitBuilder, ordinary::Ordinary};
use patchwright_ctext::{self as lex, Kind, Piece};

impl UnitBuilder<'_> {
    /// Begins a block with names of its own.
    pub(super) fn open_scope(&mut self) {
        self.types.open_scope();
        self.scope_marks.push(self.ordinary.len());
    }

    /// Ends the innermost block, and forgets its names.
    pub(super) fn close_scope(&mut self) {
        self.types.close_scope();
        if let Some(mark) = self.scope_marks.pop() {
            self.ordinary.truncate(mark);
        }
    }

    /// The tags that the text defines more often than the dump: it has no definitions within `sizeof`, casts and parameters.
    pub(crate) fn hidden_tags(&self, preprocessed: &str) -> FxHashSet<String> {
        let mut hidden = FxHashSet::default();
        for (tag, count) in defined_tags(preprocessed) {
            let seen = self.defined_tags.get(tag).copied().unwrap_or(0);
            // One that is the only one is asked for by its name.
            if count > seen && count > 1 {
                hidden.insert(tag.to_owned());
            }
        }
        hidden
    }

    /// Adds an identifier to the innermost block.
    pub(super) fn declare_ordinary(&mut self, name: &str, meaning: Ordinary) {
        self.ordinary.push((name.to_owned(), meaning));
    }

    /// Returns the meaning of an identifier here; `None` for functions and for identifiers that are not declared.
    pub(super) fn ordinary(&self, name: &str) -> Option<Ordinary> {
        let mut all = self.ordinary.iter().rev();
        all.find(|(known, _)| known == name)
            .map(|&(_, meaning)| meaning)
    }
}

/// How often a preprocessed text defines each tag of a structure, union or enumeration.
fn defined_tags(text: &str) -> FxHashMap<&str, usize> {
    let mut found = FxHashMap::default();
    // What has been seen of a definition: the keyword, then its tag.
    let (mut after_keyword, mut tag) = (false, None);
    let mut attribute = false;
    let mut depth = 0usize;
    for piece in lex::pieces(text.as_bytes()) {
        let Piece::Token(token) = piece else { continue };
        let said = text.get(token.start..token.end()).unwrap_or_default();
        match (token.kind, said) {
            (Kind::Word, _) if attribute => {}
            (_, "(" | ")") if attribute => {
                match said {
                    "(" => depth += 1,
                    _ => depth = depth.saturating_sub(1),
                }
                attribute = depth > 0;
            }
            (Kind::Sign, _) if attribute => attribute = depth > 0,
            (_, "struct" | "union" | "enum") => (after_keyword, tag) = (true, None),
            (_, "__attribute__" | "__attribute") if after_keyword && tag.is_none() => {
                attribute = true;
            }
            (Kind::Word, word) if after_keyword && tag.is_none() => tag = Some(word),
            (_, said) => {
                if let ("{", Some(tag)) = (said, tag) {
                    *found.entry(tag).or_default() += 1;
                }
                (after_keyword, tag) = (false, None);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_tags_are_counted_in_all_places() {
        let text = "# 1 \"a.c\"\n#define X struct m { int a; };\nstruct s { int a; }; struct s x;\n\
                    enum __attribute__((packed)) e { A };\nint f(struct s { char c; } *p, struct t *q) \
                    { return sizeof(union u { int i; }) + '{'; }\nchar *z = \"struct q {\";";
        let found = defined_tags(text);
        let counts = ["s", "e", "u", "t", "q", "m"].map(|tag| found.get(tag).copied());
        assert_eq!(counts, [Some(2), Some(1), Some(1), None, None, None]);
    }
}
