//! What an HTTP answer means. Pure: the time is passed in.

mod told;

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::clean;
use super::content::{self, Finish};
use super::dialect::Dialect;
use super::downgrade;
use super::encode::Sent;
use super::endpoint::{Endpoint, Target};
use super::exchange::{Exchange, TransportError, TransportKind};
use super::fault::Fault;
use super::overflow;
use super::retry::{retry_after, wait_in_words};
use super::usage::Usage;
use crate::audit::{Cause, CauseKind};
use crate::trajectory::{Warning, WarningCode};

/// What is known about a request beyond its answer.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Where it went.
    pub endpoint: &'a Endpoint,
    /// What was called there.
    pub target: Target,
    /// Name of the variable that supplied the key; `None` when no key was sent.
    pub key_from: Option<&'a str>,
    /// What was sent.
    pub sent: &'a Sent,
    /// The present, for `Retry-After` dates.
    pub now: SystemTime,
}

/// Kinds of failure that are counted apart when tries are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetryClass {
    /// The endpoint said so by its status.
    Status,
    /// A web page with status 200.
    Page,
    /// A body that cannot be read.
    Unreadable,
    /// A reply without text.
    Empty,
    /// No answer.
    Transport,
}

/// A failure that another try may mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// Wait that the endpoint asked for.
    pub after: Option<Duration>,
    /// What to report when no try is left.
    pub cause: Cause,
    /// Counted with failures of this class.
    pub class: RetryClass,
    /// Most requests that may end this way in one call, where it is fewer than the policy allows.
    pub most: Option<u32>,
    /// The endpoint is to be left alone by everybody until the wait is over.
    pub pause: bool,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A reply with text.
    Text {
        /// The reply.
        text: String,
        /// The model's reasoning, apart; usually empty.
        reasoning: String,
    },
    /// A reply without text.
    Empty {
        /// The model's reasoning, which is no answer by itself.
        reasoning: String,
    },
    /// Worth another try.
    Retry(Again),
    /// A parameter was refused: send this dialect instead.
    Downgrade {
        /// What to send.
        dialect: Dialect,
        /// What is given up, in a sentence.
        why: String,
    },
    /// Cut at the output limit.
    Truncated {
        /// Output tokens allowed.
        limit: u32,
        /// What came before the cut.
        text: String,
    },
    /// The request does not fit the window.
    Overflow {
        /// Window in tokens, if told.
        limit: Option<u64>,
        /// Tokens needed, if told.
        needed: Option<u64>,
    },
    /// The model or its filter declined.
    Refused {
        /// The provider's code or words.
        code: String,
    },
    /// Another try cannot help.
    Fatal(Cause),
}

/// An answer, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// What it means.
    pub outcome: Outcome,
    /// What the one request used. `ms` and the cost by price are the caller's to add.
    pub usage: Usage,
    /// Suspicions.
    pub notes: Vec<Warning>,
}

/// Reads an answer.
#[must_use]
pub fn decode(exchange: &Exchange, dialect: &Dialect, facts: &Facts<'_>) -> Decoded {
    let value = if exchange.is_page() {
        None
    } else {
        clean::json(&exchange.body)
    };
    let reader = Reader {
        exchange,
        dialect,
        facts,
    };
    let mut outcome = if (200..300).contains(&exchange.status) {
        reader.success(value.as_ref())
    } else {
        reader.failure(value.as_ref())
    };
    let mut usage = Usage {
        calls: 1,
        ..Usage::default()
    };
    if let Some(value) = &value {
        let (told, cost) = content::usage(value);
        usage = told;
        usage.cost_usd = cost;
    }
    // An answer with an error status and no tokens costs nothing, whatever the price.
    if usage.cost_usd.is_none() && usage.total_tokens == 0 && exchange.status >= 400 {
        usage.cost_usd = Some(0.0);
    }
    outcome = cut_unsaid(outcome, &usage, facts.sent);
    let notes = truncated_prompt(&usage, facts.sent).into_iter().collect();
    Decoded { outcome, usage, notes }
}

