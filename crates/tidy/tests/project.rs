//! `docs/reference/project.md` has every key of `patchwright.toml`, and `patchwright.schema.json` beside it describes the file: both
//! are made of the comments of the one reader.
#![allow(
    clippy::disallowed_methods,
    reason = "the pages are written when that is asked for"
)]

use std::{env, fmt::Write, fs};

use serde_json::{Map, Value, json};

use crate::architecture::{files, read, root};

const READER: &str = "crates/exec/src/project/config.rs";
const PAGE: &str = "docs/reference/project.md";
const SCHEMA: &str = "docs/reference/patchwright.schema.json";
const HEAD: &str = "| key | flag | meaning |\n| --- | --- | --- |\n";

/// A key of a table.
struct Key {
    table: String,
    name: String,
    kind: String,
    meaning: String,
    flag: Option<String>,
}

/// The keys in the order of the reader; keys without a comment are former ones.
fn keys() -> Vec<Key> {
    let source = read(&root().join(READER));
    let mut tables = Vec::new();
    let mut fields: Vec<(String, String, String, Vec<String>)> = Vec::new();
    let (mut owner, mut comment) = (String::new(), Vec::new());
    for line in source.lines().take_while(|line| *line != "#[cfg(test)]") {
        let text = line.trim();
        if let Some(said) = text.strip_prefix("/// ") {
            comment.push(said.to_owned());
        } else if let Some(rest) = text.strip_prefix("pub(super) struct ") {
            owner = rest.trim_end_matches(" {").to_owned();
            comment.clear();
        } else if let Some((name, kind)) = text
            .strip_prefix("pub(super) ")
            .and_then(|field| field.split_once(": "))
        {
            let (name, kind) = (name.replace('_', "-"), kind.trim_end_matches(','));
            match owner.as_str() {
                "ConfigFile" => tables.push((name, kind.to_owned())),
                _ => fields.push((owner.clone(), name, kind.to_owned(), comment.clone())),
            }
            comment.clear();
        } else if !text.starts_with("#[") {
            comment.clear();
        }
    }
    let mut keys = Vec::new();
    for (table, struct_name) in tables {
        for (owner, name, kind, comment) in &fields {
            if *owner != struct_name || comment.is_empty() {
                continue;
            }
            let flag = comment.iter().find_map(|line| line.strip_prefix("Flag: "));
            let said: Vec<&str> = comment.iter().map(String::as_str).collect();
            let said = said.into_iter().filter(|line| !line.starts_with("Flag: "));
            keys.push(Key {
                table: table.clone(),
                name: name.clone(),
                kind: kind.clone(),
                meaning: said.collect::<Vec<_>>().join(" "),
                flag: flag.map(str::to_owned),
            });
        }
    }
    keys
}

/// The table of keys as the page has it.
fn table(keys: &[Key]) -> String {
    let mut text = HEAD.to_owned();
    for key in keys {
        let flag = key.flag.as_deref().unwrap_or("–");
        let meaning = key.meaning.trim_end_matches('.');
        let _ = writeln!(
            text,
            "| `{}.{}` | {flag} | {meaning} |",
            key.table, key.name
        );
    }
    text
}

/// What the schema says of values of a Rust type.
fn of_kind(kind: &str) -> Value {
    let inner = |name: &str| kind.strip_prefix(name)?.strip_suffix('>');
    if let Some(inner) = inner("Option<").or_else(|| inner("Spanned<")) {
        return of_kind(inner);
    }
    if let Some(inner) = inner("Vec<") {
        return json!({ "type": "array", "items": of_kind(inner) });
    }
    match kind {
        "String" | "PathBuf" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "u64" => json!({ "type": "integer", "minimum": 1 }),
        "Written" => json!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" }),
        "BTreeMap<String, String>" => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        other => panic!("{READER} has the type {other}, of which nothing is said here"),
    }
}

