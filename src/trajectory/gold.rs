//! Gold labels, apart from the run they belong to.

use serde_json::{Map, Value};

/// What annotators marked in one run. Nothing that asks a judge can hold this type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gold {
    /// The run's id.
    pub case_id: String,
    /// Harmful spans in the order the label file lists them (the published scorer reads the
    /// first of this list as the first error).
    pub error_span_ids: Vec<String>,
    /// Every span id of the run in trajectory order, when the gold row carries its spans.
    pub span_ids: Vec<String>,
    /// The row's `meta` object, for breakdowns.
    pub meta: Map<String, Value>,
    /// The row's `annotations`, for recall by annotated error type.
    pub annotations: Value,
}
