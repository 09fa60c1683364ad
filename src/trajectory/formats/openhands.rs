//! OpenHands: a stream of actions and observations.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, str_of};
use super::shape::messages_of;
use crate::trajectory::turns::Role;

/// A list of events `{source, action, args}` and `{observation, content}`, or a record with
/// such a `history` and an `instruction`.
pub(crate) struct OpenHands;

fn is_event(event: &Value) -> bool {
    let kind = str_of(event, "kind").unwrap_or_default();
    let acts =
        event.get("action").is_some_and(Value::is_string) || event.get("observation").is_some_and(Value::is_string);
    let plain = acts && event.get("role").is_none() && event.get("response").is_none();
    plain
        && ["args", "content", "extras", "thought", "message", "command", "code"]
            .iter()
            .any(|key| event.get(*key).is_some())
        || ["MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent"].contains(&kind)
}

fn events(doc: &Value) -> Option<&[Value]> {
    let list = messages_of(doc, &["history", "events", "trajectory"])?;
    list.iter()
        .take(60)
        .any(|event| is_event(event) || event.as_array().is_some_and(|pair| pair.iter().any(is_event)))
        .then_some(list)
}

impl Format for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }
    fn about(&self) -> &'static str {
        "OpenHands event stream: actions and observations, or an evaluation record with such a history"
    }
    fn score(&self, doc: &Value) -> u8 {
        if events(doc).is_some() { 95 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = str_of(doc, "instruction").map(str::to_owned);
        for (step, record) in events(doc).unwrap_or_default().iter().enumerate() {
            log.step(step, record.get("timestamp"));
            match record {
                // Older evaluation records pair each action with its observation.
                Value::Array(pair) => pair.iter().for_each(|event| one(event, log)),
                event => one(event, log),
            }
        }
    }
    fn line_score(&self, line: &Value) -> u8 {
        if is_event(line) { 85 } else { 0 }
    }
    fn events(&self) -> Option<Box<dyn super::log::Events>> {
        Some(Box::new(Stream))
    }
}

struct Stream;

impl super::log::Events for Stream {
    fn event(&mut self, event: &Value, step: usize, log: &mut Log) {
        log.step(step, event.get("timestamp"));
        one(event, log);
    }
}

/// Fields of an action that say nothing to a reader.
const HOUSEKEEPING: [&str; 20] = [
    "thought",
    "action",
    "source",
    "id",
    "timestamp",
    "timeout",
    "message",
    "tool_call_metadata",
    "impl_source",
    "translated_ipython_code",
    "is_input",
    "blocking",
    "hidden",
    "confirmation_state",
    "is_confirmed",
    "action_risk",
    "keep_prompt",
    "wait_for_response",
    "security_risk",
    "llm_metrics",
];

fn one(event: &Value, log: &mut Log) {
    if str_of(event, "kind").is_some() {
        return newer(event, log);
    }
    let args = event.get("args").filter(|args| args.is_object()).unwrap_or(event);
    let user = str_of(event, "source") == Some("user");
    if let Some(kind) = str_of(event, "observation") {
        let content = event.get("content").filter(|content| *content != &Value::from(""));
        let content = content.or_else(|| event.get("message")).unwrap_or(&Value::Null);
        return log.result(None, Some(kind), None, content);
    }
    let thought = str_of(args, "thought").unwrap_or_default();
    match str_of(event, "action").unwrap_or_default() {
        "message" | "system" => {
            let first = log.turns.is_empty() && event.get("source").is_none();
            let role = match str_of(event, "action") {
                Some("system") => Role::System,
                _ if user || first => Role::User,
                _ => Role::Agent,
            };
            let content = args
                .get("content")
                .or_else(|| event.get("message"))
                .unwrap_or(&Value::Null);
            log.say(role, None, content);
        }
        "change_agent_state" | "null" | "" => log.say(Role::System, None, event.get("message").unwrap_or(&Value::Null)),
        "think" => log.say_str(Role::Thinking, None, thought),
        kind => {
            log.say_str(if kind == "finish" { Role::Final } else { Role::Agent }, None, thought);
            let mut rest = args.as_object().cloned().unwrap_or_default();
            rest.retain(|key, value| {
                !HOUSEKEEPING.contains(&key.as_str()) && !value.is_null() && value != &Value::from("")
            });
            let message = str_of(event, "message").unwrap_or_default();
            if kind == "finish" {
                for value in rest.values() {
                    log.say(
                        Role::Final,
                        None,
                        value
                            .as_object()
                            .map_or(value, |map| if map.is_empty() { &Value::Null } else { value }),
                    );
                }
                if message != thought {
                    log.say_str(Role::Final, None, message);
                }
                return;
            }
            log.call(None, kind, None, &Value::Object(rest));
        }
    }
}

/// Events of the rewritten SDK: `kind` names the class.
fn newer(event: &Value, log: &mut Log) {
    for part in list_of(event, "thought").unwrap_or_default() {
        log.say(Role::Agent, None, part);
    }
    for key in ["reasoning_content", "system_prompt"] {
        let role = if key == "system_prompt" {
            Role::System
        } else {
            Role::Thinking
        };
        log.say(role, None, event.get(key).unwrap_or(&Value::Null));
    }
    if let Some(message) = event.get("llm_message") {
        log.message_here(message);
    }
    let id = str_of(event, "tool_call_id");
    let name = str_of(event, "tool_name");
    if let Some(action) = event.get("action") {
        log.call(None, name.unwrap_or("tool"), id, action);
    }
    if let Some(observation) = event.get("observation") {
        let content = observation.get("content").or_else(|| observation.get("output"));
        log.result(None, name, id, content.unwrap_or(observation));
    }
    log.say(Role::System, None, event.get("error").unwrap_or(&Value::Null));
}
