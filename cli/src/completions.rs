//! `bytewright completions`: a script that completes the command line in a shell.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::session::Session;

pub(crate) fn print(shell: Shell, session: &mut Session) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "bytewright", &mut script);
    session.output.buffer().extend_from_slice(&script);
    Ok(())
}
