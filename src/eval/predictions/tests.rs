use super::*;
use crate::trajectory::Gold;

fn rows(text: &str) -> Vec<Result<PredictionRow, String>> {
    let mut rows = Vec::new();
    read_predictions(text.as_bytes(), |_, row| {
        rows.push(row.map_err(|error| error.to_string()))
    })
    .unwrap();
    rows
}

fn one(text: &str) -> PredictionRow {
    let mut rows = rows(text);
    assert_eq!(rows.len(), 1);
    rows.remove(0).unwrap()
}

fn odd(row: &PredictionRow) -> Vec<&'static str> {
    row.odd.iter().map(|(code, _)| *code).collect()
}

#[test]
fn our_rows_the_published_summary_and_plain_rows() {
    let ours = one(
        r#"{"schema":"auditor.result/1","case_id":"a","method":"drift","status":"ok","cause":null,"prediction":{"traj_id":"a","error_span_ids":["s1"],"earliest_harmful_span_id":"s1","reasons":[]},"audit":{"claims":[]},"usage":{}}"#,
    );
    assert_eq!(
        (ours.case_id.as_str(), ours.status, ours.method.as_deref()),
        ("a", Status::Ok, Some("drift"))
    );
    assert_eq!(ours.error_span_ids, ["s1"]);
    let summary = rows(
        r#"{"setting":"drift","items":[{"case_id":"a","prediction":{"error_span_ids":["s1"]}},{"case_id":"b","prediction":{"error_span_ids":[]}}]}"#,
    );
    assert_eq!(summary.len(), 2);
    assert_eq!(summary[1].as_ref().unwrap().status, Status::Ok);
    let plain = one(r#"{"id":7,"error_span_ids":["s2","s1"]}"#);
    assert_eq!((plain.case_id.as_str(), plain.error_span_ids.len()), ("7", 2));
}

#[test]
fn every_status_word_is_read() {
    for (word, status) in [
        ("failed", Status::Failed),
        ("error", Status::Failed),
        ("refused", Status::Refused),
        ("not_run", Status::NotRun),
    ] {
        let row = one(&format!(r#"{{"case_id":"a","status":"{word}","prediction":null}}"#));
        assert_eq!((row.status, odd(&row)), (status, Vec::new()), "{word}");
    }
    let row = one(r#"{"case_id":"a","status":"done","error_span_ids":["s1"]}"#);
    assert_eq!(row.status, Status::Failed);
    assert_eq!(odd(&row), ["unknown_status", "failed_with_prediction"]);
}

#[test]
fn a_failure_is_never_read_as_nothing_wrong() {
    for (text, code) in [
        (
            r#"{"id":"a","status":"failed","error_span_ids":["s1"]}"#,
            Some("failed_with_prediction"),
        ),
        (r#"{"id":"a","error":{"kind":"http_500"},"error_span_ids":[]}"#, None),
        (
            r#"{"id":"a","status":"ok","prediction":null}"#,
            Some("ok_without_prediction"),
        ),
        (r#"{"id":"a","error_span_ids":null}"#, Some("ok_without_prediction")),
        (
            r#"{"id":"a","prediction":{"error_span_ids":null}}"#,
            Some("ok_without_prediction"),
        ),
        (
            r#"{"id":"a","prediction":{"error_span_ids":[]},"logs":{"full_span_count":3,"bare":{"raw_output":{"_fallback_error":"timeout"}}}}"#,
            Some("failed_stage_in_log"),
        ),
    ] {
        let row = one(text);
        assert_eq!(row.status, Status::Failed, "{text}");
        assert!(row.error_span_ids.is_empty());
        assert_eq!(odd(&row).first().copied(), code, "{text}");
    }
    let fine = one(
        r#"{"id":"a","error":null,"error_span_ids":[],"logs":{"bare":{"raw_output":{"note":"\"_fallback_error\""}}}}"#,
    );
    assert_eq!(fine.status, Status::Ok);
}

#[test]
fn shapes_that_mean_nothing_are_refused_by_name() {
    for (text, words) in [
        (r#"{"id":"a","prediction":["s1"]}"#, "prediction"),
        (r#"{"id":"a","error_span_ids":3}"#, "error_span_ids"),
        (r#"{"error_span_ids":[]}"#, "no id"),
        ("3", "not a JSON object"),
    ] {
        let error = rows(text).remove(0).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn what_is_odd_about_a_file_is_counted() {
    let mut cases = CaseSet::new(Vec::new(), None);
    for id in ["a", "b", "c"] {
        cases.push(Gold {
            case_id: id.to_owned(),
            labelled: true,
            span_ids: vec!["s1".to_owned(), "s2".to_owned()],
            ..Gold::default()
        });
    }
    let text = concat!(
        "{\"id\":\"a\",\"method\":\"bare\",\"error_span_ids\":[\"s1\"]}\n",
        "{\"id\":\"a\",\"method\":\"drift\",\"error_span_ids\":[\"s2\",\"s9\",\"s2\"]}\n",
        "{\"id\":\"x\",\"error_span_ids\":[]}\n",
        "{\"id\":\"b\",\"error_span_ids\":[null, \"s1\"]}\n",
        "{\"id\":\"c\", torn\n",
        "{\"error_span_ids\":[]}\n",
    );
    let mut prediction = Prediction::new("p", &cases);
    assert_eq!(prediction.read(&mut cases, text.as_bytes()).unwrap(), 4);
    for code in [
        "duplicate_prediction",
        "unknown_predicted_spans",
        "repeated_predicted_spans",
        "extra_prediction",
        "odd_prediction",
        "unreadable_prediction",
        "no_prediction_id",
        "mixed_methods",
    ] {
        assert_eq!(prediction.notes.count(code), 1, "{code}: {:?}", prediction.notes);
    }
    let status: Vec<Status> = prediction.answers.iter().map(|answer| answer.status).collect();
    assert_eq!(status, [Status::Ok, Status::Ok, Status::Missing]);
    let ids: Vec<&str> = prediction.answers[0]
        .marks
        .iter()
        .map(|mark| cases.cases()[0].span_id(*mark))
        .collect();
    assert_eq!(ids, ["s2", "s9"], "the last row counts, in its order, each span once");
    assert_eq!(prediction.extra, 1);
}
