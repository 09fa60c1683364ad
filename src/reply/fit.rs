//! A JSON value read as the typed reply of a stage.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::drift;
use super::fields::{Notes, get, id, ids, objects, required_objects, text, texts, word};
use super::{
    BareReply, ClaimEvent, KeeperClaim, KeeperReply, Misfit, SeekerHandle, SeekerRecord, SeekerReply, StageReply,
    TracerReply,
};
use crate::ledger::Reason;
use crate::trajectory::Stage;

/// Wrappers inside wrappers that are looked through.
const MAX_WRAPPERS: usize = 3;

/// Names under which models put the answer beside scalars such as an id or a status.
const WRAPPER_KEYS: [&str; 18] = [
    "answer",
    "arguments",
    "claim_ledger",
    "content",
    "data",
    "dependency_trace",
    "final",
    "final_answer",
    "input",
    "json",
    "ledger",
    "output",
    "parameters",
    "prediction",
    "reply",
    "response",
    "result",
    "verdict",
];

/// The keys by which an object is known to be meant as the stage's answer.
pub(super) fn keys_of(stage: Stage) -> &'static [&'static str] {
    match stage {
        Stage::Keeper => &["task_goal", "hard_constraints", "claims"],
        Stage::Seeker => &["support_records"],
        Stage::Tracer => &[
            "first_error_span",
            "linked_error_span_ids",
            "non_errors",
            "error_span_ids",
            "earliest_harmful_span_id",
        ],
        Stage::Bare => &["error_span_ids", "earliest_harmful_span_id"],
        Stage::Gd => &drift::SCORE_KEYS,
        Stage::Segment => &[],
    }
}

/// Reads a value as the stage's reply, through a wrapper if only one reading is possible.
pub(super) fn fit(stage: Stage, value: Value) -> Result<(StageReply, Notes), Misfit> {
    let mut value = value;
    for _ in 0..MAX_WRAPPERS {
        match value {
            Value::Object(map) => {
                if keys_of(stage).iter().any(|key| get(&map, key).is_some()) {
                    return typed(stage, &map);
                }
                match unwrapped(map) {
                    Ok(inner) => value = inner,
                    Err(map) => return typed(stage, &map),
                }
            }
            Value::Array(mut items) if items.len() == 1 => value = items.remove(0),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                return Err(Misfit::Several { count: items.len() });
            }
            _ => break,
        }
    }
    Err(Misfit::shape("the reply must be one JSON object"))
}

/// What a wrapper holds; the map itself when it is none.
fn unwrapped(mut map: Map<String, Value>) -> Result<Value, Map<String, Value>> {
    let holders: Vec<&String> = map
        .iter()
        .filter(|(_, value)| holds_an_object(value))
        .map(|(key, _)| key)
        .collect();
    let [holder] = holders.as_slice() else {
        return Err(map);
    };
    if map.len() > 1 && !WRAPPER_KEYS.iter().any(|key| holder.eq_ignore_ascii_case(key)) {
        return Err(map);
    }
    let holder = (*holder).clone();
    map.remove(&holder).ok_or(map)
}

fn holds_an_object(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => matches!(items.as_slice(), [Value::Object(_)]),
        _ => false,
    }
}

fn typed(stage: Stage, map: &Map<String, Value>) -> Result<(StageReply, Notes), Misfit> {
    let mut notes = Notes::default();
    let reply = match stage {
        Stage::Keeper => StageReply::Keeper(keeper(map, &mut notes)?),
        Stage::Seeker => StageReply::Seeker(seeker(map, &mut notes)?),
        Stage::Tracer => StageReply::Tracer(tracer(map, &mut notes)?),
        Stage::Bare => StageReply::Bare(bare(map, &mut notes)?),
        Stage::Gd => StageReply::Gd(drift::gd(map, &mut notes)?),
        Stage::Segment => {
            return Err(Misfit::shape(format!("replies of the stage {stage} are not read here")));
        }
    };
    Ok((reply, notes))
}

