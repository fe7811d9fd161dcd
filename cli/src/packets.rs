//! `bytewright packets`: one row per packet.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use bytewright::ask::{self, Answer, PacketOptions};
use bytewright::batch::Value;
use bytewright::export::ParquetFile;
use bytewright::input::{CaptureOptions, Filter, Needs};
use bytewright::packet::{Field, Frame};
use bytewright::{Error, ErrorKind};
use clap::error::ErrorKind as UsageKind;

use crate::args::{self, PacketsArgs, Reader, Selection};
use crate::ask::Listing;
use crate::question::Question;
use crate::rows::Rows;
use crate::session::Session;

/// Value of `--fields` that lists the fields.
const HELP: &str = "help";

/// Packets that go to a file of columns together.
const WRITTEN_ROWS: usize = 32 << 10;

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
    let mut file = match created {
        Ok(file) => file,
        Err(error) => return session.report(&error),
    };
    let left = args.limit.unwrap_or(u64::MAX);
    // A limit may leave most of the captures unread.
    let jobs = if args.limit.is_some() { 1 } else { args.jobs.count() };
    let asked = question.places().into_iter().filter_map(|place| Field::ALL.get(place));
    let other = fields.iter().filter_map(|field| in_its_place(*field));
    let needs = Needs::of(fields.iter().copied().chain(asked.copied()).chain(other));
    let captures = session.captures(&args.files, jobs, &options, needs);
    if let Some(file) = file.take_if(|_| !question.has_groups()) {
        let options = PacketOptions { rows: WRITTEN_ROWS, condition: question.take_condition() };
        let mut written = Written { file, left };
        session.ask(ask::Question::Packets(fields, options), captures, &mut written)?;
        return session.finish_file(written.file);
    }
    if file.is_none() && session.output.is_terminal() {
        session.progress.renounce();
    }
    let is_for_people = args.fields.is_none() && args.format.reader() == Reader::People;
    let rows = Rows::new(schema, args.format.reader(), file, &mut session.output);
    let mut printed = Printed { fields, is_for_people, question, left, rows };
    session.ask(ask::Question::Frames, captures, &mut printed)?;
    printed.question.finish(&mut printed.rows, &mut session.output)?;
    printed.rows.finish(session)
}

/// Packets that are printed, or added up.
struct Printed {
    fields: Vec<Field>,
    /// True where people see another field in the place of one that a packet lacks.
    is_for_people: bool,
    question: Question,
    /// Packets that are still wanted.
    left: u64,
    rows: Rows,
}

impl Printed {
    fn print(&mut self, frame: &Frame<'_>, session: &mut Session) -> io::Result<()> {
        if !self.question.holds(|place| frame.value_at(place)) {
            return Ok(());
        }
        self.left -= 1;
        if self.question.counts(|place| frame.value_at(place)) {
            return Ok(());
        }
        let Printed { fields, is_for_people, rows, .. } = self;
        rows.push(&mut session.output, |column| shown(frame, fields[column], *is_for_people))
    }
}

impl Listing for Printed {
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<ControlFlow<()>> {
        let Answer::Frames(batch) = answer else { return Ok(ControlFlow::Continue(())) };
        for frame in (0..batch.len()).filter_map(|index| batch.frame(index)) {
            if self.left == 0 {
                break;
            }
            self.print(&frame, session)?;
        }
        Ok(enough(self.left))
    }

    fn flush(&mut self, session: &mut Session) -> io::Result<()> {
        self.rows.flush(&mut session.output)
    }
}

/// Packets that are written to a file of columns.
struct Written {
    file: ParquetFile,
    /// Packets that are still wanted.
    left: u64,
}

impl Listing for Written {
    fn take(&mut self, answer: &mut Answer, _: &mut Session) -> io::Result<ControlFlow<()>> {
        let Answer::Columns(batch) = answer else { return Ok(ControlFlow::Continue(())) };
        batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= batch.len() as u64;
        self.file.write(batch.take()).map_err(io::Error::other)?;
        Ok(enough(self.left))
    }

    fn flush(&mut self, _: &mut Session) -> io::Result<()> {
        Ok(())
    }
}

/// The end of reading where no more rows are wanted.
fn enough(left: u64) -> ControlFlow<()> {
    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The value of a field as it is printed.
fn shown<'p>(frame: &'p Frame<'_>, field: Field, is_for_people: bool) -> Value<'p> {
    match (frame.value(field), in_its_place(field)) {
        (Value::Null, Some(other)) if is_for_people => frame.value(other),
        (value, _) => value,
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

/// Options for reading captures; none, and a usage error, if the filter is wrong or stands among the `files`.
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
