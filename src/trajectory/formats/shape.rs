//! What a list of messages looks like, for telling formats apart.

use serde_json::Value;

use super::log::{list_of, str_of};

/// Counts over the first messages of a list.
#[derive(Default)]
pub(crate) struct Shape {
    looked_at: usize,
    /// Objects with one of the usual roles.
    pub(crate) standard: usize,
    /// Objects that name a speaker and hold a content.
    pub(crate) spoken: usize,
    /// OpenAI's marks: `tool_calls`, `tool_call_id`, a `tool` role.
    pub(crate) openai: bool,
    /// Anthropic's marks: `tool_use`, `tool_result`, `thinking` blocks.
    pub(crate) anthropic: bool,
    /// Roles that are agent names.
    pub(crate) named_roles: bool,
}

/// Messages looked at; detection must not depend on the length of the log.
const SAMPLE: usize = 60;

impl Shape {
    /// Looks at a list.
    pub(crate) fn of(list: &[Value]) -> Self {
        let mut shape = Self::default();
        for message in list.iter().take(SAMPLE) {
            shape.look(message);
        }
        shape
    }

    /// A count in percent of the messages looked at.
    pub(crate) fn share(&self, count: usize) -> usize {
        (count * 100).checked_div(self.looked_at).unwrap_or_default()
    }

    fn look(&mut self, message: &Value) {
        self.looked_at += 1;
        let role = str_of(message, "role").unwrap_or_default();
        let usual = ["system", "developer", "user", "assistant", "tool", "function"].contains(&role);
        self.standard += usize::from(usual);
        self.named_roles |= !usual && !role.is_empty();
        let calls = list_of(message, "tool_calls").is_some() || message.get("function_call").is_some();
        self.openai |= calls || message.get("tool_call_id").is_some() || role == "tool" || role == "function";
        let named = ["role", "name", "source", "from", "agent", "sender", "speaker", "author"];
        let held = ["content", "text", "message", "value", "tool_calls", "parts"];
        let has = |keys: &[&str]| keys.iter().any(|key| message.get(*key).is_some());
        self.spoken += usize::from(has(&named) && has(&held));
        for block in list_of(message, "content").unwrap_or_default() {
            let kind = str_of(block, "type").unwrap_or_default();
            self.anthropic |= matches!(kind, "tool_use" | "tool_result" | "thinking" | "server_tool_use");
        }
    }
}

/// The list of messages of a document: the document itself, or one of these fields.
pub(crate) fn messages_of<'a>(doc: &'a Value, fields: &[&str]) -> Option<&'a [Value]> {
    let list = doc.as_array().map(Vec::as_slice);
    let list = list.or_else(|| fields.iter().find_map(|field| list_of(doc, field)))?;
    list.iter().any(Value::is_object).then_some(list)
}
