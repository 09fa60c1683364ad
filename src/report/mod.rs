//! A result as bytes: text for a reader, JSON for a program.

mod align;
mod drift;
mod dto;
mod judge;
mod panel;
mod text;

pub use align::{ALIGN_SCHEMA, AlignRow, AlignTurn, Excess};
pub use drift::GdRow;
pub use dto::{AuditRow, PacketRow, Prediction, RESULT_SCHEMA, ResultRow, SecondRow, SourceRow, Status};
pub use judge::{JudgeRow, judge_request_schema, judge_response_schema};
pub use text::{Style, plain, render};

/// The JSON Schema of a line of `align`, as shipped in `data/schema/align.schema.json`.
#[must_use]
pub fn align_schema() -> serde_json::Value {
    schemars::schema_for!(AlignRow).to_value()
}

/// The JSON Schema of a result row, as shipped in `data/schema/result.schema.json`.
#[must_use]
pub fn result_schema() -> serde_json::Value {
    schemars::schema_for!(ResultRow).to_value()
}
