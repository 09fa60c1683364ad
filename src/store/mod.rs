//! Journal, cache and atomic files: the lowest room that touches a disk.

mod cache;
pub mod files;
mod journal;
pub mod sealed;
mod spool;

pub use cache::{Cache, CachedReply};
pub use journal::{AnswerRecord, ClosedCase, Fingerprint, JOURNAL_VERSION, Journal, JournalError, Outcome, Recording};
pub use spool::Spool;
