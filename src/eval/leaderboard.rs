//! Judges side by side: scores with intervals, what they cost, and the rows they have to beat.

mod frontier;
mod published;
mod render;

use serde::Serialize;

use super::agreement::agreement;
use super::cases::CaseSet;
use super::evaluate::{Counts, GoldSummary, Settings, gold_summary, outcomes};
use super::interval::{Interval, Resampled, Units, percentile_interval, wilson};
use super::predictions::{Prediction, Status};
use super::resample::default_resamples;
use super::score::{BothEmpty, Outcome, Rate, ratio};
use super::trivial::trivial_rows;

pub use published::{Published, PublishedError, PublishedRow};

/// Name of the trivial row that every judge is held against.
const LAST: &str = "last span";
/// Statistics of a row in a resample: first-error accuracy, Macro-F1, precision, recall.
const WIDTH: usize = 4;

/// What an entry used, all its runs and repeats together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Requests sent.
    pub calls: u64,
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Input and output tokens.
    pub total_tokens: u64,
    /// US dollars; null when the model has no known price.
    pub cost_usd: Option<f64>,
    /// Seconds spent waiting for answers, added up over audits that ran side by side.
    pub wait_s: f64,
}

/// A judge under a method, with its answers.
#[derive(Debug)]
pub struct Entry {
    /// Name of the model.
    pub model: String,
    /// Name of the method, as tables show it.
    pub method: String,
    /// One prediction a repeat; never empty.
    pub repeats: Vec<Prediction>,
    /// What it used.
    pub spent: Spent,
    /// Span ids it named that no span has, and that were left out.
    pub rejected_span_ids: u64,
}

/// A share in [0, 1] with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The value; a mean over repeats, where there are several.
    pub value: f64,
    /// The interval; null for published rows.
    pub interval: Option<Interval>,
}

/// Where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A judge was asked.
    Judged,
    /// A rule that reads nothing.
    Trivial,
    /// Taken from a publication.
    Published,
}

/// How repeats of one entry agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeats {
    /// How many.
    pub count: usize,
    /// First-error accuracy of each.
    pub first_error_accuracy: Vec<f64>,
    /// Macro-F1 of each.
    pub macro_f1: Vec<f64>,
    /// Fleiss' kappa over the spans of the runs that every repeat has a prediction for.
    pub span_kappa: Option<f64>,
}

/// A row held against another on the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Against {
    /// Difference in first-error accuracy, with its paired bootstrap interval.
    pub first_error_accuracy: Score,
    /// Difference in Macro-F1, the same way.
    pub macro_f1: Score,
}

/// A row of the leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardRow {
    /// Where it comes from.
    pub kind: RowKind,
    /// Model, or the rule's name.
    pub model: String,
    /// Method; empty for a rule.
    pub method: String,
    /// First-error accuracy over all labelled runs.
    pub first_error_accuracy: Score,
    /// Macro-F1 over all labelled runs.
    pub macro_f1: Score,
    /// Macro precision; null when not published.
    pub macro_precision: Option<Score>,
    /// Macro recall; null when not published.
    pub macro_recall: Option<Score>,
    /// Of the clean runs with a prediction: some span is flagged.
    pub false_alarm: Option<Rate>,
    /// How many audits ended how (all repeats together).
    pub counts: Option<Counts>,
    /// What it used.
    pub spent: Option<Spent>,
    /// Span ids named that do not exist.
    pub rejected_span_ids: Option<u64>,
    /// How repeats agree, when there are several.
    pub repeats: Option<Repeats>,
    /// The row minus the trivial row that always names the last span; for judged rows.
    pub against_last: Option<Against>,
}

/// The leaderboard; its JSON form is this struct.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaderboard {
    /// `auditor.leaderboard/1`.
    pub schema: &'static str,
    /// Name of the data.
    pub data: String,
    /// What gold holds.
    pub gold: GoldSummary,
    /// What a run counts where neither gold nor prediction names a span: 1 or 0.
    pub both_empty: u8,
    /// Level of all intervals.
    pub confidence: f64,
    /// Bootstrap resamples.
    pub resamples: usize,
    /// Seed of the resamples and of the random row.
    pub seed: u64,
    /// Judged rows, best first-error accuracy first; then trivial rows; then published ones.
    pub rows: Vec<BoardRow>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

