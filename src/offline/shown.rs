//! What the run showed: the sentences of tool output, by document, with their values, and where each
//! word that the agent uses occurs. Built in one pass; only words of the agent and of the task are
//! kept, so that the index grows with what is to be looked up.

use std::collections::HashMap;

use super::roles::{Role, Segment};
use super::text::{self, ByStem, Shape, Stems, Token};
use super::values::{self, Date, Found, Value};
use crate::trajectory::Trajectory;

/// A sentence of tool output.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) span: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) doc: usize,
    /// Its kept stems, in order of occurrence.
    pub(super) stems: Vec<u64>,
    /// Its values.
    pub(super) values: Vec<Found>,
}

/// A document of tool output: one text of a result list, one page, one output.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    /// All stems of its first line or title.
    pub(super) title: Vec<u64>,
}

/// How a call ended, as far as its output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It brought text.
    Brought,
    /// It failed.
    Failed,
    /// It came back with nothing in it.
    Empty,
}

/// One tool output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) span: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) outcome: Outcome,
    /// Number of evidence sentences once it has been read.
    pub(super) seen: usize,
}

/// The index.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) sentences: Vec<Sentence>,
    pub(super) docs: Vec<Doc>,
    pub(super) events: Vec<Event>,
    postings: ByStem<Vec<u32>>,
    numbers: ByStem<Vec<u32>>,
    dates: HashMap<Date, Vec<u32>>,
    titles: ByStem<Vec<u32>>,
}

/// A word in more sentences than this says nothing about any of them, and looking it up would make
/// the work grow with the square of the run.
const COMMON: usize = 500;

impl Shown {
    /// Reads the tool output of `segments`, keeping the stems in `wanted`.
    pub(super) fn read(run: &Trajectory, segments: &[Segment], wanted: &Stems) -> Self {
        let mut shown = Self::default();
        let mut tokens = Vec::new();
        for segment in segments.iter().filter(|segment| segment.role == Role::Tool) {
            let Some(text) = run.spans().get(segment.span).map(|span| span.text.as_str()) else {
                continue;
            };
            let outcome = outcome(text.get(segment.start..segment.end).unwrap_or(""));
            if outcome == Outcome::Brought {
                for (start, end, escapes) in documents(text, segment.start, segment.end) {
                    shown.document(text, segment.span, (start, end), escapes, wanted, &mut tokens);
                }
            }
            shown.events.push(Event {
                span: segment.span,
                start: segment.start,
                end: segment.end,
                outcome,
                seen: shown.sentences.len(),
            });
        }
        shown
    }

    fn document(
        &mut self,
        text: &str,
        span: usize,
        range: (usize, usize),
        escapes: bool,
        wanted: &Stems,
        tokens: &mut Vec<Token>,
    ) {
        let first = self.sentences.len();
        let doc = self.docs.len();
        let mut title = Vec::new();
        for (at, (start, end)) in text::sentences(text, range.0, range.1, escapes).into_iter().enumerate() {
            tokens.clear();
            text::tokens(text, start, end, escapes, tokens);
            let stems: Vec<u64> = tokens
                .iter()
                .map(|token| token.stem)
                .filter(|stem| wanted.contains(stem))
                .collect();
            if at == 0 && end - start <= 120 {
                title.extend(tokens.iter().map(|token| token.stem));
            }
            let dated = tokens.iter().any(|token| token.shape == Shape::Number);
            let values = if dated {
                values::values(text, tokens, false)
            } else {
                Vec::new()
            };
            self.index(&stems, &values, tokens, text);
            self.sentences.push(Sentence {
                span,
                start,
                end,
                doc,
                stems,
                values,
            });
        }
        if self.sentences.len() > first {
            if let Ok(here) = u32::try_from(doc) {
                for stem in &title {
                    let docs = self.titles.entry(*stem).or_default();
                    if docs.last() != Some(&here) {
                        docs.push(here);
                    }
                }
            }
            self.docs.push(Doc { title });
        }
    }

