//! Splits C code into words and signs.

use patchwright_csource::lex::{skip_blank, step};

/// Signs of several bytes, longer ones first.
const SIGNS: [&[u8]; 24] = [
    b"<<=", b">>=", b"...", b"->", b"++", b"--", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&",
    b"||", b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=", b"##", b"::",
];

/// Returns the words and signs of a text with their byte offsets. Blanks and comments are skipped.
pub fn placed_tokens(text: &[u8]) -> Vec<(&[u8], usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at = skip_blank(text, at);
        if at >= text.len() {
            return found;
        }
        let mut end = step(text, at).min(text.len());
        if text[at] == b'.' && text.get(at + 1).is_some_and(u8::is_ascii_digit) {
            end = step(text, at + 1).min(text.len());
        } else if end == at + 1
            && text
                .get(end)
                .is_some_and(|next| b"=<>&|+-.#:".contains(next))
        {
            let sign = SIGNS.iter().find(|sign| text[at..].starts_with(sign));
            end = at + sign.map_or(1, |sign| sign.len());
        }
        found.push((&text[at..end], at));
        at = end;
    }
}

/// Returns the words and signs of a text.
pub fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let placed = placed_tokens(text);
    placed.into_iter().map(|(token, _)| token).collect()
}

/// Whether a token is a name or a keyword.
pub fn is_word(token: &[u8]) -> bool {
    let first = token.first();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Whether a token is a number.
pub fn is_number(token: &[u8]) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    digit(token.first()) || token.first() == Some(&b'.') && digit(token.get(1))
}

/// Words of C that name no variable.
const KEYWORDS: [&[u8]; 34] = [
    b"auto",
    b"break",
    b"case",
    b"char",
    b"const",
    b"continue",
    b"default",
    b"do",
    b"double",
    b"else",
    b"enum",
    b"extern",
    b"float",
    b"for",
    b"goto",
    b"if",
    b"inline",
    b"int",
    b"long",
    b"register",
    b"return",
    b"short",
    b"signed",
    b"sizeof",
    b"static",
    b"struct",
    b"switch",
    b"typedef",
    b"union",
    b"unsigned",
    b"void",
    b"volatile",
    b"while",
    b"_Bool",
];

/// Whether a token is a keyword of C.
pub fn is_keyword(token: &[u8]) -> bool {
    KEYWORDS.contains(&token)
}

/// Whether a token is a name.
pub fn is_name(token: &[u8]) -> bool {
    is_word(token) && !is_keyword(token)
}

/// Whether a token looks like a constant: a number, a character, or a name in capitals.
pub fn is_constant(token: &[u8]) -> bool {
    is_number(token) || token.first() == Some(&b'\'') || is_in_capitals(token)
}

/// Whether a name is written in capitals, as those of macros and enumerators are.
pub fn is_in_capitals(token: &[u8]) -> bool {
    is_name(token)
        && token.len() > 1
        && !token.iter().any(u8::is_ascii_lowercase)
        && token.iter().any(u8::is_ascii_uppercase)
}

/// Returns the value of a whole number, or `None` for other tokens.
pub fn value(token: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(token).ok()?;
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_several_bytes_are_one_token_and_comments_are_none() {
        let text = b"if (a>>=1 /* why */ && p->n != .5f) // end\n  s = \"a b\";";
        let found: Vec<String> = tokens(text)
            .into_iter()
            .map(|token| String::from_utf8_lossy(token).into_owned())
            .collect();
        assert_eq!(
            found,
            [
                "if", "(", "a", ">>=", "1", "&&", "p", "->", "n", "!=", ".5f", ")", "s", "=",
                "\"a b\"", ";"
            ]
        );
    }

    #[test]
    fn numbers_have_values_in_any_base() {
        assert_eq!(value(b"0x10u"), Some(16));
        assert_eq!(value(b"42UL"), Some(42));
        assert_eq!(value(b"n"), None);
    }
}
