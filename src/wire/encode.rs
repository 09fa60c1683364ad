//! A rendered question as a request body, in the dialect that the endpoint accepts.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, JsonMode};
use super::endpoint::{Api, Target};
use crate::prompt::Rendered;

/// What is asked of which model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    /// API spoken.
    pub api: Api,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Reasoning effort word; `None` leaves it to the endpoint.
    pub reasoning_effort: Option<String>,
    /// Further fields of the body, from a profile; they win over ours.
    pub extra: Map<String, Value>,
}

/// What a request held, for reading its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Output limit sent.
    pub limit: Option<u32>,
    /// Output tokens that were wanted.
    pub wanted: u32,
    /// A temperature was sent.
    pub temperature: bool,
    /// A reasoning effort was sent.
    pub reasoning_effort: bool,
    /// A system message was sent.
    pub system_role: bool,
    /// `store` was sent.
    pub store: bool,
    /// Fewest input tokens that any tokenizer could make of the messages ([`fewest_tokens`]).
    pub fewest_tokens: u64,
}

/// A request, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is called.
    pub target: Target,
    /// JSON body.
    pub body: Value,
    /// What it holds.
    pub sent: Sent,
}

/// Builds the request for a rendered question.
#[must_use]
pub fn encode(rendered: &Rendered, dialect: &Dialect, params: &Params) -> Request {
    let limit = dialect.limit_for(rendered.max_output);
    let temperature = params.temperature.filter(|_| dialect.temperature);
    let effort = params.reasoning_effort.as_deref().filter(|_| dialect.reasoning_effort);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(params.model));
    let messages = messages(rendered, dialect);
    let held = json_mode(rendered, dialect.json, params.api);
    match params.api {
        Api::Chat => {
            body.insert("messages".to_owned(), Value::Array(messages));
            if let Some(format) = held {
                body.insert("response_format".to_owned(), format);
            }
            if let Some(effort) = effort {
                body.insert("reasoning_effort".to_owned(), json!(effort));
            }
        }
        Api::Responses => {
            body.insert("input".to_owned(), Value::Array(messages));
            if let Some(format) = held {
                body.insert("text".to_owned(), json!({ "format": format }));
            }
            if let Some(effort) = effort {
                body.insert("reasoning".to_owned(), json!({ "effort": effort }));
            }
            if dialect.store {
                body.insert("store".to_owned(), json!(false));
            }
        }
    }
    if let Some((name, limit)) = dialect.limit.name().zip(limit) {
        body.insert(name.to_owned(), json!(limit));
    }
    if let Some(temperature) = temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    for (name, value) in &params.extra {
        body.insert(name.clone(), value.clone());
    }
    let sent = Sent {
        limit,
        wanted: rendered.max_output,
        temperature: temperature.is_some(),
        reasoning_effort: effort.is_some(),
        system_role: dialect.system_role,
        store: params.api == Api::Responses && dialect.store,
        fewest_tokens: fewest_tokens(&rendered.system)
            + rendered.user.iter().map(|text| fewest_tokens(text)).sum::<u64>(),
    };
    Request {
        target: params.api.target(),
        body: Value::Object(body),
        sent,
    }
}

/// System and user messages. Where the system role is refused, roles must usually alternate too,
/// so everything becomes one user message.
fn messages(rendered: &Rendered, dialect: &Dialect) -> Vec<Value> {
    let mut system = rendered.system.clone();
    if dialect.json == JsonMode::Object && !names_json(rendered) {
        // Endpoints refuse `json_object` when no message has the word.
        system.push_str("\nAnswer in JSON.");
    }
    if dialect.system_role {
        let mut messages = Vec::with_capacity(rendered.user.len() + 1);
        if !system.is_empty() {
            messages.push(json!({ "role": "system", "content": system }));
        }
        messages.extend(
            rendered
                .user
                .iter()
                .map(|text| json!({ "role": "user", "content": text })),
        );
        return messages;
    }
    let parts: Vec<&str> = std::iter::once(system.as_str())
        .chain(rendered.user.iter().map(String::as_str))
        .filter(|part| !part.is_empty())
        .collect();
    vec![json!({ "role": "user", "content": parts.join("\n\n") })]
}

fn names_json(rendered: &Rendered) -> bool {
    std::iter::once(&rendered.system)
        .chain(&rendered.user)
        .any(|text| text.contains("JSON") || text.contains("json"))
}

fn json_mode(rendered: &Rendered, mode: JsonMode, api: Api) -> Option<Value> {
    let strict = mode == JsonMode::SchemaStrict;
    match (mode, api) {
        (JsonMode::Plain, _) => None,
        (JsonMode::Object, _) => Some(json!({ "type": "json_object" })),
        (JsonMode::Schema | JsonMode::SchemaStrict, Api::Responses) => Some(json!({
            "type": "json_schema", "name": rendered.schema_name, "strict": strict, "schema": rendered.schema
        })),
        (JsonMode::SchemaStrict, Api::Chat) => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": rendered.schema_name, "strict": true, "schema": rendered.schema }
        })),
        (JsonMode::Schema, Api::Chat) => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": rendered.schema_name, "schema": rendered.schema }
        })),
    }
}

