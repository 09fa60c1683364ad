//! The machine: one audit of one run as a sans-IO state machine.

mod ask;
mod cause;
mod method;
pub mod paper;

pub use ask::{
    Answer, Ask, AskId, BareQuestion, KeeperQuestion, Outcome, Previous, Question, RunView, SeekerQuestion,
    TracerQuestion, UserKnows, ViewSpan,
};
pub use cause::{Cause, CauseKind};
pub use method::Method;
