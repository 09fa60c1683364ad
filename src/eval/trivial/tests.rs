use super::*;
use crate::trajectory::Gold;

fn cases(runs: &[(usize, &[&str])]) -> CaseSet {
    let mut cases = CaseSet::new(Vec::new(), None);
    for (number, (spans, gold)) in runs.iter().enumerate() {
        cases.push(Gold {
            case_id: number.to_string(),
            error_span_ids: gold.iter().map(|id| (*id).to_owned()).collect(),
            labelled: true,
            span_ids: (1..=*spans).map(|n| format!("s{n}")).collect(),
            ..Gold::default()
        });
    }
    cases
}

#[test]
fn every_rule_names_the_spans_that_it_says() {
    let marks = |rule: Rule, spans| rule.marks(spans);
    assert_eq!(marks(Rule::FromEnd(0), 5), [4]);
    assert_eq!(marks(Rule::FromEnd(9), 5), [0]);
    assert_eq!(marks(Rule::FromStart(1), 5), [1]);
    assert_eq!(marks(Rule::FromStart(1), 1), [0]);
    assert_eq!(marks(Rule::LastTwo, 5), [3, 4]);
    assert_eq!(marks(Rule::LastTwo, 1), [0]);
    assert_eq!(marks(Rule::All, 3), [0, 1, 2]);
    assert!(marks(Rule::Empty, 3).is_empty());
    assert!(marks(Rule::All, 0).is_empty());
}

#[test]
fn the_best_position_is_looked_for_from_both_ends() {
    let from_start = cases(&[(9, &["s3"]), (5, &["s3", "s5"]), (4, &["s1"])]);
    assert_eq!(best_constant(from_start.cases()), Rule::FromStart(2));
    let from_end = cases(&[(9, &["s8"]), (5, &["s4"]), (4, &["s3"])]);
    assert_eq!(best_constant(from_end.cases()), Rule::FromEnd(1));
    // A run of two spans whose last is the first error counts for every position from the second on.
    let clamped = cases(&[(2, &["s2"]), (9, &["s4"])]);
    assert_eq!(best_constant(clamped.cases()), Rule::FromStart(3));
    assert_eq!(best_constant(&[]), Rule::FromStart(0));
}

#[test]
fn the_best_position_has_as_many_hits_as_counting_finds() {
    let runs: Vec<(usize, Vec<String>)> = (0..60_usize)
        .map(|i| (i % 7 + 1, vec![format!("s{}", i * i % (i % 7 + 1) + 1)]))
        .collect();
    let borrowed: Vec<(usize, Vec<&str>)> = runs
        .iter()
        .map(|(spans, gold)| (*spans, gold.iter().map(String::as_str).collect()))
        .collect();
    let set = cases(
        &borrowed
            .iter()
            .map(|(spans, gold)| (*spans, gold.as_slice()))
            .collect::<Vec<_>>(),
    );
    let hits = |rule: Rule| {
        let right = |case: &&Case| case.first(&case.gold) == rule.marks(case.span_count().unwrap()).first().copied();
        set.cases().iter().filter(right).count()
    };
    let most = (0..8)
        .flat_map(|k| [hits(Rule::FromStart(k)), hits(Rule::FromEnd(k))])
        .max();
    assert_eq!(Some(hits(best_constant(set.cases()))), most);
}

#[test]
fn runs_without_spans_have_no_trivial_prediction_but_the_empty_one() {
    let set = cases(&[(0, &["s1"]), (3, &["s1"])]);
    let rows = trivial_rows(&set, BothEmpty::One, 1);
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!(row.outcomes[0].scored, row.name == "empty", "{}", row.name);
        assert!(row.outcomes[1].scored);
    }
}

#[test]
fn the_random_row_follows_its_seed() {
    let runs: Vec<(usize, &[&str])> = vec![(20, &["s7"]); 50];
    let set = cases(&runs);
    let random = |seed| trivial_rows(&set, BothEmpty::One, seed).remove(5).outcomes;
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}
