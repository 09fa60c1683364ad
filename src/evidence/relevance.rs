//! How much each cell of a run has to do with a query: words weighted by how rare they are in the
//! run, whole words before parts, the query's own words in a row before all.

use std::collections::HashMap;
use std::ops::Range;

use super::cell::{Cell, cut};
use super::fold::{Marks, fold, folded};
use super::scan::Scanner;
use super::terms::{is_telling, is_word_char, terms};
use crate::trajectory::Trajectory;

/// A part of a word is worth this share of the word.
const PART: f64 = 0.3;
/// Shortest word of which a part counts, in Unicode scalar values.
const MIN_PART_CHARS: usize = 4;
/// From this length on a word may end differently: its last characters are left out of the part.
const MIN_STEM_CHARS: usize = 7;
/// Characters of a long word that inflection may change.
const ENDING_CHARS: usize = 3;
/// A term that comes again in a cell adds this share of its weight, at most [`MAX_REPEATS`] times.
const REPEAT: f64 = 0.15;
/// See [`REPEAT`].
const MAX_REPEATS: u32 = 3;
/// A term with digits is worth this much more than its rarity says.
const DIGITS: f64 = 1.5;
/// Most terms of one query.
const MAX_TERMS: usize = 200;

/// A run's text folded, cut into cells.
#[derive(Debug, Default)]
pub(super) struct Searchable {
    cells: Vec<Cell>,
    /// Which cells belong to each span.
    by_span: Vec<Range<usize>>,
    text: String,
    /// Where each span starts in `text`, and where the last one ends.
    span_starts: Vec<usize>,
    /// Where each cell starts in `text`.
    cell_starts: Vec<usize>,
}

impl Searchable {
    pub(super) fn new(run: &Trajectory) -> Self {
        let bytes = run.spans().iter().map(|span| span.text.len()).sum();
        let mut made = Self {
            text: String::with_capacity(bytes),
            span_starts: vec![0],
            ..Self::default()
        };
        for (position, span) in run.spans().iter().enumerate() {
            let first = made.cells.len();
            made.cells.extend(cut(position, &span.text));
            made.by_span.push(first..made.cells.len());
            let (text, starts) = (&mut made.text, &mut made.cell_starts);
            let cells = made.cells.get(first..).unwrap_or(&[]);
            let mut next = cells.iter().map(|cell| cell.bytes.start).peekable();
            fold(&span.text, Marks::Drop, |c, source| {
                while next.next_if(|&start| start <= source.start).is_some() {
                    starts.push(text.len());
                }
                text.push(c);
            });
            // Cells of nothing that is seen fold to nothing.
            next.for_each(|_| starts.push(text.len()));
            made.span_starts.push(made.text.len());
        }
        made
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Numbers of the cells of the span at `position`.
    pub(super) fn cells_of(&self, position: usize) -> Range<usize> {
        self.by_span.get(position).cloned().unwrap_or(0..0)
    }

    fn is_word_edge(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        if let (Some(&before), Some(&after)) = (at.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at))
            && before.is_ascii()
            && !is_word_char(char::from(before))
            && after.is_ascii()
        {
            return true;
        }
        let before = self.text.get(..at).and_then(|text| text.chars().next_back());
        let after = self.text.get(at..).and_then(|text| text.chars().next());
        let inside = before.is_some_and(is_word_char) && after.is_some_and(is_word_char);
        !inside || self.span_starts.binary_search(&at).is_ok()
    }
}

/// What a pattern is to its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pattern {
    /// A term: whole between word edges, else a part.
    Term,
    /// A piece of a text without spaces: whole wherever it stands.
    Piece,
    /// The beginning of a long word: a part after a word edge.
    Stem,
    /// A query's own words in a row: whole between word edges, and no part otherwise.
    Phrase,
}

/// A term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QueryTerm {
    pattern: usize,
    stem: Option<usize>,
    counts_parts: bool,
    has_digits: bool,
}

/// A query ready for scoring.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    terms: Vec<QueryTerm>,
    phrase: Option<usize>,
}

/// Queries that share one pass over the text.
#[derive(Debug, Default)]
pub(super) struct Queries {
    patterns: Vec<(String, Pattern)>,
    ids: HashMap<(String, Pattern), usize>,
}

impl Queries {
    fn pattern(&mut self, text: &str, kind: Pattern) -> usize {
        let key = (text.to_owned(), kind);
        if let Some(&known) = self.ids.get(&key) {
            return known;
        }
        self.patterns.push(key.clone());
        self.ids.insert(key, self.patterns.len() - 1);
        self.patterns.len() - 1
    }

