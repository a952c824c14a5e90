//! Random numbers that are the same in each run, and the smallest of them that show a mistake.

use std::fmt;

/// Tries with smaller numbers, at most.
const MOST_TRIES: usize = 2000;

/// Numbers that follow from a seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), or that
/// were kept from another row and made smaller.
#[derive(Clone, Debug, Default)]
pub struct Random {
    state: u64,
    /// What is given instead, and nothing but zeros behind it.
    kept: Option<Vec<u64>>,
    /// What was given so far.
    given: Vec<u64>,
}

impl Random {
    /// Returns the row of a seed.
    pub fn new(seed: u64) -> Random {
        Random {
            state: seed,
            ..Random::default()
        }
    }

    /// Returns 64 bits.
    #[allow(clippy::should_implement_trait, reason = "a row has no end")]
    pub fn next(&mut self) -> u64 {
        self.choose(|bits| bits)
    }

    /// Returns a number below `bound`, which is not zero.
    pub fn below<N>(&mut self, bound: N) -> N
    where
        N: TryInto<u64> + TryFrom<u64>,
    {
        let bound: u64 = bound.try_into().ok().expect("a bound is not negative");
        let chosen = self.choose(|bits| bits % bound);
        N::try_from(chosen % bound).ok().expect("it is smaller")
    }

    /// Whether something that happens so many times in a hundred does.
    pub fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// Returns one of the items.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn choose(&mut self, small: impl Fn(u64) -> u64) -> u64 {
        let chosen = match &self.kept {
            Some(kept) => small(kept.get(self.given.len()).copied().unwrap_or(0)),
            None => {
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = self.state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                small(mixed ^ (mixed >> 31))
            }
        };
        self.given.push(chosen);
        chosen
    }

    fn again(kept: Vec<u64>) -> Random {
        Random {
            kept: Some(kept),
            ..Random::default()
        }
    }
}

/// Returns the number of random cases of a test: `usual`, or `nightly` in the profile of that name (`.config/nextest.toml`), or the number
/// in `PATCHWRIGHT_RANDOM`.
pub fn cases(usual: u64, nightly: u64) -> u64 {
    let variable = |name| std::env::var(name).ok();
    let wanted = variable("PATCHWRIGHT_RANDOM").and_then(|text| text.parse().ok());
    let is_nightly = variable("NEXTEST_PROFILE").is_some_and(|profile| profile == "nightly");
    wanted.unwrap_or(if is_nightly { nightly } else { usual })
}

/// Holds something to be true for the numbers of each seed. Where it is not, numbers are left out and made smaller as long as it
/// still is not.
///
/// # Panics
/// With what is wrong for the smallest numbers.
pub fn check<E: fmt::Display>(
    seeds: impl IntoIterator<Item = u64>,
    holds: impl Fn(&mut Random) -> Result<(), E>,
) {
    for seed in seeds {
        let mut random = Random::new(seed);
        if let Err(error) = holds(&mut random) {
            let (error, tries) = smallest(random.given, error, &holds);
            panic!("seed {seed}, with the smallest of {tries} rows of numbers: {error}");
        }
    }
}

fn smallest<E>(
    mut row: Vec<u64>,
    mut error: E,
    holds: &impl Fn(&mut Random) -> Result<(), E>,
) -> (E, usize) {
    let mut tries = 0;
    let mut attempt = |row: &mut Vec<u64>, error: &mut E, other: Vec<u64>| {
        let is_smaller = (other.len(), &other) < (row.len(), row);
        if !is_smaller || tries == MOST_TRIES {
            return false;
        }
        tries += 1;
        let mut random = Random::again(other);
        match holds(&mut random) {
            Ok(()) => false,
            Err(found) => {
                let mut given = random.given;
                while given.last() == Some(&0) {
                    given.pop();
                }
                if (given.len(), &given) >= (row.len(), row) {
                    return false;
                }
                *row = given;
                *error = found;
                true
            }
        }
    };
    let mut changed = true;
    while changed {
        changed = false;
        // Parts of it are left out, large ones first.
        let mut length = row.len();
        while length > 0 {
            let mut start = 0;
            while start < row.len() {
                let end = (start + length).min(row.len());
                let other = [&row[..start], &row[end..]].concat();
                match attempt(&mut row, &mut error, other) {
                    true => changed = true,
                    false => start += length,
                }
            }
            length /= 2;
        }
        // Each number becomes nothing, half, one less.
        for at in 0..row.len() {
            for smaller in [
                |_| 0,
                |number: u64| number / 2,
                |number: u64| number.saturating_sub(1),
            ] {
                while at < row.len() {
                    let mut other = row.clone();
                    other[at] = smaller(other[at]);
                    if !attempt(&mut row, &mut error, other) {
                        break;
                    }
                    changed = true;
                }
            }
        }
    }
    (error, tries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let row = |seed| {
            let mut random = Random::new(seed);
            std::array::from_fn::<u64, 5, _>(|_| random.below(1000))
        };
        assert_eq!(row(3), row(3));
        assert_ne!(row(3), row(4));
        assert!((0..100).all(|seed| Random::new(seed).below(7_usize) < 7));
    }

    #[test]
    fn what_is_wrong_is_shown_for_the_smallest_numbers() {
        let wrong = std::panic::catch_unwind(|| {
            check(0..50, |random| {
                let count = random.below(20_usize);
                let all: Vec<u64> = (0..count).map(|_| random.below(1000)).collect();
                match all.iter().any(|&one| one > 100) {
                    true => Err(format!("{all:?}")),
                    false => Ok(()),
                }
            });
        });
        let message = wrong.expect_err("it is wrong");
        let message = message.downcast_ref::<String>().expect("a text");
        assert!(message.ends_with(": [101]"), "{message}");
    }
}
