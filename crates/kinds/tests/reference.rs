//! The reference page has the list.
#![allow(
    clippy::disallowed_methods,
    reason = "the page is written when that is asked for"
)]

use std::{env, fmt::Write, fs, path::Path};

use patchwright_kinds::built_in;

const HEADING: &str = "## The list\n";

/// What the page says of the list, from the heading to the end.
fn listed() -> String {
    let mut text = format!(
        "{HEADING}\n`patchwright kinds NAME` shows the pattern and an example of each. `PATCHWRIGHT_BLESS=1 cargo test -p patchwright-kinds reference` renews this list.\n\n\
         | kind | schema | cost | |\n| --- | --- | ---: | --- |\n"
    );
    for kind in built_in() {
        let (name, schema, cost, about) = (kind.name(), kind.schema(), kind.cost(), kind.about());
        let schema = schema.to_uppercase();
        let _ = writeln!(text, "| `{name}` | {schema} | {cost} | {about} |");
    }
    text
}

#[test]
fn the_reference_page_has_the_list_of_kinds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/kinds.md");
    let page = fs::read_to_string(&path).unwrap();
    let begin = page.find(HEADING).unwrap_or(page.len());
    let wanted = format!("{}{}", &page[..begin], listed());
    if env::var_os("PATCHWRIGHT_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        page == wanted,
        "docs/reference/kinds.md has another list; `PATCHWRIGHT_BLESS=1 cargo test -p patchwright-kinds reference` renews it"
    );
}
