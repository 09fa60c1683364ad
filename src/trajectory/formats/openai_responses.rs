//! Items of the OpenAI Responses API.

use serde_json::Value;

use super::log::{Format, Log, id_of, list_of, question_of, str_of};
use crate::trajectory::turns::Role;

/// `{"object": "response", "input", "output": [items]}` or a list of items.
pub(crate) struct OpenAiResponses;

impl Format for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }
    fn about(&self) -> &'static str {
        "OpenAI Responses items: function_call, function_call_output, reasoning, message"
    }
    fn score(&self, doc: &Value) -> u8 {
        if str_of(doc, "object") == Some("response") {
            return 95;
        }
        let lists = [
            doc.as_array().map(Vec::as_slice),
            list_of(doc, "output"),
            list_of(doc, "input"),
            list_of(doc, "items"),
        ];
        let own = lists.into_iter().flatten().flatten().take(200).any(is_own_item);
        if own { 90 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        let mut step = 0;
        if let Some(instructions) = doc.get("instructions") {
            log.step(step, None);
            log.say(Role::System, None, instructions);
        }
        for part in [Some(doc), doc.get("input"), doc.get("output"), doc.get("items")]
            .into_iter()
            .flatten()
        {
            match part {
                Value::String(text) => {
                    log.step(step, None);
                    log.say_str(Role::User, None, text);
                    step += 1;
                }
                Value::Array(items) => {
                    for each in items {
                        log.step(step, each.get("timestamp"));
                        item(each, log);
                        step += 1;
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_own_item(item: &Value) -> bool {
    let kind = str_of(item, "type").unwrap_or_default();
    matches!(
        kind,
        "function_call" | "function_call_output" | "reasoning" | "custom_tool_call" | "computer_call"
    ) || kind.ends_with("_search_call") && item.get("role").is_none()
}

/// One item, into the current step.
pub(crate) fn item(item: &Value, log: &mut Log) {
    let kind = str_of(item, "type").unwrap_or_default();
    let id = str_of(item, "call_id").or_else(|| str_of(item, "id"));
    match kind {
        "message" | "" => log.message_here(item),
        "reasoning" => {
            for key in ["summary", "content", "text"] {
                for part in blocks(item.get(key)) {
                    log.say(Role::Thinking, None, part.get("text").unwrap_or(part));
                }
            }
        }
        "function_call" | "custom_tool_call" | "mcp_call" => {
            let arguments = item.get("arguments").or_else(|| item.get("input"));
            log.call(
                None,
                str_of(item, "name").unwrap_or("tool"),
                id,
                arguments.unwrap_or(&Value::Null),
            );
            if let Some(output) = item.get("output").filter(|output| !output.is_null()) {
                log.result(None, None, id, output);
            }
        }
        _ if kind.ends_with("_output") => log.result(None, None, id, item.get("output").unwrap_or(item)),
        _ if kind.ends_with("_call") => {
            let action = ["action", "queries", "query", "code", "input"]
                .iter()
                .find_map(|key| item.get(*key));
            log.call(None, kind.trim_end_matches("_call"), id, action.unwrap_or(item));
            for key in ["results", "outputs", "result"] {
                if let Some(found) = item.get(key).filter(|found| !found.is_null()) {
                    log.result(None, None, id, found);
                }
            }
        }
        _ => log.say(Role::System, None, item),
    }
}

fn blocks(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(list)) => list,
        Some(Value::Null) | None => &[],
        Some(one) => std::slice::from_ref(one),
    }
}
