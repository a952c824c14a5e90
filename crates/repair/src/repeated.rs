//! Recognizes changes after which something stands twice, which is rarely meant.

use patchwright_text::Edit;

use crate::{change_text::on_one_line, names::begins_with_itself};

/// Whether an edit makes a line, or a statement of several lines, that repeats an operand ([`repeats_operand`]), that gives two variables one value, as
/// `*x = b, *y = b`, or in which a loop begins with its own variable.
pub(crate) fn repeats(source: &[u8], edit: &Edit) -> bool {
    let (start, end) = (edit.span.start as usize, edit.span.end as usize);
    let is_end = |byte: &u8| *byte == b'\n';
    let is_end_of_statement = |byte: &u8| matches!(byte, b';' | b'{' | b'}');
    let behind_last = |is_end: &dyn Fn(&u8) -> bool| {
        let last = source[..start].iter().rposition(is_end);
        last.map_or(0, |at| at + 1)
    };
    let before_next = |is_end: &dyn Fn(&u8) -> bool| {
        let next = source[end..].iter().position(is_end);
        next.map_or(source.len(), |at| end + at)
    };
    let from = behind_last(&is_end).min(behind_last(&is_end_of_statement));
    let to = before_next(&is_end).max(before_next(&is_end_of_statement));
    let before = on_one_line(&source[from..to]);
    let after = [&source[from..start], &edit.text, &source[end..to]].concat();
    let after = on_one_line(&after);
    let repeats =
        |text: &[u8]| repeats_operand(text) || repeats_value(text) || begins_with_itself(text);
    if is_indexed_by_itself(&after) && !is_indexed_by_itself(source) {
        return true;
    }
    repeats(&after) && !repeats(&before)
}

/// Whether an element of an array is the index of one of the same array, as in `row[2][row[2][i]]`. Where elements are links that is meant, and
/// the program mostly does so elsewhere, too.
fn is_indexed_by_itself(text: &[u8]) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.->[]".contains(&byte);
    let mut open: Vec<&[u8]> = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'[' => {
                let start = text[..at].iter().rposition(|&byte| !is_of_name(byte));
                let own = &text[start.map_or(0, |start| start + 1)..at];
                // In `a[a[i` what stands before the last bracket begins with all that is still open.
                let own = match open.last() {
                    Some(outer) => {
                        let inner = own.strip_prefix(*outer);
                        inner.and_then(|own| own.strip_prefix(b"[")).unwrap_or(own)
                    }
                    None => own,
                };
                if !own.is_empty() && open.contains(&own) {
                    return true;
                }
                open.push(own);
            }
            b']' => drop(open.pop()),
            b';' | b'\n' => open.clear(),
            _ => {}
        }
    }
    false
}

/// Whether two names in a list have one name as their value.
fn repeats_value(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let parts: Vec<&str> = text.split([',', ';']).collect();
    let value = |part: &str| {
        let (_, value) = part.split_once(" = ")?;
        let value = value.trim().to_owned();
        let begins = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        begins.then_some(value)
    };
    parts
        .windows(2)
        .any(|two| matches!((value(two[0]), value(two[1])), (Some(a), Some(b)) if a == b))
}

/// Whether an operator has one name on both sides, or a call has one name as two arguments in a row: `from + from` does what
/// `from + stay` does in tests where both are alike, and is rarely meant, as `strcmp(b, b)`.
fn repeats_operand(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    if repeats_argument(&text) {
        return true;
    }
    let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_operator = |text: &str| text.chars().all(|c| "+-*/%<>=!&|^".contains(c));
    let joins = |text: &str| matches!(text, "&&" | "||" | "=");
    tokens.windows(3).enumerate().any(|(at, three)| {
        let [left, operator, right] = three else {
            return false;
        };
        // In `a + b > b` it is not `b` that is compared.
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_whole = before.is_none_or(|before| joins(before) || !is_operator(before));
        let left = left.trim_start_matches(['(', '!']);
        let right = right.trim_end_matches([')', ';', ',']);
        let is_name = left.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_whole && is_name && left == right && is_operator(operator) && !joins(operator)
    })
}

/// Whether a list has one name twice in a row.
fn repeats_argument(text: &str) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.->".contains(c))
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    parts.windows(2).any(|two| {
        let left = two[0].rsplit('(').next().unwrap_or_default();
        let right = two[1].split(')').next().unwrap_or_default();
        is_name(left) && left == right
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_text::Span;

    #[test]
    fn an_operand_that_stands_twice_is_seen() {
        assert!(repeats_operand(b"from + from > NIGHT"));
        assert!(repeats_operand(b"(p->n - p->n)"));
        assert!(!repeats_operand(b"from + stay > from"));
        assert!(!repeats_operand(b"rest > cap && cap"));
        assert!(!repeats_operand(b"a + b > b"));
        assert!(repeats_operand(b"a > 1 && b > b"));
        assert!(!repeats_operand(b"1 + 1"));
        assert!(!repeats_operand(b"x = x + 1;"));
        assert!(repeats_operand(b"strcmp(b, b)"));
        assert!(repeats_operand(b"f(1, p->n, p->n)"));
        assert!(!repeats_operand(b"strcmp(a, b)"));
        assert!(!repeats_operand(b"f(0, 0)"));
        assert!(!repeats_operand(b"f(g(a), a)"));
    }

    #[test]
    fn an_element_that_is_an_index_of_its_own_array_is_seen() {
        assert!(is_indexed_by_itself(b"row[2][row[2][i]] = 1;"));
        assert!(is_indexed_by_itself(b"p->next[1 + p->next[i]]"));
        assert!(is_indexed_by_itself(b"a[a[i]]"));
        assert!(!is_indexed_by_itself(b"a[b[i]] + a[i][j] + b[a[j]]"));
        assert!(!is_indexed_by_itself(b"row[1][row[2][i]]; x[i]; x[j]"));
    }

    #[test]
    fn an_operand_that_an_edit_repeats_is_seen_in_its_line() {
        let repeats = |source: &str, old: &str, new: &str| {
            let start = source.find(old).unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + old.len() as u32), new);
            repeats(source.as_bytes(), &edit)
        };
        let difference = "f();\n  return x->n - y->n;\n}";
        assert!(repeats(difference, "x", "y"));
        assert!(!repeats(difference, "x->n - y->n", "y->n - x->n"));
        assert!(repeats("struct e *x = a, *y = b;", "a", "b"));
        assert!(!repeats("int x = a, y = b;", "a", "0"));
        assert!(!repeats("int x = 0, y = 1;", "1", "0"));
    }
}
