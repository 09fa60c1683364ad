//! The evidence packet: the chunks of the run that the Support Seeker and the Dependency Tracer read.

use std::collections::HashMap;

use super::Chunk;
use super::grep::QueryBook;
use super::index::Index;
use crate::trajectory::Trajectory;

/// What is to be fetched for one claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// The claim.
    pub claim_id: String,
    /// Positions of the spans the ledger names for it, in trajectory order.
    pub spans: Vec<usize>,
    /// Queries to grep the run for.
    pub queries: Vec<String>,
}

/// What one query found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepRow {
    /// The claim the query was made for.
    pub claim_id: String,
    /// The query.
    pub query: String,
    /// Indices into [`Packet::chunks`] of its hits, best first.
    pub chunks: Vec<usize>,
    /// Positions of the spans its hits stand in, in trajectory order.
    pub spans: Vec<usize>,
}

/// The chunks fetched for the later stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Positions of the spans that were to be in whatever the grep finds, in trajectory order.
    pub seeds: Vec<usize>,
    /// Positions of the spans named by requests, in trajectory order.
    pub requested: Vec<usize>,
    /// One row a query.
    pub grep: Vec<GrepRow>,
    /// The chunks, in the order they are shown.
    pub chunks: Vec<Chunk>,
}

impl Packet {
    /// Positions of the spans with at least one chunk, in trajectory order.
    #[must_use]
    pub fn spans(&self) -> Vec<usize> {
        in_order(self.chunks.iter().map(|chunk| chunk.span))
    }

    /// Unicode scalar values of all chunks together.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.chars.len()).sum()
    }
}

/// How much a packet may hold. The defaults are the published ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketLimits {
    /// Length of a chunk in Unicode scalar values.
    pub chunk_chars: usize,
    /// Overlap of neighbouring chunks.
    pub chunk_overlap: usize,
    /// Hits kept for a query.
    pub matches_per_query: usize,
    /// Chunks of one span kept for a seed or a request.
    pub chunks_per_span: usize,
    /// Chunks of the whole packet.
    pub total_chunks: usize,
}

impl PacketLimits {
    /// The most Unicode scalar values a published packet can hold: 18 × 1800 by default.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.total_chunks.saturating_mul(self.chunk_chars)
    }
}

impl Default for PacketLimits {
    fn default() -> Self {
        Self {
            chunk_chars: 1800,
            chunk_overlap: 160,
            matches_per_query: 4,
            chunks_per_span: 2,
            total_chunks: 18,
        }
    }
}

/// Positions sorted, each once.
pub(super) fn in_order(positions: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut positions: Vec<usize> = positions.collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// The queries of a published packet, entered in one book.
struct Questions {
    book: QueryBook,
    /// For each span that a request names: all queries of all requests that name it, joined.
    by_span: HashMap<usize, usize>,
    /// For each request: its own queries, joined.
    by_request: Vec<usize>,
    /// For each request: its queries one by one, stripped, without blank ones.
    greps: Vec<Vec<(String, usize)>>,
    /// The empty query.
    nothing: usize,
}

impl Questions {
    fn new(requests: &[ContextRequest]) -> Self {
        let mut book = QueryBook::default();
        let nothing = book.enter("");
        let mut joined: HashMap<usize, Vec<&str>> = HashMap::new();
        let mut by_request = Vec::with_capacity(requests.len());
        let mut greps = Vec::with_capacity(requests.len());
        for request in requests {
            for span in in_order(request.spans.iter().copied()) {
                joined
                    .entry(span)
                    .or_default()
                    .extend(request.queries.iter().map(String::as_str));
            }
            by_request.push(book.enter(&request.queries.join(" ")));
            let stripped = request
                .queries
                .iter()
                .map(|query| query.trim_matches(super::words::is_published_space));
            greps.push(
                stripped
                    .filter(|query| !query.is_empty())
                    .map(|query| (query.to_owned(), book.enter(query)))
                    .collect(),
            );
        }
        let by_span = joined
            .into_iter()
            .map(|(span, queries)| (span, book.enter(&queries.join(" "))))
            .collect();
        Self {
            book,
            by_span,
            by_request,
            greps,
            nothing,
        }
    }
}

/// Chunk numbers in the order they were fetched, each once.
#[derive(Default)]
struct Fetched {
    order: Vec<usize>,
    seen: std::collections::HashSet<usize>,
}

impl Fetched {
    fn add(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            if self.seen.insert(number) {
                self.order.push(number);
            }
        }
    }
}

impl Index {
    /// The published packet. Seeds in trajectory order, then each request's spans and the hits of
    /// its queries, every chunk once, cut to the limit at the very end. A span is searched with
    /// all queries of all requests that name it; a span no query knows gives its last chunk.
    #[must_use]
    pub fn published(&self, run: &Trajectory, seeds: &[usize], requests: &[ContextRequest]) -> Packet {
        let limits = self.limits();
        let questions = Questions::new(requests);
        let counts = questions.book.count(self.lowered(run));
        let known = |positions: &mut dyn Iterator<Item = usize>| in_order(positions.filter(|&p| p < run.spans().len()));
        let seeds = known(&mut seeds.iter().copied());
        let requested = known(&mut requests.iter().flat_map(|request| request.spans.iter().copied()));

        let mut fetched = Fetched::default();
        for &span in &seeds {
            let query = questions.by_span.get(&span).copied().unwrap_or(questions.nothing);
            fetched.add(self.best_in_span(&counts, span, query, limits.chunks_per_span));
        }
        let mut hits: Vec<(&str, &str, Vec<usize>)> = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let own = questions.by_request.get(number).copied().unwrap_or(questions.nothing);
            for span in known(&mut request.spans.iter().copied()) {
                fetched.add(self.best_in_span(&counts, span, own, limits.chunks_per_span));
            }
            for (text, query) in questions.greps.get(number).into_iter().flatten() {
                let found = self.best_in_run(run, &counts, *query);
                fetched.add(found.iter().copied());
                hits.push((&request.claim_id, text, found));
            }
        }
        fetched.order.truncate(limits.total_chunks);
        self.packet_of(seeds, requested, &fetched.order, hits)
    }

    fn packet_of(
        &self,
        seeds: Vec<usize>,
        requested: Vec<usize>,
        kept: &[usize],
        hits: Vec<(&str, &str, Vec<usize>)>,
    ) -> Packet {
        let places: HashMap<usize, usize> = kept
            .iter()
            .enumerate()
            .map(|(place, &number)| (number, place))
            .collect();
        let chunks: Vec<Chunk> = kept
            .iter()
            .filter_map(|&number| self.chunks().get(number).cloned())
            .collect();
        let available: std::collections::HashSet<usize> = chunks.iter().map(|chunk| chunk.span).collect();
        let grep = hits
            .into_iter()
            .map(|(claim_id, query, numbers)| GrepRow {
                claim_id: claim_id.to_owned(),
                query: query.to_owned(),
                chunks: numbers
                    .iter()
                    .filter_map(|number| places.get(number).copied())
                    .collect(),
                // As published: the span of a hit that was cut is still listed when any other
                // chunk of it is there.
                spans: in_order(
                    numbers
                        .iter()
                        .filter_map(|&number| self.chunks().get(number))
                        .map(|chunk| chunk.span)
                        .filter(|span| available.contains(span)),
                ),
            })
            .collect();
        Packet {
            seeds,
            requested,
            grep,
            chunks,
        }
    }
}
