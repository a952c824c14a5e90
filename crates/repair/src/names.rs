//! Finds the names of variables and members in a text.

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
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < text.len() && text[at] != quote {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at += 1;
            }
            byte if is_of_word(byte) => {
                let length = text[at..].iter().take_while(|byte| is_of_word(**byte));
                let end = at + length.count();
                let word = &text[at..end];
                let is_called = text[end..].trim_ascii_start().starts_with(b"(");
                let is_name = !byte.is_ascii_digit()
                    && word.iter().any(u8::is_ascii_lowercase)
                    && !word.ends_with(b"_t")
                    && !WORDS.contains(&word);
                if is_name && !is_called {
                    found.push(word);
                }
                at = end;
            }
            _ => at += 1,
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
