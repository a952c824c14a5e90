//! Makes inputs that a person would try first: a number or a word of a test is replaced by small numbers
//! and short words.

use patchwright_compare::Case;

/// The number of tests whose inputs are changed, from the first on.
const TESTS: usize = 8;

/// The largest number of inputs that are made of all of them.
const MOST: usize = 160;

/// The number of words of the standard input of one test that are changed.
const WORDS: usize = 8;

/// In the place of a number, beside the one above and the one below.
const NUMBERS: [i64; 8] = [-1, 0, 1, 2, -2, 3, 10, 100];

/// In the place of another word.
const TEXTS: [&str; 4] = ["", "a", "ab", "A b"];

/// Returns up to 160 inputs made of `seeds` (named tests) by replacing one number or word, each with the name of its test. The
/// first change of each test comes before the second change of any.
pub fn of(seeds: &[(String, Case)]) -> Vec<(String, Case)> {
    let each: Vec<(&String, Vec<Case>)> = seeds
        .iter()
        .take(TESTS)
        .map(|(name, case)| (name, changed(case)))
        .collect();
    let longest = each.iter().map(|(_, cases)| cases.len()).max();
    let mut found: Vec<(String, Case)> = Vec::new();
    for at in 0..longest.unwrap_or(0) {
        for (name, cases) in &each {
            let Some(case) = cases.get(at) else { continue };
            let is_known = seeds.iter().chain(&found).any(|(_, known)| known == case);
            if !is_known && found.len() < MOST {
                found.push(((*name).clone(), case.clone()));
            }
        }
    }
    found
}

fn changed(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    for (at, word) in case.arguments.iter().enumerate() {
        for other in others(word) {
            let mut arguments = case.arguments.clone();
            arguments[at] = other;
            found.push(Case {
                arguments,
                ..case.clone()
            });
        }
    }
    for (start, end) in words(&case.input).into_iter().take(WORDS) {
        for other in others(&case.input[start..end]) {
            // Standard input without a word has another form.
            if !other.is_empty() {
                let input = [&case.input[..start], &other, &case.input[end..]].concat();
                found.push(Case {
                    input,
                    ..case.clone()
                });
            }
        }
    }
    found
}

/// What stands in the place of a word.
fn others(word: &[u8]) -> Vec<Vec<u8>> {
    let number = std::str::from_utf8(word).ok();
    let number = number.and_then(|word| word.parse::<i64>().ok());
    let all: Vec<String> = match number {
        Some(number) => {
            let beside = [number.checked_sub(1), number.checked_add(1)];
            let beside = beside.into_iter().flatten();
            NUMBERS
                .into_iter()
                .chain(beside)
                .map(|number| number.to_string())
                .collect()
        }
        None => TEXTS.map(str::to_owned).into(),
    };
    let all = all.into_iter().map(String::into_bytes);
    all.filter(|other| other != word).collect()
}

/// Where the words of a text begin and end.
fn words(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().chain(b" ").enumerate() {
        match (byte.is_ascii_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                found.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_tried_in_the_place_of_a_number() {
        let case = |word: &str| Case {
            arguments: vec![word.as_bytes().to_vec()],
            input: Vec::new(),
            files: Vec::new(),
        };
        let made = of(&[("a".to_owned(), case("7"))]);
        let made: Vec<Case> = made.into_iter().map(|(_, case)| case).collect();
        for wanted in ["-1", "0", "6", "8"] {
            assert!(made.contains(&case(wanted)), "{wanted}: {made:?}");
        }
        assert!(!made.contains(&case("7")));
    }

    #[test]
    fn words_of_standard_input_are_changed_where_they_stand() {
        let case = |input: &str| Case {
            arguments: Vec::new(),
            input: input.as_bytes().to_vec(),
            files: Vec::new(),
        };
        let made = of(&[("a".to_owned(), case("2\n3 x\n"))]);
        let made: Vec<Case> = made.into_iter().map(|(_, case)| case).collect();
        for wanted in ["-1\n3 x\n", "2\n4 x\n", "2\n3 a\n"] {
            assert!(made.contains(&case(wanted)), "{wanted}: {made:?}");
        }
    }
}
