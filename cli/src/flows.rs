//! `bytewright flows`: packets summed up by conversation, printed or merged into a table file.

mod busiest;
mod log;
mod top;

use std::io;
use std::path::Path;
use std::slice;

use bytewright::ask::{self, Answer, CaptureMerge, FlowMerges, FlowQuestion, ToldFlows};
use bytewright::flow::{Flow, FlowField};
use bytewright::input::CaptureOptions;
use bytewright::sums::FlowStore;

use crate::args::{self, FlowsArgs, Reader};
use crate::ask::Listing;
use crate::fields;
use crate::merge::{MergedCapture, Target, counted};
use crate::packets::capture_options;
use crate::question::Question;
use crate::rows::Rows;
use crate::session::{STDIN, Session};
use log::FlowOutput;
use top::Top;

/// Fields of a flow that people see: those that fit a wide terminal.
const FOR_PEOPLE: &[FlowField] = &[
    FlowField::Ts,
    FlowField::SrcIp,
    FlowField::SrcPort,
    FlowField::DstIp,
    FlowField::DstPort,
    FlowField::Proto,
    FlowField::Packets,
    FlowField::Bytes,
    FlowField::RevPackets,
    FlowField::RevBytes,
    FlowField::Duration,
];

/// Fields that a terminal too narrow for these lacks first: bytes of both directions are what flows are compared by.
const GIVEN_UP: &[&str] = &["duration", "ts", "rev_packets", "packets"];

pub(crate) fn run(args: &FlowsArgs, session: &mut Session) -> io::Result<()> {
    if let Some(message) = log::refusal(args, session.output.is_terminal()) {
        let kind = clap::error::ErrorKind::ArgumentConflict;
        session.usage(&args::usage("flows", kind, &message));
        return Ok(());
    }
    if let Some(table) = &args.from {
        return print_stored(table, args, session);
    }
    let Some(captures) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    session.progress.expect(&args.files);
    match &args.into {
        Some(table) => merge(args, table, &captures, session),
        None => match args.interval() {
            Some(every) => busiest::run(args, every, &captures, session),
            None => print_flows(args, &captures, session),
        },
    }
}

/// Prints the flows of all captures as one run.
fn print_flows(
    args: &FlowsArgs,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let Some(mut listed) = Listed::new(args, session)? else { return Ok(()) };
    let fields = listed.looked_at();
    let told = ToldFlows { condition: listed.question.take_condition() };
    let question = FlowQuestion { limits: args.ends.options, told };
    let asked = ask::Question::Flows(fields, question);
    let readers = session.captures(&args.files, args.jobs.count(), captures, asked.needs());
    session.ask(asked, readers, &mut listed)?;
    listed.finish(session)
}

/// Merges the flows of each capture into a table file.
fn merge(
    args: &FlowsArgs,
    path: &Path,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let store = match FlowStore::open_to_count_within(path, args.wait.options.timeout) {
        Ok(store) => store,
        Err(error) => return session.report(&error),
    };
    let inputs = session.inputs(&args.files);
    let merges = FlowMerges::new(inputs, args.jobs.count(), captures, args.ends.options, &store);
    let held = || Ok((store.len()?, store.captures()?.len() as u64));
    let target = Target { path, entry: "flow", entries: "flows" };
    let merges = merges.map(|merge| merge.map(merged));
    target.fill(merges, args.format.reader(), session, held)
}

fn merged(merge: CaptureMerge) -> MergedCapture {
    let (flows, new_flows) = merge.flows();
    let (packets, told) = (counted(merge.packets, "packet"), counted(flows, "flow"));
    MergedCapture {
        row: merge.to_batch(),
        told: format!("{packets}, {told}, {new_flows} of them new"),
        counted_as: merge.counted_as().map(|counted| counted.name.clone()),
        name: merge.file,
        damage: merge.damage,
    }
}

