//! The Claim Keeper's reply, read.

use serde_json::{Map, Value};

use super::MAX_CLAIMS;
use super::value::{
    ReadError, is_truthy, items, object, span_field, span_ids_field, strip, text_field, text_of, word_field,
};
use crate::ledger::{Claim, Ledger};
use crate::trajectory::Trajectory;

/// Reads a ledger. Claims without text are left out but count for the ids `c1`, `c2`, … of claims
/// that come without one; a claim not said to become consequential does so where it is introduced;
/// at most [`MAX_CLAIMS`] are kept.
///
/// # Errors
/// When a list is neither list, object, text nor empty, or a claim is not an object: even one
/// past the eighth, as published.
pub fn claim_ledger(reply: &Map<String, Value>, run: &Trajectory) -> Result<Ledger, ReadError> {
    let mut claims = Vec::new();
    for (index, row) in items(reply, "claims")?.iter().enumerate() {
        let row = object(row, "claims", index)?;
        if let Some(claim) = claim(row, index, run)? {
            claims.push(claim);
        }
    }
    claims.truncate(MAX_CLAIMS);
    let hard_constraints = items(reply, "hard_constraints")?
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| text_of(value))
        .filter(|text| !strip(text).is_empty())
        .collect();
    Ok(Ledger {
        task_goal: text_field(reply, "task_goal"),
        hard_constraints,
        claims,
        notes: text_field(reply, "notes"),
    })
}

fn claim(row: &Map<String, Value>, index: usize, run: &Trajectory) -> Result<Option<Claim>, ReadError> {
    let text = text_field(row, "claim");
    let text = strip(&text);
    if text.is_empty() {
        return Ok(None);
    }
    let introduced_at = span_field(row, "introduced_at", run);
    Ok(Some(Claim {
        claim_id: row
            .get("claim_id")
            .filter(|id| is_truthy(id))
            .map_or_else(|| format!("c{}", index + 1), text_of),
        claim: text.to_owned(),
        becomes_consequential_at: span_field(row, "becomes_consequential_at", run).or_else(|| introduced_at.clone()),
        introduced_at,
        used_by: span_ids_field(row, "used_by", run)?,
        claim_type: word_field(row, "claim_type"),
        status: word_field(row, "status"),
        quotes: Vec::new(),
    }))
}
