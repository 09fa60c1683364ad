//! The machine under scripted answers: what it asks, what it makes of replies, what it survives.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::ledger::{ClaimStatus, EvidenceRole, Reason, SupportStatus};
use crate::reply::{
    BareReply, KeeperClaim, KeeperReply, SeekerHandle, SeekerRecord, SeekerReply, StageReply, TracerReply,
};
use crate::trajectory::{Span, Stage, Trajectory, WarningCode};

const TEXTS: [&str; 6] = [
    "Plan: find out who built the mill at Orrin Ford, and when.",
    "search(\"Orrin Ford mill builder\")",
    "Result: parish survey. \"The mill at Orrin Ford stood by 1788; its builder is not recorded.\"",
    "The mill was built by Tam Hesk in 1788.",
    "Tam Hesk also built the bridge, so the dates fit.",
    "Final answer: Tam Hesk, 1788.",
];

fn run_named(prefix: &str) -> Arc<Trajectory> {
    let spans = TEXTS.iter().enumerate().map(|(n, text)| Span {
        id: format!("{prefix}{}", n + 1),
        text: (*text).to_owned(),
        ..Span::default()
    });
    Arc::new(Trajectory::new("mill", "Who built the mill at Orrin Ford, and when?", spans.collect()).0)
}

fn settings(method: Method) -> Settings {
    Settings::new(method)
}

fn keeper(prefix: &str, status: ClaimStatus) -> StageReply {
    let id = |n: usize| format!("{prefix}{n}");
    StageReply::Keeper(KeeperReply {
        task_goal: "name builder and year".to_owned(),
        hard_constraints: vec!["the mill at Orrin Ford".to_owned()],
        claims: vec![KeeperClaim {
            claim_id: "c1".to_owned(),
            claim: "Tam Hesk built the mill in 1788.".to_owned(),
            introduced_at: Some(id(4)),
            becomes_consequential_at: Some(id(4)),
            used_by: vec![id(6), id(5)],
            status,
            ..KeeperClaim::default()
        }],
        notes: String::new(),
    })
}

fn seeker(prefix: &str, status: SupportStatus, quote: &str) -> StageReply {
    StageReply::Seeker(SeekerReply {
        support_records: vec![SeekerRecord {
            claim_id: "c1".to_owned(),
            support_status: status,
            evidence_handles: vec![SeekerHandle {
                span_id: format!("{prefix}3"),
                chunk_id: format!("{prefix}3:c001"),
                role: EvidenceRole::DirectSupport,
                text: quote.to_owned(),
            }],
            ..SeekerRecord::default()
        }],
    })
}

fn tracer(spans: &[String]) -> StageReply {
    StageReply::Tracer(TracerReply {
        first_error_span: spans.first().cloned(),
        error_span_ids: spans.to_vec(),
        earliest_harmful_span_id: spans.first().cloned(),
        reason: "no builder is recorded".to_owned(),
        ..TracerReply::default()
    })
}

fn said(reply: StageReply) -> Answer {
    Answer::Reply {
        reply,
        notes: Vec::new(),
    }
}

/// Takes an audit to its end with a judge that is a function.
fn audit(run: &Arc<Trajectory>, settings: Settings, judge: impl Fn(&Ask) -> Answer) -> (Report, Vec<Ask>) {
    let mut audit = Audit::new(run.clone(), settings);
    let mut asked = Vec::new();
    for _ in 0..80 {
        for ask in audit.poll_asks() {
            audit.handle_answer(ask.id.clone(), judge(&ask));
            asked.push(ask);
        }
        if let Some(report) = audit.poll_report() {
            return (report, asked);
        }
    }
    panic!("the audit does not end");
}

fn spans(report: &Report) -> Vec<&str> {
    match &report.verdict {
        Verdict::Found(found) => found.spans.iter().map(String::as_str).collect(),
        Verdict::Clean => Vec::new(),
        other => panic!("{other:?}"),
    }
}

fn three(ask: &Ask, prefix: &str, support: SupportStatus, quote: &str, errors: &[String]) -> Answer {
    said(match ask.id.stage {
        Stage::Keeper => keeper(prefix, ClaimStatus::Finalized),
        Stage::Seeker => seeker(prefix, support, quote),
        _ => tracer(errors),
    })
}

