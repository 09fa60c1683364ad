//! The machine: one audit of one run as a sans-IO state machine.
//!
//! [`Audit`] hands out typed questions ([`Ask`]), takes typed answers ([`Answer`]) and ends with a
//! [`Report`]. It knows no HTTP, prompt, clock or disk.

mod ask;
mod cause;
mod findings;
mod ids;
mod keeper;
mod machine;
mod method;
pub mod paper;
mod seeker;
#[cfg(test)]
mod tests;
mod tracer;
mod verdict;
mod view;

pub use ask::{
    Answer, Ask, AskId, BareQuestion, KeeperQuestion, Outcome, Previous, Question, RunView, SeekerQuestion,
    TracerQuestion, UserKnows, ViewSpan,
};
pub use cause::{Cause, CauseKind};
pub use machine::{Audit, Settings};
pub use method::Method;
pub use verdict::{Finding, Found, LocatedBy, Report, Role, Verdict};
