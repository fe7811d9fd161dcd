//! `bytewright demo`: a capture to try the other commands on.

use std::io;

use clap::error::ErrorKind;

use crate::args;
use crate::session::Session;

/// The sample that the examples of README read.
const CAPTURE: &[u8] = include_bytes!("../../samples/web.pcap.gz");

pub(crate) fn run(session: &mut Session) -> io::Result<()> {
    if session.output.is_terminal() {
        let message = "expected a file or a pipe to write a capture to, found a terminal; type: \
            bytewright demo >web.pcap.gz";
        session.usage(&args::usage("demo", ErrorKind::ValueValidation, message));
        return Ok(());
    }
    session.output.raw(CAPTURE);
    Ok(())
}
