//! Reply schemas, and what is refused in a set of prompt files.

use serde_json::json;

use super::*;
use crate::ledger::Reason;
use crate::reply::{
    BareReply, ClaimEvent, Fault, GdReply, KeeperClaim, KeeperReply, SeekerHandle, SeekerRecord, SeekerReply,
    StageReply, TracerReply, to_text,
};

fn schema_of(method: Method, stage: Stage) -> Value {
    render(&Asks::bridge(method).ask(stage)).schema
}

/// What is wrong with a schema for an endpoint that enforces it strictly.
fn faults(schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        faults.push(format!("{at}: no object"));
        return;
    };
    let allowed = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "maxItems",
    ];
    for key in map.keys().filter(|key| !allowed.contains(&key.as_str())) {
        faults.push(format!("{at}: keyword {key}"));
    }
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        let keys: Vec<&String> = properties.keys().collect();
        if json!(keys) != map["required"] || map["additionalProperties"] != json!(false) {
            faults.push(format!("{at}: not closed"));
        }
        for (key, inner) in properties {
            self::faults(inner, &format!("{at}.{key}"), faults);
        }
    }
    if map.get("type") == Some(&json!("array")) {
        if map.get("maxItems").is_none() {
            faults.push(format!("{at}: unbounded"));
        }
        self::faults(&map["items"], &format!("{at}[]"), faults);
    }
    if map.get("type").is_none() {
        faults.push(format!("{at}: no type"));
    }
}

#[test]
fn schemas_are_inside_the_strict_subset() {
    for method in [Method::Drift, Method::Paper, Method::Bare] {
        for stage in STAGES.into_iter().chain([Stage::Gd]) {
            let schema = schema_of(method, stage);
            assert_eq!(schema["type"], "object");
            let mut found = Vec::new();
            faults(&schema, "", &mut found);
            assert!(found.is_empty(), "{method} {stage}: {found:?}");
        }
    }
}

fn replies() -> [(Stage, StageReply); 5] {
    let reasons = vec![Reason {
        span_id: "s1".to_owned(),
        reason: "r".to_owned(),
        quote: Some("q".to_owned()),
    }];
    let keeper = KeeperReply {
        claims: vec![KeeperClaim {
            quotes: vec![ClaimEvent::default()],
            ..KeeperClaim::default()
        }],
        ..KeeperReply::default()
    };
    let seeker = SeekerReply {
        support_records: vec![SeekerRecord {
            evidence_handles: vec![SeekerHandle::default()],
            ..SeekerRecord::default()
        }],
    };
    let tracer = TracerReply {
        reasons: reasons.clone(),
        ..TracerReply::default()
    };
    let bare = BareReply {
        reasons,
        ..BareReply::default()
    };
    [
        (Stage::Keeper, StageReply::Keeper(keeper)),
        (Stage::Seeker, StageReply::Seeker(seeker)),
        (Stage::Tracer, StageReply::Tracer(tracer)),
        (Stage::Bare, StageReply::Bare(bare)),
        (
            Stage::Gd,
            StageReply::Gd(GdReply {
                gd: 0.5,
                fault: Some(Fault::GoalDrift),
                ..GdReply::default()
            }),
        ),
    ]
}

#[test]
fn replies_validate_and_strangers_do_not() {
    for (stage, reply) in replies() {
        let validator = jsonschema::validator_for(&schema_of(Method::Drift, stage)).unwrap();
        let mut value: Value = serde_json::from_str(&to_text(&reply)).unwrap();
        validator
            .validate(&value)
            .unwrap_or_else(|error| panic!("{stage}: {error}"));
        value["more"] = json!(1);
        assert!(!validator.is_valid(&value), "{stage}");
    }
    let validator = jsonschema::validator_for(&schema_of(Method::Drift, Stage::Seeker)).unwrap();
    let mut value: Value = serde_json::from_str(&to_text(&replies()[1].1)).unwrap();
    value["support_records"][0]["support_status"] = json!("certain");
    assert!(!validator.is_valid(&value));
}

#[test]
fn reasons_come_before_what_they_conclude() {
    let before = |schema: &Value, first: &str, second: &str| {
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let place = |key: &str| keys.iter().position(|name| *name == key).unwrap();
        place(first) < place(second)
    };
    let tracer = schema_of(Method::Drift, Stage::Tracer);
    assert!(before(&tracer, "reasons", "first_error_span") && before(&tracer, "reason", "first_error_span"));
    assert!(before(
        &schema_of(Method::Bare, Stage::Bare),
        "reasons",
        "error_span_ids"
    ));
    let seeker = &schema_of(Method::Drift, Stage::Seeker)["properties"]["support_records"]["items"];
    assert!(before(seeker, "evidence_handles", "support_status"));
    assert!(before(seeker, "missing_support", "support_status"));
}

#[test]
fn schemas_of_paper_have_no_quotes() {
    let keeper = schema_of(Method::Paper, Stage::Keeper).to_string();
    let tracer = schema_of(Method::Paper, Stage::Tracer).to_string();
    assert!(!keeper.contains("\"quotes\"") && !tracer.contains("\"reasons\""));
    assert!(keeper.contains("\"claims\"") && tracer.contains("\"first_error_span\""));
}

fn edited(name: &str, text: &str) -> Result<Prompts, PromptError> {
    let mut texts = Prompts::embedded().unwrap().texts().clone();
    texts.insert(name.to_owned(), text.to_owned());
    Prompts::from_texts(texts)
}

#[test]
fn faulty_prompt_files_are_refused_by_name_and_line() {
    let message = |result: Result<Prompts, PromptError>| match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    for (name, text, words) in [
        ("keeper.txt", "JSON", "\"keeper.txt\" is not known"),
        ("keeper.j2", "JSON\n\n{% if quotes %}", "\"keeper.j2\", line 3"),
        (
            "keeper.j2",
            "JSON {{ spans }}",
            "`spans`, which it is not given; it is given mark, quotes",
        ),
        ("keeper.j2", "JSON\n{{ mark|sparkle }}", "\"keeper.j2\", line 2"),
        (
            "tracer.j2",
            "JSON {{ support }}\n{% include 'nothing.j2' %}",
            "\"tracer.j2\", line 2",
        ),
        ("bare.j2", "Answer in prose.", "must say the word JSON"),
        ("tracer.j2", "Answer in JSON.", "\"tracer.j2\" does not use `support`"),
        (
            "context.j2",
            "{{ mark }} {{ task }} {{ run }} {{ ledger }}",
            "does not use `packet`",
        ),
    ] {
        let error = message(edited(name, text));
        assert!(error.contains(words), "{error}");
    }
    let mut texts = Prompts::embedded().unwrap().texts().clone();
    texts.remove("seeker.j2");
    assert_eq!(
        Prompts::from_texts(texts).unwrap_err(),
        PromptError::Missing { name: "seeker.j2" }
    );
}

#[test]
fn edited_prompts_are_used_and_have_another_hash() {
    let ours = Prompts::embedded().unwrap();
    assert_eq!(ours.hash(), Prompts::from_texts(ours.texts().clone()).unwrap().hash());
    let edited = edited("bare.j2", "Say it in JSON. {{ mark }}").unwrap();
    assert_ne!(edited.hash(), ours.hash());
    let asks = Asks::bridge(Method::Bare);
    let message = edited.render(&asks.ask(Stage::Bare)).unwrap().user.concat();
    let wanted = format!("Say it in JSON. {}", Fence::of(&asks.run).mark());
    assert!(message.ends_with(&wanted), "{message}");
}
