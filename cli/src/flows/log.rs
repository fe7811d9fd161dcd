//! `flows --as`: flows in the words of another program, on standard output or in a file.

use std::io;
use std::path::{Path, PathBuf};

use bytewright::ask::FlowLog;
use bytewright::flow::{Flow, FlowEncoder, FlowFormat};
use bytewright::query::now;

use crate::args::{FlowsArgs, Reader};
use crate::session::{STDIN, Session, output_options};

/// Name of standard output in errors.
const STDOUT: &str = "standard output";

/// The reason why `--as` makes no sense with the other options, and what does.
pub(super) fn refusal(args: &FlowsArgs, is_terminal: bool) -> Option<String> {
    let format = args.log.format()?;
    rows_of_its_own(args, format.name()).or_else(|| other_form(args, format)).or_else(|| {
        let is_shown = is_terminal && is_stdout(args.log.output.as_deref());
        (is_shown && !format.is_text()).then(|| {
            let name = format.name();
            format!("expected a file or a pipe to write {name} to, found a terminal; name a file with -o FILE")
        })
    })
}

/// The refusal of options that ask for other rows than the flows of a form.
fn rows_of_its_own(args: &FlowsArgs, name: &str) -> Option<String> {
    let question = &args.question;
    let options = [
        (!question.group_by.is_empty(), "--group-by", "place for groups"),
        (!question.sum.is_empty(), "--sum", "place for sums"),
        (question.every.is_some(), "--every", "place for intervals"),
        (args.fields.is_some(), "--fields", "choice of fields"),
    ];
    let (_, option, lacks) = options.into_iter().find(|(is_given, ..)| *is_given)?;
    Some(format!(
        "expected --as {name} alone, found {option}: {name} has no {lacks}; leave out {option}, or print the rows with \
         --json or --csv instead"
    ))
}

/// The refusal of a second form.
fn other_form(args: &FlowsArgs, format: FlowFormat) -> Option<String> {
    let printed = match args.format.reader() {
        Reader::Json => Some("--json"),
        Reader::Csv { formulas: true } => Some("--csv"),
        Reader::Csv { formulas: false } => Some("--csv-safe"),
        Reader::People => None,
    };
    let parquet = args.columns.parquet.as_ref().map(|_| "--parquet");
    let other = printed.or(parquet).or(args.into.as_ref().map(|_| "--into"))?;
    let advice = match format {
        FlowFormat::Zeek if other == "--json" => "write --as zeek-json for Zeek's JSON",
        _ => "leave out one of them",
    };
    let name = format.name();
    Some(format!("expected one form of flows, found --as {name} and {other}; {advice}"))
}

fn is_stdout(output: Option<&Path>) -> bool {
    output.is_none_or(|path| path == Path::new(STDIN.0))
}

/// Flows on their way to the other program.
pub(super) enum FlowOutput {
    File(Box<FlowLog>),
    Stdout(FlowEncoder),
}

impl FlowOutput {
    /// Begins the log; nothing, once the error is told, where its file cannot be made. `inputs` are what it is made of.
    pub(super) fn new(
        format: FlowFormat,
        args: &FlowsArgs,
        inputs: &[PathBuf],
        session: &mut Session,
    ) -> io::Result<Option<Self>> {
        match create(format, args, inputs, session) {
            Ok(Some(log)) => Ok(Some(FlowOutput::File(Box::new(log)))),
            Ok(None) => {
                let mut encoder = FlowEncoder::new(format);
                encoder.begin(now(), session.output.buffer());
                Ok(Some(FlowOutput::Stdout(encoder)))
            }
            Err(error) => session.report(&error).map(|()| None),
        }
    }

    pub(super) fn push(&mut self, flow: &Flow, session: &mut Session) -> io::Result<()> {
        match self {
            FlowOutput::File(log) => log.push(flow).map_err(io::Error::other),
            FlowOutput::Stdout(encoder) => {
                encoder.push(flow, session.output.buffer());
                session.output.settle()
            }
        }
    }

    /// Writes what was pushed so far.
    pub(super) fn flush(&mut self, session: &mut Session) -> io::Result<()> {
        match self {
            FlowOutput::File(log) => log.flush().map_err(io::Error::other),
            FlowOutput::Stdout(encoder) => {
                encoder.flush(now(), session.output.buffer());
                session.output.flush()
            }
        }
    }

    /// Ends the log. A file has its name now, once all inputs were read.
    pub(super) fn finish(self, session: &mut Session) -> io::Result<()> {
        match self {
            FlowOutput::File(log) if session.may_finish_file() => {
                log.finish().map(drop).map_err(io::Error::other)
            }
            FlowOutput::File(_) => Ok(()),
            FlowOutput::Stdout(mut encoder) => {
                encoder.finish(now(), session.output.buffer());
                session.output.flush()
            }
        }
    }
}

/// The file of the log; none for standard output, which must be none of the inputs either.
fn create(
    format: FlowFormat,
    args: &FlowsArgs,
    inputs: &[PathBuf],
    session: &Session,
) -> bytewright::Result<Option<FlowLog>> {
    let options = output_options(inputs, args.columns.replacing.options.force);
    let Some(path) = args.log.output.as_deref().filter(|path| !is_stdout(Some(path))) else {
        options.check_inputs(Path::new("/dev/fd/1"), STDOUT)?;
        return Ok(None);
    };
    let log = FlowLog::create(path, format, &options)?;
    session.remove_at_signal(log.hidden_path())?;
    Ok(Some(log))
}
