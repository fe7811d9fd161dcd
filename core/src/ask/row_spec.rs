//! The rows of captures by their names, each with the options that it takes, for languages that know them by these alone.

use super::{CallOptions, CallStructOptions, FlowQuestion, PacketOptions, Question, ToldFlows};
use crate::Result;
use crate::flow::{FlowField, FlowOptions};
use crate::input::CaptureOptions;
use crate::options::{NamedOptions, OptionSpec, Settings};
use crate::packet::Field;
use crate::rpc::{CallColumn, CallField};

/// Rows of captures by their name.
pub struct RowSpec {
    /// Their name: "packets".
    pub name: &'static str,
    /// The tables of the options, those of the captures among them.
    pub tables: &'static [&'static [OptionSpec]],
    question_of: fn(&Settings) -> Result<Question>,
}

impl RowSpec {
    /// Packets, flows and Thrift calls.
    pub const ALL: &'static [RowSpec] = &[
        RowSpec {
            name: "packets",
            tables: &[PacketOptions::OPTIONS, CaptureOptions::OPTIONS],
            question_of: |settings| Ok(Question::Packets(Field::ALL.to_vec(), settings.take()?)),
        },
        RowSpec {
            name: "flows",
            tables: &[FlowOptions::OPTIONS, ToldFlows::OPTIONS, CaptureOptions::OPTIONS],
            question_of: |settings| {
                Ok(Question::Flows(FlowField::ALL.to_vec(), FlowQuestion::of(settings)?))
            },
        },
        RowSpec {
            name: "calls",
            tables: &[CallOptions::OPTIONS, CallStructOptions::OPTIONS, CaptureOptions::OPTIONS],
            question_of: |settings| {
                let calls = settings.take::<CallOptions>()?.load()?;
                let calls = settings.take::<CallStructOptions>()?.ask(calls)?;
                Ok(match calls.methods.is_some() && calls.structs.is_none() {
                    true => Question::CallsCarrying(CallColumn::all(), calls),
                    false => Question::Calls(CallField::ALL.to_vec(), calls),
                })
            },
        },
    ];

    /// The question for all fields of the rows, with these settings; [`Question::with_fields`] chooses among them.
    ///
    /// # Errors
    /// Those of the options.
    pub fn question(&self, settings: &Settings) -> Result<Question> {
        (self.question_of)(settings)
    }
}
