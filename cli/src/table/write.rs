//! Changes of a table: `put` and `delete`. They are on disk when the commands end.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::time::Duration;

use bytewright::table::file::{self, FileTable, OpenOptions, SyncMode};
use bytewright::table::{KeyRange, Selection, Table, VALUE_LEN_MAX, ValueType, integer_value};
use bytewright::{Error, ErrorKind};

use super::{bytes, no_entry};
use crate::args::{DeleteArgs, PutArgs};
use crate::session::Session;

/// Name of standard input as people write it.
const STDIN: &str = "-";

/// Options of a table that the command changes: what it has done lasts when it ends.
pub(super) fn options_to_write(timeout: Duration) -> OpenOptions {
    OpenOptions { sync: SyncMode::Commit, timeout, values: None, ..OpenOptions::default() }
}

pub(super) fn put(args: &PutArgs, session: &mut Session) -> io::Result<()> {
    let value = match value(&args.value) {
        Ok(value) => value,
        Err(error) => return session.report(&error),
    };
    let options = OpenOptions { create: true, ..options_to_write(args.wait.options.timeout) };
    let done = file::open(&args.file, None, options).and_then(|mut table| {
        let table = table.as_table_mut();
        let value = match table.values() {
            ValueType::INTEGER => Cow::Owned(integer_value(integer(&value)?).to_vec()),
            _ => value,
        };
        table.put(bytes(&args.key), &value)
    });
    match done {
        Ok(()) => Ok(()),
        Err(error) => session.report(&error),
    }
}

/// The integer that digits say.
fn integer(value: &[u8]) -> bytewright::Result<i64> {
    let digits = std::str::from_utf8(value).ok().and_then(|digits| digits.trim().parse().ok());
    digits.ok_or_else(|| {
        let found = String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
        let message = format!(
            "expected an integer from -2**63 to 2**63-1 for a table of integers, found {found:?}"
        );
        Error::new(ErrorKind::Argument, message)
    })
}

fn value(argument: &OsStr) -> bytewright::Result<Cow<'_, [u8]>> {
    if argument != STDIN {
        return Ok(Cow::Borrowed(bytes(argument)));
    }
    let mut value = Vec::new();
    // One byte more than can be put tells that there is too much.
    let input = io::stdin().lock();
    input
        .take(VALUE_LEN_MAX as u64 + 1)
        .read_to_end(&mut value)
        .map_err(|error| bytewright::Error::io("read", &error).in_file("standard input"))?;
    Ok(Cow::Owned(value))
}

pub(super) fn delete(args: &DeleteArgs, session: &mut Session) -> io::Result<()> {
    let options = options_to_write(args.wait.options.timeout);
    let deleted = file::open(&args.file, None, options).and_then(|table| match args.range.keys() {
        Some(range) => delete_range(table, range).map(Deleted::Range),
        None => delete_all(table, args).map(Deleted::Keys),
    });
    let name = args.file.display();
    match deleted {
        Ok(Deleted::Range(count)) => {
            session.output.line(&format!("{name}: {count} entries deleted"));
            Ok(())
        }
        Ok(Deleted::Keys(missing)) => {
            missing.into_iter().try_for_each(|key| session.fail(&no_entry(&args.file, key)))
        }
        Err(error) => session.report(&error.in_file(&name.to_string())),
    }
}

/// Result of a deletion.
enum Deleted<'a> {
    /// Of keys, with those that were not there.
    Keys(Vec<&'a OsStr>),
    /// Of a range, with the number of its entries.
    Range(u64),
}

fn delete_range(mut table: FileTable, range: KeyRange) -> bytewright::Result<u64> {
    table.delete_range(&Selection { range, limit: None })
}

/// Takes the keys out in one transaction; answers those that were not there.
fn delete_all(mut table: FileTable, args: &DeleteArgs) -> bytewright::Result<Vec<&OsStr>> {
    let table: &mut dyn Table = table.as_table_mut();
    let mut missing = Vec::new();
    table.begin()?;
    for key in &args.keys {
        if !table.delete(bytes(key))? {
            missing.push(key.as_os_str());
        }
    }
    table.commit()?;
    Ok(missing)
}
