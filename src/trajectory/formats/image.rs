//! Inline images and other blobs: found in text and replaced by a short mark.
//!
//! Only the encoded bytes go; alt texts, tags and the words around stay as they were.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// A blob that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Omitted {
    /// Media type as declared, or guessed from the first bytes.
    pub(crate) media_type: String,
    /// Size of the decoded blob in bytes.
    pub(crate) bytes: usize,
}

impl std::fmt::Display for Omitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let family = self.media_type.split('/').next();
        let kind = family
            .filter(|family| ["image", "audio", "video"].contains(family))
            .unwrap_or("file");
        write!(f, "[{kind} omitted: {}, {} bytes]", self.media_type, self.bytes)
    }
}

/// A base64 run without a `data:` in front is a blob only from this length on, in characters.
const BARE_RUN: usize = 200;
/// A data URL of another type than an image is left in place below this length.
const SHORT_FILE: usize = 64;

/// What can open a blob. The first three are data URLs, the next three JSON fields, the rest
/// the first base64 characters of common file types.
const OPENERS: [&str; 13] = [
    "data:",
    "Data:",
    "DATA:",
    "data\"",
    "data\\\"",
    "b64_json\"",
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "UklGR",
    "JVBERi0",
    "AAAAIGZ0eX",
    "SUkqA",
];
const URLS: usize = 3;
const FIELDS: usize = 6;

// With these fixed patterns the automaton always builds; were it not to, text would stay as it is.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(OPENERS)
        .ok()
});

/// The text with blobs replaced by marks, and what was left out; `None` when there is none.
pub(crate) fn omit(text: &str) -> Option<(String, Vec<Omitted>)> {
    let finder = FINDER.as_ref()?;
    let mut out = String::new();
    let mut omitted = Vec::new();
    let mut kept = 0;
    for found in finder.find_iter(text) {
        if found.start() < kept {
            continue;
        }
        let blob = match found.pattern().as_usize() {
            kind if kind < URLS => data_url(text, found.start(), found.end()),
            kind if kind < FIELDS => json_field(text, found.end()),
            _ => bare_run(text, found.start()),
        };
        let Some((from, to, what)) = blob else { continue };
        let Some(before) = text.get(kept..from) else { continue };
        out.push_str(before);
        out.push_str(&what.to_string());
        omitted.push(what);
        kept = to;
    }
    if omitted.is_empty() {
        return None;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Some((out, omitted))
}

/// A blob that a structured block declares: base64 text with its media type.
pub(crate) fn declared(media_type: &str, encoded: &str) -> Omitted {
    Omitted {
        media_type: media_type.to_owned(),
        bytes: decoded_len(encoded.as_bytes()),
    }
}

type Blob = (usize, usize, Omitted);

fn data_url(text: &str, start: usize, after_scheme: usize) -> Option<Blob> {
    let bytes = text.as_bytes();
    let head = bytes.get(after_scheme..)?;
    let comma = head.iter().take(120).position(|byte| *byte == b',')?;
    let head = text.get(after_scheme..after_scheme + comma)?;
    if head.contains(|c: char| c.is_whitespace() || "\"'<>(){}".contains(c)) {
        return None;
    }
    let mut parts = head.split(';');
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let base64 = parts.any(|part| part.eq_ignore_ascii_case("base64"));
    let (family, _) = media_type.split_once('/')?;
    let from = after_scheme + comma + 1;
    let closer = closer(text.get(..start)?);
    let to = if base64 {
        encoded_end(bytes, from, closer)
    } else if family == "image" {
        plain_end(bytes, from, closer)
    } else {
        return None;
    };
    let payload = bytes.get(from..to)?;
    let shortest = if family == "image" { 2 } else { SHORT_FILE };
    if payload.len() < shortest {
        return None;
    }
    let size = if base64 { decoded_len(payload) } else { payload.len() };
    Some((
        start,
        to,
        Omitted {
            media_type,
            bytes: size,
        },
    ))
}

/// The character that ends a URL which opens after `before`: `)` or a quote.
fn closer(before: &str) -> Option<u8> {
    match before.trim_end().bytes().next_back()? {
        b'(' => Some(b')'),
        quote @ (b'"' | b'\'') => Some(quote),
        _ => None,
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// End of base64 text. Inside brackets or quotes it may be wrapped over lines or
/// percent-encoded; in the open, a further line counts only when it is long and pure.
fn encoded_end(bytes: &[u8], from: usize, closer: Option<u8>) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    if let Some(closer) = closer {
        let stop = rest
            .iter()
            .position(|&byte| !(is_base64(byte) || byte == b'%' || byte.is_ascii_whitespace()));
        let closed = stop.and_then(|at| rest.get(at).map(|byte| (at, *byte)));
        if let Some((at, byte)) = closed
            && (byte == closer || byte == b'\\')
        {
            return from + at;
        }
    }
    let run = |at: usize| {
        let tail = rest.get(at..).unwrap_or_default();
        at + tail.iter().position(|byte| !is_base64(*byte)).unwrap_or(tail.len())
    };
    let mut end = run(0);
    loop {
        let gap = rest.get(end..).unwrap_or_default();
        let gap = usize::from(gap.starts_with(b"\n")) + 2 * usize::from(gap.starts_with(b"\r\n"));
        let next = run(end + gap);
        if gap == 0 || next - (end + gap) < 60 {
            return from + end;
        }
        end = next;
    }
}

/// End of a URL that is not base64 (an SVG, say).
fn plain_end(bytes: &[u8], from: usize, closer: Option<u8>) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let mut depth = 0_usize;
    let closed = rest.iter().position(|&byte| match (closer, byte) {
        (Some(b')'), b'(') => {
            depth += 1;
            false
        }
        (Some(b')'), b')') if depth > 0 => {
            depth -= 1;
            false
        }
        (Some(closer), byte) => byte == closer,
        (None, byte) => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b')'),
    });
    match closed {
        Some(at) => from + at,
        // Never closed: as if it stood in the open.
        None if closer.is_some() => plain_end(bytes, from, None),
        None => bytes.len(),
    }
}

