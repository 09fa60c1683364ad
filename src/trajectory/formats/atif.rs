//! Harbor's Agent Trajectory Interchange Format.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, str_of};
use crate::trajectory::turns::Role;

/// `{"schema_version": "ATIF-v1.5", "agent", "steps": [{"step_id", "source", "message"}]}`.
pub(crate) struct Atif;

impl Format for Atif {
    fn name(&self) -> &'static str {
        "atif"
    }
    fn about(&self) -> &'static str {
        "ATIF (Agent Trajectory Interchange Format): steps of {step_id, source, message, tool_calls, observation}"
    }
    fn score(&self, doc: &Value) -> u8 {
        if str_of(doc, "schema_version").is_some_and(|version| version.starts_with("ATIF")) {
            return 99;
        }
        let own = |step: &Value| step.get("step_id").is_some() && step.get("source").is_some();
        if list_of(doc, "steps").is_some_and(|steps| steps.iter().take(20).any(own)) {
            85
        } else {
            0
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        for (step, record) in list_of(doc, "steps").unwrap_or_default().iter().enumerate() {
            log.step(step, record.get("timestamp"));
            let role = match str_of(record, "source") {
                Some("system") => Role::System,
                Some("user") => Role::User,
                _ => Role::Agent,
            };
            log.say(
                Role::Thinking,
                None,
                record.get("reasoning_content").unwrap_or(&Value::Null),
            );
            log.say(role, None, record.get("message").unwrap_or(&Value::Null));
            for call in list_of(record, "tool_calls").unwrap_or_default() {
                log.tool_call(None, call);
            }
            let results = record
                .get("observation")
                .and_then(|observation| list_of(observation, "results"));
            for result in results.unwrap_or_default() {
                let id = str_of(result, "source_call_id");
                log.result(None, None, id, result.get("content").unwrap_or(&Value::Null));
            }
        }
        log.say(Role::System, None, doc.get("notes").unwrap_or(&Value::Null));
        if let Some(next) = str_of(doc, "continued_trajectory_ref") {
            log.notes.push(format!("the run goes on in another file: {next}"));
        }
    }
}
