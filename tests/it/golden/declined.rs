//! What we do instead of the declined vectors.

use auditor::audit::paper::{self, StepRules};
use auditor::evidence::{Index, PacketLimits};
use auditor::trajectory::Trajectory;
use serde_json::{Value, json};

use super::convert::{ledger, object, prediction, run};

fn case(spans: &[(&str, &str, Value)]) -> Trajectory {
    let spans: Vec<Value> = spans
        .iter()
        .map(|(id, text, step)| json!({"span_id": id, "span_text": text, "raw_start_step": step}))
        .collect();
    run(&json!({"case_id": "syn", "question": "?", "spans": spans}))
}

fn found(run: &Trajectory, query: &str) -> Vec<String> {
    let hits = Index::new(run, &PacketLimits::default()).grep(run, query);
    hits.iter()
        .map(|chunk| format!("{} {}", chunk.id(run), chunk.text(run)))
        .collect()
}

#[test]
fn what_is_no_text_is_json_and_a_null_is_dropped() {
    let run = case(&[("s1", "one", Value::Null)]);
    let reply = json!({
        "task_goal": ["x"], "notes": 0.5, "hard_constraints": ["a", null, {"k": "v"}, true],
        "claims": [{"claim": ["a", "b"], "introduced_at": "s1", "status": "finalized"}, {"claim": null}],
    });
    let ledger = paper::claim_ledger(object(&reply), &run).expect("a ledger");
    assert_eq!((ledger.task_goal.as_str(), ledger.notes.as_str()), ("[\"x\"]", "0.5"));
    assert_eq!(ledger.hard_constraints, ["a", "{\"k\":\"v\"}", "true"]);
    assert_eq!(ledger.claims[0].claim, "[\"a\",\"b\"]");
    assert_eq!(ledger.claims.len(), 1);

    let requests = json!({"context_requests": [
        {"claim_id": "c1", "grep_queries": [null, "four", 6]}, {"claim_id": "None"}, {"claim_id": null},
    ]});
    let rows = paper::context_requests(object(&requests), &run, &ledger).expect("requests");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].queries, ["four", "6"]);

    let support = json!({"support_records": [{"claim_id": "c1", "missing_support": ["a", "b"]}]});
    let records = paper::support_records(object(&support), &run, &ledger).expect("records");
    assert_eq!(records[0].missing_support, "[\"a\",\"b\"]");
    let trace = paper::dependency_trace(object(&json!({"reason": {"a": 1}})), &run).expect("a trace");
    assert_eq!(trace.reason, "{\"a\":1}");
}

#[test]
fn a_step_that_is_no_number_is_unknown() {
    let run = case(&[
        ("s1", "amber", json!("step-1")),
        ("s2", "amber", json!([1])),
        ("s3", "amber", json!(4)),
    ]);
    assert_eq!(
        found(&run, "amber"),
        ["s1:c001 amber", "s2:c001 amber", "s3:c001 amber"]
    );
}

#[test]
fn a_superscript_in_an_id_is_no_digit() {
    let run = case(&[("s²", "a", Value::Null), ("s1", "b", Value::Null)]);
    let ledger = ledger(&json!({"claims": [
        {"claim_id": "c1", "claim": "x", "becomes_consequential_at": "s1", "status": "finalized"},
    ]}));
    let mut found = prediction(&json!({"error_span_ids": ["s²"]}), &run);
    paper::add_completions(&mut found, &run, &ledger, &[], &StepRules::PAPER);
    // An id without digits counts as 10⁹: nothing with a number is later.
    assert_eq!(found.error_span_ids, ["s²"]);
}

#[test]
fn an_unreadable_status_is_tentative() {
    let run = case(&[("s1", "one", Value::Null)]);
    let reply = json!({"claims": [{"claim": "x", "introduced_at": "s1", "status": ["finalized"]}]});
    let ledger = paper::claim_ledger(object(&reply), &run).expect("a ledger");
    assert!(paper::auto_context_requests(&ledger, &StepRules::PAPER).is_empty());
    assert!(paper::claim_completion_ids(&ledger, &[], &StepRules::PAPER).is_empty());
}

#[test]
fn spans_that_share_an_id_are_both_searched() {
    let run = case(&[
        ("s1", "amber one", json!(1)),
        ("s1", "amber two", json!(2)),
        ("s2", "amber", json!(3)),
    ]);
    assert_eq!(
        found(&run, "amber"),
        ["s1:c001 amber one", "s1#2:c001 amber two", "s2:c001 amber"]
    );
    let packet = Index::new(&run, &PacketLimits::default()).published(&run, &[0, 1], &[]);
    assert_eq!(packet.spans(), [0, 1]);
}

#[test]
fn typed_parts_have_all_their_fields_and_no_others() {
    let run = case(&[("s1", "one", Value::Null), ("s2", "two", Value::Null)]);
    let reply = json!({"claims": [
        {"claim": "x", "introduced_at": "s1", "used_by": ["s2", "", null], "status": "finalized"},
    ]});
    let ledger = paper::claim_ledger(object(&reply), &run).expect("a ledger");
    assert_eq!(
        paper::claim_completion_ids(&ledger, &[], &StepRules::PAPER),
        ["s1", "s2"]
    );

    let reply = json!({"support_records": [{"claim_id": "c1", "extra": 1}]});
    let mut records = paper::support_records(object(&reply), &run, &ledger).expect("records");
    paper::restrict_support_records(&mut records, &["s1"].into());
    let shown = serde_json::to_value(&records[0]).expect("a record");
    assert_eq!(shown.get("extra"), None);
    assert_eq!(
        (&shown["missing_support"], &shown["support_status"]),
        (&json!(""), &json!("weak"))
    );

    let mut found = prediction(&json!({}), &run);
    paper::add_completions(&mut found, &run, &ledger, &[], &StepRules::PAPER);
    assert_eq!((found.traj_id.as_str(), found.reasons.len()), ("syn", 0));
    assert_eq!(found.error_span_ids, ["s1", "s2"]);
}
