use super::super::predictions::PredictionRow;
use super::*;
use crate::trajectory::Gold;

fn cases(count: usize) -> CaseSet {
    let mut cases = CaseSet::new(Vec::new(), None);
    for number in 0..count {
        cases.push(Gold {
            case_id: format!("r{number}"),
            error_span_ids: if number % 5 == 0 {
                Vec::new()
            } else {
                vec!["s2".to_owned(), "s4".to_owned()]
            },
            labelled: true,
            span_ids: (1..=4).map(|at| format!("s{at}")).collect(),
            ..Gold::default()
        });
    }
    cases
}

/// A judge that names `spans` on every run, and fails on those that `fails` says.
fn judge(cases: &mut CaseSet, spans: &[&str], fails: impl Fn(usize) -> bool) -> Prediction {
    let mut prediction = Prediction::new("m", cases);
    for number in 0..cases.cases().len() {
        let failed = fails(number);
        prediction.push(
            cases,
            PredictionRow {
                case_id: format!("r{number}"),
                status: if failed { Status::Failed } else { Status::Ok },
                error_span_ids: if failed {
                    Vec::new()
                } else {
                    spans.iter().map(|span| (*span).to_owned()).collect()
                },
                method: None,
                odd: Vec::new(),
            },
        );
    }
    prediction
}

fn entry(model: &str, repeats: Vec<Prediction>) -> Entry {
    let spent = Spent {
        calls: 3,
        total_tokens: 3000,
        cost_usd: Some(0.5),
        ..Spent::default()
    };
    Entry {
        model: model.to_owned(),
        method: "drift".to_owned(),
        repeats,
        spent,
        rejected_span_ids: 2,
    }
}

fn board(cases: &CaseSet, entries: &[Entry]) -> Leaderboard {
    let settings = Settings {
        resamples: Some(500),
        ..Settings::default()
    };
    Leaderboard::new(
        "d",
        cases,
        entries,
        &Published::shipped().unwrap(),
        &settings,
        Vec::new(),
    )
    .unwrap()
}

#[test]
fn rows_agree_with_the_evaluation_and_stand_in_order() {
    let mut cases = cases(50);
    let good = judge(&mut cases, &["s2", "s4"], |number| number % 10 == 1);
    let last = judge(&mut cases, &["s4"], |_| false);
    let evaluated = super::super::evaluate(
        &cases,
        &[good.clone(), last.clone()],
        &Settings {
            resamples: Some(500),
            ..Settings::default()
        },
    )
    .unwrap();
    let board = board(&cases, &[entry("last", vec![last]), entry("good", vec![good])]);
    assert_eq!(
        (board.rows[0].model.as_str(), board.rows[1].model.as_str()),
        ("good", "last")
    );
    for (row, scores) in [
        (&board.rows[0], &evaluated.predictions[0]),
        (&board.rows[1], &evaluated.predictions[1]),
    ] {
        let headline = &scores.headline;
        assert!((row.first_error_accuracy.value - headline.first_error_accuracy).abs() < 1e-12);
        assert!((row.macro_f1.value - headline.macro_f1).abs() < 1e-12);
        assert_eq!(
            row.first_error_accuracy.interval,
            headline.intervals.get("first_error_accuracy").copied()
        );
        assert_eq!(row.macro_f1.interval, headline.intervals.get("macro_f1").copied());
        assert_eq!(row.false_alarm, Some(headline.false_alarm));
        assert_eq!(row.counts, Some(scores.counts));
    }
    let kinds: Vec<RowKind> = board.rows.iter().map(|row| row.kind).collect();
    assert!(
        kinds
            .windows(2)
            .all(|pair| !(pair[0] == RowKind::Trivial && pair[1] == RowKind::Judged))
    );
    assert_eq!(kinds.iter().filter(|kind| **kind == RowKind::Published).count(), 8);
}

