use proptest::prelude::*;

use super::*;
use crate::audit::{CauseKind, LocatedBy};
use crate::trajectory::Span;

fn run() -> Trajectory {
    let spans = (1..=8).map(|n| Span {
        id: format!("s00{n}"),
        text: format!("step {n}"),
        ..Span::default()
    });
    Trajectory::new("r", "q", spans.collect()).0
}

fn report(verdict: Verdict, findings: Vec<Finding>) -> Report {
    Report {
        verdict,
        ledger: None,
        support: None,
        trace: None,
        packet: None,
        findings,
        rejected_span_ids: Vec::new(),
        warnings: Vec::new(),
    }
}

fn found(by: &str, ids: &[u8]) -> Report {
    let findings: Vec<Finding> = ids
        .iter()
        .map(|n| Finding {
            span_id: format!("s00{n}"),
            role: Role::Linked,
            claim_ids: vec!["c1".to_owned()],
            reason: format!("{by} says so"),
            located_by: LocatedBy::Code,
            quotes: Vec::new(),
        })
        .collect();
    let spans = findings.iter().map(|finding| finding.span_id.clone()).collect();
    report(verdict_of(spans, &findings), findings)
}

fn failed(refused: bool) -> Report {
    let cause = Cause::new(CauseKind::Server, "503");
    report(
        if refused {
            Verdict::Refused(cause)
        } else {
            Verdict::Failed(cause)
        },
        Vec::new(),
    )
}

fn ids(report: &Report) -> Vec<&str> {
    spans(report).unwrap().iter().map(String::as_str).collect()
}

#[test]
fn three_repeats_vote_span_by_span() {
    let decided = decide(
        &run(),
        vec![found("a", &[6, 8]), found("b", &[6, 7]), found("c", &[6, 8])],
    )
    .unwrap();
    let votes: Vec<(&str, u32)> = decided.votes.iter().map(|(id, votes)| (id.as_str(), *votes)).collect();
    assert_eq!(votes, [("s006", 3), ("s007", 1), ("s008", 2)]);
    assert_eq!(ids(&decided.report), ["s006", "s008"]);
    // 8 spans, 3 raters, 6 of 24 marks: p_e = 0.625, P = 5/6.
    let kappa = decided.fleiss_kappa.unwrap();
    assert!((kappa - 0.5556).abs() < 5e-5, "{kappa}");
    assert_eq!(
        (decided.repeats.asked, decided.repeats.ok, decided.repeats.same_first),
        (3, 3, Some(1.0))
    );
    let Verdict::Found(found) = &decided.report.verdict else {
        panic!()
    };
    assert!(
        found.reasons.iter().all(|reason| reason.reason == "a says so"),
        "the nearest repeat's reasons"
    );
    assert_eq!(decided.report.findings[0].role, Role::First);
}

#[test]
fn votes_count_what_the_judge_named_and_the_verdict_what_was_reported() {
    let completed = |by: &str, named: &[u8], reported: &[u8]| Report {
        trace: Some(crate::ledger::Trace {
            error_span_ids: named.iter().map(|n| format!("s00{n}")).collect(),
            ..crate::ledger::Trace::default()
        }),
        ..found(by, reported)
    };
    let repeats = vec![
        completed("a", &[6, 8], &[6, 8]),
        completed("b", &[6, 7], &[6, 7, 8]),
        completed("c", &[6, 8], &[6, 8]),
    ];
    let decided = decide(&run(), repeats).unwrap();
    assert_eq!((decided.votes["s008"], decided.votes["s007"]), (2, 1));
    assert!((decided.fleiss_kappa.unwrap() - 0.5556).abs() < 5e-5);
    assert_eq!(ids(&decided.report), ["s006", "s008"]);
}

#[test]
fn a_tie_is_no_majority_and_a_span_may_win_that_no_single_repeat_led_with() {
    let decided = decide(&run(), vec![found("a", &[2]), found("b", &[])]).unwrap();
    assert_eq!(decided.report.verdict, Verdict::Clean);
    assert_eq!(decided.repeats.same_first, Some(0.5));

    let decided = decide(
        &run(),
        vec![found("a", &[1, 2]), found("b", &[2, 3]), found("c", &[3, 4, 1])],
    )
    .unwrap();
    assert_eq!(ids(&decided.report), ["s001", "s002", "s003"]);
    let borrowed = &decided.report.findings[2];
    assert_eq!(
        (borrowed.reason.as_str(), borrowed.claim_ids.len()),
        ("b says so", 0),
        "of another ledger"
    );
}

