//! Intervals: Wilson for a rate, percentile bootstrap for everything else.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// Wilson's score interval.
    Wilson,
    /// Percentile bootstrap.
    Bootstrap,
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was made.
    pub kind: IntervalKind,
}

/// The 97.5 % point of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's 95 % score interval of `k` in `n` (Wilson 1927), without continuity correction;
/// `None` when `n` is 0.
#[must_use]
pub fn wilson(k: u64, n: u64) -> Option<Interval> {
    if n == 0 {
        return None;
    }
    let (count, n_float) = (k as f64, n as f64);
    let share = count / n_float;
    let square = Z * Z;
    let centre = (share + square / (2.0 * n_float)) / (1.0 + square / n_float);
    let half =
        Z / (1.0 + square / n_float) * (share * (1.0 - share) / n_float + square / (4.0 * n_float * n_float)).sqrt();
    Some(Interval {
        // The ends are exact at the borders; rounding must not move them past a certain 0 or 1.
        low: if k == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if k == n { 1.0 } else { (centre + half).min(1.0) },
        kind: IntervalKind::Wilson,
    })
}

/// Columns summed together, so that one pass over the drawn units fills several SIMD registers.
const LANES: usize = 16;

/// What is resampled: units (runs, or clusters of runs) with a column of numbers for each sum.
///
/// Columns are kept in groups of `LANES`, unit after unit within a group: a resample reads one
/// group at a time, which stays in the processor's cache.
#[derive(Clone, Debug)]
pub struct Units {
    count: usize,
    columns: usize,
    groups: Vec<Vec<[f32; LANES]>>,
}

impl Units {
    /// Room for `count` units with `columns` numbers each, all 0.
    #[must_use]
    pub fn new(count: usize, columns: usize) -> Self {
        Self {
            count,
            columns,
            groups: vec![vec![[0.0; LANES]; count]; columns.div_ceil(LANES)],
        }
    }

    /// Adds to a unit's number in a column.
    pub fn add(&mut self, unit: usize, column: usize, value: f64) {
        let cell = self
            .groups
            .get_mut(column / LANES)
            .and_then(|group| group.get_mut(unit))
            .and_then(|lanes| lanes.get_mut(column % LANES));
        if let Some(cell) = cell {
            *cell += value as f32;
        }
    }

    /// Draws `resamples` samples of the units with replacement and keeps, for each, what `statistics`
    /// makes of the column sums (`width` numbers). Resample `b` uses stream `b` of ChaCha8 seeded
    /// with `seed`, so the result does not depend on the number of threads.
    pub fn bootstrap(
        &self,
        resamples: usize,
        seed: u64,
        width: usize,
        statistics: impl Fn(&[f64], &mut [f64]) + Sync,
    ) -> Resampled {
        let mut values = vec![0.0; resamples * width];
        if self.count == 0 || width == 0 {
            return Resampled { width, values };
        }
        let workers = std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .min(resamples.max(1));
        let share = resamples.div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            for (chunk, first) in values.chunks_mut(share * width).zip((0_u64..).step_by(share)) {
                let statistics = &statistics;
                scope.spawn(move || self.fill(chunk, first, seed, width, statistics));
            }
        });
        Resampled { width, values }
    }

    fn fill(
        &self,
        chunk: &mut [f64],
        first: u64,
        seed: u64,
        width: usize,
        statistics: &(impl Fn(&[f64], &mut [f64]) + Sync),
    ) {
        let mut drawn = vec![0_usize; self.count];
        let mut sums = vec![0.0_f64; self.groups.len() * LANES];
        for (out, stream) in chunk.chunks_mut(width).zip(first..) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            for unit in &mut drawn {
                *unit = below(&mut random, self.count);
            }
            for (group, sums) in self.groups.iter().zip(sums.chunks_mut(LANES)) {
                sum_drawn(group, &drawn, sums);
            }
            statistics(sums.get(..self.columns).unwrap_or(&sums), out);
        }
    }
}

/// Sums the lanes of the drawn units. Single precision within a block of draws, double between
/// blocks: the error stays below one part in a million whatever the number of runs.
fn sum_drawn(group: &[[f32; LANES]], drawn: &[usize], sums: &mut [f64]) {
    const BLOCK: usize = 128;
    sums.fill(0.0);
    for block in drawn.chunks(BLOCK) {
        let mut even = [0.0_f32; LANES];
        let mut odd = [0.0_f32; LANES];
        for pair in block.chunks(2) {
            if let Some(lanes) = pair.first().and_then(|unit| group.get(*unit)) {
                for (sum, value) in even.iter_mut().zip(lanes) {
                    *sum += value;
                }
            }
            if let Some(lanes) = pair.get(1).and_then(|unit| group.get(*unit)) {
                for (sum, value) in odd.iter_mut().zip(lanes) {
                    *sum += value;
                }
            }
        }
        for ((sum, a), b) in sums.iter_mut().zip(even).zip(odd) {
            *sum += f64::from(a) + f64::from(b);
        }
    }
}

/// A number below `n` (32 random bits scaled: for a million units the bias is below 1 in 4,000).
pub(super) fn below(random: &mut ChaCha8Rng, n: usize) -> usize {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as usize
}

/// The statistics of every resample.
#[derive(Clone, Debug)]
pub struct Resampled {
    width: usize,
    values: Vec<f64>,
}

impl Resampled {
    /// The values of one statistic, in order of resampling.
    pub fn column(&self, statistic: usize) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().skip(statistic).step_by(self.width.max(1)).copied()
    }

    /// The 95 % percentile interval of one statistic; `None` without resamples.
    #[must_use]
    pub fn interval(&self, statistic: usize) -> Option<Interval> {
        percentile_interval(self.column(statistic).collect())
    }

    /// The difference of two statistics, resample by resample.
    #[must_use]
    pub fn difference(&self, a: usize, b: usize) -> Vec<f64> {
        self.column(a).zip(self.column(b)).map(|(a, b)| a - b).collect()
    }
}

/// The 2.5 % and 97.5 % points of the values, by linear interpolation; `None` without values.
#[must_use]
pub fn percentile_interval(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    Some(Interval {
        low: tidy(quantile(&values, 0.025)?),
        high: tidy(quantile(&values, 0.975)?),
        kind: IntervalKind::Bootstrap,
    })
}

/// Sample quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan, NumPy's default).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted.get(below)?, sorted.get((below + 1).min(last))?);
    Some(low + (high - low) * (place - place.floor()))
}

/// Single precision sums carry about six digits: more would be noise.
fn tidy(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded == 0.0 { 0.0 } else { rounded }
}

#[cfg(test)]
#[path = "interval/tests.rs"]
mod tests;
