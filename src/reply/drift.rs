//! The goal-drift judge's reply: how far one turn left the goal, and in what way.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Misfit;
use super::fields::{Notes, get, kind, snake, text};

/// How a turn leaves the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By doing what does not serve the goal or works against it.
    Action,
    /// By leaving out what the goal asks for at that point.
    Inaction,
}

impl By {
    /// The word used in JSON and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Inaction => "inaction",
        }
    }
}

/// Families of faults (TELBench, arXiv 2606.02060, table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Reading, checking and keeping the task's conditions.
    ConstraintHandling,
    /// Where and for what is searched.
    SearchAndRetrieval,
    /// What a statement rests on.
    EvidenceGrounding,
    /// Who or what is meant, and what belongs to whom.
    EntityMapping,
    /// Reading, computing and counting.
    InformationProcessing,
    /// Steering of the work itself.
    ProcessControl,
}

/// The 18 primary faults (TELBench, arXiv 2606.02060, table 4). A judge is given the meaning of each in
/// the prompt `gd.j2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Fault {
    ConstraintSemantics,
    ConstraintCheckOmission,
    ConstraintRelaxation,
    AnswerFormat,
    GoalDrift,
    CandidateScope,
    RetrievalQuery,
    SourceVerification,
    SourceMisuse,
    UnsupportedCommitment,
    EntityDisambiguation,
    EntityAttributeMapping,
    MemoryContext,
    ExtractionParsing,
    Calculation,
    AggregationMetric,
    Overanchoring,
    ProcessControl,
}

impl Fault {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 18] = [
        Self::ConstraintSemantics,
        Self::ConstraintCheckOmission,
        Self::ConstraintRelaxation,
        Self::AnswerFormat,
        Self::GoalDrift,
        Self::CandidateScope,
        Self::RetrievalQuery,
        Self::SourceVerification,
        Self::SourceMisuse,
        Self::UnsupportedCommitment,
        Self::EntityDisambiguation,
        Self::EntityAttributeMapping,
        Self::MemoryContext,
        Self::ExtractionParsing,
        Self::Calculation,
        Self::AggregationMetric,
        Self::Overanchoring,
        Self::ProcessControl,
    ];

    /// The slug used in JSON and prompts.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::ConstraintSemantics => "constraint_semantics",
            Self::ConstraintCheckOmission => "constraint_check_omission",
            Self::ConstraintRelaxation => "constraint_relaxation",
            Self::AnswerFormat => "answer_format",
            Self::GoalDrift => "goal_drift",
            Self::CandidateScope => "candidate_scope",
            Self::RetrievalQuery => "retrieval_query",
            Self::SourceVerification => "source_verification",
            Self::SourceMisuse => "source_misuse",
            Self::UnsupportedCommitment => "unsupported_commitment",
            Self::EntityDisambiguation => "entity_disambiguation",
            Self::EntityAttributeMapping => "entity_attribute_mapping",
            Self::MemoryContext => "memory_context",
            Self::ExtractionParsing => "extraction_parsing",
            Self::Calculation => "calculation",
            Self::AggregationMetric => "aggregation_metric",
            Self::Overanchoring => "overanchoring",
            Self::ProcessControl => "process_control",
        }
    }

    /// Its family.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::ConstraintSemantics
            | Self::ConstraintCheckOmission
            | Self::ConstraintRelaxation
            | Self::AnswerFormat => Family::ConstraintHandling,
            Self::GoalDrift | Self::CandidateScope | Self::RetrievalQuery => Family::SearchAndRetrieval,
            Self::SourceVerification | Self::SourceMisuse | Self::UnsupportedCommitment => Family::EvidenceGrounding,
            Self::EntityDisambiguation | Self::EntityAttributeMapping | Self::MemoryContext => Family::EntityMapping,
            Self::ExtractionParsing | Self::Calculation | Self::AggregationMetric => Family::InformationProcessing,
            Self::Overanchoring | Self::ProcessControl => Family::ProcessControl,
        }
    }

    /// The fault with this slug, in any case and with spaces or hyphens.
    fn read(word: &str) -> Option<Self> {
        let slug = snake(word);
        Self::ALL
            .into_iter()
            .find(|fault| fault.slug() == slug || fault.slug().replace('_', "") == slug.replace('_', ""))
    }
}

/// Reply of the goal-drift judge about one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GdReply {
    /// In one or two sentences: what the turn does, what the goal asks for at this point, and how far the two are
    /// apart.
    #[serde(default)]
    pub reason: String,
    /// The words of the turn that decide it, copied verbatim, at most 20 words; or an empty text.
    #[serde(default)]
    pub quote: String,
    /// action when the turn does what leaves the goal, inaction when it leaves out what the goal asks for, null when gd
    /// is 0.
    #[schemars(schema_with = "by_schema")]
    #[serde(default)]
    pub by: Option<By>,
    /// The primary fault, or null when there is none.
    #[schemars(schema_with = "fault_schema")]
    #[serde(default)]
    pub fault: Option<Fault>,
    /// Goal drift of the turn from 0 (serves the goal) to 1 (works against it), by the anchors of the rubric.
    pub gd: f64,
}

