use super::*;
use crate::trajectory::WarningCode;

fn read(file: &str, bytes: impl AsRef<[u8]>) -> Vec<Record> {
    Records::new(bytes.as_ref(), file, ReadOptions::default()).collect()
}

/// `Ok(id)` or `Err(line)` a record.
fn outline(bytes: impl AsRef<[u8]>) -> Vec<Result<String, Option<u64>>> {
    read("a.jsonl", bytes)
        .into_iter()
        .map(|record| match record.outcome {
            Ok(loaded) => Ok(loaded.run.case_id().to_owned()),
            Err(error) => {
                assert!(error.message.starts_with("a.jsonl:"), "{}", error.message);
                Err(error.source.line)
            }
        })
        .collect()
}

fn row(id: &str) -> String {
    format!(r#"{{"id": "{id}", "question": "q", "spans": [{{"id": "s1", "raw": "text"}}]}}"#)
}

fn pretty(id: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(&row(id)).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

fn ok(id: &str) -> Result<String, Option<u64>> {
    Ok(id.to_owned())
}

fn one(bytes: impl AsRef<[u8]>) -> Loaded {
    let mut records = read("a.json", bytes);
    assert_eq!(records.len(), 1);
    records.remove(0).outcome.unwrap()
}

fn codes(loaded: &Loaded) -> Vec<(WarningCode, Option<&str>)> {
    let warnings = loaded.warnings.iter();
    warnings
        .map(|warning| (warning.code, warning.span_id.as_deref()))
        .collect()
}

#[test]
fn a_bad_line_stands_alone() {
    let (a, b) = (row("a"), row("b"));
    for bad in [
        "{\"id\": \"x\", \"question\": ",
        "{\"id\": \"x\", \"question\": \"Wh",
        "{\"id\": \"x\", \"spans\": [",
        "{\"id\": \"x\", \"spans\": [{\"id\": \"s1\"},",
        "{\"id\": \"x\", \"question\": \"?\"}",
        "{\"id\": \"x\", \"spans\": []}",
        "{\"id\": \"x\", \"spans\": {\"a\": 1}}",
        "{\"id\": \"x\"]",
        "not json",
        "17",
        "null",
        "[1, 2]}",
        "[]",
    ] {
        assert_eq!(
            outline(format!("{a}\n{bad}\n\n{b}\n{a}\n")),
            [ok("a"), Err(Some(2)), ok("b"), ok("a")],
            "{bad}"
        );
        assert_eq!(
            outline(format!("{bad}\n{b}\n{a}\n")),
            [Err(Some(1)), ok("b"), ok("a")],
            "{bad}"
        );
        assert_eq!(
            outline(format!("{a}\n{b}\n{bad}")),
            [ok("a"), ok("b"), Err(Some(3))],
            "{bad}"
        );
    }
}

#[test]
fn documents_in_all_their_shapes() {
    let (a, b) = (row("a"), row("b"));
    let (pa, pb) = (pretty("a"), pretty("b"));
    for text in [
        format!("{a}\n{b}"),
        format!("\n\n{a}\r\n  \r\n{b}\r\n"),
        format!("[{a},{b}]"),
        format!("[\n{a},\n{b}\n]\n"),
        format!("[\n{pa},\n{pb}\n]"),
        format!("{{\"items\": [{a}, {b}]}}"),
        format!("{{\n \"version\": 1,\n \"items\": [{a},\n {b}]\n}}"),
        format!("{pa}\n{pb}\n"),
        format!("{pa}{pb}"),
        format!("{a} {b}"),
        format!("{a}{b}"),
        format!("\u{feff}{a}\n\u{feff}{b}"),
        format!("\u{1e}{a}\n\u{1e}{b}\n"),
        format!("{a}\n{pb}"),
        format!("{{\"traj\": {a}}}\n{{\"traj\": {b}, \"gold\": 1}}"),
    ] {
        assert_eq!(outline(&text), [ok("a"), ok("b")], "{text}");
    }
}

#[test]
fn whole_elements_of_a_cut_document_are_kept() {
    let (a, b) = (row("a"), row("b"));
    let (pa, pb) = (pretty("a"), pretty("b"));
    let half = &b[..b.len() / 2];
    for text in [
        format!("[{a},{b},{half}"),
        format!("[\n{a},\n{b},\n{half}"),
        format!("{{\"items\": [{a}, {b}, {half}"),
        format!("[\n{pa},\n{pb},\n{half}\n"),
    ] {
        let mut got = outline(&text);
        got.sort();
        assert_eq!(got[..2], [ok("a"), ok("b")], "{text}");
        assert!(got.len() > 2 && got[2..].iter().all(Result::is_err), "{text}: {got:?}");
    }
    let broken = format!("[\n{a},\n{{\"id\": oops}},\n{b}\n]\n");
    assert!(
        outline(&broken).contains(&ok("a")) && outline(&broken).contains(&ok("b")),
        "{:?}",
        outline(&broken)
    );
    assert_eq!(
        outline(format!("{pa}\n{pb}").replace("\"b\",", "\"b\" oops")),
        [ok("a"), Err(Some(11))]
    );
}

#[test]
fn nothing_at_all_is_a_failed_record() {
    for text in ["", "\n \n", "\u{feff}", "[]", "{\"items\": []}"] {
        let records = read("a.json", text);
        assert_eq!(records.len(), 1, "{text:?}");
        assert!(records[0].outcome.is_err(), "{text:?}");
        assert!(records[0].source.line.is_some());
    }
    for foreign in [&b"\xff\xfe{\0"[..], b"\x1f\x8b\x08", b"PK\x03\x04"] {
        assert!(
            read("a", foreign)[0]
                .outcome
                .as_ref()
                .unwrap_err()
                .message
                .contains("first")
        );
    }
}

#[test]
fn text_is_kept_as_given() {
    let odd = "a\r\nb\u{2028}c\u{85}d\u{0}\u{1b}[2J\u{202e}\u{fffe}  ";
    let line = serde_json::json!({"id": "x", "question": odd, "spans": [{"id": " s1 ", "raw": odd}]});
    let loaded = one(format!("{line}\r\n"));
    assert_eq!(loaded.run.spans()[0].text, odd);
    assert_eq!(loaded.run.spans()[0].id, " s1 ");
    assert_eq!(loaded.run.question(), odd);
    assert_eq!(loaded.warnings, []);
}

#[test]
fn what_is_no_text_is_replaced_and_named() {
    let mut bytes = br#"{"id": "x", "spans": [{"id": "s1", "raw": "\ud83d torn \udc00, whole \ud83d\ude00"}, {"id": "s2", "raw": "ok"}, {"id": "s3", "raw": ""#.to_vec();
    bytes.extend_from_slice(b"\xff\xfe\"}]}\n");
    let loaded = one(bytes);
    let texts: Vec<&str> = loaded.run.spans().iter().map(|span| span.text.as_str()).collect();
    assert_eq!(
        texts,
        ["\u{fffd} torn \u{fffd}, whole \u{1f600}", "ok", "\u{fffd}\u{fffd}"]
    );
    let expected = [
        (WarningCode::ReplacedCharacters, Some("s1")),
        (WarningCode::ReplacedCharacters, Some("s3")),
    ];
    assert_eq!(codes(&loaded), expected);
    assert!(
        loaded.warnings[0].message.starts_with("a.json, span \"s1\": 2 "),
        "{}",
        loaded.warnings[0].message
    );
}

#[test]
fn missing_zero_and_null_ids_and_texts() {
    let loaded = one(
        r#"{"id": null, "question": null, "spans": [{"raw": "a"}, {"id": 0, "raw": "b"}, {"id": null, "raw": "c"},
            {"id": "", "raw": "d"}, {"id": "s001", "raw": "e"}, {"id": "x", "raw": null}, {"id": "y"}, {"id": 7, "raw": 0},
            "plain", null, {"id": "z", "span_text": "", "raw": "kept"}, {"id": "w", "text": "alias"}]}"#,
    );
    assert_eq!(loaded.run.case_id(), "a");
    let spans: Vec<(&str, &str)> = loaded
        .run
        .spans()
        .iter()
        .map(|s| (s.id.as_str(), s.text.as_str()))
        .collect();
    let expected = [
        ("s001'", "a"),
        ("0", "b"),
        ("s003", "c"),
        ("s004", "d"),
        ("s001", "e"),
        ("x", ""),
        ("y", ""),
        ("7", "0"),
        ("s009", "plain"),
        ("s010", ""),
        ("z", "kept"),
        ("w", "alias"),
    ];
    assert_eq!(spans, expected);
    let (id, text) = (WarningCode::MissingId, WarningCode::MissingText);
    let expected = [
        (id, None),
        (id, Some("s001'")),
        (id, Some("0")),
        (id, Some("s003")),
        (id, Some("s004")),
        (text, Some("x")),
        (text, Some("y")),
        (text, Some("7")),
        (id, Some("s009")),
        (id, Some("s010")),
        (text, Some("s010")),
    ];
    assert_eq!(codes(&loaded), expected);
}

