//! Evidence from the run's own text: chunks, grep, the packet, and quotes.

mod chunk;
pub mod grep;
mod index;
mod packet;
mod quote;
pub(crate) mod words;

pub use chunk::Chunk;
pub use index::Index;
pub use packet::{ContextRequest, GrepRow, Packet, PacketLimits};
pub use quote::{Quote, QuoteStatus};
