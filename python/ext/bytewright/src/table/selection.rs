//! The keywords of methods that select entries of an ordered table: first, last, prefix, reverse and limit.

use bytewright::table::{KeyRange, Selection};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::strings::Strings;

/// Returns the selection that the keywords mean; None if none is given.
pub(super) fn selection(
    strings: Strings,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Selection>> {
    let Some(keywords) = keywords else { return Ok(None) };
    let given = |name| Ok::<_, PyErr>(keywords.get_item(name)?.filter(|value| !value.is_none()));
    let (first, last, prefix) = (given("first")?, given("last")?, given("prefix")?);
    let reverse = given("reverse")?.map_or(Ok(false), |reverse| reverse.is_truthy())?;
    let limit = given("limit")?.map(|limit| limit.extract()).transpose()?;
    let range = range(strings, first.as_ref(), last.as_ref(), prefix.as_ref(), reverse)?;
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
