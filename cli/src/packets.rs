//! `bytewright packets`: one row per packet.

use std::io;
use std::path::PathBuf;

use bytewright::ask::{self, Answer, PacketOptions};
use bytewright::batch::Value;
use bytewright::export::ParquetFile;
use bytewright::input::{CaptureOptions, Filter, Needs, PrefetchedCaptures};
use bytewright::packet::{Field, Frame};
use bytewright::{Error, ErrorKind};
use clap::error::ErrorKind as UsageKind;

use crate::args::{self, PacketsArgs, Reader, Selection};
use crate::ask::Listing;
use crate::fields;
use crate::question::Question;
use crate::rows::Rows;
use crate::session::Session;

/// Packets that go to a file of columns together.
const WRITTEN_ROWS: usize = 32 << 10;

pub(crate) fn run(args: &PacketsArgs, session: &mut Session) -> io::Result<()> {
    let fields: Vec<Field> = match &args.fields {
        None => {
            let labels = args.selection.labels().map(|_| [Field::SrcLabel, Field::DstLabel]);
            Field::DEFAULT.iter().copied().chain(labels.into_iter().flatten()).collect()
        }
        Some(names) => match fields::places(names, &Field::SCHEMA, "packets", session) {
            Some(places) => places.into_iter().map(|place| Field::ALL[place]).collect(),
            None => return Ok(()),
        },
    };
    if args.files.is_empty() && args.selection.interfaces().is_none() {
        let message = "expected a FILE, - for standard input, or --interface, found none";
        session.usage(&args::usage("packets", UsageKind::MissingRequiredArgument, message));
        return Ok(());
    }
    let Some(mut options) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    session.progress.expect(&args.files);
    let shown = Field::SCHEMA.project(fields.iter().map(|field| *field as usize));
    let question = match Question::new(&args.question, &Field::SCHEMA, shown, args.top) {
        Ok(question) => match args.numbers.options.condition.clone() {
            Some(numbers) => question.also(numbers),
            None => question,
        },
        Err(error) => return session.report(&error),
    };
    let (schema, filter) = (question.schema(), args.selection.filter());
    let file = match args.columns.create(&schema, &args.files, filter, session) {
        Ok(file) => file,
        Err(error) => return session.report(&error),
    };
    options.wanted = question.wanted().up_to(args.numbers.options.last);
    let captures = captures(args, &options, &fields, &question, session);
    let left = args.limit.unwrap_or(u64::MAX);
    match file {
        Some(file) if !question.has_groups() => {
            write(captures, fields, question, Written { file, left }, session)
        }
        file => {
            if file.is_none() && session.output.is_terminal() {
                session.progress.renounce();
            }
            let is_for_people = args.fields.is_none() && args.format.reader() == Reader::People;
            let rows = Rows::new(schema, args.format.reader(), file, &mut session.output);
            let rows = rows.map_err(io::Error::other)?;
            print(captures, Printed { fields, is_for_people, question, left, rows }, session)
        }
    }
}

/// Captures of which as much is decoded as these fields and the question look at.
fn captures(
    args: &PacketsArgs,
    options: &CaptureOptions,
    fields: &[Field],
    question: &Question,
    session: &Session,
) -> PrefetchedCaptures {
    // A limit may leave most of the captures unread.
    let jobs = if args.limit.is_some() { 1 } else { args.jobs.count() };
    let asked = question.places().into_iter().filter_map(|place| Field::ALL.get(place));
    let other = fields.iter().filter_map(|field| in_its_place(*field));
    let needs = Needs::of(fields.iter().copied().chain(asked.copied()).chain(other));
    session.captures(&args.files, jobs, options, needs)
}

/// Writes packets to a file of columns.
fn write(
    captures: PrefetchedCaptures,
    fields: Vec<Field>,
    mut question: Question,
    mut written: Written,
    session: &mut Session,
) -> io::Result<()> {
    let options = PacketOptions {
        rows: WRITTEN_ROWS,
        condition: question.take_condition(),
        ..PacketOptions::default()
    };
    session.ask(ask::Question::Packets(fields, options), captures, &mut written)?;
    session.finish_file(written.file)
}

/// Prints packets, or what they add up to.
fn print(
    captures: PrefetchedCaptures,
    mut printed: Printed,
    session: &mut Session,
) -> io::Result<()> {
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
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<()> {
        let Answer::Frames(batch) = answer else { return Ok(()) };
        for frame in (0..batch.len()).filter_map(|index| batch.frame(index)) {
            if self.left == 0 {
                break;
            }
            self.print(&frame, session)?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.left == 0
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
    fn take(&mut self, answer: &mut Answer, _: &mut Session) -> io::Result<()> {
        let Answer::Columns(batch) = answer else { return Ok(()) };
        batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= batch.len() as u64;
        self.file.write(batch.take()).map_err(io::Error::other)
    }

    fn is_full(&self) -> bool {
        self.left == 0
    }

    fn flush(&mut self, _: &mut Session) -> io::Result<()> {
        Ok(())
    }
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
    if let Some(replaced) = selection.labels().and_then(|labels| labels.replaced()) {
        session.complain(&replaced.to_string());
    }
    session.interfaces = selection.interfaces();
    Ok(Some(options.clone()))
}
