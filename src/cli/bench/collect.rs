//! What comes of the audits: rows on disk, predictions for the scores, and the files at the end.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::json;

use super::folder::LaneId;
use crate::cli::exit::Tally;
use crate::drive::Finished;
use crate::eval::{CaseSet, Entry, Prediction, PredictionRow, Spent, Status as Ended};
use crate::report::{ResultRow, Status};
use crate::store::Spool;
use crate::wire::Usage;

/// A line of `results.jsonl`: the result row, and which audit of several it is.
#[derive(Serialize)]
struct Line<'a> {
    /// Model as named on the command line.
    model: &'a str,
    /// 0-based repeat.
    repeat: u32,
    #[serde(flatten)]
    row: &'a ResultRow,
}

/// One lane under one repeat.
struct Part {
    prediction: Prediction,
    /// Items of the released evaluator's `summary.json`.
    summary: Spool<u64>,
    /// Runs that have no verdict, with the word that says why.
    without: Vec<(String, &'static str)>,
}

/// Takes the audits in as they end. Memory holds a prediction a run; rows go to disk.
pub(super) struct Collected {
    lanes: Vec<LaneId>,
    repeats: u32,
    parts: Vec<Part>,
    usage: Vec<Usage>,
    rejected: Vec<u64>,
    rows: Spool<(usize, u32, u64)>,
    /// How many ended how.
    pub tally: Tally,
}

impl Collected {
    pub fn new(folder: &Path, lanes: &[LaneId], repeats: u32, cases: &CaseSet) -> anyhow::Result<Self> {
        let mut parts = Vec::new();
        for lane in lanes {
            for _ in 0..repeats {
                let prediction = Prediction::new(lane.name(), cases);
                parts.push(Part {
                    prediction,
                    summary: Spool::new(folder)?,
                    without: Vec::new(),
                });
            }
        }
        Ok(Self {
            lanes: lanes.to_vec(),
            repeats,
            parts,
            usage: vec![Usage::default(); lanes.len()],
            rejected: vec![0; lanes.len()],
            rows: Spool::new(folder)?,
            tally: Tally::default(),
        })
    }

    /// Takes one audit in; its row is handed back for messages.
    pub fn take(&mut self, finished: &Finished, cases: &mut CaseSet) -> anyhow::Result<ResultRow> {
        let row = ResultRow::new(&finished.result);
        self.tally.add(&row);
        let lane = self.lanes.get(finished.lane).context("an audit of no lane")?;
        let line = Line {
            model: &lane.model,
            repeat: finished.repeat,
            row: &row,
        };
        self.rows.push(
            (finished.lane, finished.repeat, finished.input),
            &serde_json::to_string(&line)?,
        )?;
        if let Some(usage) = self.usage.get_mut(finished.lane) {
            row.usage.get("total").into_iter().for_each(|total| usage.add(total));
        }
        if let Some(rejected) = self.rejected.get_mut(finished.lane) {
            *rejected += row.rejected_span_ids.len() as u64;
        }
        let number = finished.lane * self.repeats as usize + finished.repeat as usize;
        let part = self.parts.get_mut(number).context("an audit of no lane")?;
        let (status, word) = match row.status {
            Status::Ok => (Ended::Ok, "ok"),
            Status::Failed => (Ended::Failed, "failed"),
            Status::Refused => (Ended::Refused, "refused"),
            Status::NotRun => (Ended::NotRun, "not_run"),
        };
        match &row.prediction {
            Some(prediction) => {
                let item = json!({ "setting": row.method, "case_id": row.case_id, "prediction": prediction });
                part.summary.push(finished.input, &item.to_string())?;
            }
            None => part.without.push((row.case_id.clone().unwrap_or_default(), word)),
        }
        // A record without a readable id stands for no labelled run; its run is missing from the scores.
        if let Some(case_id) = row.case_id.clone() {
            let error_span_ids = row
                .prediction
                .as_ref()
                .map(|found| found.error_span_ids.clone())
                .unwrap_or_default();
            part.prediction.push(
                cases,
                PredictionRow {
                    case_id,
                    status,
                    error_span_ids,
                    method: None,
                    odd: Vec::new(),
                },
            );
        }
        Ok(row)
    }

