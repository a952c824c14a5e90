//! The model: the probability of a candidate among those of its function is proportional to the exponential of the sum of its features' weights.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use patchwright_repair::likelihood::{FEATURES, Traits};

use super::fit::least;
use crate::fixes::data::Measured;

/// Forms are taken to be at least so large a part of candidates.
const LEAST_SHARE: f64 = 1e-5;

/// The features of a candidate: numbers of columns, and values.
type Row = Vec<(u32, f32)>;

/// The candidates of one function.
struct Group {
    developer: Row,
    /// Others, each with how many it stands for.
    others: Vec<(f64, Row)>,
}

/// The fixes as numbers: groups of candidates with the columns of their features.
pub struct Data {
    groups: Vec<Group>,
    /// The name of each column, and the feature that it belongs to.
    columns: Vec<(String, &'static str)>,
}

/// The model: a weight for each column.
#[derive(Clone)]
pub struct Model {
    pub weights: Vec<f64>,
}

impl Data {
    /// Converts measured fixes to numbers.
    pub fn of(measured: &[Measured]) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut columns: Vec<(String, &'static str)> = Vec::new();
        let mut row = |traits: &Traits| -> Row {
            let mut row = Row::new();
            for feature in FEATURES {
                let Some((name, value)) = feature.of(traits) else {
                    continue;
                };
                let number = *numbers.entry(name.clone()).or_insert_with(|| {
                    columns.push((name, feature.name));
                    columns.len() as u32 - 1
                });
                row.push((number, value as f32));
            }
            row
        };
        let groups = measured.iter().filter_map(|one| {
            let developer = row(&one.developer.as_ref()?.traits);
            let others = one.sample.iter();
            let others = others
                .map(|other| (other.weight, row(&other.traits)))
                .collect();
            Some(Group { developer, others })
        });
        let groups = groups.collect();
        Data { groups, columns }
    }

    /// Returns for each column whether its feature is not in `without`.
    pub fn allowed(&self, without: &BTreeSet<&str>) -> Vec<bool> {
        self.columns
            .iter()
            .map(|(_, feature)| !without.contains(feature))
            .collect()
    }

    /// Returns the weights that forms would have if nothing else mattered: how often people make such
    /// changes, relative to the candidates of that form in the groups `kept`. They count with the
    /// share `trust`, because other features explain a part of them.
    pub fn expected(&self, kept: &[bool], forms: &BTreeMap<&str, usize>, trust: f64) -> Model {
        let mut shares = vec![0.0; self.columns.len()];
        let groups = || self.groups.iter().zip(kept).filter(|(_, kept)| **kept);
        for (group, _) in groups() {
            let total: f64 = group.others.iter().map(|(weight, _)| weight).sum();
            for (weight, row) in &group.others {
                for (column, _) in row {
                    shares[*column as usize] += weight / total / groups().count() as f64;
                }
            }
        }
        let all: usize = forms.values().sum();
        let columns = self.columns.iter().zip(shares);
        let weight = columns.map(|((name, _), share)| match name.strip_prefix("form=") {
            Some(form) if all > 0 => {
                let made = forms.get(form).copied().unwrap_or(0) as f64 + 0.5;
                (made / all as f64 / share.max(LEAST_SHARE)).ln() * trust
            }
            _ => 0.0,
        });
        Model {
            weights: weight.collect(),
        }
    }

    /// Returns the weights under which the developers' candidates of the groups `kept` are likeliest (conditional logit).
    ///
    /// Columns outside of `allowed` keep weight 0. Half of `penalty` times the squared distance from `expected` is added to the loss. The
    /// search begins at `start`, or at `expected` without one.
    pub fn fit(
        &self,
        kept: &[bool],
        allowed: &[bool],
        penalty: f64,
        expected: &Model,
        start: Option<&Model>,
    ) -> Model {
        let start = start.unwrap_or(expected).weights.clone();
        let start = start.iter().zip(allowed);
        let start = start
            .map(|(weight, allowed)| if *allowed { *weight } else { 0.0 })
            .collect();
        let mut scores = Vec::new();
        let weights = least(start, &mut |weights, gradient| {
            gradient.fill(0.0);
            let mut loss = 0.0;
            let groups = self.groups.iter().zip(kept).filter(|(_, kept)| **kept);
            for (group, _) in groups {
                loss += group.loss(weights, gradient, &mut scores);
            }
            let pairs = weights.iter().zip(&expected.weights);
            for ((weight, expected), slope) in pairs.zip(gradient.iter_mut()) {
                let beyond = weight - expected;
                loss += penalty * beyond * beyond / 2.0;
                *slope += penalty * beyond;
            }
            for (slope, allowed) in gradient.iter_mut().zip(allowed) {
                if !*allowed {
                    *slope = 0.0;
                }
            }
            loss
        });
        Model { weights }
    }

