//! Evidence from the run's own text: chunks, grep, the packet, and quotes.

mod cell;
mod chunk;
mod drift;
mod fold;
pub mod grep;
mod index;
mod likeness;
mod packet;
pub mod quote;
mod relevance;
mod scan;
mod sentence;
mod telling;
mod terms;
pub(crate) mod words;

pub use chunk::Chunk;
pub use drift::default_budget;
pub use index::Index;
pub use likeness::same_claim;
pub use packet::{ContextRequest, GrepRow, Packet, PacketLimits};
pub use quote::{Quote, QuoteStatus};
pub use telling::telling_words;
