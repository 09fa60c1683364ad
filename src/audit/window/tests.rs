use proptest::prelude::*;

use super::*;

fn run(texts: &[String]) -> Trajectory {
    let spans = texts.iter().enumerate().map(|(n, text)| Span {
        id: format!("s{n}"),
        text: text.clone(),
        ..Span::default()
    });
    Trajectory::new("r", "q", spans.collect()).0
}

fn windows(run: &Trajectory, room: usize) -> Vec<RunView> {
    Measured {
        run,
        sizes: &sizes(run),
    }
    .windows(room)
}

fn whole_in(view: &RunView, run: &Trajectory) -> Vec<usize> {
    let whole = view
        .spans
        .iter()
        .filter(|shown| shown.excerpts.first() == Some(&(0..run.spans()[shown.position].text.len())));
    whole.map(|shown| shown.position).collect()
}

#[test]
fn what_fits_is_one_window_and_shows_everything() {
    let run = run(&["abc".to_owned(), String::new(), "def".to_owned()]);
    assert_eq!(windows(&run, 1000), [RunView::whole(&run)]);
}

#[test]
fn every_span_stands_whole_in_a_window_and_neighbours_share_some() {
    let texts: Vec<String> = (0..60).map(|n| format!("{n} ").repeat(60 + n)).collect();
    let run = run(&texts);
    let views = windows(&run, 2000);
    assert!((2..=MAX_WINDOWS).contains(&views.len()), "{}", views.len());
    let whole: Vec<Vec<usize>> = views.iter().map(|view| whole_in(view, &run)).collect();
    for position in 0..60 {
        assert!(whole.iter().any(|window| window.contains(&position)), "span {position}");
    }
    for pair in whole.windows(2) {
        assert!(pair[0].iter().any(|position| pair[1].contains(position)), "{pair:?}");
    }
    let outlined = |view: &RunView| view.spans.iter().filter(|shown| shown.excerpts.len() == 2).count();
    assert!(
        views.iter().any(|view| outlined(view) >= 2),
        "long spans that are far are there in outline"
    );
    for view in &views {
        assert!(
            view.spans.iter().any(|shown| shown.position == 59),
            "the last span is always there"
        );
    }
    let coverage = Coverage::of(&run, &views);
    assert_eq!(
        (coverage.shown, coverage.partial.len(), coverage.absent.len()),
        (coverage.all, 0, 0)
    );
}

#[test]
fn a_span_longer_than_a_window_is_shown_piece_by_piece() {
    let run = run(&["plan".to_owned(), "x".repeat(20_000), "the end".to_owned()]);
    let views = windows(&run, 2000);
    assert!(views.len() > 2 && views.len() <= MAX_WINDOWS, "{}", views.len());
    let coverage = Coverage::of(&run, &views);
    assert_eq!(coverage.shown, coverage.all);
}

#[test]
fn five_million_characters_in_a_small_window_are_cut_to_both_ends() {
    let texts: Vec<String> = (0..50)
        .map(|n| format!("begin{n} {} end{n}", "word ".repeat(20_000)))
        .collect();
    let run = run(&texts);
    let views = windows(&run, 2500);
    assert!(
        (MAX_WINDOWS / 2..=MAX_WINDOWS).contains(&views.len()),
        "{}",
        views.len()
    );
    let measured = Measured {
        run: &run,
        sizes: &sizes(&run),
    };
    for view in &views {
        assert!(measured.tokens(view) <= 2500);
    }
    let coverage = Coverage::of(&run, &views);
    assert_eq!((coverage.partial.len(), coverage.absent.len()), (50, 0));
    assert!(coverage.shown > 35_000, "{}", coverage.shown);
    for (position, text) in texts.iter().enumerate() {
        let shown: String = views
            .iter()
            .flat_map(|view| &view.spans)
            .filter(|shown| shown.position == position)
            .flat_map(|shown| shown.excerpts.iter().map(|range| &text[range.clone()]))
            .collect();
        assert!(shown.contains(&format!("begin{position} ")) && shown.contains(&format!(" end{position}")));
    }
}

#[test]
fn more_spans_than_lines_fit_are_shown_at_even_distances() {
    let texts: Vec<String> = (0..20_000).map(|n| format!("step {n}")).collect();
    let run = run(&texts);
    let views = windows(&run, 1000);
    assert!(views.len() <= MAX_WINDOWS, "{}", views.len());
    let coverage = Coverage::of(&run, &views);
    assert!(!coverage.absent.contains(&0) && !coverage.absent.contains(&19_999));
    assert!(coverage.absent.len() < 20_000 - 100);
}

proptest! {
    #[test]
    fn windows_keep_their_size_and_cut_at_characters(
        texts in prop::collection::vec("(?s)[a灯🜂 ]{0,400}", 0..25), room in 500usize..3000,
    ) {
        let run = run(&texts);
        let sizes = sizes(&run);
        let measured = Measured { run: &run, sizes: &sizes };
        let views = measured.windows(room);
        prop_assert!(!views.is_empty() && views.len() <= MAX_WINDOWS);
        for view in &views {
            prop_assert!(measured.tokens(view) <= room, "{} > {room}", measured.tokens(view));
            prop_assert!(view.spans.windows(2).all(|pair| pair[0].position < pair[1].position));
            for shown in &view.spans {
                let text = &run.spans()[shown.position].text;
                prop_assert!(shown.excerpts.iter().all(|range| text.get(range.clone()).is_some()));
                prop_assert!(shown.excerpts.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
            let half = measured.shrunk(view, measured.tokens(view) / 2);
            prop_assert!(measured.tokens(&half) <= measured.tokens(view));
        }
        let coverage = Coverage::of(&run, &views);
        prop_assert!(coverage.shown <= coverage.all);
    }
}
