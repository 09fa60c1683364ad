//! The offline judge as a driver sees it.

use std::sync::Arc;

use super::judge::{Judge, JudgeInfo, JudgeKind, Judged};
use crate::audit::{Answer, Ask};
use crate::prompt::Prompts;
use crate::wire::Usage;
use crate::{offline, reply};

/// Answers from the run's text alone: no key, no network, no model.
pub struct OfflineJudge {
    prompts: Arc<Prompts>,
}

impl OfflineJudge {
    /// A judge whose recorded questions are told apart as rendered by `prompts`.
    #[must_use]
    pub fn new(prompts: Arc<Prompts>) -> Self {
        Self { prompts }
    }
}

impl Judge for OfflineJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let answer = offline::answer(ask);
        let text = match &answer {
            Answer::Reply { reply, .. } => reply::to_text(reply),
            _ => String::new(),
        };
        Judged {
            answer,
            usage: Usage::default(),
            text,
            request_hash: self.request_hash(ask),
            notes: Vec::new(),
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.prompts.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        JudgeInfo {
            kind: JudgeKind::Offline,
            model: None,
            endpoint: None,
            dialect: None,
        }
    }
}
