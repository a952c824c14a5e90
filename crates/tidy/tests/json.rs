//! `docs/reference/json.md` describes every field of the JSON that the commands print: it is made of the sources' own comments.
#![allow(
    clippy::disallowed_methods,
    reason = "the page is written when that is asked for"
)]

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// The sources of which the JSON is, with the command that prints it. A new report is a line here.
const SOURCES: [(&str, &[&str]); 12] = [
    ("repair", &["json.rs"]),
    ("validate", &["validation.rs", "validation/stats.rs"]),
    ("`--compare` of repair and validate", &["behaviour.rs"]),
    ("mutants", &["mutants.rs"]),
    ("lines of `repair --propose`", &["proposals.rs"]),
    ("localize", &["localization.rs"]),
    ("prove", &["proof.rs"]),
    (
        "compare",
        &[
            "comparison.rs",
            "comparison/golden.rs",
            "comparison/interactions.rs",
            "comparison/seen.rs",
            "comparison/several.rs",
        ],
    ),
    ("regression", &["regression.rs"]),
    ("complexity", &["complexity.rs"]),
    ("slice", &["slice.rs"]),
    ("kinds", &["kinds.rs"]),
];

const INTRODUCTION: &str = "\
# The JSON that commands print

`--json` prints one object, `validate --jsonl` one a line. Each has a `schema`, its name, and a `schema_version`, a number: within a
version a field keeps its name and meaning, and new fields may come. A field without a type is a number. Times are in milliseconds unless a field
says otherwise, lines count from 1. `?` marks what may be null, `[…]` a list; an *object by …* has members that are not known before.

This page is made of the comments in the sources: `PATCHWRIGHT_BLESS=1 cargo test -p patchwright-tidy json` renews it.
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A type as people who read JSON call it.
fn words(kind: &str) -> String {
    let kind = kind.trim();
    let inner = |name: &str| {
        let rest = kind.strip_prefix(name)?.strip_prefix('<')?;
        rest.strip_suffix('>')
    };
    if let Some(inner) = inner("Option") {
        return format!("{}?", words(inner));
    }
    if let Some(inner) = inner("Vec") {
        return format!("[{}]", words(inner));
    }
    if let Some(inner) = inner("BTreeMap") {
        let (key, value) = inner.split_once(", ").expect("a map has two types");
        return format!("object by {}, of {}", words(key), words(value));
    }
    if let Some(inner) = kind
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let parts: Vec<String> = inner.split(", ").map(words).collect();
        return format!("list of {}", parts.join(" and "));
    }
    if let Some(inner) = kind
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return format!("[{}]", words(inner));
    }
    if let Some(rest) = kind.strip_prefix('&') {
        let rest = rest.trim_start_matches(|c: char| c == '\'' || c.is_alphanumeric() || c == '_');
        // `&str` has no lifetime.
        let rest = if kind == "&str" { " str" } else { rest };
        return words(rest);
    }
    match kind {
        "String" | "str" | "char" => "text".to_owned(),
        "bool" => "boolean".to_owned(),
        "usize" | "u8" | "u16" | "u32" | "u64" | "u128" | "i32" | "i64" | "f64" => {
            "number".to_owned()
        }
        name => {
            let name = name.split('<').next().unwrap_or(name);
            format!("*{}*", name.rsplit("::").next().unwrap_or(name))
        }
    }
}

