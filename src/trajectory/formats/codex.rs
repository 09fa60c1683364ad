//! Codex: rollout files and the stream of `codex exec --json`.

use std::collections::VecDeque;

use serde_json::Value;

use super::log::{Events, Format, Log, str_of};
use super::openai_responses::item;
use crate::trajectory::turns::Role;

/// Lines `{timestamp, type, payload}`, or `{type: "item.completed", item}`.
pub(crate) struct Codex;

impl Format for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }
    fn about(&self) -> &'static str {
        "Codex rollout JSONL and the event stream of `codex exec --json`"
    }
    fn score(&self, doc: &Value) -> u8 {
        let first = doc
            .as_array()
            .and_then(|list| list.iter().find(|event| self.line_score(event) >= 95));
        if first.is_some() { 95 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        let mut rollout = Rollout::default();
        for (step, event) in doc.as_array().into_iter().flatten().enumerate() {
            rollout.event(event, step, log);
        }
    }
    fn line_score(&self, line: &Value) -> u8 {
        let kind = str_of(line, "type").unwrap_or_default();
        match kind {
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
                if line.get("payload").is_some() =>
            {
                96
            }
            "thread.started" | "turn.started" | "turn.completed" | "turn.failed" => 96,
            "item.started" | "item.updated" | "item.completed" if line.get("item").is_some() => 96,
            // Rollouts of early 2025: bare items, after a head line.
            "function_call" | "function_call_output" | "reasoning" | "local_shell_call" => 80,
            "message" if line.get("content").is_some_and(Value::is_array) && line.get("role").is_some() => 75,
            "" if line.get("timestamp").is_some() && line.get("instructions").is_some() && line.get("id").is_some() => {
                75
            }
            _ => 0,
        }
    }
    fn events(&self) -> Option<Box<dyn Events>> {
        Some(Box::new(Rollout::default()))
    }
}

/// A rollout says the same thing up to three times: as an item, as an event, at the task's end.
const WINDOW: usize = 12;

#[derive(Default)]
struct Rollout {
    /// Texts said lately, and whether an item (not an event) said them.
    lately: VecDeque<(String, bool)>,
    asked: bool,
}

impl Events for Rollout {
    fn event(&mut self, event: &Value, step: usize, log: &mut Log) {
        log.step(step, event.get("timestamp"));
        let payload = event.get("payload").unwrap_or(&Value::Null);
        match str_of(event, "type").unwrap_or_default() {
            "session_meta" => {
                log.id = log.id.take().or_else(|| str_of(payload, "id").map(str::to_owned));
                for key in ["base_instructions", "instructions"] {
                    if let Some(text) = payload.get(key) {
                        log.say_once(Role::System, None, text.get("text").unwrap_or(text));
                    }
                }
            }
            "turn_context" => {
                for key in ["user_instructions", "developer_instructions"] {
                    log.say_once(Role::System, None, payload.get(key).unwrap_or(&Value::Null));
                }
            }
            "compacted" => {
                log.say_str(Role::System, None, "[the conversation so far was compacted]");
                log.say(Role::System, None, payload.get("message").unwrap_or(&Value::Null));
            }
            "response_item" => self.item(payload, log),
            "event_msg" => self.message(payload, log),
            "thread.started" => log.id = str_of(event, "thread_id").map(str::to_owned),
            "item.completed" => stream_item(event.get("item").unwrap_or(&Value::Null), log),
            "turn.failed" | "error" => log.say(
                Role::System,
                None,
                event.get("error").or_else(|| event.get("message")).unwrap_or(event),
            ),
            "" if event.get("instructions").is_some() => {
                log.id = str_of(event, "id").map(str::to_owned);
                log.say(Role::System, None, event.get("instructions").unwrap_or(&Value::Null));
            }
            "" | "turn.started" | "turn.completed" | "item.started" | "item.updated" => {}
            _ => self.item(event, log),
        }
    }
}

