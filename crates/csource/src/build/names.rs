//! The names that are visible where a declaration is read, and how often tags are defined.

use rustc_hash::FxHashSet;

use super::{UnitBuilder, ordinary::Ordinary};
use crate::lex;

impl UnitBuilder<'_> {
    pub(super) fn open_scope(&mut self) {
        self.types.open_scope();
        self.scope_marks.push(self.ordinary.len());
    }

    pub(super) fn close_scope(&mut self) {
        self.types.close_scope();
        if let Some(mark) = self.scope_marks.pop() {
            self.ordinary.truncate(mark);
        }
    }

    /// The tags that the text defines more often than the dump: it has no definitions within `sizeof`, casts and parameters.
    pub(crate) fn hidden_tags(&self, preprocessed: &str) -> FxHashSet<String> {
        let mut hidden = FxHashSet::default();
        for (tag, count) in lex::defined_tags(preprocessed) {
            let seen = self.defined_tags.get(tag).copied().unwrap_or(0);
            // One that is the only one is asked for by its name.
            if count > seen && count > 1 {
                hidden.insert(tag.to_owned());
            }
        }
        hidden
    }

    pub(super) fn declare_ordinary(&mut self, name: &str, meaning: Ordinary) {
        self.ordinary.push((name.to_owned(), meaning));
    }

    /// What an identifier names here; `None` for functions and what is not declared.
    pub(super) fn ordinary(&self, name: &str) -> Option<Ordinary> {
        let mut all = self.ordinary.iter().rev();
        all.find(|(known, _)| known == name)
            .map(|&(_, meaning)| meaning)
    }
}