impl Leaderboard {
    /// Scores the entries on the labelled runs; `None` when there is none. `notes` come first among the notes.
    #[must_use]
    pub fn new(
        data: &str,
        cases: &CaseSet,
        entries: &[Entry],
        published: &Published,
        settings: &Settings,
        mut notes: Vec<String>,
    ) -> Option<Self> {
        let runs = cases.cases().len();
        if runs == 0 {
            return None;
        }
        let resamples = settings.resamples.unwrap_or_else(|| default_resamples(runs));
        let trivial = trivial_rows(cases, settings.both_empty, settings.seed);
        let judged = entries.iter().map(|entry| {
            let outcomes = entry
                .repeats
                .iter()
                .map(|one| outcomes(cases, one, settings.both_empty));
            outcomes.collect::<Vec<_>>()
        });
        let lists: Vec<Vec<Vec<Outcome>>> = judged
            .chain(trivial.iter().map(|row| vec![row.outcomes.clone()]))
            .collect();
        let resampled = resample(&lists, runs, resamples, settings.seed);
        let scored: Vec<Scored> = lists
            .iter()
            .zip(0..)
            .map(|(list, place)| Scored::new(list, place, &resampled))
            .collect();
        let (of_judges, of_rules) = scored.split_at_checked(entries.len())?;
        let last = trivial
            .iter()
            .zip(of_rules)
            .find(|(rule, _)| rule.name == LAST)
            .map(|(_, scored)| scored);
        let mut rows: Vec<BoardRow> = Vec::new();
        for (entry, scored) in entries.iter().zip(of_judges) {
            let mut row = scored.row(RowKind::Judged, &entry.model, &entry.method);
            row.counts = Some(counts(&entry.repeats, runs));
            row.spent = Some(entry.spent.clone());
            row.rejected_span_ids = Some(entry.rejected_span_ids);
            row.repeats = repeats(cases, entry, scored, settings.both_empty);
            row.against_last = last.map(|last| scored.against(last, &resampled));
            rows.push(row);
        }
        rows.sort_by(|a, b| b.first_error_accuracy.value.total_cmp(&a.first_error_accuracy.value));
        rows.extend(
            trivial
                .iter()
                .zip(of_rules)
                .map(|(rule, scored)| scored.row(RowKind::Trivial, &rule.name, "")),
        );
        rows.extend(published.rows.iter().map(PublishedRow::row));
        let gold = gold_summary(cases);
        notes.extend(remarks(&rows, &gold, published));
        // Runs without a label are the caller's to tell: it knows which of them were wanted.
        let odd = cases.notes.all().iter().filter(|note| note.code != "unlabelled");
        notes.extend(odd.map(|note| format!("gold: {note}")));
        Some(Self {
            schema: "auditor.leaderboard/1",
            data: data.to_owned(),
            gold,
            both_empty: settings.both_empty.value(),
            confidence: 0.95,
            resamples,
            seed: settings.seed,
            rows,
            notes,
        })
    }
}

/// First-error accuracy, Macro-F1, precision and recall of one run.
fn values_of(outcome: &Outcome) -> [f64; WIDTH] {
    let [precision, recall, f1] = outcome.prf();
    [f64::from(u8::from(outcome.first_right)), f1, precision, recall]
}

/// Resamples the runs for all rows at once, so that differences between rows are paired. The repeats of a
/// run stay with it: they are no runs of their own.
fn resample(lists: &[Vec<Vec<Outcome>>], runs: usize, resamples: usize, seed: u64) -> Resampled {
    let mut units = Units::new(runs, lists.len() * WIDTH);
    for (list, place) in lists.iter().zip((0..).step_by(WIDTH)) {
        for (run, outcome) in list.iter().flat_map(|repeat| repeat.iter().enumerate()) {
            for (value, column) in values_of(outcome).into_iter().zip(place..) {
                units.add(run, column, value);
            }
        }
    }
    let totals: Vec<f64> = lists.iter().map(|list| (list.len() * runs) as f64).collect();
    units.bootstrap(resamples, seed, lists.len() * WIDTH, |sums, out| {
        for ((out, sums), total) in out.chunks_mut(WIDTH).zip(sums.chunks(WIDTH)).zip(&totals) {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = ratio(*sum, *total);
            }
        }
    })
}

/// The scores of one row.
struct Scored {
    /// First statistic of the row in a resample.
    place: usize,
    /// First-error accuracy, Macro-F1, precision, recall.
    scores: [Score; WIDTH],
    /// First-error accuracy and Macro-F1 of each repeat.
    each: Vec<[f64; 2]>,
    false_alarm: Rate,
}

