//! A request that does not fit the window, in the words of every server, with the two numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::fault::Fault;

/// Window and need in tokens, as far as they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Overflow {
    pub limit: Option<u64>,
    pub needed: Option<u64>,
}

const CODES: [&str; 6] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "request_too_large",
    "contextwindowexceedederror",
];

const PHRASES: [&str; 30] = [
    "maximum context length",
    "context length exceeded",
    "exceeds the context length",
    "exceeds context length",
    "exceeded max context length",
    "exceed context limit",
    "exceeds the context window",
    "exceeds the available context size",
    "available context size",
    "context window exceeded",
    "model's context length",
    "maximum model length",
    "maximum prompt length",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "input token count",
    "exceeds the maximum number of tokens",
    "exceeded model token limit",
    "reduce the length of the messages",
    "reduce the length of the prompt",
    "range of input length",
    "inputs must have less than",
    "max_new_tokens` must be <=",
    "greater than the context length",
    "request too large",
    "too large for model",
    "exceeds the limit of tokens",
    "context length of only",
];

/// Each pattern names `limit`, `needed` and, where the need is told in two parts, `more`.
static NUMBERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // vLLM when only the output limit is too large: input and output together are needed.
        r"'max_tokens' or 'max_completion_tokens' is too large: (?P<more>\d+).*?context length is (?P<limit>\d+).*?has (?P<needed>\d+) input tokens",
        // Anthropic: input and output against the window.
        r"(?P<needed>\d+) \+ (?P<more>\d+) > (?P<limit>\d+)",
        // Anthropic: the prompt alone.
        r"(?P<needed>\d+) tokens > (?P<limit>\d+)",
        // vLLM, by parts.
        r"passed (?P<needed>\d+) input tokens and requested (?P<more>\d+) output tokens.*?(?:context length is|context length of)(?: only)? (?P<limit>\d+)",
        // OpenAI, DeepSeek, OpenRouter, SGLang, vLLM, xAI: the limit first.
        r"(?:maximum context length|maximum prompt length)(?: is| of)?:? ?(?P<limit>\d+).*?(?:resulted in|requested a total of|requested about|requested|contains|has) (?P<needed>\d+)",
        r"maximum context length (?:is|of) (?P<limit>\d+).*?(?:length|input)\D{0,40}(?P<needed>\d+)",
        // SGLang and llama.cpp: the need first.
        r"\((?P<needed>\d+) tokens\).{0,80}?\((?P<limit>\d+) tokens\)",
        // Gemini.
        r"token count \(?(?P<needed>\d+)\)?.{0,80}?(?:allowed|tokens|limit)\D{0,10}\(?(?P<limit>\d+)",
        // vLLM, older; Fireworks.
        r"(?:length|long:?) \(?(?P<needed>\d+)\)?.{0,80}?(?:maximum model length|maximum context length|context length)(?: of| is)?:? \(?(?P<limit>\d+)",
        // Mistral.
        r"contains (?P<needed>\d+) tokens.{0,80}?with (?P<limit>\d+)",
        // Text generation inference.
        r"must be <= (?P<limit>\d+)\. given: (?P<needed>\d+).{0,40}?and (?P<more>\d+)",
        r"less than (?P<limit>\d+) tokens\. given: (?P<needed>\d+)",
        // Moonshot.
        r"token limit: (?P<limit>\d+).{0,20}?requested: (?P<needed>\d+)",
        // LM Studio.
        r"first (?P<needed>\d+) tokens.{0,120}?only (?P<limit>\d+)",
        // Limits by the minute that the request alone is over (OpenAI, Groq).
        r"limit:? (?P<limit>\d+), requested:? (?P<needed>\d+)",
        // Alibaba, and whoever names the window alone.
        r"range of input length should be \[\d+, ?(?P<limit>\d+)\]",
        r"(?:maximum context length|context length|maximum model length|context size)(?: is| of)?(?: only)? \(?(?P<limit>\d+)",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(&format!("(?s){pattern}")).ok())
    .collect()
});

