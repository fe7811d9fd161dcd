//! Commands that do not change a table: `get`, `scan`, `stat`.

use std::io;

use bytewright::batch::csv;
use bytewright::table::{KeyRange, Origin, Stat, StatField, ValueType, integer_of};
use bytewright::terminal::push_visible;
use bytewright::wire::Endian;

use super::{bytes, no_entry, open};
use crate::args::{GetArgs, Reader, ScanArgs, StatArgs};
use crate::json::Object;
use crate::notation;
use crate::output::Output;
use crate::session::Session;

pub(super) fn get(args: &GetArgs, session: &mut Session) -> io::Result<()> {
    let origin = match open(&args.file, false, session) {
        Ok(origin) => origin,
        Err(error) => return session.report(&error),
    };
    let keys: Vec<&[u8]> = args.keys.iter().map(|key| bytes(key)).collect();
    let mut values: Vec<Option<Vec<u8>>> = Vec::with_capacity(keys.len());
    // All of one commit, also where somebody writes the table.
    let found = origin.get_many(&keys, &mut |_, value| values.push(value.map(<[u8]>::to_vec)));
    for (key, value) in args.keys.iter().zip(values) {
        let Some(value) = value else {
            if args.json {
                print_missing(session.output.buffer(), bytes(key));
            }
            session.fail(&no_entry(&args.file, key))?;
            continue;
        };
        match shown(&origin, &value) {
            Ok(shown) => {
                print_value(&mut session.output, bytes(key), &value, shown, args);
                session.output.settle()?;
            }
            Err(error) => session.report(&error)?,
        }
    }
    match found {
        Ok(()) => Ok(()),
        Err(error) => session.report(&error),
    }
}

/// A value as it is shown.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    Bytes(&'a [u8]),
    Integer(i64),
}

/// Returns the form in which a value of `origin` is shown.
pub(super) fn shown<'a>(origin: &Origin, value: &'a [u8]) -> bytewright::Result<Shown<'a>> {
    match origin.values() {
        ValueType::INTEGER => integer_of(value).map(Shown::Integer),
        _ => Ok(Shown::Bytes(value)),
    }
}

impl Shown<'_> {
    /// Writes bytes as `write` does, and an integer in digits.
    pub(super) fn write(self, line: &mut Vec<u8>, write: impl Fn(&mut Vec<u8>, &[u8])) {
        match self {
            Shown::Bytes(bytes) => write(line, bytes),
            Shown::Integer(number) => line.extend_from_slice(number.to_string().as_bytes()),
        }
    }
}

fn print_value(output: &mut Output, key: &[u8], value: &[u8], shown: Shown<'_>, args: &GetArgs) {
    match (args.json, args.raw) {
        (true, _) => print_json(output.buffer(), key, Some(shown)),
        (false, true) => output.raw(value),
        (false, false) => {
            shown.write(output.buffer(), |line, bytes| line.extend_from_slice(bytes));
            output.buffer().push(b'\n');
        }
    }
}

fn print_missing(line: &mut Vec<u8>, key: &[u8]) {
    line.extend_from_slice(b"{\"key\":");
    notation::json_bytes(line, key);
    line.extend_from_slice(b",\"value\":null}\n");
}

fn print_json(line: &mut Vec<u8>, key: &[u8], value: Option<Shown<'_>>) {
    line.extend_from_slice(b"{\"key\":");
    notation::json_bytes(line, key);
    if let Some(value) = value {
        line.extend_from_slice(b",\"value\":");
        value.write(line, notation::json_bytes);
    }
    line.extend_from_slice(b"}\n");
}

