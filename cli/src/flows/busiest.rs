//! `flows --interface NAME --every INTERVAL`, or of standard input: the busiest flows of each interval, when it is over.

use std::io;

use bytewright::ask::{IntervalPart, flows_by_interval};
use bytewright::batch::{DataType, Field, Schema, Value};
use bytewright::flow::{Flow, FlowField, FlowOptions};
use bytewright::input::{CaptureOptions, Needs};
use bytewright::query::Condition;

use super::top::Top;
use super::{FOR_PEOPLE, GIVEN_UP};
use crate::args::{FlowsArgs, Reader};
use crate::notation;
use crate::rows::Rows;
use crate::session::Session;

/// Flows that are shown where nothing is said.
const SHOWN: usize = 10;

/// The beginning of the interval that a row is of, in front of the fields of its flow, which has a `ts` of its own.
const INTERVAL: Field = Field::constant(
    "interval_ts",
    DataType::TimeNs,
    false,
    "Beginning of the interval, nanoseconds since 1970-01-01 00:00 UTC.",
);

/// Puts the cursor of a terminal at its first line, and clears what is there.
const REDRAW: &[u8] = b"\x1b[H\x1b[2J";

/// Prints the busiest flows of each interval of `every` nanoseconds.
pub(super) fn run(
    args: &FlowsArgs,
    every: i64,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let condition = args.question.condition.as_ref();
    let condition = condition.map(|text| Condition::new(text, &FlowField::SCHEMA)).transpose();
    let mut listing = match condition {
        Ok(condition) => Intervals { args, every, condition, top: top(args), count: 0, rows: None },
        Err(error) => return session.report(&error),
    };
    if args.columns.reader(args.format) != Reader::People {
        let schema = schema_of_rows();
        let filter = args.selection.filter();
        listing.rows = args.columns.rows(schema, args.format, &args.files, filter, session)?;
        if listing.rows.is_none() {
            return Ok(());
        }
    }
    // Flows end with their interval.
    let options = FlowOptions { idle_timeout: None, active_timeout: None, ..args.ends.options };
    for reader in session.captures(&args.files, args.jobs.count(), captures, Needs::Fields) {
        let read = match reader {
            Ok(mut reader) => {
                let mut take = |part| listing.take(part, session);
                flows_by_interval(&mut reader, every, options, &mut take)?
            }
            Err(error) => Err(error),
        };
        if let Err(error) = read {
            session.report(&error)?;
        }
    }
    listing.rows.map_or(Ok(()), |rows| rows.finish(session))
}

fn top(args: &FlowsArgs) -> Top {
    Top::new(args.top.unwrap_or(SHOWN), args.by)
}

struct Intervals<'a> {
    args: &'a FlowsArgs,
    every: i64,
    condition: Option<Condition>,
    top: Top,
    /// Flows of the interval.
    count: u64,
    /// Those of all intervals, for programs.
    rows: Option<Rows>,
}

impl Intervals<'_> {
    fn take(&mut self, part: IntervalPart, session: &mut Session) -> io::Result<()> {
        match part {
            IntervalPart::Flows(flows) => {
                flows.into_iter().for_each(|flow| self.push(flow));
                Ok(())
            }
            IntervalPart::End { start, packets, bytes } => {
                let flows = std::mem::replace(&mut self.top, top(self.args)).into_sorted();
                let count = std::mem::take(&mut self.count);
                match &mut self.rows {
                    Some(rows) => {
                        for flow in &flows {
                            let value = |column| value_of_row(start, flow, column);
                            rows.push(&mut session.output, value)?;
                        }
                        rows.flush(&mut session.output)
                    }
                    None => {
                        if session.output.is_terminal() {
                            session.output.raw(REDRAW);
                        }
                        let to = start.saturating_add(self.every);
                        let bytes = session.output.bytes(bytes);
                        let totals = format!("{packets} packets, {bytes}, {count} flows");
                        let line = format!("{} to {}: {totals}", time(start), time(to));
                        session.output.line(&line);
                        self.block(&flows, session)
                    }
                }
            }
        }
    }

    fn push(&mut self, flow: Flow) {
        if self.condition.as_ref().is_none_or(|it| it.holds(|place| flow.value_at(place))) {
            self.count += 1;
            self.top.push(flow);
        }
    }

    /// A table of its own for people, and a line between it and the next one.
    fn block(&self, flows: &[Flow], session: &mut Session) -> io::Result<()> {
        if !flows.is_empty() {
            let schema = FlowField::SCHEMA.project(FOR_PEOPLE.iter().map(|field| *field as usize));
            let rows = Rows::new(schema, Reader::People, None, &mut session.output);
            let mut rows = rows.map_err(io::Error::other)?.giving_up(GIVEN_UP);
            for flow in flows {
                rows.push(&mut session.output, |column| flow.value(FOR_PEOPLE[column]))?;
            }
            rows.finish(session)?;
        }
        session.output.line("");
        session.output.flush()
    }
}

/// Returns the schema of rows for programs: a flow, behind the interval that it was summed up in.
fn schema_of_rows() -> Schema {
    let flow = FlowField::SCHEMA.project(FlowField::DEFAULT.iter().map(|field| *field as usize));
    Schema::new("flows", Vec::from([INTERVAL])).with(flow.fields())
}

fn value_of_row(start: i64, flow: &Flow, column: usize) -> Value<'_> {
    match column.checked_sub(1) {
        None => Value::Time(start),
        Some(place) => flow.value(FlowField::DEFAULT[place]),
    }
}

fn time(ts: i64) -> String {
    let mut text = Vec::new();
    notation::time(&mut text, ts);
    String::from_utf8_lossy(&text).into_owned()
}
