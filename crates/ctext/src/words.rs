//! Identifiers, keywords and numbers: what consists of letters, digits and `_`.

use crate::token::{Kind, Tokens};

/// Whether `byte` can be part of an identifier or a number.
pub fn is_word(byte: u8) -> bool {
    WORD_BYTES[usize::from(byte)]
}

/// Which bytes can be part of a word: texts are long.
static WORD_BYTES: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = is_word_start(byte as u8) || (byte as u8).is_ascii_digit();
        byte += 1;
    }
    all
};

/// Whether `c` can be part of an identifier or a number.
pub fn is_word_char(c: char) -> bool {
    u8::try_from(c).map_or(true, is_word)
}

/// Whether an identifier can begin with `byte`. Bytes of characters outside of ASCII count.
pub const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// Whether the whole text is one identifier or keyword.
pub fn is_name(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    text.first().is_some_and(|byte| is_word_start(*byte)) && text.iter().all(|byte| is_word(*byte))
}

/// Whether the whole text is one identifier, keyword or integer.
pub fn is_words(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    !text.is_empty() && text.iter().all(|byte| is_word(*byte))
}

/// Returns the word with which a text begins and what follows; the word is empty if there is none.
pub fn first_word(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !is_word(byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// Returns the word with which a text ends; it is empty if there is none.
pub fn last_word(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(|byte| !is_word(*byte));
    &text[start.map_or(0, |before| before + 1)..]
}

/// Returns the places where a text has a word, as offsets: wherever it stands as a whole, also in comments and literals.
pub fn places_of<'t>(text: &'t [u8], word: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let places = 0..(text.len() + 1).saturating_sub(word.len().max(1));
    places.filter(move |&at| {
        let end = at + word.len();
        let is_part = |at: Option<usize>| {
            at.and_then(|at| text.get(at))
                .is_some_and(|byte| is_word(*byte))
        };
        text[at..].starts_with(word) && !is_part(at.checked_sub(1)) && !is_part(Some(end))
    })
}

/// Returns everything that looks like a word, wherever it stands: also in comments and literals, and in texts that are not C.
pub fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let runs = text.split(|byte| !is_word(*byte));
    runs.filter(|run| !run.is_empty())
}

/// Returns the identifiers and keywords of `text`, in order.
pub fn words(text: &[u8]) -> Vec<String> {
    let placed = words_with_places(text);
    placed.into_iter().map(|(word, _)| word).collect()
}

/// Returns the identifiers and keywords of `text` in order, each with its byte offset.
pub fn words_with_places(text: &[u8]) -> Vec<(String, usize)> {
    let words = Tokens::new(text).filter(|token| token.kind == Kind::Word);
    let placed = words.map(|word| {
        (
            String::from_utf8_lossy(&word.text()).into_owned(),
            word.start,
        )
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_prefixes_of_literals_are_no_words() {
        let text = b"a = 1.e5 + L\"b\" + 'c' /* d */ + e$1 + \xc3\xa4;";
        assert_eq!(words(text), ["a", "e$1", "\u{e4}"]);
        assert_eq!(
            words_with_places(b"x\n#if Y"),
            [("x".into(), 0), ("if".into(), 3), ("Y".into(), 6)]
        );
    }

    #[test]
    fn words_stand_at_the_ends_of_texts() {
        assert_eq!(first_word("abc_1(x)"), ("abc_1", "(x)"));
        assert_eq!(first_word("(x)"), ("", "(x)"));
        assert_eq!(last_word(b"int main"), b"main");
        assert_eq!(last_word(b"main("), b"");
        assert!(is_name("_x1") && !is_name("1x") && !is_name("") && !is_name("a b"));
        assert!(is_words("1x") && !is_words("x.y"));
        assert!(places_of(b"ab a_b ab(b)", b"ab").eq([0, 7]));
        assert_eq!(places_of(b"", b"ab").count(), 0);
        assert!(runs(b"/* a */ \"b-c\"").eq([b"a", b"b", b"c"]));
    }
}
