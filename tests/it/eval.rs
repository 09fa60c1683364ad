//! `auditor eval` and `auditor compare` as programs.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, rows: &[Value]) -> PathBuf {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        self.write_text(name, &text)
    }

    fn write_text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn gold_row(id: &str, spans: &[&str]) -> Value {
    let ids: Vec<Value> = (1..=8)
        .map(|n| json!({"id": format!("s{n:03}"), "raw": "words"}))
        .collect();
    json!({"id": id, "question": "q", "spans": ids, "gold": {"error_span_ids": spans}, "meta": {"bench": "b"}})
}

fn result_row(id: &str, spans: &[&str]) -> Value {
    let prediction =
        json!({"traj_id": id, "error_span_ids": spans, "earliest_harmful_span_id": spans.first(), "reasons": []});
    json!({"schema": "auditor.result/1", "case_id": id, "method": "drift", "status": "ok", "prediction": prediction})
}

fn auditor(arguments: &[&str], paths: &[&Path]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("auditor"));
    command.args(arguments).args(paths);
    command
}

fn six_runs(folder: &Folder) -> (PathBuf, PathBuf) {
    let gold = folder.write(
        "gold.jsonl",
        &[
            gold_row("A", &["s006", "s008"]),
            gold_row("B", &["s003"]),
            gold_row("C", &[]),
            gold_row("D", &[]),
            gold_row("E", &["s002", "s004"]),
            gold_row("F", &["s001"]),
        ],
    );
    let failed = json!({"case_id": "D", "status": "failed", "cause": {"kind": "server"}, "prediction": null});
    let pred = folder.write(
        "pred.jsonl",
        &[
            result_row("A", &["s006", "s008"]),
            result_row("B", &[]),
            result_row("C", &[]),
            failed,
            result_row("F", &["s001", "s005"]),
            result_row("X", &["s001"]),
        ],
    );
    (gold, pred)
}

fn json_of(command: &mut Command) -> Value {
    let output = command.assert().success().get_output().clone();
    assert_eq!(
        output.stderr, b"",
        "standard error is for what has no place in the output"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn failed_missing_and_both_empty_runs_are_counted_as_the_output_says() {
    let folder = Folder::new();
    let (gold, pred) = six_runs(&folder);
    let scores = |both_empty: &str| {
        let mut command = auditor(
            &[
                "eval",
                "--resamples",
                "100",
                "--format",
                "json",
                "--both-empty",
                both_empty,
            ],
            &[],
        );
        let found = json_of(command.arg("--gold").arg(&gold).arg("--pred").arg(&pred));
        assert_eq!(found["both_empty"].to_string(), both_empty);
        found["predictions"][0].clone()
    };
    let near = |value: &Value, expected: f64| {
        assert!(
            (value.as_f64().unwrap() - expected).abs() < 5e-5,
            "{value} is not {expected}"
        );
    };
    let one = scores("1");
    near(&one["headline"]["macro_f1"], 0.4444);
    near(&one["headline"]["first_error_accuracy"], 0.5);
    near(&one["scored_only"]["macro_f1"], 0.6667);
    near(&one["scored_only"]["first_error_accuracy"], 0.75);
    let counts = json!({"gold": 6, "ok": 4, "failed": 1, "refused": 0, "not_run": 0, "missing": 1, "extra": 1});
    assert_eq!(one["counts"], counts);
    let zero = scores("0");
    near(&zero["headline"]["macro_f1"], 0.2778);
    near(&zero["headline"]["first_error_accuracy"], 0.3333);
}

#[test]
fn every_form_of_the_table_carries_the_trivial_rows_and_the_rule() {
    let folder = Folder::new();
    let (gold, pred) = six_runs(&folder);
    for (form, mark) in [
        ("text", "last span  "),
        ("md", "| last span |"),
        ("csv", "last span,headline,,,macro_f1,"),
    ] {
        let mut command = auditor(&["eval", "--resamples", "100", "--format", form, "--gold"], &[&gold]);
        let output = command.arg("--pred").arg(&pred).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(mark), "{form}: {text}");
        let said = String::from_utf8(output.stderr).unwrap();
        if form == "csv" {
            assert!(
                said.contains("note: pred: predictions for runs that gold does not have"),
                "{said}"
            );
        } else {
            assert!(text.contains("Both-empty rule"), "{form}: {text}");
            assert!(text.contains("gold does not have"), "{form}: {text}");
            assert_eq!(said, "", "{form}");
        }
    }
}

#[test]
fn three_votes_have_the_kappa_worked_out_by_hand() {
    let folder = Folder::new();
    let gold = folder.write("gold.jsonl", &[gold_row("r", &["s006", "s008"])]);
    let votes: Vec<PathBuf> = [vec!["s006", "s008"], vec!["s006"], vec!["s006", "s007", "s008"]]
        .iter()
        .zip(1..)
        .map(|(spans, vote)| folder.write(&format!("vote{vote}.jsonl"), &[result_row("r", spans)]))
        .collect();
    let mut command = auditor(&["eval", "--resamples", "100", "--format", "json", "--gold"], &[&gold]);
    let found = json_of(command.arg("--pred").args(&votes));
    let kappa = found["agreement"]["fleiss_kappa"].as_f64().unwrap();
    assert!((kappa - 0.5556).abs() < 5e-5, "{kappa}");
    assert_eq!(found["agreement"]["spans"], 8);
    let marked: Vec<(&Value, &Value)> = found["agreement"]["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| (&level["at_least"], &level["marked_spans_right"]["n"]))
        .collect();
    assert_eq!(
        marked,
        [(&json!(3), &json!(1)), (&json!(2), &json!(2)), (&json!(1), &json!(3))]
    );
}

#[test]
fn a_plot_and_the_same_numbers_twice() {
    let folder = Folder::new();
    let (gold, pred) = six_runs(&folder);
    let plot = folder.0.path().join("first.svg");
    let run = || {
        let mut command = auditor(&["eval", "--resamples", "300", "--format", "json", "--gold"], &[&gold]);
        json_of(command.arg("--pred").arg(&pred).arg("--plot").arg(&plot))
    };
    assert_eq!(run(), run());
    assert!(std::fs::read_to_string(&plot).unwrap().trim_end().ends_with("</svg>"));
}

#[test]
fn a_gold_file_that_cannot_be_read_in_full_gives_no_scores() {
    let folder = Folder::new();
    let pred = folder.write("pred.jsonl", &[result_row("A", &[])]);
    for (name, text, words) in [
        (
            "torn.jsonl",
            "{\"id\":\"A\",\"error_span_ids\":[]}\n{\"id\":\"B\",\"error_sp\n",
            "torn.jsonl:2",
        ),
        ("empty.jsonl", "", "no labelled run"),
        ("unlabelled.jsonl", "{\"id\":\"A\"}\n", "no labelled run"),
    ] {
        let gold = folder.write_text(name, text);
        let output = auditor(&["eval", "--gold"], &[&gold])
            .arg("--pred")
            .arg(&pred)
            .assert()
            .code(2)
            .get_output()
            .clone();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(words), "{name}: {said}");
        assert_eq!(output.stdout, b"", "{name}");
    }
    let absent = folder.0.path().join("absent.jsonl");
    auditor(&["eval", "--gold"], &[&absent])
        .arg("--pred")
        .arg(&pred)
        .assert()
        .code(2);
}

#[test]
fn predictions_without_one_readable_row_give_no_scores() {
    let folder = Folder::new();
    let (gold, _) = six_runs(&folder);
    let pred = folder.write_text("pred.jsonl", "not json\n");
    let output = auditor(&["eval", "--gold"], &[&gold])
        .arg("--pred")
        .arg(&pred)
        .assert()
        .code(2)
        .get_output()
        .clone();
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("no prediction row that can be read")
    );
}

