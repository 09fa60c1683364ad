//! The published search: which chunks hold the words of a query, and how often.
//!
//! A query's terms are its lower-cased runs of at least three letters, digits, `_`, `'` or `-`.
//! A chunk's score is the number of times each distinct term occurs in it, even inside longer
//! words, occurrences of one term not overlapping; 3 more if the query occurs as it stands.

use std::collections::HashMap;

use memchr::memmem;

use super::scan::Scanner;
use super::words::{in_published_term, is_published_space, push_lower};

/// Fewest Unicode scalar values of a search term (released code).
const MIN_TERM_CHARS: usize = 3;
/// Added once when the whole query occurs in a chunk (released code).
const PHRASE_BONUS: u64 = 3;

/// The search terms of a query, in order of first occurrence.
#[must_use]
pub fn terms(query: &str) -> Vec<String> {
    let mut lowered = String::with_capacity(query.len());
    push_lower(&mut lowered, query);
    let mut terms: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for run in lowered.split(|c| !in_published_term(c)) {
        if run.chars().nth(MIN_TERM_CHARS - 1).is_some() && seen.insert(run) {
            terms.push(run.to_owned());
        }
    }
    terms
}

/// The query as it must occur to earn the bonus: lower-cased, without surrounding white space.
fn phrase(query: &str) -> String {
    let mut lowered = String::with_capacity(query.len());
    push_lower(&mut lowered, query);
    lowered.trim_matches(is_published_space).to_owned()
}

/// Score of one text for one query, from the definition. [`Index`](super::Index) finds the same
/// numbers for all chunks and queries in one pass.
#[must_use]
pub fn score(text: &str, query: &str) -> u64 {
    let mut lowered = String::with_capacity(text.len());
    push_lower(&mut lowered, text);
    let hits: u64 = terms(query)
        .iter()
        .map(|term| lowered.matches(term.as_str()).count() as u64)
        .sum();
    // A text with the whole query in it has all of the query's terms.
    if hits > 0 && lowered.contains(&phrase(query)) {
        hits + PHRASE_BONUS
    } else {
        hits
    }
}

/// All chunks of a run in lower case, end to end.
#[derive(Debug, Default)]
pub(super) struct Haystack {
    text: String,
    /// Where each chunk starts, and where the last one ends.
    bounds: Vec<usize>,
}

impl Haystack {
    pub(super) fn new<'run>(chunks: impl Iterator<Item = &'run str>, bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        let mut bounds = vec![0];
        for chunk in chunks {
            push_lower(&mut text, chunk);
            bounds.push(text.len());
        }
        Self { text, bounds }
    }

    fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    fn chunk(&self, index: usize) -> &str {
        match (self.bounds.get(index), self.bounds.get(index + 1)) {
            (Some(&start), Some(&end)) => self.text.get(start..end).unwrap_or(""),
            _ => "",
        }
    }
}

/// Queries that share one pass over the text.
#[derive(Debug, Default)]
pub(super) struct QueryBook {
    terms: Vec<String>,
    term_ids: HashMap<String, usize>,
    queries: Vec<BookQuery>,
    query_ids: HashMap<String, usize>,
}

#[derive(Debug)]
struct BookQuery {
    terms: Vec<usize>,
    phrase: String,
}

impl QueryBook {
    /// Enters a query and returns its number; the same text has the same number.
    pub(super) fn enter(&mut self, query: &str) -> usize {
        if let Some(&known) = self.query_ids.get(query) {
            return known;
        }
        let mut ids = Vec::new();
        for term in terms(query) {
            let next = self.terms.len();
            let id = *self.term_ids.entry(term.clone()).or_insert(next);
            if id == next {
                self.terms.push(term);
            }
            ids.push(id);
        }
        self.queries.push(BookQuery {
            terms: ids,
            phrase: phrase(query),
        });
        self.query_ids.insert(query.to_owned(), self.queries.len() - 1);
        self.queries.len() - 1
    }

    /// Counts every term of the book in every chunk, in one pass.
    pub(super) fn count<'book>(&'book self, haystack: &'book Haystack) -> Counts<'book> {
        let mut by_term = vec![Vec::new(); self.terms.len()];
        let scanner = Scanner::new(self.terms.iter().map(String::as_str));
        count_terms(&scanner, haystack, &mut by_term);
        Counts {
            book: self,
            haystack,
            by_term,
        }
    }
}

