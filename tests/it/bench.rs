//! `auditor bench` through the binary, against an endpoint that answers by script and counts.

mod kill;
mod money;
mod parts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::localize::auditor;
use crate::stub::{Act, Seen, Stub, answer, completion};

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
    let gold: Vec<String> = if n.is_multiple_of(4) {
        Vec::new()
    } else {
        vec![format!("s{}", gold_at(n)), "s5".to_owned()]
    };
    json!({"id": format!("run-{n:04}"), "question": format!("Who kept lighthouse {n:04}, and since when?"), "spans": spans,
        "gold": {"error_span_ids": gold}, "meta": {"difficulty": if n.is_multiple_of(2) { "easy" } else { "hard" }}})
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
    let first = if n.is_multiple_of(3) { 5 } else { gold_at(n) };
    let errors: Vec<String> = if n.is_multiple_of(4) {
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