impl Scored {
    fn new(list: &[Vec<Outcome>], place: usize, resampled: &Resampled) -> Self {
        let place = place * WIDTH;
        let mut sums = [0.0; WIDTH];
        let mut each = Vec::new();
        let (mut count, mut right, mut clean, mut alarms) = (0_u64, 0_u64, 0_u64, 0_u64);
        for repeat in list {
            let mut own = [0.0; WIDTH];
            for outcome in repeat {
                own.iter_mut()
                    .zip(values_of(outcome))
                    .for_each(|(sum, value)| *sum += value);
                right += u64::from(outcome.first_right);
                clean += u64::from(outcome.gold == 0 && outcome.scored);
                alarms += u64::from(outcome.gold == 0 && outcome.scored && outcome.predicted > 0);
            }
            count += repeat.len() as u64;
            let [first, f1, ..] = own.map(|sum| ratio(sum, repeat.len() as f64));
            each.push([first, f1]);
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        let mut at = place..;
        let mut scores = sums.map(|sum| Score {
            value: ratio(sum, count as f64),
            interval: at.next().and_then(|at| resampled.interval(at)),
        });
        // Runs are independent where each is audited once: then Wilson's interval is the better one.
        if let ([first, ..], 1) = (&mut scores, list.len()) {
            first.interval = wilson(right, count);
        }
        Self {
            place,
            scores,
            each,
            false_alarm: Rate::new(alarms, clean),
        }
    }

    fn row(&self, kind: RowKind, model: &str, method: &str) -> BoardRow {
        let [first_error_accuracy, macro_f1, precision, recall] = self.scores;
        BoardRow {
            kind,
            model: model.to_owned(),
            method: method.to_owned(),
            first_error_accuracy,
            macro_f1,
            macro_precision: Some(precision),
            macro_recall: Some(recall),
            false_alarm: Some(self.false_alarm),
            counts: None,
            spent: None,
            rejected_span_ids: None,
            repeats: None,
            against_last: None,
        }
    }

    fn against(&self, other: &Self, resampled: &Resampled) -> Against {
        let [first, f1, ..] = self.scores;
        let [other_first, other_f1, ..] = other.scores;
        let difference = |at: usize, a: Score, b: Score| Score {
            value: a.value - b.value,
            interval: percentile_interval(resampled.difference(self.place + at, other.place + at)),
        };
        Against {
            first_error_accuracy: difference(0, first, other_first),
            macro_f1: difference(1, f1, other_f1),
        }
    }
}

fn counts(repeats: &[Prediction], runs: usize) -> Counts {
    let mut counts = Counts {
        gold: (runs * repeats.len()) as u64,
        ..Counts::default()
    };
    for prediction in repeats {
        counts.extra += prediction.extra;
        for answer in &prediction.answers {
            *match answer.status {
                Status::Ok => &mut counts.ok,
                Status::Failed => &mut counts.failed,
                Status::Refused => &mut counts.refused,
                Status::NotRun => &mut counts.not_run,
                Status::Missing => &mut counts.missing,
            } += 1;
        }
    }
    counts
}

fn repeats(cases: &CaseSet, entry: &Entry, scored: &Scored, both_empty: BothEmpty) -> Option<Repeats> {
    (entry.repeats.len() > 1).then(|| Repeats {
        count: entry.repeats.len(),
        first_error_accuracy: scored.each.iter().map(|[first, _]| *first).collect(),
        macro_f1: scored.each.iter().map(|[_, f1]| *f1).collect(),
        span_kappa: agreement(cases, &entry.repeats, both_empty).and_then(|found| found.fleiss_kappa),
    })
}

/// What has to be said about the rows.
fn remarks(rows: &[BoardRow], gold: &GoldSummary, published: &Published) -> Vec<String> {
    let mut notes = Vec::new();
    for row in rows {
        let name = format!("{} / {}", row.model, row.method);
        if let Some(against) = &row.against_last {
            notes.extend(beside_last(&name, against));
        }
        if row
            .spent
            .as_ref()
            .is_some_and(|spent| spent.calls > 0 && spent.cost_usd.is_none())
        {
            notes.push(format!(
                "{name}: no price is known for this model, so its cost is not either (--models FILE gives one)."
            ));
        }
        if let Some(rejected) = row.rejected_span_ids.filter(|rejected| *rejected > 0) {
            notes.push(format!(
                "{name} named {rejected} span ids that do not exist; they were left out."
            ));
        }
        if let Some(counts) = row.counts.filter(|counts| counts.ok < counts.gold) {
            notes.push(format!(
                "{name}: {} of {} audits have no verdict (failed {}, refused {}, not run {}, missing {}) and count as wrong.",
                counts.gold - counts.ok, counts.gold, counts.failed, counts.refused, counts.not_run, counts.missing
            ));
        }
        if let Some(repeats) = &row.repeats {
            let kappa = repeats
                .span_kappa
                .map_or_else(|| "undefined".to_owned(), |kappa| format!("{kappa:.4}"));
            notes.push(format!(
                "{name}: mean of {} repeats; Fleiss' kappa over spans {kappa}.",
                repeats.count
            ));
        }
    }
    if rows.iter().any(|row| row.kind == RowKind::Published) {
        let other = if (gold.runs, gold.error_spans) == (published.runs, published.error_spans) {
            ""
        } else {
            ", and on TELBench, which this data is not"
        };
        notes.push(format!(
            "Published rows were made with other prompts and model versions{other}: {}.",
            published.source
        ));
    }
    notes
}

/// Whether a row is better than always naming the last span.
fn beside_last(name: &str, against: &Against) -> Vec<String> {
    let scores = [
        ("first-error accuracy", against.first_error_accuracy),
        ("Macro-F1", against.macro_f1),
    ];
    let mut notes = Vec::new();
    for (what, difference) in scores {
        let points = difference.value * 100.0;
        if difference.value <= 0.0 {
            notes.push(format!(
                "{name} does not beat `last` (always the last span) in {what}: {points:+.1} points."
            ));
        } else if difference.interval.is_none_or(|interval| interval.low <= 0.0) {
            notes.push(format!(
                "{name} is not shown to beat `last` in {what}: {points:+.1} points, and the 95 % interval holds 0."
            ));
        }
    }
    notes
}

#[cfg(test)]
#[path = "leaderboard/tests.rs"]
mod tests;
