//! One integration binary, a file per promise of the tool.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod eval;
mod golden_eval;
