//! All occurrences of many patterns in one pass, overlapping ones too.

use std::ops::Range;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};

/// A set of patterns to look for.
#[derive(Debug)]
pub(super) struct Scanner {
    /// `None` when the patterns are too much for an automaton (many megabytes): then they are
    /// looked for one by one.
    automaton: Option<DFA>,
    patterns: Vec<String>,
}

impl Scanner {
    pub(super) fn new<'text>(patterns: impl Iterator<Item = &'text str>) -> Self {
        let patterns: Vec<String> = patterns.map(str::to_owned).collect();
        // No prefilter: it stops at every byte that may begin a pattern, which in scripts of three
        // bytes a character is nearly every character.
        let automaton = DFA::builder()
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(&patterns)
            .ok();
        Self { automaton, patterns }
    }

    /// Calls `found` with the number and the byte range of each occurrence, by its end; without an
    /// automaton pattern by pattern.
    #[inline]
    pub(super) fn scan(&self, text: &str, mut found: impl FnMut(usize, Range<usize>)) {
        let Some(automaton) = &self.automaton else {
            for (number, pattern) in self.patterns.iter().enumerate() {
                each_start(text, pattern).for_each(|start| found(number, start..start + pattern.len()));
            }
            return;
        };
        let Ok(mut state) = automaton.start_state(Anchored::No) else {
            return;
        };
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            state = automaton.next_state(Anchored::No, state, byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                for index in 0..automaton.match_len(state) {
                    let pattern = automaton.match_pattern(state, index);
                    let end = at + 1;
                    found(pattern.as_usize(), end - automaton.pattern_len(pattern)..end);
                }
            }
        }
    }
}

/// Where `pattern` starts in `text`, overlapping occurrences too.
fn each_start<'text>(text: &'text str, pattern: &'text str) -> impl Iterator<Item = usize> + 'text {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(pattern)?;
        from = start + text.get(start..)?.chars().next()?.len_utf8();
        Some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_same() {
        let patterns = ["aa", "a", "art", "artist", "港区", "区"];
        let text = "aaa artist 东京都港区区";
        let with = Scanner::new(patterns.into_iter());
        assert!(with.automaton.is_some());
        let without = Scanner {
            automaton: None,
            patterns: with.patterns.clone(),
        };
        let all = |scanner: &Scanner| {
            let mut found = Vec::new();
            scanner.scan(text, |number, range| found.push((number, range.start)));
            found.sort_unstable();
            found
        };
        assert_eq!(all(&with), all(&without));
        assert_eq!(all(&with).len(), 2 + 4 + 1 + 1 + 1 + 2);
    }
}
