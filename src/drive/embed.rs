//! Embeddings from any endpoint that serves `/embeddings` in OpenAI's shape.

use serde_json::{Value, json};

use super::client::Client;
use crate::audit::{Cause, CauseKind};
use crate::wire::{Exchange, Target, TransportKind};

/// Texts sent in one request.
const BATCH: usize = 64;
/// Unicode scalar values of a text that are sent; models of this kind read a few hundred tokens.
const MAX_CHARS: usize = 6000;

/// A vector for each text, in the order of the texts. One request a batch, each tried once.
///
/// # Errors
/// Why there are none: no connection, an answer with an error, vectors missing or of different lengths.
pub async fn embed(client: &Client, model: &str, texts: &[String]) -> Result<Vec<Vec<f64>>, Cause> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        let input: Vec<String> = batch
            .iter()
            .map(|text| text.chars().take(MAX_CHARS).collect())
            .collect();
        let body = json!({ "model": model, "input": input });
        let exchange = client.post(Target::Embeddings, &body).await.map_err(|error| {
            let kind = if error.kind == TransportKind::Timeout {
                CauseKind::Timeout
            } else {
                CauseKind::Connection
            };
            Cause::new(kind, format!("no embeddings: {}", error.message))
        })?;
        vectors.extend(read(&exchange, batch.len())?);
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err(Cause::new(
            CauseKind::BadReply,
            "the endpoint gave embeddings of different lengths",
        ));
    }
    Ok(vectors)
}

fn read(exchange: &Exchange, count: usize) -> Result<Vec<Vec<f64>>, Cause> {
    if exchange.status != 200 {
        let kind = match exchange.status {
            401 | 403 => CauseKind::Auth,
            429 => CauseKind::RateLimited,
            _ => CauseKind::Server,
        };
        let said: String = exchange.body.chars().take(200).collect();
        let message = format!(
            "the endpoint answered the request for embeddings with status {}: {said}",
            exchange.status
        );
        return Err(Cause {
            http_status: Some(exchange.status),
            ..Cause::new(kind, message)
        });
    }
    let bad = |what: &str| {
        Cause::new(
            CauseKind::BadReply,
            format!("the endpoint's embeddings cannot be read: {what}"),
        )
    };
    let body: Value = serde_json::from_str(&exchange.body).map_err(|error| bad(&error.to_string()))?;
    let rows = body
        .get("data")
        .and_then(Value::as_array)
        .ok_or_else(|| bad("no list `data`"))?;
    let mut vectors: Vec<Option<Vec<f64>>> = vec![None; count];
    for (place, row) in rows.iter().enumerate() {
        let index = row
            .get("index")
            .and_then(Value::as_u64)
            .and_then(|index| usize::try_from(index).ok())
            .unwrap_or(place);
        let numbers = row
            .get("embedding")
            .and_then(Value::as_array)
            .ok_or_else(|| bad("a row without `embedding`"))?;
        let vector: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
        if let Some(slot) = vectors.get_mut(index) {
            *slot = Some(
                vector
                    .filter(|vector| !vector.is_empty())
                    .ok_or_else(|| bad("an embedding that is no list of numbers"))?,
            );
        }
    }
    vectors
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| bad("fewer embeddings than texts"))
}

/// Alignment by embeddings: the cosine of two vectors, 0 where it is negative. `None` when one has no length.
#[must_use]
pub fn closeness(a: &[f64], b: &[f64]) -> Option<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let norm = (dot(a, a) * dot(b, b)).sqrt();
    (norm > 0.0 && norm.is_finite()).then(|| (dot(a, b) / norm).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_put_in_the_order_of_the_texts() {
        let body = r#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0]}]}"#;
        assert_eq!(
            read(&Exchange::new(200, &[], body), 2),
            Ok(vec![vec![1.0, 0.0], vec![0.0, 2.0]])
        );
        for (status, body, kind) in [
            (
                200,
                "{\"data\": [{\"index\": 0, \"embedding\": [1]}]}",
                CauseKind::BadReply,
            ),
            (
                200,
                "{\"data\": [{\"embedding\": [\"x\"]}, {\"embedding\": [1]}]}",
                CauseKind::BadReply,
            ),
            (200, "no", CauseKind::BadReply),
            (401, "{}", CauseKind::Auth),
            (500, "", CauseKind::Server),
        ] {
            assert_eq!(
                read(&Exchange::new(status, &[], body), 2).map_err(|cause| cause.kind),
                Err(kind),
                "{body}"
            );
        }
    }

    #[test]
    fn closeness_is_a_cosine() {
        assert_eq!(closeness(&[1.0, 0.0], &[2.0, 0.0]), Some(1.0));
        assert_eq!(closeness(&[1.0, 0.0], &[-1.0, 0.0]), Some(0.0));
        assert_eq!(closeness(&[0.0, 0.0], &[1.0, 0.0]), None);
    }
}
