//! Any OpenAI-compatible endpoint, however unruly: the user reads what happened and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use auditor::audit::{Answer, Ask, AskId, BareQuestion, Cause, CauseKind, Method, Question, RunView, UserKnows};
use auditor::drive::{ApiKey, CallSettings, Caller, ChatJudge, Client, Judge as _, Judged, Memory, Reply, diagnose};
use auditor::prompt::Rendered;
use auditor::reply::{BareReply, StageReply};
use auditor::trajectory::{Span, Stage, Trajectory, WarningCode};
use auditor::wire::{Api, Endpoint, JsonMode, Params, Price, RetryPolicy};
use serde_json::{Value, json};

use super::stub::{Act, Answer as Http, Stub, answer, completion};

pub const VERDICT: &str = r#"{"error_span_ids":["s2"],"earliest_harmful_span_id":"s2"}"#;

pub fn good() -> Act {
    answer(200, &completion(VERDICT, "stop"))
}

pub fn error(status: u16, message: &str) -> Act {
    answer(
        status,
        &json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}),
    )
}

fn with_content(message: Value) -> Act {
    let mut body = completion("", "stop");
    body["choices"][0]["message"] = message;
    answer(200, &body)
}

/// A policy that a test has time for.
fn quick() -> RetryPolicy {
    RetryPolicy {
        retries: 3,
        base: Duration::from_millis(2),
        cap: Duration::from_millis(10),
        ceiling: Duration::from_secs(5),
    }
}

pub fn settings(api: Api) -> CallSettings {
    let mut settings = CallSettings::new(Params {
        api,
        model: "test-model".to_owned(),
        temperature: Some(0.1),
        ..Params::default()
    });
    settings.retry = quick();
    settings.attempt = Duration::from_secs(20);
    settings
}

pub fn caller(base: &str, key: &str, settings: CallSettings, memory: &Memory) -> Caller {
    let key = ApiKey::new(key, "OPENAI_API_KEY");
    let client = Client::new(Endpoint::parse(base).unwrap(), key.as_ref(), settings.attempt).unwrap();
    Caller::new(client, settings, memory)
}

pub fn judge(caller: Caller) -> ChatJudge {
    let render = |ask: &Ask| {
        Ok(Rendered {
            stage: ask.id.stage,
            system: "Judge the run. Answer in JSON.".to_owned(),
            user: vec![ask.id.case_id.clone()],
            schema_name: "bare",
            schema: json!({"type": "object"}),
            max_output: ask.max_output,
        })
    };
    let read = |_: &AskId, text: &str| {
        let reply: BareReply = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok((StageReply::Bare(reply), Vec::new()))
    };
    ChatJudge::new(caller, Arc::new(render), Arc::new(read))
}

pub fn ask(input: u64) -> Ask {
    let case_id = format!("run-{input}");
    let (run, _) = Trajectory::new(&case_id, "q", vec![Span::default()]);
    let run = Arc::new(run);
    Ask {
        id: AskId {
            input,
            case_id,
            method: Method::Bare,
            judge: 0,
            stage: Stage::Bare,
            part: 0,
            attempt: 0,
            repeat: 0,
        },
        question: Question::Bare(BareQuestion {
            view: RunView::whole(&run),
            run,
            user: UserKnows::default(),
        }),
        previous: None,
        max_output: 4096,
    }
}

async fn asked(stub: &Stub, api: Api) -> Judged {
    let judge = judge(caller(&stub.base, "", settings(api), &Memory::default()));
    judge.answer(&ask(0)).await
}

/// What one question comes to when the endpoint acts like this.
pub async fn after(acts: Vec<Act>) -> (Judged, Stub) {
    let stub = Stub::acts(acts).await;
    (asked(&stub, Api::Chat).await, stub)
}

pub fn gave_up(judged: &Judged) -> &Cause {
    match &judged.answer {
        Answer::GaveUp(cause) => cause,
        other => panic!("{other:?}"),
    }
}

pub fn is_reply(judged: &Judged) -> bool {
    matches!(&judged.answer, Answer::Reply { reply: StageReply::Bare(reply), .. } if reply.error_span_ids == ["s2"])
}

fn has_note(judged: &Judged, code: WarningCode) -> bool {
    judged.notes.iter().any(|note| note.code == code)
}

