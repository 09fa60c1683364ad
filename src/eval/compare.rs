//! Two judges on the same runs, case by case.

use serde::Serialize;

use super::cases::{Case, CaseSet, Mark};
use super::evaluate::{Counts, Paired, Settings, evaluate, outcomes};
use super::notes::Note;
use super::predictions::{Answer, Prediction, Status};
use super::score::{Outcome, Scores};
use super::table::Table;

/// One judge's answer to one run, for reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideAnswer {
    /// What became of the run.
    pub status: Status,
    /// Predicted spans in trajectory order.
    pub error_span_ids: Vec<String>,
    /// The first of them is the first gold span.
    pub first_right: bool,
    /// F1 of the run (headline: 0 without a prediction).
    pub f1: f64,
}

/// A run on which the two answers differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferingCase {
    /// The run's id.
    pub case_id: String,
    /// Gold spans in trajectory order.
    pub gold: Vec<String>,
    /// First judge.
    pub a: SideAnswer,
    /// Second judge.
    pub b: SideAnswer,
}

impl DifferingCase {
    /// `a` or `b` where one has the first error right and the other not, else by F1, else `–`.
    #[must_use]
    pub fn better(&self) -> &'static str {
        match (self.a.first_right, self.b.first_right) {
            (true, false) => "first",
            (false, true) => "second",
            _ if self.a.f1 > self.b.f1 => "first (F1)",
            _ if self.a.f1 < self.b.f1 => "second (F1)",
            _ => "–",
        }
    }
}

/// Scores of one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// How many runs ended how.
    pub counts: Counts,
    /// Headline scores.
    pub headline: Scores,
    /// Scores over the runs that have a prediction.
    pub scored_only: Option<Scores>,
    /// What was odd about the file.
    pub notes: Vec<Note>,
}

/// A comparison; its JSON form is this struct.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// `auditor.compare/1`.
    pub schema: &'static str,
    /// Labelled runs.
    pub runs: u64,
    /// Runs with the same status and the same set of spans on both sides.
    pub same: u64,
    /// What a run counts where neither gold nor prediction names a span: 1 or 0.
    pub both_empty: u8,
    /// Bootstrap resamples.
    pub resamples: usize,
    /// Their seed.
    pub seed: u64,
    /// First judge.
    pub a: Side,
    /// Second judge.
    pub b: Side,
    /// The paired tests.
    pub paired: Paired,
    /// Cohen's κ over the spans that both judged.
    pub cohen_kappa: Option<f64>,
    /// Where they differ, in the order of the gold file.
    pub cases: Vec<DifferingCase>,
    /// What was odd about the gold file.
    pub notes: Vec<Note>,
}

/// Compares two judges; `None` when there is no labelled run.
#[must_use]
pub fn compare(cases: &CaseSet, a: Prediction, b: Prediction, settings: &Settings) -> Option<Comparison> {
    let rows = [
        outcomes(cases, &a, settings.both_empty),
        outcomes(cases, &b, settings.both_empty),
    ];
    let differing: Vec<DifferingCase> = cases
        .cases()
        .iter()
        .zip(a.answers.iter().zip(&b.answers))
        .zip(rows[0].iter().zip(&rows[1]))
        .filter(|((_, (a, b)), _)| !same(a, b))
        .map(|((case, answers), outcomes)| DifferingCase {
            case_id: case.id.clone(),
            gold: in_order(case, &case.gold),
            a: side_answer(case, answers.0, outcomes.0),
            b: side_answer(case, answers.1, outcomes.1),
        })
        .collect();
    let evaluation = evaluate(cases, &[a, b], settings)?;
    let cohen_kappa = evaluation
        .agreement
        .as_ref()
        .and_then(|found| found.pairs.first())
        .and_then(|pair| pair.cohen_kappa);
    let mut sides = evaluation.predictions.into_iter().map(|row| Side {
        name: row.name,
        counts: row.counts,
        headline: row.headline,
        scored_only: row.scored_only,
        notes: row.notes,
    });
    let (a, b) = (sides.next()?, sides.next()?);
    // One pair is one test: Holm's correction over the trivial rows has no place here.
    let paired = evaluation.paired.into_iter().next()?;
    Some(Comparison {
        schema: "auditor.compare/1",
        runs: evaluation.gold.runs,
        same: evaluation.gold.runs - differing.len() as u64,
        both_empty: evaluation.both_empty,
        resamples: evaluation.resamples,
        seed: evaluation.seed,
        a,
        b,
        paired: Paired {
            p_holm: paired.mcnemar.p,
            ..paired
        },
        cohen_kappa,
        cases: differing,
        notes: evaluation.notes,
    })
}

