//! Packets summed up by conversation: who talked to whom, how much, how long.
//!
//! A [`FlowTable`] takes packets and keeps one compact record per conversation, both directions in
//! one. Flows that ended leave it as [`Flow`]s. It does not reassemble
//! segments. IP fragments count for the flow that the first one of their datagram tells. Where somebody asks for features, it counts
//! them of each flow beside its record. A [`FlowEncoder`] writes flows in the words of other programs.

mod chunks;
mod features;
mod field;
mod formats;
mod fragments;
mod index;
mod key_hash;
mod options;
mod record;
mod records;
mod table;

pub(crate) use features::FeatureValue;
pub use features::{FeatureSet, FlowFeatures};
pub use field::FlowField;
pub use formats::{FlowEncoder, FlowFormat};
pub use options::FlowOptions;
pub use record::Flow;
pub(crate) use record::{DirectionSums, TimeSpan};
pub use table::{FinishedFlows, FlowTable};
