//! What of a run is shown with a turn.

use std::ops::Range;

use crate::audit::{RunView, ViewSpan};
use crate::trajectory::Trajectory;

/// Most Unicode scalar values shown of one earlier turn.
const EARLIER_CHARS: usize = 1500;
/// Room below which no further earlier turn is begun.
const LEAST_CHARS: usize = 80;

/// The turn, and before it as many of the nearest turns as there is room for, each cut to a bounded length.
/// Nothing after it: a turn is judged by what the run had shown.
pub(super) fn view(run: &Trajectory, turn: usize, budget: usize) -> RunView {
    let (own, used) = cut(run, turn, budget);
    let mut left = budget.saturating_sub(used);
    let mut spans = vec![own];
    for position in (0..turn).rev() {
        if left < LEAST_CHARS {
            break;
        }
        let (shown, used) = cut(run, position, left.min(EARLIER_CHARS));
        spans.push(shown);
        left -= used;
    }
    spans.reverse();
    RunView { spans }
}

/// A span cut to at most `most` Unicode scalar values, two thirds from its head and one from its tail, since
/// conclusions stand at ends; and how many are shown.
fn cut(run: &Trajectory, position: usize, most: usize) -> (ViewSpan, usize) {
    let text = run.spans().get(position).map_or("", |span| span.text.as_str());
    let length = text.chars().count();
    let excerpts: Vec<Range<usize>> = if length <= most {
        std::iter::once(0..text.len()).collect()
    } else {
        let byte_at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(byte, _)| byte);
        let tail = most / 3;
        [0..byte_at(most - tail), byte_at(length - tail)..text.len()]
            .into_iter()
            .filter(|range| !range.is_empty())
            .collect()
    };
    (ViewSpan { position, excerpts }, length.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Span;

    #[test]
    fn a_turn_is_shown_whole_with_the_nearest_before_it_and_nothing_after() {
        let long = format!("é{}", "x".repeat(4000));
        let texts = ["first", &long, "near", "the turn", "later"];
        let spans = texts.iter().enumerate().map(|(n, text)| Span {
            id: format!("t{n}"),
            text: (*text).to_owned(),
            ..Span::default()
        });
        let (run, _) = Trajectory::new("r", "q", spans.collect());
        let view = view(&run, 3, 1000);
        let positions: Vec<usize> = view.spans.iter().map(|span| span.position).collect();
        assert_eq!(positions, [1, 2, 3]);
        assert_eq!(view.spans[2].excerpts.iter().collect::<Vec<_>>(), [&(0..8)]);
        assert_eq!(view.spans[0].excerpts.len(), 2);
        assert_eq!(view.shown_of(&run).0, 1000);
        assert_eq!(super::view(&run, 1, 30).shown_of(&run).0, 30);
    }
}
