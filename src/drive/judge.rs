//! What every judge is to the driver.

use crate::audit::{Answer, Ask};
use crate::trajectory::Warning;
use crate::wire::Usage;

/// A judge's answer with what a recording keeps of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// For the machine.
    pub answer: Answer,
    /// What it used, failed and repeated requests included.
    pub usage: Usage,
    /// The reply's text as it came (empty when none came): recorded raw, parsed again at replay.
    pub text: String,
    /// Hash of the rendered request, 64 hex digits: a recording made from another prompt, model or
    /// text is told by it.
    pub request_hash: String,
    /// What happened on the way: downgraded parameters, suspected prompt truncation.
    pub notes: Vec<Warning>,
}

/// Answers questions: a chat model, the offline judge, a recording, a script.
pub trait Judge: Send + Sync {
    /// Answers one question. Never panics; a failure is an [`Answer`].
    fn answer(&self, ask: &Ask) -> impl Future<Output = Judged> + Send;
}
