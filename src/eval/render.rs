//! An evaluation as tables, and as one long CSV.

use super::agreement::Agreement;
use super::evaluate::{Evaluation, Paired, RowScores};
use super::interval::Interval;
use super::paired::Difference;
use super::score::{Rate, Scores};
use super::table::Table;

/// Shown where there is no number.
const DASH: &str = "–";

impl Evaluation {
    /// What the tables are about, a line each: gold, rules, intervals.
    #[must_use]
    pub fn preface(&self) -> Vec<String> {
        let gold = &self.gold;
        let of_spans = gold.spans.map_or_else(String::new, |spans| format!(" of {spans}"));
        let unit = match &self.cluster {
            Some(key) => format!("values of {key} as units, also for rates; McNemar still takes runs as independent"),
            None => "runs as units; Wilson for rates".to_owned(),
        };
        let fewer = if self.gold.runs > super::FULL_UP_TO as u64 && self.resamples < super::RESAMPLES {
            " (fewer than 10000 above 20000 runs)"
        } else {
            ""
        };
        vec![
            format!(
                "Gold: {} runs ({} clean, {} unlabelled left out), {} harmful spans{of_spans}.",
                gold.runs, gold.clean, gold.unlabelled, gold.error_spans
            ),
            format!(
                "Both-empty rule: a run where neither gold nor prediction names a span counts {} ({}); micro scores count spans only.",
                self.both_empty,
                if self.both_empty == 1 {
                    "as in DRIFT's scorer; --both-empty 0 counts it 0"
                } else {
                    "--both-empty 1 counts it 1"
                }
            ),
            format!(
                "Percent; 95 % intervals in brackets: percentile bootstrap, {} resamples{fewer}, seed {}, {unit}.",
                self.resamples, self.seed
            ),
        ]
    }

