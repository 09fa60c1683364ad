//! Warnings: things a reader of a result should know, each with a code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stage of an audit, and the name its question goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Claim Keeper: reads the whole run, keeps the ledger of claims.
    Keeper,
    /// Support Seeker: checks each consequential claim against the packet.
    Seeker,
    /// Dependency Tracer: says which spans inherited what does not stand.
    Tracer,
    /// The single call of the `bare` method.
    Bare,
    /// The goal-drift judge.
    Gd,
    /// Boundaries of semantic spans.
    Segment,
}

impl Stage {
    /// The word used in JSON, logs and file names.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Keeper => "keeper",
            Self::Seeker => "seeker",
            Self::Tracer => "tracer",
            Self::Bare => "bare",
            Self::Gd => "gd",
            Self::Segment => "segment",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What kind of thing a [`Warning`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// More than one object in a reply fits the stage; the last one was used.
    AmbiguousReply,
    /// The reply was not JSON until it was mended.
    JsonRepaired,
    /// Fields of one reply contradict each other; the documented rule decided.
    InconsistentVerdict,
    /// The judge named spans that do not exist.
    RejectedSpanIds,
    /// Two spans shared an id.
    DuplicateSpanId,
    /// Span text looks like instructions to the judge.
    PossibleInjection,
    /// Text of the run was left out of a request.
    TextOmitted,
    /// The endpoint refused a parameter and the request was sent without it.
    Downgraded,
    /// The answer stood where a model keeps its reasoning.
    AnswerFromReasoning,
    /// The endpoint counted far fewer input tokens than were sent.
    PromptTruncatedSuspected,
    /// A quote was not found in the span it was said to stand in.
    UnverifiedQuote,
    /// A span was named harmful although it was not in the evidence packet.
    OutsidePacket,
    /// A span or record came without an id.
    MissingId,
    /// A span came without text.
    MissingText,
    /// Characters that are not valid text were replaced.
    ReplacedCharacters,
    /// An inline image was replaced by a mark.
    OmittedImage,
    /// The model has no known price, so cost is unknown.
    UnknownPrice,
    /// The log's format was guessed, and the guess is not sure.
    UncertainFormat,
    /// Part of a log was cut or corrupt and is not in the run.
    DroppedInput,
}

/// Something a reader of a result should know; never a reason to stop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Kind of warning.
    pub code: WarningCode,
    /// What happened, in a sentence.
    pub message: String,
    /// The span it is about, if one.
    pub span_id: Option<String>,
    /// The stage it arose in, if one.
    pub stage: Option<Stage>,
}

impl Warning {
    /// A warning about the run as a whole.
    pub fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span_id: None,
            stage: None,
        }
    }

    /// The same warning, about one span.
    #[must_use]
    pub fn at_span(mut self, span_id: &str) -> Self {
        self.span_id = Some(span_id.to_owned());
        self
    }

    /// The same warning, from one stage.
    #[must_use]
    pub fn in_stage(mut self, stage: Stage) -> Self {
        self.stage = Some(stage);
        self
    }
}
