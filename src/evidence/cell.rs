//! Cells: short pieces that tile a span's text without overlap, cut where a reader would cut. They
//! are what `drift` fetches and puts together into excerpts.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::sentence::{Break, break_after};

/// Longest cell in Unicode scalar values: two or three sentences, so that a packet of the
/// published size has room for a hundred places of a run instead of eighteen.
pub(super) const CELL_CHARS: usize = 300;
/// A cell is not cut before this many, however good the place.
const MIN_CELL_CHARS: usize = 120;

/// A piece of one span's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Position of the span.
    pub span: usize,
    /// Where it stands, in Unicode scalar values.
    pub chars: Range<usize>,
    /// The same in bytes.
    pub bytes: Range<usize>,
}

/// A place where a text may be cut.
#[derive(Clone, Copy)]
struct Place {
    chars: usize,
    bytes: usize,
}

/// The cells of one span. An empty text is one empty cell.
pub(super) fn cut(span: usize, text: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut from = Place { chars: 0, bytes: 0 };
    while let Some(to) = next_cut(text, from) {
        cells.push(cell(span, from, to));
        from = to;
    }
    let left = text.get(from.bytes..).map_or(0, |rest| rest.chars().count());
    if left > 0 || cells.is_empty() {
        let to = Place {
            chars: from.chars + left,
            bytes: text.len(),
        };
        cells.push(cell(span, from, to));
    }
    cells
}

fn cell(span: usize, from: Place, to: Place) -> Cell {
    Cell {
        span,
        chars: from.chars..to.chars,
        bytes: from.bytes..to.bytes,
    }
}

/// Where the cell that starts at `from` ends; `None` when the rest of the text is one cell.
fn next_cut(text: &str, from: Place) -> Option<Place> {
    let rest = text.get(from.bytes..)?;
    let mut best: Option<(Break, Place)> = None;
    let mut hard = None;
    let mut previous = ' ';
    for (length, (at, c)) in rest.char_indices().enumerate() {
        let here = Place {
            chars: from.chars + length,
            bytes: from.bytes + at,
        };
        if length >= CELL_CHARS {
            return Some(best.map_or(hard.unwrap_or(here), |(_, place)| place));
        }
        if length >= MIN_CELL_CHARS {
            // Without any good place the cut goes before a character that can begin a text.
            if c.is_ascii() || !is_combining_mark(c) {
                hard = Some(here);
            }
            if let Some(quality) = break_after(previous, c)
                && best.is_none_or(|(held, _)| quality >= held)
            {
                let after = Place {
                    chars: here.chars + 1,
                    bytes: here.bytes + c.len_utf8(),
                };
                best = Some((quality, after));
            }
        }
        previous = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn cells_tile_the_text(text in "([a-z]{1,9}[ .\n]{1,2}|\\PC{1,3}|。|\u{301}){0,200}") {
            let cells = cut(4, &text);
            let mut at = Place { chars: 0, bytes: 0 };
            for cell in &cells {
                prop_assert_eq!((cell.span, cell.chars.start, cell.bytes.start), (4, at.chars, at.bytes));
                prop_assert!(cell.chars.len() <= CELL_CHARS);
                prop_assert_eq!(text[cell.bytes.clone()].chars().count(), cell.chars.len());
                at = Place { chars: cell.chars.end, bytes: cell.bytes.end };
            }
            prop_assert_eq!(at.bytes, text.len());
        }
    }

    #[test]
    fn cuts_at_lines_then_sentences_then_spaces() {
        let ends = |text: &str| -> Vec<String> {
            let cells = cut(0, text);
            cells
                .iter()
                .map(|cell| text[cell.bytes.clone()].chars().rev().take(3).collect())
                .collect()
        };
        let words = "word ".repeat(30);
        assert_eq!(ends(&format!("{words}end.\n{words}end. {words}"))[0], "\n.d");
        assert_eq!(ends(&format!("{words}end. {words}{words}"))[0], " .d");
        assert_eq!(ends(&"字".repeat(650)).len(), 3);
        assert_eq!(ends("").len(), 1);
    }

    #[test]
    fn no_cell_begins_with_a_mark() {
        let text = "e\u{301}".repeat(700);
        for cell in cut(0, &text) {
            assert!(text[cell.bytes].starts_with('e'));
        }
    }
}
