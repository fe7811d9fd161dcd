//! `bytewright cache`: caches in files, looked into, and their entries deleted.

mod shown;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytewright::table::Table;
use bytewright::table::cache::{Cache, CacheData, CacheEntry, CacheKind};
use bytewright::table::file::{self, FileTable, OpenOptions, SyncMode};
use bytewright::{Error, Result};

use crate::args::{
    CacheClearArgs, CacheCommand, CacheDeleteArgs, CacheGetArgs, CacheScanArgs, CacheStatArgs,
};
use crate::json::Object;
use crate::session::Session;
use crate::table::{bytes, no_entry};

pub(crate) fn run(command: &CacheCommand, session: &mut Session) -> io::Result<()> {
    match command {
        CacheCommand::Stat(args) => stat(args, session),
        CacheCommand::Get(args) => get(args, session),
        CacheCommand::Scan(args) => scan(args, session),
        CacheCommand::Delete(args) => delete(args, session),
        CacheCommand::Clear(args) => clear(args, session),
    }
}

/// Opens the table of a cache to read.
fn open(path: &Path) -> Result<FileTable> {
    open_with(path, OpenOptions { read_only: true, ..OpenOptions::default() })
}

/// Opens the table of a cache that the command changes: what it has done lasts when it ends.
fn open_to_write(path: &Path, timeout: Duration) -> Result<FileTable> {
    open_with(path, OpenOptions { sync: SyncMode::Commit, timeout, ..OpenOptions::default() })
}

fn open_with(path: &Path, options: OpenOptions) -> Result<FileTable> {
    let table = file::open(path, None, OpenOptions { values: None, ..options })?;
    match table.as_table().values() {
        Cache::VALUES => Ok(table),
        values => {
            let found = format!("a table of {}, which bytewright table reads", values.name());
            Err(Error::format("a cache", found))
        }
    }
}

/// Key of an argument.
fn key(argument: &OsStr) -> Vec<u8> {
    text(argument).to_key()
}

/// Text of an argument.
fn text(argument: &OsStr) -> CacheData<'_> {
    CacheData::new(CacheKind::Text, bytes(argument))
}

/// Sums over a cache.
#[derive(Default)]
struct Sums {
    entries: u64,
    expired: u64,
    used_bytes: u64,
}

fn sums(path: &Path) -> Result<Sums> {
    let (table, now) = (open(path)?, Cache::now());
    let table = table.as_table();
    let mut sums = Sums { used_bytes: table.used_bytes()?, ..Sums::default() };
    let mut scan = table.snapshot()?.scan()?;
    while let Some((_, value)) = scan.advance()? {
        let counts = CacheEntry::of_value(value)?.counts(now);
        sums.entries += u64::from(counts);
        sums.expired += u64::from(!counts);
    }
    Ok(sums)
}

fn stat(args: &CacheStatArgs, session: &mut Session) -> io::Result<()> {
    let name = args.file.to_string_lossy();
    let sums = match sums(&args.file) {
        Ok(sums) => sums,
        Err(error) => return session.report(&error.in_file(&name)),
    };
    let shown = [("entries", sums.entries), ("expired", sums.expired), ("bytes", sums.used_bytes)];
    if args.json {
        let mut object = Object::new(session.output.buffer());
        object.text("file", &name);
        shown.into_iter().for_each(|(name, number)| object.value(name, number));
        object.end_line();
        return Ok(());
    }
    session.output.line(&name);
    for (name, number) in shown {
        session.output.line(&format!("  {name:<12} {number}"));
    }
    Ok(())
}

fn get(args: &CacheGetArgs, session: &mut Session) -> io::Result<()> {
    let name = args.file.to_string_lossy();
    let table = match open(&args.file) {
        Ok(table) => table,
        Err(error) => return session.report(&error.in_file(&name)),
    };
    let (cache, now) = (Cache::default(), Cache::now());
    for asked in &args.keys {
        let mut printed = Ok(());
        let key = key(asked);
        let found = cache.get(table.as_table(), &key, now, &mut |entry| {
            printed = match args.raw {
                true => shown::raw(&mut session.output, entry.value),
                false => shown::whole(session.output.buffer(), |into| match args.json {
                    true => shown::json(into, &key, Some(entry)),
                    false => shown::line(into, entry.value),
                }),
            };
        });
        match found.and_then(|is_there| printed.map(|()| is_there)) {
            Ok(true) => session.output.settle()?,
            Ok(false) => {
                if args.json {
                    shown::missing(session.output.buffer(), asked);
                }
                session.fail(&no_entry(&args.file, asked))?;
            }
            Err(error) => session.report(&error.in_file(&name))?,
        }
    }
    Ok(())
}

