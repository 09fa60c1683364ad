//! AG2's CaptainAgent: a group chat of named experts.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of, str_of};

/// `{"history": [{"content", "role", "name"}], "question"}`.
pub(crate) struct CaptainAgent;

impl Format for CaptainAgent {
    fn name(&self) -> &'static str {
        "captain-agent"
    }
    fn about(&self) -> &'static str {
        "AG2 CaptainAgent group chat: history of {name, role, content}"
    }
    fn score(&self, doc: &Value) -> u8 {
        let list = list_of(doc, "history")
            .or_else(|| list_of(doc, "chat_history"))
            .or_else(|| list_of(doc, "messages"));
        let list = list.or_else(|| doc.as_array().map(Vec::as_slice)).unwrap_or_default();
        let named = |message: &Value| {
            let usual = matches!(str_of(message, "role"), Some("user" | "assistant"));
            usual
                && message.get("name").is_some()
                && message.get("content").is_some()
                && message.get("tool_call_id").is_none()
        };
        if !list.is_empty() && list.iter().take(60).all(named) {
            90
        } else {
            0
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        let list = super::shape::messages_of(doc, &["history", "chat_history", "messages"]);
        log.messages(list.unwrap_or_default());
    }
}