#[test]
fn duplicates_name_file_line_and_positions() {
    let bad = r#"{"id": "x", "spans": [{"id": "s3", "raw": "a"}, {"id": "s3", "raw": "b"}]}"#;
    let records = read("dir/a.jsonl", format!("{bad}\n{bad}\n"));
    let message = &records[1].outcome.as_ref().unwrap().warnings[0].message;
    assert!(
        message.starts_with("dir/a.jsonl:2: duplicate span id \"s3\" at positions 1 and 2"),
        "{message}"
    );
}

#[test]
fn local_fields_are_kept_and_labels_are_not() {
    let loaded = one(
        r#"{"id": "x", "question": "q", "gold": {"note": "LEAK"}, "meta": "LEAK", "annotations": ["LEAK"], "judge_result": "LEAK",
            "spans": [{"id": "s1", "raw": "t", "agent": "A", "observation": true, "raw_start_step": 2, "raw_end_step": "3",
            "note": 1, "gold": "LEAK", "span_type": "LEAK", "annotations": "LEAK", "manual_error_span_ids": "LEAK"}]}"#,
    );
    let span = &loaded.run.spans()[0];
    assert_eq!((span.raw_start_step, span.raw_end_step), (Some(2), Some(3)));
    assert_eq!(
        (span.local.agent.as_deref(), span.local.observation),
        (Some("A"), Some(true))
    );
    assert_eq!(span.local.other.len(), 1);
    assert!(!format!("{loaded:?}").contains("LEAK"));
}