impl Rollout {
    /// An item of the model's input or output.
    fn item(&mut self, payload: &Value, log: &mut Log) {
        let from = log.turns.len();
        if str_of(payload, "type") == Some("ghost_snapshot") {
            return;
        }
        item(payload, log);
        let said = log.turns.split_off(from);
        for turn in said {
            let text = turn.text.trim().to_owned();
            let context = turn.role == Role::User && is_context(&text);
            if !matches!(turn.role, Role::ToolCall | Role::ToolResult) && self.said(&text, true) {
                continue;
            }
            if turn.role == Role::User && !context {
                self.ask(&text, log, false);
            }
            let role = if context { Role::System } else { turn.role };
            log.turns.push(crate::trajectory::turns::Turn { role, ..turn });
        }
    }

    /// An event for the user's screen.
    fn message(&mut self, payload: &Value, log: &mut Log) {
        let (role, key) = match str_of(payload, "type").unwrap_or_default() {
            "user_message" => (Role::User, "message"),
            "agent_message" => (Role::Agent, "message"),
            "agent_reasoning" | "agent_reasoning_raw_content" => (Role::Thinking, "text"),
            "error" | "stream_error" | "warning" => (Role::System, "message"),
            "turn_aborted" => (Role::System, "reason"),
            "task_complete" => (Role::Final, "last_agent_message"),
            _ => return,
        };
        let value = payload.get(key).unwrap_or(&Value::Null);
        let text = value.as_str().unwrap_or_default().trim().to_owned();
        if role == Role::User {
            self.ask(&text, log, true);
        }
        // The last message is told once more when the task is complete.
        let again = role == Role::Final && self.lately.iter().any(|(other, _)| *other == text);
        if !again && !self.said(&text, false) {
            log.say(role, None, value);
        }
    }

    /// Was this text said lately through the other channel?
    fn said(&mut self, text: &str, by_item: bool) -> bool {
        if self
            .lately
            .iter()
            .any(|(other, item)| other == text && *item != by_item)
        {
            return true;
        }
        if self.lately.len() == WINDOW {
            self.lately.pop_front();
        }
        self.lately.push_back((text.to_owned(), by_item));
        false
    }

    /// Takes the question from the first thing the user said; an event is surer than an item.
    fn ask(&mut self, text: &str, log: &mut Log, sure: bool) {
        if self.asked || (!sure && log.question.is_some()) {
            return;
        }
        self.asked = sure;
        // Editors put their context first and the request under this head.
        let request = text
            .split_once("## My request for Codex:")
            .map_or(text, |(_, request)| request);
        log.question = Some(request.trim().to_owned());
    }
}

/// What the program puts before the user's first words.
fn is_context(text: &str) -> bool {
    [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md",
        "<permissions",
        "<turn_aborted>",
    ]
    .iter()
    .any(|head| text.starts_with(head))
}

fn stream_item(item: &Value, log: &mut Log) {
    let kind = str_of(item, "type")
        .or_else(|| str_of(item, "item_type"))
        .unwrap_or_default();
    let field = |key: &str| item.get(key).unwrap_or(&Value::Null);
    let id = str_of(item, "id");
    match kind {
        "agent_message" | "assistant_message" => log.say(Role::Agent, None, field("text")),
        "user_message" => log.say(Role::User, None, field("text")),
        "reasoning" => log.say(Role::Thinking, None, field("text")),
        "command_execution" => {
            log.call(None, "shell", id, field("command"));
            log.result(None, None, id, field("aggregated_output"));
        }
        "mcp_tool_call" => {
            log.call(None, str_of(item, "tool").unwrap_or("mcp"), id, field("arguments"));
            log.result(
                None,
                None,
                id,
                item.get("result").or_else(|| item.get("error")).unwrap_or(&Value::Null),
            );
        }
        "web_search" => log.call(None, "web_search", id, field("query")),
        "file_change" => log.call(None, "file_change", id, field("changes")),
        "todo_list" => log.say(Role::Plan, None, field("items")),
        _ => log.say(
            Role::System,
            None,
            item.get("message").or_else(|| item.get("text")).unwrap_or(item),
        ),
    }
}
