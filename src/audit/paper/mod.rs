//! The published deterministic steps (released code of arXiv 2606.02060): what becomes of a
//! stage's reply between the judge and the next stage.
//!
//! `paper` takes them as they are; `drift` shares every step that it does not change. Where the
//! two part is one table, [`StepRules`]; the steps, in the order of a run:
//!
//! 1. [`claim_ledger`] reads the Claim Keeper's reply;
//! 2. [`auto_context_requests`] and [`settle_context_requests`] say what to fetch,
//!    [`claim_seed_spans`] what to fetch whatever is asked, [`to_fetch`] hands it to the packet;
//! 3. [`support_records`] and [`restrict_support_records`] read the Support Seeker's reply;
//! 4. [`dependency_trace`] and [`restrict_trace`] read the Dependency Tracer's;
//! 5. [`trace_to_prediction`], [`add_completions`] and [`restrict_prediction`] make the prediction.
//!
//! `bare` has one step, [`bare_prediction`].

mod ledger;
mod prediction;
mod requests;
mod support;
mod trace;
mod value;

pub use ledger::claim_ledger;
pub use prediction::{
    Prediction, add_completions, bare_prediction, claim_completion_ids, restrict_prediction, trace_to_prediction,
};
pub use requests::{
    RequestRow, auto_context_requests, claim_seed_spans, context_requests, settle_context_requests, to_fetch,
};
pub use support::{restrict_support_records, support_records};
pub use trace::{dependency_trace, restrict_trace};
pub use value::{ReadError, ordered_span_ids, span_number};

use super::Method;

/// Most claims kept of a ledger (released code).
pub const MAX_CLAIMS: usize = 8;
/// Most rows of context requests kept.
pub const MAX_REQUESTS: usize = 8;
/// Most span ids kept of a request.
pub const MAX_REQUEST_SPANS: usize = 8;
/// Most queries kept of a request.
pub const MAX_REQUEST_QUERIES: usize = 4;
/// Longest query, in Unicode scalar values.
pub const MAX_QUERY_CHARS: usize = 160;
/// Most support records kept.
pub const MAX_SUPPORT_RECORDS: usize = 8;
/// Most evidence handles kept of a support record.
pub const MAX_HANDLES: usize = 4;
/// Longest text of an evidence handle, in Unicode scalar values.
pub const MAX_HANDLE_CHARS: usize = 360;
/// Longest chunk id of an evidence handle, in Unicode scalar values.
pub const MAX_CHUNK_ID_CHARS: usize = 40;

/// What decides that a span comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// Its place in the run.
    Position,
    /// The digits of its id read as one number ([`span_number`]).
    Digits,
}

/// Where the methods part in the steps they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRules {
    /// Which claims evidence is fetched for: every one, or only those that matter
    /// ([`ClaimStatus::matters`](crate::ledger::ClaimStatus::matters)).
    pub fetch_for_every_claim: bool,
    /// Whether all spans of a claim are fetched for it, or only where it is introduced, becomes
    /// consequential and is used last.
    pub fetch_all_uses: bool,
    /// Longest query made of a claim, in Unicode scalar values.
    pub query_chars: usize,
    /// What "later than the first error" means for completions.
    pub later: Later,
    /// Whether completions become the prediction when the trace names no error.
    pub completions_overrule_no_error: bool,
    /// Whether a claim with verified direct support adds no completions.
    pub completions_spare_direct: bool,
}

impl StepRules {
    /// The published steps.
    pub const PAPER: Self = Self {
        fetch_for_every_claim: false,
        fetch_all_uses: false,
        query_chars: MAX_QUERY_CHARS,
        later: Later::Digits,
        completions_overrule_no_error: true,
        completions_spare_direct: false,
    };

    /// The same steps without the published code's faults.
    pub const DRIFT: Self = Self {
        fetch_for_every_claim: true,
        fetch_all_uses: true,
        query_chars: usize::MAX,
        later: Later::Position,
        completions_overrule_no_error: false,
        completions_spare_direct: true,
    };

    /// The rules of a method; `bare` has none of these steps and gets those of `drift`.
    #[must_use]
    pub fn of(method: Method) -> Self {
        match method {
            Method::Paper => Self::PAPER,
            Method::Drift | Method::Bare => Self::DRIFT,
        }
    }
}

#[cfg(test)]
mod tests;
