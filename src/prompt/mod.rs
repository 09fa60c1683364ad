//! Typed questions as messages. Text of the run enters as data between fence marks, never as template.

use serde_json::Value;

use crate::trajectory::Stage;

/// A question ready for an endpoint, before any dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Stage asked.
    pub stage: Stage,
    /// System message.
    pub system: String,
    /// User messages in order. The first of the seeker and the tracer of one run begin with the
    /// same text, so that a provider's prefix cache holds.
    pub user: Vec<String>,
    /// Name of the reply's JSON Schema.
    pub schema_name: &'static str,
    /// The reply's JSON Schema, inside the strict subset.
    pub schema: Value,
    /// Output tokens allowed.
    pub max_output: u32,
}
