//! Finds the names of variables and members in a text.

use patchwright_csource::lex::{Kind, Token, Tokens};

/// Words that name no variable.
const WORDS: [&[u8]; 16] = [
    b"char",
    b"const",
    b"double",
    b"float",
    b"int",
    b"long",
    b"short",
    b"signed",
    b"sizeof",
    b"struct",
    b"unsigned",
    b"void",
    b"if",
    b"else",
    b"return",
    b"break",
];

/// The names of variables and members in a text. Those in capitals are constants, and those before a bracket are functions.
pub(crate) fn names(text: &[u8]) -> Vec<&[u8]> {
    let tokens: Vec<Token<'_>> = Tokens::new(text).collect();
    let mut found = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let word = token.raw;
        let is_called = tokens.get(number + 1).is_some_and(|next| next.is("("));
        let is_name = token.kind == Kind::Word
            && word.iter().any(u8::is_ascii_lowercase)
            && !word.ends_with(b"_t")
            && !WORDS.contains(&word);
        if is_name && !is_called {
            found.push(word);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_variables_and_members() {
        let of = |text: &'static str| -> Vec<String> {
            let names = names(text.as_bytes()).into_iter();
            names
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect()
        };
        assert_eq!(of("p->next + (int)n2 * 0x1f"), ["p", "next", "n2"]);
        assert!(of("f(1) == 'a' + '\\'' && g (\"x\") < LIMIT && (size_t)1").is_empty());
    }
}
