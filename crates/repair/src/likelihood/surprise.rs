//! Measures how surprising words are after those before them, given the rest of the file.
//!
//! People repeat themselves: what a file says in one place it says in others. What it never says is rarely what is missing.

use rustc_hash::FxHashMap;

use super::tokens::tokens;

/// The shares of what is known after two tokens, after one, after none, and of what is not known.
const SHARES: [f64; 4] = [0.45, 0.3, 0.2, 0.05];

/// How often words follow each other in a file.
pub struct Habits<'t> {
    /// The numbers of tokens; 0 is a token that the file does not have.
    numbers: FxHashMap<&'t [u8], u32>,
    one: FxHashMap<u32, u32>,
    two: FxHashMap<(u32, u32), u32>,
    three: FxHashMap<(u32, u32, u32), u32>,
    total: f64,
}

impl<'t> Habits<'t> {
    /// Counts which words follow each other in a text.
    pub fn of(text: &'t [u8]) -> Self {
        let mut habits = Habits {
            numbers: FxHashMap::default(),
            one: FxHashMap::default(),
            two: FxHashMap::default(),
            three: FxHashMap::default(),
            total: 0.0,
        };
        let (mut second, mut first) = (0, 0);
        for token in tokens(text) {
            let next = habits.numbers.len() as u32 + 1;
            let number = *habits.numbers.entry(token).or_insert(next);
            *habits.one.entry(number).or_default() += 1;
            *habits.two.entry((first, number)).or_default() += 1;
            *habits.three.entry((second, first, number)).or_default() += 1;
            habits.total += 1.0;
            (second, first) = (first, number);
        }
        habits
    }

    /// Returns how many bits it takes to write `text` and then `after`, behind `before`. With
    /// `is_own` the text stands in the file itself, so its own occurrence does not count.
    pub fn surprise(&self, before: &[&[u8]], text: &[&[u8]], after: &[&[u8]], is_own: bool) -> f64 {
        let own = u32::from(is_own);
        let number = |token: &[u8]| self.numbers.get(token).copied().unwrap_or(0);
        let (mut second, mut first) = (0, 0);
        for token in before {
            (second, first) = (first, number(token));
        }
        let mut bits = 0.0;
        for token in text.iter().chain(after) {
            let number = number(token);
            let share = |part: Option<&u32>, whole: Option<&u32>| {
                let count = |count: Option<&u32>| {
                    f64::from(count.copied().unwrap_or(0).saturating_sub(own))
                };
                match count(whole) {
                    0.0 => 0.0,
                    whole => (count(part) / whole).min(1.0),
                }
            };
            let after_two = share(
                self.three.get(&(second, first, number)),
                self.two.get(&(second, first)),
            );
            let after_one = share(self.two.get(&(first, number)), self.one.get(&first));
            let alone = self
                .one
                .get(&number)
                .copied()
                .unwrap_or(0)
                .saturating_sub(own);
            let alone = f64::from(alone) / self.total.max(1.0);
            let unknown = 1.0 / (self.numbers.len() as f64 + 1.0);
            let [three, two, one, none] = SHARES;
            bits -= (three * after_two + two * after_one + one * alone + none * unknown).log2();
            (second, first) = (first, number);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_often_surprises_less() {
        let text = b"if (p != NULL) a(p); if (p != NULL) b(p); if (q != NULL) c(q); x = p;";
        let habits = Habits::of(text);
        let bits = |condition: &str| {
            let condition = tokens(condition.as_bytes());
            habits.surprise(&[b"if", b"("], &condition, &[b")"], false)
        };
        assert!(bits("p != NULL") < bits("q != p"));
        assert!(bits("q != p") < bits("r != s"));
        let own = |is_own| habits.surprise(&[b";", b"x"], &[b"=", b"p"], &[b";"], is_own);
        assert!(own(false) < own(true));
    }
}
