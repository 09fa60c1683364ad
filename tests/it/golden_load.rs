//! Recorded input/output pairs of the published loader. What we do differently on purpose is
//! listed in `tests/golden/README-load.md` and tested here, name by name.

use std::collections::BTreeMap;

use auditor::trajectory::WarningCode;
use auditor::trajectory::formats::{Loaded, ReadOptions, Record, Records};
use serde_json::{Value, json};

fn vectors() -> Vec<Value> {
    serde_json::from_str(include_str!("../golden/load_cases.json")).unwrap()
}

fn read(file: &str, bytes: &[u8]) -> Vec<Record> {
    Records::new(bytes, file, ReadOptions::default()).collect()
}

fn records(vector: &Value) -> Vec<Record> {
    let input = &vector["input"];
    if vector["function"] == "sanitize_case" {
        let file = input["source_path"].as_str().unwrap();
        return read(file, input["row"].to_string().as_bytes());
    }
    let bytes = match input["content_bytes_hex"].as_str() {
        Some(hex) => (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect(),
        None => input["content"].as_str().unwrap().as_bytes().to_vec(),
    };
    read(input["filename"].as_str().unwrap(), &bytes)
}

fn shape(loaded: &Loaded) -> Value {
    let spans: Vec<Value> = loaded
        .run
        .spans()
        .iter()
        .map(|span| {
            json!({"span_id": span.id, "span_text": span.text,
                   "raw_start_step": span.raw_start_step, "raw_end_step": span.raw_end_step})
        })
        .collect();
    json!({"case_id": loaded.run.case_id(), "question": loaded.run.question(), "spans": spans})
}

/// What we do where the vector is declined: for each record its case id, question and span
/// `id=text` pairs, or a part of the error's message.
fn outline(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .map(|record| match &record.outcome {
            Ok(loaded) => {
                let spans: Vec<String> = loaded
                    .run
                    .spans()
                    .iter()
                    .map(|s| format!("{}={}", s.id, s.text))
                    .collect();
                format!("{}|{}|{}", loaded.run.case_id(), loaded.run.question(), spans.join(";"))
            }
            Err(error) => format!("error: {}", error.message),
        })
        .collect()
}

const T: &str = "[image omitted: image/png, ";

/// Vector name → what we do, a string a record (an error by a part of its message).
fn declined() -> BTreeMap<&'static str, Vec<String>> {
    let row = "0008|q2|s001=text";
    let list: Vec<(&str, Vec<String>)> = [
        // No spans: a failed record instead of an empty case.
        ("traj_wrapper_outer_spans_ignored", vec!["o|q|s9=outer"]),
        ("case_id_beats_id", vec!["error: the list of spans is empty"]),
        ("id_numeric", vec!["error: the list of spans is empty"]),
        ("id_zero_is_missing", vec!["error: the list of spans is empty"]),
        ("id_missing_uses_file_stem", vec!["error: the list of spans is empty"]),
        ("id_missing_no_path", vec!["error: the list of spans is empty"]),
        ("question_q_alias", vec!["error: the list of spans is empty"]),
        ("question_null", vec!["error: the list of spans is empty"]),
        ("question_number", vec!["error: the list of spans is empty"]),
        ("question_list_python_repr", vec!["error: the list of spans is empty"]),
        ("question_not_image_stripped", vec!["error: the list of spans is empty"]),
        ("spans_missing", vec!["error: no spans"]),
        ("spans_null", vec!["error: no spans"]),
        (
            "json_case_with_no_spans_is_loaded",
            vec!["error: the list of spans is empty"],
        ),
        ("span_text_other_alias_ignored", vec!["a||s1=B;s2=C"]),
        // Crashes: a failed record each.
        ("traj_string_raises", vec!["error: no spans"]),
        ("traj_list_raises", vec!["error: no spans"]),
        ("spans_dict_raises", vec!["error: `spans` is an object"]),
        ("row_not_a_dict_raises", vec!["error: item 1 of the list is no object"]),
        ("jsonl_bad_line_raises", vec![row, "error: t.jsonl:2: not JSON"]),
        (
            "jsonl_array_line_raises",
            vec!["error: item 1 of the list", "error: item 2 of the list"],
        ),
        ("json_items_null_raises", vec!["error: no spans"]),
        ("json_items_dict_raises", vec!["error: no spans"]),
        ("json_scalar_raises", vec!["error: a number is no run"]),
        ("json_null_raises", vec!["error: null is no run"]),
        (
            "json_list_of_scalars_raises",
            vec!["error: item 1 of the list is no object"],
        ),
        // Nothing read is said, not passed over.
        ("jsonl_empty_file", vec!["error: the file is empty"]),
        ("json_items_empty", vec!["error: the list holds no runs"]),
        // Read, where the reference crashes or misreads.
        ("spans_strings_raise", vec!["a||s001=text one"]),
        ("spans_null_element_raises", vec!["a||s1=t;s002="]),
        ("jsonl_raw_u2028_in_string_raises", vec!["a|q|s1=line\u{2028}sep"]),
        ("jsonl_raw_u0085_in_string_raises", vec!["a|q|s1=nel\u{85}x"]),
        ("jsonl_bom_raises", vec![row]),
        ("jsonl_uppercase_suffix_is_not_jsonl_raises", vec![row, row]),
        ("jsonl_invalid_utf8_raises", vec!["error: no spans"]),
        ("json_items_key_wins_over_case_fields", vec!["a|q|s1=t"]),
        (
            "jsonl_missing_ids_all_get_stem",
            vec!["set_a:1|q1|s1=a", "set_a:2|q2|s1=b"],
        ),
        ("traj_wrapper_outer_q_is_not_a_fallback", vec!["o|outer q|s1=t"]),
        // Spans are kept, never dropped.
        ("span_id_zero_dropped", vec!["a||0=t;1=u"]),
        ("span_id_missing_dropped", vec!["a||s001=t;s002=u;s3=v"]),
        ("span_text_empty_does_not_fall_back_to_raw", vec!["a||s1=B;s2=C"]),
        ("empty_spans_dropped", vec!["a||s1=;s2=;s3=ok"]),
        ("duplicate_span_ids_kept", vec!["a||s1=one;s1#2=two"]),
        // JSON, not Python, for what is no string.
        ("span_text_number", vec!["a||s1=12.5;s2=0;s3=true;s4=false"]),
        ("span_text_list_python_repr", vec![r#"a||s1=["x",{"k":null}]"#]),
        // Only the encoded bytes of an image go, in every notation.
        (
            "image_stripped",
            vec!["a||s1=see ![alt text]([image omitted: image/png, 8 bytes]) end"],
        ),
        (
            "image_only_span_kept_as_placeholder",
            vec!["a||s1=![]([image omitted: image/gif, 3 bytes])"],
        ),
        (
            "image_two_adjacent_and_multiline",
            vec!["a||s1=![a](@3 bytes])![b\nc]([image omitted: image/svg+xml, 5 bytes])tail)"],
        ),
        (
            "image_http_kept",
            vec!["a||s1=![a](https://example.org/x.png) ![b](@1 bytes]) ![c]( @1 bytes])"],
        ),
        ("image_unterminated_kept", vec!["a||s1=![a](@3 bytes]"]),
        ("image_html_tag_kept", vec!["a||s1=<img src=\"@3 bytes]\">"]),
        (
            "image_alt_with_bracket",
            vec!["a||s1=![a]b](@1 bytes]) ![x [y](@1 bytes])"],
        ),
        (
            "image_svg_paren_inside_cut_early",
            vec!["a||s1=![a]([image omitted: image/svg+xml, 26 bytes]) end"],
        ),
    ]
    .into_iter()
    .map(|(name, lines)| (name, lines.into_iter().map(|line| line.replace('@', T)).collect()))
    .collect();
    list.into_iter().collect()
}

#[test]
fn vectors_hold_or_are_declined_by_name() {
    let mut declined = declined();
    let readme = include_str!("../golden/README-load.md");
    let mut held = 0;
    for vector in vectors() {
        let name = vector["name"].as_str().unwrap();
        let got = records(&vector);
        if let Some(ours) = declined.remove(name) {
            assert!(readme.contains(&format!("`{name}`")), "{name} is not in README-load.md");
            let outline = outline(&got);
            assert_eq!(outline.len(), ours.len(), "{name}: {outline:?}");
            for (got, want) in outline.iter().zip(&ours) {
                match want.strip_prefix("error: ") {
                    Some(part) => assert!(got.starts_with("error: ") && got.contains(part), "{name}: {got}"),
                    None => assert_eq!(got, want, "{name}"),
                }
            }
            continue;
        }
        held += 1;
        let expected = &vector["expected"]["result"];
        assert!(!expected.is_null(), "{name} raises and is not declined");
        let expected = expected.as_array().cloned().unwrap_or_else(|| vec![expected.clone()]);
        assert_eq!(got.len(), expected.len(), "{name}");
        for (got, mut want) in got.iter().zip(expected) {
            want.as_object_mut().unwrap().remove("source_path");
            if name == "steps_passed_through_untyped" {
                // Steps are numbers; what is none stays beside the span under its own name.
                want["spans"][0]["raw_start_step"] = json!(3);
                want["spans"][0]["raw_end_step"] = Value::Null;
                let other = &got.outcome.as_ref().unwrap().run.spans()[0].local.other;
                assert_eq!(other["raw_end_step"], json!([1]));
            }
            assert_eq!(shape(got.outcome.as_ref().unwrap()), want, "{name}");
        }
    }
    assert!(
        declined.is_empty(),
        "declined but not in the vectors: {:?}",
        declined.keys()
    );
    assert_eq!(held, 26);
}

/// The id and question rules that vectors without spans record, seen with a span added.
#[test]
fn ids_and_questions_of_the_vectors_without_spans() {
    let question = [
        ("question_list_python_repr", r#"["x","it's \"q\"",null,true,1.0]"#),
        (
            "question_not_image_stripped",
            "see ![i]([image omitted: image/png, 3 bytes])",
        ),
    ];
    let ids = [("id_zero_is_missing", "0"), ("id_missing_no_path", "stdin")];
    let mut seen = 0;
    for mut vector in vectors() {
        let name = vector["name"].as_str().unwrap().to_owned();
        let expected = vector["expected"]["result"].clone();
        let empty = expected["spans"].as_array().is_some_and(Vec::is_empty);
        if vector["function"] != "sanitize_case" || !empty || name == "span_text_other_alias_ignored" {
            continue;
        }
        seen += 1;
        let refused = records(&vector);
        vector["input"]["row"]["spans"] = json!([{"id": "s1", "raw": "t"}]);
        if name == "traj_wrapper_outer_spans_ignored" {
            continue;
        }
        let got = records(&vector);
        let run = &got[0].outcome.as_ref().unwrap().run;
        let want = |list: &[(&str, &str)], field: &str| match list.iter().find(|(of, _)| *of == name) {
            Some((_, ours)) => (*ours).to_owned(),
            None => expected[field].as_str().unwrap().to_owned(),
        };
        assert_eq!(run.case_id(), want(&ids, "case_id"), "{name}");
        assert_eq!(run.question(), want(&question, "question"), "{name}");
        assert_eq!(
            refused[0].outcome.as_ref().unwrap_err().case_id.as_deref(),
            Some(run.case_id()),
            "{name}"
        );
    }
    assert_eq!(seen, 13);
}

#[test]
fn what_the_reference_drops_in_silence_is_warned_of() {
    let by_name = |name: &str| -> Vec<WarningCode> {
        let all = vectors();
        let vector = all.iter().find(|vector| vector["name"] == name).unwrap();
        let records = records(vector);
        records[0]
            .outcome
            .as_ref()
            .unwrap()
            .warnings
            .iter()
            .map(|warning| warning.code)
            .collect()
    };
    assert_eq!(by_name("span_id_zero_dropped"), [WarningCode::MissingId]);
    assert_eq!(
        by_name("span_id_missing_dropped"),
        [WarningCode::MissingId, WarningCode::MissingId]
    );
    assert_eq!(
        by_name("empty_spans_dropped"),
        [WarningCode::MissingText, WarningCode::MissingText]
    );
    assert_eq!(by_name("duplicate_span_ids_kept"), [WarningCode::DuplicateSpanId]);
    assert_eq!(by_name("image_stripped"), [WarningCode::OmittedImage]);
    assert_eq!(
        by_name("spans_null_element_raises"),
        [WarningCode::MissingId, WarningCode::MissingText]
    );
}
