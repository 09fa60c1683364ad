//! Why a verdict is not there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trajectory::Stage;

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The record could not be read.
    Input,
    /// The endpoint did not accept the key, or wants one.
    Auth,
    /// The account has nothing left; waiting does not help.
    Quota,
    /// Told to wait longer, or more often, than allowed.
    RateLimited,
    /// No answer within the time allowed.
    Timeout,
    /// The endpoint could not be reached, or the connection broke.
    Connection,
    /// The endpoint answered with an error of its own.
    Server,
    /// The reply could not be read as the stage's answer, twice.
    BadReply,
    /// The reply had no text.
    Empty,
    /// The reply was cut at the output limit, twice.
    Truncated,
    /// The model or its provider's filter declined.
    Refused,
    /// The request does not fit the judge's window.
    ContextOverflow,
    /// The cost cap was reached first.
    Budget,
    /// A fault of this program.
    Internal,
}

/// Why a verdict is not there, with what a user needs to act on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Kind of failure.
    pub kind: CauseKind,
    /// Stage that failed; `None` when no stage had begun.
    pub stage: Option<Stage>,
    /// What was wrong, where, and what to do.
    pub message: String,
    /// Status of the last HTTP answer, if there was one.
    pub http_status: Option<u16>,
    /// Requests made for the failed question.
    pub attempts: Option<u32>,
    /// The limit that was met: output tokens (`truncated`), window tokens (`context_overflow`), seconds (`timeout`).
    pub limit: Option<u64>,
    /// What would have been needed, in the same unit, when known.
    pub needed: Option<u64>,
}

impl Cause {
    /// A cause with a message and nothing else known yet.
    pub fn new(kind: CauseKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            stage: None,
            message: message.into(),
            http_status: None,
            attempts: None,
            limit: None,
            needed: None,
        }
    }
}
