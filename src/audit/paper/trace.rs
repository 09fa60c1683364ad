//! The Dependency Tracer's reply, read.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::value::{ReadError, items, ordered_span_ids, span_field, span_ids_field, text_field};
use crate::ledger::Trace;
use crate::trajectory::Trajectory;

/// Reads a trace. The error spans are all that any field names as one; the first error is the span
/// named as such, else the first error span of the run; what the reply gives as the earliest
/// harmful span is not read.
///
/// # Errors
/// When a list is neither list, object, text nor empty.
pub fn dependency_trace(reply: &Map<String, Value>, run: &Trajectory) -> Result<Trace, ReadError> {
    let named_first = span_field(reply, "first_error_span", run);
    let linked = span_ids_field(reply, "linked_error_span_ids", run)?;
    let mut errors = span_ids_field(reply, "error_span_ids", run)?;
    errors.extend(named_first.iter().chain(&linked).cloned());
    let errors = ordered_span_ids(&errors, run);
    let field = if items(reply, "non_errors")?.is_empty() {
        "not_errors"
    } else {
        "non_errors"
    };
    let first = named_first.or_else(|| errors.first().cloned());
    Ok(Trace {
        linked_error_span_ids: linked,
        non_errors: span_ids_field(reply, field, run)?,
        reason: text_field(reply, "reason"),
        error_span_ids: errors,
        earliest_harmful_span_id: first.clone(),
        first_error_span: first,
        reasons: Vec::new(),
    })
}

/// Takes spans that are not in the packet out of the trace; `available` holds the ids of its spans.
/// The earliest harmful span stays as it was read, as published: the prediction drops it when it
/// is no longer among the error spans.
pub fn restrict_trace(trace: &mut Trace, available: &HashSet<&str>) {
    let is_there = |id: &String| available.contains(id.as_str());
    trace.first_error_span.take_if(|id| !is_there(id));
    trace.linked_error_span_ids.retain(is_there);
    trace.non_errors.retain(is_there);
    trace.error_span_ids.retain(is_there);
}
