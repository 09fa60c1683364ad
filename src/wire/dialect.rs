//! What an endpoint accepts for one model, and the steps down when it does not.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::endpoint::{Api, Endpoint};

/// How the reply is held to JSON, from the strongest hold to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonMode {
    /// JSON Schema with `strict: true`.
    SchemaStrict,
    /// JSON Schema without `strict`.
    Schema,
    /// Any JSON object.
    Object,
    /// The prompt alone.
    Plain,
}

/// The field that carries the output limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// `max_output_tokens`, of the responses API.
    MaxOutputTokens,
    /// None is sent.
    None,
}

impl LimitField {
    /// The field's name in a request body.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::MaxTokens => Some("max_tokens"),
            Self::MaxCompletionTokens => Some("max_completion_tokens"),
            Self::MaxOutputTokens => Some("max_output_tokens"),
            Self::None => None,
        }
    }
}

/// What an endpoint accepts for one model. It starts with everything and only ever steps down, so
/// a negotiation ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// How the reply is held to JSON.
    pub json: JsonMode,
    /// Which field carries the output limit.
    pub limit: LimitField,
    /// The limit's other name was tried and refused.
    #[serde(default)]
    pub limit_swapped: bool,
    /// Most output tokens that the endpoint takes as a limit, when it said so.
    #[serde(default)]
    pub output_cap: Option<u32>,
    /// `temperature` may be sent.
    pub temperature: bool,
    /// `reasoning_effort` may be sent.
    pub reasoning_effort: bool,
    /// A system message may be sent; otherwise its text leads the user message.
    pub system_role: bool,
    /// `store: false` may be sent (responses API, whose replies are otherwise kept by the provider).
    pub store: bool,
}

impl Dialect {
    /// The dialect that is tried first. OpenAI's and Azure's models take `max_completion_tokens`
    /// throughout; elsewhere `max_tokens` is the name that is known.
    #[must_use]
    pub fn first(api: Api, endpoint: &Endpoint) -> Self {
        let limit = match api {
            Api::Responses => LimitField::MaxOutputTokens,
            Api::Chat if endpoint.is_openai() || endpoint.is_azure() => LimitField::MaxCompletionTokens,
            Api::Chat => LimitField::MaxTokens,
        };
        Self {
            json: JsonMode::SchemaStrict,
            limit,
            limit_swapped: false,
            output_cap: None,
            temperature: true,
            reasoning_effort: true,
            system_role: true,
            store: true,
        }
    }

    /// The limit that is sent for `wanted` output tokens; `None` when no limit is sent.
    #[must_use]
    pub fn limit_for(&self, wanted: u32) -> Option<u32> {
        self.limit
            .name()
            .map(|_| self.output_cap.map_or(wanted, |cap| cap.min(wanted)))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = match self.json {
            JsonMode::SchemaStrict => "json_schema strict",
            JsonMode::Schema => "json_schema",
            JsonMode::Object => "json_object",
            JsonMode::Plain => "plain",
        };
        write!(f, "{json}, {}", self.limit.name().unwrap_or("no output limit"))?;
        if let Some(cap) = self.output_cap {
            write!(f, " ≤ {cap}")?;
        }
        if !self.temperature {
            f.write_str(", no temperature")?;
        }
        if !self.reasoning_effort {
            f.write_str(", no reasoning_effort")?;
        }
        if !self.system_role {
            f.write_str(", no system role")?;
        }
        Ok(())
    }
}
