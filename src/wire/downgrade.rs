//! Which parameter a refusal names, and the dialect without it.

use std::sync::LazyLock;

use regex::Regex;

use super::dialect::{Dialect, JsonMode, LimitField};
use super::encode::Sent;
use super::fault::Fault;

/// A step down: what to send instead, and what it gives up in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub dialect: Dialect,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Temperature,
    Effort,
    Limit,
    Json,
    System,
    Store,
}

const JSON_WORDS: [&str; 17] = [
    "response_format",
    "responseformat",
    "response format",
    "text.format",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
    "structured_output",
    "guided_json",
    "guided decoding",
    "grammar",
    "response_schema",
    "response schema",
    "output_format",
    "schema",
];

const SYSTEM_WORDS: [&str; 12] = [
    "system role",
    "role 'system'",
    "role: system",
    "role \"system\"",
    "does not support 'system'",
    "system message",
    "system instruction",
    "developer instruction",
    "roles must alternate",
    "must alternate user",
    "user and assistant roles",
    "messages[0].role",
];

const EFFORT_WORDS: [&str; 4] = [
    "reasoning_effort",
    "reasoning.effort",
    "reasoning effort",
    "thinking_config",
];
const LIMIT_WORDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// The step down that a refusal calls for; `None` when it names nothing that was sent, or nothing
/// further can be given up.
pub(super) fn read(fault: &Fault, status: u16, dialect: &Dialect, sent: &Sent) -> Option<Step> {
    let named = named(fault)?;
    match (status, named) {
        (400 | 415 | 422, _) => {}
        // Some servers answer a schema that they cannot compile with an error of their own.
        (500 | 501, Named::Json) if fault.says(&["grammar", "schema", "response_format"]) => {}
        (404, Named::Json) if fault.says(&["no endpoints found", "not support"]) => {}
        _ => return None,
    }
    match named {
        Named::Temperature if sent.temperature => step(dialect, "temperature is not sent", |d| d.temperature = false),
        Named::Effort if sent.reasoning_effort => {
            step(dialect, "reasoning_effort is not sent", |d| d.reasoning_effort = false)
        }
        Named::System if sent.system_role => step(dialect, "the system message is sent as user text", |d| {
            d.system_role = false
        }),
        Named::Store if sent.store => step(dialect, "store is not sent", |d| d.store = false),
        Named::Limit => limit(fault, dialect, sent),
        Named::Json => json(fault, dialect),
        _ => None,
    }
}

fn step(dialect: &Dialect, why: &str, change: impl FnOnce(&mut Dialect)) -> Option<Step> {
    let mut lower = dialect.clone();
    change(&mut lower);
    (lower != *dialect).then(|| Step {
        dialect: lower,
        why: why.to_owned(),
    })
}

/// The parameter that a refusal is about: the one in `param` or `loc`, else the first in the words.
fn named(fault: &Fault) -> Option<Named> {
    fault
        .params
        .iter()
        .find_map(|param| first_named(param, true))
        .or_else(|| {
            // A parameter that is none of ours is named: the words may still mention ours in passing.
            let foreign = fault
                .params
                .iter()
                .any(|param| !param.is_empty() && !param.starts_with("messages"));
            if foreign && fault.has_code(&["unsupported_parameter", "unknown_parameter", "unsupported_value"]) {
                return None;
            }
            if fault.says(&["no endpoints found"]) && fault.says(&["requested parameters"]) {
                return Some(Named::Json);
            }
            first_named(&fault.words, false)
        })
}

fn first_named(text: &str, exact: bool) -> Option<Named> {
    let mut found: Vec<(usize, Named)> = Vec::new();
    let mut look = |words: &[&str], named: Named| {
        if let Some(at) = words.iter().filter_map(|word| text.find(word)).min() {
            found.push((at, named));
        }
    };
    look(&["temperature"], Named::Temperature);
    look(&EFFORT_WORDS, Named::Effort);
    look(&LIMIT_WORDS, Named::Limit);
    look(&JSON_WORDS, Named::Json);
    look(&SYSTEM_WORDS, Named::System);
    if exact {
        look(&["store"], Named::Store);
        if text == "reasoning" {
            look(&["reasoning"], Named::Effort);
        }
        if text == "text" || text == "text.format.schema" {
            look(&["text"], Named::Json);
        }
    } else {
        look(&["'store'", "`store`", "\"store\"", ": store"], Named::Store);
    }
    found.into_iter().min_by_key(|(at, _)| *at).map(|(_, named)| named)
}

