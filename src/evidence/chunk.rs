//! Chunks: windows of 1800 Unicode scalar values over a span's text, each overlapping the one
//! before by 160 (arXiv 2606.02060, released code).

use std::ops::Range;

use crate::trajectory::Trajectory;

/// A window of one span's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Position of the span in its run.
    pub span: usize,
    /// 0-based index of the chunk within the span.
    pub index: usize,
    /// Where it stands, in Unicode scalar values of the span's text.
    pub chars: Range<usize>,
    /// The same range in bytes.
    pub bytes: Range<usize>,
}

impl Chunk {
    /// `s003:c001`: the span's id and the 1-based index, zero-padded to three digits.
    #[must_use]
    pub fn id(&self, run: &Trajectory) -> String {
        format!("{}:c{:03}", run.id_at(self.span), self.index + 1)
    }

    /// The chunk's text.
    #[must_use]
    pub fn text<'run>(&self, run: &'run Trajectory) -> &'run str {
        run.spans()
            .get(self.span)
            .and_then(|span| span.text.get(self.bytes.clone()))
            .unwrap_or("")
    }
}