    /// Everything odd about the input, a line each, with the file it is about.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let gold = self.notes.iter().map(|note| format!("gold: {note}"));
        let rows = self
            .predictions
            .iter()
            .flat_map(|row| row.notes.iter().map(move |note| format!("{}: {note}", row.name)));
        gold.chain(rows).collect()
    }

    /// The tables for people.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![
            self.headline(),
            self.scored_only(),
            self.counts(),
            self.first_errors(),
            self.over_spans(),
        ];
        tables.extend(self.breakdowns());
        tables.extend(self.error_types());
        tables.push(paired_table(self.paired.iter()));
        if let Some(agreement) = &self.agreement {
            tables.extend(agreement_tables(agreement));
        }
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    /// Judges, then trivial rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = &RowScores> {
        self.predictions.iter().chain(&self.trivial)
    }

    fn headline(&self) -> Table {
        let mut table = scores_table(format!(
            "Headline: all {} runs; failed, refused, not run and missing count as wrong",
            self.gold.runs
        ));
        table.rows = self.rows().map(|row| scores_row(&row.name, &row.headline)).collect();
        table
    }

    fn scored_only(&self) -> Table {
        let mut table = scores_table("Scored only: runs that have a prediction");
        for row in &self.predictions {
            table.rows.push(match &row.scored_only {
                Some(scores) => scores_row(&row.name, scores),
                None => {
                    let mut cells = vec![DASH.to_owned(); table.head.len()];
                    cells.splice(0..1, [row.name.clone()]);
                    cells
                }
            });
        }
        table
    }

    fn counts(&self) -> Table {
        let head = ["runs", "gold", "ok", "failed", "refused", "not run", "missing", "extra"];
        let mut table = Table::new("Runs and rows", &head);
        for row in &self.predictions {
            let c = row.counts;
            let numbers = [c.gold, c.ok, c.failed, c.refused, c.not_run, c.missing, c.extra];
            table
                .rows
                .push(cells(&row.name, numbers.map(|number| number.to_string())));
        }
        table
    }

    fn first_errors(&self) -> Table {
        let head = [
            "first error",
            "FEA",
            "FEA by list order (published)",
            "too early",
            "too late",
            "clean runs flagged",
        ];
        let mut table = Table::new(
            "First error (headline; too early and too late: of runs where both name a span; flagged: of clean runs with a prediction)",
            &head,
        );
        for row in self.rows() {
            let s = &row.headline;
            let numbers = [
                percent(s.first_error_accuracy),
                percent(s.first_error_accuracy_list_order),
                of(&s.first_too_early),
                of(&s.first_too_late),
                of(&s.false_alarm),
            ];
            table.rows.push(cells(&row.name, numbers));
        }
        table
    }

    fn over_spans(&self) -> Table {
        let head = [
            "spans",
            "Micro-P",
            "Micro-R",
            "Micro-F1",
            "predicted a run",
            "gold a run",
        ];
        let mut table = Table::new(
            "Over all spans (headline; predicted a run: of runs with a prediction)",
            &head,
        );
        for row in self.rows() {
            let s = &row.headline;
            let with = |value: f64, metric: &str| with_interval(value, s.intervals.get(metric));
            let numbers = [
                with(s.micro_precision, "micro_precision"),
                with(s.micro_recall, "micro_recall"),
                with(s.micro_f1, "micro_f1"),
                s.mean_predicted_spans
                    .map_or_else(|| DASH.to_owned(), |mean| format!("{mean:.2}")),
                format!("{:.2}", s.mean_gold_spans),
            ];
            table.rows.push(cells(&row.name, numbers));
        }
        table
    }

    /// One table a key, for the judges and the trivial row that leads by first-error accuracy.
    fn breakdowns(&self) -> Vec<Table> {
        let lead = self.trivial.iter().rev().max_by(|a, b| {
            a.headline
                .first_error_accuracy
                .total_cmp(&b.headline.first_error_accuracy)
        });
        let shown: Vec<&RowScores> = self.predictions.iter().chain(lead).collect();
        let keys = shown.first().map_or(&[] as &[_], |row| &row.breakdowns);
        let mut tables = Vec::new();
        for (at, breakdown) in keys.iter().enumerate() {
            let head = [
                &breakdown.key,
                "row",
                "n",
                "FEA",
                "Macro-F1",
                "P",
                "R",
                "Micro-R",
                "flagged",
            ];
            let mut table = Table::new(format!("By {} (headline)", breakdown.key), &head).with_words(2);
            for group in 0..breakdown.groups.len() {
                for row in &shown {
                    let Some(group) = row.breakdowns.get(at).and_then(|found| found.groups.get(group)) else {
                        continue;
                    };
                    let s = &group.scores;
                    let numbers = [
                        row.name.clone(),
                        s.n.to_string(),
                        with_interval(s.first_error_accuracy, s.intervals.get("first_error_accuracy")),
                        percent(s.macro_f1),
                        percent(s.macro_precision),
                        percent(s.macro_recall),
                        percent(s.micro_recall),
                        of(&s.false_alarm),
                    ];
                    table.rows.push(cells(&group.value, numbers));
                }
            }
            tables.push(table);
        }
        tables
    }

    fn error_types(&self) -> Option<Table> {
        let mut table = Table::new(
            "Recall by annotated error type (headline)",
            &["error type", "row", "found", "recall"],
        )
        .with_words(2);
        for row in &self.predictions {
            for kind in &row.error_types {
                let found = format!("{} of {}", kind.recall.k, kind.recall.n);
                table
                    .rows
                    .push(cells(&kind.error_type, [row.name.clone(), found, rate(&kind.recall)]));
            }
        }
        table.rows.sort_by(|a, b| a.first().cmp(&b.first()));
        (!table.rows.is_empty()).then_some(table)
    }
}

fn cells<const N: usize>(first: &str, rest: [String; N]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}

/// The paired tests as a table.
pub(super) fn paired_table<'a>(pairs: impl Iterator<Item = &'a Paired>) -> Table {
    let head = [
        "first",
        "second",
        "FEA difference",
        "p",
        "Macro-F1 difference",
        "p",
        "only first right",
        "only second right",
        "McNemar p",
        "Holm p",
    ];
    let mut table = Table::new(
        "Paired, on the same runs (headline): bootstrap of the difference; McNemar, exact, on the first error",
        &head,
    )
    .with_words(2);
    table.rows = pairs.map(paired_row).collect();
    table
}

