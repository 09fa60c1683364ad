//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod cached;
mod call;
mod caller;
mod chat;
mod client;
mod doctor;
mod judge;
mod localize;
mod memory;
mod offline;
mod online;
mod panel;
mod recorded;
mod selftest;

pub use cached::CachedJudge;
pub use caller::{CallSettings, Called, Caller, Reply};
pub use chat::{ChatJudge, Read, Render};
pub use client::{ApiKey, Client, ClientError};
pub use doctor::{Diagnosis, diagnose};
pub use judge::{Judge, JudgeInfo, JudgeKind, Judged};
pub use localize::{CaseResult, localize, localize_by};
pub use memory::{Memory, Remembered};
pub use offline::OfflineJudge;
pub use online::{AT_ONCE, Audited, Budget, Ended, Session, audit, usable};
pub use panel::{Panel, Second, Spread};
pub use recorded::{ReplayJudge, ScriptedJudge, answer_from, read_reply, read_text};
pub use selftest::{Trial, injection};
