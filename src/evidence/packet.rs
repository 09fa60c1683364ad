//! The evidence packet: the chunks of the run that the Support Seeker and the Dependency Tracer read.

use super::Chunk;

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
        let mut spans: Vec<usize> = self.chunks.iter().map(|chunk| chunk.span).collect();
        spans.sort_unstable();
        spans.dedup();
        spans
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
