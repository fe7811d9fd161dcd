//! The `bytewright` command, as the gem ships it.

use std::path::PathBuf;

use magnus::{Error, RArray, RString, Ruby, TryConvert};

use crate::border::{lock, path_of};

/// `Bytewright.run_command(arguments)`: runs the command and answers its exit code.
pub(crate) fn run(ruby: &Ruby, arguments: RArray) -> Result<u8, Error> {
    let arguments: Vec<std::ffi::OsString> = arguments
        .into_iter()
        .map(|argument| path_of(RString::try_convert(argument)?).map(PathBuf::into_os_string))
        .collect::<Result<_, Error>>()?;
    // Not where an interrupt would keep it from running at all: Ruby's own, for other threads, comes each tenth of a second.
    let code = lock::to_the_end(ruby, || bytewright_cli::run(arguments.clone()))?;
    ruby.thread_check_ints()?;
    Ok(code)
}
