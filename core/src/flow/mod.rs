//! Packets summed up by conversation: who talked to whom, how much, how long.
//!
//! A [`FlowTable`] takes packets and keeps one compact record per conversation, both directions in
//! one. Flows that ended leave it as [`Flow`]s. A [`FlowStore`] merges them into a table file, capture
//! by capture. It does not follow connections: TCP state, retransmissions and reassembly are not its
//! business, and fragments after the first count for a flow without ports.

mod chunks;
mod community_id;
mod field;
mod index;
mod key;
mod record;
mod records;
mod store;
mod table;

pub use crate::counted::CountedCapture;
pub use crate::value::FieldValue;
pub use field::{FlowField, FlowFieldType};
pub use key::FlowKey;
pub use record::Flow;
pub use store::{CaptureCount, FlowStore, Merged, StoredFlows};
pub use table::{FinishedFlows, FlowOptions, FlowTable};
