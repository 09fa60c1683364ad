//! Drives one audit: asks what the machine wants asked, records what comes, hands it back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;

use super::judge::{Judge, Judged};
use super::recorded::{answer_from, outcome_of};
use crate::audit::{Answer, Ask, AskId, Audit, Cause, CauseKind, Method, Report, Verdict};
use crate::store::{AnswerRecord, ClosedCase, Journal, JournalError, Outcome, Recording};
use crate::trajectory::{Stage, Warning};
use crate::wire::Usage;

/// Questions of one audit that are under way at a time. Only the windows of a long run do not depend on
/// each other.
pub const AT_ONCE: usize = 4;

/// What all audits of one command share.
pub struct Session<J> {
    /// Who is asked.
    pub judge: J,
    /// Who is asked in judge slot 1, if anybody.
    pub second: Option<J>,
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
    /// The same for the second judge: its audits are not run, those of the first go on.
    pub second_halt: OnceLock<Cause>,
}

impl<J: Judge> Session<J> {
    /// A session with one judge that records nothing and spends what it takes.
    pub fn new(judge: J) -> Self {
        Self {
            judge,
            second: None,
            journal: None,
            recorded: BTreeMap::new(),
            closed: BTreeSet::new(),
            budget: Budget::default(),
            cancel: CancellationToken::new(),
            halt: Arc::default(),
            second_halt: OnceLock::new(),
        }
    }

    /// The judge of a slot.
    pub fn judge_of(&self, slot: u8) -> &J {
        match &self.second {
            Some(second) if slot > 0 => second,
            _ => &self.judge,
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
        let least = ClosedCase {
            input,
            case_id: String::new(),
            method: Method::Bare,
            judge: 0,
            repeat: 0,
            ok: false,
        };
        let mut of_record = self.closed.range(least..).take_while(|case| case.input == input);
        of_record.any(|case| case.case_id == case_id && case.repeat == repeat)
    }

    /// Leave to ask this judge one more question, or why there is none.
    fn leave(&self, slot: u8) -> Result<Held<'_>, Cause> {
        if self.cancel.is_cancelled() {
            return Err(interrupted());
        }
        match self.halt_of(slot).get().or_else(|| self.halt.get()) {
            Some(cause) => Err(cause.clone()),
            None => self.budget.hold(),
        }
    }

    fn halt_of(&self, slot: u8) -> &OnceLock<Cause> {
        if slot > 0 && self.second.is_some() {
            &self.second_halt
        } else {
            &self.halt
        }
    }
}

pub(super) fn interrupted() -> Cause {
    Cause::new(
        CauseKind::Internal,
        "interrupted before it was finished; with --record the answers so far are kept for --resume",
    )
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
        let mean = if self.paid > 0 {
            self.spent / f64::from(self.paid)
        } else {
            0.0
        };
        self.spent + f64::from(self.asked) * mean
    }
}