    /// Writes `results.jsonl`, a `summary….json` a lane and repeat, and with repeats `votes.jsonl`; gives the
    /// entries of the leaderboard.
    pub fn finish(self, folder: &Path, cases: &CaseSet) -> anyhow::Result<Vec<Entry>> {
        let end = if self.rows.is_empty() { "" } else { "\n" };
        self.rows.write(&folder.join("results.jsonl"), ["", "\n", end])?;
        let single = self.parts.len() == 1;
        let mut parts = self.parts.into_iter();
        let mut entries = Vec::new();
        let mut votes = Vec::new();
        for ((lane, usage), rejected) in self.lanes.iter().zip(&self.usage).zip(&self.rejected) {
            let mut repeats = Vec::new();
            for (part, repeat) in parts.by_ref().take(self.repeats as usize).zip(0_u32..) {
                let name = match (single, repeat) {
                    (true, _) => "summary.json".to_owned(),
                    (false, 0) => format!("summary.{}.json", lane.slug),
                    (false, repeat) => format!("summary.{}.repeat{repeat}.json", lane.slug),
                };
                write_summary(part.summary, &part.without, lane, &folder.join(name))?;
                repeats.push(part.prediction);
            }
            if repeats.len() > 1 {
                votes.extend(
                    cases
                        .cases()
                        .iter()
                        .zip(0..)
                        .map(|(_, case)| vote(cases, case, &repeats, lane)),
                );
            }
            entries.push(Entry {
                model: lane.model.clone(),
                method: method_name(lane.method).to_owned(),
                repeats,
                spent: spent(usage),
                rejected_span_ids: *rejected,
            });
        }
        if !votes.is_empty() {
            crate::store::files::write_atomic(&folder.join("votes.jsonl"), votes.concat().as_bytes())?;
        }
        Ok(entries)
    }
}

/// The method as tables name it: what we call `paper` is the published algorithm, not the published words.
pub(super) fn method_name(word: &str) -> &str {
    if word == "paper" { "paper (our prompts)" } else { word }
}

fn spent(usage: &Usage) -> Spent {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds stay far below 2^53")]
    let wait_s = usage.ms as f64 / 1000.0;
    Spent {
        calls: usage.calls,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        total_tokens: usage.total_tokens,
        cost_usd: if usage.calls == 0 { Some(0.0) } else { usage.cost_usd },
        wait_s,
    }
}

/// The form that the released evaluator reads. It takes a row without a prediction for "nothing wrong", so runs
/// without a verdict are no items; they are listed beside them.
fn write_summary(
    items: Spool<u64>,
    without: &[(String, &'static str)],
    lane: &LaneId,
    path: &Path,
) -> anyhow::Result<()> {
    let listed: Vec<_> = without
        .iter()
        .map(|(case_id, status)| json!({ "case_id": case_id, "status": status }))
        .collect();
    let head = json!({ "setting": lane.method, "model": lane.model, "without_verdict": listed }).to_string();
    let head = head.trim_end_matches('}');
    items.write(path, [&format!("{head},\"items\":[\n"), ",\n", "\n]}\n"])?;
    Ok(())
}

/// How often each span of a run was named over the repeats.
fn vote(cases: &CaseSet, number: usize, repeats: &[Prediction], lane: &LaneId) -> String {
    let Some(case) = cases.cases().get(number) else {
        return String::new();
    };
    let answers: Vec<_> = repeats
        .iter()
        .filter_map(|one| one.answers.get(number))
        .filter(|answer| answer.status == Ended::Ok)
        .collect();
    let mut votes: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for mark in answers.iter().flat_map(|answer| answer.marks.iter()) {
        *votes.entry(*mark).or_default() += 1;
    }
    let counted: serde_json::Map<String, serde_json::Value> = votes
        .iter()
        .map(|(mark, count)| (case.span_id(*mark).to_owned(), json!(count)))
        .collect();
    let majority: Vec<&str> = votes
        .iter()
        .filter(|(_, count)| **count * 2 > answers.len())
        .map(|(mark, _)| case.span_id(*mark))
        .collect();
    let line = json!({
        "case_id": case.id, "model": lane.model, "method": lane.method, "repeats": repeats.len(),
        "with_verdict": answers.len(), "votes": counted, "majority": if answers.is_empty() { None } else { Some(majority) },
    });
    format!("{line}\n")
}
