//! A run that is longer than the judge's window, as overlapping windows of spans.
//!
//! Each window shows its own spans whole (a very long span in pieces) and of the others, which are far
//! from it, an outline: head and tail of their text. When even [`MAX_WINDOWS`] windows cannot show all of
//! the text, long spans are cut to one common length first, two thirds of it from the head and one third
//! from the tail, since conclusions stand at ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::room::{head, tail, tokens};
use super::{RunView, ViewSpan};
use crate::trajectory::{Span, Trajectory};

/// Windows of one run at most: what a run costs stays bounded however long it is.
pub(super) const MAX_WINDOWS: usize = 16;
/// Tokens of the line above a span and of the marks where text or spans are left out, without the span's id.
const SPAN_LINE: usize = 40;
/// One part in so many of a window goes to the outline of far spans.
const OUTLINE_PART: usize = 4;
/// One part in so many of what a window shows whole is shown by the next one too, and a span is taken in
/// pieces no longer than that.
const OVERLAP_PART: usize = 8;
/// Tokens of text that a far span is worth at least being shown with.
const LEAST_OUTLINE: usize = 60;

/// What of a span is shown, and the tokens it takes with its line.
#[derive(Clone)]
struct Piece {
    position: usize,
    excerpts: Vec<Range<usize>>,
    tokens: usize,
}

/// A run with the tokens of each span's text.
pub(super) struct Measured<'run> {
    pub(super) run: &'run Trajectory,
    pub(super) sizes: &'run [usize],
}

/// Tokens of the text of each span.
pub(super) fn sizes(run: &Trajectory) -> Vec<usize> {
    run.spans().iter().map(|span| tokens(&span.text)).collect()
}

