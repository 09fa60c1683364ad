//! Runs longer than the judge's window, repeats, and a second judge, through the binary and the driver.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use auditor::audit::{Answer, Ask, Audit, FIXED_TOKENS, Method, Question, Settings, tokens};
use auditor::drive::{Ended, Judge, JudgeInfo, JudgeKind, Judged, Session, audit};
use auditor::reply::{KeeperReply, SeekerReply, StageReply, TracerReply};
use auditor::trajectory::{Span, Trajectory};
use auditor::wire::Usage;
use serde_json::{Value, json};

use crate::localize::auditor;
use crate::stub::{Seen, Stub, answer, completion};

/// `count` spans of about `chars` characters each; every one ends with a sentence of its own.
fn row(count: usize, chars: usize) -> Value {
    let spans: Vec<Value> = (1..=count)
        .map(|n| json!({"id": format!("s{n}"), "raw": format!("Log {n}. {} Buoy {n} was moored in {}.", "sea and sand ".repeat(chars / 13), 1700 + n)}))
        .collect();
    json!({"id": "buoys", "question": "In which years were the buoys moored?", "spans": spans})
}

fn prompt(seen: &Seen) -> String {
    seen.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn stage(seen: &Seen) -> &'static str {
    let text = prompt(seen);
    let parts = [
        ("keeper", "claim keeper"),
        ("seeker", "support seeker"),
        ("tracer", "dependency tracer"),
        ("bare", "whole audit"),
    ];
    parts
        .iter()
        .find(|(_, words)| text.contains(&format!("# Your part: the {words}")))
        .expect("a stage")
        .0
}

fn said(stage: &str, text: &str, errors: &[&str]) -> Value {
    match stage {
        "keeper" => {
            let claims: Vec<Value> = [5, 90]
                .iter()
                .filter(|n| text.contains(&format!("Buoy {n} was moored")))
                .map(|n| json!({"claim_id": "c1", "claim": format!("Buoy {n} was moored in {}.", 1700 + n), "introduced_at": format!("s{n}"),
                    "becomes_consequential_at": format!("s{n}"), "used_by": [], "claim_type": "evidence", "status": "tentative"}))
                .collect();
            json!({"task_goal": "years", "hard_constraints": [], "claims": claims, "notes": ""})
        }
        "seeker" => {
            json!({"support_records": [{"claim_id": "c1", "support_spans": [], "support_status": "missing", "missing_support": "", "needs_auditors": [], "evidence_handles": []}]})
        }
        "bare" => json!({"reasons": [], "error_span_ids": errors, "earliest_harmful_span_id": errors.first()}),
        _ => {
            json!({"first_error_span": errors.first(), "linked_error_span_ids": errors.get(1..).unwrap_or(&[]), "non_errors": [], "reason": "not shown",
            "error_span_ids": errors, "earliest_harmful_span_id": errors.first()})
        }
    }
}

/// An endpoint that refuses what does not fit its window, at four characters a token, in the words of the
/// most used one.
async fn small(window: usize) -> Stub {
    Stub::start(move |_, seen| {
        let text = prompt(seen);
        let needed = text.chars().count() / 4;
        let output = seen.body["max_tokens"].as_u64().unwrap_or(0) as usize;
        if needed + output > window {
            let message = format!("This model's maximum context length is {window} tokens. However, you requested {} tokens ({needed} in the messages, {output} in the completion). Please reduce the length of the messages or completion.", needed + output);
            return answer(400, &json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}));
        }
        answer(200, &completion(&said(stage(seen), &text, &["s5"]).to_string(), "stop"))
    })
    .await
}

struct Ran {
    output: Output,
    row: Value,
}

