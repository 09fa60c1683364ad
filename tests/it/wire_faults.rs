//! Endpoints that fail: what is tried again, how long it waits, and what is said in the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use auditor::audit::CauseKind;
use auditor::drive::{Judge as _, Memory};
use auditor::trajectory::Stage;
use auditor::wire::Api;
use serde_json::json;

use super::stub::{Act, Answer as Http, Stub, answer, completion};
use super::wire::{VERDICT, after, ask, caller, child, error, gave_up, good, is_reply, judge, settings};

#[tokio::test]
async fn broken_connections_are_tried_again() {
    let whole = Http::new(200, completion(VERDICT, "stop").to_string());
    for act in [
        Act::Reset,
        Act::Close,
        Act::ResetAt(40, whole.clone()),
        Act::CutAt(40, whole.clone()),
        Act::Garbage,
        Act::Answer(Http::new(200, "")),
        Act::Answer(Http::new(200, "{\"choices\":[{\"mess")),
        Act::Answer(Http::new(200, [0x1f, 0x8b, 8, 0, 0xff]).header("content-encoding", "gzip")),
    ] {
        let (judged, stub) = after(vec![act.clone(), good()]).await;
        assert!(is_reply(&judged), "{act:?}: {judged:?}");
        assert_eq!((stub.count(), judged.usage.calls), (2, 2), "{act:?}");
    }
    let (judged, stub) = after(vec![Act::CutAt(40, whole.clone())]).await;
    assert_eq!((gave_up(&judged).kind, stub.count()), (CauseKind::Connection, 4));
    let (judged, _) = after(vec![Act::Chunked(whole.clone())]).await;
    assert!(is_reply(&judged));
    // The client believes the connection to be alive and loses a request to it, at worst.
    let stub = Stub::acts(vec![Act::AnswerThenClose(whole)]).await;
    let judge = judge(caller(&stub.base, "", settings(Api::Chat), &Memory::default()));
    for n in 0..20 {
        assert!(is_reply(&judge.answer(&ask(n)).await));
    }
}

#[tokio::test]
async fn nobody_there_is_a_connection_failure() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let judged = judge(caller(&base, "", settings(Api::Chat), &Memory::default()))
        .answer(&ask(0))
        .await;
    assert_eq!(gave_up(&judged).kind, CauseKind::Connection);
    assert!(gave_up(&judged).message.contains(&base), "{judged:?}");
}

#[tokio::test]
async fn a_server_that_hangs_ends_in_a_timeout() {
    let whole = Http::new(200, completion(VERDICT, "stop").to_string());
    for act in [Act::Stall, Act::StallAt(30, whole)] {
        let stub = Stub::acts(vec![act]).await;
        let mut settings = settings(Api::Chat);
        settings.attempt = Duration::from_millis(200);
        settings.retry.retries = 1;
        let judged = judge(caller(&stub.base, "", settings, &Memory::default()))
            .answer(&ask(0))
            .await;
        let cause = gave_up(&judged);
        assert_eq!(
            (cause.kind, cause.attempts, stub.count()),
            (CauseKind::Timeout, Some(2), 2),
            "{}",
            cause.message
        );
    }
}

