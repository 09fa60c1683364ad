//! The JSON Schemas that ship are those of the code.

use std::path::Path;

use serde_json::Value;

use crate::localize::auditor as run_auditor;

/// Compares a committed schema with the code's; `AUDITOR_WRITE_SCHEMAS=1 cargo test schema` writes it.
fn check(name: &str, schema: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/schema").join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    if std::env::var_os("AUDITOR_WRITE_SCHEMAS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{} is not the code's schema; AUDITOR_WRITE_SCHEMAS=1 cargo test schema writes it",
        path.display()
    );
}

#[test]
fn the_result_schema_is_the_codes() {
    check("result.schema.json", &auditor::report::result_schema());
}

#[test]
fn the_judge_schemas_are_the_codes() {
    check("align.schema.json", &auditor::report::align_schema());
    check("judge.request.schema.json", &auditor::report::judge_request_schema());
    check("judge.response.schema.json", &auditor::report::judge_response_schema());
}

#[tokio::test(flavor = "multi_thread")]
async fn judge_lines_fit_their_schemas() {
    let request = jsonschema::validator_for(&auditor::report::judge_request_schema()).unwrap();
    let response = jsonschema::validator_for(&auditor::report::judge_response_schema()).unwrap();
    let turn = |text: &str| serde_json::json!([{"id": "t", "role": "assistant", "text": text}]);
    let mut good = serde_json::json!({"schema": "auditor.judge/1", "id": "r", "goal": "mend the net", "turns": turn("I mend the net.")});
    assert!(request.is_valid(&good));
    good["priors"] = serde_json::json!([{"turn": "t", "tier": "lexical", "alignment": 1.2}]);
    assert!(!request.is_valid(&good));
    good["priors"] = serde_json::json!([{"turn": "t", "tier": "lexical", "alignment": 0.9}]);
    assert!(request.is_valid(&good));
    let dir = tempfile::tempdir().unwrap();
    let mut without_words = good.clone();
    (without_words["turns"], without_words["priors"]) = (turn("…"), Value::Null);
    std::fs::write(dir.path().join("in.jsonl"), format!("{good}\nno\n{without_words}\n")).unwrap();
    for (args, statuses) in [
        (vec!["judge", "in.jsonl"], ["ok", "failed", "failed"]),
        (
            vec!["judge", "in.jsonl", "--escalate", "0.2..0.4"],
            ["ok", "failed", "failed"],
        ),
        (
            vec!["judge", "in.jsonl", "--max-cost", "0"],
            ["not_run", "failed", "not_run"],
        ),
    ] {
        let output = run_auditor(dir.path(), &args).await;
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            rows.iter()
                .map(|row| row["status"].as_str().unwrap())
                .collect::<Vec<_>>(),
            statuses
        );
        for row in &rows {
            let errors: Vec<String> = response.iter_errors(row).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_every_status_fit_the_schema() {
    let schema = auditor::report::result_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/samples");
    std::fs::write(dir.path().join("broken.json"), "{").unwrap();
    std::fs::write(
        dir.path().join("no.jsonl"),
        "{\"outcome\": {\"kind\": \"refused\", \"code\": \"filter\"}}\n",
    )
    .unwrap();
    let sample = samples.join("wrong-candidate.json");
    let sample = sample.to_str().unwrap();
    for (args, statuses) in [
        (
            vec!["localize", sample, "broken.json", "--format", "json"],
            vec!["ok", "failed"],
        ),
        (
            vec!["localize", sample, "--format", "json", "--judge", "scripted:no.jsonl"],
            vec!["refused"],
        ),
        (
            vec!["localize", sample, "--format", "json", "--max-cost", "0"],
            vec!["not_run"],
        ),
    ] {
        let output = run_auditor(dir.path(), &args).await;
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            rows.iter()
                .map(|row| row["status"].as_str().unwrap())
                .collect::<Vec<_>>(),
            statuses
        );
        for row in &rows {
            let errors: Vec<String> = validator.iter_errors(row).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }
}
