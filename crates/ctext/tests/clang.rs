//! The tokens are those that clang reads.
#![allow(
    clippy::disallowed_methods,
    reason = "the test asks clang, in a folder of its own"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use patchwright_ctext::{Kind, Tokens, skip_blank};

/// A token as both have it: what it is, what it says, and where it begins.
type Seen = (Kind, String, usize);

/// The clang of this machine.
fn clang() -> Option<String> {
    let named = std::env::var("PATCHWRIGHT_CLANG").into_iter();
    let numbered = (16..=22).rev().map(|version| format!("clang-{version}"));
    let mut all = named.chain(numbered).chain(["clang".to_owned()]);
    all.find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// The sources below a folder.
fn add_sources(folder: &Path, text: &mut String) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let is_source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if path.is_dir() && !path.ends_with("target") && !path.is_symlink() {
            add_sources(&path, text);
        } else if is_source && let Ok(source) = std::fs::read_to_string(&path) {
            text.push_str(&source);
            text.push('\n');
        }
    }
}

/// Lines of pieces that meet in unusual ways.
fn add_unusual(text: &mut String) {
    const PIECES: [&str; 44] = [
        "a", "L", "u8", "u", "e", "1", "0x", "1e", "p", ".", "..", "+", "-", "*", "/", "%", ":",
        "<", ">", "=", "&", "|", "^", "!", "#", "\"", "\"", "'", "\\\"", "\\\\", "\\", "\\\n",
        "\\ \n", " ", " ", "\t", "\n", "/*", "*/", "//", "@", "$", "(", "\"s\"",
    ];
    let mut state = 1_u64;
    for _ in 0..3000 {
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
        }
        // Whatever is open here ends.
        text.push_str(" \n*/ \n");
    }
}

/// Where a literal without an end ends exactly does not matter.
fn seen(kind: Kind, said: &str, start: usize) -> Seen {
    let said = if kind == Kind::Other {
        said.trim_end()
    } else {
        said
    };
    (kind, said.to_owned(), start)
}

/// What clang printed: a token is its kind, its text between quotation marks, flags, and its place.
fn printed(output: &str, text: &str) -> Vec<Seen> {
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let line_starts: Vec<usize> = std::iter::once(0).chain(lines).collect();
    let mut found = Vec::new();
    let mut rest = output;
    while let Some((token, behind)) = rest.split_once("\tLoc=<") {
        let (place, behind) = behind.split_once(">\n").unwrap();
        rest = behind;
        let (kind, said) = token.split_once(" '").unwrap();
        // Flags follow; one of them repeats the token as it is spelled.
        let flags = [" [UnClean='", " [LeadingSpace]", " [StartOfLine]"];
        let mut said = said.split_once(flags[0]).map_or(said, |(said, _)| said);
        while let Some(less) = flags.iter().find_map(|flag| said.strip_suffix(flag)) {
            said = less;
        }
        let said = said.trim_end_matches([' ', '\t']);
        let said = said.strip_suffix('\'').unwrap_or(said);
        let kind = match kind {
            "comment" => continue,
            "unknown" if said.trim().is_empty() => continue,
            "unknown" => Kind::Other,
            "raw_identifier" => Kind::Word,
            "numeric_constant" => Kind::Number,
            _ if kind.ends_with("string_literal") => Kind::String,
            _ if kind.ends_with("char_constant") => Kind::Character,
            _ => Kind::Sign,
        };
        let mut numbers = place.rsplitn(3, ':');
        let column: usize = numbers.next().unwrap().parse().unwrap();
        let line: usize = numbers.next().unwrap().parse().unwrap();
        // A line splice before a token belongs to it there.
        let start = skip_blank(text.as_bytes(), line_starts[line - 1] + column - 1);
        found.push(seen(kind, said, start));
    }
    found
}

#[test]
fn tokens_of_all_sources_and_of_unusual_texts_are_those_of_clang() {
    let Some(clang) = clang() else {
        eprintln!("skipped: there is no clang");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let mut text = String::new();
    for folder in ["bench", "examples", "crates"] {
        add_sources(&root.join(folder), &mut text);
    }
    assert!(text.len() > 200_000, "the sources were not found");
    add_unusual(&mut text);
    let file = std::env::temp_dir().join(format!("ctext-{}.c", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    let output = Command::new(clang)
        .args(["-fsyntax-only", "-std=gnu17", "-Xclang", "-dump-raw-tokens"])
        .arg(&file)
        .output();
    std::fs::remove_file(&file).unwrap();
    let output = String::from_utf8(output.unwrap().stderr).unwrap();
    let theirs = printed(&output, &text);
    let ours: Vec<Seen> = Tokens::new(text.as_bytes())
        .map(|token| {
            let said = String::from_utf8_lossy(&token.text()).into_owned();
            seen(token.kind, &said, token.start)
        })
        .collect();
    if let Some(at) = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at)) {
        let mut message = String::new();
        for (whose, tokens) in [("ours", &ours), ("clang's", &theirs)] {
            let near = &tokens[at.saturating_sub(3).min(tokens.len())..(at + 3).min(tokens.len())];
            writeln!(message, "{whose}: {near:?}").unwrap();
        }
        let from = ours.get(at).map_or(0, |token| token.2.saturating_sub(30));
        panic!("{message}in {:?}", text.get(from..from + 80));
    }
}
