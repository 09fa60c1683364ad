//! Untyped values of a reply, read as the published code reads them.

use std::borrow::Cow;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::evidence::words::is_published_space;
use crate::trajectory::Trajectory;

/// A reply has a value where the published steps cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// A list was wanted.
    #[error("`{field}` must be a list")]
    NotAList {
        /// Name of the field.
        field: &'static str,
    },
    /// A row of a list must be an object.
    #[error("row {row} of `{field}` must be an object")]
    NotAnObject {
        /// Name of the list.
        field: &'static str,
        /// 1-based row.
        row: usize,
    },
    /// A span id must be a text.
    #[error("`span_id` of row {row} of `{field}` must be a text")]
    NotAnId {
        /// Name of the list.
        field: &'static str,
        /// 1-based row.
        row: usize,
    },
}

/// False for null, false, zero and what is empty.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// A value as text. Texts and numbers as the published code shows them; anything else as JSON
/// (the published code shows Python's notation there, such as `['a']`).
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The field as text; empty when it is absent or not truthy.
pub(super) fn text_field(fields: &Map<String, Value>, name: &str) -> String {
    fields
        .get(name)
        .filter(|value| is_truthy(value))
        .map_or_else(String::new, text_of)
}

/// The field as one of the words of `T`; `T`'s default for anything else.
pub(super) fn word_field<T: serde::de::DeserializeOwned + Default>(fields: &Map<String, Value>, name: &str) -> T {
    fields
        .get(name)
        .and_then(|value| T::deserialize(value).ok())
        .unwrap_or_default()
}

/// The field's items: a list's, an object's keys, a text's characters; none when it is absent or
/// not truthy.
pub(super) fn items<'value>(
    fields: &'value Map<String, Value>,
    field: &'static str,
) -> Result<Vec<Cow<'value, Value>>, ReadError> {
    match fields.get(field).filter(|value| is_truthy(value)) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.iter().map(Cow::Borrowed).collect()),
        Some(Value::Object(fields)) => Ok(fields.keys().map(|key| Cow::Owned(Value::from(key.as_str()))).collect()),
        Some(Value::String(text)) => Ok(text.chars().map(|c| Cow::Owned(Value::from(String::from(c)))).collect()),
        Some(_) => Err(ReadError::NotAList { field }),
    }
}

/// A row of a list, as an object.
pub(super) fn object<'value>(
    value: &'value Value,
    field: &'static str,
    index: usize,
) -> Result<&'value Map<String, Value>, ReadError> {
    value
        .as_object()
        .ok_or(ReadError::NotAnObject { field, row: index + 1 })
}

/// The first `most` Unicode scalar values.
pub(super) fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

/// Without white space at both ends.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_published_space)
}

/// The id, if the run has a span of it.
pub(super) fn known_id(run: &Trajectory, id: String) -> Option<String> {
    run.position(&id).map(|_| id)
}

/// The field as the id of a span of the run.
pub(super) fn span_field(fields: &Map<String, Value>, name: &str, run: &Trajectory) -> Option<String> {
    known_id(run, text_field(fields, name))
}

/// The field's items as ids of spans of the run, in trajectory order, each once. What names no
/// span is dropped; a number names the span whose id it is, except zero.
pub(super) fn span_ids_field(
    fields: &Map<String, Value>,
    field: &'static str,
    run: &Trajectory,
) -> Result<Vec<String>, ReadError> {
    let texts: Vec<String> = items(fields, field)?
        .iter()
        .filter(|value| is_truthy(value))
        .map(|value| text_of(value))
        .collect();
    Ok(ordered_span_ids(&texts, run))
}

/// Those of `ids` that name spans of the run, in trajectory order, each once.
#[must_use]
pub fn ordered_span_ids<T: AsRef<str>>(ids: &[T], run: &Trajectory) -> Vec<String> {
    let mut positions: Vec<usize> = ids.iter().filter_map(|id| run.position(id.as_ref())).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
        .into_iter()
        .map(|position| run.id_at(position).to_owned())
        .collect()
}

/// The number the published code orders spans by: all digits of the id glued together (`t2-s10` is
/// 210), 10⁹ for an id without. Digits of any script count; superscripts and circled digits, on
/// which the published code fails, do not.
#[must_use]
pub fn span_number(id: &str) -> u128 {
    let mut number: Option<u128> = None;
    for digit in id.chars().filter_map(decimal_digit) {
        number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(u128::from(digit)));
    }
    number.unwrap_or(1_000_000_000)
}

/// The zeros of the scripts that have decimal digits (General_Category Nd, Unicode 16, which
/// keeps each script's ten digits in a row).
const ZEROS: [u32; 74] = [
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50,
    0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50,
    0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0,
    0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950,
    0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8,
    0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).and_then(|digit| u8::try_from(digit).ok());
    }
    let code = u32::from(c);
    let zero = ZEROS.partition_point(|&zero| zero <= code).checked_sub(1)?;
    let digit = code - ZEROS.get(zero)?;
    u8::try_from(digit).ok().filter(|&digit| digit < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_script_are_read() {
        for (id, number) in [("s٣", 3), ("１２", 12), ("s𞥓9", 39), ("𝟘𝟡", 9), ("२०", 20)] {
            assert_eq!(span_number(id), number, "{id}");
        }
    }

    #[test]
    fn a_superscript_is_no_digit() {
        assert_eq!(span_number("s²"), 1_000_000_000);
        assert_eq!(span_number("①2"), 2);
    }

    #[test]
    fn a_number_too_long_for_the_type_stays_the_largest() {
        assert_eq!(span_number(&"9".repeat(60)), u128::MAX);
    }

    #[test]
    fn what_is_no_text_is_shown_as_json() {
        let shown = |json: &str| text_of(&serde_json::from_str(json).expect("JSON"));
        assert_eq!(shown("[\"a\", \"b\"]"), "[\"a\",\"b\"]");
        assert_eq!(shown("{\"k\": true}"), "{\"k\":true}");
        assert_eq!(
            (shown("true"), shown("3.5"), shown("7")),
            ("true".into(), "3.5".into(), "7".into())
        );
    }
}
