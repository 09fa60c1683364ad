use super::*;
use crate::eval::PredictionRow;
use crate::trajectory::{Gold, read_gold};

/// A run of eight spans s001 … s008.
fn gold(id: &str, spans: &[&str]) -> Gold {
    Gold {
        case_id: id.to_owned(),
        error_span_ids: spans.iter().map(|span| (*span).to_owned()).collect(),
        labelled: true,
        span_ids: (1..=8).map(|n| format!("s{n:03}")).collect(),
        ..Gold::default()
    }
}

fn set(golds: impl IntoIterator<Item = Gold>) -> CaseSet {
    let mut cases = CaseSet::new(Vec::new(), None);
    golds.into_iter().for_each(|gold| cases.push(gold));
    cases
}

fn predict(cases: &mut CaseSet, rows: &[(&str, Status, &[&str])]) -> Prediction {
    let mut prediction = Prediction::new("judge", cases);
    for (id, status, spans) in rows {
        let row = PredictionRow {
            case_id: (*id).to_owned(),
            status: *status,
            error_span_ids: spans.iter().map(|span| (*span).to_owned()).collect(),
            method: None,
            odd: Vec::new(),
        };
        prediction.push(cases, row);
    }
    prediction
}

fn quick(both_empty: BothEmpty) -> Settings {
    Settings {
        both_empty,
        resamples: Some(200),
        ..Settings::default()
    }
}

/// Six runs: one exact, one empty against a label, one empty against none, one failed on a clean
/// run, one without a row, one with a false second span; and a row for a run nobody labelled.
fn failed_and_missing(both_empty: BothEmpty) -> Evaluation {
    let mut cases = set([
        gold("A", &["s006", "s008"]),
        gold("B", &["s003"]),
        gold("C", &[]),
        gold("D", &[]),
        gold("E", &["s002", "s004"]),
        gold("F", &["s001"]),
    ]);
    let prediction = predict(
        &mut cases,
        &[
            ("A", Status::Ok, &["s006", "s008"]),
            ("B", Status::Ok, &[]),
            ("C", Status::Ok, &[]),
            ("D", Status::Failed, &[]),
            ("F", Status::Ok, &["s001", "s005"]),
            ("X", Status::Ok, &["s001"]),
        ],
    );
    evaluate(&cases, &[prediction], &quick(both_empty)).unwrap()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 5e-5, "{a} is not {b}");
}

#[test]
fn failed_and_missing_count_as_wrong_and_scored_only_stands_beside() {
    let evaluation = failed_and_missing(BothEmpty::One);
    let row = &evaluation.predictions[0];
    let c = row.counts;
    assert_eq!((c.gold, c.ok, c.failed, c.missing, c.extra), (6, 4, 1, 1, 1));
    near(row.headline.macro_f1, 0.4444);
    near(row.headline.first_error_accuracy, 0.5);
    assert_eq!(row.headline.n, 6);
    let scored = row.scored_only.as_ref().unwrap();
    near(scored.macro_f1, 0.6667);
    near(scored.first_error_accuracy, 0.75);
    assert_eq!(scored.n, 4);
    // The failed clean run raised no alarm, but it did not pass either: it is not in the rate.
    assert_eq!((row.headline.false_alarm.k, row.headline.false_alarm.n), (0, 1));
    // By hand: 3 hits of 4 predicted and 6 labelled spans.
    near(row.headline.micro_precision, 0.75);
    near(row.headline.micro_recall, 0.5);
    near(row.headline.micro_f1, 0.6);
    near(row.headline.exact_set_rate, 2.0 / 6.0);
}

#[test]
fn the_both_empty_rule_can_be_switched() {
    let evaluation = failed_and_missing(BothEmpty::Zero);
    let row = &evaluation.predictions[0];
    near(row.headline.macro_f1, 0.2778);
    near(row.headline.first_error_accuracy, 0.3333);
    near(row.headline.exact_set_rate, 1.0 / 6.0);
    near(row.headline.within_1.unwrap(), 2.0 / 6.0);
    assert_eq!(evaluation.both_empty, 0);
}

#[test]
fn positions_not_lists_decide_the_first_error() {
    let mut cases = set([gold("a", &["s005", "s002"]), gold("b", &["s003"]), gold("c", &["s004"])]);
    let rows: &[(&str, Status, &[&str])] = &[
        ("a", Status::Ok, &["s002", "s005"]),
        ("b", Status::Ok, &["s005", "s004"]),
        ("c", Status::Ok, &["s001"]),
    ];
    let prediction = predict(&mut cases, rows);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let s = &evaluation.predictions[0].headline;
    near(s.first_error_accuracy, 1.0 / 3.0);
    near(s.first_error_accuracy_list_order, 0.0);
    near(s.within_1.unwrap(), 2.0 / 3.0);
    near(s.within_2.unwrap(), 2.0 / 3.0);
    assert_eq!((s.first_too_early.k, s.first_too_late.k, s.first_too_late.n), (1, 1, 3));
}

