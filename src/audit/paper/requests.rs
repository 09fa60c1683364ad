//! What to fetch for the ledger's claims. No model is asked.

use serde_json::{Map, Value};

use super::value::{ReadError, cut, items, object, ordered_span_ids, span_ids_field, strip, text_field, text_of};
use super::{MAX_QUERY_CHARS, MAX_REQUEST_QUERIES, MAX_REQUEST_SPANS, MAX_REQUESTS, StepRules};
use crate::evidence::ContextRequest;
use crate::ledger::{Claim, Ledger};
use crate::trajectory::Trajectory;

/// A request for context by span ids, which need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestRow {
    /// The claim.
    pub claim_id: String,
    /// Spans to fetch.
    pub span_ids: Vec<String>,
    /// Queries to grep the run for.
    pub queries: Vec<String>,
}

fn endpoints(claim: &Claim, rules: &StepRules) -> Vec<String> {
    let uses = if rules.fetch_all_uses {
        claim.used_by.as_slice()
    } else {
        let last = claim.used_by.iter().rposition(|id| !id.is_empty());
        last.and_then(|last| claim.used_by.get(last..=last)).unwrap_or(&[])
    };
    let stated = [&claim.introduced_at, &claim.becomes_consequential_at];
    let ids = stated.into_iter().flatten().chain(uses);
    ids.filter(|id| !id.is_empty()).cloned().collect()
}

/// One request for each claim with an id: its spans, and its first characters as one query.
#[must_use]
pub fn auto_context_requests(ledger: &Ledger, rules: &StepRules) -> Vec<RequestRow> {
    ledger
        .claims
        .iter()
        .filter(|claim| rules.fetch_for_every_claim || claim.status.matters())
        .filter(|claim| !claim.claim_id.is_empty())
        .map(|claim| {
            let query = cut(strip(&claim.claim), rules.query_chars);
            RequestRow {
                claim_id: claim.claim_id.clone(),
                span_ids: endpoints(claim, rules),
                queries: Some(query)
                    .filter(|query| !query.is_empty())
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
            }
        })
        .collect()
}

/// Reads requests that come untyped.
///
/// # Errors
/// When a list is neither list, object, text nor empty, or a request for a known claim is not an
/// object.
pub fn context_requests(
    reply: &Map<String, Value>,
    run: &Trajectory,
    ledger: &Ledger,
) -> Result<Vec<RequestRow>, ReadError> {
    let mut rows = Vec::new();
    for (index, row) in items(reply, "context_requests")?.iter().enumerate() {
        let row = object(row, "context_requests", index)?;
        let claim_id = text_field(row, "claim_id");
        if ledger.claim(&claim_id).is_none() {
            continue;
        }
        let queries = items(row, "grep_queries")?;
        rows.push(RequestRow {
            claim_id,
            span_ids: span_ids_field(row, "span_ids", run)?,
            queries: queries
                .iter()
                .filter(|query| !query.is_null())
                .map(|query| text_of(query))
                .collect(),
        });
    }
    Ok(settle_context_requests(rows, run, ledger, &StepRules::PAPER))
}

/// Brings requests into bounds: known claims only, known spans in trajectory order, no blank
/// query, and no more of each than the rules allow.
#[must_use]
pub fn settle_context_requests(
    rows: Vec<RequestRow>,
    run: &Trajectory,
    ledger: &Ledger,
    rules: &StepRules,
) -> Vec<RequestRow> {
    let (most_spans, query_chars) = if rules.fetch_all_uses {
        (usize::MAX, usize::MAX)
    } else {
        (MAX_REQUEST_SPANS, MAX_QUERY_CHARS)
    };
    rows.into_iter()
        .filter(|row| ledger.claim(&row.claim_id).is_some())
        .take(MAX_REQUESTS)
        .map(|row| {
            let mut span_ids = ordered_span_ids(&row.span_ids, run);
            span_ids.truncate(most_spans);
            let stripped = row
                .queries
                .iter()
                .map(|query| strip(query))
                .filter(|query| !query.is_empty());
            RequestRow {
                claim_id: row.claim_id.clone(),
                span_ids,
                queries: stripped
                    .take(MAX_REQUEST_QUERIES)
                    .map(|query| cut(query, query_chars).to_owned())
                    .collect(),
            }
        })
        .collect()
}

/// Positions of the spans that are fetched whatever is asked: every span the ledger names, and the
/// last of the run.
#[must_use]
pub fn claim_seed_spans(ledger: &Ledger, run: &Trajectory) -> Vec<usize> {
    let named = ledger.claims.iter().flat_map(|claim| {
        let stated = [&claim.introduced_at, &claim.becomes_consequential_at];
        stated.into_iter().flatten().chain(&claim.used_by)
    });
    let mut seeds: Vec<usize> = named.filter_map(|id| run.position(id)).collect();
    seeds.extend(run.spans().len().checked_sub(1));
    seeds.sort_unstable();
    seeds.dedup();
    seeds
}

/// Requests as the packet wants them, by position.
#[must_use]
pub fn to_fetch(rows: &[RequestRow], run: &Trajectory) -> Vec<ContextRequest> {
    rows.iter()
        .map(|row| ContextRequest {
            claim_id: row.claim_id.clone(),
            spans: row.span_ids.iter().filter_map(|id| run.position(id)).collect(),
            queries: row.queries.clone(),
        })
        .collect()
}
