//! Tokens of what the later stages are shown, and making it smaller.

use super::room::tokens;
use crate::evidence::Packet;
use crate::ledger::{Ledger, SupportRecord};
use crate::trajectory::Trajectory;

/// Tokens of the words around an item of a list.
const ITEM: usize = 12;
/// Ids listed of spans that are not in a packet.
const ABSENT_LISTED: usize = 60;

/// Tokens that a ledger takes in a prompt.
pub(super) fn ledger(ledger: &Ledger) -> usize {
    let item = |text: &str| ITEM + tokens(text);
    let constraints: usize = ledger.hard_constraints.iter().map(|text| item(text)).sum();
    let claims = ledger.claims.iter().map(|claim| {
        let named = claim
            .introduced_at
            .iter()
            .chain(&claim.becomes_consequential_at)
            .chain(&claim.used_by);
        let ids: usize = named.map(|id| 2 + tokens(id)).sum();
        let quotes: usize = claim
            .quotes
            .iter()
            .map(|quote| item(&quote.text) + tokens(&quote.span_id))
            .sum();
        2 * ITEM + item(&claim.claim) + ids + quotes
    });
    item(&ledger.task_goal) + constraints + claims.sum::<usize>() + item(&ledger.notes)
}

/// Tokens that support records take in a prompt.
pub(super) fn support(records: &[SupportRecord]) -> usize {
    let item = |text: &str| ITEM + tokens(text);
    let record = |record: &SupportRecord| {
        let ids: usize = record
            .support_spans
            .iter()
            .chain(&record.needs_auditors)
            .map(|id| 2 + tokens(id))
            .sum();
        let handles = record
            .evidence_handles
            .iter()
            .map(|handle| 2 * ITEM + tokens(&handle.text) + tokens(&handle.span_id));
        item(&record.claim_id) + item(&record.missing_support) + ids + handles.sum::<usize>()
    };
    records.iter().map(record).sum()
}

/// Tokens that a packet takes in a prompt.
pub(super) fn packet(run: &Trajectory, packet: &Packet) -> usize {
    let chunks = packet
        .chunks
        .iter()
        .map(|chunk| 3 * ITEM + tokens(run.id_at(chunk.span)) + tokens(chunk.text(run)));
    let held = packet.spans();
    let absent = (0..run.spans().len())
        .filter(|at| held.binary_search(at).is_err())
        .take(ABSENT_LISTED);
    chunks.sum::<usize>() + absent.map(|at| 2 + tokens(run.id_at(at))).sum::<usize>()
}

/// A ledger of at most about `most` tokens: without remarks and with one quote a claim, else with none.
/// No claim is left out.
pub(super) fn slim_ledger(full: &Ledger, most: usize) -> Ledger {
    let mut slim = full.clone();
    for quotes in [1, 0] {
        if ledger(&slim) <= most {
            break;
        }
        slim.notes.clear();
        for claim in &mut slim.claims {
            claim.quotes.truncate(quotes);
        }
    }
    slim
}

/// Support records of at most about `most` tokens: with one piece of evidence a claim, else with none.
pub(super) fn slim_support(full: &[SupportRecord], most: usize) -> Vec<SupportRecord> {
    let mut slim = full.to_vec();
    for handles in [1, 0] {
        if support(&slim) <= most {
            break;
        }
        for record in &mut slim {
            record.evidence_handles.truncate(handles);
        }
    }
    slim
}
