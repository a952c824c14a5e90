//! Makes inputs that are similar to others, for programs that are too large for terms.

use std::collections::BTreeSet;

use patchwright_csource::lex::{Kind, Tokens};

use crate::{random::Random, towards::part_of};

/// An input of an execution: arguments, standard input and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Case {
    /// Its arguments, without its name.
    pub arguments: Vec<Vec<u8>>,
    /// Its standard input.
    pub input: Vec<u8>,
    /// The files in the folder that it is started in: their names, relative to it, and what they hold.
    pub files: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Bytes of an input that grows at most.
const LONGEST: usize = 1 << 16;
/// Words that are taken from sources at most.
const MOST_WORDS: usize = 512;

/// Makes inputs from others. Equal seeds give equal inputs.
#[derive(Clone, Debug)]
pub struct Mutator {
    random: Random,
    words: Vec<Vec<u8>>,
    /// So many of them, the first ones, stand near what has changed.
    near: usize,
}

impl Mutator {
    /// Makes a mutator that inserts these words into inputs.
    pub fn new(seed: u64, words: Vec<Vec<u8>>) -> Mutator {
        Mutator {
            random: Random::new(seed),
            words,
            near: 0,
        }
    }

    /// Marks the first `near` words as those that stand near the change.
    pub fn with_near(self, near: usize) -> Mutator {
        Mutator { near, ..self }
    }

    /// Returns how many words near the change occur in a case. Numbers do not count.
    pub fn relevance(&self, case: &Case) -> usize {
        let is_name = |word: &&Vec<u8>| word.len() > 2 && word.iter().any(u8::is_ascii_alphabetic);
        let has = |text: &[u8], word: &[u8]| text.windows(word.len()).any(|part| part == word);
        let near = self.words.iter().take(self.near).filter(is_name);
        near.filter(|word| {
            has(&case.input, word)
                || case.arguments.iter().any(|text| has(text, word))
                || case.files.iter().any(|(_, text)| has(text, word))
        })
        .count()
    }

    /// Adds words that were found elsewhere, for instance in outputs.
    pub fn learn(&mut self, words: impl IntoIterator<Item = Vec<u8>>) {
        for word in words {
            if self.words.len() < 2 * MOST_WORDS && !self.words.contains(&word) {
                self.words.push(word);
            }
        }
    }

    /// Returns a pseudo-random number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    /// Returns a case that is similar to `case`, perhaps with parts of `other`.
    pub fn mutated(&mut self, case: &Case, other: &Case) -> Case {
        let mut new = case.clone();
        for _ in 0..1 + self.below(3) {
            if !new.files.is_empty() && self.below(3) > 0 {
                let at = self.below(new.files.len());
                let (name, held) = &new.files[at];
                let there = other.files.iter().find(|one| one.0 == *name);
                let there = there.map_or(&[][..], |one| &one.1).to_vec();
                new.files[at].1 = self.text(&held.clone(), &there, true);
                continue;
            }
            if self.below(6) == 0 && self.shared(&mut new) {
                continue;
            }
            let of_input = new.arguments.is_empty()
                || !new.input.is_empty() && self.below(2) == 0
                || self.below(12) == 0;
            if of_input {
                new.input = self.text(&new.input, &other.input, true);
                continue;
            }
            let at = self.below(new.arguments.len());
            match self.below(14) {
                0 if !other.arguments.is_empty() => {
                    let from = self.below(other.arguments.len());
                    new.arguments[at].clone_from(&other.arguments[from]);
                }
                4 | 5 if !other.arguments.is_empty() => {
                    // An option of another one, perhaps with what belongs to it.
                    let from = self.below(other.arguments.len());
                    let to = (from + 1 + self.below(2)).min(other.arguments.len());
                    let at = self.below(new.arguments.len() + 1);
                    new.arguments
                        .splice(at..at, other.arguments[from..to].iter().cloned());
                }
                1 if new.arguments.len() > 1 => {
                    new.arguments.remove(at);
                }
                2 => {
                    let again = new.arguments[at].clone();
                    new.arguments.insert(at, again);
                }
                3 => {
                    let with = self.below(new.arguments.len());
                    new.arguments.swap(at, with);
                }
                _ => {
                    let from = other.arguments.get(at).cloned().unwrap_or_default();
                    let text = self.text(&new.arguments[at], &from, false);
                    // An argument ends at its first zero.
                    new.arguments[at] = text.into_iter().filter(|byte| *byte != 0).collect();
                }
            }
        }
        new
    }