    fn index(&mut self, stems: &[u64], values: &[Found], tokens: &[Token], text: &str) {
        let Ok(here) = u32::try_from(self.sentences.len()) else {
            return;
        };
        let note = |places: &mut Vec<u32>| {
            if places.last() != Some(&here) {
                places.push(here);
            }
        };
        for stem in stems {
            note(self.postings.entry(*stem).or_default());
        }
        for token in tokens.iter().filter(|token| token.shape == Shape::Number) {
            let digits = text.get(token.start..token.end).unwrap_or("");
            for number in values::literal(digits).into_iter().chain(values::other_reading(digits)) {
                note(self.numbers.entry(bits(number)).or_default());
            }
        }
        for found in values {
            match found.value {
                Value::Date(date) => {
                    for part in [date, Date { day: 0, ..date }, Date { year: 0, ..date }] {
                        note(self.dates.entry(part).or_default());
                    }
                }
                Value::Number(number, _) => note(self.numbers.entry(bits(number)).or_default()),
                Value::Year(_) => {}
            }
        }
    }

    /// Sentences before `seen` that hold this stem; empty for a word that is everywhere.
    pub(super) fn with_stem(&self, stem: u64, seen: usize) -> &[u32] {
        let places = self.postings.get(&stem).map_or(&[][..], Vec::as_slice);
        if places.len() > COMMON {
            &[]
        } else {
            before(places, seen)
        }
    }

    /// True when the stem stands anywhere before `seen`.
    pub(super) fn has_stem(&self, stem: u64, seen: usize) -> bool {
        self.postings
            .get(&stem)
            .is_some_and(|places| !before(places, seen).is_empty())
    }

    /// How much a stem tells: high for rare ones, 0 for one that stands nowhere.
    pub(super) fn weight(&self, stem: u64) -> f64 {
        let places = self.postings.get(&stem).map_or(0, Vec::len);
        if places == 0 || places > COMMON {
            return 0.0;
        }
        (1.0 + self.sentences.len() as f64 / places as f64).ln()
    }

    /// Sentences before `seen` that hold the value.
    pub(super) fn with_value(&self, value: Value, seen: usize) -> &[u32] {
        let places = match value {
            Value::Number(number, _) => self.numbers.get(&bits(number)),
            Value::Year(year) => self.numbers.get(&bits(f64::from(year))),
            Value::Date(date) => self.dates.get(&date),
        };
        before(places.map_or(&[][..], Vec::as_slice), seen)
    }

    /// Documents whose title has this stem.
    pub(super) fn titled(&self, stem: u64) -> &[u32] {
        self.titles.get(&stem).map_or(&[][..], Vec::as_slice)
    }

    /// Stems of the document's title.
    pub(super) fn title_of(&self, sentence: usize) -> &[u64] {
        self.sentences
            .get(sentence)
            .and_then(|sentence| self.docs.get(sentence.doc))
            .map_or(&[][..], |doc| doc.title.as_slice())
    }
}

/// A number as a table key; `-0` and `0` are one.
pub(super) fn bits(number: f64) -> u64 {
    // The low bits of round numbers are all zero, and tables use low bits.
    (number + 0.0)
        .to_bits()
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(32)
}

fn before(places: &[u32], seen: usize) -> &[u32] {
    let end = places.partition_point(|place| (*place as usize) < seen);
    places.get(..end).unwrap_or(places)
}

/// The documents in a tool output: the long strings of a JSON value, or the whole text.
fn documents(text: &str, start: usize, end: usize) -> Vec<(usize, usize, bool)> {
    let body = text.get(start..end).unwrap_or("");
    let inner = body.trim_start_matches(|c: char| c != '{' && c != '[' && !c.is_alphanumeric() && c != '"');
    let skipped = body.len() - inner.len();
    let json = inner.starts_with(['{', '['])
        && inner
            .get(1..)
            .is_some_and(|rest| rest.trim_start().starts_with(['{', '[', '"', '}', ']']));
    if !json {
        return vec![(start, end, false)];
    }
    let mut out = Vec::new();
    let bytes = inner.as_bytes();
    let base = start + skipped;
    let mut at = 0;
    let mut plain = 0;
    while let Some(quote) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let open = at + quote + 1;
        let mut close = open;
        while let Some(&byte) = bytes.get(close) {
            match byte {
                b'\\' => close += 2,
                b'"' => break,
                _ => close += 1,
            }
        }
        let close = close.min(bytes.len());
        if close - open >= LONG_STRING {
            if open > plain + 1 {
                out.push((base + plain, base + open - 1, true));
            }
            out.push((base + open, base + close, true));
            plain = close + 1;
        }
        at = close + 1;
    }
    if plain < bytes.len() {
        out.push((base + plain, base + bytes.len(), true));
    }
    // Text between the long strings is keys, ids and scores: kept only where there is no long string.
    if out.len() > 1 {
        let structured = out
            .iter()
            .any(|(from, to, _)| to - from >= LONG_STRING && after_quote(text, *from));
        if structured {
            out.retain(|(from, to, _)| to - from >= LONG_STRING && after_quote(text, *from));
        }
    }
    out
}

