//! What an error body says, whoever wrote it.

use serde_json::Value;

use super::clean;
use super::content;

/// Longest message that is passed on, in characters.
const SHOWN: usize = 400;

/// An error, read leniently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fault {
    /// Message for people, on one line.
    pub message: String,
    /// All words that classify: message, upstream text, codes; in lower case.
    pub words: String,
    /// Codes and types, in lower case.
    pub codes: Vec<String>,
    /// Parameters named as the reason, in lower case.
    pub params: Vec<String>,
    /// HTTP status named in the body.
    pub status: Option<u16>,
    /// `n_ctx` of llama.cpp.
    pub window: Option<u64>,
    /// `n_prompt_tokens` of llama.cpp.
    pub needed: Option<u64>,
}

impl Fault {
    /// Reads an error body, JSON or not.
    pub(super) fn of_body(body: &str) -> Self {
        match clean::json(body) {
            Some(value) => Self::of_value(&value),
            None => Self::of_text(body),
        }
    }

    /// Reads an error out of a JSON value: `{error: {…}}`, `{error: "…"}`, `{errors: […]}`,
    /// `{detail: …}`, `{message: …}`, a bare string.
    pub(super) fn of_value(value: &Value) -> Self {
        let mut fault = Self::default();
        match value {
            Value::String(text) => fault.say(text),
            _ => fault.take(value, 0),
        }
        if fault.message.is_empty() {
            fault.message = clean::excerpt(&value.to_string(), SHOWN);
        }
        fault.words = fault.words.to_lowercase();
        fault
    }

    fn of_text(text: &str) -> Self {
        let message = clean::excerpt(text, SHOWN);
        Self {
            words: message.to_lowercase(),
            message,
            ..Self::default()
        }
    }

    /// True when a code is one of these.
    pub(super) fn has_code(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    /// True when the words hold one of these phrases.
    pub(super) fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.words.contains(phrase))
    }

    /// The filter's code, when a code is one.
    pub(super) fn filter_code(&self) -> Option<&str> {
        self.codes
            .iter()
            .map(String::as_str)
            .find(|code| content::is_filter_word(code))
    }

    fn say(&mut self, text: &str) {
        // An upstream error is often passed on as JSON inside a string.
        if text.trim_start().starts_with('{')
            && let Some(inner) = clean::event(text)
        {
            self.take(&inner, 2);
            return;
        }
        if self.message.is_empty() {
            self.message = clean::excerpt(text, SHOWN);
        }
        self.words.push_str(text);
        self.words.push('\n');
    }

    fn take(&mut self, value: &Value, depth: u8) {
        if depth > 8 {
            return;
        }
        let Some(fields) = value.as_object() else {
            match value {
                Value::String(text) => self.say(text),
                Value::Array(items) => items.iter().for_each(|item| self.take(item, depth + 1)),
                _ => {}
            }
            return;
        };
        for name in [
            "error",
            "errors",
            "message",
            "msg",
            "detail",
            "error_description",
            "error_msg",
            "title",
        ] {
            if let Some(inner) = fields.get(name) {
                self.take(inner, depth + 1);
            }
        }
        for name in ["code", "type", "status", "reason", "error_type", "error_code", "@type"] {
            match fields.get(name) {
                Some(Value::String(code)) => self.code(code),
                Some(Value::Number(code)) => self.number(code.as_u64()),
                _ => {}
            }
        }
        if let Some(Value::String(param)) = fields.get("param") {
            self.params.push(param.to_lowercase());
        }
        // FastAPI names the place; its `input` repeats the request and is passed over.
        if let Some(Value::Array(path)) = fields.get("loc") {
            let path: Vec<&str> = path
                .iter()
                .filter_map(Value::as_str)
                .filter(|part| *part != "body")
                .collect();
            self.params.push(path.join(".").to_lowercase());
        }
        let count = |name: &str| fields.get(name).and_then(Value::as_u64);
        self.window = self.window.or(count("n_ctx"));
        self.needed = self.needed.or(count("n_prompt_tokens"));
        for name in [
            "metadata",
            "innererror",
            "details",
            "raw",
            "retryDelay",
            "quotaId",
            "violations",
        ] {
            match fields.get(name) {
                Some(Value::String(text)) if name == "retryDelay" => {
                    self.words.push_str(&format!("retry after {text}\n"));
                }
                Some(Value::String(text)) => self.words.push_str(&format!("{text}\n")),
                Some(inner) => self.take(inner, depth + 1),
                None => {}
            }
        }
    }

    fn code(&mut self, code: &str) {
        if let Ok(number) = code.trim().parse::<u64>() {
            self.number(Some(number));
        }
        self.codes.push(code.trim().to_lowercase());
    }

    fn number(&mut self, number: Option<u64>) {
        let Some(number) = number else { return };
        if (400..600).contains(&number) {
            self.status = self.status.or_else(|| u16::try_from(number).ok());
        }
        self.codes.push(number.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_in_every_shape() {
        for body in [
            r#"{"error":{"message":"No go","type":"t","code":null}}"#,
            r#"{"error":"No go"}"#,
            r#"{"errors":[{"message":"No go"}]}"#,
            r#"{"detail":"No go"}"#,
            r#"{"object":"error","message":"No go","code":400}"#,
            r#"[{"error":{"code":400,"message":"No go","status":"INVALID_ARGUMENT"}}]"#,
            r#""No go""#,
            "No go",
            "<html><body>No go</body></html>",
            r#"{"error":"{\"error\":{\"message\":\"No go\"}}"}"#,
        ] {
            assert_eq!(Fault::of_body(body).message, "No go", "{body}");
        }
        assert_eq!(Fault::of_body("").message, "");
        assert_eq!(Fault::of_body("{}").message, "{}");
    }

    #[test]
    fn codes_params_and_upstream_words_are_kept() {
        let fault = Fault::of_body(
            r#"{"error":{"message":"Provider returned error","code":"429","metadata":{"raw":"{\"x\":\"Prompt is too long\"}"}}}"#,
        );
        assert_eq!(fault.status, Some(429));
        assert!(fault.says(&["prompt is too long"]));
        let fault = Fault::of_body(
            r#"{"detail":[{"type":"literal_error","loc":["body","response_format","type"],"msg":"Input should be 'text'","input":"temperature"}]}"#,
        );
        assert_eq!(fault.params, ["response_format.type"]);
        assert!(!fault.says(&["temperature"]));
        let fault = Fault::of_body(
            r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
        );
        assert_eq!((fault.window, fault.needed), (Some(4096), Some(5000)));
    }
}