#[test]
fn failed_repeats_are_named_and_never_vote() {
    let decided = decide(&run(), vec![found("a", &[4]), failed(false), found("c", &[4])]).unwrap();
    assert_eq!(ids(&decided.report), ["s004"]);
    assert_eq!(decided.repeats.failed.len(), 1);
    assert_eq!(
        (decided.repeats.failed[0].repeat, decided.repeats.failed[0].refused),
        (1, false)
    );

    // Two clean verdicts of five are no majority of five.
    let decided = decide(
        &run(),
        vec![
            found("a", &[]),
            failed(true),
            found("c", &[]),
            failed(false),
            failed(false),
        ],
    )
    .unwrap();
    let Verdict::Refused(cause) = &decided.report.verdict else {
        panic!("{:?}", decided.report.verdict)
    };
    assert!(cause.message.starts_with("2 of 5 repeats"), "{}", cause.message);
    // Three of five are, and a span needs three votes of five.
    let decided = decide(
        &run(),
        vec![
            found("a", &[1]),
            found("b", &[1]),
            found("c", &[]),
            failed(false),
            failed(false),
        ],
    )
    .unwrap();
    assert_eq!(decided.report.verdict, Verdict::Clean);
    assert!(decide(&run(), Vec::new()).is_none());
}

#[test]
fn two_judges_are_compared_span_by_span() {
    let (a, b) = (found("a", &[2, 6, 8]), found("b", &[6, 7, 8]));
    let agreement = agreement(&run(), &a, &b).unwrap();
    assert!(!agreement.same_first);
    assert_eq!(agreement.both, ["s006", "s008"]);
    assert_eq!(
        (agreement.only_first, agreement.only_second),
        (vec!["s002".to_owned()], vec!["s007".to_owned()])
    );
    // 6 of 8 alike; both mark 3 of 8: p_e = 9/64 + 25/64.
    let kappa = agreement.kappa.unwrap();
    assert!((kappa - (0.75 - 34.0 / 64.0) / (30.0 / 64.0)).abs() < 1e-12, "{kappa}");

    let both = agreed(&run(), &a, &b);
    assert_eq!(ids(&both), ["s006", "s008"]);
    assert_eq!((both.findings[0].role, both.findings.len()), (Role::First, 2));
    assert!(both.warnings[0].message.contains("s002") && both.warnings[0].message.contains("s007"));
}

#[test]
fn no_agreement_is_said_and_no_second_verdict_is_none() {
    let nothing = agreed(&run(), &found("a", &[2]), &found("b", &[3]));
    assert_eq!(nothing.verdict, Verdict::Clean);
    assert!(nothing.warnings[0].message.contains("agree on no harmful span"));
    for (second, is_refused) in [(failed(false), false), (failed(true), true)] {
        let report = agreed(&run(), &found("a", &[2]), &second);
        assert_eq!(matches!(report.verdict, Verdict::Refused(_)), is_refused);
        assert!(spans(&report).is_none() && report.findings.is_empty());
        assert!(super::agreement(&run(), &found("a", &[2]), &second).is_none());
    }
    assert!(spans(&agreed(&run(), &failed(false), &found("b", &[2]))).is_none());
}

fn any_report() -> impl Strategy<Value = Report> {
    prop_oneof![
        4 => prop::collection::btree_set(1_u8..=8, 0..5).prop_map(|ids| found("x", &ids.into_iter().collect::<Vec<_>>())),
        1 => any::<bool>().prop_map(failed),
    ]
}

proptest! {
    #[test]
    fn the_order_of_repeats_changes_no_vote_and_no_failure_is_clean(reports in prop::collection::vec(any_report(), 1..8)) {
        let decided = decide(&run(), reports.clone()).unwrap();
        let reversed = decide(&run(), reports.iter().rev().cloned().collect()).unwrap();
        prop_assert_eq!(&decided.votes, &reversed.votes);
        prop_assert_eq!(decided.fleiss_kappa.is_some(), reversed.fleiss_kappa.is_some());
        prop_assert_eq!(spans(&decided.report), spans(&reversed.report));
        let asked = reports.len();
        let ok = reports.iter().filter(|report| spans(report).is_some()).count();
        prop_assert_eq!(spans(&decided.report).is_some(), 2 * ok > asked);
        for id in spans(&decided.report).unwrap_or_default() {
            prop_assert!(2 * decided.votes[id] as usize > asked);
        }
        if let Some(kappa) = decided.fleiss_kappa {
            prop_assert!((-1.0..=1.0 + 1e-9).contains(&kappa), "{kappa}");
        }
    }

    #[test]
    fn agreement_is_symmetric_and_agreed_spans_are_of_both(a in any_report(), b in any_report()) {
        let report = agreed(&run(), &a, &b);
        prop_assert_eq!(spans(&report).is_some(), spans(&a).is_some() && spans(&b).is_some());
        let (one, other) = (agreement(&run(), &a, &b), agreement(&run(), &b, &a));
        if let (Some(one), Some(other)) = (one, other) {
            prop_assert_eq!(&one.both, &other.both);
            prop_assert_eq!(&one.only_first, &other.only_second);
            prop_assert_eq!(spans(&report).unwrap(), &one.both[..]);
            prop_assert_eq!(report.findings.len(), one.both.len());
        }
    }
}