    /// Puts a part of an argument into the input, or the other way round: what programs look for in one is often said in
    /// the other. Whether there was one.
    fn shared(&mut self, case: &mut Case) -> bool {
        if case.arguments.is_empty() {
            return false;
        }
        let at = self.below(case.arguments.len());
        let to_input = case.input.is_empty() || self.below(4) > 0;
        let from = match to_input {
            true => case.arguments[at].clone(),
            false => case.input.clone(),
        };
        if from.is_empty() {
            return false;
        }
        let begin = self.below(from.len());
        let count = 1 + self.below((from.len() - begin).min(8));
        let part = from[begin..begin + count].to_vec();
        let to = match to_input {
            true => &mut case.input,
            false => &mut case.arguments[at],
        };
        let place = self.below(to.len() + 1);
        let is_plain = |byte: &u8| to_input || *byte != 0;
        to.splice(place..place, part.into_iter().filter(is_plain));
        true
    }

    /// A text like `text`.
    fn text(&mut self, text: &[u8], other: &[u8], lines: bool) -> Vec<u8> {
        let mut new = text.to_vec();
        let at = self.below(new.len() + 1);
        // What is made of lines and words is changed by these more often than by bytes.
        let is_text = lines && !new.is_empty() && !new.contains(&0);
        let change = match is_text && self.below(2) == 0 {
            true => 11 + self.below(6),
            false => self.below(18),
        };
        match change {
            14 | 13 if is_text => self.token(&mut new, other),
            14 => self.token(&mut new, other),
            15 if lines => {
                // What is left of a line, or the end of the last one.
                let end = new[at..].iter().position(|byte| *byte == b'\n');
                let to = end.map_or(new.len(), |length| at + length);
                match new.last() {
                    Some(b'\n') if self.below(3) == 0 => drop(new.pop()),
                    _ => drop(new.drain(at..to)),
                }
            }
            16 if lines => self.block(&mut new, other),
            0 if !new.is_empty() => {
                let at = at.min(new.len() - 1);
                let byte = self.byte();
                new[at] = byte;
            }
            1 => {
                let byte = self.byte();
                new.insert(at, byte);
            }
            2 if !new.is_empty() => {
                let from = at.min(new.len() - 1);
                let most = (new.len() - from).min(8);
                let count = 1 + self.below(most);
                new.drain(from..from + count);
            }
            3 | 4 if !self.words.is_empty() => {
                let word = self.word();
                new.splice(at..at, word);
            }
            5 if !self.words.is_empty() => {
                // A word in another one's place.
                let word = self.word();
                let (from, to) = run(&new, at);
                new.splice(from..to, word);
            }
            6 | 7 => {
                if let Some((from, to)) = number(&new, at) {
                    let value: i64 = std::str::from_utf8(&new[from..to])
                        .ok()
                        .and_then(|text| text.parse().ok())
                        .unwrap_or(0);
                    let changed = match self.below(9) {
                        0 => value.wrapping_add(1),
                        1 => value.wrapping_sub(1),
                        2 => value.wrapping_neg(),
                        3 => 0,
                        4 => value.wrapping_mul(2),
                        5 => value.wrapping_mul(10),
                        6 => self.below(100) as i64,
                        7 => self.below(10) as i64,
                        _ => [
                            i64::from(i32::MAX),
                            i64::from(i32::MIN),
                            255,
                            256,
                            65536,
                            -1,
                        ][self.below(6)],
                    };
                    new.splice(from..to, changed.to_string().into_bytes());
                } else {
                    let digit = b'0' + self.below(10) as u8;
                    new.insert(at, digit);
                }
            }
            8 if !other.is_empty() => {
                // The beginning of one and the end of another.
                let from = self.below(other.len());
                new.truncate(at);
                new.extend_from_slice(&other[from..]);
            }
            9 if !new.is_empty() => {
                let from = at.min(new.len() - 1);
                let count = 1 + self.below((new.len() - from).min(32));
                let part = new[from..from + count].to_vec();
                let to = self.below(new.len() + 1);
                new.splice(to..to, part);
            }
            10 if !new.is_empty() => new.truncate(at),
            11 | 12 if lines => self.lines(&mut new, other),
            _ => {
                let count = 1 + self.below(4);
                for _ in 0..count {
                    let byte = self.byte();
                    let at = self.below(new.len() + 1);
                    new.insert(at, byte);
                }
            }
        }
        new.truncate(LONGEST);
        new
    }

    /// One of the words; the first ones more often, since they are those of what differs.
    fn word(&mut self) -> Vec<u8> {
        let most = match self.below(2) {
            0 => self.words.len().min(8),
            _ => self.words.len(),
        };
        let at = self.below(most);
        self.words[at].clone()
    }