    /// Enters a query. One of nothing but stop words is searched for those.
    pub(super) fn enter(&mut self, query: &str) -> Query {
        let query = folded(query, Marks::Drop);
        let query = query.trim();
        let all = terms(query);
        let mut wanted: Vec<_> = all.iter().filter(|term| is_telling(term.text)).collect();
        if wanted.is_empty() {
            wanted = all.iter().collect();
        }
        let mut seen = std::collections::HashSet::new();
        wanted.retain(|term| seen.insert(term.text));
        wanted.truncate(MAX_TERMS);
        let terms = wanted
            .into_iter()
            .map(|term| QueryTerm {
                pattern: self.pattern(term.text, if term.has_edges { Pattern::Term } else { Pattern::Piece }),
                stem: stem(term.text)
                    .filter(|_| term.has_edges)
                    .map(|stem| self.pattern(stem, Pattern::Stem)),
                counts_parts: term.has_edges && term.text.chars().count() >= MIN_PART_CHARS,
                has_digits: term.text.chars().any(char::is_numeric),
            })
            .collect();
        let phrase = (all.len() > 1).then(|| self.pattern(query, Pattern::Phrase));
        Query { terms, phrase }
    }

    /// Finds every pattern in every cell, in one pass.
    pub(super) fn search<'text>(&self, searchable: &'text Searchable) -> Found<'text> {
        let mut found = Found {
            searchable,
            postings: vec![Vec::new(); self.patterns.len()],
        };
        let scanner = Scanner::new(self.patterns.iter().map(|(text, _)| text.as_str()));
        for (position, cells) in searchable.by_span.iter().enumerate() {
            let (Some(&start), Some(&end)) = (
                searchable.span_starts.get(position),
                searchable.span_starts.get(position + 1),
            ) else {
                continue;
            };
            let text = searchable.text.get(start..end).unwrap_or("");
            let mut cursor = cells.start;
            scanner.scan(text, |pattern, hit| {
                if let Some((_, kind)) = self.patterns.get(pattern) {
                    found.note(pattern, *kind, start + hit.start..start + hit.end, cells, &mut cursor);
                }
            });
        }
        found
    }
}

/// The beginning of a long word of letters that inflected forms of it share.
fn stem(word: &str) -> Option<&str> {
    let length = word.chars().count();
    if length < MIN_STEM_CHARS || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let (at, _) = word.char_indices().nth(length - ENDING_CHARS)?;
    word.get(..at)
}

/// How often a pattern stands in a cell.
#[derive(Clone, Copy, Debug)]
struct Posting {
    cell: usize,
    whole: u32,
    parts: u32,
}

/// Where the patterns of a set of queries stand.
#[derive(Debug)]
pub(super) struct Found<'text> {
    searchable: &'text Searchable,
    /// For each pattern its cells, in order.
    postings: Vec<Vec<Posting>>,
}

