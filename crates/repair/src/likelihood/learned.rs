//! Shifts the weights of the model by what the history of one program shows.
//!
//! A history has too few fixes to fit all weights anew. So only the weights of [`TOLD`] change, by how much more or less often a
//! change is made there than elsewhere. The shares of many repositories count as much as 200 fixes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::LazyLock,
};

use super::{FEATURES, Traits, Weights};

/// The features that the text of a change tells, whatever its types are.
pub const TOLD: [&str; 3] = ["form", "joined", "joined-leaf"];

/// How many fixes of many repositories make each change.
const MADE: &str = include_str!("made.toml");

/// The shares of many repositories count as so many fixes of one.
const PRIOR: f64 = 200.0;

/// How much of a shift counts: other features explain the rest, as for the weights themselves.
const TRUST: f64 = 0.5;

/// The number of imaginary fixes that are added to each choice, because an unseen choice is not impossible.
const UNSEEN: f64 = 0.5;

/// A weight that a history has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The feature and its choice, such as `form=added-conjunct`.
    pub name: String,
    /// The share of fixes elsewhere that make this change, from 0 to 1.
    pub elsewhere: f64,
    /// How many fixes of the history make it.
    pub here: usize,
    /// How many bits likelier such a candidate is now; less than 0 if it is less likely.
    pub bits: f64,
}

/// What a history has taught.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The weights, with the shifts.
    pub weights: Weights,
    /// How many fixes they were learned from.
    pub fixes: usize,
    /// What has changed; first what most fixes speak for.
    pub shifts: Vec<Shift>,
}

/// By feature and choice, how many fixes of many repositories make a change.
fn made() -> &'static BTreeMap<String, BTreeMap<String, f64>> {
    static COUNTS: LazyLock<BTreeMap<String, BTreeMap<String, f64>>> = LazyLock::new(|| {
        let table: toml::Table = MADE.parse().expect("a test reads these counts");
        let features = TOLD.iter().filter_map(|feature| {
            let choices = table.get(*feature)?.as_table()?.iter();
            let counts = choices.filter_map(|(choice, count)| {
                let name = format!("{feature}={choice}");
                Some((name, count.as_integer()? as f64))
            });
            Some(((*feature).to_owned(), counts.collect()))
        });
        features.collect()
    });
    &COUNTS
}

/// Learns from the fixes of one history, as `untyped` describes them.
pub fn learn(fixes: &[Traits]) -> Learned {
    let mut shifts = Vec::new();
    for feature in FEATURES
        .iter()
        .filter(|feature| TOLD.contains(&feature.name))
    {
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for traits in fixes {
            if let Some((name, _)) = feature.of(traits) {
                *here.entry(name).or_default() += 1;
            }
        }
        let empty = BTreeMap::new();
        let elsewhere = made().get(feature.name).unwrap_or(&empty);
        let names: BTreeSet<&String> = here.keys().chain(elsewhere.keys()).collect();
        let own: usize = here.values().sum();
        let all: f64 = elsewhere.values().sum::<f64>() + UNSEEN * names.len() as f64;
        for name in names {
            let share = (elsewhere.get(name).copied().unwrap_or(0.0) + UNSEEN) / all;
            let count = here.get(name).copied().unwrap_or(0);
            let together = (PRIOR * share + count as f64) / (PRIOR + own as f64);
            shifts.push(Shift {
                name: name.clone(),
                elsewhere: share,
                here: count,
                bits: TRUST * (together / share).log2(),
            });
        }
    }
    let told = |shift: &Shift| {
        let expected = shift.elsewhere * fixes.len() as f64;
        shift.bits.abs() * (shift.here as f64 + expected).sqrt()
    };
    shifts.sort_by(|a, b| {
        let by_evidence = told(b).total_cmp(&told(a));
        by_evidence.then_with(|| a.name.cmp(&b.name))
    });
    let mut weights = Weights::fitted().clone();
    for shift in &shifts {
        weights.add(&shift.name, shift.bits);
    }
    Learned {
        weights,
        fixes: fixes.len(),
        shifts,
    }
}

impl Learned {
    /// Returns the weights as a file that [`Weights::read`] reads.
    pub fn toml(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "# How likely changes are here: `patchwright learn`, from {} small fixes of this history.\n\
             # In bits: a candidate that has a feature of weight 1 is twice as likely as one that has not.\n",
            self.fixes
        );
        text + &self.weights.toml()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::untyped;

    fn fix(condition: &str) -> Traits {
        let text = |condition: &str| {
            format!(
                "int f(char *p, int n)\n{{\n  if ({condition})\n    return 1;\n  return n;\n}}\n"
            )
        };
        untyped(text("*p > n").as_bytes(), text(condition).as_bytes()).expect("one place")
    }

    #[test]
    fn what_is_made_often_here_gets_likelier_and_all_else_less_likely() {
        let fixes = vec![fix("p && *p > n"); 40];
        let learned = learn(&fixes);
        let bits = |name: &str| {
            let shift = learned.shifts.iter().find(|shift| shift.name == name);
            shift.expect("it is known").bits
        };
        assert!(bits("form=added-conjunct") > 0.5);
        assert!(bits("joined=added-conjunct-truth") > 0.5);
        assert!(bits("form=inserted-call") < 0.0);
        let before = Weights::fitted().bits(&fixes[0]);
        assert!(learned.weights.bits(&fixes[0]) < before - 1.0);
    }

    #[test]
    fn without_fixes_nothing_changes() {
        let learned = learn(&[]);
        assert!(learned.shifts.iter().all(|shift| shift.bits.abs() < 1e-9));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let learned = learn(&[fix("*p >= n"), fix("*p > n || !n")]);
        let read = Weights::read(&learned.toml()).expect("a file of weights");
        let candidate = fix("*p >= n");
        assert!((read.bits(&candidate) - learned.weights.bits(&candidate)).abs() < 0.01);
    }
}
