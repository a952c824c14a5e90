//! Changed initializers of arrays: only the definition itself has to be compiled.
//!
//! What a file says elsewhere of an array depends on its type, not on its elements. So where a patch changes nothing but what
//! stands between the braces, the definition compiles under another name beside the others if and only if the file does.

use patchwright_csource::{Function, lex};
use patchwright_text::{Edit, Span};

use crate::edits::trimmed;
use crate::outside;

/// An array whose initializer a patch changes.
pub struct ChangedInitializer {
    /// The definition with the change.
    pub text: Vec<u8>,
    /// Where the array's name stands in it.
    pub name: Span,
    /// The original's place in the file.
    pub definition: Span,
}

/// Returns the array whose initializer these edits change. It is `None` if they change anything else, or
/// perhaps the array's size.
pub fn changed_initializer(
    base: &[u8],
    functions: &[Function],
    edits: &[Edit],
) -> Option<ChangedInitializer> {
    let edits: Vec<Edit> = edits
        .iter()
        .filter_map(|edit| trimmed(base, edit))
        .collect();
    let definition = outside::definition_at(base, functions, edits.first()?.span)?;
    if functions.iter().any(|function| function.span == definition) {
        return None;
    }
    let old = definition.slice(base)?;
    let (name, braces) = array(old)?;
    let inside = Span::new(
        definition.start + braces.start + 1,
        definition.start + braces.end - 1,
    );
    if !edits.iter().all(|edit| inside.contains_span(edit.span)) {
        return None;
    }
    let text = crate::runs::alternative(base, definition, &edits);
    let (new_name, new_braces) = array(&text)?;
    // Without a size it has as many elements as the initializer.
    let is_same = new_name == name
        && lex::directives(&text).next().is_none()
        && elements(braces.slice(old)?)? == elements(new_braces.slice(&text)?)?;
    is_same.then_some(ChangedInitializer {
        text,
        name,
        definition,
    })
}

/// The name of the array that a text defines, and the braces of its initializer, which end it but for the semicolon.
fn array(text: &[u8]) -> Option<(Span, Span)> {
    let (mut at, mut word, mut name) = (0, None, None);
    loop {
        at = lex::skip_blank(text, at);
        let next = lex::step(text, at).min(text.len());
        match text.get(at)? {
            b'[' => {
                name = name.or(word);
                at = matching(text, at, b'[', b']')?;
                continue;
            }
            b'=' if name.is_some() => break,
            // A parameter list, a structure, several declarators.
            b'(' | b'{' | b',' | b';' | b'=' | b'#' => return None,
            // Its elements may be constants of types.
            _ if text[at..next] == *b"constexpr" => return None,
            byte if lex::is_word(*byte) => word = Some(Span::new(at as u32, next as u32)),
            _ => {}
        }
        at = next;
    }
    let open = lex::skip_blank(text, at + 1);
    let close = matching(text, open, b'{', b'}')?;
    let semicolon = lex::skip_blank(text, close);
    let ends =
        text.get(semicolon) == Some(&b';') && lex::skip_blank(text, semicolon + 1) >= text.len();
    ends.then_some((name?, Span::new(open as u32, close as u32)))
}

/// The offset behind what closes the bracket at `open`.
fn matching(text: &[u8], open: usize, opening: u8, closing: u8) -> Option<usize> {
    let (mut at, mut depth) = (open, 0);
    if text.get(at) != Some(&opening) {
        return None;
    }
    while at < text.len() {
        depth += i32::from(text[at] == opening) - i32::from(text[at] == closing);
        at = lex::step(text, at);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The number of elements of an initializer; `None` if some say which they are.
fn elements(braces: &[u8]) -> Option<usize> {
    let inside = braces.get(1..braces.len().checked_sub(1)?)?;
    let (mut at, mut depth, mut count, mut is_blank) = (0, 0i32, 0, true);
    loop {
        at = lex::skip_blank(inside, at);
        match inside.get(at) {
            None => return Some(count + usize::from(!is_blank)),
            Some(b',') if depth == 0 => {
                count += 1;
                is_blank = true;
            }
            Some(b'[') if depth == 0 && is_blank => return None,
            Some(byte) => {
                depth += i32::from(b"([{".contains(byte)) - i32::from(b")]}".contains(byte));
                is_blank = false;
            }
        }
        at = lex::step(inside, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(old: &str, new: &str) -> Option<String> {
        let edit = Edit::replace(Span::new(0, old.len() as u32), new.as_bytes());
        let changed = changed_initializer(old.as_bytes(), &[], &[edit])?;
        let name = changed.name.slice(&changed.text)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    #[test]
    fn elements_of_arrays_are_told_from_other_changes() {
        let table = "static const int table[] = { 1, f(2, 3), 4 };";
        let name = Some("table".to_owned());
        assert_eq!(changed(table, &table.replace('1', "x + 1")), name);
        assert_eq!(changed(table, &table.replace("f(2, 3)", "2")), name);
        for new in [
            table.replace(", 4", ""),
            table.replace("4", "4, 5"),
            table.replace("[]", "[3]"),
            table.replace("table", "other"),
            table.replace("4", "[7] = 4"),
            table.replace("4 }", "4 }, b[] = { 1 }"),
            table.replace("4 };", "4 }; int x;"),
        ] {
            assert_eq!(changed(table, &new), None, "{new}");
        }
        let (single, pair) = ("int one = 1;", "int a[2] = { 1, 2 }, b[] = { 1 };");
        assert_eq!(changed(single, "int one = 2;"), None);
        let constants = "constexpr int sizes[] = { 1, 2 };";
        assert_eq!(changed(constants, &constants.replace('2', "3")), None);
        assert_eq!(changed(pair, &pair.replace("{ 1, 2", "{ 3, 2")), None);
        let rows = "char rows[2][4] = { \"ab\", { 'c' } };";
        assert_eq!(
            changed(rows, &rows.replace("ab", "cd")),
            Some("rows".into())
        );
    }
}
