//! A model's text read into a typed stage reply, with notes of what was mended. Pure.
//!
//! [`read`] parses plainly first. Only when that fails does it look for the answer among fences,
//! reasoning blocks and prose, and mend what has one reading only (see [`Reading::Tolerant`]). The
//! last complete object that fits the stage is the answer; an object inside a string, or inside an
//! object that cannot be read or does not end, never is. What was mended inside the object, and every
//! field that reads as something else than it says, is a [`WarningCode::JsonRepaired`] warning; fences,
//! prose and reasoning blocks around a valid object are not worth one.

mod drift;
mod fields;
mod find;
mod fit;
mod lenient;
mod misfit;
pub mod published;
mod stages;

use serde_json::Value;

pub use drift::{By, Family, Fault, GdReply};
pub use misfit::Misfit;
pub use stages::{
    BareReply, ClaimEvent, KeeperClaim, KeeperReply, SeekerHandle, SeekerRecord, SeekerReply, StageReply, TracerReply,
};

use crate::trajectory::{Stage, Warning, WarningCode};

/// How a reply is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// For `bare` and `drift`: fences, reasoning blocks (also without their opening mark), prose,
    /// wrappers and near-JSON are read as long as only one reading is possible.
    #[default]
    Tolerant,
    /// For `paper`: the published reading, which gives an untyped object.
    Published,
}

/// A typed reply and what a reader of the result should know about how it was read.
pub type ReadReply = (StageReply, Vec<Warning>);

/// Reads a judge's text as the reply of a stage. Time is linear in the length of the text.
///
/// Leniency of the typed reading: words of closed lists match in any case and with spaces or hyphens
/// (an unknown word reads as its type's documented default, with a note), ids that are numbers become
/// text, a single value where a list is wanted is a list of one, null lists are empty, keys that are not
/// asked for are ignored.
///
/// # Errors
/// A [`Misfit`] that says what to send instead: no text, no object, an object cut short, an object
/// that cannot be read without guessing, or one without the keys the stage needs (`claims`;
/// `support_records`; `error_span_ids` or `first_error_span`; `error_span_ids`; `gd`, a number from 0 to 1).
pub fn read(stage: Stage, reading: Reading, text: &str) -> Result<ReadReply, Misfit> {
    match reading {
        Reading::Tolerant => tolerant(stage, text),
        Reading::Published if text.trim().is_empty() => Err(Misfit::Empty),
        Reading::Published => match published::parse_json_object(text) {
            Ok(object) => Ok((StageReply::Published(object), Vec::new())),
            Err(error) => Err(Misfit::Shape {
                problem: error.to_string(),
            }),
        },
    }
}

/// Reads the text that a model gave as its reasoning, for when it gave no other. It counts as an answer
/// only when the whole of it is one JSON object (in a fence or not) that fits the stage, and then it is
/// flagged [`WarningCode::AnswerFromReasoning`]. `None` otherwise.
#[must_use]
pub fn read_reasoning(stage: Stage, text: &str) -> Option<ReadReply> {
    let value = serde_json::from_str::<Value>(without_fence(bare_text(text))).ok()?;
    let (reply, notes) = fit::fit(stage, value).ok()?;
    let mut warnings = vec![
        Warning::new(
            WarningCode::AnswerFromReasoning,
            "the judge gave its answer where a model keeps its reasoning, and no other",
        )
        .in_stage(stage),
    ];
    warnings.extend(lenient_note(stage, notes.sentence()));
    Some((reply, warnings))
}

/// A reply as compact JSON that reads back to the same reply, for recordings of judges that answer in
/// typed data.
#[must_use]
pub fn to_text(reply: &StageReply) -> String {
    let text = match reply {
        StageReply::Keeper(reply) => serde_json::to_string(reply),
        StageReply::Seeker(reply) => serde_json::to_string(reply),
        StageReply::Tracer(reply) => serde_json::to_string(reply),
        StageReply::Bare(reply) => serde_json::to_string(reply),
        StageReply::Gd(reply) => serde_json::to_string(reply),
        StageReply::Published(map) => serde_json::to_string(map),
    };
    // These types hold text, lists and maps with text keys only: writing them cannot fail.
    text.unwrap_or_default()
}

fn tolerant(stage: Stage, text: &str) -> Result<ReadReply, Misfit> {
    let text = bare_text(text);
    if text.is_empty() {
        return Err(Misfit::Empty);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(inner)) => scanned(stage, bare_text(&inner)),
        Ok(value) => {
            let (reply, notes) = fit::fit(stage, value)?;
            Ok((reply, lenient_note(stage, notes.sentence()).into_iter().collect()))
        }
        Err(_) => scanned(stage, text),
    }
}

fn scanned(stage: Stage, text: &str) -> Result<ReadReply, Misfit> {
    let scan = find::scan(text, fit::keys_of(stage), |value| fit::fit(stage, value));
    if let Some(misfit) = scan.misfit {
        return Err(misfit);
    }
    let Some(((reply, notes), mended)) = scan.last else {
        return Err(Misfit::NoObject);
    };
    let mut warnings = Vec::new();
    if scan.count > 1 {
        warnings.push(
            Warning::new(
                WarningCode::AmbiguousReply,
                format!(
                    "the reply held {} objects that could be the answer; the last one was used",
                    scan.count
                ),
            )
            .in_stage(stage),
        );
    }
    if !mended.is_empty() {
        let mended: Vec<&str> = mended.into_iter().collect();
        warnings.push(
            Warning::new(
                WarningCode::JsonRepaired,
                format!("the reply was not JSON until it was mended: {}", mended.join(", ")),
            )
            .in_stage(stage),
        );
    }
    warnings.extend(lenient_note(stage, notes.sentence()));
    Ok((reply, warnings))
}

/// The text without a byte order mark and without white space around it.
fn bare_text(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\0'))
}

/// The inside of a text that is one fenced block; any other text as it is.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| {
        inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim()
    })
}

fn lenient_note(stage: Stage, sentence: Option<String>) -> Option<Warning> {
    let message = sentence.map(|sentence| format!("fields of the reply were read leniently: {sentence}"))?;
    Some(Warning::new(WarningCode::JsonRepaired, message).in_stage(stage))
}

#[cfg(test)]
mod tests;
