//! What the text of a change tells about how likely it is meant.

use std::collections::BTreeMap;

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Function};
use patchwright_space::Schema;
use patchwright_text::Edit;

use crate::names::{begins_with_itself, names};

/// Whether the edit makes `x = x` of an assignment to a variable: nobody wants to read that.
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
            .is_some_and(|c| c.is_ascii_alphanumeric() || b"_.>*".contains(c)),
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

/// Whether a number other than 1 is added to something or taken from it where nothing was: one change in three hundred, while one in
/// twenty moves a statement.
pub(crate) fn is_offset(before: &[u8], after: &[u8]) -> bool {
    let (old, new) = changed_tokens(before, after);
    let is_sign = |token: &[u8]| matches!(token.trim_ascii(), b"+" | b"-");
    let is_number = |token: &[u8]| token.first().is_some_and(u8::is_ascii_digit) && token != b"1";
    match &new[..] {
        [first, second] if old.is_empty() => {
            is_sign(first) && is_number(second) || is_number(first) && is_sign(second)
        }
        _ => false,
    }
}

/// Whether a variable takes the place of a number: four times as many changes make the next number of it, and that is one number.
pub(crate) fn names_number(before: &[u8], after: &[u8]) -> bool {
    let (mut old, mut new) = (fine_tokens(before), fine_tokens(after));
    drop_common(&mut old, &mut new);
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_number = |token: &[u8]| token.first().is_some_and(u8::is_ascii_digit);
    let begins_name = |token: &[u8]| token.first().is_some_and(is_name);
    // A member, or an element: `b[i]`.
    let is_of_path =
        |token: &&[u8]| is_of_name(token[0]) || matches!(token[0], b'[' | b']' | b'-' | b'>');
    match (&old[..], &new[..]) {
        ([number], [first, rest @ ..]) => {
            let open = |wanted: u8| rest.iter().filter(|token| token[0] == wanted).count();
            is_number(number)
                && begins_name(first)
                && rest.iter().all(is_of_path)
                && open(b'[') == open(b']')
        }
        _ => false,
    }
}

/// Words and single signs.
fn fine_tokens(text: &[u8]) -> Vec<&[u8]> {
    let text = text.trim_ascii();
    let tokens = text.chunk_by(|a, b| is_of_name(*a) && is_of_name(*b));
    tokens
        .filter(|token| !token[0].is_ascii_whitespace())
        .collect()
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

/// Whether a candidate lets tests pass by keeping something from happening or from being seen, which is hardly ever meant: it takes a
/// statement out, keeps memory from being freed, or, where tests `crash`, allocates another number of bytes.
pub(crate) fn is_evasion(source: &[u8], edit: &Edit, schema: Schema, crash: bool) -> bool {
    schema == Schema::Deletion
        || schema != Schema::Move && keeps_from_freeing(source, edit)
        || crash && replaces_size(source, edit)
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
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = name.iter().rev().take_while(|byte| is_word(byte)).count();
                if ALLOCATORS.contains(&&name[name.len() - length..]) {
                    return true;
                }
            }
            b';' | b'{' | b'}' => return false,
            _ => {}
        }
    }
    false
}