#[test]
fn unknown_spans_are_wrong_predictions_and_never_first() {
    let mut cases = set([gold("a", &["s002"]), gold("b", &["s002"])]);
    let prediction = predict(
        &mut cases,
        &[("a", Status::Ok, &["s000", "s002"]), ("b", Status::Ok, &["s000"])],
    );
    assert_eq!(prediction.notes.count("unknown_predicted_spans"), 2);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let s = &evaluation.predictions[0].headline;
    near(s.macro_precision, 0.25);
    near(s.first_error_accuracy, 0.5);
    near(s.first_error_accuracy_list_order, 0.0);
    assert_eq!(s.first_too_early.n, 1);
}

#[test]
fn without_spans_ids_go_by_natural_order_and_nothing_is_near() {
    let mut bare = gold("a", &["s10", "s9"]);
    bare.span_ids.clear();
    let mut cases = set([bare]);
    let prediction = predict(&mut cases, &[("a", Status::Ok, &["s11", "s9"])]);
    assert_eq!(cases.notes.count("no_spans"), 1);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let s = &evaluation.predictions[0].headline;
    near(s.first_error_accuracy, 1.0);
    assert_eq!((s.within_1, s.within_2), (None, None));
    assert!(!s.intervals.contains_key("within_1"));
    let last = &evaluation.trivial[0];
    assert_eq!(
        (last.counts.ok, last.counts.missing, last.scored_only.is_none()),
        (0, 1, true)
    );
}

#[test]
fn data_gives_the_positions_that_gold_lacks() {
    let mut cases = CaseSet::new(Vec::new(), None);
    cases.push_spans("a", vec!["z".to_owned(), "y".to_owned(), "x".to_owned()]);
    let mut bare = gold("a", &["y"]);
    bare.span_ids.clear();
    cases.push(bare);
    let prediction = predict(&mut cases, &[("a", Status::Ok, &["x", "z"])]);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let s = &evaluation.predictions[0].headline;
    assert_eq!((s.first_too_early.k, s.within_1), (1, Some(1.0)));
}

#[test]
fn gold_oddities_are_said() {
    let mut cases = CaseSet::new(vec!["nowhere".to_owned()], None);
    let text = concat!(
        "{\"id\":\"a\",\"spans\":[{\"id\":\"s1\"},{\"id\":\"s1\"}],\"error_span_ids\":[\"s1\",\"s1\"]}\n",
        "{\"id\":\"a\",\"spans\":[{\"id\":\"s1\"}],\"error_span_ids\":[\"s7\"]}\n",
        "{\"id\":\"b\"}\n",
    );
    read_gold(text.as_bytes(), |_, row| cases.push(row.unwrap())).unwrap();
    assert_eq!((cases.cases().len(), cases.unlabelled), (1, 1));
    let evaluation = evaluate(&cases, &[], &quick(BothEmpty::One)).unwrap();
    let codes: Vec<&str> = evaluation.notes.iter().map(|note| note.code).collect();
    let expected = [
        "duplicate_span_ids",
        "repeated_gold_spans",
        "unknown_gold_spans",
        "duplicate_gold",
        "unlabelled",
        "missing_key",
    ];
    assert_eq!(codes, expected);
    assert_eq!(
        evaluation.predictions.len(),
        0,
        "the trivial rows alone are a table too"
    );
    assert_eq!(evaluation.trivial.len(), 8);
}

#[test]
fn a_repeated_span_id_goes_by_the_name_that_results_give_it() {
    let mut run = gold("a", &["s1"]);
    run.span_ids = ["s1", "s2", "s1", "s3"].map(str::to_owned).to_vec();
    let mut cases = set([run]);
    let prediction = predict(&mut cases, &[("a", Status::Ok, &["s1#2"])]);
    assert_eq!(cases.notes.count("duplicate_span_ids"), 1);
    assert_eq!(prediction.answers[0].marks.as_ref(), [2]);
    assert_eq!(prediction.notes.count("unknown_predicted_spans"), 0);
}

#[test]
fn no_labelled_run_is_no_evaluation() {
    assert!(evaluate(&CaseSet::new(Vec::new(), None), &[], &Settings::default()).is_none());
}

