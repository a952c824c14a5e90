//! Recognizes changes that make tests pass by preventing an action or hiding its effect.

use patchwright_csource::lex;
use patchwright_space::Schema;
use patchwright_text::Edit;

use crate::change_text::without_blanks;

/// Whether a candidate lets tests pass by keeping something from happening or from being seen. That is hardly ever meant. It takes a
/// statement out, keeps memory from being freed, or, where tests `crash`, allocates another number of bytes.
pub(crate) fn is_evasion(source: &[u8], edit: &Edit, schema: Schema, crash: bool) -> bool {
    schema == Schema::Deletion
        || schema != Schema::Move && keeps_from_freeing(source, edit)
        || crash && replaces_size(source, edit)
}

/// Whether what an edit takes out is all that a branch, a loop or a block does.
pub(crate) fn empties(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let after = source[edit.span.end as usize..].trim_ascii_start();
    match edit.text.trim_ascii() {
        b";" => true,
        b"" => before.ends_with(b"{") && after.starts_with(b"}"),
        _ => false,
    }
}

/// Functions that allocate memory.
const ALLOCATORS: [&[u8]; 5] = [b"malloc", b"calloc", b"realloc", b"alloca", b"reallocarray"];

/// Whether the edit puts something else in the place of what the number of bytes of an allocation is calculated from. More
/// memory hides that what is behind its end is used. (Something added to it, as `malloc(strlen(s) + 1)`, is no such edit, nor is
/// the next number, as in `malloc(n + 4)` for `malloc(n + 3)`.)
fn replaces_size(source: &[u8], edit: &Edit) -> bool {
    let before = &source[edit.span.range()];
    let (old, new) = (without_blanks(before), without_blanks(&edit.text));
    if old.is_empty() || new.windows(old.len()).any(|part| part == old) {
        return false;
    }
    // One more is what is mostly missing: for the zero at the end.
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
    if let (Some(old), Some(new)) = (number(&old), number(&new))
        && old.checked_add(1) == Some(new)
    {
        return false;
    }
    // The calls whose brackets are open there.
    let mut closed = 0;
    let start = edit.span.start as usize;
    for (at, byte) in source[..start].iter().enumerate().rev() {
        match byte {
            b')' => closed += 1,
            b'(' if closed > 0 => closed -= 1,
            b'(' => {
                let name = source[..at].trim_ascii_end();
                if ALLOCATORS.contains(&lex::last_word(name)) {
                    return true;
                }
            }
            b';' | b'{' | b'}' => return false,
            _ => {}
        }
    }
    false
}

/// Whether the edit keeps memory from being freed, as `free(0)`, `free(p ? NULL : p)` and `atoi(p)` in place of `free(p)` do. Tests that use
/// the memory later pass then, but the author hardly meant that.
fn keeps_from_freeing(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let after = &source[edit.span.start as usize..];
    let begins_name = |before: &[u8]| lex::last_word(before).is_empty();
    let argument = before.strip_suffix(b"(").map(<[u8]>::trim_ascii_end);
    let is_argument = argument
        .and_then(|text| text.strip_suffix(b"free"))
        .is_some_and(begins_name);
    let called = after.strip_prefix(b"free").map(<[u8]>::trim_ascii_start);
    let is_call = called.is_some_and(|rest| rest.starts_with(b"(")) && begins_name(before);
    let mut words = lex::Tokens::new(&edit.text);
    let has_null = words.any(|word| word.is("0") || word.is("NULL"));
    is_argument && has_null || is_call && !edit.text.starts_with(b"free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_text::Span;

    #[test]
    fn what_is_not_freed_any_more_is_seen() {
        let keeps = |source: &str, old: &str, new: &str| {
            let start = source.find(old).unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + old.len() as u32), new);
            keeps_from_freeing(source.as_bytes(), &edit)
        };
        assert!(keeps("free(p);", "p", "0") && keeps("free (p);", "p", "NULL"));
        assert!(keeps("  free(p);", "free", "atoi") && keeps("free(p);", "free(p)", "f(p)"));
        assert!(!keeps("free(p);", "p", "q") && !keeps("unfree(p);", "p", "0"));
        assert!(!keeps("f(p);", "p", "0") && !keeps("f(p);", "f(p)", "g(p)"));
        assert!(!keeps("free_count > 0", "free_count", "n") && !keeps("free = 1", "free", "n"));
    }

    #[test]
    fn a_branch_that_is_left_without_a_statement_is_seen() {
        let is_empty = |source: &str, old: &str, new: &str| {
            let start = source.find(old).unwrap() as u32;
            let span = Span::new(start, start + old.len() as u32);
            empties(source.as_bytes(), &Edit::replace(span, new))
        };
        assert!(is_empty("if (a) x = 1;", "x = 1;", ";"));
        assert!(is_empty("if (a) {\n  x = 1;\n}", "  x = 1;\n", ""));
        assert!(!is_empty("if (a) { x = 1; f(); }", "x = 1; ", ""));
        assert!(!is_empty("if (a) x = 1;", "1", "2"));
    }

    #[test]
    fn another_number_of_bytes_is_told_from_more_of_them() {
        let replaces = |source: &str, old: &str, new: &str| {
            let start = source.find(old).unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + old.len() as u32), new);
            replaces_size(source.as_bytes(), &edit)
        };
        assert!(
            replaces("v = malloc(n+1);", "n", "m") && replaces("v = malloc(n+1);", "n+1", "99")
        );
        assert!(replaces("v = calloc(1, f(n) * 2);", "n", "0"));
        assert!(!replaces(
            "v = malloc(strlen(s));",
            "strlen(s)",
            "strlen(s) + 1"
        ));
        assert!(!replaces("v = malloc(n); x = n;", "x = n", "x = 1"));
        assert!(!replaces("v = mallocs(n);", "n", "m"));
    }
}
