//! `bytewright rpc`: Thrift calls, summed up by method or one by one.

use std::cmp::Reverse;
use std::io;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use bytewright::ask::{self, Answer, CallMerges, CallQuestion, CallsMerge};
use bytewright::batch::{Schema, Value};
use bytewright::input::{CaptureOptions, Needs};
use bytewright::query::Condition;
use bytewright::rpc::{
    Call, CallColumn, CallField, CallSummary, CarriedField, MethodField, MethodSummary, Methods,
    RpcOptions,
};
use bytewright::sums::CallStore;
use bytewright::thrift::Tape;
use clap::error::ErrorKind;

use crate::args::{self, MethodSize, Reader, RpcArgs, slower_than};
use crate::ask::Listing;
use crate::merge::{MergedCapture, Target, counted};
use crate::packets::capture_options;
use crate::question::Question;
use crate::rows::Rows;
use crate::session::Session;

/// Fields of a method that people see: those that fit a terminal.
const METHOD_FOR_PEOPLE: &[MethodField] = &[
    MethodField::Method,
    MethodField::Calls,
    MethodField::Errors,
    MethodField::Unanswered,
    MethodField::P50,
    MethodField::P99,
    MethodField::Max,
    MethodField::RequestBytes,
    MethodField::ReplyBytes,
];

pub(crate) fn run(args: &RpcArgs, session: &mut Session) -> io::Result<()> {
    if let Some(message) = contradiction(args) {
        session.usage(&args::usage("rpc", ErrorKind::MissingRequiredArgument, message));
        return Ok(());
    }
    if let Some(table) = &args.from {
        return print_stored(table, args, session);
    }
    let Some(captures) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    let methods = match args.service.options.clone().load() {
        Ok(question) => question.methods,
        Err(error) => return session.report(&error),
    };
    session.progress.expect(&args.files);
    match &args.into {
        Some(table) => merge(args, table, &captures, session),
        None if args.calls => print_calls(args, &captures, methods, session),
        None => print_methods(args, &captures, methods, session),
    }
}

/// Returns the error of arguments that make no sense together.
fn contradiction(args: &RpcArgs) -> Option<&'static str> {
    match (args.question.groups(), args.calls) {
        (true, false) => Some("expected --calls beside --group-by, --sum or --every"),
        (false, true) if args.top.is_some() => Some("expected --group-by beside --top of --calls"),
        _ => None,
    }
}

/// Merges the calls of each capture into a table file.
fn merge(
    args: &RpcArgs,
    path: &Path,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let store = match CallStore::open_to_count_within(path, args.wait.options.timeout) {
        Ok(store) => store,
        Err(error) => return session.report(&error),
    };
    let (inputs, options) = (session.inputs(&args.files), RpcOptions::default());
    let merges = CallMerges::new(inputs, args.jobs.count(), captures, options, &store);
    let held = || Ok((store.len()?, store.captures()?.len() as u64));
    let target = Target { path, entry: "method", entries: "methods" };
    let merges = merges.map(|merge| merge.map(merged));
    target.fill(merges, args.format.reader(), session, held)
}

fn merged(merge: CallsMerge) -> MergedCapture {
    let (packets, calls) = (counted(merge.packets, "packet"), counted(merge.calls, "call"));
    MergedCapture {
        row: merge.to_batch(),
        name: merge.file,
        told: format!("{packets}, {calls}"),
        counted_as: merge.already_counted.map(|capture| capture.name),
        damage: merge.damage,
    }
}

/// Asks all captures for the calls that are meant.
fn ask(
    args: &RpcArgs,
    captures: &CaptureOptions,
    question: CallQuestion,
    listing: &mut dyn Listing,
    session: &mut Session,
) -> io::Result<()> {
    let readers = session.captures(&args.files, args.jobs.count(), captures, Needs::Frames);
    session.ask(ask::Question::Calls(Vec::new(), question), readers, listing)
}

/// Makes the question to calls, of which `shown` is printed.
fn question(args: &RpcArgs, shown: Schema) -> bytewright::Result<Question> {
    let question = Question::new(&args.question, &CallField::SCHEMA, shown, args.top)?;
    match args.slower_than.as_deref().map(slower_than) {
        Some(text) => Ok(question.also(Condition::new(&text, &CallField::SCHEMA)?)),
        None => Ok(question),
    }
}

fn print_methods(
    args: &RpcArgs,
    captures: &CaptureOptions,
    methods: Option<Arc<Methods>>,
    session: &mut Session,
) -> io::Result<()> {
    let condition = match question(args, MethodField::SCHEMA) {
        Ok(mut question) => question.take_condition(),
        Err(error) => return session.report(&error),
    };
    // A file that cannot be made is told before the captures are read.
    let Some(rows) = method_rows(args, session)? else { return Ok(()) };
    let mut summed = Summed(CallSummary::new());
    let method = args.service.options.method.clone();
    let question = CallQuestion { methods, condition, method, ..CallQuestion::default() };
    ask(args, captures, question, &mut summed, session)?;
    print_sums(summed.0.into_sorted(), rows, args, session)
}

/// Calls that are added up by method.
struct Summed(CallSummary);