/// Reads a request that had no answer.
#[must_use]
pub fn decode_transport(error: &TransportError, facts: &Facts<'_>) -> Outcome {
    let url = facts.endpoint.shown(facts.target);
    let plain = error.message.contains("InvalidContentType");
    let (kind, hint, most) = match error.kind {
        TransportKind::Connect if plain => (
            CauseKind::Connection,
            "; the server does not speak TLS: is its URL http:// rather than https://?",
            Some(1),
        ),
        TransportKind::Timeout => (CauseKind::Timeout, "", None),
        TransportKind::Connect => (
            CauseKind::Connection,
            "; is the server running, and is the URL right?",
            None,
        ),
        TransportKind::Broken => (CauseKind::Connection, "", None),
        TransportKind::TooLarge => (CauseKind::Server, "", Some(2)),
        TransportKind::Certificate => (
            CauseKind::Connection,
            "; if the host has a certificate of its own authority, name its file in SSL_CERT_FILE",
            Some(1),
        ),
        TransportKind::Unsendable => (CauseKind::Internal, "", Some(1)),
    };
    Outcome::Retry(Again {
        after: None,
        cause: Cause::new(kind, format!("{url}: {}{hint}", error.message)),
        class: RetryClass::Transport,
        most,
        pause: false,
    })
}

/// Some servers say `stop` or `completed` of a reply that they cut (llama.cpp's responses API): all
/// tokens allowed were used, and no whole object is in the text.
fn cut_unsaid(outcome: Outcome, usage: &Usage, sent: &Sent) -> Outcome {
    match (outcome, sent.limit) {
        (Outcome::Text { text, .. }, Some(limit))
            if usage.output_tokens >= u64::from(limit) && !clean::has_whole_object(&text) =>
        {
            Outcome::Truncated { limit, text }
        }
        (outcome, _) => outcome,
    }
}

/// The endpoint counted fewer tokens than any tokenizer could have made of the prompt; or so few
/// that prose cannot be meant, and a number that windows have (Ollama and others cut in silence).
fn truncated_prompt(usage: &Usage, sent: &Sent) -> Option<Warning> {
    let input = usage.input_tokens;
    let least = sent.fewest_tokens;
    if input == 0 || least < 1500 {
        return None;
    }
    let window_like =
        (input % 1024 <= 8 || input % 1024 >= 1016) && input.saturating_mul(11) < least.saturating_mul(16);
    let impossible = least >= 2000 && input < least;
    (impossible || window_like).then(|| {
        Warning::new(
            WarningCode::PromptTruncatedSuspected,
            format!(
                "the endpoint counted {input} input tokens where at least about {least} were sent: \
                 its window may be smaller than the prompt, and the rest cut in silence"
            ),
        )
    })
}

struct Reader<'a> {
    exchange: &'a Exchange,
    dialect: &'a Dialect,
    facts: &'a Facts<'a>,
}

