//! One question to one model until it is answered or given up: negotiation, retries, pauses,
//! deadlines, and the account of all of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::time::Instant;

use super::caller::{Called, Caller, Reply};
use crate::audit::{Cause, CauseKind};
use crate::prompt::Rendered;
use crate::trajectory::{Warning, WarningCode};
use crate::wire::{
    Again, Decoded, Dialect, Facts, Outcome, Request, RetryClass, TransportError, TransportKind, Usage, decode,
    decode_transport, encode, fraction,
};

/// Requests that may be refused for a parameter in one call. The ladder is shorter; the bound is
/// for endpoints that name a new limit every time.
const MOST_STEPS: u32 = 12;

/// A call under way.
pub(super) struct Call<'a> {
    caller: &'a Caller,
    rendered: &'a Rendered,
    deadline: Instant,
    /// Time from the first request to the deadline.
    allowed: Duration,
    seed: u64,
    whole: &'a (dyn Fn(&str) -> bool + Sync),
    called: Called,
    retries: u32,
    steps: u32,
    failures: BTreeMap<RetryClass, u32>,
    last: Option<Cause>,
}

impl<'a> Call<'a> {
    /// A call that ends at `deadline`.
    pub(super) fn new(
        caller: &'a Caller,
        rendered: &'a Rendered,
        deadline: Instant,
        whole: &'a (dyn Fn(&str) -> bool + Sync),
    ) -> Self {
        Self {
            seed: seed_of(caller.settings.seed, &caller.request_hash(rendered)),
            caller,
            rendered,
            deadline,
            allowed: deadline.saturating_duration_since(Instant::now()),
            whole,
            called: Called {
                reply: Reply::Empty,
                text: String::new(),
                usage: Usage::default(),
                attempts: 0,
                notes: Vec::new(),
            },
            retries: 0,
            steps: 0,
            failures: BTreeMap::new(),
            last: None,
        }
    }

    /// Asks until there is an outcome.
    pub(super) async fn finish(mut self) -> Called {
        self.called.reply = self.run().await;
        self.called
    }

    async fn run(&mut self) -> Reply {
        loop {
            if let Err(reply) = self.wait_for_pause().await {
                return reply;
            }
            let line = Arc::clone(&self.caller.line);
            let Ok(turn) = tokio::time::timeout_at(self.deadline, line.enter()).await else {
                return self.out_of_time();
            };
            if self.caller.pause.left().is_some() {
                continue;
            }
            let outcome = self.attempt(&turn.dialect).await;
            if let Outcome::Downgrade { dialect, why } = outcome {
                if let Some(reply) = self.step_down(&turn.dialect, dialect, &why) {
                    return reply;
                }
                continue;
            }
            match &outcome {
                // A rate limit says nothing about the dialect. The pause begins before the gate opens,
                // so that nobody slips through between.
                Outcome::Retry(again) if again.pause => self.pause_all(again),
                _ => line.settle(&turn.dialect),
            }
            drop(turn);
            if let Some(reply) = self.judge(outcome).await {
                return reply;
            }
        }
    }

    /// Everybody waits while the endpoint is to be left alone, and not all come back at once.
    async fn wait_for_pause(&self) -> Result<(), Reply> {
        while let Some(left) = self.caller.pause.left() {
            let spread = left.div_f64(4.0).min(Duration::from_secs(1));
            let jitter = spread.mul_f64(fraction(self.seed, u64::from(self.called.attempts) + 1000));
            let wake = Instant::now() + left + jitter;
            if wake > self.deadline {
                return Err(self.out_of_time());
            }
            tokio::time::sleep_until(wake).await;
        }
        if Instant::now() >= self.deadline {
            return Err(self.out_of_time());
        }
        Ok(())
    }

    /// Other workers are spared the same answer, even when this call ends with it.
    fn pause_all(&self, again: &Again) {
        let policy = &self.caller.settings.retry;
        if let Ok(wait) = policy.wait(self.retries, self.seed, again.after) {
            self.caller.pause.extend(again.after.unwrap_or(wait));
        }
    }

