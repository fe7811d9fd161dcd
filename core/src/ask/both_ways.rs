//! Packets and bytes both ways, of whatever sends and receives: what `endpoints` and its like have in common.

use super::packet_options::{WHERE, condition};
use super::summary::{Adder, GroupAdder, Summary};
use crate::Result;
use crate::batch::{DataType, Field as Column, Schema, Value};
use crate::input::WantedRecords;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::{Field, Frame};
use crate::query::{Condition, GROUPS_MAX, GroupBy, Groups, Ways};

const TIME: Column = Column::constant("ts", DataType::TimeNs, true, "Time of capture.");

const BYTES: Column =
    Column::constant("bytes", DataType::U64, false, "Bytes of the frames, as on the wire.");

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
        let columns = [TIME].into_iter().chain(keys.iter().cloned()).chain([BYTES]);
        // Its name is that of the column with the number of packets.
        let schema = Schema::new("packets", columns.collect());
        let keys: Vec<&str> = keys.iter().map(Column::name).collect();
        let by = GroupBy::both_ways(&schema, &keys, &[BYTES.name()], options.every)?;
        Ok(BothWays { by, options, add })
    }
}

impl Summary for BothWays {
    fn schema(&self) -> Schema {
        self.by.schema().clone()
    }

    fn wanted(&self) -> WantedRecords {
        WantedRecords::of(self.options.condition.as_ref())
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

/// Adds a packet to the row that `keys` identify.
pub(super) fn add(groups: &mut Groups, frame: &Frame<'_>, keys: &[Value<'_>], ways: Ways) {
    let value = |place: usize| match place.checked_sub(1) {
        None => frame.value(Field::Ts),
        Some(place) => keys.get(place).copied().unwrap_or_else(|| frame.value(Field::Length)),
    };
    groups.add_one_way(value, ways);
}
