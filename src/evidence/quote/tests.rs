use proptest::prelude::*;

use super::*;
use crate::trajectory::Span;

fn run(texts: &[&str]) -> Trajectory {
    let spans = texts
        .iter()
        .enumerate()
        .map(|(index, text)| Span {
            id: format!("s{:03}", index + 1),
            text: (*text).to_owned(),
            ..Span::default()
        })
        .collect();
    Trajectory::new("r", "q", spans).0
}

/// Status, span and text of a quote, after checking that its offsets slice to the text.
fn look(run: &Trajectory, span: usize, text: &str) -> (QuoteStatus, String, String) {
    let quote = find(run, Some(span), text);
    check_offsets(run, &quote);
    (quote.status, quote.span_id, quote.text)
}

fn check_offsets(run: &Trajectory, quote: &Quote) {
    if let (Some(start), Some(end)) = (quote.start, quote.end) {
        let source = &run.spans()[run.position(&quote.span_id).unwrap()].text;
        let slice: String = source.chars().skip(start).take(end - start).collect();
        assert_eq!(slice, quote.text);
    } else {
        assert_eq!(quote.status, QuoteStatus::NotFound);
    }
}

fn lamps() -> Trajectory {
    run(&[
        "The lamp was made electric in May 1931, the keeper wrote.",
        "Northgate: in 1929 the lamp was still burning oil; the book gives no\n  date of conversion.",
        "Answer: 1929.",
    ])
}

#[test]
fn the_four_statuses() {
    let run = lamps();
    let s = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let (status, id, text) = look(&run, 0, "made electric in May 1931");
    assert_eq!(
        (status, (id, text)),
        (QuoteStatus::Verified, s("s001", "made electric in May 1931"))
    );
    let (status, id, text) = look(&run, 1, "The book   gives NO date");
    assert_eq!(
        (status, (id, text)),
        (QuoteStatus::Folded, s("s002", "the book gives no\n  date"))
    );
    let (status, id, text) = look(&run, 0, "still burning oil");
    assert_eq!(
        (status, (id, text)),
        (QuoteStatus::WrongSpan, s("s002", "still burning oil"))
    );
    let (status, id, text) = look(&run, 1, "the lamp became electric in 1929");
    assert_eq!(
        (status, (id, text)),
        (QuoteStatus::NotFound, s("s002", "the lamp became electric in 1929"))
    );
}

#[test]
fn a_short_quote_is_not_found_by_accident() {
    let run = lamps();
    assert_eq!(look(&run, 0, "1929").0, QuoteStatus::NotFound);
    assert_eq!(look(&run, 2, "1929").0, QuoteStatus::Verified);
    assert_eq!(look(&run, 0, "93").0, QuoteStatus::NotFound);
    assert_eq!(look(&run, 0, "amp").0, QuoteStatus::NotFound);
    assert_eq!(look(&run, 0, "LAMP").0, QuoteStatus::Folded);
    for nothing in ["", "  ", "\"\"", "...", "--"] {
        assert_eq!(look(&run, 0, nothing).0, QuoteStatus::NotFound, "{nothing:?}");
    }
}

#[test]
fn quotation_marks_and_ellipses_of_the_judge_are_understood() {
    let run = lamps();
    let (status, _, text) = look(&run, 0, "\u{201C}the keeper wrote\u{201D}");
    assert_eq!((status, text.as_str()), (QuoteStatus::Folded, "the keeper wrote"));
    let (status, _, text) = look(&run, 0, "The lamp … in May 1931 [...]");
    assert_eq!(
        (status, text.as_str()),
        (QuoteStatus::Folded, "The lamp was made electric in May 1931")
    );
    assert_eq!(look(&run, 0, "in May 1931 ... The lamp").0, QuoteStatus::NotFound);
}

