//! Endpoints: packets and bytes by IP address, both ways.

use super::both_ways::{BothWays, BothWaysOptions, add};
use crate::Result;
use crate::batch::{DataType, Field as Column, Value};
use crate::packet::{Field, Frame};
use crate::query::{Groups, Ways};

/// The answer, as [`super::QuestionSpec::summary`] says it.
pub(super) const SUMMARY: &str = "Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for both of \
     its addresses, and one without addresses for none";

const KEYS: &[Column] =
    &[Column::constant("address", DataType::Address, false, "Address of the endpoint.")];

/// The question for endpoints.
///
/// # Errors
/// Those of [`BothWays::new`].
pub(super) fn question(options: BothWaysOptions) -> Result<BothWays> {
    BothWays::new(KEYS, options, add_both)
}

/// Adds a packet to both of its endpoints, which are one where it was sent to itself.
fn add_both(groups: &mut Groups, frame: &Frame<'_>) {
    let (source, destination) = (frame.value(Field::SrcIp), frame.value(Field::DstIp));
    let is_to_itself = source == destination;
    if source != Value::Null {
        add(groups, frame, &[source], Ways { is_sent: true, is_received: is_to_itself });
    }
    if destination != Value::Null && !is_to_itself {
        add(groups, frame, &[destination], Ways { is_sent: false, is_received: true });
    }
}
