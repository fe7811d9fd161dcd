//! Questions to captures, and the options of each.

use std::path::PathBuf;
use std::sync::Arc;

use crate::ask::load_methods;
use crate::batch::{Schema, Value};
use crate::flow::{Flow, FlowField, FlowOptions};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings, not_in_table};
use crate::packet::Field;
use crate::query::{Condition, GroupBy};
use crate::rpc::{Call, CallColumn, CallField, Methods};
use crate::{Error, ErrorKind, Result};

/// A question: the rows that are asked for.
#[derive(Debug, Clone)]
pub enum Question {
    /// Packets with their bytes: records only, no columns.
    Frames,
    /// Packets with these fields.
    Packets(Vec<Field>, PacketOptions),
    /// Flows with these fields. The captures are read as one run.
    Flows(Vec<FlowField>, FlowQuestion),
    /// Thrift calls with these fields.
    Calls(Vec<CallField>, CallQuestion),
    /// The calls of methods that are named, with these columns, among which may be what they carry.
    CallsCarrying(Vec<CallColumn>, CallQuestion),
}

impl Question {
    /// The schema of the rows.
    pub fn schema(&self) -> Schema {
        match self {
            Question::Frames => Field::SCHEMA,
            Question::Packets(fields, _) => {
                Field::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Flows(fields, _) => {
                FlowField::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Calls(fields, _) => {
                CallField::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::CallsCarrying(columns, _) => {
                CallColumn::schema().project(columns.iter().map(|column| column.place()))
            }
        }
    }
}

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

/// How packets are added up.
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
    /// The groups, with the sums of the fields of these names.
    ///
    /// # Errors
    /// Those of [`GroupBy::new`].
    pub fn group_by<S: AsRef<str>>(&self, sums: &[S]) -> Result<GroupBy> {
        let by: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let sums: Vec<&str> = sums.iter().map(AsRef::as_ref).collect();
        GroupBy::new(&Field::SCHEMA, &by, &sums, self.every)
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

/// Flows that are asked for: their ends, and the choice among them.
#[derive(Debug, Clone, Default)]
pub struct FlowQuestion {
    /// Their ends.
    pub limits: FlowOptions,
    /// The choice among them.
    pub told: ToldFlows,
}

impl FlowQuestion {
    /// The question that settings of [`FlowOptions`] and [`ToldFlows`] make.
    ///
    /// # Errors
    /// Those of [`Settings::take`].
    pub fn of(settings: &Settings) -> Result<Self> {
        Ok(FlowQuestion { limits: settings.take()?, told: settings.take()? })
    }
}

impl From<FlowOptions> for FlowQuestion {
    fn from(limits: FlowOptions) -> Self {
        FlowQuestion { limits, told: ToldFlows::default() }
    }
}

/// The flows that are told, of all that end.
#[derive(Debug, Clone, Default)]
pub struct ToldFlows {
    /// The condition that flows meet, over the fields of [`FlowField::SCHEMA`].
    pub condition: Option<Condition>,
}

impl ToldFlows {
    /// Leaves out the flows that are not told.
    pub(super) fn retain(&self, flows: &mut Vec<Flow>) {
        if let Some(condition) = &self.condition {
            flows.retain(|flow| condition.holds(|place| value_of_flow(flow, place)));
        }
    }
}

impl NamedOptions for ToldFlows {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "where",
        kind: OptionKind::Text,
        default: "all",
        summary: "A condition on flows, in the words of the command's --where; others are left out",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "where" => {
                self.condition = Some(Condition::new(&setting.text()?, &FlowField::SCHEMA)?);
            }
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// Thrift calls that are asked for.
#[derive(Debug, Clone, Default)]
pub struct CallQuestion {
    /// The methods whose calls are meant; those of all without them.
    pub methods: Option<Arc<Methods>>,
    /// The condition that calls meet, over the fields of [`CallField::SCHEMA`].
    pub condition: Option<Condition>,
}

impl CallQuestion {
    /// Leaves out the calls that are not told.
    pub(super) fn retain(&self, calls: &mut Vec<Call>) {
        if let Some(condition) = &self.condition {
            calls.retain(|call| condition.holds(|place| value_of_call(call, place)));
        }
    }
}

impl From<Option<Arc<Methods>>> for CallQuestion {
    fn from(methods: Option<Arc<Methods>>) -> Self {
        CallQuestion { methods, condition: None }
    }
}

/// The calls that are meant, as a program names them.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// The IDL file of their service; calls of any service are meant without one.
    pub idl: Option<PathBuf>,
    /// Its name, where the file has several.
    pub service: Option<String>,
    /// Folders to look for files that it includes.
    pub include: Vec<PathBuf>,
    /// The condition that calls meet, over the fields of [`CallField::SCHEMA`].
    pub condition: Option<Condition>,
}

impl CallOptions {
    /// The question, once the IDL file was read, where there is one.
    ///
    /// # Errors
    /// `Argument` for what needs an IDL file and has none; those of [`load_methods`].
    pub fn load(self) -> Result<CallQuestion> {
        let CallOptions { idl, service, include, condition } = self;
        let methods = match idl {
            Some(idl) => Some(load_methods(&idl, &include, service.as_deref())?.into()),
            None if service.is_some() || !include.is_empty() => {
                let message = "expected idl with service or include, found none";
                return Err(Error::new(ErrorKind::Argument, message));
            }
            None => None,
        };
        Ok(CallQuestion { methods, condition })
    }
}

impl NamedOptions for CallOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "idl",
            kind: OptionKind::Path,
            default: "none",
            summary: "IDL file of the service; only calls of its methods are taken then, with their arguments and results",
        },
        OptionSpec {
            name: "service",
            kind: OptionKind::Text,
            default: "the only one",
            summary: "Name of the service, where the IDL file has several",
        },
        OptionSpec {
            name: "include",
            kind: OptionKind::Paths,
            default: "none",
            summary: "Folders to search for files that the IDL file includes",
        },
        OptionSpec {
            name: "where",
            kind: OptionKind::Text,
            default: "all",
            summary: "A condition on calls, in the words of the command's --where; others are left out",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "idl" => self.idl = Some(setting.path()?),
            "service" => self.service = Some(setting.text()?),
            "include" => self.include = setting.paths()?,
            "where" => {
                self.condition = Some(Condition::new(&setting.text()?, &CallField::SCHEMA)?);
            }
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

const WHERE: OptionSpec = OptionSpec {
    name: "where",
    kind: OptionKind::Text,
    default: "all",
    summary: "Only packets that meet this condition, such as \"dst_port == 443 and length > 1e3\"",
};

fn value_of_flow(flow: &Flow, place: usize) -> Value<'_> {
    FlowField::ALL.get(place).map_or(Value::Null, |field| flow.value(*field))
}

fn value_of_call(call: &Call, place: usize) -> Value<'_> {
    CallField::ALL.get(place).map_or(Value::Null, |field| call.value(*field))
}

fn condition(setting: Setting) -> Result<Condition> {
    Condition::new(&setting.text()?, &Field::SCHEMA)
}
