//! The whole evaluation: predictions and trivial rows side by side.

use serde::Serialize;

use super::agreement::{Agreement, agreement};
use super::cases::{Case, CaseSet};
use super::notes::{Note, Notes};
use super::paired::{Difference, McNemar, holm};
use super::predictions::{Prediction, Status};
use super::resample::{Resamples, default_resamples};
use super::score::{BothEmpty, Outcome, Rate, Scores, Tally};
use super::trivial::trivial_rows;

/// Seed of the resamples and of the random row unless the user says.
pub const SEED: u64 = 20_260_602;
/// Most values of a key that get a row of their own in a breakdown.
const GROUPS: usize = 20;
/// Upper ends of the run length groups, in spans.
const LENGTHS: [u32; 4] = [5, 10, 20, 50];

/// How to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What a run counts where neither gold nor prediction names a span.
    pub both_empty: BothEmpty,
    /// Bootstrap resamples; `None`: 10,000, fewer above 20,000 runs.
    pub resamples: Option<usize>,
    /// Seed of the resamples and of the random row.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            both_empty: BothEmpty::default(),
            resamples: None,
            seed: SEED,
        }
    }
}

/// What the gold file holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoldSummary {
    /// Labelled runs.
    pub runs: u64,
    /// Runs without a harmful span.
    pub clean: u64,
    /// Rows without a label, left out.
    pub unlabelled: u64,
    /// Harmful spans.
    pub error_spans: u64,
    /// Spans of all runs; null when some runs come without spans.
    pub spans: Option<u64>,
}

/// How many runs ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Labelled runs; the next five add up to it.
    pub gold: u64,
    /// Runs with a prediction.
    pub ok: u64,
    /// Runs whose row says the judge failed.
    pub failed: u64,
    /// Runs whose row says the judge declined.
    pub refused: u64,
    /// Runs whose row says that they were not run.
    pub not_run: u64,
    /// Runs without a row.
    pub missing: u64,
    /// Rows for runs that gold does not have.
    pub extra: u64,
}

/// Recall of the gold spans of one annotated error type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeRecall {
    /// The type, as annotated.
    pub error_type: String,
    /// Spans found of spans annotated (headline: spans of unscored runs are not found).
    pub recall: Rate,
}

/// Headline scores of the runs that share a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The value.
    pub value: String,
    /// Scores over its runs.
    pub scores: Scores,
}

/// Scores by the values of one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    /// `gold` (clean or with errors), `length` (spans of the run), or a key of `meta`.
    pub key: String,
    /// Its values.
    pub groups: Vec<Group>,
}

/// One row of the tables: a judge, or a rule that needs none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowScores {
    /// Its name.
    pub name: String,
    /// True for a rule that needs no judge.
    pub trivial: bool,
    /// How many runs ended how.
    pub counts: Counts,
    /// Scores over all labelled runs: failed, refused, not run and missing count as wrong.
    pub headline: Scores,
    /// Scores over the runs that have a prediction; null when none has.
    pub scored_only: Option<Scores>,
    /// Recall by annotated error type, when gold has types.
    pub error_types: Vec<TypeRecall>,
    /// Headline scores by group.
    pub breakdowns: Vec<Breakdown>,
    /// What was odd about the file.
    pub notes: Vec<Note>,
}

/// Two rows on the same runs (headline).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// First row.
    pub a: String,
    /// Second row.
    pub b: String,
    /// Difference in first-error accuracy, `a` minus `b`.
    pub first_error_accuracy: Option<Difference>,
    /// Difference in Macro-F1, `a` minus `b`.
    pub macro_f1: Option<Difference>,
    /// McNemar's test on first-error accuracy.
    pub mcnemar: McNemar,
    /// Its p-value after Holm's correction over all pairs listed.
    pub p_holm: f64,
}

