use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ledger::{ClaimStatus, ClaimType, EvidenceRole, Reason, SupportStatus};

fn ok(stage: Stage, text: &str) -> ReadReply {
    read(stage, Reading::Tolerant, text).unwrap_or_else(|misfit| panic!("{misfit}\n{text}"))
}

fn err(stage: Stage, text: &str) -> Misfit {
    match read(stage, Reading::Tolerant, text) {
        Ok(reply) => panic!("read as {reply:?}\n{text}"),
        Err(misfit) => misfit,
    }
}

fn tracer(text: &str) -> (TracerReply, Vec<Warning>) {
    match ok(Stage::Tracer, text) {
        (StageReply::Tracer(reply), warnings) => (reply, warnings),
        other => panic!("{other:?}"),
    }
}

fn keeper(text: &str) -> (KeeperReply, Vec<Warning>) {
    match ok(Stage::Keeper, text) {
        (StageReply::Keeper(reply), warnings) => (reply, warnings),
        other => panic!("{other:?}"),
    }
}

fn codes(warnings: &[Warning]) -> Vec<WarningCode> {
    warnings.iter().map(|warning| warning.code).collect()
}

const MINE: &str = r#"{"first_error_span": "b7", "error_span_ids": ["b7", "b9"], "reason": "x"}"#;
const THEIRS: &str = r#"{"first_error_span": null, "error_span_ids": [], "reason": "all fine"}"#;

/// The reply is `MINE`, with these warnings.
fn is_mine(text: &str, wanted: &[WarningCode]) {
    let (reply, warnings) = tracer(text);
    assert_eq!(reply.error_span_ids, ["b7", "b9"], "{text}");
    assert_eq!(reply.first_error_span.as_deref(), Some("b7"));
    assert_eq!(codes(&warnings), wanted, "{text}\n{warnings:?}");
}

#[test]
fn a_plain_object_has_no_notes() {
    is_mine(MINE, &[]);
    is_mine(&format!("\u{feff}\r\n {MINE} \n"), &[]);
}

#[test]
fn fences_prose_and_decoration_are_no_repair() {
    is_mine(&format!("Here you are.\n\n```json\n{MINE}\n```\nAnything else?"), &[]);
    is_mine(&format!("```\n{MINE}\n```"), &[]);
    is_mine(&format!("\\boxed{{ {MINE} }}"), &[]);
    is_mine(
        &format!("I use the form {{\"a\": ...}} and the set {{x}}:\n{MINE}\nIt's done."),
        &[],
    );
    is_mine(&format!("The form is {{first_error_span: ...}}. So: {MINE}"), &[]);
    is_mine(
        &format!("{MINE}\nas {{\"first_error_span\": <id>, \"error_span_ids\": [...]}} wants."),
        &[],
    );
}

#[test]
fn reasoning_blocks_are_dropped_whatever_they_hold() {
    is_mine(
        &format!("<think>\nMaybe {THEIRS}? {{first: ...}}\n</think>\n\n{MINE}"),
        &[],
    );
    is_mine(&format!("Maybe {THEIRS}, it's {{ unclear\n</think>\n{MINE}"), &[]);
    is_mine(&format!("Draft {{\"error_span_ids\": [\"b1\"\n</think>\n{MINE}"), &[]);
    is_mine(&format!("<THINKING>{THEIRS}</THINKING>```json\n{MINE}```"), &[]);
    is_mine(&format!("◁think▷{THEIRS}◁/think▷{MINE}"), &[]);
    is_mine(
        &format!(
            "<|channel|>analysis<|message|>Maybe {THEIRS}<|end|><|start|>assistant<|channel|>final<|message|>{MINE}"
        ),
        &[],
    );
}

#[test]
fn reasoning_that_never_ends_is_no_answer() {
    assert_eq!(err(Stage::Tracer, &format!("<think>so {MINE}")), Misfit::ReasoningOnly);
    assert_eq!(err(Stage::Tracer, "<think>hm</think>\n"), Misfit::ReasoningOnly);
    assert_eq!(err(Stage::Tracer, &format!("so {MINE}</think>")), Misfit::ReasoningOnly);
    assert_eq!(err(Stage::Tracer, "<think>hm</think> No harm."), Misfit::NoObject);
}

