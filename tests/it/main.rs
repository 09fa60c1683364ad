//! One integration binary, a file per promise of the tool.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod eval;
mod floors;
mod golden;
mod golden_eval;
mod golden_load;
mod import;
mod judge;
mod localize;
mod long;
mod samples;
mod schema;
mod soak;
mod stub;
mod telbench;
mod wire;
mod wire_faults;
