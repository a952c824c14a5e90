//! Derives from the text of a change how likely it is meant.

use std::borrow::Cow;

use patchwright_csource::lex;
use patchwright_text::Edit;

/// Returns the text on one line, without comments.
pub(crate) fn on_one_line(text: &[u8]) -> Cow<'_, [u8]> {
    let mut pairs = text.windows(2);
    let is_laid_out = text.contains(&b'\n') || pairs.any(|two| matches!(two, b"/*" | b"//"));
    match std::str::from_utf8(text) {
        Ok(text) if is_laid_out => Cow::Owned(lex::on_one_line(text).into_bytes()),
        _ => Cow::Borrowed(text),
    }
}

/// Whether the edit turns an assignment into `x = x`; such a patch is not reported.
pub(crate) fn is_self_assignment(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let Some(target) = before.strip_suffix(b"=") else {
        return false;
    };
    if target.ends_with(b"=") || target.last().is_some_and(|c| b"!<>+-*/%&|^".contains(c)) {
        return false;
    }
    let value = edit.text.trim_ascii();
    match target.trim_ascii_end().strip_suffix(value) {
        Some(rest) => !rest
            .last()
            .is_some_and(|c| lex::is_word(*c) || b".>*".contains(c)),
        None => false,
    }
}

/// Whether the edit makes an assignment of one that leaves everything as it is: `x += 0`, `x *= 1`, `x = x`.
pub(crate) fn is_no_op(source: &[u8], edit: &Edit) -> bool {
    let follows = source[edit.span.end as usize..].trim_ascii_start();
    if !follows.starts_with(b";") {
        return false;
    }
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let ends_in = |operators: &[&str]| {
        let mut operators = operators.iter();
        operators.any(|operator| before.ends_with(operator.as_bytes()))
    };
    match edit.text.trim_ascii() {
        b"0" | b"0.0" => ends_in(&["+=", "-=", "|=", "^=", "<<=", ">>="]),
        b"1" | b"1.0" => ends_in(&["*=", "/="]),
        _ => is_self_assignment(source, edit),
    }
}

/// The words and signs that an edit of `before` takes away, and those that it puts in their place.
fn changed_tokens<'t>(before: &'t [u8], after: &'t [u8]) -> (Vec<&'t [u8]>, Vec<&'t [u8]>) {
    let (mut old, mut new) = (tokens(before), tokens(after));
    drop_common(&mut old, &mut new);
    (old, new)
}

/// Words and single signs.
fn fine_tokens(text: &[u8]) -> Vec<&[u8]> {
    let text = text.trim_ascii();
    let tokens = text.chunk_by(|a, b| is_of_name(*a) && is_of_name(*b));
    tokens
        .filter(|token| !token[0].is_ascii_whitespace())
        .collect()
}

/// How far a text is from another one: the words and signs that one of them lacks, and the names that are gone once more. A name says what is meant.
pub(crate) fn distance(before: &[u8], after: &[u8]) -> usize {
    let (mut old, mut new) = (fine_tokens(before), fine_tokens(after));
    drop_common(&mut old, &mut new);
    // The longest row of tokens that both have.
    let mut row = vec![0; new.len() + 1];
    for token in &old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let longer = match token == other {
                true => diagonal + 1,
                false => row[at + 1].max(row[at]),
            };
            diagonal = std::mem::replace(&mut row[at + 1], longer);
        }
    }
    let is_name = |token: &&&[u8]| lex::is_word_start(token[0]);
    let gone = old.iter().filter(is_name);
    let gone = gone.filter(|name| !new.contains(name)).count();
    old.len() + new.len() - 2 * row[new.len()] + gone
}

/// Takes away what two texts begin and end with alike.
fn drop_common(old: &mut Vec<&[u8]>, new: &mut Vec<&[u8]>) {
    let begin = old.iter().zip(new.iter());
    let begin = begin.take_while(|(a, b)| a == b).count();
    old.drain(..begin);
    new.drain(..begin);
    let end = old.iter().rev().zip(new.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - end);
    new.truncate(new.len() - end);
}

/// How large a change is: 1 if it is another operator, which is one decision however it is spelled (`&&` for `||`), else the bytes that differ.
pub(crate) fn size_of_change(before: &[u8], after: &[u8]) -> usize {
    let is_operator = |tokens: &[&[u8]]| {
        let sign = |token: &[u8]| {
            let token = token.trim_ascii();
            !token.is_empty() && token.iter().all(|byte| b"+-*/%<>=!&|^".contains(byte))
        };
        matches!(tokens, [only] if sign(only))
    };
    let (old, new) = changed_tokens(before, after);
    // Whether two things are the same is hardly ever turned into its contrary.
    let is_equality =
        |tokens: &[&[u8]]| matches!(tokens, [only] if matches!(only.trim_ascii(), b"==" | b"!="));
    let is_contrary = is_equality(&old) && is_equality(&new);
    match is_operator(&old) && is_operator(&new) && !is_contrary {
        true => 1,
        false => text_change(&without_blanks(before), &without_blanks(after)),
    }
}

/// Bytes that differ between two texts, between what they begin and end with alike.
fn text_change(before: &[u8], after: &[u8]) -> usize {
    let alike =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let shorter = before.len().min(after.len());
    let start = alike(&mut before.iter().zip(after));
    let end = alike(&mut before.iter().rev().zip(after.iter().rev())).min(shorter - start);
    before.len() + after.len() - 2 * (start + end)
}

