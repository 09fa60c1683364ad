use super::*;

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} ± {tolerance}");
}

/// Values of statsmodels 0.15.0, `proportion_confint(k, n, method="wilson")`.
#[test]
fn wilson_as_statsmodels_has_it() {
    for (k, n, low, high) in [
        (0, 10, 0.0, 0.277_532_799_862_889_26),
        (10, 10, 0.722_467_200_137_110_6, 1.0),
        (3, 10, 0.107_791_267_406_301_04, 0.603_221_852_538_854_6),
        (200, 1000, 0.176_377_090_443_198_5, 0.225_918_964_648_134_66),
        (1, 1, 0.206_549_314_377_237_4, 1.0),
    ] {
        let interval = wilson(k, n).unwrap();
        close(interval.low, low, 1e-12);
        close(interval.high, high, 1e-12);
    }
    assert_eq!(wilson(0, 0), None);
}

/// The fixed data that the NumPy values below were computed on (2.4.6, a million resamples with
/// `default_rng(1)`, `percentile(..., [2.5, 97.5])`).
fn numpy_units() -> Units {
    let mut units = Units::new(40, 4);
    for i in 0..40_usize {
        units.add(i, 0, (i * i % 17) as f64 / 16.0);
        units.add(i, 1, (i * 7 % 13) as f64 / 12.0);
        units.add(i, 2, (i % 3) as f64);
        units.add(i, 3, (i % 3 + i % 4) as f64);
    }
    units
}

#[test]
fn bootstrap_as_numpy_has_it() {
    let resampled = numpy_units().bootstrap(10_000, 7, 3, |sums, out| {
        out[0] = sums[0] / 40.0;
        out[1] = (sums[0] - sums[1]) / 40.0;
        out[2] = sums[2] / sums[3];
    });
    for (statistic, low, high) in [
        (0, 0.375, 0.593_75),
        (1, -0.147_396, 0.143_229),
        (2, 0.311_111, 0.478_723),
    ] {
        let interval = resampled.interval(statistic).unwrap();
        close(interval.low, low, 0.006);
        close(interval.high, high, 0.006);
    }
}

#[test]
fn a_seed_gives_the_same_resamples_and_another_seed_others() {
    let draw = |seed| {
        numpy_units()
            .bootstrap(50, seed, 1, |sums, out| out[0] = sums[0])
            .column(0)
            .collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let longer: Vec<f64> = numpy_units()
        .bootstrap(80, 1, 1, |sums, out| out[0] = sums[0])
        .column(0)
        .take(50)
        .collect();
    assert_eq!(draw(1), longer, "a resample depends on its own number only");
}

#[test]
fn sums_are_exact_to_six_digits_over_many_units() {
    let count = 30_001;
    let mut units = Units::new(count, 17);
    (0..count).for_each(|unit| units.add(unit, 16, 1.0 / 3.0));
    let sum = units
        .bootstrap(1, 3, 1, |sums, out| out[0] = sums[16])
        .column(0)
        .next()
        .unwrap();
    close(sum / (count as f64 / 3.0), 1.0, 1e-6);
}

#[test]
fn quantiles_interpolate() {
    let interval = percentile_interval((0..=40).map(f64::from).collect()).unwrap();
    assert_eq!((interval.low, interval.high), (1.0, 39.0));
    let two = percentile_interval(vec![1.0, 0.0]).unwrap();
    assert_eq!((two.low, two.high), (0.025, 0.975));
    assert_eq!(percentile_interval(Vec::new()), None);
}

#[test]
fn no_unit_and_no_statistic_are_no_failure() {
    let none = Units::new(0, 3).bootstrap(10, 1, 1, |_, _| ());
    assert_eq!(none.column(0).count(), 10);
    assert_eq!(Units::new(3, 1).bootstrap(10, 1, 0, |_, _| ()).interval(0), None);
}

/// Coverage over 1,000 simulated sets of 150 runs: the mean of a run score that is 0, 1/2, 2/3 or 1,
/// its difference from a second judge on the same runs, and a rate. The sets stand side by side as
/// columns, so that a thousand bootstraps cost little more than one.
#[test]
fn intervals_cover_the_truth_95_times_in_100() {
    const RUNS: usize = 150;
    const SETS: usize = 1000;
    let scores = [0.0, 0.0, 0.0, 0.5, 0.5, 2.0 / 3.0, 1.0, 1.0];
    let truth = scores.iter().sum::<f64>() / 8.0;
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut units = Units::new(RUNS, 2 * SETS);
    let mut right = [0_u64; SETS];
    for (set, right) in right.iter_mut().enumerate() {
        for run in 0..RUNS {
            let a = scores[below(&mut random, 8)];
            // The second judge copies the first on some of the runs and is a judge of its own on the rest.
            let b = if below(&mut random, 4) == 0 {
                a
            } else {
                scores[below(&mut random, 8)]
            };
            units.add(run, 2 * set, a);
            units.add(run, 2 * set + 1, a - b);
            *right += u64::from(below(&mut random, 5) == 0);
        }
    }
    let resampled = units.bootstrap(1000, 12, 2 * SETS, |sums, out| {
        out.iter_mut()
            .zip(sums)
            .for_each(|(place, sum)| *place = sum / RUNS as f64);
    });
    let covers = |interval: Option<Interval>, truth: f64| {
        interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
    };
    let count = |covered: &dyn Fn(usize) -> bool| (0..SETS).filter(|set| covered(*set)).count();
    for (what, covered) in [
        ("mean", count(&|set| covers(resampled.interval(2 * set), truth))),
        ("difference", count(&|set| covers(resampled.interval(2 * set + 1), 0.0))),
        ("rate", count(&|set| covers(wilson(right[set], RUNS as u64), 0.2))),
    ] {
        println!("{what}: {covered} of {SETS}");
        assert!((930..=970).contains(&covered), "{what}: {covered} of {SETS}");
    }
}