impl Budget {
    /// A budget of this many US dollars.
    #[must_use]
    pub fn capped(max_cost: Option<f64>) -> Self {
        Self {
            max_cost,
            account: Arc::default(),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, usage: &Usage) {
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

/// Takes one audit to its end. Questions that do not depend on each other are asked [`AT_ONCE`] at a
/// time; in which order their answers come makes no difference. When asking has to stop, what is under way
/// is waited for, so that no answer that is paid for goes unrecorded (an interrupt ends it at once).
pub async fn audit<J: Judge>(session: &Session<J>, mut audit: Audit) -> Audited {
    let mut waiting: VecDeque<Ask> = VecDeque::new();
    let mut under_way = FuturesUnordered::new();
    let mut used: BTreeMap<AskId, (Usage, Vec<Warning>)> = BTreeMap::new();
    let mut stopped: Option<Cause> = None;
    loop {
        if stopped.is_none() {
            waiting.extend(audit.poll_asks());
        }
        while under_way.len() < AT_ONCE
            && let Some(ask) = waiting.pop_front()
        {
            under_way.push(async move {
                let judged = judged(session, &ask).await;
                (ask.id, judged)
            });
        }
        match under_way.next().await {
            None => break,
            Some((id, Ok(judged))) => {
                audit.handle_answer(id.clone(), judged.answer);
                if audit.poll_report().is_some() {
                    // A window failed: what is left of the others would be asked for nothing.
                    waiting.clear();
                }
                used.insert(id, (judged.usage, judged.notes));
            }
            Some((_, Err(cause))) => {
                stopped.get_or_insert(cause);
                waiting.clear();
            }
        }
    }
    let ended = match stopped {
        Some(cause) => Ended::NotRun(cause),
        None => concluded(session, &audit, used.keys().next_back()),
    };
    account(ended, used)
}

fn concluded<J: Judge>(session: &Session<J>, audit: &Audit, last: Option<&AskId>) -> Ended {
    let Some(report) = audit.poll_report() else {
        return Ended::NotRun(Cause::new(
            CauseKind::Internal,
            "the audit neither asks nor ends; please report this",
        ));
    };
    if let Err(error) = close(session, last, &report) {
        return Ended::NotRun(lost(session, &error));
    }
    halt_if_hopeless(session.halt_of(last.map_or(0, |id| id.judge)), &report);
    Ended::Report(Box::new(report))
}

/// Use and notes in the order of the questions, whatever order they were answered in.
fn account(ended: Ended, used: BTreeMap<AskId, (Usage, Vec<Warning>)>) -> Audited {
    let mut audited = Audited {
        ended,
        usage: BTreeMap::new(),
        notes: Vec::new(),
    };
    for (id, (usage, notes)) in used {
        audited.usage.entry(id.stage).or_default().add(&usage);
        for note in notes {
            if !audited.notes.contains(&note) {
                audited.notes.push(note);
            }
        }
    }
    audited
}

/// The answer to one question: the recorded one if it was given to this very request, else a new
/// one, recorded before it is used.
pub(super) async fn judged<J: Judge>(session: &Session<J>, ask: &Ask) -> Result<Judged, Cause> {
    let judge = session.judge_of(ask.id.judge);
    if let Some(record) = session.recorded.get(&ask.id)
        && record.request_hash == judge.request_hash(ask)
    {
        return Ok(Judged {
            answer: answer_from(&ask.id, &record.outcome, &record.text),
            usage: record.usage.clone(),
            text: record.text.clone(),
            request_hash: record.request_hash.clone(),
            notes: record.notes.clone(),
        });
    }
    let held = session.leave(ask.id.judge)?;
    let judged = tokio::select! {
        biased;
        () = session.cancel.cancelled() => return Err(interrupted()),
        judged = judge.answer(ask) => judged,
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
    let (Some(journal), Some(id)) = (&session.journal, last) else {
        return Ok(());
    };
    let case = ClosedCase {
        input: id.input,
        case_id: id.case_id.clone(),
        method: id.method,
        judge: id.judge,
        repeat: id.repeat,
        ok: matches!(report.verdict, Verdict::Found(_) | Verdict::Clean),
    };
    if session.closed.contains(&case) {
        return Ok(());
    }
    journal.close(case)
}

fn lost<J>(session: &Session<J>, error: &JournalError) -> Cause {
    let cause = Cause::new(
        CauseKind::Internal,
        format!("the recording could not be written ({error}); nothing more was asked"),
    );
    session.halt.get_or_init(|| cause.clone()).clone()
}

/// A quota that is used up or a key that is refused will be the same for every case after this one.
fn halt_if_hopeless(halt: &OnceLock<Cause>, report: &Report) {
    if let Verdict::Failed(cause) = &report.verdict
        && matches!(cause.kind, CauseKind::Quota | CauseKind::Auth)
    {
        let stopped = Cause {
            message: format!("not asked, since an earlier run ended with: {}", cause.message),
            ..cause.clone()
        };
        halt.get_or_init(|| stopped);
    }
}

/// The answers of a recording that a resumed session may use. A case that did not end keeps all
/// answers but those where nothing came; a case that ended without a verdict keeps all of them, or
/// with `retry_failed` those before the stage it failed in and those windows of it that were answered.
#[must_use]
pub fn usable(recording: Recording, retry_failed: bool) -> BTreeMap<AskId, AnswerRecord> {
    let key = |id: &AskId| (id.input, id.case_id.clone(), id.method, id.judge, id.repeat);
    let mut ok_of = BTreeMap::new();
    for case in &recording.closed {
        ok_of.insert(
            (case.input, case.case_id.clone(), case.method, case.judge, case.repeat),
            case.ok,
        );
    }
    let mut last_stage: BTreeMap<_, Stage> = BTreeMap::new();
    for id in recording.answers.keys() {
        let last = last_stage.entry(key(id)).or_insert(id.stage);
        *last = (*last).max(id.stage);
    }
    let in_last = |id: &AskId| last_stage.get(&key(id)) == Some(&id.stage);
    // Of each part of the stage a case ended in, and of all of them: whether the last answer is a reply that reads.
    let mut answered: BTreeMap<_, bool> = BTreeMap::new();
    for (id, record) in recording.answers.iter().filter(|(id, _)| in_last(id)) {
        let reads = matches!(answer_from(id, &record.outcome, &record.text), Answer::Reply { .. });
        answered.insert((key(id), id.part), reads);
    }
    let mut all_answered: BTreeMap<_, bool> = BTreeMap::new();
    for ((case, _), reads) in &answered {
        *all_answered.entry(case.clone()).or_insert(true) &= *reads;
    }
    let keeps = |id: &AskId, record: &AnswerRecord| match ok_of.get(&key(id)) {
        Some(true) => true,
        Some(false) if retry_failed && in_last(id) => {
            // A reply that reads and still made the stage fail is no use either.
            all_answered.get(&key(id)) == Some(&false) && answered.get(&(key(id), id.part)) == Some(&true)
        }
        Some(false) => true,
        None => !matches!(record.outcome, Outcome::GaveUp { .. }),
    };
    let kept: std::collections::BTreeSet<AskId> = recording
        .answers
        .iter()
        .filter(|(id, record)| keeps(id, record))
        .map(|(id, _)| id.clone())
        .collect();
    let mut answers = recording.answers;
    answers.retain(|id, _| kept.contains(id));
    answers
}