/// A nullable closed list in the form that strict endpoints accept.
fn nullable(words: impl Iterator<Item = &'static str>) -> Schema {
    let words: Vec<Value> = words.map(Value::from).chain(std::iter::once(Value::Null)).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

fn by_schema(_: &mut SchemaGenerator) -> Schema {
    nullable([By::Action, By::Inaction].into_iter().map(By::word))
}

fn fault_schema(_: &mut SchemaGenerator) -> Schema {
    nullable(Fault::ALL.into_iter().map(Fault::slug))
}

/// Names under which models give the score.
pub(super) const SCORE_KEYS: [&str; 3] = ["gd", "gd_score", "score"];

/// Reads a reply. The score is read or the reply is refused, so that it is asked for again: it is never
/// clamped and never filled in. `by` without a known word reads as `action` when the score is above 0.
pub(super) fn gd(map: &Map<String, Value>, notes: &mut Notes) -> Result<GdReply, Misfit> {
    let Some((key, value)) = SCORE_KEYS.iter().find_map(|key| Some((*key, get(map, key)?))) else {
        return Err(Misfit::shape(
            "the key `gd` is missing; it must be a number from 0 to 1",
        ));
    };
    let gd = score(key, value)?;
    let by = by(get(map, "by"), gd, notes);
    let fault = nothing_or(get(map, "fault")).and_then(|word| {
        let fault = Fault::read(word);
        if fault.is_none() {
            let shown: String = word.chars().take(40).collect();
            notes.add(format!("`fault` had the unknown value \"{shown}\" and is left out"));
        }
        fault
    });
    Ok(GdReply {
        reason: text("reason", get(map, "reason"), notes),
        quote: text("quote", get(map, "quote"), notes),
        by,
        fault,
        gd,
    })
}

/// A number from 0 to 1, also written as text. Anything else is no score.
fn score(key: &str, value: &Value) -> Result<f64, Misfit> {
    let wanted = |shown: String| Misfit::shape(format!("`{key}` must be a number from 0 to 1, not {shown}"));
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    match number {
        // Adding 0 makes -0 a plain 0.
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number + 0.0),
        Some(number) => Err(wanted(number.to_string())),
        None => {
            let shown = match value {
                Value::String(text) => format!("the text \"{}\"", text.chars().take(40).collect::<String>()),
                other => kind(other).to_owned(),
            };
            Err(wanted(shown))
        }
    }
}

fn by(value: Option<&Value>, gd: f64, notes: &mut Notes) -> Option<By> {
    if gd == 0.0 {
        return None;
    }
    match nothing_or(value).map(snake).as_deref() {
        Some("action") => Some(By::Action),
        Some("inaction") => Some(By::Inaction),
        _ => {
            notes.add("`by` said neither action nor inaction and reads as action".to_owned());
            Some(By::Action)
        }
    }
}

/// A word, unless it is one of the ways to write that there is none.
fn nothing_or(value: Option<&Value>) -> Option<&str> {
    let word = value?.as_str()?.trim();
    let none = word.is_empty()
        || ["null", "none", "n/a"]
            .iter()
            .any(|none| word.eq_ignore_ascii_case(none));
    (!none).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::super::{Reading, StageReply, read};
    use super::*;
    use crate::trajectory::Stage;

    fn reply(text: &str) -> Result<GdReply, Misfit> {
        match read(Stage::Gd, Reading::Tolerant, text)?.0 {
            StageReply::Gd(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_score_is_read_or_refused() {
        for (text, want) in [
            ("{\"score\": \"0.8\", \"reason\": \"a\"}", 0.8),
            ("{\"gd\": 0}", 0.0),
            ("{\"gd\": 1}", 1.0),
            ("{\"GD\": \" 2.5e-1 \"}", 0.25),
            ("```json\n{\"gd\": 0.5,}\n```", 0.5),
        ] {
            assert_eq!(reply(text).map(|reply| reply.gd), Ok(want), "{text}");
        }
        for text in [
            "{\"gd\": 1.7}",
            "{\"gd\": -0.1}",
            "{\"gd\": NaN}",
            "{\"gd\": \"NaN\"}",
            "{\"gd\": \"inf\"}",
            "{\"gd\": \"high\"}",
            "{\"gd\": \"80%\"}",
            "{\"gd\": null}",
            "{\"gd\": true}",
            "{\"gd\": [0.5]}",
            "{\"reason\": \"no score\"}",
        ] {
            let error = reply(text).map(|reply| reply.gd).unwrap_err().to_string();
            assert!(error.contains("number from 0 to 1"), "{text}: {error}");
        }
    }

    #[test]
    fn words_of_closed_lists_are_read_leniently_and_never_invented() {
        let read = reply("{\"gd\": 0.6, \"by\": \"Inaction\", \"fault\": \"Over-anchoring\"}").unwrap();
        assert_eq!((read.by, read.fault), (Some(By::Inaction), Some(Fault::Overanchoring)));
        let read = reply("{\"gd\": 0.6, \"by\": null, \"fault\": \"laziness\"}").unwrap();
        assert_eq!((read.by, read.fault), (Some(By::Action), None));
        let read = reply("{\"gd\": 0, \"by\": \"action\", \"fault\": \"none\"}").unwrap();
        assert_eq!((read.by, read.fault), (None, None));
    }

    #[test]
    fn slugs_are_the_words_of_the_json() {
        for fault in Fault::ALL {
            assert_eq!(serde_json::to_value(fault).unwrap(), fault.slug());
        }
        let families: std::collections::BTreeSet<Family> = Fault::ALL.iter().map(|fault| fault.family()).collect();
        assert_eq!(families.len(), 6);
    }
}