/// The value of a JSON field that holds nothing but base64, in text that quotes JSON.
fn json_field(text: &str, after_key: usize) -> Option<Blob> {
    let rest = text.get(after_key..)?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = value.strip_prefix('\\').unwrap_or(value).strip_prefix('"')?;
    let from = text.len() - value.len();
    let end = value.bytes().position(|byte| !is_base64(byte))?;
    let encoded = value.get(..end)?;
    let closed = matches!(value.as_bytes().get(end), Some(b'"' | b'\\'));
    let mixed = encoded.contains(|c: char| c.is_ascii_lowercase())
        && encoded.contains(|c: char| c.is_ascii_uppercase())
        && encoded.contains(|c: char| c.is_ascii_digit());
    if !closed || encoded.len() < BARE_RUN || !mixed {
        return None;
    }
    let media_type = magic(encoded).or_else(|| nearby_type(text, from, from + end));
    let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    Some((from, from + end, declared(&media_type, encoded)))
}

/// A media type named within some characters of the field: `"media_type": "image/png"`.
fn nearby_type(text: &str, from: usize, to: usize) -> Option<String> {
    let near = |a: usize, b: usize| {
        let bytes = text.as_bytes().get(a..b.min(text.len())).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    [near(from.saturating_sub(160), from), near(to, to + 160)]
        .iter()
        .find_map(|area| {
            let at = ["image/", "audio/", "video/", "application/"]
                .iter()
                .find_map(|family| area.find(family))?;
            let word: String = area
                .get(at..)?
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "/+.-".contains(*c))
                .collect();
            Some(word)
        })
}

