//! The Support Seeker's reply, read.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::value::{ReadError, cut, items, object, span_field, span_ids_field, text_field, word_field};
use super::{MAX_CHUNK_ID_CHARS, MAX_HANDLE_CHARS, MAX_HANDLES, MAX_SUPPORT_RECORDS};
use crate::ledger::{ClaimType, EvidenceHandle, Ledger, SupportRecord};
use crate::trajectory::Trajectory;

/// Reads support records: those of known claims, at most [`MAX_SUPPORT_RECORDS`]; of each the
/// known spans, the known kinds of check and the handles that name a span of the run.
///
/// # Errors
/// When a list is neither list, object, text nor empty, or a record or handle is not an object.
pub fn support_records(
    reply: &Map<String, Value>,
    run: &Trajectory,
    ledger: &Ledger,
) -> Result<Vec<SupportRecord>, ReadError> {
    let mut records = Vec::new();
    for (index, row) in items(reply, "support_records")?.iter().enumerate() {
        let row = object(row, "support_records", index)?;
        let claim_id = text_field(row, "claim_id");
        if ledger.claim(&claim_id).is_none() {
            continue;
        }
        // The kinds of check are the kinds of claim.
        let needs_auditors = items(row, "needs_auditors")?
            .iter()
            .filter(|word| ClaimType::deserialize(word.as_ref()).is_ok())
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect();
        records.push(SupportRecord {
            claim_id,
            support_spans: span_ids_field(row, "support_spans", run)?,
            support_status: word_field(row, "support_status"),
            missing_support: text_field(row, "missing_support"),
            needs_auditors,
            evidence_handles: handles(row, run)?,
        });
    }
    records.truncate(MAX_SUPPORT_RECORDS);
    Ok(records)
}

fn handles(row: &Map<String, Value>, run: &Trajectory) -> Result<Vec<EvidenceHandle>, ReadError> {
    let mut handles = Vec::new();
    for (index, handle) in items(row, "evidence_handles")?.iter().enumerate() {
        let handle = object(handle, "evidence_handles", index)?;
        let Some(span_id) = span_field(handle, "span_id", run) else {
            continue;
        };
        handles.push(EvidenceHandle {
            span_id,
            chunk_id: cut(&text_field(handle, "chunk_id"), MAX_CHUNK_ID_CHARS).to_owned(),
            role: word_field(handle, "role"),
            text: cut(&text_field(handle, "text"), MAX_HANDLE_CHARS).to_owned(),
            quote: None,
        });
    }
    handles.truncate(MAX_HANDLES);
    Ok(handles)
}

/// Keeps of every record the spans and handles that stand in the packet; `available` holds the ids
/// of its spans.
pub fn restrict_support_records(records: &mut [SupportRecord], available: &HashSet<&str>) {
    for record in records {
        record.support_spans.retain(|id| available.contains(id.as_str()));
        record
            .evidence_handles
            .retain(|handle| available.contains(handle.span_id.as_str()));
    }
}