fn after_quote(text: &str, at: usize) -> bool {
    at.checked_sub(1).and_then(|quote| text.get(quote..at)) == Some("\"")
}

/// A JSON string of this many bytes is a text of its own.
const LONG_STRING: usize = 60;

/// Words with which a failed call's output begins or which it consists of.
const FAILURES: &[&str] = &[
    "error",
    "exception",
    "traceback",
    "timed out",
    "timeout",
    "time-out",
    "unavailable",
    "service unavailable",
    "refused",
    "denied",
    "not run",
    "rejected",
    "rate limit",
    "too many requests",
    "failed",
    "failure",
    "could not",
    "cannot",
    "can't",
    "not found",
    "no such",
    "forbidden",
    "unauthorized",
    "unknown index",
    "unreachable",
    "http 4",
    "http 5",
    "execution failed",
    "connection reset",
    "no response",
    "aborted",
    "missing ",
    "invalid",
    "quota",
    "blocked",
    "captcha",
    "超时",
    "错误",
    "失败",
    "fehler",
    "fehlgeschlagen",
    "tiempo de espera",
    "falló",
    "erreur",
    "échec",
    "délai",
];

/// Words of an output that says there is nothing.
const NOTHING: &[&str] = &[
    "no results",
    "no result",
    "0 results",
    "no matches",
    "no documents",
    "nothing found",
    "no hits",
    "empty",
    "no data",
    "none",
    "null",
    "keine treffer",
    "keine ergebnisse",
    "sin resultados",
    "aucun résultat",
    "没有结果",
    "无结果",
    "no output",
];

/// An output longer than this has brought something, whatever words stand in it.
const SHORT_OUTPUT: usize = 400;

/// What an output says about its call.
fn outcome(output: &str) -> Outcome {
    let body = output.trim();
    let letters: String = body.chars().filter(|c| c.is_alphanumeric()).take(40).collect();
    let letters = letters.to_lowercase();
    if letters.is_empty()
        || matches!(
            letters.as_str(),
            "result"
                | "results"
                | "output"
                | "toolresult"
                | "null"
                | "none"
                | "resultnull"
                | "data"
                | "items"
                | "hits"
                | "documents"
                | "observation"
        )
    {
        return Outcome::Empty;
    }
    if body.starts_with("exitcode: 1") || letters.starts_with("exitcode1") {
        return Outcome::Failed;
    }
    if letters.starts_with("error") && body.starts_with('{') && body.len() <= 2 * SHORT_OUTPUT {
        return Outcome::Failed;
    }
    if body.len() > SHORT_OUTPUT {
        let head = body
            .get(..body.char_indices().nth(30).map_or(body.len(), |(at, _)| at))
            .unwrap_or("");
        return if head.to_lowercase().contains("traceback (most") {
            Outcome::Failed
        } else {
            Outcome::Brought
        };
    }
    let lower = body.to_lowercase();
    let has = |words: &[&str]| {
        words.iter().any(|word| {
            lower
                .match_indices(word)
                .any(|(at, _)| super::lexicon::at_boundaries(&lower, at, at + word.trim_end().len()))
        })
    };
    // A short text that tells facts beside such a word is an answer: it has several sentences or quotes.
    let tells = lower.matches(". ").count() >= 2 || lower.len() > 220;
    if tells {
        Outcome::Brought
    } else if has(NOTHING) && !has(FAILURES) {
        Outcome::Empty
    } else if has(FAILURES) {
        Outcome::Failed
    } else {
        Outcome::Brought
    }
}
