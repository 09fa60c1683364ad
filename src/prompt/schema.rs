//! The JSON Schemas of the stage replies, inside the subset that endpoints enforce strictly: every key
//! required, no other key allowed, what is optional nullable, lists bounded, no other keyword.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::audit::{Method, Question};
use crate::reply::{BareReply, GdReply, KeeperReply, SeekerReply, TracerReply};

/// Keywords of strict schemas; what else schemars writes is left out.
const KEYWORDS: [&str; 8] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "maxItems",
];

/// Name and schema of the reply to a question. `paper` asks for no quotes, so its schemas have none.
#[must_use]
pub fn of(question: &Question, method: Method) -> (&'static str, Value) {
    let (name, mut schema) = match question {
        Question::Keeper(_) => ("keeper_reply", strict::<KeeperReply>()),
        Question::Seeker(_) => ("seeker_reply", strict::<SeekerReply>()),
        Question::Tracer(_) => ("tracer_reply", strict::<TracerReply>()),
        Question::Bare(_) => ("bare_reply", strict::<BareReply>()),
        Question::Gd(_) => ("gd_reply", strict::<GdReply>()),
    };
    if method == Method::Paper {
        match question {
            Question::Keeper(_) => without(schema.pointer_mut("/properties/claims/items"), "quotes"),
            Question::Tracer(_) => without(Some(&mut schema), "reasons"),
            Question::Seeker(_) | Question::Bare(_) | Question::Gd(_) => {}
        }
    }
    (name, schema)
}

/// Takes a property out of an object's schema.
fn without(object: Option<&mut Value>, key: &str) {
    let Some(object) = object else {
        return;
    };
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove(key);
    }
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != key);
    }
}

fn strict<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(narrow).transform(&mut schema);
    schema.to_value()
}

/// Brings one schema, without those inside it, into the subset.
fn narrow(schema: &mut Schema) {
    if let Some(words) = words_of_variants(schema) {
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), words);
    }
    if let Some(Value::String(text)) = schema.get("description") {
        // Comments are wrapped for the source; a judge reads a sentence.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        schema.insert("description".into(), text.into());
    }
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        let properties = schema.get("properties").and_then(Value::as_object);
        let names: Vec<Value> = properties
            .into_iter()
            .flat_map(|map| map.keys())
            .map(|key| json!(key))
            .collect();
        schema.insert("required".into(), names.into());
        schema.insert("additionalProperties".into(), false.into());
        // A type's own comment is written for readers of the source.
        schema.remove("description");
    }
    if let Some(map) = schema.as_object_mut() {
        map.retain(|key, _| KEYWORDS.contains(&key.as_str()));
    }
}

/// The words of a closed list whose members have descriptions of their own, which schemars writes as
/// alternatives of one constant each.
fn words_of_variants(schema: &Schema) -> Option<Value> {
    let mut words: Vec<Value> = Vec::new();
    for variant in schema.get("oneOf")?.as_array()? {
        match (variant.get("const"), variant.get("enum").and_then(Value::as_array)) {
            (Some(word), _) => words.push(word.clone()),
            (None, Some(several)) => words.extend(several.iter().cloned()),
            (None, None) => return None,
        }
    }
    Some(words.into())
}
