//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod bench;
mod call;
mod caller;
mod chat;
mod client;
mod doctor;
mod fetch;
mod judge;
mod limit;
mod localize;
mod memory;
mod offline;
mod online;
mod recorded;

pub use bench::{Finished, Lane, bench};
pub use caller::{CallSettings, Called, Caller, Reply};
pub use chat::{ChatJudge, Read, Render};
pub use client::{ApiKey, Client, ClientError};
pub use doctor::{Diagnosis, diagnose};
pub use fetch::{FetchError, Fetcher};
pub use judge::{Judge, JudgeInfo, JudgeKind, Judged};
pub use limit::{Limited, Limiter};
pub use localize::{CaseResult, localize};
pub use memory::{Memory, Remembered};
pub use offline::OfflineJudge;
pub use online::{Audited, Budget, Ended, Session, audit, usable};
pub use recorded::{ReplayJudge, ScriptedJudge, answer_from, read_reply, read_text};
