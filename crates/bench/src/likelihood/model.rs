//! The model: the probability of a candidate among those of its function is proportional to the exponential of the sum of its features' weights.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use patchwright_repair::likelihood::{FEATURES, Form, Traits, learned::TOLD};

use super::fit::least;
use crate::fixes::data::Measured;

/// How much weights for fixes without types are drawn to zero.
const PRIOR_PENALTY: f64 = 3.0;

/// Fixes without types that add more words and signs than so large a part of the candidates of their form are none of them.
const USUAL_LENGTH: f64 = 0.99;

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
    /// Fixes of which no types are known.
    untyped: Vec<Row>,
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
    pub fn of(measured: &[Measured], untyped: &[Traits]) -> Self {
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
        let of_one = |one: &Measured| {
            let developer = row(&one.developer.as_ref()?.traits);
            let others = one.sample.iter();
            let others = others
                .map(|other| (other.weight, row(&other.traits)))
                .collect();
            Some(Group { developer, others })
        };
        let groups = measured.iter().filter_map(of_one).collect();
        let mut untyped: Vec<Row> = untyped.iter().map(row).collect();
        for row in &mut untyped {
            row.retain(|(column, _)| TOLD.contains(&columns[*column as usize].1));
        }
        Data {
            groups,
            untyped,
            columns,
        }
    }

    /// Returns for each column whether its feature is not in `without`.
    pub fn allowed(&self, without: &BTreeSet<&str>) -> Vec<bool> {
        self.columns
            .iter()
            .map(|(_, feature)| !without.contains(feature))
            .collect()
    }

    /// Returns the weights of the features [`TOLD`] that turn candidates of the groups `kept` into changes as people make them. The fixes
    /// `made` say how people do; their types are not known. The weights count with the share `trust`, because such fixes may be
    /// none of the candidates.
    pub fn expected(&self, kept: &[bool], made: &[bool], allowed: &[bool], trust: f64) -> Model {
        let columns = self.columns.len();
        let made = self.untyped.iter().zip(made);
        let made: Vec<&Row> = made
            .filter(|(_, made)| **made)
            .map(|(row, _)| row)
            .collect();
        if made.is_empty() || trust == 0.0 {
            return Model {
                weights: vec![0.0; columns],
            };
        }
        let is_told: Vec<bool> = self
            .columns
            .iter()
            .zip(allowed)
            .map(|((_, feature), allowed)| *allowed && TOLD.contains(feature))
            .collect();
        let mut of_people = vec![0.0; columns];
        for (column, value) in made.iter().copied().flatten() {
            of_people[*column as usize] += f64::from(*value);
        }
        let groups = self.groups.iter().zip(kept).filter(|(_, kept)| **kept);
        let groups: Vec<&Group> = groups.map(|(group, _)| group).collect();
        let totals = groups.iter().map(|group| group.total());
        let totals: Vec<f64> = totals.collect();
        let mut scores = Vec::new();
        let weights = least(vec![0.0; columns], &mut |weights, gradient| {
            gradient.fill(0.0);
            scores.clear();
            for (group, total) in groups.iter().zip(&totals) {
                let others = group.others.iter();
                scores.extend(
                    others.map(|(weight, row)| (weight / total).ln() + score(row, weights)),
                );
            }
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            let rows = groups.iter().flat_map(|group| &group.others);
            for ((_, row), score) in rows.zip(&scores) {
                let share = (score - most).exp() / sum * made.len() as f64;
                for (column, value) in row {
                    gradient[*column as usize] += share * f64::from(*value);
                }
            }
            let mut loss = made.len() as f64 * (most + sum.ln());
            for (number, slope) in gradient.iter_mut().enumerate() {
                let weight = weights[number];
                loss += weight * (PRIOR_PENALTY * weight / 2.0 - of_people[number]);
                *slope += PRIOR_PENALTY * weight - of_people[number];
                if !is_told[number] {
                    *slope = 0.0;
                }
            }
            loss
        });
        let weights = weights.into_iter().map(|weight| weight * trust);
        Model {
            weights: weights.collect(),
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

/// Returns how many words and signs candidates of each form add at most, as a rule.
pub fn usual_lengths(measured: &[Measured]) -> BTreeMap<Form, usize> {
    let mut lengths: BTreeMap<Form, Vec<(usize, f64)>> = BTreeMap::new();
    for one in measured {
        let total: f64 = one.sample.iter().map(|other| other.weight).sum();
        for other in &one.sample {
            let own = lengths.entry(other.traits.form).or_default();
            own.push((other.traits.added, other.weight / total));
        }
    }
    let usual = lengths.into_iter().map(|(form, mut lengths)| {
        lengths.sort_by_key(|(length, _)| *length);
        let all: f64 = lengths.iter().map(|(_, weight)| weight).sum();
        let mut so_far = 0.0;
        let usual = lengths.iter().find(|(_, weight)| {
            so_far += weight;
            so_far >= all * USUAL_LENGTH
        });
        (
            form,
            usual.or(lengths.last()).map_or(0, |(length, _)| *length),
        )
    });
    usual.collect()
}

impl Group {
    fn total(&self) -> f64 {
        self.others.iter().map(|(weight, _)| weight).sum()
    }

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
            untyped: Vec::new(),
            columns: columns.to_vec(),
        };
        let kept = vec![true; data.groups.len()];
        let expected = data.expected(&kept, &[], &[true; 3], 0.5);
        let model = data.fit(&kept, &[true; 3], 0.01, &expected, None);
        for (found, expected) in model.weights.iter().zip(weights) {
            assert!((found - expected).abs() < 0.3, "{:?}", model.weights);
        }
        // What is not allowed stays zero.
        let model = data.fit(&kept, &[true, false, true], 0.01, &expected, None);
        assert!(model.weights[1].abs() < 1e-12);
    }
}
