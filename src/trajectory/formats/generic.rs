//! Any list of texts, with or without speakers.

use serde_json::Value;

use super::log::{Format, Log, id_of, question_of};
use super::shape::{Shape, messages_of};
use crate::trajectory::turns::Role;

/// `[{role | name | source, content}]` under any name, and the last resort for unknown JSON.
pub(crate) struct Generic;

/// Fields that hold a list of messages in logs of unknown make.
const FIELDS: [&str; 16] = [
    "messages",
    "history",
    "chat_history",
    "conversation",
    "conversations",
    "message_history",
    "dialog",
    "dialogue",
    "turns",
    "trajectory",
    "traj",
    "steps",
    "events",
    "log",
    "logs",
    "transcript",
];

impl Format for Generic {
    fn name(&self) -> &'static str {
        "generic"
    }
    fn about(&self) -> &'static str {
        "any list of {role | name | source, content}; also the fallback for unknown JSON with a list of texts"
    }
    fn score(&self, doc: &Value) -> u8 {
        match messages_of(doc, &FIELDS) {
            Some(list) if Shape::of(list).share(Shape::of(list).spoken) >= 70 => 40,
            _ if texts_in(doc, 0).is_some() => 10,
            _ => 0,
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        let known = messages_of(doc, &FIELDS).filter(|list| Shape::of(list).share(Shape::of(list).spoken) >= 70);
        if let Some(list) = known {
            log.messages(list);
            return;
        }
        log.notes.push("unknown JSON, read as a plain list of texts".to_owned());
        for (step, element) in texts_in(doc, 0).unwrap_or_default().iter().enumerate() {
            log.step(step, None);
            match element {
                Value::Object(fields) => {
                    let before = log.turns.len();
                    log.message_here(element);
                    let rest = fields.iter().filter(|(key, _)| !READ.contains(&key.as_str()));
                    let others: Vec<String> = rest.filter_map(|(key, value)| labelled(key, value)).collect();
                    let role = log.turns.get(before).map_or(Role::Agent, |turn| turn.role);
                    log.say_str(role, None, &others.join("\n"));
                }
                other => log.say(Role::Agent, None, other),
            }
        }
    }
}

/// Fields that reading a message has used.
const READ: [&str; 12] = [
    "role",
    "name",
    "source",
    "from",
    "type",
    "content",
    "text",
    "message",
    "value",
    "id",
    "timestamp",
    "tool_calls",
];

fn labelled(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(format!("{key}: {text}")),
        Value::Object(_) | Value::Array(_) => Some(format!("{key}: {value}")),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The longest list, down to four levels, whose elements are texts or objects that hold texts.
fn texts_in(value: &Value, depth: usize) -> Option<&[Value]> {
    if depth > 4 {
        return None;
    }
    let own = value.as_array().filter(|list| {
        let texts = list.iter().filter(|element| holds_text(element)).count();
        texts >= 2 && texts * 2 > list.len()
    });
    if let Some(list) = own {
        return Some(list);
    }
    let children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(list) => Box::new(list.iter().take(50)),
        Value::Object(fields) => Box::new(fields.values()),
        _ => return None,
    };
    children
        .filter_map(|child| texts_in(child, depth + 1))
        .max_by_key(|list| list.len())
}

fn holds_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(char::is_whitespace),
        Value::Object(fields) => fields
            .values()
            .any(|field| field.as_str().is_some_and(|text| text.contains(char::is_whitespace))),
        _ => false,
    }
}
