//! Drives one audit: asks what the machine wants asked, records what comes, hands it back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;

use super::judge::{Judge, Judged};
use super::recorded::{answer_from, outcome_of};
use crate::audit::{Ask, AskId, Audit, Cause, CauseKind, Method, Report, Verdict};
use crate::store::{AnswerRecord, ClosedCase, Journal, JournalError, Outcome, Recording};
use crate::trajectory::{Stage, Warning};
use crate::wire::Usage;

/// What all audits of one command share.
pub struct Session<J> {
    /// Who is asked.
    pub judge: J,
    /// Where answers are recorded.
    pub journal: Option<Journal>,
    /// Answers of an earlier, interrupted session, by question.
    pub recorded: BTreeMap<AskId, AnswerRecord>,
    /// Cases that an earlier session ended, so that they are not closed twice.
    pub closed: BTreeSet<ClosedCase>,
    /// What may be spent.
    pub budget: Budget,
    /// Ends everything; set on Ctrl-C.
    pub cancel: CancellationToken,
    /// Set when asking further cannot succeed (no quota, wrong key, journal lost): the cases that
    /// have not begun are not run.
    pub halt: Arc<OnceLock<Cause>>,
}

impl<J: Judge> Session<J> {
    /// A session that records nothing and spends what it takes.
    pub fn new(judge: J) -> Self {
        Self {
            judge,
            journal: None,
            recorded: BTreeMap::new(),
            closed: BTreeSet::new(),
            budget: Budget::default(),
            cancel: CancellationToken::new(),
            halt: Arc::default(),
        }
    }

    /// Goes on with a recording: its answers are used instead of asking again ([`usable`]), what they
    /// cost counts as spent, and `journal` takes the new ones.
    pub fn resume(&mut self, journal: Journal, recording: Recording, retry_failed: bool) {
        for record in recording.answers.values() {
            self.budget.add(&record.usage);
        }
        self.closed = recording.closed.iter().cloned().collect();
        self.recorded = usable(recording, retry_failed);
        self.journal = Some(journal);
    }

    /// True when an earlier session ended the audit of this run and repeat.
    #[must_use]
    pub fn ended_before(&self, input: u64, case_id: &str, repeat: u32) -> bool {
        // The least case of this record: the order of cases begins with the record.
        let least = ClosedCase { input, case_id: String::new(), method: Method::Bare, judge: 0, repeat: 0, ok: false };
        let mut of_record = self.closed.range(least..).take_while(|case| case.input == input);
        of_record.any(|case| case.case_id == case_id && case.repeat == repeat)
    }

    /// Leave to ask one more question, or why there is none.
    fn leave(&self) -> Result<Held<'_>, Cause> {
        if self.cancel.is_cancelled() {
            return Err(interrupted());
        }
        match self.halt.get() {
            Some(cause) => Err(cause.clone()),
            None => self.budget.hold(),
        }
    }
}

fn interrupted() -> Cause {
    Cause::new(CauseKind::Internal, "interrupted before it was finished; with --record the answers so far are kept for --resume")
}

/// What may be spent, and what was. Clones share one account.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// US dollars; `None` for no cap.
    pub max_cost: Option<f64>,
    account: Arc<Mutex<Account>>,
}

#[derive(Debug, Default)]
struct Account {
    spent: f64,
    /// Answers that were paid, and questions under way.
    paid: u32,
    asked: u32,
}

impl Account {
    /// What is spent once the questions under way cost what questions cost so far.
    fn expected(&self) -> f64 {
        let mean = if self.paid > 0 { self.spent / f64::from(self.paid) } else { 0.0 };
        self.spent + f64::from(self.asked) * mean
    }
}

impl Budget {
    /// A budget of this many US dollars.
    #[must_use]
    pub fn capped(max_cost: Option<f64>) -> Self {
        Self { max_cost, account: Arc::default() }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, usage: &Usage) {
        let mut account = self.account();
        account.spent += usage.cost_usd.unwrap_or(0.0);
        account.paid += u32::from(usage.cost_usd.is_some_and(|cost| cost > 0.0));
    }

    /// US dollars spent so far, answers taken from an earlier session included.
    #[must_use]
    pub fn spent(&self) -> f64 {
        self.account().spent
    }

    /// Holds back what one question may cost, so that questions asked side by side do not pass the cap
    /// together.
    fn hold(&self) -> Result<Held<'_>, Cause> {
        let mut account = self.account();
        if let Some(cap) = self.max_cost
            && account.expected() >= cap
        {
            let message = format!(
                "the cost cap of {cap:.2} USD was reached ({:.4} spent, {} questions under way); raise --max-cost to go on",
                account.spent, account.asked
            );
            return Err(Cause::new(CauseKind::Budget, message));
        }
        account.asked += 1;
        Ok(Held(self))
    }
}

/// What is held back for a question under way.
struct Held<'a>(&'a Budget);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut account = self.0.account();
        account.asked = account.asked.saturating_sub(1);
    }
}

/// How the audit of a case ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// With a report, which may be of a failure.
    Report(Box<Report>),
    /// Not at all: the budget, an interrupt or a halt came first.
    NotRun(Cause),
}

/// An audit that ended, with what it took.
#[derive(Clone, Debug)]
pub struct Audited {
    /// How it ended.
    pub ended: Ended,
    /// What each stage used, answers of an earlier session included.
    pub usage: BTreeMap<Stage, Usage>,
    /// What happened between us and the endpoint.
    pub notes: Vec<Warning>,
}