/// The types of one source with their fields. What has no comment is added to `missing`.
fn types(source: &str, file: &str, missing: &mut Vec<String>) -> String {
    let mut text = String::new();
    let (mut comment, mut renamed) = (Vec::new(), None);
    let (mut is_serialized, mut separator) = (false, '-');
    // The structure or enumeration that is being read.
    let mut open: Option<(String, bool)> = None;
    for line in source.lines() {
        let words_of_line = line.trim();
        if let Some(said) = words_of_line.strip_prefix("///") {
            comment.push(said.trim().to_owned());
            continue;
        }
        if words_of_line.starts_with("#[") {
            separator = match line.contains("snake_case") {
                true => '_',
                false => separator,
            };
            is_serialized |= line.starts_with("#[derive(") && line.contains("Serialize");
            let name = words_of_line.strip_prefix("#[serde(rename = \"");
            renamed = name
                .and_then(|rest| Some(rest.split_once('"')?.0.to_owned()))
                .or(renamed);
            continue;
        }
        let said = std::mem::take(&mut comment).join(" ");
        match &open {
            None => {
                let declared = line
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("pub ");
                let name = |keyword: &str| {
                    let rest = declared.strip_prefix(keyword)?.strip_suffix('{')?;
                    Some(rest.split('<').next().unwrap_or(rest).trim().to_owned())
                };
                let found = name("struct ").map(|name| (name, true));
                let found = found.or_else(|| name("enum ").map(|name| (name, false)));
                if let Some((name, is_struct)) = found.filter(|_| is_serialized) {
                    let _ = write!(
                        text,
                        "\n### *{name}*\n{}",
                        if said.is_empty() {
                            String::new()
                        } else {
                            format!("\n{said}\n")
                        }
                    );
                    open = Some((name, is_struct));
                }
                is_serialized = false;
            }
            Some(_) if line == "}" => (open, separator) = (None, '-'),
            Some((name, is_struct)) => {
                let member = words_of_line
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("pub ");
                let (member, kind) = match (is_struct, member.split_once(": ")) {
                    (true, Some((field, kind))) => (field, Some(kind.trim_end_matches(','))),
                    (false, _) if line.starts_with("    ") && !line.starts_with("     ") => {
                        (member.trim_end_matches([',', '{', ' ']), None)
                    }
                    _ => continue,
                };
                let shown = renamed.take().unwrap_or_else(|| match kind {
                    Some(_) => member.to_owned(),
                    None => spelled(member, separator),
                });
                if shown == "}" {
                    continue;
                }
                if said.is_empty() {
                    missing.push(format!("{file}: {name}.{member}"));
                }
                // The introduction says it of all.
                if shown == "schema" || shown == "schema_version" {
                    continue;
                }
                let _ = match kind.map(words) {
                    Some(kind) if kind != "number" => {
                        writeln!(text, "\n`{shown}` ({kind}): {said}")
                    }
                    _ => writeln!(text, "\n`{shown}`: {said}"),
                };
            }
        }
    }
    text
}

/// A value of an enumeration as it is printed: its words with `separator` between them.
fn spelled(variant: &str, separator: char) -> String {
    let name = variant.split(['(', ' ']).next().unwrap_or(variant);
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(separator);
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[test]
fn the_page_about_json_has_every_field_and_says_what_it_means() {
    let folder = root().join("crates/report/src");
    let mut page = INTRODUCTION.to_owned();
    let mut missing = Vec::new();
    for (command, files) in SOURCES {
        let _ = write!(page, "\n## {command}\n");
        for file in files {
            let source = fs::read_to_string(folder.join(file)).unwrap();
            page += &types(&source, file, &mut missing);
        }
    }
    assert!(missing.is_empty(), "without a comment: {missing:#?}");
    let path = root().join("docs/reference/json.md");
    if env::var_os("PATCHWRIGHT_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/json.md is not what the sources say; PATCHWRIGHT_BLESS=1 renews it"
    );
}

#[test]
fn every_source_of_json_is_on_the_page() {
    let folder = root().join("crates/report/src");
    let mut left = vec![folder.clone()];
    let mut unlisted = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let relative = path
            .strip_prefix(&folder)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let is_listed = SOURCES
            .iter()
            .any(|(_, files)| files.contains(&relative.as_str()));
        if !is_listed
            && fs::read_to_string(&path)
                .unwrap()
                .contains("derive(Serialize")
        {
            unlisted.push(relative);
        }
    }
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
