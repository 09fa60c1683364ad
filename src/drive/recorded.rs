//! Answers from a recording or a script instead of a judge.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;

use super::judge::{Judge, JudgeInfo, JudgeKind, Judged};
use crate::audit::{Answer, Ask, AskId, Cause, CauseKind, Method};
use crate::prompt::Prompts;
use crate::reply::{self, Reading, StageReply};
use crate::store::{AnswerRecord, Outcome};
use crate::trajectory::{Stage, Warning};
use crate::wire::Usage;

/// Reads a recorded outcome and its raw text as the machine's answer.
#[must_use]
pub fn answer_from(id: &AskId, outcome: &Outcome, text: &str) -> Answer {
    match outcome {
        Outcome::Reply => read_reply(id, text),
        Outcome::Truncated { limit } => Answer::Truncated { limit: *limit },
        Outcome::Overflow { limit, needed } => Answer::Overflow {
            limit: *limit,
            needed: *needed,
        },
        Outcome::Refused { code } => Answer::Refused { code: code.clone() },
        Outcome::GaveUp { cause } => Answer::GaveUp(cause.clone()),
    }
}

/// Reads a reply's text as the answer to a question.
#[must_use]
pub fn read_reply(id: &AskId, text: &str) -> Answer {
    match read_text(id, text) {
        Ok((reply, notes)) => Answer::Reply { reply, notes },
        Err(error) => Answer::Unreadable {
            text: text.to_owned(),
            error,
        },
    }
}

/// Reads a reply's text as its stage's reply: published reading for `paper`, else tolerant.
///
/// # Errors
/// What is wrong with the text, in words its judge can act on.
pub fn read_text(id: &AskId, text: &str) -> Result<(StageReply, Vec<Warning>), String> {
    // The published pipeline has no goal-drift stage, so there is no published reading of one.
    let reading = if id.method == Method::Paper && id.stage != Stage::Gd {
        Reading::Published
    } else {
        Reading::Tolerant
    };
    match reply::read(id.stage, reading, text) {
        Ok((reply, notes)) => Ok((reply, notes.into_iter().map(|note| note.in_stage(id.stage)).collect())),
        Err(misfit) => Err(misfit.to_string()),
    }
}

/// The other way: what a recording keeps of an answer beside its text.
#[must_use]
pub fn outcome_of(answer: &Answer) -> Outcome {
    match answer {
        Answer::Reply { .. } | Answer::Unreadable { .. } => Outcome::Reply,
        Answer::Truncated { limit } => Outcome::Truncated { limit: *limit },
        Answer::Overflow { limit, needed } => Outcome::Overflow {
            limit: *limit,
            needed: *needed,
        },
        Answer::Refused { code } => Outcome::Refused { code: code.clone() },
        Answer::GaveUp(cause) => Outcome::GaveUp { cause: cause.clone() },
    }
}

/// Answers from a recording. The judge, the endpoint and the clock are out of it; the run's text
/// and the prompts are not: a question that now reads otherwise than when it was recorded is not
/// answered.
pub struct ReplayJudge {
    answers: BTreeMap<AskId, AnswerRecord>,
    prompts: std::sync::Arc<Prompts>,
    model: Option<String>,
}

impl ReplayJudge {
    /// A judge over the answers of a recording, made with `prompts` by `model`.
    #[must_use]
    pub fn new(
        answers: BTreeMap<AskId, AnswerRecord>,
        prompts: std::sync::Arc<Prompts>,
        model: Option<String>,
    ) -> Self {
        Self {
            answers,
            prompts,
            model,
        }
    }
}

impl Judge for ReplayJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let request_hash = self.request_hash(ask);
        let gone = |message: String| Answer::GaveUp(Cause::new(CauseKind::Internal, message));
        let (answer, text, notes) = match self.answers.get(&ask.id) {
            None => (
                gone(format!("the recording holds no answer to question {}", ask.id)),
                String::new(),
                Vec::new(),
            ),
            Some(record) if record.request_hash != request_hash => {
                let message = format!(
                    "the recorded answer to {} was given to another request: the run's text, the prompts or the settings differ",
                    ask.id
                );
                (gone(message), String::new(), Vec::new())
            }
            Some(record) => (
                answer_from(&ask.id, &record.outcome, &record.text),
                record.text.clone(),
                record.notes.clone(),
            ),
        };
        Judged {
            answer,
            usage: Usage::default(),
            text,
            request_hash,
            notes,
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.prompts.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        JudgeInfo {
            kind: JudgeKind::Replay,
            model: self.model.clone(),
            endpoint: None,
            dialect: None,
        }
    }
}

/// One line of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptLine {
    /// Answer only this stage.
    stage: Option<Stage>,
    /// Answer only this run.
    case_id: Option<String>,
    /// The reply as an object …
    reply: Option<serde_json::Value>,
    /// … or as raw text.
    text: Option<String>,
    /// Instead of a reply: what else came of it.
    outcome: Option<Outcome>,
}

/// Answers from a script, each line once, in order, to the first question that fits it. For tests
/// and demonstrations: no judge is asked.
pub struct ScriptedJudge {
    lines: Mutex<Vec<Option<ScriptLine>>>,
    prompts: std::sync::Arc<Prompts>,
}

impl ScriptedJudge {
    /// Reads a script: JSONL, a line an answer:
    /// `{"stage"?, "case_id"?, "reply": {…} | "text": "…" | "outcome": {"kind": "truncated", "limit": 4096}}`.
    ///
    /// # Errors
    /// With the 1-based line that is not of that form.
    pub fn parse(script: &str, prompts: std::sync::Arc<Prompts>) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, line) in script.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let parsed: ScriptLine =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
            let given = [parsed.reply.is_some(), parsed.text.is_some(), parsed.outcome.is_some()];
            if given.iter().filter(|given| **given).count() != 1 {
                return Err(format!("line {}: wants one of `reply`, `text`, `outcome`", number + 1));
            }
            lines.push(Some(parsed));
        }
        Ok(Self {
            lines: Mutex::new(lines),
            prompts,
        })
    }

    fn take(&self, id: &AskId) -> Option<ScriptLine> {
        let mut lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fits = |line: &ScriptLine| {
            line.stage.is_none_or(|stage| stage == id.stage)
                && line.case_id.as_ref().is_none_or(|case| *case == id.case_id)
        };
        lines
            .iter_mut()
            .find(|line| line.as_ref().is_some_and(fits))
            .and_then(Option::take)
    }
}

impl Judge for ScriptedJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let request_hash = self.request_hash(ask);
        let (answer, text) = match self.take(&ask.id) {
            None => {
                let message = format!("the script has no line left for question {}", ask.id);
                (Answer::GaveUp(Cause::new(CauseKind::Internal, message)), String::new())
            }
            Some(ScriptLine {
                outcome: Some(outcome), ..
            }) => (answer_from(&ask.id, &outcome, ""), String::new()),
            Some(line) => {
                let text = line
                    .text
                    .or_else(|| line.reply.map(|reply| reply.to_string()))
                    .unwrap_or_default();
                (read_reply(&ask.id, &text), text)
            }
        };
        Judged {
            answer,
            usage: Usage {
                calls: 1,
                ..Usage::default()
            },
            text,
            request_hash,
            notes: Vec::new(),
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.prompts.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        JudgeInfo {
            kind: JudgeKind::Scripted,
            model: None,
            endpoint: None,
            dialect: None,
        }
    }
}
