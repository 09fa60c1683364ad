//! A judge kept under its endpoint's limits of requests and tokens a minute.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::judge::{Judge, JudgeInfo, Judged};
use crate::audit::{Ask, Question, RunView};
use crate::wire::Limit;

/// Tokens of a prompt beside the run's own text: instructions and the reply's schema.
const PROMPT_TOKENS: u64 = 1_500;
/// Characters a token, roughly; the real count comes back with the answer.
const CHARS_A_TOKEN: u64 = 4;

/// The limits of one endpoint, shared by all who ask there.
#[derive(Debug)]
pub struct Limiter {
    limit: Mutex<Limit>,
    /// Held by whoever is next, so that those who wait go in order.
    next: tokio::sync::Mutex<()>,
    began: Instant,
}

impl Limiter {
    /// Limits in requests and in tokens a minute; `None` is no limit.
    #[must_use]
    pub fn new(requests: Option<u64>, tokens: Option<u64>) -> Self {
        Self {
            limit: Mutex::new(Limit::new(requests, tokens)),
            next: tokio::sync::Mutex::default(),
            began: Instant::now(),
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Limit) -> T) -> T {
        change(&mut self.limit.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a request of about `tokens` tokens may go.
    async fn admit(&self, tokens: u64) {
        let _next = self.next.lock().await;
        while let Err(wait) = self.with(|limit| limit.admit(self.began.elapsed(), tokens)) {
            tokio::time::sleep(wait).await;
        }
    }
}

/// A judge behind a limiter; without one it is asked at once.
pub struct Limited<J> {
    judge: J,
    limiter: Option<Arc<Limiter>>,
}

impl<J> Limited<J> {
    /// Puts a judge behind a limiter.
    #[must_use]
    pub fn new(judge: J, limiter: Option<Arc<Limiter>>) -> Self {
        Self { judge, limiter }
    }

    /// The judge.
    #[must_use]
    pub fn inner(&self) -> &J {
        &self.judge
    }
}

impl<J: Judge> Judge for Limited<J> {
    async fn answer(&self, ask: &Ask) -> Judged {
        let Some(limiter) = &self.limiter else {
            return self.judge.answer(ask).await;
        };
        // Providers count what a request may use at most; what it does not use is given back.
        let expected = input_tokens(ask) + u64::from(ask.max_output);
        limiter.admit(expected).await;
        let judged = self.judge.answer(ask).await;
        limiter.with(|limit| limit.settle(expected, judged.usage.total_tokens, judged.usage.calls));
        judged
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.judge.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        self.judge.info()
    }
}

/// About how many input tokens a question makes, without rendering it.
fn input_tokens(ask: &Ask) -> u64 {
    let chars = match &ask.question {
        Question::Keeper(question) => shown(&question.view),
        Question::Bare(question) => shown(&question.view),
        Question::Seeker(question) => question.packet.chars(),
        Question::Tracer(question) => question.packet.chars(),
        Question::Gd(question) => question.run.spans().iter().map(|span| span.text.len()).sum(),
    };
    PROMPT_TOKENS + chars as u64 / CHARS_A_TOKEN
}

/// Bytes of the run that are shown, which is near enough to characters.
fn shown(view: &RunView) -> usize {
    view.spans
        .iter()
        .flat_map(|span| &span.excerpts)
        .map(ExactSizeIterator::len)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_who_wait_go_in_order_and_no_faster_than_the_limit() {
        let limiter = Limiter::new(Some(6000), None);
        let began = Instant::now();
        let gone = Mutex::new(Vec::new());
        let one = |number: usize| {
            let (limiter, gone) = (&limiter, &gone);
            async move {
                limiter.admit(0).await;
                gone.lock().unwrap().push(number);
            }
        };
        futures_util::future::join_all((0..640).map(one)).await;
        // 600 at once, then 100 a second.
        assert!(began.elapsed().as_secs_f64() >= 0.39, "{:?}", began.elapsed());
        assert!(gone.lock().unwrap().is_sorted());
    }
}
