//! Published scores as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BoardRow, RowKind, Score};

/// A file of published scores that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("published scores: {0}")]
pub struct PublishedError(String);

/// Published scores on one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Where they come from.
    pub source: String,
    /// Runs of the benchmark.
    pub runs: u64,
    /// Its harmful spans.
    pub error_spans: u64,
    /// The scores.
    pub rows: Vec<PublishedRow>,
}

/// One published row; scores in percent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedRow {
    /// Key of its source.
    source: String,
    /// Model as named there.
    pub model: String,
    /// Method as named there.
    pub method: String,
    /// Macro-F1.
    pub macro_f1: f64,
    /// First-error accuracy.
    pub first_error_accuracy: f64,
}

/// The file: what a leaderboard needs of it.
#[derive(Deserialize)]
struct File {
    source: BTreeMap<String, Source>,
    row: Vec<PublishedRow>,
}

#[derive(Deserialize)]
struct Source {
    title: String,
    arxiv: String,
    benchmark: String,
    runs: u64,
    error_spans: u64,
}

impl Published {
    /// The scores that ship: `eval/published.toml`, those on TELBench.
    ///
    /// # Errors
    /// Never for the file that ships; a test reads it.
    pub fn shipped() -> Result<Self, PublishedError> {
        Self::parse(include_str!("../../../eval/published.toml"), "TELBench")
    }

    /// Reads from a file of that shape the scores on one benchmark.
    ///
    /// # Errors
    /// When it is not of that shape, or has no source for the benchmark.
    pub fn parse(text: &str, benchmark: &str) -> Result<Self, PublishedError> {
        let file: File = toml::from_str(text).map_err(|error| PublishedError(error.to_string()))?;
        let of_benchmark = file
            .source
            .into_iter()
            .find(|(_, source)| source.benchmark == benchmark);
        let (key, source) = of_benchmark.ok_or_else(|| PublishedError(format!("no source for {benchmark}")))?;
        Ok(Self {
            source: format!("{}, arXiv {}, as printed", source.title, source.arxiv),
            runs: source.runs,
            error_spans: source.error_spans,
            rows: file.row.into_iter().filter(|row| row.source == key).collect(),
        })
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
