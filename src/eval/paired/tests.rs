use super::*;

use crate::eval::interval::Units;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12, "{a} is not {b}");
}

/// Values of scipy 1.17.1, `binomtest(b, b + c).pvalue`; statsmodels 0.15.0's exact McNemar agrees.
#[test]
fn mcnemar_as_scipy_has_it() {
    for (b, c, p) in [
        (3, 1, 0.625),
        (10, 2, 0.038_574_218_75),
        (25, 9, 0.009_041_185_490_787_03),
        (0, 6, 0.031_25),
        (150, 110, 0.015_415_582_833_171_45),
        (5, 5, 1.0),
        (0, 0, 1.0),
    ] {
        close(sign_test(b, c), p);
        close(sign_test(c, b), p);
    }
}

#[test]
fn mcnemar_counts_the_four_kinds_of_pairs() {
    let pairs = [
        (true, true),
        (true, false),
        (true, false),
        (true, false),
        (false, true),
        (false, false),
    ];
    let test = McNemar::new(pairs.into_iter());
    assert_eq!((test.both, test.only_a, test.only_b, test.neither), (1, 3, 1, 1));
    close(test.p, 0.625);
}

#[test]
fn a_hundred_thousand_discordant_runs_are_no_trouble() {
    let p = sign_test(50_500, 49_500);
    // The normal approximation with continuity correction: z = 999 / sqrt(100000) = 3.1591, p = 0.001582.
    assert!((p - 0.001_582).abs() < 5e-6, "{p}");
    assert!(sign_test(70_000, 30_000) < 1e-300);
}

/// statsmodels 0.15.0, `multipletests(..., method="holm")`.
#[test]
fn holm_as_statsmodels_has_it() {
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005, 0.9]);
    for (a, b) in adjusted.iter().zip([0.04, 0.09, 0.09, 0.025, 0.9]) {
        close(*a, b);
    }
    assert!(holm(&[]).is_empty());
}

/// Two runs, by hand: scores (1, 0) and (0, 1), so a resample's difference is -1, 0 or 1 with
/// chances 1/4, 1/2, 1/4 and the p-value is certain to be 1; a judge that is always better by one has p 2 / (B + 1).
#[test]
fn the_paired_bootstrap_by_hand() {
    let mut units = Units::new(2, 3);
    units.add(0, 0, 1.0);
    units.add(1, 1, 1.0);
    let drawn = units.bootstrap(4000, 5, 3, |sums, out| {
        out[0] = sums[0] / 2.0;
        out[1] = sums[1] / 2.0;
        out[2] = -1.0;
    });
    let values = drawn.difference(0, 1);
    let share = |value: f64| values.iter().filter(|found| **found == value).count() as f64 / 4000.0;
    for (value, chance) in [(-1.0, 0.25), (0.0, 0.5), (1.0, 0.25)] {
        assert!((share(value) - chance).abs() < 0.03, "{value}: {}", share(value));
    }
    let even = Difference::new(&drawn, (0, 0.5), (1, 0.5));
    assert_eq!((even.value, even.p), (0.0, 1.0));
    let ends = even.interval.unwrap();
    assert_eq!((ends.low, ends.high), (-1.0, 1.0));
    let sure = Difference::new(&drawn, (0, 0.5), (2, -1.0));
    assert_eq!(sure.p, 2.0 / 4001.0);
}
