//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod call;
mod caller;
mod chat;
mod client;
mod doctor;
mod judge;
mod memory;

pub use caller::{CallSettings, Called, Caller, Reply};
pub use chat::{ChatJudge, Read, Render};
pub use client::{ApiKey, Client, ClientError};
pub use doctor::{Diagnosis, diagnose};
pub use judge::{Judge, Judged};
pub use memory::{Memory, Remembered};
