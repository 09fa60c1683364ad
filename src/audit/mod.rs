//! The machine: one audit of one run as a sans-IO state machine.
//!
//! [`Audit`] hands out typed questions ([`Ask`]), takes typed answers ([`Answer`]) and ends with a
//! [`Report`]. It knows no HTTP, prompt, clock or disk.
//!
//! | file | what it holds |
//! |---|---|
//! | `machine` | the audit as its driver sees it |
//! | `stage` | asking a question until there is a reply; a long run in windows |
//! | `stages` | what each stage is asked and what is made of its replies |
//! | `window`, `room`, `sizing` | how much of a run a request shows, in estimated tokens |
//! | `merge` | the ledgers of windows as one |
//! | `keeper`, `seeker`, `tracer`, `ids`, `findings` | replies read against the run |
//! | [`votes`] | repeats of an audit, and two judges |
//! | [`paper`] | the published deterministic steps |
//!
//! ```
//! use std::sync::Arc;
//! use auditor::audit::{Audit, Method, Settings};
//! use auditor::trajectory::{Span, Trajectory};
//!
//! let span = |id: &str, text: &str| Span { id: id.into(), text: text.into(), ..Span::default() };
//! let spans = vec![span("s1", "search(\"mill\")"), span("s2", "Final answer: 1868.")];
//! let (run, _warnings) = Trajectory::new("r1", "When did the mill open?", spans);
//! let mut audit = Audit::new(Arc::new(run), Settings::new(Method::Drift));
//! let report = loop {
//!     for ask in audit.poll_asks() {
//!         let answer = auditor::offline::answer(&ask); // or a model, a recording, a script
//!         audit.handle_answer(ask.id, answer);
//!     }
//!     if let Some(report) = audit.poll_report() {
//!         break report;
//!     }
//! };
//! println!("{:?}", report.verdict);
//! ```

mod ask;
mod cause;
mod draft;
mod findings;
mod ids;
mod keeper;
mod machine;
mod merge;
mod method;
pub mod paper;
mod room;
mod seeker;
mod sizing;
mod stage;
mod stages;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "tests/long.rs"]
mod tests_long;
mod tracer;
mod verdict;
mod view;
pub mod votes;
mod window;

pub use ask::{
    Answer, Ask, AskId, BareQuestion, GdQuestion, KeeperQuestion, Outcome, Previous, Question, RunView, SeekerQuestion,
    TracerQuestion, UserKnows, ViewSpan,
};
pub use cause::{Cause, CauseKind};
pub use machine::{Audit, Settings};
pub use method::Method;
pub use room::{FIXED_TOKENS, tokens};
pub use verdict::{Finding, Found, LocatedBy, Report, Role, Verdict};
