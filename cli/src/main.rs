//! The `bytewright` command: everything it does is in the library, so that the gem can do it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bytewright_cli::run(std::env::args_os().skip(1)))
}
