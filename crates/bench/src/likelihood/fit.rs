//! Minimizes a smooth function of many variables.

/// The number of steps that are remembered.
const MEMORY: usize = 8;

/// Most steps.
const MOST_STEPS: usize = 200;

/// It ends when a step gains less than this part.
const LEAST_GAIN: f64 = 1e-7;

/// Returns a local minimum of `function`, sought from `start` (L-BFGS with a line search). `function`
/// returns its value and writes its gradient into the second argument.
pub fn least(start: Vec<f64>, function: &mut dyn FnMut(&[f64], &mut [f64]) -> f64) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut at = start;
    let mut gradient = vec![0.0; at.len()];
    let mut value = function(&at, &mut gradient);
    // Steps and what they changed of the gradient.
    let mut memory: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..MOST_STEPS {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::new();
        for (step, change) in memory.iter().rev() {
            let share = dot(step, &direction) / dot(step, change);
            direction
                .iter_mut()
                .zip(change)
                .for_each(|(d, c)| *d -= share * c);
            shares.push(share);
        }
        if let Some((step, change)) = memory.last() {
            let scale = dot(step, change) / dot(change, change);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for ((step, change), share) in memory.iter().zip(shares.into_iter().rev()) {
            let other = dot(change, &direction) / dot(step, change);
            direction
                .iter_mut()
                .zip(step)
                .for_each(|(d, s)| *d += (share - other) * s);
        }
        let slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            break;
        }
        let mut length = match memory.is_empty() {
            true => 1.0 / dot(&gradient, &gradient).sqrt().max(1.0),
            false => 1.0,
        };
        let mut next_gradient = vec![0.0; at.len()];
        let found = (0..40).find_map(|_| {
            let next: Vec<f64> = at
                .iter()
                .zip(&direction)
                .map(|(a, d)| a + length * d)
                .collect();
            let next_value = function(&next, &mut next_gradient);
            if next_value.is_finite() && next_value <= value + 1e-4 * length * slope {
                return Some((next, next_value));
            }
            length /= 2.0;
            None
        });
        let Some((next, next_value)) = found else {
            break;
        };
        let step: Vec<f64> = next.iter().zip(&at).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = next_gradient
            .iter()
            .zip(&gradient)
            .map(|(a, b)| a - b)
            .collect();
        if dot(&step, &change) > 1e-12 {
            memory.push((step, change));
            if memory.len() > MEMORY {
                memory.remove(0);
            }
        }
        let gain = value - next_value;
        (at, value, gradient) = (next, next_value, next_gradient);
        if gain < LEAST_GAIN * value.abs().max(1.0) {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_least_of_a_valley_is_found() {
        // Rosenbrock's function.
        let found = least(vec![-1.2, 1.0], &mut |at, gradient| {
            let (x, y) = (at[0], at[1]);
            gradient[0] = -400.0 * x * (y - x * x) - 2.0 * (1.0 - x);
            gradient[1] = 200.0 * (y - x * x);
            100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2)
        });
        assert!(
            (found[0] - 1.0).abs() < 1e-3 && (found[1] - 1.0).abs() < 2e-3,
            "{found:?}"
        );
    }
}
