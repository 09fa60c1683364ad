//! A result as bytes: text for a reader, JSON for a program.

mod dto;
mod panel;
mod text;

pub use dto::{AuditRow, PacketRow, Prediction, RESULT_SCHEMA, ResultRow, SecondRow, SourceRow, Status};
pub use text::{Style, plain, render};

/// The JSON Schema of a result row, as shipped in `data/schema/result.schema.json`.
#[must_use]
pub fn result_schema() -> serde_json::Value {
    schemars::schema_for!(ResultRow).to_value()
}
