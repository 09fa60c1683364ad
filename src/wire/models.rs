//! What an endpoint's list of models tells.

use serde_json::Value;

/// Names of the models in a list, in its order.
#[must_use]
pub fn model_names(list: &Value) -> Vec<String> {
    entries(list)
        .filter_map(|entry| entry.get("id").or_else(|| entry.get("name"))?.as_str())
        .map(str::to_owned)
        .collect()
}

/// Window of a model in tokens, where the list tells one: `max_model_len` (vLLM, SGLang),
/// `context_length` (OpenRouter, Together), `context_window` (Groq), `max_context_length`
/// (Mistral, LM Studio), `meta.n_ctx` and `n_ctx_train` (llama.cpp), `inputTokenLimit` (Gemini).
#[must_use]
pub fn model_window(list: &Value, model: &str) -> Option<u64> {
    const PATHS: [&str; 9] = [
        "/max_model_len",
        "/loaded_context_length",
        "/top_provider/context_length",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/inputTokenLimit",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    let entry = entries(list).find(|entry| {
        ["id", "name"]
            .iter()
            .filter_map(|field| entry.get(*field)?.as_str())
            .any(|name| name == model || name.strip_prefix("models/") == Some(model))
    })?;
    PATHS.iter().find_map(|path| entry.pointer(path)?.as_u64())
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.get("data")
        .or_else(|| list.get("models"))
        .unwrap_or(list)
        .as_array()
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn windows_are_found_under_every_name() {
        for entry in [
            json!({"id": "m", "max_model_len": 4096}),
            json!({"id": "m", "context_length": 9000, "top_provider": {"context_length": 4096}}),
            json!({"id": "m", "meta": {"n_ctx_train": 4096}}),
            json!({"name": "models/m", "inputTokenLimit": 4096}),
        ] {
            assert_eq!(
                model_window(&json!({"data": [{"id": "other"}, entry]}), "m"),
                Some(4096)
            );
        }
        assert_eq!(model_window(&json!({"data": [{"id": "m"}]}), "m"), None);
        assert_eq!(model_window(&json!([]), "m"), None);
        assert_eq!(model_names(&json!({"data": [{"id": "a"}, {"id": "b"}]})), ["a", "b"]);
    }
}
