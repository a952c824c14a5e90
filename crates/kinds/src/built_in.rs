//! The list of kinds of this crate.

use std::sync::OnceLock;

use crate::read::{Kind, read};

/// The files, in the order of their kinds.
const FILES: [(&str, &str); 3] = [
    (
        "expressions.kinds",
        include_str!("../kinds/expressions.kinds"),
    ),
    (
        "statements.kinds",
        include_str!("../kinds/statements.kinds"),
    ),
    ("elsewhere.kinds", include_str!("../kinds/elsewhere.kinds")),
];

/// Returns the kinds that Patchwright ships, in the order of their files.
///
/// # Panics
/// If one of the crate's files is not a list of kinds. The crate's tests exclude that.
pub fn built_in() -> &'static [Kind] {
    static KINDS: OnceLock<Vec<Kind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let lists = FILES
            .iter()
            .flat_map(|(name, text)| match read(text, name) {
                Ok(kinds) => kinds,
                Err(error) => panic!("{error}"),
            });
        lists.collect()
    })
}

/// Returns `kinds` with `more` appended. A kind of `more` replaces the kind of the same name in `kinds`.
pub fn joined(mut kinds: Vec<Kind>, more: Vec<Kind>) -> Vec<Kind> {
    for kind in more {
        match kinds.iter_mut().find(|known| known.name == kind.name) {
            Some(known) => *known = kind,
            None => kinds.push(kind),
        }
    }
    kinds
}
