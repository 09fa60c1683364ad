//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod judge;
mod localize;
mod offline;
mod online;
mod recorded;

pub use judge::{Judge, JudgeInfo, JudgeKind, Judged};
pub use localize::{CaseResult, localize};
pub use offline::OfflineJudge;
pub use online::{Audited, Budget, Ended, Session, audit, usable};
pub use recorded::{ReplayJudge, ScriptedJudge, answer_from, read_reply};
