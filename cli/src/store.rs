//! `bytewright store`: stores of Ruby's PStore, looked into without Ruby's objects.

mod show;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bytewright::marshal::{NotIndexable, Roots, ValueId, Values};
use bytewright::pstore::{Access, Begun, Content, Options, SeparateRoots, Store, StoreFormat};
use bytewright::{Error, Result};

use crate::args::{StoreCheckArgs, StoreCommand, StoreGetArgs, StoreRootsArgs};
use crate::json::Object;
use crate::notation;
use crate::session::Session;

/// Keys that are taken apart at once.
const KEYS_AT_ONCE: usize = 1000;

pub(crate) fn run(command: &StoreCommand, session: &mut Session) -> io::Result<()> {
    match command {
        StoreCommand::Roots(args) => roots(args, session),
        StoreCommand::Get(args) => get(args, session),
        StoreCommand::Check(args) => check(args, session),
    }
}

/// Opens a store that is one stream to read. Waits for a writer.
fn open(path: &Path) -> Result<Store> {
    let mut store = Store::new(Options::default());
    loop {
        match store.try_begin(path, Access::Read)? {
            Begun::Ready => return Ok(store),
            Begun::Stale => {
                store.load()?;
                return Ok(store);
            }
            Begun::Busy => {
                store.wait()?;
            }
            Begun::Missing => {
                let missing = io::Error::from_raw_os_error(2);
                return Err(Error::io("open", &missing).in_file(&path.to_string_lossy()));
            }
        }
    }
}

/// The roots of an open store, and why they had to be read all together, if they had.
fn roots_of(store: &Store) -> Result<(Roots<'_>, Option<NotIndexable>)> {
    match store.content() {
        Content::Empty => Ok((Roots::none(), None)),
        Content::Roots(stream) => Ok((Roots::indexed(stream)?, None)),
        Content::Whole { bytes, why } => Ok((Roots::whole(bytes.to_vec())?, why)),
    }
}

