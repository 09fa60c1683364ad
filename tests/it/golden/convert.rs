//! Between the untyped values of the vectors and our types.

use auditor::audit::paper::{Prediction, RequestRow};
use auditor::evidence::{Chunk, Packet, PacketLimits};
use auditor::ledger::{Claim, EvidenceHandle, Ledger, SupportRecord, Trace};
use auditor::trajectory::{Span, Trajectory};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A raw step as the loader hands it on: numbers truncated, digits read, anything else unknown.
fn step(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    }
}

pub fn run(case: &Value) -> Trajectory {
    let spans = case["spans"].as_array().expect("spans");
    let spans = spans
        .iter()
        .map(|span| Span {
            id: text(&span["span_id"]),
            text: text(&span["span_text"]),
            raw_start_step: step(&span["raw_start_step"]),
            raw_end_step: step(&span["raw_end_step"]),
            ..Span::default()
        })
        .collect();
    Trajectory::new(text(&case["case_id"]), text(&case["question"]), spans).0
}

pub fn limits(input: &Value) -> PacketLimits {
    let mut limits = PacketLimits::default();
    let config = &input["config"];
    for (name, field) in [
        ("chunk_chars", &mut limits.chunk_chars),
        ("chunk_overlap", &mut limits.chunk_overlap),
        ("max_matches_per_query", &mut limits.matches_per_query),
        ("max_total_chunks", &mut limits.total_chunks),
    ] {
        if let Some(value) = config[name].as_u64() {
            *field = usize::try_from(value).expect("a small number");
        }
    }
    limits
}

/// The text of a value, `""` for null.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Items of a list, characters of a text, nothing of null.
pub fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::String(text) => text.chars().map(|c| json!(c.to_string())).collect(),
        _ => Vec::new(),
    }
}

pub fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn word<T: DeserializeOwned + Default>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    items(value).iter().map(text).collect()
}

/// A ledger as the vectors give it, without looking its ids up in a run.
pub fn ledger(value: &Value) -> Ledger {
    let claims = items(&value["claims"]);
    Ledger {
        claims: claims
            .iter()
            .map(|claim| Claim {
                claim_id: text(&claim["claim_id"]),
                claim: text(&claim["claim"]),
                introduced_at: id(&claim["introduced_at"]),
                becomes_consequential_at: id(&claim["becomes_consequential_at"]),
                used_by: texts(&claim["used_by"]),
                claim_type: word(&claim["claim_type"]),
                status: word(&claim["status"]),
                quotes: Vec::new(),
            })
            .collect(),
        ..Ledger::default()
    }
}

pub fn ledger_json(ledger: &Ledger, run: &Trajectory) -> Value {
    let claims: Vec<Value> = ledger
        .claims
        .iter()
        .map(|claim| {
            json!({
                "claim_id": claim.claim_id, "claim": claim.claim,
                "introduced_at": claim.introduced_at.as_deref().unwrap_or(""),
                "becomes_consequential_at": claim.becomes_consequential_at.as_deref().unwrap_or(""),
                "used_by": claim.used_by, "claim_type": claim.claim_type, "status": claim.status,
            })
        })
        .collect();
    json!({
        "traj_id": run.case_id(), "task_goal": ledger.task_goal, "hard_constraints": ledger.hard_constraints,
        "claims": claims, "notes": ledger.notes,
    })
}

/// Requests in the published shape. Ours carry no rationale, which nothing reads.
pub fn requests_json(rows: &[RequestRow], rationale: &str) -> Value {
    rows.iter()
        .map(|row| {
            json!({
                "claim_id": row.claim_id, "span_ids": row.span_ids, "grep_queries": row.queries,
                "rationale": rationale,
            })
        })
        .collect()
}

pub fn chunks_json<'chunk>(chunks: impl IntoIterator<Item = &'chunk Chunk>, run: &Trajectory) -> Value {
    chunks
        .into_iter()
        .map(|chunk| {
            json!({
                "span_id": run.id_at(chunk.span), "chunk_id": chunk.id(run), "char_start": chunk.chars.start,
                "char_end": chunk.chars.end, "text": chunk.text(run),
            })
        })
        .collect()
}

