//! What it costs: the cap, the estimate, and a key that is refused.

use serde_json::{Value, json};

use super::{Bench, about, judge, reply, stderr};
use crate::stub::{Act, Seen, Stub, answer, completion};

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
