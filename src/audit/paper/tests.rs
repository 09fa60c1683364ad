use super::*;
use crate::evidence::{Quote, QuoteStatus};
use crate::ledger::{Claim, ClaimStatus, EvidenceHandle, Ledger, SupportRecord, SupportStatus};
use crate::trajectory::{Span, Trajectory};

fn run(ids: &[&str]) -> Trajectory {
    let spans = ids
        .iter()
        .map(|id| Span {
            id: (*id).to_owned(),
            ..Span::default()
        })
        .collect();
    Trajectory::new("r", "q", spans).0
}

fn claim(id: &str, spans: [&str; 2], used_by: &[&str], status: ClaimStatus) -> Claim {
    Claim {
        claim_id: id.to_owned(),
        claim: "the lamp was electric ".repeat(10),
        introduced_at: Some(spans[0].to_owned()),
        becomes_consequential_at: Some(spans[1].to_owned()),
        used_by: used_by.iter().map(|id| (*id).to_owned()).collect(),
        status,
        ..Claim::default()
    }
}

fn ledger(claims: Vec<Claim>) -> Ledger {
    Ledger {
        claims,
        ..Ledger::default()
    }
}

fn direct(claim_id: &str, status: QuoteStatus) -> SupportRecord {
    SupportRecord {
        claim_id: claim_id.to_owned(),
        support_status: SupportStatus::Direct,
        evidence_handles: vec![EvidenceHandle {
            quote: Some(Quote {
                span_id: "b".into(),
                text: "lamp".into(),
                start: Some(0),
                end: Some(4),
                status,
            }),
            ..EvidenceHandle::default()
        }],
        ..SupportRecord::default()
    }
}

fn completed(first: &[&str], ledger: &Ledger, support: &[SupportRecord], rules: &StepRules) -> Vec<String> {
    let run = run(&["t2-s9", "b", "t1-s10", "d"]);
    let mut prediction = Prediction {
        error_span_ids: first.iter().map(|id| (*id).to_owned()).collect(),
        ..Prediction::default()
    };
    add_completions(&mut prediction, &run, ledger, support, rules);
    assert_eq!(
        prediction.earliest_harmful_span_id.as_ref(),
        prediction.error_span_ids.first()
    );
    prediction.error_span_ids
}

#[test]
fn no_error_stays_no_error_in_drift_only() {
    let ledger = ledger(vec![claim("c1", ["b", "t1-s10"], &["d"], ClaimStatus::Finalized)]);
    assert!(completed(&[], &ledger, &[], &StepRules::DRIFT).is_empty());
    assert_eq!(completed(&[], &ledger, &[], &StepRules::PAPER), ["t1-s10", "d"]);
}

#[test]
fn later_is_by_position_in_drift_and_by_digits_in_paper() {
    let ledger = ledger(vec![claim(
        "c1",
        ["t2-s9", "t2-s9"],
        &["t1-s10"],
        ClaimStatus::Finalized,
    )]);
    // 110 is after 29 either way; the span before is later only for those who read digits.
    assert_eq!(completed(&["b"], &ledger, &[], &StepRules::DRIFT), ["b", "t1-s10"]);
    assert_eq!(completed(&["t1-s10"], &ledger, &[], &StepRules::DRIFT), ["t1-s10"]);
    assert_eq!(
        completed(&["t2-s9"], &ledger, &[], &StepRules::PAPER),
        ["t2-s9", "t1-s10"]
    );
    assert_eq!(completed(&["b"], &ledger, &[], &StepRules::PAPER), ["b"]);
}

#[test]
fn a_claim_with_verified_direct_support_adds_nothing_in_drift() {
    let ledger = ledger(vec![
        claim("c1", ["b", "b"], &["t1-s10"], ClaimStatus::Finalized),
        claim("c2", ["b", "b"], &["d"], ClaimStatus::Consequential),
        claim("c3", ["b", "b"], &["t2-s9"], ClaimStatus::Tentative),
    ]);
    let with = |status| completed(&["t2-s9"], &ledger, &[direct("c1", status)], &StepRules::DRIFT);
    assert_eq!(with(QuoteStatus::Verified), ["t2-s9", "b", "d"]);
    assert_eq!(with(QuoteStatus::Folded), ["t2-s9", "b", "d"]);
    assert_eq!(with(QuoteStatus::WrongSpan), ["t2-s9", "b", "t1-s10", "d"]);
    assert_eq!(with(QuoteStatus::NotFound), ["t2-s9", "b", "t1-s10", "d"]);
    let paper = completed(
        &["t2-s9"],
        &ledger,
        &[direct("c1", QuoteStatus::Verified)],
        &StepRules::PAPER,
    );
    assert_eq!(paper, ["t2-s9", "b", "t1-s10", "d"]);
}

#[test]
fn drift_fetches_for_every_claim_all_its_spans_in_its_own_words() {
    let run = run(&["a", "b", "c", "d"]);
    let ledger = ledger(vec![
        claim("c1", ["a", "b"], &["c", "d"], ClaimStatus::Finalized),
        claim("c2", ["a", "a"], &[], ClaimStatus::Tentative),
    ]);
    let rows = |rules: &StepRules| settle_context_requests(auto_context_requests(&ledger, rules), &run, &ledger, rules);
    let (paper, drift) = (rows(&StepRules::PAPER), rows(&StepRules::DRIFT));
    assert_eq!((paper.len(), drift.len()), (1, 2));
    assert_eq!(paper[0].span_ids, ["a", "b", "d"]);
    assert_eq!(drift[0].span_ids, ["a", "b", "c", "d"]);
    assert_eq!(paper[0].queries[0].chars().count(), MAX_QUERY_CHARS);
    assert_eq!(drift[0].queries[0], ledger.claims[0].claim.trim());
    assert_eq!(to_fetch(&drift, &run)[0].spans, [0, 1, 2, 3]);
    assert_eq!(claim_seed_spans(&ledger, &run), [0, 1, 2, 3]);
}

#[test]
fn rules_belong_to_methods() {
    assert_eq!(StepRules::of(Method::Paper), StepRules::PAPER);
    assert_eq!(StepRules::of(Method::Drift), StepRules::DRIFT);
}
