//! The golden vectors `evaluate`, `load_gold` and `load_predictions`. They record what the published
//! scorer does; where it and this tool part, `tests/golden/README-eval.md` says why, and the list
//! below says what this tool does instead.

use std::collections::BTreeMap;

use auditor::eval::{
    BothEmpty, CaseSet, Prediction, PredictionRow, Scores, Status, outcomes, read_predictions, scores_of,
};
use auditor::trajectory::{Gold, read_gold};
use serde_json::Value;

const VECTORS: &str = include_str!("../golden/evaluate.json");

/// Vectors where this tool gives another result, with (Macro-F1, list-order first-error accuracy).
/// The reason is the same in all: a missing prediction is wrong, also for a clean run.
const MISSING_IS_WRONG: [(&str, f64, f64); 4] = [
    ("missing_prediction_gold_empty_scores_1", 0.0, 0.0),
    ("sorted_items_non_bmp_code_point_order", 0.0, 0.0),
    ("mixed_ten", 0.1, 0.0),
    ("all_cases_empty_gold", 1.0 / 3.0, 1.0 / 3.0),
];

fn vectors(function: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let found: Vec<Value> = all
        .into_iter()
        .filter(|vector| vector["function"] == function)
        .collect();
    assert!(!found.is_empty());
    found
}

fn lists(value: &Value) -> BTreeMap<String, Vec<String>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn load(gold: &BTreeMap<String, Vec<String>>, predicted: &BTreeMap<String, Vec<String>>) -> (CaseSet, Prediction) {
    let mut cases = CaseSet::new(Vec::new(), None);
    for (case_id, error_span_ids) in gold {
        cases.push(Gold {
            case_id: case_id.clone(),
            error_span_ids: error_span_ids.clone(),
            labelled: true,
            ..Gold::default()
        });
    }
    let mut prediction = Prediction::new("p", &cases);
    for (case_id, error_span_ids) in predicted {
        let row = PredictionRow {
            case_id: case_id.clone(),
            status: Status::Ok,
            error_span_ids: error_span_ids.clone(),
            method: None,
            odd: Vec::new(),
        };
        prediction.push(&mut cases, row);
    }
    (cases, prediction)
}

fn near(what: &str, a: f64, b: &Value) {
    let b = b.as_f64().unwrap();
    assert!(
        (a - b).abs() <= 1e-12 * b.abs().max(1e-300) || a == b,
        "{what}: {a} is not {b}"
    );
}

fn same_scores(name: &str, scores: &Scores, expected: &Value) {
    for (key, value) in [
        ("macro_precision", scores.macro_precision),
        ("macro_recall", scores.macro_recall),
        ("macro_f1", scores.macro_f1),
        ("first_error_accuracy", scores.first_error_accuracy_list_order),
        ("micro_precision", scores.micro_precision),
        ("micro_recall", scores.micro_recall),
        ("micro_f1", scores.micro_f1),
    ] {
        near(&format!("{name} {key}"), value, &expected[key]);
    }
    assert_eq!(Value::from(scores.n), expected["case_count"], "{name}");
}

#[test]
fn evaluate_as_published() {
    for vector in vectors("evaluate") {
        let name = vector["name"].as_str().unwrap();
        let expected = &vector["expected"]["result"];
        let (cases, prediction) = load(&lists(&vector["input"]["gold"]), &lists(&vector["input"]["pred"]));
        let rows = outcomes(&cases, &prediction, BothEmpty::One);
        let Some(scores) = scores_of(&cases, &rows, |_, _| true) else {
            // No labelled run: the published scorer prints zeros, this one no number.
            assert_eq!(expected["case_count"], 0, "{name}");
            continue;
        };
        let ours = MISSING_IS_WRONG.iter().find(|(other, ..)| *other == name);
        match ours {
            None => same_scores(name, &scores, expected),
            Some((_, f1, first)) => {
                near(name, scores.macro_f1, &Value::from(*f1));
                near(name, scores.first_error_accuracy_list_order, &Value::from(*first));
                assert_ne!(
                    Value::from(scores.macro_f1),
                    expected["macro_f1"],
                    "{name} is no difference"
                );
            }
        }
        let missing: Vec<&str> = cases
            .cases()
            .iter()
            .zip(&prediction.answers)
            .filter(|(_, answer)| answer.status == Status::Missing)
            .map(|(case, _)| case.id.as_str())
            .collect();
        assert_eq!(serde_json::json!(missing), expected["missing_predictions"], "{name}");
        let extra = expected["extra_predictions"].as_array().unwrap().len() as u64;
        assert_eq!(prediction.extra, extra, "{name}");
        for ((case, outcome), item) in cases
            .cases()
            .iter()
            .zip(&rows)
            .zip(expected["items"].as_array().unwrap())
        {
            assert_eq!(item["case_id"], case.id.as_str(), "{name}");
            assert_eq!(item["gold_count"], outcome.gold, "{name}");
            assert_eq!(item["pred_count"], outcome.predicted, "{name}");
            if outcome.scored || outcome.gold > 0 {
                let [precision, recall, f1] = outcome.prf();
                near(name, precision, &item["precision"]);
                near(name, recall, &item["recall"]);
                near(name, f1, &item["f1"]);
                near(
                    name,
                    f64::from(u8::from(outcome.list_first_right)),
                    &item["first_error_accuracy"],
                );
            }
        }
    }
}

