//! Evidence from the run's own text: chunks, grep, the packet, and quotes.

mod chunk;
mod packet;
mod quote;

pub use chunk::Chunk;
pub use packet::{ContextRequest, GrepRow, Packet, PacketLimits};
pub use quote::{Quote, QuoteStatus};
