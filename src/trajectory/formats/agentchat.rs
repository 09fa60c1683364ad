//! AutoGen AgentChat: task results and team states.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of, str_of};
use super::shape::messages_of;
use crate::trajectory::turns::Role;

/// `{"messages": [{"source", "type": "TextMessage", "content"}], "stop_reason"}` or a `TeamState`.
pub(crate) struct AgentChat;

fn is_own(message: &Value) -> bool {
    let kind = str_of(message, "type").unwrap_or_default();
    message.get("source").is_some() && (kind.ends_with("Message") || kind.ends_with("Event"))
}

/// The fullest thread of messages in a team's state: a group's manager keeps them all.
fn thread(state: &Value) -> Option<&[Value]> {
    let own = list_of(state, "message_thread").or_else(|| list_of(state, "message_buffer"));
    let own = own.filter(|list| list.iter().any(is_own));
    let children = state.as_object().into_iter().flat_map(|fields| fields.values());
    own.into_iter()
        .chain(children.filter(|child| child.is_object()).filter_map(thread))
        .max_by_key(|list| list.len())
}

fn list(doc: &Value) -> Option<&[Value]> {
    if str_of(doc, "type") == Some("TeamState") || doc.get("agent_states").is_some() {
        return thread(doc);
    }
    messages_of(doc, &["messages", "inner_messages"]).filter(|list| list.iter().any(is_own))
}

impl Format for AgentChat {
    fn name(&self) -> &'static str {
        "agentchat"
    }
    fn about(&self) -> &'static str {
        "AutoGen AgentChat: task result {messages: [{source, type, content}]} or TeamState"
    }
    fn score(&self, doc: &Value) -> u8 {
        if list(doc).is_some() { 96 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        for (step, message) in list(doc).unwrap_or_default().iter().enumerate() {
            log.step(step, message.get("created_at"));
            let content = message.get("content").unwrap_or(&Value::Null);
            let source = str_of(message, "source");
            match str_of(message, "type").unwrap_or_default() {
                "ThoughtEvent" => log.say(Role::Thinking, source, content),
                "ToolCallSummaryMessage" => log.say(Role::ToolResult, source, content),
                "StopMessage" => log.say(Role::Final, source, content),
                "ModelClientStreamingChunkEvent" => {}
                _ => log.message_here(message),
            }
        }
        if let Some(reason) = doc.get("stop_reason").filter(|reason| reason.is_string()) {
            let next = log.turns.last().map_or(0, |turn| turn.step);
            log.same_unit(next, None);
            log.say(Role::System, None, reason);
        }
    }
}