fn keeper(map: &Map<String, Value>, notes: &mut Notes) -> Result<KeeperReply, Misfit> {
    let rows = required_objects("claims", map, notes)?;
    let given: HashSet<String> = rows
        .iter()
        .filter_map(|row| id("claim_id", get(row, "claim_id")).ok()?)
        .collect();
    let mut taken = HashSet::new();
    let mut claims = Vec::with_capacity(rows.len());
    for row in &rows {
        let claim = text("claim", get(row, "claim"), notes);
        if claim.trim().is_empty() {
            notes.add("a claim without text is left out".to_owned());
            continue;
        }
        let claim_id = match id("claim_id", get(row, "claim_id"))? {
            Some(own) if taken.insert(own.clone()) => own,
            other => {
                let fresh = fresh_id(&given, &mut taken);
                notes.add(match other {
                    Some(own) => {
                        format!("the claim id \"{own}\" was given twice; the later claim is called \"{fresh}\"")
                    }
                    None => format!("a claim without id is called \"{fresh}\""),
                });
                fresh
            }
        };
        claims.push(KeeperClaim {
            claim_id,
            claim,
            introduced_at: id("introduced_at", get(row, "introduced_at"))?,
            becomes_consequential_at: id("becomes_consequential_at", get(row, "becomes_consequential_at"))?,
            used_by: ids("used_by", get(row, "used_by"))?,
            claim_type: word("claim_type", get(row, "claim_type"), notes),
            status: word("status", get(row, "status"), notes),
            quotes: events(get(row, "quotes"), notes),
        });
    }
    if claims.is_empty() && !rows.is_empty() {
        return Err(Misfit::shape("no item of `claims` has the key `claim` with a text"));
    }
    Ok(KeeperReply {
        task_goal: text("task_goal", get(map, "task_goal"), notes),
        hard_constraints: texts("hard_constraints", get(map, "hard_constraints"), notes),
        claims,
        notes: text("notes", get(map, "notes"), notes),
    })
}

/// The first of `c1`, `c2`, … that no claim has.
fn fresh_id(given: &HashSet<String>, taken: &mut HashSet<String>) -> String {
    let mut number = taken.len();
    loop {
        number += 1;
        let fresh = format!("c{number}");
        if !given.contains(&fresh) && taken.insert(fresh.clone()) {
            return fresh;
        }
    }
}

/// Quotes of a claim's events, as a list or as an object from span id to words.
fn events(value: Option<&Value>, notes: &mut Notes) -> Vec<ClaimEvent> {
    by_span("quotes", value, notes, &["quote", "text"])
        .into_iter()
        .map(|(span_id, quote, _)| ClaimEvent { span_id, quote })
        .collect()
}

fn reasons(map: &Map<String, Value>, notes: &mut Notes) -> Vec<Reason> {
    by_span("reasons", get(map, "reasons"), notes, &["reason", "why"])
        .into_iter()
        .map(|(span_id, reason, row)| {
            let quote = row
                .map(|row| text("quote", get(row, "quote"), notes))
                .unwrap_or_default();
            Reason {
                span_id,
                reason,
                quote: (!quote.is_empty()).then_some(quote),
            }
        })
        .collect()
}

type BySpan<'value> = (String, String, Option<&'value Map<String, Value>>);

/// Texts that belong to spans: `[{span_id, <key>}]` or `{span id: text}`.
fn by_span<'value>(
    key: &str,
    value: Option<&'value Value>,
    notes: &mut Notes,
    text_keys: &[&str],
) -> Vec<BySpan<'value>> {
    if let Some(Value::Object(map)) = value
        && get(map, "span_id").is_none()
        && map.values().all(Value::is_string)
    {
        let pairs = map.iter();
        return pairs
            .map(|(span_id, value)| (span_id.clone(), text(key, Some(value), notes), None))
            .collect();
    }
    let rows = objects(key, value, notes);
    let count = rows.len();
    let mut found = Vec::with_capacity(count);
    for row in rows {
        let span_id = id("span_id", get(row, "span_id")).ok().flatten();
        let words = text_keys.iter().find_map(|key| get(row, key));
        if let Some(span_id) = span_id {
            found.push((span_id, text(key, words, notes), Some(row)));
        }
    }
    if found.len() < count {
        notes.add(format!(
            "{} items of `{key}` name no span and are left out",
            count - found.len()
        ));
    }
    found
}