/// Whether a byte belongs to a name, a number, or the way to a member.
pub(crate) fn is_of_name(byte: u8) -> bool {
    lex::is_word(byte) || byte == b'.'
}

/// Splits a text into variables with their members, and the words and signs between them.
pub(crate) fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let begins_name = is_of_name(text[at]);
        let mut end = at;
        // What a subscript says belongs to what it selects.
        let mut open = 0usize;
        while end < text.len() {
            match text[end] {
                b'[' if begins_name => open += 1,
                b']' if open > 0 => open -= 1,
                _ if open > 0 => {}
                byte if is_of_name(byte) == begins_name => {}
                _ if begins_name && text[end..].starts_with(b"->") => end += 1,
                _ => break,
            }
            end += 1;
        }
        found.push(&text[at..end]);
        at = end;
    }
    found
}

/// A text with `#` in the place of each number and each character: what is alike but for a constant.
pub(crate) fn without_numbers(text: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::with_capacity(text.len());
    let mut in_word = false;
    let mut rest = text.iter().enumerate();
    while let Some((at, &byte)) = rest.next() {
        if byte == b'\'' {
            let escaped = usize::from(text.get(at + 1) == Some(&b'\\'));
            let end = text[(at + 2 + escaped).min(text.len())..]
                .iter()
                .position(|byte| *byte == b'\'');
            if let Some(end) = end {
                kept.push(b'#');
                in_word = false;
                rest.nth(1 + escaped + end);
                continue;
            }
        }
        let is_word = lex::is_word(byte);
        match (in_word, byte.is_ascii_digit()) {
            (false, true) => kept.push(b'#'),
            (true, _) if is_word && kept.last() == Some(&b'#') => {}
            _ => kept.push(byte),
        }
        in_word = is_word;
    }
    kept
}

/// A text without white space and comments.
pub(crate) fn without_blanks(text: &[u8]) -> Vec<u8> {
    let text = on_one_line(text);
    let kept = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    kept.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_keeps_the_names_is_nearer_than_one_with_a_number() {
        let of = |after: &str| distance(b"net > LEAST", after.as_bytes());
        assert_eq!(of("net > LEAST"), 0);
        assert_eq!(of("net >= LEAST"), 1);
        assert_eq!(of("net > 4999"), 3);
        assert!(of("net > LEAST - 1") < of("net > 4999"));
        assert_eq!(distance(b"+= a - n", b"= a"), 4);
    }
    use patchwright_text::Span;

    #[test]
    fn an_assignment_that_does_nothing_is_seen() {
        let is_one = |source: &str, old: &str, new: &str| {
            let at = source.find(old).unwrap() as u32;
            let span = patchwright_text::Span::new(at, at + old.len() as u32);
            is_no_op(source.as_bytes(), &Edit::replace(span, new))
        };
        assert!(is_one("x += i;", "i", "0"));
        assert!(is_one("x *= i ;", "i", "1"));
        assert!(is_one("x = i;", "i", "x"));
        assert!(!is_one("x = i;", "i", "0"));
        assert!(!is_one("x += i * 2;", "i", "0"));
    }

    #[test]
    fn an_assignment_of_a_variable_to_itself_is_seen() {
        let is = |source: &str, value: &str| {
            let start = source.find('@').unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + 1), value);
            is_self_assignment(source.as_bytes(), &edit)
        };
        assert!(is("x = @;", "x") && is("int x = @;", "x") && is("p->n =@;", "p->n"));
        assert!(!is("max = @;", "x") && !is("p->n = @;", "n") && !is("x == @;", "x"));
        assert!(!is("x += @;", "x") && !is("f(@);", "x"));
    }

    #[test]
    fn candidates_that_differ_in_a_number_only_are_alike() {
        let alike =
            |a: &str, b: &str| without_numbers(a.as_bytes()) == without_numbers(b.as_bytes());
        assert!(alike("n + 1", "n + 255") && alike("x % 10 == 0", "x % 16 == 1"));
        assert!(
            alike("0x1Fu", "7") && alike("n + 'w'", "n + '\\''") && alike("c == ' '", "c == 3")
        );
        assert!(!alike("c == 'a' && n", "c == 'b' && m"));
        assert!(!alike("n + 1", "m + 1") && !alike("a1", "a2") && !alike("n", "n + 1"));
    }

    #[test]
    fn another_operator_is_a_small_change_however_it_is_spelled() {
        let size = |before: &str, after: &str| size_of_change(before.as_bytes(), after.as_bytes());
        assert_eq!(size("a > b || c", "a > b && c"), 1);
        assert_eq!(size("a[i - 1] + b", "a[i - 1] - b"), 1);
        assert_eq!([size("i > n", "j > n"), size("i == n", "i != n")], [2; 2]);
        assert_eq!(size("a + 1", "a + 12"), 1);
    }

    #[test]
    fn only_what_differs_counts_as_change() {
        assert_eq!(text_change(b"a < b", b"a <= b"), 1);
        assert_eq!(text_change(b"s[0].n", b"s[i].n"), 2);
        assert_eq!(text_change(b"aa", b"a"), 1);
        assert_eq!(text_change(b"x", b"x"), 0);
    }
}
