//! The keywords of methods that select entries of an ordered table: first, last, prefix, reverse and limit.

use bytewright::table::{KeyRange, Selection};
use pyo3::prelude::*;

use crate::strings::Strings;

/// What the keywords select; nothing where none is given.
pub(super) fn selection(
    strings: Strings,
    first: Option<&Bound<'_, PyAny>>,
    last: Option<&Bound<'_, PyAny>>,
    prefix: Option<&Bound<'_, PyAny>>,
    reverse: bool,
    limit: Option<u64>,
) -> PyResult<Option<Selection>> {
    if first.is_none() && last.is_none() && prefix.is_none() && limit.is_none() && !reverse {
        return Ok(None);
    }
    let range = range(strings, first, last, prefix, reverse)?;
    Ok(Some(Selection { range, limit }))
}

/// The keys from `first` to `last`, both included, that begin with `prefix`.
pub(super) fn range(
    strings: Strings,
    first: Option<&Bound<'_, PyAny>>,
    last: Option<&Bound<'_, PyAny>>,
    prefix: Option<&Bound<'_, PyAny>>,
    reverse: bool,
) -> PyResult<KeyRange> {
    let mut range = match prefix {
        Some(prefix) => KeyRange::prefix(&strings.bytes(prefix, "prefix")?),
        None => KeyRange::ALL,
    };
    if let Some(first) = first {
        range = range.starting_at(&strings.bytes(first, "first")?);
    }
    if let Some(last) = last {
        range = range.ending_with(&strings.bytes(last, "last")?);
    }
    Ok(KeyRange { reverse, ..range })
}