/// The schema of the file.
fn schema(keys: &[Key]) -> Value {
    let mut tables = Map::new();
    for key in keys {
        let table = tables.entry(key.table.clone()).or_insert_with(
            || json!({ "type": "object", "additionalProperties": false, "properties": {} }),
        );
        let mut of_key = of_kind(&key.kind);
        of_key["description"] = key.meaning.clone().into();
        table["properties"][key.name.as_str()] = of_key;
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "patchwright.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": tables,
    })
}

/// Why a value is not as a schema says; the part of JSON Schema that the schema of the file uses.
fn complaint(schema: &Value, value: &toml::Value, at: &str) -> Option<String> {
    let wanted = schema["type"].as_str().expect("each schema has a type");
    let wrong = || Some(format!("{at} is not of type {wanted}: {value}"));
    match (wanted, value) {
        ("string", toml::Value::String(text)) => {
            let pattern = schema["pattern"].as_str()?;
            assert_eq!(pattern, "^[0-9]+(ms|s|m|h)$");
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_right = unit.len() < text.len() && ["ms", "s", "m", "h"].contains(&unit);
            (!is_right).then(|| format!("{at} is no time: {text}"))
        }
        ("boolean", toml::Value::Boolean(_)) => None,
        ("integer", toml::Value::Integer(number)) => {
            let least = schema["minimum"].as_i64();
            (Some(*number) < least).then(|| format!("{at} is too small"))
        }
        ("array", toml::Value::Array(values)) => values
            .iter()
            .find_map(|value| complaint(&schema["items"], value, at)),
        ("object", toml::Value::Table(table)) => table.iter().find_map(|(name, value)| {
            let at = format!("{at}.{name}");
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => Some(format!("{at} is unknown")),
                (Value::Null, other) => complaint(other, value, &at),
                (known, _) => complaint(known, value, &at),
            }
        }),
        _ => wrong(),
    }
}

fn renewed(path: &str, text: &str) {
    let path = root().join(path);
    if env::var_os("PATCHWRIGHT_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "{} is not what {READER} says; PATCHWRIGHT_BLESS=1 renews it",
        path.display()
    );
}

#[test]
fn the_page_about_projects_has_every_key() {
    let page = read(&root().join(PAGE));
    let start = page.find(HEAD).expect("the page has a table of keys");
    let end = page[start..]
        .find("\n\n")
        .map_or(page.len(), |end| start + end + 1);
    let wanted = format!("{}{}{}", &page[..start], table(&keys()), &page[end..]);
    renewed(PAGE, &wanted);
}

#[test]
fn the_schema_of_the_description_has_every_key() {
    let text = serde_json::to_string_pretty(&schema(&keys())).unwrap();
    renewed(SCHEMA, &(text + "\n"));
}

#[test]
fn descriptions_in_pages_and_examples_are_valid_by_the_schema() {
    let schema = schema(&keys());
    let mut texts = Vec::new();
    for path in files("docs").into_iter().chain(files("examples")) {
        let text = || read(&root().join(&path));
        if path.ends_with("patchwright.toml") {
            texts.push((path.clone(), text()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = text();
            let blocks = text.split("```toml\n").skip(1);
            let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
            texts.extend(blocks.map(|block| (path.clone(), block.to_owned())));
        }
    }
    assert!(texts.len() > 3, "{texts:?}");
    for (path, text) in texts {
        let value: toml::Value = toml::from_str(&text).unwrap();
        let complaint = complaint(&schema, &value, "");
        assert!(complaint.is_none(), "{}: {complaint:?}", path.display());
    }
    for wrong in [
        "[project]\nbulid = \"make\"\n",
        "[tests]\ntimeout = \"10\"\n",
        "[limits]\nprocesses = 0\n",
        "[protection]\nnetwork = \"yes\"\n",
    ] {
        let value: toml::Value = toml::from_str(wrong).unwrap();
        assert!(complaint(&schema, &value, "").is_some(), "{wrong}");
    }
}
