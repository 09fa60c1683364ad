//! When to try again and how long to wait: policy as data, time and randomness passed in.

use std::time::{Duration, SystemTime};

use super::exchange::Exchange;

/// How often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first one.
    pub retries: u32,
    /// Upper bound of the first wait; doubled for every further one.
    pub base: Duration,
    /// Upper bound of any wait that the endpoint did not ask for.
    pub cap: Duration,
    /// Longest wait that an endpoint may ask for; beyond it the call fails with the reason.
    pub ceiling: Duration,
}

impl Default for RetryPolicy {
    /// Five retries, half a second doubled up to 30 s; an endpoint may ask for two minutes, which
    /// covers limits counted by the minute.
    fn default() -> Self {
        Self {
            retries: 5,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            ceiling: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// Wait before retry number `retry` (0 is the first): full jitter, that is anything between
    /// nothing and the doubled bound, and never less than what the endpoint asked for.
    ///
    /// # Errors
    /// The wait asked for, when it is over the ceiling.
    pub fn wait(&self, retry: u32, seed: u64, asked: Option<Duration>) -> Result<Duration, Duration> {
        if let Some(asked) = asked.filter(|asked| *asked > self.ceiling) {
            return Err(asked);
        }
        let bound = self
            .base
            .saturating_mul(1u32.checked_shl(retry.min(20)).unwrap_or(u32::MAX))
            .min(self.cap);
        let jittered = bound.mul_f64(fraction(seed, u64::from(retry)));
        Ok(asked.map_or(jittered, |asked| asked.max(jittered)))
    }
}

/// A number in [0, 1) from a seed and a position: splitmix64 (Steele, Lea, Flood 2014).
#[must_use]
pub fn fraction(seed: u64, position: u64) -> f64 {
    let mut z = seed.wrapping_add(position.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    // 53 bits are what a double holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let numerator = (z >> 11) as f64;
    numerator / 9_007_199_254_740_992.0
}

/// The wait that the headers ask for: `retry-after-ms`, and `retry-after` as seconds, as a decimal
/// fraction or as an HTTP date. The longest of them counts; a date that has passed is no wait.
#[must_use]
pub fn retry_after(exchange: &Exchange, now: SystemTime) -> Option<Duration> {
    let millis = exchange
        .header("retry-after-ms")
        .and_then(number)
        .map(|millis| millis / 1000.0);
    let seconds = exchange.header("retry-after").and_then(|value| {
        number(value).or_else(|| {
            let at = httpdate::parse_http_date(value.trim()).ok()?;
            Some(at.duration_since(now).unwrap_or_default().as_secs_f64())
        })
    });
    let longest = [millis, seconds]
        .into_iter()
        .flatten()
        .fold(None, |longest: Option<f64>, next| {
            Some(longest.map_or(next, |longest| longest.max(next)))
        })?;
    duration(longest)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0)
}

fn duration(seconds: f64) -> Option<Duration> {
    // A wait beyond a year is over any ceiling; the bound keeps the conversion from failing.
    Duration::try_from_secs_f64(seconds.min(31_536_000.0)).ok()
}

/// A wait told in words: `34s` (Google's `retryDelay`), `try again in 1m2.5s`, `20ms`, `retry after 5 seconds`.
#[must_use]
pub fn wait_in_words(text: &str) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    let start = [
        "try again in ",
        "retry in ",
        "retry after ",
        "retrydelay\":\"",
        "retrydelay\": \"",
    ]
    .iter()
    .find_map(|lead| lower.find(lead).map(|at| at + lead.len()))?;
    let mut rest = lower.get(start..)?;
    let mut total = 0.0;
    let mut found = false;
    loop {
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let Some(amount) = rest
            .get(..end)
            .and_then(|digits| digits.trim_end_matches('.').parse::<f64>().ok())
        else {
            break;
        };
        let tail = rest.get(end..).unwrap_or_default();
        let spaced = tail.trim_start();
        let unit: String = spaced.chars().take_while(char::is_ascii_alphabetic).collect();
        let scale = match unit.as_str() {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => break,
        };
        total += amount * scale;
        found = true;
        rest = spaced.get(unit.len()..).unwrap_or_default();
    }
    found.then_some(total).and_then(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(headers: &[(&str, &str)]) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        retry_after(&Exchange::new(429, headers, ""), now)
    }

    #[test]
    fn every_spelling_of_a_wait_is_read() {
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(after(&[("Retry-After", "2")]), ms(2000));
        assert_eq!(after(&[("retry-after", " 0.5 ")]), ms(500));
        assert_eq!(after(&[("retry-after-ms", "1500")]), ms(1500));
        assert_eq!(after(&[("retry-after", "1"), ("retry-after-ms", "1500")]), ms(1500));
        assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")]), ms(3000));
        assert_eq!(after(&[("retry-after", "Sunday, 06-Nov-94 08:49:40 GMT")]), ms(3000));
        assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")]), ms(0));
        for nonsense in ["soon", "-3", "NaN", "inf", ""] {
            assert_eq!(after(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
        assert!(after(&[("retry-after", "1e300")]).unwrap() > Duration::from_secs(1_000_000));
    }

    #[test]
    fn words_tell_a_wait_too() {
        let words = |text| wait_in_words(text).map(|d| d.as_millis());
        assert_eq!(words("Limit 3, Used 3. Please try again in 20s. Visit"), Some(20_000));
        assert_eq!(words("Please try again in 1m2.5s."), Some(62_500));
        assert_eq!(words("Please try again in 20ms."), Some(20));
        assert_eq!(words("Please retry after 5 seconds."), Some(5000));
        assert_eq!(words(r#"{"retryDelay": "34s"}"#), Some(34_000));
        assert_eq!(words("try again in a while"), None);
        assert_eq!(words("no wait 5s"), None);
    }

    #[test]
    fn waits_are_bounded_and_never_shorter_than_asked() {
        let policy = RetryPolicy::default();
        for seed in 0..200 {
            for retry in 0..40 {
                let wait = policy.wait(retry, seed, None).unwrap();
                assert!(wait <= policy.cap);
                assert!(retry > 0 || wait <= policy.base);
                let asked = Duration::from_secs(7);
                assert!(policy.wait(retry, seed, Some(asked)).unwrap() >= asked);
            }
        }
        assert_eq!(
            policy.wait(0, 1, Some(Duration::from_secs(3600))),
            Err(Duration::from_secs(3600))
        );
        let spread: std::collections::BTreeSet<_> = (0..50).map(|seed| policy.wait(3, seed, None)).collect();
        assert!(spread.len() > 40, "jitter must differ between workers");
    }
}
