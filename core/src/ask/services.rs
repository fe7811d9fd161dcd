//! Services: packets and bytes by protocol and port, both ways.

use super::both_ways::{BothWays, BothWaysOptions, add};
use crate::Result;
use crate::batch::{DataType, Field as Column, Value};
use crate::packet::{Field, Frame, PROTOCOLS};
use crate::query::{Groups, Ways};

/// The answer, as [`super::QuestionSpec::summary`] says it.
pub(super) const SUMMARY: &str = "Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that port, the services \
     with the most bytes first. A packet without ports counts for none";

const KEYS: &[Column] = &[
    Column::constant("proto", DataType::Enumeration(&PROTOCOLS), false, "Protocol of the service."),
    Column::constant("port", DataType::U16, false, "Port of the service."),
];

/// The question for services.
///
/// # Errors
/// Those of [`BothWays::new`].
pub(super) fn question(options: BothWaysOptions) -> Result<BothWays> {
    BothWays::new(KEYS, options, add_service)
}

/// Adds a packet to its service, which both sides are where their ports are the same.
fn add_service(groups: &mut Groups, frame: &Frame<'_>) {
    let (source, destination) = (frame.value(Field::SrcPort), frame.value(Field::DstPort));
    if let (Value::Unsigned(from), Value::Unsigned(to)) = (source, destination) {
        let keys = [frame.value(Field::Proto), Value::Unsigned(from.min(to))];
        add(groups, frame, &keys, Ways { is_sent: from <= to, is_received: to <= from });
    }
}
