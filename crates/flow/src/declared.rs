//! Reads the variables that a declaration declares.

use tree_sitter::Node;

use crate::access::field;
use crate::outline::Variable;
use crate::read::{children, tokens, words};

/// Returns the variables that a declaration declares, without functions.
pub(crate) fn variables(declaration: Node, text: &[u8]) -> Vec<Variable> {
    if declaration.kind() != "declaration" {
        return Vec::new();
    }
    let mut specifiers = Vec::new();
    let (mut is_extern, mut is_static) = (false, false);
    let mut declarators = Vec::new();
    for child in children(declaration) {
        match child.kind() {
            "storage_class_specifier" => match &text[child.byte_range()] {
                b"extern" => is_extern = true,
                b"static" => is_static = true,
                _ => {}
            },
            "identifier" => declarators.push(child),
            kind if kind.ends_with("_declarator") => declarators.push(child),
            ";" | "," | "comment" => {}
            _ => specifiers.push(words(&tokens(child), text)),
        }
    }
    let specifiers = specifiers.join(" ");
    let variable = |node: Node| {
        let (declarator, value) = match node.kind() {
            "init_declarator" => (field(node, "declarator")?, field(node, "value")),
            _ => (node, None),
        };
        Some(Variable {
            name: name(declarator, text)?,
            type_text: format!("{specifiers} {}", words(&tokens(declarator), text)),
            value: value.map(|value| words(&tokens(value), text)),
            is_extern: is_extern && value.is_none(),
            is_static,
        })
    };
    declarators.into_iter().filter_map(variable).collect()
}

/// The name of a declarator; none for that of a function.
fn name(declarator: Node, text: &[u8]) -> Option<String> {
    let mut at = declarator;
    loop {
        if at.kind() == "identifier" {
            return Some(String::from_utf8_lossy(&text[at.byte_range()]).into_owned());
        }
        let inner = field(at, "declarator").or_else(|| {
            children(at)
                .into_iter()
                .find(|child| child.kind() == "identifier" || child.kind().ends_with("declarator"))
        })?;
        // `int (*f)(void)` is a variable.
        if at.kind() == "function_declarator" && inner.kind() != "parenthesized_declarator" {
            return None;
        }
        at = inner;
    }
}