/// Reads an overflow; `None` when the error is another one.
pub(super) fn read(fault: &Fault) -> Option<Overflow> {
    let minute = fault.words.contains("request too large") || fault.words.contains("requested");
    let (limit, needed) = numbers(&fault.words);
    let named = fault.has_code(&CODES) || fault.says(&PHRASES);
    if !named {
        return None;
    }
    // "too large … per minute" is an overflow only when waiting cannot help.
    if fault.words.contains("per min") && minute && limit.zip(needed).is_some_and(|(limit, needed)| needed <= limit) {
        return None;
    }
    Some(Overflow {
        limit: fault.window.or(limit),
        needed: fault.needed.or(needed),
    })
}

fn numbers(words: &str) -> (Option<u64>, Option<u64>) {
    // Thousands are sometimes told with separators.
    static COMMA: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d),(\d{3})\b").ok());
    let plain = match COMMA.as_ref() {
        Some(comma) => comma.replace_all(words, "$1$2"),
        None => words.into(),
    };
    for pattern in NUMBERS.iter() {
        let Some(found) = pattern.captures(&plain) else {
            continue;
        };
        let number = |name: &str| found.name(name).and_then(|m| m.as_str().parse::<u64>().ok());
        let needed = number("needed").map(|needed| needed + number("more").unwrap_or(0));
        return (number("limit"), needed);
    }
    (None, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_is_understood() {
        assert_eq!(NUMBERS.len(), 17, "a pattern does not compile");
        for (message, limit, needed) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 10840 tokens.",
                8192,
                10840,
            ),
            (
                "This model's maximum context length is 131072 tokens. However, you requested 147123 tokens (139123 in the messages, 8000 in the completion).",
                131_072,
                147_123,
            ),
            (
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 40100 tokens (36004 of text input, 4096 in the output).",
                32768,
                40100,
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (4096 > 4096 - 1000).",
                4096,
                5096,
            ),
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
                4096,
                5000,
            ),
            (
                "You passed 4097 input tokens and requested 10 output tokens. However, the model's context length is only 4096 tokens.",
                4096,
                4107,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                200_000,
                210_000,
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
                1_048_575,
                1_200_000,
            ),
            (
                "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
                4096,
                5000,
            ),
            (
                "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4000 tokens from the input messages",
                4096,
                5000,
            ),
            (
                "request (5,000 tokens) exceeds the available context size (4,096 tokens), try increasing it",
                4096,
                5000,
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                32768,
                40000,
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 1000 `max_new_tokens`",
                4096,
                6000,
            ),
            (
                "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
                8192,
                9000,
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
                131_072,
                200_000,
            ),
            (
                "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size",
                6000,
                7000,
            ),
            (
                "The prompt is too long: 200000, model maximum context length: 131071",
                131_071,
                200_000,
            ),
        ] {
            let fault = Fault::of_value(&serde_json::json!({"error": {"message": message}}));
            let expected = Overflow {
                limit: Some(limit),
                needed: Some(needed),
            };
            assert_eq!(read(&fault), Some(expected), "{message}");
        }
    }

    #[test]
    fn numbers_are_not_needed_and_other_errors_are_not_taken_for_it() {
        for message in [
            "the input length exceeds the context length",
            "prompt too long; exceeded max context length by 123 tokens",
        ] {
            let fault = Fault::of_value(&serde_json::json!({ "error": message }));
            assert!(read(&fault).is_some(), "{message}");
        }
        let code = Fault::of_body(
            r#"{"error":{"message":"Your input is larger than we take","code":"context_length_exceeded"}}"#,
        );
        assert_eq!(read(&code), Some(Overflow::default()));
        let llama = Fault::of_body(
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
        );
        assert_eq!(
            read(&llama),
            Some(Overflow {
                limit: Some(4096),
                needed: Some(5000)
            })
        );
        for other in [
            "Rate limit reached for model in organization on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            "Unsupported parameter: 'max_tokens'",
        ] {
            let fault = Fault::of_value(&serde_json::json!({"error": {"message": other}}));
            assert_eq!(read(&fault), None, "{other}");
        }
    }
}
