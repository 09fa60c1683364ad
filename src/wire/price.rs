//! What tokens cost.

use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens served from the provider's cache; the input price when not given.
    pub cached: Option<f64>,
    /// Output tokens, reasoning included.
    pub output: f64,
}

impl Price {
    /// Dollars for one use.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let millions = |tokens: u64| {
            #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
            let tokens = tokens as f64;
            tokens / 1_000_000.0
        };
        millions(fresh) * self.input
            + millions(cached) * self.cached.unwrap_or(self.input)
            + millions(usage.output_tokens) * self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_its_own_price() {
        let usage = Usage {
            input_tokens: 1_000_000,
            cached_tokens: 400_000,
            output_tokens: 500_000,
            ..Usage::default()
        };
        let mut price = Price {
            input: 2.0,
            cached: Some(0.5),
            output: 8.0,
        };
        assert!((price.cost(&usage) - 5.4).abs() < 1e-9);
        price.cached = None;
        assert!((price.cost(&usage) - 6.0).abs() < 1e-9);
    }
}
