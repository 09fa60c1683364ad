//! The judge that needs no model: answers typed questions from the run's text alone. Pure.
//!
//! It is an evidence check, not a guesser. It reads the agent's own statements, looks their numbers,
//! dates, names and subjects up in what the run had shown *before* them, and reports only what it can
//! show with words of the run. Where a span stands is no evidence to it. What it cannot show is
//! `Clean`, with a note of what could be checked and what could not.
//!
//! | file | what it holds |
//! |---|---|
//! | `roles` | whose words: agent, tool, user, call, code |
//! | `text`, `values`, `units` | words and sentences; numbers, dates and units in normal form |
//! | `lexicon` | words that settle, hedge, plan, cite, give up … in five languages |
//! | `statements`, `shown`, `case` | what was said, what was shown, both together |
//! | `checks` | one file a kind of defect, each with its fault of TELBench's list |
//! | `trace` | who repeats a defect, and whether it was taken back |
//! | `report`, `replies` | the findings, in the shapes of the stages |

mod case;
mod checks;
mod lexicon;
mod replies;
mod report;
mod roles;
mod shown;
mod statements;
mod text;
mod trace;
mod units;
mod values;

use crate::audit::{Answer, Ask, Cause, CauseKind, GdQuestion, Question};
use crate::gd::Lexical;
use crate::reply::StageReply;
use crate::trajectory::Trajectory;

/// Answers a question. Pure and deterministic: the same question always gets the same answer, an
/// [`Answer::Reply`] (but for a turn without a word, which has no goal drift to score) with quotes that stand letter for letter in the spans they name. Linear in
/// the length of the run.
#[must_use]
pub fn answer(ask: &Ask) -> Answer {
    let reply = match &ask.question {
        Question::Keeper(question) => {
            StageReply::Keeper(replies::keeper(&question.run, &report::report(&question.run)))
        }
        Question::Seeker(question) => {
            let report = report::report(&question.run);
            StageReply::Seeker(replies::seeker(
                &question.run,
                &report,
                &question.ledger,
                &question.packet,
            ))
        }
        Question::Tracer(question) => {
            StageReply::Tracer(replies::tracer(&question.run, &question.ledger, &question.support))
        }
        Question::Bare(question) => StageReply::Bare(replies::bare(&question.run, &report::report(&question.run))),
        Question::Gd(question) => return goal_drift(&Lexical::new(&question.run, &question.constraints), question),
    };
    Answer::Reply {
        reply,
        notes: Vec::new(),
    }
}

/// The answer to a question about goal drift, from the words of the question's run and constraints, which need be
/// weighed only once a run.
#[must_use]
pub fn goal_drift(words: &Lexical, question: &GdQuestion) -> Answer {
    match words.reply(question) {
        Some(reply) => Answer::Reply {
            reply: StageReply::Gd(reply),
            notes: Vec::new(),
        },
        None => {
            let message = "the lexical tier has nothing to compare: the turn or the goal has no word for it";
            Answer::GaveUp(Cause::new(CauseKind::Empty, message))
        }
    }
}

/// What could be checked in this run and what could not, in a few sentences: the note that belongs to
/// a `Clean` verdict of this judge.
#[must_use]
pub fn coverage(run: &Trajectory) -> String {
    report::report(run).coverage.to_string()
}

/// Conditions of the task that a rule can test, in the task's own words.
fn conditions(run: &Trajectory) -> Vec<String> {
    checks::conditions(run.question())
}

#[cfg(test)]
mod tests;