/// Fewest tokens that any tokenizer could make of a text: runs of white space and of one repeated
/// character are one piece, eight ASCII characters or four others at most make a token. Prose has
/// about twice as many.
#[must_use]
pub fn fewest_tokens(text: &str) -> u64 {
    let mut eighths = 0u64;
    let mut previous = '\0';
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c != previous {
            eighths += if c.is_ascii() { 1 } else { 2 };
        }
        previous = c;
    }
    eighths / 8
}

/// Hash of a question as asked of a model, 64 hex digits. It holds model, parameters and every
/// word of the messages and the schema, and not the dialect: the same question asked again in
/// another dialect is the same question.
#[must_use]
pub fn request_hash(rendered: &Rendered, params: &Params) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &str| {
        // Lengths before parts, so that no two lists of parts run together into one text.
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    part("auditor.request/1");
    part(params.api.word());
    part(&params.model);
    part(&params.temperature.map_or_else(String::new, |t| t.to_string()));
    part(params.reasoning_effort.as_deref().unwrap_or_default());
    part(&Value::Object(params.extra.clone()).to_string());
    part(rendered.stage.word());
    part(&rendered.max_output.to_string());
    part(rendered.schema_name);
    part(&rendered.schema.to_string());
    part(&rendered.system);
    for text in &rendered.user {
        part(text);
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Stage;
    use crate::wire::Endpoint;
    use crate::wire::dialect::LimitField;

    fn rendered() -> Rendered {
        Rendered {
            stage: Stage::Bare,
            system: "You judge.".to_owned(),
            user: vec!["one".to_owned(), "two".to_owned()],
            schema_name: "bare",
            schema: json!({"type": "object"}),
            max_output: 4096,
        }
    }

    fn params(api: Api) -> Params {
        Params {
            api,
            model: "m".to_owned(),
            temperature: Some(0.1),
            reasoning_effort: Some("low".to_owned()),
            ..Params::default()
        }
    }

    fn dialect(api: Api) -> Dialect {
        Dialect::first(api, &Endpoint::parse("http://h.example").unwrap())
    }

    #[test]
    fn chat_carries_every_parameter_and_drops_what_is_refused() {
        let mut d = dialect(Api::Chat);
        let full = encode(&rendered(), &d, &params(Api::Chat));
        assert_eq!(full.body["max_tokens"], 4096);
        assert_eq!(full.body["temperature"], 0.1);
        assert_eq!(full.body["reasoning_effort"], "low");
        assert_eq!(full.body["response_format"]["json_schema"]["strict"], true);
        assert_eq!(full.body["messages"].as_array().unwrap().len(), 3);
        d.temperature = false;
        d.reasoning_effort = false;
        d.json = JsonMode::Schema;
        d.limit = LimitField::MaxCompletionTokens;
        d.output_cap = Some(100);
        d.system_role = false;
        let less = encode(&rendered(), &d, &params(Api::Chat));
        assert_eq!(less.sent.limit, Some(100));
        assert_eq!(
            less.body,
            json!({"model": "m", "messages": [{"role": "user", "content": "You judge.\n\none\n\ntwo"}],
                "response_format": {"type": "json_schema", "json_schema": {"name": "bare", "schema": {"type": "object"}}},
                "max_completion_tokens": 100})
        );
    }

    #[test]
    fn responses_have_their_own_names() {
        let request = encode(&rendered(), &dialect(Api::Responses), &params(Api::Responses));
        assert_eq!(request.target, Target::Responses);
        assert_eq!(request.body["max_output_tokens"], 4096);
        assert_eq!(request.body["text"]["format"]["name"], "bare");
        assert_eq!(request.body["reasoning"]["effort"], "low");
        assert_eq!(request.body["store"], false);
        assert_eq!(request.body["input"][0]["role"], "system");
        assert!(request.body.get("messages").is_none());
    }

    #[test]
    fn json_object_always_comes_with_the_word() {
        let mut d = dialect(Api::Chat);
        d.json = JsonMode::Object;
        let request = encode(&rendered(), &d, &params(Api::Chat));
        assert!(
            request.body["messages"][0]["content"]
                .as_str()
                .unwrap()
                .contains("JSON")
        );
    }

    #[test]
    fn fewest_tokens_stays_below_any_tokenizer() {
        assert_eq!(fewest_tokens(&" ".repeat(1000)), 0);
        assert_eq!(fewest_tokens(&"-".repeat(1000)), 0);
        assert_eq!(fewest_tokens(&"word and ".repeat(800)), 900);
        assert_eq!(fewest_tokens(&"漢字".repeat(400)), 200);
    }

    #[test]
    fn the_hash_tells_prompt_model_and_text_apart_and_nothing_else() {
        let base = request_hash(&rendered(), &params(Api::Chat));
        assert_eq!(base.len(), 64);
        assert_eq!(base, request_hash(&rendered(), &params(Api::Chat)));
        let mut other = rendered();
        other.user = vec!["onetwo".to_owned()];
        assert_ne!(base, request_hash(&other, &params(Api::Chat)));
        let mut model = params(Api::Chat);
        model.model = "n".to_owned();
        assert_ne!(base, request_hash(&rendered(), &model));
    }
}
