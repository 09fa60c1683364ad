//! An evaluation as one long CSV, a number a line.

use super::evaluate::Evaluation;
use super::paired::Difference;
use super::score::{Rate, Scores};
use super::table::Table;

impl Evaluation {
    /// Every number as `row,basis,key,group,metric,value,low,high,n`, shares in [0, 1].
    #[must_use]
    pub fn long_csv(&self) -> String {
        let mut table = Table::new(
            "",
            &["row", "basis", "key", "group", "metric", "value", "low", "high", "n"],
        );
        for row in self.rows() {
            long_scores(&mut table, [&row.name, "headline", "", ""], &row.headline);
            if let Some(scores) = &row.scored_only {
                long_scores(&mut table, [&row.name, "scored_only", "", ""], scores);
            }
            let c = row.counts;
            let counts = [
                ("gold", c.gold),
                ("ok", c.ok),
                ("failed", c.failed),
                ("refused", c.refused),
                ("not_run", c.not_run),
                ("missing", c.missing),
                ("extra", c.extra),
            ];
            for (metric, count) in counts {
                long_row(
                    &mut table,
                    [&row.name, "counts", "", ""],
                    metric,
                    [Some(count as f64), None, None],
                    c.gold,
                );
            }
            for breakdown in &row.breakdowns {
                for group in &breakdown.groups {
                    long_scores(
                        &mut table,
                        [&row.name, "headline", &breakdown.key, &group.value],
                        &group.scores,
                    );
                }
            }
            for kind in &row.error_types {
                let place = [row.name.as_str(), "headline", "error_type", kind.error_type.as_str()];
                long_rate(&mut table, place, "recall", &kind.recall);
            }
        }
        for pair in &self.paired {
            let name = format!("{} − {}", pair.a, pair.b);
            for (metric, difference) in [
                ("first_error_accuracy", pair.first_error_accuracy),
                ("macro_f1", pair.macro_f1),
            ] {
                if let Some(Difference { value, interval, .. }) = difference {
                    let ends = interval.map_or([None, None], |interval| [Some(interval.low), Some(interval.high)]);
                    let [low, high] = ends;
                    long_row(
                        &mut table,
                        [&name, "difference", "", ""],
                        metric,
                        [Some(value), low, high],
                        self.gold.runs,
                    );
                }
            }
            long_row(
                &mut table,
                [&name, "difference", "", ""],
                "mcnemar_p",
                [Some(pair.mcnemar.p), None, None],
                self.gold.runs,
            );
        }
        table.csv()
    }
}

fn long_row(table: &mut Table, place: [&str; 4], metric: &str, numbers: [Option<f64>; 3], n: u64) {
    let mut row: Vec<String> = place.iter().map(|cell| (*cell).to_owned()).collect();
    row.push(metric.to_owned());
    row.extend(numbers.map(|number| number.map_or_else(String::new, |number| number.to_string())));
    row.push(n.to_string());
    table.rows.push(row);
}

fn long_rate(table: &mut Table, place: [&str; 4], metric: &str, rate: &Rate) {
    long_row(table, place, metric, [rate.value, rate.low, rate.high], rate.n);
}

fn long_scores(table: &mut Table, place: [&str; 4], s: &Scores) {
    let values = [
        ("first_error_accuracy", Some(s.first_error_accuracy)),
        (
            "first_error_accuracy_list_order",
            Some(s.first_error_accuracy_list_order),
        ),
        ("within_1", s.within_1),
        ("within_2", s.within_2),
        ("macro_precision", Some(s.macro_precision)),
        ("macro_recall", Some(s.macro_recall)),
        ("macro_f1", Some(s.macro_f1)),
        ("micro_precision", Some(s.micro_precision)),
        ("micro_recall", Some(s.micro_recall)),
        ("micro_f1", Some(s.micro_f1)),
        ("exact_set_rate", Some(s.exact_set_rate)),
        ("mean_gold_spans", Some(s.mean_gold_spans)),
        ("mean_predicted_spans", s.mean_predicted_spans),
    ];
    for (metric, value) in values {
        let interval = s.intervals.get(metric);
        long_row(
            table,
            place,
            metric,
            [value, interval.map(|i| i.low), interval.map(|i| i.high)],
            s.n,
        );
    }
    long_rate(table, place, "first_too_early", &s.first_too_early);
    long_rate(table, place, "first_too_late", &s.first_too_late);
    long_rate(table, place, "false_alarm", &s.false_alarm);
}
