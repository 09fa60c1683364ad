//! Raw bodies as real providers send them, in our own words.

use super::*;
use crate::wire::{Api, LimitField};

fn read_as(api: Api, status: u16, headers: &[(&str, &str)], body: &str) -> Decoded {
    let endpoint = Endpoint::parse("https://h.example/v1").unwrap();
    let sent = Sent {
        limit: Some(4096),
        wanted: 4096,
        temperature: true,
        reasoning_effort: true,
        system_role: true,
        store: true,
        fewest_tokens: 500,
    };
    let facts = Facts {
        endpoint: &endpoint,
        target: api.target(),
        key_from: Some("OPENAI_API_KEY"),
        sent: &sent,
        now: SystemTime::UNIX_EPOCH,
    };
    decode(
        &Exchange::new(status, headers, body),
        &Dialect::first(api, &endpoint),
        &facts,
    )
}

fn outcome(status: u16, body: &str) -> Outcome {
    read_as(Api::Chat, status, &[("content-type", "application/json")], body).outcome
}

fn again(status: u16, body: &str) -> Again {
    match outcome(status, body) {
        Outcome::Retry(again) => again,
        other => panic!("{status} {body}: {other:?}"),
    }
}

fn fatal(status: u16, body: &str) -> Cause {
    match outcome(status, body) {
        Outcome::Fatal(cause) => cause,
        other => panic!("{status} {body}: {other:?}"),
    }
}

fn refusal(status: u16, body: &str) -> String {
    match outcome(status, body) {
        Outcome::Refused { code } => code,
        other => panic!("{status} {body}: {other:?}"),
    }
}

const GOOD: &str = r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":5,"total_tokens":905}}"#;

#[test]
fn a_good_reply_is_read_however_it_is_wrapped() {
    for body in [
        GOOD.to_owned(),
        format!("\u{feff}\n\n  {GOOD}"),
        format!("data: {GOOD}\n\ndata: [DONE]\n\n"),
        format!("[{GOOD}]"),
        GOOD.replace("\"stop\"", "\"stop\",\"score\":NaN"),
        GOOD.replace("\"stop\"", "\"\",\"error\":null"),
        GOOD.replace(
            "{\"choices\"",
            "{\"error\":null,\"service_tier\":\"on_demand\",\"created\":1.5,\"choices\"",
        ),
    ] {
        match read_as(Api::Chat, 200, &[], &body) {
            Decoded {
                outcome: Outcome::Text { text, .. },
                usage,
                notes,
            } => {
                assert_eq!(text, "hello", "{body}");
                assert_eq!((usage.calls, usage.input_tokens, usage.total_tokens), (1, 900, 905));
                assert!(notes.is_empty());
            }
            other => panic!("{body}: {other:?}"),
        }
    }
    let lone = GOOD.replace("hello", "he\\ud83d");
    assert!(matches!(outcome(200, &lone), Outcome::Text { text, .. } if text == "he\u{fffd}"));
}

#[test]
fn rate_limits_are_told_from_an_empty_account() {
    for body in [
        r#"{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{}}}"#,
        "Too Many Requests",
        r#"{"detail":"slow down"}"#,
        "",
    ] {
        let again = again(429, body);
        assert_eq!(
            (again.cause.kind, again.pause, again.most),
            (CauseKind::RateLimited, true, None),
            "{body}"
        );
    }
    for (status, body) in [
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        ),
        (
            429,
            r#"{"error":{"message":"No more","type":"error","code":"insufficient_quota"}}"#,
        ),
        (429, r#"{"error":{"message":"No more","type":"insufficient_quota"}}"#),
        (
            429,
            r#"{"error":"You exceeded your current quota, please check your plan and billing details."}"#,
        ),
        (
            429,
            r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#,
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
        ),
        (402, ""),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#,
        ),
        (
            403,
            r#"{"error":{"message":"Access denied, your account is not active","code":"billing_not_active"}}"#,
        ),
        (
            200,
            r#"{"error":{"code":402,"message":"This request requires more credits"}}"#,
        ),
    ] {
        assert_eq!(fatal(status, body).kind, CauseKind::Quota, "{body}");
    }
}