/// Another name for the limit, or a smaller one when the endpoint says how much it takes.
fn limit(fault: &Fault, dialect: &Dialect, sent: &Sent) -> Option<Step> {
    let name = dialect.limit.name()?;
    let limit = sent.limit?;
    if let Some(cap) = cap(&fault.words).filter(|cap| *cap > 0 && *cap < limit) {
        return step(dialect, &format!("{name} is at most {cap} there"), |d| {
            d.output_cap = Some(cap)
        });
    }
    let next = match (dialect.limit, dialect.limit_swapped) {
        (LimitField::MaxTokens, false) => LimitField::MaxCompletionTokens,
        (LimitField::MaxCompletionTokens, false) => LimitField::MaxTokens,
        _ => LimitField::None,
    };
    let instead = next.name().unwrap_or("no output limit");
    step(dialect, &format!("{instead} is sent instead of {name}"), |d| {
        d.limit = next;
        d.limit_swapped = true;
    })
}

/// The largest output limit that a refusal names.
fn cap(words: &str) -> Option<u32> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            r"supports at most (\d+)",
            r"> (\d+), which is the maximum",
            r"\[\d+, ?(\d+)\]",
            r"less than or equal to \D?(\d+)",
            r"maximum (?:allowed )?(?:value |number of (?:output |completion )?tokens )?(?:is|of|allowed is) (\d+)",
            r"must be (?:at most|<=) (\d+)",
        ]
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
    });
    PATTERNS
        .iter()
        .find_map(|pattern| pattern.captures(words)?.get(1)?.as_str().parse().ok())
}

fn json(fault: &Fault, dialect: &Dialect) -> Option<Step> {
    let (next, why) = match dialect.json {
        JsonMode::SchemaStrict if names_schema_keyword(fault) => {
            (JsonMode::Schema, "json_schema is sent without strict")
        }
        JsonMode::SchemaStrict | JsonMode::Schema => {
            (JsonMode::Object, "json_object is asked for instead of json_schema")
        }
        JsonMode::Object => (JsonMode::Plain, "no response format is asked for"),
        JsonMode::Plain => return None,
    };
    step(dialect, why, |d| d.json = next)
}

