//! Options of questions about packets.

use std::sync::Arc;

use super::Question;
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
}

impl Default for PacketOptions {
    fn default() -> Self {
        PacketOptions { rows: 65_536, condition: None }
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
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "rows" => self.rows = setting.count()?,
            "where" => self.condition = Some(condition(setting)?),
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
        let question = SumQuestion { by, condition: self.condition, top: self.top };
        Ok(Question::Summary(Arc::new(question)))
    }
}

impl NamedOptions for SumOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "by",
            kind: OptionKind::Texts,
            default: "none",
            summary: "Fields that packets are grouped by",
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
            summary: "Groups at most, the largest by the first field that is added up, or else by packets",
        },
        WHERE,
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "by" => self.by = setting.texts()?,
            "every" => self.every = Some(GroupBy::interval_ns(setting.seconds()?)?),
            "top" => self.top = Some(setting.count()?),
            "where" => self.condition = Some(condition(setting)?),
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
}

impl NamedOptions for CountOptions {
    const OPTIONS: &'static [OptionSpec] = &[WHERE];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "where" => self.condition = Some(condition(setting)?),
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

/// The condition that a setting of [`WHERE`] means.
pub(super) fn condition(setting: Setting) -> Result<Condition> {
    Condition::new(&setting.text()?, &Field::SCHEMA)
}
