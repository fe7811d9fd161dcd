//! Packets summed up by conversation: who talked to whom, how much, how long.
//!
//! A [`FlowTable`] takes packets and keeps one compact record per conversation, both directions in
//! one. Flows that ended leave it as [`Flow`]s. It does not follow connections: TCP state, retransmissions and reassembly are not its
//! business, and fragments after the first count for a flow without ports.

mod chunks;
mod field;
mod index;
mod key_hash;
mod record;
mod records;
mod table;

pub use field::FlowField;
pub use record::Flow;
pub(crate) use record::{Direction, Span};
pub use table::{FinishedFlows, FlowOptions, FlowTable};
