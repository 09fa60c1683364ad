//! Is this quote really in that span, and where.

use std::ops::Range;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fold::{Marks, fold, folded};
use super::sentence::best_sentence_of;
use super::terms::is_unspaced;
use crate::trajectory::Trajectory;

/// Fewest letters and digits of a quote that may be looked for in spans it was not said to stand
/// in, so that a word or a number does not turn up somewhere by accident.
const MIN_ELSEWHERE: usize = 12;
/// Below this many letters and digits a quote must stand between word boundaries.
const MIN_INSIDE_WORD: usize = 8;
/// Letters and digits that one character of an unspaced script counts for: two or three of them
/// make a word.
const UNSPACED_COUNTS: usize = 3;
/// Most bytes of the folded source that an ellipsis in a quote may stand for.
const MAX_ELISION: usize = 600;

/// How a quote was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// Found letter for letter in the span named.
    Verified,
    /// Found in the span named after folding white space, case and Unicode normal form; the
    /// source's own text is shown.
    Folded,
    /// Found, but in another span, which the quote now names.
    WrongSpan,
    /// Found nowhere in the run.
    NotFound,
}

impl QuoteStatus {
    /// Only a quote found in the span it was said to stand in can carry support.
    #[must_use]
    pub fn carries_support(self) -> bool {
        matches!(self, Self::Verified | Self::Folded)
    }
}

/// Words of the run, looked up in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// Span it stands in; for `not_found` the span it was said to stand in.
    pub span_id: String,
    /// The source's own text; for `not_found` the text as the judge gave it.
    pub text: String,
    /// First Unicode scalar value in the span's text; `None` for `not_found`.
    pub start: Option<usize>,
    /// One past the last.
    pub end: Option<usize>,
    /// How it was found.
    pub status: QuoteStatus,
}

/// Looks one quote up; [`Finder`] is for many quotes of one run.
#[must_use]
pub fn find(run: &Trajectory, span: Option<usize>, text: &str) -> Quote {
    Finder::new(run).find(span, text)
}

/// The sentence of the span at position `span` that has most of the rare words of `needle`, for a
/// finding to which the judge gave no quote. `None` when they share no word.
#[must_use]
pub fn best_sentence(run: &Trajectory, span: usize, needle: &str) -> Option<Quote> {
    let text = run.spans().get(span)?.text.as_str();
    let bytes = best_sentence_of(text, needle)?;
    Some(quote_at(run, span, bytes, QuoteStatus::Verified))
}

/// Looks quotes up in one run. Each span is folded once, when it is first needed.
#[derive(Debug)]
pub struct Finder<'run> {
    run: &'run Trajectory,
    folded: Vec<OnceLock<String>>,
}

/// A quote as it is looked for.
struct Needle<'text> {
    exact: &'text str,
    /// Folded; cut at its ellipses.
    parts: Vec<String>,
    /// Letters and digits.
    weight: usize,
}

impl<'text> Needle<'text> {
    fn new(text: &'text str) -> Self {
        let exact = text.trim();
        let whole = folded(exact, Marks::Keep);
        let parts: Vec<String> = whole
            .replace("[...]", "...")
            .split("...")
            .map(|part| part.trim_matches(|c: char| c.is_whitespace() || c == '"'))
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        let weight = parts.iter().map(|part| weight(part)).sum();
        Self { exact, parts, weight }
    }
}

fn weight(text: &str) -> usize {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .map(|c| if is_unspaced(c) { UNSPACED_COUNTS } else { 1 })
        .sum()
}