    /// Takes out a word, or puts one of another place in or in its place: what stands between blanks.
    fn token(&mut self, text: &mut Vec<u8>, other: &[u8]) {
        let all = tokens(text);
        if all.is_empty() {
            return;
        }
        let (from, to) = all[self.below(all.len())];
        if self.below(3) == 0 {
            text.drain(from..to);
            return;
        }
        let source = match self.below(2) {
            0 => other.to_vec(),
            _ => text.clone(),
        };
        let others = tokens(&source);
        if others.is_empty() {
            return;
        }
        let (first, last) = others[self.below(others.len())];
        let word = &source[first..last];
        match self.below(3) {
            0 => drop(text.splice(from..from, [word, b" "].concat())),
            _ => drop(text.splice(from..to, word.iter().copied())),
        }
    }

    /// Puts some lines of another text, or of this one, between its lines: before the first, behind the last, or anywhere.
    fn block(&mut self, text: &mut Vec<u8>, other: &[u8]) {
        let source = match self.below(3) {
            0 => text.clone(),
            _ => other.to_vec(),
        };
        let lines: Vec<&[u8]> = source.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.is_empty() {
            return;
        }
        let (from, to) = match self.below(3) {
            0 => (0, lines.len()),
            _ => {
                let from = self.below(lines.len());
                (from, from + 1 + self.below((lines.len() - from).min(12)))
            }
        };
        let ends: Vec<usize> = (0..text.len())
            .filter(|&at| text[at] == b'\n')
            .map(|at| at + 1)
            .collect();
        let at = match self.below(4) {
            0 => 0,
            1 => text.len(),
            _ if ends.is_empty() => text.len(),
            _ => ends[self.below(ends.len())],
        };
        text.splice(at..at, lines[from..to].concat());
    }

    /// Takes out a line or some that follow each other, puts one in twice, exchanges two, or takes one of another text.
    fn lines(&mut self, text: &mut Vec<u8>, other: &[u8]) {
        let mut lines: Vec<Vec<u8>> = text
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if lines.is_empty() {
            lines.push(b"\n".to_vec());
        }
        let at = self.below(lines.len());
        match self.below(5) {
            0 => {
                lines.remove(at);
            }
            4 => {
                let count = 1 + self.below((lines.len() - at).min(6));
                lines.drain(at..at + count);
            }
            1 => {
                let again = lines[at].clone();
                lines.insert(at, again);
            }
            2 => {
                let with = self.below(lines.len());
                lines.swap(at, with);
            }
            _ => {
                let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
                if !others.is_empty() {
                    let from = self.below(others.len());
                    lines.insert(at, others[from].to_vec());
                }
            }
        }
        *text = lines.concat();
    }

    fn byte(&mut self) -> u8 {
        const USUAL: &[u8] = b"0123456789abcxyzABZ -+*/%=<>()[]{}.,:;!?@#$^&|~'\"\\_\n\t\0\xff\x80";
        match self.below(8) {
            0 => self.below(256) as u8,
            _ => USUAL[self.below(USUAL.len())],
        }
    }
}

/// Returns the words of a text: the beginning and the end of each run of bytes between blanks.
pub(crate) fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut begin = None;
    for (at, byte) in text.iter().chain(b" ").enumerate() {
        match (begin, byte.is_ascii_whitespace()) {
            (None, false) => begin = Some(at),
            (Some(from), true) => {
                all.push((from, at));
                begin = None;
            }
            _ => {}
        }
    }
    all
}

/// The letters and digits around a place.
fn run(text: &[u8], at: usize) -> (usize, usize) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let from = text[..at].iter().rposition(|byte| !is_part(byte));
    let from = from.map_or(0, |before| before + 1);
    let to = text[at..].iter().position(|byte| !is_part(byte));
    (from, to.map_or(text.len(), |after| at + after))
}

/// The number at or behind a place, with its sign.
fn number(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = at + text[at..].iter().position(u8::is_ascii_digit)?;
    let from = text[..first]
        .iter()
        .rposition(|byte| !byte.is_ascii_digit());
    let from = from.map_or(0, |before| before + 1);
    let to = text[first..].iter().position(|byte| !byte.is_ascii_digit());
    let to = to.map_or(text.len(), |after| first + after);
    let from = from - usize::from(from > 0 && text[from - 1] == b'-');
    Some((from, to))
}

/// Returns words of C sources that programs may look for in their inputs: quoted texts, numbers, and the
/// numbers next to them. Words of `first` come first.
pub fn words(first: &[u8], sources: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for source in std::iter::once(&first).chain(sources) {
        for word in quoted_and_numbers(source) {
            if all.len() < MOST_WORDS && seen.insert(word.clone()) {
                all.push(word);
            }
        }
    }
    all
}

