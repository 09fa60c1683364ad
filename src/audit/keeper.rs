//! Claim Keeper: a reply becomes a ledger whose span ids exist and whose quotes are looked up.

use super::ids::Ids;
use super::paper::MAX_CLAIMS;
use crate::evidence::{Quote, quote};
use crate::ledger::{Claim, Ledger};
use crate::reply::{KeeperClaim, KeeperReply};
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// What was made of a reply.
pub(super) struct Read<T> {
    pub(super) value: T,
    pub(super) rejected: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

/// Claims without text are dropped, at most [`MAX_CLAIMS`] are kept, a missing or repeated claim id
/// is replaced by the next free `c<n>`, and a claim that matters but does not say since when
/// matters since it was introduced.
pub(super) fn ledger(run: &Trajectory, reply: &KeeperReply) -> Read<Ledger> {
    let mut ids = Ids::new(run, Stage::Keeper);
    let mut warnings = Vec::new();
    let mut claims: Vec<Claim> = Vec::new();
    for raw in reply
        .claims
        .iter()
        .filter(|claim| !claim.claim.trim().is_empty())
        .take(MAX_CLAIMS)
    {
        let claim_id = free_id(&claims, raw.claim_id.trim());
        let claim = claim(run, &mut ids, raw, claim_id, &mut warnings);
        claims.push(claim);
    }
    let (rejected, id_warnings) = ids.finish();
    warnings.splice(0..0, id_warnings);
    let hard_constraints = reply.hard_constraints.iter().map(|text| text.trim().to_owned());
    let value = Ledger {
        task_goal: reply.task_goal.trim().to_owned(),
        hard_constraints: hard_constraints.filter(|text| !text.is_empty()).collect(),
        claims,
        notes: reply.notes.clone(),
    };
    Read {
        value,
        rejected,
        warnings,
    }
}

fn free_id(taken: &[Claim], wanted: &str) -> String {
    let free = |id: &str| !taken.iter().any(|claim| claim.claim_id == id);
    if !wanted.is_empty() && free(wanted) {
        return wanted.to_owned();
    }
    let mut number = taken.len() + 1;
    loop {
        let id = format!("c{number}");
        if free(&id) {
            return id;
        }
        number += 1;
    }
}

fn claim(
    run: &Trajectory,
    ids: &mut Ids<'_>,
    raw: &KeeperClaim,
    claim_id: String,
    warnings: &mut Vec<Warning>,
) -> Claim {
    let introduced_at = raw.introduced_at.as_deref().and_then(|id| ids.id(id));
    let becomes_consequential_at = raw.becomes_consequential_at.as_deref().and_then(|id| ids.id(id));
    let mut quotes = Vec::new();
    for event in raw.quotes.iter().filter(|event| !event.quote.trim().is_empty()) {
        let Some(position) = ids.position(&event.span_id) else {
            continue;
        };
        let quote = quote::find(run, Some(position), &event.quote);
        warnings.extend(unverified(run, Some(position), &event.quote, &quote, Stage::Keeper));
        quotes.push(quote);
    }
    Claim {
        claim_id,
        claim: raw.claim.trim().to_owned(),
        becomes_consequential_at: becomes_consequential_at
            .or_else(|| introduced_at.clone().filter(|_| raw.status.matters())),
        introduced_at,
        used_by: ids.ordered(raw.used_by.iter().map(String::as_str)),
        claim_type: raw.claim_type,
        status: raw.status,
        quotes,
    }
}

/// The warning for a quote that is not where it was said to be.
pub(super) fn unverified(
    run: &Trajectory,
    said: Option<usize>,
    text: &str,
    quote: &Quote,
    stage: Stage,
) -> Option<Warning> {
    if quote.status.carries_support() {
        return None;
    }
    let said = said.map_or_else(|| quote.span_id.clone(), |position| run.id_at(position).to_owned());
    let shown: String = text.chars().take(80).collect();
    let message = if quote.start.is_some() {
        format!(
            "the judge quoted \"{shown}\" from {said}; it stands in {}",
            quote.span_id
        )
    } else {
        format!("the judge quoted \"{shown}\" from {said}; it stands nowhere in the run")
    };
    Some(
        Warning::new(WarningCode::UnverifiedQuote, message)
            .at_span(&said)
            .in_stage(stage),
    )
}
