//! What the three stages establish: claims, support records, the trace. Plain data; span ids in
//! here always exist in the run they belong to (the stage that reads a reply sees to that).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Quote;

/// What a claim is about. A reply's unknown word reads as [`ClaimType::Evidence`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ClaimType {
    Entity,
    Constraint,
    #[default]
    Evidence,
    Retrieval,
    Compute,
    Process,
}

/// How far a claim went. A reply's unknown word reads as [`ClaimStatus::Tentative`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    /// Something to look into.
    Exploratory,
    /// Held for the time being.
    #[default]
    Tentative,
    /// Later steps build on it.
    Consequential,
    /// Submitted or treated as solved.
    Finalized,
}

impl ClaimStatus {
    /// True for claims whose support matters: [`Self::Consequential`] and [`Self::Finalized`].
    #[must_use]
    pub fn matters(self) -> bool {
        matches!(self, Self::Consequential | Self::Finalized)
    }
}

/// A decision-critical claim of the agent and its way through the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Id within the ledger, `c1`, `c2`, …
    pub claim_id: String,
    /// The claim in a sentence.
    pub claim: String,
    /// Span that first states it.
    pub introduced_at: Option<String>,
    /// Span from which later steps build on it.
    pub becomes_consequential_at: Option<String>,
    /// Spans that use it, in trajectory order.
    pub used_by: Vec<String>,
    /// What it is about.
    pub claim_type: ClaimType,
    /// How far it went.
    pub status: ClaimStatus,
    /// Verbatim quotes of its events, looked up in the run; empty in `paper`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
}

/// The Claim Keeper's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// What the run was to achieve.
    pub task_goal: String,
    /// Conditions the answer must meet.
    pub hard_constraints: Vec<String>,
    /// At most eight claims.
    pub claims: Vec<Claim>,
    /// Free remarks.
    pub notes: String,
}

impl Ledger {
    /// The claim with this id.
    #[must_use]
    pub fn claim(&self, claim_id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.claim_id == claim_id)
    }
}

/// How well a claim stands on what the run showed. A reply's unknown word reads as
/// [`SupportStatus::Weak`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SupportStatus {
    /// The packet itself establishes the decisive part.
    Direct,
    /// Something points that way.
    #[default]
    Weak,
    /// Nothing in the packet carries it.
    Missing,
    /// The packet says otherwise.
    Conflicting,
}

/// What a piece of evidence is to the claim it is listed under. A reply's unknown word reads as
/// [`EvidenceRole::Related`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EvidenceRole {
    Commitment,
    DirectSupport,
    PartialSupport,
    MissingLink,
    Conflict,
    LinkedUse,
    DownstreamUse,
    #[default]
    Related,
}

impl EvidenceRole {
    /// True for roles that can carry a claim.
    #[must_use]
    pub fn speaks_for(self) -> bool {
        matches!(self, Self::DirectSupport | Self::PartialSupport | Self::Related)
    }
}

/// A piece of evidence the Support Seeker points at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceHandle {
    /// Span it stands in.
    pub span_id: String,
    /// Chunk of the packet it was read in, `s003:c001`; may be empty.
    pub chunk_id: String,
    /// What it is to the claim.
    pub role: EvidenceRole,
    /// Its text as the judge gave it.
    pub text: String,
    /// The text looked up in the run; `None` in `paper`, which does not check.
    #[serde(default)]
    pub quote: Option<Quote>,
}

/// The Support Seeker's finding on one claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SupportRecord {
    /// The claim.
    pub claim_id: String,
    /// Spans that carry it, in trajectory order.
    pub support_spans: Vec<String>,
    /// How well it stands.
    pub support_status: SupportStatus,
    /// What would be needed and is not there.
    pub missing_support: String,
    /// Kinds of check a reader may want to make.
    pub needs_auditors: Vec<String>,
    /// Evidence for and against.
    pub evidence_handles: Vec<EvidenceHandle>,
}

impl SupportRecord {
    /// True when the support is direct and at least one handle that speaks for the claim has words
    /// that were found in the span they are said to stand in.
    #[must_use]
    pub fn is_verified_direct(&self) -> bool {
        self.support_status == SupportStatus::Direct
            && self
                .evidence_handles
                .iter()
                .filter(|handle| handle.role.speaks_for())
                .filter_map(|handle| handle.quote.as_ref())
                .any(|quote| quote.status.carries_support())
    }
}

/// Why one span is harmful, with the judge's quote if it gave one. The fields' comments travel to the
/// judge as descriptions of the reply's schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Id of the span, copied exactly.
    pub span_id: String,
    /// In one sentence: what the agent takes as settled there, and what in the record is missing for it or
    /// contradicts it.
    pub reason: String,
    /// The decisive words of that span, copied verbatim, at most 20 words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// The Dependency Tracer's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The span the judge named as the first error.
    pub first_error_span: Option<String>,
    /// Later spans that inherit it, in trajectory order.
    pub linked_error_span_ids: Vec<String>,
    /// Spans judged harmless.
    pub non_errors: Vec<String>,
    /// Why, for the chain as a whole.
    pub reason: String,
    /// All harmful spans, in trajectory order.
    pub error_span_ids: Vec<String>,
    /// The first of them.
    pub earliest_harmful_span_id: Option<String>,
    /// Reasons span by span, if given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}
