//! The endpoint, pure: what it accepts and what its replies mean.
//!
//! [`Endpoint`] reads a base URL; [`Dialect`] is what it accepts for a model; [`encode()`] makes a
//! request and [`decode()`] says what its answer means; [`RetryPolicy`] says how long to wait before
//! another try. Nothing here knows a socket, a clock or a random number.

mod clean;
mod content;
mod decode;
mod dialect;
mod downgrade;
mod encode;
mod endpoint;
mod exchange;
mod fault;
mod models;
mod overflow;
mod price;
mod profile;
mod retry;
mod secret;
mod sse;
mod usage;

pub use decode::{Again, Decoded, Facts, Outcome, RetryClass, decode, decode_transport};
pub use dialect::{Dialect, JsonMode, LimitField};
pub use encode::{Params, Request, Sent, encode, fewest_tokens, request_hash};
pub use endpoint::{Api, Endpoint, EndpointError, Target};
pub use exchange::{Exchange, TransportError, TransportKind};
pub use models::{model_names, model_window};
pub use price::Price;
pub use profile::{Profile, ProfileError, Profiles, Quirks};
pub use retry::{RetryPolicy, fraction, retry_after, wait_in_words};
pub use secret::Redactor;
pub use usage::Usage;
