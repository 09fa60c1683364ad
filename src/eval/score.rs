//! Scores of one judge: per run, and over runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cases::{Case, Mark};
use super::interval::{Interval, wilson};
use super::predictions::{Answer, Status};

/// What a run counts where neither gold nor prediction names a span. The published scorer of
/// DRIFT says 1 (an agreement that nothing is wrong); others leave such runs at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BothEmpty {
    /// Counts 0.
    Zero,
    /// Counts 1.
    #[default]
    One,
}

impl BothEmpty {
    /// 0 or 1.
    #[must_use]
    pub fn value(self) -> u8 {
        u8::from(self == Self::One)
    }
}

/// One run under one judge, reduced to what scores need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// False when there is no prediction (failed, refused, not run, missing).
    pub scored: bool,
    /// Predicted spans that are gold.
    pub hits: u32,
    /// Predicted spans.
    pub predicted: u32,
    /// Gold spans.
    pub gold: u32,
    /// The first predicted span by position is the first gold span by position.
    pub first_right: bool,
    /// The first span of the predicted list is the first span of the gold list.
    pub list_first_right: bool,
    /// The two sets are equal.
    pub exact: bool,
    /// Position of the first predicted span minus that of the first gold span, where both exist.
    pub offset: Option<i32>,
    both_empty: BothEmpty,
}

impl Outcome {
    /// Compares an answer with the run's label.
    #[must_use]
    pub fn new(case: &Case, answer: &Answer, both_empty: BothEmpty) -> Self {
        Self::of_marks(case, (answer.status == Status::Ok).then_some(&answer.marks), both_empty)
    }

    /// Compares a list of marked spans with the run's label; `None` is no prediction at all.
    #[must_use]
    pub fn of_marks(case: &Case, marks: Option<&[Mark]>, both_empty: BothEmpty) -> Self {
        let predicted = marks.unwrap_or(&[]);
        let scored = marks.is_some();
        let count = |marks: &[Mark]| u32::try_from(marks.len()).unwrap_or(u32::MAX);
        let hits = u32::try_from(predicted.iter().filter(|mark| case.gold.contains(mark)).count()).unwrap_or(u32::MAX);
        let agree_on_nothing = scored && predicted.is_empty() && case.gold.is_empty();
        let rule = agree_on_nothing && both_empty == BothEmpty::One;
        let (first, gold_first) = (case.first(predicted), case.first(&case.gold));
        let offset = match (first, gold_first) {
            (Some(a), Some(b)) if case.span_count().is_some() && case.is_span(a) && case.is_span(b) => {
                i32::try_from(i64::from(a) - i64::from(b)).ok()
            }
            _ => None,
        };
        Self {
            scored,
            hits,
            predicted: count(predicted),
            gold: count(&case.gold),
            first_right: rule || (first.is_some() && first == gold_first),
            list_first_right: rule || (!predicted.is_empty() && predicted.first() == case.gold.first()),
            exact: rule || (hits > 0 && hits == count(predicted) && hits == count(&case.gold)),
            offset,
            both_empty,
        }
    }

    fn agrees_on_nothing(&self) -> bool {
        self.scored && self.predicted == 0 && self.gold == 0
    }

    /// Precision, recall and F1 of the run; all 0 where there is no prediction.
    #[must_use]
    pub fn prf(&self) -> [f64; 3] {
        if self.agrees_on_nothing() {
            return [f64::from(self.both_empty.value()); 3];
        }
        let (hits, predicted, gold) = (f64::from(self.hits), f64::from(self.predicted), f64::from(self.gold));
        [
            ratio(hits, predicted),
            ratio(hits, gold),
            ratio(2.0 * hits, predicted + gold),
        ]
    }

    /// True when the first predicted span is at most `k` positions from the first gold span.
    #[must_use]
    pub fn within(&self, k: u32) -> bool {
        if self.agrees_on_nothing() {
            return self.both_empty == BothEmpty::One;
        }
        self.offset.is_some_and(|offset| offset.unsigned_abs() <= k)
    }
}

/// `a / b`, and 0 where there is nothing to divide by.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// `k` of `n` with the Wilson 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// How many.
    pub k: u64,
    /// Of how many.
    pub n: u64,
    /// `k / n`; null when `n` is 0.
    pub value: Option<f64>,
    /// Lower end of the Wilson interval.
    pub low: Option<f64>,
    /// Upper end of the Wilson interval.
    pub high: Option<f64>,
}