#[test]
fn marks_inside_strings_are_text() {
    let text = r#"{"first_error_span": "b7", "error_span_ids": ["b7"], "reason": "has <think>1929</think> and ``` and // and </think>"}"#;
    let wanted = "has <think>1929</think> and ``` and // and </think>";
    for reply in [
        text.to_owned(),
        format!("Sure:\n```json\n{text}\n```"),
        format!("<think>a</think>{text}"),
    ] {
        assert_eq!(tracer(&reply).0.reason, wanted, "{reply}");
    }
}

#[test]
fn the_last_object_that_fits_wins_and_is_flagged() {
    let flag = [WarningCode::AmbiguousReply];
    is_mine(&format!("The page says {THEIRS}\nNot mine. Mine:\n{MINE}"), &flag);
    is_mine(&format!("{THEIRS}\n{MINE}\n{{\"note\": \"end\"}}"), &flag);
    is_mine(&format!("{{\"error_span_ids\": {{\"a\": 1}}}} {MINE}"), &[]);
    // One of them cannot be read, and might have been the answer.
    is_mine(&format!("Mine: {{\"error_span_ids\": [b1]}}. Theirs: {MINE}"), &flag);
    // An array in prose is one object with its elements, not a first and a second answer.
    assert!(matches!(
        err(Stage::Tracer, &format!("See [{THEIRS}, {MINE}]")),
        Misfit::NoObject | Misfit::Several { .. }
    ));
}

#[test]
fn an_object_in_a_string_is_no_answer() {
    let quoted = serde_json::to_string(THEIRS).unwrap();
    let misfit = err(Stage::Tracer, &format!("{{\"page\": {quoted}}}"));
    assert!(misfit.to_string().contains("first_error_span"), "{misfit}");
    is_mine(&format!("{{\"page\": {quoted}}}\n{MINE}"), &[]);
}

#[test]
fn an_object_quoted_without_escapes_is_no_answer() {
    for text in [
        format!("{{\"reason\": \"the page says {THEIRS} so\", \"error_span_ids\": [\"b7\"]}}"),
        format!("{{\"error_span_ids\": [\"b7\"], \"reason\": \"it says \"}} {THEIRS} and that is false\"}}"),
        format!("{{\"error_span_ids\": [\"b7\"], \"reason\": \"it says </think> {THEIRS} and that is false\"}}"),
        format!("{{\"reason\": \"it says \"}} {THEIRS} \", \"error_span_ids\": [\"b7\"]}}"),
        format!("It says {THEIRS}. Mine: {{\"error_span_ids\": [\"b7\"], \"reason\": \"it says \"... fine\".\"}}"),
    ] {
        let misfit = err(Stage::Tracer, &text);
        assert!(
            matches!(misfit, Misfit::Loose { .. } | Misfit::Syntax { .. }),
            "{misfit:?}\n{text}"
        );
    }
}

#[test]
fn half_an_object_is_never_used() {
    for end in 1..MINE.len() {
        let cut = &MINE[..end];
        assert!(read(Stage::Tracer, Reading::Tolerant, cut).is_err(), "{cut}");
        // A complete object that was only quoted does not stand in for the one that was cut.
        if end > 20 {
            let misfit = err(Stage::Tracer, &format!("Page: {THEIRS} Mine: {cut}"));
            assert!(matches!(misfit, Misfit::Cut { .. }), "{misfit:?} {cut}");
        }
    }
    let nested = r#"{"result": {"claims": [{"claim_id": "c1", "claim": "x"}]}, "no"#;
    assert!(matches!(err(Stage::Keeper, nested), Misfit::Cut { .. }));
}