    async fn attempt(&mut self, dialect: &Dialect) -> Outcome {
        let settings = &self.caller.settings;
        let request = encode(self.rendered, dialect, &settings.params);
        self.called.attempts += 1;
        self.log_request(&request);
        let started = Instant::now();
        let allowed = settings.attempt.min(self.deadline.saturating_duration_since(started));
        let sending = self.caller.client.post(request.target, &request.body);
        let answer = match tokio::time::timeout_at(self.deadline, sending).await {
            Ok(answer) => answer,
            Err(_) => Err(TransportError {
                kind: TransportKind::Timeout,
                message: "no answer before the time for this question was over".to_owned(),
            }),
        };
        let elapsed = started.elapsed();
        let facts = Facts {
            endpoint: self.caller.client.endpoint(),
            target: request.target,
            key_from: self.caller.client.key_from(),
            sent: &request.sent,
            now: SystemTime::now(),
        };
        let (outcome, mut usage) = match &answer {
            Ok(exchange) => {
                let Decoded { outcome, usage, notes } = decode(exchange, dialect, &facts);
                self.note(notes);
                tracing::debug!(status = exchange.status, body = %self.scrub(&exchange.body), "answer");
                (outcome, usage)
            }
            Err(error) => {
                let usage = Usage {
                    calls: 1,
                    cost_usd: settings.price.map(|_| 0.0),
                    ..Usage::default()
                };
                (with_limit(decode_transport(error, &facts), allowed), usage)
            }
        };
        usage.ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        usage.cost_usd = usage
            .cost_usd
            .or_else(|| settings.price.map(|price| price.cost(&usage)));
        self.log_attempt(answer.as_ref().ok().map(|exchange| exchange.status), &outcome, &usage);
        self.called.usage.add(&usage);
        outcome
    }

    fn step_down(&mut self, from: &Dialect, to: Dialect, why: &str) -> Option<Reply> {
        self.steps += 1;
        let why = self.scrub(why);
        if self.caller.line.step(from, to, &why) {
            tracing::warn!(model = %self.caller.settings.params.model, "the endpoint refused a parameter: {why}");
        }
        (self.steps > MOST_STEPS).then(|| {
            let cause = Cause::new(
                CauseKind::Server,
                format!("the endpoint refuses every form of the request: {why}"),
            );
            self.give_up(cause)
        })
    }

    /// What an outcome comes to; `None` to ask again.
    async fn judge(&mut self, outcome: Outcome) -> Option<Reply> {
        match outcome {
            Outcome::Text { text, .. } => {
                self.called.text = text;
                Some(Reply::Text { from_reasoning: false })
            }
            Outcome::Empty { reasoning } => self.empty(reasoning).await,
            Outcome::Truncated { limit, text } => {
                tracing::warn!(stage = %self.rendered.stage, limit, "reply truncated at the output limit");
                self.called.text = text;
                Some(Reply::Truncated { limit })
            }
            Outcome::Overflow { limit, needed } => {
                tracing::warn!(stage = %self.rendered.stage, ?limit, ?needed, "the request does not fit the model's window");
                Some(Reply::Overflow { limit, needed })
            }
            Outcome::Refused { code } => Some(Reply::Refused {
                code: self.scrub(&code),
            }),
            Outcome::Fatal(cause) => Some(self.give_up(cause)),
            Outcome::Retry(again) => self.again(again).await,
            // Handled before, where the turn is still held.
            Outcome::Downgrade { .. } => None,
        }
    }

    /// Reasoning counts only when it is wholly an answer: a JSON object and nothing else that the
    /// reader takes.
    async fn empty(&mut self, reasoning: String) -> Option<Reply> {
        let only = reasoning.trim();
        let object = serde_json::from_str::<Value>(only).is_ok_and(|value| value.is_object());
        if object && (self.whole)(only) {
            self.called.text = only.to_owned();
            self.note(vec![
                Warning::new(
                    WarningCode::AnswerFromReasoning,
                    "the reply had no content; its reasoning was wholly an answer and is used as one",
                )
                .in_stage(self.rendered.stage),
            ]);
            return Some(Reply::Text { from_reasoning: true });
        }
        let cause = Cause::new(CauseKind::Empty, "the reply has empty content");
        self.again(Again {
            after: None,
            cause,
            class: RetryClass::Empty,
            most: Some(2),
            pause: false,
        })
        .await
    }

