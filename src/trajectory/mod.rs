//! A run as an ordered list of semantic spans.
//!
//! A [`Trajectory`] holds what a judge may see (question, span ids, span text) and, beside it,
//! local fields that never leave the machine. Gold labels live in [`Gold`], a type that no
//! question to a judge can hold, so that a label cannot reach a prompt.

pub mod formats;
mod gold;
mod notice;
pub mod rows;
pub mod segment;
pub mod turns;

pub use gold::{Gold, GoldError, id_list, id_text, read_gold};
pub use notice::{Stage, Warning, WarningCode};

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Where a record came from, for messages: the file as the user named it and the 1-based line
/// on which the record starts (`None` for a file that is one JSON document).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// File name as given; `-` is standard input.
    pub file: String,
    /// 1-based line of a JSONL record.
    pub line: Option<u64>,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Fields of a span that are kept for local use and never sent to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalFields {
    /// Name of the agent or role that wrote the span, when the log says so.
    pub agent: Option<String>,
    /// True when the span is what the agent was shown (tool output, user turn), not what it said.
    pub observation: Option<bool>,
    /// Every other field of the span, as it stood.
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// One semantic span of a run: one local objective of the agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// Unique within its run.
    pub id: String,
    /// The span's text as given. All offsets in results count Unicode scalar values of it.
    pub text: String,
    /// First raw step of the span, 0-based, when known.
    pub raw_start_step: Option<i64>,
    /// Last raw step of the span, 0-based and inclusive, when known.
    pub raw_end_step: Option<i64>,
    /// Local fields.
    pub local: LocalFields,
}

/// An agent's run: a question and ordered spans with unique ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    case_id: String,
    question: String,
    spans: Vec<Span>,
    positions: HashMap<String, usize>,
}

impl Trajectory {
    /// Builds a run. Ids must be unique for a verdict to be unambiguous: a repeated id gets the
    /// suffix `#2`, `#3`, … (the first keeps its name), and each renaming is a
    /// [`WarningCode::DuplicateSpanId`] warning that names both positions (1-based).
    #[must_use]
    pub fn new(case_id: impl Into<String>, question: impl Into<String>, mut spans: Vec<Span>) -> (Self, Vec<Warning>) {
        let mut positions: HashMap<String, usize> = HashMap::with_capacity(spans.len());
        let taken: std::collections::HashSet<String> = spans.iter().map(|span| span.id.clone()).collect();
        let mut copies: HashMap<String, usize> = HashMap::new();
        let mut warnings = Vec::new();
        for (position, span) in spans.iter_mut().enumerate() {
            if let Some(first) = positions.get(&span.id) {
                let count = copies.entry(span.id.clone()).or_insert(1);
                let fresh = loop {
                    *count += 1;
                    let candidate = format!("{}#{count}", span.id);
                    if !taken.contains(&candidate) && !positions.contains_key(&candidate) {
                        break candidate;
                    }
                };
                warnings.push(
                    Warning::new(
                        WarningCode::DuplicateSpanId,
                        format!(
                            "duplicate span id \"{}\" at positions {} and {}; the later one is called \"{fresh}\" here",
                            span.id,
                            first + 1,
                            position + 1
                        ),
                    )
                    .at_span(&fresh),
                );
                span.id = fresh;
            }
            positions.insert(span.id.clone(), position);
        }
        (
            Self {
                case_id: case_id.into(),
                question: question.into(),
                spans,
                positions,
            },
            warnings,
        )
    }

    /// The run's id.
    #[must_use]
    pub fn case_id(&self) -> &str {
        &self.case_id
    }

    /// The task the agent was given.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The spans in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Position of the span with this exact id.
    #[must_use]
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Id of the span at `position`, or `""` past the end.
    #[must_use]
    pub fn id_at(&self, position: usize) -> &str {
        self.spans.get(position).map_or("", |span| span.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(id: &str) -> Span {
        Span {
            id: id.to_owned(),
            ..Span::default()
        }
    }

    #[test]
    fn repeated_ids_become_unique_and_are_named() {
        let (run, warnings) = Trajectory::new("r", "q", vec![span("s1"), span("s1"), span("s1#2"), span("s1")]);
        let ids: Vec<&str> = run.spans().iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids, ["s1", "s1#3", "s1#2", "s1#4"]);
        assert_eq!(warnings.len(), 2);
        assert!(
            warnings[0].message.contains("positions 1 and 2"),
            "{}",
            warnings[0].message
        );
        assert_eq!(run.position("s1#3"), Some(1));
    }
}
