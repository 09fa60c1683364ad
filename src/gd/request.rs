//! What an alignment scorer sends: a goal, turns, and what its cheaper tiers said.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tiers::{Plan, Policy};
use crate::trajectory::{LocalFields, Span, Trajectory};

/// Name and version of both shapes, request and response.
pub const JUDGE_SCHEMA: &str = "auditor.judge/1";

/// Longest part of a reader's error that is repeated.
const MAX_ERROR_CHARS: usize = 240;

/// Roles whose turns are what the agent was shown. Without `focus`, the other turns are judged.
const SHOWN_ROLES: [&str; 10] = [
    "system",
    "developer",
    "user",
    "human",
    "tool",
    "tool_result",
    "function",
    "observation",
    "environment",
    "ipython",
];

/// One line of `auditor judge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeRequest {
    /// `auditor.judge/1`.
    pub schema: String,
    /// Comes back in the response.
    pub id: String,
    /// What the agent was to do.
    pub goal: String,
    /// Conditions that hold whatever it does.
    #[serde(default)]
    pub constraints: Option<Vec<String>>,
    /// The run in order, as far as it is known.
    pub turns: Vec<RequestTurn>,
    /// Ids of the turns to judge; without it, every turn that is not of a role which only shows the agent
    /// something (system, developer, user, tool, …).
    #[serde(default)]
    pub focus: Option<Vec<String>>,
    /// What cheaper tiers said, cheapest first. The last one of a turn counts.
    #[serde(default)]
    pub priors: Option<Vec<Prior>>,
}

/// A turn of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTurn {
    /// Unique in the request.
    pub id: String,
    /// Who speaks, such as `assistant`.
    pub role: String,
    /// What is said, with its tool calls.
    pub text: String,
}

/// What a cheaper tier said of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prior {
    /// Id of the turn.
    pub turn: String,
    /// Name of the tier.
    pub tier: String,
    /// From 0 (works against the goal) to 1 (serves it).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alignment: f64,
}

/// A line that is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// The line's id, as far as it could be read.
    pub id: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

/// A request ready to be judged.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The turns as a run; its question is the goal.
    pub run: Arc<Trajectory>,
    /// Role of each turn, by position.
    pub roles: Arc<Vec<String>>,
    /// Hard constraints.
    pub constraints: Arc<Vec<String>>,
    /// Which turns are judged (by position, in order), and how each is decided.
    pub plans: Vec<(usize, Plan)>,
}