impl Listing for Summed {
    fn take(&mut self, answer: &mut Answer, _: &mut Session) -> io::Result<()> {
        if let Answer::Calls(calls, _) = answer {
            calls.iter().for_each(|call| self.0.add(call));
        }
        Ok(())
    }

    fn flush(&mut self, _: &mut Session) -> io::Result<()> {
        Ok(())
    }
}

/// Prints the sums of a table file.
fn print_stored(path: &Path, args: &RpcArgs, session: &mut Session) -> io::Result<()> {
    let methods = match CallStore::open_read_only(path).and_then(|store| store.methods()) {
        Ok(methods) => methods,
        Err(error) => return session.report(&error),
    };
    let Some(rows) = method_rows(args, session)? else { return Ok(()) };
    print_sums(methods, rows, args, session)
}

/// The fields of methods that are asked for.
fn method_fields(args: &RpcArgs) -> &'static [MethodField] {
    match args.columns.reader(args.format) {
        Reader::People => METHOD_FOR_PEOPLE,
        _ => MethodField::ALL,
    }
}

fn method_rows(args: &RpcArgs, session: &mut Session) -> io::Result<Option<Rows>> {
    let fields = method_fields(args).iter().map(|field| *field as usize);
    rows(MethodField::SCHEMA.project(fields), args, session)
}

fn print_sums(
    methods: Vec<(Box<str>, MethodSummary)>,
    mut rows: Rows,
    args: &RpcArgs,
    session: &mut Session,
) -> io::Result<()> {
    let fields = method_fields(args);
    for (name, method) in chosen(methods, args) {
        rows.push(&mut session.output, |column| method.value(&name, fields[column]))?;
    }
    rows.finish(session)
}

/// Makes the destination of rows; returns None, once the error is told, if their file cannot be made.
fn rows(schema: Schema, args: &RpcArgs, session: &mut Session) -> io::Result<Option<Rows>> {
    let inputs = args.from.as_ref().map_or(args.files.as_slice(), slice::from_ref);
    let filter = args.selection.filter();
    args.columns.rows(schema, args.format, inputs, filter, session)
}

/// The methods that are asked for, in the order that is asked for.
fn chosen(
    mut methods: Vec<(Box<str>, MethodSummary)>,
    args: &RpcArgs,
) -> Vec<(Box<str>, MethodSummary)> {
    let size = |method: &MethodSummary, by| match by {
        MethodSize::Calls => method.calls,
        MethodSize::P99 => method.latency.quantile(990).unwrap_or(0),
        MethodSize::Max => method.latency.quantile(1000).unwrap_or(0),
        MethodSize::Bytes => method.bytes(),
        MethodSize::Errors => method.errors,
    };
    if let Some(by) = args.by.or(args.top.map(|_| MethodSize::Calls)) {
        // Stable: methods that are alike stay in the order of their names.
        methods.sort_by_key(|(_, method)| Reverse(size(method, by)));
    }
    methods.truncate(args.top.unwrap_or(usize::MAX));
    methods
}

fn print_calls(
    args: &RpcArgs,
    captures: &CaptureOptions,
    methods: Option<Arc<Methods>>,
    session: &mut Session,
) -> io::Result<()> {
    let schema = match methods {
        Some(_) => CallColumn::schema(),
        None => CallField::SCHEMA,
    };
    let mut question = match question(args, schema) {
        Ok(question) => question,
        Err(error) => return session.report(&error),
    };
    let Some(rows) = rows(question.schema(), args, session)? else { return Ok(()) };
    let condition = question.take_condition();
    let method = args.service.options.method.clone();
    let calls = CallQuestion { condition, method, ..methods.into() };
    let mut printed = Printed { question, rows, tape: Tape::new() };
    ask(args, captures, calls, &mut printed, session)?;
    printed.question.finish(&mut printed.rows, &mut session.output)?;
    printed.rows.finish(session)
}

/// Calls that are printed one by one, or added up by their fields.
struct Printed {
    question: Question,
    rows: Rows,
    tape: Tape,
}

impl Printed {
    fn print(
        &mut self,
        call: &Call,
        methods: Option<&Methods>,
        session: &mut Session,
    ) -> io::Result<()> {
        if self.question.counts(|place| call.value_at(place)) {
            return Ok(());
        }
        let carried = methods.map(|methods| {
            [CarriedField::Arguments, CarriedField::Result]
                .map(|field| methods.json(call, field, &mut self.tape))
        });
        self.rows.push(&mut session.output, |column| match CallField::ALL.get(column) {
            Some(field) => call.value(*field),
            None => {
                let place = column - CallField::ALL.len();
                let json = carried.as_ref().and_then(|carried| carried.get(place)?.as_deref());
                json.map_or(Value::Null, Value::Json)
            }
        })
    }
}

impl Listing for Printed {
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<()> {
        if let Answer::Calls(calls, methods) = answer {
            let methods = methods.as_deref();
            calls.iter().try_for_each(|call| self.print(call, methods, session))?;
        }
        Ok(())
    }

    fn flush(&mut self, session: &mut Session) -> io::Result<()> {
        self.rows.flush(&mut session.output)
    }
}