#[test]
fn breakdowns_part_all_runs_and_name_the_rare_rest() {
    let runs = (0..60).map(|n| {
        let mut run = gold(&n.to_string(), if n % 3 == 0 { &[] } else { &["s001"] });
        run.meta
            .insert("deep".to_owned(), serde_json::json!({"kind": format!("k{}", n % 25)}));
        run.meta.insert(
            "split".to_owned(),
            serde_json::json!(if n < 20 { "dev" } else { "test" }),
        );
        run.span_ids.truncate(n % 8 + 1);
        run
    });
    let mut cases = CaseSet::new(vec!["meta.deep.kind".to_owned()], None);
    runs.for_each(|run| cases.push(run));
    let rows: Vec<(String, &[&str])> = (0..60).map(|n| (n.to_string(), &["s001"] as &[&str])).collect();
    let rows: Vec<(&str, Status, &[&str])> = rows
        .iter()
        .map(|(id, spans)| (id.as_str(), Status::Ok, *spans))
        .collect();
    let prediction = predict(&mut cases, &rows);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let row = &evaluation.predictions[0];
    let keys: Vec<&str> = row.breakdowns.iter().map(|found| found.key.as_str()).collect();
    assert_eq!(keys, ["gold", "length", "meta.deep.kind", "split"]);
    for breakdown in &row.breakdowns {
        assert_eq!(
            breakdown.groups.iter().map(|group| group.scores.n).sum::<u64>(),
            60,
            "{}",
            breakdown.key
        );
    }
    let clean = &row.breakdowns[0].groups[1];
    assert_eq!(
        (
            clean.value.as_str(),
            clean.scores.false_alarm.k,
            clean.scores.false_alarm.n
        ),
        ("clean", 20, 20)
    );
    assert_eq!(row.breakdowns[2].groups.len(), 20);
    assert_eq!(row.breakdowns[2].groups[19].value, "(6 rarer values)");
}

#[test]
fn recall_by_annotated_type_counts_gold_spans_only() {
    let mut run = gold("a", &["s001", "s002"]);
    run.annotations =
        serde_json::json!({"s001": "calculation", "s002": {"error_type": "calculation"}, "s003": "calculation"});
    let mut other = gold("b", &["s004"]);
    other.annotations = serde_json::json!([{"span_id": "s004", "type": "answer_format"}]);
    let mut cases = set([run, other]);
    let prediction = predict(&mut cases, &[("a", Status::Ok, &["s002", "s003"])]);
    let evaluation = evaluate(&cases, &[prediction], &quick(BothEmpty::One)).unwrap();
    let types: Vec<_> = evaluation.predictions[0]
        .error_types
        .iter()
        .map(|found| (found.error_type.as_str(), found.recall.k, found.recall.n))
        .collect();
    assert_eq!(types, [("calculation", 1, 2), ("answer_format", 0, 1)]);
}

#[test]
fn clusters_widen_the_intervals_of_runs_that_go_together() {
    let evaluation = |cluster: Option<&str>| {
        let mut cases = CaseSet::new(Vec::new(), cluster.map(str::to_owned));
        let mut rows: Vec<(String, &[&str])> = Vec::new();
        for n in 0..200 {
            let mut run = gold(&n.to_string(), &["s001"]);
            run.meta.insert("task".to_owned(), serde_json::json!(n / 20));
            cases.push(run);
            rows.push((n.to_string(), if (n / 20) % 2 == 0 { &["s001"] } else { &["s002"] }));
        }
        let rows: Vec<(&str, Status, &[&str])> = rows
            .iter()
            .map(|(id, spans)| (id.as_str(), Status::Ok, *spans))
            .collect();
        let prediction = predict(&mut cases, &rows);
        let settings = Settings {
            resamples: Some(2000),
            ..Settings::default()
        };
        evaluate(&cases, &[prediction], &settings)
            .unwrap()
            .predictions
            .remove(0)
            .headline
    };
    let (alone, together) = (evaluation(None), evaluation(Some("task")));
    assert_eq!(alone.macro_f1, together.macro_f1);
    for name in ["macro_f1", "first_error_accuracy", "exact_set_rate", "within_1"] {
        let width = |scores: &Scores| {
            scores
                .intervals
                .get(name)
                .map(|found| found.high - found.low)
                .unwrap_or(9.0)
        };
        assert!(width(&together) > 3.0 * width(&alone) || name == "within_1", "{name}");
    }
    // Ten clusters of which half are right: standard error 0.158, so about ± 0.3.
    let found = together.intervals["macro_f1"];
    assert!(
        (0.15..=0.25).contains(&found.low) && (0.75..=0.85).contains(&found.high),
        "{found:?}"
    );
}

