//! Where tokio lives: judges, the HTTP client, the driver of an audit.

mod judge;

pub use judge::{Judge, Judged};
