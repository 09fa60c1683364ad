//! The result of `localize` as JSON: schema `auditor.result/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drift::GdRow;
use crate::audit::votes::{Agreement, Repeats};
use crate::audit::{Cause, Finding, Method, Report, UserKnows, Verdict};
use crate::drive::{CaseResult, Ended, JudgeInfo, Second, Spread};
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
    /// What the user told of the run.
    #[serde(default)]
    pub user: UserKnows,
    /// With repeats: how many of their judges name each span themselves (spans that only the completion step
    /// adds have no votes); the verdict is what more than half of those asked for report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<BTreeMap<String, u32>>,
    /// With repeats: Fleiss' κ over the spans of the run (named or not); absent where it is undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleiss_kappa: Option<f64>,
    /// With repeats: the account of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// With a second judge: what it said, and where both agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondRow>,
    /// Use by stage, and `total`; repeats and a second judge included.
    pub usage: BTreeMap<String, Usage>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

/// What the second judge said of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondRow {
    /// Who.
    pub judge: JudgeInfo,
    /// How its audit ended.
    pub status: Status,
    /// Why it has no verdict; `null` when it has one.
    pub cause: Option<Cause>,
    /// Its own verdict.
    pub prediction: Option<Prediction>,
    /// Where both agree; `null` unless both have a verdict.
    pub agreement: Option<Agreement>,
    /// The row's `prediction` holds only spans that both name.
    pub agreed_only: bool,
    /// With repeats: its votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<BTreeMap<String, u32>>,
    /// With repeats: their Fleiss' κ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleiss_kappa: Option<f64>,
    /// With repeats: the account of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// What it used.
    pub usage: Usage,
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
        Self {
            file: source.file.clone(),
            line: source.line,
        }
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
            user: result.user.clone(),
            votes: result.spread.as_ref().map(|spread| spread.votes.clone()),
            fleiss_kappa: result.spread.as_ref().and_then(|spread| spread.fleiss_kappa),
            repeats: result.spread.as_ref().map(|spread| spread.repeats.clone()),
            second: result.second.as_ref().map(|second| SecondRow::new(second, result)),
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
        (self.status, self.cause, self.prediction) = of_verdict(&report.verdict, self.case_id.as_deref());
        if let Some(ledger) = &report.ledger {
            self.audit.task_goal = Some(ledger.task_goal.clone());
            self.audit.hard_constraints = ledger.hard_constraints.clone();
            self.audit.claims = ledger.claims.clone();
            self.audit.notes = Some(ledger.notes.clone()).filter(|notes| !notes.is_empty());
        }
        self.audit.support = report.support.as_deref().cloned().unwrap_or_default();
        self.audit.trace = report.trace.clone();
        self.audit.packet = report
            .packet
            .as_deref()
            .zip(run)
            .map(|(packet, run)| packet_row(packet, run));
        self.audit.findings = report.findings.clone();
        self.rejected_span_ids = report.rejected_span_ids.clone();
        self.warnings.extend(report.warnings.iter().cloned());
    }
}

impl SecondRow {
    fn new(second: &Second, result: &CaseResult) -> Self {
        let (status, cause, prediction) = match &second.ended {
            Ended::NotRun(cause) => (Status::NotRun, Some(cause.clone()), None),
            Ended::Report(report) => of_verdict(&report.verdict, result.case_id.as_deref()),
        };
        let spread: Option<&Spread> = second.spread.as_ref();
        Self {
            judge: second.judge.clone(),
            status,
            cause,
            prediction,
            agreement: second.agreement.clone(),
            agreed_only: second.agreed_only,
            votes: spread.map(|spread| spread.votes.clone()),
            fleiss_kappa: spread.and_then(|spread| spread.fleiss_kappa),
            repeats: spread.map(|spread| spread.repeats.clone()),
            usage: second.usage.clone(),
        }
    }
}

fn of_verdict(verdict: &Verdict, case_id: Option<&str>) -> (Status, Option<Cause>, Option<Prediction>) {
    let prediction = |error_span_ids, first, reasons| Prediction {
        traj_id: case_id.unwrap_or_default().to_owned(),
        error_span_ids,
        earliest_harmful_span_id: first,
        reasons,
    };
    match verdict {
        Verdict::Found(found) => {
            let found = prediction(found.spans.clone(), Some(found.first.clone()), found.reasons.clone());
            (Status::Ok, None, Some(found))
        }
        Verdict::Clean => (Status::Ok, None, Some(prediction(Vec::new(), None, Vec::new()))),
        Verdict::Failed(cause) => (Status::Failed, Some(cause.clone()), None),
        Verdict::Refused(cause) => (Status::Refused, Some(cause.clone()), None),
    }
}

fn packet_row(packet: &Packet, run: &Trajectory) -> PacketRow {
    PacketRow {
        span_ids: packet
            .spans()
            .into_iter()
            .map(|position| run.id_at(position).to_owned())
            .collect(),
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
