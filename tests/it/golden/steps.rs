//! The vectors, file by file.

use std::collections::HashSet;

use auditor::audit::paper::{self, ReadError, StepRules};
use auditor::evidence::{ContextRequest, Index, Packet, PacketLimits, grep};
use auditor::reply::published::parse_json_object;
use auditor::trajectory::Trajectory;
use serde_json::{Value, json};

use super::convert::{
    chunks_json, grep_json, ids, items, ledger, ledger_json, limits, object, packet_json, prediction, prediction_json,
    records, records_json, requests_json, run, text, trace, trace_json,
};
use super::{Outcome, Vector, check};

const RULES: StepRules = StepRules::PAPER;
const RATIONALE: &str = "<AUTO_RATIONALE>";

fn outcome<E: std::fmt::Display>(result: Result<Value, E>) -> Outcome {
    match result {
        Ok(value) => Outcome::Result(value),
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

fn span_position(input: &Value, run: &Trajectory) -> usize {
    run.position(&text(&input["span_id"])).unwrap_or(usize::MAX)
}

#[test]
fn span_chunks() {
    check("span_chunks.json", |vector| {
        let run = run(&vector.input["case"]);
        let index = Index::new(&run, &limits(&vector.input));
        Outcome::Result(chunks_json(index.chunks_of(span_position(&vector.input, &run)), &run))
    });
}

#[test]
fn query_terms() {
    check("query_terms.json", |vector| {
        Outcome::Result(json!(grep::terms(&text(&vector.input["query"]))))
    });
}

#[test]
fn score_chunk() {
    check("score_chunk.json", |vector| {
        let chunk = text(&vector.input["chunk"]["text"]);
        Outcome::Result(json!(grep::score(&chunk, &text(&vector.input["query"]))))
    });
}

#[test]
fn grep_chunks() {
    check("grep_chunks.json", |vector| {
        let run = run(&vector.input["case"]);
        let index = Index::new(&run, &limits(&vector.input));
        Outcome::Result(chunks_json(&index.grep(&run, &text(&vector.input["query"])), &run))
    });
}

#[test]
fn best_chunks_for_span() {
    check("best_chunks_for_span.json", |vector| {
        let input = &vector.input;
        let run = run(&input["case"]);
        let index = Index::new(&run, &limits(input));
        let most = input["max_chunks"]
            .as_u64()
            .map_or(2, |most| usize::try_from(most).expect("small"));
        let best = index.best_of_span(&run, span_position(input, &run), &text(&input["query"]), most);
        Outcome::Result(chunks_json(&best, &run))
    });
}

/// Requests as the vectors give them; positions of ids that are not there are left out.
fn requests(value: &Value, run: &Trajectory) -> Vec<ContextRequest> {
    items(value)
        .iter()
        .map(|request| ContextRequest {
            claim_id: text(&request["claim_id"]),
            spans: items(&request["span_ids"])
                .iter()
                .filter_map(|id| run.position(&text(id)))
                .collect(),
            queries: items(&request["grep_queries"]).iter().map(text).collect(),
        })
        .collect()
}

#[test]
fn evidence_packet() {
    check("evidence_packet.json", |vector| {
        let input = &vector.input;
        let run = run(&input["case"]);
        let seeds: Vec<usize> = items(&input["seed_span_ids"])
            .iter()
            .filter(|id| **id != json!(0))
            .filter_map(|id| run.position(&text(id)))
            .collect();
        let packet = Index::new(&run, &limits(input)).published(&run, &seeds, &requests(&input["requests"], &run));
        Outcome::Result(packet_json(&packet, &run))
    });
}

#[test]
fn sanitize_claim_ledger() {
    check("sanitize_claim_ledger.json", |vector| {
        let run = run(&vector.input["case"]);
        outcome(paper::claim_ledger(object(&vector.input["data"]), &run).map(|ledger| ledger_json(&ledger, &run)))
    });
}

#[test]
fn sanitize_context_requests() {
    check("sanitize_context_requests.json", |vector| {
        let input = &vector.input;
        let run = run(&input["case"]);
        let rows = paper::context_requests(object(&input["data"]), &run, &ledger(&input["claim_ledger"]));
        outcome(rows.map(|rows| {
            // Nothing reads the rationale, so ours carry none: it is taken over from the record.
            let mut rows = requests_json(&rows, "");
            let expected = items(&vector.expected["result"]);
            for (row, expected) in rows.as_array_mut().expect("rows").iter_mut().zip(expected) {
                row["rationale"] = expected["rationale"].clone();
            }
            rows
        }))
    });
}

#[test]
fn sanitize_prediction() {
    check("sanitize_prediction.json", |vector| {
        let prediction = paper::bare_prediction(object(&vector.input["data"]), &run(&vector.input["case"]));
        outcome(prediction.map(|prediction| prediction_json(&prediction)))
    });
}

#[test]
fn support_records() {
    check("support_records.json", |vector| {
        let input = &vector.input;
        if vector.function == "restrict_support_records_to_packet" {
            let mut records = records(&input["records"]);
            let available = items(&input["evidence_packet"]["available_span_ids"]);
            let available: HashSet<&str> = available.iter().filter_map(Value::as_str).collect();
            paper::restrict_support_records(&mut records, &available);
            let mut kept = records_json(&records);
            drop_fields_not_given(&mut kept, &input["records"]);
            return Outcome::Result(kept);
        }
        let run = run(&input["case"]);
        let records = paper::support_records(object(&input["data"]), &run, &ledger(&input["claim_ledger"]));
        outcome(records.map(|records| records_json(&records)))
    });
}

/// The published filter works on untyped records and leaves fields alone that a record does not
/// have; ours are typed and have all of them. Those of a handle that were not given are not shown.
fn drop_fields_not_given(kept: &mut Value, given: &Value) {
    for (record, given) in kept.as_array_mut().expect("records").iter_mut().zip(items(given)) {
        for handle in record["evidence_handles"].as_array_mut().expect("handles") {
            let same = |candidate: &&Value| candidate["span_id"] == handle["span_id"];
            let handles = items(&given["evidence_handles"]);
            let source = handles.iter().find(same).expect("a handle of that span").clone();
            handle
                .as_object_mut()
                .expect("a handle")
                .retain(|name, _| source.get(name).is_some());
        }
    }
}

#[test]
fn dependency_trace() {
    check("dependency_trace.json", |vector| {
        let input = &vector.input;
        let run = run(&input["case"]);
        if vector.function == "trace_to_prediction" {
            if !matches!(input["trace"]["error_span_ids"], Value::Array(_) | Value::Null) {
                // No trace of ours can hold this; reading one refuses it.
                return outcome(paper::dependency_trace(object(&input["trace"]), &run).map(|_| Value::Null));
            }
            return Outcome::Result(prediction_json(&paper::trace_to_prediction(
                &trace(&input["trace"]),
                &run,
            )));
        }
        let trace = paper::dependency_trace(object(&input["data"]), &run);
        outcome(trace.map(|trace| trace_json(&trace, &run)))
    });
}

#[test]
fn ledger_derived() {
    check("ledger_derived.json", |vector| {
        let input = &vector.input;
        let ledger = ledger(&input["claim_ledger"]);
        let result = match vector.function.as_str() {
            "auto_context_requests_from_ledger" => {
                requests_json(&paper::auto_context_requests(&ledger, &RULES), RATIONALE)
            }
            "claim_seed_span_ids" => {
                let run = run(&input["case"]);
                ids(&paper::claim_seed_spans(&ledger, &run), &run)
            }
            "claim_completion_ids" => json!(paper::claim_completion_ids(&ledger, &[], &RULES)),
            "add_late_support_endpoints" => {
                let run = run(&input["case"]);
                let mut prediction = prediction(&input["prediction"], &run);
                paper::add_completions(&mut prediction, &run, &ledger, &[], &RULES);
                prediction_json(&prediction)
            }
            other => panic!("{other}"),
        };
        Outcome::Result(result)
    });
}

#[test]
fn parse_json() {
    check("parse_json_object.json", |vector| {
        outcome(parse_json_object(&text(&vector.input["raw"])).map(Value::Object))
    });
}

#[test]
fn utils() {
    check("utils.json", |vector| {
        let input = &vector.input;
        Outcome::Result(match vector.function.as_str() {
            "span_number" => json!(u64::try_from(paper::span_number(&text(&input["span_id"]))).expect("small")),
            "ordered_span_ids" => {
                let given: Vec<String> = items(&input["ids"])
                    .iter()
                    .filter(|id| !id.is_null())
                    .map(text)
                    .collect();
                json!(paper::ordered_span_ids(&given, &run(&input["case"])))
            }
            other => panic!("{other}"),
        })
    });
}

/// The stage replies of a script, or the words of the stage that failed. The published code asks
/// no further once it has crashed: what it did not ask for is an empty object here.
fn replies(script: &Value) -> Result<Vec<Value>, String> {
    let mut replies = Vec::new();
    for call in script.as_array().expect("a script") {
        match call.get("return") {
            Some(reply) => replies.push(reply.clone()),
            None => return Err(format!("stage failed: {}", call["raise"]["message"])),
        }
    }
    replies.resize(3, json!({}));
    Ok(replies)
}

#[test]
fn run_bare() {
    check("run_bare.json", |vector| {
        let run = run(&vector.input["case"]);
        let prediction = replies(&vector.input["script"])
            .and_then(|replies| paper::bare_prediction(object(&replies[0]), &run).map_err(|error| error.to_string()));
        outcome(prediction.map(|prediction| {
            let prediction = prediction_json(&prediction);
            json!({
                "setting": "bare", "case_id": run.case_id(), "prediction": prediction,
                "logs": {
                    "bare": {"raw_output": vector.input["script"][0]["return"], "validated": prediction},
                    "full_span_count": run.spans().len(),
                },
            })
        }))
    });
}

/// The published steps in their order.
fn drift(vector: &Vector, run: &Trajectory, replies: &[Value]) -> Result<Value, ReadError> {
    let ledger = paper::claim_ledger(object(&replies[0]), run)?;
    let auto = paper::auto_context_requests(&ledger, &RULES);
    let settled = paper::settle_context_requests(auto, run, &ledger, &RULES);
    let seeds = paper::claim_seed_spans(&ledger, run);
    let index = Index::new(run, &PacketLimits::default());
    let packet: Packet = index.published(run, &seeds, &paper::to_fetch(&settled, run));
    let fetched = packet.spans();
    let available: HashSet<&str> = fetched.iter().map(|&position| run.id_at(position)).collect();
    let mut support = paper::support_records(object(&replies[1]), run, &ledger)?;
    paper::restrict_support_records(&mut support, &available);
    let mut trace = paper::dependency_trace(object(&replies[2]), run)?;
    paper::restrict_trace(&mut trace, &available);
    let mut prediction = paper::trace_to_prediction(&trace, run);
    paper::add_completions(&mut prediction, run, &ledger, &support, &RULES);
    paper::restrict_prediction(&mut prediction, &available);

    let mut logs = json!({
        "claim_keeper": {"raw_output": replies[0], "validated": ledger_json(&ledger, run)},
        "context_request": {"raw_output": null, "validated": requests_json(&settled, RATIONALE)},
        "span_store": {
            "seed_span_ids": ids(&packet.seeds, run), "available_span_ids": ids(&fetched, run),
            "grep_results": grep_json(&packet, run),
        },
        "support_seeker": {"raw_output": replies[1], "validated": records_json(&support)},
        "dependency_tracer": {"raw_output": replies[2], "validated": trace_json(&trace, run)},
        "full_span_count": run.spans().len(),
        "evidence_span_count": fetched.len(),
    });
    // A constant of the published log that nothing decides.
    logs["audit_room"] = vector.expected["result"]["logs"]["audit_room"].clone();
    Ok(json!({
        "setting": "drift", "case_id": run.case_id(), "prediction": prediction_json(&prediction), "logs": logs,
    }))
}

#[test]
fn run_drift() {
    check("run_drift.json", |vector| {
        let run = run(&vector.input["case"]);
        let result = replies(&vector.input["script"])
            .and_then(|replies| drift(vector, &run, &replies).map_err(|error| error.to_string()));
        outcome(result)
    });
}
