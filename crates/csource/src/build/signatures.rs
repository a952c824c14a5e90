//! Reads the result and the parameters of a function from the spelling of its type.

use patchwright_ctext as lex;

use crate::raw::{Node, QualType};

/// The type of the function that a callee's expression names, below casts and parentheses.
pub(super) fn find_function_type(node: &Node) -> Option<&str> {
    if node.kind == "DeclRefExpr" {
        let ty = node.ty.as_ref()?;
        return match &ty.desugared {
            Some(desugared) if !ty.spelled.contains('(') => Some(desugared),
            _ => Some(&ty.spelled),
        };
    }
    match node.kind.as_str() {
        "ImplicitCastExpr" | "ParenExpr" => node.inner.first().and_then(find_function_type),
        _ => node
            .ty
            .as_ref()
            .map(|ty| ty.desugared.as_ref().unwrap_or(&ty.spelled).as_str()),
    }
}

/// Returns the spelling of a function's type with its parameters. The second result says whether its names are visible at the declaration;
/// a function declared by a typedef may have others.
pub(crate) fn function_spelling(node: &Node) -> (String, bool) {
    match &node.ty {
        Some(QualType {
            spelled,
            desugared: Some(desugared),
            ..
        }) if !spelled.contains('(') => (desugared.clone(), false),
        Some(ty) => (ty.spelled.clone(), true),
        None => (String::new(), true),
    }
}

/// `int` of `int (struct s *, int)`, and `int (*)(char)` of `int (*(struct s *))(char)`, a function that returns a pointer to one.
pub(super) fn return_spelling(text: &str) -> Option<String> {
    let text = text.split(" __attribute__").next()?;
    if let Some(own) = within_declarator(text) {
        let (_, end) = lex::arguments(text.as_bytes(), own)?;
        return Some(format!("{}{}", &text[..own], &text[end..]));
    }
    let open = text.find('(')?;
    let ends = text[open..].ends_with(')');
    ends.then(|| text[..open].trim().to_owned())
}

/// Where the parameters of a function begin that returns a pointer to a function: they stand within the declarator of that.
fn within_declarator(text: &str) -> Option<usize> {
    let open = text.find('(')?;
    let declarator = text[open + 1..].trim_start();
    if !declarator.starts_with('*') {
        return None;
    }
    let begin = text.len() - declarator.len();
    let is_part = |c: char| c == '*' || c == ' ' || c == '_' || c.is_ascii_alphabetic();
    let next = declarator.find(|c| !is_part(c))?;
    declarator[next..].starts_with('(').then_some(begin + next)
}

/// Parameters with a declared type in the spelling of a function's (or function pointer's) type.
pub(super) fn parameter_count(text: &str) -> usize {
    parameter_spellings(text).len()
}

/// The spellings of the parameters in that of a function's (or function pointer's) type.
pub(crate) fn parameter_spellings(text: &str) -> Vec<&str> {
    let text = text.split(" __attribute__").next().unwrap_or_default();
    let bytes = text.as_bytes();
    // The last group of parentheses at depth 0 are the parameters, unless a pointer to a function is returned.
    let mut depth = 0;
    let mut last_open = None;
    for (i, c) in bytes.iter().enumerate() {
        match c {
            b'(' => {
                if depth == 0 {
                    last_open = Some(i);
                }
                depth += 1;
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    let last_open = within_declarator(text).or(last_open);
    let Some((arguments, _)) = last_open.and_then(|open| lex::arguments(bytes, open)) else {
        return Vec::new();
    };
    arguments
        .iter()
        .map(|&(start, end)| text[start..end].trim())
        .filter(|text| !text.is_empty() && *text != "void" && *text != "...")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_with_a_declared_type_are_counted() {
        assert_eq!(parameter_count("int (const char *, ...)"), 1);
        assert_eq!(parameter_count("int (*)(int, char *)"), 2);
        assert_eq!(parameter_count("void (void)"), 0);
        assert_eq!(parameter_count("int ()"), 0);
        assert_eq!(parameter_count("int (int (*)(int, int), char)"), 2);
        assert_eq!(
            parameter_count("void (*(int, void (*)(int)))(int, int, int)"),
            2
        );
    }

    #[test]
    fn a_returned_function_has_the_rest_of_the_declarator() {
        let is =
            |text, expected: &str| assert_eq!(return_spelling(text).as_deref(), Some(expected));
        is("int (struct s *, int)", "int");
        is("char *(void) __attribute__((noreturn))", "char *");
        is("int (*(int))(char)", "int (*)(char)");
        is("void (*(int, void (*)(int)))(int)", "void (*)(int)");
    }
}
