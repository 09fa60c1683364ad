//! How much of a run is shown when it does not fit the judge's window.

use super::{RunView, ViewSpan};
use crate::trajectory::{Span, Trajectory};

impl RunView {
    /// A view of at most about `budget` Unicode scalar values of span text. The budget is shared so
    /// that short spans stay whole and long ones are cut to one common length: two thirds of it
    /// from the head, one third from the tail, since conclusions stand at ends.
    #[must_use]
    pub fn fitted(run: &Trajectory, budget: usize) -> Self {
        let lengths: Vec<usize> = run.spans().iter().map(|span| span.text.chars().count()).collect();
        let share = common_share(&lengths, budget);
        let spans = run
            .spans()
            .iter()
            .zip(&lengths)
            .enumerate()
            .map(|(position, (span, &length))| ViewSpan { position, excerpts: excerpts(span, length, share) })
            .collect();
        Self { spans }
    }

    /// Unicode scalar values shown, and in all.
    #[must_use]
    pub fn shown_of(&self, run: &Trajectory) -> (usize, usize) {
        let shown = self.spans.iter().map(|view| {
            let text = run.spans().get(view.position).map_or("", |span| span.text.as_str());
            view.excerpts.iter().filter_map(|range| text.get(range.clone())).map(|part| part.chars().count()).sum::<usize>()
        });
        (shown.sum(), run.spans().iter().map(|span| span.text.chars().count()).sum())
    }
}

impl ViewSpan {
    /// The span at `position`, cut to at most `most` Unicode scalar values in the way of
    /// [`RunView::fitted`], and how many of them are shown.
    #[must_use]
    pub fn cut(run: &Trajectory, position: usize, most: usize) -> (Self, usize) {
        let Some(span) = run.spans().get(position) else {
            return (Self { position, excerpts: Vec::new() }, 0);
        };
        let length = span.text.chars().count();
        (Self { position, excerpts: excerpts(span, length, most) }, length.min(most))
    }
}

/// The length to which longer spans are cut so that all together fit the budget.
fn common_share(lengths: &[usize], budget: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (done, length) in sorted.iter().enumerate() {
        let fair = left / (sorted.len() - done);
        if *length > fair {
            return fair;
        }
        left -= length;
    }
    usize::MAX
}

fn excerpts(span: &Span, length: usize, share: usize) -> Vec<std::ops::Range<usize>> {
    let whole = 0..span.text.len();
    if length <= share {
        return vec![whole];
    }
    let head = share - share / 3;
    let byte_at = |char_index: usize| span.text.char_indices().nth(char_index).map_or(whole.end, |(byte, _)| byte);
    [0..byte_at(head), byte_at(length - share / 3)..whole.end].into_iter().filter(|range| !range.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(texts: &[&str]) -> Trajectory {
        let spans = texts.iter().enumerate().map(|(n, text)| Span { id: format!("s{n}"), text: (*text).to_owned(), ..Span::default() });
        Trajectory::new("r", "q", spans.collect()).0
    }

    #[test]
    fn short_spans_stay_whole_and_long_ones_keep_both_ends() {
        let long = format!("{}é{}", "a".repeat(500), "z".repeat(500));
        let run = run(&["short", &long, "also short"]);
        let view = RunView::fitted(&run, 100);
        assert_eq!(view.spans[0].excerpts, [0..5]);
        assert_eq!(view.spans[1].excerpts.len(), 2);
        let (shown, all) = view.shown_of(&run);
        assert!(shown <= 100 && shown > 90, "{shown}");
        assert_eq!(all, 1016);
        assert!(run.spans()[1].text[view.spans[1].excerpts[1].clone()].ends_with('z'));
    }

    #[test]
    fn a_budget_of_nothing_shows_nothing() {
        let run = run(&["abc", "def"]);
        assert_eq!(RunView::fitted(&run, 0).shown_of(&run).0, 0);
        assert_eq!(RunView::fitted(&run, 99), RunView::whole(&run));
    }
}
