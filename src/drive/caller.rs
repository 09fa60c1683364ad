//! How a model is called, and what came of a call.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::call::Call;
use super::client::Client;
use super::memory::{Line, Memory, Pause};
use crate::audit::Cause;
use crate::prompt::Rendered;
use crate::trajectory::Warning;
use crate::wire::{Dialect, Params, Price, Profile, Quirks, RetryPolicy, Usage, request_hash};

/// How a model is called.
#[derive(Clone, Debug)]
pub struct CallSettings {
    /// Model and parameters.
    pub params: Params,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Longest time for one request; the client must have been made with the same.
    pub attempt: Duration,
    /// Longest time for one question, waits and retries included.
    pub call: Duration,
    /// Price, if known.
    pub price: Option<Price>,
    /// Known oddities.
    pub quirks: Quirks,
    /// Seed of the jitter.
    pub seed: u64,
}

impl CallSettings {
    /// Settings for a model: ten minutes for a request, since reasoning models think long, and an
    /// hour for a question.
    #[must_use]
    pub fn new(params: Params) -> Self {
        Self {
            params,
            retry: RetryPolicy::default(),
            attempt: Duration::from_secs(600),
            call: Duration::from_secs(3600),
            price: None,
            quirks: Quirks::default(),
            seed: 0,
        }
    }

    /// The same with what a profile knows: name to send, API, price, effort, further fields,
    /// oddities.
    #[must_use]
    pub fn with_profile(mut self, profile: &Profile) -> Self {
        profile.sent_name().clone_into(&mut self.params.model);
        self.params.api = profile.api.unwrap_or(self.params.api);
        self.params.reasoning_effort = profile.quirks.reasoning_effort.clone().or(self.params.reasoning_effort);
        self.params.extra = profile.quirks.extra.clone();
        self.price = profile.price.or(self.price);
        self.quirks = profile.quirks.clone();
        self
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Text.
    Text {
        /// It stood where the model keeps its reasoning.
        from_reasoning: bool,
    },
    /// No text, more than once.
    Empty,
    /// Cut at the output limit.
    Truncated {
        /// Output tokens allowed.
        limit: u32,
    },
    /// It does not fit the window.
    Overflow {
        /// Window in tokens, if told.
        limit: Option<u64>,
        /// Tokens needed, if told.
        needed: Option<u64>,
    },
    /// Declined.
    Refused {
        /// The provider's code or words.
        code: String,
    },
    /// Nothing that could be read, and trying again would not help.
    GaveUp(Cause),
}

/// A call with its account.
#[derive(Clone, Debug)]
pub struct Called {
    /// What came of it.
    pub reply: Reply,
    /// The reply's text; of a cut one, what came before the cut.
    pub text: String,
    /// Use of all requests.
    pub usage: Usage,
    /// Requests sent.
    pub attempts: u32,
    /// Suspicions, each once.
    pub notes: Vec<Warning>,
}

/// Calls one model of one endpoint. Cheap to share; all callers with one [`Memory`] share what is
/// found out and wait together.
#[derive(Debug)]
pub struct Caller {
    pub(super) client: Client,
    pub(super) settings: CallSettings,
    pub(super) line: Arc<Line>,
    pub(super) pause: Arc<Pause>,
}

impl Caller {
    /// A caller for a client and a model.
    #[must_use]
    pub fn new(client: Client, settings: CallSettings, memory: &Memory) -> Self {
        let endpoint = client.endpoint().to_string();
        let params = &settings.params;
        let first = settings.quirks.apply(Dialect::first(params.api, client.endpoint()));
        Self {
            line: memory.line(&endpoint, &params.model, params.api, first),
            pause: memory.pause(&endpoint),
            client,
            settings,
        }
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &CallSettings {
        &self.settings
    }

    /// The dialect in use.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.line.dialect()
    }

    /// What was given up so far, a sentence for each step.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        self.line.steps()
    }

    /// Hash of a question as it is asked of this model.
    #[must_use]
    pub fn request_hash(&self, rendered: &Rendered) -> String {
        request_hash(rendered, &self.settings.params)
    }

    /// Asks until there is an outcome. `whole` says whether a text that stands in the place of
    /// reasoning is an answer by itself; `until` ends the call earlier than its own deadline.
    pub async fn call(
        &self,
        rendered: &Rendered,
        until: Option<Instant>,
        whole: &(dyn Fn(&str) -> bool + Sync),
    ) -> Called {
        let own = Instant::now() + self.settings.call;
        let deadline = until.map_or(own, |until| until.min(own));
        Call::new(self, rendered, deadline, whole).finish().await
    }
}
