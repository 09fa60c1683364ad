//! Killed, torn, failed: what a run goes on from.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Bench, about, good, judge, lasting, stderr};
use crate::stub::{Act, Answer, Stub, answer};

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
