//! Requests and tokens a minute, kept under a provider's limits before it has to refuse: token buckets.
//! Time is passed in, so nothing here knows a clock.

use std::time::Duration;

/// How much of a minute may go at once. Providers count by the minute but many spread it over shorter
/// windows; a bucket of six seconds keeps any minute within a tenth of the limit.
const BURST: f64 = 0.1;

/// A bucket that fills evenly and may be overdrawn by one request.
#[derive(Clone, Debug)]
struct Bucket {
    per_second: f64,
    capacity: f64,
    level: f64,
    /// When the level was last brought up to date.
    at: Duration,
}

impl Bucket {
    fn new(per_minute: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "limits stay far below 2^53")]
        let per_minute = per_minute as f64;
        let capacity = (per_minute * BURST).max(1.0);
        Self {
            per_second: per_minute / 60.0,
            capacity,
            level: capacity,
            at: Duration::ZERO,
        }
    }

    fn fill(&mut self, now: Duration) {
        let since = now.saturating_sub(self.at).as_secs_f64();
        self.level = (self.level + since * self.per_second).min(self.capacity);
        self.at = self.at.max(now);
    }

    /// Time until `amount` may go. What is more than the bucket holds goes when it is full, and overdraws it.
    fn wait(&self, amount: f64) -> Duration {
        let lacking = amount.min(self.capacity) - self.level;
        if lacking <= 0.0 {
            return Duration::ZERO;
        }
        // A year stands for "never", which a limit of nothing would mean.
        Duration::try_from_secs_f64((lacking / self.per_second).min(31_536_000.0)).unwrap_or(Duration::MAX)
    }

    fn take(&mut self, amount: f64) {
        self.level = (self.level - amount).min(self.capacity);
    }
}

/// The limits of one endpoint.
#[derive(Clone, Debug, Default)]
pub struct Limit {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl Limit {
    /// Limits in requests and in tokens a minute; `None` is no limit.
    #[must_use]
    pub fn new(requests: Option<u64>, tokens: Option<u64>) -> Self {
        Self {
            requests: requests.map(Bucket::new),
            tokens: tokens.map(Bucket::new),
        }
    }

    /// Lets one request of about `tokens` tokens go at `now` (time since any fixed moment), or says how
    /// long to wait before asking again. Takes from both buckets or from neither.
    ///
    /// # Errors
    /// The wait.
    pub fn admit(&mut self, now: Duration, tokens: u64) -> Result<(), Duration> {
        let amounts = [1.0, float(tokens)];
        let mut buckets = [self.requests.as_mut(), self.tokens.as_mut()];
        let mut wait = Duration::ZERO;
        for (bucket, amount) in buckets.iter_mut().zip(amounts) {
            if let Some(bucket) = bucket {
                bucket.fill(now);
                wait = wait.max(bucket.wait(amount));
            }
        }
        if !wait.is_zero() {
            return Err(wait);
        }
        for (bucket, amount) in buckets.into_iter().zip(amounts) {
            if let Some(bucket) = bucket {
                bucket.take(amount);
            }
        }
        Ok(())
    }

    /// Corrects what a request was let go with by what it turned out to use: `requests` sent (retries
    /// count) and `used` tokens instead of the `expected` ones.
    pub fn settle(&mut self, expected: u64, used: u64, requests: u64) {
        if let Some(bucket) = &mut self.requests {
            bucket.take(float(requests) - 1.0);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.take(float(used) - float(expected));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_minute_never_holds_more_than_the_limit_and_a_burst() {
        let mut limit = Limit::new(Some(60), None);
        let mut gone = 0;
        let mut now = Duration::ZERO;
        while now < s(60) {
            match limit.admit(now, 0) {
                Ok(()) => gone += 1,
                Err(wait) => now += wait,
            }
        }
        assert!((60..=66).contains(&gone), "{gone}");
    }

    #[test]
    fn a_wait_is_exactly_enough() {
        let mut limit = Limit::new(None, Some(6000));
        assert_eq!(limit.admit(s(0), 600), Ok(()));
        assert_eq!(limit.admit(s(0), 100), Err(s(1)));
        assert_eq!(limit.admit(s(1), 100), Ok(()));
        assert!(limit.admit(s(1), 1).is_err());
    }

    #[test]
    fn what_was_not_used_is_given_back_and_what_was_used_beyond_is_charged() {
        let mut limit = Limit::new(Some(600), Some(6000));
        assert_eq!(limit.admit(s(0), 600), Ok(()));
        limit.settle(600, 100, 1);
        assert_eq!(limit.admit(s(0), 500), Ok(()));
        limit.settle(500, 1700, 4);
        assert_eq!(
            limit.admit(s(0), 100),
            Err(s(13)),
            "1200 tokens over, and 100 wanted, at 100 a second"
        );
        let mut refund = Limit::new(Some(10), None);
        assert_eq!(refund.admit(s(0), 0), Ok(()));
        refund.settle(0, 0, 0);
        assert_eq!(refund.admit(s(0), 0), Ok(()), "nothing was sent, so nothing counts");
    }

    #[test]
    fn one_request_larger_than_the_bucket_goes_when_it_is_full() {
        let mut limit = Limit::new(None, Some(600));
        assert_eq!(limit.admit(s(0), 6000), Ok(()));
        // 10 a second: 5940 overdrawn, and 1 wanted.
        assert_eq!(limit.admit(s(0), 1), Err(Duration::from_millis(594_100)));
        assert_eq!(limit.admit(s(594), 1), Err(Duration::from_millis(100)));
        assert_eq!(limit.admit(s(595), 1), Ok(()));
    }

    #[test]
    fn neither_bucket_is_charged_when_one_says_no_and_no_limit_lets_all_go() {
        let mut limit = Limit::new(Some(600), Some(60));
        assert_eq!(limit.admit(s(0), 6), Ok(()));
        for _ in 0..1000 {
            assert!(limit.admit(s(0), 6).is_err());
        }
        assert_eq!(limit.admit(s(6), 6), Ok(()));
        let mut none = Limit::default();
        assert!((0..100_000).all(|_| none.admit(s(0), u64::MAX).is_ok()));
    }
}
