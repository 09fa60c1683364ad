//! What a judge predicted for the labelled runs, read from any of the row shapes in use.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cases::{CaseSet, Mark};
use super::notes::Notes;
use crate::trajectory::rows::{Row, for_each_row};
use crate::trajectory::{id_list, id_text};

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is a prediction, possibly the empty one.
    Ok,
    /// The judge failed.
    Failed,
    /// The judge declined.
    Refused,
    /// Budget or interrupt came first.
    NotRun,
    /// The file has no row for the run.
    Missing,
}

/// One row of a prediction file, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictionRow {
    /// The run's id.
    pub case_id: String,
    /// What became of it.
    pub status: Status,
    /// Predicted harmful spans in the order given; empty unless the status is ok.
    pub error_span_ids: Vec<String>,
    /// Method named in the row.
    pub method: Option<String>,
    /// What was odd: (note code, detail).
    pub odd: Vec<(&'static str, String)>,
}

/// Why a prediction row could not be used.
#[derive(Debug, thiserror::Error)]
pub enum PredictionError {
    /// Not JSON, or not an object.
    #[error("not a JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// Nothing says which run it is about.
    #[error("the row has no id (case_id, traj_id or id)")]
    NoId,
    /// A member of a wrong type.
    #[error("run \"{case_id}\": {member} is not of the right kind")]
    Shape {
        /// The run's id.
        case_id: String,
        /// The member that is wrong.
        member: &'static str,
    },
}

/// What became of one run under one judge.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What became of it.
    pub status: Status,
    /// Predicted spans in the order given, each once; empty unless the status is ok.
    pub marks: Box<[Mark]>,
}

/// The answers of one judge to all labelled runs.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Name of the row in tables.
    pub name: String,
    /// One answer a run, in the order of the [`CaseSet`].
    pub answers: Vec<Answer>,
    /// Rows for runs that gold does not have.
    pub extra: u64,
    /// What was odd about the file.
    pub notes: Notes,
    seen: Vec<bool>,
    method: Option<String>,
}

impl Prediction {
    /// No answer yet: every run is missing.
    #[must_use]
    pub fn new(name: impl Into<String>, cases: &CaseSet) -> Self {
        let missing = Answer {
            status: Status::Missing,
            marks: Box::default(),
        };
        Self {
            name: name.into(),
            answers: vec![missing; cases.cases().len()],
            extra: 0,
            notes: Notes::default(),
            seen: vec![false; cases.cases().len()],
            method: None,
        }
    }

    /// Reads a prediction file: rows of `auditor localize`, the published `summary.json`, or plain
    /// `{id, error_span_ids}` rows; JSON Lines, a JSON list or one object. Rows that cannot be read
    /// are noted, and their runs are missing. Returns how many rows could be used.
    ///
    /// # Errors
    /// Only what the reader itself reports.
    pub fn read(&mut self, cases: &mut CaseSet, reader: impl BufRead) -> io::Result<u64> {
        let mut used = 0;
        read_predictions(reader, |line, row| match row {
            Ok(row) => {
                used += 1;
                self.push(cases, row);
            }
            Err(error) => {
                let at = line.map_or_else(String::new, |line| format!("line {line}: "));
                let code = match error {
                    PredictionError::NoId => "no_prediction_id",
                    _ => "unreadable_prediction",
                };
                self.notes.add(code, &format!("{at}{error}"));
            }
        })?;
        Ok(used)
    }

    /// Takes one row in. A repeated id replaces the earlier row, and is noted.
    pub fn push(&mut self, cases: &mut CaseSet, row: PredictionRow) {
        for (code, detail) in &row.odd {
            self.notes.add(code, &format!("{}: {detail}", row.case_id));
        }
        if let Some(method) = row.method
            && self.method.get_or_insert_with(|| method.clone()) != &method
        {
            self.notes.add("mixed_methods", &format!("{}: {method}", row.case_id));
        }
        let Some(number) = cases.find(&row.case_id) else {
            self.extra += 1;
            self.notes.add("extra_prediction", &row.case_id);
            return;
        };
        let (Some(case), Some(answer), Some(seen)) = (
            cases.case_mut(number),
            self.answers.get_mut(number),
            self.seen.get_mut(number),
        ) else {
            return;
        };
        if std::mem::replace(seen, true) {
            self.notes.add("duplicate_prediction", &row.case_id);
        }
        let marks = case.marks(&row.error_span_ids);
        if marks.len() < row.error_span_ids.len() {
            self.notes.add("repeated_predicted_spans", &row.case_id);
        }
        for mark in marks.iter().filter(|mark| !case.is_span(**mark)) {
            self.notes.add(
                "unknown_predicted_spans",
                &format!("{}: {}", case.id, case.span_id(*mark)),
            );
        }
        *answer = Answer {
            status: row.status,
            marks: marks.into_boxed_slice(),
        };
    }
}

