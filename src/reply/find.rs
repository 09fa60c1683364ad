//! Finds the answer in a reply that is more than one JSON object: fences, reasoning blocks, prose,
//! quoted pages. One walk from left to right; the last complete object that fits wins.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Misfit;
use super::lenient::{Reader, Stop, VALUE};

/// Marks that open a reasoning block, and those that close it, whatever the case.
const THINK: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
];

/// Marks after which a model's final channel begins: all before them is reasoning.
const FINAL: [&str; 2] = ["<|channel|>final<|message|>", "<|start|>assistant<|channel|>final"];

/// Work allowed for objects that turn out to be none, as a multiple of the reply's length. Replies of
/// real judges stay below 2.
const MAX_REREADING: usize = 4;

/// What a walk over a reply found.
pub(super) struct Scan<T> {
    /// The last object that fits, with what was forgiven in reading it.
    pub(super) last: Option<(T, BTreeSet<&'static str>)>,
    /// How many could have been meant as the answer: those that fit, and those with the stage's keys that
    /// cannot be read.
    pub(super) count: usize,
    /// Why nothing after the last fitting object, or nothing at all, can be the answer.
    pub(super) misfit: Option<Misfit>,
}

struct Walk<'text, T, F> {
    text: &'text str,
    keys: &'static [&'static str],
    fit: F,
    at: usize,
    /// Braces of prose that are open.
    open: usize,
    last: Option<(T, BTreeSet<&'static str>)>,
    count: usize,
    /// Why the last object that does not fit does not.
    unfit: Option<Misfit>,
    /// A part of an answer outside any complete object, after the last that fits.
    broken: Option<Misfit>,
    /// Where the last reasoning block ended.
    reasoned_to: Option<usize>,
    rereading: usize,
}

/// Walks over a reply. `keys` are the stage's own keys: an object that has one was meant as an answer.
pub(super) fn scan<T>(
    text: &str,
    keys: &'static [&'static str],
    fit: impl FnMut(Value) -> Result<T, Misfit>,
) -> Scan<T> {
    let mut walk = Walk {
        text,
        keys,
        fit,
        at: 0,
        open: 0,
        last: None,
        count: 0,
        unfit: None,
        broken: None,
        reasoned_to: None,
        rereading: 0,
    };
    while walk.step() {}
    let misfit = walk.broken.or_else(|| {
        let none = walk.last.is_none();
        let after = walk.reasoned_to.and_then(|end| text.get(end..));
        let reasoning = after
            .filter(|after| after.trim().is_empty())
            .map(|_| Misfit::ReasoningOnly);
        none.then(|| reasoning.or(walk.unfit).unwrap_or(Misfit::NoObject))
    });
    Scan {
        last: walk.last,
        count: walk.count,
        misfit,
    }
}

