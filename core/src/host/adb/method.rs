//! The methods, and the functions of `misc`.

use std::ops::Bound;

use super::iteration::Iteration;
use super::long_work::LongWork;
use super::name::{DatabaseName, number};
use super::{AbstractDatabase, DONE, Reply, Strings, locked, path_of, size_of_file};
use crate::error::{Error, ErrorKind, Result};
use crate::host::table::{BackupProgress, Cost};
use crate::table::{Backup, KeyRange, OrderedTable, Scan, Table, ValueType};

/// The functions of `misc`, all of which are methods, too.
const FUNCTIONS: &str = "put putkeep putcat out get putlist outlist getlist getpart iterinit iternext \
                         sync optimize vanish range error cacheclear defrag";

/// The methods that never change the table.
const READING: &str =
    "get getlist getpart iterinit iternext range error cacheclear defrag fwmkeys copy size";

/// A method by its name, with its arguments.
pub(super) struct Called<'a> {
    pub(super) method: &'a str,
    is_function: bool,
    arguments: &'a [&'a [u8]],
}

impl<'a> Called<'a> {
    /// Takes the name of a function from the arguments of `misc`; nothing where there is no such function.
    pub(super) fn of(method: &'a str, arguments: &'a [&'a [u8]]) -> Option<Called<'a>> {
        match arguments {
            [function, arguments @ ..] if method == "misc" => {
                let method = std::str::from_utf8(function).ok()?;
                let is_known = FUNCTIONS.split(' ').any(|known| known == method);
                is_known.then_some(Called { method, is_function: true, arguments })
            }
            _ => Some(Called { method, is_function: false, arguments }),
        }
    }

    /// Says whether it may change the table.
    pub(super) fn changes(&self) -> bool {
        !READING.split(' ').any(|reading| reading == self.method)
    }

    /// The cost of a change of a table with so many entries.
    pub(super) fn cost(&self, count: u64, is_in_file: bool) -> Cost {
        match self.method {
            "sync" | "optimize" if is_in_file => Cost::Long,
            "optimize" | "vanish" => Cost::of_entries(count),
            "putlist" => Cost::of_bytes(self.arguments.iter().map(|each| each.len()).sum()),
            _ => Cost::Brief,
        }
    }

    fn argument(&self, place: usize) -> Option<&'a [u8]> {
        self.arguments.get(place).copied()
    }

    /// An argument as a number; 0 where it is not there.
    fn number(&self, place: usize) -> i64 {
        self.argument(place).map_or(0, number)
    }

    fn pair(&self) -> Option<(&'a [u8], &'a [u8])> {
        self.argument(0).zip(self.argument(1))
    }
}

impl AbstractDatabase {
    /// Calls a method that may change the table.
    pub(super) fn change(
        &self,
        table: &mut dyn Table,
        called: &Called<'_>,
    ) -> Result<Option<Strings>> {
        let (depth, is_read_only) = (table.depth(), self.name.options.read_only);
        let is_done = match called.method {
            "addint" => return self.add(table, called, sum_of_ints),
            "adddouble" => return self.add(table, called, sum_of_doubles),
            "put" | "putkeep" | "putcat" => self.put(table, called)?,
            "putlist" => self.put_list(table, called)?,
            "outlist" => out_list(table, called.arguments)?,
            "out" => called.argument(0).map_or(Ok(false), |key| table.delete(key))?,
            "sync" => depth == 0 && !is_read_only && table.sync().map(|()| true)?,
            "optimize" => depth == 0 && !is_read_only && table.compact().map(|()| true)?,
            "vanish" => depth == 0 && table.clear().map(|()| true)?,
            "tranbegin" => self.may_begin(depth) && table.begin().map(|()| true)?,
            "trancommit" => depth > 0 && table.commit().map(|()| true)?,
            "tranabort" => depth > 0 && table.abort().map(|()| true)?,
            _ => false,
        };
        Ok(is_done.then(Vec::new))
    }

    fn put(&self, table: &mut dyn Table, called: &Called<'_>) -> Result<bool> {
        let Some((key, value)) = called.pair() else { return Ok(false) };
        let is_done = match called.method {
            "putkeep" => table.create(key, value)?,
            "putcat" => ValueType::BYTES.append(table, key, value).map(|()| true)?,
            _ => table.put(key, value).map(|()| true)?,
        };
        self.keep_bounds(table)?;
        Ok(is_done)
    }