    async fn again(&mut self, again: Again) -> Option<Reply> {
        let count = self.failures.entry(again.class).or_default();
        *count += 1;
        let spent = again.most.is_some_and(|most| *count >= most) || self.retries >= self.caller.settings.retry.retries;
        let cause = again.cause;
        let wait = self.caller.settings.retry.wait(self.retries, self.seed, again.after);
        if spent {
            return Some(self.give_up(cause));
        }
        self.retries += 1;
        let wait = match wait {
            Ok(wait) => wait,
            Err(asked) => {
                let ceiling = self.caller.settings.retry.ceiling.as_secs();
                let mut cause = cause;
                cause.message = format!(
                    "{}; it asks to wait {} s, and {ceiling} s are allowed",
                    cause.message,
                    asked.as_secs()
                );
                return Some(self.give_up(cause));
            }
        };
        if Instant::now() + wait >= self.deadline {
            self.last = Some(cause);
            return Some(self.out_of_time());
        }
        tracing::warn!(
            stage = %self.rendered.stage,
            attempt = self.called.attempts,
            wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "trying again: {}", self.scrub(&cause.message)
        );
        self.last = Some(cause);
        tokio::time::sleep(wait).await;
        None
    }

    fn out_of_time(&self) -> Reply {
        let cause = match self.last.clone() {
            Some(mut last) => {
                last.message = format!("{}; no time is left for another try", last.message);
                last
            }
            None => {
                let url = self.caller.client.endpoint().to_string();
                let mut cause = Cause::new(CauseKind::Timeout, format!("{url}: the time for this question is over"));
                cause.limit = Some(whole_seconds(self.allowed));
                cause
            }
        };
        self.give_up(cause)
    }

    fn give_up(&self, mut cause: Cause) -> Reply {
        cause.stage = Some(self.rendered.stage);
        cause.attempts = Some(self.called.attempts);
        cause.message = self.scrub(&cause.message);
        if cause.kind == CauseKind::Empty {
            return Reply::Empty;
        }
        tracing::debug!(stage = %self.rendered.stage, attempts = self.called.attempts, "gave up: {}", cause.message);
        Reply::GaveUp(cause)
    }

    fn note(&mut self, notes: Vec<Warning>) {
        for note in notes {
            let note = note.in_stage(self.rendered.stage);
            if !self.called.notes.iter().any(|known| known.code == note.code) {
                self.called.notes.push(note);
            }
        }
    }

    fn scrub(&self, text: &str) -> String {
        self.caller.client.redactor().scrub(text)
    }

    fn log_request(&self, request: &Request) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            tracing::debug!(
                url = %self.caller.client.endpoint().shown(request.target),
                body = %self.scrub(&request.body.to_string()),
                "request"
            );
        }
    }

    fn log_attempt(&self, status: Option<u16>, outcome: &Outcome, usage: &Usage) {
        let word = match outcome {
            Outcome::Text { .. } => "text",
            Outcome::Empty { .. } => "empty content",
            Outcome::Retry(_) => "failed",
            Outcome::Downgrade { .. } => "parameter refused",
            Outcome::Truncated { .. } => "truncated",
            Outcome::Overflow { .. } => "context overflow",
            Outcome::Refused { .. } => "refused",
            Outcome::Fatal(_) => "failed for good",
        };
        tracing::info!(
            model = %self.caller.settings.params.model,
            stage = %self.rendered.stage,
            attempt = self.called.attempts,
            status,
            ms = usage.ms,
            input_tokens = usage.input_tokens,
            output_tokens = usage.output_tokens,
            "{word}"
        );
    }
}

/// Questions of one run jitter apart, and the same run again waits the same.
fn seed_of(seed: u64, hash: &str) -> u64 {
    let head = hash.get(..16).and_then(|head| u64::from_str_radix(head, 16).ok());
    seed ^ head.unwrap_or_default()
}

/// A timeout names the seconds that were allowed.
fn with_limit(outcome: Outcome, allowed: Duration) -> Outcome {
    match outcome {
        Outcome::Retry(mut again) if again.cause.kind == CauseKind::Timeout => {
            again.cause.limit = Some(whole_seconds(allowed));
            again.cause.message = format!("{} ({} s were allowed)", again.cause.message, whole_seconds(allowed));
            Outcome::Retry(again)
        }
        other => other,
    }
}

/// Seconds, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