pub(super) fn scan(args: &ScanArgs, session: &mut Session) -> io::Result<()> {
    let opened = open(&args.file, false, session).and_then(|origin| {
        let entries = origin.scan(&range(args))?;
        Ok((origin, entries))
    });
    let (origin, mut entries) = match opened {
        Ok(opened) => opened,
        Err(error) => return session.report(&error.in_file(&args.file.to_string_lossy())),
    };
    let reader = args.format.reader();
    if matches!(reader, Reader::Csv { .. }) {
        session.output.line(if args.keys { "key" } else { "key,value" });
    }
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        match entries.advance() {
            Ok(Some((key, _))) if args.keys => {
                print_entry(session.output.buffer(), key, None, reader);
            }
            Ok(Some((key, value))) => match shown(&origin, value) {
                Ok(value) => print_entry(session.output.buffer(), key, Some(value), reader),
                Err(error) => return session.report(&error),
            },
            Ok(None) => break,
            Err(error) => return session.report(&error),
        }
        left -= 1;
        session.output.settle()?;
    }
    Ok(())
}

fn range(args: &ScanArgs) -> KeyRange {
    let range = args.range.keys().unwrap_or(KeyRange::ALL);
    if args.reverse { range.reversed() } else { range }
}

fn print_entry(line: &mut Vec<u8>, key: &[u8], value: Option<Shown<'_>>, reader: Reader) {
    let write = match reader {
        Reader::Json => return print_json(line, key, value),
        Reader::Csv { formulas: true } => csv::bytes,
        Reader::Csv { formulas: false } => csv::bytes_without_formula,
        Reader::People => push_visible,
    };
    write(line, key);
    if let Some(value) = value {
        line.push(if matches!(reader, Reader::Csv { .. }) { b',' } else { b'\t' });
        value.write(line, write);
    }
    line.push(b'\n');
}

pub(super) fn stat(args: &StatArgs, session: &mut Session) -> io::Result<()> {
    let origin = match open(&args.file, false, session) {
        Ok(origin) => origin,
        Err(error) => return session.report(&error),
    };
    let stat = match &origin {
        Origin::Table(table) => table.as_table().stat(),
        Origin::TokyoCabinet(database) => Ok(Stat {
            records: database.record_count(),
            file_bytes: database.file_bytes(),
            ..Stat::default()
        }),
    };
    let name = args.file.to_string_lossy();
    match stat {
        Ok(stat) if args.json => print_stat_json(&name, &origin, &stat, &mut session.output),
        Ok(stat) => print_stat(&name, &origin, &stat, &mut session.output),
        Err(error) => return session.report(&error),
    }
    Ok(())
}

/// The sizes that a table of ours has beside its count and its file.
fn sizes() -> impl Iterator<Item = StatField> {
    let shown_first = [StatField::Records, StatField::FileBytes];
    StatField::ALL.iter().copied().filter(move |field| !shown_first.contains(field))
}

fn print_stat_json(name: &str, origin: &Origin, stat: &Stat, output: &mut Output) {
    let mut object = Object::new(output.buffer());
    object.text("file", name);
    object.text("kind", origin.kind_name());
    object.value("records", stat.records);
    object.value("file_bytes", stat.file_bytes);
    match origin {
        Origin::Table(_) => {
            sizes().for_each(|field| object.value(field.name(), stat.value(field)));
            object.text("values", origin.values().name());
        }
        Origin::TokyoCabinet(database) => {
            object.text("byte_order", byte_order(database.byte_order()));
            object.value("left_open", database.is_left_open());
        }
    }
    object.end_line();
}

/// Prints lines of `name  value`.
fn print_stat(name: &str, origin: &Origin, stat: &Stat, output: &mut Output) {
    output.line(name);
    let mut line = |name: &str, value: &str| output.line(&format!("  {name:<12} {value}"));
    line("kind", origin.kind_name());
    line("records", &stat.records.to_string());
    line("file bytes", &stat.file_bytes.to_string());
    match origin {
        Origin::Table(_) => {
            for field in sizes() {
                line(&field.name().replace('_', " "), &stat.value(field).to_string());
            }
            line("values", origin.values().name());
        }
        Origin::TokyoCabinet(database) => {
            line("byte order", byte_order(database.byte_order()));
            line("left open", if database.is_left_open() { "yes" } else { "no" });
        }
    }
}

fn byte_order(endian: Endian) -> &'static str {
    match endian {
        Endian::Little => "little",
        Endian::Big => "big",
    }
}
