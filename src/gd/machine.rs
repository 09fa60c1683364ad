//! The goal-drift judge of one run as a state machine that does no IO.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::context::view;
use super::request::Prepared;
use super::rubric::{Thresholds, complement};
use super::tiers::Plan;
use super::verdict::{GdReport, Summary, TurnStatus, TurnVerdict};
use crate::audit::{Answer, Ask, AskId, Cause, CauseKind, GdQuestion, Method, Previous, Question};
use crate::evidence::quote;
use crate::reply::{GdReply, StageReply};
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// How often a request that overflowed the judge's window is halved before the turn is given up.
const MAX_SHRINKS: u8 = 2;
/// What the judge needs to know beside the run.
#[derive(Clone, Debug)]
pub struct GdSettings {
    /// Where labels begin and end.
    pub thresholds: Thresholds,
    /// Most Unicode scalar values of the run shown with a turn, the turn included.
    pub context_chars: usize,
    /// Output tokens allowed a reply.
    pub max_output: u32,
    /// What `decided_by` says of the turns that are scored.
    pub decided_by: String,
    /// 0-based index of the run in the input.
    pub input: u64,
    /// Which judge is asked.
    pub judge: u8,
    /// Which repeat this is.
    pub repeat: u32,
}

/// `decided_by` of the turns that a model scored.
pub const JUDGE: &str = "judge";

impl Default for GdSettings {
    /// 12,000 characters of context (about 3,000 tokens), 4096 output tokens.
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            context_chars: 12_000,
            max_output: 4096,
            decided_by: JUDGE.to_owned(),
            input: 0,
            judge: 0,
            repeat: 0,
        }
    }
}

/// Judges turns of one run, one question a turn, so that an answer that cannot be used costs one turn and no
/// other. Call [`GdAudit::poll_asks`], answer each question with [`GdAudit::handle_answer`] in any order and from
/// any source, until [`GdAudit::poll_report`] gives the report.
pub struct GdAudit {
    prepared: Prepared,
    settings: GdSettings,
    answers: BTreeMap<AskId, Answer>,
    handed_out: BTreeSet<AskId>,
}

/// What can be said of a turn now.
enum Step {
    Waiting {
        attempt: u8,
        shrinks: u8,
        previous: Option<Previous>,
        max_output: u32,
    },
    Over(Box<TurnVerdict>, Vec<Warning>),
}

impl GdAudit {
    /// Judges the turns of a request, each by its plan.
    #[must_use]
    pub fn new(prepared: Prepared, settings: GdSettings) -> Self {
        Self {
            prepared,
            settings,
            answers: BTreeMap::new(),
            handed_out: BTreeSet::new(),
        }
    }

    /// Judges the turns at these positions against the run's question and further constraints.
    #[must_use]
    pub fn of_turns(run: Arc<Trajectory>, constraints: Vec<String>, turns: &[usize], settings: GdSettings) -> Self {
        let positions: BTreeSet<usize> = turns.iter().copied().filter(|turn| *turn < run.spans().len()).collect();
        let plans = positions.into_iter().map(|position| (position, Plan::Ask)).collect();
        Self::new(
            Prepared {
                run,
                roles: Arc::default(),
                constraints: Arc::new(constraints),
                plans,
            },
            settings,
        )
    }

    /// Questions that can be asked now and were not handed out or answered before.
    #[must_use]
    pub fn poll_asks(&mut self) -> Vec<Ask> {
        let mut asks = Vec::new();
        for (turn, plan) in &self.prepared.plans {
            if let Step::Waiting {
                attempt,
                shrinks,
                previous,
                max_output,
            } = self.step(*turn, plan)
            {
                let id = self.ask_id(*turn, attempt);
                if !self.handed_out.contains(&id) {
                    asks.push(Ask {
                        id,
                        question: self.question(*turn, shrinks),
                        previous,
                        max_output,
                    });
                }
            }
        }
        self.handed_out.extend(asks.iter().map(|ask| ask.id.clone()));
        asks
    }

    /// Takes an answer. The first one to a question stands.
    pub fn handle_answer(&mut self, id: AskId, answer: Answer) {
        self.handed_out.insert(id.clone());
        self.answers.entry(id).or_insert(answer);
    }