#[test]
fn later_stages_carry_what_earlier_ones_found() {
    for prefix in ["s", "step-", "x00"] {
        let run = run_named(prefix);
        let errors = [format!("{prefix}4")];
        let (_, asked) = audit(&run, settings(Method::Drift), |ask| {
            three(
                ask,
                prefix,
                SupportStatus::Missing,
                "its builder is not recorded",
                &errors,
            )
        });
        let stages: Vec<Stage> = asked.iter().map(|ask| ask.id.stage).collect();
        assert_eq!(stages, [Stage::Keeper, Stage::Seeker, Stage::Tracer]);
        let Question::Seeker(sought) = &asked[1].question else {
            panic!()
        };
        assert_eq!(
            sought.ledger.claims[0].used_by,
            [format!("{prefix}5"), format!("{prefix}6")]
        );
        assert!(
            sought.packet.spans().contains(&3) && sought.packet.spans().contains(&5),
            "claim's spans and the last"
        );
        let Question::Tracer(traced) = &asked[2].question else {
            panic!()
        };
        assert_eq!(traced.support[0].support_status, SupportStatus::Missing);
        assert_eq!(traced.packet, sought.packet);
    }
}

#[test]
fn support_decides_whether_a_claims_later_uses_are_completed() {
    let run = run_named("s");
    let verdict = |status, quote: &'static str| {
        let (report, _) = audit(&run, settings(Method::Drift), move |ask| {
            three(ask, "s", status, quote, &["s4".to_owned()])
        });
        spans(&report).join(" ")
    };
    let real = "The mill at Orrin Ford stood by 1788";
    assert_eq!(verdict(SupportStatus::Missing, real), "s4 s6");
    assert_eq!(verdict(SupportStatus::Conflicting, real), "s4 s6");
    assert_eq!(
        verdict(SupportStatus::Direct, real),
        "s4",
        "verified direct support completes nothing"
    );
    assert_eq!(
        verdict(SupportStatus::Direct, "built by Tam Hesk, says the deed"),
        "s4 s6",
        "an invented quote supports nothing"
    );
}

#[test]
fn an_empty_trace_is_clean_in_drift_and_overruled_in_paper() {
    let run = run_named("s");
    let (report, _) = audit(&run, settings(Method::Drift), |ask| {
        three(ask, "s", SupportStatus::Missing, "", &[])
    });
    assert_eq!(report.verdict, Verdict::Clean);
    assert!(report.findings.is_empty());

    let published = |ask: &Ask| {
        let reply = match three(ask, "s", SupportStatus::Direct, "", &[]) {
            Answer::Reply {
                reply: StageReply::Keeper(reply),
                ..
            } => serde_json::to_value(reply),
            Answer::Reply {
                reply: StageReply::Seeker(reply),
                ..
            } => serde_json::to_value(reply),
            Answer::Reply {
                reply: StageReply::Tracer(reply),
                ..
            } => serde_json::to_value(reply),
            other => panic!("{other:?}"),
        };
        said(StageReply::Published(reply.unwrap().as_object().unwrap().clone()))
    };
    let (report, _) = audit(&run, settings(Method::Paper), published);
    assert_eq!(spans(&report), ["s4", "s6"]);
}

#[test]
fn findings_show_words_that_stand_in_the_span() {
    let run = run_named("s");
    let (report, _) = audit(&run, settings(Method::Drift), |ask| match ask.id.stage {
        Stage::Tracer => said(StageReply::Tracer(TracerReply {
            error_span_ids: vec!["s4".to_owned(), "s6".to_owned()],
            first_error_span: Some("s4".to_owned()),
            reasons: vec![
                Reason {
                    span_id: "s4".to_owned(),
                    reason: "nobody is recorded".to_owned(),
                    quote: Some("the mill was BUILT by Tam Hesk".to_owned()),
                },
                Reason {
                    span_id: "s6".to_owned(),
                    reason: "submits it".to_owned(),
                    quote: Some("nowhere to be seen".to_owned()),
                },
            ],
            ..TracerReply::default()
        })),
        _ => three(ask, "s", SupportStatus::Missing, "", &[]),
    });
    assert_eq!(report.findings.len(), 2);
    let first = &report.findings[0];
    assert_eq!(
        (first.role, first.located_by, first.quotes[0].text.as_str()),
        (Role::First, LocatedBy::Judge, "The mill was built by Tam Hesk")
    );
    let second = &report.findings[1];
    assert_eq!((second.role, second.located_by), (Role::Linked, LocatedBy::Code));
    assert!(run.spans()[5].text.contains(&second.quotes[0].text), "{second:?}");
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.code == WarningCode::UnverifiedQuote)
    );
}

#[test]
fn contradictory_fields_are_united_and_noted() {
    let run = run_named("s");
    let (report, _) = audit(&run, settings(Method::Bare), |_| {
        said(StageReply::Bare(BareReply {
            error_span_ids: vec!["s6".to_owned(), "s99".to_owned()],
            earliest_harmful_span_id: Some("s4".to_owned()),
            reasons: Vec::new(),
        }))
    });
    assert_eq!(spans(&report), ["s4", "s6"]);
    assert_eq!(report.rejected_span_ids, ["s99"]);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.code == WarningCode::InconsistentVerdict)
    );
}

