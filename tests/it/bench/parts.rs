//! Which runs, which judges, how often: what is part of the same run and what is another.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Bench, data, judge, run, stderr};
use crate::localize::auditor;
use crate::stub::{Stub, answer, completion};

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
