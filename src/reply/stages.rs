//! The shapes of stage replies, as asked for and as read. Span ids are as the judge wrote them:
//! whether they exist is for the machine to say, which knows the run.
//!
//! The doc comments of the fields travel to the endpoint as descriptions of the JSON Schema, so
//! they are written for the judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ledger::{ClaimStatus, ClaimType, EvidenceRole, Reason, SupportStatus};

/// A stage's reply, read.
#[derive(Clone, Debug, PartialEq)]
pub enum StageReply {
    /// Claim Keeper.
    Keeper(KeeperReply),
    /// Support Seeker.
    Seeker(SeekerReply),
    /// Dependency Tracer.
    Tracer(TracerReply),
    /// Single call of `bare`.
    Bare(BareReply),
    /// The object as the model gave it, for the `paper` method, whose published steps work on
    /// untyped values.
    Published(Map<String, Value>),
}

/// One event of a claim with its words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimEvent {
    /// Span id.
    pub span_id: String,
    /// Verbatim words of that span, 20 at most.
    pub quote: String,
}

/// A claim as the Claim Keeper gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeeperClaim {
    /// c1, c2, …
    pub claim_id: String,
    /// The claim in a sentence.
    pub claim: String,
    /// Span id where it is first stated.
    pub introduced_at: Option<String>,
    /// Span id from which later steps build on it.
    pub becomes_consequential_at: Option<String>,
    /// Span ids that use it.
    #[serde(default)]
    pub used_by: Vec<String>,
    /// What it is about.
    #[serde(default)]
    pub claim_type: ClaimType,
    /// How far it went.
    #[serde(default)]
    pub status: ClaimStatus,
    /// The words that show it.
    #[serde(default)]
    pub quotes: Vec<ClaimEvent>,
}

/// Reply of the Claim Keeper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeeperReply {
    /// What the run was to achieve.
    #[serde(default)]
    pub task_goal: String,
    /// Conditions the answer must meet.
    #[serde(default)]
    pub hard_constraints: Vec<String>,
    /// Decision-critical claims.
    pub claims: Vec<KeeperClaim>,
    /// Remarks.
    #[serde(default)]
    pub notes: String,
}

/// A piece of evidence as the Support Seeker gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerHandle {
    /// Span id.
    pub span_id: String,
    /// Chunk id.
    #[serde(default)]
    pub chunk_id: String,
    /// What it is to the claim.
    #[serde(default)]
    pub role: EvidenceRole,
    /// Verbatim words of the chunk.
    #[serde(default)]
    pub text: String,
}

/// A record as the Support Seeker gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerRecord {
    /// Claim id.
    pub claim_id: String,
    /// Span ids that carry it.
    #[serde(default)]
    pub support_spans: Vec<String>,
    /// How well it stands.
    #[serde(default)]
    pub support_status: SupportStatus,
    /// What would be needed and is not there.
    #[serde(default)]
    pub missing_support: String,
    /// Kinds of further check.
    #[serde(default)]
    pub needs_auditors: Vec<String>,
    /// Evidence for and against.
    #[serde(default)]
    pub evidence_handles: Vec<SeekerHandle>,
}

/// Reply of the Support Seeker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerReply {
    /// One record a claim.
    pub support_records: Vec<SeekerRecord>,
}

/// Reply of the Dependency Tracer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracerReply {
    /// Span id of the first error, or null.
    pub first_error_span: Option<String>,
    /// Later span ids that inherit it.
    #[serde(default)]
    pub linked_error_span_ids: Vec<String>,
    /// Span ids judged harmless.
    #[serde(default)]
    pub non_errors: Vec<String>,
    /// Why, for the chain as a whole.
    #[serde(default)]
    pub reason: String,
    /// All harmful span ids.
    pub error_span_ids: Vec<String>,
    /// The first of them, or null.
    pub earliest_harmful_span_id: Option<String>,
    /// A reason and a verbatim quote for each harmful span.
    #[serde(default)]
    pub reasons: Vec<Reason>,
}

/// Reply of the single call of `bare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BareReply {
    /// All harmful span ids.
    pub error_span_ids: Vec<String>,
    /// The first of them, or null.
    pub earliest_harmful_span_id: Option<String>,
    /// A reason and a verbatim quote for each harmful span.
    #[serde(default)]
    pub reasons: Vec<Reason>,
}
