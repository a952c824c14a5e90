//! `docs/reference/troubleshooting.md` says what is true: its messages, exit statuses and variables are those of the sources.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/reference/troubleshooting.md")).unwrap()
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// The sources of all crates, without the line breaks inside of strings.
fn sources() -> String {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            files(&source, "rs", &mut paths);
        }
    }
    let mut all = String::new();
    for path in paths {
        for line in fs::read_to_string(path).unwrap().lines() {
            match line.trim_start().strip_suffix('\\') {
                Some(continued) => all += continued,
                None => {
                    all += line.trim_start();
                    all.push('\n');
                }
            }
        }
    }
    all
}

/// Rows of tables whose first cell is code: that, and the other cells.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    page.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ").map(str::trim);
            let first = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            let rest = cells.map(|cell| cell.trim_end_matches(" |").to_owned());
            Some((first.to_owned(), rest.collect()))
        })
        .collect()
}

/// Messages with their exit statuses; warnings have none.
fn messages() -> Vec<(Vec<String>, Option<u8>)> {
    let page = page();
    let start = page.find("## Messages").unwrap();
    let end = page.find("## What the tested program").unwrap();
    rows(&page[start..end])
        .into_iter()
        .map(|(message, cells)| {
            let fragments = message.split('…').map(|part| part.trim().to_owned());
            (fragments.collect(), cells[0].parse().ok())
        })
        .collect()
}

fn matches(text: &str, fragments: &[String]) -> bool {
    let mut rest = text;
    fragments
        .iter()
        .all(|fragment| match rest.find(fragment.as_str()) {
            Some(at) => {
                rest = &rest[at + fragment.len()..];
                true
            }
            None => false,
        })
}

/// What others say, and the page quotes.
const FOREIGN: [&str; 3] = [
    "unknown field",
    "No space left on device",
    "Read-only file system",
];

#[test]
fn every_message_of_the_page_is_one_of_the_sources() {
    let sources = sources();
    let messages = messages();
    assert!(messages.len() > 30, "{}", messages.len());
    for (fragments, _) in messages {
        let found = fragments
            .iter()
            // Those about files are made of this word and what was being done.
            .map(|fragment| fragment.trim_start_matches("cannot "))
            .all(|fragment| sources.contains(fragment));
        assert!(
            found || FOREIGN.contains(&fragments[0].as_str()),
            "{fragments:?}"
        );
    }
}

/// The statuses of the command line, by number.
fn statuses() -> BTreeSet<u8> {
    let main = fs::read_to_string(root().join("crates/cli/src/exit.rs")).unwrap();
    let start = main.find("pub enum Exit {").unwrap();
    let body = &main[start..start + main[start..].find('}').unwrap()];
    body.lines()
        .filter_map(|line| line.split_once(" = ")?.1.trim_end_matches(',').parse().ok())
        .collect()
}

#[test]
fn the_exit_statuses_of_the_page_are_all_there_are() {
    let page = page();
    let start = page.find("## Exit statuses").unwrap();
    let end = page.find("## Messages").unwrap();
    let named: BTreeSet<u8> = page[start..end]
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()?.parse().ok())
        .collect();
    assert_eq!(named, statuses());
    for (fragments, status) in messages() {
        assert!(
            status.is_none_or(|status| named.contains(&status)),
            "{fragments:?}"
        );
    }
}

#[test]
fn every_error_that_the_command_line_shows_in_its_tests_is_on_the_page_with_its_status() {
    let messages = messages();
    let mut snapshots = Vec::new();
    files(
        &root().join("crates/cli/tests/snapshots"),
        "snap",
        &mut snapshots,
    );
    let mut checked = 0;
    // The page is about `repair`.
    snapshots.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        ["bad_input", "surroundings"]
            .iter()
            .any(|file| name.starts_with(&format!("tests__{file}__")))
    });
    for path in snapshots {
        let text = fs::read_to_string(&path).unwrap();
        let mut status = None;
        for line in text.lines() {
            if let Some(number) = line.strip_prefix("exit status ") {
                status = number.parse::<u8>().ok();
            }
            let (Some(status), Some(error)) = (status, line.strip_prefix("patchwright: error: "))
            else {
                continue;
            };
            let found = messages
                .iter()
                .any(|(fragments, named)| *named == Some(status) && matches(error, fragments));
            assert!(found, "{}: {error}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn the_variables_of_the_page_are_those_of_the_sources() {
    fn variables(text: &str) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for (at, _) in text.match_indices("PATCHWRIGHT_") {
            let end = text[at..]
                .find(|c: char| !(c.is_ascii_uppercase() || c == '_'))
                .map_or(text.len(), |length| at + length);
            *found.entry(&text[at..end]).or_default() += 1;
        }
        found
    }
    let (page, sources) = (page(), sources());
    let quoted: BTreeSet<&str> = variables(&sources)
        .into_keys()
        .filter(|name| sources.contains(&format!("\"{name}\"")))
        // What all of them begin with.
        .filter(|name| *name != "PATCHWRIGHT_")
        // What lets tests renew the pages that are made of sources.
        .filter(|name| *name != "PATCHWRIGHT_BLESS")
        // How many cases tests try.
        .filter(|name| *name != "PATCHWRIGHT_RANDOM")
        .collect();
    let named: BTreeSet<&str> = variables(&page).into_keys().collect();
    assert_eq!(named, quoted);
}