/// What this tool makes of a file: the labels by run, and whether some row was refused.
fn our_gold(content: &str) -> (Value, bool) {
    let mut found = BTreeMap::new();
    let mut refused = false;
    read_gold(content.as_bytes(), |_, row| match row {
        Ok(gold) if gold.labelled => {
            found.insert(gold.case_id, gold.error_span_ids);
        }
        Ok(_) => {}
        Err(auditor::trajectory::GoldError::NoId) => {}
        Err(_) => refused = true,
    })
    .unwrap();
    (serde_json::json!(found), refused)
}

#[test]
fn load_gold_as_published() {
    let ours = [
        // A row without a label is unlabelled, not clean.
        ("no_gold_at_all_is_empty", serde_json::json!({})),
        // 0 is an id.
        ("rows_without_id_dropped", serde_json::json!({"0": ["s1"], "b": ["s1"]})),
        // null is no span id.
        ("ids_stringified", serde_json::json!({"5": ["1", "s2"]})),
        // A string is one id, not its characters.
        ("ids_string_split", serde_json::json!({"a": ["s12"]})),
        // U+2028 inside a string is JSON.
        ("jsonl_raw_u2028_raises", serde_json::json!({"1": []})),
    ];
    for vector in vectors("load_gold") {
        let name = vector["name"].as_str().unwrap();
        let (found, refused) = our_gold(vector["input"]["content"].as_str().unwrap());
        if let Some((_, expected)) = ours.iter().find(|(other, _)| *other == name) {
            assert_eq!((&found, refused), (expected, false), "{name}");
            assert_ne!(
                Some(&found),
                vector["expected"].get("result"),
                "{name} is no difference"
            );
        } else if vector["expected"].get("raises").is_some() {
            assert!(refused, "{name}");
        } else {
            assert_eq!((&found, refused), (&vector["expected"]["result"], false), "{name}");
        }
    }
}

/// What this tool makes of a file: predictions of runs that are ok, runs that failed, and whether
/// some row was refused.
fn our_predictions(content: &str) -> (Value, Vec<String>, bool) {
    let mut found = BTreeMap::new();
    let mut failed = Vec::new();
    let mut refused = false;
    read_predictions(content.as_bytes(), |_, row| match row {
        Ok(row) if row.status == Status::Ok => {
            found.insert(row.case_id, row.error_span_ids);
        }
        Ok(row) => failed.push(row.case_id),
        Err(_) => refused = true,
    })
    .unwrap();
    (serde_json::json!(found), failed, refused)
}

#[test]
fn load_predictions_as_published() {
    let ours = [
        // `error_span_ids: null` is no prediction: the run failed.
        ("flat_rows_jsonl", serde_json::json!({"a": ["s1"]}), vec!["b"]),
        // `prediction: null` is what a failed run has.
        ("prediction_null_falls_to_row", serde_json::json!({}), vec!["a"]),
        // The id inside `prediction` names the run too.
        (
            "id_only_inside_prediction_is_dropped",
            serde_json::json!({"a": ["s1"]}),
            vec![],
        ),
    ];
    for vector in vectors("load_predictions") {
        let name = vector["name"].as_str().unwrap();
        let (found, failed, refused) = our_predictions(vector["input"]["content"].as_str().unwrap());
        if let Some((_, expected, expected_failed)) = ours.iter().find(|(other, ..)| *other == name) {
            assert_eq!((&found, refused), (expected, false), "{name}");
            assert_eq!(&failed, expected_failed, "{name}");
        } else if vector["expected"].get("raises").is_some() {
            assert!(refused, "{name}");
        } else {
            assert_eq!((&found, refused), (&vector["expected"]["result"], false), "{name}");
            assert!(failed.is_empty(), "{name}");
        }
    }
}