/// Reads a line.
///
/// # Errors
/// When it is not JSON, not of the shape, or contradicts itself: no goal, no turns, ids given twice, a focus or
/// a prior on a turn that is not there, an alignment outside 0 to 1.
pub fn read_request(line: &str) -> Result<JudgeRequest, RequestError> {
    let value: Value = serde_json::from_str(line).map_err(|error| RequestError {
        id: None,
        message: clipped(&format!("the line is not JSON: {error}")),
    })?;
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    let error = |message: String| RequestError {
        id: id.clone(),
        message,
    };
    match value.get("schema").and_then(Value::as_str) {
        Some(JUDGE_SCHEMA) => {}
        Some(other) => {
            let other = clipped(other);
            return Err(error(format!(
                "`schema` is \"{other}\"; this program reads \"{JUDGE_SCHEMA}\""
            )));
        }
        None => {
            return Err(error(format!(
                "the key `schema` is missing; it must be \"{JUDGE_SCHEMA}\""
            )));
        }
    }
    let request: JudgeRequest =
        serde_json::from_value(value).map_err(|why| error(clipped(&format!("the line is no request: {why}"))))?;
    match fault_of(&request) {
        Some(message) => Err(error(message)),
        None => Ok(request),
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(MAX_ERROR_CHARS).collect()
}

fn fault_of(request: &JudgeRequest) -> Option<String> {
    if request.goal.trim().is_empty() {
        return Some("`goal` is empty: there is nothing to judge the turns against".to_owned());
    }
    if request.turns.is_empty() {
        return Some("`turns` is empty: there is nothing to judge".to_owned());
    }
    let mut ids = HashSet::new();
    if let Some(turn) = request.turns.iter().find(|turn| !ids.insert(turn.id.as_str())) {
        return Some(format!("two turns have the id \"{}\"", clipped(&turn.id)));
    }
    let unknown = request.focus.iter().flatten().find(|id| !ids.contains(id.as_str()));
    if let Some(id) = unknown {
        return Some(format!(
            "`focus` names the turn \"{}\", which is not there",
            clipped(id)
        ));
    }
    for prior in request.priors.iter().flatten() {
        if !ids.contains(prior.turn.as_str()) {
            return Some(format!(
                "a prior names the turn \"{}\", which is not there",
                clipped(&prior.turn)
            ));
        }
        if !(0.0..=1.0).contains(&prior.alignment) {
            let (turn, alignment) = (clipped(&prior.turn), prior.alignment);
            return Some(format!(
                "the prior on turn \"{turn}\" has the alignment {alignment}, which is not from 0 to 1"
            ));
        }
    }
    let judged = match &request.focus {
        Some(focus) => !focus.is_empty(),
        None => request.turns.iter().any(|turn| is_agents(&turn.role)),
    };
    (!judged).then(|| "no turn is to be judged: `focus` is empty, or no turn is the agent's".to_owned())
}

fn is_agents(role: &str) -> bool {
    !SHOWN_ROLES.iter().any(|shown| role.trim().eq_ignore_ascii_case(shown))
}

impl JudgeRequest {
    /// The request as a run and a plan for each turn that is to be judged.
    #[must_use]
    pub fn prepare(&self, policy: &Policy) -> Prepared {
        let spans = self.turns.iter().map(|turn| Span {
            id: turn.id.clone(),
            text: turn.text.clone(),
            local: LocalFields {
                observation: Some(!is_agents(&turn.role)),
                ..LocalFields::default()
            },
            ..Span::default()
        });
        // Ids are unique, as read_request has seen to: there is nothing to warn of.
        let (run, _) = Trajectory::new(&self.id, &self.goal, spans.collect());
        // The last tier that spoke about a turn decides.
        let last: HashMap<&str, &Prior> = self
            .priors
            .iter()
            .flatten()
            .map(|prior| (prior.turn.as_str(), prior))
            .collect();
        let focus: Option<HashSet<&str>> = self.focus.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
        let judged = self.turns.iter().enumerate().filter(|(_, turn)| match &focus {
            Some(focus) => focus.contains(turn.id.as_str()),
            None => is_agents(&turn.role),
        });
        let plans = judged
            .map(|(position, turn)| {
                let prior = last
                    .get(turn.id.as_str())
                    .map(|prior| (prior.tier.as_str(), prior.alignment));
                (position, policy.plan(&self.id, &turn.id, prior))
            })
            .collect();
        Prepared {
            run: Arc::new(run),
            roles: Arc::new(self.turns.iter().map(|turn| turn.role.clone()).collect()),
            constraints: Arc::new(self.constraints.clone().unwrap_or_default()),
            plans,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request() -> Value {
        json!({"schema": "auditor.judge/1", "id": "r1", "goal": "water the garden", "turns": [
            {"id": "a", "role": "user", "text": "The garden is dry."},
            {"id": "b", "role": "assistant", "text": "I open the tap."},
            {"id": "c", "role": "Tool", "text": "tap open"},
            {"id": "d", "role": "assistant", "text": "I paint the fence."}
        ]})
    }

    #[test]
    fn the_agents_turns_are_judged_unless_told_otherwise() {
        let read = read_request(&request().to_string()).unwrap();
        let positions = |request: &JudgeRequest| -> Vec<usize> {
            request
                .prepare(&Policy::default())
                .plans
                .iter()
                .map(|(position, _)| *position)
                .collect()
        };
        assert_eq!(positions(&read), [1, 3]);
        let told = JudgeRequest {
            focus: Some(vec!["d".to_owned(), "a".to_owned()]),
            ..read
        };
        assert_eq!(positions(&told), [0, 3], "in the order of the run");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |key: &str, value: Value| {
            let mut request = request();
            request[key] = value;
            read_request(&request.to_string()).unwrap_err()
        };
        for (error, words) in [
            (with("schema", json!("auditor.judge/2")), "auditor.judge/2"),
            (with("goal", json!(" ")), "goal"),
            (with("turns", json!([])), "turns"),
            (with("focus", json!(["x"])), "\"x\""),
            (with("focus", json!([])), "no turn"),
            (
                with("priors", json!([{"turn": "b", "tier": "t", "alignment": 1.5}])),
                "1.5",
            ),
            (
                with("priors", json!([{"turn": "y", "tier": "t", "alignment": 0.5}])),
                "\"y\"",
            ),
            (
                with(
                    "turns",
                    json!([{"id": "a", "role": "assistant", "text": ""}, {"id": "a", "role": "tool", "text": ""}]),
                ),
                "two turns",
            ),
            (with("turns", json!(7)), "invalid type"),
        ] {
            assert!(error.message.contains(words), "{error}");
            assert_eq!(error.id.as_deref(), Some("r1"));
        }
        assert_eq!(read_request("{").unwrap_err().id, None);
        assert!(read_request("{\"id\": \"r\"}").unwrap_err().message.contains("schema"));
    }
}
