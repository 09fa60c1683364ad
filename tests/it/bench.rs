//! `auditor bench` through the binary, against an endpoint that answers by script and counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::localize::auditor;
use crate::stub::{Act, Answer, Seen, Stub, answer, completion};

/// Spans of each run.
const SPANS: usize = 5;

/// Run number `n`: its question holds the number, so that the stub knows which run is asked about. Every
/// fourth run is clean; the others go wrong at a span that depends on the number.
fn run(n: usize) -> Value {
    let texts = [
        format!("Plan: find who kept lighthouse {n:04} and since when."),
        format!("search(\"lighthouse {n:04} keeper\")"),
        format!("Result: the log of lighthouse {n:04} names Ines Varga as keeper from 1911."),
        format!("So lighthouse {n:04} was kept by Ines Varga from 1908, which settles it."),
        format!("Final answer: Ines Varga, 1908, lighthouse {n:04}."),
    ];
    let spans: Vec<Value> = texts
        .iter()
        .zip(1..)
        .map(|(text, at)| json!({"id": format!("s{at}"), "raw": text}))
        .collect();
    let gold: Vec<String> = if n % 4 == 0 {
        Vec::new()
    } else {
        vec![format!("s{}", gold_at(n)), "s5".to_owned()]
    };
    json!({"id": format!("run-{n:04}"), "question": format!("Who kept lighthouse {n:04}, and since when?"), "spans": spans,
        "gold": {"error_span_ids": gold}, "meta": {"difficulty": if n % 2 == 0 { "easy" } else { "hard" }}})
}

fn gold_at(n: usize) -> usize {
    3 + n % 2
}

