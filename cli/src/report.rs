//! `bytewright report`: one page of HTML about captures.

use std::io;
use std::path::Path;

use bytewright::input::{CaptureOptions, CaptureReader, Needs};
use bytewright::report::{PageFile, Report, ReportOptions};

use crate::args::ReportArgs;
use crate::packets::capture_options;
use crate::session::{Session, output_options};

/// Name of standard output as people write it.
const STDOUT: &str = "-";

pub(crate) fn run(args: &ReportArgs, session: &mut Session) -> io::Result<()> {
    let Some(captures) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    let begun = Report::new(options(args)).and_then(|report| Ok((report, create(args, session)?)));
    let (mut report, file) = match begun {
        Ok(begun) => begun,
        Err(error) => return session.report(&error),
    };
    let captures = CaptureOptions { wanted: report.wanted(), ..captures };
    session.progress.expect(&args.files);
    for reader in session.captures(&args.files, args.jobs.count(), &captures, Needs::Frames) {
        if let Err(error) = reader.and_then(|reader| read(&mut report, reader)) {
            session.report(&error)?;
        }
    }
    session.progress.finish();
    // Nothing to show is no page.
    if report.captures() == 0 {
        return Ok(());
    }
    let Some(file) = file else {
        session.output.raw(report.finish().as_bytes());
        return Ok(());
    };
    if !session.may_finish_file() {
        return Ok(());
    }
    file.write(report).or_else(|error| session.report(&error))
}

/// The page's file, if it is not to be printed: what cannot be written is told before captures are read.
fn create(args: &ReportArgs, session: &Session) -> bytewright::Result<Option<PageFile>> {
    if args.output == Path::new(STDOUT) {
        return Ok(None);
    }
    let file =
        PageFile::create(&args.output, &output_options(&args.files, args.replacing.options.force))?;
    session.remove_at_signal(file.hidden_path())?;
    Ok(Some(file))
}

fn options(args: &ReportArgs) -> ReportOptions {
    let captures = &args.selection.captures.options;
    ReportOptions {
        filter: captures.filter.clone(),
        flow: captures.flow.as_ref().map(ToString::to_string),
        ..args.page.options.clone()
    }
}

/// Adds a capture; its damage is an error of the command, too.
fn read(report: &mut Report, mut reader: CaptureReader) -> bytewright::Result<()> {
    report.read(&mut reader)?.damage.map_or(Ok(()), Err)
}
