//! The resampling behind the intervals of all rows at once: every row sees the same resamples, so
//! differences between rows are paired by construction.

use super::cases::CaseSet;
use super::interval::{Interval, Resampled, Units};
use super::paired::Difference;
use super::score::{Outcome, Scores, ratio};

/// Resamples up to [`FULL_UP_TO`] runs; beyond, the number falls so that runs × resamples does not grow.
pub const RESAMPLES: usize = 10_000;
/// Most runs that get all [`RESAMPLES`].
pub const FULL_UP_TO: usize = 20_000;
const LEAST: usize = 1_000;

/// How many resamples `runs` runs get unless the user says.
#[must_use]
pub fn default_resamples(runs: usize) -> usize {
    if runs <= FULL_UP_TO {
        RESAMPLES
    } else {
        (RESAMPLES * FULL_UP_TO / 2 / runs).max(LEAST)
    }
}

/// Statistics of one row and basis, in the order they stand in a resample.
const NAMES: [&str; 11] = [
    "macro_precision",
    "macro_recall",
    "macro_f1",
    "micro_precision",
    "micro_recall",
    "micro_f1",
    "first_error_accuracy",
    "first_error_accuracy_list_order",
    "within_1",
    "within_2",
    "exact_set_rate",
];
const MACRO_F1: usize = 2;
const FIRST: usize = 6;
/// Statistics kept without clusters, where rates have Wilson intervals.
const PLAIN: usize = 7;

/// Sums of one row: precision, recall, F1, first right, hits, predicted, then the four rates that
/// only clusters need.
const ROW_SUMS: usize = 6;
const RATE_SUMS: usize = 4;
/// Sums common to all rows: runs, gold spans.
const COMMON: usize = 2;

/// Where a row's sums and statistics stand.
#[derive(Clone, Copy, Debug)]
struct Place {
    sums: usize,
    /// Sums of (scored runs, their gold spans), for a row with unscored runs.
    scored: Option<usize>,
    statistics: usize,
}

/// The resamples of all rows.
#[derive(Debug)]
pub struct Resamples {
    places: Vec<Place>,
    per_basis: usize,
    resampled: Resampled,
    clustered: bool,
}

impl Resamples {
    /// Resamples the rows, given as one outcome a run each. With a cluster key the units are its
    /// values, else the runs.
    #[must_use]
    pub fn new(cases: &CaseSet, rows: &[&[Outcome]], resamples: usize, seed: u64) -> Self {
        let clustered = cases.cluster_key().is_some();
        let (row_sums, per_basis) = if clustered {
            (ROW_SUMS + RATE_SUMS, NAMES.len())
        } else {
            (ROW_SUMS, PLAIN)
        };
        let mut columns = COMMON;
        let mut width = 0;
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let sums = columns;
            let all_scored = row.iter().all(|outcome| outcome.scored);
            columns += row_sums;
            let scored = (!all_scored).then_some(columns);
            columns += if all_scored { 0 } else { 2 };
            places.push(Place {
                sums,
                scored,
                statistics: width,
            });
            width += if all_scored { per_basis } else { 2 * per_basis };
        }
        let units = fill(cases, rows, &places, columns, clustered);
        let resampled = units.bootstrap(resamples, seed, width, |sums, out| {
            for place in &places {
                statistics(sums, *place, clustered, per_basis, out);
            }
        });
        Self {
            places,
            per_basis,
            resampled,
            clustered,
        }
    }

    /// Adds the intervals of a row to its scores. Rates keep Wilson's unless runs come in clusters.
    pub fn add_intervals(&self, row: usize, headline: &mut Scores, scored_only: Option<&mut Scores>) {
        let Some(place) = self.places.get(row) else {
            return;
        };
        self.add_basis(place.statistics, headline);
        if let Some(scored_only) = scored_only {
            let shift = if place.scored.is_some() { self.per_basis } else { 0 };
            self.add_basis(place.statistics + shift, scored_only);
        }
    }

    fn add_basis(&self, first: usize, scores: &mut Scores) {
        for (at, name) in NAMES.iter().enumerate().take(self.per_basis) {
            let unknown = scores.within_1.is_none() && name.starts_with("within");
            if unknown || (at >= FIRST && !self.clustered) {
                continue;
            }
            let interval: Option<Interval> = self.resampled.interval(first + at);
            scores.intervals.extend(interval.map(|interval| (*name, interval)));
        }
    }

    /// Differences in first-error accuracy and Macro-F1 (headline) of two rows with these scores.
    #[must_use]
    pub fn differences(&self, a: (usize, &Scores), b: (usize, &Scores)) -> Option<[Difference; 2]> {
        let (place_a, place_b) = (self.places.get(a.0)?, self.places.get(b.0)?);
        let difference = |at: usize, value: fn(&Scores) -> f64| {
            Difference::new(
                &self.resampled,
                (place_a.statistics + at, value(a.1)),
                (place_b.statistics + at, value(b.1)),
            )
        };
        Some([
            difference(FIRST, |scores| scores.first_error_accuracy),
            difference(MACRO_F1, |scores| scores.macro_f1),
        ])
    }
}