#[tokio::test]
async fn the_time_of_a_question_and_of_a_run_ends_a_call() {
    let stub = Stub::acts(vec![Act::Stall]).await;
    let started = Instant::now();
    let mut short = settings(Api::Chat);
    short.call = Duration::from_millis(200);
    let judged = judge(caller(&stub.base, "", short, &Memory::default()))
        .answer(&ask(0))
        .await;
    assert_eq!(gave_up(&judged).kind, CauseKind::Timeout);
    let run = judge(caller(&stub.base, "", settings(Api::Chat), &Memory::default()))
        .with_run_limit(Duration::from_millis(200));
    let judged = run.answer(&ask(0)).await;
    assert_eq!(gave_up(&judged).kind, CauseKind::Timeout);
    let asked = stub.count();
    assert_eq!(
        gave_up(&run.answer(&ask(0)).await).kind,
        CauseKind::Timeout,
        "the run's time is over"
    );
    assert_eq!(stub.count(), asked);
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn redirects_stay_on_the_host() {
    let other = Stub::acts(vec![good()]).await;
    let away = format!("{}/v1/chat/completions", other.base);
    let (judged, _) = after(vec![Act::Answer(Http::new(307, "").header("location", &away))]).await;
    assert!(gave_up(&judged).message.contains("redirects to"), "{judged:?}");
    assert_eq!(other.count(), 0, "the key stays with its host");
    let (judged, stub) = after(vec![
        Act::Answer(Http::new(308, "").header("location", "/v1/chat/completions/")),
        good(),
    ])
    .await;
    assert!(is_reply(&judged));
    assert_eq!(stub.seen()[1].body, stub.seen()[0].body);
}

/// Run by the tests below in a process of its own, whose environment they set.
#[tokio::test]
#[ignore = "needs the environment that its parents set"]
async fn child_calls() {
    let base = std::env::var("AUDITOR_TEST_BASE").expect("set by the parent");
    let judged = judge(caller(&base, "", settings(Api::Chat), &Memory::default()))
        .answer(&ask(0))
        .await;
    assert!(is_reply(&judged), "{judged:?}");
}

async fn call_from_child(base: &str, set: Vec<(&'static str, String)>) -> (bool, String) {
    child("wire_faults::child_calls", base, set).await
}

#[tokio::test]
async fn loopback_passes_proxies_by_and_needs_no_key() {
    let stub = Stub::acts(vec![good()]).await;
    let nobody = || "http://127.0.0.1:9".to_owned();
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"];
    let mut set: Vec<_> = names.map(|name| (name, nobody())).to_vec();
    set.push(("NO_PROXY", String::new()));
    let (ok, printed) = call_from_child(&stub.base, set).await;
    assert!(ok, "{printed}");
    assert_eq!(stub.count(), 1);
    assert_eq!(stub.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn other_hosts_are_called_through_the_proxy() {
    let proxy = Stub::acts(vec![good()]).await;
    let (ok, printed) = call_from_child("http://judge.invalid/v1", vec![("HTTP_PROXY", proxy.base.clone())]).await;
    assert!(ok, "{printed}");
    assert_eq!(proxy.seen()[0].path, "http://judge.invalid/v1/chat/completions");
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_kept_by_all_workers() {
    let limited = Act::Answer(Http::new(429, "{}").header("retry-after-ms", "600"));
    let stub = Stub::start(move |n, _| if n == 0 { limited.clone() } else { good() }).await;
    let memory = Memory::default();
    let judge = Arc::new(judge(caller(&stub.base, "", settings(Api::Chat), &memory)));
    let tasks: Vec<_> = (0..6)
        .map(|n| {
            let judge = Arc::clone(&judge);
            tokio::spawn(async move { judge.answer(&ask(n)).await })
        })
        .collect();
    for task in tasks {
        assert!(is_reply(&task.await.unwrap()));
    }
    let seen = stub.seen();
    assert_eq!(seen.len(), 7, "one refusal costs one call");
    for later in &seen[1..] {
        assert!(
            later.at - seen[0].at >= Duration::from_millis(600),
            "a worker came back too early"
        );
    }
}

#[tokio::test]
async fn retry_after_in_seconds_and_as_a_date_is_kept() {
    for value in ["1", "0.7", "date"] {
        let date = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(2));
        let header = if value == "date" { date.as_str() } else { value };
        let busy = Act::Answer(Http::new(503, "busy").header("retry-after", header));
        let (judged, stub) = after(vec![busy, good()]).await;
        assert!(is_reply(&judged));
        let seen = stub.seen();
        assert!(seen[1].at - seen[0].at >= Duration::from_millis(650), "{value}");
    }
}

#[tokio::test]
async fn a_wait_over_the_ceiling_fails_at_once_with_the_reason() {
    let (judged, stub) = after(vec![Act::Answer(Http::new(429, "{}").header("retry-after", "3600"))]).await;
    let cause = gave_up(&judged);
    assert_eq!((cause.kind, stub.count()), (CauseKind::RateLimited, 1));
    assert!(cause.message.contains("asks to wait 3600 s"), "{}", cause.message);
}

#[tokio::test]
async fn web_pages_are_tried_again_once_and_then_named() {
    let page = |status| {
        Act::Answer(Http::new(status, "<!doctype html><title>Sign in</title>").header("content-type", "text/html"))
    };
    let (judged, stub) = after(vec![page(504), page(200), good()]).await;
    assert!(is_reply(&judged));
    assert_eq!(stub.count(), 3);
    let (judged, stub) = after(vec![page(200)]).await;
    assert_eq!(stub.count(), 2);
    assert!(
        gave_up(&judged).message.contains("does not look like an API"),
        "{judged:?}"
    );
}

#[tokio::test]
async fn an_error_inside_a_200_is_tried_again() {
    for body in [
        json!({"id": null, "choices": null, "usage": null, "error": {"message": "Provider returned error", "code": 429}}),
        json!({"error": {"message": "Upstream overloaded", "code": 502}}),
        json!({"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "boom"}}]}),
    ] {
        let (judged, stub) = after(vec![answer(200, &body), good()]).await;
        assert!(is_reply(&judged), "{judged:?}");
        assert_eq!(stub.count(), 2);
    }
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_a_failure_with_its_status_and_attempts() {
    let (judged, stub) = after(vec![answer(500, &json!({"error": {"message": "upstream exploded"}}))]).await;
    let cause = gave_up(&judged);
    assert_eq!(
        (cause.kind, cause.http_status, cause.attempts),
        (CauseKind::Server, Some(500), Some(4))
    );
    assert_eq!(
        (cause.stage, stub.count(), judged.usage.calls),
        (Some(Stage::Bare), 4, 4)
    );
    assert!(cause.message.contains("upstream exploded"), "{}", cause.message);
}

#[tokio::test]
async fn what_cannot_succeed_is_asked_once() {
    let quota = answer(
        429,
        &json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
    );
    for (act, kind) in [
        (quota, CauseKind::Quota),
        (error(400, "no such thing"), CauseKind::Server),
        (error(401, "bad key"), CauseKind::Auth),
        (error(403, "forbidden"), CauseKind::Auth),
        (error(404, "not here"), CauseKind::Server),
    ] {
        let (judged, stub) = after(vec![act]).await;
        let cause = gave_up(&judged);
        assert_eq!(
            (cause.kind, cause.attempts, stub.count()),
            (kind, Some(1), 1),
            "{}",
            cause.message
        );
    }
}

/// A TLS door before a stub, with a certificate that no authority of the platform knows. Its base
/// URL and the certificate in PEM.
async fn behind_tls(stub: &Stub) -> (String, String) {
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::crypto::ring::default_provider;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;

    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let inner = stub.base.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((outside, _)) = listener.accept().await {
            let (acceptor, inner) = (acceptor.clone(), inner.clone());
            tokio::spawn(async move {
                // A handshake that the client breaks off is what one of the tests is about.
                if let Ok(mut outside) = acceptor.accept(outside).await {
                    let mut inside = tokio::net::TcpStream::connect(inner).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                }
            });
        }
    });
    (base, made.cert.pem())
}

#[tokio::test]
async fn an_authority_of_ones_own_is_named_by_ssl_cert_file() {
    let stub = Stub::acts(vec![good()]).await;
    let (base, pem) = behind_tls(&stub).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let (ok, printed) = call_from_child(&base, vec![("SSL_CERT_FILE", path)]).await;
    assert!(ok, "{printed}");
    assert_eq!(stub.count(), 1);
    // The authorities of the platform do not know it: one try, and the way out is named.
    let (ok, printed) = call_from_child(&base, Vec::new()).await;
    assert!(!ok && stub.count() == 1);
    assert!(
        printed.contains("certificate") && printed.contains("SSL_CERT_FILE"),
        "{printed}"
    );
    assert!(printed.contains("attempts: Some(1)"), "{printed}");
}
