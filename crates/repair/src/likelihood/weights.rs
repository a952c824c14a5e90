//! The weights of the model, fitted to changes that people made.

use std::{collections::BTreeMap, fmt::Write as _, sync::LazyLock};

use patchwright_space::Schema;

use super::{FEATURES, Traits, kind_name};

/// The weights of all features, in bits. `patchwright-bench likelihood fit` writes them.
const FITTED: &str = include_str!("weights.toml");

/// The weights of the model: one for each feature, and for each choice of features with several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    by_name: BTreeMap<String, f64>,
}

impl Weights {
    /// Returns the weights that were fitted for this version.
    pub fn fitted() -> &'static Weights {
        static WEIGHTS: LazyLock<Weights> =
            LazyLock::new(|| Weights::read(FITTED).expect("a test reads these weights"));
        &WEIGHTS
    }

    /// Reads weights from TOML: a number under the name of each feature, or a table with a number for
    /// each choice.
    ///
    /// # Errors
    /// What is wrong with the text, and where: it is no TOML, names an unknown feature, or has something else than numbers.
    pub fn read(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let mut by_name = BTreeMap::new();
        for (name, value) in table {
            if !FEATURES.iter().any(|feature| feature.name == name) {
                return Err(format!("no feature is called {name}"));
            }
            match value {
                toml::Value::Table(choices) => {
                    for (choice, value) in choices {
                        let number = number(&value)
                            .ok_or_else(|| format!("{name}.{choice} is no number"))?;
                        by_name.insert(format!("{name}={choice}"), number);
                    }
                }
                value => {
                    let number = number(&value).ok_or_else(|| format!("{name} is no number"))?;
                    by_name.insert(name, number);
                }
            }
        }
        Ok(Weights { by_name })
    }

    /// Makes what has a feature so many bits likelier.
    pub(super) fn add(&mut self, name: &str, bits: f64) {
        *self.by_name.entry(name.to_owned()).or_default() += bits;
    }

    /// Returns the weights as TOML, as [`Weights::read`] reads it.
    pub(super) fn toml(&self) -> String {
        let mut numbers = String::new();
        let mut tables: BTreeMap<&str, String> = BTreeMap::new();
        for (name, weight) in &self.by_name {
            let _ = match name.split_once('=') {
                Some((feature, choice)) => {
                    writeln!(tables.entry(feature).or_default(), "{choice} = {weight:.3}")
                }
                // Numbers behind a table would belong to it.
                None => writeln!(numbers, "{name} = {weight:.3}"),
            };
        }
        for (feature, choices) in tables {
            let _ = write!(numbers, "\n[{feature}]\n{choices}");
        }
        numbers
    }

    /// Returns how unlikely a candidate is, in bits: one bit more means half as likely. Only
    /// differences between candidates of one program have a meaning.
    pub fn bits(&self, traits: &Traits) -> f64 {
        let features = FEATURES.iter().filter_map(|feature| feature.of(traits));
        let sum: f64 = features
            .map(|(name, value)| self.by_name.get(&name).copied().unwrap_or(0.0) * value)
            .sum();
        -sum
    }
}

impl Weights {
    /// The bits of the kind of a candidate and of its cost alone, which are known before its text is.
    pub(crate) fn bits_of_kind(&self, kind: Schema, cost: u32) -> f64 {
        let weight = |name: &str| self.by_name.get(name).copied().unwrap_or(0.0);
        let name = kind_name(kind);
        -(weight(&format!("kind={name}"))
            + weight(&format!("kind-at-cost={name}-{cost}"))
            + weight("cost") * f64::from(cost))
    }

    /// Compares two candidates of one function: the likelier one is less.
    pub fn order(&self, one: &Traits, other: &Traits) -> std::cmp::Ordering {
        self.bits(one).total_cmp(&self.bits(other))
    }
}

fn number(value: &toml::Value) -> Option<f64> {
    let whole = value.as_integer().map(|number| number as f64);
    value.as_float().or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fitted_weights_are_read() {
        let weights = Weights::read(FITTED).expect("the weights of this version");
        assert!(weights.by_name.contains_key("kind=expression"));
        assert!(weights.by_name.values().all(|weight| weight.is_finite()));
    }

    #[test]
    fn what_is_no_weight_is_named() {
        let message = |text| Weights::read(text).expect_err("no weights");
        assert_eq!(message("colour = 1"), "no feature is called colour");
        assert_eq!(message("cost = \"x\""), "cost is no number");
        assert_eq!(message("[kind]\nguard = true"), "kind.guard is no number");
        assert!(message("cost =").contains("line 1"));
    }
}