    /// The report, once every turn is settled.
    #[must_use]
    pub fn poll_report(&self) -> Option<GdReport> {
        let (mut turns, mut warnings) = (Vec::new(), Vec::new());
        for (turn, plan) in &self.prepared.plans {
            match self.step(*turn, plan) {
                Step::Waiting { .. } => return None,
                Step::Over(verdict, notes) => {
                    turns.push(*verdict);
                    warnings.extend(notes);
                }
            }
        }
        let checked: Vec<bool> = self
            .prepared
            .plans
            .iter()
            .map(|(_, plan)| *plan == Plan::Check)
            .collect();
        let summary = Summary::of(&turns, &checked);
        Some(GdReport {
            turns,
            summary,
            warnings,
        })
    }

    fn step(&self, turn: usize, plan: &Plan) -> Step {
        let run = &self.prepared.run;
        if let Plan::Pass { tier, alignment } = plan {
            let gd = complement(*alignment);
            let verdict =
                TurnVerdict::of_score(run.id_at(turn), TurnStatus::Passed, tier, gd, &self.settings.thresholds);
            return Step::Over(Box::new(verdict), Vec::new());
        }
        let (mut attempt, mut shrinks, mut asked_again) = (0, 0, false);
        let (mut previous, mut max_output) = (None, self.settings.max_output);
        loop {
            let Some(answer) = self.answers.get(&self.ask_id(turn, attempt)) else {
                return Step::Waiting {
                    attempt,
                    shrinks,
                    previous,
                    max_output,
                };
            };
            match answer {
                Answer::Reply {
                    reply: StageReply::Gd(reply),
                    notes,
                } => return self.scored(turn, reply, notes, shrinks),
                Answer::Unreadable { text, error } if !asked_again => {
                    asked_again = true;
                    previous = Some(Previous {
                        text: text.clone(),
                        error: error.clone(),
                    });
                }
                Answer::Truncated { .. } if !asked_again => {
                    asked_again = true;
                    previous = None;
                    max_output = max_output.saturating_mul(2);
                }
                Answer::Overflow { .. } if shrinks < MAX_SHRINKS => shrinks += 1,
                failed => {
                    let verdict = TurnVerdict::unscored(run.id_at(turn), why(failed, u32::from(attempt) + 1));
                    return Step::Over(Box::new(verdict), Vec::new());
                }
            }
            attempt += 1;
        }
    }

    fn scored(&self, turn: usize, reply: &GdReply, notes: &[Warning], shrinks: u8) -> Step {
        let (run, settings) = (&self.prepared.run, &self.settings);
        let id = run.id_at(turn);
        let mut warnings: Vec<Warning> = notes
            .iter()
            .map(|note| Warning {
                span_id: Some(id.to_owned()),
                ..note.clone()
            })
            .collect();
        let quote = (!reply.quote.trim().is_empty()).then(|| quote::find(run, Some(turn), &reply.quote));
        if quote.as_ref().is_some_and(|quote| !quote.status.carries_support()) {
            let message = "the judge's quote does not stand in the turn that it was given for";
            warnings.push(
                Warning::new(WarningCode::UnverifiedQuote, message)
                    .at_span(id)
                    .in_stage(Stage::Gd),
            );
        }
        if shrinks > 0 {
            let message = "the turn and what came before it did not fit the judge's window; less of it was shown";
            warnings.push(
                Warning::new(WarningCode::TextOmitted, message)
                    .at_span(id)
                    .in_stage(Stage::Gd),
            );
        }
        let verdict = TurnVerdict::of_score(
            id,
            TurnStatus::Scored,
            &settings.decided_by,
            reply.gd,
            &settings.thresholds,
        );
        let verdict = TurnVerdict {
            by: reply.by,
            fault: reply.fault,
            family: reply.fault.map(crate::reply::Fault::family),
            quote,
            reason: reply.reason.clone(),
            ..verdict
        };
        Step::Over(Box::new(verdict), warnings)
    }

    fn question(&self, turn: usize, shrinks: u8) -> Question {
        let Prepared {
            run,
            roles,
            constraints,
            ..
        } = &self.prepared;
        let view = view(run, turn, self.settings.context_chars >> shrinks);
        Question::Gd(GdQuestion {
            run: run.clone(),
            view,
            constraints: constraints.clone(),
            roles: roles.clone(),
            turn,
        })
    }

    fn ask_id(&self, turn: usize, attempt: u8) -> AskId {
        AskId {
            input: self.settings.input,
            case_id: self.prepared.run.case_id().to_owned(),
            method: Method::Drift,
            judge: self.settings.judge,
            stage: Stage::Gd,
            part: u32::try_from(turn).unwrap_or(u32::MAX),
            attempt,
            repeat: self.settings.repeat,
        }
    }
}