#[test]
fn data_gives_positions_to_plain_gold_rows() {
    let folder = Folder::new();
    let (data, _) = six_runs(&folder);
    let gold = folder.write("plain.jsonl", &[json!({"id": "A", "error_span_ids": ["s006"]})]);
    let pred = folder.write("pred.jsonl", &[json!({"id": "A", "error_span_ids": ["s007"]})]);
    let run = |with_data: bool| {
        let mut command = auditor(&["eval", "--resamples", "100", "--format", "json", "--gold"], &[&gold]);
        command.arg("--pred").arg(&pred);
        if with_data {
            command.arg("--data").arg(&data);
        }
        json_of(&mut command)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with["predictions"][0]["headline"]["within_1"], 1.0);
    assert_eq!(without["predictions"][0]["headline"]["within_1"], Value::Null);
    assert_eq!(without["notes"][0]["code"], "no_spans");
}

#[test]
fn compare_lists_where_two_judges_differ() {
    let folder = Folder::new();
    let (gold, first) = six_runs(&folder);
    let second = folder.write(
        "second.jsonl",
        &[
            result_row("A", &["s008", "s006"]),
            result_row("B", &["s003"]),
            result_row("C", &[]),
            result_row("D", &[]),
            result_row("F", &["s005"]),
        ],
    );
    let mut command = auditor(
        &["compare", "--resamples", "100", "--format", "json"],
        &[&first, &second],
    );
    let found = json_of(command.arg("--gold").arg(&gold));
    let cases: Vec<&Value> = found["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| &case["case_id"])
        .collect();
    assert_eq!(cases, [&json!("B"), &json!("D"), &json!("F")]);
    assert_eq!((&found["runs"], &found["same"]), (&json!(6), &json!(3)));
    let test = &found["paired"]["mcnemar"];
    // Right on the first error: both on A and C, the first alone on F, the second alone on B and D, nobody on E.
    let counts: Vec<&Value> = ["both", "only_a", "only_b", "neither"]
        .iter()
        .map(|key| &test[key])
        .collect();
    assert_eq!(counts, [&json!(2), &json!(1), &json!(2), &json!(1)]);
    assert_eq!(test["p"], 1.0);
    for (form, mark) in [
        ("text", "(failed)"),
        ("md", "| D | second |"),
        ("csv", "D,second,none,(failed),none,"),
    ] {
        let mut command = auditor(&["compare", "--resamples", "100", "--format", form], &[&first, &second]);
        let output = command.arg("--gold").arg(&gold).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(mark), "{form}: {text}");
    }
}
