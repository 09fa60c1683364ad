//! The text, reasoning and usage of a reply in any of its shapes.

use serde_json::Value;

use super::usage::Usage;

/// Why a reply ended, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// By itself, or unsaid.
    Done,
    /// At the output limit.
    Length,
    /// At the end of the model's window.
    Window,
    /// By a filter; the provider's word.
    Filtered(String),
    /// By an error of the provider.
    Error,
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub text: String,
    pub reasoning: String,
    pub refusal: String,
    pub finish: Finish,
}

/// Reads a reply: a chat completion, a response, or the native shape of Ollama. `None` when the
/// value has none of these shapes.
pub(super) fn read(value: &Value) -> Option<Content> {
    if is_response(value) {
        return Some(read_response(value));
    }
    let choice = match value.get("choices").and_then(Value::as_array) {
        Some(choices) => choices.first().unwrap_or(&Value::Null),
        None if value.get("message").is_some_and(Value::is_object) => value,
        None => return None,
    };
    let message = choice.get("message").or_else(|| choice.get("delta")).unwrap_or(choice);
    let mut content = Content {
        text: String::new(),
        reasoning: String::new(),
        refusal: message
            .get("refusal")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        finish: Finish::Done,
    };
    let body = message
        .get("content")
        .filter(|body| !body.is_null())
        .or_else(|| choice.get("text"));
    take_parts(body, &mut content);
    for name in ["reasoning_content", "reasoning", "thinking"] {
        if content.reasoning.is_empty() {
            content.reasoning = flat_text(message.get(name));
        }
    }
    let native = choice.get("native_finish_reason");
    let finish = choice.get("finish_reason").or_else(|| choice.get("done_reason"));
    content.finish = finish_of(finish.and_then(Value::as_str).unwrap_or_default());
    if content.finish == Finish::Done {
        let native = finish_of(native.and_then(Value::as_str).unwrap_or_default());
        // OpenRouter's plain word may hide the provider's own.
        if matches!(native, Finish::Filtered(_) | Finish::Window) {
            content.finish = native;
        }
    }
    if choice.get("error").is_some_and(|error| !error.is_null()) {
        content.finish = Finish::Error;
    }
    Some(content)
}

fn is_response(value: &Value) -> bool {
    const STATES: [&str; 6] = [
        "completed",
        "incomplete",
        "failed",
        "cancelled",
        "in_progress",
        "queued",
    ];
    value.get("object").and_then(Value::as_str) == Some("response")
        || value.get("output").is_some_and(Value::is_array)
        || (value.get("choices").is_none()
            && value
                .get("status")
                .and_then(Value::as_str)
                .is_some_and(|status| STATES.contains(&status)))
}

fn read_response(value: &Value) -> Content {
    let mut content = Content {
        text: String::new(),
        reasoning: String::new(),
        refusal: String::new(),
        finish: Finish::Done,
    };
    for item in value.get("output").and_then(Value::as_array).into_iter().flatten() {
        match item.get("type").and_then(Value::as_str) {
            Some("reasoning") => {
                for name in ["summary", "content"] {
                    content.reasoning.push_str(&flat_text(item.get(name)));
                }
            }
            Some("message") | None => take_parts(item.get("content"), &mut content),
            Some(_) => {}
        }
    }
    if content.text.is_empty() {
        content.text = flat_text(value.get("output_text"));
    }
    let reason = value
        .get("incomplete_details")
        .and_then(|details| details.get("reason"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    content.finish = match value.get("status").and_then(Value::as_str) {
        // A reason that is not told is taken for the usual one.
        Some("incomplete") => match finish_of(reason) {
            Finish::Done => Finish::Length,
            other => other,
        },
        Some("failed" | "cancelled" | "in_progress" | "queued") => Finish::Error,
        _ => Finish::Done,
    };
    content
}

/// Content as a string, or as parts of which some are text, some reasoning, some a refusal.
fn take_parts(body: Option<&Value>, content: &mut Content) {
    match body {
        Some(Value::String(text)) => content.text.push_str(text),
        Some(Value::Array(parts)) => {
            for part in parts {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
                if kind.contains("refusal") {
                    content
                        .refusal
                        .push_str(&flat_text(part.get("refusal").or_else(|| part.get("text"))));
                } else if kind.contains("think") || kind.contains("reason") {
                    content.reasoning.push_str(&flat_text(Some(part)));
                } else {
                    content.text.push_str(&flat_text(Some(part)));
                }
            }
        }
        Some(part @ Value::Object(_)) => content.text.push_str(&flat_text(Some(part))),
        _ => {}
    }
}

/// All text of a value: a string, a part with `text`, `thinking` or `content`, or a list of such.
fn flat_text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().map(|item| flat_text(Some(item))).collect(),
        Some(Value::Object(fields)) => {
            let inner = ["text", "thinking", "reasoning", "summary", "content", "value"];
            inner
                .iter()
                .find_map(|name| fields.get(*name).filter(|inner| !inner.is_null()))
                .map_or_else(String::new, |inner| flat_text(Some(inner)))
        }
        _ => String::new(),
    }
}