impl Measured<'_> {
    /// The run in windows of at most `room` tokens each; one window that shows everything if it fits.
    pub(super) fn windows(&self, room: usize) -> Vec<RunView> {
        let all: usize = (0..self.run.spans().len())
            .map(|at| self.line(at) + self.size(at))
            .sum();
        if all <= room {
            return vec![RunView::whole(self.run)];
        }
        let near = room - room / OUTLINE_PART;
        let mut budget = all.min(near.saturating_mul(MAX_WINDOWS));
        let mut windows = self.cut(&self.fitted(budget), near);
        // Windows overlap and end where a span ends, so a few more may be needed than by size alone.
        for _ in 0..12 {
            if windows.len() <= MAX_WINDOWS {
                break;
            }
            budget = budget / 5 * 4;
            windows = self.cut(&self.fitted(budget), near);
        }
        windows
            .into_iter()
            .map(|window| self.with_outline(window, room / OUTLINE_PART))
            .collect()
    }

    /// A view cut down to `room` tokens: every span to one common length, and of more spans than there is
    /// room for lines, some at even distances.
    pub(super) fn shrunk(&self, view: &RunView, room: usize) -> RunView {
        let lines: usize = view.spans.iter().map(|shown| self.line(shown.position)).sum();
        let stride = lines.saturating_mul(2).div_ceil(room.max(1)).max(1);
        let kept: Vec<&ViewSpan> = view.spans.iter().step_by(stride).collect();
        let lines: usize = kept.iter().map(|shown| self.line(shown.position)).sum();
        let lengths: Vec<usize> = kept.iter().map(|shown| self.shown(shown)).collect();
        let share = common_share(&lengths, room.saturating_sub(lines));
        let spans = kept.into_iter().zip(lengths).map(|(shown, length)| {
            let text = self.text(shown.position);
            let excerpts = if length <= share {
                shown.excerpts.clone()
            } else {
                ends(text, &shown.excerpts, share)
            };
            ViewSpan {
                position: shown.position,
                excerpts,
            }
        });
        RunView { spans: spans.collect() }
    }

    /// Tokens that a view takes.
    pub(super) fn tokens(&self, view: &RunView) -> usize {
        view.spans
            .iter()
            .map(|shown| self.line(shown.position) + self.shown(shown))
            .sum()
    }

    fn text(&self, position: usize) -> &str {
        self.run
            .spans()
            .get(position)
            .map_or("", |span: &Span| span.text.as_str())
    }

    fn size(&self, position: usize) -> usize {
        self.sizes.get(position).copied().unwrap_or(0)
    }

    fn line(&self, position: usize) -> usize {
        SPAN_LINE + tokens(self.run.id_at(position))
    }

    fn shown(&self, shown: &ViewSpan) -> usize {
        let text = self.text(shown.position);
        let whole = shown.excerpts.first().is_some_and(|range| *range == (0..text.len()));
        if whole {
            self.size(shown.position)
        } else {
            shown
                .excerpts
                .iter()
                .filter_map(|range| text.get(range.clone()))
                .map(tokens)
                .sum()
        }
    }

    /// The spans, the long ones cut so that all take at most `budget` tokens. Of more spans than there is
    /// room for lines, some at even distances, the first and the last among them.
    fn fitted(&self, budget: usize) -> Vec<Piece> {
        let count = self.run.spans().len();
        let lines: usize = (0..count).map(|at| self.line(at)).sum();
        let stride = (lines.saturating_mul(2)).div_ceil(budget.max(1)).max(1);
        let kept: Vec<usize> = (0..count).filter(|at| at % stride == 0 || at + 1 == count).collect();
        let lines: usize = kept.iter().map(|at| self.line(*at)).sum();
        let lengths: Vec<usize> = kept.iter().map(|at| self.size(*at)).collect();
        let share = common_share(&lengths, budget.saturating_sub(lines));
        kept.into_iter().map(|position| self.piece(position, share)).collect()
    }

    /// A span, cut to `share` tokens if it is longer.
    fn piece(&self, position: usize, share: usize) -> Piece {
        let text = self.text(position);
        let whole: Vec<Range<usize>> = std::iter::once(0..text.len()).collect();
        let size = self.size(position);
        let excerpts = if size <= share {
            whole
        } else {
            ends(text, &whole, share)
        };
        Piece {
            position,
            excerpts,
            tokens: self.line(position) + size.min(share),
        }
    }

    /// Windows of at most `near` tokens over pieces of spans, each beginning with the end of the one
    /// before it.
    fn cut(&self, spans: &[Piece], near: usize) -> Vec<RunView> {
        let overlap = near / OVERLAP_PART;
        let units: Vec<Piece> = spans.iter().flat_map(|span| self.units(span, overlap)).collect();
        let mut windows = Vec::new();
        let mut from = 0;
        while from < units.len() {
            let mut end = from;
            let mut taken = 0;
            while let Some(unit) = units.get(end).filter(|unit| end == from || taken + unit.tokens <= near) {
                taken += unit.tokens;
                end += 1;
            }
            end = begin_of_cut_span(&units, from, end, near / 2);
            windows.push(view_of(units.get(from..end).unwrap_or(&[])));
            if end == units.len() {
                break;
            }
            let mut next = end;
            let mut shared = 0;
            while let Some(unit) = next.checked_sub(1).filter(|at| *at > from).and_then(|at| units.get(at)) {
                shared += unit.tokens;
                if shared > overlap {
                    break;
                }
                next -= 1;
            }
            from = next;
        }
        windows
    }

    /// A span in pieces of at most `most` tokens.
    fn units(&self, span: &Piece, most: usize) -> Vec<Piece> {
        let line = self.line(span.position);
        if span.tokens <= most.max(line + 1) {
            return vec![span.clone()];
        }
        let text = self.text(span.position);
        let step = most.saturating_sub(line).max(LEAST_OUTLINE);
        let mut units = Vec::new();
        for excerpt in &span.excerpts {
            let mut from = excerpt.start;
            while from < excerpt.end {
                let rest = text.get(from..excerpt.end).unwrap_or("");
                let length = head(rest, step);
                if length == 0 {
                    break;
                }
                let piece = from..from + length;
                let size = rest.get(..length).map_or(0, tokens);
                units.push(Piece {
                    position: span.position,
                    excerpts: vec![piece],
                    tokens: line + size,
                });
                from += length;
            }
        }
        units
    }

    /// The window with as many of the other spans as have room, the last and the first of the run before
    /// all, then the nearest.
    fn with_outline(&self, window: RunView, room: usize) -> RunView {
        let near: BTreeSet<usize> = window.spans.iter().map(|shown| shown.position).collect();
        let (Some(&low), Some(&high)) = (near.first(), near.last()) else {
            return window;
        };
        let last = self.run.spans().len().saturating_sub(1);
        let mut far: Vec<usize> = (0..=last).filter(|at| !near.contains(at)).collect();
        far.sort_by_key(|&at| {
            (
                at != last,
                at != 0,
                if at < low { low - at } else { at.saturating_sub(high) },
                at,
            )
        });
        let mut taken = 0;
        far.retain(|&at| {
            let least = self.line(at) + self.size(at).min(LEAST_OUTLINE);
            let fits = taken + least <= room;
            taken += if fits { least } else { 0 };
            fits
        });
        let lines: usize = far.iter().map(|at| self.line(*at)).sum();
        let lengths: Vec<usize> = far.iter().map(|at| self.size(*at)).collect();
        let share = common_share(&lengths, room.saturating_sub(lines));
        let outline = far.into_iter().map(|at| self.piece(at, share));
        let outline = outline.map(|piece| ViewSpan {
            position: piece.position,
            excerpts: piece.excerpts,
        });
        let mut spans: Vec<ViewSpan> = window.spans.into_iter().chain(outline).collect();
        spans.sort_by_key(|shown| shown.position);
        RunView { spans }
    }
}

