//! Rows that already are spans: TELBench's and those of the released DRIFT code, read straight
//! from JSON text. Fields that are not the run's (gold, meta, annotations) are skipped while
//! parsing and never held.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A field that may hold anything.
#[derive(Debug, Default)]
pub(super) enum Loose<'a> {
    /// Not there, or null.
    #[default]
    Absent,
    /// A string, borrowed where it holds no escape.
    Text(Cow<'a, str>),
    /// Anything else.
    Value(Value),
}

/// A JSON text: a record, a list of records, or something else.
#[derive(Debug)]
pub(super) enum Doc<'a> {
    /// An object.
    Object(Box<RawRow<'a>>),
    /// A list; elements that are no objects are `None`.
    List(Vec<Option<RawRow<'a>>>),
    /// A number, a string, a boolean or null, by name.
    Scalar(&'static str),
}

/// The fields of a record that a run is built from.
#[derive(Debug, Default)]
pub(super) struct RawRow<'a> {
    pub(super) case_id: Loose<'a>,
    pub(super) id: Loose<'a>,
    pub(super) question: Loose<'a>,
    pub(super) q: Loose<'a>,
    pub(super) spans: Spans<'a>,
    pub(super) span: Spans<'a>,
    /// `traj`, when it is an object.
    pub(super) traj: Option<Box<RawRow<'a>>>,
    /// `items`, when it is a list.
    pub(super) items: Option<Vec<Option<RawRow<'a>>>>,
}

/// What stands where the spans should.
#[derive(Debug, Default)]
pub(super) enum Spans<'a> {
    /// Nothing, or null.
    #[default]
    Absent,
    /// A list.
    List(Vec<RawSpan<'a>>),
    /// Something that is no list, by name.
    Other(&'static str),
}

/// One element of a span list.
#[derive(Debug, Default)]
pub(super) struct RawSpan<'a> {
    pub(super) span_id: Loose<'a>,
    pub(super) id: Loose<'a>,
    /// `span_text`, else `raw`, else `text`, else `content`: each only when the one before is
    /// absent, null or empty. A plain string or number is its own text.
    pub(super) texts: [Loose<'a>; 4],
    pub(super) raw_start_step: Option<i64>,
    pub(super) raw_end_step: Option<i64>,
    pub(super) agent: Option<String>,
    pub(super) observation: Option<bool>,
    pub(super) other: Map<String, Value>,
}

impl Doc<'_> {
    /// Does it hold runs whose spans are given?
    pub(super) fn is_rows(&self) -> bool {
        let any = |list: &[Option<RawRow<'_>>]| list.iter().flatten().any(RawRow::is_run);
        match self {
            Doc::Object(row) => row.is_run() || row.items.as_deref().is_some_and(any),
            Doc::List(list) => any(list),
            Doc::Scalar(_) => false,
        }
    }
}

impl RawRow<'_> {
    /// Does the record carry spans of its own, so that no log format need be asked?
    pub(super) fn is_run(&self) -> bool {
        let own = |spans: &Spans<'_>| match spans {
            Spans::List(list) => list.is_empty() || list.iter().any(RawSpan::has_text),
            Spans::Absent | Spans::Other(_) => false,
        };
        own(&self.spans) || own(&self.span) || self.traj.as_ref().is_some_and(|inner| inner.is_run())
    }
}

impl RawSpan<'_> {
    fn has_text(&self) -> bool {
        self.texts.iter().any(|text| !matches!(text, Loose::Absent))
    }
}

/// Fields of a span that hold labels. They are dropped: gold never enters a run.
fn is_label(key: &str) -> bool {
    const LABELS: [&str; 8] = [
        "meta",
        "judge_result",
        "goal_signature",
        "short_label",
        "span_type",
        "label",
        "is_error",
        "error_type",
    ];
    LABELS.contains(&key)
        || ["gold", "annotation", "manual_error"]
            .iter()
            .any(|part| key.contains(part))
}

macro_rules! scalars {
    ($made:expr) => {
        fn visit_bool<E>(self, v: bool) -> Result<Self::Value, E> {
            $made(Value::Bool(v))
        }
        fn visit_i64<E>(self, v: i64) -> Result<Self::Value, E> {
            $made(Value::from(v))
        }
        fn visit_u64<E>(self, v: u64) -> Result<Self::Value, E> {
            $made(Value::from(v))
        }
        fn visit_f64<E>(self, v: f64) -> Result<Self::Value, E> {
            $made(Value::from(v))
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            $made(Value::Null)
        }
    };
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(v)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(v.to_owned())))
    }
    fn visit_string<E>(self, v: String) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(v)))
    }
    scalars!(|value: Value| Ok(if value.is_null() {
        Loose::Absent
    } else {
        Loose::Value(value)
    }));
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(Loose::Value)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Loose::Value)
    }
}

impl<'de> Deserialize<'de> for Loose<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct DocVisitor;