/// The finish words of the providers: OpenAI, Anthropic (`max_tokens`, `refusal`,
/// `model_context_window_exceeded`), Gemini (upper case), z.ai (`sensitive`), Mistral (`model_length`).
fn finish_of(word: &str) -> Finish {
    match word.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "max_output_tokens" | "max_completion_tokens" | "model_length" => Finish::Length,
        "model_context_window_exceeded" | "context_length_exceeded" => Finish::Window,
        "error" | "network_error" | "failed" => Finish::Error,
        low if is_filter_word(low) => Finish::Filtered(word.to_owned()),
        _ => Finish::Done,
    }
}

/// Words by which a filter is named as the end of a reply or as an error's code.
pub(super) fn is_filter_word(low: &str) -> bool {
    const WORDS: [&str; 14] = [
        "content_filter",
        "contentfilter",
        "content_policy",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "datainspectionfailed",
        "prohibited_content",
        "guardrail_intervened",
        "moderation_blocked",
        "content_blocked",
        "image_safety",
        "invalid_prompt",
        "usage_policy",
        "content_moderation",
    ];
    matches!(
        low,
        "safety" | "recitation" | "blocklist" | "spii" | "sensitive" | "refusal" | "moderation" | "cyber_policy"
    ) || WORDS.iter().any(|word| low.contains(word))
}

/// What a reply says about its use, and the dollars when the provider names them.
pub(super) fn usage(value: &Value) -> (Usage, Option<f64>) {
    let nested = value
        .get("usage")
        .filter(|usage| usage.is_object())
        .or_else(|| value.get("usageMetadata"))
        .unwrap_or(value);
    let first = |names: &[&str]| names.iter().find_map(|name| count(nested.pointer(name)));
    let mut input = first(&[
        "/prompt_tokens",
        "/input_tokens",
        "/promptTokenCount",
        "/prompt_eval_count",
    ])
    .unwrap_or(0);
    let said_output = first(&[
        "/completion_tokens",
        "/output_tokens",
        "/candidatesTokenCount",
        "/eval_count",
    ])
    .unwrap_or(0);
    let cache_read = first(&["/cache_read_input_tokens"]);
    // Anthropic's own field leaves out what the cache gave and took.
    if let Some(read) = cache_read.filter(|_| nested.get("prompt_tokens").is_none()) {
        input += read + first(&["/cache_creation_input_tokens"]).unwrap_or(0);
    }
    let cached = first(&[
        "/prompt_tokens_details/cached_tokens",
        "/input_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
        "/cachedContentTokenCount",
    ])
    .or(cache_read)
    .unwrap_or(0);
    let said_reasoning = first(&[
        "/completion_tokens_details/reasoning_tokens",
        "/output_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
        "/thoughtsTokenCount",
    ])
    .unwrap_or(0);
    let said_total = first(&["/total_tokens", "/totalTokenCount"]).unwrap_or(0);
    // Gemini and xAI leave reasoning out of the output and count it only in the total.
    let hidden = said_total.saturating_sub(input + said_output);
    let output = said_output + hidden;
    let usage = Usage {
        calls: 1,
        input_tokens: input,
        cached_tokens: cached.min(input),
        output_tokens: output,
        reasoning_tokens: said_reasoning.max(hidden).min(output),
        total_tokens: input + output,
        cost_usd: None,
        ms: 0,
    };
    let cost = nested
        .get("cost")
        .and_then(Value::as_f64)
        .filter(|cost| cost.is_finite() && *cost >= 0.0);
    (usage, cost)
}

