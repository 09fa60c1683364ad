use super::*;

fn read(text: &str) -> Vec<(Option<u64>, Result<Gold, String>)> {
    let mut rows = Vec::new();
    read_gold(text.as_bytes(), |line, row| {
        rows.push((line, row.map_err(|error| error.to_string())))
    })
    .unwrap();
    rows
}

fn one(text: &str) -> Gold {
    let mut rows = read(text);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0).1.unwrap()
}

#[test]
fn a_telbench_row_keeps_ids_and_meta_and_no_text() {
    let gold = one(
        r#"{"id":"0007","question":"q","split":"test","spans":[{"id":"s1","raw":"one"},{"raw":"x"},{"span_id":3,"id":"y"}],
        "gold":{"error_span_ids":["s2","s1"]},"meta":{"bench":"b"},"annotations":{}}"#
            .replace('\n', " ")
            .as_str(),
    );
    assert_eq!(gold.case_id, "0007");
    assert_eq!(gold.span_ids, ["s1", "s002", "3"]);
    assert_eq!(gold.error_span_ids, ["s2", "s1"]);
    assert!(gold.labelled);
    assert_eq!(gold.meta["split"], "test");
    assert_eq!(gold.meta["bench"], "b");
}

#[test]
fn lines_keep_their_numbers_past_marks_blank_lines_and_bad_rows() {
    let rows = read("\u{feff}{\"id\":\"a\",\"error_span_ids\":[]}\r\n\r\n{bad\r\n{\"id\":\"b\"}\r\n");
    let lines: Vec<Option<u64>> = rows.iter().map(|row| row.0).collect();
    assert_eq!(lines, [Some(1), Some(3), Some(4)]);
    assert!(rows[1].1.is_err());
    assert!(!rows[2].1.as_ref().unwrap().labelled);
}

#[test]
fn a_document_over_several_lines_is_one_document() {
    let rows =
        read("[\n {\"id\": \"a\",\n \"error_span_ids\": [\"s1\"]},\n {\"id\": \"b\", \"error_span_ids\": 3}\n]\n");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].0, None);
    assert!(rows[0].1.is_ok());
    assert!(rows[1].1.as_ref().unwrap_err().contains("run \"b\""));
}

#[test]
fn a_torn_first_line_costs_one_record() {
    let rows = read("{\"id\": \"a\", \"error_\n{\"id\":\"b\",\"error_span_ids\":[]}\n");
    assert!(rows[0].1.is_err());
    assert_eq!(rows[0].0, Some(1));
    assert_eq!(rows[1].1.as_ref().unwrap().case_id, "b");
}

#[test]
fn a_run_under_traj_gives_the_spans_and_the_outer_row_the_id() {
    let gold =
        one(r#"{"id":"o","traj":{"id":"i","spans":[{"id":"s1"}]},"spans":[{"id":"x"}],"error_span_ids":["s1"]}"#);
    assert_eq!(
        (gold.case_id.as_str(), gold.span_ids.as_slice()),
        ("o", ["s1".to_owned()].as_slice())
    );
}

#[test]
fn lone_surrogates_in_span_text_do_not_matter() {
    let gold = one(r#"{"id":"a","spans":[{"id":"s1","raw":"\ud83d"}],"error_span_ids":[]}"#);
    assert_eq!(gold.span_ids, ["s1"]);
}

#[test]
fn error_types_in_each_shape() {
    let types = |annotations: &str| {
        one(&format!(
            r#"{{"id":"a","error_span_ids":[],"annotations":{annotations}}}"#
        ))
        .error_types()
    };
    let expected = vec![("s1".to_owned(), "calculation".to_owned())];
    assert_eq!(types(r#"{"s1":"calculation"}"#), expected);
    assert_eq!(types(r#"{"s1":{"error_type":"calculation","note":"n"}}"#), expected);
    assert_eq!(types(r#"[{"span_id":"s1","primary_fault":"calculation"}]"#), expected);
    assert_eq!(types(r#"{"spans":[{"id":"s1","type":"calculation"}]}"#), expected);
    assert_eq!(types("{}"), Vec::new());
    assert_eq!(types("null"), Vec::new());
}

#[test]
fn shapes_that_are_no_label_are_refused_by_name() {
    for (text, member) in [
        (r#"{"id":"a","gold":["s1"]}"#, "gold"),
        (r#"{"id":"a","error_span_ids":{"s1":1}}"#, "error_span_ids"),
    ] {
        let error = read(text).remove(0).1.unwrap_err();
        assert!(error.contains(member), "{error}");
    }
    assert!(
        read(r#"{"gold":{"error_span_ids":[]}}"#)
            .remove(0)
            .1
            .unwrap_err()
            .contains("no id")
    );
}