/// How often a term occurs in one chunk.
#[derive(Clone, Copy, Debug)]
struct Posting {
    chunk: usize,
    count: u64,
}

fn count_terms(scanner: &Scanner, haystack: &Haystack, by_term: &mut [Vec<Posting>]) {
    // Where the last counted occurrence of each term ends, in the haystack as a whole: chunks lie
    // in it one after the other, so that nothing has to be reset between them.
    let mut free_from = vec![0_usize; by_term.len()];
    for index in 0..haystack.len() {
        let base = haystack.bounds.get(index).copied().unwrap_or(0);
        scanner.scan(haystack.chunk(index), |term, found| {
            let (Some(free), Some(postings)) = (free_from.get_mut(term), by_term.get_mut(term)) else {
                return;
            };
            if base + found.start < *free {
                return;
            }
            *free = base + found.end;
            match postings.last_mut() {
                Some(last) if last.chunk == index => last.count += 1,
                _ => postings.push(Posting { chunk: index, count: 1 }),
            }
        });
    }
}

/// Occurrences of every term of a book in every chunk of a run.
#[derive(Debug)]
pub(super) struct Counts<'book> {
    book: &'book QueryBook,
    haystack: &'book Haystack,
    by_term: Vec<Vec<Posting>>,
}

impl Counts<'_> {
    /// Score of every chunk within `chunks` (numbers in the run) for a query of the book, by
    /// offset in `chunks`.
    pub(super) fn scores(&self, query: usize, chunks: std::ops::Range<usize>) -> Vec<u64> {
        let mut scores = vec![0_u64; chunks.len()];
        let Some(query) = self.book.queries.get(query) else {
            return scores;
        };
        for postings in query.terms.iter().filter_map(|&term| self.by_term.get(term)) {
            let from = postings.partition_point(|posting| posting.chunk < chunks.start);
            for posting in postings
                .iter()
                .skip(from)
                .take_while(|posting| posting.chunk < chunks.end)
            {
                if let Some(score) = scores.get_mut(posting.chunk - chunks.start) {
                    *score += posting.count;
                }
            }
        }
        let finder = memmem::Finder::new(query.phrase.as_bytes());
        for (offset, score) in scores.iter_mut().enumerate() {
            // A chunk with the whole query in it has all of the query's terms.
            if *score > 0
                && finder
                    .find(self.haystack.chunk(chunks.start + offset).as_bytes())
                    .is_some()
            {
                *score += PHRASE_BONUS;
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words that overlap, hide in each other and change length or form when lowered.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("art"),
            Just("artist"),
            Just("aaa"),
            Just("a"),
            Just("ab"),
            Just("abab"),
            Just(" "),
            Just("ΟΔΟΣ"),
            Just("Σ"),
            Just("İstanbul"),
            Just("é"),
            Just("e\u{301}"),
            Just("东京都"),
            Just("港"),
            Just("🙂"),
            Just("-"),
            Just("'"),
            Just("_"),
            Just("ß"),
            Just("ẞ"),
            Just("\n"),
            Just("हिन्दी"),
            Just("2024"),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    fn fast(texts: &[String], queries: &[String]) -> Vec<Vec<u64>> {
        let haystack = Haystack::new(texts.iter().map(String::as_str), 0);
        let mut book = QueryBook::default();
        let numbers: Vec<usize> = queries.iter().map(|query| book.enter(query)).collect();
        let counts = book.count(&haystack);
        numbers
            .iter()
            .map(|&number| counts.scores(number, 0..texts.len()))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn one_pass_finds_what_the_definition_says(
            texts in prop::collection::vec(text(), 1..5),
            queries in prop::collection::vec(text(), 1..4),
        ) {
            let direct: Vec<Vec<u64>> = queries
                .iter()
                .map(|query| texts.iter().map(|text| score(text, query)).collect())
                .collect();
            prop_assert_eq!(fast(&texts, &queries), direct);
        }

        #[test]
        fn any_text_scores_as_the_definition_says(
            texts in prop::collection::vec("[ -~]{0,80}|\\PC{0,60}", 1..4),
            start in 0_usize..20,
            length in 0_usize..30,
        ) {
            let all = texts.concat();
            let query: String = all.chars().skip(start).take(length).collect();
            let direct: Vec<u64> = texts.iter().map(|text| score(text, &query)).collect();
            prop_assert_eq!(fast(&texts, &[query]), vec![direct]);
        }
    }
}
