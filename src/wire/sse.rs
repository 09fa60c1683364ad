//! Event streams that come although none was asked for, put together into one reply.

use serde_json::{Map, Value, json};

use super::clean;

/// True when a body is an event stream.
pub(super) fn is_stream(body: &str) -> bool {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    lines.find(|line| !line.starts_with(':')).is_some_and(|line| {
        ["data:", "event:", "id:", "retry:"]
            .iter()
            .any(|field| line.starts_with(field))
    })
}

/// The reply that a stream amounts to: the shape of a chat completion or of a response. A stream
/// that ends before its reply does becomes an error that is worth another try.
pub(super) fn assemble(body: &str) -> Option<Value> {
    let mut parts = Parts::default();
    let mut data = String::new();
    for line in body.lines().chain(std::iter::once("")) {
        if line.trim().is_empty() {
            if !data.is_empty() {
                if let Some(whole) = parts.take(&data) {
                    return Some(whole);
                }
                data.clear();
            }
        } else if let Some(more) = line.strip_prefix("data:") {
            // Some servers leave out the empty line between events, each of which is whole on its line.
            if !data.is_empty()
                && clean::event(&data).is_some()
                && let Some(whole) = parts.take(&std::mem::take(&mut data))
            {
                return Some(whole);
            }
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
        }
    }
    parts.finish()
}

#[derive(Default)]
struct Parts {
    seen: bool,
    done: bool,
    content: String,
    reasoning: String,
    refusal: String,
    finish: Option<Value>,
    usage: Option<Value>,
    output: String,
}

impl Parts {
    /// Takes one event; gives a reply when the event ends the stream with a whole one.
    fn take(&mut self, data: &str) -> Option<Value> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return None;
        }
        let event = clean::event(data)?;
        self.seen = true;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Some(event);
        }
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_text.delta") => {
                self.output
                    .push_str(event.get("delta").and_then(Value::as_str).unwrap_or_default());
                return None;
            }
            Some("response.completed" | "response.incomplete" | "response.failed" | "response.done") => {
                return event.get("response").map(|response| self.with_output(response));
            }
            Some("error") => return Some(json!({ "error": event })),
            Some(kind) if kind.starts_with("response.") => return None,
            _ => {}
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let choice = event.get("choices").and_then(|choices| choices.get(0))?;
        if choice.get("message").is_some() {
            return Some(event.clone());
        }
        if let Some(delta) = choice.get("delta") {
            let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
            self.content.push_str(text("content"));
            self.refusal.push_str(text("refusal"));
            let reasoning = text("reasoning_content");
            self.reasoning.push_str(if reasoning.is_empty() {
                text("reasoning")
            } else {
                reasoning
            });
        }
        if let Some(finish) = choice.get("finish_reason").filter(|finish| !finish.is_null()) {
            self.finish = Some(finish.clone());
        }
        None
    }

    /// A final event that does not repeat the text gets it from the pieces.
    fn with_output(&self, response: &Value) -> Value {
        let mut response = response.clone();
        let empty = response
            .get("output")
            .is_none_or(|output| output.as_array().is_none_or(Vec::is_empty));
        if empty
            && !self.output.is_empty()
            && let Some(fields) = response.as_object_mut()
        {
            fields.insert(
                "output".to_owned(),
                json!([{ "type": "message", "content": [{ "type": "output_text", "text": self.output }] }]),
            );
        }
        response
    }

    fn finish(self) -> Option<Value> {
        if !self.seen {
            return None;
        }
        if self.finish.is_none() && !self.done {
            return Some(json!({ "error": { "message": "the stream ended before the reply did", "code": 502 } }));
        }
        let mut message = Map::new();
        message.insert("content".to_owned(), json!(self.content));
        if !self.reasoning.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(self.reasoning));
        }
        if !self.refusal.is_empty() {
            message.insert("refusal".to_owned(), json!(self.refusal));
        }
        Some(json!({
            "choices": [{ "message": message, "finish_reason": self.finish }],
            "usage": self.usage,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_chunks_become_one_reply() {
        let body = ": ping\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"he\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"llo\",\"reasoning\":\"r\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
        assert!(is_stream(body));
        let reply = assemble(body).unwrap();
        assert_eq!(reply["choices"][0]["message"]["content"], "hello");
        assert_eq!(reply["choices"][0]["message"]["reasoning_content"], "r");
        assert_eq!(reply["usage"]["prompt_tokens"], 3);
    }

    #[test]
    fn a_stream_that_stops_early_is_an_error() {
        let reply = assemble("data: {\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\n").unwrap();
        assert_eq!(reply["error"]["code"], 502);
        let reply =
            assemble("data: {\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\ndata: {\"error\":{\"code\":429}}\n\n");
        assert_eq!(reply.unwrap()["error"]["code"], 429);
    }

    #[test]
    fn one_whole_completion_in_a_stream_is_taken_as_it_is() {
        let reply = assemble("data: {\"choices\":[{\"message\":{\"content\":\"x\"}}]}\ndata: [DONE]\n").unwrap();
        assert_eq!(reply["choices"][0]["message"]["content"], "x");
    }

    #[test]
    fn response_events_end_in_their_last_one() {
        let body = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"{\\\"a\"}\n\nevent: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"usage\":{\"input_tokens\":9}}}\n\n";
        let reply = assemble(body).unwrap();
        assert_eq!(reply["status"], "incomplete");
        assert_eq!(reply["output"][0]["content"][0]["text"], "{\"a");
        assert_eq!(
            assemble("event: response.created\ndata: {\"type\":\"response.created\"}\n\n").unwrap()["error"]["code"],
            502
        );
    }
}
