//! Findings in the shapes of the stages' replies.

use super::checks::Place;
use super::report::{Finding, Report};
use crate::evidence::Packet;
use crate::ledger::{Claim, ClaimStatus, ClaimType, EvidenceRole, Ledger, Reason, SupportRecord, SupportStatus};
use crate::reply::{
    BareReply, ClaimEvent, KeeperClaim, KeeperReply, SeekerHandle, SeekerRecord, SeekerReply, TracerReply,
};
use crate::trajectory::Trajectory;

/// Words of a quote, as the reply's shape allows.
const QUOTE_WORDS: usize = 20;

/// The words of `place` around `focus`, at most [`QUOTE_WORDS`] of them, letter for letter.
fn quote(run: &Trajectory, place: Place, focus: usize) -> String {
    let text = run
        .spans()
        .get(place.span)
        .and_then(|span| span.text.get(place.start..place.end))
        .unwrap_or("");
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut open = None;
    for (at, c) in text.char_indices() {
        match (c.is_whitespace(), open) {
            (true, Some(start)) => {
                words.push((start, at));
                open = None;
            }
            (false, None) => open = Some(at),
            _ => {}
        }
    }
    words.extend(open.map(|start| (start, text.len())));
    let focus = focus.saturating_sub(place.start);
    let middle = words.iter().position(|(_, end)| *end > focus).unwrap_or(0);
    let first = middle
        .saturating_sub(QUOTE_WORDS / 2)
        .min(words.len().saturating_sub(QUOTE_WORDS));
    let last = (first + QUOTE_WORDS).min(words.len());
    let range = words.get(first).zip(words.get(last.saturating_sub(1)));
    let cut = range
        .and_then(|((start, _), (_, end))| text.get(*start..*end))
        .unwrap_or("");
    // Scripts without spaces make one long word.
    cut.chars().take(200).collect()
}

fn event(run: &Trajectory, place: Place, focus: usize) -> ClaimEvent {
    ClaimEvent {
        span_id: run.id_at(place.span).to_owned(),
        quote: quote(run, place, focus),
    }
}

fn claim_text(run: &Trajectory, place: Place) -> String {
    run.spans()
        .get(place.span)
        .and_then(|span| span.text.get(place.start..place.end))
        .unwrap_or("")
        .chars()
        .take(240)
        .collect()
}

fn why(finding: &Finding) -> String {
    let defect = &finding.defect;
    format!(
        "{}: {} (confidence {:.2} from {} facts counted)",
        defect.check.fault(),
        defect.why,
        defect.confidence(),
        defect.counted
    )
}

fn claim_of(run: &Trajectory, finding: &Finding) -> KeeperClaim {
    let defect = &finding.defect;
    let id = |span: usize| run.id_at(span).to_owned();
    let mut quotes = vec![event(run, defect.place, defect.focus)];
    quotes.extend(finding.chain.uses.iter().map(|place| event(run, *place, place.start)));
    KeeperClaim {
        claim_id: String::new(),
        claim: claim_text(run, defect.place),
        introduced_at: Some(id(finding.chain.introduced.unwrap_or(defect.place.span))),
        becomes_consequential_at: Some(id(defect.place.span)),
        used_by: finding.chain.uses.iter().map(|place| id(place.span)).collect(),
        claim_type: defect.check.claim_type(),
        status: if finding.chain.finalized {
            ClaimStatus::Finalized
        } else {
            ClaimStatus::Consequential
        },
        quotes,
    }
}

/// The Claim Keeper's reply.
pub(super) fn keeper(run: &Trajectory, report: &Report) -> KeeperReply {
    let found = report.findings.iter().map(|finding| claim_of(run, finding));
    let stands = report.supported.iter().map(|supported| {
        let id = run.id_at(supported.place.span).to_owned();
        KeeperClaim {
            claim_id: String::new(),
            claim: claim_text(run, supported.place),
            introduced_at: Some(id.clone()),
            becomes_consequential_at: Some(id),
            used_by: Vec::new(),
            claim_type: ClaimType::Evidence,
            status: if supported.is_answer {
                ClaimStatus::Finalized
            } else {
                ClaimStatus::Consequential
            },
            quotes: vec![event(run, supported.place, supported.place.start)],
        }
    });
    let claims = found
        .chain(stands)
        .enumerate()
        .map(|(at, claim)| KeeperClaim {
            claim_id: format!("c{}", at + 1),
            ..claim
        })
        .collect();
    KeeperReply {
        task_goal: run.question().trim().chars().take(400).collect(),
        hard_constraints: super::conditions(run),
        claims,
        notes: report.coverage.to_string(),
    }
}

fn chunk_at(run: &Trajectory, packet: &Packet, place: Place) -> String {
    packet
        .chunks
        .iter()
        .find(|chunk| chunk.span == place.span && chunk.bytes.contains(&place.start))
        .map_or_else(String::new, |chunk| chunk.id(run))
}

fn handle(run: &Trajectory, packet: &Packet, place: Place, focus: usize, role: EvidenceRole) -> SeekerHandle {
    SeekerHandle {
        span_id: run.id_at(place.span).to_owned(),
        chunk_id: chunk_at(run, packet, place),
        role,
        text: quote(run, place, focus),
    }
}

/// The Support Seeker's reply: a record for every claim of the ledger that matters.
pub(super) fn seeker(run: &Trajectory, report: &Report, ledger: &Ledger, packet: &Packet) -> SeekerReply {
    let support_records = ledger
        .claims
        .iter()
        .map(|claim| record(run, report, claim, packet))
        .collect();
    SeekerReply { support_records }
}