fn same(a: &Answer, b: &Answer) -> bool {
    a.status == b.status && a.marks.len() == b.marks.len() && a.marks.iter().all(|mark| b.marks.contains(mark))
}

fn in_order(case: &Case, marks: &[Mark]) -> Vec<String> {
    let mut rest = marks.to_vec();
    let mut ids = Vec::with_capacity(rest.len());
    while let Some(first) = case.first(&rest) {
        rest.retain(|mark| *mark != first);
        ids.push(case.span_id(first).to_owned());
    }
    ids
}

fn side_answer(case: &Case, answer: &Answer, outcome: &Outcome) -> SideAnswer {
    let [_, _, f1] = outcome.prf();
    SideAnswer {
        status: answer.status,
        error_span_ids: in_order(case, &answer.marks),
        first_right: outcome.first_right,
        f1,
    }
}

impl Comparison {
    /// What the tables are about, a line each.
    #[must_use]
    pub fn preface(&self) -> Vec<String> {
        let m = &self.paired.mcnemar;
        let kappa = self
            .cohen_kappa
            .map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.4}"));
        vec![
            format!(
                "{} (first) against {} (second): {} runs, same answer on {}, Cohen's κ over spans {kappa}.",
                self.a.name, self.b.name, self.runs, self.same
            ),
            format!(
                "First error right: both {}, only first {}, only second {}, neither {}. Both-empty rule: such runs count {}.",
                m.both, m.only_a, m.only_b, m.neither, self.both_empty
            ),
        ]
    }

    /// Scores, the paired tests, and the differing cases (at most `limit`).
    #[must_use]
    pub fn tables(&self, limit: usize) -> Vec<Table> {
        let mut scores = super::render::scores_table("Headline: failed, refused, not run and missing count as wrong");
        let mut only = super::render::scores_table("Scored only: runs that have a prediction");
        for side in [&self.a, &self.b] {
            scores.rows.push(super::render::scores_row(&side.name, &side.headline));
            only.rows.extend(
                side.scored_only
                    .as_ref()
                    .map(|found| super::render::scores_row(&side.name, found)),
            );
        }
        let mut cases = self.case_table(limit);
        if limit < self.cases.len() {
            cases.title = format!("{} (the first {limit}; --limit 0 shows all)", cases.title);
        }
        vec![
            scores,
            only,
            super::render::paired_table([&self.paired].into_iter()),
            cases,
        ]
    }

    /// The differing cases as a table, at most `limit`.
    #[must_use]
    pub fn case_table(&self, limit: usize) -> Table {
        let mut table = Table::new(
            format!("The {} runs on which they differ", self.cases.len()),
            &["run", "better", "gold", "first", "second", "first F1", "second F1"],
        )
        .with_words(5);
        let side = |answer: &SideAnswer| match answer.status {
            Status::Ok if answer.error_span_ids.is_empty() => "none".to_owned(),
            Status::Ok => answer.error_span_ids.join(" "),
            Status::Failed => "(failed)".to_owned(),
            Status::Refused => "(refused)".to_owned(),
            Status::NotRun => "(not run)".to_owned(),
            Status::Missing => "(missing)".to_owned(),
        };
        for case in self.cases.iter().take(limit) {
            let gold = if case.gold.is_empty() {
                "none".to_owned()
            } else {
                case.gold.join(" ")
            };
            table.rows.push(vec![
                case.case_id.clone(),
                case.better().to_owned(),
                gold,
                side(&case.a),
                side(&case.b),
                format!("{:.3}", case.a.f1),
                format!("{:.3}", case.b.f1),
            ]);
        }
        table
    }

    /// Everything odd about the input, a line each, with the file it is about.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let gold = self.notes.iter().map(|note| format!("gold: {note}"));
        let sides = [&self.a, &self.b].into_iter();
        gold.chain(sides.flat_map(|side| side.notes.iter().map(move |note| format!("{}: {note}", side.name))))
            .collect()
    }
}