impl Reader<'_> {
    fn success(&self, value: Option<&Value>) -> Outcome {
        let Some(value) = value else { return self.unreadable() };
        if let Some(error) = told::inner_error(value) {
            let fault = Fault::of_value(error);
            let status = fault.status.unwrap_or_else(|| told::implied_status(&fault));
            return self.classify(&fault, status);
        }
        let Some(content) = content::read(value) else {
            if let Some(code) = told::blocked_prompt(value) {
                return Outcome::Refused { code };
            }
            return self.unreadable();
        };
        let sent = self.facts.sent;
        match content.finish {
            Finish::Filtered(code) => return Outcome::Refused { code },
            Finish::Length => {
                return Outcome::Truncated {
                    limit: sent.limit.unwrap_or(sent.wanted),
                    text: content.text,
                };
            }
            Finish::Window => {
                return Outcome::Overflow {
                    limit: None,
                    needed: None,
                };
            }
            Finish::Error => return self.again(CauseKind::Server, "the provider ended the reply with an error", None),
            Finish::Done => {}
        }
        if !content.refusal.trim().is_empty() && content.text.trim().is_empty() {
            return Outcome::Refused {
                code: format!("refusal: {}", clean::excerpt(&content.refusal, 200)),
            };
        }
        if content.text.trim().is_empty() {
            if let Some(code) = told::blocked_prompt(value) {
                return Outcome::Refused { code };
            }
            return Outcome::Empty {
                reasoning: content.reasoning,
            };
        }
        Outcome::Text {
            text: content.text,
            reasoning: content.reasoning,
        }
    }

    fn failure(&self, value: Option<&Value>) -> Outcome {
        let status = self.exchange.status;
        if (300..400).contains(&status) {
            let to = self.exchange.header("location").unwrap_or("nowhere");
            let to = Endpoint::parse(to).map_or_else(|_| clean::excerpt(to, 200), |to| to.to_string());
            return self.fatal(
                CauseKind::Server,
                &format!(
                    "it redirects to {to}, which is not followed with a key; if that is meant, give it as --base-url"
                ),
            );
        }
        // A filter's answer may be a completion although the status says 400.
        if let Some(Finish::Filtered(code)) = value.and_then(content::read).map(|content| content.finish) {
            return Outcome::Refused { code };
        }
        let fault = value.map_or_else(|| Fault::of_body(&self.exchange.body), Fault::of_value);
        self.classify(&fault, status)
    }

    fn classify(&self, fault: &Fault, status: u16) -> Outcome {
        if let Some(code) = told::refused(fault, status) {
            return Outcome::Refused { code };
        }
        if self.is_quota(fault, status) {
            return self.fatal(
                CauseKind::Quota,
                &format!(
                    "{}; the account behind the key has nothing left, and waiting does not help",
                    fault.message
                ),
            );
        }
        if matches!(status, 400 | 413 | 414 | 422 | 429 | 500)
            && let Some(found) = overflow::read(fault)
        {
            return Outcome::Overflow {
                limit: found.limit,
                needed: found.needed,
            };
        }
        if status == 413 {
            return Outcome::Overflow {
                limit: None,
                needed: None,
            };
        }
        let bad_key = [
            "invalid_api_key",
            "api_key_invalid",
            "authentication_error",
            "authenticationerror",
        ];
        if matches!(status, 401 | 403 | 407)
            || (status == 400 && (fault.has_code(&bad_key) || fault.says(&["api key not valid", "incorrect api key"])))
        {
            return self.fatal(CauseKind::Auth, &format!("{}; {}", fault.message, self.key_hint()));
        }
        if let Some(step) = downgrade::read(fault, status, self.dialect, self.facts.sent) {
            return Outcome::Downgrade {
                dialect: step.dialect,
                why: format!(
                    "{} (the endpoint said: {})",
                    step.why,
                    clean::excerpt(&fault.message, 160)
                ),
            };
        }
        if fault.has_code(&["json_validate_failed"]) {
            return Outcome::Retry(Again {
                most: Some(2),
                class: RetryClass::Unreadable,
                ..self.retry(CauseKind::BadReply, &fault.message, None, false)
            });
        }
        match status {
            404 | 405 => self.fatal(
                CauseKind::Server,
                &format!("{}; {}", fault.message, self.not_found_hint(fault)),
            ),
            408 | 409 | 425 | 429 | 500 | 502..=599 => self.by_status(fault, status),
            _ => self.fatal(CauseKind::Server, &fault.message),
        }
    }

    fn by_status(&self, fault: &Fault, status: u16) -> Outcome {
        let kind = match status {
            429 => CauseKind::RateLimited,
            408 => CauseKind::Timeout,
            _ => CauseKind::Server,
        };
        let after = retry_after(self.exchange, self.facts.now).or_else(|| wait_in_words(&fault.words));
        let pause = status == 429 || (matches!(status, 503 | 529) && after.is_some());
        let mut again = self.retry(kind, &fault.message, after, pause);
        // OpenAI and Anthropic say so where their own clients should not try again.
        again.most = (self.exchange.header("x-should-retry") == Some("false")).then_some(1);
        again.cause.http_status = Some(status);
        if status != self.exchange.status {
            again.cause.message = again.cause.message.replacen(
                &format!("HTTP {}", self.exchange.status),
                &format!("HTTP {} with an error {status} inside", self.exchange.status),
                1,
            );
        }
        Outcome::Retry(again)
    }

    fn is_quota(&self, fault: &Fault, status: u16) -> bool {
        let comes_back = retry_after(self.exchange, self.facts.now).or_else(|| wait_in_words(&fault.words));
        told::is_quota(fault, status, comes_back.is_some())
    }

    fn unreadable(&self) -> Outcome {
        let page = self.exchange.is_page();
        let what = if page {
            "a web page, not an API's answer: this URL does not look like an API".to_owned()
        } else if self.exchange.body.trim().is_empty() {
            "an empty body".to_owned()
        } else {
            format!(
                "no {} reply: {}",
                self.facts.target.path(),
                clean::excerpt(&self.exchange.body, 200)
            )
        };
        let packed = self
            .exchange
            .header("content-encoding")
            .filter(|coding| *coding != "identity");
        let what = packed.map_or(what.clone(), |coding| {
            format!("{what} (packed as {coding}, which was not asked for)")
        });
        let kind = if page { CauseKind::Server } else { CauseKind::BadReply };
        let hint = if page {
            format!(
                " ({}; {})",
                clean::excerpt(&self.exchange.body, 80),
                self.facts.endpoint.other_form()
            )
        } else {
            String::new()
        };
        Outcome::Retry(Again {
            class: if page { RetryClass::Page } else { RetryClass::Unreadable },
            most: Some(if page { 2 } else { 3 }),
            ..self.retry(kind, &format!("{what}{hint}"), None, false)
        })
    }

    fn again(&self, kind: CauseKind, message: &str, after: Option<Duration>) -> Outcome {
        Outcome::Retry(self.retry(kind, message, after, false))
    }

    fn retry(&self, kind: CauseKind, message: &str, after: Option<Duration>, pause: bool) -> Again {
        Again {
            after,
            cause: self.cause(kind, message),
            class: RetryClass::Status,
            most: None,
            pause,
        }
    }

    fn fatal(&self, kind: CauseKind, message: &str) -> Outcome {
        Outcome::Fatal(self.cause(kind, message))
    }

    fn cause(&self, kind: CauseKind, message: &str) -> Cause {
        let status = self.exchange.status;
        let media = self.exchange.header("content-type").unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        let media = if media.is_empty() || media == "application/json" {
            String::new()
        } else {
            format!(" ({})", clean::excerpt(media, 60))
        };
        let url = self.facts.endpoint.shown(self.facts.target);
        let message = if message.is_empty() { "no message" } else { message };
        let mut cause = Cause::new(kind, format!("HTTP {status}{media} from {url}: {message}"));
        cause.http_status = Some(status);
        cause
    }

    fn key_hint(&self) -> String {
        match self.facts.key_from {
            Some(name) => format!("the key came from {name}: check that it is whole and belongs to this endpoint"),
            None => "no key was sent: set OPENAI_API_KEY, or api_key_env in the model's profile".to_owned(),
        }
    }

    fn not_found_hint(&self, fault: &Fault) -> String {
        let other = self.facts.endpoint.other_form();
        if fault.says(&["model"]) {
            return format!("is the model's name right? If the URL is wrong, {other}");
        }
        if self.facts.target == Target::Responses {
            return format!("does it have the responses API? If not, use --api chat; else {other}");
        }
        other
    }
}

#[cfg(test)]
mod tests;
