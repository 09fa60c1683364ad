//! The offline judge as a driver sees it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::judge::{Judge, JudgeInfo, JudgeKind, Judged};
use crate::audit::{Answer, Ask, GdQuestion, Question};
use crate::gd::Lexical;
use crate::prompt::Prompts;
use crate::trajectory::Trajectory;
use crate::wire::Usage;
use crate::{offline, reply};

/// Answers from the run's text alone: no key, no network, no model.
pub struct OfflineJudge {
    prompts: Arc<Prompts>,
    words: Mutex<VecDeque<Weighed>>,
}

/// Runs whose words are kept weighed: those whose turns are asked about now.
const RUNS_KEPT: usize = 16;

/// The words of a run, weighed for its goal.
struct Weighed {
    run: Arc<Trajectory>,
    constraints: Arc<Vec<String>>,
    words: Arc<Lexical>,
}

impl OfflineJudge {
    /// A judge whose recorded questions are told apart as rendered by `prompts`.
    #[must_use]
    pub fn new(prompts: Arc<Prompts>) -> Self {
        Self {
            prompts,
            words: Mutex::default(),
        }
    }

    /// The words of a question's run, weighed at the first question about it.
    fn words(&self, question: &GdQuestion) -> Arc<Lexical> {
        let same = |known: &Weighed| {
            Arc::ptr_eq(&known.run, &question.run) && Arc::ptr_eq(&known.constraints, &question.constraints)
        };
        let mut kept = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| same(known)) {
            return known.words.clone();
        }
        let words = Arc::new(Lexical::new(&question.run, &question.constraints));
        kept.truncate(RUNS_KEPT - 1);
        let (run, constraints) = (question.run.clone(), question.constraints.clone());
        kept.push_front(Weighed {
            run,
            constraints,
            words: words.clone(),
        });
        words
    }
}

impl Judge for OfflineJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let answer = match &ask.question {
            Question::Gd(question) => offline::goal_drift(&self.words(question), question),
            _ => offline::answer(ask),
        };
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