/// An evaluation; its JSON form is this struct.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// `auditor.eval/1`.
    pub schema: &'static str,
    /// What the gold file holds.
    pub gold: GoldSummary,
    /// What a run counts where neither gold nor prediction names a span: 1 or 0.
    pub both_empty: u8,
    /// Level of all intervals.
    pub confidence: f64,
    /// Bootstrap resamples.
    pub resamples: usize,
    /// Seed of the resamples and of the random row.
    pub seed: u64,
    /// Key whose values were resampled as wholes, instead of single runs.
    pub cluster: Option<String>,
    /// The judges.
    pub predictions: Vec<RowScores>,
    /// The rules that need no judge.
    pub trivial: Vec<RowScores>,
    /// Every pair of judges, then each judge against the trivial rows that are best by
    /// first-error accuracy and by Macro-F1.
    pub paired: Vec<Paired>,
    /// Agreement of the judges, when there are several.
    pub agreement: Option<Agreement>,
    /// What was odd about the gold file, and what was left out.
    pub notes: Vec<Note>,
}

/// The outcome of every run under one judge.
#[must_use]
pub fn outcomes(cases: &CaseSet, prediction: &Prediction, both_empty: BothEmpty) -> Vec<Outcome> {
    let pairs = cases.cases().iter().zip(&prediction.answers);
    pairs
        .map(|(case, answer)| Outcome::new(case, answer, both_empty))
        .collect()
}

/// Scores over the runs that `keep` keeps.
pub fn scores_of(cases: &CaseSet, outcomes: &[Outcome], keep: impl Fn(usize, &Outcome) -> bool) -> Option<Scores> {
    let mut tally = Tally::default();
    for (number, (case, outcome)) in cases.cases().iter().zip(outcomes).enumerate() {
        if keep(number, outcome) {
            tally.add(outcome, case.span_count().is_some());
        }
    }
    tally.scores()
}

/// Evaluates the predictions; `None` when there is no labelled run.
#[must_use]
pub fn evaluate(cases: &CaseSet, predictions: &[Prediction], settings: &Settings) -> Option<Evaluation> {
    let runs = cases.cases().len();
    let resamples = settings.resamples.unwrap_or_else(|| default_resamples(runs));
    let trivial = trivial_rows(cases, settings.both_empty, settings.seed);
    let judged: Vec<Vec<Outcome>> = predictions
        .iter()
        .map(|prediction| outcomes(cases, prediction, settings.both_empty))
        .collect();
    let all: Vec<&[Outcome]> = judged
        .iter()
        .map(Vec::as_slice)
        .chain(trivial.iter().map(|row| row.outcomes.as_slice()))
        .collect();
    let drawn = Resamples::new(cases, &all, resamples, settings.seed);
    let groupings = groupings(cases);
    let mut rows = Vec::with_capacity(all.len());
    for (number, row) in all.iter().enumerate() {
        let mut headline = scores_of(cases, row, |_, _| true)?;
        let mut scored_only = scores_of(cases, row, |_, outcome| outcome.scored);
        drawn.add_intervals(number, &mut headline, scored_only.as_mut());
        let prediction = predictions.get(number);
        let rule = trivial.get(number.wrapping_sub(predictions.len()));
        rows.push(RowScores {
            name: prediction
                .map(|found| &found.name)
                .or(rule.map(|rule| &rule.name))
                .cloned()
                .unwrap_or_default(),
            trivial: prediction.is_none(),
            counts: counts(row, prediction),
            headline,
            scored_only,
            error_types: prediction.map(|found| type_recall(cases, found)).unwrap_or_default(),
            breakdowns: groupings
                .iter()
                .filter_map(|grouping| grouping.scores(cases, row))
                .collect(),
            notes: prediction.map(|found| found.notes.all().to_vec()).unwrap_or_default(),
        });
    }
    let paired = paired(&rows, &all, predictions.len(), &drawn);
    let trivial = rows.split_off(predictions.len());
    Some(Evaluation {
        schema: "auditor.eval/1",
        gold: gold_summary(cases),
        both_empty: settings.both_empty.value(),
        confidence: 0.95,
        resamples,
        seed: settings.seed,
        cluster: cases.cluster_key().map(str::to_owned),
        predictions: rows,
        trivial,
        paired,
        agreement: agreement(cases, predictions, settings.both_empty),
        notes: notes(cases),
    })
}

