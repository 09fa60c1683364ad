//! The runs that ship: what a new user sees first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::localize::auditor;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/samples")
}

fn gold() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(folder().join("gold.jsonl")).unwrap();
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let ids = row["gold"]["error_span_ids"].as_array().unwrap();
            (
                row["id"].as_str().unwrap().to_owned(),
                ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect(),
            )
        })
        .collect()
}

fn runs() -> Vec<(PathBuf, Value)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    files
        .into_iter()
        .map(|path| {
            (
                path.clone(),
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn gold_names_spans_of_the_runs_in_order() {
    let (gold, runs) = (gold(), runs());
    assert_eq!(runs.len(), 4);
    for (path, run) in &runs {
        let ids: Vec<&str> = run["spans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|span| span["id"].as_str().unwrap())
            .collect();
        assert!((8..=14).contains(&ids.len()), "{}", path.display());
        let named = &gold[run["id"].as_str().unwrap()];
        let positions: Vec<usize> = named
            .iter()
            .map(|id| ids.iter().position(|known| known == id).unwrap())
            .collect();
        assert!(positions.windows(2).all(|pair| pair[0] < pair[1]), "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_command_of_the_readme_finds_where_it_began() {
    let output = auditor(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["localize", "data/samples/wrong-candidate.json"],
    )
    .await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let first = &gold()["wrong-candidate"][0];
    assert!(text.contains(&format!("the harm begins at {first} ")), "{text}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("offline judge"));
}

/// Offline verdicts on the samples: the first harmful span where the judge can show one, and no alarm on the clean run.
#[tokio::test(flavor = "multi_thread")]
async fn the_offline_judge_alarms_on_no_clean_run_and_quotes_the_text() {
    let gold = gold();
    for (path, run) in runs() {
        let output = auditor(&folder(), &["localize", path.to_str().unwrap(), "--format", "json"]).await;
        let row: Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = run["id"].as_str().unwrap();
        let found = row["prediction"]["error_span_ids"].as_array().unwrap();
        if gold[id].is_empty() {
            assert!(found.is_empty(), "{id}: {found:?}");
        }
        for finding in row["audit"]["findings"].as_array().unwrap() {
            let quotes = finding["quotes"].as_array().unwrap();
            assert!(
                quotes.iter().any(|quote| quote["status"] == "verified"),
                "{id}: {finding}"
            );
        }
    }
}
