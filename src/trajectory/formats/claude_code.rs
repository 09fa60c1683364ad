//! Claude Code sessions: an event a line, one message often over several lines.

use serde_json::Value;

use super::log::{Events, Format, Log, str_of};
use crate::trajectory::turns::Role;

/// Lines with `type` user, assistant, system, summary …, `uuid`, `sessionId`, `message`.
pub(crate) struct ClaudeCode;

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }
    fn about(&self) -> &'static str {
        "Claude Code session JSONL, with sidechains and compaction"
    }
    fn score(&self, doc: &Value) -> u8 {
        let first = doc
            .as_array()
            .and_then(|list| list.iter().find(|event| self.line_score(event) >= 95));
        if first.is_some() { 95 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        let mut session = Session::default();
        for (step, event) in doc.as_array().into_iter().flatten().enumerate() {
            session.event(event, step, log);
        }
    }
    fn line_score(&self, line: &Value) -> u8 {
        let has = |key: &str| line.get(key).is_some();
        match str_of(line, "type") {
            Some("user" | "assistant")
                if has("message") && (has("sessionId") || has("uuid") || has("parentUuid") || has("session_id")) =>
            {
                95
            }
            Some("summary") if has("leafUuid") => 92,
            Some("file-history-snapshot") if has("snapshot") => 92,
            Some(_) if has("sessionId") && (has("uuid") || has("operation") || has("leafUuid")) => 90,
            // The stream of `--output-format stream-json`.
            Some("system") if str_of(line, "subtype") == Some("init") && has("session_id") => 92,
            _ => 0,
        }
    }
    fn events(&self) -> Option<Box<dyn Events>> {
        Some(Box::new(Session::default()))
    }
}

#[derive(Default)]
struct Session {
    /// `message.id` of the line before: a message that goes on.
    open: Option<String>,
    main_seen: bool,
}

impl Events for Session {
    fn event(&mut self, event: &Value, step: usize, log: &mut Log) {
        if let Some(uuid) = str_of(event, "uuid")
            && !log.first_time(uuid)
        {
            return;
        }
        if log.id.is_none() {
            log.id = str_of(event, "sessionId")
                .or_else(|| str_of(event, "session_id"))
                .map(str::to_owned);
        }
        let side = event.get("isSidechain").and_then(Value::as_bool).unwrap_or(false)
            || event.get("parent_tool_use_id").is_some_and(Value::is_string);
        self.main_seen |= !side;
        log.depth = usize::from(side && self.main_seen);
        let message = event.get("message").unwrap_or(&Value::Null);
        let id = str_of(message, "id");
        if id.is_some() && id == self.open.as_deref() {
            log.same_unit(step, event.get("timestamp"));
        } else {
            log.step(step, event.get("timestamp"));
        }
        self.open = id.map(str::to_owned);
        match str_of(event, "type").unwrap_or_default() {
            "user" => self.user(event, message, log),
            "assistant" => log.message_here(message),
            "summary" => log.say(Role::System, None, event.get("summary").unwrap_or(&Value::Null)),
            "file-history-snapshot" | "progress" => {}
            "result" => log.say_once(Role::Final, None, event.get("result").unwrap_or(&Value::Null)),
            _ => {
                for key in ["content", "attachment"] {
                    if let Some(content) = event.get(key) {
                        log.say_once(Role::System, None, content);
                    }
                }
            }
        }
        log.depth = 0;
    }
}

impl Session {
    fn user(&self, event: &Value, message: &Value, log: &mut Log) {
        let flag = |key: &str| event.get(key).and_then(Value::as_bool).unwrap_or(false);
        let content = message.get("content").unwrap_or(&Value::Null);
        if flag("isCompactSummary") {
            log.say_str(
                Role::System,
                None,
                "[summary of the conversation so far, written at compaction]",
            );
            log.say(Role::System, None, content);
            return;
        }
        let typed = content.as_str().map(str::to_owned).or_else(|| {
            let blocks = content.as_array()?;
            blocks.iter().find_map(|block| str_of(block, "text")).map(str::to_owned)
        });
        let local = typed.as_deref().is_some_and(is_local);
        if flag("isMeta") || local {
            match content {
                Value::String(text) => log.say_str(Role::System, None, text),
                _ => log.message_here(message),
            }
            return;
        }
        if log.question.is_none() {
            log.question = typed.filter(|text| !text.trim().is_empty());
        }
        log.message_here(message);
    }
}

/// Traces of local commands, not something the user asked of the agent.
fn is_local(text: &str) -> bool {
    let text = text.trim_start();
    ["<command-", "<local-command", "<bash-", "<system-reminder"]
        .iter()
        .any(|tag| text.starts_with(tag))
}