impl Rate {
    /// A rate with its interval.
    #[must_use]
    pub fn new(k: u64, n: u64) -> Self {
        let interval = wilson(k, n);
        Self {
            k,
            n,
            value: (n > 0).then(|| k as f64 / n as f64),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }
}

/// Scores over a set of runs. Values are shares in [0, 1] unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Runs that the scores are over.
    pub n: u64,
    /// Share of runs whose first predicted span by position is the first gold span by position.
    pub first_error_accuracy: f64,
    /// The published rule: first of the predicted list against first of the gold list, as listed.
    pub first_error_accuracy_list_order: f64,
    /// First predicted span at most one position from the first gold span; null when the
    /// positions of some runs are not known.
    pub within_1: Option<f64>,
    /// The same for two positions.
    pub within_2: Option<f64>,
    /// Mean over runs of precision.
    pub macro_precision: f64,
    /// Mean over runs of recall.
    pub macro_recall: f64,
    /// Mean over runs of F1.
    pub macro_f1: f64,
    /// Precision over all spans of all runs.
    pub micro_precision: f64,
    /// Recall over all spans of all runs.
    pub micro_recall: f64,
    /// F1 over all spans of all runs.
    pub micro_f1: f64,
    /// Share of runs where the two sets are equal.
    pub exact_set_rate: f64,
    /// Mean number of gold spans a run.
    pub mean_gold_spans: f64,
    /// Mean number of predicted spans a run, over runs that have a prediction; null without any.
    pub mean_predicted_spans: Option<f64>,
    /// Of the runs where both name a span: the first predicted one is before the first gold one.
    pub first_too_early: Rate,
    /// Of the runs where both name a span: the first predicted one is after the first gold one.
    pub first_too_late: Rate,
    /// Of the clean runs with a prediction: some span is flagged.
    pub false_alarm: Rate,
    /// 95 % intervals of the values above, by name.
    pub intervals: BTreeMap<&'static str, Interval>,
}

/// Sums over runs, from which [`Scores`] come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    n: u64,
    scored: u64,
    prf: [f64; 3],
    hits: u64,
    predicted: u64,
    gold: u64,
    first: u64,
    list_first: u64,
    near: [u64; 2],
    exact: u64,
    placed: u64,
    early: u64,
    late: u64,
    clean: u64,
    alarms: u64,
    unplaceable: u64,
}

impl Tally {
    /// Takes one run in. `placeable`: the positions of the run's spans are known.
    pub fn add(&mut self, outcome: &Outcome, placeable: bool) {
        self.n += 1;
        self.scored += u64::from(outcome.scored);
        for (sum, value) in self.prf.iter_mut().zip(outcome.prf()) {
            *sum += value;
        }
        self.hits += u64::from(outcome.hits);
        self.predicted += u64::from(outcome.predicted);
        self.gold += u64::from(outcome.gold);
        self.first += u64::from(outcome.first_right);
        self.list_first += u64::from(outcome.list_first_right);
        for (sum, k) in self.near.iter_mut().zip(1..) {
            *sum += u64::from(outcome.within(k));
        }
        self.exact += u64::from(outcome.exact);
        if let Some(offset) = outcome.offset {
            self.placed += 1;
            self.early += u64::from(offset < 0);
            self.late += u64::from(offset > 0);
        }
        if outcome.gold == 0 && outcome.scored {
            self.clean += 1;
            self.alarms += u64::from(outcome.predicted > 0);
        }
        self.unplaceable += u64::from(!placeable);
    }

    /// The first-error accuracy so far, as a rate.
    #[must_use]
    pub fn first_rate(&self) -> Rate {
        Rate::new(self.first, self.n)
    }

    /// The scores, with Wilson intervals on the rates; `None` over no run.
    #[must_use]
    pub fn scores(&self) -> Option<Scores> {
        if self.n == 0 {
            return None;
        }
        let n = self.n as f64;
        let [precision, recall, f1] = self.prf.map(|sum| sum / n);
        let (hits, predicted, gold) = (self.hits as f64, self.predicted as f64, self.gold as f64);
        let near = |k: u64| (self.unplaceable == 0).then(|| k as f64 / n);
        let mut intervals = BTreeMap::new();
        let mut rate =
            |name: &'static str, k: u64| intervals.extend(wilson(k, self.n).map(|interval| (name, interval)));
        rate("first_error_accuracy", self.first);
        rate("first_error_accuracy_list_order", self.list_first);
        rate("exact_set_rate", self.exact);
        let [near_1, near_2] = self.near;
        if self.unplaceable == 0 {
            rate("within_1", near_1);
            rate("within_2", near_2);
        }
        Some(Scores {
            n: self.n,
            first_error_accuracy: self.first as f64 / n,
            first_error_accuracy_list_order: self.list_first as f64 / n,
            within_1: near(near_1),
            within_2: near(near_2),
            macro_precision: precision,
            macro_recall: recall,
            macro_f1: f1,
            micro_precision: ratio(hits, predicted),
            micro_recall: ratio(hits, gold),
            micro_f1: ratio(2.0 * hits, predicted + gold),
            exact_set_rate: self.exact as f64 / n,
            mean_gold_spans: gold / n,
            mean_predicted_spans: (self.scored > 0).then(|| predicted / self.scored as f64),
            first_too_early: Rate::new(self.early, self.placed),
            first_too_late: Rate::new(self.late, self.placed),
            false_alarm: Rate::new(self.alarms, self.clean),
            intervals,
        })
    }
}
