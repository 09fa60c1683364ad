//! Support Seeker: a reply becomes support records that count only what stands in the run.

use super::ids::Ids;
use super::keeper::{Read, unverified};
use super::paper::{MAX_HANDLE_CHARS, MAX_HANDLES};
use crate::evidence::quote;
use crate::ledger::{EvidenceHandle, Ledger, SupportRecord, SupportStatus};
use crate::reply::{SeekerHandle, SeekerRecord, SeekerReply};
use crate::trajectory::{Stage, Trajectory, Warning};

/// One record for each claim of the ledger the seeker spoke of, in ledger order. A record whose
/// claim does not exist is dropped; of several for one claim the first stands. A `direct` status
/// stands only if a quote given for it is found in the run, or no quote was given at all (an
/// old-shaped reply): a claim's support counts only verified quotes, so `direct` on quotes that do
/// not stand reads as `weak`.
pub(super) fn support(run: &Trajectory, ledger: &Ledger, reply: &SeekerReply) -> Read<Vec<SupportRecord>> {
    let mut ids = Ids::new(run, Stage::Seeker);
    let mut warnings = Vec::new();
    let mut value = Vec::new();
    for claim in &ledger.claims {
        let Some(raw) = reply
            .support_records
            .iter()
            .find(|record| record.claim_id.trim() == claim.claim_id)
        else {
            continue;
        };
        value.push(record(run, &mut ids, raw, &mut warnings));
    }
    let (rejected, id_warnings) = ids.finish();
    warnings.splice(0..0, id_warnings);
    Read {
        value,
        rejected,
        warnings,
    }
}

fn record(run: &Trajectory, ids: &mut Ids<'_>, raw: &SeekerRecord, warnings: &mut Vec<Warning>) -> SupportRecord {
    let mut handles = Vec::new();
    for handle in raw.evidence_handles.iter().take(MAX_HANDLES) {
        handles.extend(self::handle(run, ids, handle, warnings));
    }
    let quoted: Vec<&EvidenceHandle> = handles
        .iter()
        .filter(|handle| handle.quote.is_some() && handle.role.speaks_for())
        .collect();
    let verified = quoted.iter().any(|handle| {
        handle
            .quote
            .as_ref()
            .is_some_and(|quote| quote.status.carries_support())
    });
    let support_status = match raw.support_status {
        SupportStatus::Direct if !quoted.is_empty() && !verified => SupportStatus::Weak,
        status => status,
    };
    SupportRecord {
        claim_id: raw.claim_id.trim().to_owned(),
        support_spans: ids.ordered(raw.support_spans.iter().map(String::as_str)),
        support_status,
        missing_support: raw.missing_support.clone(),
        needs_auditors: raw.needs_auditors.clone(),
        evidence_handles: handles,
    }
}

fn handle(
    run: &Trajectory,
    ids: &mut Ids<'_>,
    raw: &SeekerHandle,
    warnings: &mut Vec<Warning>,
) -> Option<EvidenceHandle> {
    let position = ids.position(&raw.span_id)?;
    let text: String = raw.text.chars().take(MAX_HANDLE_CHARS).collect();
    let quote = if text.trim().is_empty() {
        None
    } else {
        let quote = quote::find(run, Some(position), &text);
        warnings.extend(unverified(run, Some(position), &text, &quote, Stage::Seeker));
        Some(quote)
    };
    Some(EvidenceHandle {
        span_id: run.id_at(position).to_owned(),
        chunk_id: raw.chunk_id.clone(),
        role: raw.role,
        text,
        quote,
    })
}
