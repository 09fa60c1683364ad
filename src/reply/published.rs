//! How the published code finds the JSON object in a reply. `paper` reads replies this way and no
//! other; the other methods have a reader of their own.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::evidence::words::is_published_space;

/// A reply in which the published code finds no object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PublishedParseError {
    /// No JSON, or JSON cut off or followed by more.
    #[error("the reply is not one JSON object: {0}")]
    NotJson(String),
    /// JSON, but a list, a text, a number or null.
    #[error("the reply is JSON, but not an object")]
    NotAnObject,
}

/// The object in a reply. A reply that begins with a fence loses every line that begins with one;
/// what is left must be JSON as a whole, else the text from the first `{` to the last `}` must.
///
/// # Errors
/// When neither is one JSON object.
pub fn parse_json_object(raw: &str) -> Result<Map<String, Value>, PublishedParseError> {
    let unfenced;
    let mut text = raw.trim_matches(is_published_space);
    if text.starts_with("```") {
        let kept: Vec<&str> = lines(text)
            .into_iter()
            .filter(|line| !line.starts_with("```"))
            .collect();
        unfenced = kept.join("\n");
        text = unfenced.trim_matches(is_published_space);
    }
    let whole = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => return Err(PublishedParseError::NotAnObject),
        Err(error) => PublishedParseError::NotJson(error.to_string()),
    };
    let (Some(open), Some(close)) = (text.find('{'), text.rfind('}')) else {
        return Err(whole);
    };
    match text.get(open..=close).map(serde_json::from_str) {
        Some(Ok(object)) => Ok(object),
        Some(Err(error)) => Err(PublishedParseError::NotJson(error.to_string())),
        None => Err(whole),
    }
}

/// Lines as Python's `splitlines` cuts them: also at form feeds, file separators, U+0085, U+2028
/// and U+2029.
fn lines(text: &str) -> Vec<&str> {
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut rest = text;
    let mut lines = Vec::new();
    while let Some(at) = rest.find(ends) {
        let (line, tail) = rest.split_at(at);
        lines.push(line);
        let width = if tail.starts_with("\r\n") {
            2
        } else {
            tail.chars().next().map_or(1, char::len_utf8)
        };
        rest = tail.get(width..).unwrap_or("");
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_python_ends_them() {
        assert_eq!(lines("a\r\nb\u{2028}c\rd\n"), ["a", "b", "c", "d", ""]);
    }

    #[test]
    fn numbers_python_reads_and_json_does_not_are_refused() {
        for raw in ["{\"a\": NaN}", "{\"a\": -Infinity}"] {
            assert!(
                matches!(parse_json_object(raw), Err(PublishedParseError::NotJson(_))),
                "{raw}"
            );
        }
    }
}