#[test]
fn near_json_is_mended_and_named() {
    let repaired = [WarningCode::JsonRepaired];
    let text = "{\n \"first_error_span\": \"b7\", // first\n \"linked_error_span_ids\": [\"b9\",], /* more */\n \
                \"reason\": \"Line one\nsays\tit, see https://x.org//y /* no */ # no\",\n \"error_span_ids\": [\"b7\", \"b9\",],\n}";
    is_mine(text, &repaired);
    let (reply, warnings) = tracer(text);
    assert_eq!(reply.reason, "Line one\nsays\tit, see https://x.org//y /* no */ # no");
    assert!(warnings[0].message.contains("comments") && warnings[0].message.contains("trailing commas"));
    is_mine(
        "{'first_error_span': 'b7', 'error_span_ids': ['b7', 'b9'], 'x': None, 'y': True}",
        &repaired,
    );
    is_mine(
        "{first_error_span: \"b7\", error_span_ids: [\"b7\", \"b9\"], score: NaN, low: -Infinity}",
        &repaired,
    );
    is_mine("{“first_error_span”: “b7”, “error_span_ids”: [“b7”, “b9”]}", &repaired);
    is_mine(
        r#"{"first_error_span": "b7", "error_span_ids": ["b7", "b9"], "reason": "\ud83d \d"}"#,
        &repaired,
    );
    let (reply, _) = tracer(r#"{"error_span_ids": [], "reason": "\ud83d\ude00 \ud83d \d{2} \'x\'",}"#);
    assert_eq!(reply.reason, "\u{1f600} \u{fffd} \\d{2} 'x'");
}

#[test]
fn what_has_two_readings_is_asked_again() {
    for text in [
        r#"{"error_span_ids": ["b7"], "reason": "he said "yes" and left"}"#,
        r#"{'error_span_ids': ['b7'], 'reason': 'it's wrong'}"#,
        r#"{"error_span_ids": ["b7" "b9"]}"#,
        r#"{"error_span_ids": ["b7", "b9"] "reason": "x"}"#,
    ] {
        let misfit = err(Stage::Tracer, text);
        assert!(matches!(misfit, Misfit::Syntax { .. }), "{misfit:?}\n{text}");
    }
    let Misfit::Syntax { line, column, near, .. } = err(Stage::Tracer, "{\n \"error_span_ids\": [b7]}") else {
        panic!("not a syntax error");
    };
    assert_eq!((line, column, near.as_str()), (2, 21, "b7]}"));
}

#[test]
fn wrappers_are_looked_through_when_one_reading_is_possible() {
    is_mine(&format!("{{\"result\": {MINE}}}"), &[]);
    is_mine(&format!("{{\"id\": 4, \"verdict\": {MINE}, \"done\": true}}"), &[]);
    is_mine(&format!("[{MINE}]"), &[]);
    is_mine(&format!("[{{\"tracer\": {MINE}}}]"), &[]);
    is_mine(&serde_json::to_string(MINE).unwrap(), &[]);
    assert!(matches!(
        err(Stage::Tracer, &format!("[{THEIRS}, {MINE}]")),
        Misfit::Several { count: 2 }
    ));
    for text in [
        format!("{{\"page\": {THEIRS}, \"verdict\": {MINE}}}"),
        format!("{{\"page\": {THEIRS}, \"verdict\": \"s6 is wrong\"}}"),
    ] {
        assert!(matches!(err(Stage::Tracer, &text), Misfit::Shape { .. }), "{text}");
    }
}

#[test]
fn missing_keys_and_wrong_kinds_are_named() {
    for (stage, text, word) in [
        (Stage::Keeper, r#"{"task_goal": "x"}"#, "claims"),
        (Stage::Keeper, r#"{"claims": "none found"}"#, "claims"),
        (Stage::Keeper, r#"{"claims": [{"claim_id": "c1"}]}"#, "claim"),
        (Stage::Seeker, r#"{"records": []}"#, "support_records"),
        (
            Stage::Seeker,
            r#"{"support_records": [{"support_status": "weak"}]}"#,
            "claim_id",
        ),
        (Stage::Tracer, r#"{"reason": "x"}"#, "error_span_ids"),
        (Stage::Bare, r#"{"earliest_harmful_span_id": "s1"}"#, "error_span_ids"),
        (Stage::Bare, r#"{"error_span_ids": [true]}"#, "error_span_ids"),
        (Stage::Bare, r#"{"error_span_ids": false}"#, "error_span_ids"),
        (Stage::Bare, "[]", "object"),
        (Stage::Bare, "3", "object"),
    ] {
        let misfit = err(stage, text);
        assert!(matches!(misfit, Misfit::Shape { .. }), "{misfit:?}");
        assert!(misfit.to_string().contains(word), "{misfit}");
    }
    assert_eq!(err(Stage::Bare, " \n\u{feff}"), Misfit::Empty);
    assert_eq!(err(Stage::Bare, "No harmful span."), Misfit::NoObject);
}

#[test]
fn fields_are_read_with_one_meaning() {
    let (reply, warnings) = keeper(
        &json!({"Task_Goal": "g", "hard_constraints": "one", "extra": {"a": 1}, "claims": [
            {"claim_id": 1, "claim": "a", "introduced_at": 3, "used_by": "s4", "claim_type": "Retrieval", "status": "FINALIZED",
             "quotes": {"s3": "words"}},
            {"claim_id": 1, "claim": "b", "introduced_at": "none", "used_by": null, "claim_type": "vibe"},
            {"claim": "c", "used_by": [5, null, {"span_id": "s6"}]},
            {"claim_id": "c9", "claim": ""}]})
        .to_string(),
    );
    assert_eq!(reply.task_goal, "g");
    assert_eq!(reply.hard_constraints, ["one"]);
    let ids: Vec<&str> = reply.claims.iter().map(|claim| claim.claim_id.as_str()).collect();
    assert_eq!(ids, ["1", "c2", "c3"]);
    assert_eq!(reply.claims[0].introduced_at.as_deref(), Some("3"));
    assert_eq!(reply.claims[0].used_by, ["s4"]);
    assert_eq!(reply.claims[0].claim_type, ClaimType::Retrieval);
    assert_eq!(reply.claims[0].status, ClaimStatus::Finalized);
    assert_eq!(reply.claims[0].quotes[0].span_id, "s3");
    assert_eq!(reply.claims[1].introduced_at, None);
    assert_eq!(reply.claims[1].claim_type, ClaimType::Evidence);
    assert_eq!(reply.claims[2].used_by, ["5", "s6"]);
    assert_eq!(codes(&warnings), [WarningCode::JsonRepaired]);
    for word in ["vibe", "given twice", "without id", "without text"] {
        assert!(warnings[0].message.contains(word), "{word}: {}", warnings[0].message);
    }
}

#[test]
fn seeker_words_and_handles() {
    let (StageReply::Seeker(reply), warnings) = ok(
        Stage::Seeker,
        r#"{"support_records": [{"claim_id": "c1", "support_status": "Conflicting", "evidence_handles":
            {"chunk_id": "a:b:c002", "role": "Direct Support", "quote": "q"}, "missing_support": ["x", "y"]}]}"#,
    ) else {
        panic!("not a seeker reply");
    };
    let record = &reply.support_records[0];
    assert_eq!(record.support_status, SupportStatus::Conflicting);
    assert_eq!(record.missing_support, "x; y");
    assert_eq!(record.evidence_handles[0].span_id, "a:b");
    assert_eq!(record.evidence_handles[0].role, EvidenceRole::DirectSupport);
    assert_eq!(record.evidence_handles[0].text, "q");
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn null_means_no_span_and_an_empty_verdict() {
    for text in [
        r#"{"first_error_span": null}"#,
        r#"{"first_error_span": "None", "error_span_ids": null}"#,
        r#"{"first_error_span": "", "error_span_ids": "none"}"#,
    ] {
        let (reply, _) = tracer(text);
        assert_eq!(reply.first_error_span, None);
        assert!(reply.error_span_ids.is_empty());
    }
}

#[test]
fn reasons_keep_their_quotes() {
    let (reply, _) = tracer(
        r#"{"error_span_ids": ["s1"], "reasons": [{"span_id": "s1", "reason": "r", "quote": "q"}, {"span_id": "s2", "reason": "t", "quote": null}]}"#,
    );
    assert_eq!(reply.reasons[0].quote.as_deref(), Some("q"));
    assert_eq!(reply.reasons[1].quote, None);
    let (reply, _) = tracer(r#"{"error_span_ids": ["s1"], "reasons": {"s1": "r"}}"#);
    assert_eq!(reply.reasons[0].reason, "r");
}

#[test]
fn reasoning_counts_only_when_it_is_an_answer_and_nothing_else() {
    let (_, warnings) = read_reasoning(Stage::Tracer, &format!("\n```json\n{MINE}\n```")).unwrap();
    assert_eq!(codes(&warnings), [WarningCode::AnswerFromReasoning]);
    assert!(read_reasoning(Stage::Tracer, MINE).is_some());
    assert!(read_reasoning(Stage::Tracer, &format!("First I thought of {THEIRS}")).is_none());
    assert!(read_reasoning(Stage::Tracer, &format!("{MINE} is my answer")).is_none());
    assert!(read_reasoning(Stage::Tracer, r#"{"a": 1}"#).is_none());
    assert!(read_reasoning(Stage::Tracer, "").is_none());
}

#[test]
fn hostile_length_takes_linear_time() {
    // Each of these would take hours if any brace were read to the end of the text again.
    let size = 200_000;
    for unit in [
        "{",
        "[{",
        "{\"a\":",
        "{\"a\":1,",
        "{/*",
        "{//",
        "{\"a\":/*}",
        "[[",
        "\"",
        "{'",
        "<think>",
        "</think>",
        "}",
        "{}",
        "{\"a\":{",
        "#{",
    ] {
        let text = unit.repeat(size / unit.len());
        let begun = std::time::Instant::now();
        assert!(read(Stage::Tracer, Reading::Tolerant, &text).is_err(), "{unit}");
        assert!(begun.elapsed().as_secs() < 20, "{unit}: {:?}", begun.elapsed());
    }
}

fn an_id() -> impl Strategy<Value = String> {
    "[a-z#:é][a-z0-9:.-]{2,6}x"
}

fn a_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,20}",
        Just("</think> {\"error_span_ids\": []} // \"".to_owned()),
        Just("a\nb\t\u{1}".to_owned())
    ]
}

fn a_reply() -> impl Strategy<Value = (Stage, StageReply)> {
    let reason = (an_id(), a_text(), proptest::option::of("[a-z ]{1,9}")).prop_map(|(span_id, reason, quote)| Reason {
        span_id,
        reason,
        quote,
    });
    let reasons = proptest::collection::vec(reason, 0..3);
    let ids = || proptest::collection::vec(an_id(), 0..4);
    let bare = (reasons, ids(), proptest::option::of(an_id())).prop_map(|(reasons, error_span_ids, earliest)| {
        StageReply::Bare(BareReply {
            reasons,
            error_span_ids,
            earliest_harmful_span_id: earliest,
        })
    });
    let seeker = (an_id(), ids(), a_text()).prop_map(|(id, spans, text)| {
        let handle = SeekerHandle {
            span_id: id.clone(),
            chunk_id: String::new(),
            role: EvidenceRole::Conflict,
            text: text.clone(),
        };
        StageReply::Seeker(SeekerReply {
            support_records: vec![SeekerRecord {
                claim_id: id,
                support_spans: spans,
                support_status: SupportStatus::Missing,
                missing_support: text,
                needs_auditors: vec!["source".to_owned()],
                evidence_handles: vec![handle],
            }],
        })
    });
    let keeper =
        (proptest::collection::btree_set(an_id(), 0..4), ids(), a_text()).prop_map(|(claims, used_by, text)| {
            StageReply::Keeper(KeeperReply {
                task_goal: text.clone(),
                notes: text.clone(),
                claims: claims
                    .into_iter()
                    .map(|claim_id| KeeperClaim {
                        claim: format!("claim {text}"),
                        introduced_at: Some(claim_id.clone()),
                        used_by: used_by.clone(),
                        quotes: vec![ClaimEvent {
                            span_id: claim_id.clone(),
                            quote: text.clone(),
                        }],
                        claim_id,
                        ..KeeperClaim::default()
                    })
                    .collect(),
                ..KeeperReply::default()
            })
        });
    let tracer = (ids(), ids(), a_text()).prop_map(|(errors, others, reason)| {
        StageReply::Tracer(TracerReply {
            first_error_span: errors.first().cloned(),
            error_span_ids: errors,
            non_errors: others,
            reason,
            ..TracerReply::default()
        })
    });
    let gd = (a_text(), 0..=100_u32).prop_map(|(reason, hundredths)| {
        let gd = f64::from(hundredths) / 100.0;
        let by = (gd > 0.0).then_some(By::Inaction);
        StageReply::Gd(GdReply {
            reason,
            gd,
            by,
            fault: Some(Fault::GoalDrift),
            ..GdReply::default()
        })
    });
    prop_oneof![
        gd.prop_map(|reply| (Stage::Gd, reply)),
        bare.prop_map(|reply| (Stage::Bare, reply)),
        seeker.prop_map(|reply| (Stage::Seeker, reply)),
        keeper.prop_map(|reply| (Stage::Keeper, reply)),
        tracer.prop_map(|reply| (Stage::Tracer, reply)),
    ]
}

proptest! {
    #[test]
    fn written_replies_read_back((stage, reply) in a_reply(), pick in 0..3_usize) {
        let text = to_text(&reply);
        let text = match pick {
            0 => text,
            1 => format!("Sure.\n```json\n{text}\n```\nDone."),
            _ => format!("<think>{{\"claims\": </think>\n{text}"),
        };
        let (read_back, warnings) = ok(stage, &text);
        prop_assert_eq!(read_back, reply);
        prop_assert!(warnings.is_empty(), "{:?}", warnings);
    }

    #[test]
    fn a_comma_more_changes_no_string((stage, reply) in a_reply()) {
        let text = to_text(&reply);
        let text = format!("{},}}", text.strip_suffix('}').unwrap_or(&text));
        let (read_back, warnings) = ok(stage, &text);
        prop_assert_eq!(read_back, reply);
        prop_assert_eq!(codes(&warnings), [WarningCode::JsonRepaired]);
    }

    #[test]
    fn no_part_of_a_reply_reads_as_a_reply((stage, reply) in a_reply(), share in 0.0..1.0_f64) {
        let text = to_text(&reply);
        let mut end = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        prop_assert!(read(stage, Reading::Tolerant, &text[..end]).is_err());
    }

    #[test]
    fn nothing_panics(text in r#"([{}\[\]":,'\\/*# \n<>“”]|think>|</think>|error_span_ids|claims|null|\\u[0-9a-fd]{4}|[0-9.e+-]|\PC){0,60}"#) {
        for stage in [Stage::Keeper, Stage::Seeker, Stage::Tracer, Stage::Bare, Stage::Gd] {
            let _ = read(stage, Reading::Tolerant, &text);
            let _ = read_reasoning(stage, &text);
        }
    }

    #[test]
    fn valid_json_reads_as_itself(value in r#"\PC{0,12}"#, number in any::<f64>()) {
        let original = json!({"a": [value, number, true, null, {"b": -7, "": []}], "error_span_ids": []});
        let text = serde_json::to_string_pretty(&original).unwrap();
        let mut reader = lenient::Reader::new(&text, 0);
        prop_assert_eq!(reader.value().unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        prop_assert_eq!(reader.at(), text.len());
        prop_assert!(reader.into_mended().is_empty());
    }
}
