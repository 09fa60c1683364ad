//! A model's text read into a typed stage reply, with notes of what was mended. Pure.

pub mod published;
mod stages;

pub use stages::{
    BareReply, ClaimEvent, KeeperClaim, KeeperReply, SeekerHandle, SeekerRecord, SeekerReply, StageReply, TracerReply,
};