/// Where a window ends that would end inside a span: before that span, if the next window can hold it.
fn begin_of_cut_span(units: &[Piece], from: usize, end: usize, most: usize) -> usize {
    let Some(next) = units.get(end) else { return end };
    let of_span = |unit: &&Piece| unit.position == next.position;
    let begun = units
        .get(from..end)
        .unwrap_or(&[])
        .iter()
        .rev()
        .take_while(of_span)
        .count();
    let size: usize = units.iter().filter(of_span).map(|unit| unit.tokens).sum();
    if begun > 0 && end - begun > from && size <= most {
        end - begun
    } else {
        end
    }
}

/// Pieces in order as a view; those of one span that touch are one excerpt.
fn view_of(units: &[Piece]) -> RunView {
    let mut spans: Vec<ViewSpan> = Vec::new();
    for unit in units {
        if spans.last().is_none_or(|last| last.position != unit.position) {
            spans.push(ViewSpan {
                position: unit.position,
                excerpts: Vec::new(),
            });
        }
        let Some(shown) = spans.last_mut() else { continue };
        for excerpt in &unit.excerpts {
            match shown.excerpts.last_mut() {
                Some(last) if last.end == excerpt.start => last.end = excerpt.end,
                _ => shown.excerpts.push(excerpt.clone()),
            }
        }
    }
    RunView { spans }
}

/// The length to which longer ones are cut so that all together fit the budget.
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

/// The two ends of what is shown of a text, two thirds of `most` tokens from the head, one from the tail.
/// What is shown takes more than `most`, so the ends do not meet.
fn ends(text: &str, shown: &[Range<usize>], most: usize) -> Vec<Range<usize>> {
    let of_tail = most / 3;
    let mut front: Vec<Range<usize>> = Vec::new();
    let mut left = most - of_tail;
    for range in shown {
        let piece = text.get(range.clone()).unwrap_or("");
        let length = head(piece, left);
        front.push(range.start..range.start + length);
        if length < piece.len() {
            break;
        }
        left = left.saturating_sub(tokens(piece));
    }
    let mut back: Vec<Range<usize>> = Vec::new();
    let mut left = of_tail;
    for range in shown.iter().rev() {
        let piece = text.get(range.clone()).unwrap_or("");
        let from = tail(piece, left);
        back.push(range.start + from..range.end);
        if from > 0 {
            break;
        }
        left = left.saturating_sub(tokens(piece));
    }
    let both = front.into_iter().chain(back.into_iter().rev());
    both.filter(|range| !range.is_empty()).collect()
}

/// What several views show of a run, all together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coverage {
    /// Unicode scalar values shown in at least one view.
    pub(super) shown: usize,
    /// Unicode scalar values of the run.
    pub(super) all: usize,
    /// Positions of the spans that no view shows anything of although they have text.
    pub(super) absent: Vec<usize>,
    /// Positions of the other spans of which something is left out.
    pub(super) partial: Vec<usize>,
}

impl Coverage {
    pub(super) fn of(run: &Trajectory, views: &[RunView]) -> Self {
        let mut shown: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        for view in views.iter().flat_map(|view| &view.spans) {
            shown
                .entry(view.position)
                .or_default()
                .extend(view.excerpts.iter().cloned());
        }
        let mut coverage = Self {
            shown: 0,
            all: 0,
            absent: Vec::new(),
            partial: Vec::new(),
        };
        for (position, span) in run.spans().iter().enumerate() {
            let all = span.text.chars().count();
            let ranges = shown.remove(&position).unwrap_or_default();
            let seen = if ranges.contains(&(0..span.text.len())) {
                all
            } else {
                chars_in(&span.text, ranges)
            };
            coverage.all += all;
            coverage.shown += seen;
            match seen {
                _ if seen == all => {}
                0 => coverage.absent.push(position),
                _ => coverage.partial.push(position),
            }
        }
        coverage
    }
}

/// Unicode scalar values in any of the ranges.
fn chars_in(text: &str, mut ranges: Vec<Range<usize>>) -> usize {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let (mut sum, mut next) = (0, 0);
    for range in ranges {
        let from = range.start.max(next);
        if from < range.end {
            sum += text.get(from..range.end).map_or(0, |part| part.chars().count());
            next = range.end;
        }
    }
    sum
}

#[cfg(test)]
#[path = "window/tests.rs"]
mod tests;
