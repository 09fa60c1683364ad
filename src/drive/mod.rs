//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod align;
mod cached;
mod call;
mod caller;
mod chat;
mod client;
mod doctor;
mod embed;
mod gd;
mod judge;
mod localize;
mod memory;
mod offline;
mod online;
mod panel;
mod recorded;
mod selftest;

pub use align::{Aligned, EMBEDDING, Tiers, align};
pub use cached::CachedJudge;
pub use caller::{CallSettings, Called, Caller, Reply};
pub use chat::{ChatJudge, Read, Render};
pub use client::{ApiKey, Client, ClientError};
pub use doctor::{Diagnosis, diagnose};
pub use embed::{closeness, embed};
pub use gd::{GdJudged, GdOfRun, JudgedLine, RequestLine, decider, judge_findings, judge_lines, judge_turns};
pub use judge::{Judge, JudgeInfo, JudgeKind, Judged};
pub use localize::{CaseResult, localize, localize_by};
pub use memory::{Memory, Remembered};
pub use offline::OfflineJudge;
pub use online::{AT_ONCE, Audited, Budget, Ended, Session, audit, usable};
pub use panel::{Panel, Second, Spread};
pub use recorded::{ReplayJudge, ScriptedJudge, answer_from, read_reply, read_text};
pub use selftest::{Trial, injection};