#[test]
fn an_unreadable_reply_is_asked_again_once_with_its_error() {
    let run = run_named("s");
    let unreadable = || Answer::Unreadable {
        text: "{oops".to_owned(),
        error: "not JSON".to_owned(),
    };
    let (report, asked) = audit(&run, settings(Method::Bare), |_| unreadable());
    assert_eq!(asked.len(), 2);
    assert_eq!(
        asked[1].previous,
        Some(Previous {
            text: "{oops".to_owned(),
            error: "not JSON".to_owned()
        })
    );
    let Verdict::Failed(cause) = &report.verdict else {
        panic!()
    };
    assert_eq!((cause.kind, cause.stage), (CauseKind::BadReply, Some(Stage::Bare)));

    let (report, asked) = audit(&run, settings(Method::Paper), |_| unreadable());
    assert_eq!(asked.len(), 1, "the published pipeline does not ask again");
    assert!(matches!(report.verdict, Verdict::Failed(_)));
}

#[test]
fn a_cut_reply_gets_more_room_and_then_names_its_limit() {
    let run = run_named("s");
    let (report, asked) = audit(&run, settings(Method::Drift), |ask| Answer::Truncated {
        limit: ask.max_output,
    });
    assert_eq!(asked.iter().map(|ask| ask.max_output).collect::<Vec<_>>(), [4096, 8192]);
    assert!(asked[1].previous.is_none());
    let Verdict::Failed(cause) = &report.verdict else {
        panic!()
    };
    assert_eq!((cause.kind, cause.limit), (CauseKind::Truncated, Some(8192)));
}

#[test]
fn a_failed_or_refusing_judge_is_never_clean() {
    let run = run_named("s");
    for stage in [Stage::Keeper, Stage::Seeker, Stage::Tracer] {
        for failure in [
            Answer::GaveUp(Cause::new(CauseKind::Server, "500")),
            Answer::Refused {
                code: "content_filter".to_owned(),
            },
            said(StageReply::Bare(BareReply::default())),
        ] {
            let (report, _) = audit(&run, settings(Method::Drift), |ask| {
                if ask.id.stage == stage {
                    failure.clone()
                } else {
                    three(ask, "s", SupportStatus::Direct, "stood by 1788", &[])
                }
            });
            assert!(
                matches!(report.verdict, Verdict::Failed(_) | Verdict::Refused(_)),
                "{stage} {failure:?}"
            );
            assert_eq!(
                report.ledger.is_some(),
                stage != Stage::Keeper,
                "what was finished is kept"
            );
        }
    }
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof!["s[1-9]", "[sS ]{0,2}0{0,2}[1-8]", "s2:c00[1-9]", ".{0,6}"]
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let ids = || prop::collection::vec(any_id(), 0..5);
    let claim = (
        any_id(),
        ".{0,12}",
        prop::option::of(any_id()),
        prop::option::of(any_id()),
        ids(),
    )
        .prop_map(
            |(claim_id, claim, introduced_at, becomes_consequential_at, used_by)| KeeperClaim {
                claim_id,
                claim,
                introduced_at,
                becomes_consequential_at,
                used_by,
                status: ClaimStatus::Finalized,
                ..KeeperClaim::default()
            },
        );
    let record =
        (any_id(), ids(), any_id(), ".{0,12}").prop_map(|(claim_id, support_spans, span_id, text)| SeekerRecord {
            claim_id,
            support_spans,
            evidence_handles: vec![SeekerHandle {
                span_id,
                text,
                ..SeekerHandle::default()
            }],
            ..SeekerRecord::default()
        });
    prop_oneof![
        prop::collection::vec(claim, 0..10).prop_map(|claims| said(StageReply::Keeper(KeeperReply {
            claims,
            ..KeeperReply::default()
        }))),
        prop::collection::vec(record, 0..10)
            .prop_map(|support_records| said(StageReply::Seeker(SeekerReply { support_records }))),
        (prop::option::of(any_id()), ids(), ids(), ids()).prop_map(|(first, linked, non_errors, error_span_ids)| {
            said(StageReply::Tracer(TracerReply {
                earliest_harmful_span_id: first.clone(),
                first_error_span: first,
                linked_error_span_ids: linked,
                non_errors,
                error_span_ids,
                ..TracerReply::default()
            }))
        }),
        ids().prop_map(|error_span_ids| said(StageReply::Bare(BareReply {
            error_span_ids,
            ..BareReply::default()
        }))),
        Just(Answer::Unreadable {
            text: String::new(),
            error: "none".to_owned()
        }),
        Just(Answer::Truncated { limit: 9 }),
        Just(Answer::Overflow {
            limit: Some(5),
            needed: Some(50)
        }),
        Just(Answer::Refused { code: "no".to_owned() }),
    ]
}

