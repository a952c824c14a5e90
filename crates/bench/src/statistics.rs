//! The statistics in tables about commits.

use patchwright_changes::rank::{ranks, spearman};

/// Returns Spearman's ρ, and the two-sided probability (by Student's t) of a ρ so far from zero without a
/// relationship.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let rho = spearman(pairs)?;
    let freedom = pairs.len() as f64 - 2.0;
    if freedom < 1.0 {
        return Some((rho, f64::NAN));
    }
    let rest = 1.0 - rho * rho;
    if rest <= 0.0 {
        return Some((rho, 0.0));
    }
    let t = rho * (freedom / rest).sqrt();
    let p = incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    Some((rho, p))
}

/// The regularized incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let tiny = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / tiny(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..200 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for part in [even, odd] {
            d = 1.0 / tiny(1.0 + part * d);
            c = tiny(1.0 + part / c);
            fraction *= c * d;
        }
        if (fraction - before).abs() < 1e-12 * fraction.abs() {
            break;
        }
    }
    front.exp() * fraction / a
}

/// The logarithm of the gamma function for positive numbers (Stirling's series, from 8 on).
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 8.0 {
        shift += x.ln();
        x += 1.0;
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

/// Returns the mean and the standard deviation of a sample.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// Returns the median, or the mean of the two middle values.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

/// Returns Cohen's κ of two measurements whose values are categories.
pub fn kappa(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let agreed = pairs.iter().filter(|(a, b)| a == b).count() as f64 / count;
    let share = |of: fn(&(f64, f64)) -> f64, value: f64| {
        pairs.iter().filter(|pair| of(pair) == value).count() as f64 / count
    };
    let mut values: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let by_chance: f64 = values
        .into_iter()
        .map(|value| share(|pair| pair.0, value) * share(|pair| pair.1, value))
        .sum();
    (agreed - by_chance) / (1.0 - by_chance)
}

/// Returns the ranks of two measurements of the same things.
pub fn ranked(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let [first, second] = [0, 1].map(|side| {
        let values = pairs
            .iter()
            .map(|pair| if side == 0 { pair.0 } else { pair.1 });
        ranks(values.collect())
    });
    first.into_iter().zip(second).collect()
}

/// Returns the exponent of the power law that fits whole numbers from 1 on best (maximum likelihood).
pub fn exponent(values: &[f64]) -> f64 {
    let logarithms: f64 = values.iter().map(|value| (value / 0.5).ln()).sum();
    1.0 + values.len() as f64 / logarithms
}

/// Returns the percentage of values that are at most `most`.
pub fn share_up_to(values: &[f64], most: f64) -> f64 {
    let up_to = values.iter().filter(|value| **value <= most).count();
    100.0 * up_to as f64 / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        // Student's t with 10 degrees of freedom is beyond 2.228 in 5 of 100 cases, with 60 beyond 2.660 in 1 of 100.
        for (freedom, t, p) in [(10.0, 2.228_138_9, 0.05), (60.0, 2.660_283, 0.01)] {
            let found = incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
            assert!((found - p).abs() < 1e-6, "{found}");
        }
        let line: Vec<(f64, f64)> = (1..9).map(|n| (f64::from(n), f64::from(n * n))).collect();
        assert_eq!(correlation(&line), Some((1.0, 0.0)));
        // Of 70 pairs one with ρ = 0.0675 has p = 0.579 (thesis, section 5.5).
        let t = 0.0675 * (68.0f64 / (1.0 - 0.0675f64.powi(2))).sqrt();
        let p = incomplete_beta(34.0, 0.5, 68.0 / (68.0 + t * t));
        assert!((p - 0.579).abs() < 5e-4, "{p}");
    }

    #[test]
    fn agreement_by_chance_is_none() {
        let same = [(1.0, 1.0), (2.0, 2.0), (1.0, 1.0)];
        assert!((kappa(&same) - 1.0).abs() < 1e-12);
        let crossed = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0)];
        assert!(kappa(&crossed).abs() < 1e-12);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2.0f64.sqrt()));
        assert_eq!(share_up_to(&[1.0, 2.0, 3.0, 4.0], 2.0), 50.0);
    }
}
