//! The `bytewright` command as a library: [`run`] takes the arguments and answers the exit code.
//!
//! It holds options, output and messages only; reading, decoding and counting are the core's. It has
//! no state outside the call, so a host that embeds it may call it again.

mod args;
mod ask;
mod asked;
mod cache;
mod columns;
mod completions;
mod cut;
mod demo;
mod fields;
mod flows;
mod info;
mod interfaces;
mod interrupts;
mod json;
mod merge;
mod notation;
mod output;
mod packets;
mod plot;
mod progress;
mod question;
mod report;
mod rows;
mod rpc;
mod session;
mod store;
mod table;
mod thrift;
mod version;

use std::ffi::OsString;
use std::io;

use bytewright::{Error, panics};
use clap::Parser;

use args::{Args, Command};
use session::Session;

/// Exit code: everything that was asked for was done.
pub const DONE: u8 = 0;
/// Exit code: some input could not be read to its end, or a result could not be written. What was
/// read was printed.
pub const FAILED: u8 = 1;
/// Exit code: the command line is wrong.
pub const USAGE: u8 = 2;
/// Exit code: whoever read the output does not want the rest, as a shell reports it for `SIGPIPE`.
pub const BROKEN_PIPE: u8 = 141;

/// Runs the command with `args`, the program's name not among them, and answers its exit code.
///
/// Results go to standard output, everything else to standard error.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let mut line: Vec<OsString> = args.into_iter().collect();
    let mut parsed = Args::try_parse_from(&line);
    if let Some(asking) = parsed.as_ref().err().and_then(|it| args::asking_for_info(it, &line)) {
        line = asking;
        parsed = Args::try_parse_from(&line);
    }
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            let error = args::explain(error, &line);
            let code = u8::try_from(error.exit_code()).unwrap_or(USAGE);
            return match session::print_usage(&error) {
                // Help has nothing but its text; a wrong command line is told by the exit code, too.
                Err(failure) if code == DONE => failed(&failure, session::complain),
                _ => code,
            };
        }
    };
    let mut session = Session::new();
    if args.has_plain_bytes() {
        session.output.show_plain_bytes();
    }
    let result = panics::catch(|| obey(&args, &mut session))
        .unwrap_or_else(|panic| session.report(&Error::internal(panic)))
        .and_then(|()| session.output.flush());
    session.progress.finish();
    session.tell_of_interface();
    match result {
        Ok(()) => session.exit_code(),
        Err(error) => failed(&error, |message| session.complain(message)),
    }
}

/// The exit code of a run whose output was not taken, once that is told to whoever may want to know.
fn failed(error: &io::Error, tell: impl FnOnce(&str)) -> u8 {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return BROKEN_PIPE;
    }
    tell(&format!("cannot write the output: {error}"));
    FAILED
}

/// Does what the arguments say. The error is that of the output; those of the input are the
/// session's.
fn obey(args: &Args, session: &mut Session) -> io::Result<()> {
    match &args.command {
        _ if args.version => version::print(session),
        Some(Command::Flows(args)) => flows::run(args, session),
        Some(Command::Packets(args)) => packets::run(args, session),
        Some(Command::Asked(args)) => asked::run(args, session),
        Some(Command::Rpc(args)) => rpc::run(args, session),
        Some(Command::Cut(args)) => cut::run(args, session),
        Some(Command::Info(args)) => info::run(args, session),
        Some(Command::Interfaces(args)) => interfaces::run(args, session),
        Some(Command::Report(args)) => report::run(args, session),
        Some(Command::Table(args)) => table::run(&args.command, session),
        Some(Command::Cache(args)) => cache::run(&args.command, session),
        Some(Command::Store(args)) => store::run(&args.command, session),
        Some(Command::Thrift(args)) => thrift::run(&args.command, session),
        Some(Command::Demo) => demo::run(session),
        Some(Command::Completions { shell }) => completions::print(*shell, session),
        None => {
            session.usage(&args::no_command());
            Ok(())
        }
    }
}