fn why(answer: &Answer, attempts: u32) -> Cause {
    let cause = |kind, message: String| Cause {
        stage: Some(Stage::Gd),
        attempts: Some(attempts),
        ..Cause::new(kind, message)
    };
    match answer {
        Answer::Reply { .. } => cause(
            CauseKind::Internal,
            "the judge answered with another stage's reply; please report this".to_owned(),
        ),
        Answer::Unreadable { text, error } if text.trim().is_empty() => {
            cause(CauseKind::Empty, format!("the judge's reply had no text ({error})"))
        }
        Answer::Unreadable { error, .. } => cause(
            CauseKind::BadReply,
            format!("the judge's reply could not be read: {error}"),
        ),
        Answer::Truncated { limit } => {
            let message =
                format!("the reply was cut at the output limit of {limit} tokens; allow more with --max-output");
            Cause {
                limit: Some(u64::from(*limit)),
                ..cause(CauseKind::Truncated, message)
            }
        }
        Answer::Overflow { limit, needed } => {
            let message = "the request does not fit the judge's window; show less with --context-chars".to_owned();
            Cause {
                limit: *limit,
                needed: *needed,
                ..cause(CauseKind::ContextOverflow, message)
            }
        }
        Answer::Refused { code } => cause(CauseKind::Refused, format!("the judge declined: {code}")),
        Answer::GaveUp(cause) => Cause {
            stage: cause.stage.or(Some(Stage::Gd)),
            ..cause.clone()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gd::{Label, Policy, read_request};
    use crate::reply::{By, Reading, read};
    use crate::trajectory::Span;

    fn run(texts: &[&str]) -> Arc<Trajectory> {
        let spans = texts.iter().enumerate().map(|(n, text)| Span {
            id: format!("t{}", n + 1),
            text: (*text).to_owned(),
            ..Span::default()
        });
        Arc::new(Trajectory::new("r", "keep the shop open", spans.collect()).0)
    }

    fn answer(text: &str) -> Answer {
        match read(Stage::Gd, Reading::Tolerant, text) {
            Ok((reply, notes)) => Answer::Reply { reply, notes },
            Err(error) => Answer::Unreadable {
                text: text.to_owned(),
                error: error.to_string(),
            },
        }
    }

    /// Answers every question about a turn with its text, whatever the attempt; the questions in the order asked.
    fn judged(mut audit: GdAudit, say: impl Fn(u32, u8) -> Answer) -> (GdReport, Vec<AskId>) {
        let mut asked = Vec::new();
        loop {
            let asks = audit.poll_asks();
            if let Some(report) = audit.poll_report() {
                assert!(asks.is_empty());
                return (report, asked);
            }
            assert!(!asks.is_empty(), "the machine neither asks nor ends");
            for ask in asks.into_iter().rev() {
                asked.push(ask.id.clone());
                audit.handle_answer(ask.id.clone(), say(ask.id.part, ask.id.attempt));
            }
        }
    }

    #[test]
    fn a_score_that_is_none_is_asked_for_again_and_then_unscored() {
        let texts = ["a", "b", "c", "d", "e", "f"];
        let replies = [
            "{\"score\": \"0.8\", \"reason\": \"a\"}",
            "{\"score\": 1.7}",
            "{\"score\": NaN}",
            "{\"score\": \"high\"}",
            "{\"score\": null}",
            "{\"score\": 0}",
        ];
        let audit = GdAudit::of_turns(run(&texts), Vec::new(), &[0, 1, 2, 3, 4, 5, 9], GdSettings::default());
        let (report, asked) = judged(audit, |part, _| answer(replies[part as usize]));
        assert_eq!(
            asked.len(),
            6 + 4,
            "each of the four bad turns is asked about twice, the others once"
        );
        let scores: Vec<Option<f64>> = report.turns.iter().map(|turn| turn.gd).collect();
        assert_eq!(scores, [Some(0.8), None, None, None, None, Some(0.0)]);
        for turn in report.turns.iter().filter(|turn| turn.gd.is_none()) {
            assert_eq!(
                (turn.status, turn.label, turn.alignment),
                (TurnStatus::Unscored, None, None)
            );
            let cause = turn.cause.as_ref().unwrap();
            assert_eq!((cause.kind, cause.attempts), (CauseKind::BadReply, Some(2)));
        }
        let summary = &report.summary;
        assert_eq!((summary.scored, summary.unscored), (2, 4));
        assert_eq!(
            summary.gd_action.zip(summary.gd_inaction).map(|(a, b)| a + b),
            Some(0.4)
        );
        assert!(report.failure().is_none());
    }

    #[test]
    fn a_mended_reply_scores_and_is_told_what_was_wrong() {
        let mut audit = GdAudit::of_turns(run(&["shut the door at noon"]), Vec::new(), &[0], GdSettings::default());
        let first = audit.poll_asks().remove(0);
        assert!(audit.poll_asks().is_empty(), "a question is handed out once");
        audit.handle_answer(first.id, answer("{\"gd\": 3}"));
        let again = audit.poll_asks().remove(0);
        assert!(again.previous.as_ref().unwrap().error.contains("from 0 to 1"));
        let reply = "{\"gd\": 0.75, \"by\": \"action\", \"fault\": \"goal_drift\", \"quote\": \"Shut the door\", \"reason\": \"r\"}";
        audit.handle_answer(again.id, answer(reply));
        let turn = audit.poll_report().unwrap().turns.remove(0);
        assert_eq!(
            (turn.label, turn.by, turn.alignment),
            (Some(Label::Misaligned), Some(By::Action), Some(0.25))
        );
        let quote = turn.quote.unwrap();
        assert_eq!((quote.text.as_str(), quote.start), ("shut the door", Some(0)));
    }

    #[test]
    fn one_lost_turn_spoils_no_other_and_all_lost_is_a_failure() {
        let gone = |_| Answer::GaveUp(Cause::new(CauseKind::Timeout, "no answer"));
        let audit = || GdAudit::of_turns(run(&["a", "b"]), Vec::new(), &[0, 1], GdSettings::default());
        let (report, _) = judged(
            audit(),
            |part, _| if part == 0 { gone(()) } else { answer("{\"gd\": 0.25}") },
        );
        assert_eq!((report.summary.scored, report.summary.unscored), (1, 1));
        assert!(report.failure().is_none());
        let (report, _) = judged(audit(), |_, _| gone(()));
        assert_eq!(report.failure().unwrap().kind, CauseKind::Timeout);
    }

    #[test]
    fn only_undecided_turns_are_asked_about_and_checks_are_counted() {
        let line = serde_json::json!({"schema": "auditor.judge/1", "id": "r", "goal": "g", "turns": [
            {"id": "a", "role": "assistant", "text": "one"}, {"id": "b", "role": "assistant", "text": "two"},
            {"id": "c", "role": "assistant", "text": "three"}
        ], "priors": [
            {"turn": "a", "tier": "lexical", "alignment": 0.5}, {"turn": "b", "tier": "lexical", "alignment": 0.4},
            {"turn": "b", "tier": "nli", "alignment": 0.05}, {"turn": "c", "tier": "nli", "alignment": 0.95}
        ]});
        let request = read_request(&line.to_string()).unwrap();
        let band = "0.3..0.7".parse().ok();
        let policy = Policy {
            band,
            ..Policy::default()
        };
        let audit = GdAudit::new(request.prepare(&policy), GdSettings::default());
        let (report, asked) = judged(audit, |_, _| answer("{\"gd\": 1}"));
        assert_eq!(asked.iter().map(|id| id.part).collect::<Vec<_>>(), [0]);
        let by: Vec<Option<&str>> = report.turns.iter().map(|turn| turn.decided_by.as_deref()).collect();
        assert_eq!(by, [Some("judge"), Some("nli"), Some("nli")]);
        assert_eq!(report.turns[1].label, Some(Label::Misaligned));
        assert_eq!((report.summary.scored, report.summary.passed), (1, 2));

        let audit = Some(crate::gd::AuditRate { share: 1.0, seed: 3 });
        let audit = GdAudit::new(request.prepare(&Policy { audit, ..policy }), GdSettings::default());
        let (report, asked) = judged(audit, |_, _| answer("{\"gd\": 1}"));
        assert_eq!(asked.len(), 2);
        let false_clear = report.summary.false_clear.unwrap();
        assert_eq!((false_clear.k, false_clear.n), (1, 1));
    }

    #[test]
    fn a_request_that_does_not_fit_is_made_smaller() {
        let run = run(&["first", "the turn"]);
        let audit = GdAudit::of_turns(
            run,
            Vec::new(),
            &[1],
            GdSettings {
                context_chars: 8,
                ..GdSettings::default()
            },
        );
        let (report, asked) = judged(audit, |_, attempt| match attempt {
            0 => Answer::Overflow {
                limit: None,
                needed: None,
            },
            _ => answer("{\"gd\": 0}"),
        });
        assert_eq!(asked.len(), 2);
        assert_eq!(report.warnings[0].code, WarningCode::TextOmitted);
    }
}
