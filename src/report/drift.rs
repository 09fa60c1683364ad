//! Goal drift of the harmful spans, in a result and for a reader.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{clipped, folded, plain};
use crate::audit::Cause;
use crate::drive::GdOfRun;
use crate::gd::{Label, Summary, TurnVerdict};

/// What the goal-drift judge said of the harmful spans and of the span before the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GdRow {
    /// Id of the span before the first harmful one, judged for contrast; `null` when there is none.
    pub contrast: Option<String>,
    /// Why it was not done, or why no span has a score; `null` when one has.
    pub cause: Option<Cause>,
    /// In trajectory order, the contrast included.
    pub turns: Vec<TurnVerdict>,
    /// In numbers, the contrast included; `null` when it was not done.
    pub summary: Option<Summary>,
}

impl GdRow {
    /// What the judge said, as a row.
    #[must_use]
    pub fn new(of_run: &GdOfRun) -> Self {
        let contrast = of_run.contrast.clone();
        match &of_run.judged.report {
            Err(cause) => Self {
                contrast,
                cause: Some(cause.clone()),
                turns: Vec::new(),
                summary: None,
            },
            Ok(report) => Self {
                contrast,
                cause: report.failure().cloned(),
                turns: report.turns.clone(),
                summary: Some(report.summary.clone()),
            },
        }
    }
}

/// The section of the text report: a line a span, what it leaves the goal by, and why.
pub(super) fn section(out: &mut String, row: &GdRow) {
    let _ = writeln!(out, "Goal drift (0 serves the goal, 1 works against it)");
    for turn in &row.turns {
        let score = match (turn.gd, turn.label) {
            (Some(gd), Some(label)) => {
                let by = turn.by.map(|by| format!(" by {}", by.word())).unwrap_or_default();
                let fault = turn
                    .fault
                    .filter(|_| label != Label::Aligned)
                    .map(|fault| format!(", {}", fault.slug()))
                    .unwrap_or_default();
                format!("{gd:.2} {}{by}{fault}", label.word())
            }
            _ => "no score".to_owned(),
        };
        let contrast = if row.contrast.as_deref() == Some(turn.id.as_str()) {
            " (before the harm, for contrast)"
        } else {
            ""
        };
        let why = turn
            .cause
            .as_ref()
            .map_or(turn.reason.as_str(), |cause| cause.message.as_str());
        let head = format!("  {}: {score}{contrast}", plain(&turn.id));
        folded(
            out,
            "",
            "          ",
            &clipped(&if why.trim().is_empty() {
                head
            } else {
                format!("{head}; {why}")
            }),
        );
    }
    if let Some(cause) = row.cause.as_ref().filter(|_| row.turns.is_empty()) {
        folded(out, "  not judged: ", "    ", &plain(&cause.message));
    }
    let _ = writeln!(out);
}
