//! Drives the goal-drift judge: the turns of one run, and a stream of requests.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};
use tokio::sync::Semaphore;

use super::judge::{Judge, JudgeInfo, JudgeKind};
use super::localize::CaseResult;
use super::online::{Ended, Session, interrupted, judged};
use crate::audit::{Cause, CauseKind, Verdict};
use crate::gd::{GdAudit, GdReport, GdSettings, JUDGE, LEXICAL, Policy, read_request};
use crate::trajectory::Warning;
use crate::wire::Usage;

/// Turns that were judged, with what it took.
#[derive(Clone, Debug)]
pub struct GdJudged {
    /// What was found; the cause when the budget, an interrupt or a halt came first.
    pub report: Result<GdReport, Cause>,
    /// What it used.
    pub usage: Usage,
    /// What happened between us and the endpoint.
    pub notes: Vec<Warning>,
}

/// `decided_by` for the turns that a judge scores: the offline judge answers with its lexical tier.
#[must_use]
pub fn decider(info: &JudgeInfo) -> &'static str {
    match info.kind {
        JudgeKind::Offline => LEXICAL,
        JudgeKind::Chat | JudgeKind::Replay | JudgeKind::Scripted => JUDGE,
    }
}

/// Takes the judging of a run's turns to its end. As many questions are open at a time as `gate` lets through.
pub async fn judge_turns<J: Judge>(session: &Session<J>, mut audit: GdAudit, gate: &Semaphore) -> GdJudged {
    let mut done = GdJudged {
        report: Err(interrupted()),
        usage: Usage::default(),
        notes: Vec::new(),
    };
    loop {
        let asks = audit.poll_asks();
        if asks.is_empty() {
            let message = "the goal-drift judge neither asks nor ends; please report this";
            done.report = audit
                .poll_report()
                .ok_or_else(|| Cause::new(CauseKind::Internal, message));
            if let Ok(report) = &done.report {
                halt_if_hopeless(session, report);
            }
            return done;
        }
        let open = asks.len();
        let answers = stream::iter(asks).map(|ask| async move {
            // The gate is never closed.
            let _permit = gate.acquire().await;
            (judged(session, &ask).await, ask.id)
        });
        let mut answers = std::pin::pin!(answers.buffered(open));
        while let Some((answer, id)) = answers.next().await {
            let answer = match answer {
                Ok(answer) => answer,
                Err(cause) => {
                    done.report = Err(cause);
                    return done;
                }
            };
            done.usage.add(&answer.usage);
            for note in answer.notes {
                if !done.notes.contains(&note) {
                    done.notes.push(note);
                }
            }
            audit.handle_answer(id, answer.answer);
        }
    }
}

/// A quota that is used up or a key that is refused will be the same for every question after this one.
fn halt_if_hopeless<J>(session: &Session<J>, report: &GdReport) {
    let hopeless = report.turns.iter().filter_map(|turn| turn.cause.as_ref());
    if let Some(cause) = hopeless
        .into_iter()
        .find(|cause| matches!(cause.kind, CauseKind::Quota | CauseKind::Auth))
    {
        let message = format!("not asked, since an earlier question ended with: {}", cause.message);
        session.halt.get_or_init(|| Cause {
            message,
            ..cause.clone()
        });
    }
}

/// A line of requests, read.
#[derive(Clone, Debug)]
pub struct RequestLine {
    /// 1-based number.
    pub number: u64,
    /// Its text, or why it has none.
    pub text: Result<String, String>,
}

/// A line of requests, judged.
#[derive(Clone, Debug)]
pub struct JudgedLine {
    /// 1-based number.
    pub number: u64,
    /// The request's id, as far as it could be read.
    pub id: Option<String>,
    /// What came of it; a line that is no request is the error.
    pub judged: Result<GdJudged, Cause>,
    /// Who judged.
    pub judge: JudgeInfo,
}

/// Judges a stream of requests, `jobs` lines and as many questions at a time. Results come in the order of the
/// lines; a line is taken only when there is room for it, and a line that is no request stops no other.
pub fn judge_lines<J: Judge + 'static>(
    session: Arc<Session<J>>,
    lines: impl Stream<Item = RequestLine>,
    policy: Policy,
    settings: GdSettings,
    jobs: usize,
) -> impl Stream<Item = JudgedLine> {
    let jobs = jobs.max(1);
    let gate = Arc::new(Semaphore::new(jobs));
    let begin = move |line: RequestLine| {
        let (session, gate) = (session.clone(), gate.clone());
        let number = line.number;
        let settings = GdSettings {
            input: number.saturating_sub(1),
            thresholds: policy.thresholds,
            ..settings.clone()
        };
        let task = tokio::spawn(one(session.clone(), line, policy, settings, gate));
        async move {
            match task.await {
                Ok(judged) => judged,
                // A panic over one line must not take the others with it, nor pass as a verdict.
                Err(error) => {
                    let message = format!("line {number}: the judging broke off ({error}); please report this");
                    let cause = Cause::new(CauseKind::Internal, message);
                    JudgedLine {
                        number,
                        id: None,
                        judged: Err(cause),
                        judge: session.judge.info(),
                    }
                }
            }
        }
    };
    lines.map(begin).buffered(jobs)
}

async fn one<J: Judge>(
    session: Arc<Session<J>>,
    line: RequestLine,
    policy: Policy,
    settings: GdSettings,
    gate: Arc<Semaphore>,
) -> JudgedLine {
    let number = line.number;
    let read = line.text.map_err(|message| (None, message));
    let read = read.and_then(|text| read_request(&text).map_err(|error| (error.id, error.message)));
    let (id, judged) = match read {
        Err((id, message)) => (
            id,
            Err(Cause::new(CauseKind::Input, format!("line {number}: {message}"))),
        ),
        Ok(request) => {
            let audit = GdAudit::new(request.prepare(&policy), settings);
            (Some(request.id), Ok(judge_turns(&session, audit, &gate).await))
        }
    };
    JudgedLine {
        number,
        id,
        judged,
        judge: session.judge.info(),
    }
}

/// The harmful spans of a run, and for contrast the span before the first, judged for goal drift.
#[derive(Clone, Debug)]
pub struct GdOfRun {
    /// Id of the span before the first harmful one; `None` when the first is the run's first.
    pub contrast: Option<String>,
    /// What came of it.
    pub judged: GdJudged,
}

/// Judges what an audit found harmful against the run's question and the conditions of its ledger. `None` when the
/// audit found nothing, or has no verdict. `input` is the run's 0-based index.
pub async fn judge_findings<J: Judge>(
    session: &Session<J>,
    result: &CaseResult,
    input: u64,
    settings: &GdSettings,
    gate: &Semaphore,
) -> Option<GdOfRun> {
    let (Ok(Ended::Report(report)), Some(run)) = (&result.ended, &result.run) else {
        return None;
    };
    let Verdict::Found(found) = &report.verdict else {
        return None;
    };
    let mut turns: Vec<usize> = found.spans.iter().filter_map(|id| run.position(id)).collect();
    let contrast = turns.first().and_then(|first| first.checked_sub(1));
    turns.extend(contrast);
    let constraints = report
        .ledger
        .as_ref()
        .map(|ledger| ledger.hard_constraints.clone())
        .unwrap_or_default();
    let settings = GdSettings {
        input,
        ..settings.clone()
    };
    let audit = GdAudit::of_turns(run.clone(), constraints, &turns, settings);
    let judged = judge_turns(session, audit, gate).await;
    Some(GdOfRun {
        contrast: contrast.map(|position| run.id_at(position).to_owned()),
        judged,
    })
}
