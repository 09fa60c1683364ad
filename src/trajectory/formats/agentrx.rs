//! AgentRx's intermediate representation.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of};

/// `{"trajectory_id", "instruction", "steps": [{"index", "substeps": [{"role", "content"}]}]}`.
pub(crate) struct AgentRx;

impl Format for AgentRx {
    fn name(&self) -> &'static str {
        "agentrx"
    }
    fn about(&self) -> &'static str {
        "AgentRx IR: steps of substeps {role, content}"
    }
    fn score(&self, doc: &Value) -> u8 {
        let own = |step: &Value| list_of(step, "substeps").is_some();
        if list_of(doc, "steps").is_some_and(|steps| steps.iter().take(20).any(own)) {
            98
        } else {
            0
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        for (step, record) in list_of(doc, "steps").unwrap_or_default().iter().enumerate() {
            log.step(step, record.get("timestamp"));
            for part in list_of(record, "substeps").unwrap_or_default() {
                log.message_here(part);
            }
        }
    }
}
