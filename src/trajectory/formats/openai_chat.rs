//! OpenAI chat messages with tool calls.

use serde_json::Value;

use super::log::{Format, Log, id_of, question_of, scalar, str_of};
use super::shape::{Shape, messages_of};
use crate::trajectory::turns::Role;

/// `{"messages": [{"role", "content", "tool_calls"}]}` or the bare list.
pub(crate) struct OpenAiChat;

impl Format for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }
    fn about(&self) -> &'static str {
        "OpenAI chat messages with tool calls: {messages: [{role, content, tool_calls}]} or a bare list"
    }
    fn score(&self, doc: &Value) -> u8 {
        let Some(list) = messages_of(doc, &["messages"]) else {
            return 0;
        };
        let shape = Shape::of(list);
        if shape.anthropic || shape.named_roles || shape.share(shape.standard) < 90 {
            return 0;
        }
        if shape.openai { 85 } else { 55 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        log.messages(messages_of(doc, &["messages"]).unwrap_or_default());
        // A request's file with the reply beside its messages.
        if let Some(reply) = doc.get("choices").and_then(|choices| choices.get(0)?.get("message")) {
            let next = log.turns.last().map_or(0, |turn| turn.step + 1);
            log.message(reply, next);
        }
    }
    fn line_score(&self, line: &Value) -> u8 {
        let role = str_of(line, "role").is_some() && line.get("messages").is_none();
        let body = line.get("content").is_some() || line.get("tool_calls").is_some();
        if role && body { 60 } else { 0 }
    }
    fn events(&self) -> Option<Box<dyn super::log::Events>> {
        Some(Box::new(Lines))
    }
}

/// A message a line.
struct Lines;

impl super::log::Events for Lines {
    fn event(&mut self, event: &Value, step: usize, log: &mut Log) {
        if log.question.is_none() {
            log.question = event.get("question").and_then(scalar);
        }
        let before = log.turns.len();
        log.message(event, step);
        if log.turns.len() == before && !event.is_object() {
            log.say(Role::System, None, event);
        }
    }
}