fn bare_run(text: &str, start: usize) -> Option<Blob> {
    let bytes = text.as_bytes();
    if start
        .checked_sub(1)
        .and_then(|at| bytes.get(at))
        .is_some_and(|byte| is_base64(*byte))
    {
        return None;
    }
    let end = encoded_end(bytes, start, None);
    let encoded = text.get(start..end)?;
    if encoded.len() < BARE_RUN {
        return None;
    }
    Some((start, end, declared(&magic(encoded)?, encoded)))
}

/// The media type that base64 text's first characters give away.
pub(crate) fn magic(encoded: &str) -> Option<String> {
    const TYPES: [(&str, &str); 7] = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("JVBERi0", "application/pdf"),
        ("AAAAIGZ0eX", "video/mp4"),
        ("SUkqA", "image/tiff"),
    ];
    let known = TYPES.iter().find(|(start, _)| encoded.starts_with(start))?;
    Some(known.1.to_owned())
}

/// Decoded length of base64 text; padding, line ends and `%3D` do not count.
fn decoded_len(encoded: &[u8]) -> usize {
    let digits = encoded
        .iter()
        .filter(|byte| is_base64(**byte) && **byte != b'=')
        .count();
    let escapes = encoded.iter().filter(|byte| **byte == b'%').count();
    digits.saturating_sub(2 * escapes) * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(length: usize) -> String {
        format!("iVBORw0KGgo{}", "QUJD".repeat(length / 4))
    }

    fn cut(text: &str) -> String {
        omit(text).map_or_else(|| text.to_owned(), |(text, _)| text)
    }

    #[test]
    fn each_shape_leaves_its_surroundings() {
        let blob = png(400);
        let mark = "[image omitted: image/png, 308 bytes]";
        for (before, after) in [
            ("see ![scan](data:image/png;base64,", ") end"),
            ("<img alt='x' src='DATA:image/png;base64,", "'> end"),
            ("url data:image/png;base64,", " end"),
            (r#"{"url": "data:image/png;base64,"#, r#""} end"#),
            (r#"{\"url\": \"data:image/png;base64,"#, r#"\"} end"#),
            (r#"{"media_type": "image/png", "data": ""#, r#""} end"#),
            ("screenshot: ", " end"),
        ] {
            let scheme = before.to_lowercase().find("data:image").unwrap_or(before.len());
            let text = format!("{before}{blob}{after}");
            assert_eq!(cut(&text), format!("{}{mark}{after}", &before[..scheme]));
        }
    }

    #[test]
    fn words_stay() {
        for text in [
            "Donaudampfschifffahrtsgesellschaft".repeat(40),
            format!("\"data\": \"{}\"", "a".repeat(5000)),
            "write data:image/png;base64,<payload> there".to_owned(),
            "the data: as of 1999, see R0lGOD and /9j/ in the docs".to_owned(),
            "![a](https://example.org/x.png)".to_owned(),
        ] {
            assert_eq!(cut(&text), text);
        }
    }

    #[test]
    fn wrapped_and_adjacent() {
        assert_eq!(
            cut("![a](data:image/png;base64,AAAA\nBBBB)![b](data:image/svg+xml,<g t='r(5)'/>)tail)"),
            "![a]([image omitted: image/png, 6 bytes])![b]([image omitted: image/svg+xml, 13 bytes])tail)"
        );
        let wrapped = format!("data:image/gif;base64,{}\n{}\nwords", "A".repeat(76), "B".repeat(76));
        assert_eq!(cut(&wrapped), "[image omitted: image/gif, 114 bytes]\nwords");
    }

    #[test]
    fn other_files_have_their_own_word() {
        let text = format!("data:application/pdf;base64,{}", "JVBERi0x".repeat(20));
        assert_eq!(cut(&text), "[file omitted: application/pdf, 120 bytes]");
        assert_eq!(
            cut("data:text/plain;base64,SGVsbG8="),
            "data:text/plain;base64,SGVsbG8="
        );
    }
}