fn data(dir: &Path, runs: impl IntoIterator<Item = usize>) -> PathBuf {
    let lines: Vec<String> = runs.into_iter().map(|n| run(n).to_string()).collect();
    let path = dir.join("runs.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn prompt(seen: &Seen) -> String {
    let messages = seen.body["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Which run and which stage a request is about.
fn about(seen: &Seen) -> (usize, &'static str) {
    let text = prompt(seen);
    let at = text.find("Who kept lighthouse ").unwrap() + "Who kept lighthouse ".len();
    let n = text[at..at + 4].parse().unwrap();
    let name = seen.body["response_format"]["json_schema"]["name"]
        .as_str()
        .unwrap_or_default();
    let stage = ["keeper", "seeker", "tracer", "bare"]
        .into_iter()
        .find(|stage| name.contains(stage));
    (n, stage.unwrap_or_else(|| panic!("which stage is {name}?")))
}

/// What a judge says of a run: right on most, late on every third.
fn reply(n: usize, stage: &str) -> Value {
    let first = if n % 3 == 0 { 5 } else { gold_at(n) };
    let errors: Vec<String> = if n % 4 == 0 {
        Vec::new()
    } else {
        (first..=SPANS).map(|at| format!("s{at}")).collect()
    };
    match stage {
        "keeper" => json!({"task_goal": "keeper and year", "hard_constraints": [], "notes": "", "claims": [
            {"claim_id": "c1", "claim": "Ines Varga kept it from 1908.", "introduced_at": "s4", "becomes_consequential_at": "s4",
             "used_by": ["s5"], "claim_type": "evidence", "status": "finalized"}]}),
        "seeker" => {
            json!({"support_records": [{"claim_id": "c1", "support_spans": ["s3"], "support_status": "direct", "missing_support": "",
            "needs_auditors": [], "evidence_handles": [{"span_id": "s3", "chunk_id": "s3:c001", "role": "direct_support", "text": "names Ines Varga as keeper"}]}]})
        }
        "tracer" => {
            json!({"first_error_span": errors.first(), "linked_error_span_ids": errors.get(1..).unwrap_or(&[]), "non_errors": [],
            "reason": format!("run {n}"), "error_span_ids": errors, "earliest_harmful_span_id": errors.first()})
        }
        _ => json!({"error_span_ids": errors, "earliest_harmful_span_id": errors.first(), "reasons": []}),
    }
}

fn good(seen: &Seen) -> Act {
    let (n, stage) = about(seen);
    answer(200, &completion(&reply(n, stage).to_string(), "stop"))
}

async fn judge() -> Stub {
    Stub::start(|_, seen| good(seen)).await
}

struct Bench {
    dir: tempfile::TempDir,
    base: String,
}

impl Bench {
    fn new(stub: &Stub, runs: impl IntoIterator<Item = usize>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        data(dir.path(), runs);
        Self {
            dir,
            base: format!("{}/v1", stub.base),
        }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec![
            "bench",
            "--data",
            "runs.jsonl",
            "--base-url",
            &self.base,
            "--resamples",
            "200",
        ];
        args.extend(more);
        args
    }

    async fn run(&self, more: &[&str]) -> Output {
        auditor(self.dir.path(), &self.args(more)).await
    }

    /// The folders below `runs/`.
    fn folders(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(self.dir.path().join("runs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        found.sort();
        found
    }

    fn folder(&self) -> PathBuf {
        let found = self.folders();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.folder().join(name)).unwrap()).unwrap()
    }

    fn rows(&self) -> Vec<Value> {
        rows(&self.folder())
    }

    fn board_row(&self, model: &str, method: &str) -> Value {
        let board = self.json("leaderboard.json");
        let rows = board["rows"].as_array().unwrap();
        rows.iter()
            .find(|row| row["model"] == model && row["method"] == method)
            .unwrap_or_else(|| panic!("{model} {method}"))
            .clone()
    }
}

fn rows(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a result is, without what differs from one asking to the next.
fn lasting(row: &Value) -> Value {
    let mut row = row.clone();
    let members = row.as_object_mut().unwrap();
    members.remove("usage");
    row
}

#[tokio::test(flavor = "multi_thread")]
async fn every_run_is_asked_once_and_everything_is_written() {
    let stub = judge().await;
    let bench = Bench::new(&stub, 1..=8);
    let output = bench
        .run(&["--model", "m", "--method", "drift,bare", "--runs-dir", "runs"])
        .await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stub.count(), 8 * 4);
    let asked: BTreeSet<(usize, &str)> = stub.seen().iter().map(about).collect();
    assert_eq!(asked.len(), 8 * 4, "each question once");
    assert!(
        stub.seen()
            .iter()
            .all(|seen| !seen.body.to_string().contains("difficulty")),
        "labels are never sent"
    );

    let rows = bench.rows();
    assert_eq!(rows.len(), 16);
    let order: Vec<_> = rows
        .iter()
        .map(|row| (row["method"].as_str().unwrap(), row["case_id"].as_str().unwrap()))
        .collect();
    assert_eq!((order[0], order[8]), (("drift", "run-0001"), ("bare", "run-0001")));
    assert!(
        rows.iter()
            .all(|row| row["schema"] == "auditor.result/1" && row["model"] == "m" && row["repeat"] == 0)
    );

    // Runs 3 and 6 are told late, 4 and 8 are clean and told so.
    for method in ["drift", "bare"] {
        let row = bench.board_row("m", method);
        assert_eq!(row["first_error_accuracy"]["value"], 6.0 / 8.0, "{method}");
        assert_eq!(
            (row["false_alarm"]["k"].as_u64(), row["false_alarm"]["n"].as_u64()),
            (Some(0), Some(2))
        );
        assert_eq!(row["counts"]["ok"], 8);
        assert_eq!(row["spent"]["calls"], if method == "drift" { 24 } else { 8 });
        let summary = bench.json(&format!("summary.m-{method}.json"));
        let items = summary["items"].as_array().unwrap();
        assert_eq!((items.len(), &items[2]["case_id"]), (8, &json!("run-0003")));
        assert_eq!(items[2]["prediction"]["error_span_ids"], json!(["s5"]));
    }
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "(rule) last span",
        "published, other prompts",
        "on TELBench, which this data is not",
        "no price is known",
        "75.0 [",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    let markdown = std::fs::read_to_string(bench.folder().join("leaderboard.md")).unwrap();
    assert!(markdown.contains("| m | drift | 75.0"), "{markdown}");
    let csv = std::fs::read_to_string(bench.folder().join("leaderboard.csv")).unwrap();
    assert!(csv.lines().any(|line| line.starts_with("judged,m,bare,0.75,")), "{csv}");
    let svg = std::fs::read_to_string(bench.folder().join("leaderboard.svg")).unwrap();
    assert!(
        svg.starts_with("<svg") && svg.contains("m / bare") && svg.contains("tokens of all audits"),
        "{svg}"
    );
    let manifest = bench.json("manifest.json");
    assert_eq!(
        (manifest["schema"].as_str(), manifest["status"].as_str()),
        (Some("auditor.bench/1"), Some("complete"))
    );
    assert_eq!(
        (&manifest["data"]["audited_runs"], &manifest["parameters"]["repeats"]),
        (&json!(8), &json!(1))
    );
    assert_eq!(manifest["identity"]["prompts"].as_str().unwrap().len(), 64);
    assert!(
        manifest["lanes"][0]["depends_on"]["endpoint"]
            .as_str()
            .unwrap()
            .starts_with("http://127")
    );

    // Our own scorer reads the summary, and so does the second run, which asks nothing.
    let name = bench.folder().join("summary.m-bare.json");
    let scored = auditor(
        bench.dir.path(),
        &[
            "eval",
            "--gold",
            "runs.jsonl",
            "--pred",
            name.to_str().unwrap(),
            "--format",
            "json",
        ],
    )
    .await;
    let scored: Value = serde_json::from_slice(&scored.stdout).unwrap();
    assert_eq!(scored["predictions"][0]["headline"]["first_error_accuracy"], 0.75);
    let again = bench.run(&["--model", "m", "--method", "bare,drift"]).await;
    assert_eq!(
        (again.status.code(), stub.count()),
        (Some(0), 8 * 4),
        "{}",
        stderr(&again)
    );
    assert!(stderr(&again).contains("going on with"), "{}", stderr(&again));
    assert_eq!(rows, bench.rows_by_method(&["drift", "bare"]));
}

impl Bench {
    /// The rows, the methods in this order.
    fn rows_by_method(&self, methods: &[&str]) -> Vec<Value> {
        let rows = self.rows();
        methods
            .iter()
            .flat_map(|method| {
                rows.iter()
                    .filter(|row| row["method"] == **method)
                    .cloned()
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// The questions whose answers the journals of a folder hold.
fn recorded(runs: &Path) -> BTreeSet<(String, String, String)> {
    let mut found = BTreeSet::new();
    let Ok(folders) = std::fs::read_dir(runs) else {
        return found;
    };
    for folder in folders.map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if !file.file_name().unwrap().to_string_lossy().starts_with("journal.") {
                continue;
            }
            for line in std::fs::read_to_string(file)
                .unwrap()
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'))
            {
                let line: Value = serde_json::from_str(line).unwrap();
                let ask = &line["answer"]["ask"];
                if let Some(id) = ask["case_id"].as_str() {
                    found.insert((
                        id.to_owned(),
                        ask["method"].as_str().unwrap().to_owned(),
                        ask["stage"].as_str().unwrap().to_owned(),
                    ));
                }
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_it_ends_as_if_it_had_not_been() {
    const RUNS: usize = 24;
    let calm = judge().await;
    let undisturbed = Bench::new(&calm, 1..=RUNS);
    let args = ["--model", "m", "--method", "drift,bare", "-j", "4"];
    assert_eq!(undisturbed.run(&args).await.status.code(), Some(0));

    // From a given request on the stub says that it is time to kill, and answers no more.
    let (sender, mut kills) = tokio::sync::mpsc::unbounded_channel();
    let at: Arc<Mutex<usize>> = Arc::new(Mutex::new(usize::MAX));
    let due = at.clone();
    let stub = Stub::start(move |n, seen| {
        if n >= *due.lock().unwrap() {
            sender.send(()).unwrap();
            return Act::Stall;
        }
        good(seen)
    })
    .await;
    let bench = Bench::new(&stub, 1..=RUNS);
    let mut known = BTreeSet::new();
    let (mut killed, mut asked_before) = (0, 0);
    loop {
        // After so many more answers, some before the first is written; in the end, not at all.
        let more = [0, 7, 1, 12, 5, 3, 17, 2, 9, 11].get(killed).copied();
        *at.lock().unwrap() = more.map_or(usize::MAX, |more| stub.count() + more);
        let mut child = Command::new(env!("CARGO_BIN_EXE_auditor"))
            .args(bench.args(&args))
            .current_dir(bench.dir.path())
            .env_remove("AUDITOR_MODEL")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if killed < 10 {
            kills.recv().await.unwrap();
            child.kill().unwrap();
            killed += 1;
        }
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap())
            .await
            .unwrap();
        while kills.try_recv().is_ok() {}
        let seen = stub.seen();
        for (n, stage) in seen[asked_before..].iter().map(about) {
            let id = format!("run-{n:04}");
            let method = if stage == "bare" { "bare" } else { "drift" };
            assert!(
                !known.contains(&(id.clone(), method.to_owned(), stage.to_owned())),
                "{id} {stage} was answered and asked again"
            );
        }
        asked_before = seen.len();
        known = recorded(&bench.dir.path().join("runs"));
        if status.success() {
            break;
        }
    }
    assert_eq!((killed, known.len()), (10, RUNS * 4));
    assert!(stub.count() <= RUNS * 4 + killed * 4, "{} requests", stub.count());
    let (calm, stormy) = (undisturbed.rows(), bench.rows());
    assert_eq!(calm.len(), RUNS * 2);
    for (calm, stormy) in calm.iter().zip(&stormy) {
        let (mut a, mut b) = (lasting(calm), lasting(stormy));
        // The two stubs listen at two addresses.
        a["judge"]["endpoint"] = Value::Null;
        b["judge"]["endpoint"] = Value::Null;
        assert_eq!(a, b);
    }
    let scores = |bench: &Bench| {
        bench.json("leaderboard.json")["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["macro_f1"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(scores(&undisturbed), scores(&bench));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_journal_and_failed_audits() {
    let down: Arc<Mutex<BTreeSet<usize>>> = Arc::new(Mutex::new([2, 4].into()));
    let out = down.clone();
    let stub = Stub::start(move |_, seen| {
        let (n, stage) = about(seen);
        match n {
            n if stage == "seeker" && out.lock().unwrap().contains(&n) => {
                answer(500, &json!({"error": {"message": "boom"}}))
            }
            3 => Act::Answer(Answer::new(
                400,
                json!({"error": {"code": "content_filter", "message": "filtered"}}).to_string(),
            )),
            _ => good(seen),
        }
    })
    .await;
    let bench = Bench::new(&stub, 1..=5);
    let args = ["--model", "m", "--retries", "0", "-j", "1"];
    let first = bench.run(&args).await;
    assert_eq!(first.status.code(), Some(4), "{}", stderr(&first));
    let statuses: Vec<String> = bench
        .rows()
        .iter()
        .map(|row| row["status"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(statuses, ["ok", "failed", "refused", "failed", "ok"]);
    // Run 4 is clean by its label: a judge that failed on it was not right about it.
    let row = bench.board_row("m", "drift");
    assert_eq!(row["first_error_accuracy"]["value"], 2.0 / 5.0);
    assert_eq!(
        (
            &row["counts"]["failed"],
            &row["counts"]["refused"],
            &row["counts"]["ok"]
        ),
        (&json!(2), &json!(1), &json!(2))
    );
    assert_eq!(row["false_alarm"]["n"], 0);
    let summary = bench.json("summary.json");
    assert_eq!(summary["items"].as_array().unwrap().len(), 2);
    assert_eq!(summary["without_verdict"].as_array().unwrap().len(), 3);
    assert!(
        stderr(&first).contains("--retry-failed") && stderr(&first).contains("500"),
        "{}",
        stderr(&first)
    );

    // A crash in the middle of a write leaves a torn line, with a character that some take for a line break.
    let journal = bench.folder().join("journal.m-drift.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend("{\"answer\":{\"ask\":{\"case_id\":\"run\u{85}".as_bytes());
    std::fs::write(&journal, bytes).unwrap();
    let count = stub.count();
    let kept = bench.run(&args).await;
    assert_eq!(
        (kept.status.code(), stub.count()),
        (Some(4), count),
        "a failure is kept until asked for"
    );
    assert!(stderr(&kept).contains("torn last line"), "{}", stderr(&kept));
    let whole = std::fs::read_to_string(&journal).unwrap();
    assert!(whole.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));

    down.lock().unwrap().clear();
    let mut again = args.to_vec();
    again.push("--retry-failed");
    let retried = bench.run(&again).await;
    assert_eq!(retried.status.code(), Some(4), "{}", stderr(&retried));
    let since: Vec<_> = stub.seen()[count..].iter().map(about).collect();
    assert_eq!(
        since,
        [
            (2, "seeker"),
            (2, "tracer"),
            (3, "keeper"),
            (4, "seeker"),
            (4, "tracer")
        ],
        "only what failed, from where it failed"
    );
    assert_eq!(
        bench.board_row("m", "drift")["first_error_accuracy"]["value"],
        4.0 / 5.0
    );
    let rows = bench.rows();
    let ids: BTreeSet<_> = rows.iter().map(|row| row["case_id"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), ids.len()), (5, 5), "one row a run");
}

/// A profile with a price: 0.216 USD for a reply of 100,000 and 2,000 tokens.
fn priced(bench: &Bench) {
    let profile = format!(
        "[[model]]\nname = \"dear\"\nbase_url = \"{}\"\nprice = {{ input = 2.0, output = 8.0 }}\n",
        bench.base
    );
    std::fs::write(bench.dir.path().join("models.toml"), profile).unwrap();
}

fn dear(seen: &Seen) -> Act {
    let (n, stage) = about(seen);
    let mut reply = completion(&reply(n, stage).to_string(), "stop");
    reply["usage"] = json!({"prompt_tokens": 100_000, "completion_tokens": 2_000, "total_tokens": 102_000});
    answer(200, &reply)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cost_cap_stops_it_and_a_higher_one_goes_on() {
    let stub = Stub::start(|_, seen| dear(seen)).await;
    let bench = Bench::new(&stub, 1..=4);
    priced(&bench);
    let args = |cap: &'static str| {
        [
            "--models",
            "models.toml",
            "--model",
            "dear",
            "-j",
            "1",
            "--max-cost",
            cap,
        ]
    };
    let stopped = bench.run(&args("1")).await;
    assert_eq!(
        (stopped.status.code(), stub.count()),
        (Some(5), 5),
        "{}",
        stderr(&stopped)
    );
    let rows = bench.rows();
    let statuses: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ok", "not_run", "not_run", "not_run"]);
    assert_eq!(rows[1]["cause"]["kind"], "budget");
    let row = bench.board_row("dear", "drift");
    assert!(
        (row["spent"]["cost_usd"].as_f64().unwrap() - 5.0 * 0.216).abs() < 1e-9,
        "{row}"
    );
    assert_eq!(
        (
            &row["counts"]["not_run"],
            bench.json("manifest.json")["status"].as_str()
        ),
        (&json!(3), Some("budget"))
    );

    // The cap counts what was spent before, so the same one lets nothing more go, however many ask at once.
    let mut again = args("1").to_vec();
    again[5] = "8";
    let same = bench.run(&again).await;
    assert_eq!((same.status.code(), stub.count()), (Some(5), 5), "{}", stderr(&same));
    let higher = bench.run(&args("100")).await;
    assert_eq!(
        (higher.status.code(), stub.count()),
        (Some(0), 12),
        "{}",
        stderr(&higher)
    );
    assert!((bench.json("manifest.json")["spent_usd"].as_f64().unwrap() - 12.0 * 0.216).abs() < 1e-9);
    let svg = std::fs::read_to_string(bench.folder().join("leaderboard.svg")).unwrap();
    assert!(svg.contains("cost of all audits (USD)"));

    let unpriced = bench.run(&["--model", "cheap", "--max-cost", "1"]).await;
    assert!(
        stderr(&unpriced).contains("no price is known for cheap, so --max-cost cannot stop it"),
        "{}",
        stderr(&unpriced)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_side_by_side_do_not_pass_the_cap_together() {
    let stub = Stub::start(|_, seen| dear(seen)).await;
    let bench = Bench::new(&stub, 1..=40);
    priced(&bench);
    let output = bench
        .run(&[
            "--models",
            "models.toml",
            "--model",
            "dear",
            "--method",
            "bare",
            "-j",
            "4",
            "--max-cost",
            "4.32",
        ])
        .await;
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    // Twenty calls cost 4.32 USD; one more may be under way when nothing is known of the price of the first four.
    assert!((20..=21).contains(&stub.count()), "{}", stub.count());
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_are_asked_apart_and_their_agreement_is_told() {
    let votes = [vec!["s2", "s5"], vec!["s2", "s5", "s7"], vec!["s2"]];
    let stub = Stub::start(move |n, _| {
        let errors = &votes[n % 3];
        answer(
            200,
            &completion(
                &json!({"error_span_ids": errors, "earliest_harmful_span_id": errors[0], "reasons": []}).to_string(),
                "stop",
            ),
        )
    })
    .await;
    let bench = Bench::new(&stub, []);
    let spans: Vec<Value> = (1..=8)
        .map(|at| json!({"id": format!("s{at}"), "raw": format!("step {at}")}))
        .collect();
    let row = json!({"id": "voted", "question": "q", "spans": spans, "gold": {"error_span_ids": ["s2", "s5"]}});
    std::fs::write(bench.dir.path().join("runs.jsonl"), row.to_string()).unwrap();
    let output = bench
        .run(&["--model", "m", "--method", "bare", "--repeats", "3", "-j", "1"])
        .await;
    assert_eq!(
        (output.status.code(), stub.count()),
        (Some(0), 3),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        bench
            .rows()
            .iter()
            .map(|row| row["repeat"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
    let vote = bench.json("votes.jsonl");
    assert_eq!(vote["votes"], json!({"s2": 3, "s5": 2, "s7": 1}));
    assert_eq!(vote["majority"], json!(["s2", "s5"]));
    let row = bench.board_row("m", "bare");
    // 6 of 24 marks: observed 5/6, expected 0.625.
    assert!(
        (row["repeats"]["span_kappa"].as_f64().unwrap() - 0.5556).abs() < 1e-4,
        "{row}"
    );
    assert_eq!(
        (&row["repeats"]["count"], &row["counts"]["gold"], &row["spent"]["calls"]),
        (&json!(3), &json!(3), &json!(3))
    );
    let mean = (1.0 + 0.8 + 2.0 / 3.0) / 3.0;
    assert!(
        (row["macro_f1"]["value"].as_f64().unwrap() - mean).abs() < 1e-9,
        "{row}"
    );
    assert_eq!(
        bench.json("summary.m-bare.repeat1.json")["items"][0]["prediction"]["error_span_ids"],
        json!(["s2", "s5", "s7"])
    );
    let fewer = bench.run(&["--model", "m", "--method", "bare", "--repeats", "2"]).await;
    assert_eq!(
        (fewer.status.code(), stub.count()),
        (Some(0), 3),
        "fewer repeats are part of the same run"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_answers_depend_on_makes_another_run_and_it_says_so() {
    let stub = judge().await;
    let bench = Bench::new(&stub, 1..=2);
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        ["--method", "bare"].into_iter().chain(more.iter().copied()).collect()
    };
    let first = bench.run(&with(&["--model", "a"])).await;
    assert!(
        stderr(&first).contains("a new run in runs/runs-a-bare-"),
        "{}",
        stderr(&first)
    );
    assert_eq!((bench.folders().len(), stub.count()), (1, 2));
    let exported = auditor(bench.dir.path(), &["prompts", "export", "mine"]).await;
    assert_eq!(exported.status.code(), Some(0));
    let file = bench.dir.path().join("mine/bare.j2");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("Marked.\n{text}")).unwrap();
    let changes: [(&[&str], &str); 4] = [
        (&["--model", "b"], "models (a there, b here)"),
        (&["--model", "a", "--prompts", "mine"], "prompts ("),
        (
            &["--model", "a", "--temperature", "0.7"],
            "temperature (0.1 there, 0.7 here)",
        ),
        (&["--model", "a", "--outcome", "failed"], "outcome ("),
    ];
    for (number, (change, words)) in changes.into_iter().enumerate() {
        let output = bench.run(&with(change)).await;
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
        assert_eq!(
            (bench.folders().len(), stub.count()),
            (number + 2, 2 * (number + 2)),
            "{words}"
        );
    }
    // With a judge more it is another run too, but nothing is paid for twice.
    let both = bench
        .run(&with(&["--model", "a", "--model", "b", "--model", "c"]))
        .await;
    assert_eq!(
        (both.status.code(), bench.folders().len(), stub.count()),
        (Some(0), 6, 12),
        "{}",
        stderr(&both)
    );
    assert!(
        stderr(&both).contains("a / bare: 2 answers taken over from"),
        "{}",
        stderr(&both)
    );
    // Other data of the same name.
    data(bench.dir.path(), 1..=3);
    let other = bench.run(&with(&["--model", "a"])).await;
    assert!(stderr(&other).contains("data ("), "{}", stderr(&other));
    assert_eq!((bench.folders().len(), stub.count()), (7, 15));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_data_is_part_of_the_same_run() {
    let stub = judge().await;
    let bench = Bench::new(&stub, 1..=12);
    let ids = |bench: &Bench| {
        bench
            .rows()
            .iter()
            .map(|row| row["case_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        ["--model", "m", "--method", "bare"]
            .into_iter()
            .chain(more.iter().copied())
            .collect()
    };
    bench.run(&with(&["--limit", "3"])).await;
    assert_eq!(
        (ids(&bench), stub.count()),
        (
            vec!["run-0001".to_owned(), "run-0002".to_owned(), "run-0003".to_owned()],
            3
        )
    );
    let sampled = bench.run(&with(&["--limit", "4", "--shuffle", "7"])).await;
    let sample = ids(&bench);
    assert_eq!(
        (sampled.status.code(), sample.len()),
        (Some(0), 4),
        "{}",
        stderr(&sampled)
    );
    assert_ne!(sample, ["run-0001", "run-0002", "run-0003", "run-0004"]);
    let count = stub.count();
    let again = bench.run(&with(&["--limit", "4", "--shuffle", "7"])).await;
    assert_eq!((ids(&bench), stub.count()), (sample, count), "{}", stderr(&again));
    bench.run(&with(&["--difficulty", "easy"])).await;
    assert!(ids(&bench).iter().all(|id| id[4..].parse::<usize>().unwrap() % 2 == 0) && ids(&bench).len() == 6);
    let none = bench.run(&with(&["--difficulty", "brutal"])).await;
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("easy, hard"), "{}", stderr(&none));
    let all = bench.run(&with(&[])).await;
    assert_eq!(
        (all.status.code(), stub.count(), ids(&bench).len()),
        (Some(0), 12, 12),
        "each question once over all of them"
    );
    assert!(String::from_utf8_lossy(&all.stdout).contains("runs.jsonl: 12 runs"));
    assert_eq!(bench.folders().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_asks_nobody() {
    let stub = judge().await;
    let bench = Bench::new(&stub, 1..=6);
    priced(&bench);
    let args = [
        "--models",
        "models.toml",
        "--model",
        "dear",
        "--model",
        "offline",
        "--method",
        "drift,bare",
        "--repeats",
        "2",
        "--dry-run",
    ];
    let output = bench.run(&args).await;
    assert_eq!(
        (output.status.code(), stub.count()),
        (Some(0), 0),
        "{}",
        stderr(&output)
    );
    assert!(!bench.dir.path().join("runs").exists(), "nothing is written");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("48 audits (6 runs, 4 judges and methods, 2 repeats)"),
        "{text}"
    );
    let cells = |model: &str, method: &str| -> Vec<String> {
        let line = text
            .lines()
            .find(|line| line.starts_with(model) && line.contains(method))
            .unwrap();
        line.split_whitespace().skip(2).map(str::to_owned).collect()
    };
    assert_eq!(
        (
            cells("dear", "drift")[0].as_str(),
            cells("dear", "bare")[0].as_str(),
            cells("offline", "drift")[0].as_str()
        ),
        ("36", "12", "0")
    );
    let (input, output, cost): (f64, f64, f64) = (
        cells("dear", "bare")[2].parse().unwrap(),
        cells("dear", "bare")[3].parse().unwrap(),
        cells("dear", "bare")[4].parse().unwrap(),
    );
    assert!(
        input > 12.0 * 300.0 && (cost - (input * 2.0 + output * 8.0) / 1e6).abs() < 1e-4,
        "{text}"
    );

    // What is recorded already is told.
    bench
        .run(&["--models", "models.toml", "--model", "dear", "--method", "bare"])
        .await;
    let later = bench
        .run(&[
            "--models",
            "models.toml",
            "--model",
            "dear",
            "--method",
            "bare",
            "--dry-run",
            "--format",
            "json",
        ])
        .await;
    let later: Value = serde_json::from_slice(&later.stdout).unwrap();
    assert_eq!(later["rows"][0]["of them recorded"], "6");
}

#[tokio::test(flavor = "multi_thread")]
async fn records_that_cannot_be_read_do_not_stop_it() {
    let stub = judge().await;
    let bench = Bench::new(&stub, []);
    let unlabelled = json!({"id": "x", "question": "Who kept lighthouse 0004, and since when?", "spans": [{"id": "s1", "raw": "r"}]});
    let no_spans = json!({"id": "run-0007", "question": "q", "gold": {"error_span_ids": ["s1"]}});
    let lines = [
        run(1).to_string(),
        "{broken".to_owned(),
        String::new(),
        unlabelled.to_string(),
        no_spans.to_string(),
        run(2).to_string(),
    ];
    std::fs::write(bench.dir.path().join("runs.jsonl"), lines.join("\n")).unwrap();
    let output = bench.run(&["--model", "m", "--method", "bare"]).await;
    assert_eq!(
        (output.status.code(), stub.count()),
        (Some(4), 2),
        "{}",
        stderr(&output)
    );
    let found: BTreeMap<u64, (Value, Value)> = bench
        .rows()
        .iter()
        .map(|row| {
            (
                row["source"]["line"].as_u64().unwrap(),
                (row["status"].clone(), row["cause"]["kind"].clone()),
            )
        })
        .collect();
    assert_eq!(found[&2], (json!("failed"), json!("input")));
    assert_eq!((found.len(), &found[&5].0), (4, &json!("failed")));
    let row = bench.board_row("m", "bare");
    assert_eq!(
        (&row["counts"]["gold"], &row["counts"]["ok"], &row["counts"]["failed"]),
        (&json!(3), &json!(2), &json!(1))
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 runs without a label were left out"));

    std::fs::write(bench.dir.path().join("runs.jsonl"), unlabelled.to_string()).unwrap();
    let nothing = bench.run(&["--model", "m"]).await;
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("--gold"), "{}", stderr(&nothing));
    // Labels of their own file.
    std::fs::write(
        bench.dir.path().join("gold.jsonl"),
        json!({"id": "x", "error_span_ids": ["s1"]}).to_string(),
    )
    .unwrap();
    let apart = bench
        .run(&["--model", "m", "--method", "bare", "--gold", "gold.jsonl"])
        .await;
    assert_eq!(apart.status.code(), Some(0), "{}", stderr(&apart));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_offline_judge_is_benchmarked_and_its_numbers_repeat() {
    let stub = judge().await;
    let bench = Bench::new(&stub, 1..=6);
    let args = [
        "bench",
        "--data",
        "runs.jsonl",
        "--format",
        "json",
        "--resamples",
        "200",
    ];
    let first = auditor(bench.dir.path(), &args).await;
    assert_eq!((first.status.code(), stub.count()), (Some(0), 0), "{}", stderr(&first));
    assert!(stderr(&first).contains("offline judge"));
    assert!(
        !stderr(&first).contains('\r') && !stderr(&first).contains('\u{1b}'),
        "no bar off a terminal"
    );
    let board: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(
        (&board["rows"][0]["model"], &board["rows"][0]["spent"]["cost_usd"]),
        (&json!("offline"), &json!(0.0))
    );
    let second = auditor(bench.dir.path(), &args).await;
    assert_eq!(board, serde_json::from_slice::<Value>(&second.stdout).unwrap());
    assert_eq!(board, bench.json("leaderboard.json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_refuses_the_key_is_asked_once() {
    let stub = Stub::start(|_, _| answer(401, &json!({"error": {"message": "bad key"}}))).await;
    let bench = Bench::new(&stub, 1..=9);
    let output = bench.run(&["--model", "m", "--method", "drift,bare", "-j", "1"]).await;
    assert_eq!(
        (output.status.code(), stub.count()),
        (Some(3), 1),
        "{}",
        stderr(&output)
    );
    assert_eq!(bench.board_row("m", "bare")["counts"]["not_run"], 9);
}