#[test]
fn a_quota_by_the_minute_is_a_rate_limit() {
    let minute = r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]"#;
    let limited = again(429, minute);
    assert_eq!(
        (limited.cause.kind, limited.after),
        (CauseKind::RateLimited, Some(Duration::from_secs(34)))
    );
    let day = minute.replace("PerMinutePer", "PerDayPer");
    assert_eq!(fatal(429, &day).kind, CauseKind::Quota);
}

#[test]
fn waits_are_taken_from_headers_and_words() {
    let body = r#"{"error":{"message":"Rate limit reached: Limit 3, Used 3, Requested 1. Please try again in 20s."}}"#;
    assert_eq!(again(429, body).after, Some(Duration::from_secs(20)));
    let header = read_as(Api::Chat, 503, &[("retry-after", "3")], "overloaded").outcome;
    assert!(matches!(header, Outcome::Retry(Again { after: Some(after), pause: true, .. }) if after.as_secs() == 3));
}

#[test]
fn server_errors_are_tried_again_and_show_what_came() {
    for status in [408, 409, 425, 500, 502, 503, 504, 520, 529] {
        assert_eq!(again(status, r#"{"error":{"message":"oops"}}"#).most, None);
    }
    let page = read_as(
        Api::Chat,
        504,
        &[("content-type", "text/html; charset=utf-8")],
        "<html><h1>504 Gateway Time-out</h1></html>",
    );
    let Outcome::Retry(again) = page.outcome else {
        panic!("{page:?}")
    };
    assert_eq!(
        again.cause.message,
        "HTTP 504 (text/html) from https://h.example/v1/chat/completions: 504 Gateway Time-out"
    );
    assert_eq!(
        (again.cause.http_status, again.cause.kind),
        (Some(504), CauseKind::Server)
    );
}

#[test]
fn an_endpoint_may_forbid_another_try() {
    let outcome = read_as(Api::Chat, 500, &[("x-should-retry", "false")], "").outcome;
    assert!(
        matches!(outcome, Outcome::Retry(Again { most: Some(1), .. })),
        "{outcome:?}"
    );
}

#[test]
fn requests_without_an_answer_say_what_to_look_at() {
    let endpoint = Endpoint::parse("https://h.example/v1").unwrap();
    let sent = Sent::default();
    let facts = Facts {
        endpoint: &endpoint,
        target: Target::Chat,
        key_from: None,
        sent: &sent,
        now: SystemTime::UNIX_EPOCH,
    };
    let says = |kind, message: &str| match decode_transport(
        &TransportError {
            kind,
            message: message.to_owned(),
        },
        &facts,
    ) {
        Outcome::Retry(again) => (again.cause.kind, again.most, again.cause.message),
        other => panic!("{other:?}"),
    };
    let (kind, most, message) = says(TransportKind::Certificate, "invalid peer certificate: UnknownIssuer");
    assert_eq!((kind, most), (CauseKind::Connection, Some(1)));
    assert!(
        message.contains("SSL_CERT_FILE") && message.contains("https://h.example/v1/chat/completions"),
        "{message}"
    );
    let (_, most, message) = says(
        TransportKind::Connect,
        "received corrupt message of type InvalidContentType",
    );
    assert!(most == Some(1) && message.contains("http://"), "{message}");
    assert_eq!(
        says(TransportKind::Timeout, "operation timed out").0,
        CauseKind::Timeout
    );
    assert_eq!(says(TransportKind::Broken, "connection reset").1, None);
}

#[test]
fn a_web_page_with_status_200_is_not_tried_often() {
    let page = again(200, "<!doctype html><title>Sign in</title><form action=/login></form>");
    assert_eq!((page.class, page.most), (RetryClass::Page, Some(2)));
    assert!(
        page.cause.message.contains("does not look like an API"),
        "{}",
        page.cause.message
    );
}

#[test]
fn bodies_that_cannot_be_read_are_tried_again_within_bounds() {
    for body in [
        "",
        "null",
        "{",
        "{\"choices\":[{\"mess",
        "{\"foo\":1}",
        "{\"status\":\"ok\"}",
        "\u{1f}\u{8b}\u{8}",
        "{\"choices\":null}",
    ] {
        let again = again(200, body);
        assert_eq!(
            (again.class, again.most, again.cause.kind),
            (RetryClass::Unreadable, Some(3), CauseKind::BadReply),
            "{body}"
        );
    }
    let early = "data: {\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\n";
    assert_eq!(again(200, early).cause.kind, CauseKind::Server);
}

#[test]
fn errors_inside_a_200_count_as_their_status() {
    for body in [
        r#"{"id":null,"choices":null,"usage":null,"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"Too Many Requests"}}}"#,
        r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#,
        r#"{"choices":[],"error":{"message":"slow","code":"429"}}"#,
    ] {
        let again = again(200, body);
        assert_eq!(
            (again.cause.kind, again.cause.http_status, again.pause),
            (CauseKind::RateLimited, Some(429), true),
            "{body}"
        );
        assert!(
            again.cause.message.contains("error 429 inside"),
            "{}",
            again.cause.message
        );
    }
    for body in [
        r#"{"error":{"message":"Upstream overloaded","code":502}}"#,
        r#"{"error":"boom"}"#,
        r#"{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"code":502,"message":"boom"}}]}"#,
        r#"{"object":"error","message":"boom","code":500}"#,
        r#"{"choices":[{"message":{"content":"half"},"finish_reason":"error"}]}"#,
    ] {
        assert_eq!(again(200, body).cause.kind, CauseKind::Server, "{body}");
    }
    assert_eq!(
        fatal(200, r#"{"error":{"message":"no","code":401}}"#).kind,
        CauseKind::Auth
    );
    assert!(matches!(
        outcome(
            200,
            r#"{"error":{"message":"response_format is not supported","code":400}}"#
        ),
        Outcome::Downgrade { .. }
    ));
}

#[test]
fn keys_that_are_refused_name_their_variable() {
    for (status, body) in [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-acme********0001.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        ),
        (401, "<html>401</html>"),
        (403, r#"{"error":"forbidden"}"#),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
        ),
    ] {
        let cause = fatal(status, body);
        assert_eq!(cause.kind, CauseKind::Auth, "{body}");
        assert!(cause.message.contains("OPENAI_API_KEY"), "{}", cause.message);
    }
}

#[test]
fn a_404_shows_the_url_and_the_other_form() {
    let cause = fatal(404, r#"{"detail":"Not Found"}"#);
    assert_eq!((cause.kind, cause.http_status), (CauseKind::Server, Some(404)));
    assert!(
        cause.message.contains("https://h.example/v1/chat/completions"),
        "{}",
        cause.message
    );
    assert!(
        cause
            .message
            .contains("try --base-url https://h.example/chat/completions"),
        "{}",
        cause.message
    );
    let model = fatal(
        404,
        r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#,
    );
    assert!(model.message.contains("is the model's name right"), "{}", model.message);
    let Outcome::Fatal(responses) = read_as(Api::Responses, 404, &[], "").outcome else {
        panic!()
    };
    assert!(responses.message.contains("--api chat"), "{}", responses.message);
    let Outcome::Fatal(moved) = read_as(Api::Chat, 301, &[("location", "https://u:p@other.example/v1")], "").outcome
    else {
        panic!()
    };
    assert!(
        moved.message.contains("other.example") && !moved.message.contains("u:p"),
        "{}",
        moved.message
    );
}

#[test]
fn filters_and_refusals_in_all_their_shapes() {
    assert_eq!(
        refusal(
            400,
            r#"{"error":{"message":"The response was filtered.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#
        ),
        "content_filter"
    );
    assert_eq!(
        refusal(
            200,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#
        ),
        "content_filter"
    );
    assert!(
        refusal(
            200,
            r#"{"choices":[{"message":{"content":null,"refusal":"I cannot help."},"finish_reason":"stop"}]}"#
        )
        .contains("I cannot help.")
    );
    assert_eq!(
        refusal(
            400,
            r#"{"id":"x","object":"chat.completion","choices":[{"message":{"content":""},"finish_reason":"content_filter"}],"usage":{"prompt_tokens":55}}"#
        ),
        "content_filter"
    );
    assert_eq!(
        refusal(
            400,
            r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}"#
        ),
        "Content Exists Risk"
    );
    assert_eq!(
        refusal(
            400,
            r#"{"error":{"message":"flagged","code":"data_inspection_failed"}}"#
        ),
        "data_inspection_failed"
    );
    assert_eq!(
        refusal(
            200,
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"SAFETY"}]}"#
        ),
        "SAFETY"
    );
    assert_eq!(
        refusal(200, r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#),
        "PROHIBITED_CONTENT"
    );
    assert!(refusal(403, r#"{"error":{"code":403,"message":"x requires moderation on y. Your input was flagged","metadata":{"reasons":["violence"]}}}"#).contains("moderation"));
    assert_eq!(
        refusal(
            400,
            r#"{"error":{"message":"Invalid prompt: flagged under our usage policy","code":"invalid_prompt"}}"#
        ),
        "invalid_prompt"
    );
    assert_eq!(
        refusal(
            200,
            r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}"#
        ),
        "content_filter"
    );
    assert_eq!(
        refusal(200, r#"{"error":{"message":"x","code":"content_filter"}}"#),
        "content_filter"
    );
}

#[test]
fn overflow_has_its_numbers_and_is_not_mistaken_for_a_parameter() {
    let body = r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 10840 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
    assert_eq!(
        outcome(400, body),
        Outcome::Overflow {
            limit: Some(8192),
            needed: Some(10840)
        }
    );
    let vllm = r#"{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (4096 > 4096 - 1000).","type":"BadRequestError","param":"max_tokens","code":400}"#;
    assert_eq!(
        outcome(400, vllm),
        Outcome::Overflow {
            limit: Some(4096),
            needed: Some(5096)
        }
    );
    assert_eq!(
        outcome(413, "too large"),
        Outcome::Overflow {
            limit: None,
            needed: None
        }
    );
    let wrapped = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}"}}}"#;
    assert_eq!(
        outcome(200, wrapped),
        Outcome::Overflow {
            limit: Some(200_000),
            needed: Some(210_000)
        }
    );
    let minute = r#"{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000","type":"tokens","code":"rate_limit_exceeded"}}"#;
    assert_eq!(
        outcome(413, minute),
        Outcome::Overflow {
            limit: Some(6000),
            needed: Some(7000)
        }
    );
}

#[test]
fn length_is_truncation_and_its_usage_counts() {
    let cut = r#"{"choices":[{"message":{"content":"{\"a"},"finish_reason":"length"}],"usage":{"prompt_tokens":900,"completion_tokens":4096}}"#;
    assert_eq!(
        outcome(200, cut),
        Outcome::Truncated {
            limit: 4096,
            text: "{\"a".to_owned()
        }
    );
    let thought = r#"{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}]}"#;
    assert!(matches!(outcome(200, thought), Outcome::Truncated { limit: 4096, .. }));
    let stream = "event: response.created\ndata: {\"type\": \"response.created\", \"response\": {\"status\": \"in_progress\"}}\n\nevent: response.incomplete\ndata: {\"type\": \"response.incomplete\", \"response\": {\"status\": \"incomplete\", \"incomplete_details\": {\"reason\": \"max_output_tokens\"}, \"usage\": {\"input_tokens\": 900, \"output_tokens\": 4096, \"total_tokens\": 4996}}}\n\n";
    let read = read_as(Api::Responses, 200, &[("content-type", "text/event-stream")], stream);
    assert!(matches!(read.outcome, Outcome::Truncated { limit: 4096, .. }));
    assert_eq!((read.usage.input_tokens, read.usage.output_tokens), (900, 4096));
}

#[test]
fn a_cut_that_is_not_said_is_noticed() {
    let body = r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{\"a\": [1, "}]}],"usage":{"input_tokens":9,"output_tokens":4096}}"#;
    let cut = read_as(Api::Responses, 200, &[], body).outcome;
    assert!(matches!(cut, Outcome::Truncated { limit: 4096, .. }), "{cut:?}");
    let early = read_as(Api::Responses, 200, &[], &body.replace("4096", "40")).outcome;
    assert!(matches!(early, Outcome::Text { .. }), "tokens were left: {early:?}");
    let whole = read_as(Api::Responses, 200, &[], &body.replace("[1, ", "[1]}")).outcome;
    assert!(matches!(whole, Outcome::Text { .. }), "{whole:?}");
}

