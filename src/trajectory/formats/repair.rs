//! Text that is almost JSON in UTF-8, made readable without losing what is whole.

use std::borrow::Cow;

/// A record's text after [`repair`].
pub(super) struct Repaired {
    /// Valid UTF-8; every replaced character is the stand-in.
    pub(super) text: String,
    /// Stands where a character was replaced; occurs nowhere else in the record.
    pub(super) stand_in: char,
}

/// Replaces bytes that are not UTF-8 and lone surrogate escapes by a stand-in character,
/// escapes raw control characters inside strings, and reads `NaN`, `Infinity` and
/// `-Infinity` (which Python writes) as null and NUL padding between values as white space.
pub(super) fn repair(bytes: &[u8]) -> Repaired {
    let stand_in = stand_in(bytes);
    let mut mark = [0; 4];
    let mark: &str = stand_in.encode_utf8(&mut mark);
    let mut clean = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        clean.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            clean.push_str(mark);
        }
    }
    let mut text = String::with_capacity(clean.len() + 16);
    let mut rest = clean.as_str();
    while let Some(at) = memchr::memchr(b'"', rest.as_bytes()) {
        let (outside, from_quote) = rest.split_at(at);
        text.push_str(&outside_strings(outside));
        let end = string_end(from_quote.as_bytes());
        let (string, after) = from_quote.split_at(end);
        inside_string(string, mark, &mut text);
        rest = after;
    }
    text.push_str(&outside_strings(rest));
    Repaired { text, stand_in }
}

/// Puts U+FFFD where the stand-in stands; the number of places, or `None` when there is none.
pub(super) fn settle(text: &str, stand_in: Option<char>) -> Option<(String, usize)> {
    let stand_in = stand_in?;
    let count = text.matches(stand_in).count();
    (count > 0).then(|| (text.replace(stand_in, "\u{fffd}"), count))
}

/// A noncharacter that the record holds neither raw nor escaped.
fn stand_in(bytes: &[u8]) -> char {
    ('\u{fdd0}'..='\u{fdef}')
        .find(|c| {
            let mut raw = [0; 4];
            let lower = format!("\\u{:04x}", u32::from(*c));
            let upper = lower.to_ascii_uppercase().replace('U', "u");
            let held = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
            !held(c.encode_utf8(&mut raw).as_bytes()) && !held(lower.as_bytes()) && !held(upper.as_bytes())
        })
        .unwrap_or('\u{fffd}')
}

/// Length of the string literal that opens `bytes`, quotes included.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn outside_strings(text: &str) -> Cow<'_, str> {
    if !text.contains(['N', 'I', '\0']) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("-Infinity", "null").replace("Infinity", "null");
    Cow::Owned(text.replace("NaN", "null").replace('\0', " "))
}

fn inside_string(string: &str, mark: &str, out: &mut String) {
    let mut rest = string;
    while let Some(at) = rest.bytes().position(|byte| byte == b'\\' || byte < 0x20) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let used = if let Some(code) = unit(special) {
            match code {
                0xd800..=0xdbff
                    if special
                        .get(6..)
                        .and_then(unit)
                        .is_some_and(|low| (0xdc00..=0xdfff).contains(&low)) =>
                {
                    out.push_str(special.get(..12).unwrap_or_default());
                    12
                }
                0xd800..=0xdfff => {
                    out.push_str(mark);
                    6
                }
                _ => {
                    out.push_str(special.get(..6).unwrap_or_default());
                    6
                }
            }
        } else if special.starts_with('\\') {
            let used = 1 + special.chars().nth(1).map_or(0, char::len_utf8);
            out.push_str(special.get(..used).unwrap_or_default());
            used
        } else {
            let code = special.bytes().next().unwrap_or_default();
            out.push_str(&format!("\\u{code:04x}"));
            1
        };
        rest = special.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, usize) {
        let repaired = repair(bytes);
        let text: String = serde_json::from_str(&repaired.text).unwrap();
        settle(&text, Some(repaired.stand_in)).unwrap_or((text, 0))
    }

    #[test]
    fn only_halves_are_replaced() {
        let (text, replaced) = read(br#""a \ud83d b \udc00 c \ud83d\ude00 \\ud83d \ud83d\ud83d\ude00""#);
        assert_eq!(text, "a \u{fffd} b \u{fffd} c \u{1f600} \\ud83d \u{fffd}\u{1f600}");
        assert_eq!(replaced, 3);
    }

    #[test]
    fn a_replacement_character_of_the_text_is_not_counted() {
        assert_eq!(read("\"\u{fffd} \\ud800 \u{fdd0} \\uFDD1\"".as_bytes()).1, 1);
    }

    #[test]
    fn control_characters_and_bad_bytes() {
        assert_eq!(read(b"\"a\tb\x00c\xff\""), ("a\tb\0c\u{fffd}".to_owned(), 1));
    }

    #[test]
    fn numbers_that_are_none_become_null() {
        let repaired = repair(br#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN Infinity"}"#);
        assert_eq!(repaired.text, r#"{"a": null, "b": [null, null], "c": "NaN Infinity"}"#);
    }
}
