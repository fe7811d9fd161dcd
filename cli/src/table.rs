//! `bytewright table`: tables in files, looked into, changed, checked and converted.

mod changes;
mod dump;
mod maintain;
mod merge;
mod read;
mod write;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bytewright::table::Origin;

use crate::args::TableCommand;
use crate::session::Session;

pub(crate) fn run(command: &TableCommand, session: &mut Session) -> io::Result<()> {
    match command {
        TableCommand::Get(args) => read::get(args, session),
        TableCommand::Scan(args) => read::scan(args, session),
        TableCommand::Stat(args) => read::stat(args, session),
        TableCommand::Put(args) => write::put(args, session),
        TableCommand::Delete(args) => write::delete(args, session),
        TableCommand::Compact(args) => maintain::compact(args, session),
        TableCommand::Check(args) => maintain::check(args, session),
        TableCommand::Convert(args) => maintain::convert(args, session),
        TableCommand::Backup(args) => maintain::backup(args, session),
        TableCommand::Dump(args) => dump::dump(args, session),
        TableCommand::Load(args) => dump::load(args, session),
        TableCommand::Changes(args) => changes::run(args, session),
        TableCommand::Merge(args) => merge::run(args, session),
    }
}

/// Opens a file to read, all of it checked first where `verify` says so, and tells people where some
/// of its entries may never have reached it.
fn open(path: &Path, verify: bool, session: &Session) -> bytewright::Result<Origin> {
    let origin = Origin::open(path, verify)?;
    if origin.is_left_open() {
        session.complain(&format!(
            "{}: its writer did not close it; what had not reached the file is missing",
            path.display()
        ));
    }
    Ok(origin)
}

/// The bytes of an argument.
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    argument.as_bytes()
}

/// Returns the text for people who asked for a key that is not there.
pub(crate) fn no_entry(path: &Path, key: &OsStr) -> String {
    format!("{}: no entry for the key {key:?}", path.display())
}
