//! A chat model as a judge.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::caller::{Caller, Reply};
use super::judge::{Judge, JudgeInfo, JudgeKind, Judged};
use crate::audit::{Answer, Ask, AskId, Cause, CauseKind};
use crate::prompt::Rendered;
use crate::reply::StageReply;
use crate::trajectory::{Warning, WarningCode};
use crate::wire::Usage;

/// Runs whose state is kept at most; the oldest go first.
const RUNS_KEPT: usize = 4096;

/// Renders a question; the error is a fault of the prompts.
pub type Render = dyn Fn(&Ask) -> Result<Rendered, String> + Send + Sync;

/// Reads a reply's text; the error is in words that the judge can act on.
pub type Read = dyn Fn(&AskId, &str) -> Result<(StageReply, Vec<Warning>), String> + Send + Sync;

/// Asks a chat model.
pub struct ChatJudge {
    caller: Caller,
    render: Arc<Render>,
    read: Arc<Read>,
    run_limit: Option<Duration>,
    runs: Mutex<BTreeMap<RunKey, RunState>>,
}

/// A run in the input, and which repeat of it.
type RunKey = (u64, u32);

#[derive(Clone, Copy, Debug)]
struct RunState {
    began: Instant,
    /// Steps down that its result tells already.
    told: usize,
}

impl fmt::Debug for ChatJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatJudge")
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

impl ChatJudge {
    /// A judge from a caller, what renders questions and what reads replies.
    #[must_use]
    pub fn new(caller: Caller, render: Arc<Render>, read: Arc<Read>) -> Self {
        Self {
            caller,
            render,
            read,
            run_limit: None,
            runs: Mutex::default(),
        }
    }

    /// Ends the calls of a run when this long has passed since its first question.
    #[must_use]
    pub fn with_run_limit(mut self, limit: Duration) -> Self {
        self.run_limit = Some(limit);
        self
    }

    /// What makes the calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Hash of a question as it is sent to this model: its messages, schema, model and parameters.
    /// `None` when it cannot be rendered.
    #[must_use]
    pub fn sent_hash(&self, ask: &Ask) -> Option<String> {
        (self.render)(ask)
            .ok()
            .map(|rendered| self.caller.request_hash(&rendered))
    }

    fn run_state<T>(&self, id: &AskId, look: impl FnOnce(&mut RunState) -> T) -> T {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        while runs.len() > RUNS_KEPT {
            runs.pop_first();
        }
        let state = runs.entry((id.input, id.repeat)).or_insert_with(|| RunState {
            began: Instant::now(),
            told: 0,
        });
        look(state)
    }

    /// Steps down that the run's result does not tell yet.
    fn new_steps(&self, id: &AskId) -> Vec<Warning> {
        let steps = self.caller.steps();
        let told = self.run_state(id, |state| std::mem::replace(&mut state.told, steps.len()));
        steps
            .into_iter()
            .skip(told)
            .map(|step| Warning::new(WarningCode::Downgraded, step))
            .collect()
    }

    fn answer_of(&self, id: &AskId, reply: Reply, text: &str) -> Answer {
        match reply {
            Reply::Text { .. } => match (self.read)(id, text) {
                Ok((reply, notes)) => Answer::Reply { reply, notes },
                Err(error) => Answer::Unreadable {
                    text: text.to_owned(),
                    error,
                },
            },
            Reply::Empty => Answer::Unreadable {
                text: String::new(),
                error: "the reply was empty; answer with the JSON object that was asked for".to_owned(),
            },
            Reply::Truncated { limit } => Answer::Truncated { limit },
            Reply::Overflow { limit, needed } => Answer::Overflow { limit, needed },
            Reply::Refused { code } => Answer::Refused { code },
            Reply::GaveUp(cause) => Answer::GaveUp(cause),
        }
    }
}

impl Judge for ChatJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let rendered = match (self.render)(ask) {
            Ok(rendered) => rendered,
            Err(error) => {
                let mut cause = Cause::new(CauseKind::Internal, format!("the prompt cannot be rendered: {error}"));
                cause.stage = Some(ask.id.stage);
                return Judged {
                    answer: Answer::GaveUp(cause),
                    usage: Usage::default(),
                    text: String::new(),
                    request_hash: String::new(),
                    notes: Vec::new(),
                };
            }
        };
        let began = self.run_state(&ask.id, |state| state.began);
        let until = self.run_limit.map(|limit| began + limit);
        let whole = |text: &str| (self.read)(&ask.id, text).is_ok();
        let called = self.caller.call(&rendered, until, &whole).await;
        let mut notes = called.notes;
        notes.extend(self.new_steps(&ask.id));
        Judged {
            answer: self.answer_of(&ask.id, called.reply, &called.text),
            usage: called.usage,
            text: called.text,
            request_hash: rendered.hash(),
            notes,
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        (self.render)(ask).map(|rendered| rendered.hash()).unwrap_or_default()
    }

    fn info(&self) -> JudgeInfo {
        JudgeInfo {
            kind: JudgeKind::Chat,
            model: Some(self.caller.settings().params.model.clone()),
            endpoint: Some(self.caller.client().endpoint().to_string()),
            dialect: Some(self.caller.dialect().to_string()),
        }
    }
}
