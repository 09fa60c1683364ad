//! What every judge is to the driver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::{Answer, Ask};
use crate::trajectory::Warning;
use crate::wire::Usage;

/// A judge's answer with what a recording keeps of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// For the machine.
    pub answer: Answer,
    /// What it used, failed and repeated requests included.
    pub usage: Usage,
    /// The reply's text as it came (empty when none came): recorded raw, parsed again at replay.
    pub text: String,
    /// Hash of the rendered request, 64 hex digits: a recording made from another prompt, model or
    /// text is told by it.
    pub request_hash: String,
    /// What happened on the way: downgraded parameters, suspected prompt truncation.
    pub notes: Vec<Warning>,
}

/// What kind of judge answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeKind {
    /// A chat model behind an OpenAI-compatible endpoint.
    Chat,
    /// The judge that needs no model.
    Offline,
    /// A recording.
    Replay,
    /// A script, for tests.
    Scripted,
}

impl JudgeKind {
    /// The word used in flags and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Offline => "offline",
            Self::Replay => "replay",
            Self::Scripted => "scripted",
        }
    }
}

/// Who judged, for the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeInfo {
    /// Kind of judge.
    pub kind: JudgeKind,
    /// Model name, when there is a model.
    pub model: Option<String>,
    /// Base URL, when there is an endpoint; never with a key.
    pub endpoint: Option<String>,
    /// What the endpoint was found to accept, in a few words.
    pub dialect: Option<String>,
}

/// Answers questions: a chat model, the offline judge, a recording, a script.
pub trait Judge: Send + Sync {
    /// Answers one question. Never panics; a failure is an [`Answer`].
    fn answer(&self, ask: &Ask) -> impl Future<Output = Judged> + Send;

    /// The hash [`Judged::request_hash`] would carry for this question, without asking.
    fn request_hash(&self, ask: &Ask) -> String;

    /// Who this is, as known now.
    fn info(&self) -> JudgeInfo;
}