pub(super) fn gold_summary(cases: &CaseSet) -> GoldSummary {
    let all = cases.cases();
    GoldSummary {
        runs: all.len() as u64,
        clean: all.iter().filter(|case| case.gold.is_empty()).count() as u64,
        unlabelled: cases.unlabelled,
        error_spans: all.iter().map(|case| case.gold.len() as u64).sum(),
        spans: all.iter().map(|case| case.span_count().map(u64::from)).sum(),
    }
}

fn notes(cases: &CaseSet) -> Vec<Note> {
    let mut notes: Notes = cases.notes.clone();
    for (at, key) in cases.keys().iter().enumerate() {
        if cases.asked_for(key)
            && cases
                .cases()
                .iter()
                .all(|case| cases.value(at, group_of(case, at)) == CaseSet::NONE)
        {
            notes.add("missing_key", key);
        }
    }
    notes.all().to_vec()
}

fn counts(row: &[Outcome], prediction: Option<&Prediction>) -> Counts {
    let mut counts = Counts {
        gold: row.len() as u64,
        ..Counts::default()
    };
    match prediction {
        None => {
            counts.ok = row.iter().filter(|outcome| outcome.scored).count() as u64;
            counts.missing = counts.gold - counts.ok;
        }
        Some(prediction) => {
            for answer in &prediction.answers {
                *match answer.status {
                    Status::Ok => &mut counts.ok,
                    Status::Failed => &mut counts.failed,
                    Status::Refused => &mut counts.refused,
                    Status::NotRun => &mut counts.not_run,
                    Status::Missing => &mut counts.missing,
                } += 1;
            }
            counts.extra = prediction.extra;
        }
    }
    counts
}

fn type_recall(cases: &CaseSet, prediction: &Prediction) -> Vec<TypeRecall> {
    let mut found = vec![(0_u64, 0_u64); cases.error_type_count()];
    for (case, answer) in cases.cases().iter().zip(&prediction.answers) {
        for (mark, kind) in &case.types {
            if let Some((k, n)) = found.get_mut(*kind as usize) {
                *k += u64::from(answer.marks.contains(mark));
                *n += 1;
            }
        }
    }
    let row = |(kind, (k, n)): (u32, (u64, u64))| TypeRecall {
        error_type: cases.error_type(kind).to_owned(),
        recall: Rate::new(k, n),
    };
    (0..).zip(found).map(row).filter(|row| row.recall.n > 0).collect()
}

fn group_of(case: &Case, key: usize) -> u32 {
    case.groups.get(key).copied().unwrap_or(0)
}

/// The runs parted into named groups.
struct Grouping {
    key: String,
    names: Vec<String>,
    /// Group of each run.
    group: Vec<u32>,
}

impl Grouping {
    fn scores(&self, cases: &CaseSet, row: &[Outcome]) -> Option<Breakdown> {
        let mut tallies = vec![Tally::default(); self.names.len()];
        for ((case, outcome), group) in cases.cases().iter().zip(row).zip(&self.group) {
            if let Some(tally) = tallies.get_mut(*group as usize) {
                tally.add(outcome, case.span_count().is_some());
            }
        }
        let groups = self.names.iter().zip(tallies).filter_map(|(name, tally)| {
            Some(Group {
                value: name.clone(),
                scores: tally.scores()?,
            })
        });
        Some(Breakdown {
            key: self.key.clone(),
            groups: groups.collect(),
        })
    }
}

fn groupings(cases: &CaseSet) -> Vec<Grouping> {
    let all = cases.cases();
    let clean = all.iter().filter(|case| case.gold.is_empty()).count();
    let mut found = Vec::new();
    if clean > 0 && clean < all.len() {
        found.push(Grouping {
            key: "gold".to_owned(),
            names: vec!["with errors".to_owned(), "clean".to_owned()],
            group: all.iter().map(|case| u32::from(case.gold.is_empty())).collect(),
        });
    }
    found.push(by_length(all));
    for (at, key) in cases.keys().iter().enumerate() {
        if all
            .iter()
            .any(|case| cases.value(at, group_of(case, at)) != CaseSet::NONE)
        {
            found.push(by_key(cases, at, key));
        }
    }
    found
}