impl<'run> Finder<'run> {
    /// A finder for a run; nothing is read yet.
    #[must_use]
    pub fn new(run: &'run Trajectory) -> Self {
        Self {
            run,
            folded: run.spans().iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Looks a quote up in the span at position `span`, then in the others, nearest first. Without
    /// a span all are searched in order, and the first that has the quote counts as the one named.
    #[must_use]
    pub fn find(&self, span: Option<usize>, text: &str) -> Quote {
        let needle = Needle::new(text);
        let named = span.filter(|&span| span < self.run.spans().len());
        if needle.weight > 0 {
            if let Some(found) = named.and_then(|span| self.find_in(span, &needle)) {
                return found;
            }
            if needle.weight >= MIN_ELSEWHERE
                && let Some(mut found) = self.find_elsewhere(named, &needle)
            {
                if span.is_some() {
                    found.status = QuoteStatus::WrongSpan;
                }
                return found;
            }
        }
        Quote {
            span_id: span.map_or("", |span| self.run.id_at(span)).to_owned(),
            text: text.to_owned(),
            start: None,
            end: None,
            status: QuoteStatus::NotFound,
        }
    }

    fn find_elsewhere(&self, named: Option<usize>, needle: &Needle<'_>) -> Option<Quote> {
        let mut others: Vec<usize> = (0..self.run.spans().len())
            .filter(|&other| Some(other) != named)
            .collect();
        if let Some(named) = named {
            others.sort_by_key(|other| other.abs_diff(named));
        }
        others.into_iter().find_map(|other| self.find_in(other, needle))
    }

    fn find_in(&self, span: usize, needle: &Needle<'_>) -> Option<Quote> {
        let text = self.run.spans().get(span)?.text.as_str();
        let bounded = needle.weight < MIN_INSIDE_WORD;
        if let Some(bytes) = find_text(text, needle.exact, 0, bounded) {
            return Some(quote_at(self.run, span, bytes, QuoteStatus::Verified));
        }
        let folded = self.folded.get(span)?.get_or_init(|| folded(text, Marks::Keep));
        let range = find_parts(folded, &needle.parts, bounded)?;
        let bytes = source_of(text, &range)?;
        Some(quote_at(self.run, span, bytes, QuoteStatus::Folded))
    }
}

/// Where all parts of a quote stand, one after the other and not too far apart.
fn find_parts(text: &str, parts: &[String], bounded: bool) -> Option<Range<usize>> {
    let (first, rest) = parts.split_first()?;
    let mut from = 0;
    'start: loop {
        let start = find_text(text, first, from, bounded)?;
        let mut end = start.end;
        // The most that may lie between the start and the part that comes next.
        let mut reach = first.len();
        for part in rest {
            reach += MAX_ELISION;
            let next = find_text(text, part, end, bounded)?;
            if next.start - end > MAX_ELISION {
                // No start before this one reaches the part: go on from the first that may.
                let after = start.start + text.get(start.start..)?.chars().next()?.len_utf8();
                from = text.floor_char_boundary(next.start.saturating_sub(reach)).max(after);
                continue 'start;
            }
            end = next.end;
            reach += part.len();
        }
        return Some(start.start..end);
    }
}

/// The first place of `needle` at or after `from`; with `bounded`, the first between word
/// boundaries.
fn find_text(text: &str, needle: &str, from: usize, bounded: bool) -> Option<Range<usize>> {
    let mut from = from;
    loop {
        let start = from + text.get(from..)?.find(needle)?;
        let end = start + needle.len();
        if !bounded || (is_boundary(text, start) && is_boundary(text, end)) {
            return Some(start..end);
        }
        from = start + text.get(start..)?.chars().next()?.len_utf8();
    }
}

/// True between two characters that do not belong to one word.
fn is_boundary(text: &str, at: usize) -> bool {
    let in_word = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at..).and_then(|text| text.chars().next());
    !(before.is_some_and(in_word) && after.is_some_and(in_word))
}

/// The bytes of `text` that a range of its folded form stands for.
fn source_of(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let mut at = 0;
    let mut source: Option<Range<usize>> = None;
    fold(text, Marks::Keep, |c, bytes| {
        if range.contains(&at) {
            source = Some(match source.take() {
                Some(found) => found.start..bytes.end,
                None => bytes,
            });
        }
        at += c.len_utf8();
    });
    source
}

fn quote_at(run: &Trajectory, span: usize, bytes: Range<usize>, status: QuoteStatus) -> Quote {
    let text = run.spans().get(span).map_or("", |span| span.text.as_str());
    let quoted = text.get(bytes.clone()).unwrap_or("");
    let start = text.get(..bytes.start).unwrap_or("").chars().count();
    Quote {
        span_id: run.id_at(span).to_owned(),
        text: quoted.to_owned(),
        start: Some(start),
        end: Some(start + quoted.chars().count()),
        status,
    }
}

#[cfg(test)]
mod tests;
