//! Runs longer than the judge's window, through the machine.

use std::sync::Arc;

use super::*;
use crate::ledger::ClaimStatus;
use crate::reply::{BareReply, KeeperClaim, KeeperReply, SeekerRecord, SeekerReply, StageReply, TracerReply};
use crate::trajectory::{Span, Stage, Trajectory, WarningCode};

/// `count` spans of `filler` with a few words of their own at both ends, ids s1, s2, …
fn long_run(count: usize, filler: &str) -> Arc<Trajectory> {
    let spans = (1..=count).map(|n| Span {
        id: format!("s{n}"),
        text: format!("Step {n} begins. {filler}\nSo lamp {n} was lit in {}.", 1800 + n),
        ..Span::default()
    });
    Arc::new(Trajectory::new("long", "When was each lamp lit?", spans.collect()).0)
}

fn settings(method: Method, context_window: Option<u64>) -> Settings {
    Settings {
        context_window,
        ..Settings::new(method)
    }
}

fn said(reply: StageReply) -> Answer {
    Answer::Reply {
        reply,
        notes: Vec::new(),
    }
}

fn view(ask: &Ask) -> Option<&RunView> {
    match &ask.question {
        Question::Keeper(question) => Some(&question.view),
        Question::Bare(question) => Some(&question.view),
        Question::Seeker(_) | Question::Tracer(_) | Question::Gd(_) => None,
    }
}

/// Characters of the run's text in a question.
fn chars(ask: &Ask) -> usize {
    match &ask.question {
        Question::Seeker(question) => question.packet.chars(),
        Question::Tracer(question) => question.packet.chars(),
        Question::Keeper(_) | Question::Bare(_) | Question::Gd(_) => view(ask).unwrap().shown_of(ask.question.run()).0,
    }
}

fn shows(ask: &Ask, span: usize) -> bool {
    let run = ask.question.run();
    let whole = |shown: &&ViewSpan| {
        shown.excerpts.len() == 1 && shown.excerpts[0] == (0..run.spans()[shown.position].text.len())
    };
    view(ask)
        .unwrap()
        .spans
        .iter()
        .filter(whole)
        .any(|shown| shown.position + 1 == span)
}

/// A keeper that writes down what the last span it is shown whole says, and that lamp 3 was lit where it sees it.
fn keeper(ask: &Ask, spans: &[usize]) -> StageReply {
    let claims = spans.iter().filter(|span| shows(ask, **span)).map(|span| KeeperClaim {
        claim_id: "c1".to_owned(),
        claim: format!("Lamp {span} was lit in {}.", 1800 + span),
        introduced_at: Some(format!("s{span}")),
        becomes_consequential_at: Some(format!("s{span}")),
        status: ClaimStatus::Finalized,
        ..KeeperClaim::default()
    });
    StageReply::Keeper(KeeperReply {
        claims: claims.collect(),
        ..KeeperReply::default()
    })
}

fn judge(ask: &Ask, claims: &[usize], errors: &[&str]) -> Answer {
    let ids = || errors.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    said(match &ask.question {
        Question::Keeper(_) => keeper(ask, claims),
        Question::Seeker(question) => StageReply::Seeker(SeekerReply {
            support_records: question
                .ledger
                .claims
                .iter()
                .map(|claim| SeekerRecord {
                    claim_id: claim.claim_id.clone(),
                    ..SeekerRecord::default()
                })
                .collect(),
        }),
        Question::Tracer(_) => StageReply::Tracer(TracerReply {
            error_span_ids: ids(),
            ..TracerReply::default()
        }),
        Question::Bare(_) => {
            let named = ids().into_iter().filter(|id| shows(ask, id[1..].parse().unwrap()));
            StageReply::Bare(BareReply {
                error_span_ids: named.collect(),
                ..BareReply::default()
            })
        }
        Question::Gd(_) => panic!("an audit does not ask for goal drift"),
    })
}

/// Rounds of questions that could be asked at once, to the end.
fn rounds(run: &Arc<Trajectory>, settings: Settings, judge: impl Fn(&Ask) -> Answer) -> (Report, Vec<Vec<Ask>>) {
    let mut audit = Audit::new(run.clone(), settings);
    let mut rounds = Vec::new();
    loop {
        if let Some(report) = audit.poll_report() {
            return (report, rounds);
        }
        let asks = audit.poll_asks();
        assert!(!asks.is_empty() && rounds.len() < 60, "the audit does not end");
        for ask in &asks {
            audit.handle_answer(ask.id.clone(), judge(ask));
        }
        rounds.push(asks);
    }
}