    /// Puts keys with values, all of them or none; a key at the end without a value is passed over.
    fn put_list(&self, table: &mut dyn Table, called: &Called<'_>) -> Result<bool> {
        table.put_all(&mut Pairs(called.arguments))?;
        self.keep_bounds(table)?;
        Ok(true)
    }

    /// Adds to a number as C has it in memory, and answers the sum as that, or nothing where the value is no such number.
    fn add(
        &self,
        table: &mut dyn Table,
        called: &Called<'_>,
        sum_of: impl Fn(Option<&[u8]>, &[u8]) -> Sum,
    ) -> Result<Option<Strings>> {
        let Some((key, number)) = called.pair() else { return Ok(None) };
        match sum_of(table.get(key)?.as_deref(), number) {
            Sum::Of { bytes, is_told } => {
                table.put(key, &bytes)?;
                self.keep_bounds(table)?;
                Ok(is_told.then(|| vec![bytes]))
            }
            Sum::OfNoNumber => Ok(None),
            Sum::WithNoNumber => {
                let message = "expected the bytes of an int or a double of C to add, found others";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }

    /// Calls a method that reads the table.
    pub(super) fn ask(
        &self,
        table: &dyn Table,
        ordered: Option<&dyn OrderedTable>,
        called: &Called<'_>,
    ) -> Result<Reply> {
        let key = called.argument(0);
        let given = match called.method {
            "fwmkeys" => return fwmkeys(table, ordered, called),
            "range" => return range(ordered, called),
            "copy" => return self.copy(table, key),
            "get" => match key {
                Some(key) => table.get(key)?.map(|value| vec![value]),
                None => None,
            },
            "getlist" => Some(get_list(table, called.arguments)?),
            "getpart" => get_part(table, called)?,
            "iterinit" => {
                let begun = Iteration::begin(table, ordered.is_some(), key)?;
                let is_begun = begun.is_some();
                if is_begun {
                    *locked(&self.iteration) = begun;
                }
                is_begun.then(Vec::new)
            }
            "iternext" => match self.next(table, ordered)? {
                Some(key) if called.is_function => {
                    let value = table.get(&key)?;
                    Some([key].into_iter().chain(value).collect())
                }
                key => key.map(|key| vec![key]),
            },
            "size" if self.name.is_in_memory => {
                Some(vec![table.stat()?.memory_bytes.to_string().into()])
            }
            "size" => Some(vec![size_of_file(&self.name.path)?.to_string().into()]),
            _ if self.name.is_in_memory => None,
            "error" => Some(vec![message_of(key, called.number(1)).into()]),
            _ => DONE,
        };
        Ok(Reply::Given(given))
    }

    /// The next key of the iterator.
    fn next(
        &self,
        table: &dyn Table,
        ordered: Option<&dyn OrderedTable>,
    ) -> Result<Option<Vec<u8>>> {
        let mut iteration = locked(&self.iteration);
        let Some(place) = iteration.as_mut() else { return Ok(None) };
        let key = place.advance(table, ordered)?;
        if key.is_none() {
            // What a snapshot keeps is not kept beyond the end.
            *iteration = None;
        }
        Ok(key)
    }

    fn copy(&self, table: &dyn Table, path: Option<&[u8]>) -> Result<Reply> {
        if table.depth() > 0 {
            return Ok(Reply::Given(None));
        }
        let path = path.unwrap_or_default();
        if path.starts_with(b"@") {
            let message = "expected the path of a copy, found a command; run it in a transaction of the program's own";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(Reply::Later(match self.name.is_in_memory {
            true => LongWork::fill(table.snapshot()?.scan()?, DatabaseName::parse(path)?)?,
            false => {
                let backup = Backup::of(table, self.name.kind)?;
                LongWork::Copy(BackupProgress::Taken(backup), path_of(path).to_owned())
            }
        }))
    }
}

/// Keys with their values, one behind the other.
struct Pairs<'a>(&'a [&'a [u8]]);

impl Scan for Pairs<'_> {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let [key, value, rest @ ..] = self.0 else { return Ok(None) };
        self.0 = rest;
        Ok(Some((key, value)))
    }
}

/// Removes entries, all of them or none; a key that has none is passed over.
fn out_list(table: &mut dyn Table, keys: &[&[u8]]) -> Result<bool> {
    table.begin()?;
    match keys.iter().try_for_each(|key| table.delete(key).map(drop)) {
        Ok(()) => table.commit().map(|()| true),
        Err(error) => table.abort().and(Err(error)),
    }
}

/// Lists the keys that have values, with these.
fn get_list(table: &dyn Table, keys: &[&[u8]]) -> Result<Strings> {
    let mut found = Vec::new();
    table.get_many(keys, &mut |place, value| {
        if let (Some(key), Some(value)) = (keys.get(place), value) {
            found.extend([key.to_vec(), value.to_vec()]);
        }
    })?;
    Ok(found)
}

/// Takes a part of a value: its key, the offset, and the length, which is negative for all of the rest.
fn get_part(table: &dyn Table, called: &Called<'_>) -> Result<Option<Strings>> {
    let Some(key) = called.argument(0) else { return Ok(None) };
    let offset = usize::try_from(called.number(1)).unwrap_or(0);
    let len = called.argument(2).map_or(-1, number);
    let mut part = None;
    table.get_with(key, &mut |value| {
        if let Some(rest) = value.get(offset..).filter(|rest| !rest.is_empty()) {
            let len = usize::try_from(len).map_or(rest.len(), |len| len.min(rest.len()));
            part = Some(vec![rest[..len].to_vec()]);
        }
    })?;
    Ok(part)
}

/// Looks for keys that begin with a prefix: at most so many, all where the second argument is negative or not there.
fn fwmkeys(
    table: &dyn Table,
    ordered: Option<&dyn OrderedTable>,
    called: &Called<'_>,
) -> Result<Reply> {
    let prefix = called.argument(0).unwrap_or_default();
    let count_max = called.argument(1).and_then(|max| usize::try_from(number(max)).ok());
    let entries = match ordered {
        Some(table) => table.ordered_snapshot()?.scan_range(&KeyRange::prefix(prefix))?,
        None => table.snapshot()?.scan()?,
    };
    Ok(Reply::Later(LongWork::search(entries, prefix, count_max, false)))
}

/// Looks for entries of a tree from a key on, as many as the second argument says (0 for all), to before the third.
fn range(ordered: Option<&dyn OrderedTable>, called: &Called<'_>) -> Result<Reply> {
    let Some(table) = ordered else { return Ok(Reply::Given(None)) };
    let range = KeyRange {
        from: Bound::Included(called.argument(0).unwrap_or_default().to_vec()),
        to: called.argument(2).map_or(Bound::Unbounded, |to| Bound::Excluded(to.to_vec())),
        reverse: false,
    };
    let count_max = usize::try_from(called.number(1)).ok().filter(|max| *max > 0);
    let entries = table.ordered_snapshot()?.scan_range(&range)?;
    Ok(Reply::Later(LongWork::search(entries, b"", count_max, true)))
}

/// The outcome of adding to a value.
enum Sum {
    Of {
        bytes: Vec<u8>,
        /// It is none of the sums that the original has for a failure.
        is_told: bool,
    },
    OfNoNumber,
    WithNoNumber,
}

/// Adds ints of C, of which 32 bits are kept.
fn sum_of_ints(value: Option<&[u8]>, number: &[u8]) -> Sum {
    let Ok(number) = number.try_into().map(i32::from_ne_bytes) else { return Sum::WithNoNumber };
    let Ok(value) = value.unwrap_or(&[0; 4]).try_into().map(i32::from_ne_bytes) else {
        return Sum::OfNoNumber;
    };
    let sum = value.wrapping_add(number);
    Sum::Of { bytes: sum.to_ne_bytes().to_vec(), is_told: sum != i32::MIN }
}

fn sum_of_doubles(value: Option<&[u8]>, number: &[u8]) -> Sum {
    let Ok(number) = number.try_into().map(f64::from_ne_bytes) else { return Sum::WithNoNumber };
    let Ok(value) = value.unwrap_or(&[0; 8]).try_into().map(f64::from_ne_bytes) else {
        return Sum::OfNoNumber;
    };
    let sum = value + number;
    Sum::Of { bytes: sum.to_ne_bytes().to_vec(), is_told: !sum.is_nan() }
}

/// The words that Tokyo Cabinet has for a failure: the kind of the last error, by the name that faces have for it in small
/// letters, and the system's number where it has one; nothing where there was none.
fn message_of(kind: Option<&[u8]>, os_error: i64) -> &'static str {
    /// `ENOENT` and `EACCES`.
    const SYSTEM: [(i64, &str); 2] = [(2, "3: file not found"), (13, "4: no permission")];
    match kind {
        None => "0: success",
        Some(b"closed") => "2: invalid operation",
        Some(b"format" | b"corrupt" | b"truncated") => "5: invalid meta data",
        Some(b"lock") => "16: lock error",
        Some(_) => SYSTEM
            .iter()
            .find(|(number, _)| *number == os_error)
            .map_or("9999: miscellaneous error", |(_, message)| message),
    }
}
