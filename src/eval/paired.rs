//! Tests of two judges on the same runs.

use serde::Serialize;

use super::interval::{Interval, Resampled, percentile_interval};

/// McNemar's test of two judges that are right or wrong on the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// Runs where both are right.
    pub both: u64,
    /// Runs where only the first is right.
    pub only_a: u64,
    /// Runs where only the second is right.
    pub only_b: u64,
    /// Runs where neither is right.
    pub neither: u64,
    /// Two-sided p-value, exact at any count (binomial with 1/2 over the runs where they differ).
    pub p: f64,
}

impl McNemar {
    /// Counts the pairs and tests them.
    pub fn new(pairs: impl Iterator<Item = (bool, bool)>) -> Self {
        let (mut both, mut only_a, mut only_b, mut neither) = (0, 0, 0, 0);
        for pair in pairs {
            match pair {
                (true, true) => both += 1,
                (true, false) => only_a += 1,
                (false, true) => only_b += 1,
                (false, false) => neither += 1,
            }
        }
        Self {
            both,
            only_a,
            only_b,
            neither,
            p: sign_test(only_a, only_b),
        }
    }
}

/// Exact two-sided p-value of `a` against `b` under a fair coin: twice the smaller tail, at most 1.
#[must_use]
pub fn sign_test(a: u64, b: u64) -> f64 {
    let n = a + b;
    // ln of C(n, k) / 2^n, term by term from k = 0; underflow of a far tail to 0 is harmless.
    let mut ln_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = ln_term.exp();
    for k in 1..=a.min(b) {
        ln_term += ((n - k + 1) as f64 / k as f64).ln();
        tail += ln_term.exp();
    }
    (2.0 * tail).min(1.0)
}

/// A difference of two judges' scores with its bootstrap interval and p-value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// First minus second.
    pub value: f64,
    /// 95 % percentile interval of the difference.
    pub interval: Option<Interval>,
    /// Two-sided p-value: twice the smaller share of resamples on one side of 0, with one added
    /// above and below the line so that it is never 0.
    pub p: f64,
}

impl Difference {
    /// The difference of two resampled statistics whose observed values are `a` and `b`.
    #[must_use]
    pub fn new(resampled: &Resampled, (column_a, a): (usize, f64), (column_b, b): (usize, f64)) -> Self {
        let values = resampled.difference(column_a, column_b);
        // Differences of equal sums may not cancel to the last digit.
        let at_most = values.iter().filter(|value| **value <= 1e-9).count();
        let at_least = values.iter().filter(|value| **value >= -1e-9).count();
        let p = 2.0 * (at_most.min(at_least) + 1) as f64 / (values.len() + 1) as f64;
        Self {
            value: a - b,
            interval: percentile_interval(values),
            p: p.min(1.0),
        }
    }
}

/// Holm's step-down correction of p-values for testing several pairs, in the order given.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    let p_at = |at: usize| p_values.get(at).copied().unwrap_or(1.0);
    order.sort_by(|a, b| p_at(*a).total_cmp(&p_at(*b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor = 0.0_f64;
    for (rank, at) in order.iter().enumerate() {
        floor = floor.max((p_values.len() - rank) as f64 * p_at(*at)).min(1.0);
        if let Some(place) = adjusted.get_mut(*at) {
            *place = floor;
        }
    }
    adjusted
}

#[cfg(test)]
#[path = "paired/tests.rs"]
mod tests;
