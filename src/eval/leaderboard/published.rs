//! Published scores as data.

use serde::Deserialize;

use super::{BoardRow, RowKind, Score};

/// A file of published scores that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("published scores: {0}")]
pub struct PublishedError(String);

/// Published scores on one benchmark.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where they come from.
    pub source: String,
    /// Runs of the benchmark.
    pub runs: u64,
    /// Its harmful spans.
    pub error_spans: u64,
    /// The scores.
    #[serde(rename = "row")]
    pub rows: Vec<PublishedRow>,
}

/// One published row; scores in percent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Model as named there.
    pub model: String,
    /// Method as named there.
    pub method: String,
    /// Macro-F1.
    pub macro_f1: f64,
    /// First-error accuracy.
    pub first_error_accuracy: f64,
}

impl Published {
    /// The scores that ship: `eval/published.toml`.
    ///
    /// # Errors
    /// Never for the file that ships; a test reads it.
    pub fn shipped() -> Result<Self, PublishedError> {
        Self::parse(include_str!("../../../eval/published.toml"))
    }

    /// Reads a file of that shape.
    ///
    /// # Errors
    /// When it is not of that shape.
    pub fn parse(text: &str) -> Result<Self, PublishedError> {
        toml::from_str(text).map_err(|error| PublishedError(error.to_string()))
    }
}

impl PublishedRow {
    pub(super) fn row(&self) -> BoardRow {
        let score = |percent: f64| Score {
            value: percent / 100.0,
            interval: None,
        };
        BoardRow {
            kind: RowKind::Published,
            model: self.model.clone(),
            method: format!("{} (published, other prompts)", self.method),
            first_error_accuracy: score(self.first_error_accuracy),
            macro_f1: score(self.macro_f1),
            macro_precision: None,
            macro_recall: None,
            false_alarm: None,
            counts: None,
            spent: None,
            rejected_span_ids: None,
            repeats: None,
            against_last: None,
        }
    }
}
