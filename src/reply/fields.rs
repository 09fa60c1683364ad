//! Fields of a reply's object, read with the leniency that leaves one meaning only.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Misfit;

/// Notes kept in words; the rest are counted.
const MAX_NOTES: usize = 6;

/// What was read in another way than it was written.
#[derive(Debug, Default)]
pub(super) struct Notes {
    items: Vec<String>,
    more: usize,
}

impl Notes {
    pub(super) fn add(&mut self, note: String) {
        if self.items.len() < MAX_NOTES {
            self.items.push(note);
        } else {
            self.more += 1;
        }
    }

    /// All notes in a sentence; `None` when there are none.
    pub(super) fn sentence(&self) -> Option<String> {
        if self.items.is_empty() {
            return None;
        }
        let more = if self.more > 0 {
            format!("; and {} more", self.more)
        } else {
            String::new()
        };
        Some(format!("{}{more}", self.items.join("; ")))
    }
}

/// The value of a key, written in any case and with or without underscores.
pub(super) fn get<'map>(map: &'map Map<String, Value>, key: &str) -> Option<&'map Value> {
    map.get(key).or_else(|| {
        map.iter()
            .find(|(name, _)| folded(name).eq(folded(key)))
            .map(|(_, value)| value)
    })
}

fn folded(key: &str) -> impl Iterator<Item = char> {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// True for the ways in which models write "no span".
fn says_nothing(id: &str) -> bool {
    let id = id.trim();
    id.is_empty()
        || ["null", "none", "nil", "n/a"]
            .iter()
            .any(|word| id.eq_ignore_ascii_case(word))
}

/// What kind of value it is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// An id: text, a number as text, the `span_id` of an object, the only item of a list.
/// `Ok(None)` for null and the words that mean it.
pub(super) fn id(key: &str, value: Option<&Value>) -> Result<Option<String>, Misfit> {
    let found = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Object(map)) if get(map, "span_id").is_some() => return id(key, get(map, "span_id")),
        Some(Value::Array(items)) if items.is_empty() => return Ok(None),
        Some(Value::Array(items)) if items.len() == 1 => return id(key, items.first()),
        Some(other) => {
            return Err(Misfit::shape(format!(
                "`{key}` must be one id or null, not {}",
                kind(other)
            )));
        }
    };
    Ok((!says_nothing(&found)).then_some(found))
}

/// A list of ids: null is empty, a single id is a list of one, objects count by their `span_id`.
pub(super) fn ids(key: &str, value: Option<&Value>) -> Result<Vec<String>, Misfit> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let mut found = Vec::with_capacity(items.len());
            for item in items {
                found.extend(id(key, Some(item))?);
            }
            Ok(found)
        }
        Some(Value::Bool(_)) => Err(Misfit::shape(format!(
            "`{key}` must be a list of ids, not true or false"
        ))),
        Some(one) => Ok(id(key, Some(one))?.into_iter().collect()),
    }
}

/// A text: numbers as text, a list of texts joined. Anything else is noted and reads as empty.
pub(super) fn text(key: &str, value: Option<&Value>, notes: &mut Notes) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let texts: Vec<String> = items.iter().map(|item| text(key, Some(item), notes)).collect();
            texts.join("; ")
        }
        Some(Value::Object(_)) => {
            notes.add(format!("`{key}` was an object and is left out"));
            String::new()
        }
        Some(other) => other.to_string(),
    }
}

/// A list of texts: null is empty, a single text is a list of one.
pub(super) fn texts(key: &str, value: Option<&Value>, notes: &mut Notes) -> Vec<String> {
    let found: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().map(|item| text(key, Some(item), notes)).collect(),
        one => vec![text(key, one, notes)],
    };
    found.into_iter().filter(|text| !text.is_empty()).collect()
}

/// A word of a closed list, in any case and with spaces or hyphens for underscores. Another word is
/// noted and reads as the type's documented default; null and a missing key read as it too.
pub(super) fn word<T>(key: &str, value: Option<&Value>, notes: &mut Notes) -> T
where
    T: DeserializeOwned + Default,
{
    let given = match value {
        None | Some(Value::Null) => return T::default(),
        Some(Value::String(given)) => given.as_str(),
        Some(_) => "",
    };
    let known = serde_json::from_value(Value::String(snake(given)));
    known.unwrap_or_else(|_| {
        let shown: String = given.chars().take(40).collect();
        notes.add(format!(
            "`{key}` had the unknown value \"{shown}\" and reads as the default"
        ));
        T::default()
    })
}

/// `Direct Support`, `direct-support` and `DirectSupport` as `direct_support`.
pub(super) fn snake(given: &str) -> String {
    let mut word = String::with_capacity(given.len());
    let mut after_lower = false;
    for c in given.trim().chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && after_lower {
                word.push('_');
            }
            word.extend(c.to_lowercase());
            after_lower = c.is_lowercase();
        } else {
            if !word.ends_with('_') {
                word.push('_');
            }
            after_lower = false;
        }
    }
    word.trim_matches('_').to_owned()
}

/// The objects of a list: null and a missing key are empty, one object is a list of one. What is no
/// object is noted and left out.
pub(super) fn objects<'value>(
    key: &str,
    value: Option<&'value Value>,
    notes: &mut Notes,
) -> Vec<&'value Map<String, Value>> {
    let items: &[Value] = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
    };
    let found: Vec<_> = items.iter().filter_map(Value::as_object).collect();
    if found.len() < items.len() {
        notes.add(format!(
            "{} of {} items of `{key}` were no objects and are left out",
            items.len() - found.len(),
            items.len()
        ));
    }
    found
}

/// The objects of a list that the stage cannot do without.
pub(super) fn required_objects<'value>(
    key: &str,
    map: &'value Map<String, Value>,
    notes: &mut Notes,
) -> Result<Vec<&'value Map<String, Value>>, Misfit> {
    let Some(value) = get(map, key) else {
        return Err(Misfit::shape(format!(
            "the key `{key}` is missing; it must be a list of objects"
        )));
    };
    let found = objects(key, Some(value), notes);
    let empty = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if found.is_empty() && !empty {
        return Err(Misfit::shape(format!(
            "`{key}` must be a list of objects, not {}",
            kind(value)
        )));
    }
    Ok(found)
}
