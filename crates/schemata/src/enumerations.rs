//! Enumerations whose enumerators get other values: the type stays what it is, and the constants are those of another enumeration
//! beside it.

use std::collections::BTreeSet;

use patchwright_csource::lex;

use crate::outside::{enumerators, items};

/// The enumeration that has the constants of a changed one, and their names; `None` if the change is another one, or could change
/// the type of numbers that the enumeration is.
pub(crate) fn constants(old: &[u8], new: &[u8]) -> Option<(Vec<u8>, BTreeSet<String>)> {
    let (old_around, old_list) = parts(old)?;
    let (new_around, new_list) = parts(new)?;
    let old_names = enumerators(old_list)?;
    let new_names = enumerators(new_list)?;
    let stay = old_names.iter().all(|name| new_names.contains(name));
    // `enum { A, B } first = A;`
    let mut words = old_around.iter().flat_map(|text| lex::words(text));
    if words.any(|word| new_names.contains(&word)) {
        return None;
    }
    if old_around != new_around
        || !stay
        || !is_plain(old_list, &old_names)
        || !is_plain(new_list, &new_names)
    {
        return None;
    }
    let text = [b"enum ", new_list, b";"].concat();
    Some((text, new_names.into_iter().collect()))
}

/// The words round the list of an enumeration's definition, and the list with its braces.
fn parts(text: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let items = items(text)?;
    let [item] = &items[..] else {
        return None;
    };
    if item.conditional {
        return None;
    }
    let words: Vec<&[u8]> = item
        .tokens
        .iter()
        .map(|token| token.span.slice(text).unwrap_or_default())
        .collect();
    let kind = words.iter().position(|word| *word == b"enum")?;
    let list = words[kind..].iter().position(|word| word[0] == b'{')?;
    // The tag at most is between.
    if list > 2 {
        return None;
    }
    let (mut around, list) = (words.clone(), words[kind + list]);
    around.retain(|word| word[0] != b'{');
    Some((around, list))
}

/// Whether all values are small and not negative, as far as the text tells: then the enumeration is an `unsigned int`.
fn is_plain(list: &[u8], names: &[String]) -> bool {
    let mut digits = list.chunk_by(|a, b| lex::is_word(*a) && lex::is_word(*b));
    let are_small = digits.all(|word| !word[0].is_ascii_digit() || word.len() <= 8);
    are_small
        && !list.iter().any(|byte| b"-~!?\"#".contains(byte))
        && lex::words(list).iter().all(|word| names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_an_enumeration_change_and_its_type_does_not() {
        let changed = |old: &str, new: &str| {
            let (text, names) = constants(old.as_bytes(), new.as_bytes())?;
            let names: Vec<String> = names.into_iter().collect();
            Some(format!(
                "{} {}",
                String::from_utf8(text).unwrap(),
                names.join(" ")
            ))
        };
        assert_eq!(
            changed("enum e { A, B = 3 };", "enum e { B, A = 'x', C };").as_deref(),
            Some("enum { B, A = 'x', C }; A B C")
        );
        assert_eq!(
            changed("typedef enum { A, B } e;", "typedef enum { A = 2, B } e;").as_deref(),
            Some("enum { A = 2, B }; A B")
        );
        for (old, new) in [
            ("enum e { A, B };", "enum e { A, B = -1 };"),
            ("enum e { A, B = -1 };", "enum e { A, B };"),
            ("enum e { A, B };", "enum e { A };"),
            ("enum { A, B } e = A;", "enum { A = 2, B } e = A;"),
            ("enum e { A, B };", "enum f { A, B = 2 };"),
            ("enum e { A, B };", "enum e { A, B = OTHER };"),
            ("enum e { A, B };", "enum e { A, B = 4294967295 };"),
            ("enum e { A };", "enum e { A = 2 }; int x;"),
            ("enum e f(enum g { A } x);", "enum e f(enum g { A = 1 } x);"),
        ] {
            assert_eq!(changed(old, new), None, "{new}");
        }
    }
}
