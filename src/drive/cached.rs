//! A chat judge before whom a cache stands.

use super::caller::Caller;
use super::chat::ChatJudge;
use super::judge::{Judge, JudgeInfo, Judged};
use super::recorded::read_reply;
use crate::audit::{Answer, Ask};
use crate::store::Cache;
use crate::wire::Usage;

/// Asks the cache first, the model if there is nothing, and keeps good replies only: an unreadable,
/// cut or refused one is asked for again next time.
pub struct CachedJudge {
    judge: ChatJudge,
    cache: Option<Cache>,
}

impl CachedJudge {
    /// A judge with a cache, or without one.
    #[must_use]
    pub fn new(judge: ChatJudge, cache: Option<Cache>) -> Self {
        Self { judge, cache }
    }

    /// What makes the calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.judge.caller()
    }

    /// Endpoint, model, parameters, the whole request and which repeat it is: repeats are asked apart.
    fn key(&self, ask: &Ask) -> Option<String> {
        let request = self.judge.sent_hash(ask)?;
        let endpoint = self.judge.caller().client().endpoint().to_string();
        let whole = format!("{endpoint}\n{request}\n{}", ask.id.repeat);
        Some(blake3::hash(whole.as_bytes()).to_hex().to_string())
    }

    fn kept(&self, cache: &Cache, key: &str, ask: &Ask) -> Option<Judged> {
        let reply = match cache.get(key) {
            Ok(reply) => reply?,
            Err(error) => {
                tracing::warn!("a cache entry was passed over: {error}");
                return None;
            }
        };
        let answer = read_reply(&ask.id, &reply.text);
        matches!(answer, Answer::Reply { .. }).then(|| Judged {
            answer,
            usage: Usage {
                cost_usd: reply.usage.cost_usd.map(|_| 0.0),
                ..Usage::default()
            },
            text: reply.text,
            request_hash: self.judge.request_hash(ask),
            notes: Vec::new(),
        })
    }
}

impl Judge for CachedJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        let slot = self.cache.as_ref().and_then(|cache| Some((cache, self.key(ask)?)));
        let Some((cache, key)) = slot else {
            return self.judge.answer(ask).await;
        };
        if let Some(judged) = self.kept(cache, &key, ask) {
            return judged;
        }
        let judged = self.judge.answer(ask).await;
        if matches!(judged.answer, Answer::Reply { .. })
            && let Err(error) = cache.put(&key, &judged.text, &judged.usage)
        {
            tracing::warn!("a reply could not be kept in the cache: {error}");
        }
        judged
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.judge.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        self.judge.info()
    }
}
