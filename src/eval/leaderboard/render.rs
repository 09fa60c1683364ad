//! The leaderboard as a table for people and as CSV.

use super::super::interval::Interval;
use super::super::score::Rate;
use super::super::table::Table;
use super::{BoardRow, Leaderboard, RowKind, Score};

/// Shown where there is no number.
const DASH: &str = "–";

impl Leaderboard {
    /// What the table is about, a line each.
    #[must_use]
    pub fn preface(&self) -> Vec<String> {
        let gold = &self.gold;
        vec![
            format!(
                "{}: {} runs ({} clean), {} harmful spans.",
                self.data, gold.runs, gold.clean, gold.error_spans
            ),
            format!(
                "Percent over all runs: failed, refused, not run and missing count as wrong; a run where neither gold nor prediction names a span counts {}.",
                self.both_empty
            ),
            format!(
                "95 % intervals in brackets: Wilson for FEA of single audits, else percentile bootstrap over runs ({} resamples, seed {}).",
                self.resamples, self.seed
            ),
        ]
    }

    /// The table for people.
    #[must_use]
    pub fn table(&self) -> Table {
        let head = [
            "model",
            "method",
            "FEA",
            "Macro-F1",
            "P",
            "R",
            "false alarms",
            "ok",
            "failed",
            "refused",
            "not run",
            "missing",
            "tokens a run",
            "cost USD",
            "wait a run",
        ];
        let mut table = Table::new("Leaderboard", &head);
        for row in &self.rows {
            let count = |of: fn(&super::Counts) -> u64| {
                row.counts
                    .as_ref()
                    .map_or(DASH.to_owned(), |counts| of(counts).to_string())
            };
            let audits = row
                .counts
                .as_ref()
                .map_or(0, |counts| counts.ok + counts.failed + counts.refused);
            table.rows.push(vec![
                name(row),
                row.method.clone(),
                percent(&row.first_error_accuracy),
                percent(&row.macro_f1),
                short(row.macro_precision),
                short(row.macro_recall),
                row.false_alarm.as_ref().map_or(DASH.to_owned(), alarms),
                count(|counts| counts.ok),
                count(|counts| counts.failed),
                count(|counts| counts.refused),
                count(|counts| counts.not_run),
                count(|counts| counts.missing),
                per_audit(
                    row,
                    audits,
                    |spent| spent.total_tokens as f64,
                    |value| format!("{value:.0}"),
                ),
                row.spent
                    .as_ref()
                    .and_then(|spent| spent.cost_usd)
                    .map_or(DASH.to_owned(), |cost| format!("{cost:.4}")),
                per_audit(row, audits, |spent| spent.wait_s, |value| format!("{value:.1} s")),
            ]);
        }
        table
    }

    /// Every number in a column of its own; shares in [0, 1].
    #[must_use]
    pub fn csv(&self) -> String {
        let head = [
            "kind",
            "model",
            "method",
            "first_error_accuracy",
            "fea_low",
            "fea_high",
            "macro_f1",
            "f1_low",
            "f1_high",
            "macro_precision",
            "macro_recall",
            "false_alarms",
            "clean_runs",
            "gold",
            "ok",
            "failed",
            "refused",
            "not_run",
            "missing",
            "rejected_span_ids",
            "repeats",
            "span_kappa",
            "calls",
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "cost_usd",
            "wait_s",
        ];
        let mut table = Table::new("", &head);
        table.rows = self.rows.iter().map(csv_row).collect();
        table.csv()
    }
}

fn csv_row(row: &BoardRow) -> Vec<String> {
    fn of<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let low = |score: &Score| of(score.interval.map(|interval| interval.low));
    let high = |score: &Score| of(score.interval.map(|interval| interval.high));
    let kind = match row.kind {
        RowKind::Judged => "judged",
        RowKind::Trivial => "trivial",
        RowKind::Published => "published",
    };
    let (counts, spent, alarm) = (row.counts.as_ref(), row.spent.as_ref(), row.false_alarm.as_ref());
    vec![
        kind.to_owned(),
        row.model.clone(),
        row.method.clone(),
        row.first_error_accuracy.value.to_string(),
        low(&row.first_error_accuracy),
        high(&row.first_error_accuracy),
        row.macro_f1.value.to_string(),
        low(&row.macro_f1),
        high(&row.macro_f1),
        of(row.macro_precision.map(|score| score.value)),
        of(row.macro_recall.map(|score| score.value)),
        of(alarm.map(|rate| rate.k)),
        of(alarm.map(|rate| rate.n)),
        of(counts.map(|counts| counts.gold)),
        of(counts.map(|counts| counts.ok)),
        of(counts.map(|counts| counts.failed)),
        of(counts.map(|counts| counts.refused)),
        of(counts.map(|counts| counts.not_run)),
        of(counts.map(|counts| counts.missing)),
        of(row.rejected_span_ids),
        of(row.repeats.as_ref().map(|repeats| repeats.count)),
        of(row.repeats.as_ref().and_then(|repeats| repeats.span_kappa)),
        of(spent.map(|spent| spent.calls)),
        of(spent.map(|spent| spent.input_tokens)),
        of(spent.map(|spent| spent.output_tokens)),
        of(spent.map(|spent| spent.total_tokens)),
        of(spent.and_then(|spent| spent.cost_usd)),
        of(spent.map(|spent| spent.wait_s)),
    ]
}

fn name(row: &BoardRow) -> String {
    match row.kind {
        RowKind::Trivial => format!("(rule) {}", row.model),
        RowKind::Judged | RowKind::Published => row.model.clone(),
    }
}

fn percent(score: &Score) -> String {
    let value = score.value * 100.0;
    match score.interval {
        Some(Interval { low, high, .. }) => format!("{value:.1} [{:.1} {:.1}]", low * 100.0, high * 100.0),
        None => format!("{value:.1}"),
    }
}

fn short(score: Option<Score>) -> String {
    score.map_or(DASH.to_owned(), |score| format!("{:.1}", score.value * 100.0))
}

fn alarms(rate: &Rate) -> String {
    if rate.n == 0 {
        DASH.to_owned()
    } else {
        format!("{} of {}", rate.k, rate.n)
    }
}

fn per_audit(row: &BoardRow, audits: u64, of: fn(&super::Spent) -> f64, shown: fn(f64) -> String) -> String {
    match &row.spent {
        Some(spent) if audits > 0 && spent.calls > 0 => shown(of(spent) / audits as f64),
        _ => DASH.to_owned(),
    }
}
