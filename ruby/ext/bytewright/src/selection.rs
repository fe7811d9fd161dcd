//! The keywords of Ruby's methods that select entries of an ordered table: from, to, prefix, range,
//! reverse and limit.

use bytewright::table::{KeyRange, Selection};
use magnus::r_hash::ForEach;
use magnus::{Error, RHash, RString, Range, Ruby, Symbol, TryConvert, Value, prelude::*};

use crate::border::bytes_of;
use crate::error::refusal;

/// Keywords of a call.
#[derive(Default)]
struct Keywords {
    from: Option<RString>,
    to: Option<RString>,
    prefix: Option<RString>,
    range: Option<Value>,
    reverse: bool,
    limit: Option<Value>,
}

impl Keywords {
    /// Takes one in; nil is the same as leaving it out.
    fn set(&mut self, ruby: &Ruby, name: Value, value: Value) -> Result<(), Error> {
        let symbol = Symbol::from_value(name);
        match symbol.map(|symbol| symbol.name()).transpose()?.as_deref() {
            Some("from") => self.from = TryConvert::try_convert(value)?,
            Some("to") => self.to = TryConvert::try_convert(value)?,
            Some("prefix") => self.prefix = TryConvert::try_convert(value)?,
            Some("range") => self.range = TryConvert::try_convert(value)?,
            Some("reverse") => self.reverse = value.to_bool(),
            Some("limit") => self.limit = TryConvert::try_convert(value)?,
            _ => {
                return Err(refusal(ruby, ruby.exception_arg_error(), name, |found| {
                    format!(
                        "expected from, to, prefix, range, reverse or limit as a keyword, found {found}"
                    )
                }));
            }
        }
        Ok(())
    }
}

/// Returns the selection that the keywords mean; ArgumentError for an unknown keyword.
pub(crate) fn selection_of(ruby: &Ruby, keywords: RHash) -> Result<Selection, Error> {
    let mut given = Keywords::default();
    keywords.foreach(|name: Value, value: Value| {
        given.set(ruby, name, value)?;
        Ok(ForEach::Continue)
    })?;
    let mut range = key_range(given.from, given.to, given.prefix);
    if let Some(within) = given.range {
        range = narrowed(ruby, range, within)?;
    }
    range.reverse = given.reverse;
    let limit = given.limit.map(|limit| limit_of(ruby, limit)).transpose()?;
    Ok(Selection { range, limit })
}

/// The keys from `from` to `to`, both included, that begin with `prefix`.
pub(crate) fn key_range(
    from: Option<RString>,
    to: Option<RString>,
    prefix: Option<RString>,
) -> KeyRange {
    let mut range = prefix.map_or(KeyRange::ALL, |prefix| KeyRange::prefix(&bytes_of(prefix)));
    if let Some(from) = from {
        range = range.starting_at(&bytes_of(from));
    }
    if let Some(to) = to {
        range = range.ending_with(&bytes_of(to));
    }
    range
}

/// Those of the keys that are in a Range of Ruby's.
fn narrowed(ruby: &Ruby, mut range: KeyRange, within: Value) -> Result<KeyRange, Error> {
    let Some(within) = Range::from_value(within) else {
        return Err(refusal(ruby, ruby.exception_type_error(), within, |found| {
            format!("expected a Range of Strings as range:, found {found}")
        }));
    };
    let (begin, end): (Option<RString>, Option<RString>) = (within.beg()?, within.end()?);
    if let Some(begin) = begin {
        range = range.starting_at(&bytes_of(begin));
    }
    if let Some(end) = end {
        let end = bytes_of(end);
        range = match within.excl() {
            true => range.ending_before(&end),
            false => range.ending_with(&end),
        };
    }
    Ok(range)
}

fn limit_of(ruby: &Ruby, limit: Value) -> Result<u64, Error> {
    let number = i64::try_convert(limit)?;
    u64::try_from(number).map_err(|_| {
        let message = format!("expected a limit of 0 entries or more, found {number}");
        Error::new(ruby.exception_arg_error(), message)
    })
}
