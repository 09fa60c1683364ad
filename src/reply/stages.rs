//! The shapes of stage replies, as asked for and as read. Span ids are as the judge wrote them:
//! whether they exist is for the machine to say, which knows the run.
//!
//! The doc comments of the fields travel to the endpoint as descriptions of the JSON Schema, so
//! they are written for the judge. So is the order of the fields: a judge that fills a schema writes
//! them in this order, and what it has to reason about comes before what it concludes. Lists are bounded
//! in the schema, so that a judge that runs on stops; 8 claims, 8 records and 4 pieces of evidence each are
//! the published caps, the others are ours (the longest run of TELBench has 47 spans).
//! Reading a reply enforces no bound.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::GdReply;
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
    /// Goal-drift judge.
    Gd(GdReply),
    /// The object as the model gave it, for the `paper` method, whose published steps work on
    /// untyped values.
    Published(Map<String, Value>),
}

/// One event of a claim with its words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimEvent {
    /// Id of the span, copied exactly.
    pub span_id: String,
    /// The words of that span which state or use the claim, copied verbatim, at most 20 words.
    pub quote: String,
}

/// A claim as the Claim Keeper gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeeperClaim {
    /// c1, c2, … in the order of introduction.
    pub claim_id: String,
    /// The claim in one self-contained sentence, with its names, numbers and dates.
    pub claim: String,
    /// Id of the span in which the agent first states it, or null.
    pub introduced_at: Option<String>,
    /// Id of the first span in which the agent treats it as settled or acts on it, or null.
    pub becomes_consequential_at: Option<String>,
    /// Ids of the later spans that build on it, repeat it as settled or submit it, in order.
    #[schemars(length(max = 24))]
    #[serde(default)]
    pub used_by: Vec<String>,
    /// Verbatim words of the events above, one item a span.
    #[schemars(length(max = 4))]
    #[serde(default)]
    pub quotes: Vec<ClaimEvent>,
    /// What it is about.
    #[serde(default)]
    pub claim_type: ClaimType,
    /// How far it went in the run.
    #[serde(default)]
    pub status: ClaimStatus,
}

/// Reply of the Claim Keeper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeeperReply {
    /// What the run was to achieve, in one sentence.
    #[serde(default)]
    pub task_goal: String,
    /// Each condition that the answer must meet, one an item: scope, dates, units, counting rules, form of
    /// the answer.
    #[schemars(length(max = 12))]
    #[serde(default)]
    pub hard_constraints: Vec<String>,
    /// The decision-critical claims, 3 to 5 of them.
    #[schemars(length(max = 8))]
    pub claims: Vec<KeeperClaim>,
    /// Anything the next reader must know, or an empty text.
    #[serde(default)]
    pub notes: String,
}

/// A piece of evidence as the Support Seeker gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerHandle {
    /// Id of the span it stands in, copied exactly.
    pub span_id: String,
    /// Id of the chunk it stands in, such as s003:c001, or an empty text.
    #[serde(default)]
    pub chunk_id: String,
    /// What it is to the claim.
    #[serde(default)]
    pub role: EvidenceRole,
    /// Its words, copied verbatim from that span, at most 20 words.
    #[serde(default)]
    pub text: String,
}

/// A record as the Support Seeker gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerRecord {
    /// Id of the claim, from the ledger.
    pub claim_id: String,
    /// Evidence for the claim and against it: the commitment, what carries it, what it violates.
    #[schemars(length(max = 4))]
    #[serde(default)]
    pub evidence_handles: Vec<SeekerHandle>,
    /// The decisive part that nothing in the packet establishes, in one sentence, or an empty text.
    #[serde(default)]
    pub missing_support: String,
    /// Ids of the spans whose content carries the claim; a span that only repeats it does not.
    #[schemars(length(max = 24))]
    #[serde(default)]
    pub support_spans: Vec<String>,
    /// How well it stands on what the packet shows.
    #[serde(default)]
    pub support_status: SupportStatus,
    /// Kinds of further check it needs, such as source, entity, constraint, compute; or none.
    #[schemars(length(max = 4))]
    #[serde(default)]
    pub needs_auditors: Vec<String>,
}

/// Reply of the Support Seeker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeekerReply {
    /// One record for each claim of the ledger.
    #[schemars(length(max = 8))]
    pub support_records: Vec<SeekerRecord>,
}

/// Reply of the Dependency Tracer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracerReply {
    /// One item for each harmful span, in the order of the run.
    #[schemars(length(max = 32))]
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// In two or three sentences: which claim does not stand, where it was committed to, and how later spans
    /// inherited it; or why nothing is harmful.
    #[serde(default)]
    pub reason: String,
    /// Ids of spans that were considered and found harmless.
    #[schemars(length(max = 64))]
    #[serde(default)]
    pub non_errors: Vec<String>,
    /// Id of the first harmful span, or null when no span is harmful.
    pub first_error_span: Option<String>,
    /// Ids of the later harmful spans that inherit it, in order.
    #[schemars(length(max = 64))]
    #[serde(default)]
    pub linked_error_span_ids: Vec<String>,
    /// Ids of all harmful spans, the first one included, in order; empty when no span is harmful.
    #[schemars(length(max = 64))]
    pub error_span_ids: Vec<String>,
    /// The first of error_span_ids, or null.
    pub earliest_harmful_span_id: Option<String>,
}

/// Reply of the single call of `bare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BareReply {
    /// One item for each harmful span, in the order of the run.
    #[schemars(length(max = 32))]
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// Ids of all harmful spans, in order; empty when no span is harmful.
    #[schemars(length(max = 64))]
    pub error_span_ids: Vec<String>,
    /// The first of error_span_ids, or null.
    pub earliest_harmful_span_id: Option<String>,
}