#[test]
fn a_row_that_does_not_beat_the_last_span_is_told() {
    let mut cases = cases(40);
    let last = judge(&mut cases, &["s4"], |_| false);
    let good = judge(&mut cases, &["s2", "s4"], |_| false);
    let near = judge(&mut cases, &["s4"], |number| number == 0);
    let board = board(
        &cases,
        &[
            entry("same", vec![last]),
            entry("good", vec![good]),
            entry("worse", vec![near]),
        ],
    );
    let notes = board.notes.join("\n");
    assert!(
        notes.contains("same / drift does not beat `last` (always the last span) in first-error accuracy: +0.0"),
        "{notes}"
    );
    assert!(notes.contains("worse / drift does not beat"), "{notes}");
    assert!(
        !notes.contains("good / drift does not beat") && !notes.contains("good / drift is not shown"),
        "{notes}"
    );
    assert!(
        notes.contains("worse / drift: 1 of 40 audits have no verdict") && notes.contains("named 2 span ids"),
        "{notes}"
    );
    assert!(notes.contains("on TELBench, which this data is not"), "{notes}");
    let against = board.rows[0].against_last.unwrap();
    assert!(
        (against.first_error_accuracy.value - 0.8).abs() < 1e-12
            && against.first_error_accuracy.interval.unwrap().low > 0.5
    );
}

#[test]
fn repeats_are_averaged_and_are_no_runs_of_their_own() {
    let mut cases = cases(30);
    let right = judge(&mut cases, &["s2", "s4"], |_| false);
    let wrong = judge(&mut cases, &["s1"], |_| false);
    let once = board(&cases, &[entry("a", vec![right.clone()])]);
    let twice = board(&cases, &[entry("a", vec![right.clone(), right.clone()])]);
    assert_eq!(
        once.rows[0].macro_f1, twice.rows[0].macro_f1,
        "saying it twice makes it no surer"
    );
    let mixed = board(&cases, &[entry("a", vec![right, wrong])]);
    let row = &mixed.rows[0];
    assert!((row.first_error_accuracy.value - 0.4).abs() < 1e-12);
    let repeats = row.repeats.clone().unwrap();
    assert_eq!((repeats.count, repeats.first_error_accuracy), (2, vec![0.8, 0.0]));
    assert_eq!(row.counts.unwrap().gold, 60);
    assert_eq!(row.false_alarm.map(|rate| (rate.k, rate.n)), Some((12, 12)));
}

#[test]
fn the_tables_and_the_picture_hold_every_judge() {
    let mut cases = cases(20);
    let good = judge(&mut cases, &["s2", "s4"], |_| false);
    let last = judge(&mut cases, &["s4"], |_| false);
    let mut free = entry("a|b", vec![last]);
    free.spent = Spent {
        cost_usd: None,
        ..free.spent
    };
    let board = board(&cases, &[entry("good", vec![good]), free]);
    let text = board.table().text();
    assert!(
        text.contains("good") && text.contains("(rule) last span") && text.contains("drift (published, other prompts)"),
        "{text}"
    );
    assert!(
        board
            .csv()
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("judged,good,drift,0.8,")),
        "{}",
        board.csv()
    );
    // A comma inside quotation marks is no border.
    let outside = |line: &str| {
        line.split('"')
            .step_by(2)
            .map(|part| part.matches(',').count())
            .sum::<usize>()
    };
    let columns: std::collections::BTreeSet<usize> = board.csv().lines().map(outside).collect();
    assert_eq!(columns.len(), 1, "every row has every column");
    let svg = board.frontier().unwrap();
    assert!(
        svg.contains("good / drift") && svg.contains("1 without a known price") && svg.contains("always the last span"),
        "{svg}"
    );
    assert!(!svg.contains("a|b"));
    assert!(
        Leaderboard::new(
            "d",
            &CaseSet::default(),
            &[],
            &Published::default(),
            &Settings::default(),
            Vec::new()
        )
        .is_none()
    );
}

#[test]
fn published_scores_are_those_of_the_paper() {
    let published = Published::shipped().unwrap();
    assert_eq!(
        (published.rows.len(), published.runs, published.error_spans),
        (8, 1000, 2552)
    );
    let best = published
        .rows
        .iter()
        .max_by(|a, b| a.first_error_accuracy.total_cmp(&b.first_error_accuracy))
        .unwrap();
    assert_eq!(
        (best.method.as_str(), best.macro_f1, best.first_error_accuracy),
        ("drift", 54.91, 24.1)
    );
    assert!(
        Published::parse("row = 3", "TELBench")
            .unwrap_err()
            .to_string()
            .contains("published scores")
    );
}
