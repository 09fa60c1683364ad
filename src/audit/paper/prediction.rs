//! From trace to prediction: what spans are reported as harmful.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::value::{ReadError, is_truthy, items, object, ordered_span_ids, span_ids_field, span_number, text_field};
use super::{Later, StepRules};
use crate::ledger::{Ledger, Reason, SupportRecord, Trace};
use crate::trajectory::Trajectory;

/// The harmful spans of a run, in the published shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The run's id.
    pub traj_id: String,
    /// Harmful spans in trajectory order.
    pub error_span_ids: Vec<String>,
    /// The first of them; in `bare` as published the one the judge named, if it is among them.
    pub earliest_harmful_span_id: Option<String>,
    /// Why, span by span.
    pub reasons: Vec<Reason>,
}

/// Reads the single reply of `bare` as published: a reason counts only for a span listed as an
/// error; the earliest span is the one named, if listed, else the first listed.
///
/// # Errors
/// When a list is neither list, object, text nor empty, a reason is not an object, or its span id
/// is a list or an object.
pub fn bare_prediction(reply: &Map<String, Value>, run: &Trajectory) -> Result<Prediction, ReadError> {
    let errors = span_ids_field(reply, "error_span_ids", run)?;
    let mut reasons = Vec::new();
    for (index, row) in items(reply, "reasons")?.iter().enumerate() {
        let row = object(row, "reasons", index)?;
        let span_id = row.get("span_id").unwrap_or(&Value::Null);
        if span_id.is_array() || span_id.is_object() {
            return Err(ReadError::NotAnId {
                field: "reasons",
                row: index + 1,
            });
        }
        if let Some(span_id) = span_id.as_str().filter(|id| errors.iter().any(|error| error == id)) {
            reasons.push(Reason {
                span_id: span_id.to_owned(),
                reason: text_field(row, "reason"),
                quote: None,
            });
        }
    }
    let named = ["earliest_harmful_span_id", "first_error_span"]
        .iter()
        .find_map(|name| reply.get(*name).filter(|value| is_truthy(value)))
        .and_then(Value::as_str)
        .filter(|id| errors.iter().any(|error| error == id));
    Ok(Prediction {
        traj_id: run.case_id().to_owned(),
        earliest_harmful_span_id: named.map(str::to_owned).or_else(|| errors.first().cloned()),
        error_span_ids: errors,
        reasons,
    })
}

/// A trace as a prediction: every error span with the trace's one reason.
#[must_use]
pub fn trace_to_prediction(trace: &Trace, run: &Trajectory) -> Prediction {
    let errors = ordered_span_ids(&trace.error_span_ids, run);
    let earliest = trace.earliest_harmful_span_id.clone().filter(|id| errors.contains(id));
    let reasons = errors
        .iter()
        .map(|id| Reason {
            span_id: id.clone(),
            reason: trace.reason.clone(),
            quote: None,
        })
        .collect();
    Prediction {
        traj_id: run.case_id().to_owned(),
        earliest_harmful_span_id: earliest.or_else(|| errors.first().cloned()),
        error_span_ids: errors,
        reasons,
    }
}

/// Spans where a claim that matters was completed: where it becomes consequential, then where it
/// is last used or, if nothing uses it, where it is introduced. Claim by claim, with repetitions.
#[must_use]
pub fn claim_completion_ids(ledger: &Ledger, support: &[SupportRecord], rules: &StepRules) -> Vec<String> {
    let spared = |claim_id: &str| {
        rules.completions_spare_direct
            && support
                .iter()
                .any(|record| record.claim_id == claim_id && record.is_verified_direct())
    };
    ledger
        .claims
        .iter()
        .filter(|claim| claim.status.matters() && !spared(&claim.claim_id))
        .flat_map(|claim| {
            let end = claim.used_by.last().or(claim.introduced_at.as_ref());
            claim.becomes_consequential_at.iter().chain(end)
        })
        .filter(|id| !id.is_empty())
        .cloned()
        .collect()
}

/// Adds the completion spans of the claims that matter to a prediction: those later than its first
/// error, or, as published, all of them when it names no error. The earliest span becomes the
/// first by position. No reasons are added.
pub fn add_completions(
    prediction: &mut Prediction,
    run: &Trajectory,
    ledger: &Ledger,
    support: &[SupportRecord],
    rules: &StepRules,
) {
    // An unknown id has no position; its digits count all the same, as published.
    let place = |id: &str| match rules.later {
        Later::Digits => Some(span_number(id)),
        Later::Position => run.position(id).map(|position| position as u128),
    };
    let first = prediction.error_span_ids.iter().filter_map(|id| place(id)).min();
    let mut ids = std::mem::take(&mut prediction.error_span_ids);
    let completions = claim_completion_ids(ledger, support, rules);
    match first {
        Some(first) => ids.extend(
            completions
                .into_iter()
                .filter(|id| place(id).is_some_and(|place| place > first)),
        ),
        None if rules.completions_overrule_no_error => ids.extend(completions),
        None => {}
    }
    prediction.error_span_ids = ordered_span_ids(&ids, run);
    prediction.earliest_harmful_span_id = prediction.error_span_ids.first().cloned();
}

/// Takes spans that are not in the packet out of the prediction; `available` holds the ids of its
/// spans.
pub fn restrict_prediction(prediction: &mut Prediction, available: &HashSet<&str>) {
    prediction.error_span_ids.retain(|id| available.contains(id.as_str()));
    prediction
        .reasons
        .retain(|reason| available.contains(reason.span_id.as_str()));
    prediction.earliest_harmful_span_id = prediction.error_span_ids.first().cloned();
}
