//! What an audit ends with.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cause;
use crate::evidence::{Packet, Quote};
use crate::ledger::{Ledger, Reason, SupportRecord, Trace};
use crate::trajectory::Warning;

/// What was found. A failure is a value of its own: it can not be read as a clean verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Harmful spans, the first of them first.
    Found(Found),
    /// No harmful span was found by a judge that answered.
    Clean,
    /// No verdict: a stage failed.
    Failed(Cause),
    /// No verdict: the judge or its provider declined.
    Refused(Cause),
}

/// The harmful spans of a run; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Id of the earliest harmful span by position.
    pub first: String,
    /// All harmful spans in trajectory order, the first included.
    pub spans: Vec<String>,
    /// Reasons as the prediction lists them.
    pub reasons: Vec<Reason>,
}

/// Whether a span began the harm or inherited it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The earliest harmful span.
    First,
    /// A later one.
    Linked,
}

/// Who pointed at the words a finding is shown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocatedBy {
    /// The judge quoted them.
    Judge,
    /// The best matching sentence, found by code.
    Code,
}

/// One harmful span with what shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The span.
    pub span_id: String,
    /// Began or inherited.
    pub role: Role,
    /// Claims of the ledger that pass through the span.
    pub claim_ids: Vec<String>,
    /// Why it is harmful.
    pub reason: String,
    /// Who located the quotes.
    pub located_by: LocatedBy,
    /// The words that show it, looked up in the run.
    pub quotes: Vec<Quote>,
}

/// Everything an audit established. What was finished before a failure is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// The ledger, once kept.
    pub ledger: Option<Arc<Ledger>>,
    /// Support records, once sought.
    pub support: Option<Arc<Vec<SupportRecord>>>,
    /// The trace, once traced.
    pub trace: Option<Trace>,
    /// The evidence packet, once fetched.
    pub packet: Option<Arc<Packet>>,
    /// One a harmful span, in trajectory order.
    pub findings: Vec<Finding>,
    /// Ids the judge named that no span has, in the order met.
    pub rejected_span_ids: Vec<String>,
    /// Warnings of all stages.
    pub warnings: Vec<Warning>,
}
