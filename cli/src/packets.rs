//! `bytewright packets`: one row per packet.

use std::io;
use std::path::PathBuf;

use bytewright::batch::Value;
use bytewright::export::ParquetFile;
use bytewright::input::{CaptureOptions, CaptureReader, Filter, FrameBatch, Needs};
use bytewright::packet::{Columns, Field, Frame};
use bytewright::{Error, ErrorKind};
use clap::error::ErrorKind as UsageKind;

use crate::args::{self, PacketsArgs, Reader, Selection};
use crate::question::Question;
use crate::rows::Rows;
use crate::session::Session;

/// Value of `--fields` that lists the fields.
const HELP: &str = "help";

/// Packets that go to a file of columns together.
const WRITTEN_ROWS: u64 = 32 << 10;

/// Destination of packets: by rows, or by columns.
enum To {
    Output(Rows),
    File(Box<ParquetFile>),
}

pub(crate) fn run(args: &PacketsArgs, session: &mut Session) -> io::Result<()> {
    let names = args.fields.as_deref();
    if names.is_some_and(|names| names.iter().any(|name| name == HELP)) {
        field_list().lines().for_each(|line| session.output.line(line));
        return Ok(());
    }
    let fields = match fields(names) {
        Ok(fields) => fields,
        Err(unknown) => {
            let list = field_list();
            let message = match Field::SCHEMA.nearest(unknown) {
                Some(near) => format!(
                    "expected the name of a field, found '{unknown}' (did you mean '{near}'?); there are\n{list}"
                ),
                None => {
                    format!("expected the name of a field, found '{unknown}'; there are\n{list}")
                }
            };
            session.usage(&args::usage("packets", UsageKind::InvalidValue, &message));
            return Ok(());
        }
    };
    if args.files.is_empty() && args.selection.interface().is_none() {
        let message = "expected a FILE, - for standard input, or --interface, found none";
        session.usage(&args::usage("packets", UsageKind::MissingRequiredArgument, message));
        return Ok(());
    }
    let Some(options) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    session.progress.expect(&args.files);
    let shown = Field::SCHEMA.project(fields.iter().map(|field| *field as usize));
    let mut question = match Question::new(&args.question, &Field::SCHEMA, shown, args.top) {
        Ok(question) => question,
        Err(error) => return session.report(&error),
    };
    let schema = question.schema();
    let created = args.columns.create(&schema, &args.files, args.selection.filter(), session);
    let mut to = match created {
        Ok(Some(file)) if question.is_none() => To::File(Box::new(file)),
        Ok(file) => {
            if file.is_none() && session.output.is_terminal() {
                session.progress.renounce();
            }
            To::Output(Rows::new(schema, args.format.reader(), file, &mut session.output))
        }
        Err(error) => return session.report(&error),
    };
    let mut columns = Columns::new(&fields);
    let mut left = args.limit.unwrap_or(u64::MAX);
    // A limit may leave most of the captures unread.
    let jobs = if args.limit.is_some() { 1 } else { args.jobs.count() };
    let asked = question.places().into_iter().filter_map(|place| Field::ALL.get(place));
    let other = fields.iter().filter_map(|field| in_its_place(*field));
    let needs = Needs::of(fields.iter().copied().chain(asked.copied()).chain(other));
    let is_for_people = args.fields.is_none() && args.format.reader() == Reader::People;
    for reader in session.captures(&args.files, jobs, &options, needs) {
        let error = match reader {
            Ok(mut reader) => match &mut to {
                To::Output(rows) => {
                    let shown = Shown { fields: &fields, is_for_people };
                    print(&mut reader, &shown, &mut question, &mut left, rows, session)?
                }
                To::File(file) => write(&mut reader, &mut columns, &mut left, file)?,
            },
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            session.report(&error)?;
        }
    }
    match to {
        To::File(file) => session.finish_file(*file),
        To::Output(mut rows) => {
            question.finish(&mut rows, &mut session.output)?;
            rows.finish(session)
        }
    }
}

/// The fields that are printed, and whether people may see another one in the place of one that a packet lacks.
struct Shown<'f> {
    fields: &'f [Field],
    is_for_people: bool,
}

