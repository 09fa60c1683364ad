//! Journal and atomic files: the lowest room that touches a disk.

pub mod files;
mod journal;
pub mod sealed;
mod spool;

pub use journal::{AnswerRecord, ClosedCase, Fingerprint, JOURNAL_VERSION, Journal, JournalError, Outcome, Recording};
pub use spool::Spool;
