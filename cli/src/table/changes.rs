//! `bytewright table changes`: what was committed to a hashed table since a position.

use std::io;

use bytewright::table::{Change, Changes, Origin};

use super::read::shown;
use crate::args::ChangesArgs;
use crate::notation;
use crate::session::Session;

pub(super) fn run(args: &ChangesArgs, session: &mut Session) -> io::Result<()> {
    let opened = super::open(&args.file, false, session).and_then(|origin| {
        let changes = origin.changes_since(args.since.as_ref())?;
        Ok((origin, changes))
    });
    let (origin, mut changes) = match opened {
        Ok(opened) => opened,
        Err(error) => return session.report(&error.in_file(&args.file.to_string_lossy())),
    };
    loop {
        match print_next(&origin, changes.as_mut(), session.output.buffer()) {
            Ok(true) => session.output.settle()?,
            Ok(false) => break,
            Err(error) => return session.report(&error),
        }
    }
    session.output.line(&format!("{{\"position\":\"{}\"}}", changes.position()));
    Ok(())
}

/// Prints the next change to `line`; false after the last.
fn print_next(
    origin: &Origin,
    changes: &mut dyn Changes,
    line: &mut Vec<u8>,
) -> bytewright::Result<bool> {
    let Some(change) = changes.advance()? else { return Ok(false) };
    // A value that cannot be shown leaves no half of a line.
    let value = change.value().map(|value| shown(origin, value)).transpose()?;
    print(line, &change);
    if let Some(value) = value {
        line.extend_from_slice(b",\"value\":");
        value.write(line, notation::json_bytes);
    }
    line.extend_from_slice(b"}\n");
    Ok(true)
}

/// Prints the beginning of the object of a change.
fn print(line: &mut Vec<u8>, change: &Change<'_>) {
    line.extend_from_slice(b"{\"change\":\"");
    line.extend_from_slice(change.name().as_bytes());
    line.push(b'"');
    if let Some(key) = change.key() {
        line.extend_from_slice(b",\"key\":");
        notation::json_bytes(line, key);
    }
}
