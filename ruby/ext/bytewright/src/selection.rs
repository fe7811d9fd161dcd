//! The keywords of Ruby's methods that select entries of an ordered table: from, to, prefix, range,
//! reverse and limit.

use bytewright::table::{KeyRange, Selection};
use magnus::scan_args::get_kwargs;
use magnus::{Error, RHash, RString, Range, Ruby, TryConvert, Value, prelude::*};

use crate::border::bytes_of;
use crate::error::to_ruby;

const NAMES: [&str; 6] = ["from", "to", "prefix", "range", "reverse", "limit"];

type Text = Option<Option<RString>>;

/// What the keywords select; ArgumentError for one that is none of them.
pub(crate) fn selection_of(ruby: &Ruby, keywords: RHash) -> Result<Selection, Error> {
    type Given = (Text, Text, Text, Option<Value>, Option<Value>, Option<Value>);
    // What is taken out of the Hash must stay in the caller's.
    let keywords: RHash = keywords.funcall("dup", ())?;
    let given = get_kwargs::<_, (), Given, ()>(keywords, &[], &NAMES)?;
    let (from, to, prefix, within, reverse, limit) = given.optional;
    let mut range = key_range(from.flatten(), to.flatten(), prefix.flatten());
    if let Some(within) = given_value(within) {
        range = narrowed(ruby, range, within)?;
    }
    range.reverse = reverse.is_some_and(Value::to_bool);
    let limit = given_value(limit).map(|limit| limit_of(ruby, limit)).transpose()?;
    Ok(Selection { range, limit })
}

/// Raises what selecting entries of a table with these keywords would raise.
pub(crate) fn check_selection(ruby: &Ruby, is_ordered: bool, keywords: RHash) -> Result<(), Error> {
    selection_of(ruby, keywords)?;
    match is_ordered {
        true => Ok(()),
        false => Err(to_ruby(ruby, &Selection::needs_order())),
    }
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
        let message = format!("expected a Range of Strings as range:, found {}", within.inspect());
        return Err(Error::new(ruby.exception_type_error(), message));
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

/// A keyword's value; nil is the same as leaving the keyword out.
fn given_value(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_nil())
}
