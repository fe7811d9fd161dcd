//! Commands for a whole table: `compact`, `check`, `convert`, `backup`.

use std::io;
use std::time::Duration;

use bytewright::Error;
use bytewright::table::file::{self, FileTable, OpenOptions, Repaired};
use bytewright::table::{
    Backup, BackupOptions, ConvertOptions, Duplicates, KeyRange, Origin, Stat,
    convert as convert_table,
};

use super::open;
use crate::args::{BackupArgs, CheckArgs, CompactArgs, ConvertArgs, KeepDuplicates};
use crate::json::Object;
use crate::session::Session;

/// Entries between two looks at the progress.
const STRIDE: u64 = 4096;

pub(super) fn compact(args: &CompactArgs, session: &mut Session) -> io::Result<()> {
    let options =
        OpenOptions { timeout: args.wait.options.timeout, values: None, ..OpenOptions::default() };
    let sizes = file::open(&args.file, None, options).and_then(compact_table);
    match sizes {
        Ok((before, after)) => {
            let name = args.file.display();
            session.output.line(&format!("{name}: {after} bytes, {before} before"));
            Ok(())
        }
        Err(error) => session.report(&error),
    }
}

/// The file's bytes before and after.
fn compact_table(mut table: FileTable) -> bytewright::Result<(u64, u64)> {
    let table = table.as_table_mut();
    let Stat { file_bytes: before, .. } = table.stat()?;
    table.compact()?;
    Ok((before, table.stat()?.file_bytes))
}

/// Result of a check.
struct Checked {
    kind: &'static str,
    /// Entries that can be read.
    records: u64,
    damage: Option<Error>,
}

pub(super) fn check(args: &CheckArgs, session: &mut Session) -> io::Result<()> {
    if args.repair {
        match file::repair(&args.file, Duration::ZERO) {
            Ok(Repaired { lost_bytes: Some(lost) }) if lost > 0 => {
                session
                    .complain(&format!("{}: {lost} bytes could not be saved", args.file.display()));
            }
            Ok(_) => (),
            Err(error) => return session.report(&error),
        }
    }
    let checked = open(&args.file, true, session).and_then(|origin| check_origin(&origin, session));
    let checked = match checked {
        Ok(checked) => checked,
        Err(error) => return session.report(&error),
    };
    session.progress.finish();
    print_check(args, &checked, session);
    checked.damage.map_or(Ok(()), |damage| session.report(&damage))
}

/// Reads every entry.
fn check_origin(origin: &Origin, session: &Session) -> bytewright::Result<Checked> {
    let expected = origin.len()?;
    session.progress.expect_count(expected);
    let mut entries = origin.scan(&KeyRange::ALL)?;
    let mut records = 0;
    let damage = loop {
        match entries.advance() {
            Ok(Some(_)) => records += 1,
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        if records % STRIDE == 0 {
            session.progress.reach(records);
        }
    };
    Ok(Checked { kind: origin.kind_name(), records, damage })
}

fn print_check(args: &CheckArgs, checked: &Checked, session: &mut Session) {
    let Checked { kind, records, damage } = checked;
    let name = args.file.to_string_lossy();
    if args.json {
        let mut object = Object::new(session.output.buffer());
        object.text("file", &name);
        object.text("kind", kind);
        object.value("records", *records);
        object.damage("damage", damage.as_ref());
        return object.end_line();
    }
    let state = if damage.is_none() { "whole" } else { "damaged" };
    session.output.line(&format!("{name}: {kind}, {records} entries, {state}"));
}

pub(super) fn convert(args: &ConvertArgs, session: &mut Session) -> io::Result<()> {
    let options = ConvertOptions {
        duplicates: match args.duplicates {
            None => Duplicates::Refuse,
            Some(KeepDuplicates::First) => Duplicates::First,
            Some(KeepDuplicates::Last) => Duplicates::Last,
        },
        salvage: args.salvage,
    };
    let converted = open(&args.old, false, session).and_then(|origin| {
        session.progress.expect_count(origin.len()?);
        let progress = session.progress.clone();
        convert_table(&origin, &args.new, options, &mut |count| progress.reach(count))
    });
    session.progress.finish();
    let converted = match converted {
        Ok(converted) => converted,
        Err(error) => return session.report(&error.in_file(&args.old.to_string_lossy())),
    };
    let name = args.new.to_string_lossy();
    if args.json {
        let mut object = Object::new(session.output.buffer());
        object.text("file", &name);
        object.value("records", converted.records);
        object.value("left_out", converted.left_out);
        object.damage("damage", converted.damage.as_ref());
        object.end_line();
    } else {
        let left_out = match converted.left_out {
            0 => String::new(),
            count => format!(", {count} further values of their keys left out"),
        };
        session.output.line(&format!("{name}: {} entries{left_out}", converted.records));
    }
    converted.damage.map_or(Ok(()), |damage| session.report(&damage))
}

pub(super) fn backup(args: &BackupArgs, session: &mut Session) -> io::Result<()> {
    let written = write_backup(args, session);
    session.progress.finish();
    match written {
        Ok(records) => {
            session.output.line(&format!("{}: {records} entries", args.new.display()));
            Ok(())
        }
        Err(error) => session.report(&error),
    }
}

fn write_backup(args: &BackupArgs, session: &Session) -> bytewright::Result<u64> {
    let options = OpenOptions { read_only: true, values: None, ..OpenOptions::default() };
    let table = file::open(&args.file, None, options)?;
    session.progress.expect_count(table.as_table().len()?);
    let backup = Backup::of(table.as_table(), table.kind())?;
    let mut file = backup.begin(&args.new, BackupOptions { replace: args.replace })?;
    while file.step()? {
        session.progress.reach(file.written());
    }
    file.finish()
}