#[test]
fn images_are_marked_and_warned() {
    let blob = "A".repeat(40_000);
    let line = serde_json::json!({"id": "x", "question": format!("![q](data:image/png;base64,{blob})"), "spans": [
        {"id": "s1", "raw": format!("before <img src='data:image/jpeg;base64,{blob}'>\nCaption: page 12.")},
        {"id": "s2", "raw": [{"type": "text", "text": "see"},
                             {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": blob}}]}]});
    let loaded = one(line.to_string());
    assert_eq!(
        loaded.run.spans()[0].text,
        "before <img src='[image omitted: image/jpeg, 30000 bytes]'>\nCaption: page 12."
    );
    assert_eq!(
        loaded.run.spans()[1].text,
        "see\n[image omitted: image/png, 30000 bytes]"
    );
    let image = WarningCode::OmittedImage;
    assert_eq!(
        codes(&loaded),
        [(image, None), (image, Some("s1")), (image, Some("s2"))]
    );
}

#[test]
fn names_of_runs_without_an_id() {
    let bare = r#"{"question": "q", "spans": [{"id": "s1", "raw": "t"}]}"#;
    let ids = |file: &str, text: String| -> Vec<String> {
        let records = read(file, text).into_iter();
        records
            .map(|record| record.outcome.unwrap().run.case_id().to_owned())
            .collect()
    };
    assert_eq!(ids("/x/telset.v2.json", bare.to_owned()), ["telset.v2"]);
    assert_eq!(ids("set_a.jsonl", format!("{bare}\n{bare}")), ["set_a:1", "set_a:2"]);
    assert_eq!(ids("set.json", format!("[{bare},{bare}]")), ["set:1", "set:2"]);
    assert_eq!(ids("-", bare.to_owned()), ["stdin"]);
}

mod any_bytes {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            read("a", &bytes);
        }

        #[test]
        fn jsonish_never_panics_and_never_vanishes(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\"id\"", "\"spans\"", "\"raw\"", "\"items\"", "\"traj\"", "1", "null",
                "\\ud83d", "data:image/png;base64,AAAA", "{\"id\":\"a\",\"spans\":[{\"id\":\"s\",\"raw\":\"t\"}]}\n", "\u{feff}", "é",
            ]), 0..40)
        ) {
            prop_assert!(!read("a", parts.concat()).is_empty());
        }

        #[test]
        fn a_cut_anywhere_costs_one_line(cut in 1_usize..70, crlf: bool) {
            let end = if crlf { "\r\n" } else { "\n" };
            let (a, b, c) = (row("a"), row("b"), row("c"));
            let got = outline(format!("{a}{end}{}{end}{c}{end}{a}{end}", &b[..cut.min(b.len() - 1)]));
            prop_assert_eq!(got, [ok("a"), Err(Some(2)), ok("c"), ok("a")]);
        }
    }
}
