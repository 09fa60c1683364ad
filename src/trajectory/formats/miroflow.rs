//! MiroFlow: task logs with the message histories of main and sub-agents.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of};
use crate::trajectory::turns::Role;

/// `{"main_agent_message_history", "sub_agent_message_history_sessions", "input"}`, or
/// `{"message_history", "summary", "final_boxed_answer"}`.
pub(crate) struct MiroFlow;

fn history(part: &Value) -> &[Value] {
    list_of(part, "message_history")
        .or_else(|| part.as_array().map(Vec::as_slice))
        .unwrap_or_default()
}

impl Format for MiroFlow {
    fn name(&self) -> &'static str {
        "miroflow"
    }
    fn about(&self) -> &'static str {
        "MiroFlow task log: main_agent_message_history and sub-agent sessions, or a task result"
    }
    fn score(&self, doc: &Value) -> u8 {
        if doc.get("main_agent_message_history").is_some() {
            98
        } else if list_of(doc, "message_history").is_some() && doc.get("final_boxed_answer").is_some() {
            95
        } else {
            0
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        let input = doc.get("input").unwrap_or(&Value::Null);
        log.question = question_of(doc)
            .or_else(|| question_of(input))
            .or_else(|| input.as_str().map(str::to_owned));
        let main = doc.get("main_agent_message_history").unwrap_or(doc);
        if let Some(prompt) = main.get("system_prompt") {
            log.step(0, None);
            log.say(Role::System, None, prompt);
        }
        let sessions = doc.get("sub_agent_message_history_sessions").and_then(Value::as_object);
        let mut sessions = sessions.into_iter().flatten();
        for (step, message) in history(main).iter().enumerate() {
            log.message(message, step);
            let called = log.turns.iter().rev().take_while(|turn| turn.step == step);
            let subs = called
                .filter(|turn| turn.role == Role::ToolCall && is_agent(turn.tool.as_deref()))
                .count();
            for (name, session) in sessions.by_ref().take(subs) {
                sub_agent(name, session, step, log);
            }
        }
        let last = log.turns.last().map_or(0, |turn| turn.step);
        for (name, session) in sessions {
            sub_agent(name, session, last, log);
        }
        for key in ["summary", "final_boxed_answer", "error"] {
            if let Some(text) = doc
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| log.turns.iter().all(|turn| !turn.text.contains(*text)))
            {
                log.step(last, None);
                log.say_str(Role::Final, None, text);
            }
        }
    }
}

fn is_agent(tool: Option<&str>) -> bool {
    tool.is_some_and(|tool| tool.contains("agent"))
}

/// A sub-agent's run, told where it was called; its turns keep the caller's raw step.
fn sub_agent(name: &str, session: &Value, step: usize, log: &mut Log) {
    log.depth = 1;
    log.agent = Some(name.to_owned());
    if let Some(prompt) = session.get("system_prompt") {
        log.step(step, None);
        log.say(Role::System, None, prompt);
    }
    for message in history(session) {
        log.step(step, None);
        log.message_here(message);
    }
    log.agent = None;
    log.depth = 0;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sub_agents_stand_where_they_were_called() {
        let doc = json!({"main_agent_message_history": {"message_history": [
            {"role": "user", "content": "task"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "agent-browsing", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "found"}]},
            "sub_agent_message_history_sessions": {"agent-browsing_1": {"message_history": [{"role": "assistant", "content": "browsing"}]}},
            "final_boxed_answer": "42"});
        let mut log = Log::default();
        MiroFlow.read(&doc, &mut log);
        let told: Vec<(usize, &str)> = log.turns.iter().map(|turn| (turn.depth, turn.text.as_str())).collect();
        assert_eq!(told, [(0, "task"), (0, "{}"), (1, "browsing"), (0, "found"), (0, "42")]);
        assert_eq!(log.turns[2].step, 1);
    }
}
