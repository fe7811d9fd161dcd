//! What does not change a table: `get`, `scan`, `stat`.

use std::io;
use std::ops::Bound;

use bytewright::table::{KeyRange, Origin, Stat};
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
    for key in &args.keys {
        let output = &mut session.output;
        let found =
            origin.get_with(bytes(key), &mut |value| print_value(output, bytes(key), value, args));
        match found {
            Ok(true) => session.output.settle()?,
            Ok(false) => {
                if args.json {
                    print_missing(session.output.buffer(), bytes(key));
                }
                session.fail(&no_entry(&args.file, key))?;
            }
            Err(error) => session.report(&error)?,
        }
    }
    Ok(())
}

fn print_value(output: &mut Output, key: &[u8], value: &[u8], args: &GetArgs) {
    match (args.json, args.raw) {
        (true, _) => print_json(output.buffer(), key, Some(value)),
        (false, true) => output.raw(value),
        (false, false) => {
            output.buffer().extend_from_slice(value);
            output.buffer().push(b'\n');
        }
    }
}

fn print_missing(line: &mut Vec<u8>, key: &[u8]) {
    line.extend_from_slice(b"{\"key\":");
    notation::json_bytes(line, key);
    line.extend_from_slice(b",\"value\":null}\n");
}

fn print_json(line: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) {
    line.extend_from_slice(b"{\"key\":");
    notation::json_bytes(line, key);
    if let Some(value) = value {
        line.extend_from_slice(b",\"value\":");
        notation::json_bytes(line, value);
    }
    line.extend_from_slice(b"}\n");
}

pub(super) fn scan(args: &ScanArgs, session: &mut Session) -> io::Result<()> {
    let entries = open(&args.file, false, session).and_then(|origin| origin.scan(&range(args)));
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return session.report(&error.in_file(&args.file.to_string_lossy())),
    };
    let reader = args.format.reader();
    if reader == Reader::Csv {
        session.output.line(if args.keys { "key" } else { "key,value" });
    }
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        match entries.advance() {
            Ok(Some((key, value))) => {
                let value = (!args.keys).then_some(value);
                print_entry(session.output.buffer(), key, value, reader);
            }
            Ok(None) => break,
            Err(error) => return session.report(&error),
        }
        left -= 1;
        session.output.settle()?;
    }
    Ok(())
}

fn range(args: &ScanArgs) -> KeyRange {
    let bound = |key: &Option<std::ffi::OsString>| match key {
        Some(key) => Bound::Included(bytes(key).to_vec()),
        None => Bound::Unbounded,
    };
    let range = match &args.prefix {
        Some(prefix) => KeyRange::prefix(bytes(prefix)),
        None => KeyRange { from: bound(&args.from), to: bound(&args.to), reverse: false },
    };
    if args.reverse { range.reversed() } else { range }
}

fn print_entry(line: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>, reader: Reader) {
    let write = match reader {
        Reader::Json => return print_json(line, key, value),
        Reader::Csv => notation::csv_bytes,
        Reader::People => push_visible,
    };
    write(line, key);
    if let Some(value) = value {
        line.push(if reader == Reader::Csv { b',' } else { b'\t' });
        write(line, value);
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
fn sizes(stat: &Stat) -> [(&'static str, u64); 5] {
    [
        ("live_bytes", stat.live_bytes),
        ("dead_bytes", stat.dead_bytes),
        ("pinned_bytes", stat.pinned_bytes),
        ("index_bytes", stat.index_bytes),
        ("memory_bytes", stat.memory_bytes),
    ]
}

fn print_stat_json(name: &str, origin: &Origin, stat: &Stat, output: &mut Output) {
    let mut object = Object::new(output.buffer());
    object.text("file", name);
    object.text("kind", origin.kind_name());
    object.unsigned("records", stat.records);
    object.unsigned("file_bytes", stat.file_bytes);
    match origin {
        Origin::Table(_) => {
            sizes(stat).into_iter().for_each(|(name, size)| object.unsigned(name, size));
        }
        Origin::TokyoCabinet(database) => {
            object.text("byte_order", byte_order(database.byte_order()));
            object.boolean("left_open", database.is_left_open());
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
            for (name, size) in sizes(stat) {
                line(&name.replace('_', " "), &size.to_string());
            }
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