fn same_claim(run: &Trajectory, claim: &Claim, place: Place) -> bool {
    let at = claim
        .becomes_consequential_at
        .as_deref()
        .or(claim.introduced_at.as_deref());
    at == Some(run.id_at(place.span)) && claim.claim == claim_text(run, place)
}

fn record(run: &Trajectory, report: &Report, claim: &Claim, packet: &Packet) -> SeekerRecord {
    let blank = SeekerRecord {
        claim_id: claim.claim_id.clone(),
        ..SeekerRecord::default()
    };
    if let Some(finding) = report
        .findings
        .iter()
        .find(|finding| same_claim(run, claim, finding.defect.place))
    {
        let defect = &finding.defect;
        let mut handles = vec![handle(
            run,
            packet,
            defect.place,
            defect.focus,
            EvidenceRole::Commitment,
        )];
        handles.extend(
            defect
                .against
                .map(|place| handle(run, packet, place, place.start, EvidenceRole::Conflict)),
        );
        handles.extend(
            finding
                .chain
                .uses
                .iter()
                .map(|place| handle(run, packet, *place, place.start, EvidenceRole::DownstreamUse)),
        );
        return SeekerRecord {
            support_status: defect.support,
            missing_support: why(finding),
            needs_auditors: vec![defect.check.fault().to_owned()],
            evidence_handles: handles,
            ..blank
        };
    }
    if let Some(supported) = report
        .supported
        .iter()
        .find(|supported| same_claim(run, claim, supported.place))
    {
        return SeekerRecord {
            support_spans: vec![run.id_at(supported.by.span).to_owned()],
            support_status: SupportStatus::Direct,
            evidence_handles: vec![handle(
                run,
                packet,
                supported.by,
                supported.by.start,
                EvidenceRole::DirectSupport,
            )],
            ..blank
        };
    }
    SeekerRecord {
        support_status: SupportStatus::Weak,
        missing_support: "not among the statements that the offline judge can check".to_owned(),
        ..blank
    }
}

/// The Dependency Tracer's reply, from the ledger and the support records alone: a claim that matters
/// and that was shown to be missing or contradicted is an error from where it is settled to its last
/// use.
pub(super) fn tracer(run: &Trajectory, ledger: &Ledger, support: &[SupportRecord]) -> TracerReply {
    let mut positions: Vec<usize> = Vec::new();
    let mut sound: Vec<usize> = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    for claim in ledger.claims.iter().filter(|claim| claim.status.matters()) {
        let record = support.iter().find(|record| record.claim_id == claim.claim_id);
        let status = record.map_or(SupportStatus::Weak, |record| record.support_status);
        let start = claim
            .becomes_consequential_at
            .as_deref()
            .or(claim.introduced_at.as_deref());
        let Some(first) = start.and_then(|id| run.position(id)) else {
            continue;
        };
        if !matches!(status, SupportStatus::Missing | SupportStatus::Conflicting) {
            sound.push(first);
            continue;
        }
        let ground = record.map_or("", |record| record.missing_support.as_str());
        reasons.push(reason(run, claim, first, ground.to_owned()));
        positions.push(first);
        for used in claim
            .used_by
            .iter()
            .filter_map(|id| run.position(id))
            .filter(|used| *used > first)
        {
            reasons.push(reason(
                run,
                claim,
                used,
                format!("repeats or builds on {} of {}", claim.claim_id, run.id_at(first)),
            ));
            positions.push(used);
        }
    }
    positions.sort_unstable();
    positions.dedup();
    sound.retain(|position| !positions.contains(position));
    reasons.sort_by_key(|reason| run.position(&reason.span_id));
    reasons.dedup_by(|later, earlier| later.span_id == earlier.span_id);
    let ids = |positions: &[usize]| {
        positions
            .iter()
            .map(|position| run.id_at(*position).to_owned())
            .collect::<Vec<_>>()
    };
    let first = positions.first().map(|position| run.id_at(*position).to_owned());
    TracerReply {
        first_error_span: first.clone(),
        linked_error_span_ids: ids(positions.get(1..).unwrap_or_default()),
        non_errors: ids(&sound),
        reason: reasons.first().map_or_else(
            || "nothing that matters was shown to be unsupported".to_owned(),
            |reason| reason.reason.clone(),
        ),
        error_span_ids: ids(&positions),
        earliest_harmful_span_id: first,
        reasons,
    }
}

fn reason(run: &Trajectory, claim: &Claim, position: usize, why: String) -> Reason {
    let id = run.id_at(position);
    let quote = claim
        .quotes
        .iter()
        .find(|quote| quote.span_id == id && quote.status.carries_support())
        .map(|quote| quote.text.clone());
    Reason {
        span_id: id.to_owned(),
        reason: why,
        quote,
    }
}

/// The reply to `bare`'s single question.
pub(super) fn bare(run: &Trajectory, report: &Report) -> BareReply {
    let mut places: Vec<(Place, usize, String)> = Vec::new();
    for finding in &report.findings {
        places.push((finding.defect.place, finding.defect.focus, why(finding)));
        let from = run.id_at(finding.defect.place.span);
        places.extend(
            finding
                .chain
                .uses
                .iter()
                .map(|place| (*place, place.start, format!("repeats or builds on what {from} says"))),
        );
    }
    places.sort_by_key(|(place, _, _)| place.span);
    places.dedup_by_key(|(place, _, _)| place.span);
    let reasons: Vec<Reason> = places
        .into_iter()
        .map(|(place, focus, reason)| Reason {
            span_id: run.id_at(place.span).to_owned(),
            reason,
            quote: Some(quote(run, place, focus)),
        })
        .collect();
    let error_span_ids: Vec<String> = reasons.iter().map(|reason| reason.span_id.clone()).collect();
    BareReply {
        earliest_harmful_span_id: error_span_ids.first().cloned(),
        error_span_ids,
        reasons,
    }
}
