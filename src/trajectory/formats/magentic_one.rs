//! AutoGen's Magentic-One: an orchestrator's ledgers between the agents' turns.

use serde_json::Value;

use super::log::{Events, Format, Log, id_of, question_of, str_of};
use super::shape::messages_of;

/// `{"history": [{"role": "Orchestrator (thought)", "content"}]}`, the bare list, or the
/// console log with an event a line.
pub(crate) struct MagenticOne;

fn is_orchestrator(name: &str) -> bool {
    name.starts_with("Orchestrator") || name.contains("(thought)") || name.contains("(-> ")
}

impl Format for MagenticOne {
    fn name(&self) -> &'static str {
        "magentic-one"
    }
    fn about(&self) -> &'static str {
        "AutoGen Magentic-One: history of {role, content} with Orchestrator ledgers, or its event log"
    }
    fn score(&self, doc: &Value) -> u8 {
        let list = messages_of(doc, &["history", "messages"]).unwrap_or_default();
        let own = list
            .iter()
            .take(60)
            .any(|message| str_of(message, "role").is_some_and(is_orchestrator));
        if own { 95 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        log.messages(messages_of(doc, &["history", "messages"]).unwrap_or_default());
    }
    fn line_score(&self, line: &Value) -> u8 {
        let kind = str_of(line, "type").unwrap_or_default();
        let spoken = line.get("source").is_some() && line.get("message").is_some();
        if spoken && (kind.ends_with("Event") || str_of(line, "source").is_some_and(is_orchestrator)) {
            92
        } else {
            0
        }
    }
    fn events(&self) -> Option<Box<dyn Events>> {
        Some(Box::new(Console))
    }
}

struct Console;

impl Events for Console {
    fn event(&mut self, event: &Value, step: usize, log: &mut Log) {
        if event.get("source").is_some() {
            log.message(event, step);
        }
    }
}