/// Reads prediction rows and calls `each` with the line and the row.
///
/// # Errors
/// Only what the reader itself reports; a bad row is handed to `each`.
pub fn read_predictions(
    reader: impl BufRead,
    mut each: impl FnMut(Option<u64>, Result<PredictionRow, PredictionError>),
) -> io::Result<()> {
    for_each_row::<RawRow>(reader, |line, row| {
        each(line, row.map_err(PredictionError::Json).and_then(RawRow::understand));
    })
}

/// A prediction row as it stands in a file.
#[derive(Deserialize)]
struct RawRow {
    #[serde(default)]
    case_id: Option<Value>,
    #[serde(default)]
    traj_id: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    status: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    method: Option<Value>,
    #[serde(default)]
    setting: Option<Value>,
    #[serde(default)]
    prediction: Option<Value>,
    #[serde(default)]
    error_span_ids: Option<Value>,
    #[serde(default)]
    logs: Option<Box<RawValue>>,
    #[serde(default)]
    items: Option<Box<RawValue>>,
}

impl Row for RawRow {
    fn items(&mut self) -> Option<Box<RawValue>> {
        self.items.take()
    }
}

impl RawRow {
    fn understand(self) -> Result<PredictionRow, PredictionError> {
        let inner = match &self.prediction {
            Some(Value::Object(members)) => Some(members),
            _ => None,
        };
        let case_id = [self.case_id.as_ref(), self.traj_id.as_ref(), self.id.as_ref()]
            .into_iter()
            .flatten()
            .find_map(id_text)
            .or_else(|| inner.and_then(|members| members.get("traj_id")).and_then(id_text))
            .ok_or(PredictionError::NoId)?;
        let shape = |member| PredictionError::Shape {
            case_id: case_id.clone(),
            member,
        };
        if self.prediction.is_some() && inner.is_none() {
            return Err(shape("prediction"));
        }
        // An empty `prediction` object says nothing; the row itself may.
        let list = match inner {
            Some(members) if !members.is_empty() => members.get("error_span_ids").filter(|ids| !ids.is_null()),
            _ => self.error_span_ids.as_ref(),
        };
        let (ids, left_out) = match list {
            Some(list) => {
                let (ids, left_out) = id_list(list).ok_or_else(|| shape("error_span_ids"))?;
                (Some(ids), left_out)
            }
            None => (None, 0),
        };
        let mut odd = Vec::new();
        if left_out > 0 {
            odd.push((
                "odd_prediction",
                format!("{left_out} elements of error_span_ids are no span ids"),
            ));
        }
        if list.is_some_and(Value::is_string) {
            odd.push((
                "odd_prediction",
                "error_span_ids is one string, read as one span id".to_owned(),
            ));
        }
        let status = status(
            &self.status,
            self.error.is_some(),
            ids.as_deref(),
            self.logs.as_deref(),
            &mut odd,
        );
        Ok(PredictionRow {
            status,
            error_span_ids: if status == Status::Ok {
                ids.unwrap_or_default()
            } else {
                Vec::new()
            },
            method: [&self.method, &self.setting].into_iter().flatten().find_map(id_text),
            odd,
            case_id,
        })
    }
}

/// What became of a run, from what its row says; whatever speaks against a prediction wins, so
/// that a failure is never read as "nothing wrong".
fn status(
    word: &Option<Value>,
    has_error: bool,
    ids: Option<&[String]>,
    logs: Option<&RawValue>,
    odd: &mut Vec<(&'static str, String)>,
) -> Status {
    let said = match word.as_ref().map(|word| word.as_str().unwrap_or("")) {
        None if has_error => Status::Failed,
        None | Some("ok") => Status::Ok,
        Some("failed" | "error") => Status::Failed,
        Some("refused") => Status::Refused,
        Some("not_run") => Status::NotRun,
        Some(other) => {
            odd.push(("unknown_status", format!("\"{other}\"")));
            Status::Failed
        }
    };
    if said == Status::Ok && ids.is_none() {
        odd.push(("ok_without_prediction", "no prediction".to_owned()));
        return Status::Failed;
    }
    if said == Status::Ok
        && let Some(stage) = logs.and_then(failed_stage)
    {
        odd.push(("failed_stage_in_log", stage));
        return Status::Failed;
    }
    if said != Status::Ok
        && let Some(ids) = ids.filter(|ids| !ids.is_empty())
    {
        odd.push(("failed_with_prediction", ids.join(" ")));
    }
    said
}

/// The stage of a published row whose call failed: that runner writes `_fallback_error` into the
/// stage's `raw_output` and goes on with an empty stage.
fn failed_stage(logs: &RawValue) -> Option<String> {
    if !logs.get().contains("\"_fallback_error\"") {
        return None;
    }
    let logs: Value = serde_json::from_str(logs.get()).ok()?;
    let failed = |stage: &Value| {
        stage
            .pointer("/raw_output/_fallback_error")
            .is_some_and(|error| !error.is_null())
    };
    logs.as_object()?
        .iter()
        .find(|(_, stage)| failed(stage))
        .map(|(name, _)| name.clone())
}

#[cfg(test)]
#[path = "predictions/tests.rs"]
mod tests;