/// A table for [`scores_row`]s.
pub(super) fn scores_table(title: impl Into<String>) -> Table {
    let head = [
        "row",
        "n",
        "FEA",
        "±1",
        "±2",
        "Macro-F1",
        "P",
        "R",
        "Micro-F1",
        "exact set",
    ];
    Table::new(title, &head)
}

/// Scores as a row.
pub(super) fn scores_row(name: &str, s: &Scores) -> Vec<String> {
    let with = |value: f64, metric: &str| with_interval(value, s.intervals.get(metric));
    let numbers = [
        s.n.to_string(),
        with(s.first_error_accuracy, "first_error_accuracy"),
        s.within_1.map_or_else(|| DASH.to_owned(), percent),
        s.within_2.map_or_else(|| DASH.to_owned(), percent),
        with(s.macro_f1, "macro_f1"),
        percent(s.macro_precision),
        percent(s.macro_recall),
        percent(s.micro_f1),
        percent(s.exact_set_rate),
    ];
    cells(name, numbers)
}

fn percent(value: f64) -> String {
    format!("{:.1}", value * 100.0)
}

fn with_interval(value: f64, interval: Option<&Interval>) -> String {
    match interval {
        Some(interval) => format!(
            "{} [{} {}]",
            percent(value),
            percent(interval.low),
            percent(interval.high)
        ),
        None => percent(value),
    }
}

fn of(rate: &Rate) -> String {
    match rate.value {
        Some(value) => format!("{} of {} ({})", rate.k, rate.n, percent(value)),
        None => DASH.to_owned(),
    }
}

fn rate(rate: &Rate) -> String {
    match (rate.value, rate.low, rate.high) {
        (Some(value), Some(low), Some(high)) => format!("{} [{} {}]", percent(value), percent(low), percent(high)),
        _ => DASH.to_owned(),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

fn paired_row(pair: &Paired) -> Vec<String> {
    let difference = |difference: &Option<Difference>| match difference {
        Some(found) => [with_interval(found.value, found.interval.as_ref()), p_value(found.p)],
        None => [DASH.to_owned(), DASH.to_owned()],
    };
    let ([first, first_p], [f1, f1_p]) = (difference(&pair.first_error_accuracy), difference(&pair.macro_f1));
    let numbers = [
        pair.b.clone(),
        first,
        first_p,
        f1,
        f1_p,
        pair.mcnemar.only_a.to_string(),
        pair.mcnemar.only_b.to_string(),
        p_value(pair.mcnemar.p),
        p_value(pair.p_holm),
    ];
    cells(&pair.a, numbers)
}

fn agreement_tables(agreement: &Agreement) -> [Table; 2] {
    let kappa = |kappa: Option<f64>| kappa.map_or_else(|| DASH.to_owned(), |kappa| format!("{kappa:.4}"));
    let mut pairs = Table::new(
        format!(
            "Agreement of {} judges: Fleiss' κ {} over {} spans of the {} runs that all answered",
            agreement.judges,
            kappa(agreement.fleiss_kappa),
            agreement.spans,
            agreement.runs
        ),
        &["first", "second", "Cohen's κ", "spans", "same first span"],
    )
    .with_words(2);
    for pair in &agreement.pairs {
        let numbers = [
            pair.b.clone(),
            kappa(pair.cohen_kappa),
            pair.spans.to_string(),
            of(&pair.same_first),
        ];
        pairs.rows.push(cells(&pair.a, numbers));
    }
    let mut levels = Table::new(
        "Risk and coverage: runs where at least so many judges name the same first span (or none), and spans so many marked",
        &["judges", "coverage", "first span right", "marked spans that are gold"],
    );
    for level in &agreement.levels {
        let name = format!("{} of {}", level.at_least, agreement.judges);
        levels.rows.push(cells(
            &name,
            [
                of(&level.coverage),
                rate(&level.first_right),
                of(&level.marked_spans_right),
            ],
        ));
    }
    [pairs, levels]
}