impl<T, F: FnMut(Value) -> Result<T, Misfit>> Walk<'_, T, F> {
    /// One step in prose; false at the end.
    fn step(&mut self) -> bool {
        let Some(byte) = self.text.as_bytes().get(self.at).copied() else {
            return false;
        };
        match byte {
            b'<' | b'[' | 0xe2 if self.reasoning_mark() => true,
            b'{' => self.object(),
            b'[' if self.list_of_objects() => self.object(),
            b'}' => {
                if self.open > 0 {
                    self.open -= 1;
                } else {
                    self.stray(self.at);
                }
                self.at += 1;
                true
            }
            b'"' | b'\'' => {
                if names_a_key(self.text, self.at, self.keys) {
                    self.stray(self.at);
                }
                self.at += 1;
                true
            }
            _ => {
                self.at += 1;
                true
            }
        }
    }

    fn stray(&mut self, at: usize) {
        let text = self.text;
        self.broken.get_or_insert_with(|| Misfit::loose(text, at));
    }

    /// Whatever was read so far was reasoning.
    fn forget(&mut self, at: usize) {
        self.at = at;
        self.reasoned_to = Some(at);
        self.open = 0;
        self.last = None;
        self.count = 0;
        self.unfit = None;
        self.broken = None;
    }

    /// At a mark of reasoning: goes past it, and past the block that it opens.
    fn reasoning_mark(&mut self) -> bool {
        if let Some(end) = closing_mark(self.text, self.at) {
            self.forget(end);
            return true;
        }
        for (open, close) in THINK {
            if !starts_with_mark(self.text, self.at, open) {
                continue;
            }
            let mut end = self.at + open.len();
            while end < self.text.len() && !starts_with_mark(self.text, end, close) {
                end += 1;
            }
            self.at = (end + close.len()).min(self.text.len());
            self.reasoned_to = Some(self.at);
            return true;
        }
        false
    }

    /// True at a bracket that opens a list of objects.
    fn list_of_objects(&self) -> bool {
        let after = self.text.get(self.at + 1..).unwrap_or("");
        after.trim_start().starts_with('{')
    }

    /// At an opening brace or bracket. False when nothing after it can be read.
    fn object(&mut self) -> bool {
        let start = self.at;
        let mut reader = Reader::new(self.text, start);
        match reader.value() {
            Ok(value) => {
                self.at = reader.at();
                match (self.fit)(value) {
                    Ok(fitting) => {
                        self.last = Some((fitting, reader.into_mended()));
                        self.count += 1;
                        self.broken = None;
                    }
                    Err(misfit) => self.unfit = Some(misfit),
                }
                true
            }
            Err(stop) => {
                self.rereading += reader.at() - start;
                if self.rereading > MAX_REREADING * self.text.len() {
                    self.broken = Some(Misfit::loose(self.text, start));
                    return false;
                }
                if reader.met_a_member() {
                    return self.skip_broken(start, stop);
                }
                if stop == Stop::End {
                    self.broken = Some(self.cut());
                }
                if self.text.as_bytes().get(start) == Some(&b'{') {
                    self.open += 1;
                }
                self.at = start + 1;
                true
            }
        }
    }

    fn cut(&self) -> Misfit {
        Misfit::Cut {
            chars: self.text.chars().count(),
        }
    }

    fn placeholder_at(&self, stop: Stop) -> bool {
        let Stop::Bad { at, expected: VALUE } = stop else {
            return false;
        };
        let rest = self.text.get(at..).unwrap_or("");
        ["...", "…", "<"].iter().any(|mark| rest.starts_with(mark))
    }

    /// Past an object that cannot be read, by its braces alone: what stands inside it is part of it and
    /// no answer of its own. A closing reasoning mark ends it too: then it was a thought.
    fn skip_broken(&mut self, start: usize, stop: Stop) -> bool {
        let mut depth = 0_usize;
        let mut named = false;
        let mut at = start;
        let end = loop {
            let Some(byte) = self.text.as_bytes().get(at).copied() else {
                break None;
            };
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b'"' | b'\'' => named |= names_a_key(self.text, at, self.keys),
                b'<' | b'[' | 0xe2 => {
                    if let Some(end) = closing_mark(self.text, at) {
                        self.forget(end);
                        return true;
                    }
                }
                _ => named |= at > start && bare_key(self.text, at, self.keys),
            }
            at += 1;
            if depth == 0 && byte == b'}' {
                break Some(at);
            }
        };
        // A form shown with dots or placeholders for its values was not meant as an answer.
        named &= !self.placeholder_at(stop);
        let misfit = match stop {
            Stop::End => self.cut(),
            Stop::Bad { at, expected } => Misfit::syntax(self.text, at, expected),
        };
        match end {
            Some(end) if !named => {
                self.unfit = Some(misfit);
                self.at = end;
                true
            }
            Some(end) => {
                self.broken = Some(misfit);
                self.count += 1;
                self.at = end;
                true
            }
            None => {
                self.broken = Some(misfit);
                false
            }
        }
    }
}

/// End of a mark at this byte that closes reasoning.
fn closing_mark(text: &str, at: usize) -> Option<usize> {
    let closes = THINK.iter().map(|(_, close)| *close);
    closes
        .chain(FINAL)
        .find(|mark| starts_with_mark(text, at, mark))
        .map(|mark| at + mark.len())
}

fn starts_with_mark(text: &str, at: usize, mark: &str) -> bool {
    text.as_bytes()
        .get(at..at + mark.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(mark.as_bytes()))
}

/// True when a quotation mark at this byte opens one of the keys, with its colon.
fn names_a_key(text: &str, at: usize, keys: &[&str]) -> bool {
    let Some(quote) = text.as_bytes().get(at) else {
        return false;
    };
    let after = text.as_bytes().get(at + 1..).unwrap_or_default();
    keys.iter().any(|key| {
        after
            .strip_prefix(key.as_bytes())
            .and_then(|rest| rest.strip_prefix(&[*quote]))
            .is_some_and(colon_follows)
    })
}

/// True when one of the keys stands bare at this byte, with its colon.
fn bare_key(text: &str, at: usize, keys: &[&str]) -> bool {
    let after = text.as_bytes().get(at..).unwrap_or_default();
    keys.iter()
        .any(|key| after.strip_prefix(key.as_bytes()).is_some_and(colon_follows))
}

fn colon_follows(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
