//! Is this quote really in that span, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a quote was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// Found letter for letter in the span named.
    Verified,
    /// Found in the span named after folding white space, case and Unicode normal form; the
    /// source's own text is shown.
    Folded,
    /// Found, but in another span, which the quote now names.
    WrongSpan,
    /// Found nowhere in the run.
    NotFound,
}

impl QuoteStatus {
    /// Only a quote found in the span it was said to stand in can carry support.
    #[must_use]
    pub fn carries_support(self) -> bool {
        matches!(self, Self::Verified | Self::Folded)
    }
}

/// Words of the run, looked up in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// Span it stands in; for `not_found` the span it was said to stand in.
    pub span_id: String,
    /// The source's own text; for `not_found` the text as the judge gave it.
    pub text: String,
    /// First Unicode scalar value in the span's text; `None` for `not_found`.
    pub start: Option<usize>,
    /// One past the last.
    pub end: Option<usize>,
    /// How it was found.
    pub status: QuoteStatus,
}