fn spans(report: &Report) -> &[String] {
    match &report.verdict {
        Verdict::Found(found) => &found.spans,
        Verdict::Clean => &[],
        other => panic!("{other:?}"),
    }
}

fn told(report: &Report, words: &str) -> bool {
    report
        .warnings
        .iter()
        .any(|warning| warning.code == WarningCode::TextOmitted && warning.message.contains(words))
}

#[test]
fn a_known_window_is_kept_from_the_first_question_on() {
    let run = long_run(40, &"and so on ".repeat(100));
    let (report, rounds) = rounds(&run, settings(Method::Drift, Some(12_000)), |ask| {
        judge(ask, &[3, 30], &["s3", "s40"])
    });
    assert_eq!(rounds[0].len(), 1, "the first window is asked alone");
    let parts: Vec<u32> = rounds[1].iter().map(|ask| ask.id.part).collect();
    assert!(
        parts.len() > 1 && parts.iter().copied().eq(1..=parts.len() as u32),
        "the others at once: {parts:?}"
    );
    for ask in rounds.iter().flatten() {
        assert_eq!(ask.id.attempt, 0);
        assert!(
            chars(ask) / 3 + FIXED_TOKENS + (ask.max_output as usize) < 12_000,
            "{}",
            ask.id
        );
    }
    let ledger = report.ledger.as_ref().unwrap();
    assert_eq!(
        ledger
            .claims
            .iter()
            .map(|claim| claim.claim_id.as_str())
            .collect::<Vec<_>>(),
        ["c1", "c2"]
    );
    assert_eq!(spans(&report)[0], "s3");
    assert!(told(&report, "overlapping windows showed all"), "{:?}", report.warnings);
}

#[test]
fn claims_that_several_windows_tell_are_one() {
    let run = long_run(40, &"and so on ".repeat(100));
    let everywhere: Vec<usize> = (1..=40).collect();
    let (report, _) = rounds(&run, settings(Method::Drift, Some(12_000)), |ask| {
        judge(ask, &everywhere, &[])
    });
    let claims = &report.ledger.as_ref().unwrap().claims;
    let mut texts: Vec<&str> = claims.iter().map(|claim| claim.claim.as_str()).collect();
    texts.dedup();
    assert_eq!((claims.len(), texts.len()), (8, 8));
    assert!(
        told(&report, "claims; the 8 that went furthest"),
        "{:?}",
        report.warnings
    );
}

/// A judge with a window of 8192 tokens that counts four characters a token.
fn small(ask: &Ask, tells: (bool, bool), inner: impl Fn(&Ask) -> Answer) -> Answer {
    let needed = (chars(ask) / 4 + 2200) as u64 + u64::from(ask.max_output);
    if needed > 8192 {
        return Answer::Overflow {
            limit: tells.0.then_some(8192),
            needed: tells.1.then_some(needed),
        };
    }
    inner(ask)
}

#[test]
fn a_run_of_any_length_ends_in_a_verdict_whatever_the_endpoint_tells() {
    let (five_million, shorter) = (
        long_run(50, &"and so on ".repeat(10_000)),
        long_run(50, &"and so on ".repeat(1000)),
    );
    for tells in [(true, true), (true, false), (false, false)] {
        for window in [None, Some(8192), Some(100_000)] {
            // Everything with the shorter run; with the longest what takes the most steps.
            let run = if tells == (false, false) && window.is_none() {
                &five_million
            } else {
                &shorter
            };
            let (report, rounds) = rounds(run, settings(Method::Drift, window), |ask| {
                small(ask, tells, |ask| judge(ask, &[], &["s3"]))
            });
            assert_eq!(spans(&report), ["s3"], "{tells:?} {window:?}");
            let refused = rounds.iter().flatten().filter(|ask| ask.id.attempt > 0).count();
            assert!(refused <= 14, "{tells:?} {window:?}: {refused} asked again");
            assert!(told(&report, "of its 5"), "{:?}", report.warnings);
            assert!(
                told(&report, "of 50 spans were shown in part: s1, "),
                "{:?}",
                report.warnings
            );
            let windows = rounds
                .iter()
                .flatten()
                .filter(|ask| ask.id.stage == Stage::Keeper)
                .map(|ask| ask.id.part)
                .max();
            assert!(windows > Some(7), "{tells:?} {window:?}: {windows:?}");
        }
    }
}

#[test]
fn bare_over_windows_names_what_any_window_names() {
    let run = long_run(40, &"and so on ".repeat(100));
    let (report, rounds) = rounds(&run, settings(Method::Bare, Some(10_000)), |ask| {
        judge(ask, &[], &["s38", "s2"])
    });
    assert!(rounds.iter().map(Vec::len).sum::<usize>() > 2);
    assert_eq!(spans(&report), ["s2", "s38"]);
}

