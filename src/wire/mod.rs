//! The endpoint, pure: what it accepts and what its replies mean.

mod usage;

pub use usage::Usage;
