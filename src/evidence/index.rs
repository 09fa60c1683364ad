//! A run made ready for searching: cut into chunks, and lower-cased the first time it is searched.

use std::ops::Range;
use std::sync::OnceLock;

use super::chunk::chunk_span;
use super::grep::{Counts, Haystack, QueryBook};
use super::relevance::Searchable;
use super::{Chunk, PacketLimits};
use crate::trajectory::Trajectory;

/// A run made ready for searching. All methods that take a run want the one it was made from.
#[derive(Debug)]
pub struct Index {
    limits: PacketLimits,
    chunks: Vec<Chunk>,
    /// Which chunks belong to each span.
    by_span: Vec<Range<usize>>,
    lowered: OnceLock<Haystack>,
    searchable: OnceLock<Searchable>,
}

impl Index {
    /// Cuts the run into chunks. Time and memory grow with the length of the text.
    #[must_use]
    pub fn new(run: &Trajectory, limits: &PacketLimits) -> Self {
        let mut chunks = Vec::new();
        let mut by_span = Vec::with_capacity(run.spans().len());
        for (position, span) in run.spans().iter().enumerate() {
            let first = chunks.len();
            chunks.extend(chunk_span(position, &span.text, limits));
            by_span.push(first..chunks.len());
        }
        Self {
            limits: limits.clone(),
            chunks,
            by_span,
            lowered: OnceLock::new(),
            searchable: OnceLock::new(),
        }
    }

    /// All chunks of the run, span by span.
    #[must_use]
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The chunks of the span at `position`.
    #[must_use]
    pub fn chunks_of(&self, position: usize) -> &[Chunk] {
        self.chunks.get(self.range_of(position)).unwrap_or(&[])
    }

    /// The published hits of one query in the whole run: best score first, then lowest raw start
    /// step (an unknown one is 0), then chunk id.
    #[must_use]
    pub fn grep(&self, run: &Trajectory, query: &str) -> Vec<Chunk> {
        let mut book = QueryBook::default();
        let number = book.enter(query);
        let counts = book.count(self.lowered(run));
        self.cloned(&self.best_in_run(run, &counts, number))
    }

    /// The `most` best chunks of one span for a query, best first; the last chunk of the span when
    /// the query occurs in none. As published, a chunk without any hit fills a free place.
    #[must_use]
    pub fn best_of_span(&self, run: &Trajectory, position: usize, query: &str, most: usize) -> Vec<Chunk> {
        let mut book = QueryBook::default();
        let number = book.enter(query);
        let counts = book.count(self.lowered(run));
        self.cloned(&self.best_in_span(&counts, position, number, most))
    }

    pub(super) fn limits(&self) -> &PacketLimits {
        &self.limits
    }

    pub(super) fn lowered(&self, run: &Trajectory) -> &Haystack {
        self.lowered.get_or_init(|| {
            let bytes = self.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
            Haystack::new(self.chunks.iter().map(|chunk| chunk.text(run)), bytes)
        })
    }

    pub(super) fn searchable(&self, run: &Trajectory) -> &Searchable {
        self.searchable.get_or_init(|| Searchable::new(run))
    }

    pub(super) fn best_in_span(&self, counts: &Counts<'_>, span: usize, query: usize, most: usize) -> Vec<usize> {
        let range = self.range_of(span);
        let scores = counts.scores(query, range.clone());
        if scores.iter().all(|&score| score == 0) {
            return range.last().into_iter().collect();
        }
        let mut ranked: Vec<(u64, usize)> = scores.into_iter().zip(range).collect();
        ranked.sort_by_key(|&(score, number)| (std::cmp::Reverse(score), number));
        ranked.into_iter().take(most).map(|(_, number)| number).collect()
    }

    pub(super) fn best_in_run(&self, run: &Trajectory, counts: &Counts<'_>, query: usize) -> Vec<usize> {
        let most = self.limits.matches_per_query;
        let mut hits: Vec<(u64, &Chunk, usize)> = counts
            .scores(query, 0..self.chunks.len())
            .into_iter()
            .zip(self.chunks.iter().enumerate())
            .filter(|&(score, _)| score > 0)
            .map(|(score, (number, chunk))| (score, chunk, number))
            .collect();
        let step = |chunk: &Chunk| {
            run.spans()
                .get(chunk.span)
                .and_then(|span| span.raw_start_step)
                .unwrap_or(0)
        };
        let order = |a: &(u64, &Chunk, usize), b: &(u64, &Chunk, usize)| {
            (b.0.cmp(&a.0))
                .then_with(|| step(a.1).cmp(&step(b.1)))
                .then_with(|| a.1.cmp_ids(b.1, run))
        };
        if most > 0 && hits.len() > most {
            hits.select_nth_unstable_by(most - 1, order);
        }
        hits.truncate(most);
        hits.sort_by(order);
        hits.into_iter().map(|(_, _, number)| number).collect()
    }

    fn range_of(&self, position: usize) -> Range<usize> {
        self.by_span.get(position).cloned().unwrap_or(0..0)
    }

    fn cloned(&self, numbers: &[usize]) -> Vec<Chunk> {
        numbers
            .iter()
            .filter_map(|&number| self.chunks.get(number).cloned())
            .collect()
    }
}