/// Answers by stage and attempt, whatever order they are asked in.
fn pick(answers: &[Answer], ask: &Ask) -> Answer {
    let at = ask.id.stage as usize * 3 + usize::from(ask.id.attempt) + ask.id.part as usize * 7;
    let fitting = answers
        .iter()
        .cycle()
        .skip(at % answers.len())
        .take(answers.len())
        .find(|answer| {
            matches!(
                (answer, ask.id.stage),
                (
                    Answer::Reply {
                        reply: StageReply::Keeper(_),
                        ..
                    },
                    Stage::Keeper
                ) | (
                    Answer::Reply {
                        reply: StageReply::Seeker(_),
                        ..
                    },
                    Stage::Seeker
                ) | (
                    Answer::Reply {
                        reply: StageReply::Tracer(_),
                        ..
                    },
                    Stage::Tracer
                )
            )
        });
    match (at % 5, fitting) {
        (0, _) | (_, None) => answers[at % answers.len()].clone(),
        (_, Some(answer)) => answer.clone(),
    }
}

fn any_run() -> impl Strategy<Value = Arc<Trajectory>> {
    // Texts that are repeated are too long for the smallest window.
    let spans = prop::collection::vec((any_id(), "(?s).{0,40}"), 0..7);
    (spans, prop_oneof![Just(1), Just(40)]).prop_map(|(spans, times)| {
        let spans = spans
            .into_iter()
            .map(|(id, text)| Span {
                id,
                text: text.repeat(times),
                ..Span::default()
            })
            .collect();
        Arc::new(Trajectory::new("any", "question?", spans).0)
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let window = prop_oneof![Just(None), Just(Some(1)), Just(Some(6000))];
    (any::<bool>(), window, 0_u32..3).prop_map(|(bare, context_window, repeat)| Settings {
        context_window,
        repeat,
        ..settings(if bare { Method::Bare } else { Method::Drift })
    })
}

proptest! {
    #[test]
    fn no_run_and_no_reply_makes_it_panic(
        run in any_run(), settings in any_settings(), answers in prop::collection::vec(any_answer(), 1..12),
    ) {
        let (report, asked) = audit(&run, settings.clone(), |ask| pick(&answers, ask));
        prop_assert!(asked.iter().all(|ask| ask.id.repeat == settings.repeat));
        if let Verdict::Found(found) = &report.verdict {
            prop_assert!(!found.spans.is_empty());
            let positions: Vec<usize> = found.spans.iter().map(|id| run.position(id).unwrap()).collect();
            prop_assert!(positions.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(&found.first, &found.spans[0]);
        }
        for quote in report.findings.iter().flat_map(|finding| &finding.quotes) {
            if let (Some(start), Some(end)) = (quote.start, quote.end) {
                let text = &run.spans()[run.position(&quote.span_id).unwrap()].text;
                let sliced: String = text.chars().skip(start).take(end - start).collect();
                prop_assert_eq!(&sliced, &quote.text);
            }
        }
    }

    #[test]
    fn neither_order_nor_interruption_changes_a_result(
        run in any_run(), settings in any_settings(), answers in prop::collection::vec(any_answer(), 1..12),
        cut in 0usize..30, reversed in any::<bool>(),
    ) {
        let (whole, asked) = audit(&run, settings.clone(), |ask| pick(&answers, ask));
        // The answers of a run cut off anywhere are poured into a new audit in another order.
        let mut journal: Vec<&Ask> = asked.iter().take(cut).collect();
        if reversed {
            journal.reverse();
        }
        let mut resumed = Audit::new(run.clone(), settings);
        for ask in &journal {
            resumed.handle_answer(ask.id.clone(), pick(&answers, ask));
        }
        let mut asked_again = 0;
        while resumed.poll_report().is_none() {
            // Windows are answered the other way round.
            for ask in resumed.poll_asks().into_iter().rev() {
                asked_again += 1;
                resumed.handle_answer(ask.id.clone(), pick(&answers, &ask));
            }
        }
        prop_assert_eq!(resumed.poll_report().unwrap(), whole);
        // A window that is known to fail spares the questions after it.
        prop_assert!(asked_again + journal.len() <= asked.len());
        if asked.iter().all(|ask| ask.id.part == 0) {
            prop_assert_eq!(asked_again + journal.len(), asked.len());
        }
    }
}
