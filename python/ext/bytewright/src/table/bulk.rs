//! Many keys or entries in one call.

use std::borrow::Cow;

use bytewright::host::table::TableHandle;
use bytewright::table::PackedEntries;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::values::{Object, ValueForm};
use super::{Table, transaction};
use crate::border::each_entry;
use crate::error::{after, argument};
use crate::strings::Strings;

/// Bytes of entries that are put at once.
const PIECE_BYTES: usize = 1 << 20;

/// Entries of a dict that are put at once, where these are not too many bytes.
const PIECE_LEN: usize = 1 << 16;

/// The value of each key, or nothing.
pub(super) fn get_many(
    py: Python<'_>,
    table: &Table,
    keys: &Bound<'_, PyAny>,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    values_of(py, table.strings, &table.values, keys, |slices, found| {
        table.read(py, |py, content| {
            content.table()?.get_many(slices, &mut |_, value| {
                found.push(value.map(|value| table.values.object(py, value)));
            })
        })
    })
}

/// The objects of the values that `find` pushes for the bytes of the keys.
pub(super) fn values_of(
    py: Python<'_>,
    strings: Strings,
    values: &ValueForm,
    keys: &Bound<'_, PyAny>,
    find: impl FnOnce(&[&[u8]], &mut Vec<Option<Object>>) -> PyResult<()>,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let keys: Vec<Bound<'_, PyAny>> = keys.try_iter()?.collect::<PyResult<_>>()?;
    let bytes: Vec<Cow<'_, [u8]>> =
        keys.iter().map(|key| strings.bytes(key, "key")).collect::<PyResult<_>>()?;
    let slices: Vec<&[u8]> = bytes.iter().map(Cow::as_ref).collect();
    let mut found: Vec<Option<Object>> = Vec::with_capacity(slices.len());
    find(&slices, &mut found)?;
    let loaded = |value| values.loaded(py, value);
    found.into_iter().map(|value| value.map(loaded).transpose()).collect()
}

/// Puts `default` in the place of missing values.
pub(super) fn or_default(
    py: Python<'_>,
    mut found: Vec<Option<Py<PyAny>>>,
    default: Option<Py<PyAny>>,
) -> Vec<Option<Py<PyAny>>> {
    if let Some(default) = default {
        let missing = found.iter_mut().filter(|value| value.is_none());
        missing.for_each(|value| *value = Some(default.clone_ref(py)));
    }
    found
}

/// Puts the pairs of a dict or an iterable in, all of them or none.
pub(super) fn put_all(py: Python<'_>, table: &Table, pairs: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(dict) = pairs.cast_exact::<PyDict>()
        && table.values.runs_no_python()
        && let Some(entries) = packed(table, dict)?
    {
        return put(py, table, &entries);
    }
    let mut pieces = Pieces::of(table, pairs)?;
    let first = pieces.next()?;
    if pieces.is_over {
        return put(py, table, &first);
    }
    let open = table.run(py, TableHandle::begin)?;
    let mut put_rest = || {
        put(py, table, &first)?;
        while !pieces.is_over {
            put(py, table, &pieces.next()?)?;
        }
        Ok(())
    };
    let outcome: PyResult<()> = put_rest();
    match table.check_end(py, open, outcome.is_ok()) {
        Ok(true) => {
            let is_kept = outcome.is_ok();
            after(py, outcome, table.run(py, |handle, host| handle.end_one(host, open, is_kept)))
        }
        Ok(false) => outcome.and_then(|()| Err(transaction::ended_with_outer(py))),
        // The iterable left a transaction open, or the work to another thread: with its end, all of it is taken back.
        Err(error) => {
            table.abandon(py, open);
            outcome.and(Err(error))
        }
    }
}

fn put(py: Python<'_>, table: &Table, entries: &PackedEntries) -> PyResult<()> {
    table.run(py, |handle, host| handle.put_packed(host, entries))
}

/// All entries of a dict, read where they lie; nothing where they are more than a piece.
fn packed(table: &Table, dict: &Bound<'_, PyDict>) -> PyResult<Option<PackedEntries>> {
    let count = dict.len();
    if count > PIECE_LEN {
        return Ok(None);
    }
    let mut entries = PackedEntries::with_capacity(count);
    each_entry(dict, count, |key, value| {
        if entries.bytes_len() < PIECE_BYTES {
            let key = table.strings.bytes(&key, "key")?;
            entries.push(&key, &table.values.bytes(&value)?);
        }
        PyResult::Ok(())
    })?;
    Ok((entries.bytes_len() < PIECE_BYTES).then_some(entries))
}

/// Pairs of Python in pieces of bounded size.
struct Pieces<'a, 'py> {
    table: &'a Table,
    pairs: Pairs<'py>,
    is_over: bool,
}

enum Pairs<'py> {
    /// Of a dict, which another thread may change while this one waits.
    Dict(std::vec::IntoIter<(Bound<'py, PyAny>, Bound<'py, PyAny>)>),
    Any(Bound<'py, pyo3::types::PyIterator>),
}

impl<'a, 'py> Pieces<'a, 'py> {
    fn of(table: &'a Table, pairs: &Bound<'py, PyAny>) -> PyResult<Self> {
        let pairs = match pairs.cast_exact::<PyDict>() {
            Ok(dict) => {
                let count = dict.len();
                let mut entries = Vec::with_capacity(count);
                each_entry(dict, count, |key, value| {
                    entries.push((key, value));
                    PyResult::Ok(())
                })?;
                Pairs::Dict(entries.into_iter())
            }
            Err(_) => Pairs::Any(pairs.try_iter()?),
        };
        Ok(Pieces { table, pairs, is_over: false })
    }

    fn next(&mut self) -> PyResult<PackedEntries> {
        let mut entries = PackedEntries::default();
        while entries.bytes_len() < PIECE_BYTES {
            let Some((key, value)) = self.pair()? else {
                self.is_over = true;
                break;
            };
            let key = self.table.strings.bytes(&key, "key")?;
            entries.push(&key, &self.table.values.bytes(&value)?);
        }
        Ok(entries)
    }

    fn pair(&mut self) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        match &mut self.pairs {
            Pairs::Dict(entries) => Ok(entries.next()),
            Pairs::Any(pairs) => {
                pairs.next().transpose()?.map(|pair| taken_apart(&pair)).transpose()
            }
        }
    }
}

fn taken_apart<'py>(pair: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    if let Ok(pair) = pair.cast_exact::<PyTuple>()
        && pair.len() == 2
    {
        return Ok((pair.get_item(0)?, pair.get_item(1)?));
    }
    let parts: Vec<Bound<'py, PyAny>> = pair.try_iter()?.collect::<PyResult<_>>()?;
    let found = parts.len();
    <[_; 2]>::try_from(parts).map(|[key, value]| (key, value)).map_err(|_| {
        let message = format!("expected pairs of a key and a value, found one of {found}");
        argument(pair.py(), message)
    })
}