fn fill(cases: &CaseSet, rows: &[&[Outcome]], places: &[Place], columns: usize, clustered: bool) -> Units {
    let all = cases.cases();
    let unit_of = |number: usize, cluster: u32| if clustered { cluster as usize } else { number };
    let count = all
        .iter()
        .enumerate()
        .map(|(number, case)| unit_of(number, case.cluster) + 1)
        .max()
        .unwrap_or(0);
    let mut units = Units::new(count, columns);
    for (number, case) in all.iter().enumerate() {
        let unit = unit_of(number, case.cluster);
        units.add(unit, 0, 1.0);
        units.add(unit, 1, case.gold.len() as f64);
        for (row, place) in rows.iter().zip(places) {
            let Some(outcome) = row.get(number) else {
                continue;
            };
            let [precision, recall, f1] = outcome.prf();
            let flag = |flag: bool| f64::from(u8::from(flag));
            let values = [
                precision,
                recall,
                f1,
                flag(outcome.first_right),
                f64::from(outcome.hits),
                f64::from(outcome.predicted),
                flag(outcome.list_first_right),
                flag(outcome.within(1)),
                flag(outcome.within(2)),
                flag(outcome.exact),
            ];
            let kept = if clustered { ROW_SUMS + RATE_SUMS } else { ROW_SUMS };
            for (value, column) in values.into_iter().take(kept).zip(place.sums..) {
                units.add(unit, column, value);
            }
            if let Some(scored) = place.scored.filter(|_| outcome.scored) {
                units.add(unit, scored, 1.0);
                units.add(unit, scored + 1, case.gold.len() as f64);
            }
        }
    }
    units
}

fn statistics(sums: &[f64], place: Place, clustered: bool, per_basis: usize, out: &mut [f64]) {
    let sum = |at: usize| sums.get(at).copied().unwrap_or(0.0);
    let bases = [(Some(0), 0), (place.scored, per_basis)];
    for (totals, shift) in bases {
        let Some(totals) = totals else {
            continue;
        };
        let (n, gold) = (sum(totals), sum(totals + 1));
        let row = |at: usize| sum(place.sums + at);
        let mut values = [
            ratio(row(0), n),
            ratio(row(1), n),
            ratio(row(2), n),
            ratio(row(4), row(5)),
            ratio(row(4), gold),
            ratio(2.0 * row(4), row(5) + gold),
            ratio(row(3), n),
            0.0,
            0.0,
            0.0,
            0.0,
        ];
        if clustered {
            for (value, at) in values.iter_mut().skip(PLAIN).zip(ROW_SUMS..) {
                *value = ratio(row(at), n);
            }
        }
        let room = out.iter_mut().skip(place.statistics + shift).take(per_basis);
        room.zip(values).for_each(|(place, value)| *place = value);
    }
}
