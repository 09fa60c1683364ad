//! The three methods and what sets them apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run is audited (the table of differences is [`Method`]'s own methods).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One call that sees everything.
    Bare,
    /// The published deterministic steps to the letter, with our prompts.
    Paper,
    /// The same stages without the published code's faults.
    #[default]
    Drift,
}

impl Method {
    /// The word used in flags, JSON and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Paper => "paper",
            Self::Drift => "drift",
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
