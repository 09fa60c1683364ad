//! Gold labels, apart from the run they belong to.

use std::collections::HashSet;
use std::io::{self, BufRead};

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::rows::{Row, for_each_row};

/// What annotators marked in one run. Nothing that asks a judge can hold this type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gold {
    /// The run's id.
    pub case_id: String,
    /// Harmful spans in the order the label file lists them (the published scorer reads the
    /// first of this list as the first error).
    pub error_span_ids: Vec<String>,
    /// False when the row carries no label at all: such a run is unlabelled, not clean.
    pub labelled: bool,
    /// Every span id of the run in trajectory order, when the gold row carries its spans. A span
    /// without an id is called `s` and its position in three digits, as in a loaded run.
    pub span_ids: Vec<String>,
    /// The row's `meta` object, for breakdowns; a `split` beside `meta` is in it too.
    pub meta: Map<String, Value>,
    /// The row's `annotations`, for recall by annotated error type.
    pub annotations: Value,
    /// What was odd about the row and how it was read, a sentence each.
    pub notes: Vec<String>,
}

/// Why a gold row could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GoldError {
    /// Not JSON, or not an object.
    #[error("not a JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// No `case_id`, `traj_id` or `id`: nothing says which run it labels.
    #[error("the row has no id (case_id, traj_id or id)")]
    NoId,
    /// A label that is not a list of span ids.
    #[error("run \"{case_id}\": {member} is not a list of span ids")]
    Shape {
        /// The run's id.
        case_id: String,
        /// The member that is wrong.
        member: &'static str,
    },
}

/// Reads gold rows from JSON Lines, a JSON list, one object, or an object with `items`, and calls
/// `each` with the line and the row. Span text is passed over, never stored.
///
/// A row: an id (`case_id`, else `traj_id`, else `id`), the label in `gold.error_span_ids` or, when
/// that is absent or null, `error_span_ids`; `spans`, `meta`, `annotations`, `split` as in TELBench.
///
/// # Errors
/// Only what the reader itself reports; a bad row is handed to `each`.
pub fn read_gold(reader: impl BufRead, mut each: impl FnMut(Option<u64>, Result<Gold, GoldError>)) -> io::Result<()> {
    for_each_row::<GoldRow>(reader, |line, row| {
        each(line, row.map_err(GoldError::Json).and_then(GoldRow::into_gold));
    })
}

/// An id as text: a string as it is, a number as its digits; nothing else is an id, nor is "".
#[must_use]
pub fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A list of span ids as files write it. One string stands for a list of one. Elements that are
/// no ids are left out and counted in the second part. `None`: not a list of ids at all.
#[must_use]
pub fn id_list(value: &Value) -> Option<(Vec<String>, usize)> {
    match value {
        Value::Array(elements) => {
            let ids: Vec<String> = elements.iter().filter_map(id_text).collect();
            let left_out = elements.len() - ids.len();
            Some((ids, left_out))
        }
        Value::String(_) => id_text(value).map(|id| (vec![id], 0)),
        _ => None,
    }
}

impl Gold {
    /// The annotated error type of each annotated span, as (span id, type) in file order.
    ///
    /// `annotations` is read in three shapes: an object keyed by span id whose values are a type
    /// or an object with one; a list of objects with a span id and a type; either of them under
    /// `spans` or `errors`. The type stands under `error_type`, `primary_fault`, `fault`,
    /// `failure_category`, `category` or `type`.
    #[must_use]
    pub fn error_types(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect_types(&self.annotations, &mut found);
        found
    }
}

const TYPE_KEYS: [&str; 6] = [
    "error_type",
    "primary_fault",
    "fault",
    "failure_category",
    "category",
    "type",
];

fn collect_types(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Array(rows) => {
            for row in rows.iter().filter_map(Value::as_object) {
                let span = ["span_id", "span", "id"]
                    .iter()
                    .find_map(|key| row.get(*key).and_then(id_text));
                if let Some(span) = span {
                    found.extend(
                        types_in(&Value::Object(row.clone()))
                            .into_iter()
                            .map(|kind| (span.clone(), kind)),
                    );
                }
            }
        }
        Value::Object(members) => match members.get("spans").or_else(|| members.get("errors")) {
            Some(inner @ (Value::Array(_) | Value::Object(_))) => collect_types(inner, found),
            _ => {
                for (span, inner) in members {
                    found.extend(types_in(inner).into_iter().map(|kind| (span.clone(), kind)));
                }
            }
        },
        _ => {}
    }
}

