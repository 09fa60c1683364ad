//! Sentences of a text, and the one that shares the rarest words with another text.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::fold::{Marks, folded};
use super::terms::{is_telling, terms};

/// A sentence without an end is cut at a space after this many Unicode scalar values.
const MAX_SENTENCE_CHARS: usize = 320;

/// What a break after a character is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// After white space.
    Space,
    /// After the end of a sentence.
    Sentence,
    /// After a line.
    Line,
}

/// The break after `c`, which stands after `previous`.
pub(super) fn break_after(previous: char, c: char) -> Option<Break> {
    match c {
        '\n' => Some(Break::Line),
        '。' | '！' | '？' | '।' | '॥' => Some(Break::Sentence),
        _ if c.is_whitespace() => Some(match previous {
            '.' | '!' | '?' | '…' | ';' => Break::Sentence,
            _ => Break::Space,
        }),
        _ => None,
    }
}

/// The sentences of a text as byte ranges without surrounding white space.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut length, mut previous) = (0, 0, ' ');
    let mut close = |range: Range<usize>| {
        if let Some(sentence) = text.get(range.clone()) {
            let from = range.start + (sentence.len() - sentence.trim_start().len());
            let trimmed = sentence.trim();
            if !trimmed.is_empty() {
                found.push(from..from + trimmed.len());
            }
        }
    };
    for (at, c) in text.char_indices() {
        length += 1;
        let ends = match break_after(previous, c) {
            Some(Break::Space) => length >= MAX_SENTENCE_CHARS,
            Some(Break::Sentence | Break::Line) => true,
            None => length >= 2 * MAX_SENTENCE_CHARS,
        };
        if ends {
            close(start..at + c.len_utf8());
            (start, length) = (at + c.len_utf8(), 0);
        }
        previous = c;
    }
    close(start..text.len());
    found
}

/// The sentence of `text` with the highest sum of the weights of the telling words it shares with
/// `needle`; a word is worth more the fewer sentences have it. The first and shortest of equals.
pub(super) fn best_sentence_of(text: &str, needle: &str) -> Option<Range<usize>> {
    let needle = folded(needle, Marks::Drop);
    let wanted: HashSet<&str> = terms(&needle)
        .into_iter()
        .map(|term| term.text)
        .filter(|term| is_telling(term))
        .collect();
    let sentences = sentences(text);
    let mut spread: HashMap<&str, u32> = HashMap::new();
    let mut shared: Vec<Vec<&str>> = Vec::with_capacity(sentences.len());
    for range in &sentences {
        let sentence = folded(text.get(range.clone()).unwrap_or(""), Marks::Drop);
        let mut words: Vec<&str> = terms(&sentence)
            .iter()
            .filter_map(|term| wanted.get(term.text).copied())
            .collect();
        words.sort_unstable();
        words.dedup();
        for word in &words {
            *spread.entry(word).or_default() += 1;
        }
        shared.push(words);
    }
    let total = f64::from(u32::try_from(sentences.len()).unwrap_or(u32::MAX));
    let score = |words: &[&str]| -> f64 {
        let weight = |word: &&str| {
            spread
                .get(word)
                .map_or(0.0, |&count| (1.0 + total / f64::from(count)).ln())
        };
        words.iter().map(weight).sum()
    };
    let mut best: Option<(f64, &Range<usize>)> = None;
    for (range, words) in sentences.iter().zip(&shared).filter(|(_, words)| !words.is_empty()) {
        let score = score(words);
        let better = best.as_ref().is_none_or(|(most, held)| match score.total_cmp(most) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => range.len() < held.len(),
            std::cmp::Ordering::Less => false,
        });
        if better {
            best = Some((score, range));
        }
    }
    best.map(|(_, range)| range.clone())
}
