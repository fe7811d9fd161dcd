//! Questions to captures.

use std::sync::Arc;

use super::count::Counts;
use super::info_row::InfoField;
use super::{CallQuestion, CountOptions, FlowQuestion, PacketOptions, Summary};
use crate::batch::Schema;
use crate::flow::FlowField;
use crate::input::Needs;
use crate::packet::Field;
use crate::query::Condition;
use crate::rpc::{CallColumn, CallField};
use crate::{Error, ErrorKind, Result};

/// A question: the rows that are asked for.
#[derive(Debug, Clone)]
pub enum Question {
    /// Packets with their bytes: records only, no columns.
    Frames,
    /// Packets with these fields.
    Packets(Vec<Field>, PacketOptions),
    /// Packets counted by the value of a field.
    Counts(Field, CountOptions),
    /// Packets added up to a table. The captures are read as one run.
    Summary(Arc<dyn Summary>),
    /// Flows with these fields. The captures are read as one run.
    Flows(Vec<FlowField>, FlowQuestion),
    /// Thrift calls with these fields. The captures are read as one run.
    Calls(Vec<CallField>, CallQuestion),
    /// The calls of methods that are named, with these columns, among which may be what they carry.
    CallsCarrying(Vec<CallColumn>, CallQuestion),
    /// Facts about the capture: one row.
    Info,
}

impl Question {
    /// The schema of the rows.
    pub fn schema(&self) -> Schema {
        match self {
            Question::Frames => Field::SCHEMA,
            Question::Packets(fields, _) => {
                Field::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Counts(field, _) => Counts::schema(*field),
            Question::Summary(summary) => summary.schema(),
            Question::Flows(fields, _) => {
                FlowField::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Calls(fields, _) => {
                CallField::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::CallsCarrying(columns, _) => {
                CallColumn::schema().project(columns.iter().map(|column| column.place()))
            }
            Question::Info => InfoField::SCHEMA,
        }
    }

    /// The parts of packets that captures read ahead have to decode.
    pub fn needs(&self) -> Needs {
        match self {
            Question::Packets(fields, options) => {
                let places = options.condition.iter().flat_map(Condition::places);
                let asked = places.filter_map(|place| Field::ALL.get(place));
                Needs::of(fields.iter().chain(asked).copied())
            }
            Question::Flows(..) => Needs::Fields,
            _ => Needs::Frames,
        }
    }

    /// Refuses what no reading can answer.
    ///
    /// # Errors
    /// `Argument` for batches without rows.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Question::Packets(_, options) if options.rows == 0 => {
                Err(Error::new(ErrorKind::Argument, "expected rows above 0, found 0"))
            }
            _ => Ok(()),
        }
    }

    /// True where an answer is one table for the whole run, which there is none of where a capture has failed.
    pub(crate) fn is_of_whole_run(&self) -> bool {
        matches!(self, Question::Summary(_))
    }

    /// The calls that are asked for; none where something else is.
    pub(super) fn calls(&self) -> Option<CallQuestion> {
        match self {
            Question::Calls(_, calls) | Question::CallsCarrying(_, calls) => Some(calls.clone()),
            _ => None,
        }
    }
}