#[test]
fn several_judges_are_paired_with_each_other_and_with_the_best_trivial_rows() {
    let mut cases = set((0..12).map(|n| gold(&n.to_string(), &["s003"])));
    let answer = |right: usize| -> Vec<(String, &[&str])> {
        (0..12)
            .map(|n| (n.to_string(), if n < right { &["s003"] as &[&str] } else { &["s004"] }))
            .collect()
    };
    let mut judges = Vec::new();
    for (name, right) in [("good", 12), ("poor", 4)] {
        let rows = answer(right);
        let rows: Vec<(&str, Status, &[&str])> = rows.iter().map(|(id, s)| (id.as_str(), Status::Ok, *s)).collect();
        let mut prediction = predict(&mut cases, &rows);
        prediction.name = name.to_owned();
        judges.push(prediction);
    }
    let evaluation = evaluate(&cases, &judges, &quick(BothEmpty::One)).unwrap();
    let pairs: Vec<(&str, &str)> = evaluation
        .paired
        .iter()
        .map(|pair| (pair.a.as_str(), pair.b.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("good", "poor"),
            ("good", "best position: span 3"),
            ("poor", "best position: span 3")
        ]
    );
    let first = &evaluation.paired[0];
    // Eight runs where only the first is right: 2 / 2^8.
    near(first.mcnemar.p, 0.0078);
    near(first.p_holm, 0.0234);
    near(first.first_error_accuracy.unwrap().value, 8.0 / 12.0);
    assert!(first.macro_f1.unwrap().interval.unwrap().low > 0.0);
    near(evaluation.paired[1].macro_f1.unwrap().p, 1.0);
    assert_eq!(evaluation.agreement.as_ref().unwrap().judges, 2);
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::eval::natural_order;

    fn spans() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec((0..10_usize).prop_map(|n| format!("s{n:03}")), 0..5)
    }

    fn id() -> impl Strategy<Value = String> {
        "[a-b0-2]{0,5}"
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn scores_are_shares_and_unscored_runs_are_wrong(runs in prop::collection::vec((spans(), spans(), 0..3_u8), 1..9)) {
            let mut cases = CaseSet::new(Vec::new(), None);
            for (number, (labelled, ..)) in runs.iter().enumerate() {
                let labelled: Vec<&str> = labelled.iter().map(String::as_str).collect();
                cases.push(gold(&number.to_string(), &labelled));
            }
            let mut prediction = Prediction::new("p", &cases);
            for (number, (_, predicted, fate)) in runs.iter().enumerate() {
                let status = [Status::Ok, Status::Ok, Status::Refused][usize::from(*fate)];
                let error_span_ids = if status == Status::Ok { predicted.clone() } else { Vec::new() };
                let row = PredictionRow { case_id: number.to_string(), status, error_span_ids, method: None, odd: Vec::new() };
                prediction.push(&mut cases, row);
            }
            let rows = outcomes(&cases, &prediction, BothEmpty::One);
            let all = scores_of(&cases, &rows, |_, _| true).unwrap();
            for share in [all.macro_f1, all.macro_precision, all.macro_recall, all.micro_f1, all.first_error_accuracy] {
                prop_assert!((0.0..=1.0).contains(&share), "{share}");
            }
            prop_assert!(all.first_error_accuracy <= all.within_1.unwrap() + 1e-12 || rows.iter().any(|row| row.offset.is_none()));
            prop_assert!(all.within_1.unwrap() <= all.within_2.unwrap());
            prop_assert!(all.exact_set_rate <= all.first_error_accuracy + 1e-12);
            if let Some(scored) = scores_of(&cases, &rows, |_, row| row.scored) {
                let (n, of) = (all.n as f64, scored.n as f64);
                prop_assert!((all.macro_f1 * n - scored.macro_f1 * of).abs() < 1e-9);
                prop_assert!((all.first_error_accuracy * n - scored.first_error_accuracy * of).abs() < 1e-9);
            }
        }

        #[test]
        fn natural_order_is_an_order(a in id(), b in id(), c in id()) {
            prop_assert_eq!(natural_order(&a, &b), natural_order(&b, &a).reverse());
            prop_assert_eq!(natural_order(&a, &b).is_eq(), a == b);
            if natural_order(&a, &b).is_le() && natural_order(&b, &c).is_le() {
                prop_assert!(natural_order(&a, &c).is_le());
            }
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "[\\[\\]{}\":,a-c\n]{0,40}|\\PC{0,40}") {
            let mut rows = 0;
            read_gold(text.as_bytes(), |_, _| rows += 1).unwrap();
            crate::eval::read_predictions(text.as_bytes(), |_, _| rows += 1).unwrap();
            prop_assert!(text.trim_ascii().is_empty() || rows >= 2 || text.contains('['), "a row is read or refused, never lost");
        }
    }
}
