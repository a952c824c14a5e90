//! Makes inputs for which a comparison in an execution would come out another way.

use crate::mutate::{Case, Mutator, tokens};

/// Two unequal values that an execution compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compared {
    /// Numbers of so many bytes.
    Numbers {
        /// The one.
        a: u64,
        /// The other one.
        b: u64,
        /// Bytes that each of them has.
        size: u32,
    },
    /// Bytes; of long ones their beginnings.
    Texts {
        /// The ones.
        a: Vec<u8>,
        /// The other ones.
        b: Vec<u8>,
    },
}

/// What may stand in an input for a value, and what would stand there for the other one.
struct Exchange {
    from: Vec<u8>,
    to: Vec<u8>,
    /// Nothing but a whole number is meant.
    is_number: bool,
    /// Only in contents that are no text.
    is_binary: bool,
}

impl Compared {
    fn exchanges(&self) -> Vec<Exchange> {
        let mut all = Vec::new();
        let mut add = |from: Vec<u8>, to: Vec<u8>, is_number: bool, is_binary: bool| {
            if !from.is_empty() && from != to {
                all.push(Exchange {
                    from,
                    to,
                    is_number,
                    is_binary,
                });
            }
        };
        match self {
            Compared::Texts { a, b } => {
                for (from, to) in [(a, b), (b, a)] {
                    add(from.clone(), to.clone(), false, false);
                    add(from.clone(), [&to[..], from].concat(), false, false);
                }
            }
            &Compared::Numbers { a, b, size } => {
                for (from, to) in [(a, b), (b, a)] {
                    if let (Ok(from @ 1..), Ok(to)) = (u8::try_from(from), u8::try_from(to)) {
                        // What comes out otherwise begins beside a limit: `:` is the first behind '9'.
                        for near in [to, to.wrapping_add(1), to.wrapping_sub(1)] {
                            add(vec![from], vec![near], false, false);
                            add(vec![from], vec![from, near], false, false);
                        }
                        add(vec![from], vec![to, from], false, false);
                    }
                    let told = |value: u64| signed(value, size).to_string().into_bytes();
                    for near in [to, to.wrapping_add(1), to.wrapping_sub(1)] {
                        add(told(from), told(near), true, false);
                    }
                    for width in [2usize, 4, 8] {
                        let fits = |value: u64| width == 8 || value >> (8 * width) == 0;
                        if from < 2 || !fits(from) || !fits(to) {
                            continue;
                        }
                        let (one, other) = (from.to_le_bytes(), to.to_le_bytes());
                        add(one[..width].to_vec(), other[..width].to_vec(), false, true);
                        let (one, other) = (from.to_be_bytes(), to.to_be_bytes());
                        add(
                            one[8 - width..].to_vec(),
                            other[8 - width..].to_vec(),
                            false,
                            true,
                        );
                    }
                }
            }
        }
        all
    }

    /// What would have to stand where an input ends: programs see a zero, or nothing, there.
    fn at_end(&self) -> Option<Vec<u8>> {
        match self {
            &Compared::Numbers { a, b, .. } => match (u8::try_from(a), u8::try_from(b)) {
                (Ok(0), Ok(other @ 1..)) | (Ok(other @ 1..), Ok(0)) => Some(vec![other]),
                _ => None,
            },
            Compared::Texts { a, b } => match (a.is_empty(), b.is_empty()) {
                (true, false) => Some(b.clone()),
                (false, true) => Some(a.clone()),
                _ => None,
            },
        }
    }
}

fn signed(value: u64, size: u32) -> i64 {
    match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value as i64,
    }
}

impl Mutator {
    /// Returns at most `most` inputs like `case` in which one of the compared values is replaced by
    /// the other one.
    pub fn towards(&mut self, case: &Case, compared: &Compared, most: usize) -> Vec<Case> {
        let mut all: Vec<Case> = Vec::new();
        let count = 1 + case.arguments.len() + case.files.len();
        let exchanges = compared.exchanges();
        for part in 0..count {
            let text = part_of(case, part);
            let is_binary = text.contains(&0);
            for exchange in &exchanges {
                if exchange.is_binary && !is_binary {
                    continue;
                }
                for at in places(text, exchange) {
                    let mut new = text.to_vec();
                    new.splice(at..at + exchange.from.len(), exchange.to.iter().copied());
                    all.push(with_part(case, part, new));
                }
            }
            if let Some(end) = compared.at_end() {
                all.push(with_part(case, part, [text, &end].concat()));
            }
        }
        self.some(&mut all, most);
        all
    }