/// Prints the flows of a table file.
fn print_stored(path: &Path, args: &FlowsArgs, session: &mut Session) -> io::Result<()> {
    let store = match FlowStore::open_read_only(path) {
        Ok(store) => store,
        Err(error) => return session.report(&error),
    };
    let flows = match store.flows() {
        Ok(flows) => flows,
        Err(error) => return session.report(&error),
    };
    let Some(mut listed) = Listed::new(args, session)? else { return Ok(()) };
    let mut damage = None;
    for flow in flows {
        match flow {
            Ok(mut flow) => {
                if let Some(labels) = args.selection.labels() {
                    flow.set_labels(labels);
                }
                listed.push(flow, session)?;
            }
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    listed.flush(session)?;
    damage.map_or(Ok(()), |error| session.report(&error))?;
    listed.finish(session)
}

impl FlowsArgs {
    /// The interval whose busiest flows are asked for: one of an interface or of standard input, without groups.
    fn interval(&self) -> Option<i64> {
        let question = &self.question;
        let has_groups = question.plot || !question.group_by.is_empty() || !question.sum.is_empty();
        question.every.filter(|_| self.comes_as_it_is_captured() && !has_groups)
    }

    /// Returns true if somebody may be waiting for packets that are yet to come.
    fn comes_as_it_is_captured(&self) -> bool {
        let is_stdin = matches!(self.files.as_slice(), [only] if only.as_os_str() == STDIN.0);
        is_stdin || self.selection.interfaces().is_some()
    }
}

/// The fields that are printed; none once the error is told.
fn fields_shown(args: &FlowsArgs, reader: Reader, session: &mut Session) -> Option<Vec<FlowField>> {
    if let Some(format) = args.log.format() {
        return Some(format.features().to_vec());
    }
    if let Some(names) = &args.fields {
        let places = fields::places(names, &FlowField::SCHEMA, "flows", session)?;
        return Some(places.into_iter().map(|place| FlowField::ALL[place]).collect());
    }
    let of_every_flow = if reader == Reader::People { FOR_PEOPLE } else { FlowField::DEFAULT };
    let mut asked = args.ends.options.features;
    asked.labels |= args.selection.labels().is_some();
    let counted = FlowField::counted(asked);
    let features = counted.iter().filter(|field| FlowField::FEATURES.contains(field));
    Some(of_every_flow.iter().chain(features).copied().collect())
}

/// Form of flows that are written.
enum Written {
    Rows(Rows),
    /// The words of another program.
    Log(FlowOutput),
}

/// Flows on their way to the output: at once, or the largest at the end.
struct Listed {
    fields: Vec<FlowField>,
    written: Written,
    top: Option<Top>,
    question: Question,
}

impl Listed {
    /// Nothing, once the error is told, where the file that the flows are to go to cannot be made.
    fn new(args: &FlowsArgs, session: &mut Session) -> io::Result<Option<Self>> {
        let reader = args.columns.reader(args.format);
        let Some(fields) = fields_shown(args, reader, session) else { return Ok(None) };
        let shown = FlowField::SCHEMA.project(fields.iter().map(|field| *field as usize));
        let question = match Question::new(&args.question, &FlowField::SCHEMA, shown, args.top) {
            Ok(question) => question,
            Err(error) => return session.report(&error).map(|()| None),
        };
        let inputs = args.from.as_ref().map_or(args.files.as_slice(), slice::from_ref);
        let written = match args.log.format() {
            Some(format) => FlowOutput::new(format, args, inputs, session)?.map(Written::Log),
            None => {
                let (schema, filter) = (question.schema(), args.selection.filter());
                let rows = args.columns.rows(schema, args.format, inputs, filter, session)?;
                rows.map(|rows| Written::Rows(rows.giving_up(GIVEN_UP)))
            }
        };
        let top = args.top.map(|count| Top::new(count, args.by));
        Ok(written.map(|written| Listed { fields, written, top, question }))
    }

    /// The fields that it prints or looks at.
    fn looked_at(&self) -> Vec<FlowField> {
        let places = self.question.places().into_iter();
        self.fields.iter().copied().chain(places.map(|place| FlowField::ALL[place])).collect()
    }

    fn push(&mut self, flow: Flow, session: &mut Session) -> io::Result<()> {
        let value = |place| flow.value_at(place);
        if !self.question.holds(value) || self.question.counts(value) {
            return Ok(());
        }
        match &mut self.top {
            Some(top) => top.push(flow),
            None => self.print(&flow, session)?,
        }
        Ok(())
    }

    fn print(&mut self, flow: &Flow, session: &mut Session) -> io::Result<()> {
        match &mut self.written {
            Written::Rows(rows) => {
                rows.push(&mut session.output, |column| flow.value(self.fields[column]))
            }
            Written::Log(log) => log.push(flow, session),
        }
    }

    fn finish(mut self, session: &mut Session) -> io::Result<()> {
        let top = self.top.take().map(Top::into_sorted).unwrap_or_default();
        for flow in &top {
            self.print(flow, session)?;
        }
        match self.written {
            Written::Rows(mut rows) => {
                self.question.finish(&mut rows, &mut session.output)?;
                rows.finish(session)
            }
            Written::Log(log) => log.finish(session),
        }
    }
}

impl Listing for Listed {
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<()> {
        if let Answer::Flows(flows) = answer {
            flows.drain(..).try_for_each(|flow| self.push(flow, session))?;
        }
        Ok(())
    }

    fn flush(&mut self, session: &mut Session) -> io::Result<()> {
        match &mut self.written {
            Written::Rows(rows) => rows.flush(&mut session.output),
            Written::Log(log) => log.flush(session),
        }
    }
}
