//! Chunks: windows of 1800 Unicode scalar values over a span's text, each overlapping the one
//! before by 160 (arXiv 2606.02060, released code).

use std::cmp::Ordering;
use std::ops::Range;

use super::PacketLimits;
use crate::trajectory::Trajectory;

/// A window of one span's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Position of the span in its run.
    pub span: usize,
    /// 0-based index of the chunk within the span; in a packet of `drift`, of the excerpt among
    /// those shown of the span.
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
        format!("{}{}", run.id_at(self.span), self.suffix())
    }

    /// The chunk's text.
    #[must_use]
    pub fn text<'run>(&self, run: &'run Trajectory) -> &'run str {
        run.spans()
            .get(self.span)
            .and_then(|span| span.text.get(self.bytes.clone()))
            .unwrap_or("")
    }

    fn suffix(&self) -> String {
        format!(":c{:03}", self.index + 1)
    }

    /// Orders two chunks as their ids compare as strings, building the strings only when one
    /// span's id begins with the other's.
    pub(super) fn cmp_ids(&self, other: &Self, run: &Trajectory) -> Ordering {
        let (mine, theirs) = (run.id_at(self.span), run.id_at(other.span));
        let shared = mine.len().min(theirs.len());
        match mine
            .as_bytes()
            .iter()
            .take(shared)
            .cmp(theirs.as_bytes().iter().take(shared))
        {
            Ordering::Equal => self.id(run).cmp(&other.id(run)),
            decided => decided,
        }
    }
}

/// A place in a text that moves forward by Unicode scalar values.
struct Cursor<'text> {
    bytes: &'text [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Moves `count` scalar values on and returns the byte offset reached.
    fn advance(&mut self, count: usize) -> usize {
        for _ in 0..count {
            self.at += 1;
            // A byte of the form 10xxxxxx continues the scalar value before it.
            while self.bytes.get(self.at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                self.at += 1;
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.at
    }
}

/// The chunks of one span: starts 0, `step`, 2 `step`, …, until one reaches the end of the text.
/// An empty text is one empty chunk.
pub(super) fn chunk_span(span: usize, text: &str, limits: &PacketLimits) -> Vec<Chunk> {
    let length = limits.chunk_chars.max(1);
    let step = length.saturating_sub(limits.chunk_overlap).max(1);
    let ascii = text.is_ascii();
    let total = if ascii { text.len() } else { text.chars().count() };
    let mut starts = Cursor {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut ends = Cursor {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut chunks = Vec::with_capacity(total / step + 1);
    let (mut start, mut reached) = (0, 0);
    loop {
        let end = (start + length).min(total);
        let bytes = if ascii {
            start..end
        } else {
            let first = starts.advance(if start == 0 { 0 } else { step });
            first..ends.advance(end - reached)
        };
        chunks.push(Chunk {
            span,
            index: chunks.len(),
            chars: start..end,
            bytes,
        });
        if end == total {
            return chunks;
        }
        reached = end;
        start += step;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(chunk_chars: usize, chunk_overlap: usize) -> PacketLimits {
        PacketLimits {
            chunk_chars,
            chunk_overlap,
            ..PacketLimits::default()
        }
    }

    #[test]
    fn an_empty_text_is_one_empty_chunk() {
        let chunks = chunk_span(3, "", &PacketLimits::default());
        assert_eq!(chunks.len(), 1);
        assert_eq!((chunks[0].span, chunks[0].chars.clone()), (3, 0..0));
    }

    #[test]
    fn an_overlap_as_long_as_the_chunk_still_ends() {
        assert_eq!(chunk_span(0, "abcd", &limits(2, 5)).len(), 3);
    }

    proptest! {
        #[test]
        fn chunks_tile_the_text(text in ".{0,400}", length in 1_usize..60, overlap in 0_usize..60) {
            let chunks = chunk_span(0, &text, &limits(length, overlap));
            let all: Vec<char> = text.chars().collect();
            let mut covered = 0;
            for (index, chunk) in chunks.iter().enumerate() {
                prop_assert_eq!(chunk.index, index);
                prop_assert!(chunk.chars.start <= covered && chunk.chars.end >= covered);
                prop_assert!(chunk.chars.len() <= length);
                let slice: Vec<char> = text[chunk.bytes.clone()].chars().collect();
                prop_assert_eq!(&slice[..], &all[chunk.chars.clone()]);
                covered = chunk.chars.end;
            }
            prop_assert_eq!(covered, all.len());
        }
    }
}