#[test]
fn what_an_ellipsis_leaves_out_is_bounded() {
    let far = format!("alpha beta gamma {} delta epsilon zeta", "x ".repeat(400));
    let near = format!("{far} alpha beta gamma, delta epsilon zeta");
    assert_eq!(
        look(&run(&[&far]), 0, "alpha beta gamma ... delta epsilon zeta").0,
        QuoteStatus::NotFound
    );
    let (status, _, text) = look(&run(&[&near]), 0, "alpha beta gamma ... delta epsilon zeta");
    assert_eq!(
        (status, text.as_str()),
        (QuoteStatus::Folded, "alpha beta gamma, delta epsilon zeta")
    );
}

#[test]
fn scripts_and_normal_forms() {
    let run = run(&[
        "灯塔于一九三一年改用电灯。",
        "Le cafe\u{301} est ferme\u{301}.",
        "हिन्दी भाषा में लिखा है",
        "ขอแสดงความนับถือ",
    ]);
    assert_eq!(look(&run, 0, "一九三一年").0, QuoteStatus::Verified);
    assert_eq!(look(&run, 1, "一九三一年").0, QuoteStatus::WrongSpan);
    let (status, _, text) = look(&run, 1, "le caf\u{e9} est ferm\u{e9}");
    assert_eq!(
        (status, text.as_str()),
        (QuoteStatus::Folded, "Le cafe\u{301} est ferme\u{301}")
    );
    assert_eq!(look(&run, 2, "भाषा में").0, QuoteStatus::Verified);
    assert_eq!(look(&run, 3, "แสดง").0, QuoteStatus::Verified);
}

#[test]
fn without_a_span_the_first_that_has_it_counts() {
    let run = lamps();
    let quote = find(&run, None, "STILL burning oil");
    assert_eq!((quote.status, quote.span_id.as_str()), (QuoteStatus::Folded, "s002"));
    assert_eq!(find(&run, Some(99), "still burning oil").status, QuoteStatus::WrongSpan);
}

#[test]
fn the_nearest_other_span_is_named() {
    let run = run(&["the same long sentence", "b", "c", "d", "the same long sentence", "f"]);
    assert_eq!(look(&run, 3, "the same long sentence").1, "s005");
    assert_eq!(look(&run, 1, "the same long sentence").1, "s001");
}

#[test]
fn the_best_sentence_has_the_rare_words() {
    let run = run(&["We looked it up. The lamp was lit. In 1929 the lamp still burned oil.\nSo the lamp is electric."]);
    let quote = best_sentence(&run, 0, "The lamp was read as electrified in 1929").unwrap();
    check_offsets(&run, &quote);
    assert_eq!(
        (quote.status, quote.text.as_str()),
        (QuoteStatus::Verified, "In 1929 the lamp still burned oil.")
    );
    assert_eq!(best_sentence(&run, 0, "quite unrelated"), None);
    assert_eq!(best_sentence(&run, 7, "lamp"), None);
}

#[test]
fn the_best_sentence_in_scripts_without_spaces() {
    let run = run(&["我们查了资料。灯塔在一九二九年仍烧煤油。所以是电灯。"]);
    let quote = best_sentence(&run, 0, "一九二九年灯塔已改电").unwrap();
    assert_eq!(quote.text, "灯塔在一九二九年仍烧煤油。");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_piece_of_a_span_is_found_there(text in "\\PC{0,80}", start in 0_usize..60, length in 1_usize..40) {
        let run = run(&["other words", &text]);
        let piece: String = text.chars().skip(start).take(length).collect();
        let quote = find(&run, Some(1), &piece);
        check_offsets(&run, &quote);
        // A piece may begin with a mark or within a word; with enough letters it is found all the same.
        if weight(&folded(&piece, Marks::Keep)) >= MIN_INSIDE_WORD {
            prop_assert!(quote.status.carries_support(), "{:?}", quote);
        }
    }

    #[test]
    fn offsets_slice_to_the_quote(a in "[ a-dA-D\n.é”…]{0,60}", b in "[ a-d\n.é…]{0,60}", quote in "[ a-d\n.é…]{0,20}") {
        let run = run(&[&a, &b]);
        check_offsets(&run, &find(&run, Some(0), &quote));
        check_offsets(&run, &find(&run, None, &quote));
        if let Some(found) = best_sentence(&run, 1, &quote) {
            check_offsets(&run, &found);
        }
    }
}