/// Takes one audit to its end.
pub async fn audit<J: Judge>(session: &Session<J>, mut audit: Audit) -> Audited {
    let mut audited =
        Audited { ended: Ended::NotRun(interrupted()), usage: BTreeMap::new(), notes: Vec::new() };
    let mut last: Option<AskId> = None;
    loop {
        let asks = audit.poll_asks();
        if asks.is_empty() {
            let Some(report) = audit.poll_report() else {
                let message = "the audit neither asks nor ends; please report this";
                audited.ended = Ended::NotRun(Cause::new(CauseKind::Internal, message));
                return audited;
            };
            if let Err(error) = close(session, last.as_ref(), &report) {
                audited.ended = Ended::NotRun(lost(session, &error));
                return audited;
            }
            halt_if_hopeless(session, &report);
            audited.ended = Ended::Report(Box::new(report));
            return audited;
        }
        for ask in asks {
            last = Some(ask.id.clone());
            let judged = match judged(session, &ask).await {
                Ok(judged) => judged,
                Err(cause) => {
                    audited.ended = Ended::NotRun(cause);
                    return audited;
                }
            };
            audited.usage.entry(ask.id.stage).or_default().add(&judged.usage);
            for note in judged.notes {
                if !audited.notes.contains(&note) {
                    audited.notes.push(note);
                }
            }
            audit.handle_answer(ask.id, judged.answer);
        }
    }
}

/// The answer to one question: the recorded one if it was given to this very request, else a new
/// one, recorded before it is used.
async fn judged<J: Judge>(session: &Session<J>, ask: &Ask) -> Result<Judged, Cause> {
    if let Some(record) = session.recorded.get(&ask.id)
        && record.request_hash == session.judge.request_hash(ask)
    {
        return Ok(Judged {
            answer: answer_from(&ask.id, &record.outcome, &record.text),
            usage: record.usage.clone(),
            text: record.text.clone(),
            request_hash: record.request_hash.clone(),
            notes: record.notes.clone(),
        });
    }
    let held = session.leave()?;
    let judged = tokio::select! {
        biased;
        () = session.cancel.cancelled() => return Err(interrupted()),
        judged = session.judge.answer(ask) => judged,
    };
    session.budget.add(&judged.usage);
    drop(held);
    if let Some(journal) = &session.journal {
        let record = AnswerRecord {
            ask: ask.id.clone(),
            request_hash: judged.request_hash.clone(),
            outcome: outcome_of(&judged.answer),
            text: judged.text.clone(),
            usage: judged.usage.clone(),
            notes: judged.notes.clone(),
        };
        journal.answer(record).map_err(|error| lost(session, &error))?;
    }
    Ok(judged)
}

fn close<J>(session: &Session<J>, last: Option<&AskId>, report: &Report) -> Result<(), JournalError> {
    let (Some(journal), Some(id)) = (&session.journal, last) else { return Ok(()) };
    let case = ClosedCase {
        input: id.input,
        case_id: id.case_id.clone(),
        method: id.method,
        judge: id.judge,
        repeat: id.repeat,
        ok: matches!(report.verdict, Verdict::Found(_) | Verdict::Clean),
    };
    if session.closed.contains(&case) { Ok(()) } else { journal.close(case) }
}

fn lost<J>(session: &Session<J>, error: &JournalError) -> Cause {
    let cause = Cause::new(CauseKind::Internal, format!("the recording could not be written ({error}); nothing more was asked"));
    session.halt.get_or_init(|| cause.clone()).clone()
}

/// A quota that is used up or a key that is refused will be the same for every case after this one.
fn halt_if_hopeless<J>(session: &Session<J>, report: &Report) {
    if let Verdict::Failed(cause) = &report.verdict
        && matches!(cause.kind, CauseKind::Quota | CauseKind::Auth)
    {
        let stopped = Cause { message: format!("not asked, since an earlier run ended with: {}", cause.message), ..cause.clone() };
        session.halt.get_or_init(|| stopped);
    }
}

/// The answers of a recording that a resumed session may use. A case that did not end keeps all
/// answers but those where nothing came; a case that ended without a verdict keeps all of them, or
/// with `retry_failed` those before the stage it failed in.
#[must_use]
pub fn usable(recording: Recording, retry_failed: bool) -> BTreeMap<AskId, AnswerRecord> {
    let key = |id: &AskId| (id.input, id.case_id.clone(), id.method, id.judge, id.repeat);
    let mut ok_of = BTreeMap::new();
    for case in &recording.closed {
        ok_of.insert((case.input, case.case_id.clone(), case.method, case.judge, case.repeat), case.ok);
    }
    let mut failed_in: BTreeMap<_, Stage> = BTreeMap::new();
    for id in recording.answers.keys() {
        let last = failed_in.entry(key(id)).or_insert(id.stage);
        *last = (*last).max(id.stage);
    }
    let mut answers = recording.answers;
    answers.retain(|id, record| match ok_of.get(&key(id)) {
        Some(true) => true,
        Some(false) if retry_failed => failed_in.get(&key(id)) != Some(&id.stage),
        Some(false) => true,
        None => !matches!(record.outcome, Outcome::GaveUp { .. }),
    });
    answers
}
