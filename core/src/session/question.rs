//! What is asked of captures, and the options of each question.

use std::path::PathBuf;
use std::sync::Arc;

use crate::batch::Schema;
use crate::flow::{FlowField, FlowOptions};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::Field;
use crate::query::{Condition, GroupBy};
use crate::rpc::{CallColumn, CallField, Methods};
use crate::scan::load_methods;
use crate::{Error, ErrorKind, Result};

/// What rows are asked for.
#[derive(Debug, Clone)]
pub enum Question {
    /// Packets with their bytes: records only, no columns.
    Frames,
    /// Packets with these fields.
    Packets(Vec<Field>, PacketOptions),
    /// Flows with these fields. The captures are read as one run.
    Flows(Vec<FlowField>, FlowOptions),
    /// Thrift calls with these fields; with methods, only theirs.
    Calls(Vec<CallField>, Option<Arc<Methods>>),
    /// The calls of these methods, with these columns, among which may be what they carry.
    CallsCarrying(Vec<CallColumn>, Arc<Methods>),
}

impl Question {
    /// What the rows consist of.
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
    /// What packets have to hold, over the fields of [`Field::SCHEMA`].
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
    /// What packets have to hold.
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

/// The service whose calls are meant.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// Its IDL file; calls of any service are meant without one.
    pub idl: Option<PathBuf>,
    /// Its name, where the file has several.
    pub service: Option<String>,
    /// Folders to look for files that it includes.
    pub include: Vec<PathBuf>,
}

impl CallOptions {
    /// The methods of the service, where there is an IDL file.
    ///
    /// # Errors
    /// `Argument` for what needs an IDL file and has none; those of [`load_methods`].
    pub fn load(&self) -> Result<Option<Arc<Methods>>> {
        let Some(idl) = &self.idl else {
            return match self.service.is_some() || !self.include.is_empty() {
                true => {
                    let message = "expected idl with service or include, found none";
                    Err(Error::new(ErrorKind::Argument, message))
                }
                false => Ok(None),
            };
        };
        load_methods(idl, &self.include, self.service.as_deref())
            .map(|methods| Some(methods.into()))
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
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "idl" => self.idl = Some(setting.path()?),
            "service" => self.service = Some(setting.text()?),
            "include" => self.include = setting.paths()?,
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

fn condition(setting: Setting) -> Result<Condition> {
    Condition::new(&setting.text()?, &Field::SCHEMA)
}