/// Does `work` with the roots of a store, of a damaged one with those before the damage, which is told
/// after it.
fn with_roots(
    path: &Path,
    session: &mut Session,
    work: impl FnOnce(&Roots<'_>, Option<NotIndexable>, &mut Session) -> Result<()>,
) -> io::Result<()> {
    let name = path.to_string_lossy();
    let worked = StoreFormat::of(path).and_then(|format| match format {
        StoreFormat::Separate => {
            let roots = SeparateRoots::open(path)?;
            work(&Roots::separate(Box::new(roots)), None, session)
        }
        StoreFormat::Stream => {
            let store = open(path)?;
            let (roots, why) = roots_of(&store)?;
            work(&roots, why, session)?;
            roots.damage().map_or(Ok(()), |damage| Err(damage.clone()))
        }
    });
    match worked {
        Ok(()) => Ok(()),
        Err(error) => session.report(&error.in_file(&name)),
    }
}

fn roots(args: &StoreRootsArgs, session: &mut Session) -> io::Result<()> {
    let mut written = Ok(());
    with_roots(&args.file, session, |roots, _, session| {
        let count = roots.count().min(args.limit.unwrap_or(usize::MAX));
        for first in (0..count).step_by(KEYS_AT_ONCE) {
            let keys = roots.keys(first..count.min(first + KEYS_AT_ONCE))?;
            for (root, &key) in (first..).zip(&keys.ids) {
                print_root(session.output.buffer(), roots, root, &keys.values, key, args.json)?;
            }
            written = session.output.settle();
            if written.is_err() {
                break;
            }
        }
        Ok(())
    })?;
    written
}

/// Prints the key of a root, the class of its value and the bytes that takes.
fn print_root(
    line: &mut Vec<u8>,
    roots: &Roots<'_>,
    root: usize,
    keys: &Values,
    key: ValueId,
    as_json: bool,
) -> Result<()> {
    let value = roots.value(root)?;
    let class = value.ids.first().and_then(|&id| value.values.get(id));
    let class = class.map_or(Default::default(), |class| {
        String::from_utf8_lossy(value.values.class_name(class)).into_owned()
    });
    let len = roots.value_len(root, &value);
    if as_json {
        line.extend_from_slice(b"{\"key\":");
        show::json(line, keys, key)?;
        line.push(b',');
        let mut object = Object::within(line);
        object.text("class", &class);
        object.value("bytes", len.map(|len| len as u64));
        object.end_line();
    } else {
        show::text(line, keys, key)?;
        let len = len.map_or("-".to_owned(), |len| len.to_string());
        line.extend_from_slice(format!("\t{class}\t{len}\n").as_bytes());
    }
    Ok(())
}

fn get(args: &StoreGetArgs, session: &mut Session) -> io::Result<()> {
    if args.keys.is_empty() {
        return print_all(args, session);
    }
    let mut reported = Ok(());
    with_roots(&args.file, session, |roots, _, session| {
        for path in &args.keys {
            let line = session.output.buffer();
            if let Err(found) = print_found(line, roots, path.as_bytes(), args.json)? {
                if args.json {
                    print_missing(line, path);
                }
                reported = session.fail(&no_value(&args.file, path, found));
            }
            if reported.is_err() {
                break;
            }
        }
        Ok(())
    })?;
    reported
}

/// Prints every root, its key before its value.
fn print_all(args: &StoreGetArgs, session: &mut Session) -> io::Result<()> {
    let mut written = Ok(());
    with_roots(&args.file, session, |roots, _, session| {
        for root in 0..roots.count() {
            let (keys, value) = (roots.keys(root..root + 1)?, roots.value(root)?);
            let line = session.output.buffer();
            for (&key, &value_id) in keys.ids.iter().zip(&value.ids) {
                if args.json {
                    print_json(
                        line,
                        |line| show::json(line, &keys.values, key),
                        &value.values,
                        value_id,
                    )?;
                } else {
                    show::text(line, &keys.values, key)?;
                    line.push(b'\t');
                    show::text(line, &value.values, value_id)?;
                    line.push(b'\n');
                }
            }
            written = session.output.settle();
            if written.is_err() {
                break;
            }
        }
        Ok(())
    })?;
    written
}

/// Prints the value at a path, or answers how many bytes of the path lead somewhere.
fn print_found(
    line: &mut Vec<u8>,
    roots: &Roots<'_>,
    path: &[u8],
    as_json: bool,
) -> Result<std::result::Result<(), usize>> {
    let Some((root, rest)) = roots.find(path)? else { return Ok(Err(0)) };
    let value = roots.value(root)?;
    let Some(&id) = value.ids.first() else { return Ok(Err(0)) };
    let id = match value.values.find(id, rest) {
        Ok(id) => id,
        Err(left) => return Ok(Err(path.len() - left.len())),
    };
    if !as_json {
        show::text(line, &value.values, id)?;
        line.push(b'\n');
    } else if rest.is_empty() {
        let key = roots.keys(root..root + 1)?;
        let show_key = |line: &mut Vec<u8>| {
            key.ids.first().map_or(Ok(()), |&id| show::json(line, &key.values, id))
        };
        print_json(line, show_key, &value.values, id)?;
    } else {
        let show_path = |line: &mut Vec<u8>| {
            notation::json_bytes(line, path);
            Ok(())
        };
        print_json(line, show_path, &value.values, id)?;
    }
    Ok(Ok(()))
}

fn print_json(
    line: &mut Vec<u8>,
    show_key: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    values: &Values,
    value: ValueId,
) -> Result<()> {
    line.extend_from_slice(b"{\"key\":");
    show_key(line)?;
    line.extend_from_slice(b",\"value\":");
    show::json(line, values, value)?;
    line.extend_from_slice(b"}\n");
    Ok(())
}

fn print_missing(line: &mut Vec<u8>, key: &OsStr) {
    line.extend_from_slice(b"{\"key\":");
    notation::json_bytes(line, key.as_bytes());
    line.extend_from_slice(b",\"value\":null}\n");
}

/// Returns the text for people who asked for a path of which so many bytes lead somewhere.
fn no_value(file: &Path, path: &OsStr, found: usize) -> String {
    let file = file.display();
    match path.as_bytes().split_at_checked(found) {
        None | Some((b"", _)) => format!("{file}: no root of the key {path:?}"),
        Some((found, missing)) => {
            let found = OsStr::from_bytes(found.strip_suffix(b".").unwrap_or(found));
            format!("{file}: no value {:?} in {found:?}", OsStr::from_bytes(missing))
        }
    }
}

fn check(args: &StoreCheckArgs, session: &mut Session) -> io::Result<()> {
    let name = args.file.to_string_lossy();
    with_roots(&args.file, session, |roots, why, session| {
        read_all(roots)?;
        match args.json {
            _ if roots.damage().is_some() => {
                let count = roots.count();
                session.complain(&format!("{name}: damaged behind {count} whole roots"));
            }
            true => print_check_json(&name, roots, why, session),
            false => print_check(&name, roots, why, session),
        }
        Ok(())
    })
}

/// Takes every root apart.
fn read_all(roots: &Roots<'_>) -> Result<()> {
    (0..roots.count()).try_for_each(|root| roots.value(root).map(drop))
}

fn print_check_json(
    name: &str,
    roots: &Roots<'_>,
    why: Option<NotIndexable>,
    session: &mut Session,
) {
    let mut object = Object::new(session.output.buffer());
    object.text("file", name);
    object.value("roots", roots.count() as u64);
    object.value("trailing_bytes", roots.trailing_len() as u64);
    object.value("root_by_root", why.is_none());
    object.value("because", why.map(|why| why.to_string()).as_deref());
    object.end_line();
}

fn print_check(name: &str, roots: &Roots<'_>, why: Option<NotIndexable>, session: &mut Session) {
    session.output.line(&format!("{name}: whole, {} roots", roots.count()));
    if roots.trailing_len() > 0 {
        let trailing = roots.trailing_len();
        session.output.line(&format!("  {trailing} bytes behind them are not read"));
    }
    if let Some(why) = why {
        session.output.line(&format!("  loaded and written all together: {why}"));
    }
}
