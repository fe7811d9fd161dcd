//! Endpoints: packets and bytes by IP address, both ways.

use super::packet_options::{WHERE, condition};
use super::summary::{Adder, GroupAdder, Summary};
use crate::Result;
use crate::batch::{DataType, Field as Column, Schema, Value};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::{Field, Frame};
use crate::query::{Condition, GROUPS_MAX, GroupBy, Groups};

/// The answer, as [`super::QuestionSpec::summary`] says it.
pub(super) const SUMMARY: &str = "Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for both of \
     its addresses, and one without addresses for none";

/// A packet as one of its endpoints has it. The name is that of its column with the number of packets.
const SCHEMA: Schema = Schema::constant("packets", COLUMNS);

const COLUMNS: &[Column] = &[
    Column::constant("ts", DataType::TimeNs, true, "Time of capture."),
    Column::constant("address", DataType::Address, false, "Address of the endpoint."),
    Column::constant("bytes", DataType::U64, false, "Bytes of the frames, as on the wire."),
    Column::constant("sent_packets", DataType::U64, false, "Packets from the address."),
    Column::constant("sent_bytes", DataType::U64, false, "Bytes from the address."),
    Column::constant("received_packets", DataType::U64, false, "Packets to the address."),
    Column::constant("received_bytes", DataType::U64, false, "Bytes to the address."),
];

/// Options of endpoints.
#[derive(Debug, Clone, Default)]
pub(super) struct EndpointOptions {
    /// Nanoseconds of an interval.
    every: Option<i64>,
    /// Endpoints at most.
    top: Option<usize>,
    /// The condition that packets meet.
    condition: Option<Condition>,
}

impl EndpointOptions {
    /// The question that they ask.
    ///
    /// # Errors
    /// Those of [`GroupBy::new`].
    pub(super) fn question(self) -> Result<EndpointQuestion> {
        let sums = ["bytes", "sent_packets", "sent_bytes", "received_packets", "received_bytes"];
        let by = GroupBy::new(&SCHEMA, &["address"], &sums, self.every)?;
        Ok(EndpointQuestion { by, options: self })
    }
}

impl NamedOptions for EndpointOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "every",
            kind: OptionKind::Seconds,
            default: "none",
            summary: "Seconds of the intervals that endpoints are told apart by",
        },
        OptionSpec {
            name: "top",
            kind: OptionKind::at_least(0),
            default: "all",
            summary: "Endpoints at most, those with the most bytes",
        },
        WHERE,
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "every" => self.every = Some(GroupBy::interval_ns(setting.seconds()?)?),
            "top" => self.top = Some(setting.count()?),
            "where" => self.condition = Some(condition(setting)?),
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// The question for endpoints.
#[derive(Debug)]
pub(super) struct EndpointQuestion {
    by: GroupBy,
    options: EndpointOptions,
}

impl Summary for EndpointQuestion {
    fn schema(&self) -> Schema {
        self.by.schema().clone()
    }

    fn adder(&self) -> Box<dyn Adder> {
        Box::new(GroupAdder {
            groups: self.by.clone().groups(GROUPS_MAX),
            condition: self.options.condition.clone(),
            top: self.options.top,
            add: add_both,
        })
    }
}

/// Adds a packet to both of its endpoints, which are one where it was sent to itself.
fn add_both(groups: &mut Groups, frame: &Frame<'_>) {
    let (source, destination) = (frame.value(Field::SrcIp), frame.value(Field::DstIp));
    add(groups, frame, source, (true, source == destination));
    if source != destination {
        add(groups, frame, destination, (false, true));
    }
}

/// Adds a packet to the endpoint that has sent it, or received it, or both.
fn add(
    groups: &mut Groups,
    frame: &Frame<'_>,
    address: Value<'_>,
    (is_sent, is_received): (bool, bool),
) {
    if matches!(address, Value::Null) {
        return;
    }
    let length = match frame.value(Field::Length) {
        Value::Unsigned(length) => length,
        _ => 0,
    };
    let counted = |is_counted: bool, count: u64| Value::Unsigned(u64::from(is_counted) * count);
    groups.add(|place| match place {
        0 => frame.value(Field::Ts),
        1 => address,
        2 => Value::Unsigned(length),
        3 => counted(is_sent, 1),
        4 => counted(is_sent, length),
        5 => counted(is_received, 1),
        _ => counted(is_received, length),
    });
}
