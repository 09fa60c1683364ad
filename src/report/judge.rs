//! The answer of `judge` as JSON: schema `auditor.judge/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dto::Status;
use crate::audit::{Cause, CauseKind};
use crate::drive::{JudgeInfo, JudgedLine};
use crate::gd::{JUDGE_SCHEMA, JudgeRequest, Summary, TurnVerdict};
use crate::trajectory::Warning;
use crate::wire::Usage;

/// One answer: a line of `auditor judge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeRow {
    /// `auditor.judge/1`.
    pub schema: String,
    /// The request's id; `null` when the line could not be read that far.
    pub id: Option<String>,
    /// 1-based line of the request.
    pub line: u64,
    /// `ok` when a turn has a score or was passed; `failed` when the line is no request or no turn that was asked about
    /// has a score; `refused` when the judge declined them all; `not_run` when budget or interrupt came first.
    pub status: Status,
    /// Why it is not `ok`; `null` when it is.
    pub cause: Option<Cause>,
    /// The turns that were to be judged, in the order of the run.
    pub turns: Vec<TurnVerdict>,
    /// The run in numbers; `null` when nothing was judged.
    pub summary: Option<Summary>,
    /// Who judged.
    pub judge: JudgeInfo,
    /// What it used.
    pub usage: Usage,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

impl JudgeRow {
    /// A judged line as a row.
    #[must_use]
    pub fn new(line: JudgedLine) -> Self {
        let mut row = Self {
            schema: JUDGE_SCHEMA.to_owned(),
            id: line.id,
            line: line.number,
            status: Status::Failed,
            cause: None,
            turns: Vec::new(),
            summary: None,
            judge: line.judge,
            usage: Usage::default(),
            warnings: Vec::new(),
        };
        let judged = match line.judged {
            Ok(judged) => judged,
            Err(cause) => {
                row.cause = Some(cause);
                return row;
            }
        };
        row.usage = judged.usage;
        row.warnings = judged.notes;
        match judged.report {
            Err(cause) => {
                row.status = Status::NotRun;
                row.cause = Some(cause);
            }
            Ok(report) => {
                row.cause = report.failure().cloned();
                row.status = match row.cause.as_ref().map(|cause| cause.kind) {
                    None => Status::Ok,
                    Some(CauseKind::Refused) => Status::Refused,
                    Some(_) => Status::Failed,
                };
                row.turns = report.turns;
                row.summary = Some(report.summary);
                row.warnings.extend(report.warnings);
            }
        }
        row
    }
}

/// The JSON Schema of a request, as shipped in `data/schema/judge.request.schema.json`.
#[must_use]
pub fn judge_request_schema() -> serde_json::Value {
    schemars::schema_for!(JudgeRequest).to_value()
}

/// The JSON Schema of an answer, as shipped in `data/schema/judge.response.schema.json`.
#[must_use]
pub fn judge_response_schema() -> serde_json::Value {
    schemars::schema_for!(JudgeRow).to_value()
}
