//! Words and sentences of a text, with byte offsets that slice the span they came from.
//!
//! Words are compared by stem: a 64-bit hash of the lower-cased word without its commonest English
//! endings. Two words that share a stem by accident cost a spurious match of one word, which no
//! check rests on alone.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Stems are hashes already.
#[derive(Clone, Copy, Default)]
pub(super) struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = u64::from(value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A set of stems.
pub(super) type Stems = HashSet<u64, BuildHasherDefault<Ready>>;
/// A table by stem.
pub(super) type ByStem<T> = HashMap<u64, T, BuildHasherDefault<Ready>>;

/// A table by sentence.
pub(super) type BySentence<T> = HashMap<u32, T, BuildHasherDefault<Ready>>;

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Begins with a lower-case letter, or with a letter of a script without case.
    Plain,
    /// Begins with an upper-case letter.
    Capital,
    /// A number literal: digits with inner `,` or `.`.
    Number,
}

/// A word or number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// Hash of the stem; for numbers, of the literal.
    pub(super) stem: u64,
    /// First byte in the span's text.
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
    /// How it is written.
    pub(super) shape: Shape,
}

/// The multiplier of the FNV hash; any odd constant with well-spread bits would do.
const MIX: u64 = 0x0000_0100_0000_01b3;

fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(MIX)
}

/// Spreads the bits of a finished hash, so that tables may use its low bits.
fn finish(hash: u64) -> u64 {
    let hash = hash ^ (hash >> 32);
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (hash >> 29)
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// The stem of one word.
pub(super) fn stem(word: &str) -> u64 {
    let mut lower = [0_u8; 48];
    if word.is_ascii() && word.len() <= lower.len() {
        for (to, from) in lower.iter_mut().zip(word.bytes()) {
            *to = from.to_ascii_lowercase();
        }
        return stem_bytes(lower.get(..word.len()).unwrap_or_default());
    }
    stem_bytes(word.to_lowercase().as_bytes())
}

fn stem_bytes(word: &[u8]) -> u64 {
    let mut end = word.len();
    for possessive in ["'s", "\u{2019}s"] {
        if word.ends_with(possessive.as_bytes()) && end > possessive.len() {
            end -= possessive.len();
        }
    }
    let mut core = word.get(..end).unwrap_or(word);
    // Endings are taken off only where four letters are left, so that short names stay apart.
    for (ending, put_back) in [
        ("ies", Some(b'y')),
        ("ing", None),
        ("ed", None),
        ("es", None),
        ("s", None),
    ] {
        if core.len() >= ending.len() + 4 && core.ends_with(ending.as_bytes()) && !core.ends_with(b"ss") {
            core = core.get(..core.len() - ending.len()).unwrap_or(core);
            let hash = trim_e(core).iter().fold(SEED, |hash, byte| mix(hash, *byte));
            return finish(put_back.map_or(hash, |letter| mix(hash, letter)));
        }
    }
    if core.len() == 4 && core.ends_with(b"s") && !core.ends_with(b"ss") {
        core = core.get(..3).unwrap_or(core);
    }
    finish(trim_e(core).iter().fold(SEED, |hash, byte| mix(hash, *byte)))
}

/// `release` and `released` lose the same letters.
fn trim_e(core: &[u8]) -> &[u8] {
    match core {
        [rest @ .., b'e'] if rest.len() >= 4 => rest,
        _ => core,
    }
}

fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff)
}

/// The words of `text[from..to]`. With `escapes`, a backslash and the character after it stand
/// between words (the text is inside a JSON string).
pub(super) fn tokens(text: &str, from: usize, to: usize, escapes: bool, out: &mut Vec<Token>) {
    let Some(part) = text.get(from..to) else { return };
    let bytes = part.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            at = number(bytes, at, from, out);
        } else if byte.is_ascii_alphabetic() || byte >= 0x80 {
            at = word(part, at, from, out);
        } else if byte == b'\\' && escapes {
            at += 2;
            // The second character may be wider than a byte.
            while !part.is_char_boundary(at.min(part.len())) {
                at += 1;
            }
        } else {
            at += 1;
        }
    }
}

fn number(bytes: &[u8], start: usize, from: usize, out: &mut Vec<Token>) -> usize {
    let mut end = start;
    let mut hash = SEED;
    while let Some(&byte) = bytes.get(end) {
        let inner = matches!(byte, b',' | b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !byte.is_ascii_digit() && !inner {
            break;
        }
        hash = mix(hash, byte);
        end += 1;
    }
    out.push(Token {
        stem: finish(hash),
        start: from + start,
        end: from + end,
        shape: Shape::Number,
    });
    end
}

fn word(part: &str, start: usize, from: usize, out: &mut Vec<Token>) -> usize {
    let bytes = part.as_bytes();
    let ascii = bytes.get(start..).map_or(0, |rest| {
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
    });
    let stops = bytes
        .get(start + ascii)
        .is_none_or(|next| next.is_ascii() && *next != b'\'');
    if ascii > 0 && stops {
        let capital = bytes.get(start).is_some_and(u8::is_ascii_uppercase);
        out.push(Token {
            stem: stem(part.get(start..start + ascii).unwrap_or("")),
            start: from + start,
            end: from + start + ascii,
            shape: if capital { Shape::Capital } else { Shape::Plain },
        });
        return start + ascii;
    }
    let mut end = start;
    let mut shape = None;
    let rest = part.get(start..).unwrap_or("");
    let mut chars = rest.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let apostrophe = matches!(c, '\'' | '\u{2019}') && chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if is_han(c) {
            if offset == 0 {
                return han(rest, start, from, out);
            }
            break;
        }
        // A digit glued to letters (`B2`, `s003`) stays in the word; one that opens it does not.
        if !(c.is_alphanumeric() || (apostrophe && offset > 0)) {
            break;
        }
        if shape.is_none() {
            shape = Some(if c.is_uppercase() { Shape::Capital } else { Shape::Plain });
        }
        end = start + offset + c.len_utf8();
    }
    if end == start {
        return start + rest.chars().next().map_or(1, char::len_utf8);
    }
    out.push(Token {
        stem: stem(part.get(start..end).unwrap_or("")),
        start: from + start,
        end: from + end,
        shape: shape.unwrap_or(Shape::Plain),
    });
    end
}