/// A count however it is written; nonsense is none.
fn count(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range by the filter before it"
    )]
    Some(number).filter(|n| (0.0..1e15).contains(n)).map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_found_in_every_shape() {
        for value in [
            json!({"choices":[{"message":{"content":"hi"}}]}),
            json!({"choices":[{"message":{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}}]}),
            json!({"choices":[{"message":{"content":{"type":"text","text":{"value":"hi"}}}}]}),
            json!({"choices":[{"text":"hi"}]}),
            json!({"model":"x","message":{"role":"assistant","content":"hi"},"done_reason":"stop"}),
            json!({"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}),
            json!({"object":"response","status":"completed","output_text":"hi"}),
        ] {
            assert_eq!(read(&value).unwrap().text, "hi", "{value}");
        }
        assert_eq!(read(&json!({"foo": 1})), None);
        assert_eq!(read(&json!({"choices": null})), None);
    }

    #[test]
    fn reasoning_and_refusals_stay_apart_from_the_text() {
        let value = json!({"choices":[{"message":{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"}]}}]});
        let content = read(&value).unwrap();
        assert_eq!((content.text.as_str(), content.reasoning.as_str()), ("a", "t"));
        let value = json!({"choices":[{"message":{"content":null,"reasoning":"r","refusal":"no"}}]});
        let content = read(&value).unwrap();
        assert_eq!(
            (
                content.text.as_str(),
                content.reasoning.as_str(),
                content.refusal.as_str()
            ),
            ("", "r", "no")
        );
        let value = json!({"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},
            {"type":"message","content":[{"type":"refusal","refusal":"no"}]}]});
        let content = read(&value).unwrap();
        assert_eq!((content.reasoning.as_str(), content.refusal.as_str()), ("s", "no"));
    }

    #[test]
    fn finish_words_of_all_providers() {
        let finish = |word: &str| {
            read(&json!({"choices":[{"message":{"content":""},"finish_reason":word}]}))
                .unwrap()
                .finish
        };
        assert_eq!(finish("length"), Finish::Length);
        assert_eq!(finish("MAX_TOKENS"), Finish::Length);
        assert_eq!(finish("stop"), Finish::Done);
        assert_eq!(finish(""), Finish::Done);
        assert_eq!(finish("error"), Finish::Error);
        assert_eq!(finish("model_context_window_exceeded"), Finish::Window);
        for word in [
            "content_filter",
            "SAFETY",
            "content_filter: PROHIBITED_CONTENT",
            "sensitive",
            "refusal",
        ] {
            assert_eq!(finish(word), Finish::Filtered(word.to_owned()));
        }
        let native =
            json!({"choices":[{"message":{"content":""},"finish_reason":"stop","native_finish_reason":"SAFETY"}]});
        assert_eq!(read(&native).unwrap().finish, Finish::Filtered("SAFETY".to_owned()));
    }

    #[test]
    fn usage_in_all_spellings() {
        let tokens = |value: Value| {
            let u = usage(&json!({ "usage": value })).0;
            (
                u.input_tokens,
                u.cached_tokens,
                u.output_tokens,
                u.reasoning_tokens,
                u.total_tokens,
            )
        };
        assert_eq!(
            tokens(
                json!({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}})
            ),
            (10, 4, 5, 3, 15)
        );
        assert_eq!(
            tokens(
                json!({"input_tokens":10,"output_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":3}})
            ),
            (10, 4, 5, 3, 15)
        );
        assert_eq!(
            tokens(json!({"prompt_tokens":10,"prompt_cache_hit_tokens":8,"completion_tokens":5})),
            (10, 8, 5, 0, 15)
        );
        assert_eq!(
            tokens(json!({"prompt_tokens":10,"completion_tokens":5,"total_tokens":40})),
            (10, 0, 30, 25, 40)
        );
        assert_eq!(
            tokens(json!({"input_tokens":2,"cache_read_input_tokens":8,"output_tokens":1})),
            (10, 8, 1, 0, 11)
        );
        assert_eq!(
            tokens(json!({"prompt_tokens":-1,"completion_tokens":null,"total_tokens":"7"})),
            (0, 0, 7, 7, 7)
        );
        assert_eq!(
            tokens(json!({"prompt_tokens":3.0,"completion_tokens":"2"})),
            (3, 0, 2, 0, 5)
        );
        let ollama = usage(&json!({"prompt_eval_count":26,"eval_count":7})).0;
        assert_eq!((ollama.input_tokens, ollama.output_tokens), (26, 7));
        assert_eq!(usage(&json!({"usage":{"cost":0.25}})).1, Some(0.25));
    }
}
