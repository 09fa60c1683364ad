//! Typed questions as messages. Text of the run enters as data between fence marks, never as template.
//!
//! A message is built from parts that carry their fence already ([`Fence`]), put in place by the
//! templates of [`Prompts`]. It opens with all that the seeker and the tracer of a run share and ends
//! with the stage's own part. [`schema`] gives the reply's JSON Schema.

mod blocks;
mod fence;
pub mod injection;
mod prompts;
mod rehearsal;
pub mod schema;

use serde_json::Value;

#[cfg(test)]
mod tests;

pub use fence::Fence;
pub use prompts::{PromptError, Prompts};

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

impl Rendered {
    /// Hash of everything that is sent but model and parameters, 64 hex digits: what a recorded
    /// answer was an answer to.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let (schema, room) = (self.schema.to_string(), self.max_output.to_string());
        let fixed = [self.stage.word(), &self.system, &schema, &room];
        for part in fixed.into_iter().chain(self.user.iter().map(String::as_str)) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}
