//! Lists of kinds are read, or refused with the place and the remedy.

use patchwright_kinds::{built_in, read};
use proptest::prelude::*;

const KIND: &str = "\
kind one-less: loop, cost 1
  about The bound of a loop is one less.
  find for ($S; $i < $n; $i++) $B;
  where $n is pure
  replace for ($S; $i < $n - 1; $i++) $B;
  example
    void f(int n) { for (int i = 0; i < n; i++) ; }
  becomes
    void f(int n) { for (int i = 0; i < n - 1; i++) ; }
";

#[test]
fn a_kind_is_read_with_its_name_its_schema_its_cost_and_its_example() {
    let kinds = read(KIND, "own.kinds").unwrap();
    let [kind] = &kinds[..] else {
        panic!("{kinds:?}");
    };
    assert_eq!(
        (kind.name(), kind.schema(), kind.cost()),
        ("one-less", "loop", 1)
    );
    assert_eq!(kind.about(), "The bound of a loop is one less.");
    assert_eq!(
        kind.examples()[0].before,
        "void f(int n) { for (int i = 0; i < n; i++) ; }"
    );
    assert_eq!(kind.text(), KIND.trim_end());
}

#[test]
fn what_is_wrong_is_told_with_its_line_its_column_and_the_remedy() {
    let wrong = |old: &str, new: &str| {
        let text = KIND.replace(old, new);
        assert_ne!(text, KIND);
        read(&text, "own.kinds").unwrap_err().to_string()
    };
    assert_eq!(
        wrong("kind one-less", "kind One"),
        "own.kinds:1:6: `One` is no name of a kind; write small letters, digits and single hyphens"
    );
    assert_eq!(
        wrong("loop, cost 1", "loops, cost 1").split(';').next(),
        Some("own.kinds:1:1: `loops` is no schema")
    );
    assert_eq!(
        wrong("cost 1", "cost 0"),
        "own.kinds:1:1: `cost 0` is no cost; write `cost` and a number from 1 to 20"
    );
    assert_eq!(
        wrong("$n is pure", "$n is clean").split(';').next(),
        Some("own.kinds:4:15: `clean` is nothing that can be asked")
    );
    assert_eq!(
        wrong("$i < $n - 1", "$i < - $ - 1").split(';').next(),
        Some("own.kinds:5:27: this hole has no name")
    );
    assert_eq!(
        wrong("  where $n is pure\n", "  if $n is pure\n")
            .split(';')
            .next(),
        Some("own.kinds:4:3: `if` is no clause of a kind")
    );
    assert_eq!(
        wrong("$i < $n - 1", "$i < $m - 1"),
        "own.kinds:1:1: nothing fills the hole `m`; name it in `find` or in an `each` that comes before"
    );
    assert!(wrong("  about The bound of a loop is one less.\n", "").contains("has no sentence"));
    assert!(wrong("  example\n", "  # example\n").contains("own.kinds:"));
    let twice = format!("{KIND}\n{KIND}");
    let error = read(&twice, "own.kinds").unwrap_err();
    assert_eq!(
        (error.line, error.message.as_str()),
        (11, "there are two kinds `one-less`")
    );
}

#[test]
fn names_of_the_list_are_unique() {
    let mut names: Vec<&str> = built_in().iter().map(|kind| kind.name()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// Lines that are mostly right.
fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "kind",
        "a-b:",
        "loop,",
        "cost",
        "1",
        "find",
        "where",
        "each",
        "replace",
        "insert",
        "before",
        "after",
        "change",
        "delete",
        "example",
        "becomes",
        "about",
        "together",
        "at",
        "most",
        "$x",
        "$S;",
        "$..r;",
        "<cmp>",
        "<new>",
        "<sum>=",
        "==",
        "+",
        "(",
        ")",
        "{",
        "}",
        "if",
        "else",
        "for",
        "of",
        "parts",
        "function",
        "like",
        "copies",
        "with",
        "another",
        "member",
        "is",
        "not",
        "or",
        "pure",
        "has",
        "lacks",
        "to",
        "variables",
        "the",
        "type",
        "numbers",
        "lengths",
        "é",
        "\"",
        "'",
        "\\",
        "/*",
        "//",
        "<",
        ">",
        "$",
        "#",
        ";",
        "int",
        "sizeof",
        "[",
        "]",
        "=",
        "differs",
        "from",
    ]);
    let indents = prop::sample::select(vec!["", "  ", "    ", "\t"]);
    (indents, prop::collection::vec(words, 0..9))
        .prop_map(|(indent, words)| format!("{indent}{}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_stops_the_reader(lines in prop::collection::vec(line(), 0..12), cut in 0..400usize) {
        let text = lines.join("\n");
        let _ = read(&text, "any.kinds");
        // A kind that is right with one wrong line in it.
        let mut right: Vec<&str> = KIND.lines().collect();
        if let Some(line) = lines.first() {
            right.insert(cut % right.len(), line);
        }
        let _ = read(&right.join("\n"), "any.kinds");
        let end = KIND.char_indices().map(|(at, _)| at).nth(cut % KIND.len());
        let _ = read(&KIND[..end.unwrap_or(0)], "any.kinds");
    }

    #[test]
    fn no_bytes_stop_the_reader(text in ".{0,200}") {
        let _ = read(&text, "any.kinds");
        let _ = read(&format!("kind a: loop, cost 1\n  find {text}\n  where {text}\n  each {text}"), "any.kinds");
    }
}
