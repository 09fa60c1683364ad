//! From a trace to findings: each harmful span with its claims, its reason and the words that show it.

use super::{Finding, LocatedBy, Role};
use crate::evidence::{Quote, quote};
use crate::ledger::{Claim, Ledger, Reason, SupportRecord, SupportStatus, Trace};
use crate::trajectory::{Trajectory, Warning};

/// One finding a harmful span, in the order given (trajectory order). The judge's own quote comes
/// first; without one, its quotes of the claims at that span; without those, the sentence that
/// matches best, found by code.
pub(super) fn findings(
    run: &Trajectory,
    spans: &[String],
    trace: &Trace,
    ledger: &Ledger,
    support: &[SupportRecord],
    warnings: &mut Vec<Warning>,
) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(spans.len());
    for (nth, span_id) in spans.iter().enumerate() {
        let claims: Vec<&Claim> = ledger
            .claims
            .iter()
            .filter(|claim| passes_through(claim, span_id))
            .collect();
        let reason = reason(span_id, trace, &claims, support);
        let (located_by, quotes) = quotes(run, span_id, trace, &claims, &reason, warnings);
        findings.push(Finding {
            span_id: span_id.clone(),
            role: if nth == 0 { Role::First } else { Role::Linked },
            claim_ids: claims.iter().map(|claim| claim.claim_id.clone()).collect(),
            reason,
            located_by,
            quotes,
        });
    }
    findings
}

fn passes_through(claim: &Claim, span_id: &str) -> bool {
    claim.introduced_at.as_deref() == Some(span_id)
        || claim.becomes_consequential_at.as_deref() == Some(span_id)
        || claim.used_by.iter().any(|used| used == span_id)
}

fn reason(span_id: &str, trace: &Trace, claims: &[&Claim], support: &[SupportRecord]) -> String {
    if let Some(reason) = trace
        .reasons
        .iter()
        .find(|reason| reason.span_id == span_id && !reason.reason.trim().is_empty())
    {
        return reason.reason.clone();
    }
    if trace.error_span_ids.iter().any(|id| id == span_id) {
        return trace.reason.clone();
    }
    let inherits = claims.iter().filter_map(|claim| {
        let status = support
            .iter()
            .find(|record| record.claim_id == claim.claim_id)
            .map(|record| record.support_status);
        let lacks = match status {
            Some(SupportStatus::Direct) => return None,
            Some(SupportStatus::Weak) | None => "is not shown to stand",
            Some(SupportStatus::Missing) => "has no support in the run",
            Some(SupportStatus::Conflicting) => "is contradicted by the run",
        };
        Some(format!(
            "it uses claim {} (\"{}\"), which {lacks}",
            claim.claim_id, claim.claim
        ))
    });
    inherits.collect::<Vec<_>>().join("; ")
}

fn quotes(
    run: &Trajectory,
    span_id: &str,
    trace: &Trace,
    claims: &[&Claim],
    reason: &str,
    warnings: &mut Vec<Warning>,
) -> (LocatedBy, Vec<Quote>) {
    let Some(position) = run.position(span_id) else {
        return (LocatedBy::Code, Vec::new());
    };
    let mut found: Vec<Quote> = Vec::new();
    let given = trace
        .reasons
        .iter()
        .filter(|reason: &&Reason| reason.span_id == span_id);
    for text in given
        .filter_map(|reason| reason.quote.as_deref())
        .filter(|text| !text.trim().is_empty())
    {
        let quote = quote::find(run, Some(position), text);
        warnings.extend(super::keeper::unverified(
            run,
            Some(position),
            text,
            &quote,
            crate::trajectory::Stage::Tracer,
        ));
        found.push(quote);
    }
    if found.iter().any(|quote| quote.status.carries_support()) {
        return (LocatedBy::Judge, found);
    }
    let of_claims = claims.iter().flat_map(|claim| &claim.quotes);
    let of_claims: Vec<Quote> = of_claims
        .filter(|quote| quote.span_id == span_id && quote.status.carries_support())
        .cloned()
        .collect();
    if !of_claims.is_empty() {
        found.splice(0..0, of_claims);
        return (LocatedBy::Judge, found);
    }
    let needle = claims.first().map_or(reason, |claim| claim.claim.as_str());
    let by_code = quote::best_sentence(run, position, needle).or_else(|| quote::best_sentence(run, position, reason));
    match by_code {
        Some(quote) => {
            found.insert(0, quote);
            (LocatedBy::Code, found)
        }
        None => (
            if found.is_empty() {
                LocatedBy::Code
            } else {
                LocatedBy::Judge
            },
            found,
        ),
    }
}