fn seeker(map: &Map<String, Value>, notes: &mut Notes) -> Result<SeekerReply, Misfit> {
    let rows = required_objects("support_records", map, notes)?;
    let mut support_records = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(claim_id) = id("claim_id", get(row, "claim_id"))? else {
            notes.add("a support record without `claim_id` is left out".to_owned());
            continue;
        };
        support_records.push(SeekerRecord {
            claim_id,
            support_spans: ids("support_spans", get(row, "support_spans"))?,
            support_status: word("support_status", get(row, "support_status"), notes),
            missing_support: text("missing_support", get(row, "missing_support"), notes),
            needs_auditors: texts("needs_auditors", get(row, "needs_auditors"), notes),
            evidence_handles: handles(get(row, "evidence_handles"), notes),
        });
    }
    if support_records.is_empty() && !rows.is_empty() {
        return Err(Misfit::shape("no item of `support_records` has the key `claim_id`"));
    }
    Ok(SeekerReply { support_records })
}

fn handles(value: Option<&Value>, notes: &mut Notes) -> Vec<SeekerHandle> {
    let rows = objects("evidence_handles", value, notes);
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let chunk_id = id("chunk_id", get(row, "chunk_id")).ok().flatten().unwrap_or_default();
        let named = id("span_id", get(row, "span_id")).ok().flatten();
        // A chunk id says which span it is of.
        let span_id = named.or_else(|| chunk_id.rsplit_once(":c").map(|(span, _)| span.to_owned()));
        let Some(span_id) = span_id else {
            notes.add("a piece of evidence that names no span is left out".to_owned());
            continue;
        };
        let words = get(row, "text").or_else(|| get(row, "quote"));
        found.push(SeekerHandle {
            span_id,
            chunk_id,
            role: word("role", get(row, "role"), notes),
            text: text("text", words, notes),
        });
    }
    found
}

fn tracer(map: &Map<String, Value>, notes: &mut Notes) -> Result<TracerReply, Misfit> {
    if get(map, "error_span_ids").is_none() && get(map, "first_error_span").is_none() {
        return Err(Misfit::shape(
            "the keys `first_error_span` and `error_span_ids` are missing; send null and [] when no span is harmful",
        ));
    }
    Ok(TracerReply {
        reasons: reasons(map, notes),
        reason: text("reason", get(map, "reason"), notes),
        non_errors: ids("non_errors", get(map, "non_errors"))?,
        first_error_span: id("first_error_span", get(map, "first_error_span"))?,
        linked_error_span_ids: ids("linked_error_span_ids", get(map, "linked_error_span_ids"))?,
        error_span_ids: ids("error_span_ids", get(map, "error_span_ids"))?,
        earliest_harmful_span_id: id("earliest_harmful_span_id", get(map, "earliest_harmful_span_id"))?,
    })
}

fn bare(map: &Map<String, Value>, notes: &mut Notes) -> Result<BareReply, Misfit> {
    if get(map, "error_span_ids").is_none() {
        return Err(Misfit::shape(
            "the key `error_span_ids` is missing; send [] when no span is harmful",
        ));
    }
    Ok(BareReply {
        reasons: reasons(map, notes),
        error_span_ids: ids("error_span_ids", get(map, "error_span_ids"))?,
        earliest_harmful_span_id: id("earliest_harmful_span_id", get(map, "earliest_harmful_span_id"))?,
    })
}