fn scan(args: &CacheScanArgs, session: &mut Session) -> io::Result<()> {
    let opened = open(&args.file).and_then(|table| table.as_table().snapshot()?.scan());
    let mut entries = match opened {
        Ok(entries) => entries,
        Err(error) => return session.report(&error.in_file(&args.file.to_string_lossy())),
    };
    let (mut left, now) = (args.limit.unwrap_or(u64::MAX), Cache::now());
    while left > 0 {
        let printed = entries.advance().and_then(|found| {
            let Some((key, value)) = found else { return Ok(None) };
            let entry = CacheEntry::of_value(value)?;
            if entry.counts(now) {
                let print = |into: &mut Vec<u8>| print_entry(into, key, entry, args);
                shown::whole(session.output.buffer(), print)?;
            }
            Ok(Some(entry.counts(now)))
        });
        match printed {
            Ok(Some(counts)) => left -= u64::from(counts),
            Ok(None) => break,
            Err(error) => return session.report(&error.in_file(&args.file.to_string_lossy())),
        }
        session.output.settle()?;
    }
    Ok(())
}

fn print_entry(
    into: &mut Vec<u8>,
    key: &[u8],
    entry: CacheEntry<'_>,
    args: &CacheScanArgs,
) -> Result<()> {
    match (args.json, args.keys) {
        (true, true) => shown::json(into, key, None),
        (true, false) => shown::json(into, key, Some(entry)),
        (false, _) => shown::visible(into, key, (!args.keys).then_some(entry.value)),
    }
}

fn delete(args: &CacheDeleteArgs, session: &mut Session) -> io::Result<()> {
    let name = args.file.to_string_lossy();
    let (cache, now) = (Cache::default(), Cache::now());
    let opened = open_to_write(&args.file, args.wait.options.timeout);
    let deleted = opened.and_then(|mut table| {
        let table = table.as_table_mut();
        match (&args.tag, args.expired) {
            (Some(tag), _) => cache.evict_tag(table, text(tag)).map(Deleted::Together),
            (None, true) => cache.expire(table, now).map(Deleted::Together),
            (None, false) => delete_keys(table, args, now).map(Deleted::Keys),
        }
    });
    match deleted {
        Ok(Deleted::Together(count)) => print_deleted(&args.file, count, session),
        Ok(Deleted::Keys(missing)) => {
            missing.into_iter().try_for_each(|key| session.fail(&no_entry(&args.file, key)))
        }
        Err(error) => session.report(&error.in_file(&name)),
    }
}

/// Result of a deletion.
enum Deleted<'a> {
    /// Of entries that were not named, with their number.
    Together(u64),
    /// Of keys, with those that were not there.
    Keys(Vec<&'a OsStr>),
}

/// Takes the keys out in one transaction, and returns those that were not there.
fn delete_keys<'a>(
    table: &mut dyn Table,
    args: &'a CacheDeleteArgs,
    now: u64,
) -> Result<Vec<&'a OsStr>> {
    let (cache, mut missing) = (Cache::default(), Vec::new());
    table.begin()?;
    for asked in &args.keys {
        if !cache.take(table, &key(asked), now, &mut |_| ())? {
            missing.push(asked.as_os_str());
        }
    }
    table.commit()?;
    Ok(missing)
}

fn clear(args: &CacheClearArgs, session: &mut Session) -> io::Result<()> {
    let opened = open_to_write(&args.file, args.wait.options.timeout);
    let cleared = opened.and_then(|mut table| Cache::default().clear(table.as_table_mut()));
    match cleared {
        Ok(count) => print_deleted(&args.file, count, session),
        Err(error) => session.report(&error.in_file(&args.file.to_string_lossy())),
    }
}

fn print_deleted(path: &Path, count: u64, session: &mut Session) -> io::Result<()> {
    session.output.line(&format!("{}: {count} entries deleted", path.display()));
    Ok(())
}
