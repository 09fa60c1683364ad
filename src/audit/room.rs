//! How many tokens a text may take, and how much of a judge's window is left for the run.
//!
//! Nothing here knows a tokenizer: counts are estimates on the safe side, and an endpoint that says
//! how many tokens it counted corrects them.

/// Tokens (as estimated here) of what a request holds beside text of the run, a judge or the user:
/// system message, the stage's part, the reply's schema. The longest of the prompts that ship has
/// 8,500 characters, its schema 2,000; `tests/it/long.rs` holds this number against what is sent.
pub const FIXED_TOKENS: usize = 3600;

/// Least room for text of the run that is worth a question. A judge that was shown less has no verdict:
/// of nothing, everybody would find nothing wrong.
const MIN_ROOM: usize = 500;
/// Least output tokens that a narrow window is cut down to.
const MIN_OUTPUT: u32 = 256;
/// Percent of a window that is planned with.
const USED_PERCENT: usize = 95;

/// Thirds of a token that a character is taken for: ASCII a third (English prose is nearer a quarter,
/// code and numbers nearer a third), everything else a whole token (Chinese takes 0.7 to 1.3 by
/// tokenizer), beyond the basic plane (emoji, rare ideographs) three.
fn thirds(c: char) -> usize {
    match c {
        '\0'..='\x7f' => 1,
        '\u{80}'..='\u{ffff}' => 3,
        _ => 9,
    }
}

/// Tokens that a text is taken for.
#[must_use]
pub fn tokens(text: &str) -> usize {
    let sum: usize = if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(thirds).sum()
    };
    sum.div_ceil(3)
}

/// Bytes at the beginning of a text that are taken for at most so many tokens.
pub(super) fn head(text: &str, tokens: usize) -> usize {
    let mut left = tokens.saturating_mul(3);
    for (at, c) in text.char_indices() {
        let Some(rest) = left.checked_sub(thirds(c)) else {
            return at;
        };
        left = rest;
    }
    text.len()
}

/// Where the end of a text begins that is taken for at most so many tokens.
pub(super) fn tail(text: &str, tokens: usize) -> usize {
    let mut left = tokens.saturating_mul(3);
    for (at, c) in text.char_indices().rev() {
        let Some(rest) = left.checked_sub(thirds(c)) else {
            return at + c.len_utf8();
        };
        left = rest;
    }
    0
}

/// The judge's window as far as it is known, and the output that is allowed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// In tokens as estimated here; `None` while no bound is known.
    tokens: Option<usize>,
    /// Output tokens allowed.
    pub(super) output: u32,
}

impl Window {
    /// A window as stated. A narrow one takes at most a quarter for the output.
    pub(super) fn new(stated: Option<u64>, output: u32) -> Self {
        match stated {
            None => Self { tokens: None, output },
            Some(tokens) => Self::bounded(usize::try_from(tokens).unwrap_or(usize::MAX), output),
        }
    }

    fn bounded(tokens: usize, output: u32) -> Self {
        let quarter = u32::try_from(tokens / 4).unwrap_or(u32::MAX);
        Self {
            tokens: Some(tokens),
            output: output.min(quarter.max(MIN_OUTPUT)),
        }
    }

    /// The window's size, if one is known.
    pub(super) fn size(self) -> Option<usize> {
        self.tokens
    }

    /// The same window with twice the output.
    pub(super) fn with_twice_the_output(self) -> Self {
        Self {
            output: self.output.saturating_mul(2),
            ..self
        }
    }

    /// Tokens for everything that is not fixed; `None` while no bound is known.
    pub(super) fn room(self) -> Option<usize> {
        let planned = self.tokens?.saturating_mul(USED_PERCENT) / 100;
        Some(
            planned
                .saturating_sub(self.output as usize + FIXED_TOKENS)
                .max(MIN_ROOM),
        )
    }

    /// The window as an endpoint's refusal of a prompt of `sent` tokens (as estimated here) shows it:
    /// the limit it tells, in our tokens as far as it says how many of its own it counted; else half of
    /// what was sent. Always a tenth less than what was sent, whatever it tells.
    pub(super) fn after_overflow(self, sent: usize, limit: Option<u64>, needed: Option<u64>) -> Self {
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let needed = needed.map(|needed| usize::try_from(needed).unwrap_or(usize::MAX));
        let all = sent.saturating_add(self.output as usize);
        let told = match (limit, needed) {
            (Some(limit), Some(needed)) if limit < needed => scaled(limit, sent, needed),
            (Some(limit), _) => limit,
            (None, _) => all / 2,
        };
        Self::bounded(told.min(all / 10 * 9), self.output)
    }

    /// [`Self::room`] less what else the prompt holds, but never below what is worth a question.
    pub(super) fn room_beside(self, others: usize) -> Option<usize> {
        self.room().map(|room| room.saturating_sub(others).max(MIN_ROOM))
    }
}

/// `a · b / c` without overflow.
fn scaled(a: usize, b: usize, c: usize) -> usize {
    usize::try_from(a as u128 * b as u128 / (c as u128).max(1)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_on_the_safe_side() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("The mill was built in 1788."), 9);
        assert_eq!(tokens("灯塔改用电灯"), 6);
        assert_eq!(tokens("🜂"), 3);
        let text = "ab灯c🜂";
        for n in 0..8 {
            assert!(
                tokens(&text[..head(text, n)]) <= n && tokens(&text[tail(text, n)..]) <= n,
                "{n}"
            );
        }
        assert_eq!((head(text, 8), tail(text, 8)), (text.len(), 0));
    }

    #[test]
    fn every_refusal_makes_the_request_smaller_or_ends_it() {
        for (limit, needed) in [
            (None, None),
            (Some(8192), None),
            (Some(8192), Some(1_300_000)),
            (Some(9_000_000), Some(10)),
        ] {
            let (mut window, mut sent, mut refusals) = (Window::new(None, 4096), 1_700_000, 0);
            while window.room() != Some(MIN_ROOM) {
                let next = window.after_overflow(sent, limit, needed);
                let room = next.room().unwrap();
                assert!(
                    room + FIXED_TOKENS < sent || next.output < window.output,
                    "{limit:?} {needed:?} {next:?}"
                );
                (window, sent) = (next, sent.min(room + FIXED_TOKENS));
                refusals += 1;
                assert!(refusals < 80, "{limit:?} {needed:?}");
            }
        }
        let first = Window::new(None, 4096).after_overflow(1_700_000, Some(8192), Some(1_300_000));
        assert!(
            (9_000..12_000).contains(&first.size().unwrap()),
            "the endpoint's own count corrects ours: {first:?}"
        );
        assert_eq!(Window::new(Some(8000), 4096).output, 2000);
    }
}