impl Shown<'_> {
    fn value<'p>(&self, frame: &'p Frame<'_>, column: usize) -> Value<'p> {
        let field = self.fields[column];
        match (frame.value(field), in_its_place(field)) {
            (Value::Null, Some(other)) if self.is_for_people => frame.value(other),
            (value, _) => value,
        }
    }
}

/// The field that tells people the same of packets of another kind: the addresses of ARP.
fn in_its_place(field: Field) -> Option<Field> {
    match field {
        Field::SrcIp => Some(Field::ArpSrcIp),
        Field::DstIp => Some(Field::ArpDstIp),
        _ => None,
    }
}

/// Prints up to `left` packets of a capture; returns the error that it ends with.
fn print(
    reader: &mut CaptureReader,
    shown: &Shown<'_>,
    question: &mut Question,
    left: &mut u64,
    rows: &mut Rows,
    session: &mut Session,
) -> io::Result<Option<Error>> {
    let mut batch = FrameBatch::new();
    let is_live = reader.facts().is_live;
    let mut damage = None;
    while *left > 0 {
        match reader.read_frames(&mut batch) {
            Ok(()) if batch.is_empty() => break,
            Ok(()) => {}
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
        let frames = (0..batch.len()).filter_map(|index| batch.frame(index));
        for frame in frames {
            if *left == 0 {
                break;
            }
            if !question.holds(|place| frame.value_at(place)) {
                continue;
            }
            *left -= 1;
            if !question.counts(|place| frame.value_at(place)) {
                rows.push(&mut session.output, |column| shown.value(&frame, column))?;
            }
        }
        // Packets from a pipe are shown as they come; those of a file, by full pages.
        if is_live {
            rows.flush(&mut session.output)?;
        }
    }
    rows.flush(&mut session.output)?;
    Ok(damage)
}

/// Writes up to `left` packets of a capture to a file of columns; answers the error that it ends with.
fn write(
    reader: &mut CaptureReader,
    columns: &mut Columns,
    left: &mut u64,
    file: &mut ParquetFile,
) -> io::Result<Option<Error>> {
    while *left > 0 {
        let rows_max = WRITTEN_ROWS.min(*left) as usize;
        match reader.read_columns(columns, rows_max) {
            Ok(()) if columns.is_empty() => break,
            Ok(()) => {}
            Err(error) => return Ok(Some(error)),
        }
        *left -= columns.len() as u64;
        file.write(columns.take()).map_err(io::Error::other)?;
    }
    Ok(None)
}

/// Makes the options of reading captures; None, after a usage error, if the filter is none, or is among the `files`.
pub(crate) fn capture_options(
    files: &[PathBuf],
    selection: &Selection,
    session: &mut Session,
) -> io::Result<Option<CaptureOptions>> {
    let options = &selection.captures.options;
    if let Some(expression) = &options.filter
        && let Err(error) = Filter::new(expression)
    {
        session.report(&error)?;
        return Ok(None);
    }
    if options.filter.is_none()
        && let Some(expression) = args::filter_among(files)
    {
        let message = format!(
            "expected captures, found '{expression}', which no file has as its name; a libpcap \
             expression follows its option: --filter '{expression}'"
        );
        session.report(&Error::new(ErrorKind::Argument, message))?;
        return Ok(None);
    }
    session.interface = selection.interface();
    Ok(Some(options.clone()))
}

/// The fields of those names, or the unknown name.
fn fields(names: Option<&[String]>) -> Result<Vec<Field>, &str> {
    match names {
        None => Ok(Field::DEFAULT.to_vec()),
        Some(names) => {
            names.iter().map(|name| Field::named(name).map_err(|_| name.as_str())).collect()
        }
    }
}

/// Every field with its meaning, a line each.
fn field_list() -> String {
    let width = Field::ALL.iter().map(|field| field.name().len()).max().unwrap_or(0);
    let lines =
        Field::ALL.iter().map(|field| format!("  {:<width$} {}", field.name(), field.meaning()));
    lines.collect::<Vec<_>>().join("\n")
}
