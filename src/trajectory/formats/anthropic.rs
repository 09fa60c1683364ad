//! Anthropic messages: content blocks, with tool results inside user messages.

use serde_json::Value;

use super::log::{Format, Log, id_of, question_of};
use super::shape::{Shape, messages_of};
use crate::trajectory::turns::Role;

/// `{"system", "messages": [{"role", "content": [blocks]}]}` or the bare list.
pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }
    fn about(&self) -> &'static str {
        "Anthropic messages: content blocks of text, thinking, tool_use and tool_result"
    }
    fn score(&self, doc: &Value) -> u8 {
        let Some(list) = messages_of(doc, &["messages"]) else {
            return 0;
        };
        let shape = Shape::of(list);
        if shape.share(shape.standard) < 90 || shape.openai {
            return 0;
        }
        match (shape.anthropic, doc.get("system").is_some()) {
            (true, _) => 88,
            (false, true) => 70,
            (false, false) => 0,
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        if let Some(system) = doc.get("system") {
            log.step(0, None);
            log.say(Role::System, None, system);
        }
        log.messages(messages_of(doc, &["messages"]).unwrap_or_default());
        // A reply saved beside its request.
        if doc.get("messages").is_some() && doc.get("content").is_some() {
            let next = log.turns.last().map_or(0, |turn| turn.step + 1);
            log.message(doc, next);
        }
    }
}