impl Found<'_> {
    /// Enters one match. `cursor` is a cell near it.
    fn note(&mut self, pattern: usize, kind: Pattern, hit: Range<usize>, cells: &Range<usize>, cursor: &mut usize) {
        let starts = &self.searchable.cell_starts;
        let starts_by = |cell: usize, at: usize| starts.get(cell).is_some_and(|&start| start <= at);
        while *cursor + 1 < cells.end && starts_by(*cursor + 1, hit.end.saturating_sub(1)) {
            *cursor += 1;
        }
        while *cursor > cells.start && !starts_by(*cursor, hit.end.saturating_sub(1)) {
            *cursor -= 1;
        }
        let last = *cursor;
        let mut first = last;
        while first > cells.start && !starts_by(first, hit.start) {
            first -= 1;
        }
        let left = || self.searchable.is_word_edge(hit.start);
        let right = || self.searchable.is_word_edge(hit.end);
        let (whole, part) = match kind {
            Pattern::Piece => (true, false),
            Pattern::Stem => (false, left()),
            Pattern::Phrase => (left() && right(), false),
            Pattern::Term => {
                let whole = left() && right();
                (whole, !whole)
            }
        };
        if !whole && !part {
            return;
        }
        let Some(postings) = self.postings.get_mut(pattern) else {
            return;
        };
        // A phrase that runs over several cells stands in all of them.
        for cell in first..=last {
            match postings
                .iter_mut()
                .rev()
                .take_while(|posting| posting.cell >= cell)
                .find(|posting| posting.cell == cell)
            {
                Some(known) => {
                    known.whole += u32::from(whole);
                    known.parts += u32::from(part);
                }
                None => postings.push(Posting {
                    cell,
                    whole: u32::from(whole),
                    parts: u32::from(part),
                }),
            }
        }
    }

    fn of(&self, pattern: usize) -> &[Posting] {
        self.postings.get(pattern).map_or(&[], Vec::as_slice)
    }

    /// Weight of a term that stands in `spread` cells (the inverse document frequency of BM25).
    fn rarity(&self, spread: usize) -> f64 {
        let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let (all, spread) = (float(self.searchable.cells.len()), float(spread));
        (1.0 + (all - spread + 0.5).max(0.0) / (spread + 0.5)).ln()
    }

    /// Relevance of every cell for a query, and the most a cell could reach without repetitions.
    pub(super) fn relevance(&self, query: &Query) -> Relevance {
        let mut scores = vec![0.0; self.searchable.cells.len()];
        let mut best = 0.0;
        for term in &query.terms {
            let whole = self.of(term.pattern);
            let parts = term.stem.map_or(whole, |stem| self.of(stem));
            let spread = whole.iter().filter(|posting| posting.whole > 0).count();
            let weight =
                self.rarity(if spread > 0 { spread } else { parts.len() }) * if term.has_digits { DIGITS } else { 1.0 };
            best += weight;
            let mut add = |cell: usize, value: f64| {
                if let Some(score) = scores.get_mut(cell) {
                    *score += value;
                }
            };
            let mut wholes = whole.iter().filter(|posting| posting.whole > 0).peekable();
            for posting in wholes.clone() {
                add(
                    posting.cell,
                    weight * (1.0 + REPEAT * f64::from((posting.whole - 1).min(MAX_REPEATS))),
                );
            }
            for posting in parts.iter().filter(|posting| posting.parts > 0) {
                while wholes.next_if(|whole| whole.cell < posting.cell).is_some() {}
                let is_whole = wholes.peek().is_some_and(|whole| whole.cell == posting.cell);
                if !is_whole && term.counts_parts {
                    add(posting.cell, weight * PART);
                }
            }
        }
        for posting in query.phrase.map_or(&[][..], |phrase| self.of(phrase)) {
            if let Some(score) = scores.get_mut(posting.cell) {
                *score += best;
            }
        }
        Relevance { scores, best }
    }

    /// Cells with all words of a query, or with the query as it stands.
    pub(super) fn cells_with_all(&self, query: &Query) -> Vec<usize> {
        let mut cells: Option<Vec<usize>> = None;
        for term in &query.terms {
            let here = self
                .of(term.pattern)
                .iter()
                .filter(|posting| posting.whole > 0)
                .map(|posting| posting.cell);
            cells = Some(match cells {
                None => here.collect(),
                Some(held) => {
                    let here: std::collections::HashSet<usize> = here.collect();
                    held.into_iter().filter(|cell| here.contains(cell)).collect()
                }
            });
        }
        let mut cells = cells.unwrap_or_default();
        cells.extend(
            query
                .phrase
                .map_or(&[][..], |phrase| self.of(phrase))
                .iter()
                .map(|posting| posting.cell),
        );
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

/// Relevance of every cell for one query.
#[derive(Debug)]
pub(super) struct Relevance {
    /// By cell number.
    pub scores: Vec<f64>,
    /// Sum of the weights of the query's terms.
    pub best: f64,
}

impl Relevance {
    /// Score of one cell.
    pub(super) fn of(&self, cell: usize) -> f64 {
        self.scores.get(cell).copied().unwrap_or(0.0)
    }

    /// The `most` best of `cells` that reach `least`, best first; of equals the first in the run.
    pub(super) fn ranked(&self, cells: impl Iterator<Item = usize>, least: f64, most: usize) -> Vec<usize> {
        let mut ranked: Vec<usize> = cells
            .filter(|&cell| self.of(cell) > 0.0 && self.of(cell) >= least)
            .collect();
        let order = |a: &usize, b: &usize| self.of(*b).total_cmp(&self.of(*a)).then(a.cmp(b));
        if most > 0 && ranked.len() > most {
            ranked.select_nth_unstable_by(most - 1, order);
        }
        ranked.truncate(most);
        ranked.sort_by(order);
        ranked
    }
}
