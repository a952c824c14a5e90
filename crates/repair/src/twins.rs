//! Finds other places with the same text, at which a change is likely needed, too.

use patchwright_csource::lex;
use patchwright_text::{Edit, Span};

/// The number of tokens on each side that are compared.
const CONTEXT: usize = 3;

/// What is only inserted has to have so many equal tokens round it, on each side one at least.
const LEAST_ROUND_INSERTION: usize = 4;

/// What is replaced, which is equal itself.
const LEAST_ROUND_REPLACEMENT: usize = 2;

/// The largest number of places that are returned.
const MOST_TWINS: usize = 6;

/// Repeats the change of an edit at all other places where the same tokens stand amid the same neighbours. The places that are
/// most alike come first.
pub(crate) fn twins(source: &[u8], edit: &Edit) -> Vec<Edit> {
    let tokens = tokens(source);
    let text = |span: &Span| span.slice(source).unwrap_or_default();
    let (start, end) = (edit.span.start, edit.span.end);
    let first = tokens.partition_point(|token| token.end <= start);
    let last = tokens.partition_point(|token| token.start < end);
    if last < first {
        return Vec::new();
    }
    let new_tokens = self::tokens(&edit.text);
    let new_text = |span: &Span| span.slice(&edit.text).unwrap_or_default();
    // What the edit leaves as it is at its ends.
    let old = &tokens[first..last];
    let same = |pair: &(&Span, &Span)| text(pair.0) == new_text(pair.1);
    let before = old.iter().zip(&new_tokens).take_while(same).count();
    let shorter = old.len().min(new_tokens.len()) - before;
    let backwards = old.iter().rev().zip(new_tokens.iter().rev());
    let behind = backwards.take(shorter).take_while(same).count();
    let (first, last) = (first + before, last - behind);
    let added = &new_tokens[before..new_tokens.len() - behind];
    let new = match added {
        [] => &[],
        [first, .., last] => &edit.text[first.start as usize..last.end as usize],
        [only] => new_text(only),
    };
    let length = last - first;
    let alike = |at: usize| -> Option<usize> {
        let equal = |a: usize, b: usize| {
            let pair = tokens.get(a).zip(tokens.get(b));
            pair.is_some_and(|(a, b)| text(a) == text(b))
        };
        if !(0..length).all(|token| equal(first + token, at + token)) {
            return None;
        }
        let left = (1..=CONTEXT).take_while(|back| {
            let pair = first.checked_sub(*back).zip(at.checked_sub(*back));
            pair.is_some_and(|(a, b)| equal(a, b))
        });
        let right = (0..CONTEXT).take_while(|on| equal(last + on, at + length + on));
        let (left, right) = (left.count(), right.count());
        let is_amid = match length {
            0 => left > 0 && right > 0 && left + right >= LEAST_ROUND_INSERTION,
            _ => left + right >= LEAST_ROUND_REPLACEMENT,
        };
        is_amid.then_some(left + right)
    };
    let apart = |at: &usize| *at + length < first || *at > last;
    let mut places: Vec<(usize, usize)> = (0..tokens.len().saturating_sub(length))
        .filter(apart)
        .filter_map(|at| Some((alike(at)?, at)))
        .collect();
    places.sort_by_key(|(likeness, at)| (std::cmp::Reverse(*likeness), *at));
    let edit_at = |at: usize| match length {
        // Behind what stands before it.
        0 => Edit::insert(tokens[at - 1].end, [b" ", new].concat()),
        _ => Edit::replace(
            Span::new(tokens[at].start, tokens[at + length - 1].end),
            new,
        ),
    };
    let places = places.into_iter().take(MOST_TWINS);
    places.map(|(_, at)| edit_at(at)).collect()
}

/// The tokens of a text, without blanks and comments.
fn tokens(text: &[u8]) -> Vec<Span> {
    let (mut at, mut found) = (0, Vec::new());
    loop {
        at = lex::skip_blank(text, at);
        if at >= text.len() {
            return found;
        }
        let end = lex::step(text, at).min(text.len());
        found.push(Span::new(at as u32, end as u32));
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use patchwright_text::apply_edits;

    use super::*;

    fn with_twins(source: &str, from: &str, to: &str) -> Vec<String> {
        let at = source.find(from).unwrap() as u32;
        let edit = Edit::replace(Span::new(at, at + from.len() as u32), to);
        let twins = twins(source.as_bytes(), &edit).into_iter();
        let text = |twin: Edit| {
            let text = apply_edits(source.as_bytes(), &[twin]).unwrap();
            String::from_utf8(text).unwrap()
        };
        twins.map(text).collect()
    }

    #[test]
    fn what_is_inserted_is_inserted_amid_the_same_tokens() {
        let source = "head = (r->head - 1) % r->cap; tail = (r->tail - 1) % r->cap; n = n - 1;";
        let changed =
            "head = (r->head - 1) % r->cap; tail = (r->tail - 1 + r->cap) % r->cap; n = n - 1;";
        let whole = "(r->head - 1 + r->cap) % r->cap";
        assert_eq!(
            with_twins(source, "(r->head - 1) % r->cap", whole),
            [changed]
        );
        assert_eq!(with_twins(source, "1)", "1 + r->cap)"), [changed]);
    }

    #[test]
    fn what_is_replaced_is_the_same_amid_some_of_the_same_tokens() {
        let source = "w[i] |= 1 << i; v = 1; w[j] ^= 1 << (j % 64);";
        let changed = "w[i] |= 1 << i; v = 1; w[j] ^= 1ULL << (j % 64);";
        assert_eq!(with_twins(source, "1 << i", "1ULL << i"), [changed]);
    }

    #[test]
    fn nothing_is_like_what_stands_alone() {
        assert!(with_twins("f(a, b); g(a);", "f(a, b)", "f(b, a)").is_empty());
        assert!(with_twins("", "", "x").is_empty());
    }
}
