//! The test-equivalence relations that a search uses, so that their benefit can be measured (f1x, section
//! 6.4).

use std::hash::{DefaultHasher, Hash, Hasher};

use patchwright_space::HoleKind;

/// The relations by which candidates are test-equivalent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relations {
    /// Their values in the states of the hole; and for assignments, together with that, where the
    /// variable is touched.
    #[default]
    Both,
    /// Values only: each place of an assignment has classes of its own.
    Value,
    /// Dependencies only: one assignment, at different places. Other candidates are executed one by one.
    Dependency,
    /// Nothing: each candidate is executed by itself (f1x, algorithm 2).
    None,
}

impl Relations {
    /// Whether the candidates of such a hole are executed one by one, not in groups of equal values.
    pub(crate) fn is_singly(self) -> bool {
        matches!(self, Relations::Dependency | Relations::None)
    }

    /// Candidates of such a hole have classes.
    pub(crate) fn has_classes(self, kind: &HoleKind) -> bool {
        match self {
            Relations::Both | Relations::Value => true,
            Relations::Dependency => matches!(kind, HoleKind::Assignment(_)),
            Relations::None => false,
        }
    }

    /// Whether one execution of the original program shows what all places of a variable have in common.
    pub(crate) fn joins_places(self) -> bool {
        matches!(self, Relations::Both | Relations::Dependency)
    }
}

impl std::str::FromStr for Relations {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "both" => Ok(Relations::Both),
            "value" => Ok(Relations::Value),
            "dependency" => Ok(Relations::Dependency),
            "none" => Ok(Relations::None),
            _ => Err(format!(
                "`{name}` is no relation; write both, value, dependency or none"
            )),
        }
    }
}

/// A random part of a space, the same in every run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The probability of each candidate to be in it.
    pub rate: f64,
    /// Chooses the sample.
    pub seed: u64,
}

impl Sample {
    /// Whether the sample contains the candidate that `key` identifies.
    pub fn contains(&self, key: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        (self.seed, key).hash(&mut hasher);
        (hasher.finish() as f64) < self.rate * u64::MAX as f64
    }
}

/// The limits of a search. Unlike a time limit, they end it at the same place in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Executions of tests.
    pub executions: Option<u64>,
    /// Candidates whose cost was reached. The last location's are all in.
    pub candidates: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn a_sample_has_about_the_part_that_is_wanted_and_is_the_same_again() {
        let sample = Sample {
            rate: 0.25,
            seed: 7,
        };
        let chosen = || (0..4000u32).filter(|key| sample.contains(key));
        assert!((800..1200).contains(&chosen().count()));
        assert!(chosen().eq(chosen()));
        let all = Sample { rate: 1.0, seed: 7 };
        assert!((0..4000u32).all(|key| all.contains(&key)));
    }
}