/// True when the refusal is about `strict` or about a keyword of the schema, rather than about
/// schemas as such. Keywords that are ordinary words count only in quotes.
fn names_schema_keyword(fault: &Fault) -> bool {
    const PLAIN: [&str; 16] = [
        "strict",
        "additionalproperties",
        "maxitems",
        "minitems",
        "uniqueitems",
        "maxlength",
        "minlength",
        "anyof",
        "oneof",
        "allof",
        "patternproperties",
        "$ref",
        "$defs",
        "$schema",
        "exclusiveminimum",
        "propertynames",
    ];
    const QUOTED: [&str; 11] = [
        "required",
        "pattern",
        "format",
        "title",
        "default",
        "const",
        "enum",
        "minimum",
        "maximum",
        "items",
        "description",
    ];
    let texts = std::iter::once(fault.words.as_str()).chain(fault.params.iter().map(String::as_str));
    for text in texts {
        let whole = text
            .split(|c: char| !(c.is_alphanumeric() || c == '$' || c == '_'))
            .any(|token| PLAIN.contains(&token));
        let quoted = QUOTED.iter().any(|word| {
            ['\'', '"', '`']
                .iter()
                .any(|quote| text.contains(&format!("{quote}{word}{quote}")))
        });
        if whole || quoted {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Api, Endpoint};

    fn sent() -> Sent {
        Sent {
            limit: Some(4096),
            wanted: 4096,
            temperature: true,
            reasoning_effort: true,
            system_role: true,
            store: true,
            fewest_tokens: 0,
        }
    }

    fn first() -> Dialect {
        Dialect::first(Api::Chat, &Endpoint::parse("http://h.example").unwrap())
    }

    fn after(dialect: &Dialect, status: u16, body: &str) -> Option<Dialect> {
        read(&Fault::of_body(body), status, dialect, &sent()).map(|step| step.dialect)
    }

    fn message(text: &str) -> String {
        serde_json::json!({"error": {"message": text, "type": "invalid_request_error", "param": null, "code": null}})
            .to_string()
    }

    #[test]
    fn the_output_limit_changes_its_name_once_and_then_goes() {
        let body = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#;
        let second = after(&first(), 400, body).unwrap();
        assert_eq!(second.limit, LimitField::MaxCompletionTokens);
        let third = after(&second, 422, &message("unknown field max_completion_tokens")).unwrap();
        assert_eq!(third.limit, LimitField::None);
        assert_eq!(after(&third, 400, body), None);
        let mut openai = first();
        openai.limit = LimitField::MaxCompletionTokens;
        let old = after(
            &openai,
            400,
            r#"{"detail":[{"loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}"#,
        );
        assert_eq!(old.unwrap().limit, LimitField::MaxTokens);
    }

    #[test]
    fn a_limit_that_is_too_large_is_lowered_and_keeps_its_name() {
        for (text, cap) in [
            (
                "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
                2048,
            ),
            (
                "max_tokens: 4096 > 1024, which is the maximum allowed number of output tokens for x",
                1024,
            ),
            (
                "Invalid max_tokens value, the valid range of max_tokens is [1, 512]",
                512,
            ),
            (
                "`max_tokens` must be less than or equal to `1000`, the maximum value for this model",
                1000,
            ),
        ] {
            let lower = after(&first(), 400, &message(text)).unwrap();
            assert_eq!(
                (lower.limit, lower.output_cap),
                (LimitField::MaxTokens, Some(cap)),
                "{text}"
            );
        }
    }

    #[test]
    fn temperature_effort_system_and_store_are_dropped_when_named() {
        let drops = |text: &str| after(&first(), 400, &message(text));
        assert!(
            !drops("Unsupported value: 'temperature' does not support 0.1 with this model.")
                .unwrap()
                .temperature
        );
        assert!(
            !drops("`temperature` is deprecated for this model.")
                .unwrap()
                .temperature
        );
        assert!(
            !drops("Unrecognized request argument supplied: reasoning_effort")
                .unwrap()
                .reasoning_effort
        );
        assert!(!drops("System role not supported").unwrap().system_role);
        assert!(
            !drops("Conversation roles must alternate user/assistant/user/assistant/...")
                .unwrap()
                .system_role
        );
        assert!(!drops("Unknown parameter: 'store'.").unwrap().store);
        assert_eq!(drops("Something else is wrong"), None);
        let unsent = Sent {
            temperature: false,
            ..sent()
        };
        assert!(read(&Fault::of_body(&message("temperature?")), 400, &first(), &unsent).is_none());
    }

    #[test]
    fn json_modes_step_down_one_at_a_time() {
        let second = after(&first(), 400, &message("This response_format type is unavailable now")).unwrap();
        assert_eq!(second.json, JsonMode::Object);
        let third = after(
            &second,
            422,
            &message("response_format.type `json_object` is unavailable now"),
        )
        .unwrap();
        assert_eq!(third.json, JsonMode::Plain);
        assert_eq!(after(&third, 400, &message("response_format")), None);
    }

    #[test]
    fn strict_alone_goes_only_when_strict_or_a_keyword_is_named() {
        for text in [
            "Invalid schema for response_format 'bare': In context=('properties', 'a'), 'required' is required to be supplied",
            "response_format.json_schema.strict is not supported",
            "json_schema: keyword maxItems is not permitted",
            "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema'",
        ] {
            let lower = after(&first(), 400, &message(text)).unwrap();
            assert_eq!(lower.json, JsonMode::Schema, "{text}");
            let lower = after(&lower, 400, &message(text)).unwrap();
            assert_eq!(lower.json, JsonMode::Object, "{text}");
        }
        let pydantic = r#"{"detail":[{"type":"literal_error","loc":["body","response_format","type"],"msg":"Input should be 'text' or 'json_object'"}]}"#;
        assert_eq!(after(&first(), 422, pydantic).unwrap().json, JsonMode::Object);
    }

    #[test]
    fn only_refusals_of_a_request_step_down() {
        for status in [401, 403, 408, 429, 503] {
            assert_eq!(
                after(&first(), status, &message("temperature and response_format")),
                None
            );
        }
        assert_eq!(after(&first(), 500, &message("temperature")), None);
        assert_eq!(
            after(&first(), 500, &message("failed to parse grammar")).unwrap().json,
            JsonMode::Object
        );
        assert_eq!(
            after(
                &first(),
                404,
                &message("No endpoints found that can handle the requested parameters.")
            )
            .unwrap()
            .json,
            JsonMode::Object
        );
        let foreign = r#"{"error":{"message":"Unknown parameter: 'foo'. Did you mean 'temperature'?","param":"foo","code":"unknown_parameter"}}"#;
        assert_eq!(after(&first(), 400, foreign), None);
    }

    #[test]
    fn a_server_that_refuses_everything_is_soon_done_with() {
        let words = [
            "temperature",
            "reasoning_effort",
            "max_tokens",
            "max_completion_tokens",
            "response_format strict",
            "system role not supported",
            "Unknown parameter: 'store'",
        ];
        let mut dialect = first();
        let mut known = vec![dialect.clone()];
        let mut refused = true;
        while refused {
            refused = false;
            for text in words {
                // A refusal of what is not sent any more changes nothing.
                let mut sent = sent();
                sent.temperature = dialect.temperature;
                sent.reasoning_effort = dialect.reasoning_effort;
                sent.system_role = dialect.system_role;
                sent.store = dialect.store;
                sent.limit = dialect.limit_for(4096);
                if let Some(step) = read(&Fault::of_body(&message(text)), 400, &dialect, &sent) {
                    assert!(!known.contains(&step.dialect), "the ladder goes in a circle");
                    dialect = step.dialect;
                    known.push(dialect.clone());
                    refused = true;
                }
            }
        }
        assert_eq!(known.len(), 10, "three steps of JSON, two of the limit, four fields");
    }
}
