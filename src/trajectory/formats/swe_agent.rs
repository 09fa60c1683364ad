//! SWE-agent trajectories.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of, str_of};
use crate::trajectory::turns::Role;

/// `.traj` files: `trajectory` of `{action, observation, thought}` beside the chat `history`.
pub(crate) struct SweAgent;

impl Format for SweAgent {
    fn name(&self) -> &'static str {
        "swe-agent"
    }
    fn about(&self) -> &'static str {
        "SWE-agent .traj: trajectory of {thought, action, observation} and its history"
    }
    fn score(&self, doc: &Value) -> u8 {
        let step = |step: &Value| step.get("action").is_some() && step.get("observation").is_some();
        if list_of(doc, "trajectory").is_some_and(|list| list.iter().take(20).any(step)) {
            return 97;
        }
        let marked = |message: &Value| {
            message.get("message_type").is_some() || message.get("role").is_some() && message.get("thought").is_some()
        };
        let history = list_of(doc, "history").is_some_and(|list| list.iter().take(20).any(marked));
        if history { 95 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc).or_else(|| {
            str_of(doc, "environment")
                .filter(|name| *name != "main")
                .map(str::to_owned)
        });
        log.question = question_of(doc);
        let history = list_of(doc, "history").unwrap_or_default();
        let steps = list_of(doc, "trajectory").unwrap_or_default();
        if steps.is_empty() {
            for (step, message) in history.iter().enumerate() {
                log.message(message, step);
                // Older files keep the command apart from the tool calls.
                let action = message.get("action").and_then(Value::as_str).unwrap_or_default();
                let told = message.get("tool_calls").is_some()
                    || str_of(message, "content").is_some_and(|text| text.contains(action));
                if !told {
                    log.call(None, "shell", None, &Value::from(action));
                }
            }
            return;
        }
        // The trajectory holds every step; what was said before the first stands in the history.
        let before = history
            .iter()
            .take_while(|message| str_of(message, "role") != Some("assistant"));
        for message in before {
            log.step(0, None);
            log.message_here(message);
        }
        for (step, record) in steps.iter().enumerate() {
            log.step(step, record.get("timestamp"));
            step_of(record, log);
        }
        let submission = doc
            .get("info")
            .and_then(|info| str_of(info, "submission"))
            .unwrap_or_default();
        if log.turns.iter().all(|turn| !turn.text.contains(submission.trim())) {
            log.say_str(Role::Final, None, submission);
        }
    }
}

fn step_of(record: &Value, log: &mut Log) {
    let field = |key: &str| record.get(key).unwrap_or(&Value::Null);
    let (response, thought) = (
        str_of(record, "response").unwrap_or_default(),
        str_of(record, "thought").unwrap_or_default(),
    );
    log.say_str(Role::Agent, None, if response.is_empty() { thought } else { response });
    if !response.is_empty() && !response.contains(thought.trim()) {
        log.say_str(Role::Thinking, None, thought);
    }
    let action = str_of(record, "action").unwrap_or_default();
    if !action.is_empty() {
        let name = action.split_whitespace().next().unwrap_or("shell");
        log.call(None, name, None, field("action"));
    }
    if let Some(calls) = record.get("tool_calls").and_then(Value::as_array) {
        calls.iter().for_each(|call| log.tool_call(None, call));
    }
    log.result(None, None, None, field("observation"));
}