pub fn ids(positions: &[usize], run: &Trajectory) -> Value {
    positions.iter().map(|&position| json!(run.id_at(position))).collect()
}

pub fn grep_json(packet: &Packet, run: &Trajectory) -> Value {
    packet
        .grep
        .iter()
        .map(|row| {
            let chunks: Vec<String> = row.chunks.iter().map(|&chunk| packet.chunks[chunk].id(run)).collect();
            json!({
                "claim_id": row.claim_id, "query": row.query, "matched_chunk_ids": chunks,
                "matched_span_ids": ids(&row.spans, run),
            })
        })
        .collect()
}

pub fn packet_json(packet: &Packet, run: &Trajectory) -> Value {
    json!({
        "access_mode": "claim_graph_chunk_grep",
        "seed_span_ids": ids(&packet.seeds, run),
        "requested_span_ids": ids(&packet.requested, run),
        "grep_results": grep_json(packet, run),
        "available_span_ids": ids(&packet.spans(), run),
        "raw_chunks": chunks_json(&packet.chunks, run),
    })
}

pub fn records(value: &Value) -> Vec<SupportRecord> {
    items(value)
        .iter()
        .map(|record| SupportRecord {
            claim_id: text(&record["claim_id"]),
            support_spans: texts(&record["support_spans"]),
            support_status: word(&record["support_status"]),
            missing_support: text(&record["missing_support"]),
            needs_auditors: texts(&record["needs_auditors"]),
            evidence_handles: items(&record["evidence_handles"])
                .iter()
                .map(|handle| EvidenceHandle {
                    span_id: text(&handle["span_id"]),
                    chunk_id: text(&handle["chunk_id"]),
                    role: word(&handle["role"]),
                    text: text(&handle["text"]),
                    quote: None,
                })
                .collect(),
        })
        .collect()
}

pub fn records_json(records: &[SupportRecord]) -> Value {
    records
        .iter()
        .map(|record| {
            let handles: Vec<Value> = record
                .evidence_handles
                .iter()
                .map(|handle| {
                    json!({
                        "span_id": handle.span_id, "chunk_id": handle.chunk_id, "role": handle.role,
                        "text": handle.text,
                    })
                })
                .collect();
            json!({
                "claim_id": record.claim_id, "support_spans": record.support_spans,
                "support_status": record.support_status, "missing_support": record.missing_support,
                "needs_auditors": record.needs_auditors, "evidence_handles": handles,
            })
        })
        .collect()
}

pub fn trace(value: &Value) -> Trace {
    Trace {
        reason: text(&value["reason"]),
        error_span_ids: texts(&value["error_span_ids"]),
        earliest_harmful_span_id: id(&value["earliest_harmful_span_id"]),
        ..Trace::default()
    }
}

pub fn trace_json(trace: &Trace, run: &Trajectory) -> Value {
    json!({
        "traj_id": run.case_id(), "first_error_span": trace.first_error_span,
        "linked_error_span_ids": trace.linked_error_span_ids, "non_errors": trace.non_errors,
        "reason": trace.reason, "error_span_ids": trace.error_span_ids,
        "earliest_harmful_span_id": trace.earliest_harmful_span_id,
    })
}

pub fn prediction(value: &Value, run: &Trajectory) -> Prediction {
    let reasons = items(&value["reasons"]);
    Prediction {
        traj_id: run.case_id().to_owned(),
        error_span_ids: texts(&value["error_span_ids"]),
        earliest_harmful_span_id: id(&value["earliest_harmful_span_id"]),
        reasons: reasons
            .iter()
            .map(|reason| serde_json::from_value(reason.clone()).expect("a reason"))
            .collect(),
    }
}

pub fn prediction_json(prediction: &Prediction) -> Value {
    serde_json::to_value(prediction).expect("a prediction")
}