#[tokio::test]
async fn a_good_answer_is_a_reply_with_its_account() {
    let stub = Stub::acts(vec![good()]).await;
    let mut settings = settings(Api::Chat);
    settings.price = Some(Price {
        input: 10.0,
        cached: None,
        output: 100.0,
    });
    let judged = judge(caller(&stub.base, "k-1234567890", settings, &Memory::default()))
        .answer(&ask(0))
        .await;
    assert!(is_reply(&judged), "{judged:?}");
    assert_eq!(
        (
            judged.usage.calls,
            judged.usage.input_tokens,
            judged.usage.output_tokens
        ),
        (1, 900, 200)
    );
    assert!((judged.usage.cost_usd.unwrap() - 0.029).abs() < 1e-9);
    assert_eq!((judged.text.as_str(), judged.request_hash.len()), (VERDICT, 64));
    let seen = &stub.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some("Bearer k-1234567890"));
    assert!(seen.header("user-agent").unwrap().starts_with("auditor/"));
    assert_eq!(seen.body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn prose_in_reasoning_is_no_answer_and_empty_content_is_asked_again_once() {
    let prose = with_content(json!({"role": "assistant", "content": "",
        "reasoning_content": "First {\"error_span_ids\": [], \"earliest_harmful_span_id\": null} but no."}));
    let (judged, stub) = after(vec![prose.clone(), good()]).await;
    assert!(is_reply(&judged) && !has_note(&judged, WarningCode::AnswerFromReasoning));
    assert_eq!(
        (stub.count(), judged.usage.calls, judged.usage.input_tokens),
        (2, 2, 1800)
    );
    let (judged, stub) = after(vec![prose]).await;
    assert!(matches!(&judged.answer, Answer::Unreadable { text, error } if text.is_empty() && error.contains("empty")));
    assert_eq!(stub.count(), 2);
}

#[tokio::test]
async fn reasoning_that_is_wholly_an_answer_is_used_and_named() {
    let whole = with_content(json!({"role": "assistant", "content": null, "reasoning": format!(" {VERDICT}\n")}));
    let (judged, stub) = after(vec![whole]).await;
    assert!(
        is_reply(&judged) && has_note(&judged, WarningCode::AnswerFromReasoning),
        "{judged:?}"
    );
    assert_eq!((stub.count(), judged.text.as_str()), (1, VERDICT));
    let misfit = with_content(json!({"role": "assistant", "content": null, "reasoning": "{\"other\": 1}"}));
    let (judged, _) = after(vec![misfit]).await;
    assert!(matches!(judged.answer, Answer::Unreadable { .. }));
}

#[tokio::test]
async fn a_cut_reply_is_truncated_at_the_limit_sent_and_not_sent_again() {
    let (judged, stub) = after(vec![answer(200, &completion("{\"error_span", "length"))]).await;
    assert_eq!(judged.answer, Answer::Truncated { limit: 4096 });
    assert_eq!(
        (stub.count(), judged.text.as_str(), judged.usage.calls),
        (1, "{\"error_span", 1)
    );
}

#[tokio::test]
async fn a_responses_stream_that_ends_incomplete_is_truncated_and_counted() {
    let events = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n\
        event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"{\\\"error\"}\n\n\
        event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"usage\":{\"input_tokens\":900,\"output_tokens\":4096,\"total_tokens\":4996}}}\n\n";
    let stub = Stub::acts(vec![Act::Chunked(
        Http::new(200, events).header("content-type", "text/event-stream"),
    )])
    .await;
    let judged = asked(&stub, Api::Responses).await;
    assert_eq!(judged.answer, Answer::Truncated { limit: 4096 });
    assert_eq!((judged.usage.input_tokens, judged.usage.output_tokens), (900, 4096));
    let seen = &stub.seen()[0];
    assert_eq!(
        (seen.path.as_str(), &seen.body["max_output_tokens"]),
        ("/v1/responses", &json!(4096))
    );
}

const KEY: &str = "sk-acme-THIS-IS-NO-REAL-KEY-0002";

/// Run by the test below in a process of its own: a subscriber for all threads is set only once.
#[tokio::test]
#[ignore = "needs the environment that its parent sets"]
async fn child_logs_everything() {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .init();
    let base = std::env::var("AUDITOR_TEST_BASE").expect("set by the parent");
    let judge = judge(caller(
        &base,
        &format!("{KEY}\n"),
        settings(Api::Chat),
        &Memory::default(),
    ));
    let judged = judge.answer(&ask(0)).await;
    assert_eq!(gave_up(&judged).kind, CauseKind::Auth);
    assert!(gave_up(&judged).message.contains("OPENAI_API_KEY"), "{judged:?}");
    println!(
        "{judged:?} {judge:?} {}",
        serde_json::to_string(gave_up(&judged)).unwrap()
    );
    panic!("{judge:?}: what a panic shows is looked at too");
}

#[tokio::test]
async fn a_key_is_shown_nowhere() {
    let echo = format!("Incorrect API key provided: {KEY}. Header was: Bearer {KEY}");
    let stub = Stub::acts(vec![error(500, &echo), error(401, &echo)]).await;
    let base = format!("{}/v1?key={KEY}", stub.base);
    let (_, printed) = child("wire::child_logs_everything", &base, Vec::new()).await;
    for part in ["trying again", "request", "hyper", "looked at too", "[key removed]"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains("NO-REAL"), "{printed}");
    assert_eq!(
        stub.seen()[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

/// Runs an ignored test of this binary in a process with this environment and no proxy or
/// certificate settings but these; its success and all that it printed.
pub async fn child(test: &'static str, base: &str, set: Vec<(&'static str, String)>) -> (bool, String) {
    let base = base.to_owned();
    let output = tokio::task::spawn_blocking(move || {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", test, "--nocapture"]);
        for name in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
        ] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        command.env("AUDITOR_TEST_BASE", base).envs(set).output().unwrap()
    })
    .await
    .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
}

/// An endpoint that refuses a field with these words whenever a request has it.
async fn refusing(field: &'static str, status: u16, words: &'static str) -> Stub {
    Stub::start(move |_, seen| {
        if seen.body.pointer(field).is_some() {
            error(status, words)
        } else {
            good()
        }
    })
    .await
}

#[tokio::test]
async fn a_refused_parameter_costs_one_call_for_all_workers_and_is_told_once_a_run() {
    for (field, words) in [
        (
            "/max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            "/temperature",
            "Unsupported value: 'temperature' does not support 0.1 with this model.",
        ),
        (
            "/response_format/json_schema/strict",
            "response_format.json_schema.strict: extra field not permitted",
        ),
        (
            "/response_format/json_schema",
            "This response_format type is unavailable now",
        ),
    ] {
        let stub = refusing(field, 400, words).await;
        let memory = Memory::default();
        let judge = Arc::new(judge(caller(&stub.base, "", settings(Api::Chat), &memory)));
        let tasks: Vec<_> = (0..8)
            .map(|n| {
                let judge = Arc::clone(&judge);
                tokio::spawn(async move { judge.answer(&ask(n)).await })
            })
            .collect();
        for task in tasks {
            let judged = task.await.unwrap();
            assert!(is_reply(&judged), "{field}: {judged:?}");
            assert_eq!(
                judged
                    .notes
                    .iter()
                    .filter(|note| note.code == WarningCode::Downgraded)
                    .count(),
                1,
                "{field}"
            );
        }
        assert_eq!(stub.count(), 9, "{field}");
        let again = judge.answer(&ask(3)).await;
        assert!(
            is_reply(&again) && !has_note(&again, WarningCode::Downgraded),
            "told once a run"
        );
        assert_eq!(stub.count(), 10);
        // A resumed run begins with what was found.
        let resumed = Memory::default();
        resumed.import(memory.export());
        let judged = self::judge(caller(&stub.base, "", settings(Api::Chat), &resumed))
            .answer(&ask(0))
            .await;
        assert!(is_reply(&judged) && has_note(&judged, WarningCode::Downgraded));
        assert_eq!(stub.count(), 11);
    }
}

#[tokio::test]
async fn json_modes_step_down_to_none() {
    let stub = Stub::start(
        |_, seen| match seen.body.pointer("/response_format/type").and_then(Value::as_str) {
            Some("json_schema") => error(400, "This response_format type is unavailable now"),
            Some(_) => error(422, "response_format.type `json_object` is unavailable now"),
            None => good(),
        },
    )
    .await;
    let caller = caller(&stub.base, "", settings(Api::Chat), &Memory::default());
    let judge = judge(caller);
    for n in 0..3 {
        assert!(is_reply(&judge.answer(&ask(n)).await));
    }
    assert_eq!((stub.count(), judge.caller().dialect().json), (5, JsonMode::Plain));
    assert!(stub.seen()[4].body.get("response_format").is_none());
}

#[tokio::test]
async fn every_base_url_ends_at_the_right_path() {
    let stub = Stub::acts(vec![good()]).await;
    for (base, path) in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1/chat/completions/", "/v1/chat/completions"),
        ("/api/paas/v4", "/api/paas/v4/chat/completions"),
        (
            "/openai/deployments/judge?api-version=2024-10-21",
            "/openai/deployments/judge/chat/completions?api-version=2024-10-21",
        ),
        ("/v1?a=b%20c", "/v1/chat/completions?a=b%20c"),
    ] {
        let base = format!("  {}{base}\n", stub.base);
        let judged = judge(caller(&base, "", settings(Api::Chat), &Memory::default()))
            .answer(&ask(0))
            .await;
        assert!(is_reply(&judged));
        assert_eq!(stub.seen().last().unwrap().path, path);
    }
}

#[tokio::test]
async fn filters_refuse_without_a_second_try() {
    for act in [
        answer(
            400,
            &json!({"error": {"message": "The response was filtered.", "code": "content_filter", "param": "prompt"}}),
        ),
        answer(200, &completion("", "content_filter")),
        with_content(json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."})),
        answer(400, &completion("", "content_filter")),
    ] {
        let (judged, stub) = after(vec![act]).await;
        assert!(matches!(judged.answer, Answer::Refused { .. }), "{judged:?}");
        assert_eq!(stub.count(), 1);
    }
}

#[tokio::test]
async fn an_overflow_goes_back_with_its_two_numbers() {
    let message =
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 10840 tokens.";
    let (judged, stub) = after(vec![error(400, message)]).await;
    assert_eq!(
        judged.answer,
        Answer::Overflow {
            limit: Some(8192),
            needed: Some(10840)
        }
    );
    assert_eq!(stub.count(), 1);
}

#[tokio::test]
async fn the_doctor_tells_what_works_and_what_to_do() {
    let stub = Stub::start(|_, seen| {
        if seen.path == "/v1/models" {
            answer(200, &json!({"data": [{"id": "test-model", "max_model_len": 4096}]}))
        } else if seen.body.pointer("/response_format/json_schema").is_some() {
            error(400, "response_format json_schema is not supported")
        } else {
            answer(200, &completion("{\"ok\": true}", "stop"))
        }
    })
    .await;
    let found = diagnose(&caller(&stub.base, "", settings(Api::Chat), &Memory::default())).await;
    assert!(found.ok, "{found:?}");
    assert_eq!(
        (found.window, found.json_mode, found.steps.len()),
        (Some(4096), Some(JsonMode::Object), 1)
    );
    assert_eq!(found.url, format!("{}/v1/chat/completions", stub.base));
    assert!(found.advice.is_empty());

    let stub = Stub::acts(vec![error(401, "no")]).await;
    let found = diagnose(&caller(&stub.base, "", settings(Api::Chat), &Memory::default())).await;
    assert_eq!((found.ok, found.cause.unwrap().kind), (false, CauseKind::Auth));
    assert!(found.advice[0].contains("OPENAI_API_KEY"), "{:?}", found.advice);
}

#[tokio::test]
async fn other_callers_may_use_a_caller_without_a_judge() {
    let stub = Stub::acts(vec![good()]).await;
    let caller = caller(&stub.base, "", settings(Api::Chat), &Memory::default());
    let rendered = Rendered {
        stage: Stage::Gd,
        system: String::new(),
        user: vec!["x".to_owned()],
        schema_name: "gd",
        schema: json!({}),
        max_output: 10,
    };
    let called = caller.call(&rendered, None, &|_| false).await;
    assert_eq!(
        (called.reply, called.attempts),
        (Reply::Text { from_reasoning: false }, 1)
    );
}
