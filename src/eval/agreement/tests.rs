use super::*;
use crate::eval::PredictionRow;
use crate::trajectory::Gold;

fn cases() -> CaseSet {
    let mut cases = CaseSet::new(Vec::new(), None);
    for (id, gold) in [("r1", vec!["s6", "s8"]), ("r2", vec!["s2"])] {
        cases.push(Gold {
            case_id: id.to_owned(),
            error_span_ids: gold.into_iter().map(str::to_owned).collect(),
            labelled: true,
            span_ids: (1..=8).map(|n| format!("s{n}")).collect(),
            ..Gold::default()
        });
    }
    cases
}

fn judge(cases: &mut CaseSet, name: &str, rows: &[(&str, Status, &[&str])]) -> Prediction {
    let mut prediction = Prediction::new(name, cases);
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

/// Three votes over eight spans: 3, 1 and 2 marks. By hand: mean agreement (6 + 2/3) / 8, share
/// of marks 6/24, chance 0.625, κ = 5/9; statsmodels 0.15.0's `fleiss_kappa` agrees.
#[test]
fn fleiss_by_hand() {
    let kappa = fleiss_kappa(3, [0, 0, 0, 0, 0, 3, 1, 2].into_iter()).unwrap();
    assert!((kappa - 5.0 / 9.0).abs() < 1e-12, "{kappa}");
    assert_eq!(
        fleiss_kappa(3, [0, 0].into_iter()),
        None,
        "nobody ever marks: chance agreement is total"
    );
    assert_eq!(fleiss_kappa(3, std::iter::empty()), None);
    assert_eq!(fleiss_kappa(1, [1, 0].into_iter()), None);
}

/// statsmodels 0.15.0: `cohens_kappa([[20, 5], [10, 15]]).kappa` is 0.4.
#[test]
fn cohen_as_statsmodels_has_it() {
    let kappa = cohen_kappa(20, 5, 10, 15).unwrap();
    assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
    assert_eq!(cohen_kappa(0, 0, 0, 9), None);
    assert_eq!(cohen_kappa(0, 0, 0, 0), None);
}

#[test]
fn agreement_over_runs_that_all_answered() {
    let mut cases = cases();
    let a = judge(
        &mut cases,
        "a",
        &[("r1", Status::Ok, &["s6", "s8"]), ("r2", Status::Ok, &["s2"])],
    );
    let b = judge(
        &mut cases,
        "b",
        &[("r1", Status::Ok, &["s6", "s7", "s8"]), ("r2", Status::Failed, &[])],
    );
    let c = judge(
        &mut cases,
        "c",
        &[("r1", Status::Ok, &["s6"]), ("r2", Status::Ok, &["s3", "s99"])],
    );
    let found = agreement(&cases, &[a.clone(), b, c], BothEmpty::One).unwrap();
    assert_eq!((found.judges, found.runs, found.spans), (3, 1, 8));
    assert!((found.fleiss_kappa.unwrap() - 5.0 / 9.0).abs() < 1e-12);

    let ac = &found.pairs[1];
    assert_eq!((ac.a.as_str(), ac.b.as_str(), ac.spans), ("a", "c", 16));
    // Both mark 1, only a 2, only c 1 (s99 is no span), neither 12.
    assert_eq!(ac.cohen_kappa, cohen_kappa(1, 2, 1, 12));
    assert_eq!((ac.same_first.k, ac.same_first.n), (1, 2));

    let of = |rate: &Rate| (rate.k, rate.n);
    let levels: Vec<_> = found
        .levels
        .iter()
        .map(|level| {
            (
                level.at_least,
                of(&level.coverage),
                of(&level.first_right),
                of(&level.marked_spans_right),
            )
        })
        .collect();
    assert_eq!(
        levels,
        [
            (3, (1, 2), (1, 1), (1, 1)),
            (2, (1, 2), (1, 1), (2, 2)),
            (1, (2, 2), (2, 2), (3, 5))
        ]
    );
    assert_eq!(agreement(&cases, &[a], BothEmpty::One), None);
}
