//! The result of `localize` as JSON: schema `auditor.result/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drift::GdRow;
use crate::audit::{Cause, Finding, Method, Report, Verdict};
use crate::drive::{CaseResult, Ended, JudgeInfo};
use crate::evidence::Packet;
use crate::ledger::{Claim, Reason, SupportRecord, Trace};
use crate::trajectory::{Source, Trajectory, Warning};
use crate::wire::Usage;

/// Name and version of the result's shape.
pub const RESULT_SCHEMA: &str = "auditor.result/1";

/// How the audit of a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With a verdict, which may be that nothing is wrong.
    Ok,
    /// Without one: `cause` says why.
    Failed,
    /// Without one: the judge or its provider declined.
    Refused,
    /// It did not begin or was not finished: budget or interrupt came first.
    NotRun,
}

/// The harmful spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The run's id.
    pub traj_id: String,
    /// In trajectory order; empty when nothing harmful was found.
    pub error_span_ids: Vec<String>,
    /// The first of them by position.
    pub earliest_harmful_span_id: Option<String>,
    /// Why, span by span.
    pub reasons: Vec<Reason>,
}

/// What the evidence packet held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketRow {
    /// Spans with at least one chunk, in trajectory order.
    pub span_ids: Vec<String>,
    /// Chunk ids, in the order shown.
    pub chunks: Vec<String>,
    /// Unicode scalar values of all chunks together.
    pub chars: usize,
}

/// What the stages established.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRow {
    /// What the run was to achieve, as the Claim Keeper read it.
    pub task_goal: Option<String>,
    /// Conditions the answer must meet.
    pub hard_constraints: Vec<String>,
    /// The ledger's claims.
    pub claims: Vec<Claim>,
    /// The Claim Keeper's remarks; the offline judge says here what it could and could not check.
    pub notes: Option<String>,
    /// Support records.
    pub support: Vec<SupportRecord>,
    /// The trace.
    pub trace: Option<Trace>,
    /// The packet.
    pub packet: Option<PacketRow>,
    /// One a harmful span.
    pub findings: Vec<Finding>,
}

/// One result: a line of `localize --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultRow {
    /// `auditor.result/1`.
    pub schema: String,
    /// The run's id; `null` when the record could not be read that far.
    pub case_id: Option<String>,
    /// File and line.
    pub source: SourceRow,
    /// Method.
    pub method: Method,
    /// How it ended.
    pub status: Status,
    /// Why there is no verdict; `null` when there is one.
    pub cause: Option<Cause>,
    /// The verdict; non-null only when `status` is `ok`.
    pub prediction: Option<Prediction>,
    /// What the stages established, up to a failure.
    pub audit: AuditRow,
    /// What the goal-drift judge said, with `--gd` and harmful spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gd: Option<GdRow>,
    /// Ids the judge named that no span has.
    pub rejected_span_ids: Vec<String>,
    /// Who judged.
    pub judge: JudgeInfo,
    /// Use by stage, and `total`.
    pub usage: BTreeMap<String, Usage>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

/// Where the record stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRow {
    /// File as named on the command line.
    pub file: String,
    /// 1-based line of a JSONL record.
    pub line: Option<u64>,
}

impl From<&Source> for SourceRow {
    fn from(source: &Source) -> Self {
        Self { file: source.file.clone(), line: source.line }
    }
}

impl ResultRow {
    /// The result as a row.
    #[must_use]
    pub fn new(result: &CaseResult) -> Self {
        let mut row = Self {
            schema: RESULT_SCHEMA.to_owned(),
            case_id: result.case_id.clone(),
            source: (&result.source).into(),
            method: result.method,
            status: Status::Failed,
            cause: None,
            prediction: None,
            audit: AuditRow::default(),
            gd: None,
            rejected_span_ids: Vec::new(),
            judge: result.judge.clone(),
            usage: usage(result),
            warnings: result.warnings.clone(),
        };
        match &result.ended {
            Err(cause) => row.cause = Some(cause.clone()),
            Ok(Ended::NotRun(cause)) => {
                row.status = Status::NotRun;
                row.cause = Some(cause.clone());
            }
            Ok(Ended::Report(report)) => row.fill(report, result.run.as_deref()),
        }
        row
    }

    fn fill(&mut self, report: &Report, run: Option<&Trajectory>) {
        let traj_id = self.case_id.clone().unwrap_or_default();
        match &report.verdict {
            Verdict::Found(found) => {
                self.status = Status::Ok;
                self.prediction = Some(Prediction {
                    traj_id,
                    error_span_ids: found.spans.clone(),
                    earliest_harmful_span_id: Some(found.first.clone()),
                    reasons: found.reasons.clone(),
                });
            }
            Verdict::Clean => {
                self.status = Status::Ok;
                self.prediction =
                    Some(Prediction { traj_id, error_span_ids: Vec::new(), earliest_harmful_span_id: None, reasons: Vec::new() });
            }
            Verdict::Failed(cause) => self.cause = Some(cause.clone()),
            Verdict::Refused(cause) => {
                self.status = Status::Refused;
                self.cause = Some(cause.clone());
            }
        }
        if let Some(ledger) = &report.ledger {
            self.audit.task_goal = Some(ledger.task_goal.clone());
            self.audit.hard_constraints = ledger.hard_constraints.clone();
            self.audit.claims = ledger.claims.clone();
            self.audit.notes = Some(ledger.notes.clone()).filter(|notes| !notes.is_empty());
        }
        self.audit.support = report.support.as_deref().cloned().unwrap_or_default();
        self.audit.trace = report.trace.clone();
        self.audit.packet = report.packet.as_deref().zip(run).map(|(packet, run)| packet_row(packet, run));
        self.audit.findings = report.findings.clone();
        self.rejected_span_ids = report.rejected_span_ids.clone();
        self.warnings.extend(report.warnings.iter().cloned());
    }
}

fn packet_row(packet: &Packet, run: &Trajectory) -> PacketRow {
    PacketRow {
        span_ids: packet.spans().into_iter().map(|position| run.id_at(position).to_owned()).collect(),
        chunks: packet.chunks.iter().map(|chunk| chunk.id(run)).collect(),
        chars: packet.chars(),
    }
}

fn usage(result: &CaseResult) -> BTreeMap<String, Usage> {
    let mut total = Usage::default();
    let mut rows: BTreeMap<String, Usage> = BTreeMap::new();
    for (stage, usage) in &result.usage {
        total.add(usage);
        rows.insert(stage.word().to_owned(), usage.clone());
    }
    rows.insert("total".to_owned(), total);
    rows
}