/// Whether the edit inserts a step (`n++;`, `sign = -sign;`) where more follows in the block: what takes turns or counts mostly does so at the
/// end, when it has been used.
pub(crate) fn is_early_step(source: &[u8], edit: &Edit) -> bool {
    if !edit.span.is_empty() {
        return false;
    }
    let text = without_blanks(&edit.text);
    let Some(text) = text.strip_suffix(b";") else {
        return false;
    };
    let is_turned = |(at, byte): (usize, &u8)| {
        let turned = &text[at + 1..];
        let sign = turned.first().is_some_and(|byte| b"-!".contains(byte));
        *byte == b'=' && sign && turned[1..] == text[..at]
    };
    let is_step = text.ends_with(b"++") || text.ends_with(b"--");
    if !is_step && !text.iter().enumerate().any(is_turned) {
        return false;
    }
    let behind = source[edit.span.end as usize..].trim_ascii_start();
    if behind.starts_with(b"}") {
        return false;
    }
    // What leaves the block and does not use what is stepped is its end, too.
    let leaves = [&b"return"[..], b"break", b"continue"].iter().any(|word| {
        let rest = behind.strip_prefix(*word);
        rest.and_then(<[u8]>::first)
            .is_some_and(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
    });
    let end = behind.iter().position(|byte| *byte == b';');
    let left = names(&behind[..end.unwrap_or(behind.len())]);
    !leaves || names(text).iter().any(|name| left.contains(name))
}

/// Whether the edit keeps memory from being freed, as `free(0)`, `free(p ? NULL : p)` and `atoi(p)` in place of `free(p)` do: that lets
/// tests pass in which it is used later, and is hardly ever meant.
fn keeps_from_freeing(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let after = &source[edit.span.start as usize..];
    let begins_name = |before: &[u8]| {
        let last = before.last();
        !last.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_')
    };
    let argument = before.strip_suffix(b"(").map(<[u8]>::trim_ascii_end);
    let is_argument = argument
        .and_then(|text| text.strip_suffix(b"free"))
        .is_some_and(begins_name);
    let called = after.strip_prefix(b"free").map(<[u8]>::trim_ascii_start);
    let is_call = called.is_some_and(|rest| rest.starts_with(b"(")) && begins_name(before);
    let mut words = edit
        .text
        .split(|c| !c.is_ascii_alphanumeric() && *c != b'_');
    let has_null = words.any(|word| matches!(word, b"0" | b"NULL"));
    is_argument && has_null || is_call && !edit.text.starts_with(b"free")
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

/// The comparisons of a function and their negations: texts without blanks. Each with its negation, and how often the function asks
/// for one of the two.
pub(crate) struct Comparisons(BTreeMap<Vec<u8>, (Vec<u8>, usize)>);

impl Comparisons {
    pub(crate) fn of(source: &[u8], function: &Function) -> Self {
        let text = |id: ExprId| {
            let span = function.expr(function.stripped(id)).place.editable()?;
            Some(without_blanks(&source[span.range()]))
        };
        let mut found = BTreeMap::new();
        for expr in &function.exprs {
            if let ExprKind::Binary {
                operator,
                left,
                right,
            } = &expr.kind
                && let Some(operators) = with_negation(*operator)
                && let (Some(left), Some(right)) = (text(*left), text(*right))
            {
                let [one, other] =
                    operators.map(|op| [&left[..], op.as_bytes(), &right[..]].concat());
                for (own, negation) in [(&one, &other), (&other, &one)] {
                    let known = found.entry(own.clone()).or_insert((negation.clone(), 0));
                    known.1 += 1;
                }
            }
        }
        Comparisons(found)
    }

    /// How strange a change is, from 0 to [`STRANGE`]. It is 0 if `after` has a comparison that the function has elsewhere, perhaps negated, and `before` has not: `c != '*'` where
    /// it asks for `c == '*'`, too. Of conditions that no test tells apart, the least strange is the likeliest one.
    pub(crate) fn strangeness(&self, before: &[u8], after: &[u8]) -> usize {
        let (before, after) = (without_blanks(before), without_blanks(after));
        let in_word =
            |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let count = |text: &[u8], wanted: &[u8]| {
            let windows = text.windows(wanted.len()).enumerate();
            let here = windows.filter(|(at, found)| {
                let before = at.checked_sub(1).and_then(|at| text.get(at));
                *found == wanted && !in_word(before) && !in_word(text.get(at + wanted.len()))
            });
            here.count()
        };
        let mut known = self.0.iter();
        // What is negated is no comparison from elsewhere.
        if known.any(|(own, (negation, times))| {
            let gone = count(&before, own) + count(&before, negation);
            count(&after, own) > 0 && count(&before, own) == 0 && *times > gone
        }) {
            return 0;
        }
        likeness(&before, &after).map_or(STRANGE, |others| others.min(STRANGE))
    }
}

/// A comparison in the same way with one of the two that are compared.
const LIKE_NEIGHBOUR: usize = STRANGE - 1;

/// What is like nothing else.
pub(crate) const STRANGE: usize = 10;

/// Whether `after` has a part like one of `before`, but with other names: `|| y + h > rows` beside `x + w > columns`. How many of these are
/// no members of what the others are members of.
fn likeness(before: &[u8], after: &[u8]) -> Option<usize> {
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let known: Vec<&[u8]> = parts(&before).collect();
    let new = parts(&after).filter(|part| !known.contains(part));
    new.filter_map(|part| {
        let (shape, names) = shape(part);
        if !shape.iter().any(|byte| b"<>=".contains(byte)) {
            return None;
        }
        let others = known.iter().map(|other| self::shape(other));
        // The pair that is missing: `a == c` beside `a == b` and `b == c`.
        if names.len() == 2 {
            let alike: Vec<_> = (others.clone())
                .filter(|(other, others)| *other == shape && names != *others)
                .collect();
            let is_compared = |name: &&[u8]| alike.iter().any(|(_, others)| others.contains(name));
            if alike.len() > 1 && names.iter().all(is_compared) {
                return Some(0);
            }
            // `b == c` beside `a == b`: in the same way, and one of the two.
            let is_other = |(_, others): &&(Vec<u8>, Vec<&[u8]>)| {
                names.iter().any(|name| !others.contains(name))
            };
            if names[0] != names[1]
                && names.iter().any(is_compared)
                && alike.iter().any(|pair| is_other(&pair))
            {
                return Some(LIKE_NEIGHBOUR);
            }
        }
        // A single name is compared with everything.
        let alike = others.filter(|(other, _)| *other == shape && names.len() > 2);
        let strangers = alike.filter_map(|(_, others)| {
            let is_new = names.iter().all(|name| !others.contains(name));
            let pairs = names.iter().zip(&others);
            is_new.then(|| pairs.filter(|(a, b)| owner(a) != owner(b)).count())
        });
        strangers.min()
    })
    .min()
}

/// What `&&` and `||` join.
fn parts(text: &str) -> impl Iterator<Item = &[u8]> {
    let parts = text.split("&&").flat_map(|part| part.split("||"));
    parts.map(str::as_bytes)
}

/// What a name is a member of.
fn owner(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| matches!(byte, b'.' | b'>'));
    &name[..end.unwrap_or(0)]
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// A text without blanks with `#` in the place of each variable, with its members; and those.
fn shape(text: &[u8]) -> (Vec<u8>, Vec<&[u8]>) {
    let (mut shape, mut names) = (Vec::new(), Vec::new());
    for token in tokens(text) {
        match is_of_name(token[0]) {
            true => {
                shape.push(b'#');
                names.push(token);
            }
            false => shape.extend(token),
        }
    }
    (shape, names)
}

/// Variables with their members, and what stands between them.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
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

/// Whether an edit makes a line that repeats an operand ([`repeats_operand`]), that gives two variables one value, as
/// `*x = b, *y = b`, or in which a loop begins with its own variable.
pub(crate) fn repeats(source: &[u8], edit: &Edit) -> bool {
    let (start, end) = (edit.span.start as usize, edit.span.end as usize);
    let is_end = |byte: &u8| *byte == b'\n';
    let from = source[..start]
        .iter()
        .rposition(is_end)
        .map_or(0, |at| at + 1);
    let to = source[end..].iter().position(is_end);
    let to = to.map_or(source.len(), |at| end + at);
    let before = &source[from..to];
    let after = [&source[from..start], &edit.text, &source[end..to]].concat();
    let repeats =
        |text: &[u8]| repeats_operand(text) || repeats_value(text) || begins_with_itself(text);
    if is_indexed_by_itself(&after) && !is_indexed_by_itself(source) {
        return true;
    }
    repeats(&after) && !repeats(before)
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
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        match (in_word, byte.is_ascii_digit()) {
            (false, true) => kept.push(b'#'),
            (true, _) if is_word && kept.last() == Some(&b'#') => {}
            _ => kept.push(byte),
        }
        in_word = is_word;
    }
    kept
}

/// A comparing operator and its negation.
fn with_negation(operator: BinaryOperator) -> Option<[&'static str; 2]> {
    use BinaryOperator::*;
    Some(match operator {
        Eq | Ne => ["==", "!="],
        Lt | Ge => ["<", ">="],
        Gt | Le => [">", "<="],
        _ => return None,
    })
}

/// A text without white space.
pub(crate) fn without_blanks(text: &[u8]) -> Vec<u8> {
    let kept = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    kept.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_number_that_is_added_to_something_is_seen() {
        let is = |before: &str, after: &str| is_offset(before.as_bytes(), after.as_bytes());
        assert!(is("a && n < 50", "a && n - 51 < 50"));
        assert!(is("n", "n + 7"));
        assert!(is("n", "7 - n"));
        assert!(!is("n", "n + 1"));
        assert!(!is("n", "n + m"));
        assert!(!is("n", "n / 7"));
        assert!(!is("n + 3", "n + 7"));
    }

    #[test]
    fn a_variable_in_the_place_of_a_number_is_seen() {
        let is = |before: &str, after: &str| names_number(before.as_bytes(), after.as_bytes());
        assert!(is("0", "c"));
        assert!(is("a[i] + 2", "a[i] + n"));
        assert!(is("b[0][2] == p", "b[0][b[2][i]] == p") && is("b[1] > 0", "b[p->n] > 0"));
        assert!(!is("0", "1"));
        assert!(!is("n", "m"));
        assert!(!is("n", "0"));
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
    fn comparisons_are_known_with_their_negations_and_as_whole_words() {
        let (one, other) = (b"c=='*'".to_vec(), b"c!='*'".to_vec());
        let pairs = [(one.clone(), (other.clone(), 1)), (other, (one, 1))];
        let known = Comparisons(pairs.into());
        assert_eq!(
            known.strangeness(b"st = BLOCK;", b"{ if (c != '*') st = BLOCK; }"),
            0
        );
        assert_eq!(
            known.strangeness(b"st = BLOCK;", b"{ if (c < '*') st = BLOCK; }"),
            STRANGE
        );
        assert_eq!(known.strangeness(b"x", b"abc != '*'"), STRANGE);
        assert_eq!(known.strangeness(b"c == '*'", b"c == '*' && x"), STRANGE);
        // The only one of the function, negated where it is.
        assert_eq!(
            known.strangeness(b"c == '*' && x", b"c != '*' && x"),
            STRANGE
        );
    }

    #[test]
    fn the_pair_that_is_missing_among_comparisons_is_known() {
        let of = |added: &str| {
            let before = "a==b||b==c";
            likeness(before.as_bytes(), format!("{before}||{added}").as_bytes())
        };
        assert_eq!(of("a==c"), Some(0));
        // One of them in the same way is a little more likely than in another way.
        assert_eq!(of("a==d"), Some(LIKE_NEIGHBOUR));
        assert_eq!(likeness(b"a==b", b"a==b||b==c"), Some(LIKE_NEIGHBOUR));
        assert_eq!(likeness(b"a==b", b"a==b||b>=c"), None);
        assert_eq!(of("a>=c"), None);
    }

    #[test]
    fn a_comparison_like_another_one_with_other_names_is_known() {
        let like = |before: &str, after: &str| likeness(before.as_bytes(), after.as_bytes());
        let old = "g->x+g->w>columns";
        assert_eq!(like(old, "g->x+g->w>columns||g->y+g->h>rows"), Some(0));
        assert_eq!(like(old, "g->x+g->w>columns||y+g->h>rows"), Some(1));
        assert_eq!(like(old, "g->x+g->w>columns||g->y<rows"), None);
        assert_eq!(like(old, "g->x+g->w>columns||g->x+g->h>rows"), None);
        assert_eq!([like(old, old), like("a>b", "a>b||c>d")], [None; 2]);
        let elements = "a[i].x+a[i].w>n";
        assert_eq!(like(elements, "a[i].x+a[i].w>n||a[i].y+a[i].h>m"), Some(0));
        // What is no comparison is like everything.
        assert_eq!(like("a[0].n", "b->rows[i].w"), None);
        assert_eq!(like("a+b-c", "x+y-z"), None);
    }

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
    fn a_step_at_the_end_of_a_block_is_told_from_one_before() {
        let is_early = |source: &str, new: &str| {
            let at = source.find('@').unwrap() as u32;
            let source = source.replacen('@', "", 1);
            is_early_step(source.as_bytes(), &Edit::insert(at, new))
        };
        assert!(is_early("{ @ f(); }", "n++;") && is_early("{ @\n f(); }", "sign = -sign;"));
        assert!(!is_early("{ @ return 1; }", "n++;") && !is_early("{ @ break; }", "p->n--;"));
        assert!(is_early("{ @ return n; }", "n++;") && is_early("{ @ returned(); }", "n++;"));
        assert!(!is_early("{ @ f(); }", "n = 0;") && !is_early("{ @ f(); }", "a = -b;"));
        let end = "{ f(); }";
        let at = end.len() as u32 - 2;
        assert!(!is_early_step(
            end.as_bytes(),
            &Edit::insert(at, " done = !done;")
        ));
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
