//! Computes Spearman's rank correlation.

/// Returns Spearman's ρ of pairs of numbers; equal numbers get their mean rank. It is `None` if one of
/// the two never varies.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let a = ranks(pairs.iter().map(|pair| pair.0).collect());
    let b = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    (spread > 0.0).then(|| product(&a, &b) / spread)
}

/// Returns the rank of each number, from 1. Equal numbers get their mean rank.
pub fn ranks(values: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let equal = order[start..].iter().take_while(|i| values[**i] == value);
        let end = start + equal.count();
        for i in &order[start..end] {
            ranks[*i] = (start + end + 1) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_counts_and_not_the_distance() {
        assert_eq!(
            spearman(&[(1.0, 1.0), (2.0, 10.0), (3.0, 1000.0)]),
            Some(1.0)
        );
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        assert_eq!(spearman(&[(1.0, 3.0), (1.0, 2.0)]), None);
        assert_eq!(spearman(&[]), None);
    }

    #[test]
    fn equal_figures_share_their_rank() {
        assert_eq!(ranks(vec![5.0, 1.0, 5.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
    }
}
