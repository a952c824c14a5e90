//! Formulas of spectrum-based fault localization: suspicion from the numbers of failing and passing
//! tests.

use std::fmt;
use std::str::FromStr;

/// The numbers of failing and passing tests that execute a statement, and of all failing and passing
/// tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Failing tests that execute it.
    pub failing: usize,
    /// Passing tests that execute it.
    pub passing: usize,
    /// Failing tests.
    pub all_failing: usize,
    /// Passing tests.
    pub all_passing: usize,
}

/// A formula of spectrum-based fault localization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Ochiai: `f / √(F · (f + p))`, from 0 to 1.
    #[default]
    Ochiai,
    /// Tarantula: `(f/F) / (f/F + p/P)`, from 0 to 1.
    Tarantula,
    /// DStar with exponent 2: `f² / (p + (F − f))`; infinite when only failing tests execute the statement, and all of
    /// them.
    DStar,
    /// Op2: `f − p / (P + 1)`; best when there is one fault.
    Op2,
}

impl Formula {
    /// All formulas. The first one is the default.
    pub const ALL: [Formula; 4] = [
        Formula::Ochiai,
        Formula::Tarantula,
        Formula::DStar,
        Formula::Op2,
    ];

    /// Returns the name of the formula on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Ochiai => "ochiai",
            Formula::Tarantula => "tarantula",
            Formula::DStar => "dstar",
            Formula::Op2 => "op2",
        }
    }

    /// Returns the score of a statement; a greater one is more suspicious. A statement that no
    /// failing test executes has 0, or less with Op2.
    pub fn score(self, counts: Counts) -> f64 {
        let number = |count: usize| count as f64;
        let ratio = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
        let (f, p) = (number(counts.failing), number(counts.passing));
        let (all_f, all_p) = (number(counts.all_failing), number(counts.all_passing));
        match self {
            Formula::Ochiai => ratio(f, (all_f * (f + p)).sqrt()),
            Formula::Tarantula => {
                let failing = ratio(f, all_f);
                ratio(failing, failing + ratio(p, all_p))
            }
            Formula::DStar => ratio(f * f, p + (all_f - f)),
            Formula::Op2 => f - p / (all_p + 1.0),
        }
    }

    /// Returns the score scaled to the range from 0 to 1, in the same order, so that it can be
    /// combined with other evidence.
    pub fn suspiciousness(self, counts: Counts) -> f64 {
        let score = self.score(counts);
        match self {
            Formula::Ochiai | Formula::Tarantula => score,
            Formula::DStar if score.is_infinite() => 1.0,
            Formula::DStar => score / (1.0 + score),
            // From above -1 to the number of failing tests.
            Formula::Op2 => (score + 1.0) / (counts.all_failing as f64 + 1.0),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error that a name is not that of a formula. It lists the names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no formula; there are ochiai, tarantula, dstar and op2")]
pub struct UnknownFormula(String);

impl FromStr for Formula {
    type Err = UnknownFormula;

    fn from_str(text: &str) -> Result<Self, UnknownFormula> {
        Formula::ALL
            .into_iter()
            .find(|formula| formula.name() == text)
            .ok_or_else(|| UnknownFormula(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(failing: usize, passing: usize, all_failing: usize, all_passing: usize) -> Counts {
        Counts {
            failing,
            passing,
            all_failing,
            all_passing,
        }
    }

    /// The program `mid` of Jones and Harrold (Tarantula, 2005): six tests, of which the last fails; the fault is in
    /// `m = y` under `else if (x < z)`.
    #[test]
    fn the_example_mid_has_the_published_scores() {
        // Passing tests that execute each statement, whether the failing one does, and Tarantula as published.
        let rows = [
            ("read x, y, z", 5, 1, 0.5),
            ("if (y < z)", 5, 1, 0.5),
            ("if (x < y)", 3, 1, 0.63),
            ("m = y", 1, 0, 0.0),
            ("else if (x < z)", 2, 1, 0.71),
            ("m = y, the fault", 1, 1, 0.83),
            ("if (x > y)", 2, 0, 0.0),
            ("print m", 5, 1, 0.5),
        ];
        for (statement, passing, failing, published) in rows {
            let score = Formula::Tarantula.score(counts(failing, passing, 1, 5));
            assert!((score - published).abs() < 0.006, "{statement}: {score}");
        }
        // By hand: 1 / √(1 · 2), 1² / (1 + 0), 1 − 1/6.
        let fault = counts(1, 1, 1, 5);
        assert!((Formula::Ochiai.score(fault) - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((Formula::DStar.score(fault) - 1.0).abs() < 1e-12);
        assert!((Formula::Op2.score(fault) - 0.8333).abs() < 1e-4);
    }

    #[test]
    fn what_only_failing_tests_execute_is_infinite_for_dstar_and_1_in_range() {
        let only = counts(3, 0, 3, 4);
        assert!(Formula::DStar.score(only).is_infinite());
        assert_eq!(Formula::DStar.suspiciousness(only), 1.0);
        assert_eq!(Formula::Ochiai.score(only), 1.0);
        assert_eq!(Formula::Tarantula.score(only), 1.0);
    }

    #[test]
    fn names_read_back() {
        for formula in Formula::ALL {
            assert_eq!(formula.name().parse(), Ok(formula));
        }
        let error = "jaccard".parse::<Formula>().unwrap_err().to_string();
        assert!(error.contains("ochiai"), "{error}");
    }

    fn any_counts() -> impl Strategy<Value = Counts> {
        (1usize..40, 0usize..40).prop_flat_map(|(all_failing, all_passing)| {
            (0..=all_failing, 0..=all_passing)
                .prop_map(move |(f, p)| counts(f, p, all_failing, all_passing))
        })
    }

    proptest! {
        #[test]
        fn what_all_failing_tests_and_no_passing_test_execute_has_the_top_score(c in any_counts()) {
            let top = counts(c.all_failing, 0, c.all_failing, c.all_passing);
            for formula in Formula::ALL {
                prop_assert!(formula.score(top) >= formula.score(c), "{formula}");
            }
        }

        #[test]
        fn further_failing_tests_never_lower_a_score_and_passing_ones_never_raise_it(c in any_counts()) {
            for formula in Formula::ALL {
                if c.failing < c.all_failing {
                    let more = Counts { failing: c.failing + 1, ..c };
                    prop_assert!(formula.score(more) >= formula.score(c), "{formula}");
                }
                if c.passing < c.all_passing {
                    let more = Counts { passing: c.passing + 1, ..c };
                    prop_assert!(formula.score(more) <= formula.score(c), "{formula}");
                }
            }
        }

        #[test]
        fn the_order_in_range_is_that_of_the_score(c in any_counts(), f in 0usize..40, p in 0usize..40) {
            let other = Counts { failing: f.min(c.all_failing), passing: p.min(c.all_passing), ..c };
            for formula in Formula::ALL {
                let (a, b) = (formula.suspiciousness(c), formula.suspiciousness(other));
                prop_assert!((0.0..=1.0).contains(&a), "{formula}");
                let scores = formula.score(c).total_cmp(&formula.score(other));
                prop_assert!(a.total_cmp(&b) == scores || (a - b).abs() < 1e-12, "{formula}");
            }
        }

        #[test]
        fn op2_puts_more_failing_tests_before_fewer_passing_ones(c in any_counts(), p in 0usize..40) {
            if c.failing < c.all_failing {
                let more = Counts { failing: c.failing + 1, passing: p.min(c.all_passing), ..c };
                prop_assert!(Formula::Op2.score(more) > Formula::Op2.score(c));
            }
        }
    }
}
