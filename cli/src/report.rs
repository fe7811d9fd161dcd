//! `bytewright report`: one page of HTML about captures.

use std::io;
use std::path::Path;

use bytewright::report::{Report, ReportOptions};
use bytewright::scan::{CaptureReader, Needs};

use crate::args::ReportArgs;
use crate::packets::capture_options;
use crate::session::{self, Session};

/// How people write standard output.
const STDOUT: &str = "-";

pub(crate) fn run(args: &ReportArgs, session: &mut Session) -> io::Result<()> {
    let Some(captures) = capture_options(&args.files, &args.selection, session)? else {
        return Ok(());
    };
    let output = session::output_options(&args.files, args.force);
    if args.output != Path::new(STDOUT)
        && let Err(error) = output.check(&args.output)
    {
        return session.report(&error);
    }
    session.progress.expect(&args.files);
    let mut report = match Report::new(options(args)) {
        Ok(report) => report,
        Err(error) => return session.report(&error),
    };
    for reader in session.captures(&args.files, args.jobs, &captures, Needs::Frames) {
        if let Err(error) = reader.and_then(|reader| read(&mut report, reader)) {
            session.report(&error)?;
        }
    }
    session.progress.finish();
    // Nothing to show is no page.
    if report.captures() == 0 {
        return Ok(());
    }
    if args.output == Path::new(STDOUT) {
        session.output.raw(report.finish().as_bytes());
        return Ok(());
    }
    if !session.may_finish_file() {
        return Ok(());
    }
    report.write_to(&args.output, &output).or_else(|error| session.report(&error))
}

fn options(args: &ReportArgs) -> ReportOptions {
    ReportOptions {
        title: args.title.clone(),
        filter: args.selection.filter.clone(),
        flow: args.selection.flow.as_ref().map(ToString::to_string),
        condition: args.condition.clone(),
    }
}

/// Adds a capture; its damage is an error of the command, too.
fn read(report: &mut Report, mut reader: CaptureReader) -> bytewright::Result<()> {
    report.read(&mut reader)?.damage.map_or(Ok(()), Err)
}