/// Scripts without spaces are read as pairs of neighbouring characters.
fn han(rest: &str, start: usize, from: usize, out: &mut Vec<Token>) -> usize {
    let mut last: Option<(usize, char)> = None;
    let mut end = 0;
    for (offset, c) in rest.char_indices() {
        if !is_han(c) {
            break;
        }
        end = offset + c.len_utf8();
        if let Some((before, first)) = last {
            let mut pair = [0_u8; 8];
            let len = first.encode_utf8(&mut pair).len();
            let more = c.encode_utf8(pair.get_mut(len..).unwrap_or_default()).len();
            let hash = pair.iter().take(len + more).fold(SEED, |hash, byte| mix(hash, *byte));
            out.push(Token {
                stem: finish(hash),
                start: from + start + before,
                end: from + start + end,
                shape: Shape::Plain,
            });
        }
        last = Some((offset, c));
    }
    start + end
}

/// Words before a full stop that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "st", "vs", "prof", "gen", "maj", "col", "capt", "lt", "sgt", "gov", "sen", "rep", "no",
    "nr", "approx", "ca", "etc", "jr", "sr", "inc", "ltd", "co", "fig", "vol", "eg", "ie", "bzw", "al", "art",
];

/// Byte ranges of the sentences of `text[from..to]`, trimmed of white space. Line ends and
/// semicolons end a sentence too. With `escapes`, so does `\n` written as two characters.
pub(super) fn sentences(text: &str, from: usize, to: usize, escapes: bool) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let Some(part) = text.get(from..to) else { return out };
    let bytes = part.as_bytes();
    let mut open = 0;
    let mut at = 0;
    let mut last_space = 0;
    while let Some(&byte) = bytes.get(at) {
        let width = match byte {
            b'\n' | b';' => 1,
            b'!' | b'?' => 1,
            b'.' if ends_sentence(part, last_space, at, escapes) => 1,
            b'\\' if escapes && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't')) => 2,
            // 。 ！ ？ ； as UTF-8
            0xe3 if part.get(at..).is_some_and(|rest| rest.starts_with('。')) => 3,
            0xef if part.get(at..).is_some_and(|rest| rest.starts_with(['！', '？', '；'])) => 3,
            _ => 0,
        };
        if byte == b' ' {
            last_space = at + 1;
        }
        if width == 0 {
            at += 1;
            continue;
        }
        at += width;
        // Closing quotes and brackets stay with the sentence they close.
        let mark = at;
        if byte != b'\n' {
            while matches!(bytes.get(at), Some(b'"' | b'\'' | b')' | b'*')) {
                at += 1;
            }
        }
        // `"What is it?" lists …`: the mark ends the quotation, not the sentence.
        let goes_on = part.get(at..).is_some_and(|rest| {
            let next = rest.trim_start_matches(' ').chars().next();
            rest.starts_with(' ') && next.is_some_and(char::is_lowercase)
        });
        if goes_on && at > mark && matches!(byte, b'.' | b'?' | b'!') {
            continue;
        }
        push_trimmed(part, open, at, from, escapes, &mut out);
        open = at;
        last_space = at;
    }
    push_trimmed(part, open, part.len(), from, escapes, &mut out);
    out
}

fn ends_sentence(part: &str, word_start: usize, at: usize, escapes: bool) -> bool {
    let bytes = part.as_bytes();
    let closes = match bytes.get(at + 1) {
        None => true,
        Some(b'\\') => escapes,
        Some(b'"' | b')' | b'\'' | b'*' | b'<') => true,
        Some(next) => next.is_ascii_whitespace(),
    };
    if !closes {
        return false;
    }
    let word = part
        .get(word_start..at)
        .unwrap_or("")
        .trim_start_matches(['(', '"', '\'']);
    let initial = word.len() <= 3 && word.chars().next_back().is_some_and(char::is_uppercase) && {
        let before = word.chars().rev().nth(1);
        before.is_none() || before == Some('.')
    };
    let short = word.len() <= 6 && ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known));
    !initial && !short
}

fn push_trimmed(part: &str, open: usize, close: usize, from: usize, escapes: bool, out: &mut Vec<(usize, usize)>) {
    let Some(raw) = part.get(open..close) else { return };
    let skip = |c: char| c.is_whitespace() || (escapes && matches!(c, '\\' | '"'));
    let trimmed = raw.trim_start_matches(skip);
    let start = open + raw.len() - trimmed.len();
    let trimmed = trimmed.trim_end();
    if trimmed.chars().any(char::is_alphanumeric) {
        out.push((from + start, from + start + trimmed.len()));
    }
}