impl Ran {
    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
    fn spans(&self) -> Vec<&str> {
        self.row["prediction"]["error_span_ids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap())
            .collect()
    }
    fn told(&self, words: &str) -> bool {
        self.row["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|warning| warning["message"].as_str().unwrap().contains(words))
    }
}

async fn ran(dir: &Path, stub: &Stub, more: &[&str]) -> Ran {
    let base = format!("{}/v1", stub.base);
    let mut args = vec![
        "localize",
        "run.json",
        "--format",
        "json",
        "--base-url",
        &base,
        "--model",
        "test-model",
    ];
    args.extend(more);
    let output = auditor(dir, &args).await;
    let row = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    Ran { output, row }
}

fn folder(row: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("run.json"), row.to_string()).unwrap();
    dir
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_any_length_has_a_verdict_in_a_small_window() {
    for (count, chars, told) in [
        (100, 1000, "characters"),
        (100, 50_000, " of 100 spans were shown in part"),
    ] {
        let dir = folder(&row(count, chars));
        for (flags, refused_at_most) in [
            (vec![], 2),
            (vec!["--context-window", "8192"], 0),
            (vec!["--method", "bare"], 2),
        ] {
            if chars > 1000 && !flags.is_empty() {
                continue; // Five million characters once: a debug build takes its time.
            }
            let stub = small(8192).await;
            let ran = ran(dir.path(), &stub, &flags).await;
            assert_eq!(
                ran.output.status.code(),
                Some(0),
                "{count} × {chars} {flags:?}: {}",
                ran.stderr()
            );
            assert_eq!(ran.spans(), ["s5"]);
            assert!(
                ran.told("overlapping windows") && ran.told(told),
                "{}",
                ran.row["warnings"]
            );
            let seen = stub.seen();
            let refused = seen.iter().filter(|seen| {
                prompt(seen).chars().count() / 4 + seen.body["max_tokens"].as_u64().unwrap() as usize > 8192
            });
            assert!(refused.count() <= refused_at_most, "{flags:?}");
            let whole = if flags.contains(&"bare") { "bare" } else { "keeper" };
            let windows = seen.iter().filter(|seen| stage(seen) == whole).count();
            assert!((5..=20).contains(&windows), "{windows}");
            if chars == 1000 && whole == "keeper" {
                let claims = ran.row["audit"]["claims"].as_array().unwrap();
                assert_eq!(claims.len(), 2, "from windows at both ends: {claims:?}");
                assert_eq!(
                    (claims[0]["claim_id"].as_str(), claims[1]["introduced_at"].as_str()),
                    (Some("c1"), Some("s90"))
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_is_resumed_and_replayed_window_by_window() {
    let dir = folder(&row(100, 1000));
    let refusing = AtomicUsize::new(0);
    let stub = Stub::start(move |_, seen| {
        let text = prompt(seen);
        // One window of the middle is answered with a failure the first time.
        if stage(seen) == "keeper"
            && text.contains("Buoy 50 was moored")
            && refusing.fetch_add(1, Ordering::SeqCst) == 0
        {
            return answer(500, &json!({"error": "down for now"}));
        }
        answer(200, &completion(&said(stage(seen), &text, &["s5"]).to_string(), "stop"))
    })
    .await;
    let flags = ["--context-window", "8192", "--retries", "0"];
    let with = |more: &[&'static str]| flags.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    let first = ran(dir.path(), &stub, &with(&["--record", "j.jsonl"])).await;
    assert_eq!(first.row["status"], "failed", "{}", first.stderr());
    assert!(
        stub.seen().iter().all(|seen| stage(seen) == "keeper"),
        "nothing is asked on half a ledger"
    );
    let second = ran(dir.path(), &stub, &with(&["--resume", "j.jsonl", "--retry-failed"])).await;
    assert_eq!(second.row["status"], "ok", "{}", second.stderr());
    let (asked, fresh) = (stub.count(), small(1_000_000).await);
    let unbroken = ran(dir.path(), &fresh, &flags).await;
    assert_eq!(asked, fresh.count() + 1, "only the window that failed is asked twice");
    assert_eq!(unbroken.row["audit"], second.row["audit"]);
    let base = format!("{}/v1", stub.base);
    let output = auditor(
        dir.path(),
        &[
            "localize",
            "run.json",
            "--format",
            "json",
            "--judge",
            "replay:j.jsonl",
            "--base-url",
            &base,
        ],
    )
    .await;
    let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        replayed["audit"],
        second.row["audit"],
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(stub.count(), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_fixed_of_a_request_fits_the_tokens_kept_for_it() {
    let dir =
        folder(&json!({"id": "tiny", "question": "q?", "spans": [{"id": "s5", "raw": "Buoy 5 was moored in 1705."}]}));
    for method in ["drift", "bare"] {
        let stub = small(1_000_000).await;
        ran(dir.path(), &stub, &["--method", method]).await;
        for seen in stub.seen() {
            let all = prompt(&seen) + &seen.body["response_format"].to_string();
            let sent = tokens(&all);
            assert!(sent <= FIXED_TOKENS + 200, "{}: {sent}", stage(&seen));
            assert!(
                sent > FIXED_TOKENS / 3,
                "{}: {sent}, the reserve is far too large",
                stage(&seen)
            );
        }
    }
}

/// Keeps every window waiting until `at_once` of them are under way, so that a driver that asks one after
/// another never ends.
struct Gate {
    barrier: tokio::sync::Barrier,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl Judge for Gate {
    async fn answer(&self, ask: &Ask) -> Judged {
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        if (1..=4).contains(&ask.id.part) {
            self.barrier.wait().await;
        }
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let reply = match ask.question {
            Question::Keeper(_) => StageReply::Keeper(KeeperReply::default()),
            Question::Seeker(_) => StageReply::Seeker(SeekerReply::default()),
            _ => StageReply::Tracer(TracerReply::default()),
        };
        Judged {
            answer: Answer::Reply {
                reply,
                notes: Vec::new(),
            },
            usage: Usage {
                calls: 1,
                ..Usage::default()
            },
            text: String::new(),
            request_hash: String::new(),
            notes: Vec::new(),
        }
    }
    fn request_hash(&self, _: &Ask) -> String {
        String::new()
    }
    fn info(&self) -> JudgeInfo {
        JudgeInfo {
            kind: JudgeKind::Scripted,
            model: None,
            endpoint: None,
            dialect: None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_are_asked_at_once_and_never_more_than_the_bound() {
    let spans = (0..60).map(|n| Span {
        id: format!("s{n}"),
        text: "sea and sand ".repeat(90),
        ..Span::default()
    });
    let run = Arc::new(Trajectory::new("r", "q", spans.collect()).0);
    let settings = Settings {
        context_window: Some(10_000),
        ..Settings::new(Method::Drift)
    };
    let gate = Gate {
        barrier: tokio::sync::Barrier::new(4),
        under_way: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
    };
    let session = Session::new(gate);
    let done = tokio::time::timeout(Duration::from_secs(60), audit(&session, Audit::new(run, settings))).await;
    let audited = done.expect("windows are asked one after another");
    assert!(matches!(audited.ended, Ended::Report(_)));
    assert_eq!(session.judge.most.load(Ordering::SeqCst), auditor::drive::AT_ONCE);
    let calls: u64 = audited.usage.values().map(|usage| usage.calls).sum();
    assert!(calls > 8, "{calls}");
}

/// A judge whose n-th tracer names the n-th list of spans; the last list repeats. An empty text fails.
async fn tracers(lists: &'static [&'static [&'static str]]) -> Stub {
    let asked = AtomicUsize::new(0);
    Stub::start(move |_, seen| {
        let text = prompt(seen);
        let errors: &[&str] = match stage(seen) {
            "tracer" => lists[asked.fetch_add(1, Ordering::SeqCst).min(lists.len() - 1)],
            _ => &[],
        };
        if errors == ["down"] {
            return answer(503, &json!({"error": {"message": "overloaded"}}));
        }
        answer(200, &completion(&said(stage(seen), &text, errors).to_string(), "stop"))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_are_separate_audits_and_the_majority_is_the_verdict() {
    let dir = folder(&row(8, 30));
    let stub = tracers(&[&["s6", "s8"], &["s6", "s7"], &["s6", "s8"]]).await;
    let ran = ran(dir.path(), &stub, &["--repeats", "3", "--record", "j.jsonl"]).await;
    assert_eq!(ran.output.status.code(), Some(0), "{}", ran.stderr());
    assert_eq!(stub.count(), 9, "every repeat is asked anew");
    assert_eq!(ran.row["votes"], json!({"s6": 3, "s7": 1, "s8": 2}));
    assert_eq!(ran.spans(), ["s6", "s8"]);
    assert!((ran.row["fleiss_kappa"].as_f64().unwrap() - 0.5556).abs() < 5e-5);
    let repeats = &ran.row["repeats"];
    assert_eq!(
        (
            repeats["asked"].as_u64(),
            repeats["ok"].as_u64(),
            repeats["same_first"].as_f64()
        ),
        (Some(3), Some(3), Some(1.0))
    );
    assert_eq!(repeats["firsts"], json!(["s6", "s6", "s6"]));
    assert_eq!(ran.row["usage"]["total"]["calls"], 9);

    // The recording holds each repeat; nothing is asked again, and the text says it all.
    let base = format!("{}/v1", stub.base);
    let output = auditor(
        dir.path(),
        &[
            "localize",
            "run.json",
            "--base-url",
            &base,
            "--model",
            "test-model",
            "--votes",
            "3",
            "--resume",
            "j.jsonl",
        ],
    )
    .await;
    let text = String::from_utf8(output.stdout)
        .unwrap()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(stub.count(), 9);
    for part in [
        "3 of 3 have a verdict",
        "votes s6 3/3, s7 1/3, s8 2/3",
        "κ 0.56",
        "100 % agree on the first span",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_repeats_are_named_and_a_majority_is_one_of_all() {
    let dir = folder(&row(8, 30));
    let stub = tracers(&[&["s6"], &["down"], &["s6"]]).await;
    let most = ran(dir.path(), &stub, &["--repeats", "3", "--retries", "0"]).await;
    assert_eq!((most.output.status.code(), most.spans()), (Some(0), vec!["s6"]));
    assert_eq!(most.row["repeats"]["failed"][0]["repeat"], 1);
    assert_eq!(most.row["repeats"]["failed"][0]["cause"]["http_status"], 503);
    assert!(most.stderr().contains("repeat 2 failed"), "{}", most.stderr());

    let stub = tracers(&[&[], &["down"], &["down"]]).await;
    let few = ran(dir.path(), &stub, &["--repeats", "3", "--retries", "0"]).await;
    assert_eq!(
        (few.output.status.code(), few.row["status"].as_str()),
        (Some(3), Some("failed")),
        "one of three is no verdict"
    );
    assert!(
        few.row["cause"]["message"].as_str().unwrap().contains("1 of 3 repeats"),
        "{}",
        few.row["cause"]
    );
    assert_eq!(few.row["prediction"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_judge_is_compared_and_agreement_can_be_required() {
    let dir = folder(&row(8, 30));
    let (one, two) = (
        tracers(&[&["s3", "s6", "s8"]]).await,
        tracers(&[&["s6", "s7", "s8"]]).await,
    );
    let base = format!("{}/v1", two.base);
    let flags = ["--second-judge", "other-model", "--second-base-url", &base];
    let both = ran(dir.path(), &one, &flags).await;
    assert_eq!(both.output.status.code(), Some(0), "{}", both.stderr());
    assert_eq!((one.count(), two.count()), (3, 3));
    assert!(two.seen().iter().all(|seen| seen.body["model"] == "other-model"));
    assert_eq!(
        both.spans(),
        ["s3", "s6", "s8"],
        "without --agree the first judge's verdict stands"
    );
    let second = &both.row["second"];
    assert_eq!(
        (second["status"].as_str(), second["judge"]["model"].as_str()),
        (Some("ok"), Some("other-model"))
    );
    assert_eq!(second["prediction"]["earliest_harmful_span_id"], "s6");
    let agreement = &second["agreement"];
    assert_eq!(agreement["same_first"], false);
    assert_eq!(
        (&agreement["both"], &agreement["only_first"], &agreement["only_second"]),
        (&json!(["s6", "s8"]), &json!(["s3"]), &json!(["s7"]))
    );
    assert!(
        (agreement["kappa"].as_f64().unwrap() - 7.0 / 15.0).abs() < 1e-9,
        "{agreement}"
    );
    assert_eq!(both.row["usage"]["total"]["calls"], 6);

    let agreed = ran(dir.path(), &one, &[&flags[..], &["--agree"]].concat()).await;
    assert_eq!(agreed.spans(), ["s6", "s8"]);
    assert_eq!(agreed.row["prediction"]["earliest_harmful_span_id"], "s6");
    assert_eq!(agreed.row["audit"]["findings"][0]["role"], "first");
    assert!(agreed.told("only spans that both judges name"));

    let down = Stub::start(|_, _| answer(500, &json!({"error": "down"}))).await;
    let base = format!("{}/v1", down.base);
    let flags = [
        "--second-judge",
        "other-model",
        "--second-base-url",
        &base,
        "--retries",
        "0",
    ];
    let alone = ran(dir.path(), &one, &flags).await;
    assert_eq!(
        (alone.output.status.code(), alone.spans()),
        (Some(0), vec!["s3", "s6", "s8"])
    );
    assert_eq!(
        (
            alone.row["second"]["status"].as_str(),
            &alone.row["second"]["agreement"]
        ),
        (Some("failed"), &Value::Null)
    );
    assert!(alone.stderr().contains("second judge failed"), "{}", alone.stderr());
    let none = ran(dir.path(), &one, &[&flags[..], &["--agree"]].concat()).await;
    assert_eq!(
        (none.output.status.code(), none.row["status"].as_str()),
        (Some(3), Some("failed")),
        "what both say is not known"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_knows_is_told_and_recorded() {
    let dir = folder(&row(8, 30));
    let stub = tracers(&[&["s6"]]).await;
    let plain = ran(dir.path(), &stub, &[]).await;
    assert_eq!(
        plain.row["user"],
        json!({"outcome": "unknown", "reference_answer": null})
    );
    assert!(stub.seen().iter().all(|seen| !prompt(seen).contains("The user ")));
    let told = ran(
        dir.path(),
        &stub,
        &["--outcome", "failed", "--reference-answer", "1701 to 1708"],
    )
    .await;
    assert_eq!(
        told.row["user"],
        json!({"outcome": "failed", "reference_answer": "1701 to 1708"})
    );
    assert!(
        stub.seen()[3..]
            .iter()
            .all(|seen| prompt(seen).contains("1701 to 1708"))
    );
    let base = format!("{}/v1", stub.base);
    let args = [
        "localize",
        "run.json",
        "--base-url",
        &base,
        "--model",
        "m",
        "--outcome",
        "failed",
        "--reference-answer",
        "1701 to 1708",
    ];
    let text = String::from_utf8(auditor(dir.path(), &args).await.stdout).unwrap();
    assert!(
        text.contains("Told by the user: it ended with a wrong result; the right answer is \"1701 to 1708\""),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_with_votes_and_a_second_judge_fit_the_schema() {
    let schema = auditor::report::result_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let dir = folder(&row(8, 30));
    let (one, two) = (
        tracers(&[&["s6"], &["down"], &["s6", "s7"]]).await,
        tracers(&[&["s6"], &["down"], &["s7"]]).await,
    );
    let base = format!("{}/v1", two.base);
    let flags = [
        "--repeats",
        "3",
        "--retries",
        "0",
        "--second-judge",
        "n",
        "--second-base-url",
        &base,
        "--outcome",
        "correct",
    ];
    let ran = ran(dir.path(), &one, &flags).await;
    let errors: Vec<String> = validator.iter_errors(&ran.row).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(ran.row["second"]["repeats"]["asked"], 3);
    assert!(ran.row["second"]["votes"].is_object() && ran.row["votes"].is_object());
}
