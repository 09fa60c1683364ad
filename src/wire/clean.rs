//! A response body as JSON, when it is nearly so.

use serde_json::Value;

use super::sse;

/// Reads a body: byte order mark and white space before it are passed over, event streams put
/// together, lone surrogate escapes replaced, `NaN` and `Infinity` read as null, raw control
/// characters inside strings kept. A list stands for its first object.
pub(super) fn json(body: &str) -> Option<Value> {
    let body = body.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\0']);
    if sse::is_stream(body) {
        return sse::assemble(body);
    }
    let value = serde_json::from_str::<Value>(body)
        .or_else(|_| serde_json::from_str::<Value>(&mend(body)))
        .ok()?;
    match value {
        Value::Array(items) => items.into_iter().find(Value::is_object),
        other => Some(other),
    }
}

/// JSON of one event of a stream.
pub(super) fn event(data: &str) -> Option<Value> {
    serde_json::from_str(data)
        .or_else(|_| serde_json::from_str(&mend(data)))
        .ok()
}

/// Mends what serde_json does not read and what endpoints send all the same.
fn mend(body: &str) -> String {
    let mut out = String::with_capacity(body.len() + 16);
    let mut rest = body;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        let mut used = c.len_utf8();
        if in_string {
            match c {
                '\\' => {
                    let (text, length) = escape(rest);
                    out.push_str(text);
                    used = length;
                }
                '"' => {
                    in_string = false;
                    out.push('"');
                }
                c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        } else if c == '"' {
            in_string = true;
            out.push('"');
        } else if let Some(word) = ["NaN", "-Infinity", "Infinity"]
            .iter()
            .find(|word| rest.starts_with(**word))
        {
            out.push_str("null");
            used = word.len();
        } else {
            out.push(c);
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    out
}

/// The escape at the start of `rest`, mended, and the bytes it takes. A surrogate stays only with
/// its partner.
fn escape(rest: &str) -> (&str, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match unit(0) {
        Some(0xD800..=0xDBFF) => match unit(6) {
            Some(0xDC00..=0xDFFF) => (rest.get(..12).unwrap_or("\\ufffd"), 12),
            _ => ("\\ufffd", 6),
        },
        Some(0xDC00..=0xDFFF) => ("\\ufffd", 6),
        Some(_) => (rest.get(..6).unwrap_or_default(), 6),
        None => {
            let length = 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
            (rest.get(..length).unwrap_or("\\"), length)
        }
    }
}

/// True when a text holds a JSON object from its brace to its end.
pub(super) fn has_whole_object(text: &str) -> bool {
    let Some(object) = text.find('{').and_then(|at| text.get(at..)) else {
        return false;
    };
    let mut values = serde_json::Deserializer::from_str(object).into_iter::<serde::de::IgnoredAny>();
    matches!(values.next(), Some(Ok(_)))
}

/// A text on one line and cut at `most` characters, for a message. Tags of a page are dropped.
pub(super) fn excerpt(body: &str, most: usize) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    let page = body.trim_start().starts_with('<');
    for c in body.chars() {
        match c {
            '<' if page => in_tag = true,
            '>' if page && in_tag => {
                in_tag = false;
                out.push(' ');
            }
            _ if in_tag => {}
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bodies_that_are_nearly_json_are_read() {
        assert_eq!(json("\u{feff}\r\n {\"a\":1}"), Some(json!({"a": 1})));
        assert_eq!(
            json(r#"{"a":NaN,"b":-Infinity,"c":[Infinity],"d":"NaN"}"#),
            Some(json!({"a":null,"b":null,"c":[null],"d":"NaN"}))
        );
        assert_eq!(
            json(r#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\udc00y"}"#),
            Some(json!({"a":"x\u{fffd}","b":"😀","c":"\u{fffd}y"}))
        );
        assert_eq!(
            json(r#"{"a":"\ud83dA\\ud83d\""}"#),
            Some(json!({"a":"\u{fffd}A\\ud83d\""}))
        );
        assert_eq!(json("{\"a\":\"x\ny\u{1}\"}"), Some(json!({"a":"x\ny\u{1}"})));
        assert_eq!(json(r#"[{"error":{"code":400}}]"#), Some(json!({"error":{"code":400}})));
        for hopeless in ["", "<html>", "{\"a\":", "plain words"] {
            assert_eq!(json(hopeless), None, "{hopeless}");
        }
    }

    #[test]
    fn a_cut_object_is_told_from_a_whole_one() {
        for cut in ["{\"a\": [1, 2", "```json\n{\"a\": \"x", "{", "prose without end", ""] {
            assert!(!has_whole_object(cut), "{cut}");
        }
        for whole in ["{\"a\": 1}", "so: {\"a\": {}} and that is all", "```json\n{}\n```"] {
            assert!(has_whole_object(whole), "{whole}");
        }
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("<html><h1>504\nGateway</h1></html>", 50), "504 Gateway");
        assert_eq!(excerpt("a <b> c\u{1b}[31m", 50), "a <b> c [31m");
        assert_eq!(excerpt("abcdef", 3), "abc…");
    }

    proptest::proptest! {
        #[test]
        fn mending_never_panics_and_keeps_good_json(text in "\\PC*", raw in ".*") {
            let good = json!({"k": text}).to_string();
            proptest::prop_assert_eq!(serde_json::from_str::<Value>(&mend(&good)).unwrap(), json!({"k": text}));
            let _ = json(&raw);
        }
    }
}
