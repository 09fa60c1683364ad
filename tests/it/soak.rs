//! Faults at random, from a seed: every question ends in a reply or a named cause, none is lost,
//! and none is asked again after its reply.
//!
//! `AUDITOR_SOAK_RUNS=2000 cargo test --test it soak:: -- --nocapture` for the long one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use auditor::audit::Answer;
use auditor::drive::{CallSettings, Caller, Client, Judge as _, Memory};
use auditor::wire::{Api, Endpoint, Params, RetryPolicy, fraction};
use serde_json::json;

use super::stub::{Act, Answer as Http, Seen, Stub, answer, completion};
use super::wire::{ask, judge};

const SEED: u64 = 20_261_130;
const WORKERS: usize = 32;

#[derive(Default)]
struct Book {
    /// Requests by question, and whether a whole good reply was sent.
    asked: Mutex<BTreeMap<String, (u32, bool)>>,
    after_success: AtomicUsize,
    acts: AtomicUsize,
}

impl Book {
    fn act(&self, n: usize, seen: &Seen) -> Act {
        let question = seen.body["messages"][1]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let good = answer(
            200,
            &completion("{\"error_span_ids\":[],\"earliest_harmful_span_id\":null}", "stop"),
        );
        let whole = Http::new(200, completion("{\"error_span_ids\":[]}", "stop").to_string());
        self.acts.fetch_add(1, Ordering::Relaxed);
        let at = fraction(SEED, n as u64);
        let act = match (at * 100.0) as u32 {
            0..=5 => Act::Answer(Http::new(429, "{\"error\":{\"code\":429}}").header("retry-after-ms", "20")),
            6..=10 => answer(500, &json!({"error": "boom"})),
            11..=13 => Act::Answer(Http::new(503, "busy").header("retry-after", "0.02")),
            14..=16 => Act::Reset,
            17..=19 => Act::ResetAt(30, whole),
            20..=21 => Act::CutAt(30, whole),
            22 => Act::Stall,
            23 => Act::StallAt(20, whole),
            24..=26 => Act::Garbage,
            27..=29 => Act::Answer(Http::new(200, "<html>504</html>").header("content-type", "text/html")),
            30..=32 => Act::Answer(Http::new(200, "{\"choices\":[{")),
            33..=34 => answer(200, &json!({"error": {"code": 502, "message": "upstream"}})),
            35..=36 => Act::Close,
            37 => answer(200, &completion("", "stop")),
            38..=47 => {
                self.note(&question, true);
                let body = completion("{\"error_span_ids\":[],\"earliest_harmful_span_id\":null}", "stop");
                return Act::AnswerThenClose(Http::new(200, body.to_string()));
            }
            48..=52 => {
                self.note(&question, true);
                return Act::After(Duration::from_millis(80), Box::new(good));
            }
            _ => {
                self.note(&question, true);
                return good;
            }
        };
        self.note(&question, false);
        act
    }

    fn note(&self, question: &str, success: bool) {
        let mut asked = self.asked.lock().unwrap();
        let entry = asked.entry(question.to_owned()).or_default();
        entry.0 += 1;
        if entry.1 {
            self.after_success.fetch_add(1, Ordering::Relaxed);
        }
        entry.1 |= success;
    }
}

/// Resident memory in kilobytes; 0 where `/proc` is not there.
fn resident_kb() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_question_ends_and_none_is_asked_after_its_reply() {
    let runs: u64 = std::env::var("AUDITOR_SOAK_RUNS").map_or(200, |runs| runs.parse().expect("a number"));
    let book = Arc::new(Book::default());
    let script = Arc::clone(&book);
    let stub = Stub::start_forgetful(move |n, seen| script.act(n, seen)).await;
    let mut settings = CallSettings::new(Params {
        api: Api::Chat,
        model: "test-model".to_owned(),
        ..Params::default()
    });
    settings.attempt = Duration::from_secs(3);
    settings.retry = RetryPolicy {
        retries: 3,
        base: Duration::from_millis(5),
        cap: Duration::from_millis(100),
        ceiling: Duration::from_secs(1),
    };
    let client = Client::new(Endpoint::parse(&stub.base).unwrap(), None, settings.attempt).unwrap();
    let judge = Arc::new(judge(Caller::new(client, settings, &Memory::default())));
    let (next, started) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let tally: Arc<Mutex<BTreeMap<String, u64>>> = Arc::default();
    let calls = Arc::new(AtomicU64::new(0));
    let early = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (judge, next, tally, calls, early) = (
                Arc::clone(&judge),
                Arc::clone(&next),
                Arc::clone(&tally),
                Arc::clone(&calls),
                Arc::clone(&early),
            );
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= runs {
                        return;
                    }
                    if n == runs / 4 {
                        early.store(resident_kb(), Ordering::Relaxed);
                    }
                    let judged = judge.answer(&ask(n)).await;
                    calls.fetch_add(judged.usage.calls, Ordering::Relaxed);
                    let word = match judged.answer {
                        Answer::Reply { .. } => "reply".to_owned(),
                        Answer::Unreadable { text, .. } if text.is_empty() => "empty".to_owned(),
                        Answer::GaveUp(cause) => format!("{:?}", cause.kind).to_lowercase(),
                        other => format!("unexpected {other:?}"),
                    };
                    *tally.lock().unwrap().entry(word).or_default() += 1;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let tally = tally.lock().unwrap().clone();
    let (first, last) = (early.load(Ordering::Relaxed), resident_kb());
    println!(
        "soak: {runs} runs, {} requests, {:?}, {tally:?}, resident {first} kB at a quarter, {last} kB at the end",
        calls.load(Ordering::Relaxed),
        started.elapsed()
    );
    assert_eq!(tally.values().sum::<u64>(), runs, "a question was lost");
    assert!(!tally.keys().any(|word| word.starts_with("unexpected")), "{tally:?}");
    assert!(tally.get("reply").copied().unwrap_or(0) * 10 >= runs * 9, "{tally:?}");
    assert_eq!(
        book.after_success.load(Ordering::Relaxed),
        0,
        "asked again after success"
    );
    assert_eq!(
        book.asked.lock().unwrap().len() as u64,
        runs,
        "a question was never asked"
    );
    let requests = book.acts.load(Ordering::Relaxed) as u64;
    assert!(
        calls.load(Ordering::Relaxed) >= requests,
        "requests that no account holds"
    );
    if runs >= 1000 && first > 0 {
        assert!(last < first + 48 * 1024, "memory grew from {first} kB to {last} kB");
    }
}