#[test]
fn responses_end_well_or_by_name() {
    let text = r#"{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":3,"output_tokens":2}}"#;
    assert!(matches!(read_as(Api::Responses, 200, &[], text).outcome, Outcome::Text { text, .. } if text == "hello"));
    let failed =
        r#"{"object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"boom"}}"#;
    assert!(matches!(
        read_as(Api::Responses, 200, &[], failed).outcome,
        Outcome::Retry(_)
    ));
    let limited = r#"{"object":"response","status":"failed","output":[],"error":{"code":"rate_limit_exceeded","message":"slow"}}"#;
    assert!(matches!(
        read_as(Api::Responses, 200, &[], limited).outcome,
        Outcome::Retry(Again { pause: true, .. })
    ));
    assert!(matches!(
        read_as(
            Api::Responses,
            200,
            &[],
            r#"{"object":"response","status":"completed","output":[]}"#
        )
        .outcome,
        Outcome::Empty { .. }
    ));
}

#[test]
fn reasoning_is_no_text() {
    let body =
        r#"{"choices":[{"message":{"content":null,"reasoning_content":"I think {\"a\":1}"},"finish_reason":"stop"}]}"#;
    assert_eq!(
        outcome(200, body),
        Outcome::Empty {
            reasoning: "I think {\"a\":1}".to_owned()
        }
    );
    assert!(matches!(outcome(200, r#"{"choices":[]}"#), Outcome::Empty { .. }));
}

#[test]
fn refused_parameters_step_down_and_other_requests_fail() {
    let body = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#;
    match outcome(400, body) {
        Outcome::Downgrade { dialect, why } => {
            assert_eq!(dialect.limit, LimitField::MaxCompletionTokens);
            assert!(
                why.contains("max_completion_tokens is sent instead of max_tokens"),
                "{why}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        fatal(400, r#"{"error":"model 'x' is not known"}"#).kind,
        CauseKind::Server
    );
    assert_eq!(fatal(422, "[]").http_status, Some(422));
}

#[test]
fn a_prompt_cut_in_silence_is_suspected() {
    let note = |input: u64, least: u64| {
        let usage = Usage {
            input_tokens: input,
            ..Usage::default()
        };
        let sent = Sent {
            fewest_tokens: least,
            ..Sent::default()
        };
        truncated_prompt(&usage, &sent).is_some()
    };
    assert!(note(4096, 7500), "60,000 characters counted as 4096 tokens");
    assert!(note(4096, 6000), "at the size of a window");
    assert!(!note(12_000, 6000), "prose");
    assert!(!note(0, 6000), "nothing told");
    assert!(!note(900, 1000), "too short to say");
}

proptest::proptest! {
    #[test]
    fn decode_never_panics(status in 100u16..600, body in ".{0,200}", kind in proptest::sample::select(vec!["", "text/html", "application/json"])) {
        let _ = read_as(Api::Chat, status, &[("content-type", kind)], &body);
    }

    #[test]
    fn json_shaped_bodies_never_panic(
        status in proptest::sample::select(vec![200u16, 400, 429, 500]),
        field in proptest::sample::select(vec!["error", "choices", "output", "message", "detail", "usage", "status"]),
        value in proptest::sample::select(vec!["null", "1", "\"x\"", "[]", "[1]", "{}", "[{}]", "{\"message\":{}}", "[{\"message\":[]}]", "{\"code\":-1}"]),
    ) {
        let _ = read_as(Api::Responses, status, &[], &format!("{{\"{field}\":{value}}}"));
    }
}
