//! Questions to captures.

use std::sync::Arc;

use super::count::Counts;
use super::info_row::InfoField;
use super::{CallQuestion, CountOptions, FlowQuestion, PacketOptions, Summary};
use crate::batch::Schema;
use crate::flow::FlowField;
use crate::input::{CaptureOptions, IndexUse, Needs, WantedRecords};
use crate::packet::Field;
use crate::query::Condition;
use crate::rpc::{CallColumn, CallField};
use crate::{Error, ErrorKind, Result};

/// A question: the rows that are asked for.
#[derive(Debug, Clone)]
pub enum Question {
    /// Packets with their bytes: records only, no columns.
    Frames,
    /// The packet with this number and its bytes, as records; none where the capture has fewer.
    Frame(u64),
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
            Question::Frames | Question::Frame(_) => Field::SCHEMA,
            Question::Packets(fields, _) => {
                Field::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Counts(field, _) => Counts::schema(*field),
            Question::Summary(summary) => summary.schema(),
            Question::Flows(fields, _) => {
                FlowField::SCHEMA.project(fields.iter().map(|field| *field as usize))
            }
            Question::Calls(fields, calls) => {
                let schema = CallField::SCHEMA.project(fields.iter().map(|field| *field as usize));
                match &calls.structs {
                    Some(structs) => schema.with(&structs.fields()),
                    None => schema,
                }
            }
            Question::CallsCarrying(columns, _) => {
                CallColumn::schema().project(columns.iter().map(|column| column.place()))
            }
            Question::Info => InfoField::SCHEMA,
        }
    }

    /// The question for those of its fields whose names are wanted. One whose rows have no choice of fields stays as it is.
    #[must_use]
    pub fn with_fields(&self, is_wanted: impl Fn(&str) -> bool) -> Question {
        let schema = self.schema();
        match self {
            Question::Packets(fields, options) => {
                Question::Packets(chosen(fields, &schema, is_wanted), options.clone())
            }
            Question::Flows(fields, flows) => {
                Question::Flows(chosen(fields, &schema, is_wanted), flows.clone())
            }
            Question::Calls(fields, calls) => {
                // The columns of what calls carry come together.
                let structs = calls
                    .structs
                    .clone()
                    .filter(|structs| structs.fields().iter().any(|field| is_wanted(field.name())));
                let fields = chosen(fields, &schema, is_wanted);
                Question::Calls(fields, CallQuestion { structs, ..calls.clone() })
            }
            Question::CallsCarrying(columns, calls) => {
                Question::CallsCarrying(chosen(columns, &schema, is_wanted), calls.clone())
            }
            other => other.clone(),
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
            Question::Flows(fields, flows) if flows.features(fields).needs_no_bytes() => {
                Needs::Fields
            }
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

    /// The records whose packets can be in the answer; others need not be read.
    pub fn wanted(&self) -> WantedRecords {
        let of = |condition: &Option<Condition>| WantedRecords::of(condition.as_ref());
        match self {
            Question::Packets(_, options) => of(&options.condition).up_to(options.last),
            Question::Counts(_, options) => of(&options.condition).up_to(options.last),
            Question::Frame(number) => WantedRecords::numbered(*number),
            Question::Summary(summary) => summary.wanted(),
            _ => WantedRecords::all(),
        }
    }

    /// Tells the options of captures that are opened for it which of their records are wanted.
    pub fn prepare(&self, options: &mut CaptureOptions) {
        options.wanted = self.wanted();
        if let Question::Summary(summary) = self
            && summary.index() != IndexUse::Use
        {
            options.index = summary.index();
        }
    }

    /// The calls that are asked for; none where something else is.
    pub(super) fn calls(&self) -> Option<CallQuestion> {
        match self {
            Question::Calls(_, calls) | Question::CallsCarrying(_, calls) => Some(calls.clone()),
            _ => None,
        }
    }
}

/// The fields whose names are wanted; `schema` begins with them.
fn chosen<F: Copy>(fields: &[F], schema: &Schema, is_wanted: impl Fn(&str) -> bool) -> Vec<F> {
    let named = fields.iter().zip(schema.fields());
    named.filter(|(_, field)| is_wanted(field.name())).map(|(field, _)| *field).collect()
}
