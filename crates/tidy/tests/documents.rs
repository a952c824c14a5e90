//! What the documents keep: links lead somewhere, named files exist, pages and sentences are short.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::architecture::{assert_none, files, following, read, root};

/// Most words of a page, or of each page in a folder, counted as `wc -w` does.
const MOST_WORDS: [(&str, usize); 7] = [
    ("README.md", 900),
    ("CHANGELOG.md", 700),
    ("ARCHITECTURE.md", 3500),
    ("docs/guide/", 1200),
    ("docs/explain/", 1000),
    ("docs/decisions/", 200),
    ("docs/results/", 400),
];

/// Most words of all pages together.
const MOST_WORDS_OF_ALL: usize = 40_000;

/// Flags of other programs that pages name.
const FOREIGN_FLAGS: [&str; 4] = ["no-tests", "privileged", "release", "test-dir"];

/// Pages that a reader reads from the beginning to the end: their sentences are measured.
const READ_IN_ONE_GO: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "docs/guide/",
    "docs/explain/",
    "docs/decisions/",
];

/// Most words of a sentence there.
const LONGEST_SENTENCE: usize = 40;

/// The Markdown files of the repository, relative to its root.
fn pages() -> Vec<PathBuf> {
    let mut pages = files("");
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages
}

/// Whether a page is `which`, or lies in the folder `which`.
fn belongs(page: &Path, which: &str) -> bool {
    page.to_string_lossy().starts_with(which)
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The lines of a page outside of fenced code, with their numbers from 1.
fn lines_of_text(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// The names by which links reach the headings of a page: small letters, digits, `-` and `_`, with `-` for blanks.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = lines_of_text(page).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// The links of a page within the repository: the path from the root, and the name of a heading.
fn links(page: &Path) -> Vec<(PathBuf, Option<String>)> {
    let text = read(&root().join(page));
    let own = following(&text, "](", |c| c != ')').filter(|link| !link.contains("://"));
    own.map(|link| {
        let (file, anchor) = match link.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor.to_owned())),
            None => (link, None),
        };
        let to = match file {
            "" => page.to_owned(),
            file => plain(&page.parent().unwrap().join(file)),
        };
        (to, anchor)
    })
    .collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut complaints = Vec::new();
    for page in pages() {
        for (to, anchor) in links(&page) {
            let there = root().join(&to);
            if !there.exists() {
                complaints.push(format!("{} links to {}", page.display(), to.display()));
            } else if let Some(anchor) = anchor
                && !anchors(&read(&there)).contains(&anchor)
            {
                let to = to.display();
                complaints.push(format!(
                    "{} links to {to}, which has no heading #{anchor}",
                    page.display()
                ));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn every_page_of_the_documentation_is_linked_from_another_one() {
    let pages = pages();
    let linked: BTreeSet<PathBuf> = pages
        .iter()
        .flat_map(|page| links(page).into_iter().map(move |(to, _)| (page, to)))
        .filter(|(page, to)| *page != to)
        .map(|(_, to)| to)
        .collect();
    assert_none(
        pages
            .iter()
            .filter(|page| belongs(page, "docs/") && !linked.contains(*page))
            .map(|page| format!("no page links to {}", page.display()))
            .collect(),
    );
}

#[test]
fn every_file_that_architecture_and_decisions_name_exists() {
    let mut complaints = Vec::new();
    for page in pages() {
        if !belongs(&page, "ARCHITECTURE.md") && !belongs(&page, "docs/decisions/") {
            continue;
        }
        let text = read(&root().join(&page));
        let named = text.split('`').skip(1).step_by(2).filter(|text| {
            text.contains('/')
                && !text.contains(char::is_whitespace)
                && !text.contains(['(', '*', '<'])
        });
        for path in named.filter(|path| !root().join(path).exists()) {
            complaints.push(format!(
                "{} names {path}, which is not there",
                page.display()
            ));
        }
    }
    assert_none(complaints);
}

#[test]
fn pages_are_short() {
    let mut complaints = Vec::new();
    for page in pages() {
        let words = read(&root().join(&page)).split_whitespace().count();
        for (which, most) in MOST_WORDS {
            if belongs(&page, which) && words > most {
                let page = page.display();
                complaints.push(format!("{page} has {words} words, and {most} at most"));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn all_pages_together_can_be_read() {
    let count = |page: &PathBuf| read(&root().join(page)).split_whitespace().count();
    let words: usize = pages().iter().map(count).sum();
    assert!(
        words <= MOST_WORDS_OF_ALL,
        "all pages have {words} words, and {MOST_WORDS_OF_ALL} at most: shorten what is said twice"
    );
}

/// The flags in a text, without what they begin with.
fn flags(text: &str) -> BTreeSet<&str> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let rest = &text[at + 2..];
        let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let begins = rest.starts_with(|c: char| c.is_ascii_lowercase());
        if begins && !text[..at].ends_with(is_inside) {
            found.insert(rest[..end].trim_end_matches('-'));
        }
    }
    found
}

#[test]
fn every_flag_that_a_page_names_is_one_of_the_command_line() {
    let mut sources = String::new();
    for folder in ["crates/cli/src", "crates/bench/src"] {
        for path in files(folder) {
            if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &read(&root().join(path));
            }
        }
    }
    let mut complaints = Vec::new();
    for page in pages() {
        if !belongs(&page, "README.md") && !belongs(&page, "docs/") {
            continue;
        }
        for flag in flags(&read(&root().join(&page))) {
            let field = format!(" {}:", flag.replace('-', "_"));
            let is_known = sources.contains(&field) || sources.contains(&format!("\"{flag}\""));
            if !is_known && !FOREIGN_FLAGS.contains(&flag) {
                complaints.push(format!("{} names --{flag}", page.display()));
            }
        }
    }
    assert_none(complaints);
}

/// The paragraphs and items of lists of a page, with their first lines; no code, tables and headings.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let mut last = 0;
    for (number, line) in lines_of_text(page) {
        let text = line.trim_start();
        let is_item = text.starts_with("- ")
            || text
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .starts_with(". ");
        // Behind a block of code.
        is_open &= number == last + 1;
        last = number;
        if text.is_empty() || text.starts_with(['#', '|']) || line.starts_with("    ") {
            is_open = false;
        } else if is_open && !is_item {
            let paragraph = &mut found.last_mut().unwrap().1;
            paragraph.push(' ');
            paragraph.push_str(text);
        } else {
            let text = text.strip_prefix("- ").unwrap_or(text);
            found.push((number, text.to_owned()));
            is_open = true;
        }
    }
    found
}

/// The sentences of a paragraph. Code in a line is one word, and a link is its text.
fn sentences(paragraph: &str) -> Vec<String> {
    let mut text = String::new();
    for (index, part) in paragraph.split('`').enumerate() {
        text += if index % 2 == 0 { part } else { "code" };
    }
    let mut without_targets = String::new();
    for (index, part) in text.split("](").enumerate() {
        without_targets += match index {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        };
    }
    let mut all = vec![String::new()];
    for word in without_targets.split_whitespace() {
        let sentence = all.last_mut().unwrap();
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        if word
            .trim_end_matches(['*', ')', '"', '_'])
            .ends_with(['.', '!', '?'])
        {
            all.push(String::new());
        }
    }
    all
}

#[test]
fn sentences_are_short() {
    let mut complaints = Vec::new();
    for page in pages() {
        if !READ_IN_ONE_GO.iter().any(|which| belongs(&page, which)) {
            continue;
        }
        for (line, paragraph) in paragraphs(&read(&root().join(&page))) {
            for sentence in sentences(&paragraph) {
                let words = sentence.split(' ').count();
                if words > LONGEST_SENTENCE {
                    let page = page.display();
                    complaints.push(format!("{page}:{line}: {words} words: {sentence}"));
                }
            }
        }
    }
    assert_none(complaints);
}

/// Whether a sentence compares a number with a former one.
fn compares_with_a_former_number(sentence: &str) -> bool {
    let words: BTreeSet<String> = sentence
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .collect();
    let has = |word: &str| words.contains(word);
    let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let is_former = has("before") && has("now") || has("formerly") || has("used") && has("was");
    is_former && words.iter().any(is_number)
}

#[test]
fn former_numbers_stand_on_the_pages_of_results() {
    assert!(compares_with_a_former_number(
        "It takes 3 s now, and took 9 before."
    ));
    assert!(!compares_with_a_former_number("Before 3 s are over, wait."));
    let mut complaints = Vec::new();
    for page in pages() {
        if belongs(&page, "docs/results/") {
            continue;
        }
        for (line, paragraph) in paragraphs(&read(&root().join(&page))) {
            for sentence in sentences(&paragraph) {
                if compares_with_a_former_number(&sentence) {
                    complaints.push(format!("{}:{line}: {sentence}", page.display()));
                }
            }
        }
    }
    assert_none(complaints);
}

/// The commands of `patchwright` that a page tells to type.
fn typed_commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let is_typed = line.starts_with("    ") || is_code;
        let typed = line.trim_start().trim_start_matches("$ ");
        let rest = typed.split("patchwright ").nth(1);
        let is_first = typed.starts_with("patchwright ") || typed.contains("| patchwright ");
        if let (true, true, Some(rest)) = (is_typed, is_first, rest) {
            found.extend(rest.split_whitespace().next().map(str::to_owned));
        }
    }
    found
}

#[test]
fn commands_that_pages_type_exist() {
    let source = read(&root().join("crates/cli/src/commands.rs"));
    let all = source.split("pub enum Command {").nth(1).unwrap();
    let known: BTreeSet<String> = all
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
        .filter_map(|line| line.split(['(', ' ', ',']).next())
        .map(str::to_lowercase)
        .collect();
    assert!(known.contains("repair"), "{known:?}");
    let mut complaints = Vec::new();
    let mut count = 0;
    for page in pages() {
        for command in typed_commands(&read(&root().join(&page))) {
            count += 1;
            // `COMMAND` stands for any.
            if !known.contains(&command) && command != "COMMAND" && command != "help" {
                complaints.push(format!("{}: patchwright {command}", page.display()));
            }
        }
    }
    assert!(count > 50, "{count}");
    assert_none(complaints);
}

#[test]
fn guides_with_console_blocks_are_executed_by_a_test() {
    let tests: String = files("crates/cli/tests")
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| read(&root().join(path)))
        .collect();
    let mut complaints = Vec::new();
    for page in pages() {
        let name = page.to_string_lossy().into_owned();
        let is_guide = belongs(&page, "docs/guide/") || name == "README.md";
        let has_blocks = read(&root().join(&page)).contains("```console\n$ patchwright ");
        if is_guide && has_blocks && !tests.contains(&name) {
            complaints.push(format!("{name} has console blocks that no test executes"));
        }
    }
    assert_none(complaints);
}

#[test]
fn a_reader_of_pages_sees_sentences_and_no_code() {
    let page = "# A heading\n\nOne `piece of code`\nand [a link](else/where.md). Two.\n\n    indented code\n\n- three\n  goes on\n- four!\n\n| a | table |\n\n```c\nint five;\n```\n";
    let found: Vec<Vec<String>> = paragraphs(page)
        .iter()
        .map(|(_, paragraph)| sentences(paragraph))
        .collect();
    assert_eq!(
        found,
        [
            vec!["One code and [a link.", "Two.", ""],
            vec!["three goes on"],
            vec!["four!", ""]
        ]
    );
}

#[test]
fn flags_are_words_behind_two_dashes() {
    let text = "`--first`, --max-cost 3, a--b, --- and -- x; --files=a";
    assert_eq!(flags(text), BTreeSet::from(["files", "first", "max-cost"]));
}

#[test]
fn headings_are_reached_by_their_words() {
    let found = anchors("# `compare`: inputs, results\n\n```\n# code\n```\n## What A_b does\n");
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["compare-inputs-results", "what-a_b-does"]);
}
