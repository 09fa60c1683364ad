//! A JSON value as the text a reader would see.

use serde_json::Value;

use super::image::{self, Omitted};

/// Text of a value: a string is itself, a list of content blocks is its parts on lines of their
/// own, an image block is its mark, anything else is compact JSON. Blobs are left out and
/// pushed to `omitted`.
pub(crate) fn of_value(value: &Value, omitted: &mut Vec<Omitted>) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => of_str(text, omitted),
        Value::Array(parts) if is_blocks(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| of_value(part, omitted)).collect();
            parts.join("\n")
        }
        Value::Object(block) => {
            if let Some(mark) = image_block(value) {
                let word = mark.to_string();
                omitted.push(mark);
                return word;
            }
            match (block.get("type").and_then(Value::as_str), block.get("text")) {
                (Some("text" | "input_text" | "output_text"), Some(Value::String(text))) => of_str(text, omitted),
                _ => compact(value, omitted),
            }
        }
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => compact(value, omitted),
    }
}

/// A string with its blobs left out.
pub(crate) fn of_str(text: &str, omitted: &mut Vec<Omitted>) -> String {
    match image::omit(text) {
        None => text.to_owned(),
        Some((text, mut found)) => {
            omitted.append(&mut found);
            text
        }
    }
}

/// Compact JSON with image blocks and blobs replaced by marks.
pub(crate) fn compact(value: &Value, omitted: &mut Vec<Omitted>) -> String {
    let mut value = value.clone();
    mark_images(&mut value, omitted);
    of_str(&value.to_string(), omitted)
}

/// A list is content blocks when every part is a string or an object with a `type`.
fn is_blocks(parts: &[Value]) -> bool {
    !parts.is_empty()
        && parts
            .iter()
            .all(|part| part.is_string() || part.get("type").is_some_and(Value::is_string))
        && parts.iter().any(Value::is_object)
}

fn mark_images(value: &mut Value, omitted: &mut Vec<Omitted>) {
    if let Some(mark) = image_block(value) {
        *value = Value::String(mark.to_string());
        omitted.push(mark);
        return;
    }
    match value {
        Value::Array(parts) => parts.iter_mut().for_each(|part| mark_images(part, omitted)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mark_images(field, omitted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The blob of an image or file block that carries its bytes: Anthropic's
/// `source: {media_type, data}`, Gemini's `inline_data`, MCP's `{data, mimeType}`.
fn image_block(value: &Value) -> Option<Omitted> {
    let block = value.as_object()?;
    let holder = ["source", "inline_data", "inlineData", "file", "input_audio"]
        .iter()
        .find_map(|key| block.get(*key)?.as_object())
        .unwrap_or(block);
    let encoded = ["data", "b64_json", "file_data"]
        .iter()
        .find_map(|key| holder.get(*key)?.as_str())?;
    let declared = ["media_type", "mime_type", "mimeType", "mediaType"]
        .iter()
        .find_map(|key| holder.get(*key)?.as_str());
    let base64 = encoded.len() >= 2
        && encoded
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&b));
    let guessed = image::magic(encoded);
    let media_type = declared.map(str::to_owned).or(guessed)?;
    let text_like = media_type.starts_with("text/") || media_type.ends_with("json");
    (base64 && !text_like).then(|| image::declared(&media_type, encoded))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_become_lines_and_images_marks() {
        let mut omitted = Vec::new();
        let blocks = json!([
            {"type": "text", "text": "see"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAAAAAA"}},
            {"type": "image_url", "image_url": {"url": "data:image/gif;base64,AAAA"}},
            {"type": "text", "text": "end"}
        ]);
        assert_eq!(
            of_value(&blocks, &mut omitted),
            "see\n[image omitted: image/png, 6 bytes]\n\
             {\"type\":\"image_url\",\"image_url\":{\"url\":\"[image omitted: image/gif, 3 bytes]\"}}\nend"
        );
        assert_eq!(omitted.len(), 2);
    }

    #[test]
    fn other_values_are_compact_json() {
        let mut omitted = Vec::new();
        assert_eq!(of_value(&json!(["x", 1]), &mut omitted), r#"["x",1]"#);
        assert_eq!(
            of_value(&json!({"b": true, "a": null}), &mut omitted),
            r#"{"b":true,"a":null}"#
        );
        assert_eq!(of_value(&json!(12.5), &mut omitted), "12.5");
    }
}