#[test]
fn one_window_without_a_reply_is_no_verdict() {
    let run = long_run(40, &"and so on ".repeat(100));
    for method in [Method::Bare, Method::Drift] {
        let (report, rounds) = rounds(&run, settings(method, Some(10_000)), |ask| match ask.id.part {
            2 => Answer::GaveUp(Cause::new(CauseKind::Server, "503 from the third window")),
            3 => Answer::Refused { code: "no".to_owned() },
            _ => judge(ask, &[], &[]),
        });
        let Verdict::Failed(cause) = &report.verdict else {
            panic!("{:?}", report.verdict)
        };
        assert!(
            cause.message.contains("third window"),
            "the first in the order of the run"
        );
        assert!(
            rounds
                .iter()
                .flatten()
                .all(|ask| matches!(ask.id.stage, Stage::Keeper | Stage::Bare))
        );
    }
}

#[test]
fn a_window_that_overflows_alone_is_cut_alone() {
    let run = long_run(40, &"and so on ".repeat(100));
    let (report, rounds) = rounds(&run, settings(Method::Drift, Some(12_000)), |ask| {
        if (ask.id.stage, ask.id.part, ask.id.attempt) == (Stage::Keeper, 2, 0) {
            Answer::Overflow {
                limit: Some(12_000),
                needed: Some(15_000),
            }
        } else {
            judge(ask, &[3], &["s3"])
        }
    });
    assert_eq!(spans(&report), ["s3"]);
    let again: Vec<&Ask> = rounds.iter().flatten().filter(|ask| ask.id.attempt > 0).collect();
    assert_eq!(again.iter().map(|ask| ask.id.part).collect::<Vec<_>>(), [2]);
    let before = rounds[1].iter().find(|ask| ask.id.part == 2).unwrap();
    assert!(chars(again[0]) < chars(before));
    assert!(told(&report, "spans were shown in part"), "{:?}", report.warnings);
}

#[test]
fn what_cannot_become_smaller_fails_with_both_numbers() {
    let run = long_run(3, "");
    let (report, rounds) = rounds(&run, settings(Method::Drift, None), |_| Answer::Overflow {
        limit: Some(100),
        needed: Some(160),
    });
    assert!(rounds.len() <= 3, "{} times the same", rounds.len());
    let Verdict::Failed(cause) = &report.verdict else {
        panic!()
    };
    assert_eq!(
        (cause.kind, cause.limit, cause.needed),
        (CauseKind::ContextOverflow, Some(100), Some(160))
    );

    let (report, rounds) = self::rounds(&run, settings(Method::Paper, None), |_| Answer::Overflow {
        limit: None,
        needed: None,
    });
    assert_eq!(rounds.len(), 1, "the published pipeline does not ask again");
    assert!(matches!(report.verdict, Verdict::Failed(_)));
}

#[test]
fn a_task_longer_than_its_part_of_the_window_is_shown_by_its_ends() {
    let task = format!("First words. {} Last words?", "document ".repeat(50_000));
    let all = (1..=3).map(|n| Span {
        id: format!("s{n}"),
        text: format!("step {n}"),
        ..Span::default()
    });
    let run = Arc::new(Trajectory::new("task", task, all.collect()).0);
    let (report, rounds) = rounds(&run, settings(Method::Drift, Some(10_000)), |ask| {
        judge(ask, &[], &["s2"])
    });
    assert_eq!(spans(&report), ["s2"]);
    for ask in rounds.iter().flatten() {
        let shown = ask.question.run().question();
        assert!(shown.starts_with("First words.") && shown.ends_with("Last words?") && tokens(shown) < 2000);
    }
    assert!(told(&report, "its two ends were shown"), "{:?}", report.warnings);
}

#[test]
fn a_text_without_spaces_takes_more_of_the_window() {
    let ascii = long_run(40, &"and so on ".repeat(30));
    let chinese = long_run(40, &"灯塔改用电灯以后".repeat(80));
    let windows = |run| {
        let (_, rounds) = rounds(run, settings(Method::Drift, Some(12_000)), |ask| {
            judge(ask, &[], &["s3"])
        });
        rounds
            .iter()
            .flatten()
            .filter(|ask| ask.id.stage == Stage::Keeper)
            .count()
    };
    assert!(
        windows(&chinese) > 2 * windows(&ascii),
        "{} {}",
        windows(&chinese),
        windows(&ascii)
    );
}