fn by_length(all: &[Case]) -> Grouping {
    let mut names = Vec::new();
    let mut low = 0;
    for high in LENGTHS {
        names.push(format!("{low}–{high} spans"));
        low = high + 1;
    }
    names.push(format!("{low} spans or more"));
    names.push("length not known".to_owned());
    let unknown = LENGTHS.len() + 1;
    let group = |case: &Case| {
        let number = case
            .span_count()
            .map_or(unknown, |count| LENGTHS.partition_point(|high| *high < count));
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    Grouping {
        key: "length".to_owned(),
        group: all.iter().map(group).collect(),
        names,
    }
}

/// The groups of a key, most frequent first, the rarest of many thrown together.
fn by_key(cases: &CaseSet, at: usize, key: &str) -> Grouping {
    let mut sizes: Vec<u64> = Vec::new();
    for case in cases.cases() {
        let value = group_of(case, at) as usize;
        if sizes.len() <= value {
            sizes.resize(value + 1, 0);
        }
        if let Some(size) = sizes.get_mut(value) {
            *size += 1;
        }
    }
    let mut order: Vec<(u32, u64)> = (0..).zip(sizes).collect();
    order.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let kept = if order.len() > GROUPS { GROUPS - 1 } else { order.len() };
    let mut rank = vec![u32::try_from(kept).unwrap_or(u32::MAX); order.len()];
    let mut names = Vec::new();
    for ((value, _), place) in order.iter().take(kept).zip(0..) {
        names.push(cases.value(at, *value).to_owned());
        if let Some(slot) = rank.get_mut(*value as usize) {
            *slot = place;
        }
    }
    if order.len() > kept {
        names.push(format!("({} rarer values)", order.len() - kept));
    }
    let group = |case: &Case| rank.get(group_of(case, at) as usize).copied().unwrap_or(u32::MAX);
    Grouping {
        key: key.to_owned(),
        group: cases.cases().iter().map(group).collect(),
        names,
    }
}

/// Pairs of judges, and each judge against the best trivial rows.
fn paired(rows: &[RowScores], outcomes: &[&[Outcome]], judges: usize, drawn: &Resamples) -> Vec<Paired> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for a in 0..judges {
        pairs.extend((a + 1..judges).map(|b| (a, b)));
    }
    let best = |value: fn(&Scores) -> f64| {
        let trivial = rows.iter().enumerate().skip(judges);
        // `max_by` keeps the last of several; reversed, the first named rule.
        trivial
            .rev()
            .max_by(|a, b| value(&a.1.headline).total_cmp(&value(&b.1.headline)))
            .map(|(at, _)| at)
    };
    let by_first = best(|scores| scores.first_error_accuracy);
    let by_f1 = best(|scores| scores.macro_f1).filter(|at| Some(*at) != by_first);
    for judge in 0..judges {
        pairs.extend(by_first.into_iter().chain(by_f1).map(|rule| (judge, rule)));
    }
    let mut found: Vec<Paired> = pairs
        .iter()
        .filter_map(|pair| one_pair(rows, outcomes, *pair, drawn))
        .collect();
    let adjusted = holm(&found.iter().map(|pair| pair.mcnemar.p).collect::<Vec<_>>());
    for (pair, p) in found.iter_mut().zip(adjusted) {
        pair.p_holm = p;
    }
    found
}

fn one_pair(rows: &[RowScores], outcomes: &[&[Outcome]], (a, b): (usize, usize), drawn: &Resamples) -> Option<Paired> {
    let (row_a, row_b) = (rows.get(a)?, rows.get(b)?);
    let right = |row: usize| {
        outcomes
            .get(row)
            .map(|row| row.iter().map(|outcome| outcome.first_right))
    };
    let mcnemar = McNemar::new(right(a)?.zip(right(b)?));
    let differences = drawn.differences((a, &row_a.headline), (b, &row_b.headline));
    let [first_error_accuracy, macro_f1] = differences.map_or([None, None], |pair| pair.map(Some));
    Some(Paired {
        a: row_a.name.clone(),
        b: row_b.name.clone(),
        first_error_accuracy,
        macro_f1,
        p_holm: mcnemar.p,
        mcnemar,
    })
}

#[cfg(test)]
#[path = "evaluate/tests.rs"]
mod tests;