fn types_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.is_empty() => vec![text.clone()],
        Value::Array(elements) => elements.iter().flat_map(types_in).collect(),
        Value::Object(members) => TYPE_KEYS
            .iter()
            .find_map(|key| members.get(*key))
            .map(types_in)
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A gold row as it stands in a file, without span text.
#[derive(Deserialize)]
struct GoldRow {
    #[serde(default)]
    case_id: Option<Value>,
    #[serde(default)]
    traj_id: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    gold: Option<Value>,
    #[serde(default)]
    error_span_ids: Option<Value>,
    #[serde(default)]
    traj: Option<Box<RawValue>>,
    #[serde(default)]
    spans: SpanHeads,
    #[serde(default)]
    span: SpanHeads,
    #[serde(default)]
    split: Option<Value>,
    #[serde(default)]
    meta: Option<Value>,
    #[serde(default)]
    annotations: Option<Value>,
    #[serde(default)]
    items: Option<Box<RawValue>>,
}

impl Row for GoldRow {
    fn items(&mut self) -> Option<Box<RawValue>> {
        self.items.take()
    }
}

impl GoldRow {
    fn into_gold(self) -> Result<Gold, GoldError> {
        let inner: Inner = match &self.traj {
            Some(traj) if traj.get().starts_with('{') => serde_json::from_str(traj.get())?,
            _ => Inner::default(),
        };
        let case_id = [self.case_id, self.traj_id, self.id]
            .iter()
            .flatten()
            .find_map(id_text)
            .or(inner.case_id)
            .or(inner.traj_id)
            .or(inner.id)
            .ok_or(GoldError::NoId)?;
        let mut notes = Vec::new();
        let shape = |member| GoldError::Shape {
            case_id: case_id.clone(),
            member,
        };
        let nested = match &self.gold {
            None => None,
            Some(Value::Object(gold)) => gold.get("error_span_ids").filter(|ids| !ids.is_null()),
            Some(_) => return Err(shape("gold")),
        };
        let label = nested.or(self.error_span_ids.as_ref());
        let (error_span_ids, left_out) = match label {
            Some(label) => id_list(label).ok_or_else(|| shape("error_span_ids"))?,
            None => (Vec::new(), 0),
        };
        if left_out > 0 {
            notes.push(format!("{left_out} elements of error_span_ids are no span ids"));
        }
        if label.is_some_and(Value::is_string) {
            notes.push("error_span_ids is one string, read as one span id".to_owned());
        }
        let mut meta = match self.meta {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        if let Some(split) = self.split {
            meta.entry("split").or_insert(split);
        }
        let heads = [inner.spans, inner.span, self.spans, self.span]
            .into_iter()
            .find(|heads| !heads.0.is_empty());
        let heads = heads.unwrap_or_default().0;
        let taken: HashSet<String> = heads.iter().flatten().cloned().collect();
        let span_ids = heads
            .into_iter()
            .enumerate()
            .map(|(at, id)| id.unwrap_or_else(|| free_id(at, &taken)))
            .collect();
        Ok(Gold {
            case_id,
            error_span_ids,
            labelled: label.is_some(),
            span_ids,
            meta,
            annotations: self.annotations.unwrap_or_default(),
            notes,
        })
    }
}

/// The name of a span without an id: `s` and its position, primed while that is another span's.
fn free_id(at: usize, taken: &HashSet<String>) -> String {
    let mut id = format!("s{:03}", at + 1);
    while taken.contains(&id) {
        id.push('\'');
    }
    id
}

/// The run inside a row, under `traj`.
#[derive(Default, Deserialize)]
struct Inner {
    #[serde(default, deserialize_with = "some_id")]
    case_id: Option<String>,
    #[serde(default, deserialize_with = "some_id")]
    traj_id: Option<String>,
    #[serde(default, deserialize_with = "some_id")]
    id: Option<String>,
    #[serde(default)]
    spans: SpanHeads,
    #[serde(default)]
    span: SpanHeads,
}

/// The ids of a row's spans in order; everything else of a span is passed over.
#[derive(Default)]
struct SpanHeads(Vec<Option<String>>);

impl<'de> Deserialize<'de> for SpanHeads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let heads: Option<Vec<SpanHead>> = Option::deserialize(deserializer)?;
        Ok(Self(
            heads
                .unwrap_or_default()
                .into_iter()
                .map(|head| head.span_id.or(head.id))
                .collect(),
        ))
    }
}

#[derive(Deserialize)]
struct SpanHead {
    #[serde(default, deserialize_with = "some_id")]
    span_id: Option<String>,
    #[serde(default, deserialize_with = "some_id")]
    id: Option<String>,
}

fn some_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(id_text(&Value::deserialize(deserializer)?))
}

#[cfg(test)]
#[path = "gold/tests.rs"]
mod tests;
