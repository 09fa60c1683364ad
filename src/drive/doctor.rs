//! One cheap call to an endpoint, to see whether and how it works.

use serde::Serialize;
use serde_json::json;

use super::caller::{Called, Caller, Reply};
use crate::audit::{Cause, CauseKind};
use crate::prompt::Rendered;
use crate::trajectory::Stage;
use crate::wire::{Api, Dialect, JsonMode, Target, Usage, model_names, model_window};

/// Output tokens allowed to the test question: a reasoning model thinks before its two words.
const MAX_OUTPUT: u32 = 1024;

/// What a check of an endpoint found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// URL called, without secrets.
    pub url: String,
    /// Model asked for.
    pub model: String,
    /// API spoken.
    pub api: Api,
    /// Variable that supplied the key; `None` when none was sent.
    pub key_from: Option<String>,
    /// The call ended with the JSON that was asked for.
    pub ok: bool,
    /// Dialect found.
    pub dialect: Dialect,
    /// JSON mode found to work; `None` when the call failed.
    pub json_mode: Option<JsonMode>,
    /// What was given up on the way.
    pub steps: Vec<String>,
    /// Window in tokens, when the endpoint tells it.
    pub window: Option<u64>,
    /// Models offered, when the endpoint lists them.
    pub models: Option<Vec<String>>,
    /// Milliseconds of a request, on average.
    pub latency_ms: u64,
    /// What the check used.
    pub usage: Usage,
    /// Why it failed.
    pub cause: Option<Cause>,
    /// What to do.
    pub advice: Vec<String>,
}

/// Checks an endpoint: lists its models, if it does, and asks one question.
pub async fn diagnose(caller: &Caller) -> Diagnosis {
    let params = &caller.settings().params;
    let list = match caller.client().get(Target::Models).await {
        Ok(exchange) if exchange.status == 200 => serde_json::from_str(&exchange.body).ok(),
        _ => None,
    };
    let called = caller.call(&question(), None, &|_| true).await;
    let models = list.as_ref().map(model_names);
    let cause = cause_of(&called);
    let json = json_said(&called);
    let ok = cause.is_none() && json;
    Diagnosis {
        url: caller.client().endpoint().shown(params.api.target()),
        model: params.model.clone(),
        api: params.api,
        key_from: caller.client().key_from().map(str::to_owned),
        ok,
        dialect: caller.dialect(),
        json_mode: ok.then(|| caller.dialect().json),
        steps: caller.steps(),
        window: list.as_ref().and_then(|list| model_window(list, &params.model)),
        advice: advice(caller, &called, cause.as_ref(), json, models.as_deref()),
        models,
        latency_ms: called.usage.ms / u64::from(called.attempts.max(1)),
        usage: called.usage,
        cause,
    }
}

fn question() -> Rendered {
    Rendered {
        stage: Stage::Bare,
        system: "You check a connection. Answer with one JSON object only.".to_owned(),
        user: vec!["Answer with the JSON object {\"ok\": true} and nothing else.".to_owned()],
        schema_name: "connection_check",
        schema: json!({
            "type": "object",
            "properties": { "ok": { "type": "boolean" } },
            "required": ["ok"],
            "additionalProperties": false
        }),
        max_output: MAX_OUTPUT,
    }
}

fn json_said(called: &Called) -> bool {
    let text = called.text.trim();
    let from = text.find('{').unwrap_or(text.len());
    let to = text.rfind('}').map_or(from, |at| at + 1);
    text.get(from..to).is_some_and(|object| {
        serde_json::from_str::<serde_json::Value>(object).is_ok_and(|value| value.get("ok").is_some())
    })
}

fn cause_of(called: &Called) -> Option<Cause> {
    match &called.reply {
        Reply::Text { .. } => None,
        Reply::Empty => Some(Cause::new(CauseKind::Empty, "the reply has empty content")),
        Reply::Truncated { limit } => {
            let mut cause = Cause::new(CauseKind::Truncated, format!("cut at {limit} output tokens"));
            cause.limit = Some(u64::from(*limit));
            Some(cause)
        }
        Reply::Overflow { limit, needed } => {
            let mut cause = Cause::new(
                CauseKind::ContextOverflow,
                "a question of a few words does not fit the window",
            );
            cause.limit = *limit;
            cause.needed = *needed;
            Some(cause)
        }
        Reply::Refused { code } => Some(Cause::new(CauseKind::Refused, code.clone())),
        Reply::GaveUp(cause) => Some(cause.clone()),
    }
}

fn advice(
    caller: &Caller,
    called: &Called,
    cause: Option<&Cause>,
    json: bool,
    models: Option<&[String]>,
) -> Vec<String> {
    let params = &caller.settings().params;
    let mut advice = Vec::new();
    if let Some(models) = models.filter(|models| !models.is_empty())
        && !models
            .iter()
            .any(|name| *name == params.model || name.strip_prefix("models/") == Some(params.model.as_str()))
    {
        let some: Vec<&str> = models.iter().take(8).map(String::as_str).collect();
        advice.push(format!(
            "the endpoint does not list \"{}\"; it offers {}",
            params.model,
            some.join(", ")
        ));
    }
    match cause.map(|cause| cause.kind) {
        None if !json => advice.push("it answers, but not in JSON: expect unreadable replies from this model".to_owned()),
        None => {}
        Some(CauseKind::Auth) => advice.push(match caller.client().key_from() {
            Some(name) => format!("check the key in {name}: is it whole, in force, and of this provider?"),
            None => "this endpoint wants a key: set OPENAI_API_KEY".to_owned(),
        }),
        Some(CauseKind::Quota) => advice.push("top the account up, or use another key".to_owned()),
        Some(CauseKind::RateLimited) => advice.push("wait, or run with fewer workers (-j)".to_owned()),
        Some(CauseKind::Timeout) => advice.push("is the model loaded? Give it more time with --timeout".to_owned()),
        Some(CauseKind::Connection) => advice.push(
            "is the server running and the port right? Behind a proxy set HTTPS_PROXY, with an authority of your own SSL_CERT_FILE"
                .to_owned(),
        ),
        Some(CauseKind::Truncated | CauseKind::Empty) => {
            advice.push("the model spends its output on reasoning: raise --max-output or lower its effort".to_owned());
        }
        Some(_) if called.usage.calls > 0 => {
            advice.push(format!("check --base-url and --model; {}", caller.client().endpoint().other_form()));
        }
        Some(_) => {}
    }
    advice
}