    /// Returns an estimate of the rank of the developer's candidate by a model, and −log₂ of its
    /// probability.
    pub fn judge(&self, group: usize, model: &Model) -> (f64, f64) {
        let group = &self.groups[group];
        let own = score(&group.developer, &model.weights);
        let (mut rank, mut sum) = (1.0, 1.0);
        for (weight, other) in &group.others {
            let other = score(other, &model.weights);
            rank += match other.total_cmp(&own) {
                std::cmp::Ordering::Greater => *weight,
                std::cmp::Ordering::Equal => weight / 2.0,
                std::cmp::Ordering::Less => 0.0,
            };
            sum += weight * (other - own).exp();
        }
        (rank, sum.log2())
    }

    /// Returns the weights as a readable file, in bits: a candidate with a feature of weight 1 is
    /// twice as likely as one without.
    pub fn toml(&self, model: &Model, fixes: usize, repositories: &[&str]) -> String {
        let out = format!(
            "# How likely candidates are: `patchwright-bench likelihood fit`, {fixes} fixes of {}.\n# In bits: what has a feature of weight 1 is twice as likely as what has not.\n",
            repositories.join(", ")
        );
        // Numbers behind a table would belong to it.
        let (mut numbers, mut tables) = (String::new(), String::new());
        for feature in FEATURES {
            let own = self.columns.iter().zip(&model.weights);
            let mut own: Vec<(&str, f64)> = own
                .filter(|((_, of), weight)| *of == feature.name && **weight != 0.0)
                .map(|((name, _), weight)| (&name[..], weight * std::f64::consts::LOG2_E))
                .collect();
            own.sort_by(|a, b| b.1.total_cmp(&a.1));
            let _ = match &own[..] {
                [] => Ok(()),
                [(name, weight)] if *name == feature.name => {
                    writeln!(numbers, "\n# {}\n{name} = {weight:.3}", feature.about)
                }
                all => {
                    let _ = write!(tables, "\n# {}\n[{}]\n", feature.about, feature.name);
                    for (name, weight) in all {
                        let choice = name.split_once('=').map_or(*name, |(_, choice)| choice);
                        let _ = writeln!(tables, "{choice} = {weight:.3}");
                    }
                    Ok(())
                }
            };
        }
        out + &numbers + &tables
    }
}

fn score(row: &Row, weights: &[f64]) -> f64 {
    row.iter()
        .map(|(column, value)| weights[*column as usize] * f64::from(*value))
        .sum()
}

impl Group {
    /// −log of the probability of the developer's candidate; its gradient is added.
    fn loss(&self, weights: &[f64], gradient: &mut [f64], scores: &mut Vec<f64>) -> f64 {
        let own = score(&self.developer, weights);
        scores.clear();
        scores.extend(self.others.iter().map(|(_, other)| score(other, weights)));
        let most = scores.iter().copied().fold(own, f64::max);
        let mut sum = (own - most).exp();
        for (score, (weight, _)) in scores.iter_mut().zip(&self.others) {
            *score = weight * (*score - most).exp();
            sum += *score;
        }
        let mut add = |row: &Row, share: f64| {
            for (column, value) in row {
                gradient[*column as usize] += share * f64::from(*value);
            }
        };
        add(&self.developer, (own - most).exp() / sum - 1.0);
        for (score, (_, other)) in scores.iter().zip(&self.others) {
            add(other, score / sum);
        }
        sum.ln() + most - own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn weights_by_which_candidates_were_chosen_are_found_again() {
        let weights = [2.0, -1.0, 0.5];
        let mut random = Random(7);
        let mut uniform = || random.below(1 << 20) as f64 / f64::from(1 << 20);
        let mut groups = Vec::new();
        for _ in 0..800 {
            let mut rows: Vec<Row> = (0..20)
                .map(|_| {
                    vec![
                        (0, f32::from(u8::from(uniform() < 0.5))),
                        (1, f32::from(u8::from(uniform() < 0.3))),
                        (2, (uniform() * 3.0) as f32),
                    ]
                })
                .collect();
            let shares: Vec<f64> = rows.iter().map(|row| score(row, &weights).exp()).collect();
            let mut at = uniform() * shares.iter().sum::<f64>();
            let chosen = shares.iter().position(|share| {
                at -= share;
                at < 0.0
            });
            let developer = rows.swap_remove(chosen.unwrap_or(0));
            // Every second one stands for two.
            let others = rows.into_iter().enumerate();
            let others = others.filter(|(number, _)| number % 2 == 0);
            let others = others.map(|(number, row)| (if number == 18 { 1.0 } else { 2.0 }, row));
            groups.push(Group {
                developer,
                others: others.collect(),
            });
        }
        let columns = ["kind=a", "kind=b", "cost"];
        let columns = columns.map(|name| (name.to_owned(), "kind"));
        let data = Data {
            groups,
            columns: columns.to_vec(),
        };
        let kept = vec![true; data.groups.len()];
        let expected = data.expected(&kept, &BTreeMap::new(), 0.5);
        let model = data.fit(&kept, &[true; 3], 0.01, &expected, None);
        for (found, expected) in model.weights.iter().zip(weights) {
            assert!((found - expected).abs() < 0.3, "{:?}", model.weights);
        }
        // What is not allowed stays zero.
        let model = data.fit(&kept, &[true, false, true], 0.01, &expected, None);
        assert!(model.weights[1].abs() < 1e-12);
    }
}
