//! `bytewright cut`: packets of captures in a new capture.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::Path;

use bytewright::ask::{CutOutput, CutTotals, cut};
use bytewright::export::{CaptureFile, CaptureForm};
use bytewright::input::{CaptureOptions, CaptureReader, Needs};
use bytewright::packet::PayloadRule;
use bytewright::{Error, ErrorKind, Result};

use crate::args::{self, CutArgs};
use crate::merge::counted;
use crate::packets::capture_options;
use crate::session::{Session, output_options};

/// Name of standard output as people write it, and in errors.
const STDOUT: (&str, &str) = ("-", "standard output");

/// The system's number for a pipe that nobody reads any more.
const EPIPE: i32 = 32;

pub(crate) fn run(args: &CutArgs, session: &mut Session) -> io::Result<()> {
    if args.output == Path::new(STDOUT.0) && session.output.is_terminal() {
        let message = "expected a file or a pipe to write a capture to, found a terminal";
        session.usage(&args::usage("cut", clap::error::ErrorKind::ValueValidation, message));
        return Ok(());
    }
    let Some(options) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    match write(args, &options, session) {
        Ok(totals) => tell(&totals, args, session),
        Err(error) if error.kind() == ErrorKind::Io(Some(EPIPE)) => {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        Err(error) => session.report(&error),
    }
}

/// Writes the capture, all of it or nothing.
fn write(args: &CutArgs, options: &CaptureOptions, session: &mut Session) -> Result<CutTotals> {
    if args.output != Path::new(STDOUT.0) {
        CaptureForm::of_name(&args.output)?;
    }
    session.progress.expect(&args.files);
    let options = CaptureOptions { wanted: args.cut.options.wanted(), ..options.clone() };
    let captures = session.captures(&args.files, 1, &options, Needs::Frames);
    let readers = captures.collect::<Result<Vec<CaptureReader>>>()?;
    cut(readers, &args.cut.options, create(args, session)?)
}

fn create(args: &CutArgs, session: &Session) -> Result<CutOutput> {
    let options = output_options(&args.files, args.replacing.options.force);
    if args.output != Path::new(STDOUT.0) {
        let mut output = CutOutput::create(&args.output, &args.cut.options, &options)?;
        match &mut output {
            CutOutput::File(file) => session.remove_at_signal(file.hidden_path())?,
            CutOutput::Pieces(pieces) => pieces.watch(session.piece_watcher()),
        }
        return Ok(output);
    }
    args.cut.options.check_not_rotated()?;
    // A file that grows while it is read would never end.
    options.check_inputs(Path::new("/dev/fd/1"), STDOUT.1)?;
    // Through the descriptor, because Rust's standard output looks for line ends.
    let stdout = io::stdout().as_fd().try_clone_to_owned();
    let stdout = stdout.map_err(|error| Error::io("open", &error).in_file(STDOUT.1))?;
    let stream = Box::new(File::from(stdout));
    CaptureFile::to_stream(CaptureForm::PCAPNG, stream, STDOUT.1).map(CutOutput::from)
}

/// Tells people how many packets were written, and everybody what is not as it was to be expected.
fn tell(totals: &CutTotals, args: &CutArgs, session: &mut Session) -> io::Result<()> {
    if totals.packets == 0 {
        session.tell_of_nothing("packets");
    } else if io::stderr().is_terminal() {
        let is_stdout = args.output == Path::new(STDOUT.0);
        let output = if is_stdout { STDOUT.1.into() } else { args.output.to_string_lossy() };
        let duplicates = match totals.duplicates {
            0 => String::new(),
            count => format!(", left out {}", counted(count, "duplicate")),
        };
        let packets = counted(totals.packets, "packet");
        let files = match args.cut.options.rotate {
            Some(_) => format!(" ({})", counted(totals.files, "file")),
            None => String::new(),
        };
        session.complain(&format!("wrote {packets} to {output}{files}{duplicates}"));
    }
    if totals.late > 0 {
        let count = totals.late;
        session.complain(&format!(
            "{count} packets are earlier than one before them: they come late in their own capture"
        ));
    }
    if totals.opaque > 0 {
        let rule = args.cut.options.payload.unwrap_or_default();
        session.complain(&format!(
            "{} no header that is known: all of {} counts as payload, which {}",
            match totals.opaque {
                1 => "1 packet has".to_owned(),
                count => format!("{count} packets have"),
            },
            if totals.opaque == 1 { "it" } else { "them" },
            match rule {
                PayloadRule::Zero => "is zeros",
                PayloadRule::Cut => "is cut off",
                PayloadRule::Keep => "is kept, with the addresses in it",
            }
        ));
    }
    totals.index_faults.iter().for_each(|fault| session.complain(&fault.to_string()));
    totals.damage.iter().try_for_each(|error| session.report(error))
}
