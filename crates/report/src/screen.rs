//! Makes text for people safe to show. Names of files and the output of builds, tests and patches may
//! have control characters, which move a terminal's cursor, hide text or reorder it.
//!
//! Everything that is shown is escaped, except for the styles of Patchwright itself. These are written with a mark that is drawn
//! anew in each process, so that foreign text cannot have it.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Whether a character does something to a terminal, or to the order in which text is shown.
fn is_control(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// A control character as it is shown. From U+007F on it is one that strings of JSON may have, too, which escape all others
/// themselves: so JSON stays JSON.
fn push_escaped(c: char, text: &mut String) {
    use std::fmt::Write;
    let _ = match u32::from(c) {
        number @ 0..0x20 => write!(text, "\\x{number:02x}"),
        number => write!(text, "\\u{number:04x}"),
    };
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_foreign = |c: char| is_control(c) && !stays(c);
    let Some(first) = text.find(is_foreign) else {
        return Cow::Borrowed(text);
    };
    let mut new = String::with_capacity(text.len() + 16);
    new.push_str(&text[..first]);
    for c in text[first..].chars() {
        match is_foreign(c) {
            true => push_escaped(c, &mut new),
            false => new.push(c),
        }
    }
    Cow::Owned(new)
}

/// Returns text of several lines in which control characters are visible: `\x1b` for ESC. Line ends of
/// all systems stay, so that a diff can still be applied.
pub fn visible(text: &str) -> Cow<'_, str> {
    const END: &str = "\r\n";
    if !text.contains(END) {
        return escaped(text, |c| matches!(c, '\n' | '\t'));
    }
    let lines: Vec<Cow<'_, str>> = text.split(END).map(visible).collect();
    Cow::Owned(lines.join(END))
}

/// Returns text that stays on one line: line ends become visible as `\x0a`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// What begins a style: a character for private use that this process has drawn.
fn mark() -> char {
    static MARK: OnceLock<char> = OnceLock::new();
    *MARK.get_or_init(|| {
        let drawn = RandomState::new().hash_one("mark") % 0xfffe;
        char::from_u32(0xf_0000 + drawn as u32).unwrap_or('\u{f0000}')
    })
}

/// Text in a style, with the codes of ECMA-48. Only [`shown`] makes that a sequence for a terminal.
pub(crate) fn styled(codes: &str, text: &str) -> String {
    let mark = mark();
    format!("{mark}{codes}m{text}{mark}0m")
}

/// Returns text for a terminal, or for a file in its place: control characters are escaped, and only this
/// crate's own styles stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    let mark = mark();
    if !text.contains(mark) {
        return text;
    }
    Cow::Owned(text.replace(mark, "\x1b["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen_and_nothing_else_is_touched() {
        let plain = "tab\tand line\nÄ 日本語 \u{1f600} \\x1b";
        assert!(matches!(shown(plain), Cow::Borrowed(text) if text == plain));
        for (text, wanted) in [
            ("a\x1b[2K\rb", "a\\x1b[2K\\x0db"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("\x7f\u{9b}2J\u{85}", "\\u007f\\u009b2J\\u0085"),
            ("\u{202e}evil\u{2066}\u{200f}", "\\u202eevil\\u2066\\u200f"),
            ("\0\x0b\x0c", "\\x00\\x0b\\x0c"),
            ("a\r\nb\r", "a\r\nb\\x0d"),
        ] {
            assert_eq!(shown(text), wanted);
        }
        assert_eq!(one_line("a\n\tb"), "a\\x0a\\x09b");
    }

    #[test]
    fn only_styles_of_our_own_become_sequences_for_a_terminal() {
        let text = format!("{} \x1b[32mgreen\x1b[0m", styled("1;32", "plausible"));
        assert_eq!(
            shown(&text),
            "\x1b[1;32mplausible\x1b[0m \\x1b[32mgreen\\x1b[0m"
        );
    }

    #[test]
    fn json_means_the_same_when_it_is_shown() {
        let all: String = (0..0x2100).filter_map(char::from_u32).collect();
        let json = serde_json::to_string_pretty(&[&all]).unwrap();
        let read: Vec<String> = serde_json::from_str(&shown(&json)).unwrap();
        assert_eq!(read, [all]);
    }
}
