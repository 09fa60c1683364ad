use super::*;
use crate::eval::{PredictionRow, Status};
use crate::trajectory::Gold;

#[test]
fn every_run_is_in_the_picture_or_in_the_words_below_it() {
    let mut cases = CaseSet::new(Vec::new(), None);
    for (id, gold) in [
        ("a", Some("s2")),
        ("b", Some("s2")),
        ("c", None),
        ("d", Some("s1")),
        ("e", Some("s70")),
    ] {
        cases.push(Gold {
            case_id: id.to_owned(),
            error_span_ids: gold.into_iter().map(str::to_owned).collect(),
            labelled: true,
            span_ids: (1..=80).map(|n| format!("s{n}")).collect(),
            ..Gold::default()
        });
    }
    let mut prediction = Prediction::new("<judge> & co", &cases);
    for (id, span) in [("a", "s2"), ("b", "s5"), ("c", "s1"), ("e", "s70")] {
        let row = PredictionRow {
            case_id: id.to_owned(),
            status: Status::Ok,
            error_span_ids: vec![span.to_owned()],
            method: None,
            odd: Vec::new(),
        };
        prediction.push(&mut cases, row);
    }
    let found = panel(&cases, &prediction);
    assert_eq!(found.points, BTreeMap::from([((2, 2), 1), ((2, 5), 1)]));
    assert_eq!((found.unanswered, found.nothing_named, found.beyond), (1, 1, 1));

    let svg = first_errors(&cases, &[prediction.clone(), prediction]).unwrap();
    assert!(svg.starts_with("<svg width=\"960\""), "{}", &svg[..60]);
    assert_eq!(svg.matches("<circle").count(), 4);
    assert!(svg.contains("&lt;judge&gt; &amp; co") && !svg.contains("<judge>"));
    assert!(svg.contains("1 without a prediction, 1 where one side names no span, 1 beyond position 60"));
}
