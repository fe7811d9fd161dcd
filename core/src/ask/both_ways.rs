//! Packets and bytes both ways, of whatever sends and receives: what `endpoints` and its like have in common.

use super::packet_options::{WHERE, condition};
use super::summary::{Adder, GroupAdder, Summary};
use crate::Result;
use crate::batch::{DataType, Field as Column, Schema, Value};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::{Field, Frame};
use crate::query::{Condition, GROUPS_MAX, GroupBy, Groups};

const TIME: Column = Column::constant("ts", DataType::TimeNs, true, "Time of capture.");

/// Columns that are added up, in the order of the values in [`add`].
const SUMS: &[Column] = &[
    Column::constant("bytes", DataType::U64, false, "Bytes of the frames, as on the wire."),
    Column::constant("sent_packets", DataType::U64, false, "Packets that it has sent."),
    Column::constant("sent_bytes", DataType::U64, false, "Bytes that it has sent."),
    Column::constant("received_packets", DataType::U64, false, "Packets that it has received."),
    Column::constant("received_bytes", DataType::U64, false, "Bytes that it has received."),
];

/// Options of a question about both ways.
#[derive(Debug, Clone, Default)]
pub(super) struct BothWaysOptions {
    /// Nanoseconds of an interval.
    every: Option<i64>,
    /// Rows at most.
    top: Option<usize>,
    /// The condition that packets meet.
    condition: Option<Condition>,
}

impl NamedOptions for BothWaysOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "every",
            kind: OptionKind::Seconds,
            default: "none",
            summary: "Seconds of the intervals that rows are told apart by",
        },
        OptionSpec {
            name: "top",
            kind: OptionKind::at_least(0),
            default: "all",
            summary: "Rows at most, those with the most bytes",
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

/// A question about both ways.
#[derive(Debug)]
pub(super) struct BothWays {
    by: GroupBy,
    options: BothWaysOptions,
    /// Adds a packet to the rows of what has sent it and what has received it.
    add: fn(&mut Groups, &Frame<'_>),
}

impl BothWays {
    /// The question about what the columns `keys` identify.
    ///
    /// # Errors
    /// Those of [`GroupBy::new`].
    pub(super) fn new(
        keys: &'static [Column],
        options: BothWaysOptions,
        add: fn(&mut Groups, &Frame<'_>),
    ) -> Result<Self> {
        let columns = [TIME].into_iter().chain(keys.iter().chain(SUMS).cloned());
        // Its name is that of the column with the number of packets.
        let schema = Schema::new("packets", columns.collect());
        let names = |columns: &'static [Column]| -> Vec<&str> {
            columns.iter().map(Column::name).collect()
        };
        let (keys, sums) = (names(keys), names(SUMS));
        let by = GroupBy::new(&schema, &keys, &sums, options.every)?;
        Ok(BothWays { by, options, add })
    }
}

impl Summary for BothWays {
    fn schema(&self) -> Schema {
        self.by.schema().clone()
    }

    fn adder(&self) -> Box<dyn Adder> {
        Box::new(GroupAdder {
            groups: self.by.clone().groups(GROUPS_MAX),
            condition: self.options.condition.clone(),
            top: self.options.top,
            add: self.add,
        })
    }
}

/// The ways that a packet has taken, as whoever it is counted for sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ways {
    pub(super) is_sent: bool,
    pub(super) is_received: bool,
}

/// Adds a packet to the row that `keys` identify.
pub(super) fn add(groups: &mut Groups, frame: &Frame<'_>, keys: &[Value<'_>], ways: Ways) {
    let length = match frame.value(Field::Length) {
        Value::Unsigned(length) => length,
        _ => 0,
    };
    let counted = |is_counted: bool, count| Value::Unsigned(if is_counted { count } else { 0 });
    let sums = [
        Value::Unsigned(length),
        counted(ways.is_sent, 1),
        counted(ways.is_sent, length),
        counted(ways.is_received, 1),
        counted(ways.is_received, length),
    ];
    groups.add(|place| match place.checked_sub(1) {
        None => frame.value(Field::Ts),
        Some(place) => keys.iter().chain(&sums).nth(place).copied().unwrap_or(Value::Null),
    });
}