impl<'de> Visitor<'de> for DocVisitor {
    type Value = Doc<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a run or a list of runs")
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Doc::Scalar("a string"))
    }
    scalars!(|value: Value| Ok(Doc::Scalar(kind(&value))));
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(doc) = seq.next_element::<Doc<'de>>()? {
            list.push(match doc {
                Doc::Object(row) => Some(*row),
                Doc::List(_) | Doc::Scalar(_) => None,
            });
        }
        Ok(Doc::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        RowVisitor.visit_map(map).map(|row| Doc::Object(Box::new(row)))
    }
}

impl<'de> Deserialize<'de> for Doc<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = RawRow<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a run")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut row = RawRow::default();
        while let Some(Key(key)) = map.next_key()? {
            match key.as_ref() {
                "case_id" => row.case_id = map.next_value()?,
                "id" => row.id = map.next_value()?,
                "question" => row.question = map.next_value()?,
                "q" => row.q = map.next_value()?,
                "spans" => row.spans = map.next_value()?,
                "span" => row.span = map.next_value()?,
                "traj" => {
                    row.traj = match map.next_value()? {
                        Doc::Object(inner) => Some(inner),
                        Doc::List(_) | Doc::Scalar(_) => None,
                    }
                }
                "items" => {
                    row.items = match map.next_value()? {
                        Doc::List(list) => Some(list),
                        Doc::Object(_) | Doc::Scalar(_) => None,
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(row)
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Loose::deserialize(deserializer)? {
            Loose::Text(text) => Ok(Key(text)),
            Loose::Absent | Loose::Value(_) => Ok(Key(Cow::Borrowed(""))),
        }
    }
}

struct SpansVisitor;

impl<'de> Visitor<'de> for SpansVisitor {
    type Value = Spans<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of spans")
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Spans::Other("a string"))
    }
    scalars!(|value: Value| Ok(if value.is_null() {
        Spans::Absent
    } else {
        Spans::Other(kind(&value))
    }));
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(span) = seq.next_element()? {
            list.push(span);
        }
        Ok(Spans::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Spans::Other("an object"))
    }
}

impl<'de> Deserialize<'de> for Spans<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpansVisitor)
    }
}

struct SpanVisitor;

impl<'de> Visitor<'de> for SpanVisitor {
    type Value = RawSpan<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a span")
    }
    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(RawSpan::from(Loose::Text(Cow::Borrowed(v))))
    }
    fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
        Ok(RawSpan::from(Loose::Text(Cow::Owned(v.to_owned()))))
    }
    scalars!(|value: Value| Ok(if value.is_null() {
        RawSpan::default()
    } else {
        RawSpan::from(Loose::Value(value))
    }));
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        LooseVisitor.visit_seq(seq).map(RawSpan::from)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut span = RawSpan::default();
        while let Some(Key(key)) = map.next_key()? {
            if is_label(key.as_ref()) {
                map.next_value::<IgnoredAny>()?;
            } else {
                span.set(key.as_ref(), map.next_value()?);
            }
        }
        Ok(span)
    }
}

impl<'de> Deserialize<'de> for RawSpan<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

impl<'a> From<Loose<'a>> for RawSpan<'a> {
    fn from(text: Loose<'a>) -> Self {
        Self {
            texts: [text, Loose::Absent, Loose::Absent, Loose::Absent],
            ..Self::default()
        }
    }
}

impl<'a> RawSpan<'a> {
    fn set(&mut self, key: &str, value: Loose<'a>) {
        let [span_text, raw, text, content] = &mut self.texts;
        match key {
            "span_id" => self.span_id = value,
            "id" => self.id = value,
            "span_text" => *span_text = value,
            "raw" => *raw = value,
            "text" => *text = value,
            "content" => *content = value,
            "raw_start_step" | "raw_end_step" => match step(&value) {
                Some(step) if key == "raw_start_step" => self.raw_start_step = Some(step),
                Some(step) => self.raw_end_step = Some(step),
                None => self.keep(key, value),
            },
            "agent" => match value {
                Loose::Text(agent) => self.agent = Some(agent.into_owned()),
                other => self.keep(key, other),
            },
            "observation" => match value {
                Loose::Value(Value::Bool(seen)) => self.observation = Some(seen),
                other => self.keep(key, other),
            },
            _ => self.keep(key, value),
        }
    }

    fn keep(&mut self, key: &str, value: Loose<'a>) {
        let value = match value {
            Loose::Absent => return,
            Loose::Text(text) => Value::String(text.into_owned()),
            Loose::Value(value) => value,
        };
        self.other.insert(key.to_owned(), value);
    }
}

/// A step number: an integer, also written as `3.0` or `"3"`.
fn step(value: &Loose<'_>) -> Option<i64> {
    match value {
        Loose::Value(Value::Number(number)) => number.as_i64().or_else(|| {
            number
                .as_f64()
                .filter(|f| f.fract() == 0.0 && f.abs() < 1e15)
                .map(|f| f as i64)
        }),
        Loose::Text(text) => text.trim().parse().ok(),
        Loose::Absent | Loose::Value(_) => None,
    }
}
