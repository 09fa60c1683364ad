//! Renders every question that can be put on a small run, so that prompt files which fail do so before
//! any call is made.

use std::sync::Arc;

use super::{PromptError, Prompts};
use crate::audit::{
    Ask, AskId, BareQuestion, GdQuestion, KeeperQuestion, Method, Outcome, Previous, Question, RunView, SeekerQuestion,
    TracerQuestion, UserKnows,
};
use crate::evidence::Packet;
use crate::ledger::Ledger;
use crate::trajectory::{Span, Trajectory};

/// Renders each stage with and without what is optional.
pub(super) fn rehearse(prompts: &Prompts) -> Result<(), PromptError> {
    let span = Span {
        id: "s1".to_owned(),
        text: "text".to_owned(),
        ..Span::default()
    };
    let (run, _) = Trajectory::new("rehearsal", "question", vec![span]);
    let run = Arc::new(run);
    for outcome in [Outcome::Unknown, Outcome::Failed, Outcome::Correct] {
        let full = outcome == Outcome::Failed;
        let user = UserKnows {
            outcome,
            reference_answer: full.then(|| "answer".to_owned()),
        };
        let view = if full {
            RunView { spans: Vec::new() }
        } else {
            RunView::whole(&run)
        };
        for method in [Method::Drift, Method::Paper] {
            for question in questions(&run, &user, &view) {
                let previous = full.then(|| Previous {
                    text: "text".to_owned(),
                    error: "error".to_owned(),
                });
                prompts.message(&ask(question, method, previous))?;
            }
        }
    }
    Ok(())
}

fn questions(run: &Arc<Trajectory>, user: &UserKnows, view: &RunView) -> [Question; 5] {
    let run = || Arc::clone(run);
    let (ledger, packet) = (Arc::new(Ledger::default()), Arc::new(Packet::default()));
    [
        Question::Keeper(KeeperQuestion {
            run: run(),
            view: view.clone(),
            user: user.clone(),
        }),
        Question::Bare(BareQuestion {
            run: run(),
            view: view.clone(),
            user: user.clone(),
        }),
        Question::Seeker(SeekerQuestion {
            run: run(),
            user: user.clone(),
            ledger: Arc::clone(&ledger),
            packet: Arc::clone(&packet),
        }),
        Question::Gd(GdQuestion {
            run: run(),
            view: view.clone(),
            constraints: Arc::default(),
            roles: Arc::default(),
            turn: 0,
        }),
        Question::Tracer(TracerQuestion {
            run: run(),
            user: user.clone(),
            ledger,
            support: Arc::new(Vec::new()),
            packet,
        }),
    ]
}

fn ask(question: Question, method: Method, previous: Option<Previous>) -> Ask {
    let stage = match question {
        Question::Keeper(_) => crate::trajectory::Stage::Keeper,
        Question::Seeker(_) => crate::trajectory::Stage::Seeker,
        Question::Tracer(_) => crate::trajectory::Stage::Tracer,
        Question::Bare(_) => crate::trajectory::Stage::Bare,
        Question::Gd(_) => crate::trajectory::Stage::Gd,
    };
    Ask {
        id: AskId {
            input: 0,
            case_id: "rehearsal".to_owned(),
            method,
            judge: 0,
            stage,
            part: 0,
            attempt: u8::from(previous.is_some()),
            repeat: 0,
        },
        question,
        previous,
        max_output: 1,
    }
}
