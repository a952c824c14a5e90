//! Code of one function, compiled without the others.
#![allow(
    clippy::disallowed_methods,
    reason = "the reference is the compiler, run by the test itself"
)]

use std::{fs, path::Path, process::Command};

use patchwright_repair::equivalence::alone;
use patchwright_testkit::Reader;
use patchwright_text::{Edit, Span, apply_edits};

const SOURCE: &str = "\
static int calls;
int total;

static int half(int x) { return x / 2; }

int old(a)
    int a;
{
    return a;
}

static int count(void)
{
    static int asked;
    return ++asked > 1 && calls > total;
}

int main(void)
{
#ifdef TWICE
    calls++;
#endif
    return half(count());
}

int more(void) { return calls++; }
";

/// Optimised code of the source with these edits.
fn code(folder: &Path, edits: &[Edit]) -> String {
    let file = folder.join("changed.c");
    let text = apply_edits(SOURCE.as_bytes(), edits).expect("edits fit");
    fs::write(&file, text).expect("written");
    let output = Command::new("gcc")
        .args(["-w", "-O2", "-S", "-o", "-"])
        .arg(&file)
        .output()
        .expect("gcc runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_function_without_the_others_keeps_its_code_and_tells_changes_apart() {
    let mut reader = Reader::new();
    let (unit, _) = reader.read("unit.c", SOURCE);
    let index = unit.functions.iter().position(|one| one.name == "count");
    let alone = alone(&unit, index.expect("defined"));
    let text = apply_edits(SOURCE.as_bytes(), &alone).expect("edits fit");
    let text = String::from_utf8(text).expect("text");
    let kept: Vec<&str> = ["half", "old", "count", "main", "more"]
        .into_iter()
        .filter(|name| {
            let head = &text[text.find(&format!("{name}(")).expect("declared")..];
            head.find('{').unwrap_or(usize::MAX) < head.find(';').unwrap_or(usize::MAX)
        })
        .collect();
    // What is defined in the old style, or has directives in it, keeps its body.
    assert_eq!(kept, ["count", "main"]);
    assert!(text.contains("int a;\n{"), "{text}");

    let with = |text: &str| {
        let at = SOURCE.find("calls > total").expect("there") as u32;
        let edit = Edit::replace(Span::new(at, at + 13), text);
        code(&reader.folder(), &[&alone[..], &[edit]].concat())
    };
    let original = with("calls > total");
    assert!(original.contains("\ncount:"));
    // Nobody who is left writes `calls`; it is no constant for that.
    assert_ne!(original, with("calls < total"));
    assert_ne!(with("calls > 0"), with("calls < 0"));
    assert_eq!(original, with("!(calls <= total)"));
}