fn quoted_and_numbers(source: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for token in Tokens::new(source) {
        match token.kind {
            Kind::String | Kind::Character => {
                let text = unescaped(&token.text());
                if !text.is_empty() && text.len() <= 64 {
                    found.push(text);
                }
            }
            Kind::Number => {
                let text = String::from_utf8_lossy(&token.text()).into_owned();
                let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
                let value = match plain.strip_prefix("0x").or(plain.strip_prefix("0X")) {
                    Some(digits) => i64::from_str_radix(digits, 16).ok(),
                    None => plain.parse().ok(),
                };
                if let Some(value) = value {
                    for near in [value, value.saturating_add(1), value.saturating_sub(1)] {
                        found.push(near.to_string().into_bytes());
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// What stands between the quotation marks of a literal, with the usual escapes as what they mean.
fn unescaped(literal: &[u8]) -> Vec<u8> {
    let open = literal.iter().position(|byte| matches!(byte, b'"' | b'\''));
    let inner = open.and_then(|open| literal.get(open + 1..literal.len() - 1));
    let mut bytes = inner.unwrap_or_default().iter();
    let mut text = Vec::new();
    while let Some(&byte) = bytes.next() {
        text.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                Some(&other) => other,
                None => byte,
            },
            _ => byte,
        });
    }
    text
}

/// Returns a smaller case for which `still` holds. It calls `still` at most `tries` times.
pub fn shrunk(case: &Case, tries: usize, still: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = tries;
    let mut better = |new: Case, best: &mut Case| -> bool {
        if left == 0 || new == *best {
            return false;
        }
        left -= 1;
        let is = still(&new);
        if is {
            *best = new;
        }
        is
    };
    let mut at = best.arguments.len();
    while at > 0 {
        at -= 1;
        let mut new = best.clone();
        new.arguments.remove(at);
        better(new, &mut best);
    }
    let mut at = best.files.len();
    while at > 0 {
        at -= 1;
        let mut new = best.clone();
        new.files.remove(at);
        better(new, &mut best);
    }
    for part in 0..=best.arguments.len() + best.files.len() {
        let mut size = part_of(&best, part).len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < part_of(&best, part).len() {
                let mut new = best.clone();
                let count = new.arguments.len();
                let text = match part.checked_sub(1) {
                    Some(argument) if argument < count => &mut new.arguments[argument],
                    Some(file) => &mut new.files[file - count].1,
                    None => &mut new.input,
                };
                let to = (from + size).min(text.len());
                text.drain(from..to);
                if !better(new, &mut best) {
                    from += size;
                }
            }
            size /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_stands_between_quotes_and_numbers_with_those_next_to_them() {
        let found = words(b"if (c == '\\n' && n > 0x10) f(\"ab\", x2);", &[]);
        let expected: [&[u8]; 5] = [b"\n", b"16", b"17", b"15", b"ab"];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let case = Case {
            arguments: vec![b"12".to_vec()],
            input: b"one\ntwo\n".to_vec(),
            files: Vec::new(),
        };
        let all = |seed| -> Vec<Case> {
            let mut mutator = Mutator::new(seed, vec![b"word".to_vec()]);
            (0..200).map(|_| mutator.mutated(&case, &case)).collect()
        };
        assert_eq!(all(3), all(3));
        assert_ne!(all(3), all(4));
    }

    #[test]
    fn cases_with_words_of_what_has_changed_are_relevant() {
        let words = words(
            b"x == 7 || is(\"rename\", 'r') || is(\"copy\")",
            &[b"\"other\""],
        );
        let near = words.len() - 1;
        let mutator = Mutator::new(1, words).with_near(near);
        let case = |input: &str, file: &str| Case {
            input: input.into(),
            files: vec![(b"name".to_vec(), file.into())],
            ..Case::default()
        };
        assert_eq!(mutator.relevance(&case("rename a to b, 7 r", "copy")), 2);
        assert_eq!(mutator.relevance(&case("other 7 r", "")), 0);
    }

    #[test]
    fn a_case_shrinks_to_what_is_needed() {
        let case = Case {
            arguments: vec![b"-v".to_vec(), b"name".to_vec()],
            input: b"some text with a # in it".to_vec(),
            files: Vec::new(),
        };
        let small = shrunk(&case, 1000, &mut |case| case.input.contains(&b'#'));
        assert_eq!(small.input, b"#");
        assert!(small.arguments.is_empty());
    }
}