    /// Returns at most `most` inputs that have a line, a word or an argument less than `case`, or
    /// whose last line has no newline.
    pub fn neighbours(&mut self, case: &Case, most: usize) -> Vec<Case> {
        let mut all: Vec<Case> = Vec::new();
        for at in 0..case.arguments.len() {
            let mut new = case.clone();
            new.arguments.remove(at);
            all.push(new);
        }
        let first_file = 1 + case.arguments.len();
        for part in (0..1).chain(first_file..first_file + case.files.len()) {
            let text = part_of(case, part);
            if text.contains(&0) {
                continue;
            }
            let mut lines = Vec::new();
            let mut from = 0;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                lines.push((from, from + line.len()));
                from += line.len();
            }
            let ends = text.ends_with(b"\n").then(|| (text.len() - 1, text.len()));
            let words = tokens(text);
            for (from, to) in lines.into_iter().chain(words).chain(ends) {
                let mut new = text.to_vec();
                new.drain(from..to);
                all.push(with_part(case, part, new));
            }
        }
        self.some(&mut all, most);
        all
    }

    fn some(&mut self, all: &mut Vec<Case>, most: usize) {
        while all.len() > most {
            let at = self.below(all.len());
            all.swap_remove(at);
        }
    }
}

/// Where something stands that may be meant.
fn places(text: &[u8], exchange: &Exchange) -> Vec<usize> {
    /// Places of one text that are tried.
    const MOST: usize = 64;
    let length = exchange.from.len();
    if text.len() < length {
        return Vec::new();
    }
    let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    (0..=text.len() - length)
        .filter(|&at| text[at..at + length] == exchange.from)
        .filter(|&at| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            !exchange.is_number || !is_digit(before) && !is_digit(text.get(at + length))
        })
        .take(MOST)
        .collect()
}

/// Returns a part of a case: 0 is standard input, then come the arguments, then the files.
pub(crate) fn part_of(case: &Case, part: usize) -> &[u8] {
    let count = case.arguments.len();
    match part.checked_sub(1) {
        Some(argument) if argument < count => &case.arguments[argument],
        Some(file) => &case.files[file - count].1,
        None => &case.input,
    }
}

fn with_part(case: &Case, part: usize, text: Vec<u8>) -> Case {
    let mut new = case.clone();
    let count = new.arguments.len();
    match part.checked_sub(1) {
        Some(argument) if argument < count => {
            new.arguments[argument] = text.into_iter().filter(|byte| *byte != 0).collect();
        }
        Some(file) => new.files[file - count].1 = text,
        None => new.input = text,
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(input: &str, argument: &str, compared: &Compared) -> Vec<(String, String)> {
        let case = Case {
            arguments: vec![argument.into()],
            input: input.into(),
            files: Vec::new(),
        };
        let all = Mutator::new(1, Vec::new()).towards(&case, compared, 100);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        all.iter()
            .map(|case| (text(&case.input), text(&case.arguments[0])))
            .collect()
    }

    #[test]
    fn what_was_compared_is_exchanged_wherever_it_may_come_from() {
        let word = Compared::Texts {
            a: b"self".to_vec(),
            b: b"child".to_vec(),
        };
        assert!(made("self x", "", &word).contains(&("child x".into(), String::new())));
        let number = Compared::Numbers {
            a: 12,
            b: u64::from(u32::MAX),
            size: 4,
        };
        let all = made("12 123", "", &number);
        assert!(all.contains(&("-1 123".into(), String::new())));
        assert!(all.iter().all(|(input, _)| input.ends_with(" 123")));
    }

    #[test]
    fn the_characters_beside_a_limit_are_put_in_too() {
        let limit = Compared::Numbers {
            a: u64::from(b'1'),
            b: u64::from(b'9'),
            size: 1,
        };
        let all = made("/1", "", &limit);
        for expected in ["/9", "/:", "/8", "/1:"] {
            assert!(
                all.contains(&(expected.into(), String::new())),
                "{expected} of {all:?}"
            );
        }
    }

    #[test]
    fn neighbours_lack_a_line_a_word_or_an_argument() {
        let case = Case {
            arguments: vec![b"-a".to_vec()],
            input: b"a b\nc\n".to_vec(),
            files: Vec::new(),
        };
        let all = Mutator::new(1, Vec::new()).neighbours(&case, 100);
        let inputs: Vec<&[u8]> = all.iter().map(|case| &case.input[..]).collect();
        for expected in [&b"c\n"[..], b"a b\n", b" b\nc\n", b"a b\nc"] {
            assert!(inputs.contains(&expected), "{expected:?} of {inputs:?}");
        }
        assert!(all.iter().any(|case| case.arguments.is_empty()));
    }

    #[test]
    fn where_an_input_ends_that_is_added_which_was_looked_for_instead() {
        let colon = Compared::Numbers {
            a: 0,
            b: u64::from(b':'),
            size: 1,
        };
        assert!(made("", "a", &colon).contains(&(String::new(), "a:".into())));
    }
}
