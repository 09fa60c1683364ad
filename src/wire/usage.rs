//! What calls used: tokens, money, time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of one or more calls, failed and repeated ones included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Requests sent.
    pub calls: u64,
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Input tokens served from the provider's cache.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Output tokens spent on reasoning.
    pub reasoning_tokens: u64,
    /// Input and output tokens.
    pub total_tokens: u64,
    /// US dollars; `None` when the model has no known price.
    pub cost_usd: Option<f64>,
    /// Wall milliseconds spent waiting for answers.
    pub ms: u64,
}

impl Usage {
    /// Adds another use. Cost stays known only while every part with calls has one.
    pub fn add(&mut self, other: &Self) {
        self.cost_usd = match (self.calls, other.calls) {
            (_, 0) => self.cost_usd,
            (0, _) => other.cost_usd,
            _ => self.cost_usd.zip(other.cost_usd).map(|(a, b)| a + b),
        };
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.total_tokens += other.total_tokens;
        self.ms += other.ms;
    }
}
