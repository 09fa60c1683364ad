//! How much of a run a view shows.

use super::RunView;
use crate::trajectory::Trajectory;

impl RunView {
    /// Unicode scalar values shown, and in all.
    #[must_use]
    pub fn shown_of(&self, run: &Trajectory) -> (usize, usize) {
        let shown = self.spans.iter().map(|view| {
            let text = run.spans().get(view.position).map_or("", |span| span.text.as_str());
            view.excerpts
                .iter()
                .filter_map(|range| text.get(range.clone()))
                .map(|part| part.chars().count())
                .sum::<usize>()
        });
        (
            shown.sum(),
            run.spans().iter().map(|span| span.text.chars().count()).sum(),
        )
    }
}
