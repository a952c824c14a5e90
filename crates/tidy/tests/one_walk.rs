//! Only `csource::walk` says what stands in a statement or an expression of C.

use crate::architecture::{assert_none, is_product, product_code, rust_files};

/// The one walk.
const WALK: &str = "crates/csource/src/walk.rs";

/// Kinds of statements that have statements in them.
const STATEMENTS: [&str; 10] = [
    "Compound", "If", "While", "Do", "For", "Switch", "Case", "Default", "Label", "Other",
];

/// Kinds of expressions that have operands.
const EXPRESSIONS: [&str; 9] = [
    "Member",
    "Subscript",
    "Unary",
    "Binary",
    "Assign",
    "Conditional",
    "Cast",
    "Paren",
    "Call",
];

/// Whoever names as many of the kinds looks at all of them.
const MOST: usize = 7;

/// Functions that name most kinds because each kind means something else to them, with that meaning.
const OWN_MEANINGS: &[(&str, &str, &str)] = &[
    (
        "crates/csource/src/build/derived.rs",
        "derived",
        "which types it has",
    ),
    (
        "crates/csource/src/build/expressions.rs",
        "expr_kind",
        "makes it",
    ),
    (
        "crates/csource/src/build/statements.rs",
        "needs_semicolon",
        "where its text ends",
    ),
    ("crates/csource/src/build/statements.rs", "stmt", "makes it"),
    (
        "crates/csource/src/scope.rs",
        "stmt",
        "what has a value behind it",
    ),
    (
        "crates/kinds/src/matches.rs",
        "expression",
        "what it is compared with",
    ),
    (
        "crates/kinds/src/tree.rs",
        "precedence",
        "how tightly it binds",
    ),
    (
        "crates/kinds/src/tree.rs",
        "least",
        "how tightly its operands bind",
    ),
    (
        "crates/kinds/src/tree.rs",
        "alike",
        "whether another one is the same",
    ),
    (
        "crates/lower/src/aggregate.rs",
        "aggregate",
        "what it is in IR",
    ),
    (
        "crates/lower/src/expression.rs",
        "own_rvalue",
        "what it is in IR",
    ),
    (
        "crates/lower/src/statement.rs",
        "statement_inside",
        "what it is in IR",
    ),
    (
        "crates/lower/src/wide_fields.rs",
        "precision",
        "how many bits it has",
    ),
    (
        "crates/prove/src/enumerate.rs",
        "consider",
        "what it may become",
    ),
    (
        "crates/prove/src/syntax.rs",
        "needs_parentheses",
        "how tightly it binds",
    ),
    (
        "crates/repair/src/declarations/follow.rs",
        "has_type",
        "where its type comes from",
    ),
    ("crates/schemata/src/capture.rs", "stmt", "how it is undone"),
    ("crates/schemata/src/capture.rs", "expr", "how it is undone"),
    (
        "crates/space/src/endings.rs",
        "unpassed",
        "whether control gets behind it",
    ),
    (
        "crates/space/src/holes.rs",
        "below",
        "what is done with its operands",
    ),
    (
        "crates/space/src/sites.rs",
        "least_below",
        "how tightly its operands bind",
    ),
];

/// The functions of a text, each with its line and its own text.
fn functions(text: &str) -> Vec<(String, usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        let mut words = bare
            .split(' ')
            .skip_while(|word| word.starts_with("pub") || *word == "const");
        if words.next() != Some("fn") {
            continue;
        }
        let name: String = words
            .next()
            .unwrap_or_default()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let end = text[start..]
            .find(&format!("\n{indent}}}\n"))
            .map_or(text.len(), |length| start + length);
        let number = text[..start].matches('\n').count() + 1;
        found.push((name, number, &text[start..end]));
    }
    found
}

/// How many of the kinds of an enumeration a text names.
fn named(text: &str, of: &str, kinds: &[&str]) -> usize {
    let names = |kind: &&&str| {
        let whole = format!("{of}::{kind}");
        text.match_indices(&whole).any(|(at, _)| {
            let next = text[at + whole.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    };
    kinds.iter().filter(names).count()
}

/// Whether a function looks at most kinds of statements or of expressions.
fn is_walk(text: &str) -> bool {
    named(text, "StmtKind", &STATEMENTS) >= MOST || named(text, "ExprKind", &EXPRESSIONS) >= MOST
}

#[test]
fn only_one_walk_names_all_kinds_of_statements_and_expressions() {
    let mut complaints = Vec::new();
    let mut excused = Vec::new();
    for path in rust_files() {
        let file = path.to_str().unwrap();
        if !is_product(&path) || file == WALK {
            continue;
        }
        let text = product_code(&path);
        for (name, line, own) in functions(&text) {
            if !is_walk(own) {
                continue;
            }
            let known = OWN_MEANINGS
                .iter()
                .position(|(of, function, _)| *of == file && *function == name);
            match known {
                Some(number) => excused.push(number),
                None => complaints.push(format!(
                    "{file}:{line}: `{name}` names most kinds: ask `parts`, `inner`, `children` or `within` of `{WALK}`"
                )),
            }
        }
    }
    for (number, (file, name, _)) in OWN_MEANINGS.iter().enumerate() {
        if !excused.contains(&number) {
            complaints.push(format!("`{name}` of {file} needs no exception any more"));
        }
    }
    assert_none(complaints);
}

#[test]
fn a_second_walk_is_seen() {
    let walk = "impl Finder {
    pub(crate) fn all(&self, id: StmtId) -> Vec<StmtId> {
        match self.stmt(id).kind {
            StmtKind::Compound(inner) => inner,
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::While { body, .. } | StmtKind::Do { body, .. } | StmtKind::For { body, .. } => vec![body],
            StmtKind::Switch { body, .. } | StmtKind::Case(body) => vec![body],
            _ => vec![],
        }
    }
    fn other(&self) {
        StmtKind::Default;
    }
}
";
    let found = functions(walk);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].0.as_str(), found[0].1), ("all", 2));
    assert!(is_walk(found[0].2) && !is_walk(found[1].2));
}
