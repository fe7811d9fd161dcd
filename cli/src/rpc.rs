//! `bytewright rpc`: Thrift calls, summed up by method or one by one.

use std::cmp::Reverse;
use std::io;
use std::path::Path;
use std::slice;

use bytewright::ask::{CallBatches, CallMerges, CallsMerge};
use bytewright::batch::{Schema, Value};
use bytewright::input::{CaptureOptions, Needs};
use bytewright::query::Condition;
use bytewright::rpc::{
    Call, CallColumn, CallField, CarriedField, MethodField, MethodSummary, Methods, RpcOptions,
    Summary,
};
use bytewright::sums::CallStore;
use bytewright::thrift::Tape;
use clap::error::ErrorKind;

use crate::args::{self, MethodSize, Reader, RpcArgs, slower_than};
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
        None if args.calls => print_calls(args, &captures, methods.as_deref(), session),
        None => print_methods(args, &captures, methods.as_deref(), session),
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

/// Goes over all captures as one run. `take` is called with the calls that are over, in their order.
fn read(
    args: &RpcArgs,
    captures: &CaptureOptions,
    mut batches: CallBatches<'_>,
    session: &mut Session,
    take: &mut impl FnMut(Vec<Call>, &mut Session) -> io::Result<()>,
) -> io::Result<()> {
    for reader in session.captures(&args.files, args.jobs.count(), captures, Needs::Frames) {
        let read = match reader {
            Ok(mut reader) => batches.read(&mut reader, &mut |calls| take(calls, session))?,
            Err(error) => Err(error),
        };
        if let Err(error) = read {
            session.report(&error)?;
        }
    }
    session.progress.finish();
    batches.finish(&mut |calls| take(calls, session))
}

/// Makes the question to calls, of which `shown` is printed.
fn question(args: &RpcArgs, shown: Schema) -> bytewright::Result<Question> {
    let question = Question::new(&args.question, &CallField::SCHEMA, shown, args.top)?;
    match args.slower_than.as_deref().map(slower_than) {
        Some(text) => Ok(question.also(Condition::new(&text, &CallField::SCHEMA)?)),
        None => Ok(question),
    }
}

/// The values of a call by the places of its schema.
fn value_of<'c>(call: &'c Call) -> impl Fn(usize) -> Value<'c> {
    |place| CallField::ALL.get(place).map_or(Value::Null, |field| call.value(*field))
}

fn print_methods(
    args: &RpcArgs,
    captures: &CaptureOptions,
    methods: Option<&Methods>,
    session: &mut Session,
) -> io::Result<()> {
    let question = match question(args, MethodField::SCHEMA) {
        Ok(question) => question,
        Err(error) => return session.report(&error),
    };
    // A file that cannot be made is told before the captures are read.
    let Some(rows) = method_rows(args, session)? else { return Ok(()) };
    let mut summary = Summary::new();
    let batches = CallBatches::new(RpcOptions::default(), methods);
    read(args, captures, batches, session, &mut |calls, _| {
        let calls = calls.iter().filter(|call| question.holds(value_of(call)));
        calls.for_each(|call| summary.add(call));
        Ok(())
    })?;
    print_sums(summary.into_sorted(), rows, args, session)
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
    methods: Option<&Methods>,
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
    let Some(mut rows) = rows(question.schema(), args, session)? else { return Ok(()) };
    let options = RpcOptions { keeps_messages: methods.is_some(), ..RpcOptions::default() };
    let mut tape = Tape::new();
    let batches = CallBatches::new(options, methods);
    read(args, captures, batches, session, &mut |calls, session| {
        for call in calls {
            if !question.holds(value_of(&call)) || question.counts(value_of(&call)) {
                continue;
            }
            let carried = methods.map(|methods| {
                [CarriedField::Arguments, CarriedField::Result]
                    .map(|field| methods.json(&call, field, &mut tape))
            });
            rows.push(&mut session.output, |column| match CallField::ALL.get(column) {
                Some(field) => call.value(*field),
                None => {
                    let place = column - CallField::ALL.len();
                    let json = carried.as_ref().and_then(|carried| carried.get(place)?.as_deref());
                    json.map_or(Value::Null, Value::Json)
                }
            })?;
        }
        rows.flush(&mut session.output)
    })?;
    question.finish(&mut rows, &mut session.output)?;
    rows.finish(session)
}
