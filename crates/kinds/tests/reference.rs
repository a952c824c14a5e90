//! The page that lists all kinds of change has them all.
#![allow(
    clippy::disallowed_methods,
    reason = "the page is written when that is asked for"
)]

use std::{env, fmt::Write, fs, path::Path};

use patchwright_kinds::built_in;

/// The list as plain text: the name of each kind, its schema and cost, and below what it is about.
fn listed() -> String {
    let mut text = "The kinds of change that are data, each with its schema and its cost.\n\
                    `patchwright kinds NAME` shows the pattern and an example.\n"
        .to_owned();
    for kind in built_in() {
        let (name, schema, cost, about) = (kind.name(), kind.schema(), kind.cost(), kind.about());
        let schema = schema.to_uppercase();
        let _ = write!(text, "\n{name} ({schema}, cost {cost})\n    {about}\n");
    }
    text
}

#[test]
fn the_reference_page_has_the_list_of_kinds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/kinds.txt");
    let wanted = listed();
    if env::var_os("PATCHWRIGHT_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
        return;
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == wanted,
        "docs/reference/kinds.txt has another list; `PATCHWRIGHT_BLESS=1 cargo test -p patchwright-kinds reference` renews it"
    );
}
