//! Options of questions about packets.

use std::sync::Arc;

use super::Question;
use super::packet_numbers::PacketNumbers;
use crate::Result;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::Field;
use crate::query::{Condition, GroupBy};

/// The packets that become rows.
#[derive(Debug, Clone)]
pub struct PacketOptions {
    /// Rows of a batch at most.
    pub rows: usize,
    /// The condition that packets meet, over the fields of [`Field::SCHEMA`].
    pub condition: Option<Condition>,
    /// Number of the last packet that is looked at; none where the capture ends by itself.
    pub last: Option<u64>,
}

impl Default for PacketOptions {
    fn default() -> Self {
        PacketOptions { rows: 65_536, condition: None, last: None }
    }
}

impl NamedOptions for PacketOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "rows",
            kind: OptionKind::at_least(1),
            default: "65536",
            summary: "Packets in a batch of columns at most",
        },
        WHERE,
        NUMBERS,
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "rows" => self.rows = setting.count()?,
            "where" => add(&mut self.condition, condition(setting)?),
            "numbers" => add_numbers(&mut self.condition, &mut self.last, setting)?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// Packets that are added up by group.
#[derive(Debug, Clone)]
pub struct SumQuestion {
    /// The groups and the sums.
    pub by: GroupBy,
    /// The condition that packets meet.
    pub condition: Option<Condition>,
    /// Groups at most, the largest.
    pub top: Option<usize>,
    /// Number of the last packet that is looked at.
    pub last: Option<u64>,
}

/// Options for adding up packets.
#[derive(Debug, Clone, Default)]
pub struct SumOptions {
    /// Names of the fields that packets are grouped by.
    pub by: Vec<String>,
    /// Nanoseconds of an interval.
    pub every: Option<i64>,
    /// Groups at most.
    pub top: Option<usize>,
    /// The condition that packets meet.
    pub condition: Option<Condition>,
    /// Number of the last packet that is looked at.
    pub last: Option<u64>,
}

impl SumOptions {
    /// The question for the sums of the fields of these names.
    ///
    /// # Errors
    /// Those of [`GroupBy::new`].
    pub fn question<S: AsRef<str>>(self, sums: &[S]) -> Result<Question> {
        let names: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let sums: Vec<&str> = sums.iter().map(AsRef::as_ref).collect();
        let by = GroupBy::new(&Field::SCHEMA, &names, &sums, self.every)?;
        let question =
            SumQuestion { by, condition: self.condition, top: self.top, last: self.last };
        Ok(Question::Summary(Arc::new(question)))
    }
}

impl NamedOptions for SumOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "by",
            kind: OptionKind::Texts,
            default: "none",
            summary: "What packets are grouped by: fields, host and port for both sides of each, networks such as src_ip/24",
        },
        OptionSpec {
            name: "every",
            kind: OptionKind::Seconds,
            default: "none",
            summary: "Seconds of the intervals that packets are grouped by",
        },
        OptionSpec {
            name: "top",
            kind: OptionKind::at_least(0),
            default: "all",
            summary: "Groups at most, the largest by the first sum or measure, or else by packets",
        },
        WHERE,
        NUMBERS,
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "by" => self.by = setting.texts()?,
            "every" => self.every = Some(GroupBy::interval_ns(setting.seconds()?)?),
            "top" => self.top = Some(setting.count()?),
            "where" => add(&mut self.condition, condition(setting)?),
            "numbers" => add_numbers(&mut self.condition, &mut self.last, setting)?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// The packets that are counted.
#[derive(Debug, Clone, Default)]
pub struct CountOptions {
    /// The condition that packets meet.
    pub condition: Option<Condition>,
    /// Number of the last packet that is looked at.
    pub last: Option<u64>,
}

impl NamedOptions for CountOptions {
    const OPTIONS: &'static [OptionSpec] = &[WHERE, NUMBERS];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "where" => add(&mut self.condition, condition(setting)?),
            "numbers" => add_numbers(&mut self.condition, &mut self.last, setting)?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// The option of all questions about packets that leaves some out.
pub(super) const WHERE: OptionSpec = OptionSpec {
    name: "where",
    kind: OptionKind::Text,
    default: "all",
    summary: "Only packets that meet this condition, such as \"dst_port == 443 and length > 1e3\"",
};

/// The option of packets that are chosen by their numbers.
const NUMBERS: OptionSpec = OptionSpec {
    name: "numbers",
    kind: OptionKind::Text,
    default: "all",
    summary: "Only packets with these numbers, such as \"1000-1999\" or \"5,17,9000-\"; the capture is read up to the last of them",
};

/// Adds a condition to another one.
fn add(condition: &mut Option<Condition>, other: Condition) {
    *condition = Some(match condition.take() {
        Some(condition) => condition.and(other),
        None => other,
    });
}

/// Adds the condition that a setting of [`NUMBERS`] means, and the last of the numbers.
fn add_numbers(
    condition: &mut Option<Condition>,
    last: &mut Option<u64>,
    setting: Setting,
) -> Result<()> {
    let numbers: PacketNumbers = setting.parsed()?;
    add(condition, numbers.condition);
    *last = numbers.last;
    Ok(())
}

/// The condition that a setting of [`WHERE`] means.
pub(super) fn condition(setting: Setting) -> Result<Condition> {
    Condition::new(&setting.text()?, &Field::SCHEMA)
}
